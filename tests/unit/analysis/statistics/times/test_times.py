"""times.csv: summaries of times, and the groups for which they are computed."""

import numpy as np
import pandas as pd
import pytest

from analysis import Bundle, bundle_from_tables, times
from analysis.statistics.times import NO_TIME, ZERO_TIME

TIMES_MS = [800.0, 1500.0, 900.0, 4000.0, 12000.0, 2500.0, 700.0, 3100.0]


def _bundle(n: int = 8, **columns: object) -> Bundle:
    ids = [f"q{i}" for i in range(n)]
    items = pd.DataFrame({"item_id": ids, "truth": "A", "task": (["x", "y"] * n)[:n]})
    readings = pd.DataFrame(
        {"rater_id": "R", "item_id": ids, "answer": "A", "response_ms": TIMES_MS[:n]}
    ).assign(**columns)
    return bundle_from_tables(items, readings)


def _row(table: pd.DataFrame, by: str, group: str) -> pd.Series:
    (result,) = (row for _, row in table.iterrows() if (row["by"], row["group"]) == (by, group))
    return result


def test_a_bundle_without_times_has_no_rows() -> None:
    """A study without times has an empty table."""
    assert times(_bundle(response_ms=None)).empty


def test_quartiles_and_geometric_mean_equal_those_of_numpy_and_scipy() -> None:
    """Quartiles interpolate linearly; the geometric mean is that of logarithms."""
    row = _row(times(_bundle()), "overall", "micro")
    assert row["n"] == 8
    assert row[["q1_ms", "median_ms", "q3_ms"]].tolist() == pytest.approx(
        np.quantile(TIMES_MS, [0.25, 0.5, 0.75]).tolist(), abs=1e-10
    )
    assert row["geometric_mean_ms"] == pytest.approx(np.prod(TIMES_MS) ** (1 / 8), rel=1e-12)
    even = _row(times(_bundle()), "task", "x")
    assert even["median_ms"] == pytest.approx(np.median(TIMES_MS[::2]))


def test_flagged_times_count_unless_they_are_excluded() -> None:
    """The table has the number of flagged times."""
    table = times(_bundle(flags=["", "too_fast", "", "late zoomed"] + [""] * 4))
    assert _row(table, "overall", "micro")[["n", "n_flagged"]].tolist() == [8, 2]
    assert _row(table, "flagged", "without flagged")[["n", "n_flagged"]].tolist() == [6, 0]
    flagged = _row(table, "flagged", "flagged only")
    assert flagged[["n", "n_flagged", "median_ms"]].tolist() == [2, 2, 2750.0]


def test_every_first_reading_with_a_time_counts() -> None:
    """Unanswered readings count too, also by status; repeats and absent readings do not."""
    readings = pd.DataFrame(
        {
            "rater_id": "R",
            "item_id": ["a", "a", "b", "c", "d"],
            "answer": ["A", "A", "", "", "A"],
            "status": ["answered", "answered", "timed_out", "skipped", "answered"],
            "repeat": [2, 1, 1, 1, 1],
            "response_ms": [10, 20, 60000, 5000, None],
        }
    )
    items = pd.DataFrame({"item_id": list("abcd"), "truth": "A"})
    table = times(bundle_from_tables(items, readings))
    assert _row(table, "overall", "micro")[["n", "median_ms"]].tolist() == [3, 5000.0]
    assert _row(table, "correct", "correct")[["n", "median_ms"]].tolist() == [1, 20.0]
    assert _row(table, "correct", "wrong")["n"] == 0
    assert _row(table, "status", "answered")["median_ms"] == 20
    assert _row(table, "status", "timed_out")["median_ms"] == 60000
    assert _row(table, "status", "skipped")["median_ms"] == 5000


def test_a_time_of_zero_leaves_the_geometric_mean_undefined() -> None:
    """The median is unchanged, and no constant is added to times."""
    row = _row(times(_bundle(response_ms=[0.0, *TIMES_MS[1:]])), "overall", "micro")
    assert np.isnan(row["geometric_mean_ms"])
    assert row["undefined_because"] == ZERO_TIME
    assert row["median_ms"] == np.median([0.0, *TIMES_MS[1:]])


def test_a_group_without_times_is_empty_with_a_reason() -> None:
    """All answers are correct, so wrong answers have no time."""
    row = _row(times(_bundle()), "correct", "wrong")
    assert row["n"] == 0
    assert np.isnan(row["median_ms"])
    assert row["undefined_because"] == NO_TIME


def test_sessions_and_quarters_follow_the_readers_order() -> None:
    """Positions continue over sessions, and each session has its quarters."""
    table = times(_bundle(position=[1, 2, 3, 4, 5, 6, 7, 8], session=["1.0"] * 4 + ["2.0"] * 4))
    assert _row(table, "session", "1")["n"] == 4
    assert _row(table, "session", "2")["median_ms"] == np.median(TIMES_MS[4:])
    first = _row(table, "position", "first quarter")
    assert first[["n", "median_ms"]].tolist() == [2, (TIMES_MS[0] + TIMES_MS[4]) / 2]


def test_every_condition_of_a_timed_rater_has_an_overall_row() -> None:
    """Readers precede models; raters without times have no row."""
    items = pd.DataFrame({"item_id": ["a"], "truth": ["A"]})
    readings = pd.DataFrame(
        {
            "rater_id": ["M", "R", "R"],
            "item_id": "a",
            "answer": "A",
            "condition": ["", "aided", "unaided"],
            "response_ms": [None, 5, None],
        }
    )
    raters = pd.DataFrame({"rater_id": ["M", "R"], "rater_kind": ["model", "reader"]})
    table = times(bundle_from_tables(items, readings, raters)).query("by == 'overall'")
    assert table[["rater_id", "condition", "n"]].values.tolist() == [
        ["R", "aided", 1],
        ["R", "unaided", 0],
    ]
