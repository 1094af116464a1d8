"""The planned sample size next to the size and the precision that the study reached."""

from __future__ import annotations

import math

from analysis.bundle.protocol import PlannedSize, planned_size
from analysis.presentation.wording import (
    Row,
    cases,
    number,
    percent,
    readers,
    rows_of,
    sentences,
    span,
)
from analysis.report.findings.endpoint import scale_of
from analysis.report.findings.finding import Finding, Scale, Theme
from analysis.results import Results
from analysis.statistics.claims import claim_words
from analysis.statistics.mrmc.obuchowski_rockette import Claim
from analysis.statistics.verdicts import primary_models
from analysis.translation import t

TABLES = {"panel": "reader_panel", "conditions": "reader_conditions"}


def sample_size_findings(results: Results) -> list[Finding]:
    """State the planned power, and the readers, cases and half-width of the result."""
    plan = planned_size(results.bundle.protocol)
    if plan is None:
        return []
    scale = scale_of(results, plan.metric)
    text = sentences([_planned(plan, scale), _reached(results, plan, scale)])
    return [Finding(theme=Theme.ENDPOINT, text=text)]


def _planned(plan: PlannedSize, scale: Scale) -> str:
    values = {
        "readers": readers(plan.readers),
        "cases": cases(plan.cases),
        "power": percent(plan.power, 0),
        "limits": span(percent(plan.power_low, 0), percent(plan.power_high, 0)),
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


def _reached(results: Results, plan: PlannedSize, scale: Scale) -> str:
    rows = _rows(results, plan)
    if not rows:
        return t("These data do not contain the planned comparison.")
    sizes = {(int(number(row, "n_readers")), int(number(row, "n_items"))) for row in rows}
    if len(sizes) > 1:
        return t("The planned comparison was made with several numbers of readers and cases.")
    n_readers, n_cases = sizes.pop()
    halves = [(number(row, "ci_high") - number(row, "ci_low")) / 2 for row in rows]
    known = sorted(half for half in halves if not math.isnan(half))
    values = {"readers": readers(n_readers), "cases": cases(n_cases)}
    if not known or not plan.half_width:
        return t("The result is based on {readers} and {cases}.", **values)
    written = list(dict.fromkeys(scale.size(half) for half in (known[0], known[-1])))
    return t(
        "The result is based on {readers} and {cases}; half the width of the interval for readers"
        " like these is {half}, and {planned} was expected.",
        **values,
        half=written[0] if len(written) == 1 else span(*written),
        planned=scale.size(plan.half_width),
    )


def _rows(results: Results, plan: PlannedSize) -> list[Row]:
    """Return the rows of the planned comparison, of the primary model if there is one."""
    table = TABLES.get(plan.comparison, "")
    rows = rows_of(results, table, metric=plan.metric, claim=Claim.READERS_LIKE_THESE.value)
    if table == "reader_conditions":
        return rows
    primary = primary_models(results)
    return [row for row in rows if not primary or row["model_id"] in primary]
