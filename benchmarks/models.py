"""Speed of `models run` relative to the ideal rate, and its memory.

The server is a separate process that answers after a fixed time. Each case has two films as large
as those of the release, 611 x 502 pixels with 16 bits. Memory is the peak of the largest process,
in a short run and in a run ten times as long, with a server that answers immediately.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks import banks, servers
from benchmarks.machine import Broken
from benchmarks.summary import bar_lines, target
from study.base.canonical import moment
from study.models.running import ANSWERS, answers_in, folder_of
from study.store import Store

DESCRIPTION = "asking a model: the rate compared with the ideal one, and memory"
SMALLEST = "--cases 4 --seconds 0.1 --connections 2"
LEAST_SHARE, MOST_GROWTH = 0.8, 1.1
_SIZE = {"width": 611, "height": 502}
_LONG_RUN_FACTOR = 10
_MEASURING_SCRIPT = """
import json, resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(json.dumps([code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024]))
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the benchmark's own options."""
    parser.add_argument("--cases", type=int, default=320)
    parser.add_argument("--seconds", type=float, default=2.0, help="until the server answers")
    parser.add_argument("--connections", type=int, default=32)


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Run a model; return rates, memory and the targets."""
    if find_spec("inspect_ai") is None:
        raise Broken("Inspect is not installed: pip install -r requirements-models.txt")
    with tempfile.TemporaryDirectory(prefix="benchmark-") as scratch:
        folder = Path(scratch)
        store = _store(folder, args.cases)
        with _server(args.seconds) as port:
            timed_mb = _ask(store, "timed", port, args)
        requests = [
            moment(record["at_utc"]) for record in answers_in(_folder(store, "timed") / ANSWERS)
        ]
        took = (max(requests) - min(requests)).total_seconds() + args.seconds
        with _server(0) as port:
            memory = {
                n: _ask(store, f"runs-{n}", port, args, runs=n) for n in (1, _LONG_RUN_FACTOR)
            }
        n_bytes = sum(
            path.stat().st_size for path in _folder(store, f"runs-{_LONG_RUN_FACTOR}").iterdir()
        )
    ideal = args.connections / args.seconds
    share = len(requests) / took / ideal
    growth = memory[_LONG_RUN_FACTOR] / memory[1]
    return {
        "cases": args.cases,
        "per_second": len(requests) / took,
        "ideal_per_second": ideal,
        "share_of_ideal": share,
        "peak_memory_mb": timed_mb,
        "peak_memory_mb_by_asks": {n * args.cases: mb for n, mb in memory.items()},
        "journal_bytes_an_answer": n_bytes / (_LONG_RUN_FACTOR * args.cases),
        "bars": [
            target("share of the ideal rate", share, LEAST_SHARE, "", at_least=True),
            target(
                f"memory of {_LONG_RUN_FACTOR} times as many answers", growth, MOST_GROWTH, "times"
            ),
        ],
    }


def text(result: dict[str, Any]) -> str:
    """Return the result as lines of text."""
    memory = ", ".join(
        f"{mb:,.0f} MB for {n:,}" for n, mb in result["peak_memory_mb_by_asks"].items()
    )
    lines = [
        f"{result['per_second']:.1f} answers per second, ideal {result['ideal_per_second']:.1f}",
        f"peak memory: {memory} answers",
        f"journal: {result['journal_bytes_an_answer']:.0f} bytes an answer",
    ]
    return "\n".join([*lines, *bar_lines(result["bars"])])


def _store(folder: Path, cases: int) -> Store:
    bank = banks.write_bank(folder, cases, bits=16, **_SIZE)
    return servers.deploy(folder / "store.db", bank, cases=cases, readers=["r"], seed=1).store


@contextmanager
def _server(seconds: float) -> Iterator[int]:
    command = [sys.executable, "-m", "benchmarks.model_server", str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.kill()


def _ask(store: Store, name: str, port: int, args: argparse.Namespace, *, runs: int = 1) -> float:
    """Ask the model about all cases and return the peak memory in MB."""
    command = ["-m", "study", "models", "run", "--db", str(store.path), "--study", servers.STUDY]
    command += ["--model", name, "--runs", str(runs), "--provider", "openai-api"]
    command += ["--base-url", f"http://127.0.0.1:{port}/v1"]
    command += ["--max-connections", str(args.connections)]
    measured = subprocess.run(
        [sys.executable, "-c", _MEASURING_SCRIPT, sys.executable, *command],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    code, peak_mb = json.loads(measured.stdout)
    if code:
        raise Broken("the run did not finish; its output is above")
    return float(peak_mb)


def _folder(store: Store, name: str) -> Path:
    """Return the folder of a model's only run."""
    return folder_of(store.companion_path("runs"), study=servers.STUDY, model=name, edition=1)
