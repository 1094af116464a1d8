"""Checks the planned sample size in a protocol: its inputs and its power."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from study.base.text import did_you_mean
from study.base.translation import t
from study.protocol import checks
from study.protocol.checks import Check, Faults

COMPARISONS = ("conditions", "panel")
CLAIMS = ("readers like these", "these readers", "these cases")
DESIGNS = ("crossed", "blocks", "arms")
MAX_SOURCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSize:
    """A planned sample size; it is not set if `readers` is 0.

    Parameters
    ----------
    comparison, design, claim
        The comparison, the design, and the readers and cases that the claim is about, as in
        ``power.csv``.
    metric
        ``accuracy`` or ``auc``.
    effect, margin
        The assumed true difference, and the non-inferiority margin (0 for a two-sided test of no
        difference).
    readers, cases, reads_per_case
        Size of the study.
    power, power_low, power_high
        Power, and its limits that result from the uncertainty of the components, from 0 to 1.
    half_width
        Half the expected width of the 95 % interval for readers like these.
    method
        The method by which the power was computed.
    source
        The source of the variance components.
    components
        The variance components, with the keys of a components file (`docs/power.md`).
    """

    comparison: str = "panel"
    design: str = "crossed"
    claim: str = "readers like these"
    metric: str = "accuracy"
    effect: float = 0.0
    margin: float = 0.0
    readers: int = 0
    cases: int = 0
    reads_per_case: int = 0
    power: float = 0.0
    power_low: float = 0.0
    power_high: float = 0.0
    half_width: float = 0.0
    method: str = ""
    source: str = ""
    components: Mapping[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the table of the protocol file; empty if no sample size was planned."""
        return {**asdict(self), "components": dict(self.components)} if self.readers else {}


def _check_components(value: Any) -> dict[str, float]:
    """Check that the variance components are finite numbers."""
    if not isinstance(value, Mapping):
        raise ValueError(t("must be a table."))
    if not all(
        isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number)
        for number in value.values()
    ):
        raise ValueError(t("must contain numbers only."))
    return dict(value)


_check_share = checks.number(0, 1)
_CHECKS: Mapping[str, Check] = {
    "comparison": checks.one_of(COMPARISONS),
    "design": checks.one_of(DESIGNS),
    "claim": checks.one_of(CLAIMS),
    "metric": checks.one_of(("accuracy", "auc")),
    "effect": checks.number(-1, 1),
    "margin": _check_share,
    "readers": checks.whole(2, 10_000),
    "cases": checks.whole(2, 1_000_000),
    "reads_per_case": checks.whole(0, 10_000),
    "power": _check_share,
    "power_low": _check_share,
    "power_high": _check_share,
    "half_width": checks.number(0, 10),
    "method": checks.prose(MAX_SOURCE),
    "source": checks.prose(MAX_SOURCE),
    "components": _check_components,
}
assert set(_CHECKS) == {entry.name for entry in fields(SampleSize)}
_REQUIRED_KEYS = ("readers", "cases", "effect", "power")


def check_sample_size(value: Any) -> SampleSize:
    """Check the table of the planned sample size; every error is listed.

    Raises
    ------
    Faults
        Keys are unknown or missing, or values are out of range.
    """
    if not isinstance(value, Mapping):
        raise ValueError(t("must be a table."))
    valid: dict[str, Any] = {}
    faults: list[str] = []
    for key, entry in value.items():
        if key not in _CHECKS:
            names = ", ".join(_CHECKS)
            unknown = t("{key}: unknown key. Known keys: {listed}.", key=key, listed=names)
            faults.append(f"sample_size: {unknown}" + did_you_mean(str(key), tuple(_CHECKS)))
            continue
        try:
            valid[key] = _CHECKS[key](entry)
        except ValueError as error:
            faults.append(f"sample_size: {key} {error}")
    missing = [key for key in _REQUIRED_KEYS if key not in value]
    if value and missing:
        message = t("missing: {listed}.", listed=", ".join(missing))
        faults.append(f"sample_size: {message}")
    if faults:
        raise Faults(faults)
    return SampleSize(**valid)
