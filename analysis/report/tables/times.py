"""Times, and the leaderboard with the uncertainty of its ranks."""

from __future__ import annotations

import math

from analysis.figures import rater_names
from analysis.report.numbers import rounded
from analysis.report.rows import number, rows_of
from analysis.report.tables.table import (
    EMPTY,
    ReportTable,
    TableRow,
    named,
    percent_cell,
    range_cell,
    report_table,
)
from analysis.results import Results


def times_overview(results: Results) -> list[ReportTable]:
    """Show each reader's times over all items, in seconds."""
    names = rater_names(results.bundle)
    rows: list[TableRow] = [
        (
            (named(names, str(row["rater_id"])),),
            (
                str(row["condition"]) or EMPTY,
                f"{int(number(row, 'n')):,}",
                *(
                    rounded(number(row, column) / 1000, 1)
                    for column in ("median_ms", "q1_ms", "q3_ms", "geometric_mean_ms")
                ),
                f"{int(number(row, 'n_flagged')):,}"
                if not math.isnan(number(row, "n_flagged"))
                else EMPTY,
            ),
        )
        for row in rows_of(results, "times", by="overall")
    ]
    return [
        report_table(
            name="times",
            title="Times for an item, in seconds",
            note="Visible, unpaused response time. Tasks are in the file.",
            file="tables/times.csv",
            header=(
                "Rater",
                "Condition",
                "n",
                "Median",
                "Lower quartile",
                "Upper quartile",
                "Geometric mean",
                "Flagged",
            ),
            rows=rows,
        )
    ]


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
        cells = [str(row["condition"]) or EMPTY, str(row["rater_kind"])]
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
            title="Ranks by micro and by macro accuracy",
            note="Ranks with their intervals: how far each would move with other patients.",
            file="tables/leaderboard.csv",
            header=(
                "Rater",
                "Condition",
                "Kind",
                "Micro rank",
                "Rank CI",
                "Micro %",
                "Macro rank",
                "Rank CI",
                "Macro %",
            ),
            rows=rows,
        )
    ]


def _rank(rank: float) -> str:
    return EMPTY if math.isnan(rank) else f"{rank:g}"


def _last(rank: float) -> float:
    return math.inf if math.isnan(rank) else rank
