"""Writes the bundle's tables as Parquet files and as an Excel workbook.

Parquet columns have the types of the data dictionary, with null for empty cells. In Excel, texts
remain texts: no text becomes a formula, link, date or number, even when the cell is edited, because
texts that look like formulas have Excel's text prefix. A text that is too long for a cell is
refused; tables with too many rows continue on another sheet.
"""

import io
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import pyarrow
import xlsxwriter
from pyarrow import parquet

from study.base.canonical import moment
from study.base.errors import BadFile
from study.base.text import guard_cell
from study.exchange.schemas import Column, columns_in

MOST_ROWS = 1_000_000
"""Maximum number of rows of a sheet below its header; Excel allows 1,048,576 in total."""

MOST_CHARACTERS = 32_767
"""Maximum number of UTF-16 units in a cell."""

_CREATED = datetime(2000, 1, 1)  # makes the file reproducible
_AS_IT_IS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}

Rows = Sequence[Mapping[str, Any]]

ROWS_AT_ONCE = 20_000
"""Number of rows in a row group, which limits the memory needed."""

_MOMENT = pyarrow.timestamp("ms", tz="UTC")
_TYPES = {"integer": pyarrow.int64(), "number": pyarrow.float64()}


def workbook(
    tables: Mapping[str, Rows], metadata: Mapping[str, str], *, most_rows: int = MOST_ROWS
) -> bytes:
    """Return the tables as a workbook whose first sheet describes them.

    Parameters
    ----------
    tables
        Rows by file name in the bundle.
    metadata
        Facts about the study for the first sheet.
    most_rows
        Maximum number of rows of a sheet; further rows are on sheets with a number in their name.

    Raises
    ------
    BadFile
        A text is too long for a cell.
    """
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, _AS_IT_IS) as book:
        book.set_properties({"created": _CREATED, "title": metadata.get("study", "")[:250]})
        bold = book.add_format({"bold": True})
        text = book.add_format({"quote_prefix": True})
        _write_metadata(book.add_worksheet("about"), metadata, tables, text)
        for file, rows in tables.items():
            name = file.removesuffix(".csv")
            for number, start in enumerate(range(0, len(rows) or 1, most_rows), start=1):
                sheet = book.add_worksheet(name if number == 1 else f"{name} {number}")
                part = rows[start : start + most_rows]
                _fill(sheet, name, columns_in(file, rows), part, bold, text)
    return out.getvalue()


def _write_metadata(
    sheet: Any, metadata: Mapping[str, str], tables: Mapping[str, Rows], text: Any
) -> None:
    sheet.set_column(0, 0, 28)
    sheet.set_column(1, 1, 90)
    rows = [
        *metadata.items(),
        *(
            (f"rows of {file.removesuffix('.csv')}", str(len(rows)))
            for file, rows in tables.items()
        ),
        *(
            (f"{file.removesuffix('.csv')}: {column.name}", column.description)
            for file, rows in tables.items()
            for column in columns_in(file, rows)
        ),
    ]
    for number, (key, value) in enumerate(rows):
        _text(sheet, number, 0, key, f"about, row {number + 1}", text)
        _text(sheet, number, 1, value, f"about, row {number + 1}", text)


def _fill(
    sheet: Any, name: str, columns: Sequence[Column], rows: Rows, bold: Any, text: Any
) -> None:
    sheet.freeze_panes(1, 0)
    for place, column in enumerate(columns):
        sheet.write_string(0, place, column.name, bold)
    for number, row in enumerate(rows, start=1):
        for place, column in enumerate(columns):
            value = row.get(column.name)
            if value is None or value == "":
                continue
            if column.type in _TYPES and math.isfinite(value):
                sheet.write_number(number, place, value)
            else:
                where = f"{name}: {column.name}, row {number + 1}"
                _text(sheet, number, place, str(value), where, text)


def _text(sheet: Any, row: int, column: int, text: str, place: str, as_text: Any) -> None:
    if len(text.encode("utf-16-le", "replace")) // 2 > MOST_CHARACTERS:
        raise BadFile(
            f"{place}: this text has {len(text)} characters; a cell in Excel can contain "
            f"{MOST_CHARACTERS}. Use the bundle or Parquet."
        )
    sheet.write_string(row, column, text, as_text if guard_cell(text) != text else None)


def parquet_files(tables: Mapping[str, Rows], metadata: Mapping[str, str]) -> dict[str, bytes]:
    """Return each of the bundle's tables as a Parquet file, by name.

    Parameters
    ----------
    tables
        Rows by file name in the bundle.
    metadata
        Facts about the study for each file's metadata.
    """
    return {
        f"{name.removesuffix('.csv')}.parquet": _file(columns_in(name, rows), rows, metadata)
        for name, rows in tables.items()
    }


def _file(columns: Sequence[Column], rows: Rows, metadata: Mapping[str, str]) -> bytes:
    schema = pyarrow.schema(
        [_field(column) for column in columns],
        metadata={f"reading_room.{key}": value for key, value in metadata.items()},
    )
    out = io.BytesIO()
    with parquet.ParquetWriter(out, schema, compression="zstd") as writer:
        for start in range(0, len(rows), ROWS_AT_ONCE):
            part = rows[start : start + ROWS_AT_ONCE]
            arrays = [
                pyarrow.array([_value(column, row) for row in part], type=_type(column))
                for column in columns
            ]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))
    return out.getvalue()


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
