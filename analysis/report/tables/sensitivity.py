"""The same numbers under other choices."""

from __future__ import annotations

import math

from analysis.figures import rater_names
from analysis.report.numbers import rounded
from analysis.report.rows import number, rows_of
from analysis.report.tables.table import (
    EMPTY,
    MOST_ROWS,
    ReportTable,
    TableRow,
    named,
    percent_cell,
    range_cell,
    report_table,
)
from analysis.results import Results


def choices_overview(results: Results) -> list[ReportTable]:
    """Show accuracies, one column a choice."""
    names = rater_names(results.bundle)
    rows = rows_of(results, "sensitivity")
    choices = list(dict.fromkeys(str(row["analysis"]) for row in rows))
    raters = list(dict.fromkeys((str(row["rater_id"]), str(row["condition"])) for row in rows))
    values = {
        (str(row["rater_id"]), str(row["condition"]), str(row["analysis"])): row for row in rows
    }
    body: list[TableRow] = []
    for rater, condition in raters:
        found = [values.get((rater, condition, choice), {}) for choice in choices]
        cells = [
            EMPTY
            if math.isnan(number(row, "accuracy"))
            else f"{percent_cell(number(row, 'accuracy'))} (n = {int(number(row, 'n')):,})"
            for row in found
        ]
        body.append(((named(names, rater),), (condition or EMPTY, *cells)))
    return [
        report_table(
            name="sensitivity",
            title="Accuracy under other choices, in percent",
            note="The first column is the primary analysis.",
            file="tables/sensitivity.csv",
            header=("Rater", "Condition", *(choice.capitalize() for choice in choices)),
            rows=body,
        )
    ]


def panel_choices_overview(results: Results) -> list[ReportTable]:
    """Show models against the readers under every other choice."""
    names = rater_names(results.bundle)
    body: list[TableRow] = []
    panel = rows_of(results, "sensitivity_panel")
    for row in panel[:MOST_ROWS]:
        factor, decimals = (1, 3) if row["metric"] == "auc" else (100, 1)
        interval = range_cell(
            number(row, "ci_low"), number(row, "ci_high"), factor=factor, decimals=decimals
        )
        cells = (
            str(row["condition"]) or EMPTY,
            str(row["analysis"]),
            str(row["claim"]),
            f"{int(number(row, 'n_items')):,}" if not math.isnan(number(row, "n_items")) else EMPTY,
            rounded(factor * number(row, "difference"), decimals),
            interval,
        )
        body.append(((named(names, str(row["model_id"])),), cells))
    return [
        report_table(
            name="sensitivity-panel",
            title="Models against the panel under other choices",
            note="Difference: model minus the mean of the readers, in points.",
            file="tables/sensitivity_panel.csv",
            header=("Model", "Condition", "Choice", "Claim", "Items", "Difference", "CI"),
            rows=body,
            total=len(panel),
        )
    ]
