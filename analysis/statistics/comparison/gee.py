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
    p_cell,
    rater_name,
    report_table,
    whole_number,
)
from analysis.presentation.wording import cell_number, rows_of
from analysis.readings.clusters import SINGLE_CLUSTER
from analysis.readings.matrix import ReadingMatrix
from analysis.readings.shared_items import shared_by_panel
from analysis.results import Results
from analysis.statistics.agreement.pairs.counts import pairs_of
from analysis.statistics.comparison.pairs import NO_REFERENCE, correctness
from analysis.statistics.statistic import Column, Method, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import t


def robust_difference(model: Floats, readers: Floats, sizes: Floats) -> tuple[float, float]:
    r"""Return a model's accuracy minus the readers', and its cluster-robust standard error.

    Parameters
    ----------
    model : numpy.ndarray of float, shape (n_clusters,)
        Number of items in each cluster that the model answered correctly.
    readers : numpy.ndarray of float, shape (n_clusters, n_readers)
        The same for each reader.
    sizes : numpy.ndarray of float, shape (n_clusters,)
        Number of items in each cluster, at least 1.

    Returns
    -------
    estimate, se : float
        Proportions. Both are nan without a cluster or reader; the standard error is nan with a
        single cluster.

    Notes
    -----
    These are generalised estimating equations [1]_ for correctness as a function of rater kind (1
    for the model, 0 for a reader), with identity link and an independence working correlation. One
    binary regressor saturates the model, so its estimate is the difference of the two means, and
    the sandwich variance has a closed form. With J readers, C clusters, N items, :math:`n_c` of
    them in cluster c, and :math:`S_{mc}` and :math:`S_{jc}` correct answers of the model and of
    reader j,

    .. math:: \hat\delta = \sum_c e_c / N, \quad e_c = S_{mc} - \frac1J \sum_j S_{jc}, \quad
       \widehat{\mathrm{SE}}^2 = \frac{C}{C - 1} \sum_c (e_c - n_c \hat\delta)^2 / N^2.

    All readings of a patient are in one cluster, so that the standard error includes their
    dependence. Without the factor C / (C - 1), which the panel's covariances also have [2]_, this
    is the sandwich variance of statsmodels' `GEE`. Readers are fixed: the claim is about these
    readers.

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
    # Multiplying by the numbers of readers and items makes all numbers whole, so that a variance
    # of 0 is exactly 0.
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

ONE_CLUSTER = f"standard error, interval and p: {SINGLE_CLUSTER}"
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
    these readers, see `robust_difference`. Every item with a reference standard is counted for
    every rater; missing answers are incorrect. Clusters are patients, or examinations if no patient
    is stated, or else items. Interval and p use t with C - 1 degrees of freedom; the limits are
    not truncated except at -1 and 1.

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
            **_comparison_cells(matrix, np.array([*reader_columns, column]), options.alpha),
        }
        for (condition, model, column), reader_columns in sorted(readers.items())
    ]
    return pd.DataFrame(rows, columns=GEE.header)


def _comparison_cells(matrix: ReadingMatrix, columns: Ints, alpha: float) -> dict[str, object]:
    """Compare the model, which is the last column, with the readers in the other columns."""
    shared = shared_by_panel(matrix, columns)
    correct_counts = correctness(matrix, shared.items, columns)
    n_clusters = len(correct_counts.sizes)
    estimate, se = robust_difference(
        correct_counts.by_cluster[:, -1], correct_counts.by_cluster[:, :-1], correct_counts.sizes
    )
    reason = shared.reason or _undefined_reason(n_clusters, se, matrix.clustered)
    if shared.reason:
        estimate = float("nan")
    if reason:
        se = float("nan")
    df = max(n_clusters - 1, 1)
    half_width = float(student.isf(alpha / 2, df)) * se
    return {
        "n_readings": correct_counts.n * len(columns),
        "n_items": correct_counts.n,
        "n_clusters": n_clusters,
        "estimate": estimate,
        "se": se,
        "ci_low": np.maximum(estimate - half_width, -1.0),
        "ci_high": np.minimum(estimate + half_width, 1.0),
        "p": 2 * float(student.sf(abs(estimate / se), df)),
        "scale": SCALE,
        "method": METHOD.format(clusters="patients" if matrix.clustered else "items"),
        "undefined_because": reason,
    }


def _undefined_reason(n_clusters: int, se: float, clustered: bool) -> str:
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
            (rater_name(names, str(row["contrast"])),),
            (
                condition_cell(str(row["condition"])),
                whole_number(cell_number(row, "n_readings")),
                whole_number(cell_number(row, "n_clusters")),
                *difference_cells({**row, "difference": row["estimate"]}, 100),
                p_cell(cell_number(row, "p")),
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
        Column("contrast", "Model that is compared with the readers."),
        *shared_columns("condition n_readings n_items"),
        Column("n_clusters", "Patients; items where no patient has several.", "count"),
        Column("estimate", "Accuracy of the model minus that of the readers.", "proportion"),
        *shared_columns("se ci_low ci_high p"),
        Column("scale", "Scale of the estimate: `risk difference`."),
        *shared_columns("method undefined_because"),
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
