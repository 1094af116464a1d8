"""Runs work in a separate process at low priority, so that it does not delay readers' answers.

Work on an uploaded file has a budget (`study.base.budget`): if the budget is exceeded, the process
is stopped and the file is refused.
"""

import gc
import json
import logging
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar

from study.base.budget import Budget, limit_to
from study.base.errors import BadFile, NotNow, StudyError
from study.base.translation import in_language, language, t

WAIT_BEFORE_PROGRESS_S = 1.5
"""How long a page waits for a job before it shows progress."""

MAX_UPLOADS = 2
"""Maximum number of uploaded files read at the same time; each may use the budget's memory."""

PRIORITY = 10
_SERVER_CHECK_EVERY_S = 2.0
_REPORT_EVERY_S = 0.3
_CLOSE_IDLE_AFTER_S = 600

_Result = TypeVar("_Result")
OnProgress = Callable[[str, float, float], None]
"""Function that receives the name of a step, the amount done, and the total amount."""

_log = logging.getLogger("reading_room.worker")


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Progress of a job.

    Attributes
    ----------
    step : str
        The current step; empty until the job reports one.
    done, total : float
        In units of the step.
    since_s : float
        Duration of this step so far.
    """

    step: str = ""
    done: float = 0
    total: float = 1
    since_s: float = 0.0

    @property
    def share(self) -> float:
        """Return the completed share of the step, 0 to 1."""
        return min(1.0, self.done / max(self.total, 1e-9))

    @property
    def rate(self) -> float:
        """Return the amount done per second."""
        return self.done / self.since_s if self.since_s else 0.0

    @property
    def remaining_s(self) -> float | None:
        """Return the estimated remaining time of this step in seconds; None while it is unknown."""
        return (self.total - self.done) / self.rate if self.rate else None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileBudget:
    """The budget of a job that reads a file, and the file's name in messages."""

    budget: Budget
    name: str


class ProcessEnded(NotNow):
    """The process of a job ended before the job was done, without being cancelled."""


class Job(Generic[_Result]):
    """Work in another process: running, done, failed or cancelled.

    Parameters
    ----------
    do, *arguments
        A module-level function, called in the process with an `OnProgress` before the arguments;
        arguments and result must be picklable.
    file_budget
        The budget, if the work is on an uploaded file.
    kept_module
        A module loaded by a process that is kept for the next job; without it, each job starts a
        new process.
    on_end
        Called when the job has ended; the argument states whether its process ended prematurely.

    Raises
    ------
    NotNow
        The maximum number of uploaded files is already being read.
    """

    def __init__(
        self,
        do: Callable[..., _Result],
        *arguments: Any,
        file_budget: FileBudget | None = None,
        kept_module: str = "",
        on_end: Callable[[bool], None] = lambda _: None,
    ) -> None:
        self.is_cancelled = self._is_late = False
        self._file_budget, self._is_kept, self._on_end = file_budget, bool(kept_module), on_end
        self._progress, self._has_ended = Progress(), threading.Event()
        if file_budget is not None:
            _reserve_upload(self)
        self._progress_file = Path(tempfile.mkdtemp(prefix="reading-room-job-")) / "progress"
        self._pool = _kept_pool(kept_module) if kept_module else _own_pool()
        self._future: Future[_Result] = self._pool.submit(
            _run, self._progress_file, language(), file_budget, do, arguments
        )
        self._timer = threading.Timer(
            file_budget.budget.wall_seconds if file_budget else 0, self._end_late
        )
        self._timer.daemon = True
        if file_budget is not None:
            self._timer.start()
        self._future.add_done_callback(self._end)

    def is_done(self, within_s: float = 0.0) -> bool:
        """Wait for a limited time; return whether the job has ended and released its resources."""
        return self._has_ended.wait(within_s)

    @property
    def progress(self) -> Progress:
        """Return the job's progress; after its end, the last progress that was read."""
        with suppress(OSError, ValueError):
            self._progress = Progress(**json.loads(self._progress_file.read_text(encoding="ascii")))
        return self._progress

    def cancel(self) -> None:
        """Cancel the job and kill its process."""
        self.is_cancelled = not self._future.done()
        self._kill()

    def outcome(self) -> _Result:
        """Return the result of the job when it is done.

        Raises
        ------
        StudyError
            The job was cancelled or stopped, the file was refused, or the function raised an error.
        """
        self._has_ended.wait()
        try:
            return self._future.result()
        except StudyError:
            raise
        except _end_errors() as error:
            raise self._reason_of_end() from error
        except Exception as error:
            if self._file_budget is None:
                raise
            _log.exception("%s could not be read", self._file_budget.name)
            raise BadFile(
                t(
                    "{name} has a form that cannot be read here. Check how it was made, and write "
                    "it again.",
                    name=self._file_budget.name,
                )
            ) from error

    def _reason_of_end(self) -> StudyError:
        if self.is_cancelled:
            return NotNow(t("Cancelled. Nothing was saved."))
        if self._file_budget is None:
            return ProcessEnded(
                t(
                    "This stopped before it was done; the server may be short of memory. Try "
                    "again later."
                )
            )
        if self._is_late:
            return self._file_budget.budget.too_long(self._file_budget.name)
        return self._file_budget.budget.too_much_memory(self._file_budget.name)

    def _end_late(self) -> None:
        self._is_late = not self._future.done()
        self._kill()

    def _kill(self) -> None:
        # A job that has not started is cancelled instead: killing the pool would break its thread.
        if not self._is_kept and not self._future.cancel():
            self._pool.shutdown(kill_workers=True)

    def _end(self, _: object) -> None:
        try:
            self._timer.cancel()
            shutil.rmtree(self._progress_file.parent, ignore_errors=True)
            _release_upload(self)
            was_ended = self._future.cancelled() or isinstance(
                self._future.exception(), _end_errors()
            )
            self._on_end(was_ended)
        finally:
            self._has_ended.set()
        if not self._is_kept and (was_ended or not _return_pool(self._pool)):
            threading.Thread(target=self._pool.shutdown, daemon=True).start()


_UPLOADS: set[Job[Any]] = set()
_LOCK = threading.Lock()


def _reserve_upload(job: Job[Any]) -> None:
    with _LOCK:
        if len(_UPLOADS) >= MAX_UPLOADS:
            raise NotNow(t("Other files are being read at present. Try again in a minute."))
        _UPLOADS.add(job)


def _release_upload(job: Job[Any]) -> None:
    with _LOCK:
        _UPLOADS.discard(job)


def _end_errors() -> tuple[type[BaseException], ...]:
    """Return the errors of a job whose process was stopped."""
    from joblib.externals.loky.process_executor import ShutdownExecutorError

    return BrokenProcessPool, CancelledError, ShutdownExecutorError


_IDLE_POOLS: list[Any] = []
"""Pools with an idle process, in which the next job starts at once."""


def _own_pool() -> Any:
    from joblib.externals.loky import ProcessPoolExecutor  # loading takes a fifth of a second

    with _LOCK:
        if _IDLE_POOLS:
            return _IDLE_POOLS.pop()
    options = {"initializer": _prepare_process, "initargs": (os.getpid(), PRIORITY, "")}
    return ProcessPoolExecutor(1, timeout=_CLOSE_IDLE_AFTER_S, **options)


def _return_pool(pool: Any) -> bool:
    with _LOCK:
        if len(_IDLE_POOLS) < MAX_UPLOADS:
            _IDLE_POOLS.append(pool)
            return True
        return False


def _kept_pool(module: str) -> Any:
    from joblib.externals.loky import get_reusable_executor

    options = {"initializer": _prepare_process, "initargs": (os.getpid(), PRIORITY, module)}
    return get_reusable_executor(max_workers=1, timeout=_CLOSE_IDLE_AFTER_S, **options)


# The following functions run in the other process.


def _prepare_process(server: int, priority: int, module: str) -> None:
    """Lower the priority, load a module, and make the process end when the server ends."""
    os.nice(priority)
    never = threading.Event()

    def watch() -> None:
        while os.getppid() == server:
            never.wait(_SERVER_CHECK_EVERY_S)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    if module:
        import_module(module)
        gc.freeze()  # statsmodels collects garbage for every test


def _run(
    progress_file: Path,
    spoken_language: str,
    file_budget: FileBudget | None,
    do: Callable[..., _Result],
    arguments: tuple[Any, ...],
) -> _Result:
    on_progress = _progress_reporter(progress_file)
    with in_language(spoken_language):
        if file_budget is None:
            return do(on_progress, *arguments)
        with limit_to(file_budget.budget, file_budget.name):
            return do(on_progress, *arguments)


def _progress_reporter(progress_file: Path) -> OnProgress:
    """Return a function that reports progress to the server a few times a second."""
    step, since, last_at = "", 0.0, 0.0

    def report(new_step: str, n_done: float, total: float) -> None:
        nonlocal step, since, last_at
        moment = time.monotonic()
        if new_step != step:
            step, since, last_at = new_step, moment, 0.0
        if moment - last_at >= _REPORT_EVERY_S:
            last_at = moment
            facts = {"step": step, "done": n_done, "total": total, "since_s": moment - since}
            scratch = progress_file.with_suffix(".new")
            with suppress(FileNotFoundError):  # the server has already deleted the folder
                scratch.write_text(json.dumps(facts), encoding="ascii")
                scratch.replace(progress_file)

    return report
