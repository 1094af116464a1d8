"""The unbiased covariance of empirical areas under the ROC curve."""

from __future__ import annotations

import numpy as np

from analysis.arrays import Bools, Floats


def unbiased_covariance(ratings: Floats, positive: Bools) -> Floats:
    r"""Return the U-statistics estimate of the covariances of several raters' areas.

    Parameters
    ----------
    ratings : numpy.ndarray of float, shape (n_items, n_raters)
        Higher means more likely positive.
    positive : numpy.ndarray of bool, shape (n_items,)
        Whether the reference standard is positive; two items or more of each class.

    Returns
    -------
    numpy.ndarray of float, shape (n_raters, n_raters)
        Unbiased; a variance may come out negative.

    Notes
    -----
    With :math:`\psi_{ij}` the score of a pair of items (1, 1/2 or 0), the product of two areas
    minus the mean of :math:`\psi_{ij} \psi'_{i'j'}` over pairs that share no item [1]_. Time goes
    with the product of the numbers of positive and negative items.

    References
    ----------
    .. [1] Gallas BD, Bandos A, Samuelson FW, Wagner RF. A framework for random-effects ROC
       analysis: biases with the bootstrap and other variance estimators. Commun Stat Theory
       Methods 2009;38:2586-2603. doi:10.1080/03610920802610084

    Examples
    --------
    >>> ratings = np.array([[1.0], [2.0], [3.0], [2.0], [4.0]])
    >>> unbiased_covariance(ratings, np.arange(5) > 2).round(4).tolist()
    [[0.0625]]
    """
    high, low = ratings[positive], ratings[~positive]
    m, n = len(high), len(low)
    k = ratings.shape[1]
    by_high, by_low, by_pair = np.zeros((k, k)), np.zeros((n, k)), np.zeros((k, k))
    for rated in high:
        wins = (rated > low).astype(float) + 0.5 * (rated == low)
        sums = wins.sum(axis=0)
        by_high += np.outer(sums, sums)
        by_pair += wins.T @ wins
        by_low += wins
    total = by_low.sum(axis=0)
    products = np.outer(total, total)
    disjoint = products - by_high - by_low.T @ by_low + by_pair
    covariance: Floats = products / (m * n) ** 2 - disjoint / (m * (m - 1) * n * (n - 1))
    return covariance
