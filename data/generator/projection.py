"""Cone-beam projection of a chest onto a flat detector, PA and left lateral, and attenuation.

The volume is summed plane by plane, each with its exact magnification. Devices, and the landmarks
that define the truth, are projected point by point through the same geometry.

Mass attenuation coefficients are those of NIST Standard Reference Database 126 (Hubbell & Seltzer,
NISTIR 5632, doi 10.18434/T4D01F): liquid water, cortical bone (ICRU-44), titanium.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage, sparse

from data.generator.anatomy import Chest, Device

ENERGIES_KEV = np.array([40.0, 50.0, 60.0, 80.0, 100.0])

WATER_CM2_PER_G = np.array([0.2683, 0.2269, 0.2059, 0.1837, 0.1707])
CORTICAL_BONE_CM2_PER_G = np.array([0.6655, 0.4242, 0.3148, 0.2229, 0.1855])
TITANIUM_CM2_PER_G = np.array([2.214, 1.213, 0.7661, 0.4052, 0.2721])

# Five energies approximate a 120 kVp tungsten spectrum behind 3 mm Al, weighted by the detector's
# absorption.
SPECTRUM_WEIGHTS = np.array([0.13, 0.26, 0.29, 0.21, 0.11])

CORTICAL_BONE_G_PER_CM3 = 1.92
CT_EFFECTIVE_ENERGY_KEV = 70.0
SOFT_TISSUE_HU = 60.0


def cortical_bone_hu() -> float:
    """Return the CT number of solid cortical bone at the effective energy of the CT.

    Returns
    -------
    float
        CT number in HU, from NIST coefficients interpolated to `CT_EFFECTIVE_ENERGY_KEV`.
    """
    bone = _at_ct_energy(CORTICAL_BONE_CM2_PER_G) * CORTICAL_BONE_G_PER_CM3
    water = _at_ct_energy(WATER_CM2_PER_G)
    return float(1000.0 * (bone / water - 1.0))


def material_densities(
    hu: NDArray[np.float32],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Split a CT volume into water-like and bone densities.

    Up to `SOFT_TISSUE_HU` a voxel is water-like matter with the density ``1 + HU / 1000``. Above
    it, the voxel is a mixture by volume of soft tissue and solid cortical bone that has the
    measured CT number at the effective energy of the CT.

    Parameters
    ----------
    hu : ndarray of float32
        CT numbers in HU, of any shape.

    Returns
    -------
    water, bone : ndarray of float32
        Densities in g/cm3, of the same shape.
    """
    bone_share = np.clip((hu - SOFT_TISSUE_HU) / (cortical_bone_hu() - SOFT_TISSUE_HU), 0.0, 1.3)
    water = np.clip(1.0 + np.minimum(hu, SOFT_TISSUE_HU) / 1000.0, 0.0, None)
    water *= np.clip(1.0 - bone_share, 0.0, 1.0)
    bone = bone_share * np.float32(CORTICAL_BONE_G_PER_CM3)
    return water.astype(np.float32), bone.astype(np.float32)


def transmission(
    water_g_per_cm2: NDArray[np.float32],
    bone_g_per_cm2: NDArray[np.float32],
    titanium_g_per_cm2: NDArray[np.float32],
) -> NDArray[np.float64]:
    """Return the share of the detected primary beam that is transmitted (Beer-Lambert).

    Parameters
    ----------
    water_g_per_cm2, bone_g_per_cm2, titanium_g_per_cm2 : ndarray of float32
        Area densities along each ray in g/cm2, of equal shape.

    Returns
    -------
    ndarray of float64
        Transmission, 0 to 1.
    """
    weights = SPECTRUM_WEIGHTS / SPECTRUM_WEIGHTS.sum()
    total = np.zeros(water_g_per_cm2.shape)
    for line, weight in enumerate(weights):
        total += weight * np.exp(
            -WATER_CM2_PER_G[line] * water_g_per_cm2
            - CORTICAL_BONE_CM2_PER_G[line] * bone_g_per_cm2
            - TITANIUM_CM2_PER_G[line] * titanium_g_per_cm2
        )
    return total


def _at_ct_energy(coefficients: NDArray[np.float64]) -> float:
    """Interpolate coefficients log-log, as NIST advises, to the effective energy of the CT."""
    log_energy = np.log(CT_EFFECTIVE_ENERGY_KEV)
    return float(np.exp(np.interp(log_energy, np.log(ENERGIES_KEV), np.log(coefficients))))


SOURCE_TO_DETECTOR_MM = 1830.0
SKIN_TO_DETECTOR_MM = 40.0
FILM_HEIGHT_PIXELS = 752
ABOVE_APEX_MM = 30.0
BELOW_SULCUS_MM = 40.0
BESIDE_LUNG_MM = {"PA": 40.0, "LATERAL": 48.0}
AIR_CUTOFF_HU = -990.0
PLANES_TOGETHER = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """The positions of source, patient and detector for one view.

    Columns of the image are positions along `across`, rows are positions along z. The left of the
    image shows the patient's right on a PA film, and the patient's front on a lateral film.

    Attributes
    ----------
    view : str
        ``"PA"`` or ``"LATERAL"``.
    along, across : int
        Volume axes of the beam and of the image columns.
    detector_mm : float
        Position of the detector on the `along` axis.
    towards : int
        Direction from source to detector on the `along` axis, +1 or -1.
    centre_across_mm, centre_z_mm : float
        Position of the central ray.
    film_mm : tuple of float
        Left, right, top and bottom of the film relative to the central ray, in the detector plane.
    pixel_mm : float
        Pixel size of the detector.
    """

    view: str
    along: int
    across: int
    detector_mm: float
    towards: int
    centre_across_mm: float
    centre_z_mm: float
    film_mm: tuple[float, float, float, float]
    pixel_mm: float

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns of the film."""
        left, right, top, bottom = self.film_mm
        rows = round((top - bottom) / self.pixel_mm)
        return rows, round((right - left) / self.pixel_mm)

    def magnification(self, along_mm: NDArray[np.float64] | float) -> NDArray[np.float64] | float:
        """Return the magnification of a plane at a position on the beam axis."""
        depth = (self.detector_mm - along_mm) * self.towards
        return SOURCE_TO_DETECTOR_MM / (SOURCE_TO_DETECTOR_MM - depth)

    def project(
        self, points_mm: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64] | float]:
        """Return column, row (0 is the centre of the first pixel) and magnification of points."""
        magnification = self.magnification(points_mm[:, self.along])
        u = -(points_mm[:, self.across] - self.centre_across_mm) * magnification
        v = (points_mm[:, 2] - self.centre_z_mm) * magnification
        column = (u - self.film_mm[0]) / self.pixel_mm - 0.5
        row = (self.film_mm[2] - v) / self.pixel_mm - 0.5
        return column, row, magnification


def view_geometry(chest: Chest, view: str) -> Geometry:
    """Set up a view so that apices and costophrenic sulci are on the film.

    Parameters
    ----------
    chest : Chest
        The patient, whose lungs determine the edges of the film.
    view : str
        ``"PA"`` or ``"LATERAL"``.
    """
    lungs = chest.lung("left") | chest.lung("right")
    body = chest.box(chest.hu > -500.0, 0.0)
    box = chest.box(lungs, 0.0)
    mm = chest.spacing_mm
    along, across = (1, 0) if view == "PA" else (0, 1)
    # The detector is in front of the patient (PA) or at the patient's left, where x is low.
    towards = 1 if view == "PA" else -1
    front = body[along].stop if towards > 0 else body[along].start
    geometry = Geometry(
        view=view,
        along=along,
        across=across,
        detector_mm=front * mm[along] + towards * SKIN_TO_DETECTOR_MM,
        towards=towards,
        centre_across_mm=(box[across].start + box[across].stop) / 2 * mm[across],
        centre_z_mm=(box[2].start + box[2].stop) / 2 * mm[2],
        film_mm=(-200.0, 200.0, 200.0, -200.0),
        pixel_mm=1.0,
    )
    return _collimate(geometry, lungs, mm)


def _collimate(geometry: Geometry, lungs: NDArray[np.bool_], mm: NDArray[np.float64]) -> Geometry:
    points = np.argwhere(lungs[::3, ::3, ::3]) * 3.0 * mm
    column, row, _ = geometry.project(points)
    margin = BESIDE_LUNG_MM[geometry.view]
    left = column.min() + 0.5 - 200.0 - margin
    right = column.max() + 0.5 - 200.0 + margin
    top = 200.0 - row.min() - 0.5 + ABOVE_APEX_MM
    bottom = 200.0 - row.max() - 0.5 - BELOW_SULCUS_MM
    pixel = (top - bottom) / FILM_HEIGHT_PIXELS
    return Geometry(
        view=geometry.view,
        along=geometry.along,
        across=geometry.across,
        detector_mm=geometry.detector_mm,
        towards=geometry.towards,
        centre_across_mm=geometry.centre_across_mm,
        centre_z_mm=geometry.centre_z_mm,
        film_mm=(float(left), float(right), float(top), float(bottom)),
        pixel_mm=float(pixel),
    )


def project_tissue(
    chest: Chest, geometry: Geometry
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the area densities of water-like matter and bone along every ray.

    Returns
    -------
    water, bone : ndarray of float32, shape `geometry.shape`
        Area densities in g/cm2.
    """
    occupied = chest.box(chest.hu > AIR_CUTOFF_HU, 0.0)[geometry.along]
    totals = [np.zeros(geometry.shape, np.float32) for _ in range(2)]
    for start in range(occupied.start, occupied.stop, PLANES_TOGETHER):
        stop = min(start + PLANES_TOGETHER, occupied.stop)
        planes = chest.hu.take(range(start, stop), axis=geometry.along)
        middle_mm = (start + stop - 1) / 2 * chest.spacing_mm[geometry.along]
        columns, rows = _plane_interpolators(chest, geometry, middle_mm)
        for total, density in zip(totals, material_densities(planes), strict=True):
            plane = density.sum(axis=geometry.along)
            if plane.any():
                total += (rows @ (columns @ plane).T).astype(np.float32)
    step_cm = chest.spacing_mm[geometry.along] / 10.0
    return totals[0] * step_cm * _path_factor(geometry), totals[1] * step_cm * _path_factor(
        geometry
    )


def _plane_interpolators(chest: Chest, geometry: Geometry, along_mm: float) -> tuple[Any, Any]:
    """Return sparse matrices that interpolate a plane to columns and rows of the film."""
    magnification = geometry.magnification(along_mm)
    n_rows, n_columns = geometry.shape
    u = geometry.film_mm[0] + (np.arange(n_columns) + 0.5) * geometry.pixel_mm
    v = geometry.film_mm[2] - (np.arange(n_rows) + 0.5) * geometry.pixel_mm
    across_mm = geometry.centre_across_mm - u / magnification
    z_mm = geometry.centre_z_mm + v / magnification
    mm = chest.spacing_mm
    shape = chest.hu.shape
    columns = _interpolation_matrix(across_mm / mm[geometry.across], shape[geometry.across])
    return columns, _interpolation_matrix(z_mm / mm[2], shape[2])


def _interpolation_matrix(position: NDArray[np.float64], n: int) -> sparse.csr_array:
    """Return a sparse matrix that interpolates n samples linearly at positions; zero outside."""
    low = np.floor(position).astype(int)
    share = position - low
    row = np.arange(len(position))
    rows, columns = np.r_[row, row], np.r_[low, low + 1]
    weights = np.r_[1.0 - share, share].astype(np.float32)
    inside = (columns >= 0) & (columns < n)
    return sparse.csr_array(
        (weights[inside], (rows[inside], columns[inside])), shape=(len(position), n)
    )


def _path_factor(geometry: Geometry) -> NDArray[np.float32]:
    """Return the factor by which the path of an oblique ray through a plane is longer."""
    n_rows, n_columns = geometry.shape
    u = geometry.film_mm[0] + (np.arange(n_columns) + 0.5) * geometry.pixel_mm
    v = geometry.film_mm[2] - (np.arange(n_rows) + 0.5) * geometry.pixel_mm
    slant = (u[None, :] ** 2 + v[:, None] ** 2) / SOURCE_TO_DETECTOR_MM**2
    return np.sqrt(1.0 + slant).astype(np.float32)


def project_devices(devices: list[Device], geometry: Geometry) -> NDArray[np.float32]:
    """Return the area density of titanium in g/cm2; each mass is spread over a projected disc."""
    total = np.zeros(geometry.shape, np.float32)
    for device in devices:
        column, row, magnification = geometry.project(device.points_mm)
        # Attenuation depends on the mass per area in the plane of the patient, not the detector.
        area_cm2 = (geometry.pixel_mm / magnification / 10.0) ** 2
        sharp = _distribute(column, row, device.mass_g / area_cm2, geometry.shape)
        radius = device.radius_mm * float(np.mean(magnification)) / geometry.pixel_mm
        total += ndimage.convolve(sharp, _sphere_kernel(radius), mode="constant")
    return total


def _distribute(
    column: NDArray[np.float64],
    row: NDArray[np.float64],
    weight: NDArray[np.float64] | float,
    shape: tuple[int, int],
) -> NDArray[np.float32]:
    """Distribute weights bilinearly over the pixels."""
    film = np.zeros(shape[0] * shape[1])
    c, r = np.floor(column).astype(int), np.floor(row).astype(int)
    t, s = column - c, row - r
    for dc, dr, share in (
        (0, 0, (1 - t) * (1 - s)),
        (1, 0, t * (1 - s)),
        (0, 1, (1 - t) * s),
        (1, 1, t * s),
    ):
        x, y = c + dc, r + dr
        inside = (x >= 0) & (x < shape[1]) & (y >= 0) & (y < shape[0])
        index = y[inside] * shape[1] + x[inside]
        film += np.bincount(index, (weight * share)[inside], minlength=film.size)
    return film.reshape(shape).astype(np.float32)


def _sphere_kernel(radius_pixels: float) -> NDArray[np.float32]:
    """Return the projected thickness of a sphere, normalised to a sum of 1."""
    reach = int(np.ceil(radius_pixels)) + 1
    fine = (np.arange((2 * reach + 1) * 5) - (2 * reach + 1) * 5 // 2) / 5.0
    squared = fine[:, None] ** 2 + fine[None, :] ** 2
    chord = np.sqrt(np.clip(max(radius_pixels, 0.4) ** 2 - squared, 0.0, None))
    kernel = chord.reshape(2 * reach + 1, 5, 2 * reach + 1, 5).sum(axis=(1, 3))
    return (kernel / kernel.sum()).astype(np.float32)
