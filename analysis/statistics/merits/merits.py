"""Figures of merit of several raters on the same items, with their covariances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.arrays import Floats, Ints


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
