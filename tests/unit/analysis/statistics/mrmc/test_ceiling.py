"""Score limits of a model's difference from readers, which do not vanish near the ceiling."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from analysis.statistics.accuracy.means import wilson_interval
from analysis.statistics.merits import FigureOfMerit, Metric, percent_correct
from analysis.statistics.mrmc.ceiling import area_lower, ceiling_limit, wilson_lower
from analysis.statistics.mrmc.obuchowski_rockette import infer
from analysis.statistics.mrmc.panel import model_against_readers

N_ITEMS = 60


def figure(right: np.ndarray, clusters: np.ndarray | None = None) -> FigureOfMerit:
    """Return the accuracy of readers and of a model, which is last."""
    units = np.arange(len(right)) if clusters is None else clusters
    return FigureOfMerit(
        metric=Metric.ACCURACY,
        n_items=len(right),
        n_clusters=len(np.unique(units)),
        merits=percent_correct(right, units),
        covariances="",
        no_value="",
        notes=(),
    )


def answers(model: float, readers: float = 0.9, seed: int = 1) -> np.ndarray:
    """Return right and wrong answers of three readers and a model."""
    random = np.random.default_rng(seed)
    return random.random((N_ITEMS, 4)) < np.array([readers] * 3 + [model])


def limits(right: np.ndarray, clusters: np.ndarray | None = None) -> tuple[float, float]:
    """Return the lower limits of t and from the score limit, for these readers."""
    of_model = figure(right, clusters)
    inference = model_against_readers(of_model.merits, 0.05, of_model.items_df).fixed_readers
    return inference.ci_low, ceiling_limit(of_model, inference, 0.05)


def test_the_limit_of_a_proportion_is_wilsons() -> None:
    """At the normal quantile."""
    for successes in (0, 7, 30):
        low, _ = wilson_interval(np.array([float(successes)]), np.array([30.0]), 0.05)
        limit = wilson_lower(successes / 30, 30, float(norm.isf(0.025)))
        assert limit == pytest.approx(low[0], abs=1e-12)


@pytest.mark.parametrize("area", [0.4, 0.75, 0.98, 1.0])
def test_the_limit_of_an_area_solves_its_equation(area: float) -> None:
    """The area is a quantile of Hanley and McNeil's standard errors above it."""
    m, n, quantile = 20, 35, 2.1
    limit = area_lower(area, m, n, quantile)
    size = (m + n) / 2
    q1, q2 = limit / (2 - limit), 2 * limit**2 / (1 + limit)
    # Newcombe's variance is Hanley and McNeil's with the mean number of cases in both terms.
    variance = limit * (1 - limit) + (size - 1) * (q1 + q2 - 2 * limit**2)
    assert area - limit == pytest.approx(quantile * math.sqrt(variance / (m * n)))
    assert limit < area


def test_the_limit_is_that_of_t_without_a_ceiling() -> None:
    """With many cases and 70 % both limits agree."""
    random = np.random.default_rng(5)
    right = random.random((20_000, 4)) < 0.7
    by_t, by_score = limits(right)
    assert by_score == pytest.approx(by_t, abs=2e-4)


def test_a_model_without_errors_has_the_lower_limit() -> None:
    """Its variance of 0 narrows the interval of t alone."""
    right = answers(model=2.0)
    by_t, by_score = limits(right)
    assert by_score < by_t - 0.01
    more = np.vstack([right] * 20)
    assert limits(more)[1] > by_score


def test_items_of_one_patient_count_less() -> None:
    """Copies of every item add nothing, if each patient has both copies."""
    right = answers(model=0.95)
    once = limits(right)[1]
    clusters = np.repeat(np.arange(N_ITEMS), 2)
    assert limits(np.repeat(right, 2, axis=0), clusters)[1] == pytest.approx(once, abs=2e-3)
    assert limits(np.repeat(right, 2, axis=0))[1] > once + 0.01


@pytest.mark.parametrize("with_readers", [0.0, 0.0004])
def test_the_limit_has_the_parts_of_the_difference(with_readers: float) -> None:
    """The readers' part of the variance is what the model's variance and covariance leave."""
    plain = figure(answers(model=0.9))
    model, se, quantile = plain.merits.values[-1], 0.04, float(norm.isf(0.025))
    own = model * (1 - model) / N_ITEMS
    covariance = np.zeros((4, 4))
    covariance[-1, :-1] = covariance[:-1, -1] = with_readers
    covariance[-1, -1] = own
    limit = ceiling_limit(
        replace(plain, merits=replace(plain.merits, covariance=covariance)),
        infer(0.01, se**2, math.inf, alpha=0.05),
        0.05,
    )
    distance = model - wilson_lower(model, N_ITEMS, quantile)
    of_readers = se**2 - own + 2 * with_readers
    shared = 2 * with_readers * quantile * distance / math.sqrt(own)
    assert (0.01 - limit) ** 2 == pytest.approx(distance**2 + quantile**2 * of_readers - shared)


def test_an_undefined_interval_has_no_limit() -> None:
    """A difference without variance has a limit of nan."""
    right = np.ones((10, 4), dtype=bool)
    assert math.isnan(limits(right)[1])
