"""Measuring the truth of a finished chest: from labels and inserted geometry, never from pixels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from data.generator.anatomy import Chest
from data.generator.projection import Geometry


def measure(chest: Chest, geometry: Geometry) -> dict[str, float]:
    """All measurements that apply to an examination.

    Parameters
    ----------
    chest : Chest
        The patient with findings.
    geometry : Geometry
        Its PA view; ratios are those of the projected outlines.

    Returns
    -------
    dict
        Name to value; lengths in mm in the patient, ratios 0 to 1.
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


def outline(
    mask: NDArray[np.bool_], spacing_mm: NDArray[np.float64], geometry: Geometry
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Film columns and rows that a mask's voxels fall on."""
    points = np.argwhere(mask) * spacing_mm
    column, row, _ = geometry.project(points)
    return np.round(column).astype(int), np.round(row).astype(int)


def widths(columns: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Width in pixels of an outline in each row that it reaches."""
    order = np.argsort(rows, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(rows[order]) > 0])
    low = np.minimum.reduceat(columns[order], starts)
    return np.maximum.reduceat(columns[order], starts) - low


def cardiothoracic_ratio(chest: Chest, geometry: Geometry) -> float:
    """Largest heart width over largest inner chest width, both on the PA film.

    The chest's inner width is the distance between the lungs' outer edges. The heart's width adds
    its largest extents to both sides of the spine, at whatever levels they are.
    """
    heart = chest.organ("heart", "atrial_appendage_left")
    columns, _ = outline(heart, chest.spacing_mm, geometry)
    lungs = outline(chest.lung("left") | chest.lung("right"), chest.spacing_mm, geometry)
    return float(np.ptp(columns) / widths(*lungs).max())


def dome_difference_mm(chest: Chest) -> float:
    """Height of the right diaphragm above the left, from the organs that fill the domes."""
    right = _top_mm(chest, chest.organ("liver"), "right")
    return right - _top_mm(chest, chest.organ("stomach", "spleen", "colon", "liver"), "left")


def _top_mm(chest: Chest, organ: NDArray[np.bool_], side: str) -> float:
    """Highest level of an organ in one half of the chest, lateral to the heart's shadow."""
    box = chest.box(chest.lung(side), 0.0)
    width = box[0].stop - box[0].start
    half = slice(box[0].start + width // 4, box[0].stop - width // 4)
    reached = organ[half].any(axis=(0, 1))
    return float(np.flatnonzero(reached)[-1] * chest.spacing_mm[2])


def effusion_height_share(chest: Chest, geometry: Geometry, side: str) -> float:
    """Height of the fluid at the lateral chest wall as a share of that lung's height on the film.

    The fluid's upper end is taken where, in the outer quarter of the cavity, the beam meets at
    least 25 mm of it: thinner films of fluid do not show as an edge.
    """
    box, fluid = chest.fluid[side]
    corner = np.array([s.start for s in box]) * chest.spacing_mm
    points = np.argwhere(fluid) * chest.spacing_mm + corner
    column, row, _ = geometry.project(points)
    _, lung_rows = outline(chest.lung(side), chest.spacing_mm, geometry)
    lateral = _outer_quarter(column, side)
    depth_mm = np.bincount(
        np.round(row[lateral]).astype(int).clip(0), minlength=geometry.shape[0]
    ) * _mm_per_count(chest, column[lateral], geometry)
    top = np.flatnonzero(depth_mm >= 25.0)[0]
    return float((lung_rows.max() - top) / np.ptp(lung_rows))


def _outer_quarter(column: NDArray[np.float64], side: str) -> NDArray[np.bool_]:
    low, high = column.min(), column.max()
    # The patient's right is at the image's left.
    edge = low + 0.25 * (high - low) if side == "right" else high - 0.25 * (high - low)
    return column <= edge if side == "right" else column >= edge


def _mm_per_count(chest: Chest, columns: NDArray[np.float64], geometry: Geometry) -> float:
    """Mean depth in mm along the beam that one counted voxel per row stands for."""
    voxel = float(np.prod(chest.spacing_mm))
    patch = np.ptp(columns) * geometry.pixel_mm**2 / 1.15**2
    return voxel / patch
