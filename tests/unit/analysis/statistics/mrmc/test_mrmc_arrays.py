"""Figures of merit and their covariances, compared with their definitions."""

import itertools
import math

import numpy as np
import pytest

from analysis import OptionsError
from analysis.statistics import mrmc
from analysis.statistics.merits import AucCovariance, Merits, empirical_auc, percent_correct
from analysis.statistics.mrmc.obuchowski_rockette import NO_VARIANCE, wider_inference


def random_ratings(seed: int = 3, n: int = 14) -> tuple[np.ndarray, np.ndarray]:
    """Return ratings of three raters with ties, and a mask of positive items."""
    random = np.random.default_rng(seed)
    positive = np.arange(n) % 3 == 0
    return random.integers(1, 6, (n, 3)).astype(float) + positive[:, None], positive


def area(ratings: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Return the areas by counting pairs."""
    pairs = itertools.product(ratings[positive], ratings[~positive])
    won = [(high > low) + 0.5 * (high == low) for high, low in pairs]
    return np.asarray(np.mean(won, axis=0))


def test_the_area_is_the_share_of_pairs_in_the_correct_order() -> None:
    """Ties count half."""
    ratings, positive = random_ratings()
    assert empirical_auc(ratings, positive).values == pytest.approx(area(ratings, positive))


def test_infinite_ratings_rank_below_and_above_all_others() -> None:
    """Infinite ratings represent missing answers, which are wrong."""
    ratings = np.array([[-np.inf], [2.0], [1.0], [np.inf]])
    positive = np.array([True, True, False, False])
    assert empirical_auc(ratings, positive).values.tolist() == [0.25]


def test_the_closed_form_of_the_jackknife_equals_its_definition() -> None:
    """The definition leaves out each item in turn."""
    ratings, positive = random_ratings()
    n = len(positive)
    left = np.array([area(np.delete(ratings, i, 0), np.delete(positive, i)) for i in range(n)])
    expected = (n - 1) / n * (left - left.mean(0)).T @ (left - left.mean(0))
    result = empirical_auc(ratings, positive, covariance=AucCovariance.JACKKNIFE)
    assert result.covariance == pytest.approx(expected)


def test_the_covariance_of_percent_correct_equals_the_jackknife() -> None:
    """The jackknife leaves out each item in turn."""
    correct = np.random.default_rng(5).random((12, 4)) < 0.7
    left = np.array([np.delete(correct, i, 0).mean(0) for i in range(12)])
    expected = 11 / 12 * (left - left.mean(0)).T @ (left - left.mean(0))
    assert percent_correct(correct).covariance == pytest.approx(expected)


def test_the_unbiased_covariance_equals_its_definition() -> None:
    """The definition is the product of means minus the mean product over pairs of other items."""
    ratings, positive = random_ratings(n=9)
    high, low = ratings[positive], ratings[~positive]
    wins = (high[:, None] > low) + 0.5 * (high[:, None] == low)
    disjoint = [
        np.outer(wins[i, j], wins[k, m])
        for i, k in itertools.permutations(range(len(high)), 2)
        for j, m in itertools.permutations(range(len(low)), 2)
    ]
    mean = area(ratings, positive)
    result = empirical_auc(ratings, positive, covariance=AucCovariance.UNBIASED)
    assert result.covariance == pytest.approx(np.outer(mean, mean) - np.mean(disjoint, axis=0))


def test_the_clustered_area_follows_obuchowskis_formula() -> None:
    """The formula is computed in loops over patients, some with items of both classes."""
    ratings, positive = random_ratings()
    clusters = np.array([0, 0, 0, 1, 1, 2, 3, 4, 4, 5, 6, 6, 7, 8])
    high, low = ratings[positive], ratings[~positive]
    wins = (high[:, None] > low) + 0.5 * (high[:, None] == low)
    mean, (m, n) = wins.mean((0, 1)), wins.shape[:2]
    ups, downs = wins.mean(1) - mean, wins.mean(0) - mean
    by_up = [ups[clusters[positive] == c].sum(0) for c in range(9)]
    by_down = [downs[clusters[~positive] == c].sum(0) for c in range(9)]
    i10, i01 = len(set(clusters[positive])), len(set(clusters[~positive]))
    expected = sum(
        i10 / (i10 - 1) * np.outer(up, up) / m**2
        + i01 / (i01 - 1) * np.outer(down, down) / n**2
        + 9 / 8 * (np.outer(up, down) + np.outer(down, up)) / (m * n)
        for up, down in zip(by_up, by_down, strict=True)
    )
    assert empirical_auc(ratings, positive, clusters).covariance == pytest.approx(expected)


def test_clusters_require_delongs_method() -> None:
    """The jackknife leaves out items, not patients."""
    ratings, positive = random_ratings()
    with pytest.raises(OptionsError, match="not with jackknife"):
        empirical_auc(ratings, positive, np.arange(14), AucCovariance.JACKKNIFE)


def test_a_single_class_has_no_area() -> None:
    """The area is undefined, and the reason is stated."""
    merits = empirical_auc(np.ones((3, 2)), np.ones(3, dtype=bool))
    assert np.isnan(merits.values).all()
    assert merits.no_covariance == "the items are all of one class"


def test_components_that_cancel_are_exactly_0() -> None:
    """Rounding must not produce small standard errors or negative components."""
    cancelling = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 1, 1]], dtype=bool)
    lone_error = np.ones((6, 4), dtype=bool)
    lone_error[5, 0] = False
    readers = np.array([1, 2, 3])
    first, other = (
        mrmc.single_treatment(mrmc.differences(percent_correct(correct), 0 * readers, readers))
        for correct in (cancelling, lone_error)
    )
    assert (first.cov2, first.random_readers.undefined_because) == (0, NO_VARIANCE)
    assert np.isnan(first.random_readers.se)
    assert other.var_reader == 0
    assert other.fixed_readers.se == pytest.approx((1 / 36) ** 0.5)


def test_components_of_two_treatments_follow_from_the_differences() -> None:
    """MSR, Var and Cov2 of the differences are twice MSTR, Var - Cov1 and Cov2 - Cov3."""
    merits = percent_correct(np.random.default_rng(7).random((40, 6)) < 0.7)
    a, b = np.arange(3), np.arange(3, 6)
    two = mrmc.two_treatments(merits, a, b)
    single_treatment = mrmc.single_treatment(mrmc.differences(merits, a, b))
    assert single_treatment.msr == pytest.approx(2 * two.mstr)
    assert single_treatment.var == pytest.approx(2 * (two.var - two.cov1))
    assert single_treatment.cov2 == pytest.approx(2 * (two.cov2 - two.cov3))
    assert single_treatment.var_reader == pytest.approx(2 * two.var_treatment_reader)


@pytest.mark.parametrize(
    ("random", "fixed", "reported"),
    [
        # Squared standard error, degrees of freedom; t is 2.0 for 100 degrees, 3.2 for 3.
        ((0.011, 100.0), (0.010, 3.0), "fixed"),
        ((0.010, 3.0), (0.011, 100.0), "random"),
        ((0.010, 3.0), (0.011, 3.0), "fixed"),
        ((0.010, math.inf), (0.010, 3.0), "fixed"),
    ],
)
def test_the_wider_interval_is_shown_and_not_the_larger_standard_error(
    random: tuple[float, float], fixed: tuple[float, float], reported: str
) -> None:
    """A larger standard error with many degrees of freedom can belong to the narrower interval."""
    inferences = {
        "random": mrmc.infer(0.1, *random, alpha=0.05),
        "fixed": mrmc.infer(0.1, *fixed, alpha=0.05),
    }
    inference, note = wider_inference(inferences["random"], inferences["fixed"])
    assert inference == inferences[reported]
    assert bool(note) is (reported == "fixed")


def test_the_variance_of_readers_is_their_mean_square_minus_the_part_due_to_cases() -> None:
    """The variance is MSR - Var + Cov2; if readers share all errors, it is their mean square."""
    values, error = np.array([0.7, 0.75, 0.86]), 0.002
    for share in (0.0, 0.4, 1.0):
        covariance = error * (share * np.ones((3, 3)) + (1 - share) * np.eye(3))
        merits = Merits(values=values, covariance=covariance)
        expected = values.var(ddof=1) - (1 - share) * error
        assert mrmc.single_treatment(merits).var_reader == pytest.approx(expected)
