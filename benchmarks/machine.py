"""Functions for the machine: its browser, free ports, cost of processes, and paired timings."""

import os
import platform
import shutil
import socket
import statistics
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

# The same flags as in the browser tests, for a container without sandbox and graphics card.
CHROMIUM_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")


class Broken(Exception):
    """A benchmark could not be run; the message states the reason and the remedy."""


def chromium() -> str:
    """Return the path of Chromium."""
    for name in _CHROMIUM_NAMES:
        if path := shutil.which(name):
            return path
    raise Broken("no Chromium on this machine; install it with: apt-get install chromium")


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def descendants_of(pid: int, parents: dict[int, int]) -> set[int]:
    """Return a process and all its descendants; `parents` has the parent of each process."""
    members = {pid}
    while more := {each for each, parent in parents.items() if parent in members} - members:
        members |= more
    return members


def cpu_ms(pid: int) -> float:
    """Return the processor time (user and system) of a process and its descendants in ms."""
    stats = dict(_stats())
    parents = {each: int(fields[1]) for each, fields in stats.items()}
    ticks = sum(
        int(stats[each][11]) + int(stats[each][12])
        for each in descendants_of(pid, parents)
        if each in stats
    )
    return ticks * 1000 / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> float:
    """Return the memory of a process and its descendants, with shared memory counted once."""
    parents = {each: int(fields[1]) for each, fields in _stats()}
    kilobytes = 0
    for each in descendants_of(pid, parents):
        with suppress(OSError):  # it ended meanwhile
            text = Path(f"/proc/{each}/smaps_rollup").read_text(encoding="ascii")
            kilobytes += sum(
                int(line.split()[1]) for line in text.splitlines() if line[:4] == "Pss:"
            )
    return kilobytes / 1024


def facts(browser_version: str) -> dict[str, Any]:
    """Return the properties of the machine that affect the results."""
    return {
        "processors": os.cpu_count(),
        "load_average_1_min": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "chromium": browser_version,
    }


def _stats() -> list[tuple[int, list[str]]]:
    """Return each process with the fields of ``/proc/PID/stat`` after its name."""
    rows = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                text = (folder / "stat").read_text(encoding="utf-8", errors="replace")
            except OSError:  # it ended meanwhile
                continue
            rows.append((int(folder.name), text.rpartition(")")[2].split()))
    return rows


def time_in_turn(ways: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, dict[str, Any]]:
    """Time each function `repeats` times in turn; return the times and the last result of each.

    Each function is called once before, so that the times do not include imports and caches.

    Parameters
    ----------
    ways
        Functions without arguments, by name.
    repeats
        How often each function is timed, at least 1.

    Returns
    -------
    dict
        For each name the medians `wall_s` and `cpu_s`, all wall times `times_s`, and `result`.
    """
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    results = {name: way() for name, way in ways.items()}
    for _ in range(repeats):
        for name, way in ways.items():
            wall, cpu = time.perf_counter(), time.process_time()
            results[name] = way()
            times[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    return {name: median_times(times[name]) | {"result": results[name]} for name in ways}


def time_once(way: Callable[[], Any]) -> dict[str, Any]:
    """Time a single call of a slow function."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = way()
    return median_times([(time.perf_counter() - wall, time.process_time() - cpu)]) | {
        "result": result
    }


def median_times(times: list[tuple[float, float]]) -> dict[str, Any]:
    """Return the medians of wall and processor times, with all wall times."""
    return {
        "wall_s": statistics.median(wall for wall, _ in times),
        "cpu_s": statistics.median(cpu for _, cpu in times),
        "times_s": [round(wall, 4) for wall, _ in times],
    }


def ratios(slow: Mapping[str, Any], fast: Mapping[str, Any]) -> dict[str, float]:
    """Return the ratios of slow to fast, of wall-clock and of processor time."""
    return {
        "wall": round(slow["wall_s"] / fast["wall_s"], 1),
        "cpu": round(slow["cpu_s"] / fast["cpu_s"], 1),
    }
