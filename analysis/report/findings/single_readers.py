"""Models against single readers: the tests of `comparisons`, adjusted for their number."""

from __future__ import annotations

import math

from analysis.report.findings.differences import Scale, points
from analysis.report.findings.finding import MOST_CONDITIONS, Finding, Theme, named
from analysis.report.wording.claims import Verdict, verdict
from analysis.report.wording.conditions import under
from analysis.report.wording.numbers import count
from analysis.report.wording.rows import Row, conditions_in, number, rows_of
from analysis.results import Results
from analysis.statistics.agreement.pairs.pairing import PairKind

ENOUGH = 0.8


def single_reader_findings(results: Results) -> list[Finding]:
    """Count the pairs of reader and model by what they show; name the two that were best."""
    found = []
    for condition in conditions_in(results, "comparisons")[:MOST_CONDITIONS]:
        rows = [
            row
            for row in rows_of(
                results, "comparisons", condition=condition, pair_kind=PairKind.MIXED.value
            )
            if not math.isnan(number(row, "difference"))
        ]
        if rows:
            found.append(Finding(theme=Theme.AGAINST, text=_condition(results, rows, condition)))
    return found


def _condition(results: Results, rows: list[Row], condition: str) -> str:
    alpha = results.options.alpha
    verdicts = [shown(row, alpha) for row in rows]
    words = {
        Verdict.MORE: "the model more accurate in {}",
        Verdict.FEWER: "the model less accurate in {}",
        Verdict.NOT_SHOWN: "no difference shown in {}",
    }
    counts = [words[one].format(f"{verdicts.count(one):,}") for one in words if verdicts.count(one)]
    opening = f"Against single readers{under(results, condition)}, adjusted for"
    opening += f" {count(len(rows), 'comparison')} (Holm): {', '.join(counts)}."
    # Accuracies over a few of the items are no match for those over all.
    most = max(number(row, "n") for row in rows)
    best = max(
        (row for row in rows if number(row, "n") >= ENOUGH * most),
        key=lambda row: (number(row, "accuracy_a"), number(row, "accuracy_b")),
    )
    return f"{opening} {_best(results, best, points(results), picked=len(rows) > 1)}"


def shown(row: Row, alpha: float) -> Verdict:
    """Tell what a pair shows of the model against the reader.

    Both are asked for: an interval that leaves 0 out (over patients, where there is one) and an
    adjusted p below alpha.
    """
    low, high = limits(row)
    said = verdict(-high, -low)
    p = number(row, "p_adjusted")
    return said if said in (Verdict.MORE, Verdict.FEWER) and p < alpha else Verdict.NOT_SHOWN


def limits(row: Row) -> tuple[float, float]:
    """Return the limits over patients where there are some, else those of the score interval."""
    cluster = number(row, "cluster_ci_low"), number(row, "cluster_ci_high")
    if not any(map(math.isnan, cluster)):
        return cluster
    return number(row, "ci_low"), number(row, "ci_high")


def _best(results: Results, row: Row, scale: Scale, *, picked: bool) -> str:
    low, high = limits(row)
    turned = {**row, "ci_low": -high, "ci_high": -low}
    difference = -number(row, "difference")
    model, reader = (named(results, str(row[c])) for c in ("rater_b", "rater_a"))
    opening = f"{'The two with the most right answers: ' if picked else ''}{model}"
    opening += f" ({scale.value(number(row, 'accuracy_b'))}) against {reader}"
    opening += f" ({scale.value(number(row, 'accuracy_a'))})"
    said = shown(row, results.options.alpha)
    if verdict(low, high) is Verdict.UNDEFINED:
        return f"{opening}: {scale.signed(difference)}, no informative interval."
    if said is Verdict.NOT_SHOWN and verdict(-high, -low) is not said:
        return (
            f"{opening}: no difference shown after adjustment ({scale.signed(difference)},"
            f" unadjusted {scale.interval(turned)})."
        )
    if said is Verdict.NOT_SHOWN:
        return (
            f"{opening}: no difference shown ({scale.signed(difference)},"
            f" {scale.interval(turned)})."
        )
    note = ", not adjusted for picking these two" if picked else ""
    return f"{opening}: {scale.size(difference)} {said.value} ({scale.interval(turned)}{note})."
