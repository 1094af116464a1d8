"""Sensitivity and specificity as metrics: tables `diagnostic_panel`, `diagnostic_conditions`."""

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
    named,
    report_table,
    two_conditions,
    whole_number,
)
from analysis.presentation.wording import Row, number, rows_of, sentences
from analysis.results import Results
from analysis.statistics.accuracy.diagnostic import has_two_classes
from analysis.statistics.claims import (
    claim_shown,
    comparison_cells,
    comparison_header,
    narrower_notes,
)
from analysis.statistics.mrmc import conditions, panel
from analysis.statistics.mrmc.by_group import (
    READER_CONDITIONS_BY,
    READER_PANEL_BY,
    adjusted_over_groups,
    groups_of,
)
from analysis.statistics.mrmc.metrics import sensitivity_and_specificity
from analysis.statistics.mrmc.obuchowski_rockette import Claim
from analysis.statistics.statistic import Column, Method, Statistic
from analysis.statistics.study import Study, study_of
from analysis.translation import later, t, translated


def _groups(study: Study) -> Iterator[tuple[str, str, Bools]]:
    """Yield all items, then every group of items with a positive or a negative class."""
    yield "overall", "micro", np.ones(len(study.matrix.truth), dtype=np.bool_)
    is_counted = study.dichotomy.counted_items(study.matrix)
    for by, group, is_member in groups_of(study):
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
        Proportions 0 to 1.

    Notes
    -----
    Sensitivity is the accuracy on the positive items, specificity that on the negative ones, where
    an answer is correct if it is of the item's class. Each is compared as accuracy is in
    `reader_panel`, with the covariances over the items of its class. No margin applies.

    See Also
    --------
    analysis.statistics.accuracy.diagnostic.diagnostic, analysis.reader_panel
    """
    study = study_of(study, options)
    rows = [
        {**row, "by": by, "group": group}
        for panel_ in panel.panels_of(study.matrix)
        for by, group, is_member in _groups(study)
        for comparison in panel.compared(study, panel_, is_member, sensitivity_and_specificity)
        for row in panel.panel_rows(comparison, None)
    ]
    return adjusted_over_groups(rows, ("model_id", "condition"), DIAGNOSTIC_PANEL)


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
    As `diagnostic_panel`, for what `reader_conditions` and `reader_conditions_items` compute.
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
        for by, group, is_member in _groups(study)
        for comparison in conditions.compared(
            study, contrast, is_member, sensitivity_and_specificity
        )
        for row in conditions.claims_of(comparison)
    ]
    return adjusted_over_groups(rows, ("condition_a", "condition_b"), DIAGNOSTIC_CONDITIONS)


METRIC_NAMES = {"sensitivity": later("sensitivity, %"), "specificity": later("specificity, %")}


def diagnostic_panel_table(results: Results) -> Iterator[ReportTable]:
    """Show sensitivity and specificity of every model against the readers, over all items."""
    names = rater_names(results.bundle)
    rows = rows_of(results, "diagnostic_panel", by="overall")
    yield _table(
        "diagnostic-panel",
        t("Sensitivity and specificity of models and readers"),
        t("Difference: model minus the mean of the readers."),
        (t("Model"), t("Reader mean"), t("Model value")),
        [
            (
                (named(names, str(row["model_id"])),),
                _cells(row, str(row["condition"]), ("reader_mean", "model_value")),
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
    table = _table(
        "diagnostic-conditions",
        t("Sensitivity and specificity under two conditions"),
        t("Difference: first minus second condition, the same readers and cases."),
        (t("Conditions"), t("First"), t("Second")),
        [
            (
                two_conditions(row),
                _cells(row, "", ("value_a", "value_b")),
            )
            for row in rows
        ],
        rows,
    )
    yield table.without_column(t("Condition"))


def _table(
    name: str,
    title: str,
    note: str,
    heads: tuple[str, str, str],
    body: list[TableRow],
    rows: list[Row],
) -> ReportTable:
    first, left, right = heads
    return report_table(
        name=name,
        title=title,
        note=sentences([note, t("Results by task are in the file."), narrower_notes(rows)]),
        header=(
            first,
            t("Condition"),
            t("Metric"),
            t("Claim"),
            t("Items"),
            *comparison_header(left, right),
        ),
        rows=body,
        in_paper=True,
    )


def _cells(row: Row, condition: str, values: tuple[str, str]) -> tuple[str, ...]:
    return (
        condition_cell(condition),
        translated(METRIC_NAMES[str(row["metric"])]),
        claim_shown(row),
        whole_number(number(row, "n_items")),
        *comparison_cells(row, *values),
    )


_METRIC = Column("metric", "`sensitivity` or `specificity`.")
_CLAIM = Column("claim", "`these readers`, `readers like these` or `these items`.")


def _columns(
    table: Statistic, *others: Column, without: tuple[str, ...] = ()
) -> tuple[Column, ...]:
    """Return the columns of a table, some with another description and some omitted."""
    described = {column.name: column for column in others}
    return tuple(
        described.get(column.name, column) for column in table.columns if column.name not in without
    )


DIAGNOSTIC_PANEL = replace(
    READER_PANEL_BY,
    name="diagnostic_panel",
    meaning="Sensitivity or specificity of a model against the mean of the readers.",
    columns=_columns(READER_PANEL_BY, _METRIC, without=("margin", "p_noninferior")),
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
    columns=_columns(READER_CONDITIONS_BY, _METRIC, _CLAIM),
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
