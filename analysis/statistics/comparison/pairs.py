"""Two raters' accuracy on the same items, two models' by task: `comparisons`, `model_pairs`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.stats import binom, chi2, norm
from statsmodels.stats.multitest import multipletests

from analysis.arrays import Bools, Floats, Ints
from analysis.bundle.model import Bundle, PairKind
from analysis.options import Options
from analysis.readings.clusters import (
    ALL_IN_ONE,
    FEWEST,
    TOO_FEW,
    WIDENED,
    is_widened,
    percentile_limits,
    ratio,
    sums_by_cluster,
)
from analysis.readings.matrix import ReadingMatrix, reading_matrix
from analysis.statistics.agreement.pairs.counts import Pair, pair_names, pairs_of
from analysis.statistics.statistic import Column, Statistic, shared
from analysis.statistics.study import Study, study_of
from analysis.translation import later


def mcnemar_p(only_a: Floats, only_b: Floats) -> tuple[Floats, Floats]:
    r"""Return the two-sided p of McNemar's exact test, as it is and with mid-p.

    Parameters
    ----------
    only_a, only_b : numpy.ndarray of float, any one shape
        Items that only the first, only the second got right; whole numbers.

    Returns
    -------
    exact, mid : numpy.ndarray of float, the same shape
        0 to 1; both 1 without discordant items. Below 1e-308 they become 0.

    Notes
    -----
    Given their number, the discordant items fall to either rater like a fair coin [1]_. With X
    binomial of b + c throws and m = min(b, c): exact :math:`\min(1, 2 P(X \le m))`; mid-p counts
    the observed outcome half, :math:`2 P(X \le m) - P(X = m)`, and where b = c, so that both tails
    hold it, :math:`1 - P(X = m) / 2` [2]_. The items are taken for independent.

    References
    ----------
    .. [1] McNemar Q. Note on the sampling error of the difference between correlated proportions or
       percentages. Psychometrika 1947;12:153-157. doi:10.1007/BF02295996
    .. [2] Fagerland MW, Lydersen S, Laake P. The McNemar test for binary matched-pairs data: mid-p
       and asymptotic are better than exact conditional. BMC Med Res Methodol 2013;13:91.
       doi:10.1186/1471-2288-13-91

    Examples
    --------
    >>> exact, mid = mcnemar_p(np.array([12.0, 0, 3]), np.array([2.0, 0, 3]))
    >>> exact.tolist(), mid.round(9).tolist()
    ([0.012939453125, 1.0, 1.0], [0.007385254, 1.0, 0.84375])
    """
    fewer, discordant = np.minimum(only_a, only_b), only_a + only_b
    twice = 2 * binom.cdf(fewer, discordant, 0.5)
    exact = np.minimum(twice, 1.0)
    observed = binom.pmf(fewer, discordant, 0.5)
    even, none = only_a == only_b, discordant == 0
    # Where both are almost 0 rounding would make their difference negative.
    mid = np.where(even, 1 - observed / 2, np.clip(twice - observed, 0.0, exact))
    return np.where(even, 1.0, exact), np.where(none, 1.0, mid)


# Halvings of an interval at most 2 wide: what is left is below the spacing of floats.
HALVINGS = 64


def tango_interval(
    only_a: Floats, only_b: Floats, n: Floats, alpha: float
) -> tuple[Floats, Floats]:
    r"""Return Tango's score interval of paired differences of proportions.

    Parameters
    ----------
    only_a, only_b : numpy.ndarray of float, any one shape
        Items that only the first, only the second got right; whole numbers.
    n : numpy.ndarray of float, the same shape
        Items, only_a + only_b <= n.
    alpha : float
        Two-sided error, between 0 and 1.

    Returns
    -------
    low, high : numpy.ndarray of float, the same shape
        Limits of (only_a - only_b) / n, from -1 to 1; nan where n is 0.

    Notes
    -----
    The differences :math:`\delta` that the score test does not reject [1]_: with b and c for
    `only_a` and `only_b`,

    .. math:: (b - c - n \delta)^2 \le z^2 \, n \, (2 \hat q + \delta (1 - \delta)),

    where :math:`\hat q`, the most likely share of items that only the second got right given
    :math:`\delta`, is the larger root of :math:`2 n q^2 + ((2 n - b + c) \delta - b - c) q -
    c \delta (1 - \delta) = 0`. No continuity correction. The items are taken for independent. Each
    limit is found by bisection, to about 1e-12; raters swapped give the same limits with the other
    sign, to the last bit.

    References
    ----------
    .. [1] Tango T. Equivalence test and confidence interval for the difference in proportions for
       the paired-sample design. Stat Med 1998;17:891-908.
       doi:10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B

    Examples
    --------
    Newcombe's table (b): 12 and 2 of 50; R's contingencytables gives 0.061112 to 0.344709:

    >>> low, high = tango_interval(np.array([12.0]), np.array([2.0]), np.array([50.0]), alpha=0.05)
    >>> low.round(6).tolist(), high.round(6).tolist()
    ([0.061112], [0.344709])
    """
    z2 = float(norm.isf(alpha / 2)) ** 2
    high = _upper_limit(only_a, only_b, n, z2)
    low = -_upper_limit(only_b, only_a, n, z2)
    empty = n == 0
    return np.where(empty, np.nan, low), np.where(empty, np.nan, high)


def _upper_limit(b: Floats, c: Floats, n: Floats, z2: float) -> Floats:
    # Bisection by the answer of the test, not by a change of sign: at the estimate itself the
    # variance may be 0, and so both sides of the inequality, which is no limit.
    inside = (b - c) / np.maximum(n, 1)
    outside = np.ones_like(inside)
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        rejected = (b - c - n * middle) ** 2 > z2 * n * _variance(b, c, n, middle)
        outside = np.where(rejected, middle, outside)
        inside = np.where(rejected, inside, middle)
    # Where the last float below 1 is not rejected, the limit is 1.
    return np.where(outside == 1.0, outside, inside)


def _variance(b: Floats, c: Floats, n: Floats, delta: Floats) -> Floats:
    """Return n times the variance of the difference, restricted to the difference delta."""
    spread = delta * (1 - delta)
    square, linear, constant = 2 * n, (2 * n - b + c) * delta - b - c, -c * spread
    root = np.sqrt(np.maximum(linear**2 - 4 * square * constant, 0.0))
    # The form of the larger root that adds numbers of one sign: nothing cancels.
    divisor = np.where(linear > 0, linear + root, 1.0)
    q = np.where(linear > 0, -2 * constant / divisor, (root - linear) / np.maximum(2 * square, 1))
    return np.asarray(2 * q + spread)


def yang_test(correct: Floats, sizes: Floats, a: Ints, b: Ints) -> tuple[Floats, Floats]:
    r"""Test pairs of raters for equal accuracy where items cluster.

    Parameters
    ----------
    correct : numpy.ndarray of float, shape (n_clusters, n_raters)
        How many items of each cluster each rater got right; whole numbers.
    sizes : numpy.ndarray of float, shape (n_clusters,)
        Items of each cluster, at least 1.
    a, b : numpy.ndarray of int, shape (n_pairs,)
        The columns of each pair's first and second rater.

    Returns
    -------
    statistic, p : numpy.ndarray of float, shape (n_pairs,)
        Chi-squared with one degree of freedom, and its upper tail. Both nan with fewer than two
        clusters; 0 and 1 where the raters got equally many items right in every cluster.

    Notes
    -----
    With :math:`d_k` the items of cluster k that only the first got right less those that only the
    second did, :math:`n_k` its items, :math:`\hat\delta = \sum_k d_k / \sum_k n_k` and K clusters,
    the modified Obuchowski test [1]_ is

    .. math:: X^2 = \frac{K - 1}{K} \, \frac{(\sum_k d_k)^2}
       {\frac12 \sum_k \{(d_k - n_k \hat\delta)^2 + d_k^2\}}.

    Its variance takes Obuchowski's, which supposes no difference, and the empirical one by halves.
    Items weigh the same, whatever their cluster. The sums run over matrix products of whole
    numbers, which are exact. The variance is 0 only where every :math:`d_k` is 0, and so the
    difference: nothing speaks for a difference then, as for McNemar's test without discordant
    items.

    References
    ----------
    .. [1] Yang Z, Sun X, Hardin JW. A note on the tests for clustered matched-pair binary data.
       Biom J 2010;52:638-652. doi:10.1002/bimj.201000035

    Examples
    --------
    Four patients of 2, 2, 3 and 1 films; the first reader is right more often in three of them:

    >>> correct = np.array([[2.0, 1.0], [2.0, 0.0], [1.0, 2.0], [1.0, 0.0]])
    >>> statistic, p = yang_test(
    ...     correct, np.array([2.0, 2.0, 3.0, 1.0]), np.array([0]), np.array([1])
    ... )
    >>> statistic.round(6).tolist(), p.round(6).tolist()
    ([0.997691], [0.31787])
    """
    n_clusters, n_items = len(sizes), float(sizes.sum())
    if n_clusters < 2:
        return np.full(len(a), np.nan), np.full(len(a), np.nan)
    products = correct.T @ correct
    totals, weighted = correct.sum(axis=0), correct.T @ sizes
    difference = totals[a] - totals[b]
    squares = products[a, a] + products[b, b] - 2 * products[a, b]
    delta = difference / n_items
    cross = weighted[a] - weighted[b]
    variance = squares - delta * cross + delta**2 * float(sizes @ sizes) / 2
    none = squares == 0
    statistic = (n_clusters - 1) / n_clusters * difference**2 / np.where(none, 1.0, variance)
    return statistic, np.asarray(chi2.sf(statistic, 1))


def holm_within(p: Floats, families: Sequence[str]) -> Floats:
    r"""Adjust p values for the number of tests in their family.

    Parameters
    ----------
    p : numpy.ndarray of float, shape (n_tests,)
        0 to 1; nan where undefined.
    families : sequence of str, length n_tests
        The family of each test; empty: none.

    Returns
    -------
    numpy.ndarray of float, shape (n_tests,)
        At least `p`, at most 1; nan where `p` is undefined or belongs to no family.

    Notes
    -----
    Of a family's m tests in ascending order of p, the i-th is :math:`\max_{j \le i} \min(1,
    (m - j + 1) p_{(j)})` [1]_. It holds the family's error whatever the tests' dependence. A test
    without p does not count in m.

    References
    ----------
    .. [1] Holm S. A simple sequentially rejective multiple test procedure. Scand J Stat
       1979;6:65-70. doi:10.2307/4615733

    Examples
    --------
    >>> holm_within(np.array([0.01, 0.04, 0.03, 0.04]), ["x", "x", "x", ""]).tolist()
    [0.03, 0.06, 0.06, nan]
    """
    names = np.array(families, dtype=object)
    adjusted = np.full(len(names), np.nan)
    for name in sorted(set(families) - {""}):
        members = np.flatnonzero((names == name) & np.isfinite(p))
        if len(members):
            adjusted[members] = multipletests(p[members], method="holm")[1]
    return adjusted


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
    given = matrix.given
    first_with: dict[bytes, int] = {}
    alike = np.array(
        [
            first_with.setdefault(packed.tobytes(), column)
            for column, packed in enumerate(np.packbits(given, axis=0).T)
        ],
        dtype=np.int64,
    )
    sides = np.sort(np.column_stack([alike[a], alike[b]]), axis=1)
    for first, second in np.unique(sides, axis=0):
        pairs = np.flatnonzero((sides[:, 0] == first) & (sides[:, 1] == second))
        yield given[:, first] & given[:, second], pairs


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


TANGO = later("Tango score")
YANG = later("Yang's modified Obuchowski test over patients")
FAMILY = "reader-model pairs"
_PAIR = shared("rater_a rater_b pair_kind condition")
_OF_BOTH = (
    *shared("n"),
    Column("accuracy_a", "Accuracy of the first.", "proportion"),
    Column("accuracy_b", "Accuracy of the second.", "proportion"),
    Column("difference", "First minus second.", "proportion"),
    *shared("ci_low ci_high ci_method cluster_ci_low cluster_ci_high"),
    Column("only_a_correct", "Items that only the first answered correctly.", "count"),
    Column("only_b_correct", "Items that only the second answered correctly.", "count"),
    Column("p_exact", "McNemar's exact test.", "probability"),
    Column("p_mid", "Mid-p of McNemar's test.", "probability"),
    Column("p_clustered", "Test over patients; empty without clusters.", "probability"),
    Column("clustered_method", "Method of `p_clustered`."),
)
OF_A_PAIR = (*shared("by group"), *_OF_BOTH, *shared("undefined_because"))
"""What a row gives about a pair in a group of items."""

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
        The columns of `COMPARISONS`. One row a pair, in order of condition, kind of pair and ids,
        as in `agreement_pairs`.

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
    analysis.statistics.comparison.pairs

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
        return table.reindex(columns=COMPARISONS.header)
    table = table.join(pd.concat(parts))
    on = table["p_mid" if weights is None else "p_clustered"].to_numpy(dtype=np.float64)
    return table.assign(
        p_adjusted=holm_within(on, families), family=np.array(families, dtype=object)
    )[COMPARISONS.header]


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


"""What is said of a pair and a group of items: as of a pair in `comparisons`, nothing adjusted."""


def model_pairs(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Compare the accuracy of every two models, overall and task by task.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        The columns of `MODEL_PAIRS`. One row a pair of models and group: overall (`micro`), then
        the tasks in order of their names.

    Notes
    -----
    Everything as in `comparisons`, whose rows of these pairs the overall ones repeat. Of two
    versions of a model `only_b_correct` counts what became better with the second, and
    `only_a_correct` what became worse. No p is adjusted for the number of tasks and pairs.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = model_pairs(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("wxyz"), "truth": "A", "task": list("ssst")}),
    ...     pd.DataFrame({
    ...         "rater_id": ["M1"] * 4 + ["M2"] * 4, "item_id": list("wxyz") * 2,
    ...         "answer": list("ABBA" "AAAB"),
    ...     }),
    ...     pd.DataFrame({"rater_id": ["M1", "M2"], "rater_kind": "model"}),
    ... ))
    >>> for row in table[["group", "n", "only_a_correct", "only_b_correct"]].values.tolist():
    ...     print(*row)
    micro 4 1 2
    s 3 0 2
    t 1 1 0
    """
    study = study_of(study, options)
    pairs = [one for one in pairs_of(study.matrix.columns) if one.kind is PairKind.MODELS]
    names = pair_names(study.matrix.columns, pairs).drop(columns="pair_kind")
    found = names.join(by_task(study, pairs))
    return found.reset_index(drop=True)[MODEL_PAIRS.header]


def groups_of(matrix: ReadingMatrix) -> Iterator[tuple[str, str, Bools]]:
    """Yield `by`, `group` and which items: all of them, then those of each task."""
    everything = np.ones(len(matrix.item_ids), dtype=np.bool_)
    yield "overall", "micro", everything
    for task, members in matrix.members("task").items():
        of_task = ~everything
        of_task[members] = True
        yield "task", task, of_task


def by_task(study: Study, pairs: Sequence[Pair]) -> pd.DataFrame:
    """Compare pairs over the items given to both, then over those of each task.

    Returns
    -------
    pandas.DataFrame
        The columns `OF_A_PAIR`; one row a pair and group, overall first. The index says which pair.
    """
    matrix, alpha = study.matrix, study.options.alpha
    a, b = (np.array(side, dtype=np.int64) for side in ([p.a for p in pairs], [p.b for p in pairs]))
    parts = [
        compared(matrix, items & those, a[members], b[members], study.weights, alpha)
        .assign(by=by, group=group)
        .set_index(members)
        for by, group, those in groups_of(matrix)
        for items, members in given_to_both(matrix, a, b)
    ]
    if not parts:
        return pd.DataFrame(columns=[column.name for column in OF_A_PAIR])
    return pd.concat(parts).sort_index(kind="stable")[[column.name for column in OF_A_PAIR]]


def pair_of(table: pd.DataFrame, a: str, b: str) -> pd.DataFrame:
    """Return the rows of `model_pairs` of two models, `a` first; intervals over patients if any.

    Parameters
    ----------
    table : pandas.DataFrame
        What `model_pairs` returned.
    a, b : str
        The models, in either order.

    Returns
    -------
    pandas.DataFrame
        As `table`; `ci_low` and `ci_high` are those over patients where these exist.
    """
    table = over_patients(table)
    there = table.loc[(table["rater_a"] == a) & (table["rater_b"] == b)]
    back = table.loc[(table["rater_a"] == b) & (table["rater_b"] == a)]
    turned = back.rename(columns=_TURNED)
    for column in ("difference", "ci_low", "ci_high"):
        turned[column] = -turned[column]
    return pd.concat([there, turned])[list(table)].reset_index(drop=True)


def over_patients(table: pd.DataFrame) -> pd.DataFrame:
    """Return paired differences with `ci_low` and `ci_high` over patients where these exist."""
    return table.assign(
        ci_low=table["cluster_ci_low"].fillna(table["ci_low"]),
        ci_high=table["cluster_ci_high"].fillna(table["ci_high"]),
    )


_TURNED = {
    **{f"{name}_a": f"{name}_b" for name in ("rater", "accuracy")},
    **{f"{name}_b": f"{name}_a" for name in ("rater", "accuracy")},
    **{"only_a_correct": "only_b_correct", "only_b_correct": "only_a_correct"},
    **{"ci_low": "ci_high", "ci_high": "ci_low"},
}
"""What changes its name where the second model of a pair is put first."""


def only_one_correct(bundle: Bundle, a: str, b: str) -> pd.DataFrame:
    """List the items that one of two raters had right and the other, given them too, had not.

    Returns
    -------
    pandas.DataFrame
        Columns `item_id, condition, correct`, whose answer was; in order of item.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> only_one_correct(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("xyz"), "truth": "A"}),
    ...     pd.DataFrame({
    ...         "rater_id": ["M1"] * 3 + ["M2"] * 3, "item_id": list("xyz") * 2,
    ...         "answer": list("ABB" "BAB"),
    ...     }),
    ...     pd.DataFrame({"rater_id": ["M1", "M2"], "rater_kind": "model"}),
    ... ), "M1", "M2").values.tolist()
    [['x', '', 'M1'], ['y', '', 'M2']]
    """
    readings = bundle.readings.loc[bundle.readings["rater_id"].isin([a, b])]
    matrix = reading_matrix(replace(bundle, readings=readings))
    rows = []
    for pair in pairs_of(matrix.columns):
        both = matrix.given[:, pair.a] & matrix.given[:, pair.b]
        right = matrix.correct[:, pair.a]
        for item in np.flatnonzero(both & (right != matrix.correct[:, pair.b])):
            who = matrix.columns[pair.a if right[item] else pair.b].rater_id
            rows.append((matrix.item_ids[item], pair.condition, who))
    table = pd.DataFrame(rows, columns=["item_id", "condition", "correct"], dtype=object)
    return table.sort_values(["item_id", "condition"], ignore_index=True)


COMPARISONS = Statistic(
    name="comparisons",
    meaning="Difference of accuracy between two raters on the items given to both.",
    columns=(
        *_PAIR,
        *_OF_BOTH,
        *shared("p_adjusted family undefined_because"),
    ),
    compute=comparisons,
)


MODEL_PAIRS = Statistic(
    name="model_pairs",
    meaning="Difference of accuracy between two models, overall or in a task.",
    columns=(
        *shared("rater_a rater_b condition"),
        *OF_A_PAIR,
    ),
    compute=model_pairs,
)
