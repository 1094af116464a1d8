"""Findings in lung, pleura and diaphragm, and the random fields that shape them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from data.generator.anatomy import AIR_HU, Chest

Box = tuple[slice, slice, slice]


def grid_mm(
    chest: Chest, box: Box
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the coordinates of a box in millimetres of the volume, as arrays that broadcast."""
    x, y, z = (np.arange(s.start, s.stop) * mm for s, mm in zip(box, chest.spacing_mm, strict=True))
    return x[:, None, None], y[None, :, None], z[None, None, :]


def distance_mm(chest: Chest, box: Box, centre_mm: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the distance of each voxel of a box from a point."""
    x, y, z = grid_mm(chest, box)
    squared = (x - centre_mm[0]) ** 2 + (y - centre_mm[1]) ** 2 + (z - centre_mm[2]) ** 2
    return np.sqrt(squared).astype(np.float32)


def box_around(chest: Chest, centre_mm: NDArray[np.float64], reach_mm: float) -> Box:
    """Return the box of voxels within a distance of a point, limited to the volume."""
    slices = []
    for axis in range(3):
        mm = chest.spacing_mm[axis]
        low = max(int((centre_mm[axis] - reach_mm) / mm), 0)
        high = min(int((centre_mm[axis] + reach_mm) / mm) + 2, chest.hu.shape[axis])
        slices.append(slice(low, high))
    return slices[0], slices[1], slices[2]


def random_field(
    chest: Chest, box: Box, grain_mm: float, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Draw a smooth random field over a box, with mean 0, standard deviation 1 and a grain."""
    shape = tuple(s.stop - s.start for s in box)
    # The grain is larger than a voxel, so that a coarser grid suffices.
    steps = [max(int(grain_mm / 2.0 / mm), 1) for mm in chest.spacing_mm]
    small = tuple(n // step + 3 for n, step in zip(shape, steps, strict=True))
    sigma = [grain_mm / (mm * step) for mm, step in zip(chest.spacing_mm, steps, strict=True)]
    field = ndimage.gaussian_filter(rng.standard_normal(small).astype(np.float32), sigma)
    field = ndimage.zoom(field, steps, order=1, grid_mode=True, mode="nearest")
    field = field[: shape[0], : shape[1], : shape[2]]
    return (field - field.mean()) / field.std()


def blend(chest: Chest, box: Box, weight: NDArray[np.float32], hu: float) -> None:
    """Mix tissue of a CT number into a box, without making any voxel less dense."""
    volume = chest.hu[box]
    mixed = volume * (1.0 - weight) + np.float32(hu) * weight
    np.maximum(volume, mixed, out=volume)


def pleural_cavity(chest: Chest, side: str) -> tuple[Box, NDArray[np.bool_]]:
    """Return the box around a lung, and the mask of the lung with its vessels in it."""
    box = chest.box(chest.lung(side), 6.0)
    lung = np.zeros(tuple(s.stop - s.start for s in box), bool)
    lung |= chest.lung(side)[box]
    closed = ndimage.binary_closing(lung, iterations=4)
    open_air = (chest.hu[box] < -500.0) & ndimage.binary_dilation(closed, iterations=2)
    blocked = np.isin(chest.labels[box], [chest.names["trachea"], chest.names["esophagus"]])
    other = chest.lung("right" if side == "left" else "left")[box]
    return box, (closed | open_air) & ~blocked & ~other


def wall_distance_mm(chest: Chest, box: Box, inside: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return the distance of each voxel to the rib cage, but not mediastinum or diaphragm."""
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
    """Return a point in a lung by its relative position.

    Parameters
    ----------
    chest : Chest
        The patient.
    side : str
        ``"left"`` or ``"right"``.
    height, lateral, depth : float
        Position from base to apex, from medial to lateral and from back to front, each 0 to 1.
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


DIAPHRAGM_MM = 3.0
GAS_HU = -990.0


def free_air(chest: Chest, rng: np.random.Generator, *, thickness_mm: float) -> dict[str, object]:
    """Insert free intraperitoneal air: a crescent under the right dome of an upright patient.

    Parameters
    ----------
    chest : Chest
        The chest, which is changed in place.
    rng : numpy.random.Generator
        Unused; all findings have the same signature.
    thickness_mm : float
        Largest thickness of the crescent.
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
    """Insert a hiatal hernia: a retrocardiac sac with gas above a fluid level.

    Parameters
    ----------
    chest : Chest
        The chest, which is changed in place.
    rng : numpy.random.Generator
        Generator of the shape of the sac.
    diameter_mm : float
        Mean outer diameter of the sac.
    """
    heart = chest.box(chest.organ("heart"), 0.0)
    mm = chest.spacing_mm
    level = int(heart[2].start + 0.26 * (heart[2].stop - heart[2].start))
    gullet = np.argwhere(chest.organ("esophagus")[:, :, level])
    centre = np.array([*(gullet.mean(axis=0) * mm[:2]), level * mm[2]])
    centre += [-10.0, 2.0, 6.0]
    radius = diameter_mm / 2.0
    box = box_around(chest, centre, radius * 1.4)
    distance = distance_mm(chest, box, centre) * (1.0 + 0.09 * random_field(chest, box, 13.0, rng))
    _, _, z = grid_mm(chest, box)
    spared = chest.bones()[box] | chest.organ("heart", "aorta")[box]
    spared = 1.0 - ndimage.gaussian_filter(spared.astype(np.float32), 1.2)
    sac = np.clip((radius - distance) / 3.0 + 0.5, 0.0, 1.0) * spared
    blend(chest, box, sac.astype(np.float32), 10.0)
    gas = np.clip((radius - 4.5 - distance) / 3.0 + 0.5, 0.0, 1.0) * spared
    gas = gas * np.clip((z - centre[2] - 4.0) / 1.5 + 0.5, 0.0, 1.0)
    volume = chest.hu[box]
    volume[...] = volume * (1.0 - gas) + GAS_HU * gas
    return {"finding": "hiatal hernia", "diameter_mm": diameter_mm}


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
    """Fill airspaces with exudate, with a sharp edge at fissures and with air in the bronchi.

    Parameters
    ----------
    chest : Chest
        The chest, which is changed in place.
    rng : numpy.random.Generator
        Generator of texture and bronchi.
    lobe : str
        The lobe, a key of `LOBES`.
    focus : tuple of float
        Centre relative to the bounding box of the lobe: from left to right, depth and height.
    radius_mm : float
        Radius at which the density has decreased to one half.
    density : float
        Share of the airspace that is filled at the centre.
    """
    mask = chest.organ(LOBES[lobe])
    box = chest.box(mask, 3.0)
    inside = ndimage.binary_closing(mask[box], iterations=4)
    centre = np.array([s.start + f * (s.stop - s.start) for s, f in zip(box, focus, strict=True)])
    centre = centre * chest.spacing_mm
    depth = radius_mm - distance_mm(chest, box, centre)
    ragged = (
        depth / 9.0
        + 0.75 * random_field(chest, box, 9.0, rng)
        + 0.4 * random_field(chest, box, 4.0, rng)
    )
    weight = 1.0 / (1.0 + np.exp(-np.clip(1.6 * ragged, -30.0, 30.0)))
    grain = np.clip(0.92 + 0.16 * random_field(chest, box, 2.2, rng), 0.0, 1.0)
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
    """Draw air-filled bronchi from the hilum through the consolidated lung."""
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
    distance = ndimage.distance_transform_edt(clear, sampling=chest.spacing_mm)
    return np.clip(2.1 - distance, 0.0, 1.0).astype(np.float32) * 0.9


def oedema(chest: Chest, rng: np.random.Generator, *, severity: float) -> dict[str, object]:
    """Insert cardiogenic oedema: perihilar haze, thick vessels, septal lines at the bases.

    Parameters
    ----------
    chest : Chest
        The chest, which is changed in place.
    rng : numpy.random.Generator
        Generator of the texture.
    severity : float
        Severity; 1 is moderate interstitial and early alveolar oedema.
    """
    for side in ("left", "right"):
        box, inside = pleural_cavity(chest, side)
        hilum = lung_point_mm(chest, side, 0.5, 0.12, 0.45)
        x, y, z = grid_mm(chest, box)
        distance = ((x - hilum[0]) / 72.0) ** 2 + ((y - hilum[1]) / 75.0) ** 2
        distance = np.exp(-(distance + ((z - hilum[2]) / 82.0) ** 2))
        patchy = np.clip(0.75 + 0.35 * random_field(chest, box, 8.0, rng), 0.0, 2.0)
        volume = chest.hu[box]
        vessels = ndimage.grey_dilation(volume, size=(4, 4, 3)) * inside
        thick = 0.55 * severity * (inside & (vessels > -650.0) & (volume < -300.0))
        thick = ndimage.gaussian_filter(thick.astype(np.float32), 0.6)
        volume += thick * 0.55 * (vessels - volume) * inside
        haze = severity * (320.0 * distance * patchy + 40.0) * inside
        volume += (haze * (volume < -250.0)).astype(np.float32)
        volume += severity * 70.0 * _septa(chest, box, inside, rng)
    return {"finding": "pulmonary oedema", "severity": severity}


def _septa(
    chest: Chest, box: Box, inside: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.float32]:
    """Draw thickened interlobular septa: short horizontal sheets at the lower lateral wall."""
    _, _, z = grid_mm(chest, box)
    bottom = float(z.min())
    edge = ndimage.distance_transform_edt(inside, sampling=chest.spacing_mm)
    zone = inside & (edge < 16.0) & (z < bottom + 95.0)
    wave = random_field(chest, box, 5.0, rng) * 2.0 + 2 * np.pi * z / 8.5
    sheet = np.clip(np.cos(wave) - 0.86, 0.0, None) / 0.14
    return (sheet * zone * (chest.hu[box] < -500.0)).astype(np.float32)


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
) -> dict[str, object]:
    """Insert a solid nodule or mass of a known mean diameter.

    Parameters
    ----------
    chest : Chest
        The chest, which is changed in place.
    rng : numpy.random.Generator
        Generator of the shape of the margin.
    side : str
        ``"left"`` or ``"right"``.
    place : tuple of float
        Relative height, lateral position and depth; see `lung_point_mm`.
    diameter_mm : float
        Mean diameter.
    lobulation : float
        Depth of the undulation of the margin as a share of the radius.
    """
    centre = lung_point_mm(chest, side, *place)
    radius = diameter_mm / 2.0
    box = box_around(chest, centre, radius * 1.5 + 4.0)
    margin = radius * (1.0 + lobulation * random_field(chest, box, max(radius * 0.45, 2.0), rng))
    weight = np.clip((margin - distance_mm(chest, box, centre)) / 2.2 + 0.5, 0.0, 1.0)
    blend(chest, box, weight.astype(np.float32), SOLID_HU)
    chest.landmarks[f"nodule {side}"] = centre
    return {
        "finding": "nodule" if diameter_mm <= 30 else "mass",
        "side": side,
        "diameter_mm": diameter_mm,
        "height_share": place[0],
        "hu": SOLID_HU,
    }


def metastases(
    chest: Chest,
    rng: np.random.Generator,
    *,
    count: int,
    smallest_mm: float,
    largest_mm: float,
) -> dict[str, object]:
    """Insert many round nodules in both lungs, none of which is hidden behind the diaphragm."""
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
        As for `nodule`; the diameter is the outer diameter.
    wall_mm : float
        Mean thickness of the wall.
    fluid_share : float
        Height of the fluid as a share of the height of the cavity.
    """
    centre = lung_point_mm(chest, side, *place)
    radius = diameter_mm / 2.0
    box = box_around(chest, centre, radius * 1.6 + 4.0)
    distance = distance_mm(chest, box, centre)
    outer = radius * (1.0 + 0.10 * random_field(chest, box, radius * 0.35, rng))
    halo = np.clip(1.2 - (distance - outer) / 16.0, 0.0, 1.0) * 0.55
    halo *= np.clip(0.8 + 0.5 * random_field(chest, box, 4.0, rng), 0.0, 1.0)
    blend(chest, box, halo.astype(np.float32), -350.0)
    solid = np.clip((outer - distance) / 3.0 + 0.5, 0.0, 1.0)
    blend(chest, box, solid.astype(np.float32), SOLID_HU)
    inner = radius - wall_mm * (1.0 + 0.35 * random_field(chest, box, 7.0, rng))
    _, _, z = grid_mm(chest, box)
    hollow = radius - wall_mm
    level = centre[2] - hollow + 2.0 * hollow * fluid_share
    air = np.clip((inner - distance) / 2.4 + 0.5, 0.0, 1.0)
    air = air * np.clip((z - level) / 1.5 + 0.5, 0.0, 1.0)
    volume = chest.hu[box]
    volume[...] = volume * (1.0 - air) + CAVITY_AIR_HU * air
    return {
        "finding": "cavity with air-fluid level",
        "side": side,
        "diameter_mm": diameter_mm,
        "wall_mm": wall_mm,
    }


FLUID_HU = 8.0
PLEURA_HU = 40.0


def effusion(
    chest: Chest, rng: np.random.Generator, *, side: str, level: float, climb_mm: float = 55.0
) -> dict[str, object]:
    """Insert free fluid in an upright patient, with a meniscus that rises along the rib cage.

    Parameters
    ----------
    chest : Chest
        The chest, which is changed in place.
    rng : numpy.random.Generator
        Unused; all findings have the same signature.
    side : str
        ``"left"`` or ``"right"``.
    level : float
        Height of the central fluid level as a share of the height of the lung.
    climb_mm : float
        Height above this level to which the fluid rises at the rib cage.

    Returns
    -------
    dict
        The volume of the fluid in ml, and the level.
    """
    del rng
    box, inside = pleural_cavity(chest, side)
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
    """Insert air in the pleural space: the lung shrinks towards its hilum and keeps its mass.

    Parameters
    ----------
    chest : Chest
        The chest, which is changed in place.
    rng : numpy.random.Generator
        Unused; all findings have the same signature.
    side : str
        ``"left"`` or ``"right"``.
    collapse : float
        Linear shrinkage towards the hilum; 0.15 is small and 0.3 is large.

    Returns
    -------
    dict
        The distance from cupola to lung apex in mm, and the share of air in the cavity.
    """
    del rng
    box, inside = pleural_cavity(chest, side)
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
    """Return the position of the hilum: at the medial border, slightly behind and below centre."""
    voxels = np.argwhere(inside[::2, ::2, ::2]) * 2.0
    low, high = voxels.min(axis=0), voxels.max(axis=0)
    level = low[2] + 0.42 * (high[2] - low[2])
    slab = voxels[np.abs(voxels[:, 2] - level) < 8]
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
