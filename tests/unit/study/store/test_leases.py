"""A lease has one holder at a time, is renewed while the job runs, and otherwise taken over."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import pytest

from study.store import Store, deployment
from study.store.connection import Transaction
from study.store.leases import LEASE_DURATION, lease, time_of
from tests.conftest import NOW


def _lease_value(store: Store) -> str:
    with store.look() as look:
        return deployment.value(look, "lease/backup")


def test_a_lease_has_only_one_holder_at_a_time(store: Store) -> None:
    """A returned lease can be taken again, and a lease of another job at any time."""
    with lease(store, "backup") as first, lease(store, "backup") as second:
        assert (first(), second()) == (True, False)
        with lease(store, "films") as other:
            assert other()
    with lease(store, "backup") as again:
        assert again()
    assert _lease_value(store) == ""


def test_only_one_of_many_threads_takes_the_lease(store: Store) -> None:
    """All threads start together, and the holder keeps the lease until all have tried."""
    n_threads = 6
    start, asked = threading.Barrier(n_threads), threading.Barrier(n_threads)

    def work(_: int) -> bool:
        start.wait()
        with lease(store, "backup") as is_ours:
            holds = is_ours()
            asked.wait()
            return holds

    with ThreadPoolExecutor(n_threads) as pool:
        taken = list(pool.map(work, range(n_threads)))
    assert sorted(taken) == [False] * (n_threads - 1) + [True]


@pytest.mark.parametrize(
    ("delay", "is_taken_over"),
    [
        (timedelta(0), False),
        (LEASE_DURATION - timedelta(seconds=1), False),
        (LEASE_DURATION, True),
        (timedelta(seconds=-1), False),  # the clocks of two servers differ
        (-LEASE_DURATION, True),  # a clock was set back
    ],
)
def test_a_lease_that_is_not_renewed_is_taken_over(
    store: Store, delay: timedelta, is_taken_over: bool
) -> None:
    """The first holder, which was only slow, cannot return the lease of the second."""
    with ExitStack() as slow:
        first = slow.enter_context(lease(store, "backup", clock=lambda _: NOW, renew_every_s=1e6))
        with lease(store, "backup", clock=lambda _: NOW + delay, renew_every_s=1e6) as is_ours:
            assert is_ours() is is_taken_over
            assert first() is not is_taken_over
            held = _lease_value(store)
            slow.close()
            assert _lease_value(store) == (held if is_taken_over else "")


def test_a_suspended_holder_is_notified_that_another_has_done_the_job(store: Store) -> None:
    """The other holder has already returned the lease."""
    with lease(store, "backup", clock=lambda _: NOW, renew_every_s=1e6) as is_ours:
        with lease(
            store, "backup", clock=lambda _: NOW + LEASE_DURATION, renew_every_s=1e6
        ) as other:
            assert other()
        assert not is_ours()


def test_a_lease_is_renewed_while_its_holder_works(store: Store) -> None:
    """Another process is refused although the job takes longer than the lease."""
    times = iter([NOW, *(NOW + n * LEASE_DURATION for n in range(1, 1000))])
    renewed = threading.Event()

    def clock(_: Transaction) -> datetime:
        time = next(times)
        if time >= NOW + 3 * LEASE_DURATION:
            renewed.set()
        return time

    with lease(store, "backup", clock=clock, renew_every_s=0.001) as is_ours:
        assert is_ours()
        assert renewed.wait(60)
        assert _lease_value(store).split()[1] > f"{NOW + LEASE_DURATION:%Y-%m-%d}"


def test_the_time_of_a_lease_is_that_of_the_database(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time is in UTC, even if the program or the database has another time zone."""
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    time.tzset()
    try:
        before = datetime.now(UTC).replace(microsecond=0)
        with store.change() as change:
            now = time_of(change)
        assert before <= now <= datetime.now(UTC)
    finally:
        monkeypatch.undo()
        time.tzset()
