"""What comparisons of accuracy are made from: right answers by cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Bools, Floats, Ints
from analysis.readings.clusters import percentile_limits, ratio, sums_by_cluster
from analysis.readings.matrix import ReadingMatrix
from analysis.translation import later

NO_REFERENCE = later("no item has a reference standard")
# Numbers held at once in the largest array: 64 MiB of float64.
BUDGET = 8 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Correctness:
    """Right answers of some raters to items that all of them were given, unanswered being wrong.

    Parameters
    ----------
    n : int
        Items.
    correct : numpy.ndarray of float, shape (n, n_columns)
        1 where the answer is right, else 0.
    by_cluster : numpy.ndarray of float, shape (n_present, n_columns)
        Right answers in each cluster that has such items.
    sizes : numpy.ndarray of float, shape (n_present,)
        Such items of each of these clusters.
    present : numpy.ndarray of int, shape (n_present,)
        These clusters.
    """

    n: int
    correct: Floats
    by_cluster: Floats
    sizes: Floats
    present: Ints


def correctness(matrix: ReadingMatrix, items: Bools, columns: Ints) -> Correctness:
    """Collect the right answers of some columns of a matrix to some of its items.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    items : numpy.ndarray of bool, shape (n_items,)
        Which items.
    columns : numpy.ndarray of int, shape (n_columns,)
        Which columns.
    """
    correct = matrix.correct[items][:, columns].astype(np.float64)
    clusters = matrix.clusters[items]
    by_cluster, present = sums_by_cluster(correct, clusters)
    sizes = sums_by_cluster(np.ones((len(correct), 1)), clusters)[0][:, 0]
    return Correctness(
        n=len(correct), correct=correct, by_cluster=by_cluster, sizes=sizes, present=present
    )


def given_to_both(matrix: ReadingMatrix, a: Ints, b: Ints) -> Iterator[tuple[Bools, Ints]]:
    """Yield the items that pairs of raters were given, with the pairs that share them.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    a, b : numpy.ndarray of int, shape (n_pairs,)
        The columns of each pair's first and second rater.

    Yields
    ------
    items : numpy.ndarray of bool, shape (n_items,)
        What counts for both raters.
    pairs : numpy.ndarray of int
        Positions of the pairs; over all that is yielded, each once.
    """
    patterns, of_column = np.unique(matrix.given, axis=1, return_inverse=True)
    sides = np.sort(np.column_stack([of_column[a], of_column[b]]), axis=1)
    for one, other in np.unique(sides, axis=0):
        pairs = np.flatnonzero((sides[:, 0] == one) & (sides[:, 1] == other))
        yield patterns[:, one] & patterns[:, other], pairs


def only_one_right(right: Correctness, a: Ints, b: Ints) -> tuple[Floats, Floats]:
    """Count the items that only the first, only the second of each pair got right.

    Parameters
    ----------
    right : Correctness
        Right answers.
    a, b : numpy.ndarray of int, shape (n_pairs,)
        The columns of each pair's first and second rater.

    Returns
    -------
    only_a, only_b : numpy.ndarray of float, shape (n_pairs,)
        Whole numbers.

    Examples
    --------
    >>> correct = np.array([[1.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> right = Correctness(n=4, correct=correct, by_cluster=correct, sizes=np.ones(4),
    ...                     present=np.arange(4))
    >>> only_a, only_b = only_one_right(right, np.array([0]), np.array([1]))
    >>> only_a.tolist(), only_b.tolist()
    ([2.0], [1.0])
    """
    both = right.correct.T @ right.correct
    return both[a, a] - both[a, b], both[b, b] - both[a, b]


def resampled_limits(
    right: Correctness, a: Ints, b: Ints, weights: Floats, alpha: float
) -> tuple[Floats, Floats]:
    """Return the percentile interval of each pair's difference over resampled clusters.

    Parameters
    ----------
    right : Correctness
        Right answers.
    a, b : numpy.ndarray of int, shape (n_pairs,)
        The columns of each pair's first and second rater.
    weights : numpy.ndarray of float, shape (n_resamples, n_clusters)
        How often each cluster stands in each resample.
    alpha : float
        Two-sided error.

    Returns
    -------
    low, high : numpy.ndarray of float, shape (n_pairs,)
        nan where fewer than 80 % of the resamples hold such an item, or of fewer than 8 clusters.

    Examples
    --------
    >>> sums = np.tile([[2.0, 1.0], [1.0, 1.0]], (15, 1))
    >>> right = Correctness(n=60, correct=sums, by_cluster=sums, sizes=np.full(30, 2.0),
    ...                     present=np.arange(30))
    >>> weights = np.tile([[2.0, 0.0], [1.0, 1.0], [0.0, 2.0]], 15)
    >>> low, high = resampled_limits(right, np.array([0]), np.array([1]), weights, alpha=0.05)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0125], [0.4875])
    """
    drawn = weights if len(right.present) == weights.shape[1] else weights[:, right.present]
    counts, sizes = right.by_cluster.T @ drawn.T, drawn @ right.sizes
    low, high = np.full(len(a), np.nan), np.full(len(a), np.nan)
    step = max(1, BUDGET // len(weights))
    for start in range(0, len(a), step):
        block = slice(start, start + step)
        differences = ratio(counts[a[block]] - counts[b[block]], sizes)
        units = np.full(len(a[block]), len(right.present))
        low[block], high[block], _ = percentile_limits(differences, alpha, units)
    return low, high
