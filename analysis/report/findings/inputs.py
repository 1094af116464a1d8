"""Findings on models' accuracy under conditions that no reader had, such as without the image."""

from __future__ import annotations

import math
from itertools import groupby

from analysis.figures.drawing.axes import condition_name
from analysis.presentation.wording import (
    Row,
    case_count,
    cell_number,
    format_percent,
    format_range,
    join_clauses,
    rows_of,
)
from analysis.report.findings.accuracy import interval_limits
from analysis.report.findings.finding import (
    Finding,
    Theme,
    confidence_percent,
    name_in_sentence,
    points_scale,
)
from analysis.results import Results
from analysis.statistics.support import patients_under_conditions
from analysis.statistics.verdicts import (
    Conclusion,
    conclusion,
    max_patients_of_items,
    no_verdict_reason,
)
from analysis.translation import t

MAX_MODELS = 4


def input_findings(results: Results) -> list[Finding]:
    """Compare each model's answers under another condition with those on the readers' cases."""
    rows = [
        row
        for row in rows_of(results, "model_conditions", by="overall", group="micro")
        if not math.isnan(cell_number(row, "difference"))
    ]
    rows.sort(key=lambda row: (str(row["condition_b"]), str(row["model_id"])))
    return [
        Finding(theme=Theme.INPUT, text=_condition_sentence(results, condition, list(part)))
        for condition, part in groupby(rows, key=lambda row: str(row["condition_b"]))
    ]


def _condition_sentence(results: Results, condition: str, rows: list[Row]) -> str:
    parts = [_model_phrase(results, row) for row in rows[:MAX_MODELS]]
    if len(rows) > MAX_MODELS:
        left = len(rows) - MAX_MODELS
        parts.append(t("{n} more in {file}", n=left, file="tables/model_conditions.csv"))
    return t(
        "Under {condition}, compared with the same cases as the readers saw them: {models}.",
        condition=f"\u2068{condition_name(condition)}\u2069",
        models=join_clauses(parts),
    )


def _model_phrase(results: Results, row: Row) -> str:
    """Report the difference in accuracy, and the share of equal answers under both conditions."""
    scale = points_scale(results)
    low, high = interval_limits(row)
    conditions = [str(row[side]) for side in ("condition_a", "condition_b")]
    answered = patients_under_conditions(results, str(row["model_id"]), conditions)
    n = min(max_patients_of_items(results, cell_number(row, "n")), answered)
    shown = conclusion(n, low, high)
    # In the table, the other condition is subtracted from the cases as the readers saw them.
    reversed_limits = {"ci_low": -high, "ci_high": -low}
    values = {
        "name": name_in_sentence(results, str(row["model_id"])),
        "value": scale.value(cell_number(row, "accuracy_b")),
        "other": scale.value(cell_number(row, "accuracy_a")),
        "cases": case_count(int(cell_number(row, "n"))),
        "size": scale.size(cell_number(row, "difference")),
        "difference": scale.signed(-cell_number(row, "difference")),
        "same": _same_answers_phrase(results, row),
    }
    if shown is Conclusion.UNDEFINED:
        return t(
            "{name} {value} against {other} ({cases}; no informative interval{same})", **values
        )
    values["interval"] = scale.interval(reversed_limits)
    if shown is Conclusion.TOO_FEW:
        reason = no_verdict_reason(results, n)
        return t(
            "{name} {value} against {other} ({cases}; {difference}, {interval}; {why}{same})",
            **values,
            why=reason,
        )
    if shown is Conclusion.NOT_SHOWN:
        return t(
            "{name} {value} against {other}, no difference shown ({cases}; {difference},"
            " {interval}{same})",
            **values,
        )
    if shown is Conclusion.HIGHER:
        return t(
            "{name} {value} against {other}, {size} lower ({cases}; {interval}{same})", **values
        )
    return t("{name} {value} against {other}, {size} higher ({cases}; {interval}{same})", **values)


def _same_answers_phrase(results: Results, row: Row) -> str:
    share, n = cell_number(row, "same_answer"), cell_number(row, "n_both_answered")
    if math.isnan(share):
        return ""
    low, high = cell_number(row, "same_low"), cell_number(row, "same_high")
    values = {"share": format_percent(share), "cases": case_count(int(n))}
    if math.isnan(low):
        return t("; the same answer in {share} % of {cases}", **values)
    return t(
        "; the same answer in {share} % of {cases}, {percent} % CI {limits}",
        **values,
        percent=confidence_percent(results),
        limits=format_range(format_percent(low), format_percent(high)),
    )
