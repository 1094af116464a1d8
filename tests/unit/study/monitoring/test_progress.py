"""The progress of a study: counts out of all assigned cases, stages, pace and silent readers."""

import shutil
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

import pytest

from study.base.actor import Acting, By
from study.base.canonical import stamp
from study.monitoring import interventions
from study.monitoring.progress import (
    _CACHE,
    Basis,
    Counts,
    Pace,
    ReaderProgress,
    Stage,
    pace_of,
    progress_of,
    silent_readers,
    time_left,
)
from study.monitoring.quality import current_readings
from study.reading import desk
from study.reading.course import SessionState
from study.reading.simulation import simulate
from study.store import Store
from tests.conftest import NOW, draw_trial, invite, person, preparation, presentation, reading

Opened = Callable[..., Store]
BY = By(name="c", role="coordinator")


def _take(store: Store, *records: Any, reader_id: str = "R1", hours: float = 0) -> None:
    now = NOW + timedelta(hours=hours)
    assert desk.take_records(store, person(store, reader_id), records, now=now).refused == ()


def _case(store: Store, reader_id: str = "R1") -> str:
    return desk.desk(store, person(store, reader_id), now=NOW).cases[0].case


def _progress_of(store: Store, reader_id: str = "R1", days: float = 0) -> ReaderProgress:
    progress = progress_of(store, "trial", now=NOW + timedelta(days=days))
    return next(reader for reader in progress.readers if reader.reader_id == reader_id)


def test_cases_are_counted_by_status_out_of_those_assigned(opened: Opened) -> None:
    """Answered, skipped, timed out and only presented cases have separate counts."""
    store = opened(cannot_answer=True, time_limit_s=60)
    for option, changed in (
        ("A", {}),
        (None, {"status": "skipped", "reason": "dark"}),
        (None, {"status": "timed_out"}),
    ):
        case = _case(store)
        _take(store, presentation(case), reading(case, option, **changed))
    _take(store, presentation(_case(store)))
    assert _progress_of(store).counts == Counts(
        n_assigned=8, n_presented=4, n_read=3, n_answered=1, n_skipped=1, n_timed_out=1
    )
    assert progress_of(store, "trial", now=NOW).counts.n_assigned == 16


def test_a_reader_passes_through_five_stages(opened: Opened) -> None:
    """The stages are: not begun, preparing, practising, reading and finished."""
    store = opened(instructions="Read.", practice_cases=1)
    stages = [_progress_of(store).stage]
    _take(store, preparation("instructions"))
    stages.append(_progress_of(store).stage)
    case = _case(store)
    _take(store, presentation(case), reading(case))
    stages.append(_progress_of(store).stage)
    _take(store, presentation(_case(store)))
    stages.append(_progress_of(store).stage)
    simulate(store, study="trial", reader_id="R2", seed=1, accuracy=0.7, now=NOW)
    stages.append(_progress_of(store, "R2").stage)
    assert stages == [
        Stage.NOT_BEGUN,
        Stage.PREPARING,
        Stage.PRACTISING,
        Stage.READING,
        Stage.FINISHED,
    ]


def test_a_changed_answer_counts_as_one_reading(opened: Opened) -> None:
    """The pace uses the time of the first answer."""
    store = opened(back_navigation=True)
    case = _case(store)
    _take(store, presentation(case), reading(case))
    _take(store, reading(case, "B", id="second-answer", supersedes=f"read-{case}"))
    progress = _progress_of(store)
    assert (progress.counts.n_read, progress.pace.n_timed) == (1, 1)
    assert len(progress_of(store, "trial", now=NOW).arrivals["R1"]) == 1


def test_only_readers_who_have_begun_and_can_read_count_as_silent(opened: Opened) -> None:
    """Readers who never began, paused or finished do not count."""
    store = opened(readers=("R1", "R2", "R3"))
    for reader_id in ("R1", "R3"):
        case = _case(store, reader_id)
        _take(store, presentation(case), reading(case), reader_id=reader_id)
    values: dict[str, Any] = {"study": "trial", "reason": "leave", "acting": Acting(by=BY, now=NOW)}
    interventions.pause(store, reader_id="R3", **values)
    progress = progress_of(store, "trial", now=NOW + timedelta(days=7))
    assert [(reader.reader_id, reader.silent_days) for reader in silent_readers(progress, 7)] == [
        ("R1", 7.0)
    ]
    assert silent_readers(progress, 7.1) == []


def test_days_in_the_wash_out_period_do_not_count_as_silence(opened: Opened) -> None:
    """The days count from the opening of the next session."""
    store = opened(sessions=2, conditions=["unaided", "image-absent"], washout_days=10, cases=2)
    for _ in range(2):
        case = _case(store)
        _take(store, presentation(case), reading(case))
    assert _progress_of(store, days=9).current is not None
    assert _progress_of(store, days=9).silent_days is None
    assert _progress_of(store, days=13).silent_days == 3.0


def test_each_session_and_each_condition_has_separate_counts(opened: Opened) -> None:
    """Each session and condition has a row, which also states the session's status."""
    store = opened(sessions=2, conditions=["unaided", "image-absent"], washout_days=10, cases=2)
    case = _case(store)
    _take(store, presentation(case), reading(case))
    parts = [
        (part.status.session, part.counts.n_read, part.status.state)
        for part in _progress_of(store).parts
    ]
    assert parts == [(1, 1, SessionState.OPEN), (2, 0, SessionState.WAITING)]
    assert len({part.condition for part in _progress_of(store).parts}) == 2


def test_withdrawn_readers_are_still_counted_in_denominators(opened: Opened) -> None:
    """Their unread cases are counted, and no remaining time is estimated."""
    store = opened()
    case = _case(store)
    _take(store, presentation(case), reading(case))
    interventions.withdraw(
        store, study="trial", reader_id="R1", reason="left", acting=Acting(by=BY, now=NOW)
    )
    study_progress = progress_of(store, "trial", now=NOW)
    assert (study_progress.counts.n_assigned, study_progress.n_cases_left_behind) == (16, 7)
    progress = _progress_of(store, days=9)
    assert (progress.stage, progress.left, progress.silent_days) == (Stage.WITHDRAWN, None, None)
    assert [row.kind for row in interventions.list_interventions(store, "trial")] == ["withdraw"]


def test_simulated_readers_are_not_silent_and_do_not_affect_the_pace(opened: Opened) -> None:
    """The clock of simulated readers is ahead, so estimates do not use their times."""
    store = opened()
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    assert _progress_of(store, days=20).silent_days is None
    assert _progress_of(store, "R2").left is None


def test_a_study_that_is_not_open_has_readers_without_cases(banked: Store) -> None:
    """All counts are 0, and nothing is estimated."""
    draw_trial(banked, {"cases": 4, "one_question_per": "item"})
    invite(banked, "R1")
    progress = progress_of(banked, "trial", now=NOW)
    assert (progress.state, progress.counts, progress.dates["opened"]) == ("drawn", Counts(), None)
    assert (
        _progress_of(banked).stage,
        _progress_of(banked).left,
        _progress_of(banked).current,
    ) == (
        Stage.NOT_BEGUN,
        None,
        None,
    )


HOUR_MS = 3_600_000.0


class ReceivedReading(NamedTuple):
    """The fields of a reading that the pace uses."""

    received_at_utc: str
    response_ms: float | None


def _rows(*seconds: float, response_ms: float | None = 10_000.0) -> list[ReceivedReading]:
    """Return readings that arrived a number of seconds after the beginning."""
    return [ReceivedReading(stamp(NOW + timedelta(seconds=at)), response_ms) for at in seconds]


def test_active_time_runs_from_one_reading_to_the_next() -> None:
    """Six readings every 30 s: the first with its response time of 10 s, then five gaps of 30 s."""
    pace = pace_of(_rows(0, 30, 60, 90, 120, 150))
    assert (pace.n_timed, pace.n_active, pace.active_ms) == (6, 6, 160_000.0)
    assert pace.median_response_ms == 10_000.0
    assert pace.cases_per_hour == pytest.approx(6 * HOUR_MS / 160_000)


def test_a_break_between_two_cases_does_not_count_as_reading_time() -> None:
    """After a break of over ten minutes, a reading counts with its response time only."""
    assert pace_of(_rows(0, 600)).active_ms == 10_000 + 600_000
    assert pace_of(_rows(0, 600.1)).active_ms == 20_000


def test_the_pace_uses_measured_times_only() -> None:
    """A reading after a break without a response time is not counted; there is no median."""
    pace = pace_of(_rows(0, 30, response_ms=None))
    assert (pace.n_timed, pace.median_response_ms) == (0, None)
    assert (pace.n_active, pace.active_ms) == (1, 30_000.0)
    assert pace_of([]).cases_per_hour is None


def _pace(n: int, per_hour: float) -> Pace:
    return Pace(n_timed=n, median_response_ms=1.0, n_active=n, active_ms=n * HOUR_MS / per_hour)


def test_the_time_left_is_estimated_from_the_readers_own_pace() -> None:
    """For 120 cases at 60 per hour it is two hours; at least five readings are needed."""
    left = time_left(120, _pace(5, 60), [_pace(50, 10)])
    assert left is not None
    assert left.hours == pytest.approx(2)
    assert (left.basis, left.n) == (Basis.OWN, 5)


def test_with_few_readings_the_time_left_uses_the_median_pace_of_others() -> None:
    """Four readings are too few; the median of 30, 40 and 100 per hour is 40."""
    left = time_left(80, _pace(4, 60), [_pace(9, 30), _pace(9, 100), _pace(9, 40), _pace(2, 1)])
    assert left is not None
    assert left.hours == pytest.approx(2)
    assert (left.basis, left.n) == (Basis.OTHERS, 3)


def test_without_cases_or_readings_there_is_no_estimate() -> None:
    """The result is None, never 0 hours."""
    assert time_left(0, _pace(50, 60), []) is None
    assert time_left(10, _pace(0, 60), [_pace(4, 60)]) is None


def _assert_cached_readings_are_current(store: Store) -> None:
    """Compare the cached readings with those read again."""
    known = current_readings(store, "trial")
    _CACHE.clear()
    assert known == current_readings(store, "trial")


def test_the_cache_includes_new_readings_and_changed_answers(opened: Opened) -> None:
    """One reader has read; then another reads, and the first changes an answer."""
    store = opened(readers=("R1", "R2"), back_navigation=True)
    reader = person(store)
    case = desk.desk(store, reader, now=NOW).cases[0].case
    first = reading(case)
    desk.take_records(store, reader, [presentation(case), first], now=NOW)
    _assert_cached_readings_are_current(store)
    assert len(current_readings(store, "trial")) == 1
    simulate(store, study="trial", reader_id="R2", seed=1, accuracy=0.7, now=NOW)
    changed = reading(case, "B", id="changed-it", supersedes=first["id"])
    later = NOW + timedelta(minutes=1)
    desk.take_records(store, reader, [changed], now=later)
    of_first = [row for row in current_readings(store, "trial") if row.reader_id == "R1"]
    assert [row.id for row in of_first] == ["changed-it"]
    _assert_cached_readings_are_current(store)


@pytest.mark.usefixtures("cold")
def test_the_cache_is_discarded_when_the_store_is_replaced(opened: Opened) -> None:
    """A backup copied over the store has fewer readings, and then different ones."""
    store = opened(readers=("R1", "R2"))
    before = store.path.with_name("before.db")
    store.copy_to(before)
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    assert {row.reader_id for row in current_readings(store, "trial")} == {"R1"}
    for file in store.path.parent.glob(f"{store.path.name}-*al"):
        file.unlink()
    shutil.copy(before, store.path)
    restored = Store(store.path)
    assert current_readings(restored, "trial") == []
    simulate(restored, study="trial", reader_id="R2", seed=1, accuracy=0.7, now=NOW)
    assert {row.reader_id for row in current_readings(restored, "trial")} == {"R2"}
