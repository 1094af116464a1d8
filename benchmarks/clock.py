"""Two ways of doing one thing, timed in turn, so that both meet the same machine."""

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any


def in_turn(ways: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, dict[str, Any]]:
    """Time each way `repeats` times, taking turns; return what each took and its last result.

    Each is called once before, so that no import and no first allocation is in the times.

    Parameters
    ----------
    ways
        Functions without arguments, by name.
    repeats
        At least 1.

    Returns
    -------
    dict
        By name: `wall_s` and `cpu_s`, the medians, `times_s`, all wall times, and `result`.
    """
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    results = {name: way() for name, way in ways.items()}
    for _ in range(repeats):
        for name, way in ways.items():
            wall, cpu = time.perf_counter(), time.process_time()
            results[name] = way()
            times[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    return {name: taken(times[name]) | {"result": results[name]} for name in ways}


def once(way: Callable[[], Any]) -> dict[str, Any]:
    """Time one call of something slow."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = way()
    return taken([(time.perf_counter() - wall, time.process_time() - cpu)]) | {"result": result}


def taken(times: list[tuple[float, float]]) -> dict[str, Any]:
    """Return the medians of wall and processor times, with all wall times."""
    return {
        "wall_s": statistics.median(wall for wall, _ in times),
        "cpu_s": statistics.median(cpu for _, cpu in times),
        "times_s": [round(wall, 4) for wall, _ in times],
    }


def ratios(slow: Mapping[str, Any], fast: Mapping[str, Any]) -> dict[str, float]:
    """Return how many times as long the slow way takes, by the wall's and the processor's clock."""
    return {
        "wall": round(slow["wall_s"] / fast["wall_s"], 1),
        "cpu": round(slow["cpu_s"] / fast["cpu_s"], 1),
    }
