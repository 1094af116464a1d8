"""Findings on models compared with the readers' mean, and on readers under two conditions."""

from __future__ import annotations

import math
from functools import partial

from analysis.presentation.wording import (
    Row,
    cell_number,
    condition_phrase,
    conditions_in,
    has_several_conditions,
    join_clauses,
    join_sentences,
    join_with_commas,
    join_words,
    reader_count,
    rows_by,
    rows_of,
    undefined_reason,
)
from analysis.report.findings.endpoint import scale_of
from analysis.report.findings.finding import MAX_CONDITIONS, Finding, Scale, Theme, name_in_sentence
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
from analysis.translation import capitalise, later, t, tn, translate_pieces, translated

MAX_MODELS = 3
METRICS = ("accuracy", "auc")
BELOW_CHANCE_NOTE = "is below 0.5"
METRIC_WORDS = {"accuracy": later("Accuracy"), "auc": later("Area under the ROC curve")}


def panel_findings(results: Results) -> list[Finding]:
    """Report the comparison of the first models with the readers, and count the others."""
    findings: list[Finding] = []
    for condition in conditions_in(results, "reader_panel")[:MAX_CONDITIONS]:
        for metric in METRICS:
            findings += _metric_findings(results, condition, metric)
    if findings and decisions(results):
        text = t(
            "Except for the primary endpoint, what follows is exploratory: intervals, no verdicts."
        )
        findings.insert(0, Finding(theme=Theme.AGAINST, text=text))
    return findings


def _metric_findings(results: Results, condition: str, metric: str) -> list[Finding]:
    filters = {"condition": condition, "metric": metric}
    rows = rows_of(results, "reader_panel", **filters)
    models = rows_by(results, "reader_panel", ("model_id",), of="claim", **filters)
    ordered = sorted(
        (claims for claims in models.values() if not math.isnan(_model_value(claims))),
        key=lambda claims: (-_model_value(claims), str(next(iter(claims.values()))["model_id"])),
    )
    max_models = MAX_MODELS if metric == "accuracy" and not has_several_conditions(results) else 1
    shown = [conclusion_of(results, row) for claims in ordered for row in claims.values()]
    if all(conclusion is Conclusion.UNDEFINED for conclusion in shown):
        max_models = 1
    # A single remaining model is as short as "1 more model".
    max_models += max_models > 1 and len(ordered) == max_models + 1
    if rows and not ordered:
        return [
            Finding(
                theme=Theme.AGAINST,
                text=_no_comparison_sentence(results, rows[0], metric, condition),
            )
        ]
    texts = [_model_text(results, claims, metric, condition) for claims in ordered[:max_models]]
    if len(ordered) > max_models:
        texts.append(_other_models_sentence(results, ordered[max_models:], metric))
    texts += _remarks(results, rows, metric, condition)
    return [Finding(theme=Theme.AGAINST, text=text) for text in texts]


def _no_comparison_sentence(results: Results, row: Row, metric: str, condition: str) -> str:
    """Report why no model is compared with the readers' mean."""
    values = {"where": condition_phrase(results, condition), "reason": undefined_reason(row)}
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
            note=translate_pieces(note),
        )
        for note in shared_notes
    ]
    if any(note.endswith(BELOW_CHANCE_NOTE) for note in notes):
        texts.append(
            t(
                "Every reader's area under the ROC curve{where} is below 0.5, that of guessing:"
                " check whether the confidence ratings or the reference standard are reversed.",
                where=where,
            )
        )
    return texts


def _model_value(claims: dict[str, Row]) -> float:
    return cell_number(next(iter(claims.values())), "model_value")


def _model_text(results: Results, claims: dict[str, Row], metric: str, condition: str) -> str:
    scale = scale_of(results, metric)
    any_row = next(iter(claims.values()))
    fixed, random = claims.get(THESE_READERS), claims.get(READERS_LIKE_THESE)
    name = name_in_sentence(results, str(any_row["model_id"]))
    where = condition_phrase(results, condition)
    texts = [_fixed_sentence(results, name, fixed or any_row, metric, where, fixed is not None)]
    if random is not None:
        texts.append(
            random_sentence(results, random, fixed, scale, _margin_of_row(results, any_row))
        )
    return join_sentences([*texts, _margin_sentence(results, claims, scale)])


def _fixed_sentence(
    results: Results, name: str, row: Row, metric: str, condition: str, is_fixed: bool
) -> str:
    scale = scale_of(results, metric)
    model, mean = (scale.value(cell_number(row, c)) for c in ("model_value", "reader_mean"))
    has = (
        t("{name} had an accuracy of {value}", name=name, value=model)
        if metric == "accuracy"
        else t("{name} had an area under the ROC curve of {value}", name=name, value=model)
    )
    shown = conclusion_of(results, row) if is_fixed else Conclusion.UNDEFINED
    values = {
        "has": has,
        "readers": panel_name(row),
        "where": condition,
        "mean": mean,
        "size": scale.size(cell_number(row, "difference")),
        "difference": scale.signed(cell_number(row, "difference")),
        "percent": scale.confidence,
        "limits": scale.limits(row, _margin_of_row(results, row)),
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
            reason=undefined_reason(row),
        )
    return t("{has}, {readers}{where} {mean}; no informative interval.", **values)


def random_sentence(
    results: Results, row: Row, fixed: Row | None, scale: Scale, margin: float | None = None
) -> str:
    """Report the result for readers like these, with the number of readers."""
    shown = conclusion_of(results, row)
    if (
        shown is Conclusion.UNDEFINED
        and fixed is not None
        and undefined_reason(fixed) == undefined_reason(row)
    ):
        return t("The same holds for readers like these.")
    if shown is Conclusion.UNDEFINED:
        return t(
            "For readers like these no conclusion is possible: {reason}.",
            reason=undefined_reason(row),
        )
    if is_uninformative(row):
        return t(
            "For readers like these the interval from {readers} is uninformative: it extends to the"
            " largest possible difference.",
            readers=_reader_count(row),
        )
    values = {
        "readers": _reader_count(row),
        "limits": scale.with_unit(scale.limits(row, margin)),
        "interval": scale.interval(row, margin),
        "width": scale.width(row, margin),
    }
    if shown is Conclusion.TOO_FEW:
        return join_sentences(
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
        return join_sentences([text, narrower_note(row)])
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
    return join_sentences([text, narrower_note(row)])


def _margin_sentence(results: Results, claims: dict[str, Row], scale: Scale) -> str:
    """Report the limits relative to a margin that was chosen at analysis, without a verdict."""
    origin = origin_of_margin(results)
    margin = _margin_of_row(results, next(iter(claims.values())))
    if margin is None or not origin:
        return ""
    known = (Conclusion.HIGHER, Conclusion.LOWER, Conclusion.NOT_SHOWN)
    limits = {
        claim: (cell_number(row, "ci_low"), cell_number(row, "ci_high"))
        for claim, row in claims.items()
        if conclusion_of(results, row) in known
    }
    cleared = [claim for claim, ends in limits.items() if is_noninferior(*ends, margin)]
    below = [claim for claim, (_, high) in limits.items() if high < -margin]
    missed = [claim for claim in limits if claim not in (*cleared, *below)]
    parts = [
        *([t("cleared for {readers}", readers=_claims_text(cleared))] if cleared else []),
        *([t("not cleared for {readers}", readers=_claims_text(missed))] if missed else []),
        *([t("wholly below it for {readers}", readers=_claims_text(below))] if below else []),
    ]
    if not parts:
        return ""
    return t(
        "Margin of {size} ({origin}): {parts}.",
        size=scale.size(margin),
        origin=origin,
        parts=join_with_commas(parts),
    )


def _claims_text(claims: list[str]) -> str:
    return join_words([claim_words(claim) for claim in claims])


def _other_models_sentence(results: Results, models: list[dict[str, Row]], metric: str) -> str:
    by_claim: dict[str, list[str]] = {}
    for claim in (THESE_READERS, READERS_LIKE_THESE):
        verdicts = [conclusion_of(results, claims[claim]) for claims in models if claim in claims]
        counts = [
            _count_phrase(conclusion, verdicts.count(conclusion))
            for conclusion in Conclusion
            if conclusion in verdicts
        ]
        if counts:
            by_claim.setdefault(join_with_commas(counts), []).append(comparator_words(claim))
    parts = [
        t("{against}: {counts}", against=join_words(claims), counts=counts)
        for counts, claims in by_claim.items()
    ]
    if metric == "accuracy":
        return tn(
            "The other model, {parts}.",
            "The other {n} models, {parts}.",
            len(models),
            parts=join_clauses(parts),
        )
    return tn(
        "The other model by area under the ROC curve, {parts}.",
        "The other {n} models by area under the ROC curve, {parts}.",
        len(models),
        parts=join_clauses(parts),
    )


def _count_phrase(verdict: Conclusion, n: int) -> str:
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
    reaches = cell_number(row, "ci_low") <= -1 or cell_number(row, "ci_high") >= 1
    limits = cell_number(row, "ci_low"), cell_number(row, "ci_high")
    return reaches and verdict(*limits) is Conclusion.NOT_SHOWN


def _margin_of_row(results: Results, row: Row) -> float | None:
    margin = cell_number(row, "margin")
    return None if math.isnan(margin) or not has_margin(results, str(row["metric"])) else margin


def _reader_count(row: Row) -> str:
    return reader_count(int(cell_number(row, "n_readers")))


def panel_name(row: Row) -> str:
    """Name the panel: the mean of the readers, or the only reader."""
    n = int(cell_number(row, "n_readers"))
    return t("the one reader") if n == 1 else t("the mean of these {n} readers", n=str(n))


MAX_PAIRS = 3


def condition_findings(results: Results) -> list[Finding]:
    """Report how the readers' accuracy and area under the curve differ between conditions."""
    return [
        Finding(theme=Theme.CONDITIONS, text=_conditions_text(results, metric, claims))
        for metric in METRICS
        for claims in _condition_pairs(results, metric)[:MAX_PAIRS]
    ] + [
        Finding(theme=Theme.CONDITIONS, text=text)
        for metric in METRICS
        for text in _other_pairs(results, _condition_pairs(results, metric)[MAX_PAIRS:], metric)
    ]


def _other_pairs(results: Results, pairs: list[dict[str, Row]], metric: str) -> list[str]:
    """Count, by conclusion, the pairs of conditions that no other sentence describes."""
    if not pairs:
        return []
    rows = [claims[THESE_READERS] for claims in pairs if THESE_READERS in claims]
    verdicts = [conclusion_of(results, row) for row in rows]
    counts = join_words(
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


def _condition_pairs(results: Results, metric: str) -> list[dict[str, Row]]:
    conditions = ("condition_a", "condition_b")
    return list(
        rows_by(results, "reader_conditions", conditions, of="claim", metric=metric).values()
    )


def _conditions_text(results: Results, metric: str, claims: dict[str, Row]) -> str:
    row = claims.get(THESE_READERS) or next(iter(claims.values()))
    text = t(
        "{opening}; {difference}.",
        opening=_opening(results, metric, row),
        difference=difference_words(results, metric, row),
    )
    random = claims.get(READERS_LIKE_THESE)
    if random is None or random is row:
        return text
    return join_sentences([text, random_sentence(results, random, row, scale_of(results, metric))])


def _opening(results: Results, metric: str, row: Row) -> str:
    scale = scale_of(results, metric)
    first, second = (
        scale.value(cell_number(row, f"value_{side}"))
        + condition_phrase(results, str(row[f"condition_{side}"]))
        for side in "ab"
    )
    raters = panel_name(row)
    values = {"readers": capitalise(raters), "first": first, "second": second}
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
            return t("no informative interval, because {reason}", reason=undefined_reason(row))
        return t("no informative interval")
    values = {
        "size": scale.size(cell_number(row, "difference")),
        "difference": scale.signed(cell_number(row, "difference")),
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
