"""Moments and components behind the U-statistics: the table `uncrossed_components.csv`."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.bundle.model import Bundle
from analysis.figures.drawing.axes import rater_names
from analysis.options import Options
from analysis.presentation.table import MAX_ROWS, ReportTable, report_table
from analysis.presentation.wording import cell_number, rows_of
from analysis.results import Results
from analysis.statistics.merits import Metric
from analysis.statistics.mrmc.incomplete import incomplete_comparisons, pair_weighted_means
from analysis.statistics.mrmc.second_moments import Moments
from analysis.statistics.mrmc.uncrossed import compared_subjects, is_uncrossed
from analysis.statistics.statistic import Column, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import later, t, translated

AXIS_NAMES = {2: ("reader", "case"), 3: ("reader", "positive case", "negative case")}
MOMENT_PARTS = ("first", "second", "both")


def uncrossed_components(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """List the BDG moments and BCK components of the U-statistics of `uncrossed`.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Not used, because components have no interval.

    Returns
    -------
    pandas.DataFrame
        The columns of `UNCROSSED_COMPONENTS`; in order of comparison, metric, part and shared axes.
        Values are squares of proportions.

    Notes
    -----
    The variance is the scalar product of `bdg_moment` and `bdg_coefficient`, and also that of
    `bck_component` and `bck_coefficient`. For two conditions, the variance is that of the first
    plus that of the second minus twice the covariance, which is in the rows `both`. A component may
    be negative.

    See Also
    --------
    analysis.statistics.mrmc.u_statistics.u_statistic
    """
    study = study_of(study, options)
    rows = [row for metric_rows in _moment_rows(study) for row in metric_rows]
    return pd.DataFrame(rows, columns=UNCROSSED_COMPONENTS.header)


def _moment_rows(study: Study) -> Iterator[list[dict[str, object]]]:
    metrics = [
        Metric.ACCURACY,
        *([Metric.AUC] if study.figures_of_merit.ratings is not None else []),
    ]
    for comparison in incomplete_comparisons(study.matrix):
        for metric in metrics:
            estimates, _ = pair_weighted_means(study, comparison, metric)
            moments = estimates.statistic.moments if estimates else ()
            parts = MOMENT_PARTS if len(moments) > 1 else ("difference",)
            yield [
                {**comparison.names, "metric": metric.value, "part": part, **cells}
                for part, each in zip(parts, moments, strict=False)
                for cells in _moment_cells(each)
            ]


def _moment_cells(moments: Moments) -> Iterator[dict[str, object]]:
    size = len(moments.coefficients)
    axes = AXIS_NAMES[size.bit_length() - 1]
    columns = {
        "bdg_moment": moments.unbiased,
        "bdg_coefficient": moments.coefficients,
        "bdg_biased_moment": moments.biased,
        "bck_component": moments.components,
        "bck_coefficient": moments.component_coefficients,
        "bck_biased_component": moments.biased_components,
    }
    for mask in range(size):
        names = [axis for position, axis in enumerate(axes) if mask >> position & 1]
        yield {
            "shared": ", ".join(names) or "none",
            **{name: float(values[mask]) for name, values in columns.items()},
        }


PART_NAMES = {
    "difference": later("difference"),
    "first": later("first"),
    "second": later("second"),
    "both": later("covariance of both"),
}
SHARED_NAMES = {
    "none": later("nothing"),
    "reader": later("reader"),
    "case": later("case"),
    "positive case": later("positive case"),
    "negative case": later("negative case"),
}
REPORTED_MOMENTS = ("bdg_moment", "bdg_coefficient", "bck_component", "bck_coefficient")


def components_table(results: Results) -> Iterator[ReportTable]:
    """Show the moments and components of every comparison of `uncrossed`."""
    names = rater_names(results.bundle)
    rows = rows_of(results, "uncrossed_components")
    yield report_table(
        name="uncrossed-components",
        title=t("Variance components of incomplete designs"),
        note=t(
            "The variance of a mean is the sum of moment times coefficient, and also of component"
            " times coefficient; that of a difference of conditions is the first plus the second"
            " minus twice the covariance of both. A component may be negative."
        ),
        header=(
            t("Comparison"),
            t("Metric"),
            t("Mean"),
            t("Pairs share"),
            t("Moment (BDG)"),
            t("Coefficient"),
            t("Component (BCK)"),
            t("Coefficient"),
        ),
        rows=[
            (
                compared_subjects(row, names),
                (
                    t("accuracy") if row["metric"] == Metric.ACCURACY else "AUC",
                    translated(PART_NAMES[str(row["part"])]),
                    ", ".join(
                        translated(SHARED_NAMES[name]) for name in str(row["shared"]).split(", ")
                    ),
                    *(f"{cell_number(row, column):.3g}" for column in REPORTED_MOMENTS),
                ),
            )
            for row in rows[:MAX_ROWS]
        ],
        total=len(rows),
    )


_SQUARED_UNIT = "squared unit of the metric"

UNCROSSED_COMPONENTS = Statistic(
    name="uncrossed_components",
    meaning="A BDG moment and a BCK component of a U-statistic of `uncrossed`.",
    columns=(
        Column("model_id", "Model; empty for two conditions."),
        Column("condition_a", "First condition; for a model the condition of the readers."),
        Column("condition_b", "Second condition; empty for a model."),
        *shared_columns("metric"),
        Column("part", "`difference` for a model; `first`, `second` or `both` for two conditions."),
        Column("shared", "What two observations share: `none`, or axes such as `reader, case`."),
        Column(
            "bdg_moment",
            "Mean product of two observations that share exactly these axes.",
            _SQUARED_UNIT,
        ),
        Column(
            "bdg_coefficient", "Share of such pairs; for `none`, the share minus 1.", "proportion"
        ),
        Column(
            "bdg_biased_moment",
            "Mean product over pairs that share at least these axes.",
            _SQUARED_UNIT,
        ),
        Column("bck_component", "Component of variance; not used for `none`.", _SQUARED_UNIT),
        Column(
            "bck_coefficient",
            "Coefficient of the component in the variance; 0 for `none`.",
            "proportion",
        ),
        Column("bck_biased_component", "Component of the biased moments.", _SQUARED_UNIT),
    ),
    compute=uncrossed_components,
    applies=is_uncrossed,
    tables={141: components_table},
)
