"""Accuracy of every two raters compared, of two models by task: `comparisons`, `model_pairs`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.arrays import Bools, Floats, Ints
from analysis.bundle.model import Bundle
from analysis.options import Options
from analysis.readings.clusters import ALL_IN_ONE, FEWEST, TOO_FEW, WIDENED, is_widened, ratio
from analysis.readings.matrix import ReadingMatrix, reading_matrix
from analysis.statistics.agreement.pairs.counts import Pair, PairKind, pair_names, pairs_of
from analysis.statistics.comparison.paired import (
    NO_REFERENCE,
    Correctness,
    correctness,
    given_to_both,
    holm_within,
    mcnemar_p,
    only_one_right,
    resampled_limits,
    tango_interval,
    yang_test,
)
from analysis.statistics.study import COLUMNS, Study, study_of
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


_ADJUSTED = ("p_adjusted", "family")
OF_A_PAIR = ("by", "group", *(name for name in COLUMNS["comparisons"][4:] if name not in _ADJUSTED))
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
        Columns `rater_a, rater_b, condition, by, group, n, accuracy_a, accuracy_b, difference,
        ci_low, ci_high, ci_method, cluster_ci_low, cluster_ci_high, only_a_correct, only_b_correct,
        p_exact, p_mid, p_clustered, clustered_method, undefined_because`. One row a pair of models
        and group: overall (`micro`), then the tasks in order of their names.

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
    return found.reset_index(drop=True)[["rater_a", "rater_b", "condition", *OF_A_PAIR]]


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
        Columns `OF_A_PAIR`; one row a pair and group, overall first. The index says which pair.
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
        return pd.DataFrame(columns=list(OF_A_PAIR))
    return pd.concat(parts).sort_index(kind="stable")[list(OF_A_PAIR)]


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
