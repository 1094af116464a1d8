"""Cells of CSV files: none of them is a formula to a spreadsheet, and a program reads them back.

Spreadsheets take text that begins with one of a few signs for a formula, and what a reader typed
would run on the computer of whoever opens the file. Such text gets an apostrophe before it, unless
it is a plain number; text that begins with apostrophes and then such a sign gets one more. Taking
one away where one was put gives the text as it was, whatever it was.
"""

import re
from collections.abc import Iterable, Sequence

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def guarded(text: str) -> str:
    """Return text as it stands in a cell.

    >>> guarded("=1+1"), guarded("'=1+1"), guarded("-0.5"), guarded("don't")
    ("'=1+1", "''=1+1", '-0.5', "don't")
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def unguarded(cell: str) -> str:
    """Return the text that `guarded` made a cell of.

    >>> unguarded("'=1+1"), unguarded("''=1+1"), unguarded("-0.5"), unguarded("don't")
    ('=1+1', "'=1+1", '-0.5', "don't")
    """
    return cell[1:] if _GUARDED.match(cell) else cell


def csv_bytes(
    names: Sequence[str], rows: Iterable[Sequence[object]], *, guard: bool = True
) -> bytes:
    """Return rows under a header as CSV in UTF-8, each ended by a line feed, see `csv_line`."""
    lines = (csv_line(row, guard=guard) for row in (names, *rows))
    return "".join(lines).encode("utf-8", "replace")


def csv_line(cells: Iterable[object], *, guard: bool = True) -> str:
    """Return one line of CSV, None as an empty cell, texts as `guarded` gives them.

    A cell with a comma, a quotation mark or either sign that ends lines is quoted. The module
    ``csv`` leaves a lone carriage return bare where lines end with a line feed, and so breaks the
    row in two for whoever reads it.
    """
    return ",".join(_cell(value, guard=guard) for value in cells) + "\n"


def _cell(value: object, *, guard: bool) -> str:
    text = "" if value is None else str(value)
    if guard and isinstance(value, str):
        text = guarded(text)
    if any(sign in text for sign in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text
