"""A run with most tables of the report, and one row of the panel's table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from analysis import Bundle, Options, analyse, bundle_from_tables
from analysis.results import Results

TASKS = ("Presence Assessment", "Negation Assessment", "Differential Diagnosis", "Location")
CLAIMS = ("these readers", "readers like these")
ANALYSIS_CHOICES = ("missing dropped", "missing as right", "flagged times dropped", "macro")


def study(
    n_readers: int = 3, n_models: int = 4, n_items: int = 60, *, conditions: tuple[str, ...] = ("",)
) -> Bundle:
    """Return a bundle with four options, four tasks and two items per patient."""
    rng, times = np.random.default_rng(7), np.random.default_rng(8)
    items = pd.DataFrame(
        {
            "item_id": [f"q{i:04d}" for i in range(n_items)],
            "truth": [str(t) for t in rng.choice(list("ABCD"), n_items)],
            "n_options": 4,
            "options": '["Effusion", "Pneumothorax & more", "50 % of #_$", "None"]',
            "question": [f"Which finding is present on film {i}? 😀" for i in range(n_items)],
            "task": [TASKS[i % len(TASKS)] for i in range(n_items)],
            "patient_id": [f"p{i // 2}" for i in range(n_items)],
        }
    )
    raters = [f"R{i + 1}" for i in range(n_readers)] + [f"M{i + 1}" for i in range(n_models)]
    rows: list[dict[str, Any]] = []
    for number, rater in enumerate(raters):
        share = 0.5 + 0.35 * (number % 5) / 5
        own_readings = (
            conditions
            if rater.startswith("R")
            else ("",)
            if conditions == ("",)
            else conditions[:1]
        )
        for condition in own_readings:
            right = rng.random(n_items) < share
            other = rng.choice(list("ABCD"), n_items)
            values = np.where(right, items["truth"], other)
            values[rng.random(n_items) < 0.02] = ""
            seconds = times.integers(4, 40, n_items)
            rows += [
                {
                    "rater_id": rater,
                    "item_id": item,
                    "answer": answer,
                    "condition": condition,
                    "response_ms": f"{seconds[i]}000" if rater.startswith("R") else "",
                    "position": i + 1,
                }
                for i, (item, answer) in enumerate(zip(items["item_id"], values, strict=True))
            ]
    return bundle_from_tables(
        items,
        pd.DataFrame(rows),
        pd.DataFrame(
            {
                "rater_id": raters,
                "rater_kind": ["reader"] * n_readers + ["model"] * n_models,
                "label": [f"Resident {i + 1}" for i in range(n_readers)]
                + [f"Model-{i + 1}_x" for i in range(n_models)],
            }
        ),
    )


def full_run(bundle: Bundle, options: Options | None = None) -> Results:
    """Return the tables of a bundle, with few resamples and a margin."""
    return analyse(bundle, options or Options(bootstrap=20, margin=0.05))


def panel_row(**values: Any) -> dict[str, Any]:
    """Return a row of `reader_panel` with its defaults replaced by `values`."""
    row: dict[str, Any] = {
        "model_id": "M1",
        "condition": "",
        "metric": "accuracy",
        "claim": CLAIMS[0],
        "n_readers": 3,
        "n_items": 60,
        "reader_mean": 0.772,
        "model_value": 0.838,
        "difference": 0.066,
        "se": 0.02,
        "df": np.nan,
        "ci_low": 0.012,
        "ci_high": 0.12,
        "p": 0.02,
        "margin": 0.05,
        "p_noninferior": 0.001,
        "method": "Obuchowski-Rockette",
        "note": "",
        "undefined_because": "",
    }
    return {**row, **values}
