"""CSV as text: every cell stays the string that was written."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import pandas as pd

from analysis.errors import Fault

# A model's whole answer may stand in a cell; the csv module by itself stops at 128 KiB.
LONGEST_CELL = 16 * 2**20


def parse_csv(
    name: str, content: bytes, required: Sequence[str]
) -> tuple[pd.DataFrame, list[Fault]]:
    r"""Parse one CSV file, nothing guessed: no cell becomes a number, a date or a missing value.

    Parameters
    ----------
    name : str
        The file's name, for the messages.
    content : bytes
        The file's contents, UTF-8 with or without a byte order mark.
    required : sequence of str
        The columns that must be there.

    Returns
    -------
    pandas.DataFrame, list of Fault
        All columns as text, with `row` (int, the header being row 1) beside them, and the faults.
        Unnamed columns without contents, which spreadsheets write, are left out.

    Examples
    --------
    >>> frame, faults = parse_csv("raters.csv", b"rater_id,label\nNA,null\n", ["rater_id"])
    >>> frame.to_dict("records"), faults
    ([{'rater_id': 'NA', 'label': 'null', 'row': 2}], [])
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"is not UTF-8 (byte {error.start})"
        return _empty(required), [_fault(name, None, what, "Save it as UTF-8")]
    try:
        rows = _rows(text)
    except csv.Error as error:
        what = f"cannot be read as CSV ({error})"
        remedy = f"Use commas and double quotes, and at most {LONGEST_CELL:,} characters a cell"
        return _empty(required), [_fault(name, None, what, remedy)]
    if not rows:
        return _empty(required), [_fault(name, None, "is empty", "Write at least the header")]
    return _table(name, rows, required)


def _rows(text: str) -> list[list[str]]:
    # The limit belongs to the process, so it is raised and never lowered.
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def _table(
    name: str, rows: list[list[str]], required: Sequence[str]
) -> tuple[pd.DataFrame, list[Fault]]:
    header = [cell.strip() for cell in rows[0]]
    faults = _header_faults(name, header, required)
    if faults:
        return _empty(required), faults
    whole, faults = _whole_rows(name, rows, len(header))
    columns = list(zip(*(rows[i] for i in whole), strict=True))
    faults += _unnamed_faults(name, header, columns, whole)
    frame = pd.DataFrame(
        {
            column: pd.Series(cells[1:], dtype=object)
            for column, cells in zip(header, columns, strict=True)
            if column
        }
    )
    frame["row"] = [i + 1 for i in whole[1:]]
    return frame, faults


def _whole_rows(name: str, rows: list[list[str]], width: int) -> tuple[list[int], list[Fault]]:
    whole: list[int] = []
    faults: list[Fault] = []
    for i, row in enumerate(rows):
        if len(row) == width:
            whole.append(i)
        elif row:
            what = f"has {len(row)} cells where the header has {width}"
            faults.append(_fault(name, i + 1, what, "Quote cells that hold commas or line breaks"))
    return whole, faults


def _unnamed_faults(
    name: str, header: list[str], columns: list[tuple[str, ...]], whole: list[int]
) -> list[Fault]:
    faults: list[Fault] = []
    for number, (column, cells) in enumerate(zip(header, columns, strict=True), start=1):
        filled = [i for i, cell in zip(whole, cells, strict=True) if cell.strip()]
        if not column and filled:
            what = f"column {number} has no name but holds something in row {filled[0] + 1}"
            faults.append(_fault(name, 1, what, "Name the column, or empty it"))
    return faults


def _header_faults(name: str, header: list[str], required: Sequence[str]) -> list[Fault]:
    faults = [
        _fault(name, 1, f"column {column!r} stands twice", "Keep one of them")
        for column in sorted({cell for cell in header if header.count(cell) > 1 and cell})
    ]
    missing = [column for column in required if column not in header]
    if missing:
        what = f"lacks the required column{'s' * (len(missing) > 1)} {', '.join(missing)}"
        remedy = "Add it to the header"
        if len(header) == 1 and (";" in header[0] or "\t" in header[0]):
            remedy = "Separate the cells with commas"
        faults.append(_fault(name, 1, what, remedy))
    return faults


def _empty(columns: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame({**{column: [] for column in columns}, "row": []}, dtype=object)


def _fault(name: str, row: int | None, what: str, remedy: str) -> Fault:
    return Fault(file=name, row=row, what=what, remedy=remedy)
