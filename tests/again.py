"""Runs pytest; browser tests that fail are run once more, alone, and named in the last lines.

A browser on a busy machine can be late where nothing is wrong. A second run tells that from a
fault, and its name in the last lines says that the test has a race to be found.
"""

import sys
from collections.abc import Sequence

import pytest

BROWSER = "tests/e2e/"
AT_MOST = 8
"""If more fail, it is no race."""


class Failures:
    """A plugin that notes which tests failed, and whether anything else went wrong."""

    def __init__(self) -> None:
        self.tests: list[str] = []
        self.broken = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and report.nodeid not in self.tests:
            self.tests.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self.broken |= report.failed


def worth_another(failures: Failures) -> bool:
    """Say whether all that failed are a few browser tests."""
    few = 0 < len(failures.tests) <= AT_MOST
    return few and not failures.broken and all(BROWSER in name for name in failures.tests)


def main(arguments: Sequence[str]) -> int:
    """Run pytest with these arguments; return its exit status, or that of the second run."""
    first, second = Failures(), Failures()
    status = int(pytest.main([*arguments], plugins=[first]))
    if status != pytest.ExitCode.TESTS_FAILED or not worth_another(first):
        return status
    print("\nBrowser tests failed; each is run once more, alone.", flush=True)
    status = int(pytest.main([*first.tests], plugins=[second]))
    for name in first.tests:
        told = "FAILED TWICE" if name in second.tests else "PASSED ONLY WHEN RUN AGAIN, ALONE"
        print(f"{told}: {name}", flush=True)
    return status


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
