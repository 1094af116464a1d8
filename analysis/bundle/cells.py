"""Cells of CSV files that a spreadsheet would take for formulas: kept from it, and read back.

Text that begins with one of a few signs is no formula with an apostrophe before it. A plain number
stays as it is; text that begins with apostrophes and then such a sign gets one more. Control
characters, and those that turn the direction of text, are written as escapes. Both are undone
exactly. A bundle says of itself whether its cells are written so.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pandas as pd

_SIGNS = "=+\\-@|\t\r\n＝＋－＠﹢﹣﹦﹫"
_SPACES = r"[\s\u00ad\u200b-\u200d\u2060\ufeff]*"
_FORMULA = re.compile(rf"'*{_SPACES}[{_SIGNS}]")
_GUARDED = re.compile(rf"'+{_SPACES}[{_SIGNS}]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_CONTROLS = re.compile(
    r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
    r"|\\(?=u[0-9a-f]{4})"
)
"""Characters that steer a terminal or turn text round, and a backslash that reads as such."""

_ESCAPE = re.compile(r"\\u([0-9a-f]{4})")


def guarded(text: str) -> str:
    r"""Return text as it stands in a cell: no formula, and control characters as escapes.

    Examples
    --------
    >>> guarded("=1+1"), guarded("'=1+1"), guarded(" ＝1"), guarded("-0.5"), guarded("don't")
    ("'=1+1", "''=1+1", "' ＝1", '-0.5', "don't")
    >>> guarded("a\x1bb\u202ec"), guarded(r"\u202e")
    ('a\\u001bb\\u202ec', '\\u005cu202e')
    """
    if _CONTROLS.search(text):
        text = _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def unguarded(cell: str) -> str:
    r"""Return the text that `guarded` made a cell of.

    Examples
    --------
    >>> unguarded("'=1+1"), unguarded("''=1+1"), unguarded("-0.5"), unguarded(r"a\u001bb")
    ('=1+1', "'=1+1", '-0.5', 'a\x1bb')
    """
    text = cell[1:] if _GUARDED.match(cell) else cell
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text) if "\\u" in text else text


_FORMER_GUARDED = re.compile(r"'+[=+\-@\t\r]")


def unguarded_before(cell: str) -> str:
    """Return the text of a cell of a bundle of an earlier version: fewer signs, and no escapes."""
    return cell[1:] if _FORMER_GUARDED.match(cell) else cell


def guarded_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table as it is written: its numbers as they are, its texts as cells.

    Examples
    --------
    >>> guarded_table(pd.DataFrame({"who": ["=R1", "R2"], "x": [-0.5, 1.0]})).values.tolist()
    [["'=R1", -0.5], ['R2', 1.0]]
    """
    return _rewritten(table, guarded)


def unguarded_table(table: pd.DataFrame, read: Callable[[str], str] = unguarded) -> pd.DataFrame:
    """Return a table of cells as the texts they were made of.

    Examples
    --------
    >>> unguarded_table(pd.DataFrame({"who": ["'=R1", "R2"]}))["who"].tolist()
    ['=R1', 'R2']
    """
    return _rewritten(table, read)


def _rewritten(table: pd.DataFrame, write: Callable[[str], str]) -> pd.DataFrame:
    # Columns in which nothing changes are left alone: the pairs of 200 raters are long.
    changed = {}
    for name, column in table.items():
        if pd.api.types.is_numeric_dtype(column):
            continue
        texts = (one for one in column.unique() if isinstance(one, str))
        cells = {text: cell for text in texts if (cell := write(text)) != text}
        if cells:
            changed[str(name)] = [cells.get(one, one) for one in column]
    return table.assign(**changed) if changed else table
