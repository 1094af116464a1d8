"""A reader in a real browser: actions on either page, timed key presses, and the screen.

Each frame of a screencast has the time at which the browser showed it. A frame shows the new case
if it is much closer to the last picture than to the first.

A key that is sent with a time is treated like a key press with a time from the kernel: the
``timeStamp`` of the event is that time, even if the page processes it late.
"""

import asyncio
import base64
import io
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from playwright.async_api import Browser, CDPSession, Page, ViewportSize

from benchmarks.machine import Broken

OBSERVER = Path(__file__).with_name("observer.js")
VIEWPORT: ViewportSize = {"width": 1440, "height": 900}
_LOOK_EVERY_S = 0.1
_PATIENCE_S = 180.0


async def new_page(browser: Browser, *, plain: bool = False) -> Page:
    """Return a page in a separate profile, with the observer installed before its scripts."""
    context = await browser.new_context(viewport=VIEWPORT)
    context.set_default_timeout(_PATIENCE_S * 1000)
    if plain:
        await context.add_init_script("window.benchmarkPlain = true")
    await context.add_init_script(path=OBSERVER)
    return await context.new_page()


async def painted_cases(page: Page) -> list[dict[str, float]]:
    """Return the cases that the observer has seen painted, with position and milliseconds."""
    return list(await page.evaluate("benchmark.painted"))


async def first_action_s(page: Page) -> float:
    """Return when the reader first pressed Enter or clicked, in seconds since 1970, or 0."""
    commits = await page.evaluate("benchmark.commits")
    return (await time_origin_ms(page) + commits[0]) / 1000 if commits else 0.0


async def wait_painted(page: Page, n: int) -> dict[str, float]:
    """Wait until `n` cases have been painted, polling from outside the page."""
    for _ in range(round(_PATIENCE_S / _LOOK_EVERY_S)):
        # The document and its observer are replaced when the page is opened and at the sign-in.
        frames = await page.evaluate("window.benchmark?.painted ?? []")
        if len(frames) >= n:
            return dict(frames[n - 1])
        await asyncio.sleep(_LOOK_EVERY_S)
    raise Broken(f"case {n} was not painted within {_PATIENCE_S:g} s at {page.url}")


class PageDriver(Protocol):
    """The actions of a reader, on either page."""

    page: Page

    async def open(self, url: str) -> None:
        """Open the page and wait for the first case."""

    async def choose(self, option: int) -> None:
        """Select an option, counted from 0."""

    async def confirm(self) -> None:
        """Commit the answer."""


@dataclass
class RoomDriver:
    """A reader's actions in the reading room, with the keyboard only."""

    page: Page
    code: str = field(repr=False)

    async def open(self, url: str) -> None:
        """Sign in with the access code and start."""
        await self.page.goto(url)
        await self.page.locator("[name=access_code]").fill(self.code)
        await self.page.locator("[name=access_code]").press("Enter")
        begin = self.page.locator("[data-step=begin]")
        await begin.or_(self.page.locator("[data-state=ready]")).first.wait_for()
        if await begin.count():  # a resumed case is shown at once
            await self.page.keyboard.press("Enter")
        await wait_painted(self.page, 1)

    async def choose(self, option: int) -> None:
        """Press the option's letter."""
        await self.page.keyboard.press("abcd"[option])

    async def confirm(self) -> None:
        """Press Enter."""
        await self.page.keyboard.press("Enter")


@dataclass
class NaivePageDriver:
    """A reader's actions on the naive page, with the mouse."""

    page: Page

    async def open(self, url: str) -> None:
        """Open the page."""
        await self.page.goto(url)
        await wait_painted(self.page, 1)

    async def choose(self, option: int) -> None:
        """Click the option; Streamlit runs the script for it."""
        await self.page.locator("[data-testid=stRadioOption]").nth(option).click()

    async def confirm(self) -> None:
        """Click the button."""
        await self.page.get_by_role("button", name="Next").click()


async def transition(driver: PageDriver, n: int) -> dict[str, Any]:
    """Confirm the case on the screen and wait for the next one, which is the n-th."""
    before = await driver.page.evaluate("benchmark.commits.length")
    await driver.confirm()
    frame = await wait_painted(driver.page, n)
    commits = await driver.page.evaluate("benchmark.commits")
    if len(commits) != before + 1:
        raise Broken(f"one press made {len(commits) - before} commits at {driver.page.url}")
    return {
        "commit_ms": commits[-1],
        "painted_ms": frame["at"],
        "took_ms": frame["at"] - commits[-1],
    }


SETTLE_S = 0.8
FRAME_MS = 1000 / 60
_SIZE = {"maxWidth": 720, "maxHeight": 450}
_NEARLY = 0.15

Grey = NDArray[np.float32]


@dataclass
class Screencast:
    """The frames of a page that the browser showed: seconds since 1970, and JPEG bytes."""

    session: CDPSession
    frames: list[tuple[float, bytes]] = field(default_factory=list)
    _acknowledging: set[asyncio.Task[None]] = field(default_factory=set)

    async def start(self) -> None:
        """Start, and wait for a frame that shows the current screen."""
        self.session.on("Page.screencastFrame", self._take)
        await self.session.send("Page.startScreencast", {"format": "jpeg", "quality": 50, **_SIZE})
        await asyncio.sleep(SETTLE_S / 2)

    async def stop(self) -> None:
        """Wait until the screen no longer changes, and stop."""
        await asyncio.sleep(SETTLE_S)
        await self.session.send("Page.stopScreencast")
        await self.session.detach()

    def _take(self, event: dict[str, Any]) -> None:
        self.frames.append((event["metadata"]["timestamp"], base64.b64decode(event["data"])))
        task = asyncio.ensure_future(self._acknowledge(event["sessionId"]))
        self._acknowledging.add(task)
        task.add_done_callback(self._acknowledging.discard)

    async def _acknowledge(self, session_id: int) -> None:
        await self.session.send("Page.screencastFrameAck", {"sessionId": session_id})


async def compare_transition(driver: PageDriver, n: int) -> dict[str, Any]:
    """Continue to the n-th case during a screencast, and return the comparison."""
    cast = Screencast(await driver.page.context.new_cdp_session(driver.page))
    await cast.start()
    result = await transition(driver, n)
    await cast.stop()
    said_s = (await time_origin_ms(driver.page) + result["painted_ms"]) / 1000
    return verdict([(at_s, _grey(jpeg)) for at_s, jpeg in cast.frames], said_s)


def verdict(frames: list[tuple[float, Grey]], said_s: float) -> dict[str, Any]:
    """Compare frames (time, picture) from one case to the next with the reported time of painting.

    Returns
    -------
    dict
        ``right`` is whether the frame on the screen at that time showed the new case, or None if
        the two cases look alike. ``lead_ms`` is the reported time minus the time at which the first
        frame of the new case was shown.
    """
    old, new = frames[0][1], frames[-1][1]
    difference = float(np.abs(new - old).mean())
    if difference < 1:
        return {"right": None, "lead_ms": None}
    shows_new = [float(np.abs(each - new).mean()) < _NEARLY * difference for _, each in frames]
    at_that_time = [new for (at_s, _), new in zip(frames, shows_new, strict=True) if at_s <= said_s]
    first_s = frames[shows_new.index(True)][0]
    return {
        "right": bool(at_that_time and at_that_time[-1]),
        "lead_ms": round((said_s - first_s) * 1000, 1),
    }


def summarise_verdicts(verdicts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the number of correct verdicts and their lead times."""
    clear = [each for each in verdicts if each["right"] is not None]
    leads = [each["lead_ms"] for each in clear]
    return {
        "n": len(clear),
        "n_right": sum(each["right"] for each in clear),
        "n_right_within_a_frame": sum(lead > -FRAME_MS for lead in leads),
        "median_lead_ms": round(float(np.median(leads)), 1) if leads else None,
        "leads_ms": sorted(leads),
    }


async def time_origin_ms(page: Page) -> float:
    """Return when the clock of the page started, in milliseconds since 1970."""
    return float(await page.evaluate("performance.timeOrigin"))


def _grey(jpeg: bytes) -> Grey:
    return np.asarray(Image.open(io.BytesIO(jpeg)).convert("L")).astype(np.float32)


_KEYS = {"Enter": ("Enter", 13), "a": ("KeyA", 65), "b": ("KeyB", 66), "p": ("KeyP", 80)}
_TIES = 40


@dataclass(frozen=True, kw_only=True)
class ClockOffset:
    """The offset of the page's clock from the clock of this program in ms, and its precision."""

    behind_ms: float
    unsure_ms: float


async def measure_clock_offset(session: CDPSession) -> ClockOffset:
    """Ask the page for its time repeatedly; the fastest answer gives the best estimate."""
    best: ClockOffset | None = None
    for _ in range(_TIES):
        before = now_ms()
        answer = await session.send(
            "Runtime.evaluate", {"expression": "performance.timeOrigin + performance.now()"}
        )
        after = now_ms()
        if best is None or (after - before) / 2 < best.unsure_ms:
            page_ms = answer["result"]["value"]
            best = ClockOffset(
                behind_ms=(before + after) / 2 - page_ms, unsure_ms=(after - before) / 2
            )
    assert best is not None
    return best


async def press(session: CDPSession, key: str) -> float:
    """Press a key now and return its time, in ms since 1970 on this program's clock."""
    code, number = _KEYS[key]
    event: dict[str, Any] = {"key": key, "code": code, "windowsVirtualKeyCode": number}
    pressed_ms = now_ms()
    await session.send(
        "Input.dispatchKeyEvent",
        {"type": "rawKeyDown", "timestamp": pressed_ms / 1000, **event},
    )
    await session.send("Input.dispatchKeyEvent", {"type": "keyUp", **event})
    return pressed_ms


async def wait_until(moment_ms: float) -> None:
    """Wait until the clock of this program shows a time."""
    if (ahead_ms := moment_ms - now_ms()) > 0:
        await asyncio.sleep(ahead_ms / 1000)


def now_ms() -> float:
    """Return the time of this program's clock in ms since 1970."""
    return time.time() * 1000
