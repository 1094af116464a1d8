"""Make and measure the 28 examinations of the demo bank.

They are defined in ``examinations.toml``, each with a short fictitious report. As in ReXVQA, the
reports contain the answers, so that the importer must hide them from readers and models.
"""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data.generator.anatomy import Chest
from data.generator.film import make_film, write_png
from data.generator.findings import FINDINGS
from data.generator.habitus import Habitus, build_patient
from data.generator.projection import Geometry, view_geometry

POSE_SD_DEG = {"rotation_deg": 1.6, "lean_deg": 1.2, "tilt_deg": 2.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """A fictitious patient: sex, age in years and build."""

    sex: str
    age: int
    build: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """An imaging study to simulate.

    Attributes
    ----------
    key : str
        Name within the generator; it reveals the finding and is never written to the bank.
    person : str
        The patient, a key of `PEOPLE`.
    date : str
        Fictitious date of the study, YYYYMMDD.
    indication, comparison, report, impression : str
        Fictitious fields of the report.
    findings : list of dict
        The findings in order, each with its `name` in `FINDINGS` and its parameters.
    changes : dict
        Values of the patient's build that differ at this examination.
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


_DEFINITIONS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PEOPLE = {
    name: Patient(sex=build.pop("sex"), age=build.pop("age"), build=build)
    for name, build in _DEFINITIONS["people"].items()
}
EXAMINATIONS = tuple(Examination(**examination) for examination in _DEFINITIONS["examination"])


def habitus_of(examination: Examination, seed: int) -> Habitus:
    """Return the build of the patient, with a random pose for this examination.

    Parameters
    ----------
    examination : Examination
        The examination to simulate.
    seed : int
        Seed of the bank. Examinations of the same patient have the same deformation.
    """
    number = int(examination.person[3:])
    pose = np.random.default_rng([seed, 11, *examination.key.encode()])
    angles = {name: float(pose.normal(0.0, sd)) for name, sd in POSE_SD_DEG.items()}
    build = {"wobble_mm": 5.0, **PEOPLE[examination.person].build, **examination.changes}
    return Habitus(seed=seed * 100 + number, **build, **angles)


def measurements(chest: Chest, geometry: Geometry) -> dict[str, float]:
    """Make all measurements that apply to an examination.

    Parameters
    ----------
    chest : Chest
        The patient with findings.
    geometry : Geometry
        The PA view, on which ratios are measured.

    Returns
    -------
    dict
        Values by name: lengths within the patient in mm, and ratios from 0 to 1.
    """
    values = {
        "cardiothoracic_ratio": cardiothoracic_ratio(chest, geometry),
        "right_dome_above_left_mm": dome_difference_mm(chest),
    }
    for side in chest.fluid:
        values[f"effusion_height_share_{side}"] = effusion_height_share(chest, geometry, side)
    if "tube tip" in chest.landmarks:
        gap = chest.landmarks["tube tip"][2] - chest.landmarks["carina"][2]
        values["tube_tip_above_carina_mm"] = float(gap)
    return {name: round(float(value), 3) for name, value in values.items()}


def projected_pixels(
    mask: NDArray[np.bool_], spacing_mm: NDArray[np.float64], geometry: Geometry
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the columns and rows of the film onto which the voxels of a mask are projected."""
    points = np.argwhere(mask) * spacing_mm
    column, row, _ = geometry.project(points)
    return np.round(column).astype(int), np.round(row).astype(int)


def row_widths(columns: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the width in pixels of an outline in each of its rows."""
    order = np.argsort(rows, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(rows[order]) > 0])
    low = np.minimum.reduceat(columns[order], starts)
    return np.maximum.reduceat(columns[order], starts) - low


def cardiothoracic_ratio(chest: Chest, geometry: Geometry) -> float:
    """Return the ratio of the largest heart width to the largest inner chest width on the PA film.

    The inner width of the chest is the distance between the outer edges of the lungs. The width of
    the heart is the sum of its largest extents to both sides of the spine, at any level.
    """
    heart = chest.organ("heart", "atrial_appendage_left")
    columns, _ = projected_pixels(heart, chest.spacing_mm, geometry)
    lungs = projected_pixels(chest.lung("left") | chest.lung("right"), chest.spacing_mm, geometry)
    return float(np.ptp(columns) / row_widths(*lungs).max())


def dome_difference_mm(chest: Chest) -> float:
    """Return how far the right dome of the diaphragm is above the left, from the organs in them."""
    right = _top_mm(chest, chest.organ("liver"), "right")
    return right - _top_mm(chest, chest.organ("stomach", "spleen", "colon", "liver"), "left")


def _top_mm(chest: Chest, organ: NDArray[np.bool_], side: str) -> float:
    """Return the highest level of an organ in one half of the chest, lateral to the heart."""
    box = chest.box(chest.lung(side), 0.0)
    width = box[0].stop - box[0].start
    half = slice(box[0].start + width // 4, box[0].stop - width // 4)
    reached = organ[half].any(axis=(0, 1))
    return float(np.flatnonzero(reached)[-1] * chest.spacing_mm[2])


def effusion_height_share(chest: Chest, geometry: Geometry, side: str) -> float:
    """Return the height of fluid at the lateral chest wall as a share of the lung's height.

    The upper end of the fluid is where the beam, in the outer quarter of the cavity, passes through
    at least 25 mm of it, because a thinner layer of fluid has no visible edge on the film.
    """
    box, fluid = chest.fluid[side]
    corner = np.array([s.start for s in box]) * chest.spacing_mm
    points = np.argwhere(fluid) * chest.spacing_mm + corner
    column, row, _ = geometry.project(points)
    _, lung_rows = projected_pixels(chest.lung(side), chest.spacing_mm, geometry)
    lateral = _outer_quarter(column, side)
    depth_mm = np.bincount(
        np.round(row[lateral]).astype(int).clip(0), minlength=geometry.shape[0]
    ) * _mm_per_count(chest, column[lateral], geometry)
    top = np.flatnonzero(depth_mm >= 25.0)[0]
    return float((lung_rows.max() - top) / np.ptp(lung_rows))


def _outer_quarter(column: NDArray[np.float64], side: str) -> NDArray[np.bool_]:
    low, high = column.min(), column.max()
    # The patient's right is at the left of the image.
    edge = low + 0.25 * (high - low) if side == "right" else high - 0.25 * (high - low)
    return column <= edge if side == "right" else column >= edge


def _mm_per_count(chest: Chest, columns: NDArray[np.float64], geometry: Geometry) -> float:
    """Return the mean depth in mm along the beam that a voxel in a row of pixels represents."""
    voxel = float(np.prod(chest.spacing_mm))
    patch = np.ptp(columns) * geometry.pixel_mm**2 / 1.15**2
    return voxel / patch


VIEWS = ("PA", "LATERAL")
QUANTA_RANGE = (8.0e5, 1.8e6)
LEFT_MARKER_SHARE = 0.25


def opaque_name(seed: int, *parts: str, digits: int = 12) -> str:
    """Make a name that reveals nothing, of hexadecimal digits of a seeded SHA-256."""
    text = "/".join([str(seed), *parts])
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


def simulate(canonical: Chest, examination: Examination, seed: int, out: Path) -> dict[str, Any]:
    """Make both films of an examination and measure its truth.

    Parameters
    ----------
    canonical : Chest
        The cleaned CT, which is not changed.
    examination : Examination
        The examination to simulate.
    seed : int
        Seed of the bank.
    out : Path
        Demo folder, whose folder `films` gets the films.

    Returns
    -------
    dict
        Parameters, truth, measurements and file names of the films, as JSON values.
    """
    rng = np.random.default_rng([seed, 23, *examination.key.encode()])
    habitus = habitus_of(examination, seed)
    chest = build_patient(canonical, habitus)
    findings = [{**finding} for finding in examination.findings]
    truth = [FINDINGS[finding.pop("name")](chest, rng, **finding) for finding in findings]
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
        geometry = view_geometry(chest, view)
        if view == "PA":
            record["measured"] = measurements(chest, geometry)
        pixels = make_film(
            chest,
            geometry,
            quanta_per_pixel=quanta,
            marker=marker if view == "PA" else None,
            rng=rng,
        )
        name = f"films/{opaque_name(seed, examination.key, view)}.png"
        write_png(out / name, pixels)
        record["films"][view] = {"file": name, "pixel_mm": round(geometry.pixel_mm, 4)}
    return record
