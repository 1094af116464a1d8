"""A store of an earlier release opens, is brought up to date, still holds, and goes on."""

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from sqlite_utils import Database

from study.reading import desk
from study.reading.simulation import simulate
from study.store import Store
from study.store.schema import APPLICATION_ID, MIGRATIONS
from study.trail.verification import verify
from tests.conftest import NOW, invite, person, presentation, reading

Opened = Callable[..., Store]


def _first_release(store: Store, path: Path) -> Path:
    """Write what a store holds into a file as the first release made it: its tables, no others."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        MIGRATIONS.apply(Database(connection), stop_before="m002_preparation")
        tables = [
            row[0]
            for row in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' "
                "AND name NOT LIKE 'sqlite_%' AND name <> '_sqlite_migrations'"
            )
        ]
        connection.execute("ATTACH ? AS new", (str(store.path),))
        for table in (name for name in tables if name not in ("access", "sign_ins")):
            columns = ", ".join(row[1] for row in connection.execute(f"PRAGMA table_info({table})"))
            connection.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM new.{table}")
        connection.execute(
            "INSERT INTO access "
            "(lookup, salt, code_hash, role, study, reader, name, issued_at_utc) SELECT "
            "lookup, salt, code_hash, role, study, reader, '', issued_at_utc "
            "FROM new.codes JOIN new.grants USING (person)"
        )
    return path


@pytest.fixture
def older(opened: Opened, tmp_path: Path) -> Path:
    """Return a store of the first release: a study in which R1 is simulated and R2 has begun."""
    store = opened(back_navigation=True)
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    case = desk.desk(store, person(store, "R2"), now=NOW).cases[0].case
    records = [presentation(case), reading(case, "B")]
    now = NOW + timedelta(seconds=2)
    desk.take_records(store, person(store, "R2"), records, now=now)
    return _first_release(store, tmp_path / "older.db")


def _tables(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {row[0] for row in rows}


def test_a_store_of_the_first_release_still_holds(older: Path) -> None:
    """Opening it adds the tables it lacks, and verification finds nothing."""
    assert not {"preparations", "practice_cases", "reasons"} & _tables(older)
    store = Store(older)
    assert {"preparations", "practice_cases", "reasons"} <= _tables(older)
    assert not {"access"} & _tables(older)
    with store.look() as look:
        moved = look.rows("SELECT reader, revoked_at_utc FROM grants JOIN codes USING (person)")
        assert [row["reader"] for row in moved] == [1, 2]
    assert verify(store) == []


def test_its_readers_go_on_where_they_were(older: Path) -> None:
    """Nothing to prepare, nothing to practise; reading, revising and inviting work."""
    store = Store(older)
    found = desk.desk(store, person(store, "R2"), now=NOW)
    assert (found.preparation, found.practice_total, found.read) == ((), 0, 1)
    first = desk.case_at(store, person(store, "R2"), 1, now=NOW)
    assert first.reading is not None
    case = found.cases[0].case
    records = [
        presentation(case),
        reading(case, "A"),
        reading(first.case, "C", id="changed-it", supersedes=first.reading.id),
    ]
    now = NOW + timedelta(seconds=9)
    assert desk.take_records(store, person(store, "R2"), records, now=now).refused == ()
    invite(store, "R3")
    assert len(desk.desk(store, person(store, "R3"), now=NOW).cases) == 3
    assert verify(store) == []


def test_of_two_that_open_an_older_store_at_once_one_migrates_it(older: Path) -> None:
    """The other waits and finds it done."""
    opened: list[Store] = []
    threads = [threading.Thread(target=lambda: opened.append(Store(older))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened) == 6
    assert verify(opened[0]) == []
