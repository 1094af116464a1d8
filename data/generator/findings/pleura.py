"""Findings of the pleural space: effusion and pneumothorax."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from data.generator.anatomy import AIR_HU, Chest
from data.generator.fields import cavity, grid_mm, wall_distance_mm

FLUID_HU = 8.0
PLEURA_HU = 40.0


def effusion(
    chest: Chest, rng: np.random.Generator, *, side: str, level: float, climb_mm: float = 55.0
) -> dict[str, object]:
    """Free fluid in the upright patient: a level that climbs along the rib cage as a meniscus.

    Parameters
    ----------
    chest : Chest
        Changed in place.
    rng : numpy.random.Generator
        Unused; kept so that all findings are called alike.
    side : str
        ``"left"`` or ``"right"``.
    level : float
        Height of the central fluid level, as a share of the lung's height.
    climb_mm : float
        How far the fluid film reaches above it at the rib cage.

    Returns
    -------
    dict
        Volume of the fluid in ml and the level.
    """
    del rng
    box, inside = cavity(chest, side)
    _, _, z = grid_mm(chest, box)
    levels = np.flatnonzero(inside.any(axis=(0, 1)))
    bottom, top = (float(z.ravel()[levels[end]]) for end in (0, -1))
    surface = bottom + level * (top - bottom)
    wall = wall_distance_mm(chest, box, inside)
    reach = surface + climb_mm * np.exp(-wall / 9.0) - 8.0 * (1.0 - np.exp(-wall / 45.0))
    wet = 1.0 / (1.0 + np.exp(np.clip((z - reach) / 1.6, -30.0, 30.0)))
    soft = ndimage.gaussian_filter(inside.astype(np.float32), 0.7)
    fluid = (soft * wet).astype(np.float32)
    pressed = np.exp(-np.clip(z - reach, 0.0, None) / 14.0) * inside
    volume = chest.hu[box]
    volume += (110.0 * pressed * (volume < -500.0)).astype(np.float32)
    volume[...] = volume * (1.0 - fluid) + np.maximum(volume, FLUID_HU) * fluid
    chest.fluid[side] = (box, (fluid > 0.5) & inside)
    voxel_ml = float(np.prod(chest.spacing_mm)) / 1000.0
    return {
        "finding": "pleural effusion",
        "side": side,
        "central_level_share": level,
        "volume_ml": round(float((fluid * inside).sum()) * voxel_ml),
    }


def pneumothorax(
    chest: Chest, rng: np.random.Generator, *, side: str, collapse: float
) -> dict[str, object]:
    """Air in the pleural space: the lung shrinks towards its hilum and keeps its mass.

    Parameters
    ----------
    chest : Chest
        Changed in place.
    rng : numpy.random.Generator
        Unused; kept so that all findings are called alike.
    side : str
        ``"left"`` or ``"right"``.
    collapse : float
        Linear shrinkage towards the hilum: 0.15 small, 0.3 large.

    Returns
    -------
    dict
        Distance from cupola to lung apex in mm, share of the cavity taken by air.
    """
    del rng
    box, inside = cavity(chest, side)
    spacing = chest.spacing_mm
    volume = chest.hu[box]
    hilum = _hilum_index(inside, side)
    scale = 1.0 - collapse * np.array([1.0, 0.75, 0.80])
    grid = np.meshgrid(*[np.arange(n, dtype=np.float32) for n in inside.shape], indexing="ij")
    source = [(grid[i] - hilum[i]) / np.float32(scale[i]) + hilum[i] for i in range(3)]
    smooth = ndimage.gaussian_filter(inside.astype(np.float32), 2.0)
    lung = (ndimage.map_coordinates(smooth, source, order=1) > 0.5) & inside
    tissue = ndimage.map_coordinates(volume, source, order=1, mode="nearest")
    tissue = AIR_HU + (tissue - AIR_HU) / np.float32(np.prod(scale))
    tissue = np.clip(tissue, AIR_HU, PLEURA_HU)
    depth = ndimage.distance_transform_edt(lung, sampling=spacing)
    depth -= ndimage.distance_transform_edt(~lung, sampling=spacing)
    depth = ndimage.gaussian_filter(depth.astype(np.float32), 1.2)
    inner = np.clip(0.5 + depth / 0.9, 0.0, 1.0)
    line = np.exp(-((depth / 0.55) ** 2)).astype(np.float32)
    new = AIR_HU * (1.0 - inner) + tissue * inner
    new = np.maximum(new, AIR_HU + 520.0 * line)
    mix = ndimage.gaussian_filter(ndimage.binary_erosion(inside).astype(np.float32), 0.5)
    volume[...] = volume * (1.0 - mix) + new.astype(np.float32) * mix
    chest.collapsed[side] = (box, lung)
    return _pneumothorax_truth(inside, lung, spacing, side, collapse)


def _hilum_index(inside: NDArray[np.bool_], side: str) -> NDArray[np.float64]:
    """Where the lung root is: medial border, a little behind and below the middle."""
    where = np.argwhere(inside[::2, ::2, ::2]) * 2.0
    low, high = where.min(axis=0), where.max(axis=0)
    level = low[2] + 0.42 * (high[2] - low[2])
    slab = where[np.abs(where[:, 2] - level) < 8]
    medial = np.percentile(slab[:, 0], 12 if side == "right" else 88)
    return np.array([medial, np.median(slab[:, 1]) - 4.0, level])


def _pneumothorax_truth(
    inside: NDArray[np.bool_],
    lung: NDArray[np.bool_],
    spacing: NDArray[np.float64],
    side: str,
    collapse: float,
) -> dict[str, object]:
    top = np.flatnonzero(inside.any(axis=(0, 1)))[-1]
    lung_top = np.flatnonzero(lung.any(axis=(0, 1)))[-1]
    return {
        "finding": "pneumothorax",
        "side": side,
        "collapse": collapse,
        "apex_to_cupola_mm": round(float((top - lung_top) * spacing[2]), 1),
        "air_share_of_cavity": round(1.0 - float(lung.sum() / inside.sum()), 2),
    }
