"""Accuracy by task, micro and macro; what became of every assigned case; answers in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.figures.drawing.axes import RaterName, rater_names
from analysis.presentation.table import (
    ReportTable,
    TableRow,
    condition_cell,
    estimate_of,
    estimate_with_range,
    named,
    percent_cell,
    range_cell,
    report_table,
    whole,
    words,
)
from analysis.presentation.wording import (
    Row,
    headline_intervals,
    number,
    rows_by,
    rows_of,
    sentences,
)
from analysis.readings.circumstances import n_cut_off
from analysis.results import Results
from analysis.statistics.accuracy.open_ended import CORRECT, HALF, INCORRECT, PARTLY, SCORE, STRICT
from analysis.statistics.agreement.judges import BRENNAN, KAPPA, LEVEL, LEVELS, RAW, THIRD
from analysis.translation import later, said, t, tn

MOST_TASKS = 6


def tasks_overview(results: Results) -> list[ReportTable]:
    """Show raters by tasks, with micro and macro: the form of the ReXVQA leaderboard."""
    names = rater_names(results.bundle)
    table = headline_intervals(results.tables["accuracy"])
    overall = table.loc[(table["by"] == "overall") & table["accuracy"].notna()]
    by_task = table.loc[table["by"] == "task"]
    sizes = by_task.groupby("group")["n"].max().sort_values(ascending=False, kind="stable")
    tasks = list(sizes.index[:MOST_TASKS])
    values = _lookup(by_task.loc[by_task["group"].isin(tasks)])
    marks = _lookup(overall)
    raters = overall.loc[overall["group"] == "micro"].copy()
    raters["order"] = raters["rater_kind"].map({"reader": 0, "model": 1})
    raters = raters.sort_values(
        ["order", "condition", "accuracy"], ascending=[True, True, False], kind="stable"
    )
    rows: list[TableRow] = [
        (
            (named(names, str(row["rater_id"])),),
            (
                condition_cell(str(row["condition"])),
                whole(row["n"]),
                *(
                    percent_cell(values.get((row["rater_id"], row["condition"], task), _NAN))
                    for task in tasks
                ),
                percent_cell(row["accuracy"]),
                range_cell(row["ci_low"], row["ci_high"]),
                percent_cell(marks.get((row["rater_id"], row["condition"], "macro"), _NAN)),
            ),
        )
        for row in raters.to_dict("records")
    ]
    left = len(sizes) - len(tasks)
    heads = [f"{task} (n\u00a0=\u00a0{whole(sizes[task])})" for task in tasks]
    return [
        report_table(
            name="accuracy-by-task",
            title=t("Accuracy by task, in percent"),
            note=sentences(
                [
                    t("Readers first, each kind in order of micro accuracy."),
                    t("Micro: every case is weighted equally; CI: over patients.")
                    if results.clustered
                    else t("Micro: every case is weighted equally; CI: Wilson."),
                    t("Macro: the mean of the tasks."),
                    t("Items presented but not answered count as incorrect."),
                    tn("{n} more task in the file.", "{n} more tasks in the file.", left)
                    if left > 0
                    else "",
                ]
            ),
            file="tables/accuracy.csv",
            header=(t("Rater"), t("Condition"), "n", *heads, t("Micro"), t("CI"), t("Macro")),
            rows=rows,
            in_paper=True,
        )
    ]


_NAN = float("nan")


def _lookup(table: pd.DataFrame) -> dict[tuple[str, str, str], float]:
    keys = zip(table["rater_id"], table["condition"], table["group"], strict=True)
    return dict(zip(keys, table["accuracy"].astype(float), strict=True))


def accuracy_overview(results: Results) -> list[ReportTable]:
    """Show micro and macro accuracy of every rater with their intervals."""
    names = rater_names(results.bundle)
    table = results.tables["accuracy"]
    overall = table.loc[table["by"] == "overall"]
    rows: list[TableRow] = []
    for (rater, condition), part in overall.groupby(["rater_id", "condition"], sort=False):
        first, second = (part.loc[part["group"] == g].iloc[0].to_dict() for g in ("micro", "macro"))
        cells = [
            condition_cell(str(condition)),
            whole(first["n"]),
            whole(first["n_correct"]),
            whole(first["n_missing"]),
            *_percent_cells(first, cluster=results.clustered),
            *_percent_cells(second, cluster=results.clustered),
        ]
        rows.append(((named(names, str(rater)),), tuple(cells)))
    micro = (t("Micro %"), t("Micro CI"), t("Micro CI over patients"))
    macro = (t("Macro %"), t("Macro CI"), t("Macro CI over patients"))
    n_columns = 3 if results.clustered else 2
    return [
        report_table(
            name="accuracy",
            title=t("Accuracy with every interval"),
            note=t(
                "Micro: every assigned case is weighted equally (Wilson). Macro: the mean of the"
                " tasks' accuracies (MOVER). Percent."
            ),
            file="tables/accuracy.csv",
            header=(
                t("Rater"),
                t("Condition"),
                "n",
                t("Correct"),
                t("No answer"),
                *micro[:n_columns],
                *macro[:n_columns],
            ),
            rows=rows,
        )
    ]


def banks_overview(results: Results) -> list[ReportTable]:
    """Show how much accuracy differs between banks, overall and by task; nothing of one bank."""
    names = rater_names(results.bundle)
    rows: list[TableRow] = [
        (
            (named(names, str(row["rater_id"])),),
            (
                condition_cell(str(row["condition"])),
                t("All") if row["by"] == "overall" else str(row["group"]),
                t("{bank} minus {other_bank}", bank=row["bank"], other_bank=row["other_bank"]),
                t("{n} and {n_other}", n=whole(row["n"]), n_other=whole(row["n_other"])),
                percent_cell(number(row, "accuracy")),
                percent_cell(number(row, "accuracy_other")),
                percent_cell(number(row, "difference")),
                range_cell(number(row, "ci_low"), number(row, "ci_high")),
            ),
        )
        for row in rows_of(results, "banks")
    ]
    return [
        report_table(
            name="banks",
            title=t("Difference between banks, by task"),
            note=sentences(
                [
                    t(
                        "Accuracy on the cases of one bank minus accuracy on those of another, in"
                        " percent and percentage points. The cases are different ones, so nothing"
                        " is paired."
                    ),
                    t("CI: over patients.") if results.clustered else t("CI: MOVER."),
                ]
            ),
            file="tables/banks.csv",
            header=(
                t("Rater"),
                t("Condition"),
                t("Task"),
                t("Banks"),
                "n",
                "%",
                t("Other %"),
                t("Difference"),
                t("CI"),
            ),
            rows=rows,
        )
    ]


def missing_overview(results: Results) -> list[ReportTable]:
    """Show what became of every assigned case."""
    names = rater_names(results.bundle)
    table = results.tables["missing"]
    counts = [column for column in table.columns if column.startswith("n_")]
    return [
        report_table(
            name="missing",
            title=t("Missing answers"),
            note=sentences(
                [
                    t(
                        "Outcome of every assigned case. Absent: never presented to a reader (not"
                        " counted), or without a model's prediction (incorrect). Every other"
                        " unanswered case counts as incorrect."
                    ),
                    *_cut_off(results, names),
                ]
            ),
            file="tables/missing.csv",
            header=(
                t("Rater"),
                t("Condition"),
                *(_outcome(column.removeprefix("n_")) for column in counts),
            ),
            rows=[
                (
                    (named(names, row["rater_id"]),),
                    (
                        condition_cell(str(row["condition"])),
                        *(whole(row[column]) for column in counts),
                    ),
                )
                for row in table.to_dict("records")
            ],
        )
    ]


def _cut_off(results: Results, names: Mapping[str, RaterName]) -> list[str]:
    """Say of each model how many of its unparsed outputs ended at the token limit."""
    counts = n_cut_off(results.bundle)
    if not counts:
        return []
    raters = ", ".join(f"{named(names, rater)}: {n}" for rater, n in counts.items())
    return [t("Unparsed because cut off at the token limit: {raters}.", raters=raters)]


OUTCOMES = {
    "assigned": later("Assigned"),
    "answered": later("Answered"),
    "skipped": later("Skipped"),
    "timed_out": later("Timed out"),
    "unparsed": later("Unparsed"),
    "refused": later("Refused"),
    "absent": later("Absent"),
}


def _outcome(name: str) -> str:
    return said(OUTCOMES.get(name, name.replace("_", " ").capitalize()))


def _percent_cells(row: Mapping[Any, Any], *, cluster: bool) -> list[str]:
    cells = [percent_cell(row["accuracy"]), range_cell(row["ci_low"], row["ci_high"])]
    return cells + ([range_cell(row["cluster_ci_low"], row["cluster_ci_high"])] if cluster else [])


_KINDS = {"answer": later("Answers"), "explanation": later("Explanations")}
_LEVELS = {
    "correct": later("Correct"),
    "partly correct": later("Partly correct"),
    "incorrect": later("Incorrect"),
}


def open_ended_overview(results: Results) -> list[ReportTable]:
    """Show how right answers in words are, the gap to multiple choice, and the scorers."""
    return [_answers(results), _gap(results), _agreement(results), _scorers(results)]


def _answers(results: Results) -> ReportTable:
    names = rater_names(results.bundle)
    keys = ("rater_id", "kind", "condition", "by", "group")
    found = rows_by(results, "open_ended", keys, of="measure")
    return report_table(
        name="open-ended",
        title=t("Answers without options"),
        note=t(
            "Scored by people who did not know whose words they read. Not answered: incorrect."
            " Not scored: in no estimate. Mean score: partly correct counts half. Percent."
        ),
        file="tables/open_ended.csv",
        header=(
            t("Rater"),
            t("Condition"),
            t("Of"),
            t("Cases"),
            "n",
            t("Not answered"),
            t("Not scored"),
            t("Correct (CI)"),
            t("Partly"),
            t("Incorrect"),
            t("Mean score (CI)"),
        ),
        rows=[
            (
                (named(names, rater),),
                (
                    condition_cell(condition),
                    said(_KINDS[kind]),
                    t("All") if by == "overall" else group,
                    *(
                        whole(number(of[CORRECT], column))
                        for column in ("n", "n_missing", "n_unscored")
                    ),
                    _percent(of[CORRECT], "estimate"),
                    percent_cell(number(of[PARTLY], "estimate")),
                    percent_cell(number(of[INCORRECT], "estimate")),
                    _percent(of[SCORE], "estimate"),
                ),
            )
            for (rater, kind, condition, by, group), of in found.items()
        ],
    )


def _gap(results: Results) -> ReportTable:
    names = rater_names(results.bundle)
    keys = ("rater_id", "condition", "open_condition", "by", "group")
    found = rows_by(results, "open_gap", keys, of="scoring")
    return report_table(
        name="open-gap",
        title=t("Multiple choice minus open-ended"),
        note=sentences(
            [
                t(
                    "Paired, on the cases asked both ways. Strict: only correct counts. Half"
                    " credit: partly correct counts half. Percent and percentage points."
                ),
                t("CI: over patients.")
                if results.clustered
                else t("CI: Tango (strict), t (half credit)."),
            ]
        ),
        file="tables/open_gap.csv",
        header=(
            t("Rater"),
            t("Condition"),
            t("Cases"),
            "n",
            t("Multiple choice"),
            t("Open-ended"),
            t("Gap, strict (CI)"),
            t("Gap, half credit (CI)"),
        ),
        rows=[
            (
                (named(names, rater),),
                (
                    condition_cell(condition),
                    t("All") if by == "overall" else group,
                    f"{int(number(of[STRICT], 'n')):,}",
                    percent_cell(number(of[STRICT], "multiple_choice")),
                    percent_cell(number(of[STRICT], "open_ended")),
                    _percent(of[STRICT], "difference"),
                    _percent(of[HALF], "difference"),
                ),
            )
            for (rater, condition, _, by, group), of in found.items()
        ],
    )


def _agreement(results: Results) -> ReportTable:
    found = rows_by(results, "open_scoring", ("kind",), of="measure", scorer="")
    return report_table(
        name="open-scoring",
        title=t("Agreement of the scorers"),
        note=t(
            "Of the two blind scores: how many are the same, kappa with linear weights, and"
            " Brennan-Prediger. A third scorer is needed where they differ."
        ),
        file="tables/open_scoring.csv",
        header=(
            t("Of"),
            "n",
            t("Same, %"),
            t("Weighted kappa"),
            t("Brennan-Prediger"),
            t("Third needed, %"),
        ),
        rows=[
            (
                (words(said(_KINDS[kind])),),
                (
                    f"{int(number(of[RAW], 'n')):,}",
                    _percent(of[RAW], "estimate"),
                    estimate_of(of[KAPPA]),
                    estimate_of(of[BRENNAN]),
                    percent_cell(number(of[THIRD], "estimate")),
                ),
            )
            for (kind,), of in found.items()
        ],
    )


def _scorers(results: Results) -> ReportTable:
    found = rows_by(results, "open_scoring", ("kind", "scorer"), of="level", measure=LEVEL)
    return report_table(
        name="open-scorers",
        title=t("Levels each scorer gave"),
        note=t("Share of a scorer's scores, percent with Wilson's interval."),
        file="tables/open_scoring.csv",
        header=(t("Scorer"), t("Of"), "n", *(said(_LEVELS[level]) for level in LEVELS)),
        rows=[
            (
                (words(scorer),),
                (
                    said(_KINDS[kind]),
                    f"{int(number(of[LEVELS[0]], 'n')):,}",
                    *(_percent(of[level], "estimate") for level in LEVELS),
                ),
            )
            for (kind, scorer), of in found.items()
        ],
    )


def _percent(row: Row, column: str) -> str:
    return estimate_with_range(*(100 * number(row, c) for c in (column, "ci_low", "ci_high")))
