"""How many readers a server supports: one answer each per six seconds, with the images.

Every simulated reader keeps a websocket open, as the reading page does, requests the images of each
case, and sends a presentation and an answer. The number of readers is increased until the 95th
percentile of the time to the acknowledgement exceeds 100 ms. The baseline is a plain Streamlit page
that writes each answer to SQLite, with the same readers; there, the end of the page's run is the
acknowledgement.
"""

import argparse
import asyncio
import json
import math
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks import servers
from benchmarks.http_client import Line
from benchmarks.machine import Broken, memory_mb
from benchmarks.postgres_cluster import NEW_DATABASE, temporary_server
from benchmarks.servers import Server
from benchmarks.streamlit_client import Page

DESCRIPTION = "readers that a server carries, next to a plain Streamlit page"
SMALLEST = "--readers 1 --seconds 1"

BAR_MS = 100.0
EXPECTED = 200
EVERY_S = 6.0
_STEPS = "50,100,150,200,300,400"
_DEMO = Path(__file__).parent.parent / "data" / "demo"


ENGINES = ("sqlite", "postgres")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the benchmark's options."""
    parser.add_argument("--readers", default=_STEPS, help=f"numbers of readers ({_STEPS})")
    parser.add_argument("--seconds", type=float, default=60.0, help="measured per step (60)")
    parser.add_argument("--processes", default="1", help="numbers of app processes (1)")
    parser.add_argument("--engine", choices=(*ENGINES, "both"), default="sqlite", help="(sqlite)")


@dataclass
class Step:
    """The measurements for one number of readers."""

    readers: int
    acknowledgements_ms: list[float] = field(default_factory=list)
    server_cpu: float = 0.0
    client_cpu: float = 0.0
    empty_mb: float = 0.0
    opened_mb: float = 0.0
    n_busy: int = 0
    memory_mb: float = 0.0

    def summary(self) -> dict[str, Any]:
        """Return the step as plain data."""
        p50, p95 = np.quantile(self.acknowledgements_ms, [0.5, 0.95])
        return {
            "readers": self.readers,
            "answers": len(self.acknowledgements_ms),
            "busy": self.n_busy,
            "p50_ms": round(float(p50), 1),
            "p95_ms": round(float(p95), 1),
            "server_processors": round(self.server_cpu, 2),
            "client_processors": round(self.client_cpu, 2),
            "memory_mb": round(self.memory_mb),
            "reader_mb": round((self.memory_mb - self.empty_mb) / self.readers, 2),
            "growth_mb": round(self.memory_mb - self.opened_mb, 1),
        }


Open = Callable[[int], Awaitable["Reader"]]


class Reader:
    """A reader with a page; `answer` answers a case and returns when it is acknowledged."""

    _line: Line

    @property
    def n_busy(self) -> int:
        """Return the number of requests that the server refused because it was busy."""
        return self._line.n_busy

    async def answer(self) -> float:
        """Answer the next case; return the time to the acknowledgement in s."""
        raise NotImplementedError

    async def close(self) -> None:
        """Close the page."""
        raise NotImplementedError


class AppReader(Reader):
    """A reader of the app: sign-in, desk, images, presentations and answers over HTTP."""

    def __init__(self, port: int) -> None:
        self._line = Line(port)
        self._page = Page(port)
        self._desk: dict[str, Any] = {}

    @classmethod
    async def open(cls, port: int, code: str) -> "AppReader":
        """Sign in, open the page and request the desk."""
        reader = cls(port)
        await reader._line.sign_in(code)
        reader._page.cookie = reader._line.cookie
        await reader._page.open()
        reader._desk = await reader._line.json("GET", "/desk")
        return reader

    async def answer(self) -> float:
        """Request the next case's images, show it and answer it."""
        if not self._desk["cases"]:
            raise Broken("a reader has no cases left: use fewer --seconds")
        case, now_ms = self._desk["cases"][0], time.time() * 1000
        for view in case["views"]:
            await self._line.request("GET", f"/{view['url'].lstrip('/')}")
        shown = {"kind": "presentation", "shown_epoch_ms": now_ms, "circumstances": {}}
        await self._send(case["case"], shown)
        began_s = time.perf_counter()
        await self._send(case["case"], servers.reading_record("A", now_ms))
        return time.perf_counter() - began_s

    async def _send(self, case: str, record: dict[str, Any]) -> None:
        record |= {"id": f"{record['kind']}-{case}", "case": case}
        sent = {"seal": self._desk["seal"], "sent_epoch_ms": time.time() * 1000}
        reply = await self._line.json("POST", "/desk/records", {**sent, "records": [record]})
        if record["id"] not in reply.get("stored", ()):
            raise Broken(f"the server did not store a {record['kind']}: {reply}")
        self._desk = reply["desk"]

    async def close(self) -> None:
        """Close both connections."""
        await self._page.close()
        self._line.close()


class NaiveReader(Reader):
    """A reader of the plain page, which runs twice per answer; images are requested over HTTP."""

    def __init__(self, port: int) -> None:
        self._page = Page(port)
        self._line = Line(port)

    @classmethod
    async def open(cls, port: int, code: str = "") -> "NaiveReader":
        """Open the page."""
        reader = cls(port)
        await reader._page.open()
        return reader

    async def answer(self) -> float:
        """Request the images, choose an option and confirm it."""
        for url in self._page.images:
            await self._line.request("GET", url)
        await self._page.choose(0)
        began_s = time.perf_counter()
        await self._page.click(0)
        return time.perf_counter() - began_s

    async def close(self) -> None:
        """Close both connections."""
        await self._page.close()
        self._line.close()


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Measure the app and the plain page with an increasing number of readers."""
    numbers = [int(text) for text in str(args.readers).split(",")]
    engines = ENGINES if args.engine == "both" else (args.engine,)
    processes = [int(text) for text in str(args.processes).split(",")]
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="benchmark-") as name:
        folder = Path(name)
        bank = _bank(folder / "bank", math.ceil(args.seconds / EVERY_S))
        measurements = []
        for engine, n_apps in product(engines, processes):
            measure = partial(_run_app, bank, engine, n_apps, args.seconds)
            steps = _measure_until_slow(numbers, measure)
            carried = _most_readers(steps)
            measurements.append(
                {"engine": engine, "processes": n_apps, "steps": steps, "carried": carried}
            )
        naive = _measure_until_slow(numbers, partial(_run_naive, bank, args.seconds))
    return {
        "bar_ms": BAR_MS,
        "expected_readers": EXPECTED,
        "processors": os.cpu_count(),
        "load_before": round(load_before, 2),
        "ours": measurements,
        "naive": {"steps": naive, "carried": _most_readers(naive)},
    }


def _bank(folder: Path, cases: int) -> Path:
    """Write a bank with a number of cases by repeating the cases of the demo with their films."""
    shutil.copytree(_DEMO, folder)
    path = folder / "bank.json"
    demo = json.loads(path.read_text(encoding="utf-8"))
    records = {
        f"{turn}-{item_id}": {**record, "question": f"{record['question']} ({turn})"}
        for turn in range(math.ceil(cases / len(demo)))
        for item_id, record in demo.items()
    }
    path.write_text(json.dumps(dict(islice(records.items(), cases))), encoding="utf-8")
    return path


def _measure_until_slow(numbers: list[int], measure: Callable[[int], Step]) -> list[dict[str, Any]]:
    """Measure with an increasing number of readers until the acknowledgement takes too long."""
    steps: list[dict[str, Any]] = []
    for n in numbers:
        steps.append(measure(n).summary())
        print(f"load: {steps[-1]}", file=sys.stderr)
        if steps[-1]["p95_ms"] > BAR_MS:
            break
    return steps


def _most_readers(steps: list[dict[str, Any]]) -> int:
    return max((step["readers"] for step in steps if step["p95_ms"] <= BAR_MS), default=0)


_COLUMNS = {
    "readers": ("readers", "7d"),
    "busy": ("busy", "5d"),
    "p50_ms": ("p50", "7.1f"),
    "p95_ms": ("p95", "7.1f"),
    "server_processors": ("server", "7.2f"),
    "client_processors": ("client", "7.2f"),
    "memory_mb": ("memory", "7d"),
    "reader_mb": ("each", "6.2f"),
    "growth_mb": ("growth", "7.1f"),
}


def text(result: dict[str, Any]) -> str:
    """Return the result as text."""
    lines = [
        f"One answer per reader and {EVERY_S:.0f} s; load before {result['load_before']}; "
        "requests refused as busy and sent again, acknowledgement in ms, processors used, memory "
        "in MB, of it for each reader, and its growth while they answered:"
    ]
    for each in (*result["ours"], result["naive"]):
        app = f"{each['engine']}, {each['processes']} process(es)" if "engine" in each else ""
        lines.append(
            f"{app or 'plain Streamlit page':22s} "
            + " ".join(f"{title:>{int(float(form[:-1]))}s}" for title, form in _COLUMNS.values())
        )
        lines += [
            f"{'':22s} " + " ".join(f"{step[key]:{form}}" for key, (_, form) in _COLUMNS.items())
            for step in each["steps"]
        ]
        lines.append(
            f"readers with p95 of at most {BAR_MS:.0f} ms: {each['carried']}; expected: {EXPECTED}"
        )
    return "\n".join(lines)


@contextmanager
def _new_address(folder: Path, engine: str) -> Iterator[str]:
    """Yield the address of a new store, on an engine with its usual settings."""
    folder.mkdir()
    if engine == "sqlite":
        yield str(folder / "store.db")
        return
    with (
        temporary_server({"fsync": "on"}) as server,
        patch.dict(os.environ, {"READING_ROOM_FILES": str(folder)}),
    ):
        server.administer(f"CREATE DATABASE store {NEW_DATABASE}")
        yield f"{server.address}/store"


def _run_app(bank: Path, engine: str, processes: int, seconds: float, n: int) -> Step:
    names, folder = [f"R{number}" for number in range(n)], bank.parent.parent
    cases = len(json.loads(bank.read_text(encoding="utf-8")))
    with ExitStack() as running:
        address = running.enter_context(_new_address(folder / f"{engine}-{processes}-{n}", engine))
        deployed = servers.deploy(address, bank, cases=cases, readers=names, seed=1)
        codes = list(deployed.codes.values())
        apps = [
            running.enter_context(servers.app(deployed.store, folder / f"log{number}"))
            for number in range(processes)
        ]
        return _measure_step(
            apps, n, seconds, lambda k: AppReader.open(apps[k % processes].port, codes[k])
        )


def _run_naive(bank: Path, seconds: float, n: int) -> Step:
    folder = bank.parent.parent
    with servers.naive_page(bank, folder / f"answers-{n}.db", folder / "log") as server:
        return _measure_step([server], n, seconds, lambda k: NaiveReader.open(server.port))


def _measure_step(apps: list[Server], n: int, seconds: float, opened: Open) -> Step:
    step = Step(readers=n, empty_mb=sum(memory_mb(app.process.pid) for app in apps))

    async def all_readers() -> None:
        gate = asyncio.Semaphore(4)  # readers arrive one after another

        async def arrive(k: int) -> Reader:
            async with gate:
                return await opened(k)

        readers = await asyncio.gather(*(arrive(k) for k in range(n)))
        try:
            with _measured_costs(apps, step):
                await asyncio.gather(
                    *(_answers(reader, k / n, seconds, step) for k, reader in enumerate(readers))
                )
            step.n_busy = sum(reader.n_busy for reader in readers)
        finally:
            await asyncio.gather(*(reader.close() for reader in readers), return_exceptions=True)

    asyncio.run(all_readers())
    return step


async def _answers(reader: Reader, phase: float, seconds: float, step: Step) -> None:
    """Answer every six seconds, starting at a phase of the interval that differs by reader."""
    start_s = time.monotonic() + phase * EVERY_S
    number = 0
    while number * EVERY_S < seconds:
        await asyncio.sleep(max(0.0, start_s + number * EVERY_S - time.monotonic()))
        step.acknowledgements_ms.append(await reader.answer() * 1000)
        number += 1


@contextmanager
def _measured_costs(apps: list[Server], step: Step) -> Iterator[None]:
    """Measure processor time and memory of servers and clients within the context."""
    step.opened_mb = sum(memory_mb(app.process.pid) for app in apps)
    before, own_s, began_s = (
        sum(app.cpu_ms() for app in apps),
        time.process_time(),
        time.monotonic(),
    )
    yield
    took_s = time.monotonic() - began_s
    step.server_cpu = (sum(app.cpu_ms() for app in apps) - before) / 1000 / took_s
    step.client_cpu = (time.process_time() - own_s) / took_s
    step.memory_mb = sum(memory_mb(app.process.pid) for app in apps)
    threading.Event().wait(0.1)
