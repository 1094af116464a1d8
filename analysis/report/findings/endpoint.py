"""The declared endpoint leads, with its verdict; where nothing was declared, that is said."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from analysis.bundle.protocol import Plan, amended_plan
from analysis.report.findings.finding import Finding, Scale, Theme, area, named, points
from analysis.report.findings.sensitivity import under_other_choices
from analysis.report.wording.numbers import count, listed, rounded
from analysis.report.wording.rows import Row, number, reason, rows_of, under
from analysis.report.wording.verdicts import (
    NON_INFERIORITY,
    Decision,
    Outcome,
    decisions,
    declared_outcome,
    declared_plan,
    is_decided,
    origin_of_margin,
    primary_models,
)
from analysis.results import Results

METRICS = {"accuracy": "accuracy", "auc": "the area under the ROC curve"}
KEYS = {
    "endpoint": "endpoint",
    "hypothesis": "hypothesis",
    "margin": "margin",
    "claim_about": "claim",
    "primary_model": "primary model",
}
EXPLORATORY = "all results are exploratory"
MOST_OF_AN_OUTCOME = 12
# Verdicts that a report begins with.
MOST_VERDICTS = 8
VERDICTS = {
    NON_INFERIORITY: {
        Outcome.SHOWN: "Non-inferior",
        Outcome.NOT_ADJUSTED: "Non-inferiority not shown after adjustment",
        Outcome.NOT_SHOWN: "Non-inferiority not shown",
        Outcome.UNDECIDED: "Not decided",
    },
    "superiority": {
        Outcome.SHOWN: "Superior",
        Outcome.NOT_ADJUSTED: "Superiority not shown after adjustment",
        Outcome.NOT_SHOWN: "Superiority not shown",
        Outcome.UNDECIDED: "Not decided",
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictLine:
    """The verdict on a declared endpoint, in a line.

    Parameters
    ----------
    word : str
        The verdict; empty where nothing was declared that could be decided.
    text : str
        On what it rests.
    shown : bool
        Whether the declared hypothesis was shown.
    """

    word: str
    text: str
    shown: bool = False


def verdict_lines(results: Results) -> list[VerdictLine]:
    """Give a line for every declared endpoint and model, or the one that says there is none."""
    plan = declared_plan(results)
    if not plan.is_confirmatory:
        return [VerdictLine(word="", text=f"{_nothing_declared(plan)}; {EXPLORATORY}.")]
    found = sorted(decisions(results), key=lambda one: -number(one.row, "difference"))
    if not found:
        why = _undecided(results, plan).strip() or "There is no such comparison in these data."
        return [VerdictLine(word="Not decided", text=why)]
    lines = [
        VerdictLine(
            word=VERDICTS[plan.hypothesis][one.outcome],
            text=f"{_who(results, plan, one.row)}{_in_numbers(results, plan, one)}.",
            shown=one.outcome is Outcome.SHOWN,
        )
        for one in found[:MOST_VERDICTS]
    ]
    left = len(found) - len(lines)
    more = f"{count(left, 'more comparison')} in tables/panel_adjusted.csv."
    return [*lines, *([VerdictLine(word="", text=more)] if left else [])]


def _nothing_declared(plan: Plan) -> str:
    if plan.hypothesis:
        return f"A hypothesis ({plan.hypothesis}) was declared without an endpoint"
    if plan.metric:
        words = METRICS[plan.metric]
        return f"{words[0].upper()}{words[1:]} was declared as the endpoint, without a hypothesis"
    return "No endpoint was declared"


def _in_numbers(results: Results, plan: Plan, one: Decision) -> str:
    row = one.row
    if one.outcome is Outcome.UNDECIDED:
        return f": {_why_undecided(row)}"
    scale = scale_of(results, plan.metric)
    margin = number(row, "margin") if plan.hypothesis == NON_INFERIORITY else None
    value, mean = (scale.value(number(row, c)) for c in ("model_value", "reader_mean"))
    readers = count(int(number(row, "n_readers")), "reader")
    said = [
        f", {value} against {mean} ({readers}): {scale.signed(number(row, 'difference'))}",
        scale.interval(row, margin),
    ]
    if margin is not None:
        said.append(f"margin {_size(results, plan.metric, margin)}")
    return ", ".join(said)


def endpoint_findings(results: Results) -> list[Finding]:
    """Say what was declared, and what came of it; nothing else on the page is a verdict."""
    texts = [" ".join([_declared(results), *_amended(results)])]
    found = decisions(results)
    for outcome in Outcome:
        texts += _of(results, outcome, [one for one in found if one.outcome is outcome])
    return [Finding(theme=Theme.ENDPOINT, text=text) for text in texts]


def _declared(results: Results) -> str:
    plan = declared_plan(results)
    exploratory = (
        "all results are reported as exploratory: estimates with intervals, without a verdict"
    )
    if not results.bundle.protocol:
        return f"The data came without a protocol; {exploratory}.{_asked(results)}"
    if not plan.hypothesis:
        endpoint = f" The primary endpoint is {METRICS[plan.metric]}." if plan.metric else ""
        return f"No hypothesis was declared; {exploratory}.{endpoint}{_asked(results)}"
    if not plan.metric:
        return (
            f"A hypothesis was declared ({plan.hypothesis}) without an endpoint that decides it;"
            f" {exploratory}.{_asked(results)}"
        )
    parts = (_hypothesis, _adjusted, _readers_mean, _undecided)
    return "".join(part(results, plan) for part in parts)


def _readers_mean(results: Results, plan: Plan) -> str:
    """Name what the models are measured against, where it is one number."""
    rows = rows_of(results, "reader_panel", metric=plan.metric)
    scale = scale_of(results, plan.metric)
    means = {
        (int(number(row, "n_readers")), scale.value(number(row, "reader_mean")))
        for row in rows
        if not math.isnan(number(row, "reader_mean"))
    }
    if len(means) != 1 or not is_decided(results):
        return ""
    n, mean = means.pop()
    return f" The mean of the {count(n, 'reader')} is {mean}."


def _hypothesis(results: Results, plan: Plan) -> str:
    primary = primary_models(results)
    if plan.primary_model and not primary:
        model = f"\u2068{plan.primary_model}\u2069, the primary model,"
    elif primary:
        model = f"{listed([named(results, one) for one in primary])}, the primary model,"
    else:
        model = "each model"
    readers = plan.claim or "these readers and to readers like these"
    margin = ""
    if plan.hypothesis == NON_INFERIORITY and plan.margin is not None:
        margin = f", with a margin of {_size(results, plan.metric, plan.margin)}"
    return (
        f"Declared before reading: {plan.hypothesis} of {model} to {readers} in"
        f" {METRICS[plan.metric]}{margin}."
    )


def _adjusted(results: Results, plan: Plan) -> str:
    n = len({row["model_id"] for row in rows_of(results, "reader_panel", metric=plan.metric)})
    if plan.primary_model or n < 2 or not is_decided(results):
        return ""
    return f" No model was named primary: verdicts are adjusted for {n:,} models (Holm)."


def _undecided(results: Results, plan: Plan) -> str:
    """Say why a declared hypothesis is not decided here."""
    if not rows_of(results, "reader_panel", metric=plan.metric):
        return " These data hold no comparison of a model with readers."
    if plan.primary_model and not primary_models(results):
        return " No model of that name is in these data, so there is no verdict."
    if is_decided(results):
        return ""
    if plan.margin is None:
        return " The protocol names no margin, so there is no verdict."
    return (
        f"{_asked(results)} No verdict is given at a margin that was not declared; the report"
        " gives it without --margin."
    )


def _asked(results: Results) -> str:
    """Name a margin that is not the protocol's."""
    origin = origin_of_margin(results)
    if not origin or results.options.margin is None:
        return ""
    return f" The margin of {_size(results, 'accuracy', results.options.margin)} was {origin}."


def _amended(results: Results) -> list[str]:
    found = amended_plan(results.bundle.protocol)
    if not found:
        return []
    parts = [f"{KEYS[key]} ({_before(key, value)})" for key, value in found.items()]
    return [f"Amended after the study opened: {listed(parts)}."]


def _before(key: str, value: Any) -> str:
    if value == "":
        return "none before"
    return f"{100 * value:g} points before" if key == "margin" else f"{value} before"


def _of(results: Results, outcome: Outcome, found: list[Decision]) -> list[str]:
    if not found:
        return []
    plan = declared_plan(results)
    words = VERDICTS.get(plan.hypothesis, {}).get(outcome, outcome.value.capitalize())
    if outcome is Outcome.UNDECIDED:
        return [f"{words}: {one}." for one in _undecided_models(results, plan, found)]
    found = sorted(found, key=lambda one: -number(one.row, "difference"))
    parts = [_decision(results, plan, one) for one in found[:MOST_OF_AN_OUTCOME]]
    left = len(found) - len(parts)
    more = f"; and {count(left, 'more comparison')} in tables/panel_adjusted.csv" if left else ""
    return [f"{words}: {'; '.join(parts)}{more}."]


def _decision(results: Results, plan: Plan, one: Decision) -> str:
    row, who = one.row, _who(results, plan, one.row)
    margin = number(row, "margin") if plan.hypothesis == NON_INFERIORITY else None
    scale = scale_of(results, plan.metric)
    interval = scale.interval(row, margin)

    def said(other: Row) -> str:
        outcome = declared_outcome(plan, other, number(row, "margin"))
        return VERDICTS[plan.hypothesis][outcome].lower()

    return (
        f"{who} ({scale.value(number(row, 'model_value'))}:"
        f" {scale.signed(number(row, 'difference'))}, {interval}"
        f"{under_other_choices(results, row, said)})"
    )


def _who(results: Results, plan: Plan, row: Row) -> str:
    against = "" if plan.claim else f" against {row['claim']}"
    return f"{named(results, str(row['model_id']))}{against}{under(results, str(row['condition']))}"


def _undecided_models(results: Results, plan: Plan, found: list[Decision]) -> Iterator[str]:
    """Name the models that share a reason together."""
    reasons: dict[str, list[str]] = {}
    for one in found:
        reasons.setdefault(_why_undecided(one.row), []).append(_who(results, plan, one.row))
    for why, who in reasons.items():
        yield f"{listed(who, most=MOST_OF_AN_OUTCOME)}, because {why}"


def _why_undecided(row: Row) -> str:
    defined = not math.isnan(number(row, "ci_low"))
    return "there is no adjusted p-value" if defined else reason(row)


def scale_of(results: Results, metric: str) -> Scale:
    """Return how values and differences of a metric are written."""
    return area(results) if metric == "auc" else points(results)


def _size(results: Results, metric: str, margin: float) -> str:
    if metric == "auc":
        return f"{rounded(margin, 2)} of area"
    return points(results).size(margin)
