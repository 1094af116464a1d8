"""The machine: its browser, its ports, and what processes cost on it."""

import os
import platform
import shutil
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any

# As the browser tests start it: no sandbox and no graphics card in a container.
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
    """A benchmark could not be run at all; the text says why and what to do."""


def chromium() -> str:
    """Return where Chromium is."""
    for name in _CHROMIUM_NAMES:
        if path := shutil.which(name):
            return path
    raise Broken("no Chromium on this machine; install it with: apt-get install chromium")


def free_port() -> int:
    """Return a port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def family(pid: int, parents: dict[int, int]) -> set[int]:
    """Return a process and all its descendants, given each process's parent."""
    found = {pid}
    while more := {each for each, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def cpu_ms(pid: int) -> float:
    """Return the processor time a process and its descendants have taken, user and system."""
    stats = dict(_stats())
    parents = {each: int(fields[1]) for each, fields in stats.items()}
    ticks = sum(
        int(stats[each][11]) + int(stats[each][12])
        for each in family(pid, parents)
        if each in stats
    )
    return ticks * 1000 / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> float:
    """Return the memory a process and its descendants hold, what they share counted once."""
    parents = {each: int(fields[1]) for each, fields in _stats()}
    found = 0
    for each in family(pid, parents):
        with suppress(OSError):  # it ended meanwhile
            text = Path(f"/proc/{each}/smaps_rollup").read_text(encoding="ascii")
            found += sum(int(line.split()[1]) for line in text.splitlines() if line[:4] == "Pss:")
    return found / 1024


def facts(browser_version: str) -> dict[str, Any]:
    """Return what a reader of the numbers must know of the machine."""
    return {
        "processors": os.cpu_count(),
        "load_average_1_min": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "chromium": browser_version,
    }


def _stats() -> list[tuple[int, list[str]]]:
    """Return for each process the fields of ``/proc/PID/stat`` after its name."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                text = (folder / "stat").read_text(encoding="utf-8", errors="replace")
            except OSError:  # it ended meanwhile
                continue
            found.append((int(folder.name), text.rpartition(")")[2].split()))
    return found
