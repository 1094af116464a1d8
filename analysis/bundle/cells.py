"""Escape the cells of CSV files that a spreadsheet would evaluate as formulas, and undo it.

An apostrophe is added in front of text that begins with a character of `_FORMULA_STARTS`, unless it
is a plain number, so that a spreadsheet does not evaluate it. If the text begins with apostrophes
before such a character, one more is added. Control characters, and characters that change the
direction of text, are written as escapes. Reading restores the text exactly. `datapackage.json`
states whether the cells of a bundle are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pandas as pd

_FORMULA_STARTS = "=+\\-@|\t\r\n＝＋－＠﹢﹣﹦﹫"
_SPACES = (
    r"[\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u206f\u2800\u2d7f\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001343f\U00016fe4\U0001bca0-\U0001bca3\U0001d159"
    r"\U0001d173-\U0001d17a\U000e0000-\U000e0fff]*"
)
"""White space and characters without a glyph."""

_FORMULA = re.compile(rf"'*{_SPACES}[{_FORMULA_STARTS}]")
_ESCAPED_FORMULA = re.compile(rf"'+{_SPACES}[{_FORMULA_STARTS}]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_CONTROLS = re.compile(
    r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
    r"|\\(?=u[0-9a-f]{4})"
)
"""Characters that control a terminal or the direction of text, and a backslash before an escape."""

_CONTROL_ESCAPE = re.compile(r"\\u([0-9a-f]{4})")


def escape_cell(text: str) -> str:
    r"""Escape text for a cell, so that it is no formula and has no control characters.

    Examples
    --------
    >>> [escape_cell(text) for text in ("=1+1", "'=1+1", " ＝1", "-0.5", "don't")]
    ["'=1+1", "''=1+1", "' ＝1", '-0.5', "don't"]
    >>> escape_cell("a\x1bb\u202ec"), escape_cell(r"\u202e")
    ('a\\u001bb\\u202ec', '\\u005cu202e')
    """
    if _CONTROLS.search(text):
        text = _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def unescape_cell(cell: str) -> str:
    r"""Restore the text of a cell that `escape_cell` has written.

    Examples
    --------
    >>> [unescape_cell(cell) for cell in ("'=1+1", "''=1+1", "-0.5", r"a\u001bb")]
    ['=1+1', "'=1+1", '-0.5', 'a\x1bb']
    """
    text = cell[1:] if _ESCAPED_FORMULA.match(cell) else cell
    return (
        _CONTROL_ESCAPE.sub(lambda match: chr(int(match[1], 16)), text) if "\\u" in text else text
    )


_FORMER_ESCAPED_FORMULA = re.compile(r"'+[=+\-@\t\r]")


def unescape_former_cell(cell: str) -> str:
    """Restore the text of a cell in a bundle of an earlier version, which wrote no escapes."""
    return cell[1:] if _FORMER_ESCAPED_FORMULA.match(cell) else cell


def escape_table(table: pd.DataFrame) -> pd.DataFrame:
    """Escape the text cells of a table with `escape_cell`; numbers do not change.

    Examples
    --------
    >>> escape_table(pd.DataFrame({"who": ["=R1", "R2"], "x": [-0.5, 1.0]})).values.tolist()
    [["'=R1", -0.5], ['R2', 1.0]]
    """
    return _rewrite_text(table, escape_cell)


def unescape_table(table: pd.DataFrame, read: Callable[[str], str] = unescape_cell) -> pd.DataFrame:
    """Restore the text cells of a table that `escape_table` has escaped.

    Examples
    --------
    >>> unescape_table(pd.DataFrame({"who": ["'=R1", "R2"]}))["who"].tolist()
    ['=R1', 'R2']
    """
    return _rewrite_text(table, read)


def _rewrite_text(table: pd.DataFrame, write: Callable[[str], str]) -> pd.DataFrame:
    # Unchanged columns are not copied, because the table of the pairs of 200 raters is long.
    changed = {}
    for name, column in table.items():
        if pd.api.types.is_numeric_dtype(column):
            continue
        distinct = set(column.to_numpy()) if column.dtype == object else column.unique()
        texts = (text for text in distinct if isinstance(text, str))
        cells = {text: cell for text in texts if (cell := write(text)) != text}
        if cells:
            changed[str(name)] = [cells.get(text, text) for text in column]
    return table.assign(**changed) if changed else table
