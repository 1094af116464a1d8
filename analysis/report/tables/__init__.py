"""The report's tables, as rows of text."""

from __future__ import annotations

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
    gee_overview,
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
from analysis.report.tables.table import ReportTable, TableRow
from analysis.report.tables.times import (
    leaderboard_overview,
    time_model_overview,
    times_overview,
)
from analysis.report.wording import has_several
from analysis.results import Results
from analysis.translation import t

__all__ = ["ReportTable", "TableRow", "overviews"]

PARTS = (
    tasks_overview,
    panel_overview,
    comparisons_overview,
    gee_overview,
    groups_overview,
    between_overview,
    matrix_overview,
    truth_overview,
    accuracy_overview,
    banks_overview,
    open_ended_overview,
    leaderboard_overview,
    conditions_overview,
    variances_overview,
    pairs_overview,
    truth_groups_overview,
    indices_overview,
    repeats_overview,
    runs_overview,
    side_by_side_overview,
    positions_overview,
    times_overview,
    time_model_overview,
    missing_overview,
    choices_overview,
    panel_choices_overview,
)


def overviews(results: Results) -> list[ReportTable]:
    """Return the report's tables.

    Those with rows; the ones a paper prints come first.
    """
    found = [table for part in PARTS for table in part(results) if table.rows]
    told = [table.without_same(t("Metric")) for table in found]
    return told if has_several(results) else [table.without(t("Condition")) for table in told]
