"""Findings on how readers use a model's answers."""

from __future__ import annotations

import math

from analysis.presentation.wording import (
    Row,
    cell_number,
    format_percent,
    format_range,
    join_sentences,
    rows_by,
)
from analysis.report.findings.finding import (
    Finding,
    Theme,
    confidence_percent,
    name_in_sentence,
    points_scale,
)
from analysis.results import Results
from analysis.statistics.reliance_report import AID_TIME_WORDS, ALL_READERS
from analysis.translation import t, translated

MAX_MODELS = 3


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
        join_sentences(
            [
                _use_sentence(results, model, when, rows[model, when, "all"]),
                _planted_sentence(results, rows.get((model, when, "yes"), {})),
            ]
        )
        for model, when in kinds[:MAX_MODELS]
    ]
    return [Finding(theme=Theme.RELIANCE, text=text) for text in texts]


def _use_sentence(results: Results, model: str, when: str, measures: dict[str, Row]) -> str:
    return t(
        "Answers of {model}, shown {when}, {pairs} pairs of readings: a correct answer of the model"
        " corrected {corrected} of wrong answers, a wrong one misled readers in {misled} of correct"
        " answers. Accuracy with minus without: {gain}; readers with the model minus the better of"
        " reader and model: {complementarity}.",
        model=name_in_sentence(results, model),
        when=translated(AID_TIME_WORDS.get(when, when)),
        pairs=_n(measures["agreed_before"]),
        corrected=_share_text(results, measures["corrected"]),
        misled=_share_text(results, measures["misled"]),
        gain=_difference_text(results, measures["gain"]),
        complementarity=_difference_text(results, measures["complementarity"]),
    )


def _planted_sentence(results: Results, measures: dict[str, Row]) -> str:
    if not measures or not cell_number(measures["misled"], "n"):
        return ""
    return t(
        "Planted errors misled readers in {misled} of correct answers.",
        misled=_share_text(results, measures["misled"]),
    )


def _n(row: Row) -> int:
    return int(cell_number(row, "n"))


def _share_text(results: Results, row: Row) -> str:
    """Write a proportion with its n and interval."""
    if math.isnan(cell_number(row, "estimate")):
        return t("none of 0 (undefined)")
    values = {"share": format_percent(cell_number(row, "estimate")), "n": _n(row)}
    low, high = cell_number(row, "ci_low"), cell_number(row, "ci_high")
    if math.isnan(low):
        return t("{share} % (of {n})", **values)
    return t(
        "{share} % (of {n}; {percent} % CI {limits})",
        **values,
        percent=confidence_percent(results),
        limits=format_range(format_percent(low), format_percent(high)),
    )


def _difference_text(results: Results, row: Row) -> str:
    scale = points_scale(results)
    if math.isnan(cell_number(row, "estimate")):
        return t("undefined")
    size = scale.signed(cell_number(row, "estimate"))
    if math.isnan(cell_number(row, "ci_low")):
        return size
    return t("{size} ({interval})", size=size, interval=scale.interval(row))
