"""One examination from person to films: build, findings, measurement, two exposures."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from data.generator.anatomy import Chest
from data.generator.examinations import Examination, habitus_of
from data.generator.film import make_film, write_png
from data.generator.findings import FINDINGS
from data.generator.habitus import build_patient
from data.generator.measure import measure
from data.generator.projection import frame

VIEWS = ("PA", "LATERAL")
QUANTA_RANGE = (8.0e5, 1.8e6)
LEFT_MARKER_SHARE = 0.25


def opaque(seed: int, *parts: str, digits: int = 12) -> str:
    """Make a name that tells nothing: the first hexadecimal digits of a seeded SHA-256."""
    text = "/".join([str(seed), *parts])
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


def simulate(canonical: Chest, examination: Examination, seed: int, out: Path) -> dict[str, Any]:
    """Make both films of an examination and measure its truth.

    Parameters
    ----------
    canonical : Chest
        The cleaned CT; not changed.
    examination : Examination
        What to simulate.
    seed : int
        Seed of the bank.
    out : Path
        Demo folder; films go to its `films` folder.

    Returns
    -------
    dict
        Parameters, truth, measurements and film names, ready for JSON.
    """
    rng = np.random.default_rng([seed, 23, *examination.key.encode()])
    habitus = habitus_of(examination, seed)
    chest = build_patient(canonical, habitus)
    told = [{**one} for one in examination.findings]
    truth = [FINDINGS[one.pop("name")](chest, rng, **one) for one in told]
    quanta = float(np.exp(rng.uniform(*np.log(QUANTA_RANGE))))
    marker = "L" if rng.random() < LEFT_MARKER_SHARE else "R"
    record: dict[str, Any] = {
        "patient": examination.person,
        "date": examination.date,
        "habitus": asdict(habitus),
        "truth": truth,
        "quanta_per_pixel": round(quanta),
        "films": {},
    }
    for view in VIEWS:
        geometry = frame(chest, view)
        if view == "PA":
            record["measured"] = measure(chest, geometry)
        pixels = make_film(
            chest,
            geometry,
            quanta_per_pixel=quanta,
            marker=marker if view == "PA" else None,
            rng=rng,
        )
        name = f"films/{opaque(seed, examination.key, view)}.png"
        write_png(out / name, pixels)
        record["films"][view] = {"file": name, "pixel_mm": round(geometry.pixel_mm, 4)}
    return record
