"""Accuracy of each rater: the table `accuracy.csv`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.arrays import Bools, Floats, Ints, ordered_sum
from analysis.bundle.model import Bundle, RaterKind
from analysis.figures.accuracy import accuracy_chart, drop_redundant_macro, profile_chart
from analysis.figures.drawing.axes import rater_names, rows_in_condition
from analysis.figures.drawing.chart import MIN_MARK_MM
from analysis.options import Options
from analysis.presentation.captions import overlap_warning
from analysis.presentation.table import (
    ReportTable,
    TableRow,
    condition_cell,
    percent_cell,
    range_cell,
    rater_name,
    report_table,
    whole_number,
)
from analysis.presentation.wording import headline_intervals, join_sentences
from analysis.readings.clusters import (
    WIDENED_METHOD,
    is_widened,
    percentile_limits,
    ratio,
    reason_too_few,
    sums_by_cluster,
)
from analysis.readings.matrix import NO_LETTER, ReadingMatrix
from analysis.results import Results
from analysis.statistics.accuracy.means import mover_mean, wilson_interval
from analysis.statistics.statistic import Column, Figure, Method, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import later, localised, t, tn

WILSON = later("Wilson score")
MOVER = later("MOVER over the tasks' Wilson limits")
GROUPED_BY = ("task", "category", "subcategory")

NO_REFERENCE = later("no item here has a reference standard")
NO_TASK = later("no item with a reference standard names its task")
NOT_GIVEN = later("none of these items was given to this reader")
FEW_RESAMPLES = "cluster interval: too many resamples hold no item of this group"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Estimates:
    """The estimates of all columns in one group; arrays have shape (n_columns,)."""

    by: str
    group: str
    n: Ints
    n_correct: Ints
    n_missing: Ints
    accuracy: Floats
    low: Floats
    high: Floats
    method: str
    resampled: Floats | None  # shape (n_columns, n_resamples)
    clusters: Bools  # shape (n_clusters, n_columns): whether a cluster has an item in the estimate
    reason: str = ""


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
        The columns of `ACCURACY`. Proportions are from 0 to 1. One row per rater, condition and
        group, readers first.

    Notes
    -----
    `n` is the number of items with a reference standard that were presented to the reader; for a
    model, it is the number of all items with a reference standard. Items without an answer count as
    incorrect. `micro` is the share of correct answers among `n`, with Wilson's interval. `macro` is
    the mean accuracy over the tasks from which the rater was presented an item, with the MOVER
    interval; items without a task are not included. If any patient (or examination, if patients are
    unknown) has more than one item, the cluster interval is the percentile interval over resampled
    patients. It is empty without such clusters, and undefined with fewer than 8 patients.

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
    groups = list(_estimates(matrix, options.alpha, weights))
    parts = [_group_columns(group, options.alpha) for group in groups]
    columns = matrix.columns
    return pd.DataFrame(
        {
            "rater_id": [column.rater_id for column in columns for _ in groups],
            "rater_kind": [column.kind.value for column in columns for _ in groups],
            "condition": [column.condition for column in columns for _ in groups],
            "by": [group.by for group in groups] * len(columns),
            "group": [group.group for group in groups] * len(columns),
            **{name: np.array([part[name] for part in parts]).T.ravel() for name in parts[0]},
        }
    )


def _estimates(matrix: ReadingMatrix, alpha: float, weights: Floats | None) -> Iterator[_Estimates]:
    is_counted, correct = matrix.is_counted, matrix.correct

    def group(by: str, name: str, items: Ints) -> _Estimates:
        return _group_estimates(
            matrix, is_counted, correct, _ItemGroup(by, name, items), alpha, weights
        )

    tasks = [group("task", name, items) for name, items in matrix.members("task").items()]
    yield group("overall", "micro", np.arange(len(matrix.truth)))
    yield _macro_estimates(tasks, matrix)
    yield from tasks
    for by in GROUPED_BY[1:]:
        for name, items in matrix.members(by).items():
            yield group(by, name, items)


class _ItemGroup(NamedTuple):
    """A group of items: the grouping, the name of the group, and positions of items."""

    by: str
    name: str
    items: Ints


def _group_estimates(
    matrix: ReadingMatrix,
    is_counted: Bools,
    correct: Bools,
    group: _ItemGroup,
    alpha: float,
    weights: Floats | None,
) -> _Estimates:
    items = group.items[matrix.has_truth[group.items]]
    is_counted, correct = is_counted[items], correct[items]
    n, n_correct = (part.sum(axis=0, dtype=np.int64) for part in (is_counted, correct))
    totals, counts = n.astype(np.float64), n_correct.astype(np.float64)
    low, high = wilson_interval(counts, totals, alpha)
    sums, present = sums_by_cluster(
        np.hstack([correct, is_counted]).astype(float), matrix.clusters[items]
    )
    clusters = np.zeros((matrix.n_clusters, len(n)), dtype=np.bool_)
    clusters[present] = sums[:, len(n) :] > 0
    missing = is_counted & (matrix.answers[items] == NO_LETTER)
    return _Estimates(
        by=group.by,
        group=group.name,
        n=n,
        n_correct=n_correct,
        n_missing=missing.sum(axis=0, dtype=np.int64),
        accuracy=ratio(counts, totals),
        low=low,
        high=high,
        method=WILSON,
        resampled=None if weights is None else _resampled_shares(sums, weights[:, present]),
        clusters=clusters,
        reason="" if len(items) else NO_REFERENCE,
    )


def _resampled_shares(sums: Floats, weights: Floats) -> Floats:
    """Return correct answers (first half of `sums`) over items (second half), by resample."""
    resampled_sums = sums.T @ weights.T
    half = len(resampled_sums) // 2
    return ratio(resampled_sums[:half], resampled_sums[half:])


def resampled_accuracy(matrix: ReadingMatrix, items: Ints, weights: Floats) -> Floats:
    """Return the accuracy of each column on a group of items in every resample.

    Parameters
    ----------
    items : numpy.ndarray of int, shape (n,)
        Positions of items.
    weights : numpy.ndarray of float, shape (n_resamples, n_clusters)
        How often each cluster was drawn.

    Returns
    -------
    numpy.ndarray of float, shape (n_columns, n_resamples)
        nan if a resample contains none of the items.
    """
    correct_and_given = np.hstack([matrix.correct[items], matrix.is_counted[items]]).astype(float)
    sums, present = sums_by_cluster(correct_and_given, matrix.clusters[items])
    return _resampled_shares(sums, weights[:, present])


def _macro_estimates(tasks: list[_Estimates], matrix: ReadingMatrix) -> _Estimates:
    """Return each column's means over the tasks from which it has an item."""
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
    all_clusters = np.zeros((matrix.n_clusters, columns), dtype=np.bool_)
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
        resampled=_resampled_macro(tasks),
        clusters=np.logical_or.reduce([all_clusters, *(task.clusters for task in tasks)]),
        reason="" if any(task.reason == "" for task in tasks) else NO_TASK,
    )


def _resampled_macro(tasks: list[_Estimates]) -> Floats | None:
    parts = [(task.resampled, task.n > 0) for task in tasks if task.resampled is not None]
    if not parts:
        return None
    total = ordered_sum(
        np.where(is_defined[:, None], resampled, 0.0) for resampled, is_defined in parts
    )
    return ratio(
        total, ordered_sum(is_defined.astype(np.float64)[:, None] for _, is_defined in parts)
    )


def _group_columns(estimates: _Estimates, alpha: float) -> dict[str, npt.NDArray[Any]]:
    """Return the table columns of a group by name, each of shape (n_columns,)."""
    n_clusters = estimates.clusters.sum(axis=0)
    low, high, reason = _cluster_interval(estimates, n_clusters, alpha)
    widened = is_widened(n_clusters) & np.isfinite(low)
    return {
        "n": estimates.n,
        "n_correct": estimates.n_correct,
        "n_missing": estimates.n_missing,
        "accuracy": estimates.accuracy,
        "ci_low": estimates.low,
        "ci_high": estimates.high,
        "ci_method": np.where(
            widened, f"{estimates.method}; {WIDENED_METHOD}", estimates.method
        ).astype(object),
        "cluster_ci_low": low,
        "cluster_ci_high": high,
        "undefined_because": reason,
    }


def _cluster_interval(
    estimates: _Estimates, n_clusters: Ints, alpha: float
) -> tuple[Floats, Floats, Any]:
    undefined = np.full(len(estimates.accuracy), np.nan)
    reasons = np.full(len(estimates.accuracy), estimates.reason, dtype=object)
    if not estimates.reason:
        reasons[estimates.n == 0] = NOT_GIVEN
    if estimates.reason or estimates.resampled is None:
        return undefined, undefined, reasons
    low, high, _ = percentile_limits(estimates.resampled, alpha, n_clusters)
    lacks_interval = np.isnan(low) & (estimates.n > 0)
    for column in np.flatnonzero(lacks_interval):
        few = reason_too_few(int(n_clusters[column]), clustered=True)
        reasons[column] = f"cluster interval: {few}" if few else FEW_RESAMPLES
    return low, high, reasons


MOST_TASKS = 6


def tasks_table(results: Results) -> Iterator[ReportTable]:
    """Show each rater's accuracy by task, micro and macro, as in the ReXVQA leaderboard."""
    names = rater_names(results.bundle)
    table = headline_intervals(results.tables["accuracy"])
    overall = table.loc[(table["by"] == "overall") & table["accuracy"].notna()]
    by_task = table.loc[table["by"] == "task"]
    sizes = by_task.groupby("group")["n"].max().sort_values(ascending=False, kind="stable")
    tasks = list(sizes.index[:MOST_TASKS])
    task_accuracy = _accuracy_by_group(by_task.loc[by_task["group"].isin(tasks)])
    overall_accuracy = _accuracy_by_group(overall)
    raters = overall.loc[overall["group"] == "micro"].copy()
    raters["order"] = raters["rater_kind"].map({"reader": 0, "model": 1})
    raters = raters.sort_values(
        ["order", "condition", "accuracy"], ascending=[True, True, False], kind="stable"
    )
    rows: list[TableRow] = [
        (
            (rater_name(names, str(row["rater_id"])),),
            (
                condition_cell(str(row["condition"])),
                whole_number(row["n"]),
                *(
                    percent_cell(task_accuracy.get((row["rater_id"], row["condition"], task), _NAN))
                    for task in tasks
                ),
                percent_cell(row["accuracy"]),
                range_cell(row["ci_low"], row["ci_high"]),
                percent_cell(
                    overall_accuracy.get((row["rater_id"], row["condition"], "macro"), _NAN)
                ),
            ),
        )
        for row in raters.to_dict("records")
    ]
    n_left_out = len(sizes) - len(tasks)
    task_headings = [f"{task} (n\u00a0=\u00a0{whole_number(sizes[task])})" for task in tasks]
    yield report_table(
        name="accuracy-by-task",
        title=t("Accuracy by task, in percent"),
        note=join_sentences(
            [
                t("Readers first, each kind in order of micro accuracy."),
                t("Micro: every case is weighted equally; CI: over patients.")
                if results.clustered
                else t("Micro: every case is weighted equally; CI: Wilson."),
                t("Macro: the mean of the tasks."),
                t("Items presented but not answered count as incorrect."),
                tn("{n} more task in the file.", "{n} more tasks in the file.", n_left_out)
                if n_left_out > 0
                else "",
            ]
        ),
        header=(t("Rater"), t("Condition"), "n", *task_headings, t("Micro"), t("CI"), t("Macro")),
        rows=rows,
        in_paper=True,
    )


_NAN = float("nan")


def _accuracy_by_group(table: pd.DataFrame) -> dict[tuple[str, str, str], float]:
    keys = zip(table["rater_id"], table["condition"], table["group"], strict=True)
    return dict(zip(keys, table["accuracy"].astype(float), strict=True))


def accuracy_table(results: Results) -> Iterator[ReportTable]:
    """Show micro and macro accuracy of every rater with their intervals."""
    names = rater_names(results.bundle)
    table = results.tables["accuracy"]
    overall = table.loc[table["by"] == "overall"]
    rows: list[TableRow] = []
    for (rater, condition), part in overall.groupby(["rater_id", "condition"], sort=False):
        first, second = (part.loc[part["group"] == g].iloc[0].to_dict() for g in ("micro", "macro"))
        cells = [
            condition_cell(str(condition)),
            whole_number(first["n"]),
            whole_number(first["n_correct"]),
            whole_number(first["n_missing"]),
            *_percent_cells(first, cluster=results.clustered),
            *_percent_cells(second, cluster=results.clustered),
        ]
        rows.append(((rater_name(names, str(rater)),), tuple(cells)))
    micro = (t("Micro %"), t("Micro CI"), t("Micro CI over patients"))
    macro = (t("Macro %"), t("Macro CI"), t("Macro CI over patients"))
    n_columns = 3 if results.clustered else 2
    yield report_table(
        name="accuracy",
        title=t("Accuracy with every interval"),
        note=t(
            "Micro: every assigned case is weighted equally (Wilson). Macro: the mean of the"
            " tasks' accuracies (MOVER). Percent."
        ),
        header=(
            t("Rater"),
            t("Condition"),
            "n",
            t("Correct"),
            t("No answer"),
            *micro[:n_columns],
            *macro[:n_columns],
        ),
        rows=rows,
    )


def _percent_cells(row: Mapping[Any, Any], *, cluster: bool) -> list[str]:
    cells = [percent_cell(row["accuracy"]), range_cell(row["ci_low"], row["ci_high"])]
    return cells + ([range_cell(row["cluster_ci_low"], row["cluster_ci_high"])] if cluster else [])


def accuracy_figure(results: Results, condition: str) -> Iterator[Figure]:
    """Show every rater's accuracy with its interval, overall and by task."""
    table = headline_intervals(results.tables["accuracy"])
    if not table["accuracy"].notna().any():
        return
    charted = drop_redundant_macro(rows_in_condition(table, condition))
    percent = results.options.confidence_percent
    yield Figure(
        "accuracy",
        "accuracy",
        t("Accuracy with its interval, overall and by task"),
        _accuracy_caption(charted, percent, clustered=results.clustered),
        accuracy_chart(table, condition=condition, names=rater_names(results.bundle)),
    )


def _accuracy_caption(accuracy: pd.DataFrame, percent: str, *, clustered: bool) -> str:
    """Describe the forest plot of accuracy; `accuracy` has the rows that are drawn."""
    kinds = set(accuracy["rater_kind"])
    shapes = {
        RaterKind.READER: t("Percent correct of the cases given; circles are readers."),
        RaterKind.MODEL: t("Percent correct of the cases given; diamonds are models."),
    }
    if len(kinds) != 1:
        first = t(
            "Percent correct of the cases given; circles are readers and diamonds are models."
        )
    else:
        first = shapes[RaterKind(kinds.pop())]
    if clustered:
        lines = t(
            "Lines are {percent} % intervals over patients, who have several cases each (where"
            " these are too few, Wilson's or MOVER's).",
            percent=localised(percent),
        )
    elif "macro" in set(accuracy["group"]):
        lines = t(
            "Lines are {percent} % intervals by Wilson (macro: MOVER).", percent=localised(percent)
        )
    else:
        lines = t("Lines are {percent} % intervals by Wilson.", percent=localised(percent))
    return join_sentences(
        [
            first,
            lines,
            _mark_size_sentence() if "task" in set(accuracy["by"]) else "",
            t("Cases presented but not answered count as incorrect."),
            overlap_warning(),
        ]
    )


def profile_figure(results: Results, condition: str) -> Iterator[Figure]:
    """Show accuracy by task: the range of the readers, and every model."""
    table = headline_intervals(results.tables["accuracy"])
    if not table["accuracy"].notna().any():
        return
    rows, percent = rows_in_condition(table, condition), results.options.confidence_percent
    yield Figure(
        "tasks",
        "task-profile",
        t("Accuracy by task: readers' range and every model"),
        _profile_caption(rows, percent, clustered=results.clustered),
        profile_chart(table, condition=condition, names=rater_names(results.bundle)),
    )


def _profile_caption(rows: pd.DataFrame, percent: str, *, clustered: bool) -> str:
    """Describe the figure of accuracy by task."""
    models = (
        t(
            "The band runs from the lowest to the highest reader, the line is their mean;"
            " diamonds are models, with {percent} % intervals over patients, who have several cases"
            " each (where these are too few, Wilson's or MOVER's).",
            percent=localised(percent),
        )
        if clustered
        else t(
            "The band runs from the lowest to the highest reader, the line is their mean;"
            " diamonds are models, with {percent} % intervals by Wilson.",
            percent=localised(percent),
        )
    )
    n_readers, n_models = _n_raters(rows, RaterKind.READER), _n_raters(rows, RaterKind.MODEL)
    return join_sentences(
        [
            t("Percent correct by task, n in brackets."),
            models,
            _mark_size_sentence(),
            t(
                "{readers} and {models}.",
                readers=tn("{n} reader", "{n} readers", n_readers),
                models=tn("{n} model", "{n} models", n_models),
            ),
        ]
    )


def _mark_size_sentence() -> str:
    return t(
        "The area of a task's mark is proportional to its number of cases, but no mark is smaller"
        " than {size} mm.",
        size=localised(f"{MIN_MARK_MM:g}"),
    )


def _n_raters(rows: pd.DataFrame, kind: RaterKind) -> int:
    return int(rows.loc[rows["rater_kind"] == kind, "rater_id"].nunique())


ACCURACY = Statistic(
    name="accuracy",
    meaning="Accuracy of a rater in a group of items.",
    columns=(
        *shared_columns("rater_id rater_kind condition by group n"),
        Column("n_correct", "Correct answers.", "count"),
        Column("n_missing", "Items without an answer, which count as incorrect.", "count"),
        *shared_columns(
            "accuracy ci_low ci_high ci_method cluster_ci_low cluster_ci_high undefined_because"
        ),
    ),
    compute=accuracy,
    methods={
        100: Method(
            "Accuracy",
            "Micro accuracy weights cases equally; its interval is Wilson's score interval"
            " [@wilson1927]. Macro accuracy is the mean of the tasks' accuracies, with the"
            " MOVER interval over the tasks' Wilson limits [@zou2009].",
        )
    },
    tables={10: tasks_table, 90: accuracy_table},
    figures={10: accuracy_figure, 14: profile_figure},
)
