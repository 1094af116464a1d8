"""Known delays played on the reading page, case by case, in several circumstances.

A trial begins with the frame in which an onlooker sees the page say that the case is painted, and
ends with an Enter that the outside clock presses after the delay. In between the reader chooses
and, where the condition says so, the tab is hidden or the case paused for a known span.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from playwright.async_api import CDPSession, Page

from benchmarks.hands import RoomHands
from benchmarks.outside import Tie, press, tie, until
from benchmarks.screen import time_origin_ms

CONDITIONS = ("quiet", "loaded", "slow", "hidden", "paused")
SHORTEST_MS = 50.0
SHORT_MS = 6_000.0
LONG_MS = (10_000.0, 20_000.0, 40_000.0, 60_000.0)
_SPAN_SHARE = (0.3, 0.7)  # of the delay: when the tab is hidden, or the case paused
_LEAST_WITH_SPAN_MS = 300.0
_LOOKED_AHEAD_MS = {"slow": 3_000.0}
_MOSTLY_LOOKED_AHEAD_MS = 1_000.0

_HIDE = """hidden => {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  const at = performance.now();
  document.dispatchEvent(new Event("visibilitychange"));
  return at;
}"""


@dataclass(frozen=True, kw_only=True)
class Played:
    """What was truly done in one trial, in ms: the delay, and the span of it hidden or paused."""

    condition: str
    position: int
    delay_ms: float
    truth_ms: float
    span_ms: float = 0.0
    since_picture_ms: float | None = None
    said_late_ms: float = 0.0


@dataclass
class Player:
    """The outside clock at one page."""

    condition: str
    hands: RoomHands
    session: CDPSession
    origin_ms: float
    ties: list[Tie] = field(default_factory=list)
    played: list[Played] = field(default_factory=list)
    frame_ms: float = 0.0
    _paints: asyncio.Queue[tuple[int, float, float]] = field(default_factory=asyncio.Queue)

    @property
    def page(self) -> Page:
        """Return the page."""
        return self.hands.page

    async def play(self, delays_ms: Sequence[float]) -> None:
        """Play delays, one a case."""
        self.ties.append(await tie(self.session))
        for delay_ms in delays_ms:
            await self._trial(delay_ms)
        self.ties.append(await tie(self.session))

    async def wait_saved(self) -> None:
        """Wait until the server has every reading."""
        await self.page.locator("[data-outbox='0']").wait_for()

    @property
    def behind_ms(self) -> float:
        """Return how far the page's clock is behind, by the surest tie."""
        return min(self.ties, key=lambda each: each.unsure_ms).behind_ms

    async def _trial(self, delay_ms: float) -> None:
        position, began_ms, said_ms = await self._paints.get()
        end_ms = self._outside(began_ms) + delay_ms
        await press(self.session, "a")
        span_ms = await self._span(began_ms, delay_ms)
        await until(end_ms)
        pressed_ms = await press(self.session, "Enter")
        self.played.append(
            Played(
                condition=self.condition,
                position=position,
                delay_ms=delay_ms,
                truth_ms=pressed_ms - self._outside(began_ms),
                span_ms=span_ms,
                since_picture_ms=await self._since_picture(pressed_ms, began_ms),
                said_late_ms=said_ms - began_ms,
            )
        )

    async def _span(self, began_ms: float, delay_ms: float) -> float:
        """Hide the tab, or pause the case, for a part of the delay; return for how long truly."""
        if self.condition not in ("hidden", "paused"):
            return 0.0
        moments = []
        for share, hidden in zip(_SPAN_SHARE, (True, False), strict=True):
            await until(self._outside(began_ms) + delay_ms * share)
            if self.condition == "hidden":
                moments.append(float(await self.page.evaluate(_HIDE, hidden)))
            else:
                moments.append(await press(self.session, "p"))
        return moments[1] - moments[0]

    async def _since_picture(self, pressed_ms: float, began_ms: float) -> float | None:
        """Return the time from the picture's first showing, by the browser's own Event Timing.

        The first picture after the key that confirmed the case before is this case's, where its
        films were there already. None where the time before was too short to fetch them, or where
        the browser says nothing.
        """
        enough_ms = _LOOKED_AHEAD_MS.get(self.condition, _MOSTLY_LOOKED_AHEAD_MS)
        if not self.played or self.played[-1].delay_ms < enough_ms:
            return None
        before = [each for each in await self._commits() if each < began_ms]
        shown = await self.page.evaluate(
            "at => benchmark.presented.find((each) => Math.abs(each.at - at) < 1)?.presented",
            before[-1],
        )
        return None if shown is None else pressed_ms - self._outside(shown)

    async def _commits(self) -> list[float]:
        return list(await self.page.evaluate("benchmark.commits"))

    def _outside(self, page_ms: float) -> float:
        return self.origin_ms + page_ms + self.behind_ms


async def player(condition: str, hands: RoomHands, url: str) -> Player:
    """Open the page and measure its frames."""
    paints: asyncio.Queue[tuple[int, float, float]] = asyncio.Queue()
    await hands.page.expose_function(
        "benchmarkPainted",
        lambda position, frame, at: paints.put_nowait((position, frame, at)),
    )
    await hands.open(url)
    session = await hands.page.context.new_cdp_session(hands.page)
    made = Player(condition, hands, session, await time_origin_ms(hands.page), _paints=paints)
    made.frame_ms = await _frame_ms(hands.page)
    return made


async def _frame_ms(page: Page) -> float:
    times = await page.evaluate(
        """async () => {
          const times = [];
          while (times.length < 61) times.push(await new Promise(requestAnimationFrame));
          return times;
        }"""
    )
    return float(np.median(np.diff(times)))


def short_delays(n: int, condition: str, generator: np.random.Generator) -> list[float]:
    """Return delays evenly spread on a logarithmic scale, in random order."""
    least = _LEAST_WITH_SPAN_MS if condition in ("hidden", "paused") else SHORTEST_MS
    delays = np.geomspace(least, SHORT_MS, n)
    return [float(each) for each in generator.permutation(delays)]


def errors_ms(played: Played, recorded: dict[str, Any]) -> dict[str, float | None]:
    """Return recorded minus true, in ms: response, the span's own column, and since the picture."""
    response_ms = recorded["response_ms"]
    charged = {"hidden": "hidden_ms", "paused": "paused_ms"}
    return {
        "response": response_ms - (played.truth_ms - played.span_ms),
        "span": recorded[charged[played.condition]] - played.span_ms
        if played.condition in charged
        else None,
        "picture": response_ms - (played.since_picture_ms - played.span_ms)
        if played.since_picture_ms is not None
        else None,
        "hidden_or_paused_uncalled": sum(
            recorded[column] for name, column in charged.items() if name != played.condition
        ),
    }
