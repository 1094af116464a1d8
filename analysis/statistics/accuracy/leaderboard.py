"""Ranks of all raters with intervals: the table `leaderboard.csv`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import rankdata

from analysis.arrays import Bools, Floats, Ints, ordered_sum
from analysis.bundle.model import Bundle
from analysis.figures.accuracy import drop_redundant_macro, leaderboard_chart
from analysis.figures.drawing.axes import rater_names, rows_in_condition
from analysis.options import Options
from analysis.presentation.captions import case_range, interval_methods
from analysis.presentation.table import (
    EMPTY_CELL,
    ReportTable,
    TableRow,
    condition_cell,
    percent_cell,
    range_cell,
    rater_name,
    report_table,
)
from analysis.presentation.wording import cell_number, join_sentences, rows_of
from analysis.readings.clusters import (
    MIN_DEFINED_SHARE,
    is_widened,
    percentile_limits,
    ratio,
    reason_too_few,
    sums_by_cluster,
    tail_probability,
    weight_blocks,
)
from analysis.readings.matrix import ReadingMatrix, columns_by_condition
from analysis.readings.shared_items import is_enough
from analysis.results import Results
from analysis.statistics.accuracy.accuracy import NO_REFERENCE, NO_TASK, NOT_GIVEN
from analysis.statistics.statistic import Column, Figure, Method, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import later, localised, t, translated

OVER_PATIENTS = later("bootstrap over patients, percentile")
OVER_ITEMS = later("bootstrap over items, percentile")
LEVELS_WIDENED = later("levels widened for few")
NO_LIMITS = "interval and limits of the rank"
UNRANKED = "rank: fewer than 80 % of these items, or none of some task, were given to this reader"
FEW_RANKED = "interval and limits of the rank: too many resamples hold no item of this group"


# Accuracies are compared after rounding to this number of decimals, because sums of fractions have
# rounding errors.
ACCURACY_DECIMALS = 12


# 0.975 * 2000 may be 1950.0000000000002 or 1949.9999999999998.
ROUNDING_TOLERANCE = 1e-9


Float32s = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _GroupAccuracies:
    """The accuracies of all columns in a group, and their resamples (n_columns, n_resamples).

    `units` states which patients, or items, each column's accuracy is based on; `is_ranked` states
    whether a column has enough items for a rank.
    """

    by: str
    group: str
    n: Ints
    accuracy: Floats
    resampled: Floats
    units: Bools  # (n_units, n_columns)
    is_ranked: Bools
    reason: str = ""


def leaderboard(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Rank readers and models by accuracy, overall and by task, with intervals for the ranks.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        The columns of `LEADERBOARD`. Proportions are from 0 to 1; rank 1 is the best. Rows are in
        order of condition, group (`overall` `micro` and `macro`, then each `task`) and rank; raters
        of equal rank are in order of id, readers first.

    Notes
    -----
    Accuracy is defined as in the table `accuracy`: items given to a rater but not answered count as
    incorrect. `micro` gives all questions the same weight, `macro` all tasks, so their order of
    raters may differ. Raters with equal accuracy share the better rank (1, 2, 2, 4). A reader who
    was presented fewer than 80 % of the items has an accuracy but no rank. A model with a single
    condition is ranked among the readers of every condition.

    Intervals and ranks are computed from the same resamples: of patients if there are clusters (of
    examinations if no patient is stated), otherwise of items with a reference standard. All raters
    are ranked again in each resample, so that the limits account for the shared items [1]_. The
    interval is the percentile interval. The limits of the rank are the smallest ranks that at least
    alpha/2 and 1 - alpha/2 of the resamples do not exceed, so they are whole numbers. They apply to
    each rater separately, not to the complete order.

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
    groups = _all_group_accuracies(matrix, options, weights)
    tables = [
        _ranking_rows(matrix, condition, np.array(columns), group, options.alpha)
        for condition, columns in columns_by_condition(matrix.columns).items()
        for group in groups
    ]
    return pd.concat(tables, ignore_index=True)[LEADERBOARD.header]


def _all_group_accuracies(
    matrix: ReadingMatrix, options: Options, weights: Floats | None
) -> list[_GroupAccuracies]:
    items = np.flatnonzero(matrix.has_truth)
    if not len(items):
        return [
            _undefined_group(matrix, "micro", NO_REFERENCE),
            _undefined_group(matrix, "macro", NO_REFERENCE),
        ]
    unit = matrix.clusters[items] if weights is not None else np.arange(len(items))
    names, task_codes = np.unique(matrix.groups["task"][items].astype(str), return_inverse=True)
    presented = matrix.is_counted[items]
    counts = np.hstack([matrix.correct[items], presented]).astype(np.float64)
    resampled_counts = _resampled_counts(
        counts, unit, task_codes, weight_blocks(weights, len(items), options)
    )

    def group(by: str, name: str, is_member: Bools, resampled: Floats) -> _GroupAccuracies:
        n = presented[is_member].sum(axis=0, dtype=np.int64)
        units = np.zeros((int(unit.max()) + 1, presented.shape[1]), dtype=np.bool_)
        np.logical_or.at(units, unit[is_member], presented[is_member])
        return _GroupAccuracies(
            by=by,
            group=name,
            n=n,
            accuracy=_accuracy(counts[is_member].sum(axis=0)),
            resampled=_accuracy(resampled),
            units=units,
            is_ranked=is_enough(n, int(is_member.sum())),
        )

    task_groups = [
        group("task" if name else "", str(name), task_codes == code, resampled_counts[code])
        for code, name in enumerate(names)
    ]
    micro = group(
        "overall", "micro", np.ones(len(items), dtype=np.bool_), resampled_counts.sum(axis=0)
    )
    tasks = [task for task in task_groups if task.group]
    return [micro, _mean_of_tasks(matrix, tasks), *tasks]


def _resampled_counts(
    counts: Floats, unit: Ints, task_codes: Ints, blocks: Iterator[Float32s]
) -> Floats:
    """Return the counts of each task in each resample, shape (n_tasks, n_counts, n_resamples)."""
    sums = []
    for task_code in range(int(task_codes.max()) + 1):
        is_in_task = task_codes == task_code
        cluster_counts, present = sums_by_cluster(counts[is_in_task], unit[is_in_task])
        sums.append((present, cluster_counts.astype(np.float32)))  # whole numbers, so exact
    return np.concatenate(
        [
            np.array(
                [(block[:, present] @ cluster_counts).T for present, cluster_counts in sums],
                dtype=np.float64,
            )
            for block in blocks
        ],
        axis=-1,
    )


def _accuracy(counts: Floats) -> Floats:
    """Return correct answers (first half of `counts`) divided by items (second half)."""
    half = len(counts) // 2
    return ratio(counts[:half], counts[half:])


def _mean_of_tasks(matrix: ReadingMatrix, tasks: list[_GroupAccuracies]) -> _GroupAccuracies:
    if not tasks:
        return _undefined_group(matrix, "macro", NO_TASK)
    has_task = np.array([task.n > 0 for task in tasks])
    n_tasks = has_task.sum(axis=0).astype(np.float64)
    pairs = list(zip(tasks, has_task, strict=True))
    n: Ints = np.array([task.n for task in tasks], dtype=np.int64).sum(axis=0)
    accuracy = ordered_sum(np.where(has_items, task.accuracy, 0.0) for task, has_items in pairs)
    resampled = ordered_sum(
        np.where(has_items[:, None], task.resampled, 0.0) for task, has_items in pairs
    )
    n_items = (matrix.has_truth & (matrix.groups["task"] != "")).sum()
    return _GroupAccuracies(
        by="overall",
        group="macro",
        n=n,
        accuracy=ratio(accuracy, n_tasks),
        resampled=ratio(resampled, n_tasks[:, None]),
        units=np.logical_or.reduce([task.units for task in tasks]),
        is_ranked=is_enough(n, int(n_items)) & has_task.all(axis=0),
    )


def _undefined_group(matrix: ReadingMatrix, group: str, reason: str) -> _GroupAccuracies:
    undefined = np.full(len(matrix.columns), np.nan)
    no_items = np.zeros(len(matrix.columns), dtype=np.bool_)
    return _GroupAccuracies(
        by="overall",
        group=group,
        n=no_items.astype(np.int64),
        accuracy=undefined,
        resampled=undefined[:, None],
        units=no_items[None],
        is_ranked=no_items,
        reason=reason,
    )


def _ranking_rows(
    matrix: ReadingMatrix, condition: str, columns: Ints, group: _GroupAccuracies, alpha: float
) -> pd.DataFrame:
    accuracy = group.accuracy[columns]
    n_units = group.units[:, columns].sum(axis=0)
    resampled_units = OVER_PATIENTS if matrix.clustered else OVER_ITEMS
    is_ranked = group.is_ranked[columns]
    ranks = np.full(len(columns), np.nan)
    ranks[is_ranked] = _ranks(accuracy[is_ranked])
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
            "method": np.where(
                is_widened(n_units), f"{resampled_units}, {LEVELS_WIDENED}", resampled_units
            ).astype(object),
        }
    )
    limits = _limit_columns(group, columns, alpha, n_units, clustered=matrix.clustered)
    return table.assign(**limits).sort_values("rank", kind="stable")


def _ranks(accuracies: Floats) -> Floats:
    """Rank the raters along the first axis; 1 is the best, and ties share the better rank."""
    ranks: Floats = rankdata(-accuracies.round(ACCURACY_DECIMALS), method="min", axis=0).astype(
        np.float64
    )
    return ranks


def _limit_columns(
    group: _GroupAccuracies, columns: Ints, alpha: float, n_units: Ints, *, clustered: bool
) -> dict[str, Any]:
    """Return the columns with limits and with the reasons for missing limits."""
    resampled, is_ranked = group.resampled[columns], group.is_ranked[columns]
    low, high, share = percentile_limits(resampled, alpha, n_units)
    has_enough = share >= MIN_DEFINED_SHARE
    rank_low, rank_high = np.full((2, len(columns)), np.nan)
    columns_with_limits = np.flatnonzero(is_ranked & np.isfinite(low))
    if len(columns_with_limits) and has_enough[is_ranked].all():
        ranked_resamples = resampled[is_ranked]
        ranks = np.full((len(columns), ranked_resamples.shape[1]), np.nan)
        ranks[is_ranked] = _ranks(ranked_resamples)
        ordered = np.sort(ranks[:, np.isfinite(ranked_resamples).all(axis=0)], axis=1)
        tail_share = float(tail_probability(alpha, np.array(group.units.any(axis=1).sum())))
        rank_low[columns_with_limits] = _rank_quantile(ordered[columns_with_limits], tail_share)
        rank_high[columns_with_limits] = _rank_quantile(
            ordered[columns_with_limits], 1 - tail_share
        )
    reason = np.full(len(columns), group.reason, dtype=object)
    for column in range(len(columns)) if not group.reason else ():
        few = reason_too_few(int(n_units[column]), clustered=clustered)
        if not n_units[column]:
            reason[column] = NOT_GIVEN
        elif few:
            reason[column] = f"{NO_LIMITS}: {few}"
        elif np.isnan(rank_low[column]):
            reason[column] = FEW_RANKED if is_ranked[column] else UNRANKED
    return {
        "ci_low": low,
        "ci_high": high,
        "rank_low": rank_low,
        "rank_high": rank_high,
        "undefined_because": reason,
    }


def _rank_quantile(ordered: Floats, share: float) -> Floats:
    """Return the smallest rank that at least `share` of the resamples does not exceed."""
    n = ordered.shape[1]
    quantile: Floats = ordered[:, max(int(np.ceil(share * n - ROUNDING_TOLERANCE)) - 1, 0)]
    return quantile


def leaderboard_table(results: Results) -> Iterator[ReportTable]:
    """Show the ranks by micro and by macro accuracy, with their intervals."""
    names = rater_names(results.bundle)
    rows: list[TableRow] = []
    macro = {
        (row["rater_id"], row["condition"]): row
        for row in rows_of(results, "leaderboard", by="overall", group="macro")
    }
    micro = rows_of(results, "leaderboard", by="overall", group="micro")
    for row in sorted(
        micro,
        key=lambda ranking: (
            str(ranking["condition"]),
            _undefined_last(cell_number(ranking, "rank")),
        ),
    ):
        other = macro.get((row["rater_id"], row["condition"]), {})
        cells = [
            condition_cell(str(row["condition"])),
            translated(KIND_WORDS[str(row["rater_kind"])]),
        ]
        for ranking in (row, other):
            cells += [
                _rank_cell(cell_number(ranking, "rank")),
                range_cell(
                    cell_number(ranking, "rank_low"),
                    cell_number(ranking, "rank_high"),
                    factor=1,
                    decimals=0,
                ),
                percent_cell(cell_number(ranking, "accuracy")),
            ]
        rows.append(((rater_name(names, str(row["rater_id"])),), tuple(cells)))
    yield report_table(
        name="leaderboard",
        title=t("Ranks by micro and by macro accuracy"),
        note=t("Ranks with their intervals: how far each would move with other patients."),
        header=(
            t("Rater"),
            t("Condition"),
            t("Kind"),
            t("Micro rank"),
            t("Rank CI"),
            t("Micro %"),
            t("Macro rank"),
            t("Rank CI"),
            t("Macro %"),
        ),
        rows=rows,
    )


KIND_WORDS = {"reader": later("reader"), "model": later("model")}


def _rank_cell(rank: float) -> str:
    return EMPTY_CELL if math.isnan(rank) else f"{rank:g}"


def _undefined_last(rank: float) -> float:
    return math.inf if math.isnan(rank) else rank


def leaderboard_figure(results: Results, condition: str) -> Iterator[Figure]:
    """Show every rater's accuracy and rank with their intervals."""
    board = results.tables["leaderboard"]
    rows = rows_in_condition(board, condition)
    rows = rows.loc[(rows["by"] == "overall") & rows["rank"].notna()]
    percent = results.options.confidence_percent
    yield Figure(
        "leaderboard",
        "leaderboard",
        t("Ranks, and how certain they are"),
        _leaderboard_caption(drop_redundant_macro(rows), percent) if len(rows) else "",
        leaderboard_chart(board, condition=condition, names=rater_names(results.bundle)),
    )


def _leaderboard_caption(rows: pd.DataFrame, percent: str) -> str:
    """Describe the figure of the leaderboard."""
    return join_sentences(
        [
            t(
                "Accuracy and rank with {percent} % intervals ({methods}), {cases}.",
                percent=localised(percent),
                methods=interval_methods(rows),
                cases=case_range(rows["n"]),
            ),
            t("Ranks overlap where the interval of one contains the rank of another."),
            t("Micro weights every case equally, macro every task.")
            if "macro" in set(rows["group"])
            else "",
        ]
    )


LEADERBOARD = Statistic(
    name="leaderboard",
    meaning="Rank of a rater by accuracy in a group of items.",
    columns=(
        *shared_columns("rater_id rater_kind condition by group n accuracy ci_low ci_high"),
        Column("rank", "Rank, 1 for the most accurate.", "rank"),
        Column("rank_low", "Lower limit of the interval of the rank.", "rank"),
        Column("rank_high", "Upper limit of the interval of the rank.", "rank"),
        *shared_columns("method undefined_because"),
    ),
    compute=leaderboard,
    methods={
        120: Method(
            "Accuracy",
            "Both put the raters in order; ranks have bootstrap intervals, because the order of"
            " two raters may change with other patients [@goldstein1996].",
        )
    },
    tables={120: leaderboard_table},
    figures={12: leaderboard_figure},
)
