"""Update the list of slow tests, `slow_tests.txt`: ``python -m tests.slow_tests``.

`make check` leaves out the tests in the list. A test is added if its call takes more than 0.1 s of
processor time in two runs, the second by itself, and removed if it takes less than half of that.
The time is counted in the process of the test and in the processes it started. Right after each
costly test the same process runs a fixed loop, so that a slow or busy machine is not taken for a
slow test.
"""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from multiprocessing import forkserver
from pathlib import Path
from statistics import median

import pytest

LIST = Path(__file__).with_suffix(".txt")
LIMIT_S = 0.1
"""Processor time from which a test is slow."""
LOOP_S = 0.016
"""Processor time of `_loop` on the machine the limit refers to (an idle 2-core server of 2024)."""


def _loop() -> None:
    total = 0
    for i in range(400_000):
        total += i * i


def _slowness() -> float:
    """Return how many times longer the loop takes now than on the reference machine."""
    times = []
    for _ in range(5):
        start = time.process_time()
        _loop()
        times.append(time.process_time() - start)
    return max(median(times) / LOOP_S, 1.0)


def _children_s() -> float:
    """Return the processor time of the processes that were started by this one and have ended."""
    times = os.times()
    total = times.children_user + times.children_system
    server = getattr(forkserver, "_forkserver")._forkserver_pid  # noqa: B009
    if server and (status := Path(f"/proc/{server}/stat")).exists():
        fields = status.read_text().rsplit(")", 1)[1].split()
        total += sum(map(int, fields[13:15])) / os.sysconf("SC_CLK_TCK")  # of its forks alone
    return total


class Costs:
    """A plugin that measures the call of each test.

    `functions` has the longest call of each test, and `skipped` the tests that could not run.
    """

    def __init__(self) -> None:
        self.functions: dict[str, float] = {}
        self.skipped: set[str] = set()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        wall, own_s, children = time.perf_counter(), time.process_time(), _children_s()
        yield
        # A process that an earlier test left behind may end now: it used no more than the time
        # since then on all processors.
        limit = (time.perf_counter() - wall) * (os.cpu_count() or 1)
        cost = time.process_time() - own_s + min(_children_s() - children, limit)
        if cost > LIMIT_S:
            cost /= _slowness()
        item.user_properties.append(("cost_s", cost))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        cost = dict(report.user_properties).get("cost_s")
        function = function_of(report.nodeid)
        if report.skipped:
            self.skipped.add(function)
        elif report.when == "call" and isinstance(cost, float):
            self.functions[function] = max(cost, self.functions.get(function, 0.0))


def function_of(nodeid: str) -> str:
    """Return the name of a test without the values of its parameters."""
    return nodeid.partition("[")[0]


def listed() -> list[str]:
    """Return the names of the slow tests."""
    return LIST.read_text("utf-8").splitlines()


def pytest_configure(config: pytest.Config) -> None:
    """Measure in each worker; `main` passes its own plugin to the controlling process."""
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(Costs())


def main(arguments: Sequence[str]) -> int:
    """Run all tests of `make test` without a browser, and update the list.

    Return 1 if a test failed or tests were added to the list.
    """
    first, second = Costs(), Costs()
    options = ["-p", "tests.slow_tests", "-m", "not browser and not thorough"]
    status = int(pytest.main([*options, *arguments], plugins=[first]))
    if status:
        return status
    before = listed()
    kept = [
        name
        for name in before
        if name in first.skipped or first.functions.get(name, 0.0) > LIMIT_S / 2
    ]
    costly = [name for name, cost in first.functions.items() if cost > LIMIT_S]
    unlisted = sorted(set(costly) - set(before))
    if unlisted:
        print("\nCostly tests are run once more, alone.", flush=True)
        status = int(pytest.main(unlisted, plugins=[second]))
    added = [name for name in unlisted if second.functions.get(name, 0.0) > LIMIT_S]
    LIST.write_text("".join(f"{name}\n" for name in sorted([*kept, *added])), "utf-8")
    for name in added:
        print(f"ADDED: {name} ({second.functions[name]:.1f} s of processor time)", flush=True)
    for name in sorted(set(before) - set(kept)):
        print(f"REMOVED: {name}", flush=True)
    return status or int(bool(added))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
