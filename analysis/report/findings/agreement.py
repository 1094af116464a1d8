"""Agreement among readers, and whether models agree with them as they agree with each other."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from analysis.figures.drawing.names import conditions_of
from analysis.report.findings.finding import MOST_CONDITIONS, Finding, Scale, Theme, area, named
from analysis.report.wording.numbers import decimals_that_subtract, rounded
from analysis.report.wording.rows import Row, conditions_in, number, reason, rows_of, under
from analysis.report.wording.verdicts import Verdict, verdict
from analysis.results import Results
from analysis.statistics.agreement.pairs.pairing import PairKind

PAIR_WORDS = {
    PairKind.READERS: "between readers",
    PairKind.MIXED: "between readers and models",
    PairKind.MODELS: "between models",
}
MEASURES = {
    "brennan_prediger": "agreement beyond guessing (Brennan-Prediger)",
}
# Error consistency first: accuracies alone move the other.
BETWEEN = {
    "error_consistency": "Error consistency (agreement on which cases are answered correctly,"
    " beyond what the accuracies alone would produce)",
    "brennan_prediger": "Brennan-Prediger",
}
GROUPS = ("readers", "models")
DIRECTION = {
    Verdict.MORE: "models agree with these readers more than these readers do with each other",
    Verdict.FEWER: "models agree with these readers less than these readers do with each other",
}


def agreement_findings(results: Results) -> list[Finding]:
    """Say how far readers agree, how far models do, and how models agree with readers."""
    pairs = set(conditions_in(results, "agreement_pairs"))
    shown = [one for one in conditions_of(results.tables["accuracy"]) if one in pairs]
    texts = []
    for condition in shown[:MOST_CONDITIONS]:
        found = (_groups(results, condition), _between(results, condition))
        texts += [text for text in found if text] or _pairs(results, condition)
    return [Finding(theme=Theme.AGREEMENT, text=text) for text in texts]


def _groups(results: Results, condition: str) -> str:
    rows = rows_of(
        results, "agreement_groups", scope="all", measure="brennan_prediger", condition=condition
    )
    groups = {str(row["raters"]): row for row in rows}
    if "readers" in groups and "models" not in groups:
        # Models that have a condition of their own stand beside these readers.
        groups["models"] = _only_models(results)
    parts = [
        _group(results, groups[kind], kind) for kind in GROUPS if _are_several(groups.get(kind))
    ]
    words = MEASURES["brennan_prediger"]
    opening = f"{words[0].upper()}{words[1:]}{under(results, condition)}"
    return f"{opening} is {' and '.join(parts)}." if parts else ""


def _are_several(row: Row | None) -> bool:
    return row is not None and number(row, "n_raters") > 1


def _only_models(results: Results) -> Row:
    rows = rows_of(
        results, "agreement_groups", scope="all", measure="brennan_prediger", raters="models"
    )
    return rows[0] if len(rows) == 1 else {}


def _group(results: Results, row: Row, kind: str) -> str:
    who = f"among the {int(number(row, 'n_raters')):,} {kind}"
    if math.isnan(number(row, "estimate")):
        return f"undefined {who} ({reason(row)})"
    return f"{_coefficient(row, 'estimate')} [{_interval(row, area(results))}] {who}"


def _between(results: Results, condition: str) -> str:
    return " ".join(
        _one_between(results, row, words, condition)
        for measure, words in BETWEEN.items()
        for row in rows_of(
            results, "agreement_between", condition=condition, scope="all", measure=measure
        )
        if not math.isnan(number(row, "difference"))
    )


def _one_between(results: Results, row: Row, words: str, condition: str) -> str:
    both = number(row, "among_readers"), number(row, "readers_models")
    decimals = decimals_that_subtract(*both)
    scale = replace(area(results), decimals=decimals)
    among, mixed = (rounded(value, decimals) for value in both)
    opening = f"{words}{under(results, condition)}, mean over pairs: {among} among readers,"
    opening += f" {mixed} between readers and models"
    said = verdict(number(row, "ci_low"), number(row, "ci_high"))
    size = scale.signed(number(row, "difference"))
    if said is Verdict.UNDEFINED:
        return f"{opening} (difference {size}, no informative interval)."
    if said is Verdict.NOT_SHOWN:
        return f"{opening}; no difference shown ({size}, {scale.interval(row)})."
    return f"{opening}; {DIRECTION[said]} ({size}, {scale.interval(row)})."


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
    opening = f"{words[0].upper()}{words[1:]}{under(results, condition)}"
    return [f"{opening}: {'; '.join(parts)}."] if parts else []


def _pair(results: Results, row: Row) -> str:
    a, b = (named(results, str(row[key])) for key in ("rater_a", "rater_b"))
    interval = _interval(row, area(results))
    return f"{_coefficient(row, 'estimate')} [{interval}] ({a} and {b}, n = {row['n']:,})"


def _coefficient(row: Row, column: str) -> str:
    return rounded(number(row, column), 2)


def _interval(row: Row, scale: Scale) -> str:
    # At full agreement the formulas give an interval without width, which would claim certainty.
    low, high = number(row, "ci_low"), number(row, "ci_high")
    if verdict(low, high) is Verdict.UNDEFINED or low <= -1:
        return "no informative interval"
    return scale.limits(row)
