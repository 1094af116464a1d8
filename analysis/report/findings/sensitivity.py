"""Whether another choice would have led to another conclusion."""

from __future__ import annotations

import math
from collections import Counter

from analysis.report.claims import Verdict, non_inferior, verdict
from analysis.report.conditions import under
from analysis.report.findings.differences import points
from analysis.report.findings.finding import Finding, Theme, named
from analysis.report.numbers import listed
from analysis.report.rows import Row, number, rows_of
from analysis.results import Results

PRIMARY = "missing as wrong"
EXCLUDED = "excluded readings dropped"
MOST_CHANGES = 2
KEY = ("model_id", "condition", "metric", "claim")


def sensitivity_findings(results: Results) -> list[Finding]:
    """Name the conclusions that another choice changes, or say that none does."""
    texts = [*_panel(results), *_accuracy(results)]
    return [Finding(theme=Theme.CHOICES, text=text) for text in texts]


def _panel(results: Results) -> list[str]:
    primary = {_key(row): row for row in rows_of(results, "reader_panel")}
    rows = [
        row
        for row in rows_of(results, "sensitivity_panel")
        if row["analysis"] != PRIMARY
        and _key(row) in primary
        and {_verdict(row), _verdict(primary[_key(row)])} != {Verdict.UNDEFINED}
    ]
    others = [row for row in rows if _verdict(row) is not Verdict.UNDEFINED]
    return [*_changes(results, others, primary), *_open(rows)]


def _open(rows: list[Row]) -> list[str]:
    """Name the choices under which nothing can be told, with the first reason."""
    reasons: dict[str, str] = {}
    for row in rows:
        if _verdict(row) is Verdict.UNDEFINED:
            reasons.setdefault(str(row["analysis"]), str(row["undefined_because"]))
    return [f"With {choice} nothing can be told ({why})." for choice, why in reasons.items()]


def _changes(results: Results, others: list[Row], primary: dict[tuple[str, ...], Row]) -> list[str]:
    if not others:
        return []
    changed = [
        row
        for row in others
        if _said(row, primary[_key(row)]) != _said(primary[_key(row)], primary[_key(row)])
    ]
    choices = listed(list(dict.fromkeys(str(row["analysis"]) for row in others)))
    if not changed:
        return [f"No conclusion of a model against the readers changes with {choices}."]
    # A difference that comes or goes is told before a margin that is cleared or not.
    changed.sort(key=lambda row: _verdict(row) is _verdict(primary[_key(row)]))
    by_choice = Counter(str(row["analysis"]) for row in changed)
    counts = listed([f"{n:,} with {choice}" for choice, n in by_choice.items()])
    parts = [_change(results, row, primary[_key(row)]) for row in changed[:MOST_CHANGES]]
    verb = "changes" if len(changed) == 1 else "change"
    total = f"{len(changed):,} of {len(others):,} conclusions of models against readers {verb}"
    opening = "First: " if len(changed) > len(parts) else ""
    return [f"Under other choices ({choices}) {total}: {counts}. {opening}{'; '.join(parts)}."]


def _verdict(row: Row) -> Verdict:
    return verdict(number(row, "ci_low"), number(row, "ci_high"))


def _key(row: Row) -> tuple[str, ...]:
    return tuple(str(row[column]) for column in KEY)


def _said(row: Row, primary: Row) -> str:
    low, high = number(row, "ci_low"), number(row, "ci_high")
    cleared = non_inferior(low, high, number(primary, "margin"))
    margin = ", margin cleared" if cleared else ""
    return verdict(low, high).value + margin


def _change(results: Results, row: Row, primary: Row) -> str:
    name = named(results, str(row["model_id"]))
    scale = points(results)
    numbers = ""
    if row["metric"] == "accuracy":
        numbers = f" ({scale.signed(number(row, 'difference'))}, {scale.interval(row)})"
    return (
        f"{name} against {row['claim']}{under(results, str(row['condition']))}, {row['analysis']}:"
        f" “{_said(row, primary)}”{numbers} in place of “{_said(primary, primary)}”"
    )


def _accuracy(results: Results) -> list[str]:
    primary = {
        (row["rater_id"], row["condition"]): number(row, "accuracy")
        for row in rows_of(results, "sensitivity", analysis=PRIMARY)
    }
    shifts = [
        (abs(number(row, "accuracy") - primary[row["rater_id"], row["condition"]]), row)
        for row in rows_of(results, "sensitivity")
        if row["analysis"] != PRIMARY and (row["rater_id"], row["condition"]) in primary
    ]
    shifts = [(size, row) for size, row in shifts if not math.isnan(size)]
    if not shifts:
        return []
    size, row = max(shifts, key=lambda shift: shift[0])
    excluded = any(other["analysis"] == EXCLUDED for _, other in shifts)
    treated = "missing answers or flagged times"
    if excluded:
        treated = "missing answers, flagged times or excluded readings"
    if size == 0:
        return [f"No accuracy changes when {treated} are treated otherwise."]
    return [
        f"Treating {treated} otherwise moves an accuracy by"
        f" {points(results).size(size)} at most ({named(results, str(row['rater_id']))},"
        f" {row['analysis']})."
    ]
