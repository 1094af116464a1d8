"""A film as a model is given it: 8 bits, in the window the reading page opens it in."""

import math
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from study.films import grey, window
from study.films.decoding import Grey

OUTERMOST = 0.01
"""Of a film of more than 8 bits without a window of its own: the darkest and the lightest share."""

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_AVERAGE = 3  # the filter of rows: each byte less the mean of those on its left and above it


def rendered(data: bytes, resolution: str | int = "full") -> bytes:
    """Return a film as an 8-bit greyscale PNG without metadata, as the reading page opens it.

    Parameters
    ----------
    data : bytes
        The film's file.
    resolution : {"full", "quarter"} or int
        Every pixel, a quarter of each side, or this many pixels across; never enlarged. Samples are
        averaged over the area of a pixel before the window is applied, as on the reading page.

    Raises
    ------
    BadFile
        The film cannot be decoded.
    """
    pixels = grey(data)
    low, high = opening_window(pixels, window(data))
    smaller = _averaged(pixels, resolution)
    if smaller is None:  # each grey once is less to work out than each pixel
        shades = _shaded(np.arange(np.iinfo(pixels.dtype).max + 1), low, high)[pixels]
    else:
        shades = _shaded(smaller, low, high)
    return _png(shades)


def sixteen_bit(data: bytes) -> bytes | None:
    """Return a film of more than 8 bits as a PNG of its very samples without metadata, else None.

    Raises
    ------
    BadFile
        The film cannot be decoded.
    """
    pixels = grey(data)
    return _png(pixels) if pixels.dtype == np.uint16 else None


def opening_window(pixels: Grey, own: tuple[float, float] | None) -> tuple[float, float]:
    """Return the samples shown black and white as the reading page opens a film.

    8 bits open at all their levels; more bits in the film's own window, and where it has none at
    all but the outermost hundredths (``openingPreset`` and ``quantileWindow`` of the page).
    """
    if pixels.dtype == np.uint8:
        low, high = int(pixels.min()), int(pixels.max())
        return low, max(high, low + 1)
    if own is not None:
        return own
    reached = np.cumsum(np.bincount(pixels.ravel()))
    low, high = (
        int(np.searchsorted(reached, max(1, math.ceil(share * pixels.size))))
        for share in (OUTERMOST, 1 - OUTERMOST)
    )
    return low, max(low + 1, high)


def _shaded(samples: NDArray[Any], low: float, high: float) -> NDArray[np.uint8]:
    """Return samples as the page shows them, low black and high white (``shade`` of the page)."""
    share = np.clip((samples - low) / (high - low), 0, 1)
    return np.floor(share * 255 + 0.5).astype(np.uint8)


def _averaged(pixels: Grey, resolution: str | int) -> NDArray[Any] | None:
    """Return the samples of a smaller film; None where it keeps its size."""
    height, width = pixels.shape
    scale = 0.25 if resolution == "quarter" else 1.0
    if isinstance(resolution, int):
        scale = min(1.0, resolution / width)
    if scale == 1.0:
        return None
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    smaller = Image.fromarray(pixels.astype(np.float32)).resize(size, Image.Resampling.BOX)
    return np.asarray(smaller, dtype=np.float64)


def _png(pixels: NDArray[Any]) -> bytes:
    """Return samples as a greyscale PNG, in a third of the time that trying every filter takes."""
    height, width = pixels.shape
    size = pixels.itemsize
    samples = np.ascontiguousarray(pixels, dtype=f">u{size}").view(np.uint8)
    left, above = np.zeros_like(samples), np.zeros_like(samples)
    left[:, size:] = samples[:, :-size]
    above[1:] = samples[:-1]
    rows = np.full((height, 1 + samples.shape[1]), _AVERAGE, dtype=np.uint8)
    rows[:, 1:] = samples - (((left ^ above) >> 1) + (left & above))  # of two bytes, without carry
    # Of radiographs, run lengths alone are as small as all that deflate can do, in a sixth of the
    # time.
    deflate = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, zlib.Z_RLE)
    head = struct.pack(">IIBBBBB", width, height, 8 * size, 0, 0, 0, 0)
    data = deflate.compress(rows.tobytes()) + deflate.flush()
    chunks = ((b"IHDR", head), (b"IDAT", data), (b"IEND", b""))
    return _PNG_SIGNATURE + b"".join(_chunk(name, content) for name, content in chunks)


def _chunk(name: bytes, content: bytes) -> bytes:
    return (
        struct.pack(">I", len(content))
        + name
        + content
        + struct.pack(">I", zlib.crc32(name + content))
    )
