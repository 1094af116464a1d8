"""The readers under one condition against another."""

from __future__ import annotations

from analysis.report.findings.endpoint import scale_of
from analysis.report.findings.finding import Finding, Theme
from analysis.report.findings.panel import (
    LIKE_THESE,
    METRICS,
    THESE,
    is_uninformative,
    mean_of_readers,
    random_sentence,
)
from analysis.report.wording.numbers import count, listed
from analysis.report.wording.rows import Row, number, reason, rows_of, under
from analysis.report.wording.verdicts import Verdict, verdict
from analysis.results import Results

MOST_PAIRS = 3
WHAT = {"accuracy": "", "auc": " (area under the ROC curve)"}


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
        [f"{one.value} in {verdicts.count(one):,}" for one in Verdict if one in verdicts]
    )
    return [f"The other {count(len(pairs), 'pair')} of conditions{WHAT[metric]}: {counts}."]


def _pairs(results: Results, metric: str) -> list[dict[str, Row]]:
    pairs: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows_of(results, "reader_conditions", metric=metric):
        key = (str(row["condition_a"]), str(row["condition_b"]))
        pairs.setdefault(key, {})[str(row["claim"])] = row
    return list(pairs.values())


def _conditions(results: Results, metric: str, claims: dict[str, Row]) -> str:
    row = claims.get(THESE) or next(iter(claims.values()))
    text = f"{_opening(results, metric, row)}{_said(results, metric, row)}."
    random = claims.get(LIKE_THESE)
    if random is None or random is row:
        return text
    return f"{text} {random_sentence(random, row, scale_of(results, metric))}"


def _opening(results: Results, metric: str, row: Row) -> str:
    scale = scale_of(results, metric)
    first, second = (
        f"{scale.value(number(row, f'value_{one}'))}{under(results, str(row[f'condition_{one}']))}"
        for one in "ab"
    )
    who = mean_of_readers(row)
    return f"{who[0].upper()}{who[1:]}{WHAT[metric]}: {first}, {second}; "


def _said(results: Results, metric: str, row: Row) -> str:
    scale = scale_of(results, metric)
    said = verdict(number(row, "ci_low"), number(row, "ci_high"))
    if is_uninformative(row):
        return "the interval is uninformative: it extends to the largest possible difference"
    if said is Verdict.UNDEFINED:
        why = f", because {reason(row)}" if row.get("undefined_because") else ""
        return f"no informative interval{why}"
    interval = scale.interval(row)
    if said is Verdict.NOT_SHOWN:
        return f"no difference shown ({scale.signed(number(row, 'difference'))}, {interval})"
    return f"{scale.size(number(row, 'difference'))} {said.value} ({interval})"
