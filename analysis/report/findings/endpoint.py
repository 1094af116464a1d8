"""Findings on the declared endpoint with its verdict, or that no endpoint was declared."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from analysis.bundle.protocol import Plan, original_values
from analysis.presentation.table import p_cell
from analysis.presentation.wording import (
    Row,
    cell_number,
    condition_phrase,
    format_number,
    join_clauses,
    join_sentences,
    join_words,
    reader_count,
    rows_of,
    undefined_reason,
)
from analysis.report.findings.finding import (
    Finding,
    Scale,
    Theme,
    area_scale,
    name_in_sentence,
    points_scale,
)
from analysis.report.findings.sensitivity import under_other_choices
from analysis.results import Results
from analysis.statistics.claims import PAIR_WEIGHTED, claim_words, comparator_words, narrower_note
from analysis.statistics.verdicts import (
    AUC,
    NON_INFERIORITY,
    SUPERIORITY,
    Decision,
    Outcome,
    decisions,
    declared_plan,
    is_decided,
    no_verdict_reason,
    origin_of_margin,
    outcome_of_tests,
    patients_of_row,
    primary_models,
    score_p,
)
from analysis.translation import capitalise, later, localised, t, tn, translated

METRIC_NAMES = {"accuracy": later("accuracy"), "auc": later("the area under the ROC curve")}
HYPOTHESIS_NAMES = {
    NON_INFERIORITY: later("non-inferiority"),
    SUPERIORITY: later("superiority"),
}
KEY_NAMES = {
    "endpoint": later("endpoint"),
    "hypothesis": later("hypothesis"),
    "margin": later("margin"),
    "claim_about": later("claim"),
    "primary_model": later("primary model"),
}
MAX_PER_OUTCOME = 12
# Maximum number of verdicts in the headline, so that the table of raters is on the first screen.
MAX_VERDICTS = 3
NOT_DECIDED = later("Not decided")
INFERIOR = later("Inferior")
VERDICT_WORDS = {
    NON_INFERIORITY: {
        Outcome.SUPERIOR: later("Non-inferior, and superior"),
        Outcome.SHOWN: later("Non-inferior"),
        Outcome.NOT_ADJUSTED: later("Non-inferiority not shown after adjustment"),
        Outcome.NOT_BY_SCORE: later("Non-inferiority not shown by the score test"),
        Outcome.NOT_BY_LOGIT: later("Non-inferiority not shown on the logit scale"),
        Outcome.NOT_SHOWN: later("Non-inferiority not shown"),
        Outcome.INFERIOR: INFERIOR,
        Outcome.UNDECIDED: NOT_DECIDED,
    },
    SUPERIORITY: {
        Outcome.SHOWN: later("Superior"),
        Outcome.NOT_ADJUSTED: later("Superiority not shown after adjustment"),
        Outcome.NOT_BY_SCORE: later("Superiority not shown by the score test"),
        Outcome.NOT_BY_LOGIT: later("Superiority not shown on the logit scale"),
        Outcome.NOT_SHOWN: later("Superiority not shown"),
        Outcome.INFERIOR: INFERIOR,
        Outcome.UNDECIDED: NOT_DECIDED,
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictLine:
    """The verdict on a declared endpoint as a line of text.

    Parameters
    ----------
    word : str
        The verdict; empty if no hypothesis with an endpoint was declared.
    text : str
        The numbers that support the verdict.
    shown : bool
        Whether the declared hypothesis was shown.
    """

    word: str
    text: str
    shown: bool = False


def verdict_lines(results: Results) -> list[VerdictLine]:
    """Return a line for every declared endpoint and model, or a line stating that there is none."""
    plan = declared_plan(results)
    if not plan.is_confirmatory:
        return [VerdictLine(word="", text=_no_declaration_sentence(plan))]
    decided = sorted(
        decisions(results), key=lambda decision: -cell_number(decision.row, "difference")
    )
    if not decided:
        reason = _undecided_reason(results, plan) or t("There is no such comparison in these data.")
        return [VerdictLine(word=translated(NOT_DECIDED), text=reason)]
    if len(decided) <= MAX_VERDICTS:
        return [_verdict_line(results, plan, decision) for decision in decided]
    undecided = [decision for decision in decided if decision.outcome is Outcome.UNDECIDED]
    rest = [decision for decision in decided if decision.outcome is not Outcome.UNDECIDED]
    lines = [_verdict_line(results, plan, decision) for decision in rest[:MAX_VERDICTS]]
    if rest[MAX_VERDICTS:]:
        lines.append(VerdictLine(word="", text=_outcome_counts(results, plan, rest[MAX_VERDICTS:])))
    return [*lines, *_undecided_lines(results, plan, undecided)]


def _verdict_line(results: Results, plan: Plan, decision: Decision) -> VerdictLine:
    return VerdictLine(
        word=translated(VERDICT_WORDS[plan.hypothesis][decision.outcome]),
        text=_verdict_numbers(results, plan, decision),
        shown=decision.outcome.is_shown,
    )


def _outcome_counts(results: Results, plan: Plan, rest: list[Decision]) -> str:
    """Write the numbers of further comparisons by outcome."""
    counts = Counter(decision.outcome for decision in rest)
    outcomes = [
        f"{translated(VERDICT_WORDS[plan.hypothesis][outcome])} ({counts[outcome]})"
        for outcome in Outcome
        if outcome in counts
    ]
    return t(
        "{comparisons}: {outcomes}.",
        comparisons=_more_comparisons(results, plan, len(rest)),
        outcomes=join_words(outcomes),
    )


def _undecided_lines(results: Results, plan: Plan, undecided: list[Decision]) -> list[VerdictLine]:
    """Return a line for each reason with the comparisons that are undecided because of it."""
    reasons: dict[str, list[str]] = {}
    for decision in undecided:
        reason = _why_undecided(results, decision.row)
        reasons.setdefault(reason, []).append(_compared_raters(results, plan, decision.row))
    return [
        VerdictLine(
            word=translated(NOT_DECIDED),
            text=t(
                "{models}, because {reason}.",
                models=join_words(raters, max_words=MAX_VERDICTS),
                reason=reason,
            ),
        )
        for reason, raters in reasons.items()
    ]


def _more_comparisons(results: Results, plan: Plan, n: int) -> str:
    weighted = plan.pair_weighted and rows_of(results, "uncrossed", method=PAIR_WEIGHTED)
    table = "uncrossed" if weighted else "panel_adjusted"
    return tn(
        "{n} more comparison in {file}",
        "{n} more comparisons in {file}",
        n,
        file=f"tables/{table}.csv",
    )


def _no_declaration_sentence(plan: Plan) -> str:
    if plan.hypothesis:
        return t(
            "A hypothesis ({hypothesis}) was declared without an endpoint; all results are"
            " exploratory.",
            hypothesis=_hypothesis_words(plan),
        )
    if plan.metric == "auc":
        return t(
            "The area under the ROC curve was declared as the endpoint, without a hypothesis; all"
            " results are exploratory."
        )
    if plan.metric:
        return t(
            "Accuracy was declared as the endpoint, without a hypothesis; all results are"
            " exploratory."
        )
    return t("No endpoint was declared; all results are exploratory.")


def _metric_words(plan: Plan) -> str:
    metric = translated(METRIC_NAMES.get(plan.metric, ""))
    if not plan.pair_weighted:
        return metric
    return t("{metric} (pair-weighted: every reading counts equally)", metric=metric)


def _hypothesis_words(plan: Plan) -> str:
    return translated(HYPOTHESIS_NAMES.get(plan.hypothesis, plan.hypothesis))


def _verdict_numbers(results: Results, plan: Plan, decision: Decision) -> str:
    row, raters = decision.row, _compared_raters(results, plan, decision.row)
    reason = _why_undecided(results, row) if decision.outcome is Outcome.UNDECIDED else ""
    if math.isnan(cell_number(row, "difference")):
        return t("{who}: {why}.", who=raters, why=reason)
    scale = scale_of(results, plan.metric)
    margin = cell_number(row, "margin") if plan.hypothesis == NON_INFERIORITY else None
    values = {
        "who": raters,
        "value": scale.value(cell_number(row, "model_value")),
        "mean": scale.value(cell_number(row, "reader_mean")),
        "readers": reader_count(int(cell_number(row, "n_readers"))),
        "difference": scale.signed(cell_number(row, "difference")),
    }
    if math.isnan(cell_number(row, "ci_low")):
        text = t(
            "{who}, {value} against {mean} ({readers}): {difference}, without an interval because"
            " {why}.",
            **values,
            why=reason,
        )
        few = no_verdict_reason(results, patients_of_row(results, row))
        return join_sentences([text, t("{reason}.", reason=capitalise(few)) if few else ""])
    values["interval"] = scale.interval(row, margin) + _score_p_phrase(results, row, margin)
    if margin is None:
        text = t("{who}, {value} against {mean} ({readers}): {difference}, {interval}.", **values)
    else:
        text = t(
            "{who}, {value} against {mean} ({readers}): {difference}, {interval}, margin {margin}.",
            **values,
            margin=_margin_size(results, plan.metric, margin),
        )
    notes = [narrower_note(row), t("{reason}.", reason=capitalise(reason)) if reason else ""]
    return join_sentences([text, *notes])


def _score_p_phrase(results: Results, row: Row, margin: float | None) -> str:
    """Write the p-value of the test for accuracies near 1, which follows the interval."""
    p = score_p(results, row, "p_superior" if margin is None else "p")
    if math.isnan(p):
        return ""
    if row["metric"] == AUC:
        return t(", on the logit scale p {p}", p=p_cell(p))
    return t(", score test p {p}", p=p_cell(p))


def endpoint_findings(results: Results) -> list[Finding]:
    """Report the declared hypothesis and its verdicts, the only verdicts of the report."""
    texts = [join_sentences([*_declaration_sentences(results), *_amendment_sentences(results)])]
    all_decisions = decisions(results)
    for outcome in Outcome:
        texts += _endpoint_texts(
            results,
            outcome,
            [decision for decision in all_decisions if decision.outcome is outcome],
        )
    return [Finding(theme=Theme.ENDPOINT, text=text) for text in texts]


def _declaration_sentences(results: Results) -> list[str]:
    plan = declared_plan(results)
    if not results.bundle.protocol:
        first = t(
            "The data came without a protocol; all results are reported as exploratory: estimates"
            " with intervals, without a verdict."
        )
        return [first, _other_margin_sentence(results)]
    if not plan.hypothesis:
        first = t(
            "No hypothesis was declared; all results are reported as exploratory: estimates with"
            " intervals, without a verdict."
        )
        endpoint = t("The primary endpoint is {metric}.", metric=_metric_words(plan))
        return [first, endpoint if plan.metric else "", _other_margin_sentence(results)]
    if not plan.metric:
        first = t(
            "A hypothesis was declared ({hypothesis}) without an endpoint that decides it; all"
            " results are reported as exploratory: estimates with intervals, without a verdict.",
            hypothesis=_hypothesis_words(plan),
        )
        return [first, _other_margin_sentence(results)]
    parts = (_hypothesis_sentence, _adjustment_sentence, _readers_mean_sentence, _undecided_reason)
    return [part(results, plan) for part in parts]


def _readers_mean_sentence(results: Results, plan: Plan) -> str:
    """Report the readers' mean that the models are compared with, if it is a single number."""
    rows = rows_of(results, "reader_panel", metric=plan.metric)
    scale = scale_of(results, plan.metric)
    means = {
        (int(cell_number(row, "n_readers")), scale.value(cell_number(row, "reader_mean")))
        for row in rows
        if not math.isnan(cell_number(row, "reader_mean"))
    }
    if len(means) != 1 or plan.pair_weighted or not is_decided(results):
        return ""
    n, mean = means.pop()
    return tn(
        "The one reader has {mean}.",
        "The mean of the {n} readers is {mean}.",
        n,
        mean=mean,
    )


def _hypothesis_sentence(results: Results, plan: Plan) -> str:
    primary = primary_models(results)
    values = {
        "hypothesis": _hypothesis_words(plan),
        "readers": claim_words(plan.claim)
        if plan.claim
        else t("these readers and to readers like these"),
        "metric": _metric_words(plan),
        "margin": "",
    }
    if plan.hypothesis == NON_INFERIORITY and plan.margin is not None:
        size = _margin_size(results, plan.metric, plan.margin)
        values["margin"] = t(", with a margin of {size}", size=size)
    if not plan.primary_model:
        return t(
            "Declared before reading: {hypothesis} of each model to {readers} in {metric}{margin}.",
            **values,
        )
    names = [name_in_sentence(results, model) for model in primary] or [
        f"\u2068{plan.primary_model}\u2069"
    ]
    return t(
        "Declared before reading: {hypothesis} of {model}, the primary model, to {readers} in"
        " {metric}{margin}.",
        **values,
        model=join_words(names),
    )


def _adjustment_sentence(results: Results, plan: Plan) -> str:
    n = len({row["model_id"] for row in rows_of(results, "reader_panel", metric=plan.metric)})
    if plan.primary_model or n < 2 or not is_decided(results):
        return ""
    return t("No model was named primary: verdicts are adjusted for {n} models (Holm).", n=n)


def _undecided_reason(results: Results, plan: Plan) -> str:
    """Return why a declared hypothesis is not decided."""
    if not rows_of(results, "reader_panel", metric=plan.metric):
        return t("These data do not contain a comparison of a model with readers.")
    if plan.primary_model and not primary_models(results):
        return t("No model of that name is in these data, so there is no verdict.")
    if is_decided(results):
        return ""
    if plan.margin is None:
        return t("The protocol names no margin, so there is no verdict.")
    reason = t(
        "No verdict is given for a margin that was not declared; for a verdict, run the analysis"
        " without --margin."
    )
    return join_sentences([_other_margin_sentence(results), reason])


def _other_margin_sentence(results: Results) -> str:
    """Report a margin that is not the protocol's."""
    origin = origin_of_margin(results)
    if not origin or results.options.margin is None:
        return ""
    return t(
        "The margin of {size} was {origin}.",
        size=_margin_size(results, "accuracy", results.options.margin),
        origin=origin,
    )


def _amendment_sentences(results: Results) -> list[str]:
    before = original_values(results.bundle.protocol)
    if not before:
        return []
    parts = [
        t("{key} ({before})", key=translated(KEY_NAMES[key]), before=_value_before(key, value))
        for key, value in before.items()
    ]
    return [t("Amended after the study opened: {changes}.", changes=join_words(parts))]


def _value_before(key: str, value: Any) -> str:
    if value == "":
        return t("none before")
    if key == "margin":
        return t("{size} points before", size=localised(f"{100 * value:g}"))
    return t("{value} before", value=str(value))


def _endpoint_texts(results: Results, outcome: Outcome, decided: list[Decision]) -> list[str]:
    if not decided:
        return []
    plan = declared_plan(results)
    known = VERDICT_WORDS.get(plan.hypothesis, {}).get(outcome)
    words = translated(known) if known else outcome.value.capitalize()
    if outcome is Outcome.UNDECIDED:
        return [
            t("{verdict}: {what}.", verdict=words, what=part)
            for part in _undecided_models(results, plan, decided)
        ]
    decided = sorted(decided, key=lambda part: -cell_number(part.row, "difference"))
    parts = [_decision_phrase(results, plan, part) for part in decided[:MAX_PER_OUTCOME]]
    left = len(decided) - len(parts)
    if left:
        parts.append(t("and {comparisons}", comparisons=_more_comparisons(results, plan, left)))
    note = narrower_note(*(part.row for part in decided))
    return [
        join_sentences([t("{verdict}: {what}.", verdict=words, what=join_clauses(parts)), note])
    ]


def _decision_phrase(results: Results, plan: Plan, decision: Decision) -> str:
    row, raters = decision.row, _compared_raters(results, plan, decision.row)
    margin = cell_number(row, "margin") if plan.hypothesis == NON_INFERIORITY else None
    scale = scale_of(results, plan.metric)

    def verdict_of(other: Row) -> str:
        outcome = outcome_of_tests(results, plan, other, cell_number(row, "margin"))
        words = translated(VERDICT_WORDS[plan.hypothesis][outcome])
        return words[0].lower() + words[1:]

    return t(
        "{who} ({value}: {difference}, {interval}{others})",
        who=raters,
        value=scale.value(cell_number(row, "model_value")),
        difference=scale.signed(cell_number(row, "difference")),
        interval=scale.interval(row, margin) + _score_p_phrase(results, row, margin),
        others=""
        if row.get("method") == PAIR_WEIGHTED
        else under_other_choices(results, row, verdict_of),
    )


def _compared_raters(results: Results, plan: Plan, row: Row) -> str:
    condition = condition_phrase(results, str(row["condition"]))
    name = name_in_sentence(results, str(row["model_id"]))
    return (
        name + condition
        if plan.claim
        else f"{name} {comparator_words(str(row['claim']))}{condition}"
    )


def _undecided_models(results: Results, plan: Plan, undecided: list[Decision]) -> Iterator[str]:
    """Yield the models for each reason, with their estimates if they have one."""
    reasons: dict[str, list[str]] = {}
    for decision in undecided:
        reasons.setdefault(_why_undecided(results, decision.row), []).append(
            _model_with_estimate(results, plan, decision.row)
        )
    for raters, models_named in reasons.items():
        models = join_words(models_named, max_words=MAX_PER_OUTCOME)
        yield t("{models}, because {reason}", models=models, reason=raters)


def _model_with_estimate(results: Results, plan: Plan, row: Row) -> str:
    raters = _compared_raters(results, plan, row)
    if math.isnan(cell_number(row, "ci_low")):
        return raters
    scale = scale_of(results, plan.metric)
    return t(
        "{who} ({value}: {difference}, {interval})",
        who=raters,
        value=scale.value(cell_number(row, "model_value")),
        difference=scale.signed(cell_number(row, "difference")),
        interval=scale.interval(row),
    )


def _why_undecided(results: Results, row: Row) -> str:
    if math.isnan(cell_number(row, "ci_low")):
        return undefined_reason(row)
    few = no_verdict_reason(results, patients_of_row(results, row))
    return few or t("there is no adjusted p-value")


def scale_of(results: Results, metric: str) -> Scale:
    """Return the scale on which values and differences of a metric are written."""
    return area_scale(results) if metric == "auc" else points_scale(results)


def _margin_size(results: Results, metric: str, margin: float) -> str:
    if metric == "auc":
        return t("{size} of area", size=format_number(margin, 2))
    return points_scale(results).size(margin)
