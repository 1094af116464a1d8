"""Tango's score interval of a difference of paired proportions."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from analysis.arrays import Floats

# Halvings of an interval at most 2 wide: what is left is below the spacing of floats.
HALVINGS = 64


def tango_interval(
    only_a: Floats, only_b: Floats, n: Floats, alpha: float
) -> tuple[Floats, Floats]:
    r"""Return Tango's score interval of paired differences of proportions.

    Parameters
    ----------
    only_a, only_b : numpy.ndarray of float, any one shape
        Items that only the first, only the second got right; whole numbers.
    n : numpy.ndarray of float, the same shape
        Items, only_a + only_b <= n.
    alpha : float
        Two-sided error, between 0 and 1.

    Returns
    -------
    low, high : numpy.ndarray of float, the same shape
        Limits of (only_a - only_b) / n, from -1 to 1; nan where n is 0.

    Notes
    -----
    The differences :math:`\delta` that the score test does not reject [1]_: with b and c for
    `only_a` and `only_b`,

    .. math:: (b - c - n \delta)^2 \le z^2 \, n \, (2 \hat q + \delta (1 - \delta)),

    where :math:`\hat q`, the most likely share of items that only the second got right given
    :math:`\delta`, is the larger root of :math:`2 n q^2 + ((2 n - b + c) \delta - b - c) q -
    c \delta (1 - \delta) = 0`. No continuity correction. The items are taken for independent. Each
    limit is found by bisection, to about 1e-12; raters swapped give the same limits with the other
    sign, to the last bit.

    References
    ----------
    .. [1] Tango T. Equivalence test and confidence interval for the difference in proportions for
       the paired-sample design. Stat Med 1998;17:891-908.
       doi:10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B

    Examples
    --------
    Newcombe's table (b): 12 and 2 of 50; R's contingencytables gives 0.061112 to 0.344709:

    >>> low, high = tango_interval(np.array([12.0]), np.array([2.0]), np.array([50.0]), alpha=0.05)
    >>> low.round(6).tolist(), high.round(6).tolist()
    ([0.061112], [0.344709])
    """
    z2 = float(norm.isf(alpha / 2)) ** 2
    high = _upper_limit(only_a, only_b, n, z2)
    low = -_upper_limit(only_b, only_a, n, z2)
    empty = n == 0
    return np.where(empty, np.nan, low), np.where(empty, np.nan, high)


def _upper_limit(b: Floats, c: Floats, n: Floats, z2: float) -> Floats:
    # Bisection by the answer of the test, not by a change of sign: at the estimate itself the
    # variance may be 0, and so both sides of the inequality, which is no limit.
    inside = (b - c) / np.maximum(n, 1)
    outside = np.ones_like(inside)
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        rejected = (b - c - n * middle) ** 2 > z2 * n * _variance(b, c, n, middle)
        outside = np.where(rejected, middle, outside)
        inside = np.where(rejected, inside, middle)
    # Where the last float below 1 is not rejected, the limit is 1.
    return np.where(outside == 1.0, outside, inside)


def _variance(b: Floats, c: Floats, n: Floats, delta: Floats) -> Floats:
    """Return n times the variance of the difference, restricted to the difference delta."""
    spread = delta * (1 - delta)
    square, linear, constant = 2 * n, (2 * n - b + c) * delta - b - c, -c * spread
    root = np.sqrt(np.maximum(linear**2 - 4 * square * constant, 0.0))
    # The form of the larger root that adds numbers of one sign: nothing cancels.
    divisor = np.where(linear > 0, linear + root, 1.0)
    q = np.where(linear > 0, -2 * constant / divisor, (root - linear) / np.maximum(2 * square, 1))
    return np.asarray(2 * q + spread)
