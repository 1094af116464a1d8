"""Jobs in another process: results, limits and cancellation."""

import os
import threading
import time
from pathlib import Path

import pytest

from study.base.budget import Budget
from study.base.errors import BadFile, NotNow
from study.base.translation import in_language, t
from ui.server import worker
from ui.server.worker import FileBudget, Job, OnProgress, ProcessEnded, Progress

PATIENCE_S = 60
SMALL = FileBudget(budget=Budget(memory_bytes=200_000_000, cpu_seconds=1), name="bomb.csv")


def _job_of(do: object, *arguments: object, file_budget: FileBudget | None = SMALL) -> Job[object]:
    job: Job[object] = Job(do, *arguments, file_budget=file_budget)  # type: ignore[arg-type]
    assert job.is_done(PATIENCE_S)
    return job


def _return_arguments(on_progress: OnProgress, left: int, right: str) -> tuple[int, str]:
    on_progress("adding", 1, 2)
    return left, right


def _memory(_: OnProgress) -> int:
    return len([bytes(10_000_000) for _ in range(100)])


def _deep(_: OnProgress, n: int) -> int:
    return _deep(_, n + 1) + 1


def _busy(_: OnProgress) -> None:
    while True:
        pass


def _asleep(_: OnProgress) -> None:
    threading.Event().wait()


def _broken(_: OnProgress) -> None:
    raise AttributeError("'int' object has no attribute 'get'")


def _exit_at_once(_: OnProgress) -> None:
    os._exit(3)


def _priority(_: OnProgress) -> int:
    return os.nice(0)


def _translated_word(_: OnProgress) -> str:
    return t("Continue")


def test_a_job_returns_the_result_of_its_function() -> None:
    """It runs in the language of the request, at low priority."""
    assert _job_of(_return_arguments, 1, "a").outcome() == (1, "a")
    assert _job_of(_priority).outcome() == os.nice(0) + worker.PRIORITY
    with in_language("de"):
        assert _job_of(_translated_word).outcome() == "Weiter"


@pytest.mark.parametrize(
    ("do", "arguments", "says"),
    [
        (_memory, (), "takes more than 0.2 GB of memory"),
        (_busy, (), "takes more than .* minutes to read"),
        (_deep, (0,), "nested more than 100 levels deep"),
        (_exit_at_once, (), "memory"),
        (_broken, (), "a form that cannot be read here"),
    ],
)
def test_a_file_beyond_the_limits_is_refused_by_name(
    do: object, arguments: tuple[object, ...], says: str
) -> None:
    """The message has the limit and the remedy; unexpected errors are logged."""
    job = _job_of(do, *arguments)
    with pytest.raises(BadFile, match=f"^bomb.csv .*{says}"):
        job.outcome()


def test_a_waiting_job_is_ended_after_a_time() -> None:
    """The limit of processor time does not apply to it."""
    job = _job_of(_asleep, file_budget=FileBudget(budget=Budget(wall_seconds=1), name="slow.csv"))
    with pytest.raises(BadFile, match=r"slow\.csv takes more than"):
        job.outcome()


def test_cancelling_a_job_ends_its_process() -> None:
    """The caller gets the error that nothing was saved, and can clean up."""
    ends: list[bool] = []
    job: Job[None] = Job(_asleep, file_budget=SMALL, on_end=ends.append)
    job.cancel()
    assert job.is_done(PATIENCE_S)
    with pytest.raises(NotNow, match="Nothing was saved"):
        job.outcome()
    assert ends == [True]


def test_the_number_of_simultaneous_uploads_is_limited() -> None:
    """The next upload is refused until another has ended."""
    jobs: list[Job[None]] = [Job(_asleep, file_budget=SMALL) for _ in range(worker.MAX_UPLOADS)]
    with pytest.raises(NotNow, match="Other files are being read"):
        Job(_asleep, file_budget=SMALL)
    for job in jobs:
        job.cancel()
        assert job.is_done(PATIENCE_S)
    assert _job_of(_return_arguments, 1, "a").outcome() == (1, "a")


def test_the_end_of_a_job_without_limits_is_reported() -> None:
    """An analysis can be ended when memory is short; errors of the job are raised unchanged."""
    with pytest.raises(ProcessEnded, match="stopped before it was done"):
        _job_of(_exit_at_once, file_budget=None).outcome()
    with pytest.raises(AttributeError):
        _job_of(_broken, file_budget=None).outcome()


def test_progress_is_reported_while_a_job_runs(tmp_path: Path) -> None:
    """Each step has a share, a rate and the remaining time."""
    go_on = tmp_path / "go on"
    job: Job[None] = Job(_step, go_on, file_budget=SMALL)
    end = time.monotonic() + PATIENCE_S
    while not (reported := job.progress).step and time.monotonic() < end:
        job.is_done(0.01)
    assert (reported.step, reported.share) == ("counting", 0.25)
    go_on.touch()
    assert job.is_done(PATIENCE_S)
    assert Progress(done=1, total=4, since_s=2).remaining_s == 6
    assert Progress().remaining_s is None


def _step(on_progress: OnProgress, go_on: Path) -> None:
    on_progress("counting", 1, 4)
    while not go_on.exists():
        threading.Event().wait(0.01)
