"""Write bundles with contents that could break reports."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

NAMES = (
    "#let x = 1 $x^2$ *b* _u_ @ref <label> `raw` 50 % & ~ ^ | \\ { } [ ]",
    'שלום, "עולם"',
    "مرحبا بالعالم",
    "😀👩‍⚕️ // comment /* more",
    "W" * 300,
    "line\nbreak <b>x</b><script>alert(1)</script>",
    "=1+1",
    "\u202eturned",
    "long words " * 27,
)


def write_bundle(
    place: Path,
    *,
    readers: int = 3,
    models: int = 2,
    items: int = 12,
    letters: str = "ABCD",
    conditions: tuple[str, ...] = ("",),
    hostile: bool = False,
    least: bool = False,
    truth: bool = True,
    answered: bool = True,
    constant: bool = False,
    repeats: bool = False,
) -> Path:
    """Write a bundle; if `least`, without any optional column."""
    rng = np.random.default_rng(5)
    right = rng.choice(list(letters), items)
    names = NAMES if hostile else tuple("abcd")
    item_rows = [
        {
            "item_id": f"q{i:02d}",
            "truth": str(right[i]) if truth else "",
            "n_options": len(letters),
            "question": names[i % len(names)],
            "task": names[i % len(names)].strip(),
            "patient_id": f"p{i // 2}",
        }
        for i in range(items)
    ]
    raters = [f"R{i}" for i in range(readers)] + [f"M{i}" for i in range(models)]
    readings: list[dict[str, Any]] = []
    for rater in raters:
        for condition in conditions if rater.startswith("R") else ("",):
            for repeat in range(2 if repeats and rater.startswith("R") else 1):
                values = np.where(rng.random(items) < 0.6, right, rng.choice(list(letters), items))
                readings += [
                    {
                        "rater_id": rater,
                        "item_id": f"q{i:02d}",
                        "answer": letters[0] if constant else str(values[i]) if answered else "",
                        "condition": condition,
                        "repeat": repeat,
                        "position": i + 1,
                        "confidence": int(rng.integers(1, 6)),
                        "response_ms": int(rng.integers(3000, 30000)) if rater[0] == "R" else "",
                    }
                    for i in range(items)
                ]
    place.mkdir(parents=True)
    columns_kept = ("rater_id", "item_id", "answer")
    _write(
        place / "items.csv", [{"item_id": row["item_id"]} if least else row for row in item_rows]
    )
    _write(
        place / "readings.csv",
        [{key: row[key] for key in columns_kept} if least else row for row in readings],
    )
    if not least:
        _write(
            place / "raters.csv",
            [
                {
                    "rater_id": rater,
                    "rater_kind": "reader" if rater.startswith("R") else "model",
                    "label": names[i % len(names)],
                }
                for i, rater in enumerate(raters)
            ],
        )
    if hostile:
        (place / "protocol.json").write_text(json.dumps({"name": NAMES[0] + NAMES[4]}), "utf-8")
    return place


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
