"""What the detector records: primary beam, scatter behind the grid, blur and quantum noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

# Behind a 12:1 grid scatter still takes more than half of the contrast in the mediastinum and far
# less in the lungs (Niklason et al. 1981, doi 10.1118/1.595027); a broad kernel has that effect.
SCATTER_FRACTION = 0.28
SCATTER_SIGMA_MM = 38.0
# Blur of an indirect CsI flat panel, about 0.4 mm at half maximum (Samei & Flynn, Med Phys
# 2003;30:608-622).
BLUR_SIGMA_MM = 0.16


def expose(
    transmission: NDArray[np.float64],
    pixel_mm: float,
    quanta_per_pixel: float,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Turn transmission into a noisy detector signal.

    Parameters
    ----------
    transmission : ndarray of float64
        Primary transmission, 0 to 1.
    pixel_mm : float
        Detector pixel.
    quanta_per_pixel : float
        Detected quanta in an unattenuated pixel.
    rng : numpy.random.Generator
        Source of the quantum noise.

    Returns
    -------
    ndarray of float64
        Minus the log of relative detected energy: 0 in air, larger behind more tissue.
    """
    scatter = ndimage.gaussian_filter(
        np.minimum(transmission, 0.25), SCATTER_SIGMA_MM / pixel_mm, mode="nearest"
    )
    total = transmission + SCATTER_FRACTION * scatter
    total = ndimage.gaussian_filter(total, BLUR_SIGMA_MM / pixel_mm)
    counts = rng.poisson(total * quanta_per_pixel)
    return -np.log(np.maximum(counts, 1) / quanta_per_pixel)
