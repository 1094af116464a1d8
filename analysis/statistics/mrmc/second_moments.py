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
        Sum of the kernel's values in each cell; 0 if there are none. The shape is
        (n_readers, n_cases), or (n_readers, n_positive, n_negative) for pairs of cases.
    design : numpy.ndarray of float, the same shape
        Number of values in each cell.
    same_patients : bool
        Whether the positive and the negative axis have the same patients, who may have cases of
        both classes. Two pairs then share a case if any patient is in both pairs, in either class.
    """

    kernel: Floats
    design: Floats
    same_patients: bool = False

    @property
    def mean(self) -> float:
        """The mean over all values; every reading, or pair of readings, has the same weight."""
        n = float(self.design.sum())
        return float(self.kernel.sum()) / n if n else math.nan


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moments:
    """Second moments of two means, by the axes that two observations share.

    The index is a bit mask of the shared axes: bit 0 for the reader, bit 1 for the case (or the
    positive case), bit 2 for the negative case. Index 0 is for pairs of observations that share
    nothing.

    Parameters
    ----------
    unbiased, biased : numpy.ndarray of float, shape (2**n_axes,)
        BDG's moments: the mean product over the pairs that share exactly these axes, and over those
        that share at least these axes.
    coefficients : numpy.ndarray of float, shape (2**n_axes,)
        Share of the pairs that share exactly these axes; for the empty set, this share minus 1. The
        scalar product with `unbiased` is the covariance of the means.
    patients : tuple of float
        Effective numbers of patients, and of combinations of reader and patient, if a patient may
        have cases of both classes; otherwise empty.
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
        """BCK's variance components from `unbiased`; that of the empty set is not used."""
        return _components(self.unbiased)

    @property
    def biased_components(self) -> Floats:
        """BCK's variance components from `biased`."""
        return _components(self.biased)

    @property
    def component_coefficients(self) -> Floats:
        """The coefficients of BCK's components; that of the empty set is 0."""
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
        The moment of observations that share nothing is nan if there are no such pairs.

    Examples
    --------
    >>> ones = Observations(kernel=np.ones((2, 3)), design=np.ones((2, 3)))
    >>> moments_of(ones, ones).coefficients.round(3).tolist()
    [-0.667, 0.333, 0.167, 0.167]
    """
    sums = _sums_by_shared_patients if a.same_patients else _sums_by_shared_axes
    products, counts = sums(a.kernel, b.kernel), sums(a.design, b.design)
    size = len(counts)
    exact_products, exact_counts = _sums_of_exact_sets(products), _sums_of_exact_sets(counts)
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


def _sums_by_shared_axes(a: Floats, b: Floats) -> Floats:
    """Return, for each mask, the summed products of pairs of cells that share at least its axes."""
    shared = []
    for mask in range(2**a.ndim):
        others = tuple(axis for axis in range(a.ndim) if not mask >> axis & 1)
        shared.append((a.sum(axis=others) * b.sum(axis=others)).sum())
    return np.array(shared)


def _sums_by_shared_patients(a: Floats, b: Floats) -> Floats:
    """Return the summed products of pairs of cells that share a reader, a patient or both.

    Two cells (p, q) and (r, s) share a patient if p = r, q = s, p = s or q = r. The sum over all
    such pairs follows by inclusion and exclusion; any three of these equations imply the fourth.
    """

    def sum_of_sharing_cells(first: Floats, second: Floats) -> float:
        first_by_patient, second_by_patient = (
            each.sum(axis=0) + each.sum(axis=1) for each in (first, second)
        )
        first_diagonal, second_diagonal = first.diagonal(), second.diagonal()
        sharing_twice = (
            (first * (second + second.T)).sum()
            + first_diagonal @ second_by_patient
            + first_by_patient @ second_diagonal
        )
        return float(
            first_by_patient @ second_by_patient
            - sharing_twice
            + 3 * first_diagonal @ second_diagonal
        )

    unshared, reader, *_ = _sums_by_shared_axes(a, b)
    of_readers = math.fsum(sum_of_sharing_cells(*each) for each in zip(a, b, strict=True))
    return np.array(
        [unshared, reader, sum_of_sharing_cells(a.sum(axis=0), b.sum(axis=0)), of_readers]
    )


def _effective_patients(design: Floats) -> tuple[float, ...]:
    """Return the effective numbers of patients, and of combinations of reader and patient."""
    pairs = design.sum(axis=1) + design.sum(axis=2)
    n = max(float(pairs.sum()), 1.0)
    squares = ((pairs.sum(axis=0) ** 2).sum(), (pairs**2).sum())
    return tuple(float(n**2 / max(each, 1.0)) for each in squares)


def _sums_of_exact_sets(sums: Floats) -> Floats:
    """Return the sums over pairs that share exactly the axes of each mask.

    They are computed from the sums over pairs that share at least these axes.
    """
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
