"""Work in another process: what it returns, what it is held to, and how it is ended."""

import os
import threading
import time
from pathlib import Path

import pytest

from study.base.budget import Budget
from study.base.errors import BadFile, NotNow
from study.base.translation import spoken, t
from ui.server import worker
from ui.server.worker import Ended, Held, Job, Progress, Tell

PATIENCE_S = 60
SMALL = Held(budget=Budget(memory_bytes=200_000_000, cpu_seconds=1), name="bomb.csv")


def _job_of(do: object, *arguments: object, held: Held | None = SMALL) -> Job[object]:
    job: Job[object] = Job(do, *arguments, held=held)  # type: ignore[arg-type]
    assert job.is_done(PATIENCE_S)
    return job


def _both(tell: Tell, left: int, right: str) -> tuple[int, str]:
    tell("adding", 1, 2)
    return left, right


def _memory(_: Tell) -> int:
    return len([bytes(10_000_000) for _ in range(100)])


def _deep(_: Tell, n: int) -> int:
    return _deep(_, n + 1) + 1


def _busy(_: Tell) -> None:
    while True:
        pass


def _asleep(_: Tell) -> None:
    threading.Event().wait()


def _broken(_: Tell) -> None:
    raise AttributeError("'int' object has no attribute 'get'")


def _gone(_: Tell) -> None:
    os._exit(3)


def _priority(_: Tell) -> int:
    return os.nice(0)


def _spoken(_: Tell) -> str:
    return t("Continue")


def test_a_job_returns_what_its_function_returns() -> None:
    """In the language of the request, at low priority."""
    assert _job_of(_both, 1, "a").outcome() == (1, "a")
    assert _job_of(_priority).outcome() == os.nice(0) + worker.PRIORITY
    with spoken("de"):
        assert _job_of(_spoken).outcome() == "Weiter"


@pytest.mark.parametrize(
    ("do", "arguments", "says"),
    [
        (_memory, (), "takes more than 0.2 GB of memory"),
        (_busy, (), "takes more than .* minutes to read"),
        (_deep, (0,), "nested more than 100 levels deep"),
        (_gone, (), "memory"),
        (_broken, (), "a form that cannot be read here"),
    ],
)
def test_beyond_the_budget_a_file_is_refused_by_name(
    do: object, arguments: tuple[object, ...], says: str
) -> None:
    """With the limit and the remedy; an error nobody expected is for the log."""
    job = _job_of(do, *arguments)
    with pytest.raises(BadFile, match=f"^bomb.csv .*{says}"):
        job.outcome()


def test_a_job_that_waits_is_ended_by_the_clock() -> None:
    """It uses no processor time, which would end it too."""
    job = _job_of(_asleep, held=Held(budget=Budget(wall_seconds=1), name="slow.csv"))
    with pytest.raises(BadFile, match=r"slow\.csv takes more than"):
        job.outcome()


def test_a_cancelled_job_is_gone_with_its_process() -> None:
    """The caller gets the error that nothing was saved; those who must clean up see the end."""
    ends: list[bool] = []
    job: Job[None] = Job(_asleep, held=SMALL, on_end=ends.append)
    job.cancel()
    assert job.is_done(PATIENCE_S)
    with pytest.raises(NotNow, match="Nothing was saved"):
        job.outcome()
    assert ends == [True]


def test_no_more_uploads_are_read_at_once_than_there_is_memory_for() -> None:
    """The next one is asked to wait; when one has ended there is room again."""
    jobs: list[Job[None]] = [Job(_asleep, held=SMALL) for _ in range(worker.MOST_UPLOADS)]
    with pytest.raises(NotNow, match="Other files are being read"):
        Job(_asleep, held=SMALL)
    for job in jobs:
        job.cancel()
        assert job.is_done(PATIENCE_S)
    assert _job_of(_both, 1, "a").outcome() == (1, "a")


def test_a_job_without_a_budget_says_that_it_was_ended() -> None:
    """As an analysis when memory is short; an error of its own is passed on as it is."""
    with pytest.raises(Ended, match="stopped before it was done"):
        _job_of(_gone, held=None).outcome()
    with pytest.raises(AttributeError):
        _job_of(_broken, held=None).outcome()


def test_progress_is_reported_while_a_job_runs(tmp_path: Path) -> None:
    """A step with its share, its rate and the time left."""
    go_on = tmp_path / "go on"
    job: Job[None] = Job(_step, go_on, held=SMALL)
    end = time.monotonic() + PATIENCE_S
    while not (reported := job.progress).step and time.monotonic() < end:
        job.is_done(0.01)
    assert (reported.step, reported.share) == ("counting", 0.25)
    go_on.touch()
    assert job.is_done(PATIENCE_S)
    assert Progress(done=1, total=4, since_s=2).left_s == 6
    assert Progress().left_s is None


def _step(tell: Tell, go_on: Path) -> None:
    tell("counting", 1, 4)
    while not go_on.exists():
        threading.Event().wait(0.01)
