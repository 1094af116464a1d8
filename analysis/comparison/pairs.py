"""Accuracy of every two raters compared: the table `comparisons.csv`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.agreement.pairing import Pair, PairKind, pair_names, pairs_of
from analysis.arrays import Floats, Ints
from analysis.bundle.model import Bundle
from analysis.clusters import ALL_IN_ONE, ratio
from analysis.comparison.correctness import (
    NO_REFERENCE,
    Correctness,
    correctness,
    only_one_right,
    resampled_limits,
)
from analysis.comparison.family import holm_within
from analysis.comparison.mcnemar import mcnemar_p
from analysis.comparison.tango import tango_interval
from analysis.comparison.yang import yang_test
from analysis.matrix import ReadingMatrix, reading_matrix
from analysis.options import Options
from analysis.resamples import cluster_weights

TANGO = "Tango score"
YANG = "Yang's modified Obuchowski test over patients"
FAMILY = "reader-model pairs"

ONE_CLUSTER = f"cluster interval and clustered test: {ALL_IN_ONE}"
FEW_RESAMPLES = "cluster interval: too many resamples hold no item with a reference standard"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Clustered:
    """What is known from clusters; arrays have shape (n_pairs,)."""

    low: Floats
    high: Floats
    p: Floats
    method: str
    because: str


def comparisons(bundle: Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Compare the accuracy of every two raters on the same items.

    Parameters
    ----------
    bundle : Bundle
        The checked tables.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        Columns `rater_a, rater_b, pair_kind, condition, n, accuracy_a, accuracy_b, difference,
        ci_low, ci_high, ci_method, cluster_ci_low, cluster_ci_high, only_a_correct, only_b_correct,
        p_exact, p_mid, p_clustered, clustered_method, p_adjusted, family, undefined_because`. One
        row a pair, in order of condition, kind of pair and ids, as in `agreement_pairs`.

    Notes
    -----
    Every item with a reference standard counts for both raters; unanswered is wrong. `difference`
    is the first rater's accuracy less the second's, with Tango's score interval; `p_exact` and
    `p_mid` are McNemar's test. These three take items for independent. Where clusters exist,
    `cluster_ci_*` is the percentile interval over resampled patients, `p_clustered` Yang's test,
    and these are the ones to read; without clusters they are empty. `p_adjusted` is Holm's, over
    all reader-model pairs of a condition, on `p_clustered` where clusters exist, else on `p_mid`;
    other pairs belong to no family.

    See Also
    --------
    analysis.comparison.tango.tango_interval, analysis.comparison.mcnemar.mcnemar_p,
    analysis.comparison.yang.yang_test, analysis.comparison.family.holm_within

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = comparisons(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("wxyz"), "truth": list("AAAA")}),
    ...     pd.DataFrame({
    ...         "rater_id": ["R1"] * 4 + ["R2"] * 4,
    ...         "item_id": list("wxyz") * 2,
    ...         "answer": list("AAAB") + list("ABBB"),
    ...     }),
    ... ))
    >>> table[["rater_a", "rater_b", "n", "difference", "p_exact", "p_mid"]].values.tolist()
    [['R1', 'R2', 4, 0.5, 0.5, 0.25]]
    """
    options = options or Options()
    matrix = reading_matrix(bundle)
    return comparisons_table(matrix, options, cluster_weights(matrix, options))


def comparisons_table(
    matrix: ReadingMatrix, options: Options, weights: Floats | None
) -> pd.DataFrame:
    """Return the table of `comparisons` for readings and resamples that are there already.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    options : Options
        Its alpha is used.
    weights : numpy.ndarray of float, shape (n_resamples, n_clusters), or None
        The resamples; None without clusters.

    Returns
    -------
    pandas.DataFrame
        As `comparisons` says.
    """
    pairs = pairs_of(matrix.columns)
    a = np.array([pair.a for pair in pairs], dtype=np.int64)
    b = np.array([pair.b for pair in pairs], dtype=np.int64)
    right = correctness(matrix)
    n = np.full(len(pairs), float(right.n))
    only_a, only_b = only_one_right(right, a, b)
    totals = right.correct.sum(axis=0)
    low, high = tango_interval(only_a, only_b, n, options.alpha)
    exact, mid = (np.where(n > 0, p, np.nan) for p in mcnemar_p(only_a, only_b))
    clustered = _clustered(right, a, b, weights, options.alpha)
    families = [_family(pair) for pair in pairs]
    return pair_names(matrix.columns, pairs).assign(
        n=n.astype(np.int64),
        accuracy_a=ratio(totals[a], n),
        accuracy_b=ratio(totals[b], n),
        difference=ratio(only_a - only_b, n),
        ci_low=low,
        ci_high=high,
        ci_method=TANGO,
        cluster_ci_low=clustered.low,
        cluster_ci_high=clustered.high,
        only_a_correct=only_a.astype(np.int64),
        only_b_correct=only_b.astype(np.int64),
        p_exact=exact,
        p_mid=mid,
        p_clustered=clustered.p,
        clustered_method=clustered.method,
        p_adjusted=holm_within(mid if weights is None else clustered.p, families),
        family=np.array(families, dtype=object),
        undefined_because=clustered.because,
    )


def _family(pair: Pair) -> str:
    if pair.kind is not PairKind.MIXED:
        return ""
    return f"{FAMILY}, {pair.condition}" if pair.condition else FAMILY


def _clustered(
    right: Correctness, a: Ints, b: Ints, weights: Floats | None, alpha: float
) -> _Clustered:
    nothing = np.full(len(a), np.nan)
    method = "" if weights is None else YANG
    because = "" if right.n else NO_REFERENCE
    if weights is None or because:
        return _Clustered(low=nothing, high=nothing, p=nothing, method=method, because=because)
    if len(right.present) < 2:
        return _Clustered(low=nothing, high=nothing, p=nothing, method=method, because=ONE_CLUSTER)
    low, high = resampled_limits(right, a, b, weights, alpha)
    p = yang_test(right.by_cluster, right.sizes, a, b)[1]
    because = FEW_RESAMPLES if np.isnan(low).any() else ""
    return _Clustered(low=low, high=high, p=p, method=method, because=because)
