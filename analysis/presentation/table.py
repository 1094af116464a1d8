"""A table of the report as rows of text, and functions that write its cells."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NotRequired, TypedDict, Unpack

from analysis.figures.drawing.axes import RaterName, condition_name, shorten
from analysis.presentation.wording import (
    Row,
    cell_number,
    decimals_for,
    format_number,
    format_range,
    join_sentences,
)
from analysis.translation import t, tn

MAX_ROWS = 300
MAX_PRINTED_ROWS = 40
# For important tables: all pairs of sixteen raters.
MAX_PRINTED_ROWS_IMPORTANT = 120
# Maximum numbers of printed characters.
MAX_NAME_LENGTH, MAX_TEXT_LENGTH, MAX_HEADING_LENGTH = 44, 100, 64
EMPTY_CELL = "–"

# Signs, intervals, ratios and "(n = 12)" count as numbers.
NON_NUMBER = re.compile(r"[^\W\d_n]")

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
    max_printed_rows : int
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
    max_printed_rows: int = MAX_PRINTED_ROWS

    def cut(self, max_rows: int) -> ReportTable:
        """Return the printed table: at most `max_rows` rows, with names that fit a column."""
        rows = [(tuple(map(_shorten_name, names)), cells) for names, cells in self.rows[:max_rows]]
        return replace(self, header=tuple(map(_shorten_heading, self.header)), rows=rows)

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

    def without_constant_column(self, head: str) -> ReportTable:
        """Move a column whose cells are all equal to the note, which states their value."""
        if head not in self.header[1:]:
            return self
        place = self.header.index(head, 1) - 1
        values = {cells[place] for _, cells in self.rows}
        if len(values) != 1:
            return self
        same = t("{head}: {what}.", head=head, what=values.pop())
        return replace(self.without_column(head), note=join_sentences([self.note, same]))

    @property
    def n_rows_left_out(self) -> int:
        """The number of rows that are not shown."""
        return self.total - len(self.rows)

    @property
    def remark(self) -> str:
        """The note with the number of rows that are not shown."""
        if not self.n_rows_left_out:
            return self.note
        rest = tn("{n} more row in the file.", "{n} more rows in the file.", self.n_rows_left_out)
        return join_sentences([self.note, rest])


def condition_cell(condition: str) -> str:
    """Return the name of a condition, in the current language, for a cell."""
    return condition_name(condition) or EMPTY_CELL


def _shorten_name(name: RaterName) -> RaterName:
    longest = MAX_NAME_LENGTH if name.rater_id else MAX_TEXT_LENGTH
    return replace(name, label=shorten(name.label, longest))


def _shorten_heading(text: str) -> str:
    return text if len(text) <= MAX_HEADING_LENGTH else shorten(text, MAX_HEADING_LENGTH)


def _alignments(header: Sequence[str], rows: Sequence[TableRow]) -> tuple[str, ...]:
    columns = [[cells[j] for _, cells in rows] for j in range(len(header) - 1)]
    return ("left", *("right" if all(map(_is_number, c)) else "left" for c in columns))


def _is_number(cell: str) -> bool:
    between = t("{low} to {high}", low="", high="")
    return not NON_NUMBER.search(cell.replace(between, " ").replace(t("undefined"), ""))


class _Description(TypedDict):
    """The fields of a table apart from its cells."""

    name: str
    title: str
    note: str
    file: NotRequired[str]
    in_paper: NotRequired[bool]
    max_printed_rows: NotRequired[int]


def report_table(
    *,
    header: Sequence[str],
    rows: Sequence[TableRow],
    total: int | None = None,
    **description: Unpack[_Description],
) -> ReportTable:
    """Return a table of the first `MAX_ROWS` rows, with the alignment of its columns."""
    header, body = tuple(header), list(rows[:MAX_ROWS])
    return ReportTable(
        header=header,
        rows=body,
        total=len(rows) if total is None else total,
        sides=_alignments(header, body),
        **description,
    )


def rater_name(names: Mapping[str, RaterName], rater: str) -> RaterName:
    """Return a rater's name, or the id if there is no name."""
    return names.get(rater) or row_label(rater)


def row_label(text: str) -> RaterName:
    """Return the label of a row whose subject is not a rater."""
    return RaterName(label=text, simulated=False)


def two_conditions(row: Row) -> tuple[RaterName, RaterName]:
    """Return the labels of a row that compares `condition_a` with `condition_b`."""
    first, second = (row_label(condition_name(str(row[f"condition_{side}"]))) for side in "ab")
    return first, second


def whole_number(n: float) -> str:
    """Write a whole number."""
    return format_number(n, 0)


def percent_cell(value: float) -> str:
    """Write a proportion in percent; a dash if it is undefined."""
    return EMPTY_CELL if math.isnan(value) else format_number(100 * value, 1)


def range_cell(low: float, high: float, *, factor: float = 100, decimals: int = 1) -> str:
    """Write an interval; a dash if it is undefined."""
    if math.isnan(low) or math.isnan(high):
        return EMPTY_CELL
    return format_range(
        format_number(factor * low, decimals), format_number(factor * high, decimals)
    )


def estimate_with_range(estimate: float, low: float, high: float) -> str:
    """Write an estimate with its interval in one cell; a dash if it is undefined.

    Examples
    --------
    >>> estimate_with_range(83.3, 66.4, 92.7), estimate_with_range(50.0, float("nan"), 1.0)
    ('83.3 (66.4 to 92.7)', '50.0')
    """
    if math.isnan(estimate):
        return EMPTY_CELL
    if math.isnan(low) or math.isnan(high):
        return format_number(estimate, 1)
    # A limit just beyond 0 must not be printed as 0.
    decimals = decimals_for([low, high], [0.0], 1)
    limits = format_range(format_number(low, decimals), format_number(high, decimals))
    return t("{value} ({limits})", value=format_number(estimate, 1), limits=limits)


def p_cell(p: float) -> str:
    """Write a p-value.

    Examples
    --------
    >>> p_cell(0.00001), p_cell(0.0312), p_cell(float("nan"))
    ('<0.001', '0.031', '–')
    """
    if math.isnan(p):
        return EMPTY_CELL
    return f"<{format_number(0.001, 3)}" if p < 0.001 else format_number(p, 3)


def estimate_cell(estimate: float, low: float, high: float) -> str:
    """Write a coefficient with its interval."""
    if math.isnan(estimate):
        return t("undefined")
    if math.isnan(low):
        return format_number(estimate, 2)
    value, low_, high_ = (format_number(end, 2) for end in (estimate, low, high))
    return t("{value} [{low}, {high}]", value=value, low=low_, high=high_)


def estimate_of(row: Row) -> str:
    """Write a row's estimate with its interval; a dash if there is no row."""
    if not row:
        return EMPTY_CELL
    estimate, low, high = (cell_number(row, column) for column in ("estimate", "ci_low", "ci_high"))
    return estimate_cell(estimate, low, math.nan if math.isnan(low) else high)


def difference_cells(row: Row, factor: float, *, cluster: bool = False) -> tuple[str, str]:
    """Write a row's difference times `factor` (100: points, with one decimal) and its interval."""
    columns = ("cluster_ci_low", "cluster_ci_high") if cluster else ("ci_low", "ci_high")
    low, high = (factor * cell_number(row, column) for column in columns)
    difference = format_number(factor * cell_number(row, "difference"), 1 if factor == 100 else 3)
    if math.isnan(low) or math.isnan(high):
        return difference, EMPTY_CELL
    # A limit just beyond 0 must not be printed as 0.
    decimals = decimals_for([low, high], [0.0], 1 if factor == 100 else 3)
    return difference, format_range(format_number(low, decimals), format_number(high, decimals))


def percent_with_range(row: Row, estimate: str, low: str = "ci_low", high: str = "ci_high") -> str:
    """Write a proportion of a row in percent, with the interval from columns `low` and `high`."""
    return estimate_with_range(
        *(100 * cell_number(row, column) for column in (estimate, low, high))
    )
