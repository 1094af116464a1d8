"""Comparison of two raters' accuracy on the same items: the table `comparisons.csv`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from analysis.arrays import Bools, Floats, Ints
from analysis.bundle.model import Bundle, PairKind
from analysis.figures.comparisons import comparisons_chart
from analysis.figures.drawing.axes import RaterName, rater_names
from analysis.options import Options
from analysis.presentation.captions import interval_methods, number_range
from analysis.presentation.table import (
    EMPTY_CELL,
    MAX_ROWS,
    ReportTable,
    TableRow,
    condition_cell,
    difference_cells,
    p_cell,
    percent_cell,
    rater_name,
    report_table,
    whole_number,
)
from analysis.presentation.wording import Row, cell_number, join_sentences, rows_of
from analysis.readings.clusters import (
    MIN_CLUSTERS,
    SINGLE_CLUSTER,
    TOO_FEW_CLUSTERS,
    WIDENED_METHOD,
    is_widened,
    percentile_limits,
    ratio,
    sums_by_cluster,
)
from analysis.readings.matrix import ReadingMatrix, reading_matrix
from analysis.results import Results
from analysis.statistics.agreement.pairs.counts import Pair, pair_names, pairs_of
from analysis.statistics.comparison.paired_tests import (
    holm_within,
    mcnemar_p,
    tango_interval,
    yang_test,
)
from analysis.statistics.statistic import Column, Figure, Method, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.statistics.verdicts import no_verdict_reason_of_fewest, patients_of_pair
from analysis.translation import capitalise, later, localised, t, tn

NO_REFERENCE = later("no item has a reference standard")
# Largest size of an array: 64 MiB of float64.
LARGEST_ARRAY_SIZE = 8 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Correctness:
    """Correct answers of raters to the items assigned to all; missing answers are incorrect.

    Parameters
    ----------
    n : int
        Number of items.
    correct : numpy.ndarray of float, shape (n, n_columns)
        1 where the answer is correct, else 0.
    by_cluster : numpy.ndarray of float, shape (n_present, n_columns)
        Number of correct answers in each cluster that has such items.
    sizes : numpy.ndarray of float, shape (n_present,)
        Number of such items in each of these clusters.
    present : numpy.ndarray of int, shape (n_present,)
        The clusters that have such items.
    """

    n: int
    correct: Floats
    by_cluster: Floats
    sizes: Floats
    present: Ints


def correctness(matrix: ReadingMatrix, items: Bools, columns: Ints) -> Correctness:
    """Collect the correct answers in columns of a matrix to a set of its items.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    items : numpy.ndarray of bool, shape (n_items,)
        The items to include.
    columns : numpy.ndarray of int, shape (n_columns,)
        The columns to include.
    """
    correct = matrix.correct[items][:, columns].astype(np.float64)
    clusters = matrix.clusters[items]
    by_cluster, present = sums_by_cluster(correct, clusters)
    sizes = sums_by_cluster(np.ones((len(correct), 1)), clusters)[0][:, 0]
    return Correctness(
        n=len(correct), correct=correct, by_cluster=by_cluster, sizes=sizes, present=present
    )


def items_given_to_both(matrix: ReadingMatrix, a: Ints, b: Ints) -> Iterator[tuple[Bools, Ints]]:
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
        The items that are counted for both raters.
    pairs : numpy.ndarray of int
        Positions of the pairs; each pair is yielded once.
    """
    first_with: dict[bytes, int] = {}
    first_alike = np.array(
        [
            first_with.setdefault(packed.tobytes(), column)
            for column, packed in enumerate(np.packbits(matrix.is_counted, axis=0).T)
        ],
        dtype=np.int64,
    )
    sides = np.sort(np.column_stack([first_alike[a], first_alike[b]]), axis=1)
    for first, second in np.unique(sides, axis=0):
        pairs = np.flatnonzero((sides[:, 0] == first) & (sides[:, 1] == second))
        yield matrix.is_counted[:, first] & matrix.is_counted[:, second], pairs


def counts_of_only_one_correct(answers: Correctness, a: Ints, b: Ints) -> tuple[Floats, Floats]:
    """Count the items that only the first, and only the second, of each pair answered correctly.

    Parameters
    ----------
    answers : Correctness
        The correct answers of all raters.
    a, b : numpy.ndarray of int, shape (n_pairs,)
        The columns of each pair's first and second rater.

    Returns
    -------
    only_a, only_b : numpy.ndarray of float, shape (n_pairs,)
        Whole numbers.

    Examples
    --------
    >>> correct = np.array([[1.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> answers = Correctness(n=4, correct=correct, by_cluster=correct, sizes=np.ones(4),
    ...                     present=np.arange(4))
    >>> only_a, only_b = counts_of_only_one_correct(answers, np.array([0]), np.array([1]))
    >>> only_a.tolist(), only_b.tolist()
    ([2.0], [1.0])
    """
    both = answers.correct.T @ answers.correct
    return both[a, a] - both[a, b], both[b, b] - both[a, b]


def resampled_intervals(
    answers: Correctness, a: Ints, b: Ints, weights: Floats, alpha: float
) -> tuple[Floats, Floats]:
    """Return the percentile interval of each pair's difference over resampled clusters.

    Parameters
    ----------
    answers : Correctness
        The correct answers of all raters.
    a, b : numpy.ndarray of int, shape (n_pairs,)
        The columns of each pair's first and second rater.
    weights : numpy.ndarray of float, shape (n_resamples, n_clusters)
        Number of times each cluster was drawn in each resample.
    alpha : float
        Two-sided error rate.

    Returns
    -------
    low, high : numpy.ndarray of float, shape (n_pairs,)
        nan if fewer than 80 % of the resamples contain such an item, or with fewer than 8 clusters.

    Examples
    --------
    >>> sums = np.tile([[2.0, 1.0], [1.0, 1.0]], (15, 1))
    >>> answers = Correctness(n=60, correct=sums, by_cluster=sums, sizes=np.full(30, 2.0),
    ...                     present=np.arange(30))
    >>> weights = np.tile([[2.0, 0.0], [1.0, 1.0], [0.0, 2.0]], 15)
    >>> low, high = resampled_intervals(answers, np.array([0]), np.array([1]), weights, alpha=0.05)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0125], [0.4875])
    """
    present_weights = (
        weights if len(answers.present) == weights.shape[1] else weights[:, answers.present]
    )
    counts, sizes = answers.by_cluster.T @ present_weights.T, present_weights @ answers.sizes
    low, high = np.full(len(a), np.nan), np.full(len(a), np.nan)
    step = max(1, LARGEST_ARRAY_SIZE // len(weights))
    for start in range(0, len(a), step):
        block = slice(start, start + step)
        differences = ratio(counts[a[block]] - counts[b[block]], sizes)
        units = np.full(len(a[block]), len(answers.present))
        low[block], high[block], _ = percentile_limits(differences, alpha, units)
    return low, high


TANGO = later("Tango score")
YANG = later("Yang's modified Obuchowski test over patients")
FAMILY_NAME = "reader-model pairs"
_PAIR_COLUMNS = shared_columns("rater_a rater_b pair_kind condition")
COMPARISON_COLUMNS = (
    *shared_columns("n"),
    Column("accuracy_a", "Accuracy of the first rater.", "proportion"),
    Column("accuracy_b", "Accuracy of the second rater.", "proportion"),
    Column("difference", "Accuracy of the first rater minus that of the second.", "proportion"),
    *shared_columns("ci_low ci_high ci_method cluster_ci_low cluster_ci_high"),
    Column("only_a_correct", "Items that only the first rater answered correctly.", "count"),
    Column("only_b_correct", "Items that only the second rater answered correctly.", "count"),
    Column("p_exact", "p-value of McNemar's exact test.", "probability"),
    Column("p_mid", "Mid-p-value of McNemar's test.", "probability"),
    Column(
        "p_clustered", "p-value of a test over patients; empty without clusters.", "probability"
    ),
    Column("clustered_method", "Method of `p_clustered`."),
)

NOT_BOTH = later("no item was given to both")
ONE_CLUSTER = f"cluster interval and clustered test: {SINGLE_CLUSTER}"
FEW_CLUSTERS = f"cluster interval: {TOO_FEW_CLUSTERS}"
FEW_RESAMPLES = "cluster interval: too many resamples hold none of the pair's items"


def comparisons(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Compare the accuracy of each pair of raters on the same items.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        The columns of `COMPARISONS`. One row per pair, in order of condition, kind of pair and ids,
        as in `agreement_pairs`.

    Notes
    -----
    `n` is the number of items with a reference standard that both raters were given; models are
    taken to be given all items. Missing answers are incorrect. `difference` is the first rater's
    accuracy minus the second's, with Tango's score interval; `p_exact` and `p_mid` are McNemar's
    test. These three assume independent items. If there are clusters, use instead the percentile
    interval over resampled patients (`cluster_ci_*`) and Yang's test (`p_clustered`), which are
    empty otherwise. `p_adjusted` is `p_clustered` if there are clusters, otherwise `p_mid`,
    adjusted by Holm's method over all reader-model pairs of a condition; other pairs belong to no
    family.

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
        compare_pairs(matrix, items, a[members], b[members], weights, options.alpha).set_index(
            members
        )
        for items, members in items_given_to_both(matrix, a, b)
    ]
    families = [_family_name(pair) for pair in pairs]
    table = pair_names(matrix.columns, pairs)
    if not parts:
        return table.reindex(columns=COMPARISONS.header)
    table = table.join(pd.concat(parts))
    p_values = table["p_mid" if weights is None else "p_clustered"].to_numpy(dtype=np.float64)
    return table.assign(
        p_adjusted=holm_within(p_values, families), family=np.array(families, dtype=object)
    )[COMPARISONS.header]


def _family_name(pair: Pair) -> str:
    if pair.kind is not PairKind.MIXED:
        return ""
    return f"{FAMILY_NAME}, {pair.condition}" if pair.condition else FAMILY_NAME


def compare_pairs(
    matrix: ReadingMatrix, items: Bools, a: Ints, b: Ints, weights: Floats | None, alpha: float
) -> pd.DataFrame:
    """Compare pairs whose raters were given the same items, one row per pair.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    items : numpy.ndarray of bool, shape (n_items,)
        The items, which were given to all raters of the pairs.
    a, b : numpy.ndarray of int, shape (n_pairs,)
        The columns of each pair's first and second rater.
    weights : numpy.ndarray of float, shape (n_resamples, n_clusters), or None
        Number of times each cluster was drawn in each resample; None without clusters.
    alpha : float
        Two-sided error rate.
    """
    columns, positions = np.unique(np.concatenate([a, b]), return_inverse=True)
    a, b = positions[: len(a)], positions[len(a) :]
    answers = correctness(matrix, items, columns)
    n = np.full(len(a), float(answers.n))
    only_a, only_b = counts_of_only_one_correct(answers, a, b)
    totals = answers.correct.sum(axis=0)
    low, high = tango_interval(only_a, only_b, n, alpha)
    exact, mid = (np.where(n > 0, p, np.nan) for p in mcnemar_p(only_a, only_b))
    cluster_low = cluster_high = p_clustered = np.full(len(a), np.nan)
    if weights is not None and len(answers.present) > 1:
        cluster_low, cluster_high = resampled_intervals(answers, a, b, weights, alpha)
        p_clustered = yang_test(answers.by_cluster, answers.sizes, a, b)[1]
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
            "clustered_method": _clustered_method(answers, weights),
            "undefined_because": _undefined_reason(matrix, answers, weights, cluster_low),
        }
    )


def _clustered_method(answers: Correctness, weights: Floats | None) -> str:
    if weights is None:
        return ""
    return f"{YANG}; {WIDENED_METHOD}" if is_widened(np.array(len(answers.present))) else YANG


def _undefined_reason(
    matrix: ReadingMatrix, answers: Correctness, weights: Floats | None, low: Floats
) -> str:
    if not answers.n:
        return NOT_BOTH if matrix.has_truth.any() else NO_REFERENCE
    if weights is None:
        return ""
    if len(answers.present) < MIN_CLUSTERS:
        return FEW_CLUSTERS if len(answers.present) > 1 else ONE_CLUSTER
    return FEW_RESAMPLES if np.isnan(low).any() else ""


def items_only_one_answered_correctly(bundle: Bundle, a: str, b: str) -> pd.DataFrame:
    """List the items that exactly one of two raters answered correctly, among those given to both.

    Returns
    -------
    pandas.DataFrame
        Columns `item_id, condition, correct` (the correct rater), in order of item.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> items_only_one_answered_correctly(bundle_from_tables(
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
        both = matrix.is_counted[:, pair.a] & matrix.is_counted[:, pair.b]
        is_first_correct = matrix.correct[:, pair.a]
        for item in np.flatnonzero(both & (is_first_correct != matrix.correct[:, pair.b])):
            rater = matrix.columns[pair.a if is_first_correct[item] else pair.b].rater_id
            rows.append((matrix.item_ids[item], pair.condition, rater))
    table = pd.DataFrame(rows, columns=["item_id", "condition", "correct"], dtype=object)
    return table.sort_values(["item_id", "condition"], ignore_index=True)


def comparisons_table(results: Results) -> Iterator[ReportTable]:
    """Show the comparison of every model with every single reader."""
    names = rater_names(results.bundle)
    pairs = rows_of(results, "comparisons", pair_kind=PairKind.MIXED.value)
    rows = [_pair_row(row, names, clustered=results.clustered) for row in pairs[:MAX_ROWS]]
    yield report_table(
        name="comparisons",
        title=t("Models against single readers"),
        note=join_sentences(
            [
                t("Difference: reader minus model, in points, with its CI (over patients).")
                if results.clustered
                else t(
                    "Difference: reader minus model, in points, with its CI (Tango's score"
                    " interval)."
                ),
                t(
                    "Only one correct: cases answered correctly by the reader only, and by the"
                    " model only. p: McNemar mid-p, Yang's test where patients have several"
                    " cases; adjusted: Holm over these pairs."
                ),
            ]
        ),
        header=(
            t("Reader and model"),
            t("Condition"),
            "n",
            t("Reader %"),
            t("Model %"),
            t("Difference"),
            t("CI"),
            t("Only one correct"),
            "p",
            t("Adjusted p"),
        ),
        rows=rows,
        total=len(pairs),
        in_paper=True,
    )


def _pair_row(row: Row, names: Mapping[str, RaterName], *, clustered: bool) -> TableRow:
    over_patients = not math.isnan(cell_number(row, "p_clustered"))
    cells = (
        condition_cell(str(row["condition"])),
        whole_number(cell_number(row, "n")),
        percent_cell(cell_number(row, "accuracy_a")),
        percent_cell(cell_number(row, "accuracy_b")),
        *difference_cells(row, 100, cluster=clustered),
        " : ".join(whole_number(cell_number(row, f"only_{rater}_correct")) for rater in "ab")
        if not math.isnan(cell_number(row, "only_a_correct"))
        else EMPTY_CELL,
        p_cell(cell_number(row, "p_clustered" if over_patients else "p_mid")),
        p_cell(cell_number(row, "p_adjusted")),
    )
    return (rater_name(names, str(row["rater_a"])), rater_name(names, str(row["rater_b"]))), cells


def comparisons_methods(results: Results) -> str:
    """Describe the tests and intervals for the difference between two raters."""
    test = "McNemar's exact and mid-p tests [@mcnemar1947; @fagerland2013]"
    if results.clustered:
        test += " and Yang's test over patients [@yang2010]"
    return (
        "Raters are compared in pairs on the same cases: difference of accuracies with Tango's"
        f" score interval [@tango1998], {test}. p-values of readers against models are"
        " adjusted by Holm's method within a condition [@holm1979]."
    )


def comparisons_figure(results: Results, condition: str) -> Iterator[Figure]:
    """Show the difference of every model from every reader."""
    pairs = results.tables["comparisons"]
    rows = pairs.loc[(pairs["pair_kind"] == PairKind.MIXED) & (pairs["condition"] == condition)]
    rows = rows.loc[rows["difference"].notna()]
    records = rows_of(results, "comparisons", pair_kind=PairKind.MIXED, condition=condition)
    few = no_verdict_reason_of_fewest(results, [patients_of_pair(results, row) for row in records])
    yield Figure(
        "comparison",
        "model-against-reader",
        t("Every model against every reader"),
        _comparisons_caption(rows, results.options.confidence_percent, few) if len(rows) else "",
        comparisons_chart(
            pairs,
            condition=condition,
            alpha=results.options.alpha,
            names=rater_names(results.bundle),
        ),
    )


def _comparisons_caption(rows: pd.DataFrame, percent: str, few: str = "") -> str:
    """Describe the comparison with every reader; `few` is the reason if no verdict is given."""
    clustered = rows["cluster_ci_low"].notna()
    methods = [t("bootstrap over patients")] if clustered.any() else []
    if not clustered.all():
        methods.append(interval_methods(rows, "ci_method"))
    return join_sentences(
        [
            t(
                "Model minus reader in percentage points of accuracy, on the same cases, n = {n};"
                " {percent} % intervals ({methods}).",
                n=number_range(rows["n"]),
                percent=localised(percent),
                methods=t(", ").join(methods),
            ),
            tn(
                "One pair of a reader and a model: the adjusted p is its own p.",
                "The adjusted p is Holm's over all {n} pairs of a reader and a model.",
                len(rows),
            ),
            t("{reason}, regardless of p.", reason=capitalise(few)) if few else "",
        ]
    )


COMPARISONS = Statistic(
    name="comparisons",
    meaning="Difference of accuracy between two raters on the items given to both.",
    columns=(
        *_PAIR_COLUMNS,
        *COMPARISON_COLUMNS,
        *shared_columns("p_adjusted family undefined_because"),
    ),
    compute=comparisons,
    methods={500: Method("Single comparisons", comparisons_methods)},
    tables={30: comparisons_table},
    figures={50: comparisons_figure},
)
