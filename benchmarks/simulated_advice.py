"""Simulated readers who see a model's answer after their own, with known reliance.

A reader of ability a answers case i correctly with the probability p = Phi(a + u_i), the model with
q = Phi(b + u_i); both answers are independent given u_i, the ease of the case. A reader whose
answer differs from the model's adopts it with a probability specific to that simulated reader.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from analysis.bundle import bundle_from_tables
from analysis.options import Options
from analysis.statistics.reliance import reliance
from analysis.statistics.reliance_report import ALL_READERS
from benchmarks.counted import IntervalOrTest, interval, interval_rows
from benchmarks.simulated_studies import Floats

EASE_SD, ABILITY_SD, SWITCH_SD = 0.8, 0.25, 0.15
ABILITY, MODEL_ABILITY, SWITCH = 1.1, 1.3, 0.5
SIZES = ((4, 50), (4, 200))
"""Readers and cases."""
BOOTSTRAP = 400

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


def reliance_rows(n_studies: int, seed: int, n_sizes: int | None = None) -> list[dict[str, Any]]:
    """Simulate; return one row per size and measure."""
    rows = []
    for n_readers, n_cases in SIZES[:n_sizes]:
        names = {"design": f"{n_readers} readers, {n_cases} cases"}
        print(names["design"], file=sys.stderr)
        advice = Advice(n_readers=n_readers, n_cases=n_cases)
        rows += interval_rows(advice.simulate, names, n_studies, seed)
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """A sequential design: every reader reads every case without, then with the model's answer."""

    n_readers: int
    n_cases: int

    def simulate(self, seed: np.random.SeedSequence) -> Iterator[IntervalOrTest]:
        """Yield the intervals of all readers together."""
        generator = np.random.default_rng(seed)
        j, n = self.n_readers, self.n_cases
        ability = ABILITY + ABILITY_SD * generator.standard_normal(j)
        switch = np.clip(SWITCH + SWITCH_SD * generator.standard_normal(j), 0.0, 1.0)
        ease = EASE_SD * generator.standard_normal(n)
        aid = generator.random(n) < ndtr(MODEL_ABILITY + ease)
        before = generator.random((j, n)) < ndtr(ability[:, None] + ease)
        takes = generator.random((j, n)) < switch[:, None]
        after = np.where((before != aid) & takes, aid, before)
        readers = [f"R{i}" for i in range(j)]
        ids = [f"q{i:04d}" for i in range(n)]
        cells = {"rater_id": np.repeat(readers, n), "item_id": ids * j}
        unaided = pd.DataFrame(
            {**cells, "condition": "unaided", "answer": _letters(before.ravel())}
        )
        aided = pd.DataFrame({**cells, "condition": "aided", "answer": _letters(after.ravel())})
        aided = aided.assign(aid_model="M", aid_answer=_letters(np.tile(aid, j)))
        items = pd.DataFrame({"item_id": ids, "truth": "A", "n_options": 2})
        bundle = bundle_from_tables(items, pd.concat([unaided, aided]))
        table = reliance(bundle, Options(bootstrap=BOOTSTRAP, seed=int(generator.integers(2**31))))
        true = _true(ability, switch)
        pooled = table[(table["rater_id"] == ALL_READERS) & (table["planted"] == "all")]
        for row in pooled[pooled["measure"].isin(true)].to_dict("records"):
            yield interval(f"reliance: {row['measure']}", row, true[row["measure"]])


def _letters(right: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.where(right, "A", "B")


def _true(ability: Floats, switch: Floats) -> dict[str, float]:
    """Return the true values of these readers, all pairs together."""
    p, q = ndtr(ability[:, None] + EASE_SD * _NODES), ndtr(MODEL_ABILITY + EASE_SD * _NODES)
    correctable, misleadable = ((1 - p) * q) @ _WEIGHTS, (p * (1 - q)) @ _WEIGHTS
    corrected, misled = (switch * correctable).sum(), (switch * misleadable).sum()
    j, aid = len(ability), float(q @ _WEIGHTS)
    unaided, gain = float((p @ _WEIGHTS).mean()), float((corrected - misled) / j)
    return {
        "aid_correct": aid,
        "switched": float((corrected + misled) / (correctable + misleadable).sum()),
        "corrected": float(corrected / correctable.sum()),
        "misled": float(misled / misleadable.sum()),
        "accuracy_without": unaided,
        "accuracy_with": unaided + gain,
        "gain": gain,
        "complementarity": unaided + gain - max(unaided, aid),
        "automation_bias": float(misled / (j * (1 - aid))),
    }
