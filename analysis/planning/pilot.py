"""Estimate variance components from a pilot study in the same way as the analysis."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from analysis.arrays import Bools
from analysis.bundle.model import Bundle
from analysis.bundle.protocol import plan_of
from analysis.errors import AnalysisError
from analysis.planning.components import Comparison, Components
from analysis.planning.designs import PlanDesign, spread_of
from analysis.statistics.merits import FigureOfMerit, Metric
from analysis.statistics.mrmc import conditions, panel
from analysis.statistics.study import Study, study_of

ENDPOINT_CONDITIONS = {"aided", "unaided"}
MAX_GROUPS = 50
"""Maximum number of groups of patients, each of which the jackknife leaves out once."""


def pilot_components(pilot: Study | Bundle, comparison: Comparison) -> tuple[Components, ...]:
    r"""Estimate the components of a comparison from a pilot.

    Parameters
    ----------
    pilot : Study or Bundle
        A pilot with two or more readers.
    comparison : Comparison
        `conditions` takes the conditions aided and unaided if the pilot has both, else the mean of
        the components over all pairs of conditions. `panel` takes the protocol's primary model,
        else the mean over all models and conditions.

    Returns
    -------
    tuple of Components
        One set for each metric that the readings allow: accuracy, and AUC if there are confidence
        ratings and a binary reference standard.

    Raises
    ------
    AnalysisError
        The pilot does not include the comparison, or has too few readers or patients.

    Notes
    -----
    The components are those of `variance_components.csv` (Obuchowski-Rockette, over patients where
    they have several items). Negative variances are kept; the power counts them as 0.

    The uncertainty of the errors comes from a jackknife over patients in at most 50 groups: an
    estimate whose logarithm has the variance v varies like chi-square with :math:`2 / v` degrees of
    freedom [1]_, limited to the degrees of freedom of normal errors.

    References
    ----------
    .. [1] Satterthwaite FE. An approximate distribution of estimates of variance components.
       Biometrics Bull 1946;2:110-114. doi:10.2307/3002019
    """
    study = study_of(pilot, None)
    estimates = _estimates(study, comparison)
    if not estimates:
        gap = (
            "no model that is compared with two readers or more"
            if comparison is Comparison.PANEL
            else "no two conditions that the same two readers or more have read"
        )
        raise AnalysisError(
            f"The pilot has {gap}, with a variance over cases. Give --components or --published"
            " instead."
        )
    n_groups = min(study.matrix.n_clusters, MAX_GROUPS)
    left_out = [
        _estimates(study, comparison, study.matrix.clusters % n_groups != group)
        for group in range(n_groups)
    ]
    return tuple(
        replace(components, own_df=own_df, joint_df=joint_df)
        for metric, components in estimates.items()
        for own_df, joint_df in (_error_df(components, metric, left_out, comparison),)
    )


def _estimates(
    study: Study, comparison: Comparison, is_included: Bools | None = None
) -> dict[Metric, Components]:
    """Return the mean components of each metric for which they are defined."""
    estimates_of = _panel_estimates if comparison is Comparison.PANEL else _condition_estimates
    defined = [
        estimate
        for estimate in estimates_of(study, is_included)
        if math.isfinite(estimate.var_tr) and estimate.var_error > 0
    ]
    by_metric = {
        metric: [estimate for estimate in defined if estimate.metric is metric] for metric in Metric
    }
    return {
        metric: _mean_components(estimates) for metric, estimates in by_metric.items() if estimates
    }


def _error_df(
    components: Components,
    metric: Metric,
    left_out: Sequence[Mapping[Metric, Components]],
    comparison: Comparison,
) -> tuple[float, float] | tuple[None, None]:
    """Return the degrees of freedom `own_df` and `joint_df`; None if a part is not positive."""
    parts = []
    for estimates in left_out:
        if metric not in estimates:
            return None, None
        spread = spread_of(estimates[metric], comparison, PlanDesign.CROSSED)
        together = spread.own + spread.readers * spread.shared
        parts.append(np.array([spread.own, together]) * spread.cases)
    if np.min(parts) <= 0:
        return None, None
    n = len(parts)
    variances = (n - 1) ** 2 / n * np.log(parts).var(axis=0, ddof=1)
    normal = spread_of(components, comparison, PlanDesign.CROSSED).normal_df
    own_df, joint_df = 2 / np.maximum(variances, 2 / np.array(normal))
    return float(own_df), float(joint_df)


def _panel_estimates(study: Study, is_included: Bools | None) -> Iterator[Components]:
    compared = [
        comparison
        for reader_panel in panel.panels_of(study.matrix)
        for comparison in panel.comparisons_by_metric(study, reader_panel, is_included)
    ]
    primary = plan_of(study.bundle.protocol).primary_model
    labels = study.bundle.labels
    named_panels = [
        comparison
        for comparison in compared
        if primary and primary in (comparison.panel.model_id, labels[comparison.panel.model_id])
    ]
    for comparison in named_panels or compared:
        result = comparison.result
        yield replace(
            _empty_components(comparison.figure, result.n_readers),
            var_error=result.var,
            cov2=result.cov2,
            var_tr=result.var_reader,
            source=f"pilot: {comparison.panel.model_id} against readers",
        )


def _condition_estimates(study: Study, is_included: Bools | None) -> Iterator[Components]:
    compared = [
        comparison
        for contrast in conditions.contrasts_of(study.matrix)
        for comparison in conditions.comparisons_by_metric(study, contrast, is_included)
    ]
    names = [
        {comparison.contrast.condition_a, comparison.contrast.condition_b}
        for comparison in compared
    ]
    for comparison, pair in zip(compared, names, strict=True):
        if ENDPOINT_CONDITIONS in names and pair != ENDPOINT_CONDITIONS:
            continue
        result = comparison.result
        yield replace(
            _empty_components(comparison.figure, result.n_readers),
            var_error=result.var,
            cov1=result.cov1,
            cov2=result.cov2,
            cov3=result.cov3,
            var_tr=result.var_treatment_reader,
            var_r=result.var_reader,
            source=f"pilot: {comparison.contrast.condition_a} minus"
            f" {comparison.contrast.condition_b}",
        )


def _empty_components(figure: FigureOfMerit, readers: int) -> Components:
    """Return components with the metric and size of the pilot, all variances being 0."""
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


def _mean_components(estimates: Sequence[Components]) -> Components:
    """Return the mean of components of one metric, with the smallest size among them."""
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
