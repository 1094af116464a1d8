"""Times, and the leaderboard with the uncertainty of its ranks."""

from __future__ import annotations

import math

from analysis.figures.drawing.axes import rater_names
from analysis.report.tables.table import (
    EMPTY,
    ReportTable,
    TableRow,
    condition_cell,
    named,
    p_cell,
    percent_cell,
    range_cell,
    report_table,
    whole,
    words,
)
from analysis.report.wording import Row, decimals_for, number, rounded, rows_of, span, term_words
from analysis.results import Results
from analysis.translation import later, pieces, said, t


def times_overview(results: Results) -> list[ReportTable]:
    """Show each reader's times over all items, in seconds."""
    names = rater_names(results.bundle)
    rows: list[TableRow] = [
        (
            (named(names, str(row["rater_id"])),),
            (
                condition_cell(str(row["condition"])),
                whole(number(row, "n")),
                *(
                    rounded(number(row, column) / 1000, 1)
                    for column in ("median_ms", "q1_ms", "q3_ms", "geometric_mean_ms")
                ),
                whole(number(row, "n_flagged"))
                if not math.isnan(number(row, "n_flagged"))
                else EMPTY,
            ),
        )
        for row in rows_of(results, "times", by="overall")
    ]
    return [
        report_table(
            name="times",
            title=t("Time per case, in seconds"),
            note=t("Visible, unpaused response time. Tasks are in the file."),
            file="tables/times.csv",
            header=(
                t("Rater"),
                t("Condition"),
                "n",
                t("Median"),
                t("Lower quartile"),
                t("Upper quartile"),
                t("Geometric mean"),
                t("Flagged"),
            ),
            rows=rows,
        )
    ]


def time_model_overview(results: Results) -> list[ReportTable]:
    """Show the terms of the model of times, as factors."""
    rows: list[TableRow] = [
        (
            (words(term_words(str(row["term"]))),),
            (
                condition_cell(str(row["condition"])),
                whole(number(row, "n")) if not math.isnan(number(row, "n")) else EMPTY,
                *_factor(row),
                p_cell(number(row, "p")),
                pieces(str(row["undefined_because"] or "")),
            ),
        )
        for row in rows_of(results, "time_model")
    ]
    made = report_table(
        name="time-model",
        title=t("Factors associated with reading time"),
        note=t(
            "Factors by which the time is multiplied, from a linear mixed model of log times with"
            " readers and cases crossed; n: readings."
        ),
        file="tables/time_model.csv",
        header=(t("Term"), t("Condition"), "n", t("Factor"), t("CI"), "p", t("Undefined because")),
        rows=rows,
    )
    told = any(cells[-1] for _, cells in made.rows)
    return [made if told else made.without(t("Undefined because"))]


def _factor(row: Row) -> tuple[str, str]:
    ratio, low, high = (number(row, column) for column in ("ratio", "ci_low", "ci_high"))
    if math.isnan(low) or math.isnan(high):
        return rounded(ratio, 2), EMPTY
    decimals = decimals_for([low, high], [1.0], 2)
    return rounded(ratio, decimals), span(rounded(low, decimals), rounded(high, decimals))


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
