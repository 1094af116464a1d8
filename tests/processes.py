"""Start the project's programs as forks of one process that has already imported them.

A test session starts hundreds of commands and servers, and most of their start-up time is spent
importing. Each fork is a separate process with its own streams, environment and exit status.
"""

import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

ROOT = Path(__file__).parent.parent
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.preloaded"])


def start(
    module: str,
    arguments: Sequence[str],
    *,
    out: Path,
    err: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> BaseProcess:
    """Start ``python -m module arguments`` in the project's folder.

    Its output is appended to the file `out`, its errors to `err` (default: the same file). The
    default environment is that of this process.
    """
    process = _FORKS.Process(
        target=_run_module, args=(module, [*arguments], out, err, dict(environment or os.environ))
    )
    # Otherwise the fork imports the main module, which the test runner of Streamlit replaces.
    with patch.dict(sys.modules, {"__main__": ModuleType("__main__")}):
        process.start()
    return process


def run(module: str, *arguments: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """Run ``python -m module arguments`` and return its status and output.

    Raises
    ------
    AssertionError
        The program took longer than `timeout` seconds and was killed.
    """
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        process = start(module, arguments, out=out, err=err)
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            raise AssertionError(f"{module} {arguments} has not ended after {timeout} s")
        output, errors = (path.read_text("utf-8") for path in (out, err))
    return subprocess.CompletedProcess([module, *arguments], process.exitcode, output, errors)


def _run_module(
    module: str, arguments: list[str], out: Path, err: Path | None, environment: dict[str, str]
) -> None:
    os.chdir(ROOT)
    os.environ.clear()
    os.environ.update(environment)
    for stream, path in ((1, out), (2, err or out)):
        with path.open("ab") as file:
            os.dup2(file.fileno(), stream)
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
