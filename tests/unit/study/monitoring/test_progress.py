"""The overview's numbers: honest denominators, stages, pace, silence, and never right or wrong."""

import shutil
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

import pytest

from study.base.actor import By
from study.base.canonical import stamp
from study.lifecycle import studies
from study.monitoring import interventions
from study.monitoring.progress import (
    _KNOWN,
    Basis,
    Counts,
    Pace,
    ReaderProgress,
    Stage,
    pace_of,
    progress_of,
    silent,
    time_left,
)
from study.monitoring.quality import readings_of
from study.protocol.protocol import Protocol
from study.reading import desk
from study.reading.course import SessionState
from study.reading.simulation import simulate
from study.store import Store
from tests.conftest import NOW, invite, person, preparation, presentation, reading

Opened = Callable[..., Store]
BY = By(name="c", role="coordinator")


def _take(store: Store, *records: Any, reader_id: str = "R1", hours: float = 0) -> None:
    now = NOW + timedelta(hours=hours)
    assert desk.take_records(store, person(store, reader_id), records, now=now).refused == ()


def _case(store: Store, reader_id: str = "R1") -> str:
    return desk.desk(store, person(store, reader_id), now=NOW).cases[0].case


def _one(store: Store, reader_id: str = "R1", days: float = 0) -> ReaderProgress:
    found = progress_of(store, "trial", now=NOW + timedelta(days=days))
    return next(one for one in found.readers if one.reader_id == reader_id)


def test_every_case_is_counted_by_what_became_of_it(opened: Opened) -> None:
    """Answered, given up, timed out and only presented: each out of those assigned."""
    store = opened(cannot_answer=True, time_limit_s=60)
    for option, changed in (
        ("A", {}),
        (None, {"status": "skipped", "reason": "dark"}),
        (None, {"status": "timed_out"}),
    ):
        case = _case(store)
        _take(store, presentation(case), reading(case, option, **changed))
    _take(store, presentation(_case(store)))
    assert _one(store).counts == Counts(
        n_assigned=8, n_presented=4, n_read=3, n_answered=1, n_skipped=1, n_timed_out=1
    )
    assert progress_of(store, "trial", now=NOW).counts.n_assigned == 16


def test_the_stages_of_a_reader(opened: Opened) -> None:
    """Not begun, preparing, practising, reading, finished."""
    store = opened(instructions="Read.", practice_cases=1)
    stages = [_one(store).stage]
    _take(store, preparation("instructions"))
    stages.append(_one(store).stage)
    case = _case(store)
    _take(store, presentation(case), reading(case))
    stages.append(_one(store).stage)
    _take(store, presentation(_case(store)))
    stages.append(_one(store).stage)
    simulate(store, study="trial", reader_id="R2", seed=1, accuracy=0.7, now=NOW)
    stages.append(_one(store, "R2").stage)
    assert stages == [
        Stage.NOT_BEGUN,
        Stage.PREPARING,
        Stage.PRACTISING,
        Stage.READING,
        Stage.FINISHED,
    ]


def test_a_changed_answer_is_one_reading(opened: Opened) -> None:
    """It is counted once, and its pace is of the first time."""
    store = opened(back_navigation=True)
    case = _case(store)
    _take(store, presentation(case), reading(case))
    _take(store, reading(case, "B", id="second-answer", supersedes=f"read-{case}"))
    one = _one(store)
    assert (one.counts.n_read, one.pace.n_timed) == (1, 1)
    assert len(progress_of(store, "trial", now=NOW).arrivals["R1"]) == 1


def test_silence_is_told_of_whoever_has_begun_and_could_read(opened: Opened) -> None:
    """Not of those who never began, nor of those who are paused or done."""
    store = opened(readers=("R1", "R2", "R3"))
    for who in ("R1", "R3"):
        case = _case(store, who)
        _take(store, presentation(case), reading(case), reader_id=who)
    about: dict[str, Any] = {"study": "trial", "reason": "leave", "by": BY, "now": NOW}
    interventions.pause(store, reader_id="R3", **about)
    found = progress_of(store, "trial", now=NOW + timedelta(days=7))
    assert [(one.reader_id, one.silent_days) for one in silent(found, 7)] == [("R1", 7.0)]
    assert silent(found, 7.1) == []


def test_a_wash_out_is_no_silence(opened: Opened) -> None:
    """Whoever may not read yet is not silent; from the opening on the days count."""
    store = opened(sessions=2, conditions=["unaided", "image-absent"], washout_days=10, cases=2)
    for _ in range(2):
        case = _case(store)
        _take(store, presentation(case), reading(case))
    assert _one(store, days=9).current is not None
    assert _one(store, days=9).silent_days is None
    assert _one(store, days=13).silent_days == 3.0


def test_sessions_and_conditions_each_have_their_own_counts(opened: Opened) -> None:
    """One row a session and condition, with where the session stands."""
    store = opened(sessions=2, conditions=["unaided", "image-absent"], washout_days=10, cases=2)
    case = _case(store)
    _take(store, presentation(case), reading(case))
    parts = [
        (one.standing.session, one.counts.n_read, one.standing.state) for one in _one(store).parts
    ]
    assert parts == [(1, 1, SessionState.OPEN), (2, 0, SessionState.WAITING)]
    assert len({one.condition for one in _one(store).parts}) == 2


def test_withdrawn_readers_stay_in_the_denominators(opened: Opened) -> None:
    """What they left unread is named; nothing is estimated for them."""
    store = opened()
    case = _case(store)
    _take(store, presentation(case), reading(case))
    interventions.withdraw(store, study="trial", reader_id="R1", reason="left", by=BY, now=NOW)
    found = progress_of(store, "trial", now=NOW)
    assert (found.counts.n_assigned, found.n_cases_left_behind) == (16, 7)
    one = _one(store, days=9)
    assert (one.stage, one.left, one.silent_days) == (Stage.WITHDRAWN, None, None)
    assert [row.kind for row in interventions.listed(store, "trial")] == ["withdraw"]


def test_simulated_readers_say_nothing_of_how_fast_people_are(opened: Opened) -> None:
    """Their clock runs ahead: no silence, and nobody's time left rests on theirs."""
    store = opened()
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    assert _one(store, days=20).silent_days is None
    assert _one(store, "R2").left is None


def test_a_study_that_is_not_open_has_readers_without_cases(banked: Store) -> None:
    """Nothing assigned, nothing to divide by, nothing made up."""
    protocol = Protocol.from_json({"cases": 4, "one_question_per": "item"})
    studies.draw(banked, bank="bank", study="trial", protocol=protocol, now=NOW)
    invite(banked, "R1")
    found = progress_of(banked, "trial", now=NOW)
    assert (found.state, found.counts, found.dates["opened"]) == ("drawn", Counts(), None)
    assert (_one(banked).stage, _one(banked).left, _one(banked).current) == (
        Stage.NOT_BEGUN,
        None,
        None,
    )


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


def _both(store: Store) -> None:
    """Compare what is known already with what is read anew."""
    known = readings_of(store, "trial")
    _KNOWN.clear()
    assert known == readings_of(store, "trial")


def test_new_readings_and_changed_answers_are_seen(opened: Opened) -> None:
    """One reader has read; then another reads, and the first changes an answer."""
    store = opened(readers=("R1", "R2"), back_navigation=True)
    who = person(store)
    case = desk.desk(store, who, now=NOW).cases[0].case
    first = reading(case)
    desk.take_records(store, who, [presentation(case), first], now=NOW)
    _both(store)
    assert len(readings_of(store, "trial")) == 1
    simulate(store, study="trial", reader_id="R2", seed=1, accuracy=0.7, now=NOW)
    changed = reading(case, "B", id="changed-it", supersedes=first["id"])
    later = NOW + timedelta(minutes=1)
    desk.take_records(store, who, [changed], now=later)
    of_first = [one for one in readings_of(store, "trial") if one.reader_id == "R1"]
    assert [one.id for one in of_first] == ["changed-it"]
    _both(store)


@pytest.mark.usefixtures("cold")
def test_another_store_in_its_place_is_read_anew(opened: Opened) -> None:
    """A backup put in place of the store has fewer readings, and then others."""
    store = opened(readers=("R1", "R2"))
    before = store.path.with_name("before.db")
    store.copy_to(before)
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    assert {one.reader_id for one in readings_of(store, "trial")} == {"R1"}
    for left in store.path.parent.glob(f"{store.path.name}-*al"):
        left.unlink()
    shutil.copy(before, store.path)
    again = Store(store.path)
    assert readings_of(again, "trial") == []
    simulate(again, study="trial", reader_id="R2", seed=1, accuracy=0.7, now=NOW)
    assert {one.reader_id for one in readings_of(again, "trial")} == {"R2"}
