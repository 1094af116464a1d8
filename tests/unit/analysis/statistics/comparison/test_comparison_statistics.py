"""Tango's interval, McNemar's and Yang's test, and Holm's adjustment in extreme cases."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import norm
from statsmodels.stats.contingency_tables import mcnemar

from analysis.statistics.comparison.paired_tests import (
    holm_within,
    mcnemar_p,
    tango_interval,
    yang_test,
)


def _tango(b: int, c: int, n: int, alpha: float = 0.05) -> tuple[float, float]:
    counts = (np.array([float(count)]) for count in (b, c, n))
    low, high = tango_interval(next(counts), next(counts), next(counts), alpha)
    return float(low[0]), float(high[0])


def _mcnemar(b: int, c: int) -> tuple[float, float]:
    exact, mid = mcnemar_p(np.array([float(b)]), np.array([float(c)]))
    return float(exact[0]), float(mid[0])


def _yang(rows: list[tuple[int, int, int]]) -> tuple[float, float]:
    """Return Yang's test of two raters; a row is a cluster: correct answers of each, and items."""
    table = np.array(rows, dtype=float)
    statistic, p = yang_test(table[:, :2], table[:, 2], np.array([0]), np.array([1]))
    return float(statistic[0]), float(p[0])


def _score(b: int, c: int, n: int, delta: float) -> float:
    """Return Tango's statistic, with the nuisance parameter maximized numerically."""

    def unlikely(q: float) -> float:
        return -(
            b * math.log(q + delta) + c * math.log(q) + (n - b - c) * math.log1p(-2 * q - delta)
        )

    best = minimize_scalar(
        unlikely,
        bounds=(max(0.0, -delta) + 1e-13, (1 - delta) / 2 - 1e-13),
        method="bounded",
        options={"xatol": 1e-13},
    ).x
    return (b - c - n * delta) / math.sqrt(n * (2 * best + delta * (1 - delta)))


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
@pytest.mark.parametrize(("b", "c", "n"), [(12, 2, 50), (3, 9, 20), (5, 5, 11), (1, 30, 90)])
def test_tangos_limits_are_those_of_the_score_test(b: int, c: int, n: int, alpha: float) -> None:
    """A root finder over the numerically maximized likelihood finds the same limits."""
    z, estimate = norm.isf(alpha / 2), (b - c) / n
    low = brentq(lambda d: _score(b, c, n, d) - z, -0.95, estimate, xtol=1e-13)
    high = brentq(lambda d: _score(b, c, n, d) + z, estimate, 0.95, xtol=1e-13)
    assert _tango(b, c, n, alpha) == pytest.approx((low, high), abs=1e-7)


@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.5])
@pytest.mark.parametrize("n", [1, 2, 54, 40826])
def test_without_discordant_items_tangos_interval_has_a_closed_form(n: int, alpha: float) -> None:
    """The score equation is n d = z^2 (1 - d), so the limits are ±z^2 / (n + z^2)."""
    reach = norm.isf(alpha / 2) ** 2 / (n + norm.isf(alpha / 2) ** 2)
    assert _tango(0, 0, n, alpha) == pytest.approx((-reach, reach), abs=1e-15)


@pytest.mark.parametrize("n", [1, 2, 30, 40826])
def test_if_all_items_are_discordant_in_one_direction_one_limit_is_1(n: int) -> None:
    """The other limit is twice Wilson's limit for n of n, minus 1."""
    z2 = norm.isf(0.025) ** 2
    other = 2 * n / (n + z2) - 1
    (low, top), (bottom, high) = _tango(n, 0, n), _tango(0, n, n)
    assert (bottom, top) == (-1.0, 1.0)
    assert (low, high) == pytest.approx((other, -other), abs=1e-12)


def test_evenly_split_discordant_items_have_a_symmetrical_interval() -> None:
    """The limits are symmetrical around 0 and less than 1."""
    low, high = _tango(10, 10, 20)
    assert low == -high
    assert 0 < high < 1


def test_tangos_interval_without_items_is_undefined() -> None:
    """The limits are empty, not 0."""
    assert all(math.isnan(limit) for limit in _tango(0, 0, 0))


def test_intervals_of_many_pairs_equal_single_computations() -> None:
    """The intervals are identical."""
    random = np.random.default_rng(3)
    b, c = random.integers(0, 40, (2, 50)).astype(float)
    n = b + c + random.integers(0, 40, 50)
    low, high = tango_interval(b, c, n, 0.05)
    for i in range(50):
        assert _tango(int(b[i]), int(c[i]), int(n[i])) == (low[i], high[i])


@pytest.mark.parametrize(
    ("b", "c"), [(0, 1), (3, 3), (20, 10), (10000, 9400), (30000, 29000), (0, 1000), (7, 8)]
)
def test_mcnemars_p_equals_exact_fractions(b: int, c: int) -> None:
    """The binomial sums are exact for tens of thousands of discordant items."""
    term = total = 1
    for k in range(1, min(b, c) + 1):
        term = term * (b + c - k + 1) // k
        total += term
    exact = min(Fraction(2 * total, 2 ** (b + c)), Fraction(1))
    mid = (
        Fraction(2 * total - term, 2 ** (b + c)) if b != c else 1 - Fraction(term, 2 ** (2 * b + 1))
    )
    assert _mcnemar(b, c) == pytest.approx((float(exact), float(mid)), rel=1e-11, abs=0)
    assert _mcnemar(c, b) == _mcnemar(b, c)


def test_mcnemars_exact_p_equals_statsmodels() -> None:
    """All tables of up to 12 discordant items are compared."""
    for b in range(7):
        for c in range(7):
            expected = mcnemar([[5, b], [c, 5]], exact=True).pvalue if b + c else 1.0
            assert _mcnemar(b, c)[0] == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("count", [1, 17, 20413])
def test_evenly_split_discordant_items_have_exact_p_1_and_mid_p_below(count: int) -> None:
    """Both tails contain the observation; mid-p counts half of it (Fagerland 2013, supplement)."""
    exact, mid = _mcnemar(count, count)
    assert exact == 1
    assert mid == pytest.approx(1 - math.comb(2 * count, count) / 4**count / 2, rel=1e-12)


def test_without_discordant_items_both_p_are_1() -> None:
    """Without discordant items there is no evidence of a difference."""
    assert _mcnemar(0, 0) == (1.0, 1.0)


def test_the_p_value_of_extreme_splits_is_between_0_and_1() -> None:
    """2 to the power of -39,999 is too small for a float, so the p-value is 0."""
    assert _mcnemar(40000, 0) == (0.0, 0.0)
    exact, mid = _mcnemar(1, 1074)
    assert 0 <= mid <= exact < 1e-300


def test_yangs_test_of_single_items_is_between_mcnemars_two_variances() -> None:
    """For b = 6, c = 1, n = 20, the variance is that of no difference, or empirical."""
    rows = [(1, 0, 1)] * 6 + [(0, 1, 1)] + [(1, 1, 1)] * 13
    null, empirical = 5**2 / 7, 5**2 / (7 - 5**2 / 20)
    statistic = _yang(rows)[0]
    assert statistic == pytest.approx(19 / 20 * 2 / (1 / null + 1 / empirical), abs=1e-12)


def test_raters_with_equal_numbers_correct_in_every_cluster_have_p_1() -> None:
    """No items are discordant, or discordant items cancel within every cluster."""
    assert _yang([(1, 1, 2), (2, 2, 2), (0, 0, 1)]) == (0.0, 1.0)


def test_with_one_cluster_the_test_is_undefined() -> None:
    """A single cluster does not show the variance."""
    assert all(math.isnan(value) for value in _yang([(4, 1, 5)]))
    assert all(math.isnan(value) for value in _yang([(4, 4, 5)]))


def test_holms_adjustment_counts_the_tests_of_a_family() -> None:
    """Undefined tests and tests without a family do not count."""
    p = np.array([0.01, math.nan, 0.04, 0.5, 0.03, 0.02])
    adjusted = holm_within(p, ["x", "x", "x", "", "y", "x"])
    assert adjusted[[0, 2, 4, 5]] == pytest.approx([0.03, 0.04, 0.03, 0.04])
    assert np.isnan(adjusted[[1, 3]]).all()


def test_holms_adjustment_of_no_tests_is_empty() -> None:
    """All p-values of the family are undefined, or there is no test."""
    assert holm_within(np.array([]), []).shape == (0,)
    assert np.isnan(holm_within(np.array([math.nan]), ["x"])).all()
