"""ROC curves of raters and the areas under them: tables `roc_points.csv` and `roc_areas.csv`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from scipy.stats import norm

from analysis.arrays import Floats
from analysis.bundle.model import Bundle, RaterKind
from analysis.figures.drawing.axes import rater_names, rows_in_condition
from analysis.figures.roc import rates_of, roc_chart
from analysis.options import Options
from analysis.presentation.table import (
    ReportTable,
    condition_cell,
    estimate_of,
    rater_name,
    report_table,
    whole_number,
)
from analysis.presentation.wording import cell_number, join_sentences, rows_by
from analysis.readings.clusters import (
    PERCENTILE_METHOD,
    WIDENED_METHOD,
    is_widened,
    percentile_limits,
    reason_too_few,
    weight_blocks,
)
from analysis.results import Results
from analysis.statistics.accuracy.roc_curves import (
    MOST_FALSE_POSITIVE,
    RatedItems,
    empirical_curve,
    mean_curve,
    partial_area,
    rated_items,
    weighted_rates,
)
from analysis.statistics.agreement.between import OVER_ITEMS
from analysis.statistics.merits import AucCovariance, empirical_auc
from analysis.statistics.mrmc.obuchowski_rockette import infer, undefined_inference
from analysis.statistics.statistic import Column, Figure, Method, Source, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import t, tn

AUC, PARTIAL = "auc", "partial_auc"
FEW_RESAMPLES = "interval: defined in fewer than 80 % of the resamples"


def has_curves(study: Study) -> bool:
    """Return whether any rater has a ROC curve."""
    return bool(rated_items(study))


def roc_points(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """List the points of every rater's empirical ROC curve.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables, with confidence ratings and a binary reference standard.
    options : Options, optional
        `confidence` states what confidence means, `positive` which option is positive.

    Returns
    -------
    pandas.DataFrame
        The columns of `ROC_POINTS`, readers first, in descending order of thresholds. Rates are
        proportions from 0 to 1.

    Notes
    -----
    Ratings are those of the metric `auc`, for the items that are counted for the rater. A missing
    answer has the worst rating, so that its point has an infinite threshold. An item is called
    positive if its rating is at least the threshold; at the first point of a curve, no item is.
    A rater who gave an answer without confidence, or who has no items of one class, has no curve.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = roc_points(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("pqrs"), "truth": list("AABB"), "n_options": 2}),
    ...     pd.DataFrame({"rater_id": "R1", "item_id": list("pqrs"), "answer": list("AABB"),
    ...                   "confidence": [1, 3, 3, 4]}),
    ... ))
    >>> table[["threshold", "false_positive_rate", "true_positive_rate"]].values.tolist()
    [[inf, 0.0, 0.0], [4.0, 0.0, 0.5], [3.0, 0.5, 1.0], [1.0, 1.0, 1.0]]
    """
    study = study_of(study, options)
    tables = []
    for rated in rated_items(study):
        reads, curve = study.matrix.columns[rated.column], empirical_curve(rated)
        tables.append(
            pd.DataFrame(
                {
                    "rater_id": reads.rater_id,
                    "condition": reads.condition,
                    "threshold": curve.thresholds,
                    "false_positive_rate": curve.false_positive_rate,
                    "true_positive_rate": curve.true_positive_rate,
                }
            )
        )
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=_HEADER)


def roc_areas(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Estimate the area under every rater's ROC curve, and its part with high specificity.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables, with confidence ratings and a binary reference standard.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        The columns of `ROC_AREAS`: `auc` and `partial_auc` of every rater that has a curve.

    Notes
    -----
    The standard error of `auc` is the jackknife's, or DeLong's over patients if there are clusters.
    The interval is normal on the logit scale, where an area A has the standard error
    :math:`SE / (A (1 - A))`, because near 1 the interval around A itself contains the true area in
    only 85 to 90 % [2]_ (docs/coverage.md). An area of exactly 0 or 1 has no interval.
    `partial_auc` is the standardised area up to a false-positive rate of 0.2 [1]_; its interval is
    a percentile interval over resampled patients, or over items if every patient has one item.

    References
    ----------
    .. [1] McClish DK. Analyzing a portion of the ROC curve. Med Decis Making 1989;9:190-195.
       doi:10.1177/0272989X8900900307
    .. [2] Kottas M, Kuss O, Zapf A. A modified Wald interval for the area under the ROC curve (AUC)
       in diagnostic case-control studies. BMC Med Res Methodol 2014;14:26.
       doi:10.1186/1471-2288-14-26

    See Also
    --------
    analysis.statistics.mrmc.empirical_auc
    """
    study = study_of(study, options)
    rows = []
    for rated in rated_items(study):
        reads = study.matrix.columns[rated.column]
        names = {
            "rater_id": reads.rater_id,
            "rater_kind": reads.kind.value,
            "condition": reads.condition,
            "n_positive": int(rated.positive.sum()),
            "n_negative": int((~rated.positive).sum()),
        }
        rows += [
            {**names, **_auc_cells(study, rated)},
            {**names, **_partial_area_cells(study, rated)},
        ]
    return pd.DataFrame(rows, columns=ROC_AREAS.header)


def _auc_cells(study: Study, rated: RatedItems) -> dict[str, Any]:
    clustered = study.matrix.clustered
    covariance = AucCovariance.DELONG if clustered else AucCovariance.JACKKNIFE
    clusters = study.matrix.clusters[rated.items] if clustered else None
    merits = empirical_auc(rated.ratings[:, None], rated.positive, clusters, covariance)
    area = float(merits.values[0])
    reason = merits.no_covariance
    inference = (
        undefined_inference(area, reason)
        if reason
        else infer(area, float(merits.covariance[0, 0]), np.inf, study.options.alpha)
    )
    reason = inference.undefined_because
    half_width = norm.isf(study.options.alpha / 2) * inference.se / (area * (1 - area) or np.nan)
    return {
        "measure": AUC,
        "estimate": area,
        "se": inference.se,
        "ci_low": float(expit(logit(area) - half_width)),
        "ci_high": float(expit(logit(area) + half_width)),
        "method": f"{covariance.value}, logit" + (" over patients" if clustered else ""),
        "undefined_because": f"standard error and interval: {reason}" if reason else "",
    }


def _partial_area_cells(study: Study, rated: RatedItems) -> dict[str, Any]:
    matrix = study.matrix
    estimate = partial_area(*weighted_rates(rated, np.ones((1, len(rated.ratings)))))[0]
    n_units = len(np.unique(matrix.clusters[rated.items]))
    resampled = _resampled_partial_areas(study, rated)
    low, high, _ = percentile_limits(resampled, study.options.alpha, np.array(n_units))
    reason = reason_too_few(n_units, clustered=matrix.clustered)
    if np.isnan(low):
        reason = f"interval: {reason}" if reason else FEW_RESAMPLES
    widened = matrix.clustered and bool(is_widened(np.array(n_units)))
    interval_method = PERCENTILE_METHOD if matrix.clustered else OVER_ITEMS
    return {
        "measure": PARTIAL,
        "estimate": float(estimate),
        "se": np.nan,
        "ci_low": float(low),
        "ci_high": float(high),
        "method": "" if np.isnan(low) else WIDENED_METHOD if widened else interval_method,
        "undefined_because": reason,
    }


def _resampled_partial_areas(study: Study, rated: RatedItems) -> Floats:
    """Return the partial area in each resample of patients, or of items."""
    unit_of_item = study.matrix.clusters[rated.items]
    if not study.matrix.clustered:
        unit_of_item = np.flatnonzero(rated.items)
    blocks = weight_blocks(study.weights, len(study.matrix.truth), study.options)
    return np.concatenate(
        [
            partial_area(*weighted_rates(rated, block[:, unit_of_item].astype(np.float64)))
            for block in blocks
        ]
    )


def roc_figures(results: Results, condition: str) -> Iterator[Figure]:
    """Draw the readers' curves, their mean curve, and the models as curves or points."""
    kind_of_rater = dict(
        zip(results.bundle.raters["rater_id"], results.bundle.raters["rater_kind"], strict=True)
    )
    points = results.tables["roc_points"]
    points = points.assign(rater_kind=points["rater_id"].map(kind_of_rater))
    points = rows_in_condition(points, condition)
    diagnostic = results.tables.get("diagnostic", pd.DataFrame(columns=["by"]))
    model_points = diagnostic.loc[diagnostic["by"] == "overall"]
    if len(model_points):
        model_points = rows_in_condition(model_points, condition)
        model_points = model_points.loc[
            (model_points["rater_kind"] == RaterKind.MODEL)
            & ~model_points["rater_id"].isin(points["rater_id"])
            & model_points["sensitivity"].notna()
            & model_points["specificity"].notna()
        ]
    readers = points.loc[points["rater_kind"] == RaterKind.READER]
    curves = [rates_of(part) for _, part in readers.groupby("rater_id")]
    yield Figure(
        "accuracy",
        "roc",
        t("ROC curves"),
        join_sentences(
            [
                tn(
                    "Empirical ROC curve of {n} reader.",
                    "Empirical ROC curves of {n} readers and their mean: the mean sensitivity at"
                    " each specificity.",
                    len(curves),
                )
                if curves
                else "",
                t("Models are curves if they report confidence, otherwise points."),
                t("Cases that were presented but not answered have the worst rating."),
            ]
        ),
        roc_chart(
            points,
            mean_curve(curves) if len(curves) > 1 else None,
            model_points,
            names=rater_names(results.bundle),
        ),
    )


def areas_table(results: Results) -> Iterator[ReportTable]:
    """Show the areas under every rater's curve."""
    names = rater_names(results.bundle)
    by_rater = rows_by(results, "roc_areas", ("rater_id", "condition"), of="measure")
    yield report_table(
        name="roc-areas",
        title=t("Areas under the ROC curve"),
        note=t(
            "Partial area: up to a false-positive rate of 20 %, standardised so that 1 is perfect"
            " and 0.5 is guessing."
        ),
        header=(
            t("Rater"),
            t("Condition"),
            t("Positive cases"),
            t("Negative cases"),
            "AUC",
            t("Partial AUC"),
        ),
        rows=[
            (
                (rater_name(names, rater),),
                (
                    condition_cell(condition),
                    whole_number(cell_number(areas[AUC], "n_positive")),
                    whole_number(cell_number(areas[AUC], "n_negative")),
                    estimate_of(areas[AUC]),
                    estimate_of(areas[PARTIAL]),
                ),
            )
            for (rater, condition), areas in by_rater.items()
        ],
        in_paper=True,
    )


_RATE = "proportion"
ROC_POINTS = Statistic(
    name="roc_points",
    meaning="A point of a rater's empirical ROC curve.",
    columns=(
        *shared_columns("rater_id condition"),
        Column("threshold", "Smallest rating that is called positive; `inf` for none.", "rating"),
        Column("false_positive_rate", "Share of negative items called positive.", _RATE),
        Column("true_positive_rate", "Share of positive items called positive.", _RATE),
    ),
    compute=roc_points,
    applies=has_curves,
    methods={
        40: Method(
            "ROC curves",
            "ROC curves are empirical; the mean of the readers' curves is the mean sensitivity at"
            " each specificity [@fawcett2006].",
        )
    },
    sources=(
        Source(
            "mean of ROC curves",
            "Fawcett T. An introduction to ROC analysis. Pattern Recognit Lett 2006;27:861-874.",
            "10.1016/j.patrec.2005.10.010",
        ),
    ),
    figures={20: roc_figures},
)
_HEADER = ROC_POINTS.header

ROC_AREAS = Statistic(
    name="roc_areas",
    meaning="Area under a rater's empirical ROC curve, or under part of it.",
    columns=(
        *shared_columns("rater_id rater_kind condition"),
        Column(
            "measure",
            "`auc`, or `partial_auc`: standardised, up to a false-positive rate of"
            f" {MOST_FALSE_POSITIVE}.",
        ),
        Column("n_positive", "Positive items that are counted.", "count"),
        Column("n_negative", "Negative items that are counted.", "count"),
        Column("estimate", "The area.", _RATE),
        *shared_columns("se ci_low ci_high method undefined_because"),
    ),
    compute=roc_areas,
    applies=has_curves,
    methods={
        41: Method(
            "ROC curves",
            "Intervals of areas are normal on the logit scale [@kottas2014]. Partial areas up to a"
            " false-positive rate of 20 % are standardised [@mcclish1989], with percentile"
            " intervals over resampled patients.",
        )
    },
    sources=(
        Source(
            "partial area under the ROC curve",
            "McClish DK. Analyzing a portion of the ROC curve. Med Decis Making 1989;9:190-195.",
            "10.1177/0272989X8900900307",
        ),
        Source(
            "interval of an area on the logit scale",
            "Kottas M, Kuss O, Zapf A. A modified Wald interval for the area under the ROC curve"
            " (AUC) in diagnostic case-control studies. BMC Med Res Methodol 2014;14:26.",
            "10.1186/1471-2288-14-26",
        ),
    ),
    tables={18: areas_table},
)
