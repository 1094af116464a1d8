"""Sensitivity and specificity as metrics: `diagnostic_panel` and `diagnostic_conditions`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.arrays import Bools
from analysis.bundle.model import Bundle
from analysis.figures.drawing.axes import rater_names
from analysis.options import Options
from analysis.presentation.table import (
    ReportTable,
    TableRow,
    condition_cell,
    rater_name,
    report_table,
    two_conditions,
    whole_number,
)
from analysis.presentation.wording import Row, cell_number, join_sentences, rows_of
from analysis.results import Results
from analysis.statistics.accuracy.diagnostic import has_two_classes
from analysis.statistics.claims import (
    comparison_cells,
    comparison_header,
    displayed_claim,
    narrower_notes,
)
from analysis.statistics.mrmc import conditions, panel
from analysis.statistics.mrmc.by_group import (
    READER_CONDITIONS_BY,
    READER_PANEL_BY,
    adjust_over_groups,
    groups_with_truth,
)
from analysis.statistics.mrmc.metrics import sensitivity_and_specificity
from analysis.statistics.mrmc.obuchowski_rockette import Claim
from analysis.statistics.statistic import Column, Method, Statistic
from analysis.statistics.study import Study, study_of
from analysis.translation import later, t, translated


def _item_groups(study: Study) -> Iterator[tuple[str, str, Bools]]:
    """Yield all items, then every group of items with a positive or a negative class."""
    yield "overall", "micro", np.ones(len(study.matrix.truth), dtype=np.bool_)
    is_counted = study.dichotomy.counted_items(study.matrix)
    for by, group, is_member in groups_with_truth(study):
        if (is_counted & is_member).any():
            yield by, group, is_member


def has_diagnostic_panel(study: Study) -> bool:
    """Return whether models can be compared with readers on items with two classes."""
    return has_two_classes(study) and bool(panel.panels_of(study.matrix))


def has_diagnostic_conditions(study: Study) -> bool:
    """Return whether readers read items with two classes under two conditions."""
    contrasts = conditions.contrasts_of(study.matrix)
    return has_two_classes(study) and any(len(contrast.a) for contrast in contrasts)


def diagnostic_panel(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Compare sensitivity and specificity of every model with those of the readers.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Its alpha is used; `positive` names the positive options.

    Returns
    -------
    pandas.DataFrame
        The columns of `DIAGNOSTIC_PANEL`; in order of model, condition, group, metric and claim.
        Proportions are from 0 to 1.

    Notes
    -----
    Sensitivity is the accuracy on the positive items, specificity that on the negative ones, where
    an answer is correct if its class is the item's. Both are compared as accuracy is in
    `reader_panel`, with the covariances over the items of the class. There is no margin.

    See Also
    --------
    analysis.statistics.accuracy.diagnostic.diagnostic, analysis.reader_panel
    """
    study = study_of(study, options)
    rows = [
        {**row, "by": by, "group": group}
        for model_panel in panel.panels_of(study.matrix)
        for by, group, is_member in _item_groups(study)
        for comparison in panel.comparisons_by_metric(
            study, model_panel, is_member, sensitivity_and_specificity
        )
        for row in panel.panel_rows(comparison, None)
    ]
    return adjust_over_groups(rows, ("model_id", "condition"), DIAGNOSTIC_PANEL)


def diagnostic_conditions(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Compare the readers' sensitivity and specificity between each pair of conditions.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Its alpha is used; `positive` names the positive options.

    Returns
    -------
    pandas.DataFrame
        The columns of `DIAGNOSTIC_CONDITIONS`, with the three claims: these readers, readers like
        these, and readers like these on these items.

    Notes
    -----
    The metrics are those of `diagnostic_panel`; the comparisons are those of `reader_conditions`
    and `reader_conditions_items`.
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
        for by, group, is_member in _item_groups(study)
        for comparison in conditions.comparisons_by_metric(
            study, contrast, is_member, sensitivity_and_specificity
        )
        for row in conditions.claims_of(comparison)
    ]
    return adjust_over_groups(rows, ("condition_a", "condition_b"), DIAGNOSTIC_CONDITIONS)


METRIC_WORDS = {"sensitivity": later("sensitivity, %"), "specificity": later("specificity, %")}


def diagnostic_panel_table(results: Results) -> Iterator[ReportTable]:
    """Show sensitivity and specificity of every model against the readers, over all items."""
    names = rater_names(results.bundle)
    rows = rows_of(results, "diagnostic_panel", by="overall")
    yield _diagnostic_table(
        "diagnostic-panel",
        t("Sensitivity and specificity of models and readers"),
        t("Difference: model minus the mean of the readers."),
        (t("Model"), t("Reader mean"), t("Model value")),
        [
            (
                (rater_name(names, str(row["model_id"])),),
                _row_cells(row, str(row["condition"]), ("reader_mean", "model_value")),
            )
            for row in rows
        ],
        rows,
    )


def diagnostic_conditions_table(results: Results) -> Iterator[ReportTable]:
    """Show the readers' sensitivity and specificity under two conditions, over all items."""
    rows = [
        row
        for row in rows_of(results, "diagnostic_conditions", by="overall")
        if row["claim"] != Claim.THESE_ITEMS
    ]
    table = _diagnostic_table(
        "diagnostic-conditions",
        t("Sensitivity and specificity under two conditions"),
        t("Difference: first minus second condition, the same readers and cases."),
        (t("Conditions"), t("First"), t("Second")),
        [
            (
                two_conditions(row),
                _row_cells(row, "", ("value_a", "value_b")),
            )
            for row in rows
        ],
        rows,
    )
    yield table.without_column(t("Condition"))


def _diagnostic_table(
    name: str,
    title: str,
    note: str,
    headings: tuple[str, str, str],
    table_rows: list[TableRow],
    rows: list[Row],
) -> ReportTable:
    first, first_value, second_value = headings
    return report_table(
        name=name,
        title=title,
        note=join_sentences([note, t("Results by task are in the file."), narrower_notes(rows)]),
        header=(
            first,
            t("Condition"),
            t("Metric"),
            t("Claim"),
            t("Items"),
            *comparison_header(first_value, second_value),
        ),
        rows=table_rows,
        in_paper=True,
    )


def _row_cells(row: Row, condition: str, values: tuple[str, str]) -> tuple[str, ...]:
    return (
        condition_cell(condition),
        translated(METRIC_WORDS[str(row["metric"])]),
        displayed_claim(row),
        whole_number(cell_number(row, "n_items")),
        *comparison_cells(row, *values),
    )


_METRIC_COLUMN = Column("metric", "`sensitivity` or `specificity`.")
_CLAIM_COLUMN = Column("claim", "`these readers`, `readers like these` or `these items`.")


def _columns_with(
    table: Statistic, *new_columns: Column, without: tuple[str, ...] = ()
) -> tuple[Column, ...]:
    """Return the columns of a table, with `new_columns` instead of those with the same names."""
    redefined = {column.name: column for column in new_columns}
    return tuple(
        redefined.get(column.name, column) for column in table.columns if column.name not in without
    )


DIAGNOSTIC_PANEL = replace(
    READER_PANEL_BY,
    name="diagnostic_panel",
    meaning="Sensitivity or specificity of a model against the mean of the readers.",
    columns=_columns_with(READER_PANEL_BY, _METRIC_COLUMN, without=("margin", "p_noninferior")),
    compute=diagnostic_panel,
    applies=has_diagnostic_panel,
    methods={
        30: Method(
            "Sensitivity and specificity",
            "Models are compared with the readers in sensitivity and in specificity by the method"
            " used for accuracy.",
        )
    },
    tables={14: diagnostic_panel_table},
)

DIAGNOSTIC_CONDITIONS = replace(
    READER_CONDITIONS_BY,
    name="diagnostic_conditions",
    meaning="Sensitivity or specificity of the readers under two conditions.",
    columns=_columns_with(READER_CONDITIONS_BY, _METRIC_COLUMN, _CLAIM_COLUMN),
    compute=diagnostic_conditions,
    applies=has_diagnostic_conditions,
    methods={
        31: Method(
            "Sensitivity and specificity",
            "Two conditions are compared in both by the method used for accuracy.",
        )
    },
    tables={16: diagnostic_conditions_table},
)
