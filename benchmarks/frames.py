"""Smoothness of drags: frames of the page and pictures of the film.

The films have 2,048 x 2,500 pixels. In the same run and browser, the baseline is the page at rest.
Then the pointer drags at every frame to change the window, zoom and position; the first drag
happens while the images of the next cases are fetched, decoded and uploaded.
"""

import argparse
import asyncio
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from playwright.async_api import Page, async_playwright

from benchmarks import banks, servers
from benchmarks.browser import RoomDriver, new_page
from benchmarks.machine import CHROMIUM_FLAGS, chromium, facts
from benchmarks.summary import quantile_interval

DESCRIPTION = "the film under a moving hand: the page's frames and the film's pictures"
SMALLEST = "--seconds 0.3 --shrink 8 --bits 8"
WATCH = Path(__file__).with_name("frames.js")
DEPTHS = (8, 16)
DRAGS = {"rest": None, "window": 0, "zoom": 2, "move": 1}
"""The drags, with their mouse buttons; none at rest."""

_CASES = 4
_REST_S = 4.0  # after this time the next cases are fetched and the page is idle


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the benchmark's options."""
    parser.add_argument("--seconds", type=float, default=4.0, help="length of each drag")
    parser.add_argument("--bits", type=int, nargs="+", default=DEPTHS, help="depths of the films")
    banks.add_shrink(parser)


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Measure every drag on films of each depth."""
    return asyncio.run(_run(args))


async def _run(args: argparse.Namespace) -> dict[str, Any]:
    result: dict[str, Any] = {}
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium(), args=list(CHROMIUM_FLAGS)
        )
        machine = facts(browser.version)
        for bits in args.bits:
            with ExitStack() as stack:
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                films = folder / "films"
                films.mkdir()
                bank = banks.write_bank(films, _CASES, bits=bits, **banks.shrunk_size(args.shrink))
                deployed = servers.deploy(
                    folder / "store.db", bank, cases=_CASES, readers=["reader"], seed=bits
                )
                server = stack.enter_context(servers.app(deployed.store, folder / "log"))
                page = await new_page(browser)
                await page.add_init_script(path=WATCH)
                driver = RoomDriver(page, deployed.codes["reader"])
                await driver.open(f"http://127.0.0.1:{server.port}")
                result[f"{bits}bit"] = await _all_drags(page, args.seconds * 1000)
                await page.context.close()
        await browser.close()
    return {"benchmark": "frames", "machine": machine, "drags": result}


async def _all_drags(page: Page, length_ms: float) -> dict[str, Any]:
    """Return the result of each drag; the first happens while the next cases are fetched."""
    drags = {"window, fetching": _result_of(await _drag(page, DRAGS["window"], length_ms))}
    await asyncio.sleep(_REST_S)
    for name, button in DRAGS.items():
        drags[name] = _result_of(await _drag(page, button, length_ms))
    return drags


async def _drag(page: Page, button: int | None, length_ms: float) -> dict[str, Any]:
    return dict(await page.evaluate("(order) => watchDrag(order)", [button, length_ms]))


def _result_of(record: dict[str, Any]) -> dict[str, Any]:
    frames, pictures = record["frames_ms"], record["pictures_ms"]
    return {
        "n_frames": len(frames),
        "frame_p50_ms": round(quantile_interval(frames, 0.5)[0], 1),
        "frame_p95_ms": round(quantile_interval(frames, 0.95)[0], 1),
        "n_pictures": len(pictures),
        "picture_p50_ms": round(quantile_interval(pictures, 0.5)[0], 1) if pictures else None,
        "picture_p95_ms": round(quantile_interval(pictures, 0.95)[0], 1) if pictures else None,
        "whole_after_rest_ms": record["whole_after_ms"],
    }


def text(result: dict[str, Any]) -> str:
    """Return the result as lines, relative to the page at rest."""
    lines = [
        "frame: between two frames of the page; picture: between two pictures of the film;",
        "whole: from the hand's rest to the film in full fineness. Milliseconds.",
    ]
    for depth, drags in result["drags"].items():
        baseline = drags["rest"]["frame_p50_ms"]
        for name, drag in drags.items():
            lines.append(
                f"{depth:5} {name:17} frame p50 {drag['frame_p50_ms']} p95 {drag['frame_p95_ms']} "
                f"({drag['frame_p50_ms'] / baseline:.2f} of rest), "
                f"picture p50 {drag['picture_p50_ms']} p95 {drag['picture_p95_ms']}, "
                f"whole after {drag['whole_after_rest_ms']}"
            )
    return "\n".join(lines)
