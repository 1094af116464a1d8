"""What is truly on the screen when a page says so: the browser's own screencast as the witness.

Each frame of the screencast carries the time at which the browser showed it. A frame shows the new
case if it is nearly the picture the screen comes to rest at, and not the one it started from.
"""

import asyncio
import base64
import io
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from playwright.async_api import CDPSession, Page

from benchmarks.hands import Hands, transition

SETTLE_S = 0.8
FRAME_MS = 1000 / 60
_SIZE = {"maxWidth": 720, "maxHeight": 450}
_NEARLY = 0.15

Grey = NDArray[np.float32]


@dataclass
class Screencast:
    """Frames of a page as shown: seconds since 1970, and JPEG bytes."""

    session: CDPSession
    frames: list[tuple[float, bytes]] = field(default_factory=list)
    _acknowledging: set[asyncio.Task[None]] = field(default_factory=set)

    async def start(self) -> None:
        """Start, and wait for the frame of what is on the screen now."""
        self.session.on("Page.screencastFrame", self._take)
        await self.session.send("Page.startScreencast", {"format": "jpeg", "quality": 50, **_SIZE})
        await asyncio.sleep(SETTLE_S / 2)

    async def stop(self) -> None:
        """Wait until the screen has come to rest, and stop."""
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


async def witnessed(hands: Hands, n: int) -> dict[str, Any]:
    """Go on to the n-th case before the screencast, and return what it saw of it."""
    cast = Screencast(await hands.page.context.new_cdp_session(hands.page))
    await cast.start()
    taken = await transition(hands, n)
    await cast.stop()
    said_s = (await time_origin_ms(hands.page) + taken["painted_ms"]) / 1000
    return verdict([(at_s, _grey(jpeg)) for at_s, jpeg in cast.frames], said_s)


def verdict(frames: list[tuple[float, Grey]], said_s: float) -> dict[str, Any]:
    """Judge frames (time, picture) from the old case to the new against when it was said to show.

    Returns
    -------
    dict
        ``right``: the frame on the screen at that time showed the new case, None where the two
        cases look alike; ``lead_ms``: how long before its first frame was shown (negative: after).
    """
    old, new = frames[0][1], frames[-1][1]
    whole = float(np.abs(new - old).mean())
    if whole < 1:
        return {"right": None, "lead_ms": None}
    shows_new = [float(np.abs(each - new).mean()) < _NEARLY * whole for _, each in frames]
    at_that_time = [new for (at_s, _), new in zip(frames, shows_new, strict=True) if at_s <= said_s]
    first_s = frames[shows_new.index(True)][0]
    return {
        "right": bool(at_that_time and at_that_time[-1]),
        "lead_ms": round((said_s - first_s) * 1000, 1),
    }


def judged(verdicts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return over all verdicts how many were right, and how long before."""
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
    """Return when the page's clock began, in milliseconds since 1970."""
    return float(await page.evaluate("performance.timeOrigin"))


def _grey(jpeg: bytes) -> Grey:
    return np.asarray(Image.open(io.BytesIO(jpeg)).convert("L")).astype(np.float32)
