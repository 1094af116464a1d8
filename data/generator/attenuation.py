"""X-ray attenuation of the three materials of which every simulated radiograph is made.

Mass attenuation coefficients are those of NIST Standard Reference Database 126 (Hubbell & Seltzer,
NISTIR 5632, doi 10.18434/T4D01F): liquid water, cortical bone (ICRU-44), titanium.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ENERGIES_KEV = np.array([40.0, 50.0, 60.0, 80.0, 100.0])

WATER_CM2_PER_G = np.array([0.2683, 0.2269, 0.2059, 0.1837, 0.1707])
CORTICAL_BONE_CM2_PER_G = np.array([0.6655, 0.4242, 0.3148, 0.2229, 0.1855])
TITANIUM_CM2_PER_G = np.array([2.214, 1.213, 0.7661, 0.4052, 0.2721])

# Five-line stand-in for a 120 kVp tungsten spectrum behind 3 mm Al, as the detector absorbs it.
SPECTRUM_WEIGHTS = np.array([0.13, 0.26, 0.29, 0.21, 0.11])

CORTICAL_BONE_G_PER_CM3 = 1.92
CT_EFFECTIVE_ENERGY_KEV = 70.0
SOFT_TISSUE_HU = 60.0


def cortical_bone_hu() -> float:
    """Hounsfield number of solid cortical bone at the CT's effective energy.

    Returns
    -------
    float
        HU, from NIST coefficients interpolated log-log to `CT_EFFECTIVE_ENERGY_KEV`.
    """
    bone = _at_ct_energy(CORTICAL_BONE_CM2_PER_G) * CORTICAL_BONE_G_PER_CM3
    water = _at_ct_energy(WATER_CM2_PER_G)
    return float(1000.0 * (bone / water - 1.0))


def material_densities(
    hu: NDArray[np.float32],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Split a CT volume into water-like and bone densities.

    Up to `SOFT_TISSUE_HU` a voxel is water-like matter of density ``1 + HU / 1000``. Above it, the
    voxel is a mixture by volume of soft tissue and solid cortical bone, which gives back the
    measured HU at the CT's effective energy.

    Parameters
    ----------
    hu : ndarray of float32
        CT numbers in HU, any shape.

    Returns
    -------
    water, bone : ndarray of float32
        Densities in g/cm3, same shape.
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
    """Share of the detected primary beam that passes the three area densities (Beer-Lambert).

    Parameters
    ----------
    water_g_per_cm2, bone_g_per_cm2, titanium_g_per_cm2 : ndarray of float32
        Area densities along each ray in g/cm2, equal shapes.

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
    """Coefficient at the CT's effective energy; NIST advises log-log interpolation."""
    log_energy = np.log(CT_EFFECTIVE_ENERGY_KEV)
    return float(np.exp(np.interp(log_energy, np.log(ENERGIES_KEV), np.log(coefficients))))
