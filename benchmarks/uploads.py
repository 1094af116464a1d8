"""Effect of hostile uploads on readers: answer times, and the server's memory.

A coordinator uploads small files that need excessive resources on the page Models, in a browser.
Meanwhile a reader answers over HTTP and requests the desk continuously. The baseline is the same
reader before the first upload, with the same page open.
"""

import argparse
import io
import re
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright

from benchmarks import servers
from benchmarks.answers import Reader
from benchmarks.machine import CHROMIUM_FLAGS, Broken, chromium, facts
from benchmarks.summary import bar_lines, target
from study.lifecycle.deployments import coordinator_code

DESCRIPTION = "a reader's answers while staff upload files that need too much to be read"
SMALLEST = "--files deep.json --idle-answers 1"
BAR_MS = 100.0
BAR_MB = 150.0

_BANK = Path(__file__).parent.parent / "data" / "demo" / "bank.json"
_NO_ROWS = re.compile("<sheetData */>|<sheetData></sheetData>")
_CASES = 59
_EVERY_S, _ANSWER_EVERY = 0.025, 12
_PATIENCE_S = 300.0


def _parquet() -> bytes:
    import pyarrow
    import pyarrow.parquet

    schema = pyarrow.schema([("item_id", pyarrow.string()), ("answer", pyarrow.string())])
    buffer = io.BytesIO()
    part = pyarrow.table([["q1"] * 1_000_000, ["A"] * 1_000_000], schema=schema)
    with pyarrow.parquet.ParquetWriter(buffer, schema) as writer:
        for _ in range(20):
            writer.write_table(part)
    return buffer.getvalue()


def _eval(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", '{"status": "success"}')
        archive.writestr("samples/1.json", content)
    return buffer.getvalue()


def _xlsx() -> bytes:
    from openpyxl import Workbook

    buffer, workbook = io.BytesIO(), io.BytesIO()
    Workbook().save(workbook)
    rows = "".join(f'<row r="{n}"><c r="A{n}"><v>1</v></c></row>' for n in range(1, 1_200_000))
    with (
        zipfile.ZipFile(workbook) as empty,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name in empty.namelist():
            text = empty.read(name).decode()
            archive.writestr(name, _NO_ROWS.sub(f"<sheetData>{rows}</sheetData>", text))
    return buffer.getvalue()


FILES: dict[str, Callable[[], bytes]] = {
    "rows.parquet": _parquet,
    "objects.eval": lambda: _eval(b"[" + b"{}," * 130_000_000 + b"{}]"),
    "columns.csv": lambda: ",".join(f"c{n}" for n in range(1_000_000)).encode() + b"\n",
    "objects.json": lambda: b"[" + b"{}," * 10_000_000 + b"{}]",
    "lines.jsonl": lambda: b"{}\n" * 5_000_000,
    "deep.json": lambda: b"[" * 10_000_000,
    "rows.xlsx": _xlsx,
}
"""Functions that make the files, by name."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the benchmark's options."""
    parser.add_argument("--files", nargs="*", choices=FILES, default=list(FILES))
    parser.add_argument(
        "--idle-answers", type=int, default=15, help="answers before the first upload (15)"
    )


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Measure a reader before and during the uploads."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        deployed = servers.deploy(
            Path(folder, "store.db"), _BANK, cases=_CASES, readers=["reader"], seed=1
        )
        code = coordinator_code(
            deployed.store,
            study=servers.STUDY,
            name="staff",
            entropy=np.random.default_rng(2).bytes,
            now=datetime.now(UTC),
        )
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(CHROMIUM_FLAGS))
        with servers.app(deployed.store, Path(folder, "log")) as server:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            _open(page, f"http://127.0.0.1:{server.port}", code)
            watch = _Watch(server, deployed.codes["reader"])
            with watch.during():
                threading.Event().wait(args.idle_answers * _ANSWER_EVERY * _EVERY_S)
            rows = {"idle": watch.taken()}
            for name in args.files:
                file = Path(folder, name)
                file.write_bytes(FILES[name]())
                with watch.during():
                    refusal = _hand_in(page, file)
                rows[name] = {**watch.taken(), "mb": round(file.stat().st_size / 1e6, 2)}
                rows[name]["refusal"] = refusal
                file.unlink()
        machine = facts(browser.version)
        browser.close()
    idle = rows["idle"]
    for row in rows.values():
        row["grown_mb"] = round(row["held_mb"] - idle["held_mb"], 1)
        row["ratio_p50"] = round(row["desk_p50_ms"] / idle["desk_p50_ms"], 1)
    during = [row for name, row in rows.items() if name != "idle"]
    return {
        "machine": machine,
        "rows": rows,
        "bars": [
            target("slowest p95 of the desk", max(r["desk_p95_ms"] for r in during), BAR_MS, "ms"),
            target("slowest median answer", max(r["answer_p50_ms"] for r in during), BAR_MS, "ms"),
            target("growth of the server", max(r["grown_mb"] for r in during), BAR_MB, "MB"),
        ],
    }


def text(result: dict[str, Any]) -> str:
    """Return a line for each file."""
    lines = [
        f"  {'file':<14}{'MB':>7}{'s':>7}{'desk p50':>10}{'p95':>7}{'max':>7}{'ratio':>7}"
        f"{'answer p50':>12}{'max':>7}{'server MB':>11}  refusal"
    ]
    for name, row in result["rows"].items():
        lines.append(
            f"  {name:<14}{row.get('mb', 0):>7.2f}{row['seconds']:>7.1f}{row['desk_p50_ms']:>10.1f}"
            f"{row['desk_p95_ms']:>7.1f}{row['desk_max_ms']:>7.1f}{row['ratio_p50']:>7.1f}"
            f"{row['answer_p50_ms']:>12.1f}{row['answer_max_ms']:>7.1f}{row['grown_mb']:>+11.0f}"
            f"  {row.get('refusal', '')[:60]}"
        )
    return "\n".join([*lines, "", *bar_lines(result["bars"])])


class _Watch:
    """A reader who continues during an upload, and the server's memory."""

    def __init__(self, server: servers.Server, code: str) -> None:
        self._server, self._reader = server, Reader(server.port, code)

    @contextmanager
    def during(self) -> Iterator[None]:
        """Request and answer during the block."""
        self._desk: list[float] = []
        self._answers: list[float] = []
        self._peak_mb, stop, start = 0.0, threading.Event(), time.perf_counter()
        self._reader.hang_up()
        thread = threading.Thread(target=self._go_on, args=(stop,))
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
            self._seconds = time.perf_counter() - start

    def _go_on(self, stop: threading.Event) -> None:
        n = 0
        while not stop.wait(_EVERY_S):
            n += 1
            if n % _ANSWER_EVERY == 0 and self._reader.has_more:
                self._answers.append(_ms(self._reader.answer) / 2)
            else:
                self._desk.append(_ms(self._reader.ask))
            self._peak_mb = max(self._peak_mb, _held_mb(self._server))

    def taken(self) -> dict[str, Any]:
        """Return the measurements of the last block; an answer is one of its two messages."""
        answers = self._answers or [0.0]
        return {
            "seconds": round(self._seconds, 1),
            "n": len(self._desk),
            "desk_p50_ms": round(float(np.median(self._desk)), 1),
            "desk_p95_ms": round(float(np.quantile(self._desk, 0.95)), 1),
            "desk_max_ms": round(max(self._desk), 1),
            "answer_p50_ms": round(float(np.median(answers)), 1),
            "answer_max_ms": round(max(answers), 1),
            "held_mb": round(self._peak_mb, 1),
        }


def _ms(do: Callable[[], object]) -> float:
    start = time.perf_counter()
    do()
    return (time.perf_counter() - start) * 1000


def _held_mb(server: servers.Server) -> float:
    """Return the memory of the server's process without its workers."""
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def _open(page: Page, url: str, code: str) -> None:
    page.context.set_default_timeout(1000 * _PATIENCE_S)
    page.context.request.post(f"{url}/sign-in", form={"access_code": code}, max_redirects=0)
    page.goto(f"{url}/models")
    page.locator(".st-key-model-name input").wait_for()


def _hand_in(page: Page, file: Path) -> str:
    """Upload a file and return the page's message."""
    page.reload()
    page.locator(".st-key-model-file input[type=file]").set_input_files(file)
    page.get_by_text(file.name).first.wait_for()
    page.locator(".st-key-model-name input").fill("hostile")
    page.locator("[class*=st-key-model-look] button").click()
    alert = page.locator('[data-testid="stAlert"]').filter(has_text=file.name).first
    alert.wait_for()
    words = alert.inner_text().strip()
    if not words:
        raise Broken(f"the page says nothing of {file.name}")
    return words
