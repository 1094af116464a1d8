"""U-statistics of readers and cases, for designs in which not every reader reads every case."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Floats
from analysis.statistics.mrmc.second_moments import Moments, Observations, moments_of
from analysis.translation import later

NOT_INDEPENDENT = later("no two readings have different readers and different patients")
FEWEST_DF = 2.0
"""iMRMC's smallest degrees of freedom."""
PATIENT = 2
"""The mask of the patient."""
WAYS_TO_SHARE = 4
"""Two pairs of cases share a patient as positive, as negative, or once as each (two ways)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UStatistic:
    """A mean, or the difference of two, with its variance over readers and cases.

    Parameters
    ----------
    estimate : float
        In the unit of the kernel.
    variance : float
        Unbiased, and so possibly negative; nan where undefined.
    df_bdg, df_bck : float
        Degrees of freedom from BDG's mean squares, and by Satterthwaite's rule from BCK's
        components.
    moments : tuple of Moments
        Of the mean; of the first, of the second, and of both for a difference.
    undefined_because : str
        Why there is no variance; empty if there is.
    """

    estimate: float
    variance: float
    df_bdg: float
    df_bck: float
    moments: tuple[Moments, ...] = ()
    undefined_because: str = ""


def u_statistic(a: Observations, b: Observations | None = None) -> UStatistic:
    r"""Estimate a mean over readers and cases, or a difference of two, with its variance.

    Parameters
    ----------
    a : Observations
        The first, or the only, mean.
    b : Observations, optional
        The second, with the same readers and cases on its axes.

    Returns
    -------
    UStatistic
        Undefined if no two observations have different readers and different cases.

    Notes
    -----
    With :math:`M_S` the mean product of two observations that share exactly the axes S, and
    :math:`c_S` the share of these pairs, the variance of a mean is :math:`\sum_S c_S M_S -
    M_\emptyset` (Barrett, Kupinski, Clarkson [1]_; Gallas et al. [2]_). It does not need
    complete data. BCK's component of S is :math:`\sum_{T \subseteq S} (-1)^{|S - T|} M_T`; its
    coefficient is the sum of the :math:`c_T` with T a superset of S. Both forms give the same
    variance. Degrees of freedom as in iMRMC: of the mean squares of readers and cases, which are
    the components of the biased moments; or of each component's share of the variance, with 1 over
    its coefficient less 1 degrees of freedom. They are never below those of the factor with the
    fewest levels, nor below 2. A moment without pairs is the one at which its own component is 0.

    Where patients have cases of both classes, a pair of cases has one or two patients, and two
    pairs share a case if any patient is in both, as in Obuchowski's variance of clustered areas
    [3]_. The effective number of patients is :math:`(2N)^2 / \sum_p n_p^2`, with :math:`n_p` the
    number of pairs that contain a case of patient p, a pair of the patient's own cases counted
    twice, and N the number of pairs.

    References
    ----------
    .. [1] Clarkson E, Kupinski MA, Barrett HH. A probabilistic model for the MRMC method, part 1:
       theoretical development. Acad Radiol 2006;13:1410-1421. doi:10.1016/j.acra.2006.07.016
    .. [2] Gallas BD, Bandos A, Samuelson FW, Wagner RF. A framework for random-effects ROC
       analysis: biases with the bootstrap and other variance estimators. Commun Stat Theory
       Methods 2009;38:2586-2603. doi:10.1080/03610920802610084
    .. [3] Obuchowski NA. Nonparametric analysis of clustered ROC curve data. Biometrics
       1997;53:567-578. doi:10.2307/2533958

    Examples
    --------
    Two readers, three cases; the second reader did not read the last one:

    >>> scores = Observations(
    ...     kernel=np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]),
    ...     design=np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]]))
    >>> result = u_statistic(scores)
    >>> result.estimate, round(result.variance, 4)
    (0.8, -0.11)
    """
    if b is None:
        return of_moments(a.mean, (moments_of(a, a),))
    return of_moments(a.mean - b.mean, (moments_of(a, a), moments_of(b, b), moments_of(a, b)))


def of_moments(estimate: float, moments: tuple[Moments, ...]) -> UStatistic:
    """Return the variance and degrees of freedom of an estimate with these moments.

    Parameters
    ----------
    estimate : float
        A mean or a difference of two.
    moments : tuple of Moments
        Of the mean; of the first mean, of the second, and of both for a difference.
    """
    if not all(np.isfinite(each.unbiased[0]) for each in moments):
        nan = math.nan
        return UStatistic(
            estimate=estimate,
            variance=nan,
            df_bdg=nan,
            df_bck=nan,
            undefined_because=NOT_INDEPENDENT,
        )
    variance = math.fsum(
        weight * each.covariance for weight, each in zip((1, 1, -2), moments, strict=False)
    )
    return UStatistic(
        estimate=estimate,
        variance=variance,
        df_bdg=_df_of_mean_squares(moments, variance),
        df_bck=_df_of_components(moments, variance),
        moments=moments,
    )


def _df_of_mean_squares(moments: tuple[Moments, ...], variance: float) -> float:
    """Return iMRMC's degrees of freedom: of the mean squares of readers and of cases."""
    coefficients = [each.component_coefficients for each in moments]
    components = [each.biased_components for each in moments]
    factors = [1 << axis for axis in range(int(math.log2(len(coefficients[0]))))]
    shares, fewest = [], []
    for factor in factors:
        # Half away from zero, as in Java.
        own_df = [math.floor(each.levels[factor] - 0.5) for each in moments[:2]]
        ways = WAYS_TO_SHARE if moments[0].patients and factor == PATIENT else 1
        parts = [ways * each[factor] for each in components]
        if _is_paired(coefficients, factor):
            parts, own_df = [parts[0] + parts[1] - 2 * parts[2]], [min(own_df)]
        shares += [(part / df, df) for part, df in zip(parts, own_df, strict=False) if df]
        fewest += own_df
    return _satterthwaite(variance, shares, min(fewest))


def _df_of_components(moments: tuple[Moments, ...], variance: float) -> float:
    """Return the degrees of freedom of BCK's components, each with its share of the variance."""
    coefficients = [each.component_coefficients for each in moments]
    components = [each.components for each in moments]
    shares, fewest = [], []
    for mask in range(1, len(coefficients[0])):
        parts = [c[mask] * each[mask] for c, each in zip(coefficients, components, strict=True)]
        own_df = [each.levels[mask] - 1 for each in moments[:2]]
        if _is_paired(coefficients, mask):
            parts, own_df = [parts[0] + parts[1] - 2 * parts[2]], [sum(own_df) / 2]
        shares += list(zip(parts, own_df, strict=False))
        fewest += own_df
    return _satterthwaite(variance, shares, min(fewest))


def _is_paired(coefficients: list[Floats], mask: int) -> bool:
    """Return whether two means share the axes of a mask, so that its component has a covariance."""
    return len(coefficients) == 3 and bool(coefficients[2][mask] > 0)


def _satterthwaite(variance: float, shares: list[tuple[float, float]], fewest: float) -> float:
    squares = math.fsum(share**2 / df for share, df in shares if df > 0)
    df = variance**2 / squares if squares else math.inf
    return max(df, fewest, FEWEST_DF)
