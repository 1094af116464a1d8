"""Findings on answers without options, their gap to multiple choice, and scorers' agreement."""

from __future__ import annotations

import math

from analysis.presentation.wording import (
    Row,
    case_count,
    cell_number,
    condition_phrase,
    format_number,
    format_percent,
    join_sentences,
    rows_of,
    undefined_reason,
)
from analysis.report.findings.finding import (
    Finding,
    Theme,
    area_scale,
    confidence_percent,
    name_in_sentence,
    points_scale,
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

MAX_RATERS = 12
_OPENINGS = {"answer": later("Asked without options."), "explanation": later("Explanations.")}


def open_ended_findings(results: Results) -> list[Finding]:
    """Report each rater's share of correct free-text answers and the gap to multiple choice."""
    shares = [_correct_text(results, *kind) for kind in _OPENINGS.items()]
    texts = [*shares, _gaps_text(results), *_scorer_texts(results)]
    return [Finding(theme=Theme.OPEN_ENDED, text=text) for text in texts if text]


def _correct_text(results: Results, kind: str, opening: str) -> str:
    filters = {"by": "overall", "kind": kind}
    strict = rows_of(results, "open_ended", measure=CORRECT, **filters)
    half = rows_of(results, "open_ended", measure=SCORE, **filters)
    texts = [
        t(
            "{name}{where}: {percent} % correct [{interval}], {half} % with partly correct as half;"
            " {cases}.",
            name=name_in_sentence(results, str(row["rater_id"])),
            where=condition_phrase(results, str(row["condition"])) if kind != "answer" else "",
            percent=format_percent(cell_number(row, "estimate")),
            interval=_limits_text(results, row),
            half=format_percent(cell_number(other, "estimate")),
            cases=_counts_phrase(row),
        )
        for row, other in zip(strict, half, strict=True)
        if not math.isnan(cell_number(row, "estimate"))
    ]
    unscored = sum(int(cell_number(row, "n_unscored")) for row in strict)
    parts = [translated(opening), *_limit_texts(texts, "tables/open_ended.csv")] if texts else []
    if unscored:
        parts.append(t("Without a score and excluded from all estimates: {n}.", n=unscored))
    return join_sentences(parts)


def _counts_phrase(row: Row) -> str:
    n, missing = int(cell_number(row, "n")), int(cell_number(row, "n_missing"))
    if not missing:
        return case_count(n)
    return t("{cases}, {n} of them not answered", cases=case_count(n), n=missing)


def _limit_texts(texts: list[str], file: str) -> list[str]:
    left = len(texts) - MAX_RATERS
    more = [t("{n} more in {file}.", n=left, file=file)] if left > 0 else []
    return texts[:MAX_RATERS] + more


def _gaps_text(results: Results) -> str:
    """Report each rater's gap between multiple choice and open-ended answers."""
    pairs = [
        (row, other)
        for row in rows_of(results, "open_gap", by="overall", scoring=STRICT)
        for other in rows_of(results, "open_gap", by="overall", scoring=HALF_CREDIT)
        if all(row[key] == other[key] for key in ("rater_id", "condition", "open_condition"))
        and not math.isnan(cell_number(row, "difference"))
    ]
    if not pairs:
        return ""
    texts = [
        t(
            "{name}{where}: {gap}; with partly correct as half, {half}; {cases}.",
            name=name_in_sentence(results, str(row["rater_id"])),
            where=condition_phrase(results, str(row["condition"])),
            gap=_gap_phrase(results, row),
            half=_gap_phrase(results, other),
            cases=case_count(int(cell_number(row, "n"))),
        )
        for row, other in pairs
    ]
    opening = t(
        "Multiple choice minus open-ended, on the cases asked both ways, in percentage points"
        " [{percent} % interval].",
        percent=confidence_percent(results),
    )
    return join_sentences([opening, *_limit_texts(texts, "tables/open_gap.csv")])


def _gap_phrase(results: Results, row: Row) -> str:
    conditions = [str(row[name]) for name in ("condition", "open_condition")]
    answered = patients_under_conditions(results, str(row["rater_id"]), conditions)
    n = min(max_patients_of_items(results, cell_number(row, "n")), answered)
    words = {
        Conclusion.HIGHER: t("accuracy with options is higher"),
        Conclusion.LOWER: t("accuracy with options is lower"),
        Conclusion.NOT_SHOWN: t("no difference shown"),
        Conclusion.TOO_FEW: no_verdict_reason(results, n),
        Conclusion.UNDEFINED: t("no informative interval"),
    }
    return t(
        "{difference} [{interval}] ({verdict})",
        difference=format_number(100 * cell_number(row, "difference")),
        interval=_limits_text(results, row),
        verdict=words[conclusion(n, cell_number(row, "ci_low"), cell_number(row, "ci_high"))],
    )


def _limits_text(results: Results, row: Row) -> str:
    low, high = cell_number(row, "ci_low"), cell_number(row, "ci_high")
    return points_scale(results).limits(row) if low < high else t("no interval")


def _scorer_texts(results: Results) -> list[str]:
    texts = []
    for kind in _OPENINGS:
        rows = {str(row["measure"]): row for row in rows_of(results, "open_scoring", kind=kind)}
        if RAW not in rows or not cell_number(rows[RAW], "n"):
            continue
        raw, kappa = rows[RAW], rows[KAPPA]
        values = {
            "same": int(cell_number(raw, "n_found")),
            "percent": format_percent(cell_number(raw, "estimate")),
        }
        n = int(cell_number(raw, "n"))
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
        texts.append(join_sentences([first, _kappa_sentence(results, kappa)]))
    return texts


def _kappa_sentence(results: Results, row: Row) -> str:
    if math.isnan(cell_number(row, "estimate")):
        return t("Weighted kappa is undefined: {reason}.", reason=undefined_reason(row))
    scale, known = area_scale(results), cell_number(row, "ci_low") < cell_number(row, "ci_high")
    return t(
        "Weighted kappa {value} ({interval}).",
        value=scale.value(cell_number(row, "estimate")),
        interval=scale.interval(row) if known else t("no interval"),
    )
