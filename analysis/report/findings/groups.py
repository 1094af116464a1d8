"""Findings on differences between groups of readers."""

from __future__ import annotations

import math

from analysis.presentation.wording import (
    Row,
    cell_number,
    condition_phrase,
    join_clauses,
    reader_count,
    rows_of,
)
from analysis.report.findings.finding import Finding, Theme, points_scale
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

MAX_COMPARISONS = 3


def group_findings(results: Results) -> list[Finding]:
    """Report how groups of readers differ in accuracy, and in their gain from a condition."""
    texts = [
        *_limit_texts(
            results,
            [
                _difference_sentence(results, row)
                for row in _accuracy_rows(results, "reader_groups")
            ],
        ),
        *_limit_texts(
            results,
            [_gain_sentence(results, row) for row in _accuracy_rows(results, "reader_groups_gain")],
        ),
        *_limit_texts(
            results,
            [_years_sentence(results, row) for row in _accuracy_rows(results, "reader_years")],
        ),
    ]
    return [Finding(theme=Theme.GROUPS, text=text) for text in (*texts, *_task_sentences(results))]


def _accuracy_rows(results: Results, table: str) -> list[Row]:
    """Return the rows for accuracy over all items that have a difference."""
    return [
        row
        for row in rows_of(results, table, metric="accuracy")
        if row.get("by", "overall") == "overall" and not math.isnan(cell_number(row, "difference"))
    ]


def _limit_texts(results: Results, texts: list[str]) -> list[str]:
    if len(texts) <= MAX_COMPARISONS:
        return texts
    left = len(texts) - MAX_COMPARISONS
    more = tn(
        "{n} more comparison of groups of readers is in the tables.",
        "{n} more comparisons of groups of readers are in the tables.",
        left,
    )
    return [*texts[:MAX_COMPARISONS], more]


def _difference_sentence(results: Results, row: Row) -> str:
    return t(
        "Accuracy{where} of {first} against {second}: {difference}.",
        where=condition_phrase(results, str(row["condition"])),
        first=_group_with_mean(results, row, "a"),
        second=_group_with_mean(results, row, "b"),
        difference=difference_words(results, "accuracy", row),
    )


def _group_with_mean(results: Results, row: Row, side: str) -> str:
    """Write a group with its number of readers and their mean."""
    return t(
        "{group} ({readers}, {value})",
        group=_group_name(row, side),
        readers=reader_count(int(cell_number(row, f"n_readers_{side}"))),
        value=points_scale(results).value(cell_number(row, f"value_{side}")),
    )


def _group_name(row: Row, side: str) -> str:
    name = f"\u2068{row[f'group_{side}']}\u2069"
    return f"{translated(FACTOR_NAMES[YEARS])} {name}" if row["factor"] == YEARS else name


def _gain_sentence(results: Results, row: Row) -> str:
    scale = points_scale(results)
    gains = [
        t(
            "{group} {gain}",
            group=_group_name(row, side),
            gain=scale.signed(cell_number(row, f"value_{side}")),
        )
        for side in "ab"
    ]
    return t(
        "Accuracy under {first} minus {second}: {gains}; the first change against the second:"
        " {difference}.",
        first=row["condition_a"],
        second=row["condition_b"],
        gains=join_clauses(gains),
        difference=difference_words(results, "accuracy", row),
    )


def _years_sentence(results: Results, row: Row) -> str:
    return t(
        "Accuracy{where} per 10 years of experience ({readers}): {difference}.",
        where=condition_phrase(results, str(row["condition"])),
        readers=reader_count(int(cell_number(row, "n_readers"))),
        difference=difference_words(results, "accuracy", row),
    )


def _task_sentences(results: Results) -> list[str]:
    """Report the tasks on which the difference of two groups is not the same as on other tasks."""
    rows = [
        row
        for row in rows_of(results, "reader_groups_tasks", metric="accuracy")
        if not math.isnan(cell_number(row, "p_adjusted"))
    ]
    rows = [_side_with_fewer_patients(results, row) for row in rows]
    shown = [row for row in rows if cell_number(row, "p_adjusted") < results.options.alpha]
    if shown:
        return _limit_texts(results, [_task_sentence(results, row) for row in shown])
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


def _side_with_fewer_patients(results: Results, row: Row) -> Row:
    """Return the row of the task or of the other tasks, whichever has fewer patients."""
    sides = (row, {**row, "by": OTHER_TASKS})
    return min(sides, key=lambda side: patients_of_row(results, side))


def _task_sentence(results: Results, row: Row) -> str:
    return t(
        "Accuracy on {task} minus other tasks, {first} against {second}: {difference}.",
        task=f"\u2068{row['group']}\u2069",
        first=_group_name(row, "a"),
        second=_group_name(row, "b"),
        difference=difference_words(results, "accuracy", row),
    )
