"""Variance components: what the intervals of models against readers, and of conditions, rest on."""

from __future__ import annotations

import math

from analysis.figures import RaterName, rater_names
from analysis.report.tables.table import EMPTY, ReportTable, TableRow, named, report_table, words
from analysis.report.wording.numbers import rounded
from analysis.report.wording.rows import Row, number, rows_of
from analysis.results import Results

# Variances of proportions are small; the head says by how much they are multiplied.
FACTOR, DECIMALS = 1000, 3
NEGATIVE = " Below 0: no sign of such a variance beyond the error of items."
METRICS = {"accuracy": "accuracy", "auc": "AUC"}


def variances_overview(results: Results) -> list[ReportTable]:
    """Show the components of each model against the readers, and of each two conditions."""
    return [
        _overview(
            results,
            "reader_panel",
            "variance-components",
            "Variance components: models against readers",
            "MSR: mean square of readers; Var: error variance of a reader's difference; Cov2: its"
            " covariance between readers; var_reader: variance of readers.",
        ),
        _overview(
            results,
            "reader_conditions",
            "variance-components-conditions",
            "Variance components: two conditions",
            "MSR, MST and MSTR: mean squares of readers, of conditions and of their interaction;"
            " Var, Cov1, Cov2 and Cov3: error variance and covariances (Obuchowski-Rockette).",
        ),
    ]


def _overview(results: Results, table: str, name: str, title: str, what: str) -> ReportTable:
    rows = rows_of(results, "variance_components", table=table)
    components = list(dict.fromkeys(str(row["component"]) for row in rows))
    found: dict[tuple[str, str, str], dict[str, Row]] = {}
    for row in rows:
        key = (str(row["model_id"]), str(row["condition"]), str(row["metric"]))
        found.setdefault(key, {})[str(row["component"])] = row
    names = rater_names(results.bundle)
    negative = NEGATIVE if any(number(row, "value") < 0 for row in rows) else ""
    made = report_table(
        name=name,
        title=title,
        note=f"{what} In thousandths (10\u207b\u00b3) of squared proportions.{negative}",
        file="tables/variance_components.csv",
        header=("Model", "Condition", "Metric", *components),
        rows=[
            _row(_who(names, model, condition), condition, metric, parts, components)
            for (model, condition, metric), parts in found.items()
        ],
    )
    if table == "reader_conditions":
        made = made.without("Condition").headed("Conditions")
    return made


def _who(names: dict[str, RaterName], model: str, condition: str) -> RaterName:
    return named(names, model) if model else words(condition)


def _row(
    who: RaterName, condition: str, metric: str, parts: dict[str, Row], components: list[str]
) -> TableRow:
    values = (number(parts.get(one, {}), "value") for one in components)
    cells = (EMPTY if math.isnan(value) else rounded(FACTOR * value, DECIMALS) for value in values)
    return (who,), (condition or EMPTY, METRICS.get(metric, metric), *cells)
