"""Figures of merit of several raters on the same items, with their covariances: percent correct."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.arrays import Bools, Floats, Ints
from analysis.readings.clusters import ALL_IN_ONE, ratio, sums_by_cluster
from analysis.translation import later


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Merits:
    """Figures of merit of several raters on the same items.

    Parameters
    ----------
    values : numpy.ndarray of float, shape (n_raters,)
        One figure of merit a rater: a proportion, an area, or a difference of two.
    covariance : numpy.ndarray of float, shape (n_raters, n_raters)
        Their covariances over the sampling of items, raters fixed; nan where undefined.
    no_covariance : str
        Why the covariances are undefined; empty where they are not.
    """

    values: Floats
    covariance: Floats
    no_covariance: str = ""

    def take(self, raters: Ints) -> Merits:
        """Return the figures of some raters, in this order."""
        return Merits(
            values=self.values[raters],
            covariance=self.covariance[np.ix_(raters, raters)],
            no_covariance=self.no_covariance,
        )


def without_covariance(values: Floats, reason: str) -> Merits:
    """Return figures of merit whose covariances are undefined, with the reason.

    Parameters
    ----------
    values : numpy.ndarray of float, shape (n_raters,)
        Figures of merit; nan where they are undefined too.
    reason : str
        Why there are no covariances.

    Examples
    --------
    >>> without_covariance(np.array([0.5]), "a single item").covariance.tolist()
    [[nan]]
    """
    nothing = np.full((len(values), len(values)), np.nan)
    return Merits(values=values, covariance=nothing, no_covariance=reason)


def differences(merits: Merits, a: Ints, b: Ints) -> Merits:
    r"""Return figures of merit of differences: rater a[j] minus rater b[j].

    Parameters
    ----------
    merits : Merits
        All raters.
    a, b : numpy.ndarray of int, shape (n_differences,)
        Positions of the raters. A model against readers is `a` the model over and over; two
        conditions are the same readers' columns under each.

    Returns
    -------
    Merits
        Of shape (n_differences,).

    Notes
    -----
    :math:`Cov(d_j, d_k) = Cov(a_j, a_k) + Cov(b_j, b_k) - Cov(a_j, b_k) - Cov(b_j, a_k)`.

    Examples
    --------
    >>> merits = Merits(values=np.array([0.9, 0.7]), covariance=np.array([[4.0, 1.0], [1.0, 2.0]]))
    >>> d = differences(merits, np.array([0]), np.array([1]))
    >>> d.values.round(3).tolist(), d.covariance.tolist()
    ([0.2], [[4.0]])
    """
    s = merits.covariance
    within = s[np.ix_(a, a)] + s[np.ix_(b, b)]
    between = s[np.ix_(a, b)] + s[np.ix_(b, a)]
    return Merits(
        values=merits.values[a] - merits.values[b],
        covariance=within - between,
        no_covariance=merits.no_covariance,
    )


NO_ITEM = later("no item has a reference standard")
ONE_ITEM = later("a single item")


def percent_correct(correct: Bools, clusters: Ints | None = None) -> Merits:
    r"""Return each rater's proportion of correct answers, with covariances over items.

    Parameters
    ----------
    correct : numpy.ndarray of bool, shape (n_items, n_raters)
        Whether each rater's answer is the reference standard's.
    clusters : numpy.ndarray of int, shape (n_items,), optional
        Ascending: the patient of each item. Default: every item stands alone.

    Returns
    -------
    Merits
        Proportions 0 to 1. Without items nothing is defined, with a single item or cluster no
        covariance.

    Notes
    -----
    With the sums :math:`S_{ac}` of correct answers of rater a to the :math:`n_c` items of cluster
    c, C clusters and N items,

    .. math:: Cov(p_a, p_b) = \frac{C}{C - 1}
              \sum_c \frac{(S_{ac} - n_c p_a)(S_{bc} - n_c p_b)}{N^2},

    the linearised covariance of a ratio. Where every item stands alone this is the covariance of
    the answers over N, with N - 1 in its denominator, which is what the jackknife gives; no loop is
    needed. Sums are of whole numbers and so do not depend on the order of items or raters.

    References
    ----------
    .. [1] Obuchowski NA, Rockette HE. Hypothesis testing of diagnostic accuracy for multiple
       readers and multiple tests: an ANOVA approach with dependent observations. Commun Stat
       Simul Comput 1995;24:285-308. doi:10.1080/03610919508813243
    .. [2] Rao JNK, Scott AJ. A simple method for the analysis of clustered binary data. Biometrics
       1992;48:577-585. doi:10.2307/2532311

    Examples
    --------
    >>> merits = percent_correct(np.array([[1, 1], [1, 0], [0, 0], [1, 1]], dtype=bool))
    >>> merits.values.tolist(), merits.covariance.round(4).tolist()
    ([0.75, 0.5], [[0.0625, 0.0417], [0.0417, 0.0833]])
    """
    n, n_raters = correct.shape
    clusters = np.arange(n) if clusters is None else clusters
    counted = np.column_stack([correct, np.ones(n)]).astype(np.float64)
    sums, present = sums_by_cluster(counted, clusters)
    sums, sizes = sums[:, :-1], sums[:, -1]
    values = ratio(sums.sum(axis=0), np.full(n_raters, float(n)))
    reason = no_covariance(n, len(present))
    if reason:
        return without_covariance(values, reason)
    scale = len(present) / (len(present) - 1) / n**2
    return Merits(values=values, covariance=centred_products(sums, sizes, sums, sizes) * scale)


def no_covariance(n_items: int, n_clusters: int) -> str:
    """Return why so few items give no covariance, empty where they do.

    Examples
    --------
    >>> no_covariance(4, 1), no_covariance(4, 2)
    ('all items belong to one patient or examination', '')
    """
    if n_items == 0:
        return NO_ITEM
    if n_clusters == 1:
        return ONE_ITEM if n_items == 1 else ALL_IN_ONE
    return ""


def centred_products(a: Floats, a_sizes: Floats, b: Floats, b_sizes: Floats) -> Floats:
    r"""Return the sums of products of cluster sums about their means.

    Parameters
    ----------
    a, b : numpy.ndarray of float, shape (n_clusters, n_raters)
        Sums of whole numbers over the units of each cluster.
    a_sizes, b_sizes : numpy.ndarray of float, shape (n_clusters,)
        Units of each cluster.

    Returns
    -------
    numpy.ndarray of float, shape (n_raters, n_raters)
        :math:`\sum_c (A_{ic} - m_c \bar A_i)(B_{jc} - n_c \bar B_j)`, the mean being over units.

    Notes
    -----
    Multiplied out over the common denominator, so that whole numbers stay whole to the last
    division and equal raters get equal numbers.

    Examples
    --------
    >>> ones = np.ones(3)
    >>> a = np.array([[0.0], [1.0], [2.0]])
    >>> centred_products(a, ones, a, ones).tolist()
    [[2.0]]
    """
    m, n = a_sizes.sum(), b_sizes.sum()
    a_total, b_total = a.sum(axis=0)[:, None], b.sum(axis=0)[None, :]
    a_weighted = (a.T @ b_sizes)[:, None]
    b_weighted = (b.T @ a_sizes)[None, :]
    terms = m * n * (a.T @ b) + a_total * b_total * (a_sizes @ b_sizes)
    centred: Floats = (terms - (n * a_total * b_weighted + m * a_weighted * b_total)) / (m * n)
    return centred
