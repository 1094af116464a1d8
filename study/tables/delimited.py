"""Reads rows of text separated by commas, semicolons or tabs, as spreadsheets export them."""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice

from study.base.budget import BUDGET, Budget
from study.base.errors import BadFile
from study.base.translation import t

_SEPARATORS = ",;\t"
_SEPARATOR_LINE = re.compile(r'[ \t]*"?sep=([^\w"\r\n])"?[,;\t ]*(?:\r\n|\r|\n|\Z)', re.IGNORECASE)
"""A first line that Excel adds to name the separator."""

_N_INSPECTED_CHARACTERS = 1 << 16
_N_COMPARED_ROWS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Delimited:
    """The rows of a text file with a separator.

    Attributes
    ----------
    separator : str
        A single character.
    rows : iterator of (int, list of str)
        The rows that are not blank, each with the number of its first line.
    """

    separator: str
    rows: Iterator[tuple[int, list[str]]]

    @property
    def has_decimal_commas(self) -> bool:
        """Whether a comma in a number must be a decimal comma."""
        return self.separator != ","


def read_delimited(
    name: str, lines: Iterable[str], *, beginning: str, budget: Budget = BUDGET
) -> Delimited:
    """Read rows from lines of text.

    Quotation marks are checked strictly: a quotation that is never closed is refused, because the
    following rows would become part of it.

    Parameters
    ----------
    name : str
        The name of the file in messages.
    lines : iterable of str
        The lines with their line ends.
    beginning : str
        The beginning of the text, from which the separator is recognised.
    budget : Budget
        The maximum number of rows, including blank rows.

    Raises
    ------
    BadFile
        Quotation marks are wrong, or there are too many rows. Iterating over `rows` may also raise
        this error.
    """
    lines = chain.from_iterable(io.StringIO(line, newline="") for line in lines)
    separator_line = _SEPARATOR_LINE.match(beginning)
    if separator_line:
        next(iter(lines), None)
        separator = separator_line[1]
    else:
        separator = separator_of(beginning[:_N_INSPECTED_CHARACTERS])
    csv.field_size_limit(max(csv.field_size_limit(), BUDGET.record_characters))
    reader = csv.reader(lines, delimiter=separator, strict=True)
    return Delimited(
        separator=separator, rows=_rows(name, reader, int(bool(separator_line)), budget)
    )


def separator_of(beginning: str) -> str:
    r"""Return the separator of a file from its beginning.

    This is the separator that gives the most columns, preferably the same number in the header and
    the next row; separators in quotation marks do not count.

    >>> separator_of('"Name; in full",id\n"A; B",1\n'), separator_of("id;a, b, c\n1;2\n")
    (',', ';')
    """

    def fit(separator: str) -> tuple[bool, int]:
        rows = csv.reader(io.StringIO(beginning, newline=""), delimiter=separator)
        try:
            widths = [len(row) for row in islice(filter(_is_filled, rows), _N_COMPARED_ROWS)]
        except csv.Error:
            widths = []
        width = widths[0] if widths else 0
        return width > 1 and len(set(widths)) == 1, width

    return max(_SEPARATORS, key=fit)


def _is_filled(row: list[str]) -> bool:
    return any(cell and not cell.isspace() for cell in row)


def _rows(
    name: str, reader: Iterator[list[str]], n_before: int, budget: Budget
) -> Iterator[tuple[int, list[str]]]:
    last = 0
    try:
        for n, row in enumerate(reader):  # the first row is the header
            budget.check_rows(name, n)
            if _is_filled(row):
                yield last + n_before + 1, row
            last = reader.line_num  # type: ignore[attr-defined]  # csv's own reader
    except csv.Error:
        raise BadFile(
            t(
                "{name} is not a valid CSV file: the row that begins at line {line} cannot be "
                "read. Check its quotes.",
                name=name,
                line=str(last + n_before + 1),
            )
        ) from None
