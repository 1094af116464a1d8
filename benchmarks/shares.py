"""Shares of simulated studies in which something held, and a table of them in percent."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.simulated_studies import Floats


def share(hits: Floats) -> float | None:
    """Return how many of those that there are are hits; None where there are none."""
    there = hits[np.isfinite(hits)]
    return float(there.mean()) if len(there) else None


def shares_text(
    heading: str, rows: Sequence[Mapping[str, Any]], n_studies: int, *, width: int
) -> str:
    """Return rows of shares and names as a table with the simulation's own error over it."""
    error = 200 * np.sqrt(0.05 * 0.95 / n_studies)
    lines = [
        f"{heading} {n_studies} studies, in percent; two standard errors of the simulation are"
        f" {error:.1f} near 95 %"
    ]
    for row in (list(rows[0]), *(map(_cell, one.values()) for one in rows)):
        lines.append("  ".join(f"{cell:>{width}s}" for cell in row))
    return "\n".join(lines)


def _cell(value: float | str | None) -> str:
    if isinstance(value, float):
        return f"{100 * value:.1f}"
    return "-" if value is None else str(value)
