"""Parallel computation in a second process."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from analysis.parallel import in_second_process, in_two_processes


def _run_in_new_process(body: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program without other threads, which the test runner may have."""
    program = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from analysis.parallel import in_second_process, in_two_processes\n"
        "os.chdir(sys.argv[1])\n" + body
    )
    return subprocess.run(
        [sys.executable, "-c", program, str(folder)], capture_output=True, text=True, check=False
    )


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="forks on Linux only")
def test_the_second_computation_runs_in_another_process(
    tmp_path: Path,
) -> None:
    result = _run_in_new_process(
        "os.cpu_count = lambda: 2\n"
        "text = 'inherited'\n"
        "with in_second_process(lambda: (text, os.getpid())) as second:\n"
        "    pass\n"
        "print(second.result()[0], second.result()[1] != os.getpid())\n",
        tmp_path,
    )
    assert result.stdout.split() == ["inherited", "True"], result.stderr


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="forks on Linux only")
@pytest.mark.parametrize("cores", [1, 2])
def test_an_error_in_the_second_computation_is_raised(tmp_path: Path, cores: int) -> None:
    result = _run_in_new_process(
        f"os.cpu_count = lambda: {cores}\n"
        "try:\n"
        "    with in_second_process(lambda: Path('missing/second').write_text('')):\n"
        "        Path('first').touch()\n"
        "except FileNotFoundError as error:\n"
        "    print(error.filename, Path('first').exists())\n",
        tmp_path,
    )
    assert result.stdout.split() == ["missing/second", "True"], result.stderr


def test_the_second_computation_runs_afterwards_in_a_program_with_threads() -> None:
    ended = threading.Event()
    order: list[tuple[str, int]] = []
    thread = threading.Thread(target=ended.wait)
    thread.start()
    try:
        with in_second_process(lambda: order.append(("second", os.getpid()))):
            order.append(("first", os.getpid()))
    finally:
        ended.set()
        thread.join()
    assert order == [("first", os.getpid()), ("second", os.getpid())]


def test_without_a_second_processor_no_process_is_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    with in_second_process(os.getpid) as second:
        pass
    assert second.result() == os.getpid()


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="forks on Linux only")
def test_each_process_takes_tasks_until_none_are_left(tmp_path: Path) -> None:
    """The first task waits for the second, so two processes run them; each runs once."""
    result = _run_in_new_process(
        "os.cpu_count = lambda: 2\n"
        "os.mkfifo('pipe')\n"
        "def first():\n"
        "    return Path('pipe').read_text(), os.getpid()\n"
        "def second():\n"
        "    return Path('pipe').write_text('x'), os.getpid()\n"
        "with in_two_processes([first, second, lambda: 'third', lambda: 'fourth']) as results:\n"
        "    assert results == []\n"
        "print(len({process for _, process in results[:2]}), *results[2:])\n",
        tmp_path,
    )
    assert result.stdout.split() == ["2", "third", "fourth"], result.stderr


def test_tasks_run_in_order_if_no_process_can_be_forked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The tasks run after the main computation."""
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    order: list[str] = []
    with in_two_processes(
        [lambda: order.append("first"), lambda: order.append("second")]
    ) as results:
        order.append("body")
    assert order == ["body", "first", "second"]
    assert results == [None, None]
