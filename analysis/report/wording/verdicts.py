"""How strong a sentence may be: what its interval allows, and what was declared before reading."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from analysis.bundle.protocol import Plan, margin_origin, plan_of
from analysis.report.wording.rows import Row, number, rows_of
from analysis.results import Results
from analysis.translation import later


class Verdict(StrEnum):
    """What may be said of a difference."""

    MORE = later("higher")
    FEWER = later("lower")
    NOT_SHOWN = later("no difference shown")
    UNDEFINED = later("undefined")


def verdict(low: float, high: float, *, at: float = 0.0) -> Verdict:
    """Tell on which side of a value an interval lies.

    Parameters
    ----------
    low, high : float
        Limits; nan where undefined. An interval without width is none: the formulas give it where
        nothing varies, and certainty would be claimed.
    at : float, default 0
        The value of no difference: 0 for differences, 1 for ratios.

    Returns
    -------
    Verdict
        `MORE` and `FEWER` only where the whole interval lies beyond `at`; a limit that touches it
        does not.

    Examples
    --------
    >>> verdict(0.01, 0.1).value, verdict(0.0, 0.1).value, verdict(0.1, 0.1).value
    ('higher', 'no difference shown', 'undefined')
    """
    if math.isnan(low) or math.isnan(high) or low >= high:
        return Verdict.UNDEFINED
    if low > at:
        return Verdict.MORE
    return Verdict.FEWER if high < at else Verdict.NOT_SHOWN


def non_inferior(low: float, high: float, margin: float | None) -> bool:
    """Tell whether the lower limit clears the margin; never without a margin or an interval.

    Examples
    --------
    >>> non_inferior(-0.04, 0.1, 0.05), non_inferior(-0.05, 0.1, 0.05), non_inferior(0.1, 0.2, None)
    (True, False, False)
    """
    if margin is None or math.isnan(margin) or verdict(low, high) is Verdict.UNDEFINED:
        return False
    return low > -margin


NON_INFERIORITY = "non-inferiority"


class Outcome(StrEnum):
    """What may be said of a declared hypothesis."""

    SHOWN = "shown"
    NOT_ADJUSTED = "not shown after adjustment"
    NOT_SHOWN = "not shown"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The declared hypothesis for one model.

    Parameters
    ----------
    row : dict
        Of `reader_panel`.
    outcome : Outcome
        What may be said.
    """

    row: Row
    outcome: Outcome


def declared_plan(results: Results) -> Plan:
    """Return what the run's protocol declares."""
    return plan_of(results.bundle.protocol)


def origin_of_margin(results: Results) -> str:
    """Say where the margin comes from if it is not the protocol's; empty where it is."""
    return margin_origin(results.options, results.bundle.protocol)


def has_margin(results: Results, metric: str) -> bool:
    """Tell whether a margin means anything for a metric: it was declared for it, or asked for."""
    plan = declared_plan(results)
    planned = plan.hypothesis == NON_INFERIORITY and plan.metric == metric
    return planned or (metric == "accuracy" and bool(origin_of_margin(results)))


def primary_models(results: Results) -> list[str]:
    """Return the ids of the model that was named primary, by id or by label; empty where none is.

    Where the bundle has no such model, nothing is primary.
    """
    wanted = declared_plan(results).primary_model
    labels = results.bundle.labels
    return [rater for rater in sorted(labels) if wanted and wanted in (rater, labels[rater])]


def is_decided(results: Results) -> bool:
    """Tell whether the run may decide the declared hypothesis.

    There is one, with its endpoint; the model named primary is there; the margin is the one that
    was planned.
    """
    plan = declared_plan(results)
    if not plan.is_confirmatory or (plan.primary_model and not primary_models(results)):
        return False
    if plan.hypothesis != NON_INFERIORITY or plan.metric != "accuracy":
        return True
    return plan.margin is not None and not origin_of_margin(results)


def decisions(results: Results) -> list[Decision]:
    """Decide the declared hypothesis for the primary model, or for each model.

    In the panel's order; of several models by p-values that Holm's method adjusts for their number,
    beside the interval.
    """
    return list(_decisions(results)) if is_decided(results) else []


def _decisions(results: Results) -> Iterator[Decision]:
    plan, primary = declared_plan(results), primary_models(results)
    adjusted = {_key(row): row for row in rows_of(results, "panel_adjusted")}
    rows = rows_of(results, "reader_panel", metric=plan.metric)
    several = not primary and len({row["model_id"] for row in rows}) > 1
    for row in rows:
        if plan.claim in ("", row["claim"]) and (not primary or row["model_id"] in primary):
            p = _adjusted_p(plan, adjusted.get(_key(row), {})) if several else 0.0
            level = results.options.alpha / (2 if plan.hypothesis == NON_INFERIORITY else 1)
            outcome = declared_outcome(plan, row, number(row, "margin"))
            if outcome is Outcome.SHOWN and math.isnan(p):
                outcome = Outcome.UNDECIDED
            elif outcome is Outcome.SHOWN and p >= level:
                outcome = Outcome.NOT_ADJUSTED
            yield Decision(row=row, outcome=outcome)


def declared_outcome(plan: Plan, row: Row, margin: float) -> Outcome:
    """Tell what a row's interval, by itself, makes of the declared hypothesis."""
    low, high = number(row, "ci_low"), number(row, "ci_high")
    if verdict(low, high) is Verdict.UNDEFINED:
        return Outcome.UNDECIDED
    if plan.hypothesis == NON_INFERIORITY:
        return Outcome.SHOWN if non_inferior(low, high, margin) else Outcome.NOT_SHOWN
    return Outcome.SHOWN if verdict(low, high) is Verdict.MORE else Outcome.NOT_SHOWN


def _adjusted_p(plan: Plan, row: Row) -> float:
    one_sided = plan.hypothesis == NON_INFERIORITY
    return number(row, "p_noninferior_adjusted" if one_sided else "p_adjusted")


def _key(row: Row) -> tuple[str, ...]:
    return tuple(str(row[column]) for column in ("model_id", "condition", "metric", "claim"))
