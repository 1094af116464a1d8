"""Each model against all readers of a condition at once: the table `gee.csv`."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import t

from analysis.arrays import Ints
from analysis.bundle.model import Bundle
from analysis.options import Options
from analysis.readings.clusters import ALL_IN_ONE
from analysis.readings.crossing import shared_by_panel
from analysis.readings.matrix import ReadingMatrix
from analysis.statistics.agreement.pairs.pairing import PairKind, pairs_of
from analysis.statistics.comparison.correctness import NO_REFERENCE, correctness
from analysis.statistics.comparison.risk_difference import robust_difference
from analysis.statistics.study import Study, study_of

COLUMNS = (
    "contrast",
    "condition",
    "n_readings",
    "n_items",
    "n_clusters",
    "estimate",
    "se",
    "ci_low",
    "ci_high",
    "p",
    "scale",
    "method",
    "undefined_because",
)
SCALE = "risk difference"
METHOD = "GEE, identity link, independence; robust over {clusters}, C / (C - 1), t (C - 1)"

ONE_CLUSTER = f"standard error, interval and p: {ALL_IN_ONE}"
NO_SPREAD = "standard error, interval and p: the difference is the same in every {cluster}"


def gee(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Estimate how much more accurate each model is than the readers together.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        Columns `contrast, condition, n_readings, n_items, n_clusters, estimate, se, ci_low,
        ci_high, p, scale, method, undefined_because`; one row a model and condition with readers,
        in order of condition and model. `contrast` is the model's id; proportions from -1 to 1.

    Notes
    -----
    What `reader_panel` says of these readers, under the name by which others know it: the marginal
    model is saturated and so the same estimator, see `robust_difference`. Every item with a
    reference standard counts for every rater; unanswered is wrong. Clusters are patients,
    examinations where no patient is given, else items.
    Interval and p from t with C - 1 degrees of freedom; the limits are left as they come.

    See Also
    --------
    analysis.statistics.comparison.risk_difference.robust_difference

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
            **_row(matrix, np.array([*among, column]), options.alpha),
        }
        for (condition, model, column), among in sorted(readers.items())
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _row(matrix: ReadingMatrix, columns: Ints, alpha: float) -> dict[str, object]:
    """Compare the last column, the model, with the others."""
    shared = shared_by_panel(matrix, columns)
    right = correctness(matrix, shared.items, columns)
    n_clusters = len(right.sizes)
    estimate, se = robust_difference(right.by_cluster[:, -1], right.by_cluster[:, :-1], right.sizes)
    because = shared.because or _reason(n_clusters, se, matrix.clustered)
    if shared.because:
        estimate = float("nan")
    if because:
        se = float("nan")
    df = max(n_clusters - 1, 1)
    reach = float(t.isf(alpha / 2, df)) * se
    return {
        "n_readings": right.n * len(columns),
        "n_items": right.n,
        "n_clusters": n_clusters,
        "estimate": estimate,
        "se": se,
        "ci_low": np.maximum(estimate - reach, -1.0),
        "ci_high": np.minimum(estimate + reach, 1.0),
        "p": 2 * float(t.sf(abs(estimate / se), df)),
        "scale": SCALE,
        "method": METHOD.format(clusters="patients" if matrix.clustered else "items"),
        "undefined_because": because,
    }


def _reason(n_clusters: int, se: float, clustered: bool) -> str:
    if n_clusters == 0:
        return NO_REFERENCE
    if n_clusters == 1:
        return ONE_CLUSTER
    return NO_SPREAD.format(cluster="patient" if clustered else "item") if se == 0 else ""
