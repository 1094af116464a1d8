"""Read values from the protocol of a bundle."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.errors import OptionsError
from analysis.options import Options
from analysis.translation import localised, t

# The name of each endpoint's metric in the tables.
_METRIC_OF_ENDPOINT = {
    "accuracy": "accuracy",
    "AUC": "auc",
    "pair-weighted accuracy": "accuracy",
    "pair-weighted AUC": "auc",
}


def protocol_value(protocol: Mapping[str, Any], key: str) -> Any:
    """Return the protocol's value of `key`; None if the key is missing.

    An export wraps the protocol (`{"sha256": ..., "locked": {"protocol": ...}}`). If the top level
    does not have the key, the parts are searched, first the protocol in force after amendments.

    Examples
    --------
    >>> amended = {"locked": {"protocol": {"margin": 0.05}}, "in_force": {"margin": 0.1}}
    >>> protocol_value(amended, "margin")
    0.1
    >>> protocol_value({"sha256": "ab", "locked": {"protocol": {"margin": 0.05}}}, "margin")
    0.05
    """
    if key in protocol:
        return protocol[key]
    parts = (protocol.get(part) for part in ("in_force", "locked", "protocol"))
    values = (protocol_value(part, key) for part in parts if isinstance(part, dict))
    return next((value for value in values if value is not None), None)


def shares_cases(protocol: Mapping[str, Any]) -> bool:
    """Return whether the design gives each reader only some of the cases.

    Examples
    --------
    >>> shares_cases({"protocol": {"reads_per_case": 2}}), shares_cases({"reads_per_case": 0})
    (True, False)
    """
    return bool(
        protocol_value(protocol, "reads_per_case") or protocol_value(protocol, "cases_per_reader")
    )


def n_amendments(protocol: Mapping[str, Any]) -> int | None:
    """Return the number of amendments to the protocol; None if the input does not state it.

    Examples
    --------
    >>> n_amendments({"amendments": [{"number": 1}]}), n_amendments({})
    (1, None)
    """
    amendments = protocol.get("amendments")
    return len(amendments) if isinstance(amendments, list) else None


# Keys of the declared hypothesis. The report states which of them were amended later.
_HYPOTHESIS_KEYS = ("endpoint", "hypothesis", "margin", "claim_about", "primary_model")


def original_values(protocol: Mapping[str, Any]) -> dict[str, Any]:
    """Return the amended parts of the declared hypothesis, with their original values.

    Examples
    --------
    >>> original_values({"locked": {"protocol": {"margin": 0.05}}, "in_force": {"margin": 0.1}})
    {'margin': 0.05}
    >>> original_values({"margin": 0.05})
    {}
    """
    locked, in_force = protocol.get("locked"), protocol.get("in_force")
    if not (isinstance(locked, dict) and isinstance(in_force, dict)):
        return {}
    # The locked protocol omits keys that have their default value, which is empty for these keys.
    planned = {key: protocol_value(locked, key) for key in _HYPOTHESIS_KEYS}
    before = {key: "" if value is None else value for key, value in planned.items()}
    return {
        key: before[key]
        for key in _HYPOTHESIS_KEYS
        if key in in_force and in_force[key] != before[key]
    }


def declared_hypothesis(protocol: Mapping[str, Any]) -> str:
    """Return the hypothesis that the protocol declares, in words; empty if there is none.

    Examples
    --------
    >>> declared_hypothesis(
    ...     {"endpoint": "accuracy", "hypothesis": "non-inferiority", "margin": 0.05}
    ... )
    'accuracy; non-inferiority with a margin of 0.05'
    >>> declared_hypothesis({"endpoint": ""})
    ''
    """
    endpoint, hypothesis, description, model = (
        str(protocol_value(protocol, key) or "")
        for key in ("endpoint", "hypothesis", "claim_about", "primary_model")
    )
    margin = protocol_value(protocol, "margin")
    if hypothesis == "non-inferiority" and isinstance(margin, int | float):
        hypothesis += f" with a margin of {margin:g}"
    parts = (
        endpoint,
        hypothesis,
        f"a claim about {description}" if description else "",
        f"primary model {model}" if model else "",
    )
    return "; ".join(part for part in parts if part)


def drops_excluded(protocol: Mapping[str, Any]) -> bool:
    """Return whether excluded readings are left out of the primary analysis.

    Examples
    --------
    >>> drops_excluded({"locked": {"protocol": {"exclusions": "primary"}}}), drops_excluded({})
    (True, False)
    """
    return bool(protocol_value(protocol, "exclusions") == "primary")


def positive_options(protocol: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the options that the protocol declares positive, as letters or in words.

    Examples
    --------
    >>> positive_options({"positive": ["Yes"]}), positive_options({})
    (('Yes',), ())
    """
    return _strings_of(protocol, "positive")


def subgroups(protocol: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the fields of items that the protocol declares as subgroups.

    Examples
    --------
    >>> subgroups({"locked": {"protocol": {"subgroups": ["sex", "bank"]}}})
    ('sex', 'bank')
    """
    return _strings_of(protocol, "subgroups")


def years_limit(protocol: Mapping[str, Any]) -> float:
    """Return the years of experience that divide the readers; 0 if the protocol states none.

    Examples
    --------
    >>> years_limit({"years_limit": 5}), years_limit({})
    (5.0, 0.0)
    """
    value = protocol_value(protocol, "years_limit")
    is_number = isinstance(value, int | float) and math.isfinite(value)
    return max(float(value), 0.0) if is_number else 0.0


def _strings_of(protocol: Mapping[str, Any], key: str) -> tuple[str, ...]:
    values = protocol_value(protocol, key)
    return tuple(str(value) for value in values) if isinstance(values, list) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSize:
    """The sample size that a study was planned with.

    Parameters
    ----------
    comparison, claim, metric : str
        The comparison, claim and metric of the plan, as in `power.csv`.
    readers, cases : int
        The planned numbers of readers and cases.
    effect, margin : float
        The assumed true difference, and the margin, which is 0 for a two-sided test.
    power, power_low, power_high : float
        Power with its limits, 0 to 1.
    half_width : float
        Half the expected width of the interval for readers like these; 0 if not stated.
    """

    comparison: str
    claim: str
    metric: str
    readers: int
    cases: int
    effect: float
    margin: float
    power: float
    power_low: float
    power_high: float
    half_width: float


_SIZE_NUMBERS = ("readers", "cases", "effect", "power")
_SIZE_DEFAULTS = {"margin": 0.0, "power_low": 0.0, "power_high": 1.0, "half_width": 0.0}


def planned_size(protocol: Mapping[str, Any]) -> PlannedSize | None:
    """Return the sample size that the protocol states; None if it is missing or not numeric.

    Examples
    --------
    >>> size = planned_size(
    ...     {"sample_size": {"readers": 5, "cases": 200, "effect": 0.05, "power": 0.8}})
    >>> size.readers, size.power_high, planned_size({"sample_size": {"readers": "five"}})
    (5, 1.0, None)
    """
    table = protocol_value(protocol, "sample_size")
    if not isinstance(table, dict):
        return None
    values = {**_SIZE_DEFAULTS, **table}
    numbers = {
        key: float(value)
        for key, value in values.items()
        if isinstance(value, int | float) and math.isfinite(value)
    }
    if not {*_SIZE_NUMBERS, *_SIZE_DEFAULTS} <= numbers.keys():
        return None
    return PlannedSize(
        comparison=str(table.get("comparison", "panel")),
        claim=str(table.get("claim", "readers like these")),
        metric=str(table.get("metric", "accuracy")),
        readers=int(numbers["readers"]),
        cases=int(numbers["cases"]),
        **{key: numbers[key] for key in ("effect", "power", *_SIZE_DEFAULTS)},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The hypothesis that a study declared.

    Parameters
    ----------
    metric : str
        The primary endpoint's name in the tables, `accuracy` or `auc`; empty if none was
        declared.
    pair_weighted : bool
        Whether readings, instead of readers, have equal weights.
    hypothesis : str
        `non-inferiority` or `superiority`; empty if none was declared.
    claim : str
        The readers that the claim is about; empty if the protocol does not state them.
    primary_model : str
        The model that the hypothesis is about; empty if it is about each model.
    margin : float or None
        Non-inferiority margin as a proportion; None if none was planned or it is not a proportion.
    """

    metric: str = ""
    pair_weighted: bool = False
    hypothesis: str = ""
    claim: str = ""
    primary_model: str = ""
    margin: float | None = None

    @property
    def is_confirmatory(self) -> bool:
        """Whether a hypothesis and its endpoint were declared."""
        return bool(self.metric and self.hypothesis)


def plan_of(protocol: Mapping[str, Any]) -> Plan:
    """Return the hypothesis of the protocol in force.

    Examples
    --------
    >>> plan = plan_of({"endpoint": "AUC", "hypothesis": "superiority", "margin": 0.05})
    >>> plan.metric, plan.hypothesis, plan.margin, plan.is_confirmatory
    ('auc', 'superiority', 0.05, True)
    >>> plan_of({}).is_confirmatory
    False
    """
    endpoint, hypothesis, claim, model = (
        str(protocol_value(protocol, key) or "").strip()
        for key in ("endpoint", "hypothesis", "claim_about", "primary_model")
    )
    return Plan(
        metric=_METRIC_OF_ENDPOINT.get(endpoint, ""),
        pair_weighted=endpoint.startswith("pair-weighted"),
        hypothesis=hypothesis,
        claim=claim,
        primary_model=model,
        margin=_planned_margin(protocol),
    )


def margin_of(
    options: Options, protocol: Mapping[str, Any], metric: str = "accuracy"
) -> float | None:
    """Return the non-inferiority margin of a metric; None if it has none.

    For accuracy it is the option's if set, otherwise the protocol's. For the area under the curve
    it is the protocol's if the area is the declared endpoint, because `--margin` is a difference in
    accuracy.

    Raises
    ------
    OptionsError
        The protocol's margin is not a proportion.

    Examples
    --------
    >>> margin_of(Options(), {"margin": 0.05}), margin_of(Options(margin=0.1), {"margin": 0.05})
    (0.05, 0.1)
    >>> margin_of(Options(margin=0.1), {"margin": 0.05}, "auc")
    >>> margin_of(Options(margin=0.1), {"margin": 0.05, "endpoint": "AUC"}, "auc")
    0.05
    """
    if metric == "accuracy" and options.margin is not None:
        return options.margin
    plan = plan_of(protocol)
    if metric not in ("accuracy", plan.metric):
        return None
    margin = _stated_margin(protocol)
    if margin != plan.margin:
        raise OptionsError(
            f"protocol.json: margin is {margin:g}, which is not a proportion from 0 to below 1."
            " Correct it, or give --margin."
        )
    return margin


def margin_origin(options: Options, protocol: Mapping[str, Any]) -> str:
    """Return the origin of a margin that differs from the protocol's; otherwise an empty string.

    Examples
    --------
    >>> margin_origin(Options(margin=0.12), {"margin": 0.05})
    "chosen at analysis; the protocol's is 5.0 points"
    >>> margin_origin(Options(margin=0.12), {}), margin_origin(Options(), {"margin": 0.05})
    ('given at analysis', '')
    """
    planned = _planned_margin(protocol)
    if options.margin is None or options.margin == planned:
        return ""
    if planned is None:
        return t("given at analysis")
    size = localised(f"{100 * planned:.1f}")
    return t("chosen at analysis; the protocol's is {size} points", size=size)


def _planned_margin(protocol: Mapping[str, Any]) -> float | None:
    planned = _stated_margin(protocol)
    return planned if planned is not None and 0 <= planned < 1 else None


def _stated_margin(protocol: Mapping[str, Any]) -> float | None:
    margin = protocol_value(protocol, "margin")
    is_number = isinstance(margin, int | float) and not isinstance(margin, bool)
    return float(margin) if is_number else None
