"""A running app with a separate store, and the browser for the tests."""

import os
import shutil
import socket
import threading
import urllib.request
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from study.store import Store
from tests.processes import start

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--process-per-site",
)
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first one is Chromium without windows, menus and tabs, which are expensive."""


@dataclass
class Server:
    """A running app with a separate store, which can be killed and restarted.

    Parameters
    ----------
    watched
        A module that runs the app, and the arguments it has before the app's own.
    """

    store: Store
    codes: dict[str, str]
    port: int
    log: Path
    process: BaseProcess | None = field(default=None)
    secrets: Path | None = None
    watched: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        """Return the address to open."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the app and wait until it answers."""
        module, *arguments = (*self.watched, "streamlit")
        self.process = start(
            module,
            [*arguments, "run", "app.py", "--server.port", str(self.port), *self._secrets()],
            out=self.log,
            environment={**os.environ, "READING_ROOM_DB": self.store.address},
        )
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1) as answer:
                    if answer.read() == b"ok":
                        return
            except OSError:
                assert self.process.is_alive(), self.log.read_text()
                tick()
        raise AssertionError(self.log.read_text())

    def _secrets(self) -> list[str]:
        """Return the option with the file of Streamlit's secrets, if there is one."""
        return ["--secrets.files", str(self.secrets)] if self.secrets else []

    def kill(self) -> None:
        """Kill the app, as a power cut would."""
        if self.process:
            self.process.kill()
            self.process.join(20)
            self.process = None

    def readings(self) -> list[dict[str, Any]]:
        """Return every stored reading with its reader and position."""
        with self.store.look() as look:
            return look.rows(
                "SELECT readings.*, reader_id, position, shown_order FROM readings "
                "JOIN assignments ON assignments.id = assignment "
                "JOIN readers ON readers.id = reader ORDER BY reader_id, position"
            )


def enter(page: Page, url: str, code: str) -> None:
    """Send an access code as the sign-in form sends it, and open the address signed in."""
    answer = page.context.request.post(
        f"{url}/sign-in", form={"access_code": code}, max_redirects=0
    )
    assert answer.headers["location"] == "./", answer.headers
    page.goto(url)


def begin(page: Page, selector: str = "[data-state='ready']") -> None:
    """Start the study when the room waits for it, or return when the wanted element appears."""
    waits = "[data-state='paused'][data-step='begin']"
    page.wait_for_selector(f"{selector}, {waits}")
    if page.locator(waits).count():
        page.keyboard.press("p")


def tick() -> None:
    """Wait a tenth of a second between two checks of a starting process."""
    threading.Event().wait(0.1)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def chromium() -> str | None:
    """Return the path of Debian's Chromium, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)
