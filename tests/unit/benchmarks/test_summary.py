"""Percentiles, errors and thresholds in the summaries of benchmarks."""

import pytest

from benchmarks import summary


def test_quantiles_have_limits_on_either_side() -> None:
    """The values of p50 and p95 equal numpy's; n and an interval are stated."""
    spread = summary.spread([float(value) for value in range(1, 102)])
    assert (spread["n"], spread["p50_ms"], spread["p95_ms"], spread["max_ms"]) == (101, 51, 96, 101)
    low, high = spread["p95_interval_ms"]
    assert 85 < low <= 96 <= high <= 101


def test_an_empty_sample_has_no_values() -> None:
    """The summary of an empty sample has n = 0."""
    assert summary.spread([]) == {"n": 0}
    assert summary.errors([], 16.7) == {"n": 0}
    assert summary.target("x", None, 50, "ms")["met"] is None


def test_a_ratio_of_medians_has_limits_on_either_side() -> None:
    """Ten times the duration gives a ratio of ten; the same seed gives the same limits."""
    fast = [float(value) for value in range(40, 61)]
    ratio, low, high = summary.ratio_interval([10 * value for value in fast], fast)
    assert ratio == pytest.approx(10)
    assert low < 10 < high
    assert (ratio, low, high) == summary.ratio_interval([10 * value for value in fast], fast)


def test_a_difference_of_p95_is_first_minus_second() -> None:
    """A constant delay of 15 ms gives a difference of 15 ms."""
    local = [float(value) for value in range(30, 60)]
    value, low, high = summary.difference_interval([each + 15 for each in local], local, 0.95)
    assert value == pytest.approx(15)
    assert low < 15 < high


def test_opposite_errors_cancel_in_the_bias_but_not_in_the_mean_size() -> None:
    """Some times are too early, and others too late."""
    errors = summary.errors([-10.0, 10.0, -10.0, 10.0], 10.0)
    assert errors["bias_ms"] == 0
    assert errors["median_size_ms"] == 10
    assert errors["median_size_frames"] == 1
    assert errors["spread_sd_ms"] == pytest.approx(11.55)


@pytest.mark.parametrize(
    ("value", "at_least", "is_met"),
    [(50, False, True), (50.1, False, False), (8, True, True), (7.9, True, False)],
)
def test_a_threshold_is_met_or_not(value: float, at_least: bool, is_met: bool) -> None:
    """Most thresholds are maxima, and that of the ratio is a minimum."""
    bar = summary.target("b", value, 8 if at_least else 50, "x", at_least=at_least)
    assert bar["met"] is is_met
    (line,) = summary.bar_lines([bar])
    assert line.strip().startswith("met " if is_met else "not met")
