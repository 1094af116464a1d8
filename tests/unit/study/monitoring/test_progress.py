"""The overview's numbers: honest denominators, stages, silence, and never right or wrong."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from study.base.actor import By
from study.lifecycle import studies
from study.monitoring import interventions
from study.monitoring.progress import Counts, ReaderProgress, Stage, progress_of, silent
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
