"""Findings on the planned sample size, and on the size and precision that the study reached."""

from __future__ import annotations

import math

from analysis.bundle.protocol import PlannedSize, planned_size
from analysis.presentation.wording import (
    Row,
    case_count,
    cell_number,
    format_percent,
    format_range,
    join_sentences,
    reader_count,
    rows_of,
)
from analysis.report.findings.endpoint import scale_of
from analysis.report.findings.finding import Finding, Scale, Theme
from analysis.results import Results
from analysis.statistics.claims import PAIR_WEIGHTED, claim_words
from analysis.statistics.mrmc.obuchowski_rockette import Claim
from analysis.statistics.verdicts import primary_models
from analysis.translation import t

ARM_SEPARATOR = " - "
"""Separator of the names of the conditions of two arms."""
TABLE_OF_COMPARISON = {"panel": "reader_panel", "conditions": "reader_conditions"}


def sample_size_findings(results: Results) -> list[Finding]:
    """State the planned power, and the readers, cases and half-width of the result."""
    plan = planned_size(results.bundle.protocol)
    if plan is None:
        return []
    scale = scale_of(results, plan.metric)
    text = join_sentences([_planned_sentence(plan, scale), _reached_sentence(results, plan, scale)])
    return [Finding(theme=Theme.ENDPOINT, text=text)]


def _planned_sentence(plan: PlannedSize, scale: Scale) -> str:
    values = {
        "readers": reader_count(plan.readers),
        "cases": case_count(plan.cases),
        "power": format_percent(plan.power, 0),
        "limits": format_range(
            format_percent(plan.power_low, 0), format_percent(plan.power_high, 0)
        ),
        "claim": claim_words(plan.claim),
        "effect": scale.signed(plan.effect),
    }
    if plan.margin:
        return t(
            "Sample size planned before reading: {readers} and {cases}, with a power of {power} %"
            " ({limits}) to show non-inferiority with a margin of {margin} to {claim} if the true"
            " difference is {effect}.",
            **values,
            margin=scale.size(plan.margin),
        )
    return t(
        "Sample size planned before reading: {readers} and {cases}, with a power of {power} %"
        " ({limits}) to detect a true difference of {effect}, for {claim}.",
        **values,
    )


def _reached_sentence(results: Results, plan: PlannedSize, scale: Scale) -> str:
    rows = _comparison_rows(results, plan)
    if not rows:
        return t("These data do not contain the planned comparison.")
    sizes = {(int(cell_number(row, "n_readers")), int(cell_number(row, "n_items"))) for row in rows}
    if len(sizes) > 1:
        return t("The planned comparison was made with several numbers of readers and cases.")
    n_readers, n_cases = sizes.pop()
    half_widths = [(cell_number(row, "ci_high") - cell_number(row, "ci_low")) / 2 for row in rows]
    known = sorted(half_width for half_width in half_widths if not math.isnan(half_width))
    values = {"readers": reader_count(n_readers), "cases": case_count(n_cases)}
    if not known or not plan.half_width:
        return t("The result is based on {readers} and {cases}.", **values)
    sizes_in_words = list(
        dict.fromkeys(scale.size(half_width) for half_width in (known[0], known[-1]))
    )
    return t(
        "The result is based on {readers} and {cases}; half the width of the interval for readers"
        " like these is {half}, and {planned} was expected.",
        **values,
        half=sizes_in_words[0] if len(sizes_in_words) == 1 else format_range(*sizes_in_words),
        planned=scale.size(plan.half_width),
    )


def _comparison_rows(results: Results, plan: PlannedSize) -> list[Row]:
    """Return the rows of the planned comparison, of the primary model if there is one.

    If readers did not read the same cases, the rows of the panel or of two conditions have no
    interval. Then the rows of parallel arms or of all readings are returned.
    """
    crossed = _select_primary_model(results, _crossed_rows(results, plan))
    choices = (
        crossed,
        _arm_rows(results, plan),
        _select_primary_model(results, _uncrossed_rows(results, plan)),
    )
    return next((rows for rows in choices if any(map(_has_interval, rows))), crossed)


def _has_interval(row: Row) -> bool:
    return not math.isnan(cell_number(row, "ci_low"))


def _select_primary_model(results: Results, rows: list[Row]) -> list[Row]:
    primary = primary_models(results)
    return [
        row for row in rows if not row.get("model_id") or not primary or row["model_id"] in primary
    ]


def _crossed_rows(results: Results, plan: PlannedSize) -> list[Row]:
    table = TABLE_OF_COMPARISON.get(plan.comparison, "")
    return rows_of(results, table, metric=plan.metric, claim=Claim.READERS_LIKE_THESE.value)


def _arm_rows(results: Results, plan: PlannedSize) -> list[Row]:
    """Return the comparison of arms that read under different conditions."""
    if plan.comparison != "conditions":
        return []
    table = "reader_groups" if plan.metric == "accuracy" else "reader_groups_metrics"
    rows = rows_of(results, table, factor="arm", by="overall", metric=plan.metric)
    return [
        {**row, "n_readers": cell_number(row, "n_readers_a") + cell_number(row, "n_readers_b")}
        for row in rows
        if ARM_SEPARATOR in str(row["condition"])
    ]


def _uncrossed_rows(results: Results, plan: PlannedSize) -> list[Row]:
    """Return the pair-weighted comparison over all readings."""
    is_panel = plan.comparison == "panel"
    rows = rows_of(results, "uncrossed", metric=plan.metric, method=PAIR_WEIGHTED)
    return [row for row in rows if bool(row["model_id"]) == is_panel]
