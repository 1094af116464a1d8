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
    whole_number,
    words,
)
from analysis.presentation.wording import number, rounded, rows_of, span
from analysis.readings.shared_items import shared_by_panel
from analysis.results import Results
from analysis.statistics.claims import error_cells, factor_of, value_cell
from analysis.statistics.merits import Merits
from analysis.statistics.mrmc.conditions import columns_of_readers
from analysis.statistics.mrmc.group_contrasts import years_of
from analysis.statistics.mrmc.groups import METRICS
from analysis.statistics.mrmc.metrics import every_metric
from analysis.statistics.mrmc.obuchowski_rockette import (
    Claim,
    Inference,
    beyond_rounding,
    infer,
    inference_cells,
    joined,
    undefined,
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
        of the metric per 10 years, in the unit of the metric.

    Notes
    -----
    The readers are those who stated a number; items and the rule of 80 % as for their panel. A
    straight line is assumed.

    See Also
    --------
    slope_over_readers
    """
    study = study_of(study, options)
    rows = [
        {"condition": condition, **row}
        for condition, columns in sorted(columns_of_readers(study.matrix).items())
        for row in _rows(study, columns)
    ]
    return pd.DataFrame(rows, columns=READER_YEARS.header)


def slope_over_readers(merits: Merits, covariate: Floats, alpha: float = 0.05) -> Inference:
    r"""Regress readers' figures of merit on a covariate of the readers, both samples random.

    Parameters
    ----------
    merits : Merits
        One figure of merit per reader.
    covariate : numpy.ndarray of float, shape (n_readers,)
        A number of each reader.
    alpha : float, default 0.05
        Two-sided error of the interval.

    Returns
    -------
    Inference
        Of the slope, in the unit of the figures per unit of the covariate. Undefined for fewer than
        three readers and for a constant covariate.

    Notes
    -----
    With J readers, :math:`w_j = (x_j - \bar x) / \sum_k (x_k - \bar x)^2` and S the covariances
    over items, the slope is :math:`\sum_j w_j y_j` and its variance

    .. math:: V = MS \sum_j w_j^2 + \max(w' S w - \mathrm{tr}(M S) \sum_j w_j^2 / (J - 2), 0),

    with MS the residual mean square, J - 2 degrees of freedom, and M the projection on the
    residuals. In Obuchowski and Rockette's model [1]_ the covariances of different readers are
    equal, and the second term is 0: this is the least-squares regression over readers.

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
        return undefined(estimate, FEW_READERS if n < 3 else reason)
    design = np.column_stack([np.ones(n), covariate - covariate.mean()])
    residuals = np.eye(n) - design @ np.linalg.pinv(design)
    squares = float(weights @ weights) / (n - 2)
    residual = residuals @ (merits.values - merits.values.mean())
    by_readers = float(residual @ residual) * squares
    expected = float(np.trace(residuals @ merits.covariance)) * squares
    by_items = beyond_rounding(float(weights @ merits.covariance @ weights) - expected, expected)
    return infer(estimate, by_readers + max(by_items, 0.0), float(n - 2), alpha)


def _weights(covariate: Floats) -> Floats:
    """Return the weights of a least-squares slope; nan for a constant covariate."""
    centred = covariate - covariate.mean() if len(covariate) else covariate
    total = float(centred @ centred)
    return centred / total if total else np.full(len(covariate), np.nan)


def _rows(study: Study, columns: dict[str, int]) -> Iterator[dict[str, object]]:
    years = years_of(study)
    readers = [reader for reader in columns if reader in years.index]
    if not readers:
        return
    places: Ints = np.array([columns[reader] for reader in readers], dtype=np.int64)
    stated = years.loc[readers].to_numpy(dtype=np.float64)
    for figure in every_metric(study, shared_by_panel(study.matrix, places), places, places):
        slope = slope_over_readers(figure.merits, stated / PER_YEARS, study.options.alpha)
        yield {
            "metric": figure.metric.value,
            "n_readers": len(readers),
            "n_items": figure.n_items,
            "years_low": stated.min(),
            "years_high": stated.max(),
            "value": float(figure.merits.values.mean()),
            **inference_cells(slope, Claim.READERS_LIKE_THESE, figure.no_value),
            "ci_low": slope.ci_low,
            "ci_high": slope.ci_high,
            "method": f"{METHOD}; {figure.covariances}",
            "note": joined(figure.notes),
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
                (words(condition_cell(str(row["condition"]))),),
                (
                    translated(METRICS[str(row["metric"])]),
                    whole_number(number(row, "n_readers")),
                    span(*(rounded(number(row, f"years_{end}"), 0) for end in ("low", "high"))),
                    whole_number(number(row, "n_items")),
                    value_cell(number(row, "value"), factor_of(row)),
                    *difference_cells(row, factor_of(row)),
                    *error_cells(row, factor_of(row)),
                    p_cell(number(row, "p")),
                ),
            )
            for row in rows_of(results, "reader_years")
        ],
    )


_PER = "that of the metric, per 10 years"

READER_YEARS = Statistic(
    name="reader_years",
    meaning="Change of a metric of the readers with their years of experience.",
    columns=(
        *shared_columns("condition"),
        Column("metric", "`accuracy`, `auc`, `sensitivity` or `specificity`."),
        Column("n_readers", "Readers who stated a number of years.", "count"),
        *shared_columns("n_items"),
        Column("years_low", "Fewest years of these readers.", "years"),
        Column("years_high", "Most years.", "years"),
        Column("value", "Mean of these readers.", "that of the metric"),
        Column("difference", "Change per 10 years.", _PER),
        Column("se", "Standard error.", _PER),
        *shared_columns("df"),
        Column("ci_low", "Lower limit of the confidence interval.", _PER),
        Column("ci_high", "Upper limit of the confidence interval.", _PER),
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
