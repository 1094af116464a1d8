"""Tests for repeating failed browser tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.retry_browser_tests import MOST_REPEATED_TESTS

LATE_TEST = """
from pathlib import Path
def test_late():
    mark = Path("mark")
    seen = mark.exists()
    mark.touch()
    assert seen
"""
WRONG_TEST = "def test_wrong(): assert False"
MANY_WRONG_TESTS = f"""
import pytest
@pytest.mark.parametrize("n", range({MOST_REPEATED_TESTS + 1}))
def test_wrong(n): assert False
"""


@pytest.mark.parametrize(
    ("files", "status", "last"),
    [
        (
            {"e2e/test_late.py": LATE_TEST},
            0,
            "PASSED ONLY WHEN RUN AGAIN, ALONE: tests/e2e/test_late.py::test_late",
        ),
        (
            {"e2e/test_late.py": LATE_TEST, "e2e/test_wrong.py": WRONG_TEST},
            1,
            "FAILED TWICE: tests/e2e/test_wrong.py::test_wrong",
        ),
        ({"e2e/test_late.py": LATE_TEST, "unit/test_wrong.py": WRONG_TEST}, 1, None),
        ({"e2e/test_many.py": MANY_WRONG_TESTS}, 1, None),
        (
            {"e2e/test_late.py": LATE_TEST, "e2e/test_broken.py": "import nothing_of_the_kind"},
            2,
            None,
        ),
        ({"e2e/test_fine.py": "def test_fine(): pass"}, 0, None),
    ],
)
def test_only_a_few_browser_tests_are_run_again(
    files: dict[str, str], status: int, last: str | None, tmp_path: Path
) -> None:
    """The last line names the test; if other tests failed, the first run is final."""
    for name, text in files.items():
        path = tmp_path / "tests" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    result = subprocess.run(
        [sys.executable, "-m", "tests.retry_browser_tests", "-p", "no:cacheprovider", "tests"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == status, result.stdout
    if last is None:
        assert "AGAIN" not in result.stdout
    else:
        assert result.stdout.splitlines()[-1] == last
