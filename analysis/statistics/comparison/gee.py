"""Compare each model with all readers of a condition by a marginal model: the table `gee.csv`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.stats import t as student

from analysis.arrays import Floats, Ints
from analysis.bundle.model import Bundle, PairKind
from analysis.figures.drawing.axes import rater_names
from analysis.options import Options
from analysis.presentation.table import (
    ReportTable,
    TableRow,
    condition_cell,
    difference_cells,
    named,
    p_cell,
    report_table,
    whole_number,
)
from analysis.presentation.wording import number, rows_of
from analysis.readings.clusters import ALL_IN_ONE
from analysis.readings.matrix import ReadingMatrix
from analysis.readings.shared_items import shared_by_panel
from analysis.results import Results
from analysis.statistics.agreement.pairs.counts import pairs_of
from analysis.statistics.comparison.pairs import NO_REFERENCE, correctness
from analysis.statistics.statistic import Column, Method, Statistic, shared
from analysis.statistics.study import Study, study_of
from analysis.translation import t


def robust_difference(model: Floats, readers: Floats, sizes: Floats) -> tuple[float, float]:
    r"""Return a model's accuracy minus the readers', and its cluster-robust standard error.

    Parameters
    ----------
    model : numpy.ndarray of float, shape (n_clusters,)
        Number of items of each cluster that the model answered correctly.
    readers : numpy.ndarray of float, shape (n_clusters, n_readers)
        The same for each reader.
    sizes : numpy.ndarray of float, shape (n_clusters,)
        Items of each cluster, at least 1.

    Returns
    -------
    estimate, se : float
        As proportions. Both are nan without a cluster or reader; the standard error is nan with one
        cluster.

    Notes
    -----
    Generalised estimating equations [1]_ of correct on rater kind (1 for the model, 0 for a
    reader), with identity link and independence as working correlation. One binary regressor
    saturates the model, so its estimate is the difference of the two means, and the sandwich
    variance has a closed form: with J readers, C clusters, N items, :math:`n_c` of them in cluster
    c, and :math:`S_{mc}` and :math:`S_{jc}` the correct answers of model and reader,

    .. math:: \hat\delta = \sum_c e_c / N, \quad e_c = S_{mc} - \frac1J \sum_j S_{jc}, \quad
       \widehat{\mathrm{SE}}^2 = \frac{C}{C - 1} \sum_c (e_c - n_c \hat\delta)^2 / N^2.

    All readings of an item, and of a patient, are in one cluster, so that the error includes their
    dependence. Without C / (C - 1) it is the sandwich variance of statsmodels' `GEE`; the factor is
    that of the panel's covariances [2]_. The readers are fixed: the claim is about these readers.

    References
    ----------
    .. [1] Liang KY, Zeger SL. Longitudinal data analysis using generalized linear models.
       Biometrika 1986;73:13-22. doi:10.1093/biomet/73.1.13
    .. [2] Cameron AC, Miller DL. A practitioner's guide to cluster-robust inference. J Hum Resour
       2015;50:317-372. doi:10.3368/jhr.50.2.317

    Examples
    --------
    Two readers and four patients with one film each:

    >>> estimate, se = robust_difference(
    ...     np.array([1.0, 1.0, 1.0, 0.0]),
    ...     np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]),
    ...     np.ones(4),
    ... )
    >>> round(estimate, 6), round(se, 6)
    (0.25, 0.322749)
    """
    n_clusters, n_readers = readers.shape
    n_items = float(sizes.sum())
    if n_clusters == 0 or n_readers == 0:
        return float("nan"), float("nan")
    # Multiplied by readers and items all numbers are whole, so that a variance of 0 is exactly 0.
    excess = n_readers * model - readers.sum(axis=1)
    total = float(excess.sum())
    deviations = n_items * excess - sizes * total
    estimate = total / (n_readers * n_items)
    if n_clusters < 2:
        return estimate, float("nan")
    root = float(np.sqrt((deviations**2).sum() * n_clusters / (n_clusters - 1)))
    return estimate, root / (n_readers * n_items**2)


SCALE = "risk difference"
METHOD = "GEE, identity link, independence; robust over {clusters}, C / (C - 1), t (C - 1)"

ONE_CLUSTER = f"standard error, interval and p: {ALL_IN_ONE}"
NO_SPREAD = "standard error, interval and p: the difference is the same in every {cluster}"


def gee(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Estimate the difference of accuracy between each model and all readers.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        The columns of `GEE`; one row per model and condition with readers, in order of condition
        and model.

    Notes
    -----
    The marginal model is saturated and therefore the same estimator as that of `reader_panel` for
    these readers, see `robust_difference`. Every item with a reference standard counts for every
    rater; missing answers are incorrect. Clusters are patients, examinations where no patient is
    stated, else items. Interval and p use t with C - 1 degrees of freedom; the limits are not
    truncated.

    See Also
    --------
    analysis.statistics.comparison.gee.robust_difference

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = gee(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("wxyz"), "truth": list("AAAA")}),
    ...     pd.DataFrame({
    ...         "rater_id": ["R1"] * 4 + ["M1"] * 4,
    ...         "item_id": list("wxyz") * 2,
    ...         "answer": list("ABBB") + list("AAAB"),
    ...     }),
    ...     pd.DataFrame({"rater_id": ["R1", "M1"], "rater_kind": ["reader", "model"]}),
    ... ))
    >>> table[["contrast", "n_readings", "estimate"]].values.tolist()
    [['M1', 8, 0.5]]
    """
    study = study_of(study, options)
    matrix, options = study.matrix, study.options
    readers: dict[tuple[str, str, int], list[int]] = {}
    for pair in pairs_of(matrix.columns):
        if pair.kind is PairKind.MIXED:
            model = matrix.columns[pair.b].rater_id
            readers.setdefault((pair.condition, model, pair.b), []).append(pair.a)
    rows = [
        {
            "contrast": model,
            "condition": condition,
            **_row(matrix, np.array([*readers_columns, column]), options.alpha),
        }
        for (condition, model, column), readers_columns in sorted(readers.items())
    ]
    return pd.DataFrame(rows, columns=GEE.header)


def _row(matrix: ReadingMatrix, columns: Ints, alpha: float) -> dict[str, object]:
    """Compare the last column, the model, with the others."""
    shared = shared_by_panel(matrix, columns)
    right = correctness(matrix, shared.items, columns)
    n_clusters = len(right.sizes)
    estimate, se = robust_difference(right.by_cluster[:, -1], right.by_cluster[:, :-1], right.sizes)
    reason = shared.reason or _reason(n_clusters, se, matrix.clustered)
    if shared.reason:
        estimate = float("nan")
    if reason:
        se = float("nan")
    df = max(n_clusters - 1, 1)
    reach = float(student.isf(alpha / 2, df)) * se
    return {
        "n_readings": right.n * len(columns),
        "n_items": right.n,
        "n_clusters": n_clusters,
        "estimate": estimate,
        "se": se,
        "ci_low": np.maximum(estimate - reach, -1.0),
        "ci_high": np.minimum(estimate + reach, 1.0),
        "p": 2 * float(student.sf(abs(estimate / se), df)),
        "scale": SCALE,
        "method": METHOD.format(clusters="patients" if matrix.clustered else "items"),
        "undefined_because": reason,
    }


def _reason(n_clusters: int, se: float, clustered: bool) -> str:
    if n_clusters == 0:
        return NO_REFERENCE
    if n_clusters == 1:
        return ONE_CLUSTER
    return NO_SPREAD.format(cluster="patient" if clustered else "item") if se == 0 else ""


def gee_table(results: Results) -> Iterator[ReportTable]:
    """Show the marginal model's differences."""
    names = rater_names(results.bundle)
    rows: list[TableRow] = [
        (
            (named(names, str(row["contrast"])),),
            (
                condition_cell(str(row["condition"])),
                whole_number(number(row, "n_readings")),
                whole_number(number(row, "n_clusters")),
                *difference_cells({**row, "difference": row["estimate"]}, 100),
                p_cell(number(row, "p")),
            ),
        )
        for row in rows_of(results, "gee")
    ]
    yield report_table(
        name="gee",
        title=t("Models minus readers by generalised estimating equations"),
        note=t(
            "Risk difference in points, standard errors robust over patients. The same"
            " estimator as for these readers in the panel, not a second result."
        ),
        header=(
            t("Model"),
            t("Condition"),
            t("Readings"),
            t("Clusters"),
            t("Difference"),
            t("CI"),
            "p",
        ),
        rows=rows,
    )


GEE = Statistic(
    name="gee",
    meaning="A model against the readers of a condition, by generalised estimating equations.",
    columns=(
        Column("contrast", "The model that is compared with the readers."),
        *shared("condition n_readings n_items"),
        Column("n_clusters", "Patients; items where no patient has several.", "count"),
        Column("estimate", "Accuracy of the model minus that of the readers.", "proportion"),
        *shared("se ci_low ci_high p"),
        Column("scale", "Scale of the estimate: `risk difference`."),
        *shared("method undefined_because"),
    ),
    compute=gee,
    methods={
        600: Method(
            "Models of readings and times",
            "Generalised estimating equations (identity link, independence, standard errors robust"
            " over patients [@liang1986; @cameron2015]) are another form of the comparison with"
            " these readers: with a saturated model they are the same estimator, so agreement with"
            " the numbers of the panel is not independent confirmation.",
        )
    },
    tables={40: gee_table},
)
