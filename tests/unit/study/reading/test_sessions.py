"""Sessions: the wash-out period, deadlines, and the coordinator's interventions."""

import csv
from datetime import datetime, timedelta
from typing import Any

import pytest

from study.base.actor import Acting, By
from study.base.canonical import moment, stamp
from study.base.errors import BadInput, NotAllowed, NotFound, NotNow
from study.exchange.bundle import bundle_files
from study.monitoring import interventions
from study.people.codes import new_code
from study.people.signing_in import has_lost_role, sign_in, signed_in_person
from study.reading import desk
from study.reading.course import sessions_of
from study.reading.desk import Desk
from study.reading.simulation import simulate
from study.store import Store, events, progress
from study.store import studies as stored_studies
from study.store.studies import study_row
from study.trail.verification import verify
from tests.conftest import NOW, entropy_from, person, presentation, reading, tamper

BY = By(name="c", role="coordinator", place="here")
TWO_SESSIONS: dict[str, Any] = {"cases": 2, "sessions": 2, "washout_days": 10}
TWO_CONDITIONS = ["unaided", "image-absent"]
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)


def _desk(store: Store, now: datetime, reader_id: str = "R1") -> Desk:
    return desk.desk(store, person(store, reader_id), now=now)


def _send(
    store: Store, *records: dict[str, Any], now: datetime, reader_id: str = "R1"
) -> dict[str, str]:
    """Send records and return the refusals by id."""
    sent_ms = now.timestamp() * 1000
    sent = [{**record, "sent_epoch_ms": sent_ms} for record in records]
    return dict(desk.take_records(store, person(store, reader_id), sent, now=now).refused)


def _answer(case: str, at: datetime, **changed: Any) -> dict[str, Any]:
    """Return a reading shown half a minute before it was committed."""
    at_ms = at.timestamp() * 1000
    times = {"presented_epoch_ms": at_ms - 30_000, "committed_epoch_ms": at_ms}
    return reading(case, **{**times, **changed})


def _read_session(store: Store, now: datetime, reader_id: str = "R1") -> datetime:
    """Read all available cases, one per two minutes; return the time of the last."""
    while cases := _desk(store, now, reader_id).cases:
        now += MINUTE
        case = cases[0].case
        assert _send(store, presentation(case, now), now=now, reader_id=reader_id) == {}
        now += MINUTE
        assert _send(store, _answer(case, now), now=now, reader_id=reader_id) == {}
    return now


def _intervene(
    store: Store, kind: str, now: datetime, reader_id: str | None = "R1", **more: Any
) -> None:
    values = {
        "study": "trial",
        "reader_id": reader_id,
        "reason": "ill",
        "acting": Acting(by=BY, now=now),
    }
    getattr(interventions, kind)(store, **{**values, **more})


def _session_states(store: Store, now: datetime, reader_id: str = "R1") -> list[str]:
    with store.look() as look:
        study = study_row(look, "trial")
        sessions = sessions_of(look, study, progress.counts(look, study.id), now=now)
    return [str(session.state) for session in sessions if session.reader_id == reader_id]


def test_the_next_session_opens_at_the_end_of_the_wash_out_period(opened: Any) -> None:
    """The opening is exact to the millisecond; positions start again at 1."""
    store = opened(**TWO_SESSIONS, conditions=TWO_CONDITIONS)
    last = _read_session(store, NOW)
    opens = last + 10 * DAY
    held_desk = _desk(store, opens - timedelta(milliseconds=1))
    assert (held_desk.session, held_desk.sessions, held_desk.hold, held_desk.cases) == (
        2,
        2,
        "washing out",
        (),
    )
    assert (held_desk.opens_in_ms, held_desk.total, held_desk.read, held_desk.finished) == (
        1,
        2,
        0,
        False,
    )
    page = _desk(store, opens)
    assert (page.hold, page.opens_at_utc) == ("", None)
    assert [case.position for case in page.cases] == [1, 2]
    assert {case.condition for case in page.cases} == {"image-absent"}
    assert _session_states(store, opens) == ["done", "open"]
    assert _session_states(store, last) == ["done", "washing out"]
    assert _session_states(store, opens, "R2") == ["open", "waiting"]
    _read_session(store, opens)
    assert _desk(store, opens + DAY).finished


def test_a_case_of_a_session_that_is_not_open_is_refused(opened: Any) -> None:
    """Earlier times in the records of the case make no difference."""
    store = opened(**TWO_SESSIONS)
    with store.look() as look:
        rows = look.rows("SELECT id FROM assignments WHERE session = 2 ORDER BY reader, position")
    case = rows[0]["id"]
    for now in (NOW, _read_session(store, NOW) + 9 * DAY):
        old = NOW - 100 * DAY
        refused = _send(store, presentation(case, old), _answer(case, old), now=now)
        assert set(refused.values()) == {"This session is not open yet."}
    assert verify(store) == []


def test_a_corrected_answer_defers_the_next_session(opened: Any) -> None:
    """The wash-out starts at the correction, which is refused once the next session has started."""
    store = opened(**TWO_SESSIONS, back_navigation=True)
    first = _desk(store, NOW).cases[0].case
    last = _read_session(store, NOW)
    with pytest.raises(NotNow, match="at the moment"):
        desk.case_at(store, person(store), 1, now=last)
    corrected = _answer(first, last, id="corrected-1", option="B", supersedes=f"read-{first}")
    later = last + 3 * DAY
    assert _send(store, corrected, now=later) == {}
    assert _desk(store, later + 9 * DAY).hold == "washing out"
    start = later + 10 * DAY
    case = _desk(store, start).cases[0].case
    _send(store, presentation(case, start), _answer(case, start), now=start)
    repeated = {**corrected, "id": "corrected-2", "supersedes": "corrected-1"}
    assert "next session has started" in _send(store, repeated, now=start)["corrected-2"]
    assert desk.case_at(store, person(store), 1, now=start).case == case
    with pytest.raises(NotFound):
        desk.case_at(store, person(store), 3, now=start)


def test_during_a_pause_only_cases_shown_before_it_are_accepted(opened: Any) -> None:
    """A late answer is flagged; a case first shown in the pause is refused and shown again."""
    store = opened(cases=4)
    on_screen, offline, unseen, _ = (row for row in _cases(store))
    _send(store, presentation(on_screen, NOW), now=NOW)
    _intervene(store, "pause", NOW + MINUTE, None)
    held_desk = _desk(store, NOW + MINUTE)
    assert (held_desk.hold, held_desk.cases, held_desk.preparation) == ("paused", (), ())
    hour = NOW + timedelta(hours=1)
    assert _send(store, _answer(on_screen, hour), now=hour) == {}
    before = _answer(offline, NOW + timedelta(seconds=40))
    assert _send(store, before, now=hour) == {}
    for record in (presentation(unseen, hour), _answer(unseen, hour)):
        assert set(_send(store, record, now=hour).values()) == {"Reading is paused."}
    assert _send(store, _answer(on_screen, hour), before, now=hour) == {}, "sent again after a loss"
    with store.look() as look:
        flags = look.rows("SELECT flags FROM readings")
    assert all("received_while_paused" in row["flags"] for row in flags)
    _intervene(store, "resume", hour, None)
    assert next(case.case for case in _desk(store, hour).cases) == unseen
    assert _send(store, presentation(unseen, hour), _answer(unseen, hour), now=hour) == {}
    assert verify(store) == []


def _cases(store: Store, reader_id: str = "R1") -> list[str]:
    with store.look() as look:
        rows = look.rows(
            "SELECT assignments.id FROM assignments JOIN readers ON readers.id = reader "
            "WHERE reader_id = :who ORDER BY position",
            who=reader_id,
        )
    return [row["id"] for row in rows]


def test_the_time_of_a_presentation_is_corrected_for_the_clock_of_the_browser(opened: Any) -> None:
    """By a clock that is an hour slow, a case seems to have been shown before the pause."""
    store = opened(cases=4)
    case = _cases(store)[0]
    _intervene(store, "pause", NOW, None)
    slow = NOW - timedelta(minutes=55)
    sent = {**presentation(case, slow), "sent_epoch_ms": slow.timestamp() * 1000}
    now = NOW + timedelta(minutes=5)
    receipt = desk.take_records(store, person(store), [sent], now=now)
    assert [reason for _, reason in receipt.refused] == ["Reading is paused."]


def test_pauses_of_a_reader_and_of_the_study_are_independent(opened: Any) -> None:
    """Neither of the two can be started or ended twice."""
    store = opened()
    _intervene(store, "pause", NOW)
    assert (_desk(store, NOW).hold, _desk(store, NOW, "R2").hold) == ("paused", "")
    _intervene(store, "pause", NOW, None)
    assert _desk(store, NOW, "R2").hold == "paused"
    _intervene(store, "resume", NOW, None)
    assert (_desk(store, NOW).hold, _desk(store, NOW, "R2").hold) == ("paused", "")
    with pytest.raises(NotNow, match="R1 is already paused"):
        _intervene(store, "pause", NOW)
    _intervene(store, "resume", NOW)
    assert _desk(store, NOW).hold == ""
    with pytest.raises(NotNow, match="trial is not paused"):
        _intervene(store, "resume", NOW, None)


def test_a_session_past_its_deadline_resumes_after_an_extension_or_release(opened: Any) -> None:
    """Days count from the first presentation; an extension after the deadline counts from then."""
    store = opened(cases=4, session_days=2)
    assert _desk(store, NOW + 99 * DAY).hold == "", "a session that has not begun has no deadline"
    cases = _cases(store)
    _send(store, presentation(cases[0], NOW), now=NOW)
    end = NOW + 2 * DAY
    assert _desk(store, end - MINUTE).hold == ""
    assert (_desk(store, end).hold, _session_states(store, end)) == ("lapsed", ["lapsed"])
    refused = _send(store, presentation(cases[1], end), now=end)
    assert list(refused.values()) == ["The deadline for this session has passed."]
    assert _send(store, _answer(cases[0], end + DAY), now=end + DAY) == {}
    with store.look() as look:
        assert "received_after_lapse" in look.value("SELECT flags FROM readings")
    _intervene(store, "extend", end + DAY, session=1, days=1)
    assert _desk(store, end + 2 * DAY - MINUTE).hold == ""
    assert _desk(store, end + 2 * DAY).hold == "lapsed"
    _intervene(store, "release", end + 9 * DAY, session=1)
    assert _desk(store, end + 999 * DAY).hold == ""
    with pytest.raises(NotNow, match="no deadline"):
        _intervene(store, "extend", NOW, session=1, days=1)
    assert _session_states(store, end + 999 * DAY, "R2") == ["open"]


def test_the_next_session_does_not_open_while_a_session_is_past_its_deadline(opened: Any) -> None:
    """The cases of that session are not skipped; the coordinator decides."""
    store = opened(**TWO_SESSIONS, session_days=1)
    case = _cases(store)[0]
    _send(store, presentation(case, NOW), _answer(case, NOW), now=NOW)
    assert _session_states(store, NOW + 99 * DAY) == ["lapsed", "waiting"]


def test_an_invalid_intervention_is_refused_with_its_reason(opened: Any) -> None:
    """The reason, reader, session or deadline is missing or invalid."""
    store = opened(cases=2)
    for action, more, error, message in (
        ("pause", {"reason": " "}, BadInput, "Give a reason"),
        ("pause", {"reader_id": "R9"}, NotFound, "no reader R9"),
        ("extend", {"session": 1, "days": 1}, NotNow, "no deadline"),
        ("extend", {"session": 1, "days": 0}, BadInput, "above 0"),
        ("extend", {"session": 1, "days": float("nan")}, BadInput, "above 0"),
        ("release", {"session": 2}, NotFound, "no session 2"),
        ("resume", {"study": "none"}, NotFound, "none"),
    ):
        with pytest.raises(error, match=message):
            _intervene(store, action, NOW, **more)
    _read_session(store, NOW)
    with pytest.raises(NotNow, match="been completed"):
        _intervene(store, "release", NOW, session=1)
    with store.look() as look:
        assert look.value("SELECT count(*) FROM interventions") == 0


def test_a_withdrawn_reader_loses_access_and_the_readings_are_kept(opened: Any) -> None:
    """Later records are refused, and other readers continue."""
    store = opened()
    source = entropy_from(200 + sum(map(ord, "R1R2")))
    code = new_code(source).text
    token = sign_in(store, code, entropy=entropy_from(5), now=NOW).token
    case = _cases(store)[0]
    _send(store, presentation(case, NOW), _answer(case, NOW), now=NOW)
    with store.look() as look:
        assert not has_lost_role(look, token, now=NOW)
    _intervene(store, "withdraw", NOW)
    with store.look() as look:
        assert has_lost_role(look, token, now=NOW)
    assert signed_in_person(store, token, now=NOW) is None
    with pytest.raises(NotAllowed, match="no longer have a role in any study"):
        sign_in(store, code, entropy=entropy_from(6), now=NOW)
    held_desk = _desk(store, NOW)
    assert (held_desk.hold, held_desk.cases, held_desk.read) == ("withdrawn", (), 1)
    late = _cases(store)[1]
    refused = _send(store, presentation(late, NOW), _answer(late, NOW), now=NOW)
    assert set(refused.values()) == {"You have left this study."}
    with pytest.raises(NotNow, match="R1 has left"):
        _intervene(store, "pause", NOW)
    assert _desk(store, NOW, "R2").hold == ""
    assert verify(store) == []


def test_a_closed_study_shows_no_cases_and_accepts_no_answers(opened: Any) -> None:
    """Readers who have read everything see the same page as before."""
    store = opened(cases=2)
    _read_session(store, NOW, "R2")
    with store.change() as change:
        stored_studies.mark_closed(change, study_row(change, "trial").id, stamp(NOW))
    assert (_desk(store, NOW).hold, _desk(store, NOW).cases) == ("closed", ())
    assert (_desk(store, NOW, "R2").hold, _desk(store, NOW, "R2").finished) == ("", True)
    case = _cases(store)[0]
    with pytest.raises(NotNow, match="answers are no longer accepted"):
        _send(store, _answer(case, NOW), now=NOW)
    with pytest.raises(NotNow, match="not open"):
        _intervene(store, "pause", NOW)


def test_the_trail_records_each_intervention(opened: Any) -> None:
    """The event has the person, the reason and the address."""
    store = opened(session_days=3)
    _intervene(store, "extend", NOW, session=1, days=2)
    _intervene(store, "pause", NOW, None)
    with store.look() as look:
        trail = list(events.walk(look, events.study_chain("trial")))[-2:]
    values = {"reason": "ill", "role": "coordinator", "place": "here"}
    assert [(event.kind, event.actor, event.detail) for event in trail] == [
        ("session extended", "c", {"reader_id": "R1", "session": 1, "days": 2.0, **values}),
        ("reading paused", "c", {"old": "reading", "new": "paused", **values}),
    ]
    assert verify(store) == []


@pytest.mark.parametrize(
    ("statement", "breach"),
    [
        ("UPDATE interventions SET reason = 'well' WHERE id = 1", "intervention 1: reason altered"),
        ("UPDATE interventions SET days = 9 WHERE kind = 'extend'", "intervention 2: days altered"),
        ("UPDATE interventions SET reader = 2 WHERE id = 2", "intervention 2: reader_id altered"),
        ("UPDATE interventions SET actor = 'x' WHERE id = 1", "intervention 1: actor altered"),
        ("DELETE FROM interventions WHERE id = 2", "intervention 2 (session extended) is missing"),
        (
            "INSERT INTO interventions (study, kind, reason, actor, at_utc) "
            "VALUES (1, 'resume', 'x', 'c', '2025-06-04T12:00:00.000Z')",
            "intervention 3 was inserted",
        ),
    ],
)
def test_verification_reports_an_altered_intervention(
    opened: Any, statement: str, breach: str
) -> None:
    """Altered, deleted and inserted rows are reported."""
    store = opened(session_days=3)
    _intervene(store, "pause", NOW)
    _intervene(store, "extend", NOW, session=1, days=2)
    tamper(store, statement)
    assert verify(store) == [f"study trial: {breach}."]


def test_a_simulated_reader_respects_the_wash_out(opened: Any) -> None:
    """The clock of a simulated reader is advanced instead of waiting."""
    store = opened(**TWO_SESSIONS, conditions=TWO_CONDITIONS, hidden_repeats=1)
    result = simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    assert result.n_read == 6
    with store.look() as look:
        study = study_row(look, "trial")
        n_by_reader = progress.counts(look, study.id)
        first, second, *_ = sessions_of(look, study, n_by_reader, now=NOW)
    assert first.last_at_utc is not None
    assert second.first_at_utc is not None
    assert moment(second.first_at_utc) - moment(first.last_at_utc) >= 10 * DAY
    assert verify(store) == []
    _intervene(store, "pause", NOW, "R2")
    held = simulate(store, study="trial", reader_id="R2", seed=1, accuracy=0.7, now=NOW)
    assert held.n_read == 0


def test_the_bundle_has_the_session_position_and_repeat_of_a_reading(opened: Any) -> None:
    """If a condition is repeated, its readings are numbered as further repeats."""
    store = opened(readers=("R1",), cases=2, sessions=2, washout_days=1, hidden_repeats=1)
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    table = bundle_files(store, "trial")["readings.csv"].decode().splitlines()
    rows = list(csv.DictReader(table))
    assert [row["session"] for row in rows] == ["1"] * 3 + ["2"] * 3
    assert [row["position"] for row in rows] == list("123456")
    repeats: dict[str, list[str]] = {}
    for row in rows:
        repeats.setdefault(row["item_id"], []).append(row["repeat"])
    assert all(numbers == [str(n + 1) for n in range(len(numbers))] for numbers in repeats.values())
    assert sum(map(len, repeats.values())) == 6
