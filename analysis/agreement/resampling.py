"""The measures in every bootstrap resample: resample weights times the clusters' sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from analysis.agreement.counts import Sums, count_pairs, sums_of
from analysis.agreement.outcomes import OUTCOMES
from analysis.agreement.pairing import Pair
from analysis.arrays import Floats, Ints
from analysis.matrix import ReadingMatrix

# Numbers held at once in the largest array: 64 MiB of float64.
BUDGET = 8 * 2**20
# Whole numbers up to here are exact in float64, and in float32.
EXACT = 2.0**53
EXACT_SINGLE = 2.0**24

Singles = npt.NDArray[np.float32]


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
        How often each cluster stands in each resample.

    Yields
    ------
    block : slice
        Which pairs.
    by_cluster : Sums
        Of shape (n_block, n_present), the clusters that the scope's items belong to.
    by_resample : Sums
        Of shape (n_block, n_different), the resamples that differ in these clusters.
    times : numpy.ndarray of int, shape (n_different,), or None
        How often each of them was drawn; None: once.
    """
    present, cells = np.unique(matrix.clusters[items], return_inverse=True)
    drawn, times = _different(weights if len(present) == weights.shape[1] else weights[:, present])
    drawn_fast = _fast(drawn, len(items))
    for block in _blocks(matrix, len(pairs), len(present), len(weights)):
        counts = count_pairs(matrix, pairs[block], items, cells, len(present))
        by_cluster = sums_of(counts)
        yield block, by_cluster, _draw(by_cluster, drawn_fast), times


def _different(drawn: Floats) -> tuple[Floats, Ints | None]:
    """Return the rows that differ and how often each was drawn; all rows where most differ.

    A scope of a few patients has a few dozen different resamples, not thousands.
    """
    base = float(drawn.max(initial=0)) + 1
    if drawn.shape[1] * np.log2(base) >= np.log2(EXACT):
        return drawn, None
    codes = drawn @ base ** np.arange(drawn.shape[1])
    _, first, times = np.unique(codes, return_index=True, return_counts=True)
    if 2 * len(first) > len(drawn):
        return drawn, None
    return drawn[first], times


def _fast(drawn: Floats, n_items: int) -> Floats | Singles:
    """Return the weights in single precision, twice as fast, where no count can be inexact."""
    most = n_items * float(drawn.max(initial=0))
    return drawn.astype(np.float32) if most < EXACT_SINGLE else drawn


def _blocks(
    matrix: ReadingMatrix, n_pairs: int, n_clusters: int, n_resamples: int
) -> Iterator[slice]:
    n_letters = int(matrix.answers.max(initial=0)) + 1
    columns = 2 * n_letters + OUTCOMES + len(np.unique(matrix.n_options)) + 1
    size = max(1, BUDGET // max(n_clusters * n_letters**2, n_resamples * columns))
    for start in range(0, n_pairs, size):
        yield slice(start, min(start + size, n_pairs))


def _draw(sums: Sums, drawn: Floats | Singles) -> Sums:
    parts = [sums.agree[None], sums.answers_a, sums.answers_b, sums.outcomes]
    if len(sums.sizes) > 1:
        parts.append(sums.options)
    edges = np.cumsum([len(part) for part in parts])[:-1]
    stacked = np.ascontiguousarray(np.concatenate(parts))
    flat = stacked.reshape(-1, stacked.shape[-1]).astype(drawn.dtype, copy=False)
    totals = np.matmul(flat, drawn.T).astype(np.float64).reshape(*stacked.shape[:2], -1)
    agree, answers_a, answers_b, outcomes, *options = np.split(totals, edges)
    return Sums(
        agree=agree[0],
        answers_a=answers_a,
        answers_b=answers_b,
        outcomes=outcomes,
        options=options[0] if options else answers_a.sum(axis=0, keepdims=True),
        sizes=sums.sizes,
    )
