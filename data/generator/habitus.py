"""Deform the CT into patients of different build and pose.

The deformation is a single backward map from the new volume to the canonical volume, so that CT
numbers and labels are interpolated only once. The truth is measured afterwards, in millimetres of
the patient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from data.generator.anatomy import AIR_HU, Chest
from data.generator.projection import SOFT_TISSUE_HU

COARSE_MM = 10.0
HEAD_EXTENSION_MM = 40.0
FOOT_EXTENSION_MM = 12.0
EXTENSION_REPEAT_MM = 9.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Habitus:
    """How a patient differs from the canonical chest, and the patient's pose.

    Attributes
    ----------
    width, depth, height : float
        Scale factors of the body, 1 for the canonical chest.
    heart_width : float
        Additional transverse scale factor of the heart.
    seed : int
        Seed of the smooth random deformation.
    wobble_mm : float
        Root-mean-square displacement of this deformation.
    breasts_mm : float
        Thickness of added breast tissue; 0 for none.
    right_dome_mm : float
        Elevation of the right hemidiaphragm.
    bone_mineral : float
        Factor of bone density; the patient of the CT (factor 1) is osteopenic.
    rotation_deg, lean_deg, tilt_deg : float
        Rotation about the long axis, sideways lean, forward tilt.
    """

    width: float = 1.0
    depth: float = 1.0
    height: float = 1.0
    heart_width: float = 0.85
    seed: int = 0
    wobble_mm: float = 4.0
    breasts_mm: float = 0.0
    right_dome_mm: float = 0.0
    bone_mineral: float = 1.25
    rotation_deg: float = 0.0
    lean_deg: float = 0.0
    tilt_deg: float = 0.0


def build_patient(canonical: Chest, habitus: Habitus) -> Chest:
    """Deform the canonical chest into the described patient.

    Parameters
    ----------
    canonical : Chest
        The cleaned CT.
    habitus : Habitus
        Build and pose.

    Returns
    -------
    Chest
        A volume with the same voxel size, extended towards head and feet.
    """
    scale = np.array([habitus.width, habitus.depth, habitus.height])
    spacing = canonical.spacing_mm
    source_mm = np.array(canonical.hu.shape) * spacing
    extent_mm = source_mm * scale + [8.0, 8.0, HEAD_EXTENSION_MM + FOOT_EXTENSION_MM]
    shape = tuple(int(n) for n in np.ceil(extent_mm / spacing))
    centre_out = extent_mm / 2.0 + [0, 0, (FOOT_EXTENSION_MM - HEAD_EXTENSION_MM) / 2.0]
    backward = _pose_rotation(habitus).T / scale[:, None]
    coarse = _displacement_field(canonical, habitus)
    occupied = ndimage.binary_dilation(canonical.hu > AIR_HU + 5.0, iterations=2)
    top_mm = (canonical.hu.shape[2] - 1) * spacing[2]
    hu = np.full(shape, AIR_HU, np.float32)
    labels = np.zeros(shape, np.uint8)
    x_mm = (np.arange(shape[0])[:, None] * spacing[0] - centre_out[0]).astype(np.float32)
    y_mm = (np.arange(shape[1])[None, :] * spacing[1] - centre_out[1]).astype(np.float32)
    for k in range(shape[2]):
        offset = backward[:, 2] * (k * spacing[2] - centre_out[2]) + source_mm / 2
        places = [
            np.float32(backward[i, 0]) * x_mm
            + np.float32(backward[i, 1]) * y_mm
            + np.float32(offset[i])
            for i in range(3)
        ]
        bend = _slice_displacement(coarse, places)
        places = [position + shift for position, shift in zip(places, bend, strict=True)]
        places[2] = _fold_ends(places[2], top_mm)
        _fill_slice(canonical, occupied, places, hu[:, :, k], labels[:, :, k])
    patient = Chest(hu=hu, labels=labels, spacing_mm=spacing, names=canonical.names)
    _scale_bone_density(patient, habitus.bone_mineral)
    if habitus.breasts_mm > 0.0:
        _add_breasts(patient, habitus.breasts_mm)
    return patient


def _fill_slice(
    canonical: Chest,
    occupied: NDArray[np.bool_],
    where_mm: list[NDArray[np.float64]],
    hu: NDArray[Any],
    labels: NDArray[Any],
) -> None:
    """Interpolate an output slice in place, where the canonical volume is not air."""
    index = [mm / np.float32(s) for mm, s in zip(where_mm, canonical.spacing_mm, strict=True)]
    nearest = [np.rint(i).astype(np.intp) for i in index]
    inside = np.ones(hu.shape, bool)
    for number, size in zip(nearest, canonical.hu.shape, strict=True):
        inside &= (number >= 0) & (number < size)
    nearest = [number[inside] for number in nearest]
    body = occupied[tuple(nearest)]
    inside[inside] = body
    points = [i[inside] for i in index]
    hu[inside] = ndimage.map_coordinates(canonical.hu, points, order=1, cval=AIR_HU)
    labels[inside] = canonical.labels[tuple(number[body] for number in nearest)]


def _scale_bone_density(patient: Chest, factor: float) -> None:
    """Scale the difference between the CT numbers of bone and soft tissue."""
    bone = patient.bones() & (patient.hu > SOFT_TISSUE_HU)
    patient.hu[bone] = SOFT_TISSUE_HU + factor * (patient.hu[bone] - SOFT_TISSUE_HU)


def _pose_rotation(habitus: Habitus) -> NDArray[np.float64]:
    """Return the rotation matrix of the pose: about z, then y (lean), then x (tilt)."""
    a, b, c = np.deg2rad([habitus.rotation_deg, habitus.lean_deg, habitus.tilt_deg])
    about_z = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
    about_y = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    about_x = np.array([[1, 0, 0], [0, np.cos(c), -np.sin(c)], [0, np.sin(c), np.cos(c)]])
    return about_x @ about_y @ about_z


def _fold_ends(z_mm: NDArray[np.float64], top_mm: float) -> NDArray[np.float64]:
    """Continue the body beyond both ends of the CT.

    Beyond an end, the map oscillates slowly within the last `EXTENSION_REPEAT_MM`, so that neck and
    arms continue without an edge and without the streaks that a repeated last slice would cause.
    """
    period = EXTENSION_REPEAT_MM * np.pi / 2.0
    above = np.maximum(z_mm - top_mm, 0.0)
    below = np.maximum(-z_mm, 0.0)
    fold_above = EXTENSION_REPEAT_MM / 2 * (1 - np.cos(above / period))
    fold_below = EXTENSION_REPEAT_MM / 2 * (1 - np.cos(below / period))
    return np.clip(z_mm, 0.0, top_mm) - fold_above + fold_below


def _displacement_field(canonical: Chest, habitus: Habitus) -> NDArray[np.float64]:
    """Return the displacements in mm on the coarse grid of the CT, shape (3, nx, ny, nz)."""
    spacing = canonical.spacing_mm
    shape = tuple(int(n) for n in np.ceil(np.array(canonical.hu.shape) * spacing / COARSE_MM) + 1)
    grid = np.stack(np.meshgrid(*[np.arange(n) * COARSE_MM for n in shape], indexing="ij"))
    rng = np.random.default_rng(habitus.seed)
    field = rng.standard_normal((3, *shape))
    field = ndimage.gaussian_filter(field, (0, *[70.0 / COARSE_MM] * 3), mode="nearest")
    field *= habitus.wobble_mm / np.sqrt((field**2).mean())
    field += _heart_scaling(canonical, habitus.heart_width, grid)
    if habitus.right_dome_mm:
        field[2] -= _dome_elevation(canonical, habitus.right_dome_mm, grid)
    return field


def _on_coarse(
    mask: NDArray[np.bool_], shape: tuple[int, ...], spacing_mm: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sample a mask at the nodes of the coarse grid."""
    index = np.meshgrid(
        *[np.arange(n) * COARSE_MM / s for n, s in zip(shape, spacing_mm, strict=True)],
        indexing="ij",
    )
    return ndimage.map_coordinates(mask.astype(np.float32), index, order=1).astype(np.float64)


def _heart_scaling(
    canonical: Chest, factor: float, grid: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return displacements that widen (factor > 1) or narrow the heart, but not the chest wall."""
    shape = grid.shape[1:]
    heart_mask = canonical.organ("heart", "atrial_appendage_left")
    heart = _on_coarse(heart_mask, shape, canonical.spacing_mm) > 0.5
    bone = _on_coarse(canonical.bones(), shape, canonical.spacing_mm) > 0.3
    distance = ndimage.distance_transform_edt(~heart) * COARSE_MM
    to_wall = ndimage.distance_transform_edt(~bone) * COARSE_MM
    window = np.exp(-((np.maximum(distance - 8.0, 0.0) / 26.0) ** 2))
    window *= np.clip(to_wall / 18.0, 0.0, 1.0)
    window = ndimage.gaussian_filter(window, 0.8)
    centre = [grid[i][heart].mean() for i in range(3)]
    field = np.zeros_like(grid, dtype=np.float64)
    for axis, share in ((0, 1.0), (1, 0.35), (2, 0.25)):
        field[axis] = (1.0 / (1.0 + (factor - 1.0) * share) - 1.0) * window
        field[axis] *= grid[axis] - centre[axis]
    return field


def _dome_elevation(
    canonical: Chest, elevation_mm: float, grid: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the upward shift of the right dome, which compresses the lung above it."""
    shape = grid.shape[1:]
    lung = _on_coarse(canonical.lung("right"), shape, canonical.spacing_mm) > 0.5
    columns = lung.any(axis=2)
    inner = ndimage.distance_transform_edt(columns) * COARSE_MM
    across = np.clip(inner / 45.0, 0.0, 1.0)[:, :, None]
    z = grid[2]
    bottom = z[lung].min()
    dome = bottom + 75.0
    below = 1.0 / (1.0 + np.exp(-(z - (dome - 70.0)) / 14.0))
    above = np.clip(1.0 - (z - dome - 10.0) / 130.0, 0.0, 1.0)
    return elevation_mm * across * below * above


def _slice_displacement(
    coarse: NDArray[np.float64], rigid: list[NDArray[np.float64]]
) -> list[NDArray[np.float32]]:
    """Interpolate the displacements on the coarse grid linearly to an output slice."""
    index = [
        np.clip(r / COARSE_MM, 0.0, n - 1.0) for r, n in zip(rigid, coarse.shape[1:], strict=True)
    ]
    step = 6
    small = [i[::step, ::step] for i in index]
    bends = []
    for axis in range(3):
        values = ndimage.map_coordinates(coarse[axis], small, order=1, mode="nearest")
        values = values.astype(np.float32)
        bends.append(_enlarge(values, rigid[0].shape, step))
    return bends


def _enlarge(values: NDArray[np.float64], shape: tuple[int, int], step: int) -> NDArray[np.float32]:
    """Interpolate every `step`-th sample linearly to the complete slice."""
    rows = np.arange(shape[0], dtype=np.float32) / step
    columns = np.arange(shape[1], dtype=np.float32) / step
    i = np.minimum(rows.astype(int), values.shape[0] - 2)
    j = np.minimum(columns.astype(int), values.shape[1] - 2)
    t, u = (rows - i)[:, None], (columns - j)[None, :]
    across = values[i] * (1 - t) + values[i + 1] * t
    return across[:, j] * (1 - u) + across[:, j + 1] * u


def _add_breasts(patient: Chest, thickness_mm: float) -> None:
    """Add two half-ellipsoids of mixed fat and gland to the front of the chest wall."""
    spacing = patient.spacing_mm
    lungs = patient.lung("left") | patient.lung("right")
    box = patient.box(lungs, 0.0)
    middle_mm = (box[0].start + box[0].stop) / 2 * spacing[0]
    base_mm = (box[2].start + 0.36 * (box[2].stop - box[2].start)) * spacing[2]
    x = np.arange(patient.hu.shape[0])[:, None, None] * spacing[0]
    y = np.arange(patient.hu.shape[1])[None, :, None] * spacing[1]
    z = np.arange(patient.hu.shape[2])[None, None, :] * spacing[2]
    half_width = (box[0].stop - box[0].start) * spacing[0] / 2
    for side in (-1.0, 1.0):
        centre_x = middle_mm + side * 0.58 * half_width
        column = int(centre_x / spacing[0])
        profile = patient.hu[column, :, int(base_mm / spacing[2])] > -500.0
        skin_mm = np.flatnonzero(profile)[-1] * spacing[1]
        droop = np.where(z < base_mm, 46.0, 78.0)
        radius = ((x - centre_x) / 62.0) ** 2 + ((z - base_mm) / droop) ** 2
        radius = radius + ((y - skin_mm + 14.0) / (thickness_mm + 14.0)) ** 2
        weight = np.clip((1.0 - radius) / 0.55, 0.0, 1.0).astype(np.float32)
        added = np.float32(-45.0) * weight + np.float32(AIR_HU) * (1.0 - weight)
        in_air = (patient.hu < -500.0) & (y > skin_mm - 30.0) & (patient.labels == 0)
        np.copyto(patient.hu, np.maximum(patient.hu, added), where=in_air)
