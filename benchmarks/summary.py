"""Summaries: percentiles with intervals, proportions, and targets that are met or missed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2_000
SEED = 1


def quantile_interval(values: Sequence[float], share: float) -> tuple[float, float, float]:
    """Return a quantile with the 95 % limits of its percentile bootstrap.

    Parameters
    ----------
    values
        At least one number.
    share
        0 to 1; quantiles are interpolated linearly between the order statistics.
    """
    data = np.asarray(values, dtype=float)
    draws = np.random.default_rng(SEED).integers(0, len(data), (RESAMPLES, len(data)))
    low, high = np.quantile(np.quantile(data[draws], share, axis=1), [0.025, 0.975])
    return float(np.quantile(data, share)), float(low), float(high)


def ratio_interval(slow: Sequence[float], fast: Sequence[float]) -> tuple[float, float, float]:
    """Return the ratio of two medians with its bootstrap limits, the two samples independent."""
    return _pair_interval(slow, fast, 0.5, lambda a, b: a / b)


def difference_interval(
    first: Sequence[float], second: Sequence[float], share: float
) -> tuple[float, float, float]:
    """Return the difference of two quantiles, first minus second, with its bootstrap limits."""
    return _pair_interval(first, second, share, lambda a, b: a - b)


def _pair_interval(
    first: Sequence[float],
    second: Sequence[float],
    share: float,
    combine: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]],
) -> tuple[float, float, float]:
    generator = np.random.default_rng(SEED)
    quantiles = []
    for values in (first, second):
        data = np.asarray(values, dtype=float)
        draws = generator.integers(0, len(data), (RESAMPLES, len(data)))
        all_draws = np.vstack([np.arange(len(data)), draws])
        quantiles.append(np.quantile(data[all_draws], share, axis=1))
    combined = combine(*quantiles)
    low, high = np.quantile(combined[1:], [0.025, 0.975])
    return float(combined[0]), float(low), float(high)


def spread(values: Sequence[float]) -> dict[str, Any]:
    """Return n, p50 and p95 with their intervals, and the largest."""
    if not values:
        return {"n": 0}
    p50, p95 = quantile_interval(values, 0.5), quantile_interval(values, 0.95)
    return {
        "n": len(values),
        "p50_ms": round(p50[0], 1),
        "p50_interval_ms": [round(p50[1], 1), round(p50[2], 1)],
        "p95_ms": round(p95[0], 1),
        "p95_interval_ms": [round(p95[1], 1), round(p95[2], 1)],
        "max_ms": round(max(values), 1),
    }


def errors(values: Sequence[float], frame_ms: float) -> dict[str, Any]:
    """Return the bias and spread of a timer's errors, and the percentiles that have targets."""
    if not values:
        return {"n": 0}
    data = np.asarray(values, dtype=float)
    sizes = np.abs(data)
    figures = {
        "bias": float(data.mean()),
        "median_error": float(np.median(data)),
        "spread_sd": float(data.std(ddof=1)) if len(data) > 1 else None,
        "median_size": float(np.median(sizes)),
        "p95_size": float(np.quantile(sizes, 0.95)),
        "p99_size": float(np.quantile(sizes, 0.99)),
        "max_size": float(sizes.max()),
    }
    ms = {f"{name}_ms": _rounded(value, 2) for name, value in figures.items()}
    frames = {
        f"{name}_frames": _rounded(None if value is None else value / frame_ms, 3)
        for name, value in figures.items()
    }
    return {"n": len(values), **ms, **frames}


def target(
    name: str, value: float | None, limit: float, unit: str, *, at_least: bool = False
) -> dict[str, Any]:
    """Return a target and whether it is met; None if it was not measured."""
    met = None if value is None else (value >= limit if at_least else value <= limit)
    return {
        "bar": name,
        "value": _rounded(value, 3),
        "limit": limit,
        "unit": unit,
        "sense": "at least" if at_least else "at most",
        "met": met,
    }


def bar_lines(bars: Sequence[dict[str, Any]]) -> list[str]:
    """Return the targets as lines of text."""
    words = {True: "met", False: "not met", None: "not measured"}
    return [
        f"  {words[each['met']]:<13}{each['bar']}: "
        f"{'-' if each['value'] is None else format(each['value'], 'g')} {each['unit']} "
        f"({each['sense']} {each['limit']:g} {each['unit']})"
        for each in bars
    ]


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


def share(hits: NDArray[np.float64]) -> float | None:
    """Return the proportion of hits; None without observations."""
    finite = hits[np.isfinite(hits)]
    return float(finite.mean()) if len(finite) else None


def shares_text(
    heading: str, rows: Sequence[Mapping[str, Any]], n_studies: int, *, width: int
) -> str:
    """Return rows of proportions and names as a table headed by the simulation error."""
    error = 200 * np.sqrt(0.05 * 0.95 / n_studies)
    lines = [
        f"{heading} {n_studies} studies, in percent; two standard errors of the simulation are"
        f" {error:.1f} near 95 %"
    ]
    for row in (list(rows[0]), *(map(_cell, row.values()) for row in rows)):
        lines.append("  ".join(f"{cell:>{width}s}" for cell in row))
    return "\n".join(lines)


def _cell(value: float | str | None) -> str:
    if isinstance(value, float):
        return f"{100 * value:.1f}"
    return "-" if value is None else str(value)
