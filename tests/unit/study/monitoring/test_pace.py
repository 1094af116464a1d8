"""Pace and time left: known gaps, known answers, and nothing told from too little."""

from datetime import timedelta
from typing import NamedTuple

import pytest

from study.base.canonical import stamp
from study.monitoring.progress import Basis, Pace, pace_of, time_left
from tests.conftest import NOW

HOUR_MS = 3_600_000.0


class Arrived(NamedTuple):
    """What is asked of a reading."""

    received_at_utc: str
    response_ms: float | None


def _rows(*seconds: float, response_ms: float | None = 10_000.0) -> list[Arrived]:
    """Return readings that arrived so many seconds after the beginning."""
    return [Arrived(stamp(NOW + timedelta(seconds=at)), response_ms) for at in seconds]


def test_active_time_runs_from_one_reading_to_the_next() -> None:
    """Six readings every 30 s: the first with its own 10 s, five gaps of 30 s."""
    pace = pace_of(_rows(0, 30, 60, 90, 120, 150))
    assert (pace.n_timed, pace.n_active, pace.active_ms) == (6, 6, 160_000.0)
    assert pace.median_response_ms == 10_000.0
    assert pace.cases_per_hour == pytest.approx(6 * HOUR_MS / 160_000)


def test_a_night_between_two_cases_is_no_reading_time() -> None:
    """After a break a reading counts with its own response time; ten minutes is no break yet."""
    assert pace_of(_rows(0, 600)).active_ms == 10_000 + 600_000
    assert pace_of(_rows(0, 600.1)).active_ms == 20_000


def test_without_a_known_time_nothing_is_made_up() -> None:
    """A reading after a break whose time is not known counts for nothing; there is no median."""
    pace = pace_of(_rows(0, 30, response_ms=None))
    assert (pace.n_timed, pace.median_response_ms) == (0, None)
    assert (pace.n_active, pace.active_ms) == (1, 30_000.0)
    assert pace_of([]).cases_per_hour is None


def _pace(n: int, per_hour: float) -> Pace:
    return Pace(n_timed=n, median_response_ms=1.0, n_active=n, active_ms=n * HOUR_MS / per_hour)


def test_the_time_left_rests_on_the_own_pace() -> None:
    """120 cases at 60 an hour are two hours, told from five readings at least."""
    left = time_left(120, _pace(5, 60), [_pace(50, 10)])
    assert left is not None
    assert left.hours == pytest.approx(2)
    assert (left.basis, left.n) == (Basis.OWN, 5)


def test_without_a_pace_of_their_own_it_rests_on_the_median_of_the_others() -> None:
    """Four readings are too few; 30, 40 and 100 an hour have the median 40."""
    left = time_left(80, _pace(4, 60), [_pace(9, 30), _pace(9, 100), _pace(9, 40), _pace(2, 1)])
    assert left is not None
    assert left.hours == pytest.approx(2)
    assert (left.basis, left.n) == (Basis.OTHERS, 3)


def test_nothing_left_or_nobody_read_is_no_estimate() -> None:
    """None, never 0 hours."""
    assert time_left(0, _pace(50, 60), []) is None
    assert time_left(10, _pace(0, 60), [_pace(4, 60)]) is None
