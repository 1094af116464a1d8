"""Time to the next case: the reading page compared with a naive page, on the same films and lines.

From the confirming key or click (the browser's event time) to the next case painted, processor time
of the server and bytes for each answer, over a local line and over one with a round trip of 200 ms
and 10 Mbit/s. ``docs/benchmarks.md`` defines the terms.

All lanes of a run are open at once and read in turn, in blocks of cases, so that other load on the
machine affects them equally.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from playwright.async_api import Browser, async_playwright

from benchmarks import banks, servers, summary
from benchmarks.browser import (
    NaivePageDriver,
    PageDriver,
    RoomDriver,
    compare_transition,
    first_action_s,
    new_page,
    painted_cases,
    summarise_verdicts,
    time_origin_ms,
    transition,
)
from benchmarks.machine import CHROMIUM_FLAGS, chromium, facts
from benchmarks.proxy import LOCAL, SLOW, Exchange, LineKind, Proxy, proxied
from benchmarks.servers import Server

FILMS = ("/films/", "/media/")
VIEWS = 2
_QUIET_S = 1.5
_LONGEST_QUIET_S = 20.0
_CHOOSE_AT = 0.6  # share of the pace: readers select, look again, and confirm


@dataclass(frozen=True, kw_only=True)
class LanePlan:
    """The plan of a lane."""

    name: str
    page: str
    bits: int
    line: LineKind
    n: int
    pace_s: float
    openings: int


@dataclass
class Lane:
    """A running lane with its measurements."""

    plan: LanePlan
    server: Server
    proxy: Proxy
    code: str = field(repr=False)
    hands: PageDriver | None = None
    took_ms: list[float] = field(default_factory=list)
    verdicts: list[dict[str, Any]] = field(default_factory=list)
    first_ms: list[float] = field(default_factory=list)
    cpu_ms: float = 0.0
    all_bytes: int = 0
    film_bytes: int = 0
    _seen: int = 1

    async def open(self, browser: Browser) -> None:
        """Open the page several times to measure the first case; keep the last page open."""
        for opening in range(self.plan.openings):
            n_requests = len(self.proxy.log.exchanges)
            driver = await self._new_hands(browser)
            await driver.open(self.proxy.url)
            first = (await painted_cases(driver.page))[0]
            shown_s = (await time_origin_ms(driver.page) + first["at"]) / 1000
            last_s = last_film_byte_s(self.proxy.log.exchanges[n_requests:])
            if last_s is not None:
                begun_s = await first_action_s(
                    driver.page
                )  # films may arrive before the reader starts
                self.first_ms.append((shown_s - max(last_s, begun_s)) * 1000)
            if opening + 1 < self.plan.openings:
                await driver.page.context.close()
            else:
                self.hands = driver
            await self.wait_until_silent()

    async def block(self, n: int, generator: np.random.Generator) -> None:
        """Read `n` cases at the reader's pace; measure their cost until the server is idle."""
        cpu_ms = self.server.cpu_ms()
        all_bytes, film_bytes = self.proxy.log.n_bytes, self._film_bytes()
        for _ in range(n):
            await self._read(generator)
            result = await transition(self._hands, self._seen + 1)
            self._seen += 1
            self.took_ms.append(result["took_ms"])
        await self.wait_until_silent()
        self.cpu_ms += self.server.cpu_ms() - cpu_ms
        self.all_bytes += self.proxy.log.n_bytes - all_bytes
        self.film_bytes += self._film_bytes() - film_bytes

    async def check_with_screencast(self, n: int, generator: np.random.Generator) -> None:
        """Read `n` more cases, which are not counted, and check them with the screencast."""
        for _ in range(n):
            await self._read(generator)
            self.verdicts.append(await compare_transition(self._hands, self._seen + 1))
            self._seen += 1
        await self.wait_until_silent()

    async def wait_until_silent(self) -> None:
        """Wait until the line has been silent for a while and all requested films have arrived."""
        began_s = time.monotonic()
        while (waited_s := time.monotonic() - began_s) < _LONGEST_QUIET_S:
            is_pending = any(each.is_pending for each in self.proxy.log.exchanges_under(*FILMS))
            if not is_pending and min(waited_s, self.proxy.quiet_for_s()) > _QUIET_S:
                return
            await asyncio.sleep(0.1)

    async def _read(self, generator: np.random.Generator) -> None:
        began_s = time.monotonic()
        await asyncio.sleep(self.plan.pace_s * _CHOOSE_AT)
        await self._hands.choose(int(generator.integers(4)))
        await asyncio.sleep(max(0.0, began_s + self.plan.pace_s - time.monotonic()))

    @property
    def _hands(self) -> PageDriver:
        assert self.hands is not None
        return self.hands

    def _film_bytes(self) -> int:
        return sum(each.n_bytes for each in self.proxy.log.exchanges_under(*FILMS))

    async def _new_hands(self, browser: Browser) -> PageDriver:
        if self.plan.page == "naive":
            return NaivePageDriver(await new_page(browser, plain=True))
        return RoomDriver(await new_page(browser), self.code)


def last_film_byte_s(exchanges: list[Exchange]) -> float | None:
    """Return when the last byte of the first case's films reached the browser (since 1970)."""
    films = [each for each in exchanges if each.path.startswith(FILMS)][:VIEWS]
    times = [each.last_s for each in films if each.last_s is not None]
    return None if len(times) < VIEWS else max(times)


DESCRIPTION = "commit to next case painted, compared with a naive page; local and slow line"
SMALLEST = "--cases 2 --only local --pace 0.2 --witnessed 1 --openings 2 --shrink 8"
PARTS = ("local", "slow", "16bit", "naive")
BLOCKS = 7
FEW = 12
"""Number of cases of the naive page on the slow line without --full."""
_SPARE = 3  # so that prefetching continues during the measurement


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the benchmark's options."""
    parser.add_argument("--cases", type=int, default=56, help="transitions measured in each lane")
    parser.add_argument("--pace", type=float, default=2.0, help="seconds per case, local line")
    parser.add_argument("--slow-pace", type=float, default=6.0, help="seconds per case, slow line")
    parser.add_argument(
        "--only",
        type=_parts,
        default=PARTS,
        help=f"some of {','.join(PARTS)}; without naive, the reading page alone",
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="as many cases on the naive page's slow lane as elsewhere",
    )
    parser.add_argument("--witnessed", type=int, default=5, help="further cases with a screencast")
    parser.add_argument("--openings", type=int, default=3, help="times the first case is measured")
    parser.add_argument("--films", type=Path, help="keep the films here for the next run")
    banks.add_shrink(parser)


def plans(args: argparse.Namespace) -> list[LanePlan]:
    """Return the requested lanes, each with its naive counterpart."""
    lane_plans = []
    for part, bits, line, pace_s in (
        ("local", 8, LOCAL, args.pace),
        ("slow", 8, SLOW, args.slow_pace),
        ("16bit", 16, LOCAL, args.pace),
    ):
        pages = ("app", "naive") if "naive" in args.only else ("app",)
        for page in pages if part in args.only else ():
            few = page == "naive" and part == "slow" and not args.full
            lane_plans.append(
                LanePlan(
                    name=f"{page}-{bits}bit-{line.name}",
                    page=page,
                    bits=bits,
                    line=line,
                    n=min(args.cases, FEW) if few else args.cases,
                    pace_s=pace_s,
                    openings=1 if page == "naive" else args.openings,
                )
            )
    return lane_plans


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Measure all requested lanes in one browser."""
    return asyncio.run(_run(args, plans(args)))


async def _run(args: argparse.Namespace, lane_plans: list[LanePlan]) -> dict[str, Any]:
    n_cases = args.cases + args.witnessed + 1 + _SPARE
    size = banks.shrunk_size(args.shrink)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benchmark-")))
        films = args.films or folder / "films"
        films.mkdir(parents=True, exist_ok=True)
        folders = {}
        for bits in sorted({plan.bits for plan in lane_plans}):
            _log(f"films of {bits} bits for {n_cases} cases")
            folders[bits] = banks.write_bank(films, n_cases, bits=bits, **size)
        weights = {f"{bits}bit": {**size, **_weights(bank)} for bits, bank in folders.items()}
        lanes = _lanes(stack, lane_plans, folders, folder, n_cases)
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=chromium(), args=list(CHROMIUM_FLAGS)
            )
            machine = facts(browser.version)
            await _read_all(lanes, browser, args.witnessed)
            await browser.close()
    return _result(lanes, weights, machine)


def _lanes(
    stack: ExitStack,
    lane_plans: list[LanePlan],
    folders: dict[int, Path],
    folder: Path,
    n_cases: int,
) -> list[Lane]:
    """Start a server and a proxy for each lane."""
    readers = [plan.name for plan in lane_plans]
    deployments = {
        bits: servers.deploy(folder / f"{bits}.db", bank, cases=n_cases, readers=readers, seed=bits)
        for bits, bank in folders.items()
    }
    lanes = []
    for plan in lane_plans:
        _log(f"server of {plan.name}")
        log, bank, deployment = (
            folder / f"{plan.name}.log",
            folders[plan.bits],
            deployments[plan.bits],
        )
        server = stack.enter_context(
            servers.naive_page(bank, folder / f"{plan.name}.csv", log)
            if plan.page == "naive"
            else servers.app(deployment.store, log)
        )
        proxy = stack.enter_context(proxied(server.port, plan.line))
        lanes.append(Lane(plan, server, proxy, deployment.codes[plan.name]))
    return lanes


async def _read_all(lanes: list[Lane], browser: Any, n_witnessed: int) -> None:
    generator = np.random.default_rng(1)
    for lane in lanes:
        _log(f"{lane.plan.name}: opening")
        await lane.open(browser)
    for block in range(BLOCKS):
        # each block starts with another lane
        for lane in lanes[block % len(lanes) :] + lanes[: block % len(lanes)]:
            n = lane.plan.n * (block + 1) // BLOCKS - lane.plan.n * block // BLOCKS
            if n:
                await lane.block(n, generator)
                times = _tail(lane.took_ms, n)
                _log(f"block {block + 1} of {BLOCKS}, {lane.plan.name}: {times} ms")
    for lane in lanes:
        _log(f"{lane.plan.name}: before the screencast")
        await lane.check_with_screencast(n_witnessed, generator)


def _result(lanes: list[Lane], weights: dict[str, Any], machine: dict[str, Any]) -> dict[str, Any]:
    by_name = {lane.plan.name: lane for lane in lanes}
    return {
        "benchmark": "reading",
        "machine": machine,
        "films": weights,
        "lanes": {name: _measured(lane) for name, lane in by_name.items()},
        "ratios": _ratios(by_name),
        "slow_minus_local_p95_ms": _slow_minus_local(by_name),
        "bars": _bars(by_name),
    }


def _measured(lane: Lane) -> dict[str, Any]:
    answers = max(len(lane.took_ms), 1)
    return {
        "page": lane.plan.page,
        "bits": lane.plan.bits,
        "line": lane.plan.line.name,
        "pace_s": lane.plan.pace_s,
        **summary.spread(lane.took_ms),
        "server_cpu_ms_per_answer": round(lane.cpu_ms / answers, 1),
        "bytes_per_case": round(lane.all_bytes / answers),
        "film_bytes_per_case": round(lane.film_bytes / answers),
        "first_case_after_last_byte_ms": [round(value, 1) for value in lane.first_ms],
        "on_the_screen_when_said": summarise_verdicts(lane.verdicts),
        "all_ms": [round(value, 1) for value in lane.took_ms],
    }


def _ratios(lanes: dict[str, Lane]) -> dict[str, Any]:
    """Ratios of naive page to app for each kind of film and line: medians, time, bytes."""
    ratios = {}
    for name, app in lanes.items():
        naive = lanes.get(name.replace("app-", "naive-"))
        if app.plan.page != "app" or naive is None:
            continue
        ratio, low, high = summary.ratio_interval(naive.took_ms, app.took_ms)
        ratios[name.removeprefix("app-")] = {
            "median": round(ratio, 2),
            "median_interval": [round(low, 2), round(high, 2)],
            "server_cpu": _ratio(naive.cpu_ms * len(app.took_ms), app.cpu_ms * len(naive.took_ms)),
            "bytes": _ratio(naive.all_bytes * len(app.took_ms), app.all_bytes * len(naive.took_ms)),
        }
    return ratios


def _slow_minus_local(lanes: dict[str, Lane]) -> dict[str, Any] | None:
    local, slow = lanes.get("app-8bit-local"), lanes.get("app-8bit-slow")
    if local is None or slow is None:
        return None
    value, low, high = summary.difference_interval(slow.took_ms, local.took_ms, 0.95)
    return {"value": round(value, 1), "interval": [round(low, 1), round(high, 1)]}


def _bars(lanes: dict[str, Lane]) -> list[dict[str, Any]]:
    def p95(name: str) -> float | None:
        return float(np.quantile(lanes[name].took_ms, 0.95)) if name in lanes else None

    ratio = _ratios(lanes).get("8bit-local", {}).get("median")
    worse = _slow_minus_local(lanes)
    first = [value for lane in lanes.values() if lane.plan.page == "app" for value in lane.first_ms]
    return [
        summary.target("next case, 8 bits, local, p95", p95("app-8bit-local"), 50, "ms"),
        summary.target("next case, 16 bits, local, p95", p95("app-16bit-local"), 100, "ms"),
        summary.target("faster than the naive page, median", ratio, 8, "x", at_least=True),
        summary.target(
            "slow line worse than local, p95", worse["value"] if worse else None, 20, "ms"
        ),
        summary.target(
            "first case after its last byte, largest", max(first, default=None), 500, "ms"
        ),
    ]


def text(result: dict[str, Any]) -> str:
    """Return the result as text."""
    machine = result["machine"]
    lines = [
        "Commit to next case painted",
        f"  {machine['processors']} processors, load {machine['load_average_1_min']} at the start, "
        f"Chromium {machine['chromium']}, software rendering",
        *(
            f"  films of {name}: {each['mean_mb']} MB on average as PNG, "
            f"{each['width']} x {each['height']}, two a case"
            for name, each in result["films"].items()
        ),
        "",
        f"  {'lane':<20}{'n':>4}{'p50 ms':>9}{'p95 ms':>9}{'(95 % interval)':>19}"
        f"{'CPU ms':>9}{'MB':>7}{'first ms':>10}{'seen right':>12}{'lead ms':>9}",
    ]
    for name, lane in result["lanes"].items():
        screen = lane["on_the_screen_when_said"]
        first = max(lane["first_case_after_last_byte_ms"], default=None)
        interval = "{:g} to {:g}".format(*lane.get("p95_interval_ms", (0, 0)))
        p50, p95 = _cell(lane.get("p50_ms")), _cell(lane.get("p95_ms"))
        lines.append(
            f"  {name:<20}{lane['n']:>4}{p50:>9}{p95:>9}"
            f"{interval:>19}{_cell(lane['server_cpu_ms_per_answer']):>9}"
            f"{lane['bytes_per_case'] / 1e6:>7.2f}{_cell(first):>10}"
            f"{screen['n_right']:>6} of {screen['n']:<3}{_cell(screen['median_lead_ms']):>8}"
        )
    lines += ["", "  naive / app          median (95 % interval)   server CPU   bytes"]
    for name, ratio in result["ratios"].items():
        interval = "{:g} to {:g}".format(*ratio["median_interval"])
        lines.append(
            f"  {name:<20}{ratio['median']:>7} ({interval})"
            f"{_cell(ratio['server_cpu']):>12}{_cell(ratio['bytes']):>10}"
        )
    if worse := result["slow_minus_local_p95_ms"]:
        interval = "{:g} to {:g}".format(*worse["interval"])
        lines.append(f"  slow line minus local line, p95: {worse['value']} ms ({interval})")
    return "\n".join([*lines, "", *summary.bar_lines(result["bars"])])


def _weights(bank: Path) -> dict[str, Any]:
    sizes = banks.film_bytes(bank)
    return {
        "n": len(sizes),
        "mean_mb": round(sum(sizes) / len(sizes) / 1e6, 2),
        "least_mb": round(min(sizes) / 1e6, 2),
        "most_mb": round(max(sizes) / 1e6, 2),
    }


def _ratio(naive: float, app: float) -> float | None:
    return round(naive / app, 2) if app else None


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:g}" if value < 1000 else f"{value:.0f}"


def _tail(values: list[float], n: int) -> str:
    return " ".join(f"{value:.0f}" for value in values[len(values) - n :])


def _parts(words: str) -> tuple[str, ...]:
    parts = tuple(words.split(","))
    if unknown := set(parts) - set(PARTS):
        raise argparse.ArgumentTypeError(f"no part {', '.join(sorted(unknown))}")
    return parts


def _log(words: str) -> None:
    print(words, file=sys.stderr, flush=True)
