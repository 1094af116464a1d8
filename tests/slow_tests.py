"""List the tests that need the mark `slow` and do not have it: ``python -m tests.slow_tests``.

`make check` leaves out the tests marked `slow`. A test needs the mark if its call takes more than
0.2 s of processor time, counted in the process of the test and in the processes it started. Right
after each costly test the same process runs a fixed loop, so that a slow or busy machine is not
taken for a slow test. A test is listed only if it took twice the limit in two runs, in the second
of which it ran alone.
"""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from multiprocessing import forkserver
from pathlib import Path
from statistics import median

import pytest

LIMIT_S = 0.2
"""Processor time above which a test is slow."""
MARGIN = 2.0
"""A test is listed if it takes more than this multiple of the limit."""
LOOP_REFERENCE_S = 0.016
"""Processor time of the loop on the machine the limit refers to (an idle 2-core server of 2024)."""


def _run_loop() -> None:
    total = 0
    for i in range(400_000):
        total += i * i


def _slowness() -> float:
    """Return the time of the loop now divided by its time on the reference machine, at least 1."""
    times = []
    for _ in range(5):
        start = time.process_time()
        _run_loop()
        times.append(time.process_time() - start)
    return max(median(times) / LOOP_REFERENCE_S, 1.0)


def _children_s() -> float:
    """Return the processor time of the processes that were started by this one and have ended."""
    times = os.times()
    total = times.children_user + times.children_system
    server = getattr(forkserver, "_forkserver")._forkserver_pid  # noqa: B009
    if server and (status := Path(f"/proc/{server}/stat")).exists():
        fields = status.read_text().rsplit(")", 1)[1].split()
        total += sum(map(int, fields[13:15])) / os.sysconf("SC_CLK_TCK")  # only its ended forks
    return total


class CostRecorder:
    """A plugin that measures the call of each test and lists the costly ones."""

    def __init__(self) -> None:
        self.costly: dict[str, float] = {}

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        wall, own_s, children = time.perf_counter(), time.process_time(), _children_s()
        yield
        # A process of an earlier test may end during this test, and its whole time is then counted.
        # The children of this test cannot have used more than the elapsed time on all processors.
        limit = (time.perf_counter() - wall) * (os.cpu_count() or 1)
        cost = time.process_time() - own_s + min(_children_s() - children, limit)
        if cost > LIMIT_S * MARGIN:
            cost /= _slowness()
        item.user_properties.append(("cost_s", cost))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        cost = dict(report.user_properties).get("cost_s")
        if report.when == "call" and isinstance(cost, float) and cost > LIMIT_S * MARGIN:
            self.costly[report.nodeid] = cost


def pytest_configure(config: pytest.Config) -> None:
    """Measure in each worker; `main` passes its own plugin to the controlling process."""
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(CostRecorder())


def main(arguments: Sequence[str]) -> int:
    """Run the unmarked tests, repeat the costly ones, and list those that are slow twice."""
    first, second = CostRecorder(), CostRecorder()
    options = ["-p", "tests.slow_tests", "-m", "not browser and not slow and not thorough"]
    status = int(pytest.main([*options, *arguments], plugins=[first]))
    if status or not first.costly:
        return status
    print("\nCostly tests are run once more, alone.", flush=True)
    status = int(pytest.main([*first.costly], plugins=[second]))
    for name, cost in second.costly.items():
        print(f"NOT MARKED AS SLOW: {name} ({cost:.1f} s of processor time)", flush=True)
    return status or int(bool(second.costly))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
