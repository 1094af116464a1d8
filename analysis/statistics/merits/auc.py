"""The empirical area under the ROC curve of several raters on the same items."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from analysis.arrays import Bools, Floats, Ints
from analysis.errors import OptionsError
from analysis.readings.clusters import sums_by_cluster
from analysis.statistics.merits.merits import NO_ITEM, Merits, centred_products, without_covariance
from analysis.translation import later

ONE_CLASS = later("the items are all of one class")
FEW_POSITIVE = "the positive items belong to a single patient or examination, or are one item"
FEW_NEGATIVE = "the negative items belong to a single patient or examination, or are one item"


class AucCovariance(StrEnum):
    """How covariances of areas are estimated."""

    DELONG = "DeLong"
    JACKKNIFE = "jackknife"
    UNBIASED = "unbiased"


def empirical_auc(
    ratings: Floats,
    positive: Bools,
    clusters: Ints | None = None,
    covariance: AucCovariance = AucCovariance.DELONG,
) -> Merits:
    r"""Return each rater's empirical AUC, with covariances over items.

    Parameters
    ----------
    ratings : numpy.ndarray of float, shape (n_items, n_raters)
        Higher means more likely positive; -inf and inf are ratings, nan is not.
    positive : numpy.ndarray of bool, shape (n_items,)
        Whether the reference standard is positive.
    clusters : numpy.ndarray of int, shape (n_items,), optional
        Ascending: the patient of each item. With DeLong's covariances only. Default: every item
        stands alone.
    covariance : AucCovariance, default DELONG
        How covariances are estimated.

    Returns
    -------
    Merits
        Areas 0 to 1. Undefined where a class has no item; without covariances where a class has
        one item, or one patient.

    Raises
    ------
    OptionsError
        When clusters are given with another covariance than DeLong's.

    Notes
    -----
    The area is the mean over pairs of a positive and a negative item of 1 where the positive is
    rated higher, 1/2 where they tie, else 0. Its components are each item's mean over its pairs,
    :math:`V_i`. DeLong [1]_: the covariance of the positive items' components over their number m,
    plus that of the n negative ones over n, each with ddof 1. In clusters [2]_ the components are
    summed over each patient first, and the patients that have both kinds of item add twice their
    covariance. The jackknife leaves out one item at a time; for this statistic every leave-one-out
    value is a linear function of the components, so that no loop is needed [3]_. Unbiased: the
    U-statistics estimate [4]_.

    References
    ----------
    .. [1] DeLong ER, DeLong DM, Clarke-Pearson DL. Comparing the areas under two or more
       correlated receiver operating characteristic curves: a nonparametric approach. Biometrics
       1988;44:837-845. doi:10.2307/2531595
    .. [2] Obuchowski NA. Nonparametric analysis of clustered ROC curve data. Biometrics
       1997;53:567-578. doi:10.2307/2533958
    .. [3] Hillis SL, Obuchowski NA, Schartz KM, Berbaum KS. A comparison of the
       Dorfman-Berbaum-Metz and Obuchowski-Rockette methods for receiver operating characteristic
       (ROC) data. Stat Med 2005;24:1579-1607. doi:10.1002/sim.2024
    .. [4] Gallas BD, Bandos A, Samuelson FW, Wagner RF. A framework for random-effects ROC
       analysis: biases with the bootstrap and other variance estimators. Commun Stat Theory
       Methods 2009;38:2586-2603. doi:10.1080/03610920802610084

    Examples
    --------
    >>> ratings = np.array([[1.0], [2.0], [3.0], [2.0], [4.0]])
    >>> positive = np.array([False, False, False, True, True])
    >>> merits = empirical_auc(ratings, positive)
    >>> merits.values.tolist(), merits.covariance.round(4).tolist()
    ([0.75], [[0.0833]])
    """
    if clusters is not None and covariance is not AucCovariance.DELONG:
        raise OptionsError(f"clusters go with DeLong's covariances, not with {covariance.value}")
    m, n = int(positive.sum()), int((~positive).sum())
    if not (m and n):
        nothing = np.full(ratings.shape[1], np.nan)
        return without_covariance(nothing, ONE_CLASS if m or n else NO_ITEM)
    wins = _doubled_wins(ratings, positive)
    values = wins[positive].sum(axis=0) / (2.0 * m * n)
    groups = np.arange(m + n) if clusters is None else clusters
    for part, reason in ((positive, FEW_POSITIVE), (~positive, FEW_NEGATIVE)):
        if len(np.unique(groups[part])) == 1:
            return without_covariance(values, reason)
    if covariance is AucCovariance.UNBIASED:
        matrix = unbiased_covariance(ratings, positive)
    elif covariance is AucCovariance.JACKKNIFE:
        matrix = _jackknife(wins, positive)
    else:
        matrix = _delong(wins, positive, groups)
    return Merits(values=values, covariance=matrix)


def _doubled_wins(ratings: Floats, positive: Bools) -> Floats:
    """Count twice each item's pairs in which the positive is rated higher, ties once."""
    wins = np.empty(ratings.shape)
    for column, rated in enumerate(ratings.T):
        high, low = np.sort(rated[positive]), np.sort(rated[~positive])
        wins[positive, column] = np.searchsorted(low, rated[positive], "left") + np.searchsorted(
            low, rated[positive], "right"
        )
        wins[~positive, column] = 2 * len(high) - (
            np.searchsorted(high, rated[~positive], "left")
            + np.searchsorted(high, rated[~positive], "right")
        )
    return wins


def _jackknife(wins: Floats, positive: Bools) -> Floats:
    r"""Leave one item out: :math:`\theta_{(i)} - \theta = -(V_i - \theta) / (m - 1)`."""
    m, n = int(positive.sum()), int((~positive).sum())
    total = np.zeros((wins.shape[1],) * 2)
    for part, own, other in ((positive, m, n), (~positive, n, m)):
        total += _products(wins[part], np.arange(own)) / (2.0 * other * (own - 1)) ** 2
    return (m + n - 1) / (m + n) * total


def _delong(wins: Floats, positive: Bools, clusters: Ints) -> Floats:
    m, n = int(positive.sum()), int((~positive).sum())
    total = np.zeros((wins.shape[1],) * 2)
    for part, own, other in ((positive, m, n), (~positive, n, m)):
        patients = len(np.unique(clusters[part]))
        within = _products(wins[part], clusters[part]) / (2.0 * other * own) ** 2
        total += patients / (patients - 1) * within
    patients = len(np.unique(clusters))
    if patients == m + n:
        return total
    both = _mixed_products(wins, positive, clusters) / (2.0 * m * n) ** 2
    covariance: Floats = total + patients / (patients - 1) * (both + both.T)
    return covariance


def _products(wins: Floats, clusters: Ints) -> Floats:
    sums, _ = sums_by_cluster(np.column_stack([wins, np.ones(len(wins))]), clusters)
    return centred_products(sums[:, :-1], sums[:, -1], sums[:, :-1], sums[:, -1])


def _mixed_products(wins: Floats, positive: Bools, clusters: Ints) -> Floats:
    """Products of a patient's positive components with its negative ones, about their means."""
    counted = np.column_stack([wins, np.ones(len(wins))])
    high, _ = sums_by_cluster(np.where(positive[:, None], counted, 0.0), clusters)
    low, _ = sums_by_cluster(np.where(positive[:, None], 0.0, counted), clusters)
    return centred_products(high[:, :-1], high[:, -1], low[:, :-1], low[:, -1])


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
