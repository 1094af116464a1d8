"""Who stands where, and how surely: the table `leaderboard.csv`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import rankdata

from analysis.accuracy import NO_REFERENCE
from analysis.arrays import Floats, Ints, ordered_sum
from analysis.bundle.model import Bundle
from analysis.clusters import (
    ALL_IN_ONE,
    ENOUGH_RESAMPLES,
    percentile_limits,
    ratio,
    sums_by_cluster,
)
from analysis.conditions import columns_by_condition
from analysis.matrix import ReadingMatrix, reading_matrix
from analysis.options import Options
from analysis.resamples import cluster_weights, weight_blocks

COLUMNS = (
    "rater_id",
    "rater_kind",
    "condition",
    "by",
    "group",
    "n",
    "accuracy",
    "ci_low",
    "ci_high",
    "rank",
    "rank_low",
    "rank_high",
    "method",
    "undefined_because",
)
OVER_PATIENTS = "bootstrap over patients, percentile"
OVER_ITEMS = "bootstrap over items, percentile"
NO_TASK = "no item with a reference standard names its task"
ONE_CLUSTER = f"interval and limits of the rank: {ALL_IN_ONE}"
ONE_ITEM = "interval and limits of the rank: a single item"
FEW_RESAMPLES = "interval and limits of the rank: too many resamples hold no item of this group"
# Decimals in which two accuracies must differ to rank apart: sums of fractions round otherwise.
DECIMALS = 12
# 0.975 * 2000 is 1950.0000000000002 or 1949.9999999999998, as it comes.
ROUNDING = 1e-9

Single = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Group:
    """One group's accuracies of all columns, and their resamples of shape (n_columns, n_resamples).

    `because` says why there are no limits.
    """

    by: str
    group: str
    n: int
    accuracy: Floats
    resampled: Floats
    because: str


def leaderboard(bundle: Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Rank readers and models by accuracy, overall and by task, with the ranks' uncertainty.

    Parameters
    ----------
    bundle : Bundle
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
    Accuracy is that of `accuracy`: an assigned item without an answer is wrong; `micro` weighs
    questions, `macro` tasks, and the order may differ between them. Those of equal accuracy share
    the better rank (1, 2, 2, 4). A model with a single condition is ranked among the readers of
    every condition.

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
    ...     pd.DataFrame({"item_id": list("abcd"), "truth": list("AAAA")}),
    ...     pd.DataFrame({
    ...         "rater_id": ["R1"] * 4 + ["R2"] * 4, "item_id": list("abcd") * 2,
    ...         "answer": list("AABB") + list("AAAB"),
    ...     }),
    ... ))
    >>> table[["rater_id", "accuracy", "rank", "rank_low", "rank_high"]].values.tolist()[:2]
    [['R2', 0.75, 1.0, 1.0, 1.0], ['R1', 0.5, 2.0, 1.0, 2.0]]
    """
    options = options or Options()
    matrix = reading_matrix(bundle)
    return leaderboard_table(matrix, options, cluster_weights(matrix, options))


def leaderboard_table(
    matrix: ReadingMatrix, options: Options, weights: Floats | None
) -> pd.DataFrame:
    """Return the table of `leaderboard` for readings and resamples that are there already.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    options : Options
        Seed and number of resamples of items, and alpha.
    weights : numpy.ndarray of float, shape (n_resamples, n_clusters), or None
        The resamples; None without clusters.

    Returns
    -------
    pandas.DataFrame
        As `leaderboard` says.
    """
    groups = _groups(matrix, options, weights)
    method = OVER_ITEMS if weights is None else OVER_PATIENTS
    tables = [
        _rows(matrix, condition, np.array(columns), group, options.alpha)
        for condition, columns in columns_by_condition(matrix.columns).items()
        for group in groups
    ]
    return pd.concat(tables, ignore_index=True).assign(method=method)[list(COLUMNS)]


def _groups(matrix: ReadingMatrix, options: Options, weights: Floats | None) -> list[_Group]:
    items = np.flatnonzero(matrix.assigned)
    if not len(items):
        return [
            _undefined(matrix, "micro", NO_REFERENCE),
            _undefined(matrix, "macro", NO_REFERENCE),
        ]
    unit = matrix.clusters[items] if weights is not None else np.arange(len(items))
    names, part = np.unique(matrix.groups["task"][items].astype(str), return_inverse=True)
    counted = np.column_stack([matrix.correct[items], np.ones(len(items))]).astype(np.float64)
    drawn = _drawn(counted, unit, part, weight_blocks(weights, len(items), options))
    because = ONE_ITEM if weights is None else ONE_CLUSTER
    parts = [
        _Group(
            by="task" if name else "",
            group=str(name),
            n=int((part == t).sum()),
            accuracy=_accuracy(counted[part == t].sum(axis=0)),
            resampled=_accuracy(drawn[t]),
            because=because if len(np.unique(unit[part == t])) == 1 else "",
        )
        for t, name in enumerate(names)
    ]
    because = because if len(np.unique(unit)) == 1 else ""
    micro = _Group(
        by="overall",
        group="micro",
        n=len(items),
        accuracy=_accuracy(counted.sum(axis=0)),
        resampled=_accuracy(drawn.sum(axis=0)),
        because=because,
    )
    tasks = [task for task in parts if task.group]
    return [micro, _macro(matrix, tasks, because), *tasks]


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
    """Divide the counts of correct answers by what comes last, the count of items."""
    return ratio(counts[:-1], counts[-1:])


def _macro(matrix: ReadingMatrix, tasks: list[_Group], because: str) -> _Group:
    if not tasks:
        return _undefined(matrix, "macro", NO_TASK)
    return _Group(
        by="overall",
        group="macro",
        n=sum(task.n for task in tasks),
        accuracy=ordered_sum(task.accuracy for task in tasks) / len(tasks),
        resampled=ordered_sum(task.resampled for task in tasks) / len(tasks),
        because=because,
    )


def _undefined(matrix: ReadingMatrix, group: str, because: str) -> _Group:
    nothing = np.full(len(matrix.columns), np.nan)
    return _Group(
        by="overall",
        group=group,
        n=0,
        accuracy=nothing,
        resampled=nothing[:, None],
        because=because,
    )


def _rows(
    matrix: ReadingMatrix, condition: str, columns: Ints, group: _Group, alpha: float
) -> pd.DataFrame:
    accuracy = group.accuracy[columns]
    low, high, rank_low, rank_high, because = _limits(group, columns, alpha)
    table = pd.DataFrame(
        {
            "rater_id": [matrix.columns[i].rater_id for i in columns],
            "rater_kind": [matrix.columns[i].kind.value for i in columns],
            "condition": condition,
            "by": group.by,
            "group": group.group,
            "n": group.n,
            "accuracy": accuracy,
            "ci_low": low,
            "ci_high": high,
            "rank": _ranks(accuracy),
            "rank_low": rank_low,
            "rank_high": rank_high,
            "undefined_because": because,
        }
    )
    return table.sort_values("rank", kind="stable")


def _ranks(accuracies: Floats) -> Floats:
    """Rank the raters along the first axis, 1 the best, equals sharing the better rank."""
    ranks: Floats = rankdata(-accuracies.round(DECIMALS), method="min", axis=0).astype(np.float64)
    return np.where(np.isnan(accuracies), np.nan, ranks)


def _limits(
    group: _Group, columns: Ints, alpha: float
) -> tuple[Floats, Floats, Floats, Floats, str]:
    nothing = np.full(len(columns), np.nan)
    if group.because:
        return nothing, nothing, nothing, nothing, group.because
    resampled = group.resampled[columns]
    low, high, share = percentile_limits(resampled, alpha)
    if (share < ENOUGH_RESAMPLES).any():
        return nothing, nothing, nothing, nothing, FEW_RESAMPLES
    ranks = np.sort(_ranks(resampled[:, np.isfinite(resampled).all(axis=0)]), axis=1)
    return low, high, _reached(ranks, alpha / 2), _reached(ranks, 1 - alpha / 2), ""


def _reached(ordered: Floats, share: float) -> Floats:
    """Return the smallest rank that at least this share of the resamples does not exceed."""
    n = ordered.shape[1]
    reached: Floats = ordered[:, max(int(np.ceil(share * n - ROUNDING)) - 1, 0)]
    return reached
