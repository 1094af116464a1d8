"""Findings on models compared with the readers' mean, and on readers under two conditions."""

from __future__ import annotations

import math
from functools import partial

from analysis.presentation.wording import (
    Row,
    clauses,
    condition_phrase,
    conditions_in,
    has_several,
    in_a_row,
    listed,
    number,
    readers,
    reason,
    rows_by,
    rows_of,
    sentences,
)
from analysis.report.findings.endpoint import scale_of
from analysis.report.findings.finding import MOST_CONDITIONS, Finding, Scale, Theme, named
from analysis.report.findings.sensitivity import under_other_choices
from analysis.results import Results
from analysis.statistics.claims import (
    READERS_LIKE_THESE,
    THESE_READERS,
    claim_words,
    comparator_words,
    narrower_note,
)
from analysis.statistics.verdicts import (
    Conclusion,
    conclusion_of,
    decisions,
    has_margin,
    is_noninferior,
    no_verdict_reason,
    origin_of_margin,
    patients_of_row,
    verdict,
)
from analysis.translation import capitalised, later, pieces, t, tn, translated

MOST_MODELS = 3
METRICS = ("accuracy", "auc")
BACKWARDS = "is below 0.5"
METRIC_WORDS = {"accuracy": later("Accuracy"), "auc": later("Area under the ROC curve")}


def panel_findings(results: Results) -> list[Finding]:
    """Report the comparison of the first models with the readers, and count the others."""
    findings: list[Finding] = []
    for condition in conditions_in(results, "reader_panel")[:MOST_CONDITIONS]:
        for metric in METRICS:
            findings += _panel(results, condition, metric)
    if findings and decisions(results):
        text = t(
            "Except for the primary endpoint, what follows is exploratory: intervals, no verdicts."
        )
        findings.insert(0, Finding(theme=Theme.AGAINST, text=text))
    return findings


def _panel(results: Results, condition: str, metric: str) -> list[Finding]:
    filters = {"condition": condition, "metric": metric}
    rows = rows_of(results, "reader_panel", **filters)
    models = rows_by(results, "reader_panel", ("model_id",), of="claim", **filters)
    ordered = sorted(
        (claims for claims in models.values() if not math.isnan(_value(claims))),
        key=lambda claims: (-_value(claims), str(next(iter(claims.values()))["model_id"])),
    )
    max_models = MOST_MODELS if metric == "accuracy" and not has_several(results) else 1
    shown = [conclusion_of(results, row) for claims in ordered for row in claims.values()]
    if all(conclusion is Conclusion.UNDEFINED for conclusion in shown):
        max_models = 1
    # A single remaining model is as short as "1 more model".
    max_models += max_models > 1 and len(ordered) == max_models + 1
    if rows and not ordered:
        return [Finding(theme=Theme.AGAINST, text=_nothing(results, rows[0], metric, condition))]
    texts = [_model(results, claims, metric, condition) for claims in ordered[:max_models]]
    if len(ordered) > max_models:
        texts.append(_other_models(results, ordered[max_models:], metric))
    texts += _remarks(results, rows, metric, condition)
    return [Finding(theme=Theme.AGAINST, text=text) for text in texts]


def _nothing(results: Results, row: Row, metric: str, condition: str) -> str:
    """Report why no model is compared with the readers' mean."""
    values = {"where": condition_phrase(results, condition), "reason": reason(row)}
    if metric == "accuracy":
        return t("Models are not compared with the mean of the readers{where}: {reason}.", **values)
    return t(
        "Models are not compared with the mean of the readers by the area under the ROC"
        " curve{where}: {reason}.",
        **values,
    )


def _remarks(results: Results, rows: list[Row], metric: str, condition: str) -> list[str]:
    """Report notes that apply to all models: the items, and areas that suggest reversed ratings."""
    notes = [note for row in rows for note in str(row["note"]).split("; ")]
    shared_notes = [note for note in dict.fromkeys(notes) if note.startswith("over the ")]
    where = condition_phrase(results, condition)
    texts = [
        t(
            "{metric}{where}: {note}.",
            metric=translated(METRIC_WORDS[metric]),
            where=where,
            note=pieces(note),
        )
        for note in shared_notes
    ]
    if any(note.endswith(BACKWARDS) for note in notes):
        texts.append(
            t(
                "Every reader's area under the ROC curve{where} is below 0.5, that of guessing:"
                " check whether the confidence ratings or the reference standard are reversed.",
                where=where,
            )
        )
    return texts


def _value(claims: dict[str, Row]) -> float:
    return number(next(iter(claims.values())), "model_value")


def _model(results: Results, claims: dict[str, Row], metric: str, condition: str) -> str:
    scale = scale_of(results, metric)
    any_row = next(iter(claims.values()))
    fixed, random = claims.get(THESE_READERS), claims.get(READERS_LIKE_THESE)
    name = named(results, str(any_row["model_id"]))
    where = condition_phrase(results, condition)
    texts = [_fixed(results, name, fixed or any_row, metric, where, fixed is not None)]
    if random is not None:
        texts.append(random_sentence(results, random, fixed, scale, _margin(results, any_row)))
    return sentences([*texts, _beyond_margin(results, claims, scale)])


def _fixed(
    results: Results, name: str, row: Row, metric: str, condition: str, is_fixed: bool
) -> str:
    scale = scale_of(results, metric)
    model, mean = (scale.value(number(row, c)) for c in ("model_value", "reader_mean"))
    has = (
        t("{name} had an accuracy of {value}", name=name, value=model)
        if metric == "accuracy"
        else t("{name} had an area under the ROC curve of {value}", name=name, value=model)
    )
    shown = conclusion_of(results, row) if is_fixed else Conclusion.UNDEFINED
    values = {
        "has": has,
        "readers": mean_of_readers(row),
        "where": condition,
        "mean": mean,
        "size": scale.size(number(row, "difference")),
        "difference": scale.signed(number(row, "difference")),
        "percent": scale.confidence,
        "limits": scale.limits(row, _margin(results, row)),
        "others": under_other_choices(results, row, partial(_conclusion_text, results))
        if is_fixed
        else "",
        "why": no_verdict_reason(results, patients_of_row(results, row)),
    }
    if is_uninformative(row):
        return t(
            "{has}, {readers}{where} {mean}; the interval is uninformative: it extends to the"
            " largest possible difference.",
            **values,
        )
    if shown is Conclusion.TOO_FEW:
        return t(
            "{has}, {readers}{where} {mean} (difference {difference}, {percent} % CI {limits});"
            " {why}.",
            **values,
        )
    if shown is Conclusion.HIGHER:
        return t(
            "{has}, {size} higher than {readers}{where} ({mean}; {percent} % CI of the difference"
            " {limits}){others}.",
            **values,
        )
    if shown is Conclusion.LOWER:
        return t(
            "{has}, {size} lower than {readers}{where} ({mean}; {percent} % CI of the difference"
            " {limits}){others}.",
            **values,
        )
    if shown is Conclusion.NOT_SHOWN:
        return t(
            "{has}, {readers}{where} {mean}: no difference shown ({difference}, {percent} % CI of"
            " the difference {limits}){others}.",
            **values,
        )
    if is_fixed and row.get("undefined_because"):
        return t(
            "{has}, {readers}{where} {mean}; no informative interval: {reason}.",
            **values,
            reason=reason(row),
        )
    return t("{has}, {readers}{where} {mean}; no informative interval.", **values)


def random_sentence(
    results: Results, row: Row, fixed: Row | None, scale: Scale, margin: float | None = None
) -> str:
    """Report the result for readers like these, with the number of readers."""
    shown = conclusion_of(results, row)
    if shown is Conclusion.UNDEFINED and fixed is not None and reason(fixed) == reason(row):
        return t("The same holds for readers like these.")
    if shown is Conclusion.UNDEFINED:
        return t("For readers like these no conclusion is possible: {reason}.", reason=reason(row))
    if is_uninformative(row):
        return t(
            "For readers like these the interval from {readers} is uninformative: it extends to the"
            " largest possible difference.",
            readers=_count(row),
        )
    values = {
        "readers": _count(row),
        "limits": scale.with_unit(scale.limits(row, margin)),
        "interval": scale.interval(row, margin),
        "width": scale.width(row, margin),
    }
    if shown is Conclusion.TOO_FEW:
        return sentences(
            [
                t("For readers like these: {interval} ({width}, from {readers}).", **values),
                narrower_note(row),
            ]
        )
    if shown is Conclusion.NOT_SHOWN:
        text = t(
            "For readers like these the interval extends from {limits} ({width}), so with {readers}"
            " a difference in either direction cannot be excluded.",
            **values,
        )
        return sentences([text, narrower_note(row)])
    if fixed is not None and conclusion_of(results, fixed) is not shown:
        return t(
            "For readers like these the interval is {limits}, narrower than for these readers,"
            " because these readers differ less than chance alone would make them; no difference is"
            " claimed.",
            **values,
        )
    others = ""
    if "model_id" in row:
        others = under_other_choices(results, row, partial(_conclusion_text, results))
    text = (
        t(
            "For readers like these it is higher as well ({interval}; {width}, from"
            " {readers}){others}.",
            **values,
            others=others,
        )
        if shown is Conclusion.HIGHER
        else t(
            "For readers like these it is lower as well ({interval}; {width}, from"
            " {readers}){others}.",
            **values,
            others=others,
        )
    )
    return sentences([text, narrower_note(row)])


def _beyond_margin(results: Results, claims: dict[str, Row], scale: Scale) -> str:
    """Report the limits relative to a margin that was chosen at analysis, without a verdict."""
    origin = origin_of_margin(results)
    margin = _margin(results, next(iter(claims.values())))
    if margin is None or not origin:
        return ""
    known = (Conclusion.HIGHER, Conclusion.LOWER, Conclusion.NOT_SHOWN)
    limits = {
        claim: (number(row, "ci_low"), number(row, "ci_high"))
        for claim, row in claims.items()
        if conclusion_of(results, row) in known
    }
    cleared = [claim for claim, ends in limits.items() if is_noninferior(*ends, margin)]
    below = [claim for claim, (_, high) in limits.items() if high < -margin]
    missed = [claim for claim in limits if claim not in (*cleared, *below)]
    parts = [
        *([t("cleared for {readers}", readers=_claims(cleared))] if cleared else []),
        *([t("not cleared for {readers}", readers=_claims(missed))] if missed else []),
        *([t("wholly below it for {readers}", readers=_claims(below))] if below else []),
    ]
    if not parts:
        return ""
    return t(
        "Margin of {size} ({origin}): {parts}.",
        size=scale.size(margin),
        origin=origin,
        parts=in_a_row(parts),
    )


def _claims(claims: list[str]) -> str:
    return listed([claim_words(claim) for claim in claims])


def _other_models(results: Results, models: list[dict[str, Row]], metric: str) -> str:
    by_claim: dict[str, list[str]] = {}
    for claim in (THESE_READERS, READERS_LIKE_THESE):
        verdicts = [conclusion_of(results, claims[claim]) for claims in models if claim in claims]
        counts = [
            _counted(conclusion, verdicts.count(conclusion))
            for conclusion in Conclusion
            if conclusion in verdicts
        ]
        if counts:
            by_claim.setdefault(in_a_row(counts), []).append(comparator_words(claim))
    parts = [
        t("{against}: {counts}", against=listed(claims), counts=counts)
        for counts, claims in by_claim.items()
    ]
    if metric == "accuracy":
        return tn(
            "The other model, {parts}.",
            "The other {n} models, {parts}.",
            len(models),
            parts=clauses(parts),
        )
    return tn(
        "The other model by area under the ROC curve, {parts}.",
        "The other {n} models by area under the ROC curve, {parts}.",
        len(models),
        parts=clauses(parts),
    )


def _counted(verdict: Conclusion, n: int) -> str:
    """Write the number of comparisons with a conclusion."""
    if verdict is Conclusion.HIGHER:
        return t("higher in {n}", n=n)
    if verdict is Conclusion.LOWER:
        return t("lower in {n}", n=n)
    if verdict is Conclusion.NOT_SHOWN:
        return t("no difference shown in {n}", n=n)
    if verdict is Conclusion.TOO_FEW:
        return t("no conclusion in {n}", n=n)
    return t("undefined in {n}", n=n)


def _conclusion_text(results: Results, row: Row) -> str:
    return translated(conclusion_of(results, row).value)


def is_uninformative(row: Row) -> bool:
    """Return whether an interval around 0 extends to the largest possible difference."""
    reaches = number(row, "ci_low") <= -1 or number(row, "ci_high") >= 1
    limits = number(row, "ci_low"), number(row, "ci_high")
    return reaches and verdict(*limits) is Conclusion.NOT_SHOWN


def _margin(results: Results, row: Row) -> float | None:
    margin = number(row, "margin")
    return None if math.isnan(margin) or not has_margin(results, str(row["metric"])) else margin


def _count(row: Row) -> str:
    return readers(int(number(row, "n_readers")))


def mean_of_readers(row: Row) -> str:
    """Name the panel: the mean of the readers, or the only reader."""
    n = int(number(row, "n_readers"))
    return t("the one reader") if n == 1 else t("the mean of these {n} readers", n=str(n))


MOST_PAIRS = 3


def condition_findings(results: Results) -> list[Finding]:
    """Report how the readers' accuracy and area under the curve differ between conditions."""
    return [
        Finding(theme=Theme.CONDITIONS, text=_conditions(results, metric, claims))
        for metric in METRICS
        for claims in _pairs(results, metric)[:MOST_PAIRS]
    ] + [
        Finding(theme=Theme.CONDITIONS, text=text)
        for metric in METRICS
        for text in _other_pairs(results, _pairs(results, metric)[MOST_PAIRS:], metric)
    ]


def _other_pairs(results: Results, pairs: list[dict[str, Row]], metric: str) -> list[str]:
    """Count, by conclusion, the pairs of conditions that have no sentence of their own."""
    if not pairs:
        return []
    rows = [claims[THESE_READERS] for claims in pairs if THESE_READERS in claims]
    verdicts = [conclusion_of(results, row) for row in rows]
    counts = listed(
        [
            t(
                "{verdict} in {n}",
                verdict=translated(conclusion.value),
                n=verdicts.count(conclusion),
            )
            for conclusion in Conclusion
            if conclusion in verdicts
        ]
    )
    if metric == "accuracy":
        return [
            tn(
                "The other pair of conditions: {counts}.",
                "The other {n} pairs of conditions: {counts}.",
                len(pairs),
                counts=counts,
            )
        ]
    return [
        tn(
            "The other pair of conditions (area under the ROC curve): {counts}.",
            "The other {n} pairs of conditions (area under the ROC curve): {counts}.",
            len(pairs),
            counts=counts,
        )
    ]


def _pairs(results: Results, metric: str) -> list[dict[str, Row]]:
    conditions = ("condition_a", "condition_b")
    return list(
        rows_by(results, "reader_conditions", conditions, of="claim", metric=metric).values()
    )


def _conditions(results: Results, metric: str, claims: dict[str, Row]) -> str:
    row = claims.get(THESE_READERS) or next(iter(claims.values()))
    text = t(
        "{opening}; {difference}.",
        opening=_opening(results, metric, row),
        difference=difference_words(results, metric, row),
    )
    random = claims.get(READERS_LIKE_THESE)
    if random is None or random is row:
        return text
    return sentences([text, random_sentence(results, random, row, scale_of(results, metric))])


def _opening(results: Results, metric: str, row: Row) -> str:
    scale = scale_of(results, metric)
    first, second = (
        scale.value(number(row, f"value_{side}"))
        + condition_phrase(results, str(row[f"condition_{side}"]))
        for side in "ab"
    )
    raters = mean_of_readers(row)
    values = {"readers": capitalised(raters), "first": first, "second": second}
    if metric == "accuracy":
        return t("{readers}: {first}, {second}", **values)
    return t("{readers} (area under the ROC curve): {first}, {second}", **values)


def difference_words(results: Results, metric: str, row: Row) -> str:
    """Report a difference between readers' values, claiming no more than its interval supports."""
    scale = scale_of(results, metric)
    shown = conclusion_of(results, row)
    if is_uninformative(row):
        return t("the interval is uninformative: it extends to the largest possible difference")
    if shown is Conclusion.UNDEFINED:
        if row.get("undefined_because"):
            return t("no informative interval, because {reason}", reason=reason(row))
        return t("no informative interval")
    values = {
        "size": scale.size(number(row, "difference")),
        "difference": scale.signed(number(row, "difference")),
        "interval": scale.interval(row),
    }
    if shown is Conclusion.TOO_FEW:
        why = no_verdict_reason(results, patients_of_row(results, row))
        return t("difference {difference}, {interval}; {why}", **values, why=why)
    if shown is Conclusion.NOT_SHOWN:
        return t("no difference shown ({difference}, {interval})", **values)
    if shown is Conclusion.HIGHER:
        return t("{size} higher ({interval})", **values)
    return t("{size} lower ({interval})", **values)
