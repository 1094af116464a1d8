"""Stores on both engines."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest

from benchmarks.postgres_cluster import NEW_DATABASE
from study.lifecycle.deployments import init
from study.store import Store
from tests.conftest import NOW, entropy_from

_number = count()


@pytest.fixture(scope="session")
def empty(
    server: str, administer: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Return the name of a database with an empty store, to copy."""
    name = f"empty_{os.getpid()}"
    administer(f"CREATE DATABASE {name} {NEW_DATABASE}")
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
        used.enter_context(store.kept_open())
        yield store


@pytest.fixture(params=["sqlite", "postgres"])
def either(request: pytest.FixtureRequest) -> Store:
    """Return an empty store on each engine in turn."""
    fixture = "store" if request.param == "sqlite" else "on_postgres"
    database = request.getfixturevalue(fixture)
    assert isinstance(database, Store)
    return database


@pytest.fixture
def database(
    server: str,
    administer: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Iterator[Callable[[], str]]:
    """Return a function that creates an empty database and returns its address."""
    monkeypatch.setenv("READING_ROOM_FILES", str(tmp_path / "server"))
    with ExitStack() as used:

        def make() -> str:
            name = f"target_{os.getpid()}_{next(_number)}"
            administer(f"CREATE DATABASE {name} {NEW_DATABASE}")
            used.callback(administer, f"DROP DATABASE {name} WITH (FORCE)")
            return f"{server}/{name}"

        yield make
