"""Functions that exist in both `study` and `analysis` agree, see docs/decisions/014."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.bundle import cells, primary
from analysis.statistics.accuracy.means import wilson_interval
from study.base import text
from study.protocol.sampling import wilson_half_width

_TEXTS = st.text() | st.from_regex(r"[a-z -]{0,3}[0-9]{0,4}[a-z]?[0-9]{0,2}", fullmatch=True)


@given(st.lists(_TEXTS))
def test_names_of_runs_are_sorted_in_the_same_order(names: list[str]) -> None:
    assert sorted(names, key=text.natural_key) == sorted(names, key=primary.natural_sort_key)


def test_names_with_very_long_numbers_sort_by_value() -> None:
    """Python refuses to convert more than 4,300 digits."""
    names = ["run 1" + "0" * 5_000, "run 9", "run 010"]
    assert sorted(names, key=primary.natural_sort_key) == ["run 9", "run 010", names[0]]


@given(_TEXTS)
def test_cells_are_escaped_in_the_same_way(value: str) -> None:
    assert cells.escape_cell(value) == text.guard_cell(value)
    assert cells.unescape_cell(value) == text.unguard_cell(value)
    assert cells.unescape_former_cell(value) == text.FORMER_GUARDED_CELLS.read(value)


@given(st.integers(0, 5_000), st.integers(1, 5_000))
def test_planned_intervals_equal_reported_intervals(successes: int, n: int) -> None:
    """The half-width in the wizard is half of Wilson's interval in the report."""
    successes = min(successes, n)
    low, high = wilson_interval(np.array(float(successes)), np.array(float(n)), alpha=0.05)
    half_width = wilson_half_width(successes / n, n)
    assert half_width == pytest.approx(float(high - low) / 2, rel=1e-9)
