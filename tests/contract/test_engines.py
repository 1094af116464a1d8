"""The guarantees of a store, on SQLite and on PostgreSQL."""

import os
import socket
import sqlite3
import struct
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pg8000.native as pg
import pytest

from benchmarks.postgres_cluster import (
    MISSING,
    NEW_DATABASE,
    USER,
    Cluster,
    postgres_programs,
    temporary_server,
    wait_until,
)
from study.bank.importing import import_bank
from study.base.actor import COMMAND_LINE, Acting
from study.base.canonical import canonical_json, stamp
from study.base.errors import BadInput, Busy, StudyError
from study.base.text import id_key, text_key
from study.lifecycle import studies
from study.lifecycle.deployments import init
from study.reading.simulation import simulate
from study.store import SEALED_TABLES, Store, deployment, events, postgres_rights, schema
from study.store.comparing import mark
from study.store.engine import PATIENCE_S, Kind
from study.store.events import EventKind
from study.store.postgres import Postgres
from study.store.postgres_connection import PostgresConnection, connect
from study.trail.verification import verify
from tests.conftest import ACTING, NOW, collect_garbage, entropy_from, open_trial, write_bank


def _event(store: Store, actor: str = "") -> None:
    with store.change() as change:
        events.append(
            change,
            chain="busy",
            at_utc=stamp(NOW),
            actor=actor,
            kind=EventKind.DOWNLOADED,
            detail={},
        )


def _events(store: Store) -> int:
    with store.look() as look:
        return len(list(events.walk(look, "busy")))


def _study(store: Store, folder: Path) -> Store:
    """Import a bank, and read and close the study ``trial`` drawn from it."""
    path = write_bank(folder / "bank")
    import_bank(store, path, name="bank", images=path.parent, acting=ACTING)
    open_trial(store, {"cases": 6, "one_question_per": "item"}, "R1", "R2")
    for reader in ("R1", "R2"):
        simulate(store, study="trial", reader_id=reader, seed=1, accuracy=0.7, now=NOW)
    studies.close(
        store,
        study="trial",
        reason="done",
        acting=Acting(by=COMMAND_LINE, now=NOW + timedelta(days=1)),
    )
    return store


def test_concurrent_writers_lose_nothing(either: Store) -> None:
    """Events of 8 threads make one unbroken chain."""

    def write(number: int) -> None:
        for _ in range(10):
            _event(either, str(number))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert _events(either) == 80
    assert verify(either) == []


def test_a_failed_change_is_rolled_back(either: Store) -> None:
    """The rows of a failed transaction are discarded, and the next transaction works."""

    def insert_twice() -> None:
        with either.change() as change:
            change.insert("deployment", name="one", value="1")
            change.insert("deployment", name="one", value="2")

    with pytest.raises(sqlite3.IntegrityError):
        insert_twice()
    with either.look() as look:
        assert deployment.value(look, "one") == ""
    _event(either)
    assert _events(either) == 1


def test_a_reading_transaction_cannot_write(either: Store) -> None:
    """The database refuses it."""
    with pytest.raises(Exception, match="read"), either.look() as look:
        look.execute("DELETE FROM deployment")


def test_a_desk_cannot_read_a_sealed_table(either: Store) -> None:
    """Every sealed table is refused, also within a query of another table."""
    for table in sorted(SEALED_TABLES):
        for sql in (
            f"SELECT * FROM {table}",
            f"SELECT name FROM deployment WHERE EXISTS (SELECT * FROM {table})",
        ):
            refused = pytest.raises(sqlite3.DatabaseError, match=r"prohibited|denied")
            with refused, either.desk() as desk:
                desk.rows(sql)
    with either.desk() as desk:
        for view in schema.SHOWN_VIEWS.values():
            assert desk.rows(f"SELECT * FROM {view}") == []


def test_append_only_rows_are_neither_changed_nor_deleted(
    on_postgres: Store, tmp_path: Path
) -> None:
    """PostgreSQL refuses both for each table, with rights; with triggers also to the owner."""
    written_once = sorted({*schema.REMOVED_WITH_BANK, *schema.REMOVED_WITH_STUDY})
    (tmp_path / "bank").mkdir()
    _study(on_postgres, tmp_path)
    n_deleted = 0
    for table in written_once:
        with on_postgres.look() as look:
            column = look.rows(f"PRAGMA table_info({table})")[0]["name"]
            n = look.value(f"SELECT count(*) FROM {table}")
        refused = pytest.raises(sqlite3.DatabaseError, match="denied")
        with refused, on_postgres.change() as change:
            change.execute(f"UPDATE {table} SET {column} = {column}")
        if n:
            n_deleted += 1
            stays = pytest.raises(sqlite3.IntegrityError, match="written once")
            with stays, on_postgres.change() as change:
                change.execute(f"DELETE FROM {table}")
    assert n_deleted > 10


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "ALTER TABLE readings DISABLE TRIGGER readings_refuse_delete",
            "the trigger readings_refuse_delete was altered.",
        ),
        (
            "DROP TRIGGER readings_refuse_update ON readings",
            "the trigger readings_refuse_update is missing.",
        ),
        ("DROP INDEX one_first_reading", "the index one_first_reading is missing."),
        ("CREATE TABLE notes (words text)", "the table notes is not one of this program's."),
        ("ALTER TABLE drafts ADD COLUMN x text", "the table drafts was altered."),
        ("CREATE VIEW notes AS SELECT 1 AS n", "the view notes is not one of this program's."),
    ],
)
def test_an_altered_schema_is_reported(on_postgres: Store, statement: str, message: str) -> None:
    """`verify` compares tables, indexes, triggers and views with those of a new store."""
    assert verify(on_postgres) == []
    owner = on_postgres._engine._connect(1.0)  # type: ignore[attr-defined]
    owner.run(statement)
    owner.close()
    assert f"the store: {message}" in verify(on_postgres)


def test_ids_of_rows_are_consecutive(either: Store) -> None:
    """Each id is the highest id plus one, even after failed transactions."""

    def fail() -> None:
        with either.change() as change:
            change.insert("people", handle="lost", made_at_utc="")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with either.change() as change:
        numbers = [change.insert("people", handle=name, made_at_utc="") for name in "abc"]
        change.execute("DELETE FROM people WHERE handle = 'c'")
        numbers.append(change.insert("people", handle="d", made_at_utc=""))
    assert numbers == [1, 2, 3, 3]


def test_texts_are_sorted_by_their_bytes(either: Store) -> None:
    """Texts are compared by code points, as in Python."""
    names = ["Z", "a", "Ä", "ä", "_", "-", " b", "é", "e\u0301", "漢"]
    with either.change() as change:
        for name in names:
            change.insert("deployment", name=f"n{name}", value=name)
        rows = change.rows("SELECT value FROM deployment WHERE name LIKE 'N%' ORDER BY value")
    assert [row["value"] for row in rows] == sorted(names)


def test_texts_are_compared_as_in_python(either: Store) -> None:
    """Each character, and texts with spaces, marks and line ends."""
    letters = [chr(code) for code in range(1, 0x3100)] + ["\ufb01", "\uff21", "\U0001d400", "Ⅳ"]
    texts = [*letters, "  a \t b\r\n", "Mu\u0308ller", "a\u00a0b", "\u200b", "5 cm\u00b2", "ÄÖ ẞ"]
    for name, function in (("id_key", id_key), ("text_key", text_key)):
        with either.look() as look:
            texts_json = canonical_json(texts)
            rows = look.rows(
                f"SELECT value, {name}(value) AS form FROM json_each(:listed)", listed=texts_json
            )
        different = [row for row in rows if row["form"] != function(row["value"])]
        assert different == []
    with either.look() as look:
        assert look.value("SELECT mark('film', :name)", name="é") == mark("film", "é")


def test_a_text_with_nul_is_refused(on_postgres: Store) -> None:
    """PostgreSQL cannot store the character, and a cut text would be wrong."""
    with pytest.raises(BadInput, match="NUL"), on_postgres.change() as change:
        deployment.set_value(change, "one", "a\0b")


def test_a_restarted_server_is_reached_again(
    on_postgres: Store, administer: Callable[[str], None]
) -> None:
    """Between transactions there is no error.

    Within a transaction the action fails and nothing is stored.
    """
    _event(on_postgres)
    end = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        f"WHERE datname = '{on_postgres.stem}'"
    )
    administer(end)
    _event(on_postgres)

    def write_over_the_end() -> None:
        with on_postgres.change() as change:
            deployment.set_value(change, "one", "1")
            administer(end)
            deployment.set_value(change, "one", "2")

    with pytest.raises(StudyError, match="cannot be reached"):
        write_over_the_end()
    _event(on_postgres)
    assert _events(on_postgres) == 3
    with on_postgres.look() as look:
        assert deployment.value(look, "one") == ""


def test_a_read_only_store_is_detected(
    either: Store, administer: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file or folder without permission, and a server that refuses changes, as a standby does."""
    assert either.is_writable()
    if either.address.startswith("postgresql:"):
        administer(f"ALTER DATABASE {either.stem} SET default_transaction_read_only = on")
    else:
        monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != either.path)
    assert not either.is_writable()


def test_idle_connections_are_closed_if_the_server_accepts_no_more(
    on_postgres: Store, administer: Callable[[str], None]
) -> None:
    """Otherwise those of one kind would permanently keep the others from being opened."""
    administer("ALTER ROLE reading_room_desk CONNECTION LIMIT 2")
    try:
        with (
            on_postgres.look(sealed=True),
            on_postgres.look(sealed=True),
            pytest.raises(Busy, match="busy"),  # none of them is idle
            on_postgres.desk(),
        ):
            pass
        with on_postgres.desk() as change:
            assert deployment.secret(change)
    finally:
        administer("ALTER ROLE reading_room_desk CONNECTION LIMIT -1")


@pytest.mark.parametrize(("option", "value"), [("TCP_USER_TIMEOUT", 35_000), ("TCP_NODELAY", 1)])
def test_a_connection_detects_a_lost_server_and_sends_at_once(
    on_postgres: Store, option: str, value: int
) -> None:
    """Otherwise a request would wait for a computer without power, or for acknowledgements."""
    kind = Kind(sealed=False, writes=True, patience_s=PATIENCE_S)
    with closing(Postgres(on_postgres.address).open_connection(kind)) as opened:
        line = opened._pg._usock
        assert line.getsockopt(socket.IPPROTO_TCP, getattr(socket, option)) == value


def test_a_connection_without_its_role_is_closed(
    on_postgres: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server would otherwise keep it until Python deletes the object."""
    closed: list[PostgresConnection] = []
    close = PostgresConnection.close

    def noted(opened: PostgresConnection) -> None:
        close(opened)
        closed.append(opened)

    monkeypatch.setattr(PostgresConnection, "close", noted)
    monkeypatch.setattr(postgres_rights, "role_name", lambda user, ending: "missing")
    with pytest.raises(sqlite3.DatabaseError, match="does not exist"):
        Postgres(on_postgres.address).open_connection(
            Kind(sealed=False, writes=False, patience_s=PATIENCE_S)
        )
    assert [opened._pg._usock for opened in closed] == [None]


@pytest.mark.parametrize("is_forked", [False, True])
def test_a_connection_that_is_deleted_closes_its_socket(
    on_postgres: Store, monkeypatch: pytest.MonkeyPatch, *, is_forked: bool
) -> None:
    """The socket is also closed in a process that inherited it.

    The other process keeps its connection.
    """
    kind = Kind(sealed=False, writes=True, patience_s=PATIENCE_S)
    opened = Postgres(on_postgres.address).open_connection(kind)
    descriptor = opened._pg._usock.fileno()
    if is_forked:
        monkeypatch.setattr(opened, "_process", 0)
        opened.close()
    del opened
    with warnings.catch_warnings(record=True, action="always") as noted:
        collect_garbage()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)
    assert not [warning for warning in noted if warning.category is ResourceWarning]


@pytest.mark.parametrize(
    "greeting",
    [
        None,
        b"",
        b"SSH-2.0-OpenSSH_9.2p1\r\n",
        b"J\0\0\0\x0a8.0.36\0" + b"x" * 60,
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
    ],
    ids=["a reset", "nothing", "SSH", "MySQL", "HTTP"],
)
@pytest.mark.parametrize("tls", [False, None])
def test_a_failed_connection_leaves_no_socket_open(greeting: bytes | None, tls: Any) -> None:
    """It is closed even while its error is kept; a server of another kind is reported as such."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        greeter = threading.Thread(target=_greet, args=(listening, greeting))
        greeter.start()
        host, port = listening.getsockname()
        before = _open_descriptors()
        with pytest.raises((pg.Error, OSError)) as raised:
            connect(USER, host=host, port=port, timeout=30, ssl_context=tls)
        greeter.join()
        assert raised.value.__traceback__
        assert _open_descriptors() == before


def _greet(listening: socket.socket, greeting: bytes | None) -> None:
    connection, _ = listening.accept()
    connection.settimeout(5)  # of a client that does not close its side
    with connection, suppress(OSError):
        if greeting is None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            connection.sendall(greeting)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(1000):
                pass


def _open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.thorough
def test_the_server_that_accepts_changes_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The standby is used only after the primary is lost and the standby is promoted."""
    if postgres_programs() is None:
        pytest.skip(MISSING)
    monkeypatch.setenv("READING_ROOM_FILES", str(tmp_path))
    with temporary_server({}) as primary:
        primary.administer(f"CREATE DATABASE pair {NEW_DATABASE}")
        standby = Cluster(primary.data.with_name("standby"), {})
        standby.create_standby_of(primary)
        standby.start()
        address = f"postgresql://{USER}@127.0.0.1:{standby.port},127.0.0.1:{primary.port}/pair"
        try:
            store = init(
                f"{address}?target_session_attrs=read-write", entropy=entropy_from(1), now=NOW
            )
            with store.kept_open():
                _event(store)
                wait_until(
                    lambda: primary.administer(
                        "SELECT 1 FROM pg_stat_replication WHERE replay_lsn = pg_current_wal_lsn()"
                    )
                )
                primary.kill()
                with pytest.raises(Busy, match="cannot be reached"):
                    _event(store)
                standby.promote()
                _event(store)
                assert _events(store) == 2
        finally:
            standby.stop()
