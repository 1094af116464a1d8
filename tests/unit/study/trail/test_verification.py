"""Verification reports every alteration of the store by other programs."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from study.bank.importing import import_bank
from study.base.errors import BrokenStore
from study.lifecycle import studies
from study.models.models import add_model, withdraw_model
from study.reading import desk
from study.reading.simulation import simulate
from study.store import Store, events
from study.trail.verification import check_chain, remarks, verify, verify_study
from tests import templates
from tests.conftest import (
    ACTING,
    NOW,
    bank_records,
    bank_store,
    draw_trial,
    invite,
    open_trial,
    person,
    presentation,
    reading,
    tamper,
    write_bank,
)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a store whose readers and model M1 are complete; M0 was withdrawn."""
    folder = tmp_path_factory.mktemp("verified")
    store = bank_store(folder)
    open_trial(store, {"cases": 8, "one_question_per": "item"}, "R1", "R2")
    for reader in ("R1", "R2"):
        simulate(store, study="trial", reader_id=reader, seed=1, accuracy=0.7, now=NOW)
    file = folder / "model.json"
    answers = {item_id: {"model_prediction": "A"} for item_id in bank_records(12)}
    file.write_text(json.dumps(answers))
    add_model(store, file, study="trial", model_id="M0", acting=ACTING)
    withdraw_model(store, study="trial", model_id="M0", reason="The wrong file", acting=ACTING)
    add_model(store, file, study="trial", model_id="M1", model_version="2", acting=ACTING)
    return store.path


@pytest.fixture
def read_study(original: Path, tmp_path: Path) -> Store:
    """Return a copy of that store that a test may alter."""
    return Store(templates.copy_store(original, tmp_path / "copy.db"))


def test_an_unaltered_store_has_no_breach(read_study: Store) -> None:
    """The study in this store is complete."""
    assert verify(read_study) == []


def test_an_altered_pixel_spacing_is_reported(store: Store, tmp_path: Path) -> None:
    """A changed value and a deleted value are reported."""
    path = write_bank(tmp_path / "bank")
    records = json.loads(path.read_text())
    path.write_text(
        json.dumps({key: record | {"spacing_mm": 0.143} for key, record in records.items()})
    )
    import_bank(store, path, name="bank", images=path.parent, acting=ACTING)
    assert verify(store) == []
    for value in ("0.2", "NULL"):
        store.copy_to(tmp_path / f"{value}.db")
        copy = Store(tmp_path / f"{value}.db")
        tamper(copy, f"UPDATE films SET spacing_mm = {value} WHERE id = 1")
        assert "bank bank: its items" in verify(copy)[0]


def test_a_study_in_any_state_has_no_breach(banked: Store) -> None:
    """The study is checked after each step from the import to the opening."""
    assert verify(banked) == []
    draw_trial(banked, {"cases": 8, "one_question_per": "item"})
    assert verify(banked) == []
    invite(banked, "R1")
    assert verify(banked) == []
    studies.open_study(banked, study="trial", acting=ACTING)
    invite(banked, "R2")
    assert verify(banked) == []


ALTERATIONS = [
    # readings, presentations, events
    ("UPDATE readings SET answer = 'D', response_ms = 1 WHERE rowid = 3", "was altered"),
    ("UPDATE readings SET flags = '[\"x\"]' WHERE rowid = 1", "was altered"),
    ("UPDATE readings SET response_ms = 9e999 WHERE rowid = 1", "was altered"),
    ("DELETE FROM readings WHERE rowid = 5", "is missing"),
    ("UPDATE presentations SET received_at_utc = 'x' WHERE rowid = 2", "was altered"),
    ("UPDATE events SET actor = 'x' WHERE kind = 'case read' AND number = 13", "was altered"),
    ("UPDATE events SET detail = '{}' WHERE kind = 'case read' AND number = 13", "was altered"),
    ("UPDATE events SET detail = 'x' WHERE kind = 'case read'", "cannot be read"),
    ("UPDATE events SET detail = '{\"a\":9e999}' WHERE kind = 'case read'", "was altered"),
    ("DELETE FROM events WHERE number = 7 AND chain LIKE 'study:%'", "event 7 is missing"),
    ("DELETE FROM events WHERE chain LIKE 'study:%' AND number > 30", "cut off"),
    ("DELETE FROM chain_heads WHERE chain = 'study:trial'", "cut off"),
    ("DELETE FROM events WHERE chain = 'deployment'", "cut off"),
    # the bank
    ("UPDATE banks SET name = 'other'", "bank other: it was inserted"),
    ("UPDATE banks SET simulated = 1", "bank bank: simulated altered"),
    ("UPDATE banks SET source_sha256 = 'x'", "bank bank: source_sha256 altered"),
    ("UPDATE banks SET content_sha256 = 'x'", "bank bank: content_sha256 altered"),
    ("UPDATE reference_standard SET truth = 'A'", "bank bank: its items"),
    ("DELETE FROM reference_standard WHERE item = 1", "bank bank: its items"),
    ("UPDATE items SET question = question || '?' WHERE id = 1", "bank bank: its items"),
    ("UPDATE items SET options = 'x' WHERE id = 1", "bank bank: its items"),
    ("UPDATE items SET question = CAST(x'ff' AS TEXT) WHERE id = 1", "bank bank: cannot be"),
    ("UPDATE explanations SET words = 'x' WHERE item = 1", "bank bank: its items"),
    ("UPDATE report_texts SET words = 'x' WHERE item = 1", "bank bank: its items"),
    ("UPDATE item_views SET label = 'x' WHERE item = 1", "bank bank: its items"),
    *(
        (f"UPDATE films SET {column} = {value} WHERE id = 1", "bank bank: its items")
        for column, value in (
            ("sha256", "'x'"),
            ("path", "'x'"),
            ("low", "low + 1"),
            ("high", "high - 1"),
            ("width", "width + 1"),
            ("height", "height + 1"),
            ("bits", "24 - bits"),
            ("n_bytes", "n_bytes + 1"),
            ("spacing_mm", "0.2"),
        )
    ),
    # the study
    ("UPDATE studies SET protocol = replace(protocol, '8', '9')", "protocol was altered"),
    ("UPDATE studies SET protocol = '{}'", "protocol was altered"),
    ("UPDATE studies SET protocol = 'x', protocol_sha256 = 'y'", "protocol was altered"),
    ("UPDATE studies SET state = 'drawn'", "study trial: state altered"),
    ("UPDATE studies SET state = 'closed'", "study trial: state altered"),
    ("UPDATE studies SET opened_at_utc = 'x'", "study trial: opened_at_utc altered"),
    ("UPDATE studies SET drawn_at_utc = 'x'", "study trial: drawn_at_utc altered"),
    ("UPDATE cases SET stratum = 'x' WHERE number = 1", "cases or their strata"),
    ("DELETE FROM cases WHERE number = 8", "cases or their strata"),
    ("UPDATE assignments SET shown_order = 'DCBA' WHERE position = 1", "assignments of R1"),
    ("DELETE FROM assignments", "assignments of R2"),
    # readers and models
    *(
        (f"UPDATE readers SET {column} = {value}", f"the reader R1: {column} altered")
        for column, value in (
            ("simulated", "0"),
            ("level", "'professor'"),
            ("years", "'30'"),
            ("site", "'x'"),
            ("invited_at_utc", "'x'"),
        )
    ),
    ("DELETE FROM readers WHERE reader_id = 'R2'", "the reader R2 is missing"),
    (
        "INSERT INTO readers (study, reader_id, level, years, site, simulated, invited_at_utc) "
        "SELECT study, 'R3', level, years, site, simulated, invited_at_utc FROM readers LIMIT 1",
        "the reader R3 was inserted",
    ),
    *(
        (f"UPDATE models SET {column} = {value}", f"the model M1: {message} altered")
        for column, value, message in (
            ("simulated", "1", "simulated"),
            ("model_version", "'3'", "model_version"),
            ("source_sha256", "'x'", "source_sha256"),
            ("source_name", "'x'", "source"),
            ("added_at_utc", "'x'", "added_at_utc"),
        )
    ),
    ("DELETE FROM models", "the model M1 is missing"),
    ("UPDATE models SET model_id = 'M2' WHERE model_id = 'M1'", "the model M2 was inserted"),
    ("UPDATE predictions SET answer = 'B' WHERE case_id = 1", "predictions of M1"),
    ("UPDATE predictions SET raw_answer = 'B' WHERE case_id = 1", "predictions of M1"),
    ("DELETE FROM predictions WHERE case_id = 1", "predictions of M1"),
    (
        "INSERT INTO withdrawn_models SELECT id, 'r', 'c', 'x' FROM models WHERE model_id = 'M1'",
        "the model M1 is marked as withdrawn, and no event records it",
    ),
    ("UPDATE models SET edition = 2 WHERE model_id = 'M1'", "the model M1 was inserted"),
    ("DELETE FROM withdrawn_models", "the model M0: its withdrawal was undone"),
    ("UPDATE withdrawn_models SET reason = 'x'", "the model M0: its withdrawal was altered"),
    ("UPDATE withdrawn_models SET actor = 'x'", "the model M0: its withdrawal was altered"),
    ("UPDATE withdrawn_models SET at_utc = 'x'", "the model M0: its withdrawal was altered"),
    ("DELETE FROM models WHERE model_id = 'M0'", "the model M0 is missing"),
    ("UPDATE predictions SET answer = 'B' WHERE model = 1", "predictions of M0"),
]


@pytest.mark.parametrize(("statement", "message"), ALTERATIONS, ids=[row[0] for row in ALTERATIONS])
def test_the_checks_of_a_study_report_each_alteration(
    read_study: Store, statement: str, message: str
) -> None:
    """A sentence names each kind of change; no alteration causes a traceback."""
    tamper(read_study, statement)
    breaches = verify_study(read_study, "trial").breaches
    assert any(message in breach for breach in breaches), breaches


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE readings SET answer = 'D', response_ms = 1 WHERE rowid = 3", "was altered"),
        ("DELETE FROM banks", "bank bank: it was imported, and is missing"),
        ("UPDATE studies SET name = 'other'", "study:trial: its events exist"),
    ],
)
def test_the_complete_verification_reports_an_alteration(
    read_study: Store, statement: str, message: str
) -> None:
    """The complete verification includes the studies, the banks, and events without a study."""
    tamper(read_study, statement)
    breaches = verify(read_study)
    assert any(message in breach for breach in breaches), breaches


def test_exchanged_assignments_are_reported(read_study: Store) -> None:
    """Exchanging the IDs of two assignments would move answers to other cases."""
    with read_study.look() as look:
        first, second = look.rows("SELECT id FROM assignments WHERE reader = 1 LIMIT 2")
    tamper(
        read_study,
        f"UPDATE assignments SET id = 'x' WHERE id = '{first['id']}'",
        f"UPDATE assignments SET id = '{first['id']}' WHERE id = '{second['id']}'",
        f"UPDATE assignments SET id = '{second['id']}' WHERE id = 'x'",
    )
    assert any("assignments of R1" in breach for breach in verify(read_study))


def test_a_study_without_rows_is_reported_as_missing(read_study: Store) -> None:
    """The chain still has the events of the study."""
    read = ("readings", "presentations", "predictions", "withdrawn_models", "models")
    people = ("assignments", "grants", "readers")
    tamper(read_study, *(f"DELETE FROM {table}" for table in (*read, *people, "cases", "studies")))
    assert verify(read_study) == ["study:trial: its events exist, but the study is missing."]


def test_an_event_without_its_details_is_a_breach(read_study: Store) -> None:
    """Even if the hashes of the chain are valid, messages are printed instead of a traceback."""
    with read_study.look() as look:
        trail = list(events.walk(look, "study:trial"))
    tamper(read_study, "DELETE FROM events WHERE chain = 'study:trial'", "DELETE FROM chain_heads")
    with read_study.change() as change:
        for event in trail:
            events.append(
                change,
                chain="study:trial",
                at_utc=event.at_utc,
                actor=event.actor,
                kind=events.EventKind(event.kind),
                detail={},
            )
    breaches = verify(read_study)
    for subject in ("protocol", "readers", "assignments", "models", "presentations", "readings"):
        assert any(f"the {subject}: cannot be checked" in breach for breach in breaches), subject


def test_the_details_of_a_broken_chain_are_not_used(read_study: Store) -> None:
    """The broken chain is the only finding."""
    tamper(read_study, "UPDATE events SET detail = '7' WHERE chain = 'study:trial'")
    assert verify(read_study) == [
        "study:trial: event 1 (study drawn, 2025-06-04T12:00:00.000Z) was altered."
    ]


def test_an_open_study_altered_to_drawn_is_not_opened_again(read_study: Store) -> None:
    """The refusal is one sentence, and nothing is written."""
    tamper(read_study, "UPDATE studies SET state = 'drawn'")
    with pytest.raises(BrokenStore, match="opened before"):
        studies.open_study(read_study, study="trial", acting=ACTING)
    assert verify(read_study) == ["study trial: state altered."]


def test_an_exchanged_film_file_is_reported(
    read_study: Store, original: Path, tmp_path: Path
) -> None:
    """Films may be moved to another folder without a change."""
    bank = tmp_path / "moved"
    shutil.copytree(original.parent / "bank", bank)
    tamper(read_study, f"UPDATE banks SET images_root = '{bank}'")
    assert verify(read_study) == []
    for film in (bank / "films").glob("*_pa.png"):
        shutil.copy(bank / "films" / "0_lat.png", film)
    assert any("not the one that was imported" in breach for breach in verify(read_study))
    shutil.rmtree(bank)
    assert any("cannot be read" in breach for breach in verify(read_study))


@pytest.mark.sqlite("opens the file itself")
def test_append_only_rows_cannot_be_changed_through_sqlite(read_study: Store) -> None:
    """The triggers also refuse changes by other programs."""
    connection = sqlite3.connect(read_study.path)
    for table in ("readings", "events", "assignments", "reference_standard", "predictions"):
        for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET rowid = rowid"):
            if connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]:
                with pytest.raises(sqlite3.IntegrityError, match="written once"):
                    connection.execute(statement)
    with pytest.raises(sqlite3.IntegrityError, match="locked"):
        connection.execute("UPDATE studies SET protocol = '{}'")
    connection.close()


def test_an_exported_chain_can_be_checked_without_the_store(read_study: Store) -> None:
    """The chain contains everything that the check needs."""
    with read_study.look() as look:
        lines = list(events.walk(look, "study:trial"))
    assert check_chain(lines) == ""
    lines[4] = lines[4]._replace(detail={})
    assert check_chain(lines).startswith("event 5 (")


Opened = Callable[..., Store]


def _read(store: Store, after: timedelta) -> desk.Acknowledgement:
    me = person(store)
    (case, *_) = desk.desk(store, me, now=NOW + after).cases
    records = [presentation(case.case), reading(case.case)]
    return desk.take_records(store, me, records, now=NOW + after)


def test_a_clock_set_back_is_recorded_once_and_answers_are_accepted(opened: Opened) -> None:
    """An event records when the times began to differ, and the verification adds a remark."""
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


def test_a_small_correction_of_the_clock_is_a_remark_at_most(opened: Opened) -> None:
    """Under two minutes there is no remark, at ten minutes a remark, at an hour an event."""
    store = opened(cases=8)
    _read(store, timedelta(minutes=20))
    _read(store, timedelta(minutes=19))
    assert remarks(store) == []
    _read(store, timedelta(minutes=9))
    assert verify(store) == []
    assert "the clock went back by 10 min" in remarks(store)[0]


def test_an_event_dated_before_its_predecessor_is_reported(opened: Opened) -> None:
    """The program would have recorded a change of the clock."""
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
    (breach,) = verify(store)
    assert breach == (
        "study:trial: event 7 (downloaded) is dated 2025-06-02T12:00:00.000Z, "
        "48.0 h before event 6."
    )


def test_the_clock_of_a_simulated_reader_causes_no_remark(opened: Opened) -> None:
    """That clock is ahead, so later readings of people have earlier times."""
    store = opened(readers=("R1", "R2", "R3"), cases=12)
    for reader_id in ("R2", "R3"):
        simulate(store, study="trial", reader_id=reader_id, seed=1, accuracy=0.7, now=NOW)
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


@pytest.mark.sqlite("alters the file itself; tests/contract has this for a database")
def test_an_altered_schema_or_reference_is_reported(opened: Opened) -> None:
    """The alterations are a missing trigger, an added table, and a reference to a missing row."""
    store = opened(cases=8)
    for statement, message in (
        ("DROP TRIGGER readings_refuse_update", "the trigger readings_refuse_update is missing."),
        ("DROP INDEX one_first_reading", "the index one_first_reading is missing."),
        ("CREATE TABLE notes (words TEXT)", "the table notes is not one of this program's."),
        ("ALTER TABLE drafts ADD COLUMN x TEXT", "the table drafts was altered."),
    ):
        before = set(verify(store))
        with store.change() as change:
            change.execute(statement)
        assert set(verify(store)) - before == {f"the store: {message}"}
    tamper(store, "UPDATE cases SET item = 999 WHERE number = 1")
    assert any(
        "of cases refers to a row of items that does not exist" in breach
        for breach in verify(store)
    )


@pytest.mark.sqlite("Litestream copies files")
def test_the_tables_of_litestream_are_accepted(opened: Opened) -> None:
    """A trigger or view with the name of such a table is not accepted."""
    store = opened(cases=8)
    with store.change() as change:
        change.execute("CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)")
    assert verify(store) == []
    with store.change() as change:
        change.execute("CREATE VIEW _litestream_lock AS SELECT * FROM _litestream_seq")
    assert verify(store) == ["the store: the view _litestream_lock is not one of this program's."]


def test_altered_tables_of_the_deployment_are_reported(opened: Opened) -> None:
    """The alterations are an inserted sign-in, account or backup, and another ID or secret."""
    store = opened(cases=8)
    for statement, message in (
        (
            "INSERT INTO sign_ins (id, person, at_utc) SELECT 'x', id, made_at_utc FROM people "
            "LIMIT 1",
            "was inserted.",
        ),
        (
            "INSERT INTO identities SELECT 'https://id', '7', id, made_at_utc FROM people LIMIT 1",
            "elsewhere was inserted.",
        ),
        (
            "INSERT INTO backups (file, made_at_utc, trigger, actor, n_bytes, sha256, finding) "
            "VALUES ('a.db', 'x', 'hand', 'x', 1, 'x', '')",
            "the backup a.db: it was inserted or altered.",
        ),
        ("INSERT INTO places VALUES ('abc', '10.0.0.1', '', 'x')", "place abc was altered."),
        (
            "UPDATE deployment SET value = 'ff' WHERE name = 'deployment_id'",
            "the deployment: its id was altered.",
        ),
        (
            f"UPDATE deployment SET value = '{'0' * 64}' WHERE name = 'secret'",
            "the deployment: its secret was replaced.",
        ),
    ):
        before = set(verify(store))
        tamper(store, statement)
        (new,) = set(verify(store)) - before
        assert new.endswith(message)
