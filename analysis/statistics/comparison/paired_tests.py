"""Tests and intervals of paired proportions, as functions of arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import binom, chi2, norm
from statsmodels.stats.multitest import multipletests

from analysis.arrays import Floats, Ints


def mcnemar_p(only_a: Floats, only_b: Floats) -> tuple[Floats, Floats]:
    r"""Return the two-sided p of McNemar's exact test and of its mid-p version.

    Parameters
    ----------
    only_a, only_b : numpy.ndarray of float, any one shape
        Items that only the first, or only the second, rater answered correctly; whole numbers.

    Returns
    -------
    exact, mid : numpy.ndarray of float, the same shape
        From 0 to 1; both are 1 without discordant items, and 0 below 1e-308.

    Notes
    -----
    Under the hypothesis, each discordant item favours either rater with probability 1/2 [1]_. With
    X binomial with b + c trials and m = min(b, c): exact :math:`\min(1, 2 P(X \le m))`; mid-p
    counts the observed outcome half, :math:`2 P(X \le m) - P(X = m)`, and where b = c, so that it
    is in both tails, :math:`1 - P(X = m) / 2` [2]_. The items are assumed independent.

    References
    ----------
    .. [1] McNemar Q. Note on the sampling error of the difference between correlated proportions or
       percentages. Psychometrika 1947;12:153-157. doi:10.1007/BF02295996
    .. [2] Fagerland MW, Lydersen S, Laake P. The McNemar test for binary matched-pairs data: mid-p
       and asymptotic are better than exact conditional. BMC Med Res Methodol 2013;13:91.
       doi:10.1186/1471-2288-13-91

    Examples
    --------
    >>> exact, mid = mcnemar_p(np.array([12.0, 0, 3]), np.array([2.0, 0, 3]))
    >>> exact.tolist(), mid.round(9).tolist()
    ([0.012939453125, 1.0, 1.0], [0.007385254, 1.0, 0.84375])
    """
    fewer, discordant = np.minimum(only_a, only_b), only_a + only_b
    two_sided = 2 * binom.cdf(fewer, discordant, 0.5)
    exact = np.minimum(two_sided, 1.0)
    observed = binom.pmf(fewer, discordant, 0.5)
    is_even, is_concordant = only_a == only_b, discordant == 0
    # Where both are almost 0, rounding could make their difference negative.
    mid = np.where(is_even, 1 - observed / 2, np.clip(two_sided - observed, 0.0, exact))
    return np.where(is_even, 1.0, exact), np.where(is_concordant, 1.0, mid)


# Number of bisections that reduce a width of 2 below the spacing of floats.
N_BISECTIONS = 64


def tango_interval(
    only_a: Floats, only_b: Floats, n: Floats, alpha: float
) -> tuple[Floats, Floats]:
    r"""Return Tango's score interval of paired differences of proportions.

    Parameters
    ----------
    only_a, only_b : numpy.ndarray of float, any one shape
        Items that only the first, or only the second, rater answered correctly; whole numbers.
    n : numpy.ndarray of float, the same shape
        Items, only_a + only_b <= n.
    alpha : float
        Two-sided error rate, between 0 and 1.

    Returns
    -------
    low, high : numpy.ndarray of float, the same shape
        Limits of (only_a - only_b) / n, from -1 to 1; nan where n is 0.

    Notes
    -----
    The interval contains the differences :math:`\delta` that the score test does not reject [1]_:
    with b and c for `only_a` and `only_b`,

    .. math:: (b - c - n \delta)^2 \le z^2 \, n \, (2 \hat q + \delta (1 - \delta)),

    where :math:`\hat q`, the maximum likelihood share of items that only the second got right given
    :math:`\delta`, is the larger root of :math:`2 n q^2 + ((2 n - b + c) \delta - b - c) q - c
    \delta (1 - \delta) = 0`. There is no continuity correction. The items are assumed independent.
    Each limit is found by bisection, to about 1e-12; swapping the raters exactly negates the
    limits.

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
    # The bisection uses the result of the test, not a change of sign: at the estimate both sides of
    # the inequality may be 0, which is not a limit.
    inside = (b - c) / np.maximum(n, 1)
    is_outside = np.ones_like(inside)
    for _ in range(N_BISECTIONS):
        middle = (inside + is_outside) / 2
        rejected = (b - c - n * middle) ** 2 > z2 * n * _variance(b, c, n, middle)
        is_outside = np.where(rejected, middle, is_outside)
        inside = np.where(rejected, inside, middle)
    # If the largest float below 1 is not rejected, the limit is 1.
    return np.where(is_outside == 1.0, is_outside, inside)


def _variance(b: Floats, c: Floats, n: Floats, delta: Floats) -> Floats:
    """Return n times the variance of the difference, restricted to the difference delta."""
    delta_product = delta * (1 - delta)
    square, linear, constant = 2 * n, (2 * n - b + c) * delta - b - c, -c * delta_product
    root = np.sqrt(np.maximum(linear**2 - 4 * square * constant, 0.0))
    # The form of the larger root that adds numbers of the same sign, to avoid cancellation.
    divisor = np.where(linear > 0, linear + root, 1.0)
    q = np.where(linear > 0, -2 * constant / divisor, (root - linear) / np.maximum(2 * square, 1))
    return np.asarray(2 * q + delta_product)


def yang_test(correct: Floats, sizes: Floats, a: Ints, b: Ints) -> tuple[Floats, Floats]:
    r"""Test pairs of raters for equal accuracy with clustered items.

    Parameters
    ----------
    correct : numpy.ndarray of float, shape (n_clusters, n_raters)
        Number of items in each cluster that each rater answered correctly.
    sizes : numpy.ndarray of float, shape (n_clusters,)
        Number of items in each cluster, at least 1.
    a, b : numpy.ndarray of int, shape (n_pairs,)
        The columns of each pair's first and second rater.

    Returns
    -------
    statistic, p : numpy.ndarray of float, shape (n_pairs,)
        Chi-squared with one degree of freedom, and its upper tail. Both are nan with fewer than two
        clusters; 0 and 1 if the raters have equally many correct answers in every cluster.

    Notes
    -----
    Let :math:`d_k` be the number of items in cluster k that only the first rater answered correctly
    minus the number that only the second did, :math:`n_k` the number of items in the cluster,
    :math:`\hat\delta = \sum_k d_k / \sum_k n_k`, and K the number of clusters. The modified
    Obuchowski test [1]_ is

    .. math:: X^2 = \frac{K - 1}{K} \, \frac{(\sum_k d_k)^2}
       {\frac12 \sum_k \{(d_k - n_k \hat\delta)^2 + d_k^2\}}.

    Its variance is the mean of Obuchowski's, which assumes no difference, and the empirical
    variance. Items have the same weight in every cluster. The sums are matrix products of whole
    numbers, which are exact. The variance is 0 only where every :math:`d_k`, and so the difference,
    is 0; p is then 1, as in McNemar's test without discordant items.

    References
    ----------
    .. [1] Yang Z, Sun X, Hardin JW. A note on the tests for clustered matched-pair binary data.
       Biom J 2010;52:638-652. doi:10.1002/bimj.201000035

    Examples
    --------
    Four patients with 2, 2, 3 and 1 films; the first reader is correct more often in three of them:

    >>> correct = np.array([[2.0, 1.0], [2.0, 0.0], [1.0, 2.0], [1.0, 0.0]])
    >>> statistic, p = yang_test(
    ...     correct, np.array([2.0, 2.0, 3.0, 1.0]), np.array([0]), np.array([1])
    ... )
    >>> statistic.round(6).tolist(), p.round(6).tolist()
    ([0.997691], [0.31787])
    """
    n_clusters, n_items = len(sizes), float(sizes.sum())
    if n_clusters < 2:
        return np.full(len(a), np.nan), np.full(len(a), np.nan)
    products = correct.T @ correct
    totals, weighted = correct.sum(axis=0), correct.T @ sizes
    difference = totals[a] - totals[b]
    squares = products[a, a] + products[b, b] - 2 * products[a, b]
    delta = difference / n_items
    cross = weighted[a] - weighted[b]
    variance = squares - delta * cross + delta**2 * float(sizes @ sizes) / 2
    is_concordant = squares == 0
    statistic = (
        (n_clusters - 1) / n_clusters * difference**2 / np.where(is_concordant, 1.0, variance)
    )
    return statistic, np.asarray(chi2.sf(statistic, 1))


def holm_within(p: Floats, families: Sequence[str]) -> Floats:
    r"""Adjust p-values for the number of tests in their family by Holm's method.

    Parameters
    ----------
    p : numpy.ndarray of float, shape (n_tests,)
        0 to 1; nan where undefined.
    families : sequence of str, length n_tests
        The family of each test; an empty string for none.

    Returns
    -------
    numpy.ndarray of float, shape (n_tests,)
        At least `p`, at most 1; nan where `p` is undefined or the test belongs to no family.

    Notes
    -----
    The adjusted p of the i-th of a family's m tests in ascending order of p is :math:`\max_{j \le
    i} \min(1, (m - j + 1) p_{(j)})` [1]_. It controls the family-wise error under any dependence of
    the tests. Tests without p are not counted in m.

    References
    ----------
    .. [1] Holm S. A simple sequentially rejective multiple test procedure. Scand J Stat
       1979;6:65-70. doi:10.2307/4615733

    Examples
    --------
    >>> holm_within(np.array([0.01, 0.04, 0.03, 0.04]), ["x", "x", "x", ""]).tolist()
    [0.03, 0.06, 0.06, nan]
    """
    names = np.array(families, dtype=object)
    adjusted = np.full(len(names), np.nan)
    for name in sorted(set(families) - {""}):
        members = np.flatnonzero((names == name) & np.isfinite(p))
        if len(members):
            adjusted[members] = multipletests(p[members], method="holm")[1]
    return adjusted
