"""The bundle's tables as Parquet: the types of the data dictionary, null where there is nothing."""

import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import pyarrow
from pyarrow import parquet

from study.base.canonical import moment
from study.exchange.schemas import Column, columns_in

ROWS_AT_ONCE = 20_000
"""Rows turned into columns at once, and held in one row group: bounds the memory it takes."""

_MOMENT = pyarrow.timestamp("ms", tz="UTC")
_TYPES = {"integer": pyarrow.int64(), "number": pyarrow.float64()}

Rows = Sequence[Mapping[str, Any]]


def parquet_files(tables: Mapping[str, Rows], about: Mapping[str, str]) -> dict[str, bytes]:
    """Return each of the bundle's tables as a Parquet file, by name.

    Parameters
    ----------
    tables
        Rows by the table's file in the bundle.
    about
        What is said of the study in each file's metadata.
    """
    return {
        f"{name.removesuffix('.csv')}.parquet": _file(columns_in(name, rows), rows, about)
        for name, rows in tables.items()
    }


def _file(columns: Sequence[Column], rows: Rows, about: Mapping[str, str]) -> bytes:
    schema = pyarrow.schema(
        [_field(column) for column in columns],
        metadata={f"reading_room.{key}": value for key, value in about.items()},
    )
    out = io.BytesIO()
    with parquet.ParquetWriter(out, schema, compression="zstd") as writer:
        for part in _parts(rows):
            arrays = [
                pyarrow.array([_value(column, row) for row in part], type=_type(column))
                for column in columns
            ]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))
    return out.getvalue()


def _parts(rows: Rows) -> Iterator[list[Mapping[str, Any]]]:
    waiting = iter(rows)
    while part := list(islice(waiting, ROWS_AT_ONCE)):
        yield part


def _field(column: Column) -> pyarrow.Field:
    return pyarrow.field(
        column.name,
        _type(column),
        nullable=not column.required,
        metadata={"description": column.description},
    )


def _type(column: Column) -> pyarrow.DataType:
    if column.name.endswith("_at_utc"):
        return _MOMENT
    return _TYPES.get(column.type, pyarrow.string())


def _value(column: Column, row: Mapping[str, Any]) -> Any:
    value = row.get(column.name)
    if value is None or (value == "" and not column.required):
        return None
    if column.name.endswith("_at_utc"):
        return moment(value)
    return value if column.type in _TYPES else str(value)
