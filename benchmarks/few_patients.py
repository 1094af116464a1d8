"""Which interval holds what it claims when patients are few: four ways to make one of a bootstrap.

Studies of one reader and one model with four items a patient; accuracy, the difference of two
accuracies and error consistency, each with all four intervals from the same resamples.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.stats import norm, t

from analysis.readings.clusters import tail
from benchmarks.shares import share
from benchmarks.simulated_studies import Design, Floats, raters, simulated, truths

SIZES = (8, 12, 20, 29, 50, 100)
ITEMS_A_PATIENT, ALPHA = 4, 0.05
STATISTICS = ("accuracy", "difference", "error consistency")
ABILITIES = {"77 %": 1.1, "93 %": 2.4}

Limits = tuple[Floats, Floats]


def few_rows(n_studies: int, bootstrap: int, seed: int) -> list[dict[str, Any]]:
    """Simulate; return one row an accuracy, number of patients and statistic."""
    return [
        {"accuracy": name, "patients": patients, "of": STATISTICS[i], **shares}
        for name, ability in ABILITIES.items()
        for patients in SIZES
        for i, shares in enumerate(_covered(patients, ability, n_studies, bootstrap, seed))
    ]


def _covered(
    patients: int, ability: float, n_studies: int, bootstrap: int, seed: int
) -> list[dict[str, float | None]]:
    design = Design(
        n_readers=1,
        n_items=patients * ITEMS_A_PATIENT,
        items_a_patient=ITEMS_A_PATIENT,
        reader_mean=ability,
    )
    generator = np.random.default_rng([seed, patients])
    abilities = np.full(2, ability)
    true = truths(design, abilities)
    value = _statistics(np.array([1.0, *true.accuracy, true.both_right[0, 1]]))
    hits: dict[str, list[Floats]] = {name: [] for name in INTERVALS}
    for _ in range(n_studies):
        matrix = simulated(design, raters(1, ["M"]), abilities, generator)
        a, b = matrix.correct.T.astype(np.float64)
        counts = np.column_stack([np.ones(len(a)), a, b, a * b])
        sums = counts.reshape(patients, ITEMS_A_PATIENT, 4).sum(axis=1)
        drawn = generator.multinomial(patients, np.full(patients, 1 / patients), size=bootstrap)
        study = (_statistics(sums.sum(axis=0)), _statistics(drawn @ sums), _jackknife(sums))
        for name, interval in INTERVALS.items():
            low, high = interval(*study)
            # Values of a statistic are fractions, and their quantiles are rounded.
            hit = (low <= value + 1e-12) & (value - 1e-12 <= high)
            hits[name].append(np.where(np.isfinite(low), hit, np.nan))
    return [
        {name: share(np.array(found)[:, i]) for name, found in hits.items()}
        for i in range(len(STATISTICS))
    ]


def _statistics(counts: Floats) -> Floats:
    """Turn counts (items, right, right, both right) into the statistics, along the last axis."""
    n, a, b, both = np.moveaxis(counts, -1, 0)
    same, chance = (n - a - b + 2 * both) / n, (a * b + (n - a) * (n - b)) / n**2
    with np.errstate(divide="ignore", invalid="ignore"):
        kappa = np.where(chance < 1 - 1e-12, (same - chance) / (1 - chance), np.nan)
    return np.stack([a / n, (a - b) / n, kappa], axis=-1)


def _jackknife(sums: Floats) -> Floats:
    return _statistics(sums.sum(axis=0) - sums)


def _quantiles(drawn: Floats, level: Floats) -> Floats:
    """Return each column's quantile at its own level, over the resamples where it is defined."""
    found = [
        np.quantile(column[np.isfinite(column)], one) if np.isfinite(column).any() else np.nan
        for column, one in zip(drawn.T, level, strict=True)
    ]
    return np.array(found)


def _percentile(_estimate: Floats, drawn: Floats, _left_out: Floats) -> Limits:
    level = np.full(drawn.shape[1], ALPHA / 2)
    return _quantiles(drawn, level), _quantiles(drawn, 1 - level)


def _widened(_estimate: Floats, drawn: Floats, left_out: Floats) -> Limits:
    level = np.full(drawn.shape[1], float(tail(ALPHA, np.array(len(left_out)))))
    return _quantiles(drawn, level), _quantiles(drawn, 1 - level)


def _bias_corrected(estimate: Floats, drawn: Floats, left_out: Floats) -> Limits:
    """Bias-corrected and accelerated, the acceleration from the jackknife over patients."""
    below = ((drawn < estimate).sum(axis=0) + (drawn == estimate).sum(axis=0) / 2) / len(drawn)
    shift = norm.ppf(np.clip(below, 0.5 / len(drawn), 1 - 0.5 / len(drawn)))
    off = left_out.mean(axis=0) - left_out
    scale = 6 * np.maximum((off**2).sum(axis=0), 1e-30) ** 1.5
    skew = np.nan_to_num((off**3).sum(axis=0) / scale)
    ends = [shift + z for z in (norm.ppf(ALPHA / 2), norm.isf(ALPHA / 2))]
    levels = [norm.cdf(shift + end / (1 - skew * end)) for end in ends]
    low, high = (_quantiles(drawn, level) for level in levels)
    return low, high


def _linearised(estimate: Floats, _drawn: Floats, left_out: Floats) -> Limits:
    """Student's t with the jackknife's standard error over patients."""
    n = len(left_out)
    spread = ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0)
    reach = t.isf(ALPHA / 2, n - 1) * np.sqrt((n - 1) / n * spread)
    return estimate - reach, estimate + reach


INTERVALS: Mapping[str, Callable[[Floats, Floats, Floats], Limits]] = {
    "percentile": _percentile,
    "widened": _widened,
    "bias-corrected": _bias_corrected,
    "t of the jackknife": _linearised,
}
