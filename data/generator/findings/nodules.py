"""Rounded findings of the lung: nodule, mass, metastases, cavity, granuloma."""

from __future__ import annotations

import numpy as np

from data.generator.anatomy import Chest
from data.generator.fields import blend, box_around, distance_mm, grid_mm, lung_point_mm, texture

SOLID_HU = 45.0
CAVITY_AIR_HU = -985.0


def nodule(
    chest: Chest,
    rng: np.random.Generator,
    *,
    side: str,
    place: tuple[float, float, float],
    diameter_mm: float,
    lobulation: float = 0.08,
    hu: float = SOLID_HU,
) -> dict[str, object]:
    """One solid nodule or mass of a known mean diameter.

    Parameters
    ----------
    chest : Chest
        Changed in place.
    rng : numpy.random.Generator
        Shape of the margin.
    side : str
        ``"left"`` or ``"right"``.
    place : tuple of float
        Height, lateral and depth position, see `lung_point_mm`.
    diameter_mm : float
        Mean diameter.
    lobulation : float
        Relative depth of the margin's undulation.
    hu : float
        CT number; about 700 for a calcified granuloma.
    """
    centre = lung_point_mm(chest, side, *place)
    radius = diameter_mm / 2.0
    box = box_around(chest, centre, radius * 1.5 + 4.0)
    margin = radius * (1.0 + lobulation * texture(chest, box, max(radius * 0.45, 2.0), rng))
    weight = np.clip((margin - distance_mm(chest, box, centre)) / 2.2 + 0.5, 0.0, 1.0)
    blend(chest, box, weight.astype(np.float32), hu)
    chest.landmarks[f"nodule {side}"] = centre
    return {
        "finding": "nodule" if diameter_mm <= 30 else "mass",
        "side": side,
        "diameter_mm": diameter_mm,
        "height_share": place[0],
        "hu": hu,
    }


def metastases(
    chest: Chest,
    rng: np.random.Generator,
    *,
    count: int,
    smallest_mm: float,
    largest_mm: float,
) -> dict[str, object]:
    """Many round nodules in both lungs, none of them hidden behind a dome."""
    diameters = []
    for number in range(count):
        side = "left" if number % 2 else "right"
        place = (rng.uniform(0.32, 0.88), rng.uniform(0.3, 0.85), rng.uniform(0.15, 0.85))
        diameter = float(rng.uniform(smallest_mm, largest_mm))
        nodule(chest, rng, side=side, place=place, diameter_mm=diameter, lobulation=0.04)
        diameters.append(round(diameter, 1))
    return {"finding": "multiple nodules", "side": "both", "diameters_mm": diameters}


def cavity_lesion(
    chest: Chest,
    rng: np.random.Generator,
    *,
    side: str,
    place: tuple[float, float, float],
    diameter_mm: float,
    wall_mm: float,
    fluid_share: float,
) -> dict[str, object]:
    """Insert a thick-walled cavity with a horizontal air-fluid level.

    Parameters
    ----------
    chest, rng, side, place, diameter_mm
        As for `nodule`; the diameter is the outer one.
    wall_mm : float
        Mean thickness of the wall.
    fluid_share : float
        Height of the fluid in the inner cavity, 0 to 1.
    """
    centre = lung_point_mm(chest, side, *place)
    radius = diameter_mm / 2.0
    box = box_around(chest, centre, radius * 1.6 + 4.0)
    away = distance_mm(chest, box, centre)
    outer = radius * (1.0 + 0.10 * texture(chest, box, radius * 0.35, rng))
    halo = np.clip(1.2 - (away - outer) / 16.0, 0.0, 1.0) * 0.55
    halo *= np.clip(0.8 + 0.5 * texture(chest, box, 4.0, rng), 0.0, 1.0)
    blend(chest, box, halo.astype(np.float32), -350.0)
    solid = np.clip((outer - away) / 3.0 + 0.5, 0.0, 1.0)
    blend(chest, box, solid.astype(np.float32), SOLID_HU)
    inner = radius - wall_mm * (1.0 + 0.35 * texture(chest, box, 7.0, rng))
    _, _, z = grid_mm(chest, box)
    hollow = radius - wall_mm
    level = centre[2] - hollow + 2.0 * hollow * fluid_share
    air = np.clip((inner - away) / 2.4 + 0.5, 0.0, 1.0)
    air = air * np.clip((z - level) / 1.5 + 0.5, 0.0, 1.0)
    volume = chest.hu[box]
    volume[...] = volume * (1.0 - air) + CAVITY_AIR_HU * air
    return {
        "finding": "cavity with air-fluid level",
        "side": side,
        "diameter_mm": diameter_mm,
        "wall_mm": wall_mm,
    }
