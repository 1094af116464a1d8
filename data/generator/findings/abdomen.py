"""Findings at and below the diaphragm: free air and hiatal hernia."""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from data.generator.anatomy import Chest
from data.generator.fields import blend, box_around, distance_mm, grid_mm, texture

DIAPHRAGM_MM = 3.0
GAS_HU = -990.0


def free_air(chest: Chest, rng: np.random.Generator, *, thickness_mm: float) -> dict[str, object]:
    """Free intraperitoneal air: a crescent under the right dome of an upright patient.

    Parameters
    ----------
    chest : Chest
        Changed in place.
    rng : numpy.random.Generator
        Unused; kept so that all findings are called alike.
    thickness_mm : float
        Thickness of the crescent at its thickest.
    """
    del rng
    lung = chest.lung("right")
    liver = chest.organ("liver")
    box = chest.box(lung | liver, 2.0)
    lung, liver = lung[box], liver[box]
    z = np.arange(lung.shape[2]) * chest.spacing_mm[2]
    has_lung = lung.any(axis=2)
    base = np.where(has_lung, z[np.argmax(lung, axis=2)], np.nan)
    over_liver = has_lung & liver.any(axis=2)
    over_liver &= ndimage.binary_erosion(over_liver, iterations=10)
    summit = np.nanpercentile(base[over_liver], 99)
    fall = np.clip((base - (summit - 26.0)) / 26.0, 0.0, 1.0)
    inward = np.clip(ndimage.distance_transform_edt(over_liver) * 0.7 / 22.0, 0.0, 1.0)
    thick = np.where(over_liver, thickness_mm * np.sqrt(fall) * inward, 0.0)
    thick = ndimage.gaussian_filter(np.nan_to_num(thick), 4.0)
    depth = ndimage.gaussian_filter(np.nan_to_num(base, nan=summit - 40.0), 1.5)[:, :, None] - z
    gas = np.clip((depth - DIAPHRAGM_MM) / 1.2 + 0.5, 0.0, 1.0)
    gas *= np.clip((DIAPHRAGM_MM + thick[:, :, None] - depth) / 1.2 + 0.5, 0.0, 1.0)
    gas *= (thick > 1.0)[:, :, None] & ~lung
    volume = chest.hu[box]
    volume[...] = volume * (1.0 - gas) + GAS_HU * gas
    return {
        "finding": "free intraperitoneal air",
        "side": "right",
        "thickest_mm": round(float(thick.max()), 1),
    }


def hiatal_hernia(
    chest: Chest, rng: np.random.Generator, *, diameter_mm: float
) -> dict[str, object]:
    """Stomach in the chest: a retrocardiac sac with gas above a fluid level.

    Parameters
    ----------
    chest : Chest
        Changed in place.
    rng : numpy.random.Generator
        Shape of the sac.
    diameter_mm : float
        Mean outer width of the sac.
    """
    heart = chest.box(chest.organ("heart"), 0.0)
    mm = chest.spacing_mm
    level = int(heart[2].start + 0.26 * (heart[2].stop - heart[2].start))
    gullet = np.argwhere(chest.organ("esophagus")[:, :, level])
    centre = np.array([*(gullet.mean(axis=0) * mm[:2]), level * mm[2]])
    centre += [-10.0, 2.0, 6.0]
    radius = diameter_mm / 2.0
    box = box_around(chest, centre, radius * 1.4)
    away = distance_mm(chest, box, centre) * (1.0 + 0.09 * texture(chest, box, 13.0, rng))
    _, _, z = grid_mm(chest, box)
    spared = chest.bones()[box] | chest.organ("heart", "aorta")[box]
    spared = 1.0 - ndimage.gaussian_filter(spared.astype(np.float32), 1.2)
    sac = np.clip((radius - away) / 3.0 + 0.5, 0.0, 1.0) * spared
    blend(chest, box, sac.astype(np.float32), 10.0)
    gas = np.clip((radius - 4.5 - away) / 3.0 + 0.5, 0.0, 1.0) * spared
    gas = gas * np.clip((z - centre[2] - 4.0) / 1.5 + 0.5, 0.0, 1.0)
    volume = chest.hu[box]
    volume[...] = volume * (1.0 - gas) + GAS_HU * gas
    return {"finding": "hiatal hernia", "diameter_mm": diameter_mm}
