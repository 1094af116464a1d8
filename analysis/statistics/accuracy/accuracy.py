"""Accuracy of each rater, and who stands where, how surely: `accuracy.csv`, `leaderboard.csv`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import rankdata

from analysis.arrays import Bools, Floats, Ints, ordered_sum
from analysis.bundle.model import Bundle
from analysis.options import Options
from analysis.readings.clusters import (
    ENOUGH_RESAMPLES,
    WIDENED,
    is_widened,
    percentile_limits,
    ratio,
    sums_by_cluster,
    tail,
    too_few,
    weight_blocks,
)
from analysis.readings.matrix import NO_LETTER, ReadingMatrix, are_enough, columns_by_condition
from analysis.statistics.accuracy.means import mover_mean, wilson_interval
from analysis.statistics.study import COLUMNS, Study, study_of
from analysis.translation import later

WILSON = later("Wilson score")
MOVER = later("MOVER over the tasks' Wilson limits")
GROUPED_BY = ("task", "category", "subcategory")

NO_REFERENCE = later("no item here has a reference standard")
NO_TASK = later("no item with a reference standard names its task")
NOT_GIVEN = later("none of these items was given to this reader")
FEW_RESAMPLES = "cluster interval: too many resamples hold no item of this group"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Estimates:
    """One group's estimates of all columns; arrays have shape (n_columns,)."""

    by: str
    group: str
    n: Ints
    n_correct: Ints
    n_missing: Ints
    accuracy: Floats
    low: Floats
    high: Floats
    method: str
    resampled: Floats | None  # (n_columns, n_resamples)
    clusters: Bools  # (n_clusters, n_columns): those with an item that counts
    because: str = ""


def accuracy(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Estimate every rater's accuracy, overall and by task, category and subcategory.

    Parameters
    ----------
    study : Study or Bundle
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
    `n` counts the items with a reference standard that a reader was given; an item never presented
    is no answer. For a model it counts them all. Of these, an item that was not answered is wrong.
    `micro` is correct over `n`, with Wilson's interval. `macro` is the mean of the tasks'
    accuracies, over the tasks of which the rater was given an item, with the MOVER interval; items
    that name no task are not in it. Where some patient (or examination, where no patient is given)
    has more than one item, the cluster interval is the percentile interval over resampled patients;
    without such clusters it is empty, and of fewer than 8 patients it is undefined.

    See Also
    --------
    analysis.statistics.accuracy.means.wilson_interval,
    analysis.statistics.accuracy.means.mover_mean

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = accuracy(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("abcd"), "truth": list("AABB"), "task": list("xxyy")}),
    ...     pd.DataFrame({"rater_id": "R1", "item_id": list("abc"), "answer": ["A", "A", ""]}),
    ... ))
    >>> table[["by", "group", "n", "n_correct", "n_missing", "accuracy"]].values.tolist()[:2]
    [['overall', 'micro', 3, 2, 1, 0.6666666666666666], ['overall', 'macro', 3, 2, 1, 0.5]]
    """
    study = study_of(study, options)
    matrix, options, weights = study.matrix, study.options, study.weights
    tables = [_table(matrix, e, options.alpha) for e in _estimates(matrix, options.alpha, weights)]
    table = pd.concat(tables, ignore_index=True)
    return table.sort_values("column", kind="stable", ignore_index=True).drop(columns="column")


def _estimates(matrix: ReadingMatrix, alpha: float, weights: Floats | None) -> Iterator[_Estimates]:
    given, correct = matrix.given, matrix.correct

    def group(by: str, name: str, items: Ints) -> _Estimates:
        return _group(matrix, given, correct, by, name, items, alpha, weights)

    tasks = [group("task", name, items) for name, items in matrix.members("task").items()]
    yield group("overall", "micro", np.arange(len(matrix.truth)))
    yield _macro(tasks, matrix)
    yield from tasks
    for by in GROUPED_BY[1:]:
        for name, items in matrix.members(by).items():
            yield group(by, name, items)


def _group(
    matrix: ReadingMatrix,
    given: Bools,
    correct: Bools,
    by: str,
    name: str,
    items: Ints,
    alpha: float,
    weights: Floats | None,
) -> _Estimates:
    items = items[matrix.assigned[items]]
    given, correct = given[items], correct[items]
    n, n_correct = (part.sum(axis=0, dtype=np.int64) for part in (given, correct))
    totals, counts = n.astype(np.float64), n_correct.astype(np.float64)
    low, high = wilson_interval(counts, totals, alpha)
    sums, present = sums_by_cluster(
        np.hstack([correct, given]).astype(float), matrix.clusters[items]
    )
    clusters = np.zeros((matrix.n_clusters, len(n)), dtype=np.bool_)
    clusters[present] = sums[:, len(n) :] > 0
    missing = given & (matrix.answers[items] == NO_LETTER)
    return _Estimates(
        by=by,
        group=name,
        n=n,
        n_correct=n_correct,
        n_missing=missing.sum(axis=0, dtype=np.int64),
        accuracy=ratio(counts, totals),
        low=low,
        high=high,
        method=WILSON,
        resampled=None if weights is None else _resampled(sums, weights[:, present]),
        clusters=clusters,
        because="" if len(items) else NO_REFERENCE,
    )


def _resampled(sums: Floats, weights: Floats) -> Floats:
    """Divide right answers by items, the first and second half of the sums, in every resample."""
    drawn = sums.T @ weights.T
    half = len(drawn) // 2
    return ratio(drawn[:half], drawn[half:])


def resampled_accuracy(matrix: ReadingMatrix, items: Ints, weights: Floats) -> Floats:
    """Return the accuracy of each column on some items in every resample.

    Parameters
    ----------
    items : numpy.ndarray of int, shape (n,)
        Positions of items.
    weights : numpy.ndarray of float, shape (n_resamples, n_clusters)
        How often each cluster was drawn.

    Returns
    -------
    numpy.ndarray of float, shape (n_columns, n_resamples)
        nan where a resample holds none of them.
    """
    halves = np.hstack([matrix.correct[items], matrix.given[items]]).astype(float)
    sums, present = sums_by_cluster(halves, matrix.clusters[items])
    return _resampled(sums, weights[:, present])


def _macro(tasks: list[_Estimates], matrix: ReadingMatrix) -> _Estimates:
    """Return the means over the tasks of which each column has an item."""
    columns = len(matrix.columns)
    accuracies, lows, highs = (
        np.array(part, dtype=np.float64).reshape(len(tasks), columns)
        for part in (
            [task.accuracy for task in tasks],
            [task.low for task in tasks],
            [task.high for task in tasks],
        )
    )
    mean, low, high = mover_mean(accuracies, lows, highs)
    counts = [np.array([task.n, task.n_correct, task.n_missing]) for task in tasks]
    n, n_correct, n_missing = sum(counts, np.zeros((3, columns), dtype=np.int64))
    every = np.zeros((matrix.n_clusters, columns), dtype=np.bool_)
    return _Estimates(
        by="overall",
        group="macro",
        n=n,
        n_correct=n_correct,
        n_missing=n_missing,
        accuracy=mean,
        low=low,
        high=high,
        method=MOVER,
        resampled=_mean_of_given(tasks),
        clusters=np.logical_or.reduce([every, *(task.clusters for task in tasks)]),
        because="" if any(task.because == "" for task in tasks) else NO_TASK,
    )


def _mean_of_given(tasks: list[_Estimates]) -> Floats | None:
    parts = [(task.resampled, task.n > 0) for task in tasks if task.resampled is not None]
    if not parts:
        return None
    total = ordered_sum(np.where(has[:, None], drawn, 0.0) for drawn, has in parts)
    return ratio(total, ordered_sum(has.astype(np.float64)[:, None] for _, has in parts))


def _table(matrix: ReadingMatrix, e: _Estimates, alpha: float) -> pd.DataFrame:
    columns = matrix.columns
    n_clusters = e.clusters.sum(axis=0)
    low, high, because = _cluster_interval(e, n_clusters, alpha)
    widened = is_widened(n_clusters) & np.isfinite(low)
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
            "ci_method": np.where(widened, f"{e.method}; {WIDENED}", e.method).astype(object),
            "cluster_ci_low": low,
            "cluster_ci_high": high,
            "undefined_because": because,
        }
    )


def _cluster_interval(e: _Estimates, n_clusters: Ints, alpha: float) -> tuple[Floats, Floats, Any]:
    nothing = np.full(len(e.accuracy), np.nan)
    reasons = np.full(len(e.accuracy), e.because, dtype=object)
    if not e.because:
        reasons[e.n == 0] = NOT_GIVEN
    if e.because or e.resampled is None:
        return nothing, nothing, reasons
    low, high, _ = percentile_limits(e.resampled, alpha, n_clusters)
    failed = np.isnan(low) & (e.n > 0)
    for column in np.flatnonzero(failed):
        few = too_few(int(n_clusters[column]), clustered=True)
        reasons[column] = f"cluster interval: {few}" if few else FEW_RESAMPLES
    return low, high, reasons


OVER_PATIENTS = later("bootstrap over patients, percentile")
OVER_ITEMS = later("bootstrap over items, percentile")
LEVELS_WIDENED = later("levels widened for few")
NO_LIMITS = "interval and limits of the rank"
UNRANKED = "rank: fewer than 80 % of these items, or none of some task, were given to this reader"
FEW_RANKED = "interval and limits of the rank: too many resamples hold no item of this group"
# Decimals in which two accuracies must differ to rank apart: sums of fractions round otherwise.
DECIMALS = 12
# 0.975 * 2000 is 1950.0000000000002 or 1949.9999999999998, as it comes.
ROUNDING = 1e-9

Single = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Group:
    """One group's accuracies of all columns, and their resamples of shape (n_columns, n_resamples).

    `units` are the patients, or items, that each column's accuracy rests on, and `n_units` those of
    the group; `ranked` says who was given enough of it to stand in the order.
    """

    by: str
    group: str
    n: Ints
    accuracy: Floats
    resampled: Floats
    units: Bools  # (n_units, n_columns)
    ranked: Bools
    because: str = ""


def leaderboard(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Rank readers and models by accuracy, overall and by task, with the ranks' uncertainty.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        Columns `rater_id, rater_kind, condition, by, group, n, accuracy, ci_low, ci_high, rank,
        rank_low, rank_high, method, undefined_because`; proportions 0 to 1, ranks from 1, the
        best. In order of condition, group (`overall` `micro` and `macro`, then each `task`), rank,
        and the order of raters, readers first.

    Notes
    -----
    Accuracy is that of `accuracy`: a given item without an answer is wrong; `micro` weighs
    questions, `macro` tasks, and the order may differ between them. Those of equal accuracy share
    the better rank (1, 2, 2, 4). A reader who was given fewer than 80 % of the items has an
    accuracy and no rank. A model with a single condition is ranked among the readers of every
    condition.

    Intervals and ranks come from the same resamples: of patients where clusters exist (of
    examinations where no patient is given), else of items with a reference standard. All raters
    are ranked anew in each, so that limits know that raters answered the same items [1]_. The
    interval is the percentile interval; the limits of the rank are the smallest ranks that at least
    alpha/2 and 1 - alpha/2 of the resamples do not exceed, so they are whole numbers. They are
    limits for each rater by itself, not for the whole order at once.

    References
    ----------
    .. [1] Goldstein H, Spiegelhalter DJ. League tables and their limitations: statistical issues
       in comparisons of institutional performance. J R Stat Soc A 1996;159:385-409.
       doi:10.2307/2983325

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = leaderboard(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("abcdefgh"), "truth": "A"}),
    ...     pd.DataFrame({
    ...         "rater_id": ["R1"] * 8 + ["R2"] * 8, "item_id": list("abcdefgh") * 2,
    ...         "answer": list("AABBAABB") + list("AAABAAAB"),
    ...     }),
    ... ))
    >>> table[["rater_id", "accuracy", "rank", "rank_low", "rank_high"]].values.tolist()[:2]
    [['R2', 0.75, 1.0, 1.0, 1.0], ['R1', 0.5, 2.0, 1.0, 2.0]]
    """
    study = study_of(study, options)
    matrix, options, weights = study.matrix, study.options, study.weights
    groups = _groups(matrix, options, weights)
    tables = [
        _rows(matrix, condition, np.array(columns), group, options.alpha)
        for condition, columns in columns_by_condition(matrix.columns).items()
        for group in groups
    ]
    return pd.concat(tables, ignore_index=True)[COLUMNS["leaderboard"]]


def _groups(matrix: ReadingMatrix, options: Options, weights: Floats | None) -> list[_Group]:
    items = np.flatnonzero(matrix.assigned)
    if not len(items):
        return [
            _undefined(matrix, "micro", NO_REFERENCE),
            _undefined(matrix, "macro", NO_REFERENCE),
        ]
    unit = matrix.clusters[items] if weights is not None else np.arange(len(items))
    names, part = np.unique(matrix.groups["task"][items].astype(str), return_inverse=True)
    given = matrix.given[items]
    counted = np.hstack([matrix.correct[items], given]).astype(np.float64)
    drawn = _drawn(counted, unit, part, weight_blocks(weights, len(items), options))

    def group(by: str, name: str, these: Bools, resampled: Floats) -> _Group:
        n = given[these].sum(axis=0, dtype=np.int64)
        units = np.zeros((int(unit.max()) + 1, given.shape[1]), dtype=np.bool_)
        np.logical_or.at(units, unit[these], given[these])
        return _Group(
            by=by,
            group=name,
            n=n,
            accuracy=_accuracy(counted[these].sum(axis=0)),
            resampled=_accuracy(resampled),
            units=units,
            ranked=are_enough(n, int(these.sum())),
        )

    parts = [
        group("task" if name else "", str(name), part == t, drawn[t])
        for t, name in enumerate(names)
    ]
    micro = group("overall", "micro", np.ones(len(items), dtype=np.bool_), drawn.sum(axis=0))
    tasks = [task for task in parts if task.group]
    return [micro, _mean_of_tasks(matrix, tasks), *tasks]


def _drawn(counted: Floats, unit: Ints, part: Ints, blocks: Iterator[Single]) -> Floats:
    """Return each part's counts in each resample, shape (n_parts, n_counted, n_resamples)."""
    sums = []
    for t in range(int(part.max()) + 1):
        those, present = sums_by_cluster(counted[part == t], unit[part == t])
        sums.append((present, those.astype(np.float32)))  # whole numbers, so exact
    return np.concatenate(
        [
            np.array([(block[:, present] @ those).T for present, those in sums], dtype=np.float64)
            for block in blocks
        ],
        axis=-1,
    )


def _accuracy(counts: Floats) -> Floats:
    """Divide the counts of correct answers by those of items, the first half by the second."""
    half = len(counts) // 2
    return ratio(counts[:half], counts[half:])


def _mean_of_tasks(matrix: ReadingMatrix, tasks: list[_Group]) -> _Group:
    if not tasks:
        return _undefined(matrix, "macro", NO_TASK)
    has = np.array([task.n > 0 for task in tasks])
    n_tasks = has.sum(axis=0).astype(np.float64)
    pairs = list(zip(tasks, has, strict=True))
    n: Ints = np.array([task.n for task in tasks], dtype=np.int64).sum(axis=0)
    accuracy = ordered_sum(np.where(given, task.accuracy, 0.0) for task, given in pairs)
    resampled = ordered_sum(np.where(given[:, None], task.resampled, 0.0) for task, given in pairs)
    n_items = (matrix.assigned & (matrix.groups["task"] != "")).sum()
    return _Group(
        by="overall",
        group="macro",
        n=n,
        accuracy=ratio(accuracy, n_tasks),
        resampled=ratio(resampled, n_tasks[:, None]),
        units=np.logical_or.reduce([task.units for task in tasks]),
        ranked=are_enough(n, int(n_items)) & has.all(axis=0),
    )


def _undefined(matrix: ReadingMatrix, group: str, because: str) -> _Group:
    nothing = np.full(len(matrix.columns), np.nan)
    none = np.zeros(len(matrix.columns), dtype=np.bool_)
    return _Group(
        by="overall",
        group=group,
        n=none.astype(np.int64),
        accuracy=nothing,
        resampled=nothing[:, None],
        units=none[None],
        ranked=none,
        because=because,
    )


def _rows(
    matrix: ReadingMatrix, condition: str, columns: Ints, group: _Group, alpha: float
) -> pd.DataFrame:
    accuracy = group.accuracy[columns]
    n_units = group.units[:, columns].sum(axis=0)
    over = OVER_PATIENTS if matrix.clustered else OVER_ITEMS
    ranked = group.ranked[columns]
    ranks = np.full(len(columns), np.nan)
    ranks[ranked] = _ranks(accuracy[ranked])
    table = pd.DataFrame(
        {
            "rater_id": [matrix.columns[i].rater_id for i in columns],
            "rater_kind": [matrix.columns[i].kind.value for i in columns],
            "condition": condition,
            "by": group.by,
            "group": group.group,
            "n": group.n[columns],
            "accuracy": accuracy,
            "rank": ranks,
            "method": np.where(is_widened(n_units), f"{over}, {LEVELS_WIDENED}", over).astype(
                object
            ),
        }
    )
    limits = _limits(group, columns, alpha, n_units, clustered=matrix.clustered)
    return table.assign(**limits).sort_values("rank", kind="stable")


def _ranks(accuracies: Floats) -> Floats:
    """Rank the raters along the first axis, 1 the best, equals sharing the better rank."""
    ranks: Floats = rankdata(-accuracies.round(DECIMALS), method="min", axis=0).astype(np.float64)
    return ranks


def _limits(
    group: _Group, columns: Ints, alpha: float, n_units: Ints, *, clustered: bool
) -> dict[str, Any]:
    """Return the columns of limits and of reasons."""
    resampled, ranked = group.resampled[columns], group.ranked[columns]
    low, high, share = percentile_limits(resampled, alpha, n_units)
    enough = share >= ENOUGH_RESAMPLES
    rank_low, rank_high = np.full((2, len(columns)), np.nan)
    those = np.flatnonzero(ranked & np.isfinite(low))
    if len(those) and enough[ranked].all():
        drawn = resampled[ranked]
        ranks = np.full((len(columns), drawn.shape[1]), np.nan)
        ranks[ranked] = _ranks(drawn)
        ordered = np.sort(ranks[:, np.isfinite(drawn).all(axis=0)], axis=1)
        beyond = float(tail(alpha, np.array(group.units.any(axis=1).sum())))
        rank_low[those] = _reached(ordered[those], beyond)
        rank_high[those] = _reached(ordered[those], 1 - beyond)
    because = np.full(len(columns), group.because, dtype=object)
    for column in range(len(columns)) if not group.because else ():
        few = too_few(int(n_units[column]), clustered=clustered)
        if not n_units[column]:
            because[column] = NOT_GIVEN
        elif few:
            because[column] = f"{NO_LIMITS}: {few}"
        elif np.isnan(rank_low[column]):
            because[column] = FEW_RANKED if ranked[column] else UNRANKED
    return {
        "ci_low": low,
        "ci_high": high,
        "rank_low": rank_low,
        "rank_high": rank_high,
        "undefined_because": because,
    }


def _reached(ordered: Floats, share: float) -> Floats:
    """Return the smallest rank that at least this share of the resamples does not exceed."""
    n = ordered.shape[1]
    reached: Floats = ordered[:, max(int(np.ceil(share * n - ROUNDING)) - 1, 0)]
    return reached
