"""Cells of CSV files that a spreadsheet would take for formulas: kept from it, and read back.

Text that begins with one of a few signs is no formula with an apostrophe before it. A plain number
stays as it is; text that begins with apostrophes and then such a sign gets one more, so that taking
one away always gives the text back. A bundle whose cells are written so says so of itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pandas as pd

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")
_FIRST = tuple("'=+-@\t\r")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def guarded(text: str) -> str:
    """Return text as it stands in a cell.

    Examples
    --------
    >>> guarded("=1+1"), guarded("'=1+1"), guarded("-0.5"), guarded("don't")
    ("'=1+1", "''=1+1", '-0.5', "don't")
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def unguarded(cell: str) -> str:
    """Return the text that `guarded` made a cell of.

    Examples
    --------
    >>> unguarded("'=1+1"), unguarded("''=1+1"), unguarded("-0.5"), unguarded("don't")
    ('=1+1', "'=1+1", '-0.5', "don't")
    """
    return cell[1:] if _GUARDED.match(cell) else cell


def guarded_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table as it is written: its numbers as they are, its texts as cells.

    Examples
    --------
    >>> guarded_table(pd.DataFrame({"who": ["=R1", "R2"], "x": [-0.5, 1.0]})).values.tolist()
    [["'=R1", -0.5], ['R2', 1.0]]
    """
    return _rewritten(table, guarded)


def unguarded_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of cells as the texts they were made of.

    Examples
    --------
    >>> unguarded_table(pd.DataFrame({"who": ["'=R1", "R2"]}))["who"].tolist()
    ['=R1', 'R2']
    """
    return _rewritten(table, unguarded)


def _rewritten(table: pd.DataFrame, write: Callable[[str], str]) -> pd.DataFrame:
    # Few texts begin so: columns without any are left alone, and the pairs of 200 raters are long.
    changed = {}
    for name, column in table.items():
        if pd.api.types.is_numeric_dtype(column):
            continue
        texts = (one for one in column.unique() if isinstance(one, str) and one[:1] in _FIRST)
        cells = {text: write(text) for text in texts}
        if cells:
            changed[str(name)] = [cells.get(one, one) for one in column]
    return table.assign(**changed) if changed else table
