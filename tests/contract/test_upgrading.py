"""A store in PostgreSQL is upgraded once, after a copy, or not at all."""

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from study.base.errors import BrokenStore, Upgraded
from study.exchange import backups
from study.store import Store, deployment, dialect, schema
from study.store.moving import contents
from study.trail.verification import verify
from tests.conftest import ACTING
from tests.postgres import tamper
from ui.server.health import readiness

pytestmark = pytest.mark.usefixtures("_translated_again")


@pytest.fixture
def _translated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Translate statements without the tables of another test's migrations."""
    monkeypatch.setattr(dialect, "to_postgres", dialect.to_postgres.__wrapped__)


def _add_rooms(connection: sqlite3.Connection) -> None:
    """Add a table, a column, a trigger and an index, and change rows."""
    connection.execute(
        "CREATE TABLE rooms (id INTEGER PRIMARY KEY, name TEXT NOT NULL, area REAL) STRICT"
    )
    connection.execute("CREATE UNIQUE INDEX one_name ON rooms (name)")
    connection.execute("ALTER TABLE people ADD COLUMN room INTEGER REFERENCES rooms (id)")
    connection.execute("UPDATE people SET made_at_utc = 'before the upgrade'")
    connection.execute("DROP TRIGGER readings_refuse_update")
    connection.execute(
        "CREATE TRIGGER readings_refuse_update BEFORE UPDATE ON readings "
        "BEGIN SELECT RAISE(ABORT, 'readings are never changed'); END"
    )


def _fail(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE rooms (id INTEGER PRIMARY KEY) STRICT")


def _with_people(store: Store) -> Store:
    with store.change() as change:
        change.insert("people", handle="ada", made_at_utc="")
        deployment.set_value(change, "one", "Ä\t\\")
    return store


def test_servers_that_start_at_the_same_time_upgrade_a_store_once(
    on_postgres: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result has the shape of a new store, and its roles can use the new table."""
    address = _with_people(on_postgres).address
    monkeypatch.setattr(schema, "MIGRATIONS", (_add_rooms,))
    with ThreadPoolExecutor(3) as pool:
        stores = [result.result() for result in [pool.submit(Store, address) for _ in range(6)]]
    for store in stores[:2]:
        assert verify(store) == []
        with store.change() as change:
            room_id = change.insert("rooms", name=f"room {id(store)}", area=0.5)
            change.execute("UPDATE people SET room = :room", room=room_id)
    with stores[0].look() as look:
        assert look.rows("SELECT made_at_utc, room FROM people") == [
            {"made_at_utc": "before the upgrade", "room": 2}
        ]


def test_the_copy_before_an_upgrade_is_a_store_of_the_earlier_version(
    on_postgres: Store, database: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The earlier program restores it to either engine; the newer one lists it as a backup."""
    with _with_people(on_postgres).look() as look:
        before = contents(look)
    with monkeypatch.context() as newer:
        newer.setattr(schema, "MIGRATIONS", (_add_rooms,))
        upgraded = Store(on_postgres.address)
        backups.make_backup(upgraded, acting=ACTING)
        entries = [(backup.file, backup.finding) for backup in backups.list_backups(upgraded)]
    (file,) = (file for file, _ in entries if "before-upgrade" in file.name)
    assert file.stat().st_mode & 0o077 == 0
    assert {finding for _, finding in entries} == {""}
    with Store(backups.restore_backup(file, database()).address).look() as look:
        assert contents(look) == before


def test_a_failing_upgrade_leaves_the_store_unchanged(
    on_postgres: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All missing migrations are run, or none."""
    address = _with_people(on_postgres).address
    with monkeypatch.context() as newer:
        newer.setattr(schema, "MIGRATIONS", (_add_rooms, _fail))
        with pytest.raises(sqlite3.OperationalError, match="already exists"):
            Store(address)
    assert verify(Store(address)) == []


def test_a_server_of_the_earlier_version_stops_when_another_upgrades_the_store(
    either: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It neither reads nor writes rows of the new shape, even on connections that are open."""
    sealed_look = partial(either.look, sealed=True)
    transactions = (sealed_look, either.look, either.desk, either.change)
    with either.kept_open():
        for transaction in transactions:
            with transaction() as used:
                deployment.secret(used)
        with monkeypatch.context() as newer:
            newer.setattr(schema, "MIGRATIONS", (_add_rooms,))
            Store(either.address)
        for transaction in transactions:
            with pytest.raises(Upgraded, match="upgraded by a newer"), transaction() as used:
                deployment.secret(used)
        assert not readiness(lambda: either).is_ready
    with monkeypatch.context() as newer:
        newer.setattr(schema, "MIGRATIONS", (_add_rooms,))
        assert verify(Store(either.address)) == []


@pytest.mark.parametrize(
    ("version", "remedy"), [(3, "restore the bundles into a new store"), (999, "Use the newer")]
)
def test_a_store_of_an_unsupported_version_is_refused(
    on_postgres: Store, version: int, remedy: str
) -> None:
    """It is not changed."""
    tamper(on_postgres.address, (f"UPDATE store_version SET version = {version}",))
    with pytest.raises(BrokenStore, match=remedy):
        Store(on_postgres.address)
