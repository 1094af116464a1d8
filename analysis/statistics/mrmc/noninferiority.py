"""Tests of non-inferiority that are valid even near the ceiling: `noninferiority.csv`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import t as student

from analysis.arrays import Bools, Floats, Ints
from analysis.bundle.model import Bundle
from analysis.bundle.protocol import plan_of
from analysis.options import Options
from analysis.readings.clusters import sums_by_cluster
from analysis.readings.shared_items import shared_by_panel
from analysis.statistics.claims import FAMILY_COLUMNS
from analysis.statistics.comparison.paired_tests import holm_within
from analysis.statistics.merits import Metric
from analysis.statistics.mrmc.logit_test import area_difference
from analysis.statistics.mrmc.metrics import every_metric
from analysis.statistics.mrmc.obuchowski_rockette import ONE_READER, Claim, SingleTreatment
from analysis.statistics.mrmc.panel import (
    ModelComparison,
    comparisons_by_metric,
    margins_of,
    panels_of,
)
from analysis.statistics.statistic import Column, Method, Source, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.statistics.verdicts import SUPERIORITY

SCORE = "score test, variance restricted to the margin"
LOGIT = "limits of both areas on the logit scale"
SCORE_METHODS = {
    Claim.THESE_READERS: f"{SCORE}, readers fixed; t, C - 1",
    Claim.READERS_LIKE_THESE: f"{SCORE}, readers random; t, Satterthwaite",
}
LOGIT_METHODS = {
    Claim.THESE_READERS: f"{LOGIT}, readers fixed; t, patients of a class - 1",
    Claim.READERS_LIKE_THESE: f"{LOGIT}, readers random; t, Satterthwaite",
}
IS_POSITIVE_CLASS = {Metric.SENSITIVITY: True, Metric.SPECIFICITY: False}
"""Metrics of a single class of items, and whether this is the positive class."""
ALMOST_ONE = 1 - 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreTest:
    """The one-sided test of the hypothesis that a model is worse by the margin or more.

    Parameters
    ----------
    se : float
        Standard error of the difference if its true value is minus the margin.
    df : float
        Degrees of freedom of Student's t.
    statistic, p : float
        Difference plus margin, divided by `se`; and its upper tail.
    """

    se: float
    df: float
    statistic: float
    p: float


def restricted_second_moment(deviations: Floats, smallest_loss: float) -> float:
    r"""Return the second moment of observations whose true mean is 0, by maximum likelihood.

    Parameters
    ----------
    deviations : numpy.ndarray of float, shape (n,)
        The observations minus their mean under the null hypothesis; their sum is positive.
    smallest_loss : float
        Size (positive) of a negative observation that is possible even if it was not observed.

    Returns
    -------
    float
        At least the second moment of the most likely distribution with mean 0.

    Notes
    -----
    The most likely distribution with mean 0 gives the observation :math:`e_i` the probability
    :math:`1 / (n (1 + \lambda e_i))`, with :math:`\sum e_i / (1 + \lambda e_i) = 0` (Owen [1]_),
    and the negative value the remaining probability. With the observations +1, 0 and -1, this is
    Tango's restricted estimate [2]_.

    References
    ----------
    .. [1] Owen AB. Empirical likelihood ratio confidence intervals for a single functional.
       Biometrika 1988;75:237-249. doi:10.1093/biomet/75.2.237
    .. [2] Tango T. Equivalence test and confidence interval for the difference in proportions for
       the paired-sample design. Stat Med 1998;17:891-908.
       doi:10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B

    Examples
    --------
    The model lost no case, but a model at the margin of 0.05 would lose 5 % of cases:

    >>> round(restricted_second_moment(np.full(10, 0.05), smallest_loss=0.95), 4)
    0.0475
    """
    largest_loss = max(smallest_loss, -float(deviations.min()))
    largest_multiplier = ALMOST_ONE / largest_loss

    def slope(multiplier: float) -> float:
        return float((deviations / (1 + multiplier * deviations)).sum())

    multiplier = (
        largest_multiplier
        if slope(largest_multiplier) >= 0
        else float(brentq(slope, 0.0, largest_multiplier))
    )
    weights = 1 / (len(deviations) * (1 + multiplier * deviations))
    unseen_probability = (
        max(float(weights @ deviations) / largest_loss, 0.0)
        if multiplier == largest_multiplier
        else 0.0
    )
    return float(weights @ deviations**2) + unseen_probability * largest_loss**2


def score_test(
    differences: Floats, sizes: Floats, margin: float, readers: tuple[float, float, int]
) -> ScoreTest:
    r"""Test whether a model is worse than readers by the margin or more.

    Parameters
    ----------
    differences : numpy.ndarray of float, shape (n_clusters,)
        The model's score minus the readers' mean score, summed over the items of each patient.
    sizes : numpy.ndarray of float, shape (n_clusters,)
        Number of items of each patient.
    margin : float
        At least 0 and below 1.
    readers : tuple of (float, float, int)
        The part of the variance of the mean difference that is due to true differences between
        readers, the mean square of readers divided by their number, and this number. For fixed
        readers 0, 0 and 1.

    Returns
    -------
    ScoreTest
        nan with fewer than two patients.

    Notes
    -----
    Let :math:`e_c` be the patient's sum plus the margin times the number of items, C the number of
    patients and N the number of items. The squared standard error is :math:`C M / N^2` plus the
    variance due to readers, where M is the `restricted_second_moment` of the :math:`e_c`, with a
    single lost case (minus 1 plus the margin) as a possible observation. A t interval takes its
    variance only from the answers, which may have none near the ceiling. There are C - 1 degrees of
    freedom; for random readers those of Satterthwaite's rule, but at most C - 1. If the difference
    is minus the margin or less, the plain second moment is used.

    Examples
    --------
    Forty cases without a difference do not show that a model is within 5 points:

    >>> test = score_test(np.zeros(40), np.ones(40), 0.05, (0.0, 0.0, 1))
    >>> round(test.statistic, 2), round(test.p, 3)
    (1.45, 0.077)
    """
    n_clusters, n = len(sizes), float(sizes.sum())
    if n_clusters < 2:
        return ScoreTest(se=math.nan, df=math.nan, statistic=math.nan, p=math.nan)
    deviations = differences + margin * sizes
    distance = float(deviations.sum()) / n
    moment = (
        restricted_second_moment(deviations, 1 - margin)
        if distance > 0
        else float((deviations**2).mean())
    )
    items_variance = n_clusters * moment / n**2
    readers_variance, mean_square, n_readers = readers
    variance = items_variance + readers_variance
    if not variance > 0:
        return ScoreTest(se=0.0, df=n_clusters - 1.0, statistic=math.nan, p=math.nan)
    se, df = math.sqrt(variance), n_clusters - 1.0
    if n_readers > 1:
        shares = items_variance**2 / df + mean_square**2 / (n_readers - 1)
        df = min(variance**2 / shares, df)
    return ScoreTest(se=se, df=df, statistic=distance / se, p=float(student.sf(distance / se, df)))


def noninferiority(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Test every model for non-inferiority, with fixed and with random readers.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Its margin is used; without one, that of the protocol.

    Returns
    -------
    pandas.DataFrame
        The columns of `NONINFERIORITY`; a row for each row of `reader_panel` with a margin, and for
        sensitivity and specificity with the margin of accuracy. If the declared hypothesis is
        superiority in a metric, its margin is 0, unless the run has another margin for accuracy.

    Notes
    -----
    The declared hypothesis is decided by the interval of `reader_panel` together with this test:
    `score_test`, or `logit_test.AreaDifference` for areas. Sensitivity and specificity are the
    accuracy on the items of a class. `p_superior` is the p-value of the same test without a margin.
    `p_adjusted` is adjusted by Holm's method over the models under the same claim and condition; a
    model declared as primary is tested alone.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> ids, raters = [f"q{i:02}" for i in range(40)], ["M1", "R1", "R2"]
    >>> table = noninferiority(bundle_from_tables(
    ...     pd.DataFrame({"item_id": ids, "truth": "A"}),
    ...     pd.DataFrame({
    ...         "rater_id": np.repeat(raters, 40), "item_id": ids * 3,
    ...         "answer": ["A"] * 80 + ["A"] * 39 + ["B"],
    ...     }),
    ...     pd.DataFrame({"rater_id": raters, "rater_kind": ["model", "reader", "reader"]}),
    ... ), Options(margin=0.05))
    >>> table[["claim", "difference", "p"]].round(3).values.tolist()
    [['these readers', 0.013, 0.056], ['readers like these', 0.013, 0.058]]
    """
    study = study_of(study, options)
    margins = tested_margins(study)
    rows = [
        row
        for panel in panels_of(study.matrix)
        for comparison in comparisons_by_metric(study, panel, metrics=every_metric)
        if (margin := margins[comparison.figure.metric]) is not None
        for row in _claim_rows(study, comparison, margin)
    ]
    table = pd.DataFrame(rows, columns=NONINFERIORITY.header)
    primary, labels = plan_of(study.bundle.protocol).primary_model, study.bundle.labels
    is_primary = [
        bool(primary) and primary in (model, labels[model]) for model in table["model_id"]
    ]
    families = [
        "" if is_tested_alone else ", ".join(filter(None, names))
        for names, is_tested_alone in zip(
            table[FAMILY_COLUMNS].itertuples(index=False), is_primary, strict=True
        )
    ]
    p = table["p"].to_numpy(dtype=np.float64)
    return table.assign(
        family=families, p_adjusted=np.where(is_primary, p, holm_within(p, families))
    )


def has_margin(study: Study) -> bool:
    """Return whether any metric has a margin."""
    return any(margin is not None for margin in tested_margins(study).values())


def tested_margins(study: Study) -> dict[Metric, float | None]:
    """Return the margin of every metric; 0 for a metric whose superiority is declared."""
    margins = margins_of(study)
    plan = plan_of(study.bundle.protocol)
    if plan.hypothesis == SUPERIORITY and (plan.metric == Metric.AUC or not study.options.margin):
        margins[Metric(plan.metric)] = 0.0
    return {**margins, **dict.fromkeys(IS_POSITIVE_CLASS, margins[Metric.ACCURACY])}


def _claim_rows(
    study: Study, comparison: ModelComparison, margin: float
) -> Iterator[dict[str, object]]:
    panel, figure, result = comparison.panel, comparison.figure, comparison.result
    for claim, readers in variances_of_readers(result).items():
        reason = figure.merits.no_covariance or figure.no_value
        if claim is Claim.READERS_LIKE_THESE and result.n_readers < 2:
            reason = reason or ONE_READER
        tests = None if reason else _test_comparison(study, comparison, margin, readers)
        test = tests.margin if tests else None
        yield {
            "model_id": panel.model_id,
            "condition": panel.condition,
            "metric": figure.metric.value,
            "claim": claim.value,
            "n_readers": result.n_readers,
            "n_items": figure.n_items,
            "n_patients": figure.n_clusters,
            "difference": result.fixed_readers.estimate,
            "margin": margin,
            "se": test.se if test else math.nan,
            "df": test.df if test else math.nan,
            "p": test.p if test else math.nan,
            "method": (LOGIT_METHODS if figure.metric is Metric.AUC else SCORE_METHODS)[claim],
            "undefined_because": reason,
            "ci_low": tests.lower_limit if tests else math.nan,
            "p_superior": tests.p_superior if tests else math.nan,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tests:
    """The test of the margin, the p-value without a margin, and, for areas, the lower limit."""

    margin: ScoreTest
    p_superior: float
    lower_limit: float = math.nan


def _test_comparison(
    study: Study, comparison: ModelComparison, margin: float, readers: tuple[float, float, int]
) -> _Tests:
    columns, metric = comparison.panel.columns, comparison.figure.metric
    if metric is not Metric.AUC:
        differences, sizes = _differences_by_patient(study, columns, metric)
        test, superiority = (
            score_test(differences, sizes, size, readers) for size in (margin, 0.0)
        )
        return _Tests(margin=test, p_superior=superiority.p)
    areas = area_difference(comparison.figure.merits, *_class_sizes(study, columns), readers)
    statistic, distance = areas.statistic(margin), areas.model - areas.readers + margin
    test = ScoreTest(
        se=distance / statistic if statistic else math.nan,
        df=areas.df,
        statistic=statistic,
        p=areas.p(margin),
    )
    lower_limit = areas.lower_limit(float(student.isf(study.options.alpha / 2, areas.df)))
    return _Tests(margin=test, p_superior=areas.p(0.0), lower_limit=lower_limit)


def variances_of_readers(result: SingleTreatment) -> dict[Claim, tuple[float, float, int]]:
    """Return the argument `readers` of `score_test` for each claim."""
    n = result.n_readers
    return {
        Claim.THESE_READERS: (0.0, 0.0, 1),
        Claim.READERS_LIKE_THESE: (max(result.var_reader, 0.0) / n, result.msr / n, n),
    }


def _differences_by_patient(study: Study, columns: Ints, metric: Metric) -> tuple[Floats, Floats]:
    """Return the sum of the differences, and the number of items, of each patient."""
    matrix, dichotomy = study.matrix, study.dichotomy
    items, is_correct = shared_by_panel(matrix, columns).items, matrix.correct
    if metric in IS_POSITIVE_CLASS:
        items = items & dichotomy.counted_items(matrix)
        items &= dichotomy.positive_items(matrix) == IS_POSITIVE_CLASS[metric]
        is_correct = dichotomy.has_item_class(matrix)
    return differences_by_patient(is_correct[items][:, columns], matrix.clusters[items])


def differences_by_patient(correct: Bools, clusters: Ints) -> tuple[Floats, Floats]:
    """Return `differences` and `sizes` for `score_test`; the model is the last rater."""
    differences = correct[:, -1] - correct[:, :-1].mean(axis=1)
    sums, _ = sums_by_cluster(np.column_stack([differences, np.ones(len(differences))]), clusters)
    return sums[:, 0], sums[:, 1]


def _class_sizes(study: Study, columns: Ints) -> tuple[tuple[int, int], int]:
    """Return the numbers of patients with positive and with negative cases, and of pairs."""
    ratings = study.figures_of_merit.ratings
    assert ratings is not None  # the metric exists only if there are ratings
    items = shared_by_panel(study.matrix, columns).items
    positive, clusters = ratings.positive[items], study.matrix.clusters[items]
    patients = len(np.unique(clusters[positive])), len(np.unique(clusters[~positive]))
    return patients, int(positive.sum()) * int((~positive).sum())


NONINFERIORITY = Statistic(
    name="noninferiority",
    meaning="Test of a model's non-inferiority that is valid near 100 %, under one claim.",
    columns=(
        *shared_columns("model_id condition"),
        Column("metric", "`accuracy`, `auc`, `sensitivity` or `specificity`."),
        *shared_columns("claim n_readers n_items"),
        Column("n_patients", "Patients, or items where no patient has several.", "count"),
        *shared_columns("difference"),
        Column("margin", "Non-inferiority margin.", "proportion"),
        Column("se", "Standard error at a difference of minus the margin.", "that of the metric"),
        *shared_columns("df"),
        Column("p", "One-sided p-value for the margin.", "probability"),
        *shared_columns("p_adjusted family method undefined_because"),
        Column("ci_low", "Lower limit of the difference of areas; empty otherwise.", "proportion"),
        Column("p_superior", "One-sided p-value without a margin.", "probability"),
    ),
    compute=noninferiority,
    applies=has_margin,
    sources=(
        Source(
            "variance restricted to a mean",
            "Owen AB. Empirical likelihood ratio confidence intervals for a single functional."
            " Biometrika 1988;75:237-249.",
            "10.1093/biomet/75.2.237",
        ),
    ),
    methods={
        402: Method(
            "Models against the panel of readers",
            "Non-inferiority in accuracy, sensitivity and specificity is decided by a score test"
            " whose variance is restricted"
            " to a difference of minus the margin [@tango1998; @owen1988], because near 100 % the"
            " observed answers may have no variance; in areas by a lower limit from the limits of"
            " both areas on the logit scale [@zou2009; @kottas2014]. The interval must clear the"
            " margin as well.",
        )
    },
)
