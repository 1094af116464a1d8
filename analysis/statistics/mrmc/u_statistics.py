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
"""The smallest degrees of freedom in iMRMC."""
PATIENT_MASK = 2
"""The bit mask of the axis of patients."""
WAYS_TO_SHARE = 4
"""A patient shared by two pairs of cases is positive or negative in each: four combinations."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UStatistic:
    """A mean, or the difference between two means, with its variance over readers and cases.

    Parameters
    ----------
    estimate : float
        The mean or difference, in the unit of the kernel.
    variance : float
        The variance, which is unbiased and may therefore be negative; nan if undefined.
    df_bdg, df_bck : float
        Degrees of freedom from BDG's mean squares, and by Satterthwaite's rule from BCK's
        components.
    moments : tuple of Moments
        The moments of the mean; for a difference those of the first mean, of the second mean, and
        of both.
    undefined_because : str
        Why the variance is undefined; empty if it is defined.
    """

    estimate: float
    variance: float
    df_bdg: float
    df_bck: float
    moments: tuple[Moments, ...] = ()
    undefined_because: str = ""


def u_statistic(a: Observations, b: Observations | None = None) -> UStatistic:
    r"""Estimate a mean over readers and cases, or a difference of two means, with its variance.

    Parameters
    ----------
    a : Observations
        The observations of the first, or the only, mean.
    b : Observations, optional
        Those of the second mean, with the same readers and cases on its axes.

    Returns
    -------
    UStatistic
        Undefined if no two observations have different readers and different cases.

    Notes
    -----
    Let :math:`M_S` be the mean product of two observations that share exactly the axes S, and
    :math:`c_S` the share of such pairs. The variance of a mean is :math:`\sum_S c_S M_S -
    M_\emptyset` (Barrett, Kupinski, Clarkson [1]_; Gallas et al. [2]_), which does not require
    complete data. BCK's component of S is :math:`\sum_{T \subseteq S} (-1)^{|S - T|} M_T`; its
    coefficient is the sum of :math:`c_T` over all supersets T of S. Both forms give the same
    variance. The degrees of freedom are those of iMRMC. `df_bdg` uses the mean squares of readers
    and cases, which are the components of the biased moments. `df_bck` uses each component's share
    of the variance, with 1 / coefficient - 1 degrees of freedom. Neither is ever below the degrees
    of freedom of the factor with the fewest levels, nor below 2. A moment without pairs is set so
    that its own component is 0.

    If patients have cases of both classes, a pair of cases has one or two patients, and two pairs
    share a case if any patient is in both, as in Obuchowski's variance of clustered areas [3]_. The
    effective number of patients is :math:`(2N)^2 / \sum_p n_p^2`, where N is the number of pairs
    and :math:`n_p` the number of pairs that contain a case of patient p; a pair of two cases of
    the patient is counted twice.

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
        return statistic_of_moments(a.mean, (moments_of(a, a),))
    return statistic_of_moments(
        a.mean - b.mean, (moments_of(a, a), moments_of(b, b), moments_of(a, b))
    )


def statistic_of_moments(estimate: float, moments: tuple[Moments, ...]) -> UStatistic:
    """Return the variance and degrees of freedom of an estimate with these moments.

    Parameters
    ----------
    estimate : float
        A mean or a difference of two means.
    moments : tuple of Moments
        The moments of the mean; for a difference those of the first mean, of the second mean, and
        of both.
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
    """Return iMRMC's degrees of freedom, from the mean squares of readers and of cases."""
    coefficients = [each.component_coefficients for each in moments]
    components = [each.biased_components for each in moments]
    factors = [1 << axis for axis in range(int(math.log2(len(coefficients[0]))))]
    shares, all_dfs = [], []
    for factor in factors:
        # Halves are rounded away from zero, as in Java.
        dfs = [math.floor(each.levels[factor] - 0.5) for each in moments[:2]]
        ways = WAYS_TO_SHARE if moments[0].patients and factor == PATIENT_MASK else 1
        parts = [ways * each[factor] for each in components]
        if _is_paired(coefficients, factor):
            parts, dfs = [parts[0] + parts[1] - 2 * parts[2]], [min(dfs)]
        shares += [(part / df, df) for part, df in zip(parts, dfs, strict=False) if df]
        all_dfs += dfs
    return _satterthwaite(variance, shares, min(all_dfs))


def _df_of_components(moments: tuple[Moments, ...], variance: float) -> float:
    """Return the degrees of freedom from each BCK component's share of the variance."""
    coefficients = [each.component_coefficients for each in moments]
    components = [each.components for each in moments]
    shares, all_dfs = [], []
    for mask in range(1, len(coefficients[0])):
        parts = [c[mask] * each[mask] for c, each in zip(coefficients, components, strict=True)]
        dfs = [each.levels[mask] - 1 for each in moments[:2]]
        if _is_paired(coefficients, mask):
            parts, dfs = [parts[0] + parts[1] - 2 * parts[2]], [sum(dfs) / 2]
        shares += list(zip(parts, dfs, strict=False))
        all_dfs += dfs
    return _satterthwaite(variance, shares, min(all_dfs))


def _is_paired(coefficients: list[Floats], mask: int) -> bool:
    """Return whether two means share the axes of a mask, so that their components covary."""
    return len(coefficients) == 3 and bool(coefficients[2][mask] > 0)


def _satterthwaite(variance: float, shares: list[tuple[float, float]], all_dfs: float) -> float:
    squares = math.fsum(share**2 / df for share, df in shares if df > 0)
    df = variance**2 / squares if squares else math.inf
    return max(df, all_dfs, FEWEST_DF)
