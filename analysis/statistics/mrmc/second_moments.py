"""Second moments of means over readers and cases, by the axes that two observations share."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Floats
from analysis.statistics.mrmc.obuchowski_rockette import beyond_rounding


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

    Two cells (p, q) and (r, s) share a patient if p = r, q = s, p = s or q = r; the sum over all
    such pairs follows by inclusion and exclusion. Any three of them imply all four.
    """

    def sharing(first: Floats, second: Floats) -> float:
        at_first, at_second = (each.sum(axis=0) + each.sum(axis=1) for each in (first, second))
        own_first, own_second = first.diagonal(), second.diagonal()
        doubled = (
            (first * (second + second.T)).sum() + own_first @ at_second + at_first @ own_second
        )
        return float(at_first @ at_second - doubled + 3 * own_first @ own_second)

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
