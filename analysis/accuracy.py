"""Accuracy of each rater against the reference standard: the table `accuracy.csv`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.arrays import Floats, Ints, ordered_sum
from analysis.bundle.model import Bundle
from analysis.clusters import ALL_IN_ONE, percentile_limits, ratio, sums_by_cluster
from analysis.matrix import NO_LETTER, ReadingMatrix, reading_matrix
from analysis.options import Options
from analysis.proportions import mover_mean, wilson_interval
from analysis.resamples import cluster_weights

WILSON = "Wilson score"
MOVER = "MOVER over the tasks' Wilson limits"
GROUPED_BY = ("task", "category", "subcategory")

NO_REFERENCE = "no item here has a reference standard"
NO_TASK = "no item with a reference standard names its task"
ONE_CLUSTER = f"cluster interval: {ALL_IN_ONE}"
FEW_RESAMPLES = "cluster interval: too many resamples hold no item of this group"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Estimates:
    """One group's estimates of all columns; arrays have shape (n_columns,)."""

    by: str
    group: str
    n: int
    n_correct: Ints
    n_missing: Ints
    accuracy: Floats
    low: Floats
    high: Floats
    method: str
    resampled: Floats | None  # (n_columns, n_resamples)
    several_clusters: bool
    because: str = ""


def accuracy(bundle: Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Estimate every rater's accuracy, overall and by task, category and subcategory.

    Parameters
    ----------
    bundle : Bundle
        The checked tables.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        Columns `rater_id, rater_kind, condition, by, group, n, n_correct, n_missing, accuracy,
        ci_low, ci_high, ci_method, cluster_ci_low, cluster_ci_high, undefined_because`.
        Proportions 0 to 1. One row a rater, condition and group, readers first.

    Notes
    -----
    Assigned is every item with a reference standard; an assigned item that was not answered is
    wrong, and stays in `n`. `micro` is correct over assigned, with Wilson's interval. `macro` is
    the mean of the tasks' accuracies, over the tasks with assigned items, with the MOVER interval;
    items that name no task are not in it. Where some patient (or examination, where no patient is
    given) has more than one item, the cluster interval is the percentile interval over resampled
    patients; without such clusters it is empty.

    See Also
    --------
    analysis.proportions.wilson_interval, analysis.proportions.mover_mean

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = accuracy(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("abcd"), "truth": list("AABB"), "task": list("xxyy")}),
    ...     pd.DataFrame({"rater_id": ["R1"] * 3, "item_id": list("abc"), "answer": list("AAA")}),
    ... ))
    >>> table[["by", "group", "n", "n_correct", "n_missing", "accuracy"]].values.tolist()[:2]
    [['overall', 'micro', 4, 2, 1, 0.5], ['overall', 'macro', 4, 2, 1, 0.5]]
    """
    options = options or Options()
    matrix = reading_matrix(bundle)
    return accuracy_table(matrix, options, cluster_weights(matrix, options))


def accuracy_table(matrix: ReadingMatrix, options: Options, weights: Floats | None) -> pd.DataFrame:
    """Return the table of `accuracy` for readings and resamples that are there already.

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
        As `accuracy` says.
    """
    tables = [_table(matrix, e, options.alpha) for e in _estimates(matrix, options.alpha, weights)]
    table = pd.concat(tables, ignore_index=True)
    return table.sort_values("column", kind="stable", ignore_index=True).drop(columns="column")


def _estimates(matrix: ReadingMatrix, alpha: float, weights: Floats | None) -> Iterator[_Estimates]:
    every = np.arange(len(matrix.truth))
    tasks = [
        _group(matrix, "task", name, items, alpha, weights)
        for name, items in matrix.members("task").items()
    ]
    yield _group(matrix, "overall", "micro", every, alpha, weights)
    yield _macro([task for task in tasks if task.n], matrix)
    yield from tasks
    for by in GROUPED_BY[1:]:
        for name, items in matrix.members(by).items():
            yield _group(matrix, by, name, items, alpha, weights)


def _group(
    matrix: ReadingMatrix, by: str, name: str, items: Ints, alpha: float, weights: Floats | None
) -> _Estimates:
    items = items[matrix.assigned[items]]
    correct = matrix.correct[items]
    n = len(items)
    n_correct = correct.sum(axis=0, dtype=np.int64)
    counts = n_correct.astype(np.float64)
    totals = np.full(len(counts), float(n))
    low, high = wilson_interval(counts, totals, alpha)
    clusters = matrix.clusters[items]
    return _Estimates(
        by=by,
        group=name,
        n=n,
        n_correct=n_correct,
        n_missing=(matrix.answers[items] == NO_LETTER).sum(axis=0, dtype=np.int64),
        accuracy=ratio(counts, totals),
        low=low,
        high=high,
        method=WILSON,
        resampled=None if weights is None else _resampled(correct.astype(float), clusters, weights),
        several_clusters=len(np.unique(clusters)) > 1,
        because="" if n else NO_REFERENCE,
    )


def _resampled(correct: Floats, clusters: Ints, weights: Floats) -> Floats:
    counted = np.column_stack([correct, np.ones(len(correct))])
    sums, present = sums_by_cluster(counted, clusters)
    drawn = sums.T @ weights[:, present].T
    return ratio(drawn[:-1], drawn[-1:])


def _macro(tasks: list[_Estimates], matrix: ReadingMatrix) -> _Estimates:
    shape = (len(tasks), len(matrix.columns))
    accuracies, lows, highs = (
        np.array(part, dtype=np.float64).reshape(shape)
        for part in (
            [task.accuracy for task in tasks],
            [task.low for task in tasks],
            [task.high for task in tasks],
        )
    )
    mean, low, high = mover_mean(accuracies, lows, highs)
    nothing = np.zeros(len(matrix.columns), dtype=np.int64)
    resampled = [task.resampled for task in tasks if task.resampled is not None]
    return _Estimates(
        by="overall",
        group="macro",
        n=sum(task.n for task in tasks),
        n_correct=sum((task.n_correct for task in tasks), nothing),
        n_missing=sum((task.n_missing for task in tasks), nothing),
        accuracy=mean,
        low=low,
        high=high,
        method=MOVER,
        resampled=ordered_sum(resampled) / len(resampled) if resampled else None,
        several_clusters=any(task.several_clusters for task in tasks),
        because="" if tasks else NO_TASK,
    )


def _table(matrix: ReadingMatrix, e: _Estimates, alpha: float) -> pd.DataFrame:
    columns = matrix.columns
    cluster_low, cluster_high, because = _cluster_interval(e, alpha)
    return pd.DataFrame(
        {
            "column": np.arange(len(columns)),
            "rater_id": [column.rater_id for column in columns],
            "rater_kind": [column.kind.value for column in columns],
            "condition": [column.condition for column in columns],
            "by": e.by,
            "group": e.group,
            "n": e.n,
            "n_correct": e.n_correct,
            "n_missing": e.n_missing,
            "accuracy": e.accuracy,
            "ci_low": e.low,
            "ci_high": e.high,
            "ci_method": e.method,
            "cluster_ci_low": cluster_low,
            "cluster_ci_high": cluster_high,
            "undefined_because": because,
        }
    )


def _cluster_interval(e: _Estimates, alpha: float) -> tuple[Floats, Floats, str]:
    nothing = np.full(len(e.accuracy), np.nan)
    if e.because or e.resampled is None:
        return nothing, nothing, e.because
    if not e.several_clusters:
        return nothing, nothing, ONE_CLUSTER
    low, high, _ = percentile_limits(e.resampled, alpha)
    return low, high, FEW_RESAMPLES if np.isnan(low).any() else ""
