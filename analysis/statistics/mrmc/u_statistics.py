"""U-statistics of readers and cases, for readings in which not everybody reads everything."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Floats
from analysis.statistics.mrmc.obuchowski_rockette import beyond_rounding
from analysis.translation import later

NOT_INDEPENDENT = later("no two readings have different readers and different patients")
FEWEST_DF = 2.0
"""iMRMC's smallest degrees of freedom."""
PATIENT = 2
"""The mask of the patient."""
WAYS_TO_SHARE = 4
"""Two pairs of cases share a patient as positive, as negative, or as either in turn (two ways)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Observations:
    """The kernel of a U-statistic over readers and cases.

    Parameters
    ----------
    kernel : numpy.ndarray of float
        Sum of the kernel's values in each cell; 0 where there is none. Of shape
        (n_readers, n_cases), or (n_readers, n_positive, n_negative) for pairs of cases.
    design : numpy.ndarray of float, the same shape
        Number of values in each cell.
    same_patients : bool
        Whether both axes of the pairs are the same patients, who may have cases of both classes.
        Two pairs then share a case if any patient is in both, on either side.
    """

    kernel: Floats
    design: Floats
    same_patients: bool = False

    @property
    def mean(self) -> float:
        """The mean over all values: every reading, or pair of readings, has the same weight."""
        n = float(self.design.sum())
        return float(self.kernel.sum()) / n if n else math.nan


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moments:
    """Second moments of two means, by the axes that two observations share.

    An index is a set of axes as a bit mask: bit 0 the reader, bit 1 the case (or the positive
    case), bit 2 the negative case. Index 0 is for pairs of observations without a shared axis.

    Parameters
    ----------
    unbiased, biased : numpy.ndarray of float, shape (2**n_axes,)
        BDG's moments: the mean product over the pairs that share exactly these axes; over those
        that share at least these.
    coefficients : numpy.ndarray of float, shape (2**n_axes,)
        Share of the pairs, of the empty set minus 1: their scalar product with `unbiased` is the
        covariance of the means.
    patients : tuple of float
        Effective numbers of patients, and of readers' patients, if a patient may be on either side
        of a pair; otherwise empty.
    """

    unbiased: Floats
    biased: Floats
    coefficients: Floats
    patients: tuple[float, ...] = ()

    @property
    def covariance(self) -> float:
        """The unbiased covariance of the two means; it may be negative."""
        terms = self.coefficients * self.unbiased
        return beyond_rounding(float(terms.sum()), float(np.abs(terms).sum()))

    @property
    def components(self) -> Floats:
        """BCK's components of variance, of `unbiased`; the one of the empty set is not used."""
        return _components(self.unbiased)

    @property
    def biased_components(self) -> Floats:
        """BCK's components of `biased`."""
        return _components(self.biased)

    @property
    def component_coefficients(self) -> Floats:
        """The coefficients of BCK's components, that of the empty set 0."""
        size = len(self.coefficients)
        return np.array([self.coefficients[_supersets(mask, size)].sum() for mask in range(size)])

    @property
    def levels(self) -> Floats:
        """Effective number of levels of each set of axes; that of the empty set is not used."""
        levels = 1 / np.maximum(self.component_coefficients, np.finfo(float).tiny)
        if self.patients:
            levels[2:] = self.patients
        return levels


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
        Why there is no variance; empty where there is.
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
        Undefined where no two observations have different readers and different cases.

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
    fewest, nor below 2. A moment without pairs is the one at which its own component is 0.

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


def moments_of(a: Observations, b: Observations) -> Moments:
    """Return the second moments of two means over the same readers and cases.

    Returns
    -------
    Moments
        With nan as the moment of observations that share nothing where there are no such pairs.

    Examples
    --------
    >>> ones = Observations(kernel=np.ones((2, 3)), design=np.ones((2, 3)))
    >>> moments_of(ones, ones).coefficients.round(3).tolist()
    [-0.667, 0.333, 0.167, 0.167]
    """
    sums = _sums_of_patients if a.same_patients else _sums
    products, counts = sums(a.kernel, b.kernel), sums(a.design, b.design)
    size = len(counts)
    exact_products, exact_counts = _exact(products), _exact(counts)
    unbiased = np.full(size, np.nan)
    np.divide(exact_products, exact_counts, out=unbiased, where=exact_counts > 0)
    for mask in sorted(range(1, size), key=int.bit_count):
        if not exact_counts[mask] > 0:
            unbiased[mask] = 0.0
            unbiased[mask] = -_components(unbiased)[mask]
    biased = np.zeros(size)
    np.divide(products, counts, out=biased, where=counts > 0)
    coefficients = exact_counts / counts[0] if counts[0] else np.full(size, np.nan)
    coefficients[0] -= 1
    patients = _effective_patients(a.design) if a.same_patients else ()
    return Moments(unbiased=unbiased, biased=biased, coefficients=coefficients, patients=patients)


def _sums(a: Floats, b: Floats) -> Floats:
    """Sum the products of all pairs of cells that have at least the axes of a mask in common."""
    shared = []
    for mask in range(2**a.ndim):
        others = tuple(axis for axis in range(a.ndim) if not mask >> axis & 1)
        shared.append((a.sum(axis=others) * b.sum(axis=others)).sum())
    return np.array(shared)


def _sums_of_patients(a: Floats, b: Floats) -> Floats:
    """Sum the products of all pairs of cells with at least a reader, a patient or both in common.

    Of two cells, (p, q) and (r, s), any of p = r, q = s, p = s and q = r counts: the sum over all
    pairs with a common patient by inclusion and exclusion. Any three of them imply all four.
    """

    def sharing(first: Floats, second: Floats) -> float:
        at_first, at_second = (each.sum(axis=0) + each.sum(axis=1) for each in (first, second))
        own_first, own_second = first.diagonal(), second.diagonal()
        twice = (first * (second + second.T)).sum() + own_first @ at_second + at_first @ own_second
        return float(at_first @ at_second - twice + 3 * own_first @ own_second)

    nothing, reader, *_ = _sums(a, b)
    of_readers = math.fsum(sharing(*each) for each in zip(a, b, strict=True))
    return np.array([nothing, reader, sharing(a.sum(axis=0), b.sum(axis=0)), of_readers])


def _effective_patients(design: Floats) -> tuple[float, ...]:
    """Return the effective numbers of patients, and of readers' patients."""
    pairs = design.sum(axis=1) + design.sum(axis=2)
    n = max(float(pairs.sum()), 1.0)
    squares = ((pairs.sum(axis=0) ** 2).sum(), (pairs**2).sum())
    return tuple(float(n**2 / max(each, 1.0)) for each in squares)


def _exact(sums: Floats) -> Floats:
    """Return sums over pairs that share exactly a set, from those that share at least it."""
    size = len(sums)
    signed = [
        [_sign(other, mask) * sums[other] for other in _supersets(mask, size)]
        for mask in range(size)
    ]
    return np.array([math.fsum(terms) for terms in signed])


def _sign(mask: int, other: int) -> int:
    return -1 if (mask ^ other).bit_count() % 2 else 1


def _supersets(mask: int, size: int) -> list[int]:
    return [other for other in range(size) if other & mask == mask]


def _components(moments: Floats) -> Floats:
    subsets = [[o for o in range(mask + 1) if o & mask == o] for mask in range(len(moments))]
    return np.array(
        [
            math.fsum(_sign(other, mask) * moments[other] for other in others)
            for mask, others in enumerate(subsets)
        ]
    )


def _df_of_mean_squares(moments: tuple[Moments, ...], variance: float) -> float:
    """Return iMRMC's degrees of freedom: of the mean squares of readers and of cases."""
    coefficients = [each.component_coefficients for each in moments]
    components = [each.biased_components for each in moments]
    factors = [1 << axis for axis in range(int(math.log2(len(coefficients[0]))))]
    shares, fewest = [], []
    for factor in factors:
        # Half away from zero, as in Java.
        own = [math.floor(each.levels[factor] - 0.5) for each in moments[:2]]
        ways = WAYS_TO_SHARE if moments[0].patients and factor == PATIENT else 1
        parts = [ways * each[factor] for each in components]
        if _is_paired(coefficients, factor):
            parts, own = [parts[0] + parts[1] - 2 * parts[2]], [min(own)]
        shares += [(part / df, df) for part, df in zip(parts, own, strict=False) if df]
        fewest += own
    return _satterthwaite(variance, shares, min(fewest))


def _df_of_components(moments: tuple[Moments, ...], variance: float) -> float:
    """Return the degrees of freedom of BCK's components, each with its share of the variance."""
    coefficients = [each.component_coefficients for each in moments]
    components = [each.components for each in moments]
    shares, fewest = [], []
    for mask in range(1, len(coefficients[0])):
        parts = [c[mask] * each[mask] for c, each in zip(coefficients, components, strict=True)]
        own = [each.levels[mask] - 1 for each in moments[:2]]
        if _is_paired(coefficients, mask):
            parts, own = [parts[0] + parts[1] - 2 * parts[2]], [sum(own) / 2]
        shares += list(zip(parts, own, strict=False))
        fewest += own
    return _satterthwaite(variance, shares, min(fewest))


def _is_paired(coefficients: list[Floats], mask: int) -> bool:
    """Return whether two means share the axes of a mask, so that its component has a covariance."""
    return len(coefficients) == 3 and bool(coefficients[2][mask] > 0)


def _satterthwaite(variance: float, shares: list[tuple[float, float]], fewest: float) -> float:
    squares = math.fsum(share**2 / df for share, df in shares if df > 0)
    df = variance**2 / squares if squares else math.inf
    return max(df, fewest, FEWEST_DF)
