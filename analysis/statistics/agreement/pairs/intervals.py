"""Intervals of the measures: from the standard error, or from resampled patients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, t

from analysis.arrays import Floats, Ints
from analysis.readings.clusters import (
    ALL_IN_ONE,
    FEWEST,
    PERCENTILE,
    TOO_FEW,
    WIDENED,
    is_widened,
    percentile_limits,
)
from analysis.readings.matrix import ReadingMatrix
from analysis.statistics.agreement.pairs.counts import PairCounts, Sums, sums_of
from analysis.statistics.agreement.pairs.pairing import Pair
from analysis.statistics.agreement.pairs.registry import Measure, Reasons
from analysis.statistics.agreement.pairs.resampling import resampled_sums
from analysis.translation import later

NORMAL = later("normal interval, cut at 1")
STUDENT = later("t interval (n - 1), cut at 1")
ONE_CLUSTER = f"interval: {ALL_IN_ONE}"
FEW_CLUSTERS = f"interval: {TOO_FEW}"
FEW_RESAMPLES = later("interval: undefined in too many resamples")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Interval:
    """The intervals of one measure; arrays have shape (n_pairs, n_scopes)."""

    low: Floats
    high: Floats
    method: Reasons
    because: Reasons


def analytic_interval(measure: Measure, counts: PairCounts, alpha: float) -> Interval:
    """Return estimate and standard error as an interval, its upper limit cut at 1.

    Parameters
    ----------
    measure : Measure
        Its `normal` decides between the normal and the t distribution.
    counts : PairCounts
        Of shape (n_pairs, n_scopes).
    alpha : float
        Two-sided error.

    Returns
    -------
    Interval
        nan where the estimate or its standard error is.
    """
    sums = sums_of(counts)
    estimate, se = measure.estimate(sums), measure.standard_error(counts)
    df = np.maximum(measure.n(sums) - 1, 1)
    quantile = norm.isf(alpha / 2) if measure.normal else t.isf(alpha / 2, df)
    return Interval(
        low=estimate - quantile * se,
        high=np.minimum(estimate + quantile * se, 1.0),
        method=np.full(se.shape, NORMAL if measure.normal else STUDENT, dtype=object),
        because=np.full(se.shape, "", dtype=object),
    )


def cluster_intervals(
    matrix: ReadingMatrix,
    measures: Sequence[Measure],
    pairs: Sequence[Pair],
    scopes: Sequence[Ints],
    weights: Floats,
    alpha: float,
) -> list[Interval]:
    """Return percentile intervals over resampled patients, all measures from the same resamples.

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
        Two-sided error.

    Returns
    -------
    list of Interval
        One a measure; nan where the pair's items belong to fewer than 8 clusters, or where fewer
        than 80 % of the resamples define the measure.
    """
    shape = (len(measures), len(pairs), len(scopes))
    low, high = np.full(shape, np.nan), np.full(shape, np.nan)
    because = np.full(shape, ONE_CLUSTER, dtype=object)
    method = np.full(shape, PERCENTILE, dtype=object)
    for scope, items in enumerate(scopes):
        if len(np.unique(matrix.clusters[items])) <= 1:
            continue
        for block, by_cluster, drawn, times in resampled_sums(matrix, pairs, items, weights):
            limits: dict[Callable[[Sums], Floats], tuple[Floats, Floats, Floats]] = {}
            for m, measure in enumerate(measures):
                n_clusters = (measure.n(by_cluster) > 0).sum(axis=-1)
                # Kappa in an option set stands in two rows.
                if measure.estimate not in limits:
                    estimates = measure.estimate(drawn)
                    limits[measure.estimate] = percentile_limits(
                        estimates, alpha, n_clusters, times
                    )
                below, above, _ = limits[measure.estimate]
                reason = np.where(np.isnan(below), FEW_RESAMPLES, "").astype(object)
                reason[n_clusters < FEWEST] = FEW_CLUSTERS
                reason[n_clusters <= 1] = ONE_CLUSTER
                low[m, block, scope], high[m, block, scope] = below, above
                because[m, block, scope] = reason
                method[m, block, scope] = np.where(is_widened(n_clusters), WIDENED, PERCENTILE)
    return [
        Interval(low=low[m], high=high[m], method=method[m], because=because[m])
        for m in range(len(measures))
    ]
