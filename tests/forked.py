"""Programs as forks of one process that has their modules imported: their start costs no imports.

Most of the time of a command or of a server's start goes into importing, hundreds of times in one
run of the tests. Each fork is a process of its own, with streams, environment and exit status.
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
_FORKS.set_forkserver_preload(["tests.imported"])


def start(
    module: str,
    arguments: Sequence[str],
    *,
    out: Path,
    err: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> BaseProcess:
    """Start ``python -m module arguments`` in the project's folder.

    What it writes is added to the file `out`, errors to `err` (by default to the same). Where no
    environment is given it is this process's.
    """
    process = _FORKS.Process(
        target=_be, args=(module, [*arguments], out, err, dict(environment or os.environ))
    )
    with patch.dict(sys.modules, {"__main__": ModuleType("__main__")}):
        process.start()  # it would import the script there, which Streamlit's test runner replaces
    return process


def run(module: str, *arguments: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """Run ``python -m module arguments`` and return what came of it.

    Raises
    ------
    AssertionError
        It took longer than `timeout` seconds, and was killed.
    """
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        process = start(module, arguments, out=out, err=err)
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            raise AssertionError(f"{module} {arguments} has not ended after {timeout} s")
        told = [path.read_text("utf-8") for path in (out, err)]
    return subprocess.CompletedProcess([module, *arguments], process.exitcode, *told)


def _be(
    module: str, arguments: list[str], out: Path, err: Path | None, environment: dict[str, str]
) -> None:
    os.chdir(ROOT)
    os.environ.clear()
    os.environ.update(environment)
    for stream, path in ((1, out), (2, err or out)):
        with path.open("ab") as written:
            os.dup2(written.fileno(), stream)
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
