"""Writes the bundle's tables as Parquet files and as an Excel workbook.

Parquet columns have the types of the data dictionary, with null for empty cells. In Excel, text
never becomes a formula, link, date or number; text that looks like a formula has Excel's text
prefix, so that this is also true after the cell is edited. Text that is too long for a cell is
refused. Tables with too many rows continue on another sheet.
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

MAX_SHEET_ROWS = 1_000_000
"""Maximum number of rows in a sheet below its header; Excel permits 1,048,576 in total."""

MAX_CELL_LENGTH = 32_767
"""Maximum number of UTF-16 units in a cell."""

_CREATED = datetime(2000, 1, 1)  # fixed, so that the file is reproducible
_WORKBOOK_OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}

Rows = Sequence[Mapping[str, Any]]

ROW_GROUP_SIZE = 20_000
"""Number of rows in a row group; a small number saves memory."""

_TIMESTAMP_TYPE = pyarrow.timestamp("ms", tz="UTC")
_ARROW_TYPES = {"integer": pyarrow.int64(), "number": pyarrow.float64()}


def workbook(
    tables: Mapping[str, Rows], metadata: Mapping[str, str], *, most_rows: int = MAX_SHEET_ROWS
) -> bytes:
    """Return the tables as a workbook whose first sheet describes them.

    Parameters
    ----------
    tables
        Rows by file name in the bundle.
    metadata
        Facts about the study for the first sheet.
    most_rows
        Maximum number of rows in a sheet; further rows are written to sheets with a number in their
        name.

    Raises
    ------
    BadFile
        Text is too long for a cell.
    """
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, _WORKBOOK_OPTIONS) as book:
        book.set_properties({"created": _CREATED, "title": metadata.get("study", "")[:250]})
        bold = book.add_format({"bold": True})
        text = book.add_format({"quote_prefix": True})
        _write_metadata(book.add_worksheet("about"), metadata, tables, text)
        for file, rows in tables.items():
            name = file.removesuffix(".csv")
            for number, start in enumerate(range(0, len(rows) or 1, most_rows), start=1):
                sheet = book.add_worksheet(name if number == 1 else f"{name} {number}")
                part = rows[start : start + most_rows]
                _write_table(sheet, name, columns_in(file, rows), part, bold, text)
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
        _write_text(sheet, number, 0, key, f"about, row {number + 1}", text)
        _write_text(sheet, number, 1, value, f"about, row {number + 1}", text)


def _write_table(
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
            if column.type in _ARROW_TYPES and math.isfinite(value):
                sheet.write_number(number, place, value)
            else:
                where = f"{name}: {column.name}, row {number + 1}"
                _write_text(sheet, number, place, str(value), where, text)


def _write_text(sheet: Any, row: int, column: int, text: str, place: str, as_text: Any) -> None:
    if len(text.encode("utf-16-le", "replace")) // 2 > MAX_CELL_LENGTH:
        raise BadFile(
            f"{place}: this text has {len(text)} characters; a cell in Excel can contain "
            f"{MAX_CELL_LENGTH}. Use the bundle or Parquet."
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
        f"{name.removesuffix('.csv')}.parquet": _parquet_file(
            columns_in(name, rows), rows, metadata
        )
        for name, rows in tables.items()
    }


def _parquet_file(columns: Sequence[Column], rows: Rows, metadata: Mapping[str, str]) -> bytes:
    schema = pyarrow.schema(
        [_arrow_field(column) for column in columns],
        metadata={f"reading_room.{key}": value for key, value in metadata.items()},
    )
    out = io.BytesIO()
    with parquet.ParquetWriter(out, schema, compression="zstd") as writer:
        for start in range(0, len(rows), ROW_GROUP_SIZE):
            part = rows[start : start + ROW_GROUP_SIZE]
            arrays = [
                pyarrow.array([_arrow_value(column, row) for row in part], type=_arrow_type(column))
                for column in columns
            ]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))
    return out.getvalue()


def _arrow_field(column: Column) -> pyarrow.Field:
    return pyarrow.field(
        column.name,
        _arrow_type(column),
        nullable=not column.required,
        metadata={"description": column.description},
    )


def _arrow_type(column: Column) -> pyarrow.DataType:
    if column.name.endswith("_at_utc"):
        return _TIMESTAMP_TYPE
    return _ARROW_TYPES.get(column.type, pyarrow.string())


def _arrow_value(column: Column, row: Mapping[str, Any]) -> Any:
    value = row.get(column.name)
    if value is None or (value == "" and not column.required):
        return None
    if column.name.endswith("_at_utc"):
        return moment(value)
    return value if column.type in _ARROW_TYPES else str(value)
