"""The rights of the accounts of a PostgreSQL store, for any statement."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.postgres_cluster import NEW_DATABASE
from study.base.errors import StudyError
from study.lifecycle.deployments import init
from study.store import SEALED_TABLES, Store, schema
from study.store.address import ServerAddress, settings_of
from study.store.engine import PATIENCE_S, Kind
from study.store.postgres import Postgres
from study.store.postgres_connection import SCHEMA, PostgresConnection
from study.store.postgres_silence import ServerError
from tests.conftest import NOW, entropy_from
from tests.postgres import UNLIMITED

ACCOUNT = f"clinic_{os.getpid()}"

FORBIDDEN = (
    f"SET ROLE {ACCOUNT}",
    f"SET ROLE {ACCOUNT}_staff",
    f"SET SESSION AUTHORIZATION {ACCOUNT}",
    f"GRANT SELECT ON reference_standard TO {ACCOUNT}_desk",
    "COPY reference_standard TO STDOUT",
    "DO $$ BEGIN PERFORM truth FROM reference_standard; END $$",
    f"GRANT {ACCOUNT}_staff TO {ACCOUNT}_desk",
    f"ALTER ROLE {ACCOUNT}_desk SUPERUSER",
    "SET session_replication_role = replica",
    "ALTER TABLE readings DISABLE TRIGGER readings_refuse_delete",
    "ALTER TABLE readings DISABLE TRIGGER ALL",
    "DROP TRIGGER readings_refuse_delete ON readings",
    "DROP FUNCTION readings_refuse_delete() CASCADE",
    "CREATE OR REPLACE VIEW shown_context AS SELECT item, section, words FROM report_texts",
    "TRUNCATE readings",
    "COPY readings TO PROGRAM 'cat'",
    "COPY readings FROM '/etc/passwd'",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT lo_import('/etc/passwd')",
    "CREATE TABLE copied (words text)",
    "CREATE TEMPORARY TABLE readings (id text)",
    "CREATE FUNCTION pg_temp.seen(words text) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
    "CREATE FUNCTION public.seen(words text) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
    "UPDATE store_version SET version = 1",
)
"""Statements that a reader's connection may not run."""

N_OF_READERS = 6
"""The number of the first statements, which other connections may run."""

ACCEPTED = ("RESET ROLE", "RESET ALL", "SELECT set_config('role', 'none', false)", "DISCARD ALL")
"""Statements that any user may run; they must not give a reader's connection other rights."""


@pytest.fixture
def store(
    server: str,
    administer: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Iterator[Store]:
    """Return an empty store, whose account is not a superuser."""
    monkeypatch.setenv("READING_ROOM_FILES", str(tmp_path))
    for role in (f"{ACCOUNT} LOGIN", f"{ACCOUNT}_staff NOLOGIN", f"{ACCOUNT}_desk LOGIN"):
        administer(f"CREATE ROLE {role}")
    administer(f"GRANT {ACCOUNT}_staff TO {ACCOUNT}")
    administer(f"CREATE DATABASE {ACCOUNT} OWNER {ACCOUNT} {NEW_DATABASE}")
    try:
        address = f"postgresql://{ACCOUNT}@{server.rpartition('@')[2]}/{ACCOUNT}"
        yield init(address, entropy=entropy_from(1), now=NOW)
    finally:
        administer(f"DROP DATABASE {ACCOUNT} WITH (FORCE)")
        for ending in ("", "_staff", "_desk"):
            administer(f"DROP ROLE {ACCOUNT}{ending}")


def _connection(store: Store, *, sealed: bool) -> PostgresConnection:
    return Postgres(store.address).open_connection(
        Kind(sealed=sealed, writes=True, patience_s=PATIENCE_S)
    )


def test_no_role_of_the_program_can_remove_its_limits(store: Store) -> None:
    """The server refuses each statement, those of staff until they return to the owner's role."""
    for statements, sealed in ((FORBIDDEN, True), (FORBIDDEN[N_OF_READERS:], False)):
        with closing(_connection(store, sealed=sealed)) as opened:
            for statement in statements:
                with pytest.raises(ServerError) as refused:
                    opened.run(statement)
                assert refused.value.code == "42501", (statement, refused.value)


def test_a_readers_connection_keeps_its_limits_after_every_reset(store: Store) -> None:
    """It signed in with them.

    It cannot read sealed tables, and can write only the rows that readers write.
    """
    with closing(_connection(store, sealed=True)) as opened:
        for statement in ("SELECT 1", *ACCEPTED):
            opened.run(statement)
            for table in sorted(SEALED_TABLES):
                for sql in (f"SELECT * FROM {table}", f"SELECT count(*) FROM {table}"):
                    with pytest.raises(ServerError, match="permission denied"):
                        opened.run(sql)
            for table in sorted(_tables(store) - schema.DESK_TABLES):
                with pytest.raises(ServerError, match="permission denied"):
                    opened.run(f"DELETE FROM {table}")


LOST = {
    "CONNECT": f"REVOKE CONNECT ON DATABASE {ACCOUNT} FROM {ACCOUNT}_desk, PUBLIC",
    "USAGE": f"REVOKE USAGE ON SCHEMA {SCHEMA} FROM {ACCOUNT}_desk, {ACCOUNT}_staff",
    "version": f"REVOKE SELECT ON store_version FROM {ACCOUNT}_desk",
    "tables": f"REVOKE ALL ON ALL TABLES IN SCHEMA {SCHEMA} FROM {ACCOUNT}_desk, {ACCOUNT}_staff",
}


@pytest.mark.parametrize("right", LOST)
def test_lost_rights_are_reported_and_granted_again(store: Store, right: str) -> None:
    """Rights are lost if a dump is restored without privileges."""
    with closing(PostgresConnection(settings_of(ServerAddress(store.address)), UNLIMITED)) as own:
        own.run(LOST[right])
    with pytest.raises(StudyError, match=r"docs/postgresql\.md"), store.desk():
        pass
    init(store.address, entropy=entropy_from(1), now=NOW)
    for opened in (store.desk, store.look, store.change):
        with opened() as transaction:
            assert transaction.value("SELECT count(*) FROM deployment")


def test_opening_a_store_of_an_earlier_version_grants_the_right_to_read_its_version(
    store: Store,
) -> None:
    """Earlier versions of the program did not grant it; several servers may open the store."""
    with closing(PostgresConnection(settings_of(ServerAddress(store.address)), UNLIMITED)) as own:
        own.run(LOST["version"])
    with ThreadPoolExecutor(4) as pool:
        for opened in list(pool.map(Store, [store.address] * 4)):
            with opened.desk() as desk:
                assert desk.value("SELECT count(*) FROM deployment")


def _tables(store: Store) -> set[str]:
    with store.look() as look:
        rows = look.rows(
            "SELECT relname::text AS name FROM pg_class WHERE relkind = 'r' "
            "AND relnamespace = current_schema()::regnamespace AND relname <> 'write_lock'"
        )
    return {row["name"] for row in rows}


def test_the_views_of_sealed_tables_are_barriers(store: Store) -> None:
    """Otherwise the server could evaluate a reader's condition on a row that the view hides.

    An error of that condition, such as text that is not a number, would contain the row.
    """
    with store.look() as look:
        rows = look.rows(
            "SELECT relname::text AS name FROM pg_class WHERE relkind = 'v' "
            "AND relnamespace = current_schema()::regnamespace "
            "AND 'security_barrier=true' = ANY (reloptions)"
        )
    assert {row["name"] for row in rows} == set(schema.SHOWN_VIEWS.values())


def test_a_desk_role_with_other_rights_is_refused(
    store: Store, administer: Callable[[str], None], server: str
) -> None:
    """Neither is a store created nor a server started."""
    name = f"{ACCOUNT}_two"
    administer(f"GRANT {ACCOUNT}_staff TO {ACCOUNT}_desk")
    administer(f"CREATE DATABASE {name} OWNER {ACCOUNT} {NEW_DATABASE}")
    address = f"postgresql://{ACCOUNT}@{server.rpartition('@')[2]}/{name}"
    try:
        with pytest.raises(StudyError, match="member of no role"):
            init(address, entropy=entropy_from(1), now=NOW)
        with pytest.raises(StudyError, match="member of no role"), store.kept_open():
            pass
    finally:
        administer(f"DROP DATABASE {name} WITH (FORCE)")


def test_a_server_starts_only_if_readers_can_be_served(
    store: Store, administer: Callable[[str], None]
) -> None:
    """An account that cannot sign in is reported at the start, and not to the first reader."""
    administer(f"ALTER ROLE {ACCOUNT}_desk NOLOGIN")
    with pytest.raises(StudyError, match=f"{ACCOUNT}_desk"), store.kept_open():
        pass
