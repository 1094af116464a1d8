"""The readers under one condition against another."""

from __future__ import annotations

from analysis.report.findings.endpoint import scale_of
from analysis.report.findings.finding import Finding, Theme
from analysis.report.findings.panel import (
    METRICS,
    is_uninformative,
    mean_of_readers,
    random_sentence,
)
from analysis.report.wording.numbers import listed, sentences
from analysis.report.wording.rows import LIKE_THESE, THESE, Row, number, reason, rows_of, under
from analysis.report.wording.verdicts import Verdict, verdict
from analysis.results import Results
from analysis.translation import capital, said, t, tn

MOST_PAIRS = 3


def condition_findings(results: Results) -> list[Finding]:
    """Say how the readers' accuracy, and their area under the curve, differ by condition."""
    return [
        Finding(theme=Theme.CONDITIONS, text=_conditions(results, metric, claims))
        for metric in METRICS
        for claims in _pairs(results, metric)[:MOST_PAIRS]
    ] + [
        Finding(theme=Theme.CONDITIONS, text=text)
        for metric in METRICS
        for text in _others(_pairs(results, metric)[MOST_PAIRS:], metric)
    ]


def _others(pairs: list[dict[str, Row]], metric: str) -> list[str]:
    """Count the pairs of conditions that have no sentence of their own."""
    if not pairs:
        return []
    rows = [claims[THESE] for claims in pairs if THESE in claims]
    verdicts = [verdict(number(row, "ci_low"), number(row, "ci_high")) for row in rows]
    counts = listed(
        [
            t("{verdict} in {n}", verdict=said(one.value), n=verdicts.count(one))
            for one in Verdict
            if one in verdicts
        ]
    )
    if metric == "accuracy":
        return [
            tn(
                "The other {n} pair of conditions: {counts}.",
                "The other {n} pairs of conditions: {counts}.",
                len(pairs),
                counts=counts,
            )
        ]
    return [
        tn(
            "The other {n} pair of conditions (area under the ROC curve): {counts}.",
            "The other {n} pairs of conditions (area under the ROC curve): {counts}.",
            len(pairs),
            counts=counts,
        )
    ]


def _pairs(results: Results, metric: str) -> list[dict[str, Row]]:
    pairs: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows_of(results, "reader_conditions", metric=metric):
        key = (str(row["condition_a"]), str(row["condition_b"]))
        pairs.setdefault(key, {})[str(row["claim"])] = row
    return list(pairs.values())


def _conditions(results: Results, metric: str, claims: dict[str, Row]) -> str:
    row = claims.get(THESE) or next(iter(claims.values()))
    text = t(
        "{opening}; {difference}.",
        opening=_opening(results, metric, row),
        difference=_difference(results, metric, row),
    )
    random = claims.get(LIKE_THESE)
    if random is None or random is row:
        return text
    return sentences([text, random_sentence(random, row, scale_of(results, metric))])


def _opening(results: Results, metric: str, row: Row) -> str:
    scale = scale_of(results, metric)
    first, second = (
        f"{scale.value(number(row, f'value_{one}'))}{under(results, str(row[f'condition_{one}']))}"
        for one in "ab"
    )
    who = mean_of_readers(row)
    told = {"readers": capital(who), "first": first, "second": second}
    if metric == "accuracy":
        return t("{readers}: {first}, {second}", **told)
    return t("{readers} (area under the ROC curve): {first}, {second}", **told)


def _difference(results: Results, metric: str, row: Row) -> str:
    scale = scale_of(results, metric)
    shown = verdict(number(row, "ci_low"), number(row, "ci_high"))
    if is_uninformative(row):
        return t("the interval is uninformative: it extends to the largest possible difference")
    if shown is Verdict.UNDEFINED:
        if row.get("undefined_because"):
            return t("no informative interval, because {reason}", reason=reason(row))
        return t("no informative interval")
    told = {
        "size": scale.size(number(row, "difference")),
        "difference": scale.signed(number(row, "difference")),
        "interval": scale.interval(row),
    }
    if shown is Verdict.NOT_SHOWN:
        return t("no difference shown ({difference}, {interval})", **told)
    if shown is Verdict.MORE:
        return t("{size} higher ({interval})", **told)
    return t("{size} lower ({interval})", **told)
