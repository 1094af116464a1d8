"""Tests of the list of slow tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import slow_tests
from tests.conftest import ROOT

TESTS = """
import runpy, subprocess, sys
from pathlib import Path
import pytest
import __main__
__main__.LIST = Path("list.txt")
def test_quick(): pass
def test_listed_but_quick(): pass
def test_costly(): runpy.run_path("busy.py")
@pytest.mark.parametrize("file", ["/dev/null", "busy.py"])
def test_child(file): subprocess.run([sys.executable, file], check=True)
@pytest.mark.skip
def test_skipped(): pass
@pytest.mark.thorough
def test_thorough(): raise AssertionError
"""
BUSY = """
import time
from tests.slow_tests import _loop, _slowness
end = time.process_time() + 0.4 * _slowness()
while time.process_time() < end:
    _loop()
"""


@pytest.mark.thorough
def test_the_list_is_updated_after_measuring_each_test(tmp_path: Path) -> None:
    """In the test's own process and in a process it starts, for any of its parameters."""
    (tmp_path / "test_costs.py").write_text(TESTS)
    (tmp_path / "busy.py").write_text(BUSY)
    (tmp_path / "list.txt").write_text(
        "test_costs.py::test_listed_but_quick\ntest_costs.py::test_skipped\ntest_gone.py::test\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    browser: x\n    thorough: x\n")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "tests.slow_tests", "-p", "no:cacheprovider", "test_costs.py"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    first = run()
    assert first.returncode == 1, first.stdout + first.stderr
    names = ("test_costs.py::test_child", "test_costs.py::test_costly")
    listed = "".join(f"{name}\n" for name in (*names, "test_costs.py::test_skipped"))
    assert (tmp_path / "list.txt").read_text() == listed
    lines = [line.split(" (")[0] for line in first.stdout.splitlines()]
    assert {line for line in lines if line.startswith("ADDED")} == {f"ADDED: {n}" for n in names}
    assert {"REMOVED: test_gone.py::test"} < {line for line in lines if line.startswith("REMOVED")}
    assert run().returncode == 0
    assert (tmp_path / "list.txt").read_text() == listed


def test_every_listed_test_exists() -> None:
    """A renamed test would no longer be slow; rename it in the list too, or run `make slow`."""
    names = slow_tests.listed()
    assert names == sorted(set(names))
    for name in names:
        file, *_, function = name.split("::")
        source = (ROOT / file).read_text("utf-8") if (ROOT / file).is_file() else ""
        assert f"def {function.rpartition('.')[2]}(" in source, name
