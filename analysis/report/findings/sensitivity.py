"""Findings on sensitivity analyses: conclusions that change with another choice."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

from analysis.bundle.model import RULES
from analysis.presentation.wording import (
    Row,
    cases,
    clauses,
    condition_phrase,
    listed,
    number,
    rows_of,
    sentences,
    translated_reason,
)
from analysis.readings.circumstances import MARKED, REVIEWED
from analysis.readings.open_answers import ANALYSES
from analysis.report.findings.finding import Finding, Theme, named, points
from analysis.results import Results
from analysis.statistics.claims import comparator_words
from analysis.statistics.verdicts import FEWEST_PATIENTS, patients_of_row, verdict
from analysis.translation import later, t, tn, translated

PRIMARY = "missing as wrong"
FLAGGED = "flagged times dropped"
EXCLUDED, COUNTED = "excluded readings dropped", "excluded readings counted"
# Choices in words that follow "with"; other choices have the same names as in the table.
CHOICES = {
    "missing dropped": later("missing answers dropped"),
    "missing as right": later("missing answers counted as correct"),
    "absent as wrong": later("cases never presented counted as incorrect"),
    FLAGGED: later("readings with doubtful times dropped"),
    EXCLUDED: later("excluded readings dropped"),
    COUNTED: later("excluded readings counted"),
    REVIEWED: later("questions dropped that an expert review found faulty"),
    MARKED: later("questions dropped that a reader marked as faulty"),
    "macro": later("every task weighted equally"),
}
BY_RULES = {ANALYSES[rules]: rules for rules in RULES}
# Choices that may not apply to any case.
OCCASIONAL = ("missing dropped", "missing as right", "absent as wrong", FLAGGED, EXCLUDED)
MOST_CHANGES = 2
MOST_NAMED = 3
KEY = ("model_id", "condition", "metric", "claim")

Words = Callable[[Row], str]


def sensitivity_findings(results: Results) -> list[Finding]:
    """Report the conclusions that another choice changes, or that no conclusion changes."""
    texts = [*_panel(results), *_accuracy(results)]
    return [Finding(theme=Theme.CHOICES, text=text) for text in texts]


def under_other_choices(results: Results, row: Row, conclusion_of: Words) -> str:
    """Return the end of a sentence, which states how other choices change its conclusion.

    `row` is the row of `reader_panel` that the sentence is about; `conclusion_of` returns the
    conclusion of a row in words. The text begins with a semicolon and is empty if no other choice
    with an interval changes the conclusion.
    """
    where = {key: str(row[key]) for key in KEY}
    others = [
        other
        for other in rows_of(results, "sensitivity_panel", **where)
        if other["analysis"] != PRIMARY and _is_comparable(results, other)
    ]
    now = conclusion_of(row)
    changed = [
        t(
            "“{verdict}” with {choice}{numbers}",
            verdict=conclusion_of(other),
            choice=choice(other),
            numbers=_numbers(results, other),
        )
        for other in others
        if conclusion_of(other) != now
    ]
    return t("; but {changes}", changes=listed(changed, max_words=MOST_CHANGES)) if changed else ""


def choice(row: Row) -> str:
    """Return the choice in words that follow “with”."""
    analysis = str(row["analysis"])
    if analysis in BY_RULES:
        return t("models' answers read under the {rules} rules", rules=BY_RULES[analysis])
    return translated(CHOICES.get(analysis, analysis))


def _is_comparable(results: Results, row: Row) -> bool:
    """Return whether a row has an interval over enough patients for a comparison."""
    return _why_not(results, row) == ""


def _why_not(results: Results, row: Row) -> str:
    n_items, n = int(number(row, "n_items")), patients_of_row(results, row)
    if n < FEWEST_PATIENTS:
        few = cases(n_items) if n_items < FEWEST_PATIENTS else tn("{n} patient", "{n} patients", n)
        return t("too few: {cases}", cases=few)
    low, high = number(row, "ci_low"), number(row, "ci_high")
    if math.isnan(low) or math.isnan(high) or low >= high:
        return translated_reason(str(row["undefined_because"])) or t("no informative interval")
    return ""


def _panel(results: Results) -> list[str]:
    primary = {
        _key(row): row for row in rows_of(results, "reader_panel") if _is_comparable(results, row)
    }
    idle = _idle(results)
    rows = [
        row
        for row in rows_of(results, "sensitivity_panel")
        if row["analysis"] not in (PRIMARY, *idle) and _key(row) in primary
    ]
    others = [row for row in rows if _is_comparable(results, row)]
    return [*_changes(results, others, primary), *_open(results, rows)]


def _open(results: Results, rows: list[Row]) -> list[str]:
    """Report the choices for which some comparisons have no conclusion, with a reason."""
    texts = []
    for name in dict.fromkeys(map(choice, rows)):
        reasons = [_why_not(results, row) for row in rows if choice(row) == name]
        open_ = [reason for reason in reasons if reason]
        if open_:
            why = open_[0].rstrip(".")
            if len(open_) == len(reasons):
                text = t(
                    "With {choice} no conclusion is possible ({reason}).", choice=name, reason=why
                )
            else:
                text = tn(
                    "With {choice} no conclusion is possible in {few} of {n} comparison"
                    " ({reason}).",
                    "With {choice} no conclusion is possible in {few} of {n} comparisons"
                    " ({reason}).",
                    len(reasons),
                    choice=name,
                    few=len(open_),
                    reason=why,
                )
            texts.append(text)
    return texts


def _idle(results: Results) -> list[str]:
    """Return the choices that do not change accuracies, because they do not apply to any case."""
    primary = {
        (row["rater_id"], row["condition"]): _counted(row)
        for row in rows_of(results, "sensitivity", analysis=PRIMARY)
    }
    idle = []
    for analysis in OCCASIONAL:
        rows = rows_of(results, "sensitivity", analysis=analysis)
        # Only the choice EXCLUDED is missing from the table if it does not apply to any case.
        if not rows and analysis != EXCLUDED:
            continue
        if all(primary.get((row["rater_id"], row["condition"])) == _counted(row) for row in rows):
            idle.append(analysis)
    if EXCLUDED in idle and rows_of(results, "sensitivity", analysis=COUNTED):
        idle.remove(EXCLUDED)
    return idle if primary else []


def _counted(row: Row) -> tuple[str, str]:
    return str(number(row, "n")), str(number(row, "accuracy"))


def _changes(results: Results, others: list[Row], primary: dict[tuple[str, ...], Row]) -> list[str]:
    if not others:
        return []
    changed = [row for row in others if _verdict(row) != _verdict(primary[_key(row)])]
    names = listed(list(dict.fromkeys(choice(row) for row in others)))
    if not changed:
        return [
            t("No comparison of a model with the readers changes with {choices}.", choices=names)
        ]
    by_choice = Counter(choice(row) for row in changed)
    counts = [t("{n} with {choice}", n=n, choice=name) for name, n in by_choice.items()]
    parts = [_change(results, row, primary[_key(row)]) for row in changed[:MOST_CHANGES]]
    first = tn(
        "In the sensitivity analyses ({choices}), {n} of {total} comparisons of models with readers"
        " changes: {counts}.",
        "In the sensitivity analyses ({choices}), {n} of {total} comparisons of models with readers"
        " change: {counts}.",
        len(changed),
        choices=names,
        total=len(others),
        counts=listed(counts),
    )
    second = (
        t("First: {changes}.", changes=clauses(parts))
        if len(changed) > len(parts)
        else t("{changes}.", changes=clauses(parts))
    )
    return [sentences([first, second])]


def _verdict(row: Row) -> str:
    return translated(verdict(number(row, "ci_low"), number(row, "ci_high")).value)


def _key(row: Row) -> tuple[str, ...]:
    return tuple(str(row[column]) for column in KEY)


def _change(results: Results, row: Row, primary: Row) -> str:
    return t(
        "{name} {against}{where}: “{verdict}” with {choice}{numbers} instead of “{primary}”",
        name=named(results, str(row["model_id"])),
        against=comparator_words(str(row["claim"])),
        where=condition_phrase(results, str(row["condition"])),
        verdict=_verdict(row),
        choice=choice(row),
        numbers=_numbers(results, row),
        primary=_verdict(primary),
    )


def _numbers(results: Results, row: Row) -> str:
    if row["metric"] != "accuracy":
        return ""
    scale = points(results)
    return t(
        " ({difference}, {interval})",
        difference=scale.signed(number(row, "difference")),
        interval=scale.interval(row),
    )


def _accuracy(results: Results) -> list[str]:
    """Report the largest change in an accuracy, and the accuracies that become undefined."""
    primary = {
        (row["rater_id"], row["condition"]): row
        for row in rows_of(results, "sensitivity", analysis=PRIMARY)
    }
    pairs = [
        (primary[key], row)
        for row in rows_of(results, "sensitivity")
        for key in [(row["rater_id"], row["condition"])]
        if row["analysis"] != PRIMARY and key in primary and not math.isnan(_share(primary[key]))
    ]
    changes = [pair for pair in pairs if not math.isnan(_share(pair[1]))]
    largest = max(changes, key=_change_size, default=None)
    return [
        *([_largest_change(results, *largest)] if largest and _change_size(largest) else []),
        *_without_cases(results, [row for _, row in pairs if math.isnan(_share(row))]),
    ]


def _share(row: Row) -> float:
    return number(row, "accuracy")


def _change_size(pair: tuple[Row, Row]) -> float:
    before, after = pair
    return abs(_share(after) - _share(before))


def _largest_change(results: Results, before: Row, after: Row) -> str:
    scale = points(results)
    return t(
        "The largest change in any accuracy is {size}: {rater}{where}, from {before} of {n_before}"
        " to {after} of {n_after}, with {choice}.",
        size=scale.size(_change_size((before, after))),
        rater=named(results, str(after["rater_id"])),
        where=condition_phrase(results, str(after["condition"])),
        before=scale.value(_share(before)),
        n_before=cases(int(number(before, "n"))),
        after=scale.value(_share(after)),
        n_after=cases(int(number(after, "n"))),
        choice=choice(after),
    )


def _without_cases(results: Results, rows: list[Row]) -> list[str]:
    """Report the raters whose accuracy is undefined because a choice excludes all cases."""
    raters: dict[str, list[str]] = {}
    for row in rows:
        rater = named(results, str(row["rater_id"])) + condition_phrase(
            results, str(row["condition"])
        )
        raters.setdefault(choice(row), []).append(rater)
    return [
        t(
            "With {choice} no case is left for {raters}.",
            choice=choice_words,
            raters=listed(rater, max_words=MOST_NAMED),
        )
        for choice_words, rater in raters.items()
    ]
