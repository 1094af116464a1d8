"""Variance components of the comparisons with readers: the table `variance_components.csv`."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from analysis.bundle.model import Bundle
from analysis.figures.drawing.axes import RaterName, condition_name, rater_names
from analysis.options import Options
from analysis.presentation.table import (
    EMPTY_CELL,
    ReportTable,
    TableRow,
    condition_cell,
    rater_name,
    report_table,
    row_label,
)
from analysis.presentation.wording import (
    Row,
    cell_number,
    format_number,
    join_sentences,
    rows_by,
    rows_of,
)
from analysis.results import Results
from analysis.statistics.merits import (
    FigureOfMerit,
)
from analysis.statistics.mrmc import conditions, panel
from analysis.statistics.mrmc.obuchowski_rockette import (
    NO_ESTIMATE,
    ONE_READER,
    SingleTreatment,
    TwoTreatments,
)
from analysis.statistics.statistic import Column, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import later, t, translated

NEGATIVE_VARIANCE_NOTE = "negative: no sign of such a variance beyond the error of items"
PANEL_COMPONENTS = {"MSR": "msr", "Var": "var", "Cov2": "cov2", "var_reader": "var_reader"}
CONDITION_COMPONENTS = {
    "MST": "mst",
    "MSR": "msr",
    "MSTR": "mstr",
    "Var": "var",
    "Cov1": "cov1",
    "Cov2": "cov2",
    "Cov3": "cov3",
    "var_reader": "var_reader",
    "var_treatment_reader": "var_treatment_reader",
}


def variance_components(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""List the components behind `reader_panel` and `reader_conditions`.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Not used, because components have no interval.

    Returns
    -------
    pandas.DataFrame
        The columns of `VARIANCE_COMPONENTS`. Values are variances of proportions. For
        `reader_panel` they are components of the differences (model minus reader); for
        `reader_conditions`, `model_id` is empty and `condition` is "a - b".

    Notes
    -----
    `MST`, `MSR` and `MSTR` are the mean squares of treatments, of readers and of their interaction.
    `Var` is the error variance over items. `Cov1` is the covariance of the same reader under two
    treatments, `Cov2` that of two readers under the same treatment, and `Cov3` that of two readers
    under two treatments. `var_reader` and `var_treatment_reader` are moment estimates and may be
    negative.

    See Also
    --------
    analysis.statistics.mrmc.obuchowski_rockette

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> raters = ["M1", "R1", "R2"]
    >>> table = variance_components(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("abcd"), "truth": list("AAAA")}),
    ...     pd.DataFrame({
    ...         "rater_id": [rater for rater in raters for _ in range(4)],
    ...         "item_id": list("abcd") * 3, "answer": list("AAAA" "AABB" "ABBB"),
    ...     }),
    ...     pd.DataFrame({"rater_id": raters, "rater_kind": ["model", "reader", "reader"]}),
    ... ))
    >>> table[["component", "value"]].round(4).values.tolist()
    [['MSR', 0.0312], ['Var', 0.0729], ['Cov2', 0.0417], ['var_reader', 0.0]]
    """
    study = study_of(study, options)
    rows = [*_panel_rows(study), *_condition_rows(study)]
    return pd.DataFrame(rows, columns=VARIANCE_COMPONENTS.header)


def _panel_rows(study: Study) -> Iterator[dict[str, object]]:
    for comparison in panel.comparisons_of(study):
        names = {
            "table": "reader_panel",
            "model_id": comparison.panel.model_id,
            "condition": comparison.panel.condition,
            "metric": comparison.figure.metric.value,
        }
        yield from _component_rows(names, comparison.result, PANEL_COMPONENTS, comparison.figure)


def _condition_rows(study: Study) -> Iterator[dict[str, object]]:
    for comparison in conditions.comparisons_of(study):
        names = {
            "table": "reader_conditions",
            "model_id": "",
            "condition": f"{comparison.contrast.condition_a} - {comparison.contrast.condition_b}",
            "metric": comparison.figure.metric.value,
        }
        yield from _component_rows(
            names, comparison.result, CONDITION_COMPONENTS, comparison.figure
        )


def _component_rows(
    names: dict[str, str],
    result: SingleTreatment | TwoTreatments,
    components: dict[str, str],
    figure: FigureOfMerit,
) -> Iterator[dict[str, object]]:
    for component, name in components.items():
        value = math.nan if figure.no_value else float(getattr(result, name))
        note = ""
        if math.isnan(value):
            one_reader = ONE_READER if result.n_readers == 1 else ""
            reason = figure.no_value or figure.merits.no_covariance or one_reader or NO_ESTIMATE
            note = f"undefined: {reason}"
        elif value < 0 and component.startswith("var_"):
            note = NEGATIVE_VARIANCE_NOTE
        yield {**names, "component": component, "value": value, "note": note}


# Variances of proportions are small; the note of the table states the factor.
DISPLAY_FACTOR, DECIMALS = 1000, 3
NEGATIVE_NOTE = later("Below 0: no sign of such a variance beyond the error of cases.")
METRIC_WORDS = {"accuracy": later("accuracy"), "auc": "AUC"}


def variances_table(results: Results) -> Iterator[ReportTable]:
    """Show the components for each model against the readers, and for each pair of conditions."""
    yield _components_table(
        results,
        "reader_panel",
        "variance-components",
        t("Variance components: models against readers"),
        t(
            "MSR: mean square of readers; Var: error variance of a reader's difference; Cov2:"
            " its covariance between readers; var_reader: variance of readers."
        ),
    )
    yield _components_table(
        results,
        "reader_conditions",
        "variance-components-conditions",
        t("Variance components: two conditions"),
        t(
            "MSR, MST and MSTR: mean squares of readers, of conditions and of their"
            " interaction; Var, Cov1, Cov2 and Cov3: error variance and covariances"
            " (Obuchowski-Rockette)."
        ),
    )


def _components_table(
    results: Results, table: str, name: str, title: str, description: str
) -> ReportTable:
    rows = rows_of(results, "variance_components", table=table)
    components = list(dict.fromkeys(str(row["component"]) for row in rows))
    keys = ("model_id", "condition", "metric")
    by_row = rows_by(results, "variance_components", keys, of="component", table=table)
    names = rater_names(results.bundle)
    negative = (
        translated(NEGATIVE_NOTE) if any(cell_number(row, "value") < 0 for row in rows) else ""
    )
    components_table = report_table(
        name=name,
        title=title,
        note=join_sentences(
            [description, t("In thousandths (10\u207b\u00b3) of squared proportions."), negative]
        ),
        header=(t("Model"), t("Condition"), t("Metric"), *components),
        rows=[
            _table_row(
                _subject(names, model, condition), condition, metric, row_by_component, components
            )
            for (model, condition, metric), row_by_component in by_row.items()
        ],
    )
    if table == "reader_conditions":
        components_table = components_table.without_column(t("Condition")).with_first_heading(
            t("Conditions")
        )
    return components_table


def _subject(names: dict[str, RaterName], model: str, condition: str) -> RaterName:
    return rater_name(names, model) if model else row_label(condition_name(condition))


def _table_row(
    rater: RaterName,
    condition: str,
    metric: str,
    row_by_component: dict[str, Row],
    components: list[str],
) -> TableRow:
    values = (cell_number(row_by_component.get(name, {}), "value") for name in components)
    cells = (
        EMPTY_CELL if math.isnan(value) else format_number(DISPLAY_FACTOR * value, DECIMALS)
        for value in values
    )
    return (rater,), (
        condition_cell(condition),
        translated(METRIC_WORDS.get(metric, metric)),
        *cells,
    )


VARIANCE_COMPONENTS = Statistic(
    name="variance_components",
    meaning="A variance component of `reader_panel` or `reader_conditions`.",
    columns=(
        Column("table", "Table whose intervals are computed from the component."),
        Column("model_id", "Model; empty for two conditions."),
        Column("condition", "Condition, or the two conditions that are compared."),
        *shared_columns("metric"),
        Column("component", "Name of the component, such as `MSR` or `Cov2`."),
        Column("value", "Value of the component.", "squared unit of the metric"),
        *shared_columns("note"),
    ),
    compute=variance_components,
    tables={140: variances_table},
)
