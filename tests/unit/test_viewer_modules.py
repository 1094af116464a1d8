"""Runs the viewer's JavaScript unit tests in Node's own runner, where Node is present."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT

NODE = shutil.which("node")
FILES = sorted((ROOT / "tests" / "unit" / "viewer").glob("*.test.mjs"))


def test_there_are_javascript_tests() -> None:
    """The list below is not empty by mistake."""
    assert FILES


@pytest.mark.skipif(NODE is None, reason="no Node here; install it with: apt-get install nodejs")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_javascript_modules(file: object) -> None:
    """One file of Node tests passes."""
    ran = subprocess.run(
        [str(NODE), "--test", str(file)],
        cwd=ROOT,
        env={**os.environ, "RR_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
