"""Timing in turn, and programs timed from outside."""

import sys

import pytest

from benchmarks.machine import Broken, in_turn, ratios, taken
from benchmarks.report import measured, typical


def test_ways_take_turns_after_a_call_that_does_not_count() -> None:
    """No way has the machine to itself, and none pays for the imports."""
    calls: list[str] = []
    result = in_turn({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, 2)
    assert calls == ["a", "b", "a", "b", "a", "b"]
    assert len(result["a"]["times_s"]) == 2


def test_times_are_medians() -> None:
    """One disturbed call does not decide."""
    assert taken([(1.0, 0.5), (9.0, 0.7), (2.0, 0.6)])["wall_s"] == 2.0


def test_ratios_know_both_clocks() -> None:
    """A way that uses two processors is not better by the processor's clock."""
    slow, fast = {"wall_s": 10.0, "cpu_s": 10.0}, {"wall_s": 2.0, "cpu_s": 4.0}
    assert ratios(slow, fast) == {"wall": 5.0, "cpu": 2.5}


def test_a_program_is_measured_alone() -> None:
    """Its memory is its own, not that of the largest program before it."""
    large = measured([sys.executable, "-c", "x = bytearray(300_000_000)"])
    small = measured([sys.executable, "-c", "pass"])
    assert large["peak_mb"] > 290
    assert small["peak_mb"] < 200


def test_a_program_that_fails_breaks_the_benchmark() -> None:
    """A crash is never taken for a quick run."""
    with pytest.raises(Broken, match="no such luck"):
        measured([sys.executable, "-c", "raise SystemExit('no such luck')"])


def test_typical_is_the_median_time_and_the_largest_memory() -> None:
    """Memory is a promise about the worst run."""
    runs = [{"wall_s": w, "cpu_s": w, "peak_mb": 10 * w} for w in (1.0, 3.0, 2.0)]
    assert typical(runs) == {"wall_s": 2.0, "cpu_s": 2.0, "peak_mb": 30.0}
