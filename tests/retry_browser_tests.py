"""Run pytest, and repeat failed browser tests once, alone.

A browser on a busy machine can be late although nothing is wrong. The second run distinguishes
that from a defect. The last lines of the output name the repeated tests; each has a race to fix.
"""

import sys
from collections.abc import Sequence

import pytest

BROWSER_TESTS = "tests/e2e/"
MOST_REPEATED_TESTS = 8
"""If more tests fail, they are not repeated, because a race is not the cause."""


class Failures:
    """A plugin that collects the failed tests and whether collection failed."""

    def __init__(self) -> None:
        self.tests: list[str] = []
        self.collection_failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and report.nodeid not in self.tests:
            self.tests.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self.collection_failed |= report.failed


def can_be_repeated(failures: Failures) -> bool:
    """Return whether only a few browser tests failed."""
    is_few = 0 < len(failures.tests) <= MOST_REPEATED_TESTS
    return (
        is_few
        and not failures.collection_failed
        and all(BROWSER_TESTS in t for t in failures.tests)
    )


def main(arguments: Sequence[str]) -> int:
    """Run pytest with these arguments; return its exit status, or that of the second run."""
    first, second = Failures(), Failures()
    status = int(pytest.main([*arguments], plugins=[first]))
    if status != pytest.ExitCode.TESTS_FAILED or not can_be_repeated(first):
        return status
    print("\nBrowser tests failed; each is run once more, alone.", flush=True)
    status = int(pytest.main([*first.tests], plugins=[second]))
    for name in first.tests:
        outcome = "FAILED TWICE" if name in second.tests else "PASSED ONLY WHEN RUN AGAIN, ALONE"
        print(f"{outcome}: {name}", flush=True)
    return status


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
