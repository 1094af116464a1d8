"""A real server on a free port and a real browser: fixtures of the browser tests."""

import io
import os
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from study import studies
from study.banks import import_bank
from study.deployments import coordinator_code, init
from study.protocol import Protocol
from study.store import Store
from tests.conftest import NOW, ROOT, entropy_from, invite, write_bank

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NAMES = ("chromium", "chromium-browser", "google-chrome")


@dataclass
class Server:
    """A running app over a store of its own; it can be killed and started again."""

    store: Store
    codes: dict[str, str]
    port: int
    log: Path
    process: subprocess.Popen[bytes] | None = field(default=None)

    @property
    def url(self) -> str:
        """Return the address to open."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the app and wait until it answers."""
        environment = {**os.environ, "READING_ROOM_DB": str(self.store.path)}
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, str(self.port)], cwd=ROOT, env=environment, stdout=log, stderr=log
            )
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1) as answer:
                    if answer.read() == b"ok":
                        return
            except OSError:
                assert self.process.poll() is None, self.log.read_text()
                _tick()
        raise AssertionError(self.log.read_text())

    def kill(self) -> None:
        """Kill the app without a word, as a power cut would."""
        if self.process:
            self.process.kill()
            self.process.wait(20)
            self.process = None

    def readings(self) -> list[dict[str, Any]]:
        """Return every stored reading with its reader and position."""
        with self.store.look() as look:
            return look.rows(
                "SELECT readings.*, reader_id, position, shown_order FROM readings "
                "JOIN assignments ON assignments.id = assignment "
                "JOIN readers ON readers.id = reader ORDER BY reader_id, position"
            )


def _tick() -> None:
    """Let a tenth of a second pass between two looks at a starting process."""
    import threading

    threading.Event().wait(0.1)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Return a function that opens a study with given protocol values and serves it."""
    started: list[Server] = []

    def make(readers: tuple[str, ...] = ("R1",), **values: Any) -> Server:
        store = init(tmp_path / "store.db", entropy=entropy_from(1), now=NOW)
        path = write_bank(tmp_path / "bank")
        import_bank(store, path, name="bank", images=path.parent, simulated=True, now=NOW)
        protocol = Protocol.from_json({"cases": 6, "one_question_per": "item", **values})
        studies.draw(store, bank="bank", study="trial", protocol=protocol, now=NOW)
        invited = invite(store, *readers)
        studies.open_study(store, study="trial", now=NOW)
        codes = {name: code.text for name, code in zip(readers, invited, strict=True)}
        codes["coordinator"] = coordinator_code(
            store, study="trial", name="c", entropy=entropy_from(7), now=NOW
        )
        server = Server(store=store, codes=codes, port=_free_port(), log=tmp_path / "app.log")
        server.start()
        started.append(server)
        return server

    yield make
    for server in started:
        server.kill()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Return Debian's Chromium, or skip with the reason and the remedy."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no Chromium on this machine; install it with: apt-get install chromium")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        yield launched
        launched.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """Return a browser profile of its own, 1440 x 900."""
    made = browser.new_context(viewport={"width": 1440, "height": 900})
    made.set_default_timeout(60_000)
    yield made
    made.close()


@dataclass
class Reader:
    """A reader at a page, with nothing but a keyboard."""

    page: Page

    def state(self, name: str) -> str:
        """Return one of the room's ``data-`` attributes."""
        return self.page.locator("[data-state]").get_attribute(f"data-{name}") or ""

    def sign_in(self, url: str, code: str) -> None:
        """Open the address and type the code into the field that has the focus."""
        self.page.goto(url)
        self.page.wait_for_function(
            "document.activeElement?.shadowRoot?.activeElement?.name === 'access_code' "
            "|| document.activeElement?.name === 'access_code'"
        )
        self.page.keyboard.type(code)
        self.page.keyboard.press("Enter")

    def wait(self, state: str = "ready", position: int | None = None) -> None:
        """Wait for a state of the room, and for a case's position if given."""
        where = "" if position is None else f"[data-position='{position}']"
        self.page.wait_for_selector(f"[data-state='{state}']{where}")

    def answer(self, key: str) -> None:
        """Answer the case on the screen with a key and confirm it."""
        self.page.keyboard.press(key)
        self.page.keyboard.press("Enter")

    def brightness(self) -> float:
        """Return the share of bright pixels (above mid-grey) where the films are shown."""
        shot = self.page.locator(".rr-films").screenshot()
        grey = np.asarray(Image.open(io.BytesIO(shot)).convert("L"))
        return float((grey > 127).mean())

    def wait_saved(self) -> None:
        """Wait until every answer is acknowledged."""
        self.page.wait_for_selector("[data-outbox='0']")


@pytest.fixture
def reader(context: BrowserContext) -> Reader:
    """Return a reader at a fresh page."""
    return Reader(context.new_page())
