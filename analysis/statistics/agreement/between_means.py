"""Means over pairs of raters, and how far apart two of them are in every resample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Bools, Floats, Ints
from analysis.readings.clusters import ratio
from analysis.readings.matrix import ReadingMatrix
from analysis.statistics.agreement.pairs.counts import Sums, count_pairs, sums_of
from analysis.statistics.agreement.pairs.pairing import Pair
from analysis.statistics.agreement.pairs.resampling import sums_of_resamples

Estimate = Callable[[Sums], Floats]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairMeans:
    """The mean agreement of some pairs by each of several measures.

    Parameters
    ----------
    mean : numpy.ndarray of float, shape (n_measures,)
        nan where no pair has a defined agreement.
    defined : numpy.ndarray of bool, shape (n_measures, n_pairs)
        The pairs that a mean is taken over.
    """

    mean: Floats
    defined: Bools


def pair_means(
    matrix: ReadingMatrix, pairs: Sequence[Pair], items: Ints, estimates: Sequence[Estimate]
) -> PairMeans:
    """Average the agreement of pairs.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    pairs : sequence of Pair
        The pairs.
    items : numpy.ndarray of int, shape (n_items,)
        Positions of the items.
    estimates : sequence of callable
        The measures.

    Returns
    -------
    PairMeans
        Pairs whose agreement is undefined are left out of their measure's mean.
    """
    one_cell = np.zeros(len(items), dtype=np.int64)
    sums = sums_of(count_pairs(matrix, pairs, items, one_cell, 1))
    found = np.array([estimate(sums)[:, 0] for estimate in estimates])
    defined = np.isfinite(found)
    total = np.where(defined, found, 0.0).sum(axis=-1)
    return PairMeans(mean=ratio(total, defined.sum(axis=-1)), defined=defined)


def resampled_means(
    matrix: ReadingMatrix,
    pairs: Sequence[Pair],
    items: Ints,
    estimates: Sequence[Estimate],
    defined: Bools,
    weights: Floats,
) -> Floats:
    """Average the agreement of pairs in every resample.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    pairs : sequence of Pair
        The pairs.
    items : numpy.ndarray of int, shape (n_items,)
        Positions of the items, ascending.
    estimates : sequence of callable
        The measures.
    defined : numpy.ndarray of bool, shape (n_measures, n_pairs)
        The pairs that a mean is taken over.
    weights : numpy.ndarray of float, shape (n_resamples, n_clusters)
        How often each cluster stands in each resample.

    Returns
    -------
    numpy.ndarray of float, shape (n_measures, n_resamples)
        Over those pairs that the resample leaves defined.
    """
    total = np.zeros((len(estimates), len(weights)))
    count = np.zeros((len(estimates), len(weights)))
    for block, sums in sums_of_resamples(matrix, pairs, items, weights):
        for m, estimate in enumerate(estimates):
            found = estimate(sums)[defined[m, block]]
            total[m] += np.where(np.isfinite(found), found, 0.0).sum(axis=0)
            count[m] += np.isfinite(found).sum(axis=0)
    return ratio(total, count)
