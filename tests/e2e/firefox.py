"""Drive Debian's Firefox by WebDriver BiDi, over the websocket that Firefox serves.

Playwright supports its own build of Firefox only. Protocol: https://w3c.github.io/webdriver-bidi/
"""

import base64
import io
import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image
from websockets.sync.client import ClientConnection, connect

from tests.e2e.server import tick

WITHIN_S = 60
VIEWPORT = {"width": 1440, "height": 900}
KEYS = {
    "Enter": "\ue007",
    "Escape": "\ue00c",
    "Backspace": "\ue003",
    "Home": "\ue011",
    "F2": "\ue032",
}


class BidiError(Exception):
    """Firefox reported an error for a command."""


class Firefox:
    """A running Firefox and the connection to it."""

    def __init__(self, line: ClientConnection) -> None:
        self._line = line
        self._asked = 0
        self.errors: list[str] = []
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=["log.entryAdded"])

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and return its result.

        Collect the errors of pages until the response arrives.
        """
        self._asked += 1
        self._line.send(json.dumps({"id": self._asked, "method": method, "params": params}))
        while True:
            message = json.loads(self._line.recv(timeout=WITHIN_S))
            if message["type"] == "event":
                self._collect_error(message["params"])
            elif message["id"] == self._asked:
                if message["type"] == "error":
                    raise BidiError(f"{method}: {message['error']}: {message['message']}")
                return dict(message["result"])

    def new_tab(self) -> "Tab":
        """Return a new tab in the foreground, with separate cookies."""
        self.errors.clear()
        apart = self.call("browser.createUserContext")["userContext"]
        opened = self.call("browsingContext.create", type="tab", userContext=apart)
        tab = Tab(firefox=self, context=opened["context"])
        self.call("browsingContext.setViewport", context=tab.context, viewport=VIEWPORT)
        return tab

    def _collect_error(self, entry: dict[str, Any]) -> None:
        if entry["type"] == "javascript" and entry["level"] == "error":
            self.errors.append(entry["text"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """A tab of Firefox, with evaluation, input and screenshots."""

    firefox: Firefox
    context: str

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        return self.firefox.call(method, context=self.context, **params)

    def go(self, url: str) -> None:
        self.call("browsingContext.navigate", url=url, wait="complete")

    def reload(self) -> None:
        self.call("browsingContext.reload", wait="complete")

    def look(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        return json.loads(self.do(f"JSON.stringify(({expression}) ?? null)")["value"])

    def do(self, script: str) -> dict[str, Any]:
        """Run a script in the page and return the value of its last expression in BiDi's format."""
        message = self.firefox.call(
            "script.evaluate",
            expression=script,
            target={"context": self.context},
            awaitPromise=True,
        )
        if message["type"] == "exception":
            raise BidiError(message["exceptionDetails"]["text"])
        return dict(message["result"])

    def wait(self, condition: str) -> None:
        """Wait until an expression is true. A page that is being unloaded counts as false."""

        def true() -> bool:
            try:
                return bool(self.look(f"Boolean({condition})"))
            except BidiError:
                return False

        until(true, condition)

    def press(self, *keys: str) -> None:
        """Press keys in sequence, each specified by its name or character."""
        values = [KEYS.get(key, key) for key in keys]
        moves = [{"type": f"key{way}", "value": key} for key in values for way in ("Down", "Up")]
        self._act({"type": "key", "id": "keyboard", "actions": moves})

    def wheel(self, x: int, y: int, down: int) -> None:
        """Turn the wheel at a point of the window; all in CSS pixels."""
        turn = {"type": "scroll", "x": x, "y": y, "deltaX": 0, "deltaY": down}
        self._act({"type": "wheel", "id": "wheel", "actions": [turn]})

    def grey(self, selector: str) -> npt.NDArray[np.float64]:
        """Return a screenshot of an element as grey levels from 0 to 255."""
        box = self.look(
            f"(({{x, y, width, height}}) => ({{x, y, width, height}}))"
            f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
        )
        shot = self.call("browsingContext.captureScreenshot", clip={"type": "box", **box})
        image = Image.open(io.BytesIO(base64.b64decode(shot["data"])))
        return np.asarray(image.convert("L")).astype(float)

    def _act(self, source: dict[str, Any]) -> None:
        self.call("input.performActions", actions=[source])


def until(true: Callable[[], bool], description: str) -> None:
    """Call a function repeatedly until it returns true."""
    deadline = time.monotonic() + WITHIN_S
    while not true():
        assert time.monotonic() < deadline, f"not within {WITHIN_S} s: {description}"
        tick()


@contextmanager
def started(
    program: str, profile: Path, prefs: dict[str, bool], display: str | None
) -> Iterator[Firefox]:
    """Start Firefox with a new profile, with or without a display, and stop it afterwards."""
    profile.mkdir()
    lines = (f"user_pref({json.dumps(name)}, {json.dumps(on)});\n" for name, on in prefs.items())
    (profile / "user.js").write_text("".join(lines))
    log = profile / "firefox.log"
    shown = {"MOZ_HEADLESS": "1"} if display is None else {"DISPLAY": display}
    command = [program, "--no-remote", "--remote-debugging-port", "0", "--profile", str(profile)]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env={**os.environ, **shown}, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        with connect(f"{_address(process, log)}/session", max_size=None) as line:
            yield Firefox(line)
    finally:
        process.kill()
        process.wait(20)


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    """Return the address of a starting Firefox, once it has printed it."""

    def printed() -> str:
        assert process.poll() is None, log.read_text()
        match = re.search(r"WebDriver BiDi listening on (ws://\S+)\n", log.read_text())
        return match[1] if match else ""

    until(lambda: bool(printed()), "Firefox listens")
    return printed()
