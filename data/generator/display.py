"""From detector signal to the film on the screen: multi-scale processing, tone curve, marker."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from scipy import ndimage

SCALES_PIXELS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
# Fine detail is lifted and the broadest differences are held back, as in the multi-scale processing
# of digital radiography (Stahl et al. 2000, doi 10.1118/1.598857).
GAINS = {
    "PA": (0.6, 2.4, 2.6, 2.3, 1.8, 1.4, 1.05),
    "LATERAL": (0.6, 2.4, 2.8, 2.6, 2.3, 1.75, 1.2),
}
BASE_GAIN = {"PA": 0.66, "LATERAL": 0.60}
# 1024 levels: one level is a fifth of the noise, so the steps never show.
LEVELS = 1024
TONE_SLOPE = 4.2
TONE_MIDDLE = 0.45


def process(
    signal: NDArray[np.float64],
    lungs: NDArray[np.bool_],
    body: NDArray[np.bool_],
    view: str,
) -> NDArray[np.float64]:
    """Compress the wide range of a chest exposure so that lungs and mediastinum both show.

    Parameters
    ----------
    signal : ndarray of float64
        Detector signal (log attenuation).
    lungs, body : ndarray of bool
        Shadows of the lungs and of the whole patient on the film.
    view : str
        ``"PA"`` or ``"LATERAL"``, which are processed with different strength.

    Returns
    -------
    ndarray of float64
        Grey values from 0 (black) to 1 (white).
    """
    floor = np.percentile(signal[lungs], 0.5) * 0.75
    held = np.maximum(signal, floor)
    blurred = [held]
    for scale in SCALES_PIXELS:
        blurred.append(ndimage.gaussian_filter(held, scale, mode="nearest"))
    out = BASE_GAIN[view] * blurred[-1]
    for gain, fine, coarse in zip(GAINS[view], blurred, blurred[1:], strict=False):
        out += gain * (fine - coarse)
    dark = np.percentile(out[lungs & body], 2.0)
    bright = np.percentile(out[body], 99.0)
    grey = _tone(out, dark, bright)
    air = np.clip((signal - 0.15) / 0.25, 0.0, 1.0)
    return grey * air


def _tone(values: NDArray[np.float64], dark: float, bright: float) -> NDArray[np.float64]:
    """Apply an S-shaped tone curve that approaches black and white without clipping."""
    t = (values - dark) / (bright - dark)
    return 1.0 / (1.0 + np.exp(-TONE_SLOPE * (t - TONE_MIDDLE)))


def to_levels(grey: NDArray[np.float64], levels: int = LEVELS) -> NDArray[np.uint16]:
    """Quantise grey values to evenly spaced levels over the 16-bit range."""
    low, high = grey.min(), grey.max()
    level = np.round((grey - low) / (high - low) * (levels - 1)).astype(np.uint16)
    return level * np.uint16(65536 // levels)


def stamp_marker(grey: NDArray[np.float64], letter: str, *, on_left: bool) -> None:
    """Burn a lead side marker into an upper corner of the film, in place.

    Parameters
    ----------
    grey : ndarray of float64
        Film, 0 to 1.
    letter : str
        ``"R"`` or ``"L"``: the patient's side at that edge of the image.
    on_left : bool
        Whether it stands at the image's left edge.
    """
    size = 34
    tile = Image.new("L", (size, size), 0)
    font = ImageFont.load_default(size=28)
    ImageDraw.Draw(tile).text((size / 2, size / 2), letter, fill=255, font=font, anchor="mm")
    lead = ndimage.gaussian_filter(np.asarray(tile, dtype=np.float64) / 255.0, 0.6)
    top = 26
    left = 22 if on_left else grey.shape[1] - 22 - size
    patch = grey[top : top + size, left : left + size]
    patch[...] = np.maximum(patch, 0.97 * lead + patch * (1 - lead))
