"""Tubes, lines and implants, placed along the patient's airway, veins and bones."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from data.generator.anatomy import Chest, hollow_tube, rigid_body, solid_tube

VEIN_STEPS = 5


def tracheal_tube(
    chest: Chest, rng: np.random.Generator, *, above_carina_mm: float
) -> dict[str, object]:
    """Place a tracheal tube; a negative distance puts its tip into the right main bronchus.

    Parameters
    ----------
    chest : Chest
        The chest to which the device is added.
    rng : numpy.random.Generator
        Unused; all findings have the same signature.
    above_carina_mm : float
        Height of the tip above the carina.
    """
    del rng
    carina, airway = airway_course(chest)
    mm = chest.spacing_mm
    tip_mm = carina[2] + above_carina_mm
    knots = [p for p in airway if p[2] > max(tip_mm, carina[2] + 4.0)]
    knots = knots[:: max(len(knots) // 7, 1)]
    if above_carina_mm < 0:
        knots = [*_right_bronchus(chest, carina, tip_mm), *knots]
    else:
        knots = [np.array([*knots[0][:2], tip_mm]), *knots]
    top = chest.hu.shape[2] * mm[2]
    highest = knots[-1]
    knots.append(highest + np.array([0.0, 4.0, 0.5 * (top - highest[2])]))
    knots.append(highest + np.array([0.0, 10.0, top - highest[2]]))
    path = _smooth_course(np.array(knots))
    chest.devices += hollow_tube(path, radius_mm=5.0, g_per_cm=0.16, stripe_g_per_cm=0.14)
    chest.landmarks["carina"], chest.landmarks["tube tip"] = carina, path[0]
    return {"finding": "endotracheal tube", "tip_above_carina_mm": above_carina_mm}


def airway_course(chest: Chest) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
    """Return the carina and the centre line of the trachea.

    Returns
    -------
    carina : ndarray, shape (3,)
        Position in mm of the highest level at which the airway has two separate lumina.
    course : list of ndarray
        Centres of the trachea in mm, from the carina upwards.
    """
    trachea = chest.organ("trachea")
    levels = np.flatnonzero(trachea.any(axis=(0, 1)))
    carina_level = levels[0]
    for k in levels[::-1]:
        parts, count = ndimage.label(trachea[:, :, k])
        if count >= 2 and np.sort(np.bincount(parts.ravel())[1:])[-2] > 25:
            carina_level = k
            break
    centres = [
        np.array([*ndimage.center_of_mass(trachea[:, :, k]), k]) * chest.spacing_mm
        for k in levels[levels >= carina_level]
    ]
    smooth = ndimage.gaussian_filter1d(np.array(centres), 4.0, axis=0)
    return np.array([*smooth[0][:2], carina_level * chest.spacing_mm[2]]), list(smooth)


def _right_bronchus(
    chest: Chest, carina: NDArray[np.float64], tip_mm: float
) -> list[NDArray[np.float64]]:
    """Return two knots along the right main bronchus, starting at the tip of the tube."""
    trachea = chest.organ("trachea")
    knots = []
    for z_mm in (tip_mm, (tip_mm + carina[2]) / 2):
        k = int(z_mm / chest.spacing_mm[2])
        points = np.argwhere(trachea[:, :, k]) * chest.spacing_mm[:2]
        right = points[points[:, 0] > carina[0] + 3.0]
        down = carina[2] - z_mm
        centre = right.mean(axis=0) if len(right) else carina[:2] + np.array([0.75 * down, 0.0])
        knots.append(np.array([*centre, z_mm]))
    return knots


def _centre_line(chest: Chest, organ: str, axis: int, count: int) -> list[NDArray[np.float64]]:
    """Return points on the centre line of an organ, in ascending order of an axis."""
    points = np.argwhere(chest.organ(organ)) * chest.spacing_mm
    edges = np.quantile(points[:, axis], np.linspace(0.04, 0.96, count + 1))
    middle = []
    for low, high in pairwise(edges):
        part = points[(points[:, axis] >= low) & (points[:, axis] <= high)]
        middle.append(part.mean(axis=0))
    return middle


def _superior_cava(chest: Chest) -> list[NDArray[np.float64]]:
    """Return points on the superior vena cava from top to bottom."""
    return _centre_line(chest, "superior_vena_cava", 2, VEIN_STEPS)[::-1]


def _right_atrium(chest: Chest) -> NDArray[np.float64]:
    heart = np.argwhere(chest.organ("heart")[::2, ::2, ::2]) * 2 * chest.spacing_mm
    low, high = heart.min(axis=0), heart.max(axis=0)
    return low + (high - low) * np.array([0.80, 0.42, 0.42])


def central_line(chest: Chest, rng: np.random.Generator) -> dict[str, object]:
    """Place a right internal jugular catheter that ends in the superior vena cava."""
    del rng
    brachiocephalic = _centre_line(chest, "brachiocephalic_vein_right", 2, 3)[::-1]
    neck = brachiocephalic[0]
    top = chest.hu.shape[2] * chest.spacing_mm[2]
    above = [
        neck + np.array([24.0, 4.0, 0.85 * (top - neck[2])]),
        neck + np.array([15.0, 2.0, 0.35 * (top - neck[2])]),
    ]
    knots = np.array([*above, *brachiocephalic, *_superior_cava(chest)[:-1]])
    chest.devices.append(solid_tube(knots, radius_mm=1.2, g_per_cm=0.11))
    chest.landmarks["line tip"] = knots[-1]
    return {"finding": "central venous catheter", "side": "right", "tip": "superior vena cava"}


def gastric_tube(chest: Chest, rng: np.random.Generator) -> dict[str, object]:
    """Place a nasogastric tube through the oesophagus into the stomach."""
    del rng
    gullet = _centre_line(chest, "esophagus", 2, 9)[::-1]
    top = chest.hu.shape[2] * chest.spacing_mm[2]
    stomach = np.argwhere(chest.organ("stomach")) * chest.spacing_mm
    first = gullet[0] + np.array([-3.0, 8.0, top - gullet[0][2]])
    second = gullet[-1] + 0.35 * (stomach.mean(axis=0) - gullet[-1])
    last = stomach.mean(axis=0) + np.array([4.0, 0.0, -16.0])
    knots = np.array([first, *gullet, second, stomach.mean(axis=0), last])
    chest.devices.append(solid_tube(knots, radius_mm=1.9, g_per_cm=0.12))
    return {"finding": "nasogastric tube", "tip": "stomach"}


def pacemaker(chest: Chest, rng: np.random.Generator) -> dict[str, object]:
    """Place a left pectoral pacemaker with right atrial and right ventricular leads."""
    del rng
    can = _pectoral_point(chest, "left", below_apex_mm=40.0, lateral=0.62)
    x, y, z = np.meshgrid(
        np.arange(-24, 24.1, 0.8),
        np.arange(-3.5, 3.6, 1.0),
        np.arange(-21, 21.1, 0.8),
        indexing="ij",
    )
    inside = (np.abs(x) / 24) ** 3 + (np.abs(z) / 21) ** 3 < 1.0
    body = np.stack([x[inside], y[inside], z[inside]], axis=1) + can
    battery = body[body[:, 2] < can[2] + 3.0]
    chest.devices += [
        rigid_body(body, total_g=20.0, radius_mm=0.8),
        rigid_body(battery, total_g=22.0, radius_mm=0.8),
    ]
    heart = np.argwhere(chest.organ("heart")[::2, ::2, ::2]) * 2 * chest.spacing_mm
    low, high = heart.min(axis=0), heart.max(axis=0)
    apex = low + (high - low) * np.array([0.22, 0.80, 0.13])
    mid = low + (high - low) * np.array([0.58, 0.70, 0.22])
    atrium = _right_atrium(chest)
    for shift, ending in (
        (0.0, [atrium, mid, apex]),
        (2.2, [atrium + np.array([-3, 12, -14]), atrium + np.array([-8, 26, 8])]),
    ):
        knots = [
            can + np.array([14, 0, 18 + shift]),
            *_left_subclavian(chest),
            *_superior_cava(chest)[1:],
        ]
        knots = [k + np.array([shift, 0.0, shift]) for k in knots] + [np.array(e) for e in ending]
        path = _smooth_course(np.array(knots))
        chest.devices.append(solid_tube(path, radius_mm=0.95, g_per_cm=0.16))
        tip = np.array([path[-1] - [0.0, 0.0, 2.0], path[-1] + [0.0, 0.0, 2.0]])
        chest.devices.append(solid_tube(tip, radius_mm=1.3, g_per_cm=0.4))
    return {"finding": "pacemaker", "side": "left", "leads": ["right atrium", "right ventricle"]}


def _smooth_course(knots: NDArray[np.float64]) -> NDArray[np.float64]:
    """Smooth a course without moving its ends, because a lead is elastic."""
    for _ in range(2):
        knots[1:-1] = 0.5 * knots[1:-1] + 0.25 * (knots[:-2] + knots[2:])
    return knots


def _left_subclavian(chest: Chest) -> list[NDArray[np.float64]]:
    """Return knots from below the left clavicle along the left brachiocephalic vein to the cava."""
    vein = _centre_line(chest, "brachiocephalic_vein_left", 0, 3)
    artery = _centre_line(chest, "subclavian_artery_left", 0, 4)
    outer = artery[0] + np.array([-2.0, 8.0, 0.0])
    return [outer, 0.5 * (artery[2] + vein[0]) + np.array([0.0, 8.0, 4.0]), *vein]


def _pectoral_point(
    chest: Chest, side: str, *, below_apex_mm: float, lateral: float
) -> NDArray[np.float64]:
    """Return a point in the fat in front of the upper ribs."""
    box = chest.box(chest.lung(side), 0.0)
    mm = chest.spacing_mm
    k = int(box[2].stop - below_apex_mm / mm[2])
    medial, outer = (box[0].start, box[0].stop) if side == "right" else (box[0].stop, box[0].start)
    i = int(medial + lateral * (outer - medial))
    front = np.flatnonzero(chest.hu[i, :, k] > -500.0)[-1]
    return np.array([i * mm[0], front * mm[1] - 9.0, k * mm[2]])


def port(chest: Chest, rng: np.random.Generator) -> dict[str, object]:
    """Place a right pectoral port with a catheter through the subclavian vein to the cava."""
    del rng
    seat = _pectoral_point(chest, "right", below_apex_mm=52.0, lateral=0.55)
    angle = np.linspace(0, 2 * np.pi, 160, endpoint=False)
    rings = []
    for radius, share in ((11.5, 0.3), (8.5, 1.0), (7.8, 1.0)):
        for depth in np.arange(-4.0, 4.1, 0.8):
            ring = np.stack([radius * np.cos(angle), 0 * angle + depth, radius * np.sin(angle)], 1)
            rings.append(ring[:: 1 if share == 1.0 else 3])
    floor = np.argwhere(np.hypot(*(np.indices((25, 25)) - 12)) < 10) - 12.0
    base = np.stack([floor[:, 0] * 0.8, 0 * floor[:, 0] - 4.0, floor[:, 1] * 0.8], axis=1)
    chest.devices += [
        rigid_body(np.vstack(rings) + seat, total_g=5.0, radius_mm=0.6),
        rigid_body(base + seat, total_g=1.6, radius_mm=0.7),
    ]
    vein = _centre_line(chest, "brachiocephalic_vein_right", 2, 3)[::-1]
    artery = _centre_line(chest, "subclavian_artery_right", 0, 4)
    entry = artery[1] + np.array([6.0, 8.0, 2.0])
    knots = [seat + np.array([4, 0, 9]), 0.5 * (seat + entry) + np.array([10.0, 0.0, 6.0]), entry]
    knots += [*vein, *_superior_cava(chest)[:-1]]
    chest.devices.append(solid_tube(np.array(knots), radius_mm=1.2, g_per_cm=0.10))
    return {"finding": "implanted port", "side": "right", "tip": "superior vena cava"}


def sternal_wires(chest: Chest, rng: np.random.Generator, *, count: int = 6) -> dict[str, object]:
    """Place steel wires around the sternum, as after a median sternotomy."""
    sternum = chest.organ("sternum")
    box = chest.box(sternum, 0.0)
    angle = np.linspace(0.0, 2 * np.pi, 26)
    for share in np.linspace(0.12, 0.86, count):
        k = int(box[2].start + share * (box[2].stop - box[2].start))
        voxels = np.argwhere(sternum[:, :, k - 2 : k + 3].any(axis=2)) * chest.spacing_mm[:2]
        centre, half = voxels.mean(axis=0), 0.5 * np.ptp(voxels, axis=0)
        half = np.clip(half * 0.75, [9.0, 7.0], [16.0, 11.0])
        tilt = rng.normal(0.0, 1.5)
        loop = np.stack(
            [
                centre[0] + half[0] * np.cos(angle),
                centre[1] + half[1] * np.sin(angle),
                k * chest.spacing_mm[2] + tilt * np.cos(angle) + 1.2 * np.sin(angle),
            ],
            axis=1,
        )
        chest.devices.append(solid_tube(loop, radius_mm=0.5, g_per_cm=0.11))
        knot = loop[6] + np.array([[0.0, 0.5, 0.0], [rng.normal(0, 2), 1.0, 3.0], [1.5, 1.0, -3.0]])
        chest.devices.append(solid_tube(knot, radius_mm=0.7, g_per_cm=0.2))
    return {"finding": "sternal wires", "count": count}
