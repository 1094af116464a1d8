"""How long readers took."""

from __future__ import annotations

import math

from analysis.figures.drawing.axes import shorten
from analysis.report.findings.finding import (
    MOST_CONDITIONS,
    Finding,
    Theme,
    confidence_percent,
    named,
)
from analysis.report.wording import (
    Conclusion,
    Row,
    clauses,
    conditions_in,
    decimals_for,
    listed,
    number,
    rounded,
    rows_of,
    span,
    under,
    verdict,
)
from analysis.results import Results
from analysis.translation import pieces, t, tn

MOST_TERMS = 3
LONGEST = 70


def time_findings(results: Results) -> list[Finding]:
    """Say the readers' median times, and what made them slower or faster."""
    texts = []
    for condition in conditions_in(results, "times")[:MOST_CONDITIONS]:
        texts += _medians(results, condition)
    texts += _model(results)
    return [Finding(theme=Theme.TIME, text=text) for text in texts]


def _medians(results: Results, condition: str) -> list[str]:
    rows = [
        row
        for row in rows_of(results, "times", condition=condition, by="overall")
        if not math.isnan(number(row, "median_ms"))
    ]
    # One line a rater: where micro and macro stand side by side the first is over all readings.
    first = {str(row["rater_id"]): row for row in reversed(rows)}
    ordered = sorted(first.values(), key=lambda row: (number(row, "median_ms"), row["rater_id"]))
    if not ordered:
        return []
    where = under(results, condition)
    fastest, slowest = _one(results, ordered[0]), _one(results, ordered[-1])
    if len(ordered) == 1:
        return [t("Median time per case{where}: {time}.", where=where, time=fastest)]
    return [
        t(
            "Median time per case{where}: from {fastest} to {slowest}.",
            where=where,
            fastest=fastest,
            slowest=slowest,
        )
    ]


def _one(results: Results, row: Row) -> str:
    median, low, high = (_seconds(number(row, c)) for c in ("median_ms", "q1_ms", "q3_ms"))
    return t(
        "{median} s ({name}; interquartile range {low} to {high} s)",
        median=median,
        name=named(results, str(row["rater_id"])),
        low=low,
        high=high,
    )


def _seconds(milliseconds: float) -> str:
    return rounded(milliseconds / 1000, 1)


def _model(results: Results) -> list[str]:
    rows = [
        row
        for row in rows_of(results, "time_model")
        if _verdict(row) is not Conclusion.UNDEFINED
        and str(row["term"]).lower() not in ("intercept", "(intercept)", "const")
        and not math.isnan(number(row, "ratio"))
    ]
    if not rows:
        return []
    shown = [row for row in rows if _verdict(row) is not Conclusion.NOT_SHOWN]
    others = [row for row in rows if _verdict(row) is Conclusion.NOT_SHOWN]
    parts = [_term(results, row) for row in shown[:MOST_TERMS]]
    left = len(shown) - len(parts)
    if left:
        parts.append(
            tn("{n} other difference in the table", "{n} other differences in the table", left)
        )
    if others:
        terms = listed([_name(row) for row in others[:MOST_TERMS]])
        more = len(others) - len(others[:MOST_TERMS])
        parts.append(
            tn(
                "no difference shown for {terms}, nor {n} more term",
                "no difference shown for {terms}, nor {n} more terms",
                more,
                terms=terms,
            )
            if more
            else t("no difference shown for {terms}", terms=terms)
        )
    return [t("Factors associated with reading time: {parts}.", parts=clauses(parts))]


def _name(row: Row) -> str:
    return f"\u2068{shorten(pieces(str(row['term'])), LONGEST)}\u2069"


def _verdict(row: Row) -> Conclusion:
    return verdict(number(row, "ci_low"), number(row, "ci_high"), at=1.0)


def _term(results: Results, row: Row) -> str:
    low, high = number(row, "ci_low"), number(row, "ci_high")
    decimals = decimals_for([low, high], [1.0], 2)
    told = {
        "term": _name(row) + under(results, str(row.get("condition") or "")),
        "factor": rounded(number(row, "ratio"), 2),
        "percent": confidence_percent(results),
        "limits": span(rounded(low, decimals), rounded(high, decimals)),
    }
    if _verdict(row) is Conclusion.MORE:
        return t("{term}: slower (factor {factor}, {percent} % CI {limits})", **told)
    return t("{term}: faster (factor {factor}, {percent} % CI {limits})", **told)
