"""Conclusions from intervals, verdicts on the declared hypothesis, and the patients they need."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from weakref import WeakKeyDictionary

import numpy as np
from scipy.stats import t as student

from analysis.bundle.protocol import Plan, margin_origin, plan_of
from analysis.presentation.wording import Row, cell_number, rows_of
from analysis.results import Results
from analysis.statistics.claims import (
    FAMILY_COLUMNS,
    PAIR_WEIGHTED,
    READERS_LIKE_THESE,
    THESE_READERS,
)
from analysis.statistics.comparison.paired_tests import holm_within
from analysis.statistics.support import patients_compared
from analysis.translation import later, tn


class Conclusion(StrEnum):
    """The conclusion about a difference."""

    HIGHER = later("higher")
    LOWER = later("lower")
    NOT_SHOWN = later("no difference shown")
    TOO_FEW = later("no conclusion")
    UNDEFINED = later("undefined")


FEWEST_PATIENTS = 25
"""Smallest number of patients (cases, if each has its own patient) for a verdict or a direction."""
_COMPARISON_COLUMNS = ("analysis", "model_id", "condition", "metric")
_DEGREES_OF_FREEDOM: WeakKeyDictionary[Results, dict[tuple[str, ...], float]] = WeakKeyDictionary()


def max_patients_of_items(results: Results, n_items: float) -> int:
    """Return the largest number of patients to whom `n_items` items can belong."""
    return int(min(n_items, results.n_clusters))


def patients_of_row(results: Results, row: Row) -> int:
    """Return the number of patients whose answers a row of a table of claims compares.

    A sensitivity analysis may count fewer patients. Its claim about these readers has one degree
    of freedom less than it has patients, and both claims are about the same items.
    """
    n = min(
        max_patients_of_items(results, cell_number(row, "n_items")), patients_compared(results, row)
    )
    degrees = math.nan
    if "analysis" in row:
        degrees = _degrees_of_freedom(results).get(_comparison_key(row), math.nan)
    return n if math.isnan(degrees) else min(n, round(degrees) + 1)


def _comparison_key(row: Row) -> tuple[str, ...]:
    return tuple(str(row.get(column, "")) for column in _COMPARISON_COLUMNS)


def _degrees_of_freedom(results: Results) -> dict[tuple[str, ...], float]:
    """Return the degrees of freedom of claims about these readers, by analysis and comparison."""
    if results not in _DEGREES_OF_FREEDOM:
        _DEGREES_OF_FREEDOM[results] = {
            _comparison_key(row): cell_number(row, "df")
            for row in rows_of(results, "sensitivity_panel", claim=THESE_READERS)
        }
    return _DEGREES_OF_FREEDOM[results]


def patients_of_pair(results: Results, row: Row) -> int:
    """Return the number of patients whose items both raters of a row of `comparisons` answered."""
    return min(
        max_patients_of_items(results, cell_number(row, "n")), patients_compared(results, row)
    )


def no_verdict_reason(results: Results, n_patients: int) -> str:
    """Return the reason why this number of patients allows no verdict; empty if it is sufficient.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> no_verdict_reason(SimpleNamespace(clustered=True), 5)
    'no verdict is given for 5 patients with answers, fewer than 25'
    >>> no_verdict_reason(SimpleNamespace(clustered=True), 25)
    ''
    """
    if n_patients >= FEWEST_PATIENTS:
        return ""
    counts = {"fewest": FEWEST_PATIENTS}
    if results.clustered:
        return tn(
            "no verdict is given for {n} patient with answers, fewer than {fewest}",
            "no verdict is given for {n} patients with answers, fewer than {fewest}",
            n_patients,
            **counts,
        )
    return tn(
        "no verdict is given for {n} case with answers, fewer than {fewest}",
        "no verdict is given for {n} cases with answers, fewer than {fewest}",
        n_patients,
        **counts,
    )


def no_verdict_reason_of_fewest(results: Results, patients: list[int]) -> str:
    """Return `no_verdict_reason` for the smallest of several numbers of patients."""
    return no_verdict_reason(results, min(patients, default=FEWEST_PATIENTS))


def conclusion(n_patients: int, low: float, high: float, *, null_value: float = 0.0) -> Conclusion:
    """Return the conclusion from an interval, if it is based on enough patients.

    Examples
    --------
    >>> conclusion(25, 0.01, 0.1).value, conclusion(24, 0.01, 0.1).value
    ('higher', 'no conclusion')
    >>> conclusion(24, float("nan"), 0.1).value
    'undefined'
    """
    direction = verdict(low, high, null_value=null_value)
    if direction is Conclusion.UNDEFINED or n_patients >= FEWEST_PATIENTS:
        return direction
    return Conclusion.TOO_FEW


def conclusion_of(results: Results, row: Row) -> Conclusion:
    """Return the conclusion from a row of a table of claims."""
    limits = cell_number(row, "ci_low"), cell_number(row, "ci_high")
    return conclusion(patients_of_row(results, row), *limits)


def verdict(low: float, high: float, *, null_value: float = 0.0) -> Conclusion:
    """Return the side of a value on which an interval lies.

    Parameters
    ----------
    low, high : float
        Limits; nan if undefined. An interval without width counts as undefined: the formulas return
        it for data without variation, and it would suggest certainty.
    null_value : float, default 0
        The value of no difference: 0 for differences, 1 for ratios.

    Returns
    -------
    Conclusion
        `HIGHER` or `LOWER` only if the complete interval lies above or below `null_value`, without
        touching it.

    Examples
    --------
    >>> verdict(0.01, 0.1).value, verdict(0.0, 0.1).value, verdict(0.1, 0.1).value
    ('higher', 'no difference shown', 'undefined')
    """
    if math.isnan(low) or math.isnan(high) or low >= high:
        return Conclusion.UNDEFINED
    if low > null_value:
        return Conclusion.HIGHER
    return Conclusion.LOWER if high < null_value else Conclusion.NOT_SHOWN


def is_noninferior(low: float, high: float, margin: float | None) -> bool:
    """Return whether the lower limit is above minus the margin; False without margin or interval.

    Examples
    --------
    >>> is_noninferior(-0.04, 0.1, 0.05), is_noninferior(-0.05, 0.1, 0.05)
    (True, False)
    >>> is_noninferior(0.1, 0.2, None)
    False
    """
    if margin is None or math.isnan(margin) or verdict(low, high) is Conclusion.UNDEFINED:
        return False
    return low > -margin


AUC = "auc"
NON_INFERIORITY, SUPERIORITY = "non-inferiority", "superiority"


class Outcome(StrEnum):
    """The outcome of a declared hypothesis."""

    SUPERIOR = "superior after non-inferiority"
    SHOWN = "shown"
    NOT_ADJUSTED = "not shown after adjustment"
    NOT_BY_SCORE = "not shown by the score test"
    NOT_BY_LOGIT = "not shown by the test on the logit scale"
    NOT_SHOWN = "not shown"
    INFERIOR = "inferior"
    UNDECIDED = "undecided"

    @property
    def is_shown(self) -> bool:
        """Whether the declared hypothesis was shown."""
        return self in (Outcome.SHOWN, Outcome.SUPERIOR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The declared hypothesis for one model.

    Parameters
    ----------
    row : dict
        The row of `reader_panel`.
    outcome : Outcome
        The outcome.
    """

    row: Row
    outcome: Outcome


def declared_plan(results: Results) -> Plan:
    """Return the hypothesis that the run's protocol declares."""
    return plan_of(results.bundle.protocol)


def origin_of_margin(results: Results) -> str:
    """Return the origin of a margin that differs from the protocol's; otherwise empty."""
    return margin_origin(results.options, results.bundle.protocol)


def has_margin(results: Results, metric: str) -> bool:
    """Return whether a metric has a margin, declared or requested."""
    plan = declared_plan(results)
    planned = plan.hypothesis == NON_INFERIORITY and plan.metric == metric
    return planned or (metric == "accuracy" and bool(origin_of_margin(results)))


def primary_models(results: Results) -> list[str]:
    """Return the ids of the model that was declared primary, by id or by label.

    The list is empty if no model was declared primary, or if the bundle does not contain it.
    """
    primary_model = declared_plan(results).primary_model
    labels = results.bundle.labels
    return [
        rater
        for rater in sorted(labels)
        if primary_model and primary_model in (rater, labels[rater])
    ]


def is_decided(results: Results) -> bool:
    """Return whether the run can decide the declared hypothesis.

    It needs a hypothesis with an endpoint, results of the primary model, and the planned margin.
    """
    plan = declared_plan(results)
    if not plan.is_confirmatory or (plan.primary_model and not primary_models(results)):
        return False
    if plan.hypothesis != NON_INFERIORITY or plan.metric != "accuracy":
        return True
    return plan.margin is not None and not origin_of_margin(results)


def decisions(results: Results) -> list[Decision]:
    """Decide the declared hypothesis for the primary model, or for each model.

    The decisions are in the order of `reader_panel`. With several models, both the interval and
    the p-values adjusted by Holm's method decide.
    """
    return list(_decisions(results)) if is_decided(results) else []


def _decisions(results: Results) -> Iterator[Decision]:
    plan, primary = declared_plan(results), primary_models(results)
    rows = endpoint_rows(results, plan)
    has_several_models = not primary and len({row["model_id"] for row in rows}) > 1
    adjusted = _adjusted_p(results, plan) if has_several_models else {}
    for row in rows:
        if plan.claim not in ("", row["claim"]) or (primary and row["model_id"] not in primary):
            continue
        outcome = outcome_of_tests(results, plan, row, cell_number(row, "margin"))
        if has_several_models:
            outcome = _after_adjustment(
                results, plan, outcome, adjusted.get(_endpoint_key(row), {})
            )
        yield Decision(row=row, outcome=outcome)


def endpoint_rows(results: Results, plan: Plan) -> list[Row]:
    """Return the rows of `reader_panel` that decide the declared endpoint.

    For a pair-weighted endpoint these are the rows about readers like these. If not every reader
    read every case, their numbers are from `uncrossed`; otherwise both tables have the same ones.
    """
    rows = rows_of(results, "reader_panel", metric=plan.metric)
    if not plan.pair_weighted:
        return rows
    weighted = {
        (row["model_id"], row["condition_a"]): row
        for row in rows_of(results, "uncrossed", metric=plan.metric, method=PAIR_WEIGHTED)
    }
    return [
        _weighted_row(row, weighted.get((row["model_id"], row["condition"])))
        for row in rows
        if row["claim"] == READERS_LIKE_THESE
    ]


def _weighted_row(row: Row, weighted: Row | None) -> Row:
    if weighted is None:
        return row
    distance = cell_number(weighted, "difference") + cell_number(row, "margin")
    p = float(student.sf(distance / cell_number(weighted, "se"), cell_number(weighted, "df")))
    copied_columns = (
        "n_readers",
        "n_items",
        "difference",
        "se",
        "df",
        "ci_low",
        "ci_high",
        "p",
        "method",
    )
    return {
        **row,
        **{name: weighted[name] for name in (*copied_columns, "note", "undefined_because")},
        "model_value": weighted["value_a"],
        "reader_mean": weighted["value_b"],
        "p_noninferior": p,
    }


def _after_adjustment(
    results: Results, plan: Plan, outcome: Outcome, adjusted: Mapping[Outcome, float]
) -> Outcome:
    """Return the outcome that remains after the adjustment for several models.

    Superiority after non-inferiority is considered only if non-inferiority remains.
    """
    # The p-values of superiority are two-sided, those of non-inferiority one-sided.
    level = results.options.alpha / (2 if plan.hypothesis == NON_INFERIORITY else 1)
    p = adjusted.get(outcome, math.nan)
    if outcome is Outcome.SUPERIOR:
        outcome = outcome if p < results.options.alpha else Outcome.SHOWN
        p = adjusted.get(Outcome.SHOWN, math.nan)
    if outcome.is_shown and math.isnan(p):
        return Outcome.UNDECIDED
    if outcome.is_shown and p >= level:
        return Outcome.NOT_ADJUSTED
    if outcome is Outcome.INFERIOR and not p < level:
        return Outcome.NOT_SHOWN
    return outcome


def score_p(results: Results, row: Row, column: str = "p") -> float:
    """Return a number of `noninferiority` for a row of `reader_panel`, nan if there is none.

    For a row of `sensitivity_panel`, the number is read from the row itself.
    """
    if "analysis" in row:
        return cell_number(row, "p_margin" if column == "p" else column)
    if row.get("method") == PAIR_WEIGHTED:
        return math.nan  # the test is about the mean of the readers
    where = {key: str(row[key]) for key in ("model_id", "condition", "metric", "claim")}
    tests = rows_of(results, "noninferiority", **where)
    return cell_number(tests[0], column) if tests else math.nan


def outcome_of_tests(results: Results, plan: Plan, row: Row, margin: float) -> Outcome:
    """Return the outcome of the declared hypothesis from a row's interval and its score test.

    `row` is of `reader_panel` or `sensitivity_panel`.
    """
    outcome = outcome_of_interval(results, plan, row, margin)
    return _confirmed_outcome(results, plan, row, outcome) if outcome.is_shown else outcome


def _confirmed_outcome(results: Results, plan: Plan, row: Row, outcome: Outcome) -> Outcome:
    """Return the outcome if the test of `noninferiority` confirms it, or if there is no test."""
    one_sided_level = results.options.alpha / 2
    column = "p" if plan.hypothesis == NON_INFERIORITY else "p_superior"
    if score_p(results, row, column) >= one_sided_level:
        return Outcome.NOT_BY_LOGIT if row["metric"] == AUC else Outcome.NOT_BY_SCORE
    if outcome is Outcome.SUPERIOR and score_p(results, row, "p_superior") >= one_sided_level:
        return Outcome.SHOWN
    return outcome


def outcome_of_interval(results: Results, plan: Plan, row: Row, margin: float) -> Outcome:
    """Return the outcome of the declared hypothesis from a row's interval alone.

    A model is inferior if its complete interval is below minus the margin (below 0 for
    superiority), and superior after non-inferiority if the interval is above 0. Tests in a fixed
    order need no adjustment if each is done only after the previous one succeeds.
    """
    low, high = cell_number(row, "ci_low"), cell_number(row, "ci_high")
    direction = conclusion(patients_of_row(results, row), low, high)
    if direction in (Conclusion.UNDEFINED, Conclusion.TOO_FEW):
        return Outcome.UNDECIDED
    if plan.hypothesis != NON_INFERIORITY:
        margin = 0.0
        is_beyond_margin = direction is Conclusion.HIGHER
    else:
        is_beyond_margin = is_noninferior(low, high, margin)
    if is_beyond_margin:
        superior = plan.hypothesis == NON_INFERIORITY and direction is Conclusion.HIGHER
        return Outcome.SUPERIOR if superior else Outcome.SHOWN
    return Outcome.INFERIOR if high < -margin else Outcome.NOT_SHOWN


def _adjusted_p(results: Results, plan: Plan) -> dict[tuple[str, ...], dict[Outcome, float]]:
    """Return the p-values of several models for each outcome, adjusted by Holm's method."""
    rows = rows_of(results, "panel_adjusted", metric=plan.metric)
    if plan.pair_weighted:
        rows = _weighted_adjusted(endpoint_rows(results, plan))
    if plan.hypothesis != NON_INFERIORITY:
        return {
            _endpoint_key(row): {
                **dict.fromkeys(Outcome, cell_number(row, "p_adjusted")),
                # The p-value of the one-sided test is doubled to be two-sided like the interval's.
                Outcome.SHOWN: float(
                    np.fmax(cell_number(row, "p_adjusted"), 2 * _p_of_superiority(results, row))
                ),
            }
            for row in rows
        }
    p_inferior = 1 - np.array([cell_number(row, "p_noninferior") for row in rows])
    families = [", ".join(str(row[column]) for column in FAMILY_COLUMNS) for row in rows]
    return {
        _endpoint_key(row): {
            # The larger p-value of both tests; np.fmax ignores an undefined one.
            Outcome.SHOWN: float(
                np.fmax(
                    cell_number(row, "p_noninferior_adjusted"), score_p(results, row, "p_adjusted")
                )
            ),
            Outcome.SUPERIOR: cell_number(row, "p_adjusted"),
            Outcome.INFERIOR: float(inferior),
        }
        for row, inferior in zip(rows, holm_within(p_inferior, families), strict=True)
    }


def _p_of_superiority(results: Results, row: Row) -> float:
    """Return the adjusted p-value of `noninferiority`; nan if its test has a margin."""
    margin = score_p(results, row, "margin")
    return math.nan if margin else score_p(results, row, "p_adjusted")


def _weighted_adjusted(rows: list[Row]) -> list[Row]:
    families = [", ".join(str(row[column]) for column in FAMILY_COLUMNS) for row in rows]
    adjusted = [
        holm_within(np.array([cell_number(row, name) for row in rows]), families)
        for name in ("p", "p_noninferior")
    ]
    return [
        {**row, "p_adjusted": float(p), "p_noninferior_adjusted": float(p_margin)}
        for row, p, p_margin in zip(rows, *adjusted, strict=True)
    ]


def _endpoint_key(row: Row) -> tuple[str, ...]:
    return tuple(str(row[column]) for column in ("model_id", "condition", "metric", "claim"))
