"""Tests for the list of slow tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

COSTLY_TESTS = """
import runpy, subprocess, sys
import pytest
import __main__
__main__.LIMIT_S = 0.1
def test_quick(): pass
def test_costly(): runpy.run_path("busy.py")
def test_child(): subprocess.run([sys.executable, "busy.py"], check=True)
@pytest.mark.slow
def test_marked(): raise AssertionError
"""
BUSY_PROGRAM = """
import time
from tests.slow_tests import _run_loop, _slowness
end = time.process_time() + 0.4 * _slowness()
while time.process_time() < end:
    _run_loop()
"""


@pytest.mark.thorough
def test_unmarked_tests_that_take_too_long_are_listed(tmp_path: Path) -> None:
    """Time in the test's process and in processes it starts counts; marked tests are not run."""
    (tmp_path / "test_costs.py").write_text(COSTLY_TESTS)
    (tmp_path / "busy.py").write_text(BUSY_PROGRAM)
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nmarkers =\n    slow: x\n    browser: x\n    thorough: x\n"
    )
    run = subprocess.run(
        [sys.executable, "-m", "tests.slow_tests", "-p", "no:cacheprovider", "test_costs.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1, run.stdout + run.stderr
    entries = [line.split(" (")[0] for line in run.stdout.splitlines() if "NOT MARKED" in line]
    names = ("test_costly", "test_child")
    assert set(entries) == {f"NOT MARKED AS SLOW: test_costs.py::{name}" for name in names}
