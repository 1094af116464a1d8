"""Background tasks of the server: prepare films, check the witness, send mail, make backups."""

import asyncio
import gc
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime

from study.base.errors import NotFound, StudyError
from study.exchange.backups import make_backup_if_due
from study.films.shelf import Shelf, prepared_film
from study.monitoring.scheduled_reminders import send_due_reminders
from study.store import Store, readings
from study.store.leases import lease
from study.trail import heads, losses
from ui.server import request_log
from ui.server.deployment import store
from ui.server.serving import apply_server_limits, report_start

FIRST_BACKUP_S = 300.0
"""Delay before the first backup, because readers may be waiting for the server to start."""

RUN_EVERY_S = 60.0
REMIND_EVERY_S = 3600.0

STOP_WAIT_S = 10.0
"""How long a server that is being stopped waits for a running backup."""

_log = logging.getLogger("reading_room")


@contextmanager
def run_due_tasks(
    store: Callable[[], Store], *, first_s: float = FIRST_BACKUP_S, every_s: float = RUN_EVERY_S
) -> Iterator[None]:
    """Run due tasks while the block runs; a failing task does not stop the others."""
    stop = threading.Event()

    def work() -> None:
        passed_s = 0.0
        while not stop.wait(every_s):
            passed_s += every_s
            run_tasks_once(store, backups=passed_s >= first_s)
            if (passed_s - every_s) % REMIND_EVERY_S < every_s:
                _try("Reminders were not sent", lambda: _send_reminders(store(), datetime.now(UTC)))

    def prepare() -> None:
        paths_tried: set[str] = set()
        while not stop.is_set():
            _try("Images were not prepared", lambda: prepare_films(store(), paths_tried, stop))
            stop.wait(every_s)

    threading.Thread(target=prepare, name="films", daemon=True).start()
    thread = threading.Thread(target=work, name="due tasks", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(STOP_WAIT_S)


def run_tasks_once(store: Callable[[], Store], *, backups: bool = False) -> None:
    """Run due tasks once: record losses, checkpoint the journal, send heads, make a backup."""
    now = datetime.now(UTC)
    _try("Suspended programs could not be checked", lambda: _end_stalled(store()))
    check_witness(store)
    _try("The write-ahead log could not be emptied", lambda: store().checkpoint_without_blocking())
    _try("Heads were not sent", lambda: _send_heads(store(), now))
    if backups:
        _try("The backup could not be made", lambda: make_backup_if_due(store(), now=now))


def prepare_films(store: Store, paths_tried: set[str], stop: threading.Event) -> None:
    """Prepare the films of open studies, so that the first reader does not wait for them.

    Only one of several servers does this at a time. Each film is tried once in a server's lifetime,
    because a shelf that is too small would otherwise cause endless work.
    """
    shelf = Shelf(store.companion_path("films"))
    with store.look(sealed=True) as look:
        rows = readings.films_to_read(look)
    missing = [row for row in rows if row.sha256 not in paths_tried and not shelf.has(row.sha256)]
    if not missing:
        return
    with lease(store, "films") as is_ours:
        for row in missing if is_ours() else ():
            if stop.is_set():
                return
            paths_tried.add(row.sha256)
            if not shelf.has(row.sha256):
                with suppress(StudyError):  # reported to the request for the film
                    prepared_film(row.file, row.sha256, shelf)


def check_witness(store: Callable[[], Store], *, starting: bool = False) -> None:
    """Compare the store with its witness file; log and record missing or damaged data."""
    _try("The witness could not be checked", lambda: _record_losses(store(), starting=starting))


def _record_losses(store: Store, *, starting: bool) -> None:
    for loss in losses.record_losses(store, now=datetime.now(UTC), starting=starting):
        if not loss.noted_at_utc:
            _log.error("%s See docs/backups.md.", loss.sentence)
    with store.look() as look:
        if starting and (finding := losses.damage_noted(look)):
            _log.error("The witness: %s. See docs/backups.md.", finding)


def _end_stalled(store: Store) -> None:
    if n_ended := store.end_stalled():
        _log.warning("Changes of programs that were suspended were ended: %s.", n_ended)


def _send_heads(store: Store, now: datetime) -> None:
    for failure in heads.send_due_heads(store, os.environ, now=now):
        _log.warning("%s", failure)


def _send_reminders(store: Store, now: datetime) -> None:
    for failure in send_due_reminders(store, os.environ, now=now):
        _log.warning("A reminder was not sent: %s", failure)


def _try(task: str, act: Callable[[], object]) -> None:
    try:
        act()
    except NotFound:
        return  # no store yet
    except StudyError as error:
        _log.warning("%s: %s", task, error)
    except Exception:  # the task may succeed next time
        _log.exception("%s", task)


@asynccontextmanager
async def lifespan(_: object) -> AsyncIterator[None]:
    """Keep the store's connections open and run background tasks while the server runs.

    Imported modules are excluded from garbage collection, because Streamlit collects garbage after
    every run of a page and would scan all modules each time.
    """
    apply_server_limits()
    request_log.set_up()
    gc.collect()
    gc.freeze()
    with ExitStack() as stack:
        with suppress(NotFound):
            stack.enter_context(store().kept_open())
        check_witness(store, starting=True)
        stack.enter_context(run_due_tasks(store))
        reported = asyncio.create_task(report_start())
        yield
        reported.cancel()
