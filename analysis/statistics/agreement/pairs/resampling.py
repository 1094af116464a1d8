"""Measures of agreement in resamples of patients, and their intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import norm, t

from analysis.arrays import Floats, Ints
from analysis.readings.clusters import (
    MIN_CLUSTERS,
    PERCENTILE_METHOD,
    SINGLE_CLUSTER,
    TOO_FEW_CLUSTERS,
    WIDENED_METHOD,
    is_widened,
    percentile_limits,
)
from analysis.readings.matrix import ReadingMatrix
from analysis.statistics.agreement.pairs.counts import (
    Numbers,
    Pair,
    PairCounts,
    ScopeAnswers,
    Sums,
    counts_of_pairs,
    counts_of_raters,
    counts_without_partner,
    scope_answers,
    sums_of,
    sums_of_pairs,
)
from analysis.statistics.agreement.pairs.measures import Measure, Reasons
from analysis.translation import later

# Largest size of an array: 4 MiB, which fits into the cache of a processor core.
LARGEST_ARRAY_SIZE = 2**19
# Smallest number of pairs in a block, because matrix products of fewer rows are slow.
SMALLEST_BLOCK = 32
# Largest exact whole numbers in float64 and in float32.
LARGEST_EXACT_NUMBER = 2.0**53
LARGEST_EXACT_FLOAT32 = 2.0**24
# Largest share of nonzero numbers for which a sparse product is faster than a dense one.
LARGEST_SPARSE_SHARE = 1 / 40


def resampled_sums(
    matrix: ReadingMatrix, pairs: Sequence[Pair], items: Ints, weights: Floats
) -> Iterator[tuple[slice, Sums, Sums, Ints | None]]:
    """Yield blocks of pairs with their sums by cluster and by resample.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    pairs : sequence of Pair
        The pairs.
    items : numpy.ndarray of int, shape (n_used,)
        Positions of the scope's items, ascending.
    weights : numpy.ndarray of float, shape (n_resamples, n_clusters)
        Number of times each cluster was drawn in each resample.

    Yields
    ------
    block : slice
        Positions of the pairs.
    by_cluster : Sums
        Sums of shape (n_block, n_present), for the clusters to which the scope's items belong.
    by_resample : Sums
        Sums of shape (n_block, n_distinct), for the resamples that differ in these clusters.
    times : numpy.ndarray of int, shape (n_distinct,), or None
        Number of times each of these resamples was drawn; None if each was drawn once.
    """
    answers = scope_answers(matrix, items)
    drawn, times = _distinct_resamples(_weights_of_clusters(weights, answers))
    raters = counts_of_raters(answers)
    resample_weights = _ResampleWeights(weights=_in_fastest_precision(drawn, len(items)))
    drawn_raters = resample_weights.totals(raters)
    for block, counts in _counts_by_block(answers, pairs, max(len(answers.starts), len(drawn))):
        by_cluster = counts.by_cluster(answers, raters)
        yield block, by_cluster, counts.by_resample(answers, drawn_raters, resample_weights), times


def sums_of_resamples(
    matrix: ReadingMatrix, pairs: Sequence[Pair], items: Ints, weights: Floats
) -> Iterator[tuple[slice, Sums]]:
    """Yield blocks of pairs with their sums for every resample.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    pairs : sequence of Pair
        The pairs.
    items : numpy.ndarray of int, shape (n_used,)
        Positions of the scope's items, ascending.
    weights : numpy.ndarray of float, shape (n_resamples, n_clusters)
        Number of times each cluster was drawn in each resample.

    Yields
    ------
    block : slice
        Positions of the pairs.
    by_resample : Sums
        Sums of shape (n_block, n_resamples).
    """
    answers = scope_answers(matrix, items)
    resample_weights = _ResampleWeights(
        weights=_in_fastest_precision(_weights_of_clusters(weights, answers), len(items))
    )
    drawn_raters = resample_weights.totals(counts_of_raters(answers))
    for block, counts in _counts_by_block(answers, pairs, len(weights)):
        yield block, counts.by_resample(answers, drawn_raters, resample_weights)


def _weights_of_clusters(weights: Floats, answers: ScopeAnswers) -> Floats:
    are_all = len(answers.starts) == weights.shape[1]
    return weights if are_all else weights.T[answers.clusters].T


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _BlockCounts:
    """The counts of each pair in a block, by cluster.

    `alone_a` and `alone_b` count the answers of a pair's first and second rater to items that the
    other did not answer; `shared` has the counts of the pair's same answers.
    """

    a: Ints
    b: Ints
    alone_a: csr_array
    alone_b: csr_array
    shared: Floats

    def by_cluster(self, answers: ScopeAnswers, raters: Floats) -> Sums:
        """Return the sums by cluster, from those of single raters."""
        shape = (answers.n_kinds, *self.shared.shape[1:])
        of_a = raters[:, self.a] - self.alone_a.toarray().reshape(shape)
        of_b = raters[:, self.b] - self.alone_b.toarray().reshape(shape)
        return sums_of_pairs(answers, of_a, of_b, self.shared)

    def by_resample(
        self, answers: ScopeAnswers, raters: Numbers, resample_weights: _ResampleWeights
    ) -> Sums:
        """Return the sums by resample, from those of single raters."""
        of_a, of_b = raters[:, self.a], raters[:, self.b]
        if self.alone_a.nnz:
            of_a -= resample_weights.totals_of_few(self.alone_a, len(self.a))
        if self.alone_b.nnz:
            of_b -= resample_weights.totals_of_few(self.alone_b, len(self.b))
        return sums_of_pairs(answers, of_a, of_b, resample_weights.totals(self.shared))


def _counts_by_block(
    answers: ScopeAnswers, pairs: Sequence[Pair], n_columns: int
) -> Iterator[tuple[slice, _BlockCounts]]:
    for block in _pair_blocks(answers, len(pairs), n_columns):
        a, b = _columns_of_pairs(pairs[block])
        alone_a, alone_b = (
            counts_without_partner(answers, a, b),
            counts_without_partner(answers, b, a),
        )
        shared = counts_of_pairs(answers, a, b)
        yield block, _BlockCounts(a=a, b=b, alone_a=alone_a, alone_b=alone_b, shared=shared)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _ResampleWeights:
    """The weights of every resample, shape (n_clusters, n_resamples)."""

    weights: Numbers

    def totals(self, counts: Floats) -> Numbers:
        """Sum counts of shape (..., n_clusters) in every resample, to shape (..., n_resamples)."""
        rows: Any = counts.reshape(-1, counts.shape[-1]).astype(self.weights.dtype)
        totals: Numbers = (rows @ self.weights).reshape(*counts.shape[:-1], -1)
        return totals

    def totals_of_few(self, counts: csr_array, n_pairs: int) -> Numbers:
        """Sum counts of shape (n_kinds * n_pairs, n_clusters), nearly all of which are 0."""
        is_dense = counts.nnz > LARGEST_SPARSE_SHARE * counts.shape[0] * counts.shape[1]
        rows: Any = counts.astype(self.weights.dtype)
        totals: Numbers = (rows.toarray() if is_dense else rows) @ self.weights
        return totals.reshape(-1, n_pairs, totals.shape[-1])


def _columns_of_pairs(pairs: Sequence[Pair]) -> tuple[Ints, Ints]:
    sides = np.array([(pair.a, pair.b) for pair in pairs], dtype=np.int64).reshape(-1, 2)
    return sides[:, 0], sides[:, 1]


def _distinct_resamples(drawn: Floats) -> tuple[Floats, Ints | None]:
    """Return the distinct rows and how often each was drawn; all rows if most are distinct.

    A scope with a few patients has only a few dozen distinct resamples.
    """
    base = float(drawn.max(initial=0)) + 1
    if drawn.shape[1] * np.log2(base) >= np.log2(LARGEST_EXACT_NUMBER):
        return drawn, None
    codes = drawn @ base ** np.arange(drawn.shape[1])
    _, first, times = np.unique(codes, return_index=True, return_counts=True)
    if 2 * len(first) > len(drawn):
        return drawn, None
    return drawn[first], times


def _in_fastest_precision(drawn: Floats, n_items: int) -> Numbers:
    """Return the transposed weights, in single precision if it represents all counts exactly."""
    n_draws = n_items * float(drawn.max(initial=0))
    if n_draws < LARGEST_EXACT_FLOAT32:
        return drawn.T.astype(np.float32, order="C")
    return np.ascontiguousarray(drawn.T)


def _pair_blocks(answers: ScopeAnswers, n_pairs: int, n_columns: int) -> Iterator[slice]:
    # Means over pairs are summed by block, so the blocks must depend only on the data.
    size = max(SMALLEST_BLOCK, LARGEST_ARRAY_SIZE // max(2 * answers.n_kinds * n_columns, 1))
    for start in range(0, n_pairs, size):
        yield slice(start, min(start + size, n_pairs))


NORMAL_INTERVAL = later("normal interval, cut at 1")
T_INTERVAL = later("t interval (n - 1), cut at 1")
ONE_CLUSTER = f"interval: {SINGLE_CLUSTER}"
FEW_CLUSTERS = f"interval: {TOO_FEW_CLUSTERS}"
FEW_RESAMPLES = later("interval: undefined in too many resamples")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Interval:
    """The intervals of one measure; arrays have shape (n_pairs, n_scopes)."""

    low: Floats
    high: Floats
    method: Reasons
    reason: Reasons


def analytic_interval(measure: Measure, counts: PairCounts, alpha: float) -> Interval:
    """Return the interval from estimate and standard error, with its upper limit truncated at 1.

    Parameters
    ----------
    measure : Measure
        Its `normal` decides between the normal and the t distribution.
    counts : PairCounts
        The counts of each pair in each scope.
    alpha : float
        Two-sided error rate.

    Returns
    -------
    Interval
        The limits are nan if the estimate or its standard error is.
    """
    sums = sums_of(counts)
    estimate, se = measure.estimate(sums), measure.standard_error(counts)
    df = np.maximum(measure.n(sums) - 1, 1)
    quantile = norm.isf(alpha / 2) if measure.has_normal_interval else t.isf(alpha / 2, df)
    return Interval(
        low=estimate - quantile * se,
        high=np.minimum(estimate + quantile * se, 1.0),
        method=np.full(
            se.shape, NORMAL_INTERVAL if measure.has_normal_interval else T_INTERVAL, dtype=object
        ),
        reason=np.full(se.shape, "", dtype=object),
    )


def cluster_intervals(
    matrix: ReadingMatrix,
    measures: Sequence[Measure],
    pairs: Sequence[Pair],
    scopes: Sequence[Ints],
    weights: Floats,
    alpha: float,
) -> list[Interval]:
    """Return percentile intervals over the same resamples of patients for all measures.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    measures : sequence of Measure
        The measures.
    pairs : sequence of Pair
        The pairs.
    scopes : sequence of numpy.ndarray of int
        Positions of each scope's items.
    weights : numpy.ndarray of float, shape (n_resamples, n_clusters)
        The resamples.
    alpha : float
        Two-sided error rate.

    Returns
    -------
    list of Interval
        One per measure; nan if the pair's items belong to fewer than 8 clusters, or where the
        measure is defined in fewer than 80 % of the resamples.
    """
    shape = (len(measures), len(pairs), len(scopes))
    low, high = np.full(shape, np.nan), np.full(shape, np.nan)
    reasons = np.full(shape, ONE_CLUSTER, dtype=object)
    method = np.full(shape, PERCENTILE_METHOD, dtype=object)
    for scope, items in enumerate(scopes):
        if len(np.unique(matrix.clusters[items])) <= 1:
            continue
        for block, by_cluster, drawn, times in resampled_sums(matrix, pairs, items, weights):
            limits: dict[Callable[[Sums], Floats], tuple[Floats, Floats, Floats]] = {}
            for m, measure in enumerate(measures):
                n_clusters = (measure.n(by_cluster) > 0).sum(axis=-1)
                # In an option set, two rows have the same kappa.
                if measure.estimate not in limits:
                    estimates = measure.estimate(drawn)
                    limits[measure.estimate] = percentile_limits(
                        estimates, alpha, n_clusters, times
                    )
                below, above, _ = limits[measure.estimate]
                reason = np.where(np.isnan(below), FEW_RESAMPLES, "").astype(object)
                reason[n_clusters < MIN_CLUSTERS] = FEW_CLUSTERS
                reason[n_clusters <= 1] = ONE_CLUSTER
                low[m, block, scope], high[m, block, scope] = below, above
                reasons[m, block, scope] = reason
                method[m, block, scope] = np.where(
                    is_widened(n_clusters), WIDENED_METHOD, PERCENTILE_METHOD
                )
    return [
        Interval(low=low[m], high=high[m], method=method[m], reason=reasons[m])
        for m in range(len(measures))
    ]
