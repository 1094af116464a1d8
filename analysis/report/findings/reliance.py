"""Findings on how readers use a model's answers."""

from __future__ import annotations

import math

from analysis.presentation.wording import Row, number, percent, rows_by, sentences, span
from analysis.report.findings.finding import (
    Finding,
    Theme,
    confidence_percent,
    named,
    points,
)
from analysis.results import Results
from analysis.statistics.reliance_report import AID_TIME_WORDS, ALL_READERS
from analysis.translation import t, translated

MOST = 3


def reliance_findings(results: Results) -> list[Finding]:
    """Report the readers' use of each model's answers, and of its planted errors."""
    rows = rows_by(
        results,
        "reliance",
        ("aid_model", "aid", "planted"),
        of="measure",
        rater_id=ALL_READERS,
        by="overall",
    )
    kinds = list(dict.fromkeys(key[:2] for key in rows))
    texts = [
        sentences(
            [
                _use(results, model, when, rows[model, when, "all"]),
                _planted(results, rows.get((model, when, "yes"), {})),
            ]
        )
        for model, when in kinds[:MOST]
    ]
    return [Finding(theme=Theme.RELIANCE, text=text) for text in texts]


def _use(results: Results, model: str, when: str, measures: dict[str, Row]) -> str:
    return t(
        "Answers of {model}, shown {when}, {pairs} pairs of readings: a correct answer of the model"
        " corrected {corrected} of wrong answers, a wrong one misled readers in {misled} of correct"
        " answers. Accuracy with minus without: {gain}; readers with the model minus the better of"
        " reader and model: {complementarity}.",
        model=named(results, model),
        when=translated(AID_TIME_WORDS.get(when, when)),
        pairs=_n(measures["agreed_before"]),
        corrected=_share(results, measures["corrected"]),
        misled=_share(results, measures["misled"]),
        gain=_difference(results, measures["gain"]),
        complementarity=_difference(results, measures["complementarity"]),
    )


def _planted(results: Results, measures: dict[str, Row]) -> str:
    if not measures or not number(measures["misled"], "n"):
        return ""
    return t(
        "Planted errors misled readers in {misled} of correct answers.",
        misled=_share(results, measures["misled"]),
    )


def _n(row: Row) -> int:
    return int(number(row, "n"))


def _share(results: Results, row: Row) -> str:
    """Write a proportion with its n and interval."""
    if math.isnan(number(row, "estimate")):
        return t("none of 0 (undefined)")
    values = {"share": percent(number(row, "estimate")), "n": _n(row)}
    low, high = number(row, "ci_low"), number(row, "ci_high")
    if math.isnan(low):
        return t("{share} % (of {n})", **values)
    return t(
        "{share} % (of {n}; {percent} % CI {limits})",
        **values,
        percent=confidence_percent(results),
        limits=span(percent(low), percent(high)),
    )


def _difference(results: Results, row: Row) -> str:
    scale = points(results)
    if math.isnan(number(row, "estimate")):
        return t("undefined")
    size = scale.signed(number(row, "estimate"))
    if math.isnan(number(row, "ci_low")):
        return size
    return t("{size} ({interval})", size=size, interval=scale.interval(row))
