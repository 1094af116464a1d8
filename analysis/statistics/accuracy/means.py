"""The mean of a value by item, with its interval over patients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats

from analysis.arrays import Floats, Ints
from analysis.translation import later

ONE_CLUSTER = later("standard error and interval: a single cluster")
ALL_THE_SAME = later("standard error and interval: every item has the same value")


def mean_over_items(
    values: Floats,
    clusters: Ints,
    alpha: float,
    *,
    nothing: str,
    limits: tuple[float, float] = (0.0, 1.0),
) -> dict[str, Any]:
    """Estimate a mean over items that are a sample of patients.

    Parameters
    ----------
    values : numpy.ndarray of float, shape (n_items,)
        One value an item.
    clusters : numpy.ndarray of int, shape (n_items,)
        The items' patients.
    alpha : float
        Two-sided error.
    nothing : str
        Why there is no mean where there is no item.
    limits : tuple of float, default (0, 1)
        The least and the most a mean can be; the interval is cut there.

    Returns
    -------
    dict
        `estimate, se, ci_low, ci_high`, nan where undefined, `method`, `undefined_because`.

    Notes
    -----
    With C patients the variance is C / (C - 1) times the sum over patients of the squared sums of
    residuals, over the squared number of items; t with C - 1 degrees of freedom. Without variation
    between patients, or with a single one, standard error and interval are undefined.

    Examples
    --------
    >>> found = mean_over_items(np.array([0.0, 1, 1, 1]), np.arange(4), 0.05, nothing="")
    >>> found["estimate"], found["se"], found["method"]
    (0.75, 0.25, 'mean over items, t over items')
    """
    names, places = np.unique(clusters, return_inverse=True)
    n, k = len(values), len(names)
    found: dict[str, Any] = dict.fromkeys(("estimate", "se", "ci_low", "ci_high"), math.nan)
    found |= {
        "method": f"mean over items, t over {'items' if k == n else 'patients'}",
        "undefined_because": nothing,
    }
    if not n:
        return found
    mean = float(values.mean())
    found["estimate"] = mean
    residuals = np.bincount(places, weights=values - mean)
    if k < 2 or not residuals.any():
        return found | {"undefined_because": ONE_CLUSTER if k < 2 else ALL_THE_SAME}
    se = float(np.sqrt(k / (k - 1) * (residuals**2).sum()) / n)
    reach = float(stats.t.ppf(1 - alpha / 2, k - 1)) * se
    return found | {
        "se": se,
        "ci_low": max(mean - reach, limits[0]),
        "ci_high": min(mean + reach, limits[1]),
        "undefined_because": "",
    }
