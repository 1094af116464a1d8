"""Loading times of the staff pages for a full-size study, compared with a small study.

Each page is opened by its link after a new event in the study's trail, so that no cache is valid,
and then again. The time is measured from the click until the server has finished and the page no
longer changes. Results are opened after closing; the times until the first content, until all
content, and of a second opening are measured.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from analysis.report.content import SECTION_TITLES
from benchmarks import banks, servers
from benchmarks.machine import CHROMIUM_FLAGS, Broken, chromium, facts
from benchmarks.summary import bar_lines, target
from study.base.actor import COMMAND_LINE, Acting
from study.lifecycle import studies
from study.lifecycle.deployments import administrator_code, reader_code
from study.models.models import add_model
from study.reading.simulation import simulate
from study.store import Store

DESCRIPTION = "opening every page for 300 readers and 200 cases, compared with a small study"
SMALLEST = "--readers 2 --cases 5 --models 1 --few"
LONGEST_S = 1.0
LONGEST_SMALL_RESULTS_S = 3.0
SMALL = (3, 20)

_PAGES = ("Protocol", "People", "Progress", "Models", "Close and export", "Audit trail")
_PARTS = ("Data quality", "Readings", "Intervene", "Reminders")
_RESULTS = (
    *(SECTION_TITLES[name] for name in ("accuracy", "agreement", "items", "time")),
    "Cases",
    "Tables",
)
READER = "reader-{:03d}"
_BAR = ".st-key-study-bar"
_PATIENCE_S = 300.0
_QUIET_S = 0.15
_WHOLE = "[data-testid=stPlotlyChart] .main-svg"
_AT_REST = """(quiet) => new Promise((done) => {
  let timer = setTimeout(finish, quiet);
  const watch = new MutationObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(finish, quiet);
  });
  function finish() { watch.disconnect(); done(); }
  watch.observe(document.body, { subtree: true, childList: true });
})"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the benchmark's options."""
    parser.add_argument("--readers", type=int, default=300)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--models", type=int, default=8)
    parser.add_argument(
        "--few", action="store_true", help="only Progress and Results, with one part of each"
    )
    parser.add_argument(
        "--keep", type=Path, help="keep the stores in this folder for the next run: reading is slow"
    )


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Measure both studies, each on a separate server, in one browser."""
    full = (args.readers, args.cases)
    small = (min(SMALL[0], args.readers), min(SMALL[1], args.cases))
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(CHROMIUM_FLAGS))
        machine = facts(browser.version)
        by_size = {
            size: _measured(
                browser, _store(args.keep or Path(scratch), *size, args.models), few=args.few
            )
            for size in {full: None, small: None}  # equal for the smallest run
        }
        browser.close()
    rows = {"full": by_size[full], "small": by_size[small]}
    return {
        "readers": args.readers,
        "cases": args.cases,
        "models": args.models,
        "small": list(small),
        "machine": machine,
        "rows": rows,
        "ratios_to_small": {
            name: round(each["first_s"] / rows["small"][name]["first_s"], 1)
            for name, each in rows["full"].items()
            if name in rows["small"]
        },
        "bars": [
            *(
                target(f"{name}, opened", each["first_s"], LONGEST_S, "s")
                for name, each in rows["full"].items()
            ),
            target(
                "Results of the small study, all of it",
                rows["small"]["Results"]["whole_s"],
                LONGEST_SMALL_RESULTS_S,
                "s",
            ),
        ],
    }


def _measured(browser: Browser, prepared_store: Store, *, few: bool) -> dict[str, dict[str, float]]:
    """Measure all pages, or a few of them, on a copy of a store."""
    with tempfile.TemporaryDirectory() as scratch:
        prepared_store.copy_to(Path(scratch) / "store.db")
        store = Store(Path(scratch) / "store.db")
        code = administrator_code(
            store, name="staff", entropy=np.random.default_rng(1).bytes, now=datetime.now(UTC)
        )
        with servers.app(store, Path(scratch) / "server.log") as server:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.set_default_timeout(1000 * _PATIENCE_S)
            rows = _Walk(page, store, f"http://127.0.0.1:{server.port}").measured(code, few=few)
            page.close()
    return rows


def text(result: dict[str, Any]) -> str:
    """Return the comparison of the pages as text."""
    small = " x ".join(map(str, result["small"]))
    lines = [
        f"{result['readers']} readers x {result['cases']} cases, {result['models']} models; the"
        f" small study {small}",
        "",
        f"  {'page':<32}{'opened s':>10}{'again s':>10}{'small s':>10}{'ratio':>8}",
    ]
    small_rows = result["rows"]["small"]
    for name, row in result["rows"]["full"].items():
        lines.append(
            f"  {name:<32}{row['first_s']:>10.2f}{row['again_s']:>10.2f}"
            f"{small_rows[name]['first_s']:>10.2f}{result['ratios_to_small'][name]:>8}"
        )
    for name in ("full", "small"):
        row = result["rows"][name]["Results"]
        lines.append(f"  Results, {name}, until all of it stands: {row['whole_s']:.1f} s")
    return "\n".join([*lines, "", *bar_lines(result["bars"])])


class _Walk:
    """Opens one page after another."""

    def __init__(self, page: Page, store: Store, url: str) -> None:
        self._page, self._store, self._url = page, store, url
        self._runs = 0
        page.on("websocket", lambda socket: socket.on("framereceived", self._count_runs))

    def measured(self, code: str, *, few: bool) -> dict[str, dict[str, float]]:
        """Load all pages or a few of them; return the seconds for each."""
        n_parts = 1 if few else None
        self._sign_in(code)
        rows: dict[str, dict[str, float]] = {}
        for name, other in zip(_PAGES, _PAGES[1:] + _PAGES[:1], strict=True):
            if few and name != "Progress":
                continue
            rows[name] = self._cold_and_warm_ms(
                partial(self._open, name), undo=partial(self._open, other)
            )
            if name == "Progress":
                for part in _PARTS[:n_parts]:
                    rows[f"{name}, {part}"] = self._cold_and_warm_ms(
                        partial(self._choose, part), undo=partial(self._choose, name)
                    )
        studies.close(
            self._store,
            study=servers.STUDY,
            reason="measured",
            acting=Acting(by=COMMAND_LINE, now=datetime.now(UTC)),
        )
        rows["Results"] = self._results()
        for part in _RESULTS[:n_parts]:
            first = self._timed(partial(self._choose, part))
            self._choose("Findings")
            second_s = self._timed(partial(self._choose, part))
            rows[f"Results, {part}"] = {"first_s": first, "again_s": second_s}
        return rows

    def _cold_and_warm_ms(
        self, do: Callable[[], None], *, undo: Callable[[], None]
    ) -> dict[str, float]:
        """Return the duration of an opening after a change, and of a second opening."""
        undo()
        reader_code(
            self._store,
            study=servers.STUDY,
            reader_id=READER.format(0),
            entropy=np.random.default_rng().bytes,
            now=datetime.now(UTC),
        )
        first = self._timed(do)
        undo()
        return {"first_s": first, "again_s": self._timed(do)}

    def _results(self) -> dict[str, float]:
        """Return the times until the first content and until all content."""
        start = time.monotonic()
        first = self._timed(partial(self._open, "Results"))
        self._page.locator(_WHOLE).first.wait_for()
        self._wait_idle()
        seconds = time.monotonic() - start - _QUIET_S
        self._open(_PAGES[0])
        second_s = self._timed(partial(self._open, "Results"))
        return {"first_s": first, "whole_s": round(seconds, 2), "again_s": second_s}

    def _timed(self, do: Callable[[], None]) -> float:
        start = time.monotonic()
        do()
        return round(time.monotonic() - start - _QUIET_S, 2)

    def _sign_in(self, code: str) -> None:
        self._page.context.request.post(
            f"{self._url}/sign-in", form={"access_code": code}, max_redirects=0
        )
        self._page.goto(self._url)
        self._page.locator("form[action=choose] button").first.click()
        self._page.locator(_BAR).wait_for()
        self._wait_idle()

    def _open(self, name: str) -> None:
        """Open a page of the study by its link, unless it is open."""
        bar = self._page.locator(_BAR)
        if bar.locator("[aria-current]", has_text=name).count():
            return
        with self._run():
            bar.get_by_role("link", name=name, exact=True).click()

    def _choose(self, part: str) -> None:
        """Select a part of a page."""
        with self._run():
            self._page.get_by_role("radio", name=part, exact=True).first.click()

    @contextmanager
    def _run(self) -> Iterator[None]:
        """Wait for a run of the page and its drawing."""
        before, end = self._runs, time.monotonic() + _PATIENCE_S
        yield
        while self._runs == before:
            if time.monotonic() > end:
                raise Broken(f"{self._page.url} did not come within {_PATIENCE_S:.0f} s")
            self._page.wait_for_timeout(20)
        self._wait_idle()

    def _wait_idle(self) -> None:
        """Wait until the page no longer changes; the waiting time is subtracted."""
        self._page.evaluate(_AT_REST, 1000 * _QUIET_S)

    def _count_runs(self, payload: bytes | str) -> None:
        if isinstance(payload, bytes):
            message = ForwardMsg.FromString(payload)
            if message.WhichOneof("type") == "script_finished":
                self._runs += 1


def _store(folder: Path, readers: int, cases: int, n_models: int) -> Store:
    """Return a store with an open study in which simulated readers have one unread case each."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{readers}-{cases}-{n_models}.db"
    if path.exists():
        return Store(path)
    bank = banks.write_bank(folder, cases, bits=8, width=64, height=64)
    names = [READER.format(number) for number in range(readers)]
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        draft = Path(scratch) / "store.db"
        store = servers.deploy(draft, bank, cases=cases, readers=names, seed=1).store
        for number in range(n_models):
            _add_model(store, bank, number, Path(scratch))
        for number, name in enumerate(names):
            print(f"pages: {name} of {readers} reads {cases} cases", file=sys.stderr)
            simulate(
                store,
                study=servers.STUDY,
                reader_id=name,
                seed=number,
                accuracy=0.6 + 0.3 * (number % 10) / 10,
                now=datetime.now(UTC),
            )
        store.rename_to(path)
    return Store(path)


def _add_model(store: Store, bank: Path, number: int, scratch: Path) -> None:
    generator = np.random.default_rng(number)
    items = json.loads(bank.read_text(encoding="utf-8"))
    answers = {name: {"model_prediction": str(generator.choice(list("ABCD")))} for name in items}
    file = scratch / "answers.json"
    file.write_text(json.dumps(answers), encoding="utf-8")
    add_model(
        store,
        file,
        study=servers.STUDY,
        model_id=f"model-{number}",
        model_version="simulated",
        simulated=True,
        acting=Acting(by=COMMAND_LINE, now=datetime.now(UTC)),
    )
