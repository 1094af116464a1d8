"""Agreement among readers, and whether models agree with them as they agree with each other."""

from __future__ import annotations

import math

import numpy as np

from analysis.agreement.pairing import PairKind
from analysis.report.claims import Verdict, verdict
from analysis.report.findings.differences import Scale, area
from analysis.report.findings.finding import MOST_CONDITIONS, Finding, Theme, named, under
from analysis.report.numbers import rounded
from analysis.report.rows import Row, conditions_in, number, reason, rows_of
from analysis.results import Results

PAIR_WORDS = {
    PairKind.READERS: "between readers",
    PairKind.MIXED: "between readers and models",
    PairKind.MODELS: "between models",
}
MEASURES = {
    "brennan_prediger": "agreement beyond guessing (Brennan-Prediger)",
    "error_consistency": "error consistency (agreement on right and wrong beyond what the"
    " accuracies alone make)",
}
DIRECTION = {
    Verdict.MORE: "models agree more with the readers than the readers with each other",
    Verdict.FEWER: "models agree less with the readers than the readers with each other",
}


def agreement_findings(results: Results) -> list[Finding]:
    """Say how far readers agree, and how models agree with them."""
    texts = []
    for condition in conditions_in(results, "agreement_pairs")[:MOST_CONDITIONS]:
        texts += [
            text for text in (_group(results, condition), _between(results, condition)) if text
        ] or _pairs(results, condition)
    return [Finding(theme=Theme.AGREEMENT, text=text) for text in texts]


def _group(results: Results, condition: str) -> str:
    rows = rows_of(
        results,
        "agreement_groups",
        raters="readers",
        condition=condition,
        scope="all",
        measure="brennan_prediger",
    )
    if not rows:
        return ""
    row = rows[0]
    who = f"Among {int(number(row, 'n_raters'))} readers{under(condition)},"
    if math.isnan(number(row, "estimate")):
        return f"{who} {MEASURES['brennan_prediger']} is undefined: {reason(row)}."
    interval = _interval(row, area(results))
    return f"{who} {MEASURES['brennan_prediger']} is {_coefficient(row, 'estimate')} [{interval}]."


def _between(results: Results, condition: str) -> str:
    sentences = []
    for measure, words in MEASURES.items():
        for row in rows_of(
            results, "agreement_between", condition=condition, scope="all", measure=measure
        ):
            if not math.isnan(number(row, "difference")):
                sentences.append(_one_between(row, words, area(results), condition))
    return " ".join(sentences)


def _one_between(row: Row, words: str, scale: Scale, condition: str) -> str:
    among, mixed = (_coefficient(row, c) for c in ("among_readers", "readers_models"))
    opening = f"{words[0].upper()}{words[1:]}{under(condition)} is {among} among readers and"
    opening += f" {mixed} between readers and models"
    said = verdict(number(row, "ci_low"), number(row, "ci_high"))
    difference = f"{scale.signed(number(row, 'difference'))}, {scale.interval(row)}"
    if said is Verdict.UNDEFINED:
        return (
            f"{opening} (difference {scale.signed(number(row, 'difference'))}, no informative"
            " interval)."
        )
    if said is Verdict.NOT_SHOWN:
        return f"{opening}: no difference shown ({difference})."
    return f"{opening}: {DIRECTION[said]} ({difference})."


def _pairs(results: Results, condition: str) -> list[str]:
    rows = rows_of(
        results,
        "agreement_pairs",
        condition=condition,
        scope="all",
        measure="brennan_prediger",
    )
    parts = []
    for kind in PairKind:
        part = [
            row
            for row in rows
            if row["pair_kind"] == kind and not math.isnan(number(row, "estimate"))
        ]
        if not part:
            continue
        ordered = sorted(part, key=lambda row: number(row, "estimate"))
        if len(part) == 1:
            parts.append(f"{PAIR_WORDS[kind]} {_pair(results, part[0])}")
            continue
        median = rounded(float(np.median([row["estimate"] for row in part])), 2)
        parts.append(
            f"{PAIR_WORDS[kind]} the median of {len(part):,} pairs is {median}, from"
            f" {_pair(results, ordered[0])} to {_pair(results, ordered[-1])}"
        )
    words = MEASURES["brennan_prediger"]
    opening = f"{words[0].upper()}{words[1:]}{under(condition)}"
    return [f"{opening}: {'; '.join(parts)}."] if parts else []


def _pair(results: Results, row: Row) -> str:
    a, b = (named(results, str(row[key])) for key in ("rater_a", "rater_b"))
    interval = _interval(row, area(results))
    return f"{_coefficient(row, 'estimate')} [{interval}] ({a} and {b}, n = {row['n']:,})"


def _coefficient(row: Row, column: str) -> str:
    return rounded(number(row, column), 2)


def _interval(row: Row, scale: Scale) -> str:
    # At full agreement the formulas give an interval without width, which would claim certainty.
    if verdict(number(row, "ci_low"), number(row, "ci_high")) is Verdict.UNDEFINED:
        return "no informative interval"
    return scale.limits(row)
