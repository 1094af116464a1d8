"""Start PostgreSQL if it is installed, and use its databases in place of files.

With ``READING_ROOM_TEST_ENGINE=postgres`` the stores that tests create as files ``store.db`` are
databases on the server. Tests of SQLite files themselves have the mark ``sqlite`` and are skipped.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pg8000.native
import pytest

from benchmarks.postgres_cluster import MISSING, NEW_DATABASE, postgres_programs, temporary_server
from study.store import is_server
from study.store.engine import PATIENCE_S, Database, Engine, Kind
from study.store.postgres import Postgres
from study.store.postgres_connection import Limits, PostgresConnection
from study.store.sqlite import Sqlite

ENGINE_VARIABLE = "READING_ROOM_TEST_ENGINE"
"""The environment variable with the engine: ``postgres`` or, by default, ``sqlite``."""

ADDRESS_VARIABLE = "READING_ROOM_TEST_POSTGRES"
"""The environment variable with the address of a server that is running.

Its account must be allowed to create databases.
"""

UNLIMITED = Limits(lock_s=PATIENCE_S, idle_s=3600.0)
WRITER = Kind(sealed=False, writes=True, patience_s=PATIENCE_S)

_ON_POSTGRES = os.environ.get(ENGINE_VARIABLE) == "postgres"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests of SQLite files on PostgreSQL."""
    for item in items if _ON_POSTGRES else ():
        if mark := item.get_closest_marker("sqlite"):
            item.add_marker(pytest.mark.skip(reason=f"on PostgreSQL: {mark.args[0]}"))


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Return the address of a PostgreSQL server, which is stopped afterwards."""
    if address := os.environ.get(ADDRESS_VARIABLE):
        yield address.rstrip("/")
        return
    if postgres_programs() is None:
        pytest.skip(MISSING)
    with temporary_server({}) as cluster:
        yield cluster.address


@pytest.fixture(scope="session")
def administer(server: str) -> Iterator[Callable[[str], Any]]:
    """Return a function that runs a statement as an administrator."""
    host, _, port = server.rpartition("@")[2].partition(":")
    user, _, password = server.removeprefix("postgresql://").rpartition("@")[0].partition(":")
    with pg8000.native.Connection(
        user, host=host, port=int(port or 5432), password=password or None, database="postgres"
    ) as opened:
        yield lambda sql: opened.run(sql)


class Databases:
    """The databases that replace files ``store.db``, with the paths of these files."""

    def __init__(self, server: str, administer: Callable[[str], Any]) -> None:
        self._server, self._administer = server, administer
        self._names: dict[Path, str] = {}
        self._number = count()

    def engine_of(self, address: Path | str) -> Engine:
        """Return the engine of a store, for `study.store.connection`."""
        if is_server(address):
            used = str(address).removeprefix(f"{self._server}/")
            paths = [path for path, name in self._names.items() if name == used]
            return _ReplacementDatabase(str(address), paths[0]) if paths else Postgres(str(address))
        path = Path(address)
        if name := self._names.get(path.absolute()):
            return _ReplacementDatabase(f"{self._server}/{name}", path)
        return _MissingStore(path, self) if path.name == "store.db" else Sqlite(path)

    def make(self, path: Path, like: str = NEW_DATABASE) -> str:
        """Create the database that replaces the file at a path, and return its address."""
        path = path.absolute()
        if path in self._names:
            self._administer(f"DROP DATABASE {self._names[path]} WITH (FORCE)")
        else:
            self._names[path] = f"file_{os.getpid()}_{next(self._number)}"
        self._administer(f"CREATE DATABASE {self._names[path]} {like}")
        return f"{self._server}/{self._names[path]}"

    def copy(self, template: Path, path: Path) -> None:
        """Create the database that replaces a file as a copy of a template."""
        self.make(path, f"TEMPLATE {self._names[template.absolute()]} STRATEGY FILE_COPY")

    def move_images(self, template: Path, path: Path) -> None:
        """Change the image paths in the banks of a copy to its folder."""
        with closing(self.engine_of(path).open_connection(WRITER).conn) as opened:
            opened.execute(
                "UPDATE banks SET images_root = replace(images_root, :old, :new)",
                {"old": str(template.parent.resolve()), "new": str(path.parent.resolve())},
            )

    def version(self) -> object:
        """Return a value that changes when a database is written to."""
        return self._administer("SELECT pg_current_wal_insert_lsn()")[0][0]

    def drop(self, folder: Path) -> None:
        """Drop the databases that replace files in a folder."""
        for path in [path for path in self._names if path.is_relative_to(folder)]:
            self._administer(f"DROP DATABASE {self._names.pop(path)} WITH (FORCE)")


class _ReplacementDatabase(Postgres):
    """A database that replaces a file."""

    def __init__(self, address: str, path: Path) -> None:
        super().__init__(address)
        self.path = path

    def copy_to(self, path: Path) -> None:
        pytest.skip("on PostgreSQL: copies the file")


class _MissingStore(Sqlite):
    """A store that does not exist, and becomes a database when it is created."""

    def __init__(self, path: Path, databases: Databases) -> None:
        super().__init__(path)
        self._databases = databases

    def create(self, fill: Callable[[Database], None]) -> None:
        if self.path.exists() or not self.path.parent.is_dir():
            super().create(fill)
        else:
            Postgres(self._databases.make(self.path)).create(fill)


def tamper(address: str, statements: tuple[str, ...]) -> None:
    """Alter a database as the owner of its tables, without triggers and constraints."""
    with closing(PostgresConnection(Postgres(address)._settings, UNLIMITED)) as opened:
        numbering = opened.execute(
            "SELECT tgrelid::regclass::text, tgname::text FROM pg_trigger WHERE tgfoid IN "
            "('number_id'::regproc, 'number_rowid'::regproc)"
        )
        for table, name in numbering:
            opened.run(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}")
        opened.run("SET session_replication_role = replica")
        checks = opened.execute(
            "SELECT conrelid::regclass::text, conname FROM pg_constraint "
            "WHERE contype = 'c' AND conrelid <> 0"
        )
        for table, name in checks:
            opened.run(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
        for statement in statements:
            assert opened.execute(statement).rowcount > 0, statement


@pytest.fixture(scope="session", autouse=True)
def databases(request: pytest.FixtureRequest) -> Iterator[Databases | None]:
    """Use databases instead of files ``store.db`` if the tests run on PostgreSQL."""
    if not _ON_POSTGRES:
        yield None
        return
    database = Databases(*map(request.getfixturevalue, ("server", "administer")))
    with patch("study.store.connection._engine_of", database.engine_of):
        yield database
    database.drop(Path("/"))


@pytest.fixture(autouse=_ON_POSTGRES)
def _drop_databases(databases: Databases, tmp_path: Path) -> Iterator[None]:
    """Drop a test's databases, which take 8 MB each."""
    yield
    databases.drop(tmp_path)
