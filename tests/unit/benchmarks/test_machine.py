"""Alternating measurements, and measurements of programs."""

import sys

import pytest

from benchmarks.machine import Broken, median_times, ratios, time_in_turn
from benchmarks.report import measured, typical


def test_functions_are_measured_alternately_after_a_warm_up() -> None:
    """Imports and other load then affect all functions equally."""
    calls: list[str] = []
    result = time_in_turn({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, 2)
    assert calls == ["a", "b", "a", "b", "a", "b"]
    assert len(result["a"]["times_s"]) == 2


def test_times_are_medians() -> None:
    """A single disturbed call has no effect."""
    assert median_times([(1.0, 0.5), (9.0, 0.7), (2.0, 0.6)])["wall_s"] == 2.0


def test_ratios_are_computed_for_both_clocks() -> None:
    """With two processors, only the ratio of wall times improves."""
    slow, fast = {"wall_s": 10.0, "cpu_s": 10.0}, {"wall_s": 2.0, "cpu_s": 4.0}
    assert ratios(slow, fast) == {"wall": 5.0, "cpu": 2.5}


def test_the_memory_of_a_program_is_measured_alone() -> None:
    """A larger program that ran before has no effect."""
    large = measured([sys.executable, "-c", "x = bytearray(300_000_000)"])
    small = measured([sys.executable, "-c", "pass"])
    assert large["peak_mb"] > 290
    assert small["peak_mb"] < 200


def test_a_failed_program_ends_the_benchmark() -> None:
    """A crash must not count as a fast run."""
    with pytest.raises(Broken, match="no such luck"):
        measured([sys.executable, "-c", "raise SystemExit('no such luck')"])


def test_the_summary_has_the_median_time_and_the_largest_memory() -> None:
    """The requirement on memory concerns the largest run."""
    runs = [{"wall_s": w, "cpu_s": w, "peak_mb": 10 * w} for w in (1.0, 3.0, 2.0)]
    assert typical(runs) == {"wall_s": 2.0, "cpu_s": 2.0, "peak_mb": 30.0}
