"""How right answers without options are, against multiple choice, and how far scorers agree."""

from __future__ import annotations

import math

from analysis.report.findings.finding import Finding, Theme, area, named, points
from analysis.report.wording.numbers import count, percent, rounded
from analysis.report.wording.rows import Row, number, reason, rows_of, under
from analysis.report.wording.verdicts import Verdict, verdict
from analysis.results import Results
from analysis.statistics.accuracy.open_ended import CORRECT, HALF, SCORE, STRICT
from analysis.statistics.agreement.scoring import KAPPA, RAW

MOST_RATERS = 12
_OPENINGS = {"answer": "Asked without options.", "explanation": "Explanations."}


def open_ended_findings(results: Results) -> list[Finding]:
    """Say of every rater how many answers in words are correct, and the gap to multiple choice."""
    shares = [_correct(results, *one) for one in _OPENINGS.items()]
    texts = [*shares, *_gaps(results), *_scorers(results)]
    return [Finding(theme=Theme.OPEN_ENDED, text=text) for text in texts if text]


def _correct(results: Results, kind: str, opening: str) -> str:
    asked = {"by": "overall", "kind": kind}
    strict = rows_of(results, "open_ended", measure=CORRECT, **asked)
    half = rows_of(results, "open_ended", measure=SCORE, **asked)
    told = [
        f"{named(results, str(row['rater_id']))}{_where(results, row)}:"
        f" {percent(number(row, 'estimate'))} % correct [{_limits(results, row)}],"
        f" {percent(number(other, 'estimate'))} % with partly correct as half; {_counts(row)}"
        for row, other in zip(strict, half, strict=True)
        if not math.isnan(number(row, "estimate"))
    ]
    unscored = sum(int(number(row, "n_unscored")) for row in strict)
    text = ""
    if told:
        left = f"; {len(told) - MOST_RATERS} more in tables/open_ended.csv"
        more = left if len(told) > MOST_RATERS else ""
        text = f"{opening} {'. '.join(told[:MOST_RATERS])}{more}."
    if unscored:
        text += f" Without a score and in no estimate: {count(unscored, kind)}."
    return text.strip()


def _where(results: Results, row: Row) -> str:
    return under(results, str(row["condition"])) if str(row["kind"]) != "answer" else ""


def _counts(row: Row) -> str:
    n, missing = int(number(row, "n")), int(number(row, "n_missing"))
    return count(n, "case") + (f", {missing:,} of them not answered" if missing else "")


def _gaps(results: Results) -> list[str]:
    """Say of every rater what multiple choice adds; of a condition only where there are several."""
    found = [
        (row, other)
        for row in rows_of(results, "open_gap", by="overall", scoring=STRICT)
        for other in rows_of(results, "open_gap", by="overall", scoring=HALF)
        if all(row[key] == other[key] for key in ("rater_id", "condition", "open_condition"))
        and not math.isnan(number(row, "difference"))
    ]
    if not found:
        return []
    told = [
        f"{named(results, str(row['rater_id']))}{under(results, str(row['condition']))},"
        f" {_gap(results, row)}; with partly correct as half, {_gap(results, other)};"
        f" {count(int(number(row, 'n')), 'case')}"
        for row, other in found[:MOST_RATERS]
    ]
    left = len(found) - len(told)
    more = f"; {left} more in tables/open_gap.csv" if left else ""
    return [
        "Multiple choice minus open-ended, on the cases asked both ways, in percentage points"
        f" [{results.options.confidence_percent} % interval]. {'. '.join(told)}{more}."
    ]


def _gap(results: Results, row: Row) -> str:
    said = {
        Verdict.MORE: "accuracy with options is higher",
        Verdict.FEWER: "accuracy with options is lower",
        Verdict.NOT_SHOWN: "no difference shown",
        Verdict.UNDEFINED: "no informative interval",
    }[verdict(number(row, "ci_low"), number(row, "ci_high"))]
    return f"{rounded(100 * number(row, 'difference'))} [{_limits(results, row)}] ({said})"


def _limits(results: Results, row: Row) -> str:
    low, high = number(row, "ci_low"), number(row, "ci_high")
    return points(results).limits(row) if low < high else "no interval"


def _scorers(results: Results) -> list[str]:
    texts = []
    for kind in ("answer", "explanation"):
        rows = {str(row["measure"]): row for row in rows_of(results, "open_scoring", kind=kind)}
        if RAW not in rows or not number(rows[RAW], "n"):
            continue
        raw, kappa = rows[RAW], rows[KAPPA]
        text = (
            f"Two blind scorers gave {count(int(number(raw, 'n')), kind)} the same score in"
            f" {int(number(raw, 'n_found')):,} ({percent(number(raw, 'estimate'))} %); "
        )
        if math.isnan(number(kappa, "estimate")):
            texts.append(f"{text}weighted kappa is undefined: {reason(kappa)}.")
            continue
        scale = area(results)
        interval = "no interval"
        if number(kappa, "ci_low") < number(kappa, "ci_high"):
            interval = scale.interval(kappa)
        texts.append(f"{text}weighted kappa {scale.value(number(kappa, 'estimate'))} ({interval}).")
    return texts
