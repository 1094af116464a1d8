"""Findings on sensitivity analyses: conclusions that change with another choice."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

from analysis.bundle.model import RULE_SETS
from analysis.presentation.wording import (
    Row,
    case_count,
    cell_number,
    condition_phrase,
    join_clauses,
    join_sentences,
    join_words,
    rows_of,
    translated_reason,
)
from analysis.readings.circumstances import WITHOUT_MARKED, WITHOUT_REVIEWED
from analysis.readings.open_answers import ANALYSIS_NAMES
from analysis.report.findings.finding import Finding, Theme, name_in_sentence, points_scale
from analysis.results import Results
from analysis.statistics.claims import comparator_words
from analysis.statistics.verdicts import FEWEST_PATIENTS, patients_of_row, verdict
from analysis.translation import later, t, tn, translated

PRIMARY_ANALYSIS = "missing as wrong"
WITHOUT_FLAGGED = "flagged times dropped"
WITHOUT_EXCLUDED, WITH_EXCLUDED = "excluded readings dropped", "excluded readings counted"
# Choices in words that follow "with"; other choices have the same names as in the table.
CHOICE_WORDS = {
    "missing dropped": later("missing answers dropped"),
    "missing as right": later("missing answers counted as correct"),
    "absent as wrong": later("cases never presented counted as incorrect"),
    WITHOUT_FLAGGED: later("readings with doubtful times dropped"),
    WITHOUT_EXCLUDED: later("excluded readings dropped"),
    WITH_EXCLUDED: later("excluded readings counted"),
    WITHOUT_REVIEWED: later("questions dropped that an expert review found faulty"),
    WITHOUT_MARKED: later("questions dropped that a reader marked as faulty"),
    "macro": later("every task weighted equally"),
}
RULES_OF_ANALYSIS = {ANALYSIS_NAMES[rules]: rules for rules in RULE_SETS}
# Choices that may not apply to any case.
CONDITIONAL_CHOICES = (
    "missing dropped",
    "missing as right",
    "absent as wrong",
    WITHOUT_FLAGGED,
    WITHOUT_EXCLUDED,
)
MAX_CHANGES = 2
MAX_NAMED = 3
KEY_COLUMNS = ("model_id", "condition", "metric", "claim")

ConclusionWords = Callable[[Row], str]


def sensitivity_findings(results: Results) -> list[Finding]:
    """Report the conclusions that another choice changes, or that no conclusion changes."""
    texts = [*_panel_texts(results), *_accuracy_texts(results)]
    return [Finding(theme=Theme.CHOICES, text=text) for text in texts]


def under_other_choices(results: Results, row: Row, conclusion_of: ConclusionWords) -> str:
    """Return the end of a sentence, which states how other choices change its conclusion.

    `row` is the row of `reader_panel` that the sentence is about; `conclusion_of` returns the
    conclusion of a row in words. The text begins with a semicolon and is empty if no other choice
    with an interval changes the conclusion.
    """
    where = {key: str(row[key]) for key in KEY_COLUMNS}
    others = [
        other
        for other in rows_of(results, "sensitivity_panel", **where)
        if other["analysis"] != PRIMARY_ANALYSIS and _is_comparable(results, other)
    ]
    now = conclusion_of(row)
    changed = [
        t(
            "“{verdict}” with {choice}{numbers}",
            verdict=conclusion_of(other),
            choice=choice_text(other),
            numbers=_difference_phrase(results, other),
        )
        for other in others
        if conclusion_of(other) != now
    ]
    return (
        t("; but {changes}", changes=join_words(changed, max_words=MAX_CHANGES)) if changed else ""
    )


def choice_text(row: Row) -> str:
    """Return the choice in words that follow “with”."""
    analysis = str(row["analysis"])
    if analysis in RULES_OF_ANALYSIS:
        return t("models' answers read under the {rules} rules", rules=RULES_OF_ANALYSIS[analysis])
    return translated(CHOICE_WORDS.get(analysis, analysis))


def _is_comparable(results: Results, row: Row) -> bool:
    """Return whether a row has an interval over enough patients for a comparison."""
    return _incomparable_reason(results, row) == ""


def _incomparable_reason(results: Results, row: Row) -> str:
    n_items, n = int(cell_number(row, "n_items")), patients_of_row(results, row)
    if n < FEWEST_PATIENTS:
        few = (
            case_count(n_items)
            if n_items < FEWEST_PATIENTS
            else tn("{n} patient", "{n} patients", n)
        )
        return t("too few: {cases}", cases=few)
    low, high = cell_number(row, "ci_low"), cell_number(row, "ci_high")
    if math.isnan(low) or math.isnan(high) or low >= high:
        return translated_reason(str(row["undefined_because"])) or t("no informative interval")
    return ""


def _panel_texts(results: Results) -> list[str]:
    primary = {
        _key(row): row for row in rows_of(results, "reader_panel") if _is_comparable(results, row)
    }
    idle = _ineffective_choices(results)
    rows = [
        row
        for row in rows_of(results, "sensitivity_panel")
        if row["analysis"] not in (PRIMARY_ANALYSIS, *idle) and _key(row) in primary
    ]
    others = [row for row in rows if _is_comparable(results, row)]
    return [*_change_texts(results, others, primary), *_inconclusive_texts(results, rows)]


def _inconclusive_texts(results: Results, rows: list[Row]) -> list[str]:
    """Report the choices for which some comparisons have no conclusion, with a reason."""
    texts = []
    for name in dict.fromkeys(map(choice_text, rows)):
        reasons = [_incomparable_reason(results, row) for row in rows if choice_text(row) == name]
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


def _ineffective_choices(results: Results) -> list[str]:
    """Return the choices that do not change accuracies, because they do not apply to any case."""
    primary = {
        (row["rater_id"], row["condition"]): _n_and_accuracy(row)
        for row in rows_of(results, "sensitivity", analysis=PRIMARY_ANALYSIS)
    }
    idle = []
    for analysis in CONDITIONAL_CHOICES:
        rows = rows_of(results, "sensitivity", analysis=analysis)
        # Only WITHOUT_EXCLUDED is missing from the table if it does not apply to any case.
        if not rows and analysis != WITHOUT_EXCLUDED:
            continue
        if all(
            primary.get((row["rater_id"], row["condition"])) == _n_and_accuracy(row) for row in rows
        ):
            idle.append(analysis)
    if WITHOUT_EXCLUDED in idle and rows_of(results, "sensitivity", analysis=WITH_EXCLUDED):
        idle.remove(WITHOUT_EXCLUDED)
    return idle if primary else []


def _n_and_accuracy(row: Row) -> tuple[str, str]:
    return str(cell_number(row, "n")), str(cell_number(row, "accuracy"))


def _change_texts(
    results: Results, others: list[Row], primary: dict[tuple[str, ...], Row]
) -> list[str]:
    if not others:
        return []
    changed = [row for row in others if _verdict(row) != _verdict(primary[_key(row)])]
    names = join_words(list(dict.fromkeys(choice_text(row) for row in others)))
    if not changed:
        return [
            t("No comparison of a model with the readers changes with {choices}.", choices=names)
        ]
    by_choice = Counter(choice_text(row) for row in changed)
    counts = [t("{n} with {choice}", n=n, choice=name) for name, n in by_choice.items()]
    parts = [_change_phrase(results, row, primary[_key(row)]) for row in changed[:MAX_CHANGES]]
    first = tn(
        "In the sensitivity analyses ({choices}), {n} of {total} comparisons of models with readers"
        " changes: {counts}.",
        "In the sensitivity analyses ({choices}), {n} of {total} comparisons of models with readers"
        " change: {counts}.",
        len(changed),
        choices=names,
        total=len(others),
        counts=join_words(counts),
    )
    second = (
        t("First: {changes}.", changes=join_clauses(parts))
        if len(changed) > len(parts)
        else t("{changes}.", changes=join_clauses(parts))
    )
    return [join_sentences([first, second])]


def _verdict(row: Row) -> str:
    return translated(verdict(cell_number(row, "ci_low"), cell_number(row, "ci_high")).value)


def _key(row: Row) -> tuple[str, ...]:
    return tuple(str(row[column]) for column in KEY_COLUMNS)


def _change_phrase(results: Results, row: Row, primary: Row) -> str:
    return t(
        "{name} {against}{where}: “{verdict}” with {choice}{numbers} instead of “{primary}”",
        name=name_in_sentence(results, str(row["model_id"])),
        against=comparator_words(str(row["claim"])),
        where=condition_phrase(results, str(row["condition"])),
        verdict=_verdict(row),
        choice=choice_text(row),
        numbers=_difference_phrase(results, row),
        primary=_verdict(primary),
    )


def _difference_phrase(results: Results, row: Row) -> str:
    if row["metric"] != "accuracy":
        return ""
    scale = points_scale(results)
    return t(
        " ({difference}, {interval})",
        difference=scale.signed(cell_number(row, "difference")),
        interval=scale.interval(row),
    )


def _accuracy_texts(results: Results) -> list[str]:
    """Report the largest change in an accuracy, and the accuracies that become undefined."""
    primary = {
        (row["rater_id"], row["condition"]): row
        for row in rows_of(results, "sensitivity", analysis=PRIMARY_ANALYSIS)
    }
    pairs = [
        (primary[key], row)
        for row in rows_of(results, "sensitivity")
        for key in [(row["rater_id"], row["condition"])]
        if row["analysis"] != PRIMARY_ANALYSIS
        and key in primary
        and not math.isnan(_accuracy_of(primary[key]))
    ]
    changes = [pair for pair in pairs if not math.isnan(_accuracy_of(pair[1]))]
    largest = max(changes, key=_change_size, default=None)
    return [
        *([_largest_change(results, *largest)] if largest and _change_size(largest) else []),
        *_without_cases(results, [row for _, row in pairs if math.isnan(_accuracy_of(row))]),
    ]


def _accuracy_of(row: Row) -> float:
    return cell_number(row, "accuracy")


def _change_size(pair: tuple[Row, Row]) -> float:
    before, after = pair
    return abs(_accuracy_of(after) - _accuracy_of(before))


def _largest_change(results: Results, before: Row, after: Row) -> str:
    scale = points_scale(results)
    return t(
        "The largest change in any accuracy is {size}: {rater}{where}, from {before} of {n_before}"
        " to {after} of {n_after}, with {choice}.",
        size=scale.size(_change_size((before, after))),
        rater=name_in_sentence(results, str(after["rater_id"])),
        where=condition_phrase(results, str(after["condition"])),
        before=scale.value(_accuracy_of(before)),
        n_before=case_count(int(cell_number(before, "n"))),
        after=scale.value(_accuracy_of(after)),
        n_after=case_count(int(cell_number(after, "n"))),
        choice=choice_text(after),
    )


def _without_cases(results: Results, rows: list[Row]) -> list[str]:
    """Report the raters whose accuracy is undefined because a choice excludes all cases."""
    raters: dict[str, list[str]] = {}
    for row in rows:
        rater = name_in_sentence(results, str(row["rater_id"])) + condition_phrase(
            results, str(row["condition"])
        )
        raters.setdefault(choice_text(row), []).append(rater)
    return [
        t(
            "With {choice} no case is left for {raters}.",
            choice=choice_words,
            raters=join_words(rater, max_words=MAX_NAMED),
        )
        for choice_words, rater in raters.items()
    ]
