"""Properties of comparisons of accuracy, for random counts."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.statistics.comparison.paired_tests import mcnemar_p, tango_interval, yang_test

counts = st.tuples(*[st.one_of(st.integers(0, 12), st.integers(0, 30_000))] * 3).filter(any)
alphas = st.sampled_from([1e-6, 0.01, 0.05, 0.3, 0.9])
clusters = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3)).map(
        lambda c: (c[0], c[1], max(c[0], c[1]) + c[2])
    ),
    min_size=2,
    max_size=12,
).map(lambda rows: [(a, b, max(n, 1)) for a, b, n in rows])


def _tango(b: int, c: int, n: int, alpha: float) -> tuple[float, float]:
    counts = (np.array([float(count)]) for count in (b, c, n))
    low, high = tango_interval(next(counts), next(counts), next(counts), alpha)
    return float(low[0]), float(high[0])


def _yang(rows: list[tuple[int, int, int]]) -> tuple[float, float]:
    table = np.array(rows, dtype=float)
    statistic, p = yang_test(table[:, :2], table[:, 2], np.array([0]), np.array([1]))
    return float(statistic[0]), float(p[0])


@given(counts, alphas)
def test_tangos_interval_contains_the_estimate(table: tuple[int, int, int], alpha: float) -> None:
    """Its limits are between -1 and 1 and differ."""
    b, c, rest = table
    n = b + c + rest
    low, high = _tango(b, c, n, alpha)
    assert -1 <= low <= (b - c) / n <= high <= 1
    assert low < high


@given(counts, alphas)
def test_exchanging_two_raters_negates_the_difference(
    table: tuple[int, int, int], alpha: float
) -> None:
    """The absolute values are identical."""
    b, c, rest = table
    low, high = _tango(b, c, b + c + rest, alpha)
    assert _tango(c, b, b + c + rest, alpha) == (-high, -low)
    first, second = np.array([float(b)]), np.array([float(c)])
    assert mcnemar_p(first, second) == mcnemar_p(second, first)


@pytest.mark.thorough
@given(counts)
def test_tangos_interval_is_wider_for_a_smaller_alpha(table: tuple[int, int, int]) -> None:
    """Each interval contains the previous interval."""
    b, c, rest = table
    limits = [_tango(b, c, b + c + rest, alpha) for alpha in (0.5, 0.1, 0.01)]
    for (low, high), (wider_low, wider_high) in pairwise(limits):
        assert wider_low <= low <= high <= wider_high


@given(counts)
def test_the_mid_p_is_below_the_exact_p(table: tuple[int, int, int]) -> None:
    """Both are between 0 and 1, and the exact p is 1 for an even split."""
    exact, mid = (float(p[0]) for p in mcnemar_p(*(np.array([float(k)]) for k in table[:2])))
    assert 0 <= mid <= exact <= 1
    assert (table[0] != table[1]) or exact == 1


@given(clusters)
def test_yangs_statistic_depends_on_neither_order_nor_sign(
    rows: list[tuple[int, int, int]],
) -> None:
    """Reversed clusters and exchanged raters give the same statistic."""
    statistic, p = _yang(rows)
    assert _yang([(b, a, n) for a, b, n in rows[::-1]]) == (statistic, p)
    assert statistic >= 0
    assert 0 <= p <= 1


@given(clusters, st.integers(2, 5))
def test_repeating_each_cluster_multiplies_yangs_statistic(
    rows: list[tuple[int, int, int]], times: int
) -> None:
    """The factor is that number, apart from K - 1 over K."""
    k = len(rows)
    statistic, repeated = _yang(rows)[0], _yang(rows * times)[0]
    expected = statistic * times * ((times * k - 1) / (times * k)) / ((k - 1) / k)
    assert repeated == pytest.approx(expected, rel=1e-10)


@given(clusters, st.integers(2, 5))
def test_repeating_each_item_does_not_change_yangs_statistic(
    rows: list[tuple[int, int, int]], times: int
) -> None:
    """Copies within a cluster add no information."""
    copied = [(times * a, times * b, times * n) for a, b, n in rows]
    assert _yang(copied) == pytest.approx(_yang(rows), rel=1e-10)
