"""Clocks that run backwards: written down when it happens, found when a store is verified."""

from collections.abc import Callable
from datetime import timedelta

from study.reading import desk
from study.reading.simulation import simulate
from study.store import Store, events
from study.trail.verification import remarks, verify
from tests.conftest import NOW, person, presentation, reading, tamper

Opened = Callable[..., Store]


def _read(store: Store, after: timedelta) -> desk.Acknowledgement:
    me = person(store)
    (case, *_) = desk.desk(store, me, now=NOW + after).cases
    records = [presentation(case.case), reading(case.case)]
    return desk.take_records(store, me, records, now=NOW + after)


def test_a_clock_set_back_is_noted_once_and_no_answer_is_refused(opened: Opened) -> None:
    """The trail says from when on the times are other ones, and verify tells of it."""
    store = opened(cases=8)
    assert _read(store, timedelta(days=3)).refused == ()
    for minutes in (0, 1, 2):
        assert _read(store, timedelta(minutes=minutes)).refused == ()
    with store.look() as look:
        noted = events.of_kind(look, "study:trial", events.EventKind.CLOCK_WENT_BACK)
    assert noted == [{"old": "2025-06-07T12:00:00.000Z", "new": "2025-06-04T12:00:00.000Z"}]
    assert verify(store) == []
    (remark,) = remarks(store)
    assert remark == (
        "study:trial: the clock went back by 72.0 h at event 9, from "
        "2025-06-07T12:00:00.000Z to 2025-06-04T12:00:00.000Z."
    )


def test_a_clock_that_is_set_right_is_remarked_and_no_breach(opened: Opened) -> None:
    """By less than two minutes nothing is said, by ten it is, by an hour an event tells."""
    store = opened(cases=8)
    _read(store, timedelta(minutes=20))
    _read(store, timedelta(minutes=19))
    assert remarks(store) == []
    _read(store, timedelta(minutes=9))
    assert verify(store) == []
    assert "the clock went back by 10 min" in remarks(store)[0]


def test_an_event_dated_back_behind_the_programs_back_is_named(opened: Opened) -> None:
    """A chain written anew with another time: the program would have noted that itself."""
    store = opened(cases=8)
    before = NOW - timedelta(days=2)
    with store.change() as change:
        events.append(
            change,
            chain="study:trial",
            at_utc=before.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            actor="x",
            kind=events.EventKind.DOWNLOADED,
            detail={},
        )
    (found,) = verify(store)
    assert found == (
        "study:trial: event 7 (downloaded) is dated 2025-06-02T12:00:00.000Z, "
        "48.0 h before event 6."
    )


def test_the_clock_of_a_simulated_reader_runs_ahead_of_all(opened: Opened) -> None:
    """Who reads after them is not behind."""
    store = opened(readers=("R1", "R2", "R3"), cases=12)
    for who in ("R2", "R3"):
        simulate(store, study="trial", reader_id=who, seed=1, accuracy=0.7, now=NOW)
    with store.change() as change:
        events.append(
            change,
            chain="study:trial",
            at_utc="2025-06-09T12:00:00.000Z",
            actor="R3",
            kind=events.EventKind.SIGNED_OUT,
            detail={},
        )
    _read(store, timedelta())
    assert (verify(store), remarks(store)) == ([], [])


def test_triggers_indexes_tables_and_references_are_part_of_verify(opened: Opened) -> None:
    """What was taken away, altered or added, and what refers to nothing, each by its name."""
    store = opened(cases=8)
    for statement, found in (
        ("DROP TRIGGER readings_refuse_update", "the trigger readings_refuse_update is missing."),
        ("DROP INDEX one_first_reading", "the index one_first_reading is missing."),
        ("CREATE TABLE notes (words TEXT)", "the table notes is not one of this program's."),
        ("ALTER TABLE drafts ADD COLUMN x TEXT", "the table drafts was altered."),
    ):
        before = set(verify(store))
        with store.change() as change:
            change.execute(statement)
        assert set(verify(store)) - before == {f"the store: {found}"}
    tamper(store, "UPDATE cases SET item = 999 WHERE number = 1")
    assert any(
        "of cases refers to a row of items that is not there" in one for one in verify(store)
    )


def test_what_belongs_to_the_deployment_is_vouched_for(opened: Opened) -> None:
    """A sign-in of one's own, somebody else's account, a made-up backup, another secret."""
    store = opened(cases=8)
    for statement, found in (
        (
            "INSERT INTO sign_ins (id, person, at_utc) SELECT 'x', id, made_at_utc FROM people "
            "LIMIT 1",
            "was slipped in.",
        ),
        (
            "INSERT INTO identities SELECT 'https://id', '7', id, made_at_utc FROM people LIMIT 1",
            "elsewhere was slipped in.",
        ),
        (
            "INSERT INTO backups (file, made_at_utc, trigger, actor, n_bytes, sha256, finding) "
            "VALUES ('a.db', 'x', 'hand', 'x', 1, 'x', '')",
            "the backup a.db: it was slipped in or altered.",
        ),
        ("INSERT INTO places VALUES ('abc', '10.0.0.1', '', 'x')", "place abc was altered."),
        (
            "UPDATE deployment SET value = 'ff' WHERE name = 'deployment_id'",
            "the deployment: its id was altered.",
        ),
        (
            f"UPDATE deployment SET value = '{'0' * 64}' WHERE name = 'secret'",
            "the deployment: its secret was exchanged.",
        ),
    ):
        before = set(verify(store))
        tamper(store, statement)
        (new,) = set(verify(store)) - before
        assert new.endswith(found)
