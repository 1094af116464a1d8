"""Stores on both engines, and a PostgreSQL server, which is started if it is installed."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pg8000.native
import pytest

from benchmarks.machine import free_port
from study.lifecycle.deployments import init
from study.store import Store
from tests.conftest import NOW, entropy_from

SERVER = "READING_ROOM_TEST_POSTGRES"
"""The variable with the address of a running server, whose account may create databases."""

_USER = "reading_room"
_number = count()


def _programs() -> Path | None:
    """Return the folder of PostgreSQL's programs, or None."""
    on_path = shutil.which("initdb")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return Path(on_path).parent if on_path else folders[-1] if folders else None


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Return the address of a PostgreSQL server, which is stopped afterwards."""
    if address := os.environ.get(SERVER):
        yield address.rstrip("/")
        return
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: apt install postgresql")
    # The server refuses to run as root.
    account: dict[str, Any] = {"user": "nobody", "extra_groups": []} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory(prefix="reading-room-postgres-") as scratch:
        if account:
            shutil.chown(scratch, "nobody")
        data, port = f"{scratch}/data", free_port()
        settings = f"-p {port} -k {scratch} -c listen_addresses=127.0.0.1 -c fsync=off"

        def run(program: str, *arguments: str) -> None:
            command = [str(programs / program), "-D", data, *arguments]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=scratch, **account)

        run("initdb", "-A", "trust", "-U", _USER, "--locale=C", "-E", "UTF8")
        run("pg_ctl", "-w", "-o", settings, "-l", f"{scratch}/log", "start")
        try:
            yield f"postgresql://{_USER}@127.0.0.1:{port}"
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "stop")


@pytest.fixture(scope="session")
def administer(server: str) -> Iterator[Callable[[str], None]]:
    """Return a function that runs a statement of an administrator."""
    host, _, port = server.rpartition("@")[2].partition(":")
    user, _, password = server.removeprefix("postgresql://").rpartition("@")[0].partition(":")
    with pg8000.native.Connection(
        user, host=host, port=int(port or 5432), password=password or None, database="postgres"
    ) as connection:
        yield lambda sql: connection.run(sql)


@pytest.fixture(scope="session")
def empty(
    server: str, administer: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Return the name of a database with an empty store, to copy."""
    name = f"empty_{os.getpid()}"
    administer(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("READING_ROOM_FILES", str(tmp_path_factory.mktemp("files")))
        init(f"{server}/{name}", entropy=entropy_from(1), now=NOW)
    yield name
    administer(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def on_postgres(
    server: str,
    empty: str,
    administer: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Iterator[Store]:
    """Return an empty store in a PostgreSQL database."""
    monkeypatch.setenv("READING_ROOM_FILES", str(tmp_path))
    name = f"store_{os.getpid()}_{next(_number)}"
    administer(f"CREATE DATABASE {name} TEMPLATE {empty}")
    with ExitStack() as used:
        used.callback(administer, f"DROP DATABASE {name} WITH (FORCE)")
        store = Store(f"{server}/{name}")
        used.enter_context(store.kept_warm())
        yield store


@pytest.fixture(params=["sqlite", "postgres"])
def either(request: pytest.FixtureRequest) -> Store:
    """Return an empty store on each engine in turn."""
    fixture = "store" if request.param == "sqlite" else "on_postgres"
    made = request.getfixturevalue(fixture)
    assert isinstance(made, Store)
    return made
