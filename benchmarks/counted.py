"""Compare intervals and tests of simulated studies with the true values."""

import gc
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalOrTest:
    """An interval or a test of a simulated study."""

    what: str
    true: float
    estimate: float
    low: float
    high: float
    p: float = float("nan")
    """Result of a test whose null hypothesis is true; nan otherwise."""


def interval(
    label: str, row: Mapping[Any, Any], true: float, p: float = float("nan")
) -> IntervalOrTest:
    """Return the interval of a row of a table."""
    return IntervalOrTest(
        what=label,
        true=float(true),
        estimate=row.get("estimate", row.get("difference")),
        low=row["ci_low"],
        high=row["ci_high"],
        p=p,
    )


def interval_rows(
    simulate: Callable[[np.random.SeedSequence], Iterable[IntervalOrTest]],
    names: Mapping[str, Any],
    n_studies: int,
    seed: int,
) -> list[dict[str, Any]]:
    """Simulate studies; return a row for each kind of interval, which begins with `names`."""
    counts: dict[str, list[list[IntervalOrTest]]] = defaultdict(list)
    seeds = np.random.SeedSequence(seed).spawn(n_studies)
    # statsmodels collects garbage whenever it adjusts p-values, which takes longer than a study.
    with ProcessPoolExecutor(os.cpu_count(), initializer=gc.freeze) as pool:
        for study in pool.map(_GroupedSimulation(simulate), seeds, chunksize=10):
            for label, seen in study.items():
                counts[label].append(seen)
    return [{**names, **_row(label, studies)} for label, studies in counts.items()]


@dataclass(frozen=True, slots=True)
class _GroupedSimulation:
    """A simulation with results grouped by kind; a class, because a closure cannot be pickled."""

    simulate: Callable[[np.random.SeedSequence], Iterable[IntervalOrTest]]

    def __call__(self, seed: np.random.SeedSequence) -> dict[str, list[IntervalOrTest]]:
        counts: dict[str, list[IntervalOrTest]] = defaultdict(list)
        for seen in self.simulate(seed):
            counts[seen.what].append(seen)
        return dict(counts)


def _row(label: str, studies: Sequence[Sequence[IntervalOrTest]]) -> dict[str, Any]:
    """Average within studies first, because the intervals of a study are not independent."""
    counts = [each for study in studies for each in study]
    defined = [[each for each in study if np.isfinite(each.low)] for study in studies]

    def shares(hit: Callable[[IntervalOrTest], bool]) -> list[float]:
        return [float(np.mean([hit(each) for each in part])) for part in defined if part]

    covered = shares(lambda each: each.low <= each.true <= each.high)
    tests = [
        float(np.mean([each.p < 0.05 for each in part]))
        for study in studies
        if (part := [each for each in study if np.isfinite(each.p)])
    ]
    errors = [
        each.estimate - each.true for each in counts if np.isfinite(each.estimate - each.true)
    ]
    return {
        "what": label,
        "n": len(counts),
        "share_with_interval": sum(map(len, defined)) / len(counts),
        "bias": _mean(errors),
        "coverage": _mean(covered),
        "two_se": 2 * float(np.std(covered) / np.sqrt(len(covered))) if covered else None,
        "above": _mean(shares(lambda each: each.low > each.true)),
        "below": _mean(shares(lambda each: each.high < each.true)),
        "type_i_error": _mean(tests),
    }


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def interval_text(heading: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the rows of `interval_rows` as a table for each design."""
    lines = [heading]
    for design in dict.fromkeys(row["design"] for row in rows):
        lines += ["", design]
        lines.append(
            f"  {'':68s}{'n':>7s}{'defined':>9s}{'bias':>9s}{'coverage':>10s}{'± 2 se':>8s}"
            f"{'above':>8s}{'below':>8s}{'error':>8s}"
        )
        for row in rows:
            if row["design"] == design:
                cells = [f"{row['what']:68s}{row['n']:7d}"]
                cells.append(f"{_cell(row['share_with_interval'], 3):>9s}")
                cells.append(f"{_cell(row['bias'], 4):>9s}")
                cells.append(f"{_cell(row['coverage'], 3):>10s}")
                cells += [
                    f"{_cell(row[name], 3):>8s}"
                    for name in ("two_se", "above", "below", "type_i_error")
                ]
                lines.append("  " + "".join(cells))
    return "\n".join(lines)


def _cell(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
