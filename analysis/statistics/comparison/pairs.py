"""Accuracy of every two raters compared: the table `comparisons.csv`."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.arrays import Bools, Floats, Ints
from analysis.bundle.model import Bundle
from analysis.options import Options
from analysis.readings.clusters import ALL_IN_ONE, FEWEST, TOO_FEW, WIDENED, is_widened, ratio
from analysis.readings.matrix import ReadingMatrix
from analysis.statistics.agreement.pairs.pairing import Pair, PairKind, pair_names, pairs_of
from analysis.statistics.columns import COLUMNS
from analysis.statistics.comparison.correctness import (
    NO_REFERENCE,
    Correctness,
    correctness,
    given_to_both,
    only_one_right,
    resampled_limits,
)
from analysis.statistics.comparison.paired import holm_within, mcnemar_p, tango_interval, yang_test
from analysis.statistics.study import Study, study_of
from analysis.translation import later

TANGO = later("Tango score")
YANG = later("Yang's modified Obuchowski test over patients")
FAMILY = "reader-model pairs"

NOT_BOTH = later("no item was given to both")
ONE_CLUSTER = f"cluster interval and clustered test: {ALL_IN_ONE}"
FEW_CLUSTERS = f"cluster interval: {TOO_FEW}"
FEW_RESAMPLES = "cluster interval: too many resamples hold none of the pair's items"


def comparisons(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Compare the accuracy of every two raters on the same items.

    Parameters
    ----------
    study : Study or Bundle
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
    The items with a reference standard that both raters were given count, `n` of them: for a model
    all, also what it left out. Unanswered is wrong. `difference` is the first rater's accuracy less
    the second's, with Tango's score interval; `p_exact` and `p_mid` are McNemar's test. These three
    take items for independent. Where clusters exist,
    `cluster_ci_*` is the percentile interval over resampled patients, `p_clustered` Yang's test,
    and these are the ones to read; without clusters they are empty. `p_adjusted` is Holm's, over
    all reader-model pairs of a condition, on `p_clustered` where clusters exist, else on `p_mid`;
    other pairs belong to no family.

    See Also
    --------
    analysis.statistics.comparison.paired

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
    study = study_of(study, options)
    matrix, options, weights = study.matrix, study.options, study.weights
    pairs = pairs_of(matrix.columns)
    a = np.array([pair.a for pair in pairs], dtype=np.int64)
    b = np.array([pair.b for pair in pairs], dtype=np.int64)
    parts = [
        compared(matrix, items, a[members], b[members], weights, options.alpha).set_index(members)
        for items, members in given_to_both(matrix, a, b)
    ]
    families = [_family(pair) for pair in pairs]
    table = pair_names(matrix.columns, pairs)
    if not parts:
        return table.reindex(columns=COLUMNS["comparisons"])
    table = table.join(pd.concat(parts))
    on = table["p_mid" if weights is None else "p_clustered"].to_numpy(dtype=np.float64)
    return table.assign(
        p_adjusted=holm_within(on, families), family=np.array(families, dtype=object)
    )[COLUMNS["comparisons"]]


def _family(pair: Pair) -> str:
    if pair.kind is not PairKind.MIXED:
        return ""
    return f"{FAMILY}, {pair.condition}" if pair.condition else FAMILY


def compared(
    matrix: ReadingMatrix, items: Bools, a: Ints, b: Ints, weights: Floats | None, alpha: float
) -> pd.DataFrame:
    """Compare pairs whose raters were given the same items, one row a pair.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    items : numpy.ndarray of bool, shape (n_items,)
        Which items; all of them were given to all raters of the pairs.
    a, b : numpy.ndarray of int, shape (n_pairs,)
        The columns of each pair's first and second rater.
    weights : numpy.ndarray of float, shape (n_resamples, n_clusters), or None
        How often each cluster stands in each resample; None without clusters.
    alpha : float
        Two-sided error.
    """
    columns, places = np.unique(np.concatenate([a, b]), return_inverse=True)
    a, b = places[: len(a)], places[len(a) :]
    right = correctness(matrix, items, columns)
    n = np.full(len(a), float(right.n))
    only_a, only_b = only_one_right(right, a, b)
    totals = right.correct.sum(axis=0)
    low, high = tango_interval(only_a, only_b, n, alpha)
    exact, mid = (np.where(n > 0, p, np.nan) for p in mcnemar_p(only_a, only_b))
    cluster_low = cluster_high = p_clustered = np.full(len(a), np.nan)
    if weights is not None and len(right.present) > 1:
        cluster_low, cluster_high = resampled_limits(right, a, b, weights, alpha)
        p_clustered = yang_test(right.by_cluster, right.sizes, a, b)[1]
    return pd.DataFrame(
        {
            "n": n.astype(np.int64),
            "accuracy_a": ratio(totals[a], n),
            "accuracy_b": ratio(totals[b], n),
            "difference": ratio(only_a - only_b, n),
            "ci_low": low,
            "ci_high": high,
            "ci_method": TANGO,
            "cluster_ci_low": cluster_low,
            "cluster_ci_high": cluster_high,
            "only_a_correct": only_a.astype(np.int64),
            "only_b_correct": only_b.astype(np.int64),
            "p_exact": exact,
            "p_mid": mid,
            "p_clustered": p_clustered,
            "clustered_method": _method(right, weights),
            "undefined_because": _because(matrix, right, weights, cluster_low),
        }
    )


def _method(right: Correctness, weights: Floats | None) -> str:
    if weights is None:
        return ""
    return f"{YANG}; {WIDENED}" if is_widened(np.array(len(right.present))) else YANG


def _because(matrix: ReadingMatrix, right: Correctness, weights: Floats | None, low: Floats) -> str:
    if not right.n:
        return NOT_BOTH if matrix.assigned.any() else NO_REFERENCE
    if weights is None:
        return ""
    if len(right.present) < FEWEST:
        return FEW_CLUSTERS if len(right.present) > 1 else ONE_CLUSTER
    return FEW_RESAMPLES if np.isnan(low).any() else ""
