"""Compares the names of columns, and defines how the cells of each kind of column are read."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from enum import Enum
from functools import lru_cache

from study.base.errors import BadFile
from study.base.text import text_key
from study.base.translation import t

MAX_LISTED_COLUMNS = 40
"""Maximum number of columns that a message names."""


class Kind(Enum):
    """The kind of a column's content, which determines how its cells are read.

    Attributes
    ----------
    TEXT
        Text: a number in a workbook is read as Excel displays it; if that is unknown, the row is
        rejected.
    NUMBER
        Numbers: a number in a workbook is read with all its digits, and a decimal comma as a point.
    DATE
        Dates: a date in a workbook is read as `2026-05-24`.
    ANY
        Any content: cells are read as well as possible and never rejected.
    """

    TEXT = "text"
    NUMBER = "number"
    DATE = "date"
    ANY = "any"


KindOf = Callable[[str], Kind]
"""Returns the kind of a column by its name in the header."""


def all_text(column: str) -> Kind:
    """Return the kind of every column if the caller does not specify kinds."""
    return Kind.TEXT


@lru_cache(maxsize=4096)
def plain_key(key: str) -> str:
    """Return the form of a name for comparison, without letter case, spaces and punctuation.

    >>> plain_key("PatientID") == plain_key("patient_id") == plain_key("Patient ID")
    True
    >>> plain_key("Größe") == plain_key("Gro\u0308ße"), plain_key("问题")
    (True, '问题')
    """
    text = unicodedata.normalize("NFKC", text_key(key)).casefold()
    return "".join(
        char for char in text if char.isalnum() or unicodedata.category(char).startswith("M")
    )


def column_list(header: Sequence[str]) -> str:
    """Return the names of columns as a list for a message."""
    more = (
        f" and {len(header) - MAX_LISTED_COLUMNS:,} more"
        if len(header) > MAX_LISTED_COLUMNS
        else ""
    )
    return (
        ", ".join(column[:60] for column in header[:MAX_LISTED_COLUMNS] if column) + more or "empty"
    )


def check_header(name: str, header: Sequence[str]) -> None:
    """Refuse a header in which two columns have the same name.

    Raises
    ------
    BadFile
        The message names the file and the columns.
    """
    counts = Counter(map(plain_key, header))
    repeated = sorted(
        {column for column in header if plain_key(column) and counts[plain_key(column)] > 1}
    )
    if repeated:
        raise BadFile(
            t(
                "{name} has columns given twice: {columns}. Keep one of each.",
                name=name,
                columns=column_list(repeated),
            )
        )


_COMMA_NUMBER = re.compile(r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*%?\s*")
_QUOTED_COMMA_NUMBER = re.compile(r"""(["'])([+-]?\d*),(\d+)\1""")


def with_decimal_points(text: str) -> str:
    r"""Replace decimal commas by decimal points in a cell with numbers.

    The numbers of a list are separated by `|`, `;` or a backslash. In JSON only quoted numbers can
    have a decimal comma.

    >>> [with_decimal_points(text) for text in ("0,143", r"0,143\0,143|0,2", "[0.1,0.9]")]
    ['0.143', '0.143\\0.143|0.2', '[0.1,0.9]']
    """
    if "," not in text:
        return text
    if text.lstrip().startswith(("[", "{")):
        return _QUOTED_COMMA_NUMBER.sub(r"\1\2.\3\1", text)
    parts = re.split(r"([|;\\])", text)
    return "".join(
        part.replace(",", ".") if _COMMA_NUMBER.fullmatch(part) else part for part in parts
    )
