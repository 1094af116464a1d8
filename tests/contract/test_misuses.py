"""Wrong databases and accounts, each refused in one sentence; nothing is created or changed."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pg8000.native as pg
import pytest

from study.bank import importing
from study.base.errors import BadInput, Busy, StudyError
from study.exchange.moving import FILES, move
from study.lifecycle.deployments import init
from study.store import (
    Store,
    banks,
    companion_path,
    connection,
    deployment,
    postgres,
    postgres_connection,
)
from study.store.address import ServerAddress, settings_of
from study.store.engine import PATIENCE_S
from study.store.postgres import Postgres
from study.store.postgres_connection import PostgresConnection
from study.store.postgres_silence import ServerError
from study.trail.verification import verify
from tests.conftest import ACTING, NOW, entropy_from, write_bank
from tests.contract.test_passwords import _run
from tests.postgres import UNLIMITED

pytestmark = pytest.mark.sqlite("moves a file")


def _opened(address: str, role: str = "") -> PostgresConnection:
    return PostgresConnection(settings_of(ServerAddress(address)), UNLIMITED, role)


@pytest.mark.usefixtures("cold")
def test_a_store_of_another_account_is_named_and_not_changed(
    store: Store, on_postgres: Store, administer: Callable[[str], object], tmp_path: Path
) -> None:
    """The message does not call it incomplete, which would suggest restoring a backup."""
    visitor = f"visitor_{tmp_path.name}"
    administer(f'CREATE ROLE "{visitor}" LOGIN')
    try:
        address = on_postgres.address.replace("reading_room@", f"{visitor}@")
        for attempt in (lambda: Store(address), lambda: move(store, address)):
            with pytest.raises(StudyError, match="belongs to the account reading_room, not to"):
                attempt()
    finally:
        administer(f'DROP ROLE "{visitor}"')


@pytest.mark.usefixtures("cold")
def test_a_database_with_other_tables_is_not_changed(
    store: Store, database: Callable[[], str]
) -> None:
    """Another program has a schema of the same name."""
    address = database()
    tables = "SELECT relname::text FROM pg_class WHERE relnamespace = 'reading_room'::regnamespace"
    with closing(_opened(address)) as other:
        other.run("CREATE SCHEMA reading_room; CREATE TABLE reading_room.visits (id bigint)")
        with pytest.raises(BadInput, match="Name an empty database"):
            move(store, address)
        assert list(other.execute(tables)) == [("visits",)]
    assert not [suffix for suffix in FILES if companion_path(address, suffix).exists()]


def test_a_missing_role_is_reported(on_postgres: Store) -> None:
    """A dump was restored on a server without the roles."""
    with pytest.raises(ServerError, match='role "no_such_role" does not exist') as refused:
        _opened(on_postgres.address, "no_such_role")
    explained = Postgres(on_postgres.address).explain_error(refused.value)
    assert "no_such_role" in explained.__notes__[0]
    assert "docs/postgresql.md" in str(explained)


@pytest.mark.parametrize(
    "code",
    [
        *("08006", "25P03", "28P01", "42P06", "53100", "53200", "53400", "54000", "57014"),
        *("42501", "55P03", "57P01", "57P04", "57P05", "58030", "XX001"),
    ],
)
def test_every_external_fault_is_reported_in_a_sentence(code: str) -> None:
    """Resources, accounts, input and output, and damaged data."""
    engine = Postgres("postgresql://clinic@127.0.0.1:1/reading_room")
    explained = engine.explain_error(ServerError("why", code))
    assert isinstance(explained, StudyError)
    assert str(explained).endswith(".")
    sealed = "permission denied for table reference_standard: SELECT * FROM reference_standard"
    for wrong in (ServerError("syntax", "42601"), ServerError(sealed, "42501")):
        assert engine.explain_error(wrong) is wrong


@pytest.mark.parametrize(
    "code",
    [
        *("08001", "08006", "25006", "28000", "28P01", "3D000", "42501", "53100", "53300"),
        *("55000", "55P03", "57014", "57P01", "57P03", "57P05", "0A000"),
    ],
)
@pytest.mark.parametrize("command", ["init", "status --study x", "verify", "move --to x.db"])
def test_a_command_names_the_database_and_a_remedy(
    code: str,
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A refused connection is reported in one line; pages show it without the address."""

    def refuse(**_: object) -> None:
        raise pg.DatabaseError({"C": code, "M": "the server's words", "V": "FATAL"})

    monkeypatch.setenv("READING_ROOM_FILES", str(tmp_path))
    monkeypatch.setattr(postgres_connection, "connect", refuse)
    address = "postgresql://clinic@db.example/trials"
    assert _run([*command.split(), "--db", address]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(f" ({address}: the server's words)")
    with pytest.raises(StudyError, match=REMEDY) as refused:
        Store(address)
    assert "db.example" not in str(refused.value)


REMEDY = "[Tt]ry again|Use the address|Check"


def test_an_account_without_the_right_to_create_tables_is_reported(
    database: Callable[[], str], administer: Callable[[str], object], tmp_path: Path
) -> None:
    """The message contains the statement that solves the problem."""
    address = ServerAddress(database())
    account, name = f"guest_{os.getpid()}", address.rpartition("/")[2]
    roles = (account, f"{account}_staff", f"{account}_desk")
    for role in roles:
        administer(f"CREATE ROLE {role} LOGIN")
    administer(f"GRANT {account}_staff TO {account}")
    other_address = address.replace("reading_room@", f"{account}@")
    try:
        for right in ("CONNECT", "CREATE"):
            administer(f"GRANT {right} ON DATABASE {name} TO {account}")
            with pytest.raises(StudyError, match="does not own the database") as refused:
                init(other_address, entropy=entropy_from(1), now=NOW)
        administer(str(refused.value).partition("server: ")[2])
        assert verify(init(other_address, entropy=entropy_from(1), now=NOW)) == []
    finally:
        administer(f"DROP DATABASE {name} WITH (FORCE)")
        administer(f"CREATE DATABASE {name}")
        for role in roles:
            administer(f"DROP ROLE {role}")


def test_a_server_that_is_too_old_is_refused(
    on_postgres: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The errors of such a server would not mention its age."""
    monkeypatch.setattr(postgres, "_OLDEST_VERSION", 99)
    with pytest.raises(BadInput, match=r"is PostgreSQL \d+.* Use version 99 or later"):
        Store(on_postgres.address)


@pytest.mark.parametrize(
    "options", ["ssl_mode=verify-full", "target_session_attrs=any", "connect_timeout=5"]
)
def test_an_option_without_effect_is_refused(options: str) -> None:
    """A wrong name of sslmode would leave the certificate unchecked."""
    with pytest.raises(BadInput, match=r"unknown option|is one of read-write"):
        settings_of(ServerAddress(f"postgresql://clinic@db.example/trials?{options}"))


def test_time_limits_of_the_server_do_not_apply(
    on_postgres: Store, administer: Callable[[str], object]
) -> None:
    """Otherwise longer backups and imports would fail."""
    limits = ("statement_timeout", "idle_in_transaction_session_timeout", "lock_timeout")
    for name in limits:
        administer(f"ALTER DATABASE {on_postgres.stem} SET {name} = '1ms'")
    with closing(_opened(on_postgres.address)) as opened:
        shown = [opened.execute(f"SELECT current_setting('{name}')").fetchone() for name in limits]
    assert shown == [("0",), ("1h",), (f"{PATIENCE_S:g}s",)]


def test_a_lost_connection_is_not_reported_as_a_defect(on_postgres: Store) -> None:
    """The server may end or refuse a connection for any reason."""
    explained = Postgres(on_postgres.address).explain_error
    for code in ("0A000", "42000", "55000", "99999"):
        assert isinstance(explained(ServerError("why", code, is_final=True)), Busy)
        assert not isinstance(explained(ServerError("why", code)), StudyError)


@pytest.mark.parametrize("by", ["reader", "staff"])
def test_a_suspended_program_does_not_hold_up_the_others(
    on_postgres: Store, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    """Its computer keeps the connection open, so the database ends an idle transaction."""
    monkeypatch.setattr(postgres, f"_{by.upper()}_IDLE_S", 0.2)
    begin = {"reader": on_postgres.desk, "staff": on_postgres.change}[by]

    def be_suspended() -> None:
        with begin() as suspended:
            with on_postgres.change() as change:  # waits for the lock
                deployment.set_value(change, "one", "1")
            deployment.value(suspended, "one")

    with pytest.raises(Busy, match="suspended for too long"):
        be_suspended()
    with on_postgres.look() as look:
        assert deployment.value(look, "one") == "1"


@pytest.mark.thorough
def test_an_import_that_waits_for_its_checks_is_not_aborted(
    on_postgres: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The checks of a large bank take minutes, without running a statement."""
    monkeypatch.setattr(postgres, "_STAFF_IDLE_S", 0.5)
    monkeypatch.setattr(connection, "ALIVE_EVERY_S", 0.1)
    start = importing._start_checks

    @contextmanager
    def slow(*arguments: Any) -> Iterator[Iterator[Any]]:
        def late(results: Iterator[Any]) -> Iterator[Any]:
            threading.Event().wait(1.0)
            yield from results

        with start(*arguments) as results:
            yield late(results)

    monkeypatch.setattr(importing, "_start_checks", slow)
    bank = write_bank(tmp_path / "bank")
    importing.import_bank(on_postgres, bank, name="bank", images=bank.parent, acting=ACTING)
    assert verify(on_postgres) == []


def test_an_import_that_is_cut_off_while_it_sends_rows_is_repeated(
    on_postgres: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing of it remains, and it neither keeps the lock nor counts as a running import."""
    copied = postgres_connection._copy_line
    bank = write_bank(tmp_path / "bank")

    def import_it() -> None:
        importing.import_bank(on_postgres, bank, name="bank", images=bank.parent, acting=ACTING)

    def cut_off(row: Iterable[Any]) -> str:
        monkeypatch.setattr(postgres_connection, "_copy_line", copied)
        with closing(_opened(on_postgres.address, "")) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        return copied(row)

    monkeypatch.setattr(postgres_connection, "_copy_line", cut_off)
    with pytest.raises(Busy, match="cannot be reached"):
        import_it()
    with on_postgres.change() as change:
        assert banks.names(change) == []
        assert change.value("SELECT count(*) FROM items") == 0
    import_it()
    assert verify(on_postgres) == []


def test_a_program_suspended_while_it_sends_rows_does_not_hold_up_the_others(
    on_postgres: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database does not count it as idle, so the other servers ask it to end the transaction.

    A transaction whose statement began a moment ago is not ended.
    """
    n_ended: list[int] = []

    def rows() -> Iterator[str]:
        yield "one\t1\n"
        n_ended.append(on_postgres.end_stalled())
        monkeypatch.setattr(postgres, "_STAFF_IDLE_S", 0.0)
        n_ended.append(on_postgres.end_stalled())
        yield "two\t2\n"

    with closing(_opened(on_postgres.address, "")) as suspended:
        suspended.execute("BEGIN IMMEDIATE")
        with pytest.raises(pg.Error):
            suspended._pg.run("COPY deployment FROM STDIN", stream=rows())
    assert n_ended == [0, 1]
    with on_postgres.desk() as change:  # it has the lock
        assert deployment.value(change, "one") == ""


def test_a_folder_that_cannot_be_created_names_its_setting(
    on_postgres: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command without the settings of the server would otherwise find no witness."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("READING_ROOM_FILES", str(tmp_path / "file" / "folder"))
    for attempt in (Store, lambda address: init(address, entropy=entropy_from(1), now=NOW)):
        with pytest.raises(StudyError, match="Set READING_ROOM_FILES"):
            attempt(on_postgres.address)
