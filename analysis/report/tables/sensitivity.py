"""The same numbers under other choices, and the variances that their intervals rest on."""

from __future__ import annotations

import math

from analysis.figures.drawing.axes import RaterName, condition_name, rater_names
from analysis.presentation.table import (
    EMPTY,
    MANY_IN_PRINT,
    MOST_ROWS,
    ReportTable,
    TableRow,
    condition_cell,
    named,
    percent_cell,
    range_cell,
    report_table,
    whole,
    words,
)
from analysis.presentation.wording import Row, number, rounded, rows_by, rows_of, sentences
from analysis.results import Results
from analysis.statistics.mrmc.claims import claim_shown, narrower_notes
from analysis.translation import later, pieces, said, t, tn

PRIMARY = "missing as wrong"


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
            else t(
                "{value} (n = {n})",
                value=percent_cell(number(row, "accuracy")),
                n=int(number(row, "n")),
            )
            for row in found
        ]
        body.append(((named(names, rater),), (condition_cell(condition), *cells)))
    return [
        report_table(
            name="sensitivity",
            title=t("Accuracy under other choices, in percent"),
            note=t("The first column is the primary analysis."),
            file="tables/sensitivity.csv",
            header=(t("Rater"), t("Condition"), *map(_head, choices)),
            rows=body,
        )
    ]


def panel_choices_overview(results: Results) -> list[ReportTable]:
    """Show what other choices change of the comparison with the readers, beside the primary."""
    names = rater_names(results.bundle)
    panel = rows_of(results, "sensitivity_panel")
    primary = {_key(row): row for row in panel if row["analysis"] == PRIMARY}
    others = [row for row in panel if row["analysis"] != PRIMARY]
    differing = [row for row in others if _shown(row) != _shown(primary.get(_key(row), {}))]
    touched = {_key(row) for row in differing}
    shown = [row for row in panel if row["analysis"] == PRIMARY and _key(row) in touched]
    order = {key: place for place, key in enumerate(dict.fromkeys(map(_key, panel)))}
    shown = sorted([*shown, *differing], key=lambda row: order[_key(row)])
    body: list[TableRow] = [
        (
            (named(names, str(row["model_id"])),),
            (
                condition_cell(str(row["condition"])),
                claim_shown(row),
                pieces(str(row["analysis"])),
                *_shown(row),
            ),
        )
        for row in shown[:MOST_ROWS]
    ]
    same = len(others) - len(differing)
    difference = t("Difference: model minus the mean of the readers, in points.")
    note = sentences([difference, narrower_notes(shown)])
    if same:
        left_out = tn(
            "Left out: {n} row equal to the primary analysis ({name}).",
            "Left out: {n} rows equal to the primary analysis ({name}).",
            same,
            name=said(PRIMARY),
        )
        note = sentences([note, left_out])
    return [
        report_table(
            name="sensitivity-panel",
            title=t("What other choices change of models against the panel"),
            note=note,
            file="tables/sensitivity_panel.csv",
            header=(
                t("Model"),
                t("Condition"),
                t("Claim"),
                t("Choice"),
                t("Items"),
                t("Difference"),
                t("CI"),
                t("Note"),
            ),
            rows=body,
            total=len(shown),
            most_in_print=MANY_IN_PRINT,
        )
    ]


def _key(row: Row) -> tuple[str, ...]:
    return tuple(str(row[column]) for column in ("model_id", "condition", "metric", "claim"))


def _shown(row: Row) -> tuple[str, ...]:
    n = number(row, "n_items")
    low, high = number(row, "ci_low"), number(row, "ci_high")
    return (
        EMPTY if math.isnan(n) else whole(n),
        rounded(100 * number(row, "difference"), 1),
        range_cell(low, high),
        pieces(str(row.get("undefined_because") or "")),
    )


def _head(choice: str) -> str:
    words = said(choice)
    return (
        words[:1].upper() + words[1:].lower() if words == choice else words[:1].upper() + words[1:]
    )


# Variances of proportions are small; the head says by how much they are multiplied.
FACTOR, DECIMALS = 1000, 3
NEGATIVE = later("Below 0: no sign of such a variance beyond the error of cases.")
METRICS = {"accuracy": later("accuracy"), "auc": "AUC"}


def variances_overview(results: Results) -> list[ReportTable]:
    """Show the components of each model against the readers, and of each two conditions."""
    return [
        _overview(
            results,
            "reader_panel",
            "variance-components",
            t("Variance components: models against readers"),
            t(
                "MSR: mean square of readers; Var: error variance of a reader's difference; Cov2:"
                " its covariance between readers; var_reader: variance of readers."
            ),
        ),
        _overview(
            results,
            "reader_conditions",
            "variance-components-conditions",
            t("Variance components: two conditions"),
            t(
                "MSR, MST and MSTR: mean squares of readers, of conditions and of their"
                " interaction; Var, Cov1, Cov2 and Cov3: error variance and covariances"
                " (Obuchowski-Rockette)."
            ),
        ),
    ]


def _overview(results: Results, table: str, name: str, title: str, what: str) -> ReportTable:
    rows = rows_of(results, "variance_components", table=table)
    components = list(dict.fromkeys(str(row["component"]) for row in rows))
    keys = ("model_id", "condition", "metric")
    found = rows_by(results, "variance_components", keys, of="component", table=table)
    names = rater_names(results.bundle)
    negative = said(NEGATIVE) if any(number(row, "value") < 0 for row in rows) else ""
    made = report_table(
        name=name,
        title=title,
        note=sentences(
            [what, t("In thousandths (10\u207b\u00b3) of squared proportions."), negative]
        ),
        file="tables/variance_components.csv",
        header=(t("Model"), t("Condition"), t("Metric"), *components),
        rows=[
            _row(_who(names, model, condition), condition, metric, parts, components)
            for (model, condition, metric), parts in found.items()
        ],
    )
    if table == "reader_conditions":
        made = made.without(t("Condition")).headed(t("Conditions"))
    return made


def _who(names: dict[str, RaterName], model: str, condition: str) -> RaterName:
    return named(names, model) if model else words(condition_name(condition))


def _row(
    who: RaterName, condition: str, metric: str, parts: dict[str, Row], components: list[str]
) -> TableRow:
    values = (number(parts.get(one, {}), "value") for one in components)
    cells = (EMPTY if math.isnan(value) else rounded(FACTOR * value, DECIMALS) for value in values)
    return (who,), (condition_cell(condition), said(METRICS.get(metric, metric)), *cells)
