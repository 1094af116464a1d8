"""Column names and kinds: how names are compared, and how the cells below them are read."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from enum import Enum
from functools import lru_cache

from study.base.errors import BadFile
from study.base.text import text_key
from study.base.translation import t

MOST_LISTED = 40
"""Columns that a message names."""


class Kind(Enum):
    """The kind of a column's content, which determines how its cells are read.

    Attributes
    ----------
    TEXT
        Text: a workbook's number is read as Excel displays it, or its row is rejected.
    NUMBER
        Numbers: a workbook's number is read in full, a decimal comma as a point.
    DATE
        Dates: a workbook's date is read as `2026-05-24`.
    ANY
        Anything: read as well as possible and never rejected.
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
    """Return a name as it is compared: ignoring case, spaces and punctuation.

    >>> plain_key("PatientID") == plain_key("patient_id") == plain_key("Patient ID")
    True
    >>> plain_key("Größe") == plain_key("Gro\u0308ße"), plain_key("问题")
    (True, '问题')
    """
    text = unicodedata.normalize("NFKC", text_key(key)).casefold()
    return "".join(
        char for char in text if char.isalnum() or unicodedata.category(char).startswith("M")
    )


def listed(header: Sequence[str]) -> str:
    """Return the names of columns for a message."""
    more = f" and {len(header) - MOST_LISTED:,} more" if len(header) > MOST_LISTED else ""
    return ", ".join(column[:60] for column in header[:MOST_LISTED] if column) + more or "empty"


def check_header(name: str, header: Sequence[str]) -> None:
    """Refuse a header with two columns of one name.

    Raises
    ------
    BadFile
        With the columns, and the name of the file.
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
                columns=listed(repeated),
            )
        )


_COMMA_NUMBER = re.compile(r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*%?\s*")
_QUOTED_COMMA_NUMBER = re.compile(r"""(["'])([+-]?\d*),(\d+)\1""")


def with_points(text: str) -> str:
    r"""Return a cell of numbers with decimal points for decimal commas.

    Numbers of a list are separated by `|`, `;` or a backslash. In JSON only quoted numbers can
    have a decimal comma.

    >>> with_points("0,143"), with_points(r"0,143\0,143|0,2"), with_points("[0.1,0.9]")
    ('0.143', '0.143\\0.143|0.2', '[0.1,0.9]')
    """
    if "," not in text:
        return text
    if text.lstrip().startswith(("[", "{")):
        return _QUOTED_COMMA_NUMBER.sub(r"\1\2.\3\1", text)
    parts = re.split(r"([|;\\])", text)
    return "".join(
        part.replace(",", ".") if _COMMA_NUMBER.fullmatch(part) else part for part in parts
    )
