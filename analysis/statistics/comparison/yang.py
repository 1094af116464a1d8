"""Yang's test of two raters' accuracy on items that cluster."""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

from analysis.arrays import Floats, Ints


def yang_test(correct: Floats, sizes: Floats, a: Ints, b: Ints) -> tuple[Floats, Floats]:
    r"""Test pairs of raters for equal accuracy where items cluster.

    Parameters
    ----------
    correct : numpy.ndarray of float, shape (n_clusters, n_raters)
        How many items of each cluster each rater got right; whole numbers.
    sizes : numpy.ndarray of float, shape (n_clusters,)
        Items of each cluster, at least 1.
    a, b : numpy.ndarray of int, shape (n_pairs,)
        The columns of each pair's first and second rater.

    Returns
    -------
    statistic, p : numpy.ndarray of float, shape (n_pairs,)
        Chi-squared with one degree of freedom, and its upper tail. Both nan with fewer than two
        clusters; 0 and 1 where the raters got equally many items right in every cluster.

    Notes
    -----
    With :math:`d_k` the items of cluster k that only the first got right less those that only the
    second did, :math:`n_k` its items, :math:`\hat\delta = \sum_k d_k / \sum_k n_k` and K clusters,
    the modified Obuchowski test [1]_ is

    .. math:: X^2 = \frac{K - 1}{K} \, \frac{(\sum_k d_k)^2}
       {\frac12 \sum_k \{(d_k - n_k \hat\delta)^2 + d_k^2\}}.

    Its variance takes Obuchowski's, which supposes no difference, and the empirical one by halves.
    Items weigh the same, whatever their cluster. The sums run over matrix products of whole
    numbers, which are exact. The variance is 0 only where every :math:`d_k` is 0, and so the
    difference: nothing speaks for a difference then, as for McNemar's test without discordant
    items.

    References
    ----------
    .. [1] Yang Z, Sun X, Hardin JW. A note on the tests for clustered matched-pair binary data.
       Biom J 2010;52:638-652. doi:10.1002/bimj.201000035

    Examples
    --------
    Four patients of 2, 2, 3 and 1 films; the first reader is right more often in three of them:

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
    none = squares == 0
    statistic = (n_clusters - 1) / n_clusters * difference**2 / np.where(none, 1.0, variance)
    return statistic, np.asarray(chi2.sf(statistic, 1))
