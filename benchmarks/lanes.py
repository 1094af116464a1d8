"""Lanes: one page on one kind of film over one line, with its own server, proxy and reader.

All lanes of a run are open at once and read in turn, a block of cases each, so that whatever else
the machine does hits them alike.
"""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from playwright.async_api import Browser

from benchmarks.hands import Hands, PlainHands, RoomHands, new_page, painted, transition
from benchmarks.line import LineKind
from benchmarks.proxy import Exchange, Proxy
from benchmarks.screen import time_origin_ms, witnessed
from benchmarks.servers import Server

FILMS = ("/films/", "/media/")
VIEWS = 2
_QUIET_S = 1.5
_LONGEST_QUIET_S = 20.0
_CHOOSE_AT = 0.6  # of the pace: readers choose, look once more, and confirm


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a lane is to do."""

    name: str
    page: str
    bits: int
    line: LineKind
    n: int
    pace_s: float
    openings: int


@dataclass
class Lane:
    """A lane under way, and what it has measured."""

    plan: Plan
    server: Server
    proxy: Proxy
    code: str = field(repr=False)
    hands: Hands | None = None
    took_ms: list[float] = field(default_factory=list)
    verdicts: list[dict[str, Any]] = field(default_factory=list)
    first_ms: list[float] = field(default_factory=list)
    cpu_ms: float = 0.0
    all_bytes: int = 0
    film_bytes: int = 0
    _seen: int = 1

    async def open(self, browser: Browser) -> None:
        """Open the page as often as planned, for the first case's time; keep the last one open."""
        for opening in range(self.plan.openings):
            asked = len(self.proxy.log.exchanges)
            hands = await self._new_hands(browser)
            await hands.open(self.proxy.url)
            first = (await painted(hands.page))[0]
            shown_s = (await time_origin_ms(hands.page) + first["at"]) / 1000
            last_s = last_film_byte_s(self.proxy.log.exchanges[asked:])
            if last_s is not None:
                self.first_ms.append((shown_s - last_s) * 1000)
            if opening + 1 < self.plan.openings:
                await hands.page.context.close()
            else:
                self.hands = hands
            await self.quiet()

    async def block(self, n: int, generator: np.random.Generator) -> None:
        """Read so many cases at the reader's pace; count what they cost until all is quiet."""
        cpu_ms = self.server.cpu_ms()
        all_bytes, film_bytes = self.proxy.log.n_bytes, self._film_bytes()
        for _ in range(n):
            await self._read(generator)
            taken = await transition(self._hands, self._seen + 1)
            self._seen += 1
            self.took_ms.append(taken["took_ms"])
        await self.quiet()
        self.cpu_ms += self.server.cpu_ms() - cpu_ms
        self.all_bytes += self.proxy.log.n_bytes - all_bytes
        self.film_bytes += self._film_bytes() - film_bytes

    async def witness(self, n: int, generator: np.random.Generator) -> None:
        """Read so many more cases, not counted, with the screencast as witness."""
        for _ in range(n):
            await self._read(generator)
            self.verdicts.append(await witnessed(self._hands, self._seen + 1))
            self._seen += 1
        await self.quiet()

    async def quiet(self) -> None:
        """Wait until the line has been silent for a while and every film asked for has come."""
        began_s = time.monotonic()
        while (waited_s := time.monotonic() - began_s) < _LONGEST_QUIET_S:
            owed = any(not each.received_bytes for each in self.proxy.log.under(*FILMS))
            if not owed and min(waited_s, self.proxy.quiet_for_s()) > _QUIET_S:
                return
            await asyncio.sleep(0.1)

    async def _read(self, generator: np.random.Generator) -> None:
        began_s = time.monotonic()
        await asyncio.sleep(self.plan.pace_s * _CHOOSE_AT)
        await self._hands.choose(int(generator.integers(4)))
        await asyncio.sleep(max(0.0, began_s + self.plan.pace_s - time.monotonic()))

    @property
    def _hands(self) -> Hands:
        assert self.hands is not None
        return self.hands

    def _film_bytes(self) -> int:
        return sum(each.n_bytes for each in self.proxy.log.under(*FILMS))

    async def _new_hands(self, browser: Browser) -> Hands:
        if self.plan.page == "naive":
            return PlainHands(await new_page(browser, plain=True))
        return RoomHands(await new_page(browser), self.code)


def last_film_byte_s(exchanges: list[Exchange], views: int = VIEWS) -> float | None:
    """Return when the last byte of the first case's films reached the browser (since 1970)."""
    films = [each for each in exchanges if each.path.startswith(FILMS)][:views]
    times = [each.last_s for each in films if each.last_s is not None]
    return None if len(times) < views else max(times)
