"""How readers' accuracy depends on their years of experience: the table `reader_years.csv`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.arrays import Floats, Ints
from analysis.bundle.model import Bundle
from analysis.options import Options
from analysis.presentation.table import (
    ReportTable,
    condition_cell,
    difference_cells,
    p_cell,
    report_table,
    row_label,
    whole_number,
)
from analysis.presentation.wording import cell_number, format_number, format_range, rows_of
from analysis.readings.shared_items import shared_by_panel
from analysis.results import Results
from analysis.statistics.claims import error_cells, factor_of, value_cell
from analysis.statistics.merits import Merits
from analysis.statistics.mrmc.conditions import columns_of_readers
from analysis.statistics.mrmc.group_contrasts import years_of
from analysis.statistics.mrmc.groups import METRIC_WORDS
from analysis.statistics.mrmc.metrics import every_metric
from analysis.statistics.mrmc.obuchowski_rockette import (
    Claim,
    Inference,
    beyond_rounding,
    infer,
    inference_cells,
    join_nonempty,
    undefined_inference,
)
from analysis.statistics.statistic import Column, Method, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import later, t, translated

PER_YEARS = 10
FEW_READERS = later("fewer than 3 readers stated their years of experience")
SAME_YEARS = later("all readers stated the same years of experience")
METHOD = "Obuchowski-Rockette, slope over readers, readers and items random; t, J - 2"


def has_years(study: Study) -> bool:
    """Return whether readers stated different years of experience."""
    return years_of(study).nunique() > 1


def reader_years(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Estimate how readers' metrics change with their years of experience.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables; `years` of the readers, as numbers.
    options : Options, optional
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        The columns of `READER_YEARS`; in order of condition and metric. `difference` is the change
        in the metric per 10 years, in the unit of the metric.

    Notes
    -----
    The readers are those who stated a number of years. The items are those that all of them were
    given; if these are fewer than 80 % of the items, the row is undefined. A linear relation is
    assumed.

    See Also
    --------
    slope_over_readers
    """
    study = study_of(study, options)
    rows = [
        {"condition": condition, **row}
        for condition, columns in sorted(columns_of_readers(study.matrix).items())
        for row in _slope_rows(study, columns)
    ]
    return pd.DataFrame(rows, columns=READER_YEARS.header)


def slope_over_readers(merits: Merits, covariate: Floats, alpha: float = 0.05) -> Inference:
    r"""Regress readers' figures of merit on a covariate, with random readers and items.

    Parameters
    ----------
    merits : Merits
        One figure of merit per reader.
    covariate : numpy.ndarray of float, shape (n_readers,)
        The covariate of each reader.
    alpha : float, default 0.05
        Two-sided error rate of the interval.

    Returns
    -------
    Inference
        The slope, in the unit of the figures of merit per unit of the covariate. Undefined for
        fewer than three readers and for a constant covariate.

    Notes
    -----
    With J readers, :math:`w_j = (x_j - \bar x) / \sum_k (x_k - \bar x)^2` and the covariances S
    over items, the slope is :math:`\sum_j w_j y_j` and its variance is

    .. math:: V = MS \sum_j w_j^2 + \max(w' S w - \mathrm{tr}(M S) \sum_j w_j^2 / (J - 2), 0),

    where MS is the residual mean square with J - 2 degrees of freedom, and M the projection on the
    residuals. In Obuchowski and Rockette's model [1]_, all covariances of two different readers are
    equal, so the second term is 0 and this is least-squares regression over readers.

    References
    ----------
    .. [1] Obuchowski NA, Rockette HE. Hypothesis testing of diagnostic accuracy for multiple
       readers and multiple tests: an ANOVA approach with dependent observations. Commun Stat
       Simul Comput 1995;24:285-308. doi:10.1080/03610919508813243

    Examples
    --------
    >>> merits = Merits(values=np.array([0.6, 0.72, 0.78, 0.9]), covariance=np.zeros((4, 4)))
    >>> slope = slope_over_readers(merits, np.array([1.0, 2.0, 3.0, 4.0]))
    >>> round(slope.estimate, 3), round(slope.se, 4), slope.df
    (0.096, 0.0085, 2.0)
    """
    n, weights = len(covariate), _weights(covariate)
    estimate = float(weights @ merits.values)
    reason = SAME_YEARS if n and np.ptp(covariate) == 0 else merits.no_covariance
    if n < 3 or reason:
        return undefined_inference(estimate, FEW_READERS if n < 3 else reason)
    design = np.column_stack([np.ones(n), covariate - covariate.mean()])
    residual_projection = np.eye(n) - design @ np.linalg.pinv(design)
    squared_weights = float(weights @ weights) / (n - 2)
    residual = residual_projection @ (merits.values - merits.values.mean())
    reader_variance = float(residual @ residual) * squared_weights
    expected_variance = float(np.trace(residual_projection @ merits.covariance)) * squared_weights
    item_variance = beyond_rounding(
        float(weights @ merits.covariance @ weights) - expected_variance, expected_variance
    )
    return infer(estimate, reader_variance + max(item_variance, 0.0), float(n - 2), alpha)


def _weights(covariate: Floats) -> Floats:
    """Return the weights of a least-squares slope; nan for a constant covariate."""
    centred = covariate - covariate.mean() if len(covariate) else covariate
    total = float(centred @ centred)
    return centred / total if total else np.full(len(covariate), np.nan)


def _slope_rows(study: Study, columns: dict[str, int]) -> Iterator[dict[str, object]]:
    years = years_of(study)
    readers = [reader for reader in columns if reader in years.index]
    if not readers:
        return
    reader_columns: Ints = np.array([columns[reader] for reader in readers], dtype=np.int64)
    stated_years = years.loc[readers].to_numpy(dtype=np.float64)
    for figure in every_metric(
        study, shared_by_panel(study.matrix, reader_columns), reader_columns, reader_columns
    ):
        slope = slope_over_readers(figure.merits, stated_years / PER_YEARS, study.options.alpha)
        yield {
            "metric": figure.metric.value,
            "n_readers": len(readers),
            "n_items": figure.n_items,
            "years_low": stated_years.min(),
            "years_high": stated_years.max(),
            "value": float(figure.merits.values.mean()),
            **inference_cells(slope, Claim.READERS_LIKE_THESE, figure.no_value),
            "ci_low": slope.ci_low,
            "ci_high": slope.ci_high,
            "method": f"{METHOD}; {figure.covariances}",
            "note": join_nonempty(figure.notes),
        }


def years_table(results: Results) -> Iterator[ReportTable]:
    """Show how readers' metrics change with their years of experience."""
    yield report_table(
        name="reader-years",
        title=t("Readers' experience"),
        note=t("Change: of the metric per 10 years of experience; readers and cases random."),
        header=(
            t("Condition"),
            t("Metric"),
            t("Readers"),
            t("Years"),
            t("Items"),
            t("Mean"),
            t("Change"),
            t("CI"),
            "SE",
            "df",
            "p",
        ),
        rows=[
            (
                (row_label(condition_cell(str(row["condition"]))),),
                (
                    translated(METRIC_WORDS[str(row["metric"])]),
                    whole_number(cell_number(row, "n_readers")),
                    format_range(
                        *(
                            format_number(cell_number(row, f"years_{end}"), 0)
                            for end in ("low", "high")
                        )
                    ),
                    whole_number(cell_number(row, "n_items")),
                    value_cell(cell_number(row, "value"), factor_of(row)),
                    *difference_cells(row, factor_of(row)),
                    *error_cells(row, factor_of(row)),
                    p_cell(cell_number(row, "p")),
                ),
            )
            for row in rows_of(results, "reader_years")
        ],
    )


_UNIT_PER_10_YEARS = "that of the metric, per 10 years"

READER_YEARS = Statistic(
    name="reader_years",
    meaning="Change of a metric of the readers with their years of experience.",
    columns=(
        *shared_columns("condition"),
        Column("metric", "`accuracy`, `auc`, `sensitivity` or `specificity`."),
        Column("n_readers", "Readers who stated a number of years.", "count"),
        *shared_columns("n_items"),
        Column("years_low", "Fewest years of any of these readers.", "years"),
        Column("years_high", "Most years of any of these readers.", "years"),
        Column("value", "Mean of these readers.", "that of the metric"),
        Column("difference", "Change per 10 years.", _UNIT_PER_10_YEARS),
        Column("se", "Standard error.", _UNIT_PER_10_YEARS),
        *shared_columns("df"),
        Column("ci_low", "Lower limit of the confidence interval.", _UNIT_PER_10_YEARS),
        Column("ci_high", "Upper limit of the confidence interval.", _UNIT_PER_10_YEARS),
        *shared_columns("p method note undefined_because"),
    ),
    compute=reader_years,
    applies=has_years,
    methods={
        593: Method(
            "Groups of readers",
            "The change with years of experience is the least-squares slope over readers, with"
            " readers and cases random [@obuchowski1995].",
        )
    },
    tables={137: years_table},
)
