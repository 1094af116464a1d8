"""Variance components estimated from a pilot study, as the analysis estimates them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from analysis.bundle.model import Bundle
from analysis.bundle.protocol import plan_of
from analysis.errors import AnalysisError
from analysis.planning.components import Comparison, Components
from analysis.statistics.merits import FigureOfMerit, Metric
from analysis.statistics.mrmc import conditions, panel
from analysis.statistics.study import Study

ENDPOINT_CONDITIONS = {"aided", "unaided"}


def pilot_components(bundle: Bundle, comparison: Comparison) -> tuple[Components, ...]:
    """Estimate the components of a comparison from a pilot's bundle.

    Parameters
    ----------
    bundle : Bundle
        The pilot: two readers or more.
    comparison : Comparison
        `conditions`: the conditions aided and unaided if the pilot has both, else the mean of the
        components over all pairs of conditions. `panel`: the protocol's primary model, else the
        mean over all models and conditions.

    Returns
    -------
    tuple of Components
        One for each metric that the readings allow: accuracy, and AUC with confidence ratings and a
        binary reference standard.

    Raises
    ------
    AnalysisError
        The pilot does not have the comparison, or too few readers or patients.

    Notes
    -----
    The components are those of `variance_components.csv` (Obuchowski-Rockette, over patients where
    they have several items). Negative variances stay negative; the power takes them as 0.
    """
    study = Study(bundle)
    if comparison is Comparison.PANEL:
        estimates = list(_of_panels(study))
        lacking = "no model that is compared with two readers or more"
    else:
        estimates = list(_of_conditions(study))
        lacking = "no two conditions that the same two readers or more have read"
    defined = [
        estimate
        for estimate in estimates
        if math.isfinite(estimate.var_tr) and estimate.var_error > 0
    ]
    if not defined:
        raise AnalysisError(
            f"The pilot has {lacking}, with a variance over cases. Give --components or --published"
            " instead."
        )
    by_metric = {
        metric: [estimate for estimate in defined if estimate.metric is metric] for metric in Metric
    }
    return tuple(_mean(estimates) for estimates in by_metric.values() if estimates)


def _of_panels(study: Study) -> Iterator[Components]:
    compared = list(panel.comparisons_of(study))
    primary = plan_of(study.bundle.protocol).primary_model
    labels = study.bundle.labels
    named = [
        comparison
        for comparison in compared
        if primary and primary in (comparison.panel.model_id, labels[comparison.panel.model_id])
    ]
    for comparison in named or compared:
        result = comparison.result
        yield replace(
            _sized(comparison.figure, result.n_readers),
            var_error=result.var,
            cov2=result.cov2,
            var_tr=result.var_reader,
            source=f"pilot: {comparison.panel.model_id} against readers",
        )


def _of_conditions(study: Study) -> Iterator[Components]:
    compared = list(conditions.comparisons_of(study))
    names = [
        {comparison.contrast.condition_a, comparison.contrast.condition_b}
        for comparison in compared
    ]
    for comparison, pair in zip(compared, names, strict=True):
        if ENDPOINT_CONDITIONS in names and pair != ENDPOINT_CONDITIONS:
            continue
        result = comparison.result
        yield replace(
            _sized(comparison.figure, result.n_readers),
            var_error=result.var,
            cov1=result.cov1,
            cov2=result.cov2,
            cov3=result.cov3,
            var_tr=result.var_treatment_reader,
            var_r=result.var_reader,
            source=f"pilot: {comparison.contrast.condition_a} minus"
            f" {comparison.contrast.condition_b}",
        )


def _sized(figure: FigureOfMerit, readers: int) -> Components:
    """Return components of 0 with the metric and the size of the pilot."""
    return Components(
        metric=figure.metric,
        readers=readers,
        cases=figure.n_items,
        clusters=figure.n_clusters,
        var_error=0.0,
        cov1=0.0,
        cov2=0.0,
        cov3=0.0,
        var_tr=0.0,
    )


def _mean(estimates: Sequence[Components]) -> Components:
    """Return the mean of components of one metric, and the smallest size."""
    if len(estimates) == 1:
        return estimates[0]

    def mean(name: str) -> float:
        return float(np.mean([getattr(estimate, name) for estimate in estimates]))

    return Components(
        metric=estimates[0].metric,
        readers=min(estimate.readers for estimate in estimates),
        cases=min(estimate.cases for estimate in estimates),
        clusters=min(estimate.clusters or estimate.cases for estimate in estimates),
        var_error=mean("var_error"),
        cov1=mean("cov1"),
        cov2=mean("cov2"),
        cov3=mean("cov3"),
        var_tr=mean("var_tr"),
        var_r=None if estimates[0].var_r is None else mean("var_r"),
        source=f"pilot: mean of {len(estimates)} comparisons",
    )
