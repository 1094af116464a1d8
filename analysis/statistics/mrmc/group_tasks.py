"""How a difference between groups of readers depends on the task: `reader_groups_tasks.csv`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.arrays import Bools
from analysis.bundle.model import Bundle
from analysis.options import Options
from analysis.presentation.table import (
    ReportTable,
    condition_cell,
    p_cell,
    report_table,
    row_label,
    whole_number,
)
from analysis.presentation.wording import cell_number, rows_of
from analysis.readings.shared_items import SharedItems, shared_by_panel
from analysis.results import Results
from analysis.statistics.claims import comparison_cells, comparison_header
from analysis.statistics.merits import (
    PERCENT_CORRECT,
    FigureOfMerit,
    FiguresOfMerit,
    Metric,
    differences,
    mean_of_own_items,
)
from analysis.statistics.mrmc.by_group import adjust_over_groups
from analysis.statistics.mrmc.group_contrasts import LEAD_METRIC, GroupContrast, contrasts_of
from analysis.statistics.mrmc.groups import FACTOR_NAMES, READER_GROUPS, contrast_cells
from analysis.statistics.statistic import Column, Method, Statistic, columns_like
from analysis.statistics.study import Study, study_of
from analysis.translation import later, t, translated

NO_ITEM = later("all readers share no item of this task, or none of another task")


def has_group_tasks(study: Study) -> bool:
    """Return whether any two groups of readers read items of several tasks."""
    contrasts = next(contrasts_of(study), None)
    return contrasts is not None and len(_items_by_task(study)) > 1


def reader_groups_tasks(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Compare groups of readers by their accuracy on a task minus that on the other tasks.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        The columns of `READER_GROUPS_TASKS`. `value_a` and `value_b` are the groups' mean accuracy
        on the task minus that on all other tasks, from -1 to 1; `difference` is the interaction of
        group and task.

    Notes
    -----
    The formula is that of `between_groups`, applied to the readers' differences between two
    proportions over different items, whose covariances are linearised over patients. `p_adjusted`
    is adjusted by Holm's method over the tasks. The lead of a model depends on the task by the same
    amount with the opposite sign.

    See Also
    --------
    analysis.statistics.mrmc.group_contrasts.between_groups
    """
    study = study_of(study, options)
    rows = [
        {
            **contrast.names,
            "metric": Metric.ACCURACY.value,
            "by": "task",
            "group": task,
            **contrast_cells(study, contrast, _task_minus_other_tasks(study, contrast, is_in_task)),
        }
        for contrast in contrasts_of(study)
        if contrast.names.get("metric") != LEAD_METRIC
        for task, is_in_task in _items_by_task(study).items()
    ]
    return adjust_over_groups(rows, _FAMILY_COLUMNS, READER_GROUPS_TASKS)


_FAMILY_COLUMNS = ("factor", "group_a", "group_b", "condition")


def _items_by_task(study: Study) -> dict[str, Bools]:
    """Return each task's items with a reference standard, for tasks that have any."""
    matrix = study.matrix
    tasks = {
        task: np.isin(np.arange(len(matrix.truth)), positions) & matrix.has_truth
        for task, positions in matrix.members("task").items()
    }
    return {task: items for task, items in tasks.items() if items.any()}


def _task_minus_other_tasks(
    study: Study, contrast: GroupContrast, is_in_task: Bools
) -> FigureOfMerit:
    """Return each reader's accuracy on a task minus that on the other tasks."""
    matrix = study.matrix
    has_task: Bools = np.logical_or.reduce([*_items_by_task(study).values()])
    readers = np.concatenate([contrast.a, contrast.b])
    shared = shared_by_panel(matrix, readers, has_task)
    n = len(readers)
    item_sets = [shared.items & is_in_task, shared.items & has_task & ~is_in_task]
    is_counted = np.repeat(np.stack(item_sets, axis=1), n, axis=1)[shared.items]
    correct = np.tile(matrix.correct[:, readers], 2)[shared.items]
    merits = mean_of_own_items(
        np.where(is_counted, correct, False).astype(np.float64),
        is_counted,
        matrix.clusters[shared.items],
        NO_ITEM,
    )
    gains = differences(merits, np.arange(n), n + np.arange(n))
    return FiguresOfMerit(matrix=matrix, ratings=None).figure(
        Metric.ACCURACY, _with_reason_if_empty(shared, is_counted), gains, PERCENT_CORRECT
    )


def _with_reason_if_empty(shared: SharedItems, is_counted: Bools) -> SharedItems:
    missing = not is_counted.any(axis=0).all()
    return replace(shared, reason=shared.reason or (NO_ITEM if missing else ""))


def tasks_table(results: Results) -> Iterator[ReportTable]:
    """Show how the difference between groups of readers depends on the task."""
    rows = rows_of(results, "reader_groups_tasks")
    yield report_table(
        name="reader-groups-tasks",
        title=t("Groups of readers: dependence on the task"),
        note=t(
            "Value: accuracy on the task minus that on the other tasks, in points. Difference:"
            " first minus second group. Adjusted p: for the tasks (Holm)."
        ),
        header=(
            t("Groups"),
            t("Factor"),
            t("Condition"),
            t("Task"),
            t("Items"),
            *comparison_header(t("First"), t("Second")),
            t("Adjusted p"),
        ),
        rows=[
            (
                (row_label(str(row["group_a"])), row_label(str(row["group_b"]))),
                (
                    translated(FACTOR_NAMES[str(row["factor"])]),
                    condition_cell(str(row["condition"])),
                    str(row["group"]),
                    whole_number(cell_number(row, "n_items")),
                    *comparison_cells(row),
                    p_cell(cell_number(row, "p_adjusted")),
                ),
            )
            for row in rows
        ],
    )


_REDEFINED_COLUMNS = (
    Column("metric", "`accuracy`."),
    Column("by", "`task`."),
    Column("group", "The task that is compared with all others."),
    Column("n_items", "Items of all tasks.", "count"),
    Column("value_a", "First group: the task minus the other tasks.", "proportion"),
    Column("value_b", "Second group: the task minus the other tasks.", "proportion"),
)
_P_ADJUSTED = Column("p_adjusted", "`p` adjusted by Holm's method over the tasks.", "probability")

READER_GROUPS_TASKS = Statistic(
    name="reader_groups_tasks",
    meaning="Two groups of readers by the difference of their accuracy between tasks.",
    columns=columns_like(
        READER_GROUPS.columns, redefined=_REDEFINED_COLUMNS, after={"p": (_P_ADJUSTED,)}
    ),
    compute=reader_groups_tasks,
    applies=has_group_tasks,
    methods={
        594: Method(
            "Groups of readers",
            "Whether a difference between groups of readers depends on the task was estimated by"
            " the same method from each reader's accuracy on the task minus that on the other"
            " tasks, with p-values adjusted over the tasks [@holm1979].",
        )
    },
    tables={133: tasks_table},
)
