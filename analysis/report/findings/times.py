"""Findings on response times."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from analysis.presentation.wording import (
    Row,
    case_count,
    cell_number,
    condition_phrase,
    conditions_in,
    decimals_for,
    format_number,
    format_range,
    join_clauses,
    join_words,
    rows_of,
)
from analysis.report.findings.finding import (
    MAX_CONDITIONS,
    Finding,
    Theme,
    confidence_percent,
    name_in_sentence,
)
from analysis.results import Results
from analysis.statistics.support import answers_of
from analysis.statistics.time_model import (
    complete_readings,
    modelled_readings,
    sides_of,
    term_words,
    terms_of,
)
from analysis.statistics.verdicts import Conclusion, conclusion, no_verdict_reason_of_fewest
from analysis.translation import t, tn

MAX_TERMS = 3
ALL_TERMS = ""
"""The key for all readings of the model instead of those of a term."""


def time_findings(results: Results) -> list[Finding]:
    """Report the readers' median times, and the factors associated with them."""
    texts = []
    for condition in conditions_in(results, "times")[:MAX_CONDITIONS]:
        texts += _median_sentences(results, condition)
    texts += _model_sentences(results)
    return [Finding(theme=Theme.TIME, text=text) for text in texts]


def _median_sentences(results: Results, condition: str) -> list[str]:
    rows = [
        row
        for row in rows_of(results, "times", condition=condition, by="overall")
        if not math.isnan(cell_number(row, "median_ms"))
    ]
    # The first overall row of each rater is over all readings.
    first = {str(row["rater_id"]): row for row in reversed(rows)}
    ordered = sorted(
        first.values(), key=lambda row: (cell_number(row, "median_ms"), row["rater_id"])
    )
    if not ordered:
        return []
    condition_words = condition_phrase(results, condition)
    fastest, slowest = _median_text(results, ordered[0]), _median_text(results, ordered[-1])
    if len(ordered) == 1:
        return [t("Median time per case{where}: {time}.", where=condition_words, time=fastest)]
    return [
        t(
            "Median time per case{where}: from {fastest} to {slowest}.",
            where=condition_words,
            fastest=fastest,
            slowest=slowest,
        )
    ]


def _median_text(results: Results, row: Row) -> str:
    median, low, high = (_seconds(cell_number(row, c)) for c in ("median_ms", "q1_ms", "q3_ms"))
    return t(
        "{median} s ({name}, {cases}; interquartile range {low} to {high} s)",
        median=median,
        cases=case_count(int(cell_number(row, "n"))),
        name=name_in_sentence(results, str(row["rater_id"])),
        low=low,
        high=high,
    )


def _seconds(milliseconds: float) -> str:
    return format_number(milliseconds / 1000, 1)


def _model_sentences(results: Results) -> list[str]:
    patients = _patients_by_term(results)
    rows = [
        row
        for row in rows_of(results, "time_model")
        if _term_conclusion(patients, row) is not Conclusion.UNDEFINED
        and str(row["term"]).lower() not in ("intercept", "(intercept)", "const")
        and not math.isnan(cell_number(row, "ratio"))
    ]
    if not rows:
        return []
    shown = [row for row in rows if _term_conclusion(patients, row) is not Conclusion.NOT_SHOWN]
    others = [row for row in rows if _term_conclusion(patients, row) is Conclusion.NOT_SHOWN]
    parts = [_term_phrase(results, patients, row) for row in shown[:MAX_TERMS]]
    left = len(shown) - len(parts)
    if left:
        parts.append(
            tn("{n} other difference in the table", "{n} other differences in the table", left)
        )
    if others:
        terms = join_words([_term_name(row) for row in others[:MAX_TERMS]])
        more = len(others) - len(others[:MAX_TERMS])
        parts.append(
            tn(
                "no difference shown for {terms} and {n} more term",
                "no difference shown for {terms} and {n} more terms",
                more,
                terms=terms,
            )
            if more
            else t("no difference shown for {terms}", terms=terms)
        )
    few = no_verdict_reason_of_fewest(
        results, [patients.get(str(row["term"]), patients[ALL_TERMS]) for row in rows]
    )
    if few:
        return [
            t(
                "Estimated factors of the reading time of these readers: {parts}.",
                parts=join_clauses([*parts, few]),
            )
        ]
    return [
        t(
            "Factors associated with the reading time of these readers: {parts}.",
            parts=join_clauses(parts),
        )
    ]


def _term_name(row: Row) -> str:
    return f"\u2068{term_words(str(row['term']))}\u2069"


def _patients_by_term(results: Results) -> dict[str, int]:
    """Return the number of patients that support each term of the model.

    For a contrast, this is the smaller number of its two sides; for other terms, it is the number
    of all patients with a reading.
    """
    answers = answers_of(results)
    readings = complete_readings(modelled_readings(answers.matrix, answers.study.circumstances))
    items = readings["item"].to_numpy(dtype=np.int64)
    terms = terms_of(readings) if len(readings) else []
    return {ALL_TERMS: answers.patients(items)} | {
        term.name: min(answers.patients(items[side]) for side in sides_of(terms, term))
        for term in terms
        if term.values is not None
    }


def _term_conclusion(patients: Mapping[str, int], row: Row) -> Conclusion:
    limits = cell_number(row, "ci_low"), cell_number(row, "ci_high")
    return conclusion(patients.get(str(row["term"]), patients[ALL_TERMS]), *limits, null_value=1.0)


def _term_phrase(results: Results, patients: Mapping[str, int], row: Row) -> str:
    low, high = cell_number(row, "ci_low"), cell_number(row, "ci_high")
    decimals = decimals_for([low, high], [1.0], 2)
    values = {
        "term": _term_name(row) + condition_phrase(results, str(row.get("condition") or "")),
        "factor": format_number(cell_number(row, "ratio"), 2),
        "percent": confidence_percent(results),
        "limits": format_range(format_number(low, decimals), format_number(high, decimals)),
    }
    shown = _term_conclusion(patients, row)
    if shown is Conclusion.TOO_FEW:
        return t("{term}: factor {factor}, {percent} % CI {limits}", **values)
    if shown is Conclusion.HIGHER:
        return t("{term}: slower (factor {factor}, {percent} % CI {limits})", **values)
    return t("{term}: faster (factor {factor}, {percent} % CI {limits})", **values)
