"""The 28 examinations of the demo bank: who is X-rayed, in what pose, with which findings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from data.generator.habitus import Habitus

POSE_SD_DEG = {"rotation_deg": 1.6, "lean_deg": 1.2, "tilt_deg": 2.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A made-up patient: sex, age in years and build."""

    sex: str
    age: int
    build: dict[str, float] = field(default_factory=dict)


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
    indication, comparison : str
        Made-up report fields.
    findings : tuple
        Name in `FINDINGS` and its parameters, in order.
    changes : dict
        Changes of the person's build at this examination.
    """

    key: str
    person: str
    date: str
    indication: str
    comparison: str = "None."
    findings: tuple[tuple[str, dict[str, Any]], ...] = ()
    changes: dict[str, float] = field(default_factory=dict)


def _person(
    sex: str, age: int, width: float, depth: float, height: float, **build: float
) -> Person:
    build = {"width": width, "depth": depth, "height": height, **build}
    return Person(sex=sex, age=age, build=build)


PEOPLE = {
    "SIM001": _person("M", 34, 0.98, 0.92, 1.06, heart_width=0.84, bone_mineral=1.5),
    "SIM002": _person("F", 27, 0.91, 0.90, 0.97, heart_width=0.84, breasts_mm=24, bone_mineral=1.5),
    "SIM003": _person("M", 58, 1.04, 1.06, 1.02, heart_width=0.88),
    "SIM004": _person("F", 49, 0.97, 1.02, 0.95, heart_width=0.86, breasts_mm=36),
    "SIM005": _person("M", 41, 1.03, 0.98, 1.00, heart_width=0.82, bone_mineral=1.4),
    "SIM006": _person("F", 63, 0.95, 0.97, 0.98, heart_width=0.87, breasts_mm=20),
    "SIM007": _person("M", 66, 1.01, 1.04, 1.03, heart_width=0.87),
    "SIM008": _person("M", 71, 0.96, 0.95, 1.01, heart_width=0.88),
    "SIM009": _person("F", 55, 0.93, 0.96, 0.96, heart_width=0.85, breasts_mm=30),
    "SIM010": _person("M", 60, 1.05, 1.08, 1.00, heart_width=0.89),
    "SIM011": _person("F", 68, 0.96, 1.00, 0.97, heart_width=0.90, breasts_mm=26),
    "SIM012": _person("M", 52, 1.00, 1.00, 1.02, heart_width=0.86, bone_mineral=1.4),
    "SIM013": _person("M", 22, 0.93, 0.88, 1.08, heart_width=0.82, bone_mineral=1.5, wobble_mm=6),
    "SIM014": _person("M", 31, 0.97, 0.91, 1.06, heart_width=0.83, bone_mineral=1.5),
    "SIM015": _person("F", 44, 0.94, 0.97, 0.98, heart_width=0.86, breasts_mm=22),
    "SIM016": _person("M", 47, 1.02, 1.02, 1.01, heart_width=0.85),
    "SIM017": _person("F", 38, 0.92, 0.93, 0.98, heart_width=0.84, breasts_mm=28, bone_mineral=1.4),
    "SIM018": _person("F", 74, 0.96, 1.01, 0.95, heart_width=1.34, breasts_mm=24),
    "SIM019": _person("M", 77, 1.02, 1.05, 0.99, heart_width=1.30),
    "SIM020": _person("M", 56, 1.00, 1.00, 1.01, heart_width=0.89),
    "SIM021": _person("F", 61, 0.95, 0.98, 0.97, heart_width=0.90),
    "SIM022": _person("M", 79, 0.99, 1.02, 1.00, heart_width=0.96),
    "SIM023": _person("F", 57, 0.94, 0.95, 0.97, heart_width=0.86, breasts_mm=20),
    "SIM024": _person("M", 64, 1.03, 1.03, 1.01, heart_width=0.87),
    "SIM025": _person("F", 70, 0.97, 1.03, 0.95, heart_width=0.91, breasts_mm=25),
}

EXAMINATIONS = (
    Examination(
        key="normal-1", person="SIM001", date="20230316", indication="Pre-employment check."
    ),
    Examination(
        key="normal-2", person="SIM002", date="20230522", indication="Cough for two weeks."
    ),
    Examination(
        key="normal-3", person="SIM003", date="20230911", indication="Before hip replacement."
    ),
    Examination(key="normal-4", person="SIM004", date="20240108", indication="Chest pain."),
    Examination(
        key="normal-5", person="SIM005", date="20230704", indication="Positive tuberculin test."
    ),
    Examination(
        key="pneumonia-rul",
        person="SIM005",
        date="20240219",
        indication="Fever and productive cough.",
        comparison="Chest radiographs of 4 July 2023.",
        findings=(
            (
                "consolidation",
                {"lobe": "right upper lobe", "focus": (0.55, 0.5, 0.38), "radius_mm": 54.0},
            ),
        ),
    ),
    Examination(
        key="nodule-rul",
        person="SIM006",
        date="20231004",
        indication="Weight loss, former smoker.",
        findings=(("nodule", {"side": "right", "place": (0.78, 0.55, 0.6), "diameter_mm": 18.0}),),
    ),
    Examination(
        key="nodule-left",
        person="SIM007",
        date="20231120",
        indication="Haemoptysis.",
        findings=(
            (
                "nodule",
                {
                    "side": "left",
                    "place": (0.50, 0.72, 0.35),
                    "diameter_mm": 27.0,
                    "lobulation": 0.1,
                },
            ),
        ),
    ),
    Examination(
        key="mass-rul",
        person="SIM008",
        date="20240305",
        indication="Weight loss and cough, 50 pack-years.",
        findings=(
            (
                "nodule",
                {
                    "side": "right",
                    "place": (0.74, 0.5, 0.45),
                    "diameter_mm": 52.0,
                    "lobulation": 0.1,
                },
            ),
        ),
    ),
    Examination(
        key="metastases",
        person="SIM009",
        date="20240411",
        indication="Colon carcinoma, staging.",
        findings=(("metastases", {"count": 15, "smallest_mm": 10.0, "largest_mm": 26.0}),),
    ),
    Examination(
        key="effusion-left",
        person="SIM010",
        date="20231218",
        indication="Dyspnoea.",
        findings=(("effusion", {"side": "left", "level": 0.30}),),
    ),
    Examination(
        key="effusion-right",
        person="SIM011",
        date="20240130",
        indication="Increasing dyspnoea, known breast carcinoma.",
        findings=(("effusion", {"side": "right", "level": 0.48}),),
    ),
    Examination(
        key="effusion-both",
        person="SIM012",
        date="20240502",
        indication="Nephrotic syndrome.",
        findings=(
            ("effusion", {"side": "left", "level": 0.15, "climb_mm": 40.0}),
            ("effusion", {"side": "right", "level": 0.15, "climb_mm": 40.0}),
        ),
    ),
    Examination(
        key="pneumothorax-right",
        person="SIM013",
        date="20240613",
        indication="Sudden right chest pain.",
        findings=(("pneumothorax", {"side": "right", "collapse": 0.27}),),
    ),
    Examination(
        key="pneumothorax-left",
        person="SIM014",
        date="20230830",
        indication="Sudden dyspnoea.",
        findings=(("pneumothorax", {"side": "left", "collapse": 0.20}),),
    ),
    Examination(
        key="pneumonia-rll",
        person="SIM015",
        date="20240116",
        indication="Fever, crackles.",
        findings=(
            (
                "consolidation",
                {"lobe": "right lower lobe", "focus": (0.55, 0.45, 0.55), "radius_mm": 50.0},
            ),
        ),
    ),
    Examination(
        key="pneumonia-rml",
        person="SIM016",
        date="20231029",
        indication="Fever and cough.",
        findings=(
            (
                "consolidation",
                {"lobe": "right middle lobe", "focus": (0.35, 0.55, 0.5), "radius_mm": 68.0},
            ),
        ),
    ),
    Examination(
        key="pneumonia-lll",
        person="SIM017",
        date="20240228",
        indication="Fever for five days.",
        findings=(
            (
                "consolidation",
                {"lobe": "left lower lobe", "focus": (0.55, 0.45, 0.5), "radius_mm": 50.0},
            ),
        ),
    ),
    Examination(
        key="cardiomegaly",
        person="SIM018",
        date="20230927",
        indication="Hypertension, exertional dyspnoea.",
    ),
    Examination(
        key="oedema",
        person="SIM019",
        date="20240320",
        indication="Acute dyspnoea at night.",
        findings=(
            ("oedema", {"severity": 2.2}),
            ("effusion", {"side": "left", "level": 0.16, "climb_mm": 42.0}),
            ("effusion", {"side": "right", "level": 0.16, "climb_mm": 42.0}),
        ),
    ),
    Examination(
        key="tubes",
        person="SIM020",
        date="20240507",
        indication="Intensive care, check of tubes.",
        findings=(
            ("tracheal tube", {"above_carina_mm": 42.0}),
            ("central line", {}),
            ("gastric tube", {}),
        ),
    ),
    Examination(
        key="tube-bronchus",
        person="SIM021",
        date="20240514",
        indication="After emergency intubation.",
        findings=(("tracheal tube", {"above_carina_mm": -22.0}),),
    ),
    Examination(
        key="pacemaker",
        person="SIM022",
        date="20231212",
        indication="After device implantation.",
        findings=(("pacemaker", {}),),
    ),
    Examination(
        key="port",
        person="SIM023",
        date="20240603",
        indication="After port implantation.",
        findings=(("port", {}),),
    ),
    Examination(
        key="dome",
        person="SIM024",
        date="20240122",
        indication="Hiccups and dyspnoea.",
        changes={"right_dome_mm": 48.0},
    ),
    Examination(
        key="free-air",
        person="SIM016",
        date="20240610",
        indication="Acute abdomen.",
        comparison="Chest radiographs of 29 October 2023.",
        findings=(("free air", {"thickness_mm": 17.0}),),
    ),
    Examination(
        key="cavity",
        person="SIM012",
        date="20230619",
        indication="Fever and night sweats for three weeks.",
        findings=(
            (
                "cavity",
                {
                    "side": "left",
                    "place": (0.76, 0.55, 0.5),
                    "diameter_mm": 54.0,
                    "wall_mm": 8.0,
                    "fluid_share": 0.35,
                },
            ),
        ),
    ),
    Examination(
        key="sternotomy-hernia",
        person="SIM025",
        date="20240426",
        indication="Follow-up after coronary bypass.",
        findings=(("sternal wires", {}), ("hiatal hernia", {"diameter_mm": 62.0})),
    ),
)


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
