"""From counts to rows: estimates, standard errors, intervals and the reasons for empty cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.arrays import Floats
from analysis.options import Options
from analysis.readings.matrix import ReadingMatrix
from analysis.statistics.agreement.pairs.counts import PairCounts, Sums, count_pairs, sums_of
from analysis.statistics.agreement.pairs.intervals import (
    Interval,
    analytic_interval,
    cluster_intervals,
)
from analysis.statistics.agreement.pairs.pairing import Pair
from analysis.statistics.agreement.pairs.registry import Measure, Reasons
from analysis.statistics.agreement.pairs.scopes import Partition

Cells = npt.NDArray[Any]

CONSTANT_SE = "standard error and interval: a rater gave a single answer throughout"
CONSTANT_CORRECT_SE = "standard error and interval: a rater was always right or always wrong"
ONE_ITEM_SE = "standard error and interval: a single item"


def partition_rows(
    matrix: ReadingMatrix,
    pairs: Sequence[Pair],
    partition: Partition,
    options: Options,
    weights: Floats | None,
) -> dict[str, Cells]:
    """Estimate every measure for every pair in every scope of a partition.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    pairs : sequence of Pair
        The pairs.
    partition : Partition
        The scopes and their measures.
    options : Options
        Its alpha is used.
    weights : numpy.ndarray of float, shape (n_resamples, n_clusters), or None
        The resamples; None without clusters.

    Returns
    -------
    dict of str to numpy.ndarray, shape (n_pairs, n_scopes * n_measures)
        The table's columns but those that name the pair; measures of a scope stand together.
    """
    counts = count_pairs(matrix, pairs, partition.items, partition.cells, len(partition.names))
    sums = sums_of(counts)
    measures = partition.measures
    if weights is None:
        intervals = [analytic_interval(measure, counts, options.alpha) for measure in measures]
    else:
        intervals = cluster_intervals(
            matrix, measures, pairs, partition.members, weights, options.alpha
        )
    found = [
        _measure_columns(measure, counts, sums, interval)
        for measure, interval in zip(measures, intervals, strict=True)
    ]
    n_scopes = len(partition.names)
    shape = (len(pairs), n_scopes * len(measures))
    columns = {name: np.stack([each[name] for each in found], axis=-1) for name in found[0]}
    return {
        "scope": np.broadcast_to(np.repeat(_texts(partition.names), len(measures)), shape),
        "measure": np.broadcast_to(
            np.tile(_texts([measure.name for measure in measures]), n_scopes), shape
        ),
        **{name: column.reshape(shape) for name, column in columns.items()},
    }


def _measure_columns(
    measure: Measure, counts: PairCounts, sums: Sums, interval: Interval
) -> dict[str, Cells]:
    """Return columns of shape (n_pairs, n_scopes)."""
    estimate, se, n = measure.estimate(sums), measure.standard_error(counts), measure.n(sums)
    undefined = np.isnan(estimate)
    # A rater who never varies leaves nothing to estimate the error from: 0 would claim certainty.
    no_spread = measure.constant(sums) & (measure.normal | (se == 0))
    single = n <= 1
    no_se = undefined | no_spread | single
    because: Reasons = interval.because.copy()
    because[single] = ONE_ITEM_SE
    because[no_spread] = CONSTANT_CORRECT_SE if measure.on_correctness else CONSTANT_SE
    because[undefined] = measure.reason(sums)[undefined]
    return {
        "n": n.astype(np.int64),
        "estimate": estimate,
        "se": np.where(no_se, np.nan, se),
        "ci_low": np.where(no_se, np.nan, interval.low),
        "ci_high": np.where(no_se, np.nan, interval.high),
        "method": f"{measure.method}; " + interval.method,
        "undefined_because": because,
    }


def _texts(texts: Sequence[str]) -> Cells:
    return np.array(texts, dtype=object)
