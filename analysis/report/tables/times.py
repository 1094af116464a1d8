"""Times, and the leaderboard with the uncertainty of its ranks."""

from __future__ import annotations

import math

from analysis.figures.drawing.axes import rater_names
from analysis.presentation.table import (
    EMPTY,
    ReportTable,
    TableRow,
    condition_cell,
    named,
    percent_cell,
    range_cell,
    report_table,
)
from analysis.presentation.wording import number, rows_of
from analysis.results import Results
from analysis.translation import later, said, t


def leaderboard_overview(results: Results) -> list[ReportTable]:
    """Show the ranks by micro and by macro accuracy, with their intervals."""
    names = rater_names(results.bundle)
    rows: list[TableRow] = []
    macro = {
        (row["rater_id"], row["condition"]): row
        for row in rows_of(results, "leaderboard", by="overall", group="macro")
    }
    micro = rows_of(results, "leaderboard", by="overall", group="micro")
    for row in sorted(micro, key=lambda one: (str(one["condition"]), _last(number(one, "rank")))):
        other = macro.get((row["rater_id"], row["condition"]), {})
        cells = [condition_cell(str(row["condition"])), said(KINDS[str(row["rater_kind"])])]
        for one in (row, other):
            cells += [
                _rank(number(one, "rank")),
                range_cell(number(one, "rank_low"), number(one, "rank_high"), factor=1, decimals=0),
                percent_cell(number(one, "accuracy")),
            ]
        rows.append(((named(names, str(row["rater_id"])),), tuple(cells)))
    return [
        report_table(
            name="leaderboard",
            title=t("Ranks by micro and by macro accuracy"),
            note=t("Ranks with their intervals: how far each would move with other patients."),
            file="tables/leaderboard.csv",
            header=(
                t("Rater"),
                t("Condition"),
                t("Kind"),
                t("Micro rank"),
                t("Rank CI"),
                t("Micro %"),
                t("Macro rank"),
                t("Rank CI"),
                t("Macro %"),
            ),
            rows=rows,
        )
    ]


KINDS = {"reader": later("reader"), "model": later("model")}


def _rank(rank: float) -> str:
    return EMPTY if math.isnan(rank) else f"{rank:g}"


def _last(rank: float) -> float:
    return math.inf if math.isnan(rank) else rank
