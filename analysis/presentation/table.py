"""A table of the report as rows of text, and functions that write its cells."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NotRequired, TypedDict, Unpack

from analysis.figures.drawing.axes import RaterName, condition_name, shorten
from analysis.presentation.wording import Row, decimals_for, number, rounded, sentences, span
from analysis.translation import t, tn

MOST_ROWS = 300
MOST_IN_PRINT = 40
# For important tables: all pairs of sixteen raters.
MANY_IN_PRINT = 120
# Maximum numbers of printed characters.
LONGEST_NAME, LONGEST_WORDS, LONGEST_HEAD = 44, 100, 64
EMPTY = "–"

# Signs, intervals, ratios and "(n = 12)" count as numbers.
NOT_IN_NUMBERS = re.compile(r"[^\W\d_n]")

TableRow = tuple[tuple[RaterName, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTable:
    """A rounded table of the report; the file has all rows with full precision.

    Parameters
    ----------
    name : str
        Name for ids and labels: letters, digits and hyphens.
    title, note : str
        The title, and the note below the table.
    file : str
        File with all rows in full precision.
    header : tuple of str
        Column headings.
    rows : list
        For each row its raters (or another subject) and its cells as text.
    total : int
        Number of rows in the file.
    sides : tuple of str
        Alignment of each column: `right` for numbers, `left` for words.
    in_paper : bool
        Whether the table is in the files for a paper.
    most_in_print : int
        Maximum number of rows in the PDF.
    """

    name: str
    title: str
    note: str
    file: str = ""
    header: tuple[str, ...]
    rows: list[TableRow]
    total: int
    sides: tuple[str, ...]
    in_paper: bool = False
    most_in_print: int = MOST_IN_PRINT

    def cut(self, max_rows: int) -> ReportTable:
        """Return the printed table: at most `max_rows` rows, with names that fit a column."""
        rows = [(tuple(map(_cut, names)), cells) for names, cells in self.rows[:max_rows]]
        return replace(self, header=tuple(map(_head, self.header)), rows=rows)

    def without_column(self, head: str) -> ReportTable:
        """Return the table without a column, or unchanged if it has no such column."""
        if head not in self.header[1:]:
            return self
        place = self.header.index(head, 1)
        return replace(
            self,
            header=self.header[:place] + self.header[place + 1 :],
            sides=self.sides[:place] + self.sides[place + 1 :],
            rows=[(label, cells[: place - 1] + cells[place:]) for label, cells in self.rows],
        )

    def with_first_heading(self, first: str) -> ReportTable:
        """Return the table with another heading for its first column."""
        return replace(self, header=(first, *self.header[1:]))

    def without_same(self, head: str) -> ReportTable:
        """Move a column whose cells are all equal to the note, which states their value."""
        if head not in self.header[1:]:
            return self
        place = self.header.index(head, 1) - 1
        values = {cells[place] for _, cells in self.rows}
        if len(values) != 1:
            return self
        same = t("{head}: {what}.", head=head, what=values.pop())
        return replace(self.without_column(head), note=sentences([self.note, same]))

    @property
    def left(self) -> int:
        """The number of rows that are not shown."""
        return self.total - len(self.rows)

    @property
    def remark(self) -> str:
        """The note with the number of rows that are not shown."""
        if not self.left:
            return self.note
        rest = tn("{n} more row in the file.", "{n} more rows in the file.", self.left)
        return sentences([self.note, rest])


def condition_cell(condition: str) -> str:
    """Return the name of a condition, in the current language, for a cell."""
    return condition_name(condition) or EMPTY


def _cut(name: RaterName) -> RaterName:
    longest = LONGEST_NAME if name.rater_id else LONGEST_WORDS
    return replace(name, label=shorten(name.label, longest))


def _head(text: str) -> str:
    return text if len(text) <= LONGEST_HEAD else shorten(text, LONGEST_HEAD)


def _sides(header: Sequence[str], rows: Sequence[TableRow]) -> tuple[str, ...]:
    columns = [[cells[j] for _, cells in rows] for j in range(len(header) - 1)]
    return ("left", *("right" if all(map(_is_number, c)) else "left" for c in columns))


def _is_number(cell: str) -> bool:
    between = t("{low} to {high}", low="", high="")
    return not NOT_IN_NUMBERS.search(cell.replace(between, " ").replace(t("undefined"), ""))


class _About(TypedDict):
    """The fields of a table apart from its cells."""

    name: str
    title: str
    note: str
    file: NotRequired[str]
    in_paper: NotRequired[bool]
    most_in_print: NotRequired[int]


def report_table(
    *,
    header: Sequence[str],
    rows: Sequence[TableRow],
    total: int | None = None,
    **description: Unpack[_About],
) -> ReportTable:
    """Return a table of the first `MOST_ROWS` rows, with the alignment of its columns."""
    header, body = tuple(header), list(rows[:MOST_ROWS])
    return ReportTable(
        header=header,
        rows=body,
        total=len(rows) if total is None else total,
        sides=_sides(header, body),
        **description,
    )


def named(names: Mapping[str, RaterName], rater: str) -> RaterName:
    """Return a rater's name, or the id if there is no name."""
    return names.get(rater) or words(rater)


def words(text: str) -> RaterName:
    """Return the label of a row whose subject is not a rater."""
    return RaterName(label=text, simulated=False)


def two_conditions(row: Row) -> tuple[RaterName, RaterName]:
    """Return the labels of a row that compares `condition_a` with `condition_b`."""
    first, second = (words(condition_name(str(row[f"condition_{side}"]))) for side in "ab")
    return first, second


def whole_number(n: float) -> str:
    """Write a whole number."""
    return rounded(n, 0)


def percent_cell(value: float) -> str:
    """Write a proportion in percent; a dash if it is undefined."""
    return EMPTY if math.isnan(value) else rounded(100 * value, 1)


def range_cell(low: float, high: float, *, factor: float = 100, decimals: int = 1) -> str:
    """Write an interval; a dash if it is undefined."""
    if math.isnan(low) or math.isnan(high):
        return EMPTY
    return span(rounded(factor * low, decimals), rounded(factor * high, decimals))


def estimate_with_range(estimate: float, low: float, high: float) -> str:
    """Write an estimate with its interval in one cell; a dash if it is undefined.

    Examples
    --------
    >>> estimate_with_range(83.3, 66.4, 92.7), estimate_with_range(50.0, float("nan"), 1.0)
    ('83.3 (66.4 to 92.7)', '50.0')
    """
    if math.isnan(estimate):
        return EMPTY
    if math.isnan(low) or math.isnan(high):
        return rounded(estimate, 1)
    # A limit just beyond 0 must not be printed as 0.
    decimals = decimals_for([low, high], [0.0], 1)
    limits = span(rounded(low, decimals), rounded(high, decimals))
    return t("{value} ({limits})", value=rounded(estimate, 1), limits=limits)


def p_cell(p: float) -> str:
    """Write a p-value.

    Examples
    --------
    >>> p_cell(0.00001), p_cell(0.0312), p_cell(float("nan"))
    ('<0.001', '0.031', '–')
    """
    if math.isnan(p):
        return EMPTY
    return f"<{rounded(0.001, 3)}" if p < 0.001 else rounded(p, 3)


def estimate_cell(estimate: float, low: float, high: float) -> str:
    """Write a coefficient with its interval."""
    if math.isnan(estimate):
        return t("undefined")
    if math.isnan(low):
        return rounded(estimate, 2)
    value, low_, high_ = (rounded(end, 2) for end in (estimate, low, high))
    return t("{value} [{low}, {high}]", value=value, low=low_, high=high_)


def estimate_of(row: Row) -> str:
    """Write a row's estimate with its interval; a dash if there is no row."""
    if not row:
        return EMPTY
    estimate, low, high = (number(row, column) for column in ("estimate", "ci_low", "ci_high"))
    return estimate_cell(estimate, low, math.nan if math.isnan(low) else high)


def difference_cells(row: Row, factor: float, *, cluster: bool = False) -> tuple[str, str]:
    """Write a row's difference times `factor` (100: points, with one decimal) and its interval."""
    columns = ("cluster_ci_low", "cluster_ci_high") if cluster else ("ci_low", "ci_high")
    low, high = (factor * number(row, column) for column in columns)
    difference = rounded(factor * number(row, "difference"), 1 if factor == 100 else 3)
    if math.isnan(low) or math.isnan(high):
        return difference, EMPTY
    # A limit just beyond 0 must not be printed as 0.
    decimals = decimals_for([low, high], [0.0], 1 if factor == 100 else 3)
    return difference, span(rounded(low, decimals), rounded(high, decimals))


def percent_with_range(row: Row, estimate: str, low: str = "ci_low", high: str = "ci_high") -> str:
    """Write a proportion of a row in percent, with the interval from columns `low` and `high`."""
    return estimate_with_range(*(100 * number(row, column) for column in (estimate, low, high)))
