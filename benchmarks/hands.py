"""A reader's hands on either page, in a real browser: open it, choose, confirm, see what came."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from playwright.async_api import Browser, Page, ViewportSize

from benchmarks.machine import Broken

OBSERVER = Path(__file__).with_name("observer.js")
VIEWPORT: ViewportSize = {"width": 1440, "height": 900}
_LOOK_EVERY_S = 0.1
_PATIENCE_S = 180.0


async def new_page(browser: Browser, *, plain: bool = False) -> Page:
    """Return a page in a profile of its own, with the onlooker installed before its scripts."""
    context = await browser.new_context(viewport=VIEWPORT)
    context.set_default_timeout(_PATIENCE_S * 1000)
    if plain:
        await context.add_init_script("window.benchmarkPlain = true")
    await context.add_init_script(path=OBSERVER)
    return await context.new_page()


async def painted(page: Page) -> list[dict[str, float]]:
    """Return what the onlooker saw painted so far: position and page milliseconds."""
    return list(await page.evaluate("benchmark.painted"))


async def wait_painted(page: Page, n: int) -> dict[str, float]:
    """Wait until so many cases were painted, looking from outside: nothing polls in the page."""
    for _ in range(round(_PATIENCE_S / _LOOK_EVERY_S)):
        # Opening and signing in replace the document, and the onlooker with it.
        seen = await page.evaluate("window.benchmark?.painted ?? []")
        if len(seen) >= n:
            return dict(seen[n - 1])
        await asyncio.sleep(_LOOK_EVERY_S)
    raise Broken(f"case {n} was not painted within {_PATIENCE_S:g} s at {page.url}")


class Hands(Protocol):
    """What a reader does, whatever the page."""

    page: Page

    async def open(self, url: str) -> None:
        """Open the page, up to and with the first case."""

    async def choose(self, option: int) -> None:
        """Choose an option, counted from 0."""

    async def confirm(self) -> None:
        """Commit the answer."""


@dataclass
class RoomHands:
    """Hands on the reading room: the keyboard alone."""

    page: Page
    code: str = field(repr=False)

    async def open(self, url: str) -> None:
        """Sign in with the access code, and begin."""
        await self.page.goto(url)
        await self.page.locator("[name=access_code]").fill(self.code)
        await self.page.locator("[name=access_code]").press("Enter")
        await self.page.locator("[data-step=begin]").wait_for()
        await self.page.keyboard.press("Enter")
        await wait_painted(self.page, 1)

    async def choose(self, option: int) -> None:
        """Press the option's letter."""
        await self.page.keyboard.press("abcd"[option])

    async def confirm(self) -> None:
        """Press Enter."""
        await self.page.keyboard.press("Enter")


@dataclass
class PlainHands:
    """Hands on the naive page: the mouse."""

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


async def transition(hands: Hands, n: int) -> dict[str, Any]:
    """Confirm the case on the screen and wait for the next, the n-th painted."""
    before = await hands.page.evaluate("benchmark.commits.length")
    await hands.confirm()
    seen = await wait_painted(hands.page, n)
    commits = await hands.page.evaluate("benchmark.commits")
    if len(commits) != before + 1:
        raise Broken(f"one press made {len(commits) - before} commits at {hands.page.url}")
    return {"commit_ms": commits[-1], "painted_ms": seen["at"], "took_ms": seen["at"] - commits[-1]}
