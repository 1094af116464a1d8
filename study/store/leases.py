"""Leases: only one of several servers on a store, the holder of a lease, runs a background job.

A lease ends when its holder returns it, or two minutes after the holder last renewed it, so that
another server can take over the job of one that was killed or suspended. Before each step with an
effect outside the store, a job therefore checks that it still holds the lease. Times are read from
the database's clock, so that the servers' clocks need not agree.
"""

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta

from study.base.canonical import moment, stamp
from study.base.errors import StudyError
from study.store import deployment
from study.store.connection import Store, Transaction

LEASE_DURATION = timedelta(minutes=2)
RENEW_EVERY_S = 30.0


def time_of(change: Transaction) -> datetime:
    """Return the time of the database's clock, to the second."""
    return datetime.fromisoformat(change.value("SELECT CURRENT_TIMESTAMP")).replace(tzinfo=UTC)


@contextmanager
def lease(
    store: Store,
    job: str,
    *,
    clock: Callable[[Transaction], datetime] = time_of,
    renew_every_s: float = RENEW_EVERY_S,
) -> Iterator[Callable[[], bool]]:
    """Hold the lease of a job while the block runs.

    Yields
    ------
    callable
        Renews the lease, and returns False if another process or thread has it. The block must then
        not start the job, or must stop it.
    """
    name, holder = f"lease/{job}", secrets.token_hex(8)
    if not _take(store, name, holder, clock):
        yield lambda: False
        return
    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(renew_every_s):
            with suppress(StudyError):  # the store may be available at the next attempt
                _renew(store, name, holder, clock)

    thread = threading.Thread(target=renew, name=name, daemon=True)
    thread.start()
    try:
        yield lambda: _renew(store, name, holder, clock)
    finally:
        ended.set()
        thread.join()
        with suppress(StudyError), store.change() as change:  # if this fails, the lease expires
            if deployment.value(change, name).startswith(holder):
                deployment.remove_value(change, name)


def _take(store: Store, name: str, holder: str, clock: Callable[[Transaction], datetime]) -> bool:
    """Take a lease; return False if another holder has renewed it recently."""
    with store.change() as change:
        now = clock(change)
        other, _, renewed = deployment.value(change, name).partition(" ")
        if other and abs(now - moment(renewed)) < LEASE_DURATION:
            return False
        deployment.set_value(change, name, f"{holder} {stamp(now)}")
        return True


def _renew(store: Store, name: str, holder: str, clock: Callable[[Transaction], datetime]) -> bool:
    """Renew a lease; return False if another holder took it, even if that one has returned it."""
    with store.change() as change:
        if not deployment.value(change, name).startswith(holder):
            return False
        deployment.set_value(change, name, f"{holder} {stamp(clock(change))}")
        return True
