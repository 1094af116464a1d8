"""Distances, smooth random textures and places in the lung: the vocabulary of the findings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from data.generator.anatomy import Chest

Box = tuple[slice, slice, slice]


def grid_mm(
    chest: Chest, box: Box
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Open coordinate axes of a box in volume millimetres, ready to broadcast."""
    x, y, z = (np.arange(s.start, s.stop) * mm for s, mm in zip(box, chest.spacing_mm, strict=True))
    return x[:, None, None], y[None, :, None], z[None, None, :]


def distance_mm(chest: Chest, box: Box, centre_mm: NDArray[np.float64]) -> NDArray[np.float32]:
    """Distance of each voxel of a box from a point."""
    x, y, z = grid_mm(chest, box)
    squared = (x - centre_mm[0]) ** 2 + (y - centre_mm[1]) ** 2 + (z - centre_mm[2]) ** 2
    return np.sqrt(squared).astype(np.float32)


def box_around(chest: Chest, centre_mm: NDArray[np.float64], reach_mm: float) -> Box:
    """Box of voxels within reach of a point, cut at the volume's edge."""
    slices = []
    for axis in range(3):
        mm = chest.spacing_mm[axis]
        low = max(int((centre_mm[axis] - reach_mm) / mm), 0)
        high = min(int((centre_mm[axis] + reach_mm) / mm) + 2, chest.hu.shape[axis])
        slices.append(slice(low, high))
    return slices[0], slices[1], slices[2]


def texture(
    chest: Chest, box: Box, grain_mm: float, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Smooth random field over a box, mean 0 and standard deviation 1, of a given grain."""
    shape = tuple(s.stop - s.start for s in box)
    # Coarse sampling: a field smoother than a voxel need not be drawn at every voxel.
    steps = [max(int(grain_mm / 2.0 / mm), 1) for mm in chest.spacing_mm]
    small = tuple(n // step + 3 for n, step in zip(shape, steps, strict=True))
    sigma = [grain_mm / (mm * step) for mm, step in zip(chest.spacing_mm, steps, strict=True)]
    field = ndimage.gaussian_filter(rng.standard_normal(small).astype(np.float32), sigma)
    field = ndimage.zoom(field, steps, order=1, grid_mode=True, mode="nearest")
    field = field[: shape[0], : shape[1], : shape[2]]
    return (field - field.mean()) / field.std()


def blend(chest: Chest, box: Box, weight: NDArray[np.float32], hu: float) -> None:
    """Mix tissue of one CT number into a box, never making anything less dense."""
    volume = chest.hu[box]
    mixed = volume * (1.0 - weight) + np.float32(hu) * weight
    np.maximum(volume, mixed, out=volume)


def cavity(chest: Chest, side: str) -> tuple[Box, NDArray[np.bool_]]:
    """One lung with its vessels: the space inside a pleural cavity, and the box around it."""
    box = chest.box(chest.lung(side), 6.0)
    lung = np.zeros(tuple(s.stop - s.start for s in box), bool)
    lung |= chest.lung(side)[box]
    closed = ndimage.binary_closing(lung, iterations=4)
    open_air = (chest.hu[box] < -500.0) & ndimage.binary_dilation(closed, iterations=2)
    blocked = np.isin(chest.labels[box], [chest.names["trachea"], chest.names["esophagus"]])
    other = chest.lung("right" if side == "left" else "left")[box]
    return box, (closed | open_air) & ~blocked & ~other


def wall_distance_mm(chest: Chest, box: Box, inside: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Distance to the rib cage, leaving out mediastinum and diaphragm, for each cavity voxel."""
    lungs = chest.lung("left") | chest.lung("right")
    lungs = lungs[:, box[1], box[2]]
    between = np.logical_or.accumulate(lungs, axis=0)
    between &= np.logical_or.accumulate(lungs[::-1], axis=0)[::-1]
    below = np.logical_or.accumulate(inside[:, :, ::-1], axis=2)[:, :, ::-1]
    wall = ~inside & ~between[box[0]] & ~below
    return ndimage.distance_transform_edt(~wall, sampling=chest.spacing_mm).astype(np.float32)


def lung_point_mm(
    chest: Chest, side: str, height: float, lateral: float, depth: float
) -> NDArray[np.float64]:
    """Find a point in a lung by its relative position.

    Parameters
    ----------
    chest : Chest
        The patient.
    side : str
        ``"left"`` or ``"right"``.
    height, lateral, depth : float
        0 to 1 from base to apex, from medial to lateral, from back to front.
    """
    lung = chest.lung(side)
    levels = np.flatnonzero(lung.any(axis=(0, 1)))
    k = int(levels[0] + height * (levels[-1] - levels[0]))
    columns = np.flatnonzero(lung[:, :, k].sum(axis=1) > 8)
    outward = columns if side == "right" else columns[::-1]
    i = int(outward[int(lateral * (len(outward) - 1))])
    rows = np.flatnonzero(lung[i, :, k])
    j = int(rows[int(depth * (len(rows) - 1))])
    return np.array([i, j, k]) * chest.spacing_mm
