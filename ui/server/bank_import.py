"""A bank's import in a process of its own: it goes on while pages come and go."""

import json
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Unpack

from study.bank.importing import Imported, ImportOptions
from study.bank.uploads import Arrived, import_arrived
from study.base.errors import NotNow
from study.base.translation import language, spoken, t
from study.store import Store

AT_ONCE_S = 1.5
"""A page waits so long before it shows how far the import is."""

_PRIORITY = 10
_ORPHANED_S = 2.0
_TOLD_EVERY_S = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportProgress:
    """How far an import is.

    Attributes
    ----------
    step : str
        `items` in bytes, `films`, `store`; empty before anything was told.
    done, total : int
    since_s : float
        How long this step has been under way.
    """

    step: str = ""
    done: int = 0
    total: int = 1
    since_s: float = 0.0

    @property
    def rate(self) -> float:
        """How much is done in a second."""
        return self.done / self.since_s if self.since_s else 0.0

    @property
    def left_s(self) -> float | None:
        """How long this step will go on, in seconds; None while that cannot be told."""
        return (self.total - self.done) / self.rate if self.rate else None


class ImportJob:
    """An import under way, done, failed or cancelled."""

    def __init__(self, store: Store, arrived: Arrived, name: str, what: Mapping[str, Any]) -> None:
        from joblib.externals.loky import ProcessPoolExecutor  # a fifth of a second to load

        self.name = name
        self.is_cancelled = False
        self._arrived = arrived
        self._note = Path(tempfile.mkdtemp(prefix="import-")) / "progress"
        self._pool = ProcessPoolExecutor(1, initializer=_begin, initargs=(_PRIORITY,))
        self._future: Future[Imported] = self._pool.submit(
            _import, store.path, arrived, self._note, language(), {"name": name, **what}
        )
        self._future.add_done_callback(self._end)

    def is_done(self, within_s: float = 0.0) -> bool:
        """Return whether it has come to an end, after having waited for it so long."""
        wait([self._future], within_s)
        return self._future.done()

    @property
    def progress(self) -> ImportProgress:
        """Return how far it is."""
        with suppress(OSError, ValueError):
            return ImportProgress(**json.loads(self._note.read_text(encoding="ascii")))
        return ImportProgress()

    def cancel(self) -> None:
        """End it; nothing of it is kept but what it knows of the images."""
        self.is_cancelled = not self.is_done()
        self._pool.shutdown(kill_workers=True)

    def outcome(self) -> Imported:
        """Return what came of it.

        Raises
        ------
        StudyError
            Nothing was imported; its text says why.
        """
        try:
            return self._future.result()
        except RuntimeError as error:  # its process was ended
            if self.is_cancelled:
                raise NotNow(t("The import was cancelled. Nothing was imported.")) from error
            raise NotNow(
                t(
                    "The import stopped before it was done; the server may be short of memory. "
                    "Nothing was imported. Import the bank again: images already checked are not "
                    "checked again."
                )
            ) from error

    def _end(self, _: object) -> None:
        shutil.rmtree(self._note.parent, ignore_errors=True)
        if isinstance(self._future.exception(), RuntimeError):
            self._arrived.discard()
        threading.Thread(target=self._pool.shutdown, daemon=True).start()


_JOBS: dict[Path, ImportJob] = {}
_LOCK = threading.Lock()


def begin(
    store: Store,
    arrived: Arrived,
    name: str,
    *,
    now: datetime,
    chosen: Sequence[str] = (),
    allow_possible_identifiers: bool = False,
    **options: Unpack[ImportOptions],
) -> ImportJob:
    """Begin an import, as `study.bank.uploads.import_arrived` describes it.

    Raises
    ------
    NotNow
        Another one is under way.
    """
    with _LOCK:
        job = _JOBS.get(store.path)
        if job is not None and not job.is_done():
            arrived.discard()
            raise NotNow(t("Another import is under way. Wait until it is done, then try again."))
        what = {
            "now": now,
            "chosen": chosen,
            "allow_possible_identifiers": allow_possible_identifiers,
            **options,
        }
        job = _JOBS[store.path] = ImportJob(store, arrived, name, what)
    return job


def current(store: Store) -> ImportJob | None:
    """Return the import that is under way, or was the last and nobody has put away."""
    return _JOBS.get(store.path)


def put_away(store: Store) -> None:
    """Forget the import that came to an end."""
    _JOBS.pop(store.path, None)


# What follows runs in the other process.


def _begin(priority: int) -> None:
    """End with the server, and keep no reader waiting."""
    os.nice(priority)
    server, never = os.getppid(), threading.Event()

    def watch() -> None:
        while os.getppid() == server:
            never.wait(_ORPHANED_S)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _import(
    path: Path, arrived: Arrived, note: Path, spoken_language: str, what: Mapping[str, Any]
) -> Imported:
    step, since, told = "", 0.0, 0.0

    def tell(now: str, done: int, total: int) -> None:
        nonlocal step, since, told
        moment = time.monotonic()
        if now != step:
            step, since, told = now, moment, 0.0
        if moment - told >= _TOLD_EVERY_S:
            told = moment
            facts = {"step": step, "done": done, "total": total, "since_s": moment - since}
            scratch = note.with_suffix(".new")
            scratch.write_text(json.dumps(facts), encoding="ascii")
            scratch.replace(note)

    with spoken(spoken_language):
        return import_arrived(Store(path), arrived, progress=tell, **what)
