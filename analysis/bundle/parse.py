"""Parse CSV with every cell as text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.arrays import Ints
from analysis.errors import Fault, quoted

CellArray = npt.NDArray[np.object_]

# A cell may contain a model's complete output; the default limit of the csv module is 128 KiB.
MAX_CELL_LENGTH = 16 * 2**20
# Number of rows that exist as lists at the same time.
ROWS_PER_BLOCK = 10_000


def parse_csv(
    name: str, content: bytes, required: Sequence[str]
) -> tuple[pd.DataFrame, list[Fault]]:
    r"""Parse a CSV file without converting cells to numbers, dates or missing values.

    Parameters
    ----------
    name : str
        The name of the file in messages.
    content : bytes
        The file's contents, UTF-8 with or without a byte order mark.
    required : sequence of str
        The columns that the file must have.

    Returns
    -------
    pandas.DataFrame, list of Fault
        All columns as text with a column `row` (int, the header is row 1), and the faults. Empty
        columns without a name, which spreadsheets write, are dropped.

    Examples
    --------
    >>> frame, faults = parse_csv("raters.csv", b"rater_id,label\nNA,null\n", ["rater_id"])
    >>> frame.to_dict("records"), faults
    ([{'rater_id': 'NA', 'label': 'null', 'row': 2}], [])
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        fault = f"is not UTF-8 (byte {error.start})"
        return _empty_table(required), [_fault(name, None, fault, "Save it as UTF-8")]
    try:
        sheet = _read_sheet(text)
    except csv.Error:
        fault = "cannot be read as CSV"
        remedy = (
            f"Use commas and double quotes, and at most {MAX_CELL_LENGTH:,} characters per cell"
        )
        return _empty_table(required), [_fault(name, None, fault, remedy)]
    if sheet is None:
        return _empty_table(required), [_fault(name, None, "is empty", "Write at least the header")]
    return _build_table(name, sheet, required)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Sheet:
    """The cells of a file, and its rows that have more or fewer cells than the header."""

    header: list[str]
    columns: list[CellArray]  # one array per column, each of shape (n_rows,)
    row_numbers: Ints  # in the file, where the header is row 1
    ragged_rows: list[tuple[int, int]]  # the row number and the number of cells


def _read_sheet(text: str) -> _Sheet | None:
    # The limit is global to the process and is not lowered, because other code may have raised it.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL_LENGTH))
    rows: Iterator[list[str]] = csv.reader(io.StringIO(text, newline=""), strict=True)
    if csv.field_size_limit() > MAX_CELL_LENGTH < len(text):
        rows = _check_lengths(rows)
    header = next(rows, None)
    if header is None:
        return None
    width, start = len(header), 2
    blocks, numbers, ragged = [np.empty((0, width), dtype=object)], [np.empty(0, np.int64)], []
    # Each block becomes an array, because the garbage collector would scan lists repeatedly.
    while block := list(islice(rows, ROWS_PER_BLOCK)):
        lengths = np.fromiter(map(len, block), dtype=np.int64, count=len(block))
        complete = np.flatnonzero(lengths == width)
        ragged += [(start + int(i), int(n)) for i, n in enumerate(lengths) if n not in (0, width)]
        if len(complete) < len(block):
            block = [block[i] for i in complete]
        blocks.append(np.array(block, dtype=object).reshape(len(complete), width))
        numbers.append(start + complete)
        start += len(lengths)
    return _Sheet(
        header=[cell.strip() for cell in header],
        columns=[np.concatenate([block[:, i] for block in blocks]) for i in range(width)],
        row_numbers=np.concatenate(numbers),
        ragged_rows=ragged,
    )


def _check_lengths(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    for row in rows:
        if max(map(len, row), default=0) > MAX_CELL_LENGTH:
            raise csv.Error(f"field larger than field limit ({MAX_CELL_LENGTH})")
        yield row


def _build_table(
    name: str, sheet: _Sheet, required: Sequence[str]
) -> tuple[pd.DataFrame, list[Fault]]:
    faults = _header_faults(name, sheet.header, required)
    if faults:
        return _empty_table(required), faults
    faults = [*_ragged_faults(name, sheet), *_unnamed_faults(name, sheet)]
    frame = pd.DataFrame(
        {
            column: pd.Series(cells, dtype=object)
            for column, cells in zip(sheet.header, sheet.columns, strict=True)
            if column
        }
    )
    frame["row"] = sheet.row_numbers
    return frame, faults


def _ragged_faults(name: str, sheet: _Sheet) -> list[Fault]:
    width = len(sheet.header)
    remedy = "Quote cells that contain commas or line breaks"
    return [
        _fault(name, row, f"has {n} cells where the header has {width}", remedy)
        for row, n in sheet.ragged_rows
    ]


def _unnamed_faults(name: str, sheet: _Sheet) -> list[Fault]:
    faults: list[Fault] = []
    for number, column in enumerate(sheet.header, start=1):
        if column:
            continue
        filled = (
            int(row)
            for row, cell in zip(sheet.row_numbers, sheet.columns[number - 1], strict=True)
            if cell.strip()
        )
        if row := next(filled, None):
            fault = f"column {number} has no name but is not empty in row {row}"
            faults.append(_fault(name, 1, fault, "Name the column, or empty it"))
    return faults


def _header_faults(name: str, header: list[str], required: Sequence[str]) -> list[Fault]:
    faults = [
        _fault(name, 1, f"column {quoted(column)} occurs twice", "Keep one of them")
        for column in sorted({cell for cell in header if header.count(cell) > 1 and cell})
    ]
    missing = [column for column in required if column not in header]
    if missing:
        fault = f"lacks the required column{'s' * (len(missing) > 1)} {', '.join(missing)}"
        remedy = "Add it to the header"
        if len(header) == 1 and (";" in header[0] or "\t" in header[0]):
            remedy = "Separate the cells with commas"
        faults.append(_fault(name, 1, fault, remedy))
    return faults


def _empty_table(columns: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame({**{column: [] for column in columns}, "row": []}, dtype=object)


def _fault(name: str, row: int | None, fault: str, remedy: str) -> Fault:
    return Fault(file=name, row=row, what=fault, remedy=remedy)
