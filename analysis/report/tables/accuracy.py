"""Accuracy by task, micro and macro; what became of every assigned case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.figures.drawing.names import rater_names
from analysis.report.tables.table import (
    EMPTY,
    ReportTable,
    TableRow,
    named,
    percent_cell,
    range_cell,
    report_table,
)
from analysis.report.wording.rows import headline_intervals, number, rows_of
from analysis.results import Results

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
                str(row["condition"]) or EMPTY,
                f"{row['n']:,}",
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
    more = f" {left} more task{'s' if left > 1 else ''} in the file." if left > 0 else ""
    heads = [f"{task} (n\u00a0=\u00a0{sizes[task]:,})" for task in tasks]
    return [
        report_table(
            name="accuracy-by-task",
            title="Accuracy by task, in percent",
            note="Readers first, each kind in order of micro accuracy. Micro: every case is"
            f" weighted equally; CI: {'over patients' if results.clustered else 'Wilson'}. Macro:"
            f" the mean of the tasks. Items presented but not answered count as incorrect.{more}",
            file="tables/accuracy.csv",
            header=("Rater", "Condition", "n", *heads, "Micro", "CI", "Macro"),
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
        micro, macro = (part.loc[part["group"] == g].iloc[0].to_dict() for g in ("micro", "macro"))
        cells = [
            str(condition) or EMPTY,
            f"{micro['n']:,}",
            f"{micro['n_correct']:,}",
            f"{micro['n_missing']:,}",
            *_percent_cells(micro, cluster=results.clustered),
            *_percent_cells(macro, cluster=results.clustered),
        ]
        rows.append(((named(names, str(rater)),), tuple(cells)))
    one = ("%", "CI", *(["CI over patients"] if results.clustered else []))
    return [
        report_table(
            name="accuracy",
            title="Accuracy with every interval",
            note="Micro: every assigned case is weighted equally (Wilson). Macro: the mean of the"
            " tasks' accuracies (MOVER). Percent.",
            file="tables/accuracy.csv",
            header=(
                "Rater",
                "Condition",
                "n",
                "Correct",
                "No answer",
                *(f"Micro {word}" for word in one),
                *(f"Macro {word}" for word in one),
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
                str(row["condition"]) or EMPTY,
                "All" if row["by"] == "overall" else str(row["group"]),
                f"{row['bank']} minus {row['other_bank']}",
                f"{row['n']:,} and {row['n_other']:,}",
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
            title="Difference between banks, by task",
            note="Accuracy on the cases of one bank minus accuracy on those of another, in percent"
            " and percentage points. The cases are different ones, so nothing is paired. CI:"
            f" {'over patients' if results.clustered else 'MOVER'}.",
            file="tables/banks.csv",
            header=("Rater", "Condition", "Task", "Banks", "n", "%", "Other %", "Difference", "CI"),
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
            title="Missing answers",
            note="Outcome of every assigned case. Absent: never presented to a reader (not"
            " counted), or without a model's prediction (incorrect). Every other unanswered case"
            " counts as incorrect.",
            file="tables/missing.csv",
            header=(
                "Rater",
                "Condition",
                *(column[2:].replace("_", " ").capitalize() for column in counts),
            ),
            rows=[
                (
                    (named(names, row["rater_id"]),),
                    (row["condition"] or EMPTY, *(f"{row[column]:,}" for column in counts)),
                )
                for row in table.to_dict("records")
            ],
        )
    ]


def _percent_cells(row: Mapping[Any, Any], *, cluster: bool) -> list[str]:
    cells = [percent_cell(row["accuracy"]), range_cell(row["ci_low"], row["ci_high"])]
    return cells + ([range_cell(row["cluster_ci_low"], row["cluster_ci_high"])] if cluster else [])
