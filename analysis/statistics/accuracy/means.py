"""Intervals of proportions, of means of proportions, and of means over items."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from analysis.arrays import Floats, Ints, ordered_sum
from analysis.readings.clusters import ratio
from analysis.translation import later

ONE_CLUSTER = later("standard error and interval: a single cluster")
ALL_THE_SAME = later("standard error and interval: every item has the same value")


def mean_over_items(
    values: Floats,
    clusters: Ints,
    alpha: float,
    *,
    no_items_reason: str,
    limits: tuple[float, float] = (0.0, 1.0),
) -> dict[str, Any]:
    """Estimate a mean over the items of a sample of patients.

    Parameters
    ----------
    values : numpy.ndarray of float, shape (n_items,)
        One value per item.
    clusters : numpy.ndarray of int, shape (n_items,)
        The items' patients.
    alpha : float
        Two-sided error rate.
    no_items_reason : str
        Why the mean is undefined if there is no item.
    limits : tuple of float, default (0, 1)
        The smallest and the largest possible mean; the interval is truncated there.

    Returns
    -------
    dict
        `estimate, se, ci_low, ci_high` (nan where undefined), `method` and `undefined_because`.

    Notes
    -----
    With C patients, the variance is C / (C - 1) times the sum over patients of the squared sum of
    their residuals, divided by the squared number of items. The interval uses t with C - 1 degrees
    of freedom. Standard error and interval are undefined with a single patient or without variation
    between patients.

    Examples
    --------
    >>> mean = mean_over_items(np.array([0.0, 1, 1, 1]), np.arange(4), 0.05, no_items_reason="")
    >>> mean["estimate"], mean["se"], mean["method"]
    (0.75, 0.25, 'mean over items, t over items')
    """
    present, cluster_numbers = np.unique(clusters, return_inverse=True)
    n, k = len(values), len(present)
    cells: dict[str, Any] = dict.fromkeys(("estimate", "se", "ci_low", "ci_high"), math.nan)
    cells |= {
        "method": f"mean over items, t over {'items' if k == n else 'patients'}",
        "undefined_because": no_items_reason,
    }
    if not n:
        return cells
    mean = float(values.mean())
    cells["estimate"] = mean
    residuals = np.bincount(cluster_numbers, weights=values - mean)
    if k < 2 or not residuals.any():
        return cells | {"undefined_because": ONE_CLUSTER if k < 2 else ALL_THE_SAME}
    se = float(np.sqrt(k / (k - 1) * (residuals**2).sum()) / n)
    half_width = float(stats.t.ppf(1 - alpha / 2, k - 1)) * se
    return cells | {
        "se": se,
        "ci_low": max(mean - half_width, limits[0]),
        "ci_high": min(mean + half_width, limits[1]),
        "undefined_because": "",
    }


def wilson_interval(successes: Floats, n: Floats, alpha: float) -> tuple[Floats, Floats]:
    r"""Return Wilson's score interval of proportions.

    Parameters
    ----------
    successes, n : numpy.ndarray of float, any one shape
        Counts, 0 <= successes <= n.
    alpha : float
        Two-sided error rate, between 0 and 1.

    Returns
    -------
    low, high : numpy.ndarray of float, the same shape
        Proportions from 0 to 1; nan where n is 0.

    Notes
    -----
    The limits are the values of p that solve :math:`|\hat p - p| = z \sqrt{p (1 - p) / n}`, without
    continuity correction [1]_. The lower limit for 0 successes is exactly 0, and the upper limit
    for n successes exactly 1.

    References
    ----------
    .. [1] Wilson EB. Probable inference, the law of succession, and statistical inference. J Am
       Stat Assoc 1927;22:209-212. doi:10.1080/01621459.1927.10502953

    Examples
    --------
    R's ``prop.test(15, 148, correct = FALSE)`` gives 0.0623864 to 0.1604872:

    >>> low, high = wilson_interval(np.array([15.0]), np.array([148.0]), alpha=0.05)
    >>> low.round(7).tolist(), high.round(7).tolist()
    ([0.0623864], [0.1604872])
    """
    successes, n = np.asarray(successes, dtype=np.float64), np.asarray(n, dtype=np.float64)
    empty = n == 0
    limits = proportion_confint(successes, np.where(empty, 1.0, n), alpha, method="wilson")
    low = np.where(successes == 0, 0.0, limits[0])
    high = np.where(successes == n, 1.0, limits[1])
    return np.where(empty, np.nan, low), np.where(empty, np.nan, high)


def mover_mean(estimates: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
    r"""Return the mean of independent estimates with its MOVER interval.

    Parameters
    ----------
    estimates, low, high : numpy.ndarray of float, shape (n_parts, ...)
        Each part's estimate and confidence limits.

    Returns
    -------
    mean, low, high : numpy.ndarray of float, shape (...)
        Parts have equal weights; those that are nan are omitted. The result is nan if none remains.

    Notes
    -----
    The method of variance estimates recovery gives, for :math:`\theta = \sum_i p_i / T` [1]_,
    :math:`L = \theta - \sqrt{\sum_i (p_i - l_i)^2} / T` and
    :math:`U = \theta + \sqrt{\sum_i (u_i - p_i)^2} / T`. It assumes independent parts; if patients
    have several items, use the cluster interval.

    References
    ----------
    .. [1] Zou GY, Huang W, Zhang X. A note on confidence interval estimation for a linear function
       of binomial proportions. Comput Stat Data Anal 2009;53:1080-1085.
       doi:10.1016/j.csda.2008.09.033

    Examples
    --------
    >>> parts = np.array([0.5, 0.7])
    >>> mean, low, high = mover_mean(parts, parts - 0.3, parts + 0.4)
    >>> mean.round(4), low.round(4), high.round(4)
    (np.float64(0.6), np.float64(0.3879), np.float64(0.8828))
    """
    is_defined = np.isfinite(estimates)
    n = is_defined.sum(axis=0).astype(np.float64)
    mean = ratio(ordered_sum(np.where(is_defined, estimates, 0.0)), n)
    below, above = (
        ratio(np.sqrt(ordered_sum(np.where(is_defined, (estimates - limit) ** 2, 0.0))), n)
        for limit in (low, high)
    )
    return mean, mean - below, mean + above


def mover_difference(estimates: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    r"""Return the MOVER interval of the first of two independent estimates minus the second.

    Parameters
    ----------
    estimates, low, high : numpy.ndarray of float, shape (2, ...)
        Estimate and confidence limits of each.

    Returns
    -------
    low, high : numpy.ndarray of float, shape (...)
        Limits of the difference; nan if one of the estimates is.

    Notes
    -----
    The limits are :math:`L = d - \sqrt{(p_1 - l_1)^2 + (u_2 - p_2)^2}` and
    :math:`U = d + \sqrt{(u_1 - p_1)^2 + (p_2 - l_2)^2}` [1]_. With Wilson's limits, this is
    Newcombe's hybrid score interval (his method 10).

    References
    ----------
    .. [1] Zou GY, Huang W, Zhang X. A note on confidence interval estimation for a linear function
       of binomial proportions. Comput Stat Data Anal 2009;53:1080-1085.
       doi:10.1016/j.csda.2008.09.033

    Examples
    --------
    Newcombe's example of 56 of 70 and 48 of 80, without a continuity correction, has the interval
    0.0524 to 0.3339.

    >>> n, successes = np.array([70.0, 80.0]), np.array([56.0, 48.0])
    >>> low, high = mover_difference(successes / n, *wilson_interval(successes, n, alpha=0.05))
    >>> low.round(4), high.round(4)
    (np.float64(0.0524), np.float64(0.3339))
    """
    below, above = estimates - low, high - estimates
    difference = estimates[0] - estimates[1]
    return difference - np.hypot(below[0], above[1]), difference + np.hypot(above[0], below[1])
