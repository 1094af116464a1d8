"""Accuracy of the recorded times: known delays from an external clock, compared with the store.

The delay from the frame in which the page reports a painted case to a key pressed by a clock
outside the browser is 50 ms to 60 s, in five conditions. ``docs/benchmarks.md`` describes the
limits of the method.

A trial starts with the frame in which the observer sees the case as painted, and ends with an
Enter that the external clock presses after the delay. In between, the reader selects an option and,
depending on the condition, the tab is hidden or the case paused for a known time.
"""

import argparse
import asyncio
import csv
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from playwright.async_api import CDPSession, Page, async_playwright

from benchmarks import banks, servers, summary
from benchmarks.browser import (
    ClockOffset,
    RoomDriver,
    measure_clock_offset,
    new_page,
    press,
    time_origin_ms,
    wait_until,
)
from benchmarks.busy import busy_server
from benchmarks.machine import CHROMIUM_FLAGS, Broken, chromium, facts
from benchmarks.proxy import SLOW, proxied
from study.exchange import bundle

CONDITIONS = ("quiet", "loaded", "slow", "hidden", "paused")
SHORTEST_MS = 50.0
SHORT_MS = 6_000.0
LONG_MS = (10_000.0, 20_000.0, 40_000.0, 60_000.0)
_SPAN_SHARE = (0.3, 0.7)  # share of the delay after which the tab is hidden or the case paused
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
    """The true times of a trial in ms: the delay, and the hidden or paused time."""

    condition: str
    position: int
    delay_ms: float
    truth_ms: float
    span_ms: float = 0.0
    since_picture_ms: float | None = None
    said_late_ms: float = 0.0


@dataclass
class Player:
    """The external clock of a page."""

    condition: str
    hands: RoomDriver
    session: CDPSession
    origin_ms: float
    ties: list[ClockOffset] = field(default_factory=list)
    played: list[Played] = field(default_factory=list)
    frame_ms: float = 0.0
    _paints: asyncio.Queue[tuple[int, float, float]] = field(default_factory=asyncio.Queue)

    @property
    def page(self) -> Page:
        """Return the page."""
        return self.hands.page

    async def play(self, delays_ms: Sequence[float]) -> None:
        """Run delays, one per case."""
        self.ties.append(await measure_clock_offset(self.session))
        for delay_ms in delays_ms:
            await self._trial(delay_ms)
        self.ties.append(await measure_clock_offset(self.session))

    async def wait_saved(self) -> None:
        """Wait until the server has every reading."""
        await self.page.locator("[data-outbox='0']").wait_for()

    @property
    def behind_ms(self) -> float:
        """Return the offset of the page's clock by its most precise measurement."""
        return min(self.ties, key=lambda each: each.unsure_ms).behind_ms

    async def _trial(self, delay_ms: float) -> None:
        position, began_ms, said_ms = await self._paints.get()
        end_ms = self._external_ms(began_ms) + delay_ms
        await press(self.session, "a")
        span_ms = await self._span(began_ms, delay_ms)
        await wait_until(end_ms)
        pressed_ms = await press(self.session, "Enter")
        self.played.append(
            Played(
                condition=self.condition,
                position=position,
                delay_ms=delay_ms,
                truth_ms=pressed_ms - self._external_ms(began_ms),
                span_ms=span_ms,
                since_picture_ms=await self._since_picture(pressed_ms, began_ms),
                said_late_ms=said_ms - began_ms,
            )
        )

    async def _span(self, began_ms: float, delay_ms: float) -> float:
        """Hide the tab, or pause the case, for a part of the delay; return the true duration."""
        if self.condition not in ("hidden", "paused"):
            return 0.0
        moments = []
        for share, hidden in zip(_SPAN_SHARE, (True, False), strict=True):
            await wait_until(self._external_ms(began_ms) + delay_ms * share)
            if self.condition == "hidden":
                moments.append(float(await self.page.evaluate(_HIDE, hidden)))
            else:
                moments.append(await press(self.session, "p"))
        return moments[1] - moments[0]

    async def _since_picture(self, pressed_ms: float, began_ms: float) -> float | None:
        """Return the time from the picture's first showing, by the browser's own Event Timing.

        The first picture after the key that confirmed the previous case belongs to this case if
        its films were loaded. None if the previous delay was too short to load them, or if the
        browser does not report it.
        """
        enough_ms = _LOOKED_AHEAD_MS.get(self.condition, _MOSTLY_LOOKED_AHEAD_MS)
        if not self.played or self.played[-1].delay_ms < enough_ms:
            return None
        before = [each for each in await self._commits() if each < began_ms]
        shown = await self.page.evaluate(
            "at => benchmark.presented.find((each) => Math.abs(each.at - at) < 1)?.presented",
            before[-1],
        )
        return None if shown is None else pressed_ms - self._external_ms(shown)

    async def _commits(self) -> list[float]:
        return list(await self.page.evaluate("benchmark.commits"))

    def _external_ms(self, page_ms: float) -> float:
        return self.origin_ms + page_ms + self.behind_ms


async def player(condition: str, driver: RoomDriver, url: str) -> Player:
    """Open the page and measure its frames."""
    paints: asyncio.Queue[tuple[int, float, float]] = asyncio.Queue()
    await driver.page.expose_function(
        "benchmarkPainted",
        lambda position, frame, at: paints.put_nowait((position, frame, at)),
    )
    await driver.open(url)
    session = await driver.page.context.new_cdp_session(driver.page)
    new_player = Player(
        condition, driver, session, await time_origin_ms(driver.page), _paints=paints
    )
    new_player.frame_ms = await _frame_ms(driver.page)
    return new_player


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
    """Return recorded minus true times in ms: response, hidden or paused, since the picture."""
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


DESCRIPTION = "known delays against the recorded times: bias and spread"
SMALLEST = "--trials 1 --longest 1 --only quiet"
_SPARE = 3
_SMALL = {"width": 256, "height": 312}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the benchmark's options."""
    parser.add_argument(
        "--trials", type=int, default=25, help="short delays in each condition (50 ms to 6 s)"
    )
    parser.add_argument(
        "--longest", type=float, default=60.0, help="seconds; the long delays go up to it"
    )
    parser.add_argument(
        "--only", type=_conditions, default=CONDITIONS, help=f"some of {','.join(CONDITIONS)}"
    )


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Run every delay and compare."""
    return asyncio.run(_run(args))


async def _run(args: argparse.Namespace) -> dict[str, Any]:
    long_ms = [each for each in LONG_MS if each <= args.longest * 1000]
    n_cases = args.trials + len(long_ms) + 1 + _SPARE
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benchmark-")))
        bank = banks.write_bank(folder, n_cases, bits=8, **_SMALL)
        deployment = servers.deploy(folder / "s.db", bank, cases=n_cases, readers=args.only, seed=1)
        server = stack.enter_context(servers.app(deployment.store, folder / "app.log"))
        slow = stack.enter_context(proxied(server.port, SLOW))
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=chromium(), args=list(CHROMIUM_FLAGS)
            )
            machine = facts(browser.version)
            players = []
            for condition in args.only:
                url = slow.url if condition == "slow" else f"http://127.0.0.1:{server.port}"
                driver = RoomDriver(await new_page(browser), deployment.codes[condition])
                players.append(await player(condition, driver, url))
            await _play_all(players, args.trials, long_ms, server.port)
            await browser.close()
        bundle.export(deployment.store, study=servers.STUDY, out=folder / "bundle")
        recorded = _recorded(folder / "bundle" / "readings.csv")
    return _result(players, recorded, machine)


async def _play_all(players: list[Player], n_short: int, long_ms: list[float], port: int) -> None:
    """Run the short delays by condition, and the long delays in parallel."""
    generator = np.random.default_rng(1)
    for each in players:
        _log(f"{each.condition}: {n_short} short delays")
        with ExitStack() as stack:
            if each.condition == "loaded":
                stack.enter_context(busy_server(port, await _cookie(each)))
            await each.play(short_delays(n_short, each.condition, generator))
    _log(f"long delays, all conditions at once: {', '.join(f'{ms / 1000:g}' for ms in long_ms)} s")
    await asyncio.gather(*(each.play(long_ms) for each in players))
    for each in players:
        await each.wait_saved()


async def _cookie(each: Player) -> str:
    cookies = await each.page.context.cookies()
    return "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in cookies)


def _recorded(path: Path) -> dict[tuple[str, int], dict[str, float]]:
    """Return the recorded times in the bundle, by reader and position."""
    columns = ("response_ms", "elapsed_ms", "hidden_ms", "paused_ms")
    with path.open(encoding="utf-8", newline="") as file:
        return {
            (row["rater_id"], int(row["position"])): {name: float(row[name]) for name in columns}
            for row in csv.DictReader(file)
            if row["response_ms"]
        }


def _result(
    players: list[Player],
    recorded: dict[tuple[str, int], dict[str, float]],
    machine: dict[str, Any],
) -> dict[str, Any]:
    frame_ms = float(np.median([each.frame_ms for each in players]))
    trials = []
    for each in players:
        for played in each.played:
            row = recorded.get((each.condition, played.position))
            if row is None:
                raise Broken(f"{each.condition}: no reading of case {played.position}")
            trials.append(
                {
                    "condition": each.condition,
                    "delay_ms": round(played.delay_ms, 1),
                    "truth_ms": round(played.truth_ms, 2),
                    "span_ms": round(played.span_ms, 2),
                    "said_late_ms": round(played.said_late_ms, 2),
                    "recorded": row,
                    "errors": {
                        name: None if value is None else round(value, 2)
                        for name, value in errors_ms(played, row).items()
                    },
                }
            )
    said_late_ms = [played.said_late_ms for each in players for played in each.played]
    conditions = {
        name: _condition(trials, name, frame_ms)
        for name in dict.fromkeys(each.condition for each in players)
    }
    return {
        "benchmark": "timer",
        "machine": machine,
        "frame_ms": round(frame_ms, 2),
        "clock_tie": {
            "unsure_ms": round(max(min(t.unsure_ms for t in p.ties) for p in players), 2),
            "drift_ms": round(
                max(abs(p.ties[-1].behind_ms - p.ties[0].behind_ms) for p in players), 2
            ),
        },
        "said_after_its_frame": summary.spread(said_late_ms),
        "all": summary.errors(_errors(trials, "response"), frame_ms),
        "all_since_the_picture": summary.errors(_errors(trials, "picture"), frame_ms),
        "conditions": conditions,
        "bars": _bars(trials, frame_ms),
        "trials": trials,
    }


def _condition(trials: list[dict[str, Any]], name: str, frame_ms: float) -> dict[str, Any]:
    own_trials = [each for each in trials if each["condition"] == name]
    uncalled = _errors(own_trials, "hidden_or_paused_uncalled")
    return {
        "response": summary.errors(_errors(own_trials, "response"), frame_ms),
        "span": summary.errors(_errors(own_trials, "span"), frame_ms),
        "since_the_picture": summary.errors(_errors(own_trials, "picture"), frame_ms),
        "uncalled_ms": max(uncalled, default=0.0),
    }


def _errors(trials: list[dict[str, Any]], name: str) -> list[float]:
    return [each["errors"][name] for each in trials if each["errors"][name] is not None]


def _bars(trials: list[dict[str, Any]], frame_ms: float) -> list[dict[str, Any]]:
    bars = []
    for origin, name in (("the painted frame", "response"), ("the picture", "picture")):
        error = summary.errors(_errors(trials, name), frame_ms)
        for share, limit in (("median", 1), ("p99", 2)):
            value = error.get(f"{share}_size_frames")
            bars.append(summary.target(f"{share} error, since {origin}", value, limit, "frames"))
    for condition in ("hidden", "paused"):
        own_trials = [each for each in trials if each["condition"] == condition]
        charged = max(_errors(own_trials, "response"), default=None)
        bars.append(
            summary.target(
                f"most response time charged too much, {condition}",
                None if charged is None else max(charged, 0.0) / frame_ms,
                2,
                "frames",
            )
        )
    return bars


def text(result: dict[str, Any]) -> str:
    """Return the result as text."""
    tied = result["clock_tie"]
    lines = [
        "Recorded minus true time, from the painted frame to the key",
        f"  a frame is {result['frame_ms']} ms; clocks tied to within {tied['unsure_ms']} ms, "
        f"drift {tied['drift_ms']} ms",
        "",
        f"  {'condition':<24}{'n':>4}{'bias':>8}{'SD':>8}{'median':>8}{'|median|':>9}"
        f"{'|p95|':>8}{'|p99|':>8}{'|max|':>8}  ms    |median| |p99| frames",
    ]
    for name, condition in result["conditions"].items():
        lines.append(_line(name, condition["response"]))
        if condition["span"]["n"]:
            lines.append(_line(f"  its {name}_ms", condition["span"]))
        if condition["since_the_picture"]["n"]:
            lines.append(_line("  since the picture", condition["since_the_picture"]))
    lines.append(_line("all", result["all"]))
    lines.append(_line("  since the picture", result["all_since_the_picture"]))
    uncalled = {name: condition["uncalled_ms"] for name, condition in result["conditions"].items()}
    lines += [
        "",
        f"  said after its frame began: median {result['said_after_its_frame']['p50_ms']} ms, "
        f"p95 {result['said_after_its_frame']['p95_ms']} ms",
        "  hidden or paused time where there was none, ms: "
        + ", ".join(f"{name} {value:g}" for name, value in uncalled.items()),
        "",
    ]
    return "\n".join([*lines, *summary.bar_lines(result["bars"])])


def _line(name: str, row: dict[str, Any]) -> str:
    def cell(key: str) -> str:
        return "-" if row.get(key) is None else f"{row[key]:.2f}"

    return (
        f"  {name:<24}{row['n']:>4}{cell('bias_ms'):>8}{cell('spread_sd_ms'):>8}"
        f"{cell('median_error_ms'):>8}{cell('median_size_ms'):>9}{cell('p95_size_ms'):>8}"
        f"{cell('p99_size_ms'):>8}{cell('max_size_ms'):>8}"
        f"{cell('median_size_frames'):>14}{cell('p99_size_frames'):>7}"
    )


def _conditions(words: str) -> tuple[str, ...]:
    conditions = tuple(words.split(","))
    if unknown := set(conditions) - set(CONDITIONS):
        raise argparse.ArgumentTypeError(f"no condition {', '.join(sorted(unknown))}")
    return conditions


def _log(words: str) -> None:
    print(words, file=sys.stderr, flush=True)
