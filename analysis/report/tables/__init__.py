"""The report's tables, as rows of text."""

from __future__ import annotations

from dataclasses import replace

from analysis.presentation.table import ReportTable, TableRow
from analysis.presentation.wording import has_several
from analysis.registry import STATISTICS
from analysis.report.tables.accuracy import (
    accuracy_overview,
    banks_overview,
    missing_overview,
    open_ended_overview,
    tasks_overview,
)
from analysis.report.tables.agreement import (
    between_overview,
    groups_overview,
    indices_overview,
    matrix_overview,
    pairs_overview,
    repeats_overview,
    truth_groups_overview,
    truth_overview,
)
from analysis.report.tables.comparison import (
    comparisons_overview,
    conditions_overview,
    panel_overview,
)
from analysis.report.tables.models import (
    positions_overview,
    runs_overview,
    side_by_side_overview,
)
from analysis.report.tables.sensitivity import (
    choices_overview,
    panel_choices_overview,
    variances_overview,
)
from analysis.report.tables.times import leaderboard_overview
from analysis.results import Results
from analysis.translation import t

__all__ = ["ReportTable", "TableRow", "overviews"]

PARTS = {
    10: tasks_overview,
    20: panel_overview,
    30: comparisons_overview,
    50: groups_overview,
    60: between_overview,
    70: matrix_overview,
    80: truth_overview,
    90: accuracy_overview,
    100: banks_overview,
    110: open_ended_overview,
    120: leaderboard_overview,
    130: conditions_overview,
    140: variances_overview,
    150: pairs_overview,
    160: truth_groups_overview,
    170: indices_overview,
    180: repeats_overview,
    190: runs_overview,
    200: side_by_side_overview,
    210: positions_overview,
    240: missing_overview,
    250: choices_overview,
    260: panel_choices_overview,
}


def overviews(results: Results) -> list[ReportTable]:
    """Return the report's tables that have rows, in order of place.

    A column that is the same in every row is left out, and so is the condition if there is one.
    """
    by_place = {place: list(part(results)) for place, part in PARTS.items()}
    for statistic in STATISTICS:
        if results.has(statistic.name):
            file = f"tables/{statistic.name}.csv"
            for place, part in statistic.tables.items():
                by_place[place] = [replace(table, file=file) for table in part(results)]
    tables = [
        table.without_same(t("Metric"))
        for _, part in sorted(by_place.items())
        for table in part
        if table.rows
    ]
    if has_several(results):
        return tables
    return [table.without(t("Condition")) for table in tables]
