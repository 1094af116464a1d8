"""Findings on differences between groups of readers."""

from __future__ import annotations

import math

from analysis.presentation.wording import Row, clauses, condition_phrase, number, readers, rows_of
from analysis.report.findings.finding import Finding, Theme, points
from analysis.report.findings.panel import difference_words
from analysis.results import Results
from analysis.statistics.mrmc.group_contrasts import YEARS
from analysis.statistics.mrmc.groups import FACTOR_NAMES
from analysis.statistics.support import OTHER_TASKS
from analysis.statistics.verdicts import (
    Conclusion,
    conclusion_of,
    no_verdict_reason_of_fewest,
    patients_of_row,
)
from analysis.translation import t, tn, translated

MOST = 3


def group_findings(results: Results) -> list[Finding]:
    """Report how groups of readers differ in accuracy, and in their gain from a condition."""
    texts = [
        *_group_texts(
            results, [_difference(results, row) for row in _rows(results, "reader_groups")]
        ),
        *_group_texts(
            results, [_gain(results, row) for row in _rows(results, "reader_groups_gain")]
        ),
        *_group_texts(results, [_years(results, row) for row in _rows(results, "reader_years")]),
    ]
    return [Finding(theme=Theme.GROUPS, text=text) for text in (*texts, *_tasks(results))]


def _rows(results: Results, table: str) -> list[Row]:
    """Return the rows for accuracy over all items that have a difference."""
    return [
        row
        for row in rows_of(results, table, metric="accuracy")
        if row.get("by", "overall") == "overall" and not math.isnan(number(row, "difference"))
    ]


def _group_texts(results: Results, texts: list[str]) -> list[str]:
    if len(texts) <= MOST:
        return texts
    left = len(texts) - MOST
    more = tn(
        "{n} more comparison of groups of readers is in the tables.",
        "{n} more comparisons of groups of readers are in the tables.",
        left,
    )
    return [*texts[:MOST], more]


def _difference(results: Results, row: Row) -> str:
    return t(
        "Accuracy{where} of {first} against {second}: {difference}.",
        where=condition_phrase(results, str(row["condition"])),
        first=_group(results, row, "a"),
        second=_group(results, row, "b"),
        difference=difference_words(results, "accuracy", row),
    )


def _group(results: Results, row: Row, side: str) -> str:
    """Write a group with its number of readers and their mean."""
    return t(
        "{group} ({readers}, {value})",
        group=_name(row, side),
        readers=readers(int(number(row, f"n_readers_{side}"))),
        value=points(results).value(number(row, f"value_{side}")),
    )


def _name(row: Row, side: str) -> str:
    name = f"\u2068{row[f'group_{side}']}\u2069"
    return f"{translated(FACTOR_NAMES[YEARS])} {name}" if row["factor"] == YEARS else name


def _gain(results: Results, row: Row) -> str:
    scale = points(results)
    gains = [
        t(
            "{group} {gain}",
            group=_name(row, side),
            gain=scale.signed(number(row, f"value_{side}")),
        )
        for side in "ab"
    ]
    return t(
        "Accuracy under {first} minus {second}: {gains}; the first change against the second:"
        " {difference}.",
        first=row["condition_a"],
        second=row["condition_b"],
        gains=clauses(gains),
        difference=difference_words(results, "accuracy", row),
    )


def _years(results: Results, row: Row) -> str:
    return t(
        "Accuracy{where} per 10 years of experience ({readers}): {difference}.",
        where=condition_phrase(results, str(row["condition"])),
        readers=readers(int(number(row, "n_readers"))),
        difference=difference_words(results, "accuracy", row),
    )


def _tasks(results: Results) -> list[str]:
    """Report the tasks on which the difference of two groups is not the same as on other tasks."""
    rows = [
        row
        for row in rows_of(results, "reader_groups_tasks", metric="accuracy")
        if not math.isnan(number(row, "p_adjusted"))
    ]
    rows = [_of_fewer_patients(results, row) for row in rows]
    shown = [row for row in rows if number(row, "p_adjusted") < results.options.alpha]
    if shown:
        return _group_texts(results, [_task(results, row) for row in shown])
    few = [row for row in rows if conclusion_of(results, row) is Conclusion.TOO_FEW]
    texts = []
    if len(few) < len(rows):
        texts.append(
            tn(
                "No difference between groups of readers was shown to depend on the task in {n}"
                " comparison, adjusted for the tasks.",
                "No difference between groups of readers was shown to depend on the task in {n}"
                " comparisons, adjusted for the tasks.",
                len(rows) - len(few),
            )
        )
    if few:
        reason = no_verdict_reason_of_fewest(
            results, [patients_of_row(results, row) for row in few]
        )
        texts.append(
            tn(
                "Groups of readers by task, {n} comparison: {reason}.",
                "Groups of readers by task, {n} comparisons: {reason}.",
                len(few),
                reason=reason,
            )
        )
    return texts


def _of_fewer_patients(results: Results, row: Row) -> Row:
    """Return the row of the task or of the other tasks, whichever has fewer patients."""
    sides = (row, {**row, "by": OTHER_TASKS})
    return min(sides, key=lambda side: patients_of_row(results, side))


def _task(results: Results, row: Row) -> str:
    return t(
        "Accuracy on {task} minus other tasks, {first} against {second}: {difference}.",
        task=f"\u2068{row['group']}\u2069",
        first=_name(row, "a"),
        second=_name(row, "b"),
        difference=difference_words(results, "accuracy", row),
    )
