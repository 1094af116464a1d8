"""Findings of the lung itself: consolidation and pulmonary oedema."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from data.generator.anatomy import Chest
from data.generator.fields import Box, blend, cavity, distance_mm, grid_mm, lung_point_mm, texture

EXUDATE_HU = 30.0
LOBES = {
    "right upper lobe": "lung_upper_lobe_right",
    "right middle lobe": "lung_middle_lobe_right",
    "right lower lobe": "lung_lower_lobe_right",
    "left upper lobe": "lung_upper_lobe_left",
    "left lower lobe": "lung_lower_lobe_left",
}


def consolidation(
    chest: Chest,
    rng: np.random.Generator,
    *,
    lobe: str,
    focus: tuple[float, float, float],
    radius_mm: float,
    density: float = 0.85,
) -> dict[str, object]:
    """Airspaces filled with exudate: ragged in the lung, sharp at a fissure, air in the bronchi.

    Parameters
    ----------
    chest : Chest
        Changed in place.
    rng : numpy.random.Generator
        Texture and bronchi.
    lobe : str
        A key of `LOBES`.
    focus : tuple of float
        Centre, relative to the lobe's bounding box: lateral (0 left to 1 right), depth, height.
    radius_mm : float
        Where the consolidation has faded to one half.
    density : float
        Share of the airspace filled in its core.
    """
    mask = chest.organ(LOBES[lobe])
    box = chest.box(mask, 3.0)
    inside = ndimage.binary_closing(mask[box], iterations=4)
    centre = np.array([s.start + f * (s.stop - s.start) for s, f in zip(box, focus, strict=True)])
    centre = centre * chest.spacing_mm
    depth = radius_mm - distance_mm(chest, box, centre)
    ragged = (
        depth / 9.0 + 0.75 * texture(chest, box, 9.0, rng) + 0.4 * texture(chest, box, 4.0, rng)
    )
    weight = 1.0 / (1.0 + np.exp(-np.clip(1.6 * ragged, -30.0, 30.0)))
    grain = np.clip(0.92 + 0.16 * texture(chest, box, 2.2, rng), 0.0, 1.0)
    weight *= density * grain * ndimage.gaussian_filter(inside.astype(np.float32), 0.8)
    weight *= 1.0 - _bronchi(chest, box, centre, radius_mm, rng)
    blend(chest, box, weight.astype(np.float32), EXUDATE_HU)
    litres = float((weight * inside).sum() * np.prod(chest.spacing_mm)) / 1e6
    return {"finding": "consolidation", "lobe": lobe, "filled_litres": round(litres, 2)}


def _bronchi(
    chest: Chest,
    box: Box,
    centre_mm: NDArray[np.float64],
    radius_mm: float,
    rng: np.random.Generator,
) -> NDArray[np.float32]:
    """Air-filled branches that run from the hilum through the consolidated lung."""
    shape = tuple(s.stop - s.start for s in box)
    clear = np.ones(shape, bool)
    start = np.array([s.start for s in box]) * chest.spacing_mm
    middle = chest.box(chest.organ("heart"), 0.0)
    hilum = centre_mm.copy()
    hilum[0] += 0.9 * (np.mean([middle[0].start, middle[0].stop]) * chest.spacing_mm[0] - hilum[0])
    outward = centre_mm - hilum
    for _ in range(9):
        end = hilum + outward * rng.uniform(1.1, 1.7) + rng.normal(0.0, radius_mm * 0.45, 3)
        bow = rng.normal(0.0, 6.0, 3)
        for t in np.linspace(0.45, 1.0, 260):
            point = hilum + (end - hilum) * t + bow * np.sin(np.pi * t)
            index = np.round((point - start) / chest.spacing_mm).astype(int)
            if np.all(index >= 0) and np.all(index < shape):
                clear[tuple(index)] = False
    away = ndimage.distance_transform_edt(clear, sampling=chest.spacing_mm)
    return np.clip(2.1 - away, 0.0, 1.0).astype(np.float32) * 0.9


def oedema(chest: Chest, rng: np.random.Generator, *, severity: float) -> dict[str, object]:
    """Cardiogenic oedema: perihilar haze, thick vessels, septal lines at the bases.

    Parameters
    ----------
    chest : Chest
        Changed in place.
    rng : numpy.random.Generator
        Texture.
    severity : float
        1 is moderate interstitial and early alveolar oedema.
    """
    for side in ("left", "right"):
        box, inside = cavity(chest, side)
        hilum = lung_point_mm(chest, side, 0.5, 0.12, 0.45)
        x, y, z = grid_mm(chest, box)
        near = ((x - hilum[0]) / 72.0) ** 2 + ((y - hilum[1]) / 75.0) ** 2
        near = np.exp(-(near + ((z - hilum[2]) / 82.0) ** 2))
        patchy = np.clip(0.75 + 0.35 * texture(chest, box, 8.0, rng), 0.0, 2.0)
        volume = chest.hu[box]
        vessels = ndimage.grey_dilation(volume, size=(4, 4, 3)) * inside
        thick = 0.55 * severity * (inside & (vessels > -650.0) & (volume < -300.0))
        thick = ndimage.gaussian_filter(thick.astype(np.float32), 0.6)
        volume += thick * 0.55 * (vessels - volume) * inside
        haze = severity * (320.0 * near * patchy + 40.0) * inside
        volume += (haze * (volume < -250.0)).astype(np.float32)
        volume += severity * 70.0 * _septa(chest, box, inside, rng)
    return {"finding": "pulmonary oedema", "severity": severity}


def _septa(
    chest: Chest, box: Box, inside: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.float32]:
    """Thickened interlobular septa: short horizontal sheets against the lower lateral wall."""
    _, _, z = grid_mm(chest, box)
    bottom = float(z.min())
    edge = ndimage.distance_transform_edt(inside, sampling=chest.spacing_mm)
    zone = inside & (edge < 16.0) & (z < bottom + 95.0)
    wave = texture(chest, box, 5.0, rng) * 2.0 + 2 * np.pi * z / 8.5
    sheet = np.clip(np.cos(wave) - 0.86, 0.0, None) / 0.14
    return (sheet * zone * (chest.hu[box] < -500.0)).astype(np.float32)
