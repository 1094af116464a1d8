"""Findings on answers without options, their gap to multiple choice, and scorers' agreement."""

from __future__ import annotations

import math

from analysis.presentation.wording import (
    Row,
    cases,
    condition_phrase,
    number,
    percent,
    reason,
    rounded,
    rows_of,
    sentences,
)
from analysis.report.findings.finding import (
    Finding,
    Theme,
    area,
    confidence_percent,
    named,
    points,
)
from analysis.results import Results
from analysis.statistics.accuracy.open_ended import CORRECT, HALF_CREDIT, SCORE, STRICT
from analysis.statistics.agreement.judges import KAPPA, RAW
from analysis.statistics.support import patients_under_conditions
from analysis.statistics.verdicts import (
    Conclusion,
    conclusion,
    max_patients_of_items,
    no_verdict_reason,
)
from analysis.translation import later, t, tn, translated

MOST_RATERS = 12
_OPENINGS = {"answer": later("Asked without options."), "explanation": later("Explanations.")}


def open_ended_findings(results: Results) -> list[Finding]:
    """Report each rater's share of correct free-text answers and the gap to multiple choice."""
    shares = [_correct(results, *kind) for kind in _OPENINGS.items()]
    texts = [*shares, _gaps(results), *_scorers(results)]
    return [Finding(theme=Theme.OPEN_ENDED, text=text) for text in texts if text]


def _correct(results: Results, kind: str, opening: str) -> str:
    filters = {"by": "overall", "kind": kind}
    strict = rows_of(results, "open_ended", measure=CORRECT, **filters)
    half = rows_of(results, "open_ended", measure=SCORE, **filters)
    texts = [
        t(
            "{name}{where}: {percent} % correct [{interval}], {half} % with partly correct as half;"
            " {cases}.",
            name=named(results, str(row["rater_id"])),
            where=condition_phrase(results, str(row["condition"])) if kind != "answer" else "",
            percent=percent(number(row, "estimate")),
            interval=_limits(results, row),
            half=percent(number(other, "estimate")),
            cases=_counts(row),
        )
        for row, other in zip(strict, half, strict=True)
        if not math.isnan(number(row, "estimate"))
    ]
    unscored = sum(int(number(row, "n_unscored")) for row in strict)
    parts = [translated(opening), *_cut(texts, "tables/open_ended.csv")] if texts else []
    if unscored:
        parts.append(t("Without a score and excluded from all estimates: {n}.", n=unscored))
    return sentences(parts)


def _counts(row: Row) -> str:
    n, missing = int(number(row, "n")), int(number(row, "n_missing"))
    if not missing:
        return cases(n)
    return t("{cases}, {n} of them not answered", cases=cases(n), n=missing)


def _cut(texts: list[str], file: str) -> list[str]:
    left = len(texts) - MOST_RATERS
    more = [t("{n} more in {file}.", n=left, file=file)] if left > 0 else []
    return texts[:MOST_RATERS] + more


def _gaps(results: Results) -> str:
    """Report each rater's gap between multiple choice and open-ended answers."""
    pairs = [
        (row, other)
        for row in rows_of(results, "open_gap", by="overall", scoring=STRICT)
        for other in rows_of(results, "open_gap", by="overall", scoring=HALF_CREDIT)
        if all(row[key] == other[key] for key in ("rater_id", "condition", "open_condition"))
        and not math.isnan(number(row, "difference"))
    ]
    if not pairs:
        return ""
    texts = [
        t(
            "{name}{where}: {gap}; with partly correct as half, {half}; {cases}.",
            name=named(results, str(row["rater_id"])),
            where=condition_phrase(results, str(row["condition"])),
            gap=_gap(results, row),
            half=_gap(results, other),
            cases=cases(int(number(row, "n"))),
        )
        for row, other in pairs
    ]
    opening = t(
        "Multiple choice minus open-ended, on the cases asked both ways, in percentage points"
        " [{percent} % interval].",
        percent=confidence_percent(results),
    )
    return sentences([opening, *_cut(texts, "tables/open_gap.csv")])


def _gap(results: Results, row: Row) -> str:
    conditions = [str(row[name]) for name in ("condition", "open_condition")]
    answered = patients_under_conditions(results, str(row["rater_id"]), conditions)
    n = min(max_patients_of_items(results, number(row, "n")), answered)
    words = {
        Conclusion.HIGHER: t("accuracy with options is higher"),
        Conclusion.LOWER: t("accuracy with options is lower"),
        Conclusion.NOT_SHOWN: t("no difference shown"),
        Conclusion.TOO_FEW: no_verdict_reason(results, n),
        Conclusion.UNDEFINED: t("no informative interval"),
    }
    return t(
        "{difference} [{interval}] ({verdict})",
        difference=rounded(100 * number(row, "difference")),
        interval=_limits(results, row),
        verdict=words[conclusion(n, number(row, "ci_low"), number(row, "ci_high"))],
    )


def _limits(results: Results, row: Row) -> str:
    low, high = number(row, "ci_low"), number(row, "ci_high")
    return points(results).limits(row) if low < high else t("no interval")


def _scorers(results: Results) -> list[str]:
    texts = []
    for kind in _OPENINGS:
        rows = {str(row["measure"]): row for row in rows_of(results, "open_scoring", kind=kind)}
        if RAW not in rows or not number(rows[RAW], "n"):
            continue
        raw, kappa = rows[RAW], rows[KAPPA]
        values = {"same": int(number(raw, "n_found")), "percent": percent(number(raw, "estimate"))}
        n = int(number(raw, "n"))
        first = (
            tn(
                "Two blind scorers gave {n} answer the same score in {same} ({percent} %).",
                "Two blind scorers gave {n} answers the same score in {same} ({percent} %).",
                n,
                **values,
            )
            if kind == "answer"
            else tn(
                "Two blind scorers gave {n} explanation the same score in {same} ({percent} %).",
                "Two blind scorers gave {n} explanations the same score in {same} ({percent} %).",
                n,
                **values,
            )
        )
        texts.append(sentences([first, _kappa(results, kappa)]))
    return texts


def _kappa(results: Results, row: Row) -> str:
    if math.isnan(number(row, "estimate")):
        return t("Weighted kappa is undefined: {reason}.", reason=reason(row))
    scale, known = area(results), number(row, "ci_low") < number(row, "ci_high")
    return t(
        "Weighted kappa {value} ({interval}).",
        value=scale.value(number(row, "estimate")),
        interval=scale.interval(row) if known else t("no interval"),
    )
