"""The outside clock: this program's, tied to the page's, and keys that carry its time.

A key sent with a time of its own is to the browser what a key press with the kernel's time is: the
event's ``timeStamp`` is that time, however late the page gets to it.
"""

import asyncio
import time
from dataclasses import dataclass
from typing import Any

from playwright.async_api import CDPSession

_KEYS = {"Enter": ("Enter", 13), "a": ("KeyA", 65), "b": ("KeyB", 66), "p": ("KeyP", 80)}
_TIES = 40


@dataclass(frozen=True, kw_only=True)
class Tie:
    """How far the page's clock (as ms since 1970) is behind this program's, and how surely."""

    behind_ms: float
    unsure_ms: float


async def tie(session: CDPSession) -> Tie:
    """Ask the page for its time often; the quickest answer says best how the two clocks stand."""
    best: Tie | None = None
    for _ in range(_TIES):
        before = now_ms()
        answer = await session.send(
            "Runtime.evaluate", {"expression": "performance.timeOrigin + performance.now()"}
        )
        after = now_ms()
        if best is None or (after - before) / 2 < best.unsure_ms:
            page_ms = answer["result"]["value"]
            best = Tie(behind_ms=(before + after) / 2 - page_ms, unsure_ms=(after - before) / 2)
    assert best is not None
    return best


async def press(session: CDPSession, key: str) -> float:
    """Press a key now and return when that was, in ms since 1970 on this program's clock."""
    code, number = _KEYS[key]
    event: dict[str, Any] = {"key": key, "code": code, "windowsVirtualKeyCode": number}
    pressed_ms = now_ms()
    await session.send(
        "Input.dispatchKeyEvent",
        {"type": "rawKeyDown", "timestamp": pressed_ms / 1000, **event},
    )
    await session.send("Input.dispatchKeyEvent", {"type": "keyUp", **event})
    return pressed_ms


async def until(moment_ms: float) -> None:
    """Wait until a moment of this program's clock."""
    if (ahead_ms := moment_ms - now_ms()) > 0:
        await asyncio.sleep(ahead_ms / 1000)


def now_ms() -> float:
    """Return this program's time, ms since 1970."""
    return time.time() * 1000
