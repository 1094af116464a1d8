"""What comparisons of accuracy are made from: right answers by cluster."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.arrays import Floats, Ints
from analysis.clusters import percentile_limits, ratio, sums_by_cluster
from analysis.matrix import ReadingMatrix

NO_REFERENCE = "no item has a reference standard"
# Numbers held at once in the largest array: 64 MiB of float64.
BUDGET = 8 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Correctness:
    """Right answers to the items with a reference standard, unanswered items being wrong.

    Parameters
    ----------
    n : int
        Items with a reference standard.
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


def correctness(matrix: ReadingMatrix) -> Correctness:
    """Collect the right answers of every column of a matrix.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.

    Returns
    -------
    Correctness
        Of the items with a reference standard.
    """
    assigned = matrix.assigned
    correct = matrix.correct[assigned].astype(np.float64)
    clusters = matrix.clusters[assigned]
    by_cluster, present = sums_by_cluster(correct, clusters)
    sizes = sums_by_cluster(np.ones((len(correct), 1)), clusters)[0][:, 0]
    return Correctness(
        n=len(correct), correct=correct, by_cluster=by_cluster, sizes=sizes, present=present
    )


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
        nan where fewer than 80 % of the resamples hold an item with a reference standard.

    Examples
    --------
    >>> sums = np.array([[2.0, 1.0], [1.0, 1.0]])
    >>> right = Correctness(n=4, correct=sums, by_cluster=sums, sizes=np.full(2, 2.0),
    ...                     present=np.arange(2))
    >>> weights = np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
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
        low[block], high[block], _ = percentile_limits(differences, alpha)
    return low, high
