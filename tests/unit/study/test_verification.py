"""Verification: whatever is altered behind the program's back is found and named."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from study.simulation import simulate
from study.store import Store, events
from study.verification import check_chain, verify
from tests.conftest import NOW

Opened = Callable[..., Store]


@pytest.fixture
def read_study(opened: Opened) -> Store:
    """Return a store whose two readers have read everything."""
    store = opened()
    for reader in ("R1", "R2"):
        simulate(store, study="trial", reader_id=reader, seed=1, accuracy=0.7, now=NOW)
    return store


def _tamper(store: Store, *statements: str) -> None:
    """Alter a store as somebody with the file and without scruples would."""
    connection = sqlite3.connect(store.path)
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
        connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        assert connection.execute(statement).rowcount > 0, statement
    connection.commit()
    connection.close()


def test_an_untouched_store_holds(read_study: Store) -> None:
    """Nothing to report after a whole study."""
    assert verify(read_study) == []


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE readings SET answer = 'D', response_ms = 1 WHERE rowid = 3", "was altered"),
        ("UPDATE readings SET flags = '[\"x\"]' WHERE rowid = 1", "was altered"),
        ("DELETE FROM readings WHERE rowid = 5", "is missing"),
        ("UPDATE presentations SET received_at_utc = 'x' WHERE rowid = 2", "was altered"),
        ("UPDATE events SET actor = 'x' WHERE kind = 'case read' AND number = 13", "was altered"),
        ("DELETE FROM events WHERE number = 7 AND chain LIKE 'study:%'", "event 7 is missing"),
        ("DELETE FROM events WHERE chain LIKE 'study:%' AND number > 30", "cut off"),
        ("UPDATE reference_standard SET truth = 'A'", "bank bank"),
        ("UPDATE items SET question = question || '?' WHERE id = 1", "bank bank"),
        ("UPDATE studies SET protocol = replace(protocol, '8', '9')", "protocol was altered"),
        ("UPDATE assignments SET shown_order = 'DCBA' WHERE position = 1", "assignments of R1"),
        ("DELETE FROM cases WHERE number = 8", "not those of the protocol"),
        ("UPDATE films SET sha256 = 'x' WHERE id = 1", "bank bank"),
    ],
)
def test_every_alteration_is_found(read_study: Store, statement: str, named: str) -> None:
    """Each kind of change to the file is named in words."""
    _tamper(read_study, statement)
    assert any(named in breach for breach in verify(read_study))


def test_a_film_exchanged_on_disk_is_found(read_study: Store, tmp_path: Path) -> None:
    """The films a study shows are those that were imported."""
    films = tmp_path / "bank" / "films"
    for film in films.glob("*_pa.png"):
        shutil.copy(films / "0_lat.png", film)
    assert any("not the one that was imported" in breach for breach in verify(read_study))


def test_what_is_written_once_cannot_be_changed_through_sqlite(read_study: Store) -> None:
    """The triggers refuse, even to a program that is not ours."""
    connection = sqlite3.connect(read_study.path)
    for table in ("readings", "events", "assignments", "reference_standard", "predictions"):
        for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET rowid = rowid"):
            if connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]:
                with pytest.raises(sqlite3.IntegrityError, match="written once"):
                    connection.execute(statement)
    with pytest.raises(sqlite3.IntegrityError, match="locked"):
        connection.execute("UPDATE studies SET protocol = '{}'")
    connection.close()


def test_an_exported_chain_can_be_checked_on_its_own(read_study: Store) -> None:
    """The chain needs nothing but its own lines."""
    with read_study.look() as look:
        lines = list(events.walk(look, "study:trial"))
    assert check_chain(lines) == ""
    lines[4]["detail"] = {}
    assert check_chain(lines).startswith("event 5 (")
