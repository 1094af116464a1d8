"""The 28 examinations of the demo bank: who is X-rayed, in what pose, with which findings.

What they are stands in ``examinations.toml``, with the short made-up report of each. As in ReXVQA
the reports hold the answers, so a bank's importer must keep them from readers and models.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from data.generator.habitus import Habitus

POSE_SD_DEG = {"rotation_deg": 1.6, "lean_deg": 1.2, "tilt_deg": 2.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A made-up patient: sex, age in years and build."""

    sex: str
    age: int
    build: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """One imaging study to simulate.

    Attributes
    ----------
    key : str
        Name used in this generator only; it tells the finding and never reaches the bank.
    person : str
        Key of `PEOPLE`.
    date : str
        Made-up study date, YYYYMMDD.
    indication, comparison, report, impression : str
        Made-up report fields.
    findings : list of dict
        In order, each with its `name` in `FINDINGS` and its parameters.
    changes : dict
        Changes of the person's build at this examination.
    """

    key: str
    person: str
    date: str
    indication: str
    report: str
    impression: str
    comparison: str = "None."
    findings: list[dict[str, Any]] = field(default_factory=list)
    changes: dict[str, float] = field(default_factory=dict)


_TOLD = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PEOPLE = {
    name: Person(sex=build.pop("sex"), age=build.pop("age"), build=build)
    for name, build in _TOLD["people"].items()
}
EXAMINATIONS = tuple(Examination(**one) for one in _TOLD["examination"])


def habitus_of(examination: Examination, seed: int) -> Habitus:
    """Build of the person and a pose drawn for this examination.

    Parameters
    ----------
    examination : Examination
        What is simulated.
    seed : int
        Seed of the bank: two examinations of one person share the person's deformation.
    """
    number = int(examination.person[3:])
    pose = np.random.default_rng([seed, 11, *examination.key.encode()])
    angles = {name: float(pose.normal(0.0, sd)) for name, sd in POSE_SD_DEG.items()}
    build = {"wobble_mm": 5.0, **PEOPLE[examination.person].build, **examination.changes}
    return Habitus(seed=seed * 100 + number, **build, **angles)
