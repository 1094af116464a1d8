"""Comparisons of readers in groups of items: `reader_panel_by` and `reader_conditions_by`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from analysis.arrays import Bools
from analysis.bundle.model import Bundle
from analysis.bundle.protocol import subgroups
from analysis.errors import OptionsError, quoted
from analysis.figures.drawing.axes import rater_names
from analysis.options import Options
from analysis.presentation.table import (
    ReportTable,
    condition_cell,
    difference_cells,
    p_cell,
    rater_name,
    report_table,
    two_conditions,
    whole_number,
)
from analysis.presentation.wording import Row, cell_number, rows_of
from analysis.readings.item_groups import item_groups
from analysis.readings.matrix import ITEM_GROUPINGS
from analysis.results import Results
from analysis.statistics.claims import displayed_claim, factor_of, narrower_notes, value_cell
from analysis.statistics.comparison.paired_tests import holm_within
from analysis.statistics.mrmc import conditions, panel
from analysis.statistics.mrmc.obuchowski_rockette import Claim
from analysis.statistics.statistic import Column, Method, Statistic, columns_like
from analysis.statistics.study import Study, study_of
from analysis.translation import t


def declared_groupings(study: Study) -> tuple[str, ...]:
    """Return the groupings of items: the task, and the subgroups that the protocol declares.

    Raises
    ------
    OptionsError
        The protocol declares a subgroup that is not a field of the items.
    """
    declared = subgroups(study.bundle.protocol)
    for name in declared:
        if name not in ITEM_GROUPINGS:
            raise OptionsError(
                f"protocol.json: subgroups names {quoted(name)}; give fields of the items:"
                f" {', '.join(ITEM_GROUPINGS)}"
            )
    return tuple(dict.fromkeys(("task", *declared)))


def groups_with_truth(study: Study) -> Iterator[tuple[str, str, Bools]]:
    """Yield every group that contains items with a reference standard, as a mask of the items."""
    matrix = study.matrix
    for by, group, positions in item_groups(matrix, declared_groupings(study)):
        is_member = np.isin(np.arange(len(matrix.truth)), positions)
        if by != "overall" and (matrix.has_truth & is_member).any():
            yield by, group, is_member


def has_panel_groups(study: Study) -> bool:
    """Return whether a model can be compared with readers in any group of items."""
    return bool(panel.panels_of(study.matrix)) and next(groups_with_truth(study), None) is not None


def has_condition_groups(study: Study) -> bool:
    """Return whether readers read any group of items under two conditions."""
    contrasts = conditions.contrasts_of(study.matrix)
    return any(len(c.a) for c in contrasts) and next(groups_with_truth(study), None) is not None


def reader_panel_by(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Compare every model with the readers within each task and declared subgroup.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables; the protocol's `subgroups` are fields of the items.
    options : Options, optional
        As for `reader_panel`.

    Returns
    -------
    pandas.DataFrame
        The columns of `READER_PANEL_BY`; in order of model, condition, group, metric and claim.

    Raises
    ------
    OptionsError
        The protocol declares a subgroup that is not a field of the items.

    Notes
    -----
    Rows are computed as in `reader_panel`, from the items of the group only; the rule of 80 %
    refers to these items. `p_adjusted` is adjusted by Holm's method [1]_ over the groups of the
    same `by`, for each model, condition, metric and claim.

    References
    ----------
    .. [1] Holm S. A simple sequentially rejective multiple test procedure. Scand J Stat
       1979;6:65-70. doi:10.2307/4615733
    """
    study = study_of(study, options)
    margins = panel.margins_of(study)
    rows = [
        {**row, "by": by, "group": group}
        for model_panel in panel.panels_of(study.matrix)
        for by, group, is_member in groups_with_truth(study)
        for comparison in panel.comparisons_by_metric(study, model_panel, is_member)
        for row in panel.panel_rows(comparison, margins[comparison.figure.metric])
    ]
    return adjust_over_groups(rows, ("model_id", "condition"), READER_PANEL_BY)


def reader_conditions_by(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Compare each pair of conditions within each task and declared subgroup.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables; the protocol's `subgroups` are fields of the items.
    options : Options, optional
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        The columns of `READER_CONDITIONS_BY`; in order of conditions, group, metric and claim.

    Raises
    ------
    OptionsError
        The protocol declares a subgroup that is not a field of the items.

    Notes
    -----
    Rows are computed as in `reader_conditions`, and adjusted as in `reader_panel_by`.
    """
    study = study_of(study, options)
    rows = [
        {
            "condition_a": contrast.condition_a,
            "condition_b": contrast.condition_b,
            "by": by,
            "group": group,
            **row,
        }
        for contrast in conditions.contrasts_of(study.matrix)
        for by, group, is_member in groups_with_truth(study)
        for comparison in conditions.comparisons_by_metric(study, contrast, is_member)
        for row in conditions.claims_of(comparison)
        if row["claim"] != Claim.THESE_ITEMS
    ]
    return adjust_over_groups(rows, ("condition_a", "condition_b"), READER_CONDITIONS_BY)


def adjust_over_groups(
    rows: list[dict[str, Any]], names: tuple[str, ...], table: Statistic
) -> pd.DataFrame:
    """Return the table of these rows, with p adjusted over the groups of each `by`."""
    keys = (*names, "by", "metric", "claim")
    families = ["\n".join(str(row[key]) for key in keys) for row in rows]
    p = np.array([row["p"] for row in rows], dtype=np.float64)
    columns = pd.DataFrame(rows, columns=[c for c in table.header if c != "p_adjusted"])
    return columns.assign(p_adjusted=holm_within(p, families))[table.header]


def columns_by_group(table: Statistic, after: str) -> tuple[Column, ...]:
    """Return a table's columns with `by` and `group` after a column, and `p_adjusted` after p."""
    further_columns = {
        after: (
            Column("by", "Grouping of the items: `task` or a declared subgroup."),
            _GROUP_COLUMN,
        ),
        "p": (Column("p_adjusted", "`p` adjusted by Holm's method over the groups.", _P_UNIT),),
    }
    return columns_like(table.columns, after=further_columns)


_P_UNIT = "probability"
_GROUP_COLUMN = Column("group", "The group.")


def panel_by_table(results: Results) -> Iterator[ReportTable]:
    """Show the comparison of every model with the readers, by group of items."""
    names = rater_names(results.bundle)
    rows = rows_of(results, "reader_panel_by")
    yield _group_table(
        "reader-panel-by",
        t("Models against the panel of readers, by group of cases"),
        t("Difference: model minus the mean of the readers."),
        (t("Model"), t("Reader mean"), t("Model value")),
        [
            (
                (rater_name(names, str(row["model_id"])),),
                (
                    condition_cell(str(row["condition"])),
                    *_row_cells(
                        row, cell_number(row, "reader_mean"), cell_number(row, "model_value")
                    ),
                ),
            )
            for row in rows
        ],
        rows,
    )


def conditions_by_table(results: Results) -> Iterator[ReportTable]:
    """Show the comparison of two conditions, by group of items."""
    rows = rows_of(results, "reader_conditions_by")
    table = _group_table(
        "reader-conditions-by",
        t("Readers under two conditions, by group of cases"),
        t("Difference: first minus second condition, the same readers and cases."),
        (t("Conditions"), t("First"), t("Second")),
        [
            (
                two_conditions(row),
                ("", *_row_cells(row, cell_number(row, "value_a"), cell_number(row, "value_b"))),
            )
            for row in rows
        ],
        rows,
    )
    yield table.without_column(t("Condition"))


def _group_table(
    name: str,
    title: str,
    note: str,
    headings: tuple[str, str, str],
    table_rows: list[Any],
    rows: list[Row],
) -> ReportTable:
    first, first_value, second_value = headings
    return report_table(
        name=name,
        title=title,
        note=" ".join(
            filter(None, [note, t("Adjusted p: for the groups (Holm)."), narrower_notes(rows)])
        ),
        header=(
            first,
            t("Condition"),
            t("Group"),
            t("Metric"),
            t("Claim"),
            t("Items"),
            first_value,
            second_value,
            t("Difference"),
            t("CI"),
            "p",
            t("Adjusted p"),
        ),
        rows=table_rows,
    )


def _row_cells(row: Row, first_value: float, second_value: float) -> tuple[str, ...]:
    factor = factor_of(row)
    return (
        str(row["group"]),
        t("accuracy, %") if factor == 100 else "AUC",
        displayed_claim(row),
        whole_number(cell_number(row, "n_items")),
        value_cell(first_value, factor),
        value_cell(second_value, factor),
        *difference_cells(row, factor),
        p_cell(cell_number(row, "p")),
        p_cell(cell_number(row, "p_adjusted")),
    )


READER_PANEL_BY = Statistic(
    name="reader_panel_by",
    meaning="A model against the mean of the readers in a group of items, under one claim.",
    columns=columns_by_group(panel.READER_PANEL, "condition"),
    compute=reader_panel_by,
    applies=has_panel_groups,
    methods={
        580: Method(
            "Groups of cases",
            "Models are compared with the readers within each task and each subgroup declared in"
            " the protocol, with p-values adjusted over the groups by Holm's method [@holm1979].",
        )
    },
    tables={22: panel_by_table},
)

READER_CONDITIONS_BY = Statistic(
    name="reader_conditions_by",
    meaning="Readers under two conditions in a group of items, under one claim.",
    columns=columns_by_group(conditions.READER_CONDITIONS, "condition_b"),
    compute=reader_conditions_by,
    applies=has_condition_groups,
    methods={
        581: Method(
            "Groups of cases",
            "Two conditions are compared within each task and each declared subgroup, with p-values"
            " adjusted over the groups by Holm's method [@holm1979].",
        )
    },
    tables={131: conditions_by_table},
)
