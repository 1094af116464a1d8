"""A database server that is suspended: requests end within seconds, and continue afterwards."""

import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.postgres_cluster import (
    MISSING,
    NEW_DATABASE,
    Cluster,
    programs,
    temporary_server,
    wait_until,
)
from study.base.errors import Busy
from study.lifecycle.deployments import init
from study.store import Store, deployment
from study.store.postgres_silence import SILENT, ServerError, Silence
from tests.conftest import NOW, entropy_from
from ui.server.health import readiness

_PATIENCE_S = 0.5
_ENDS_WITHIN_S = 5.0
"""A request waits 2 s: patience, a second for the statement and half a second for the network."""


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Return a server of this test, because all tests share the other."""
    if programs() is None:
        pytest.skip(MISSING)
    with temporary_server({}) as cluster:
        yield cluster
        cluster.signal(signal.SIGCONT)


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


@pytest.mark.slow
def test_requests_to_a_suspended_server_end_and_continue_with_it(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Connections that are open, and new ones, which the system of the server still accepts."""
    monkeypatch.setenv("READING_ROOM_FILES", str(tmp_path))
    cluster.administer(f"CREATE DATABASE store {NEW_DATABASE}")
    store = init(f"{cluster.address}/store", entropy=entropy_from(1), now=NOW).hurried(_PATIENCE_S)

    def seconds(number: int) -> float:
        began_s = time.monotonic()
        with pytest.raises(Busy):
            _ALL[number % len(_ALL)](store)
        return time.monotonic() - began_s

    with store.kept_warm(), ThreadPoolExecutor(40) as pool:
        for work in _ALL:
            work(store)
        cluster.signal(signal.SIGSTOP)
        try:
            first_s = list(pool.map(seconds, range(10)))
            later_s = list(pool.map(seconds, range(40)))
            in_the_middle_s = _suspended_within_a_transaction(store, cluster)
        finally:
            cluster.signal(signal.SIGCONT)
        _until_it_answers(store)
        for work in _ALL:
            work(store)
    assert max(*first_s, *later_s, in_the_middle_s) < _ENDS_WITHIN_S
    assert sorted(later_s)[20] < _PATIENCE_S, "most of them fail at once"


def _suspended_within_a_transaction(store: Store, cluster: Cluster) -> float:
    """Return how long the statement takes during which the server is suspended."""
    cluster.signal(signal.SIGCONT)
    _until_it_answers(store)
    began_s = 0.0

    def be_interrupted() -> None:
        nonlocal began_s
        with store.change() as change:
            deployment.set_value(change, "two", "2")
            cluster.signal(signal.SIGSTOP)
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


def test_one_request_at_a_time_tries_a_silent_server() -> None:
    """The others fail at once, until it answers."""
    silence = Silence()

    def fail(code: str) -> None:
        with silence.broken():
            raise ServerError("no answer", code, is_final=True)

    def try_while_another_tries() -> None:
        with silence.broken(), silence.broken():
            raise AssertionError("both try")

    for _ in range(2):
        with pytest.raises(ServerError, match="no answer"):
            fail(SILENT)
        with pytest.raises(ServerError, match="the server does not answer"):
            try_while_another_tries()
    with pytest.raises(ServerError, match="no answer"):
        fail("57P01")  # it has answered
    with silence.broken(), silence.broken():
        pass
