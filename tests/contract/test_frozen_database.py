"""A database server that does not answer: requests fail within seconds, and work again afterwards.

Either the server is suspended while its system still accepts data, or a firewall drops all packets.
"""

import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

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
from benchmarks.proxy import LOCAL, proxied
from study.base.errors import Busy
from study.lifecycle.deployments import init
from study.store import Store, deployment, postgres_connection
from study.store.postgres_silence import SILENT, ServerError, Silence
from tests.conftest import NOW, entropy_from
from tests.torture import firewall
from ui.server.health import readiness

_PATIENCE_S = 0.5
_ENDS_WITHIN_S = 5.0
"""A request waits 2 s: patience, a second for the statement and half a second for the network."""


@dataclass(frozen=True, kw_only=True)
class Database:
    """A separate server, because tests share the other one, and a way to make it unresponsive."""

    cluster: Cluster
    address: str
    silence: Callable[[], None]
    wake: Callable[[], None]


@pytest.fixture
def suspended() -> Iterator[Database]:
    """Return a server that is suspended."""
    with _server() as cluster:

        def signalled(number: int) -> Callable[[], None]:
            return lambda: cluster.signal(number)

        stop, resume = map(signalled, (signal.SIGSTOP, signal.SIGCONT))
        yield Database(cluster=cluster, address=cluster.address, silence=stop, wake=resume)
        resume()


@pytest.fixture
def cut_off() -> Iterator[Database]:
    """Return a server whose packets are dropped."""
    with firewall.firewall() as wall:
        if wall is None:
            pytest.skip(firewall.MISSING)
        with _server() as cluster, wall.entrance() as entrance:
            address = f"postgresql://{USER}@{wall.host}:{entrance.getsockname()[1]}"
            with proxied(cluster.port, LOCAL, entrance):
                yield Database(
                    cluster=cluster, address=address, silence=wall.drop, wake=wall.let_pass
                )
                wall.let_pass()


@contextmanager
def _server() -> Iterator[Cluster]:
    if postgres_programs() is None:
        pytest.skip(MISSING)
    with temporary_server({}) as cluster:
        cluster.administer(f"CREATE DATABASE store {NEW_DATABASE}")
        yield cluster


@pytest.fixture(params=["suspended", "cut_off"])
def database(request: pytest.FixtureRequest) -> Database:
    """Return a server that stops responding, in each way in turn."""
    made = request.getfixturevalue(request.param)
    assert isinstance(made, Database)
    return made


def _sealed_look(store: Store) -> None:
    with store.look(sealed=True) as look:
        deployment.secret(look)


def _look(store: Store) -> None:
    with store.look() as look:
        deployment.secret(look)


def _desk(store: Store) -> None:
    with store.desk() as change:
        deployment.secret(change)


def _change(store: Store) -> None:
    with store.change() as change:
        deployment.set_value(change, "one", "1")


def _is_ready(store: Store) -> None:
    (check,) = [check for check in readiness(lambda: store).checks if check.name == "store"]
    if check.reason:
        raise Busy(check.reason)


_ALL = (_sealed_look, _look, _desk, _change, _is_ready)


@pytest.mark.thorough
def test_requests_to_an_unresponsive_server_time_out_until_it_responds_again(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Open and new connections are tried."""
    monkeypatch.setenv("READING_ROOM_FILES", str(tmp_path))
    monkeypatch.setattr(postgres_connection, "_BEGIN_S", 0.2)
    monkeypatch.setattr(postgres_connection, "_CONNECT_S", 0.3)
    of_staff = init(f"{database.address}/store", entropy=entropy_from(1), now=NOW)
    store = of_staff.with_wait_limit(_PATIENCE_S)

    def seconds(number: int, used: Store = store) -> float:
        began_s = time.monotonic()
        with pytest.raises(Busy):
            _ALL[number % len(_ALL)](used)
        return time.monotonic() - began_s

    with store.kept_open(), ThreadPoolExecutor(40) as pool:
        for work in _ALL:
            work(store)
            work(of_staff)
        database.silence()
        try:
            staff_s = seconds(_ALL.index(_look), of_staff)
            first_s = list(pool.map(seconds, range(10)))
            later_s = list(pool.map(seconds, range(40)))
            in_the_middle_s = _silent_within_a_transaction(store, database)
            _all_connections_end(database)
        finally:
            database.wake()
        _until_it_answers(store)
        for work in _ALL:
            work(store)
    assert max(staff_s, *first_s, *later_s, in_the_middle_s) < _ENDS_WITHIN_S
    assert sorted(later_s)[20] < _PATIENCE_S, "most of them fail at once"


def _all_connections_end(database: Database) -> None:
    """End the connections on the server's side without notifying its clients."""
    if database.address != database.cluster.address:
        database.cluster.administer(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'Reading Room'"
        )


def _silent_within_a_transaction(store: Store, database: Database) -> float:
    """Return the duration of a statement during which the server stops responding."""
    database.wake()
    _until_it_answers(store)
    began_s = 0.0

    def be_interrupted() -> None:
        nonlocal began_s
        with store.change() as change:
            deployment.set_value(change, "two", "2")
            database.silence()
            began_s = time.monotonic()

    with pytest.raises(Busy):
        be_interrupted()
    return time.monotonic() - began_s


def _until_it_answers(store: Store) -> None:
    def answers() -> bool:
        try:
            _look(store)
        except Busy:
            return False
        return True

    wait_until(answers)


def test_only_one_request_at_a_time_tries_an_unresponsive_server() -> None:
    """Other requests fail at once until the server answers."""
    silence = Silence()

    def fail(code: str) -> None:
        with silence.trying():
            raise ServerError("no answer", code, is_final=True)

    def try_while_another_tries() -> None:
        with silence.trying(), silence.trying():
            raise AssertionError("both try")

    for _ in range(2):
        with pytest.raises(ServerError, match="no answer"):
            fail(SILENT)
        with pytest.raises(ServerError, match="the server does not answer"):
            try_while_another_tries()
    with pytest.raises(ServerError, match="no answer"):
        fail("57P01")  # it has answered
    with silence.trying(), silence.trying():
        pass
