"""Ways to send a film without loss: the chosen one, the one before it, and those that lost.

Zstandard and Brotli are left out: Python has no encoder for them in its own library, browsers take
them over https and from localhost only, and both look for repetitions, of which noise has none
(tried once: 7 and 17 % more bytes than Huffman's code alone on the same residues).
"""

import gzip
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from study.films import Grey, packed

GZIP_LEVEL = 4
Ints = NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """One way to send a film, and the name of its decoder in `decoders.js`."""

    encode: Callable[[Grey], bytes]
    decoder: str
    media_type: str = "application/octet-stream"
    gzipped: bool = True


def _png(level: int) -> Encoding:
    def encode(film: Grey) -> bytes:
        out = io.BytesIO()
        Image.fromarray(film).save(out, "PNG", compress_level=level)
        return out.getvalue()

    return Encoding(encode=encode, decoder="image", media_type="image/png", gzipped=False)


def _webp(method: int, quality: int) -> Encoding:
    def encode(film: Grey) -> bytes:
        return _as_webp(Image.fromarray(film), method, quality)

    return Encoding(encode=encode, decoder="image", media_type="image/webp", gzipped=False)


def _as_webp(image: Image.Image, method: int, quality: int) -> bytes:
    out = io.BytesIO()
    image.save(out, "WEBP", lossless=True, exact=True, method=method, quality=quality)
    return out.getvalue()


def _residues(film: Grey, predictor: str) -> Ints:
    """Return what a fixed predictor guesses wrong; beyond the border are zeros, as in PNG."""
    values = film.astype(np.int32)
    west, north, corner = np.zeros_like(values), np.zeros_like(values), np.zeros_like(values)
    west[:, 1:], north[1:], corner[1:, 1:] = values[:, :-1], values[:-1], values[:-1, :-1]
    if predictor == "left":
        west[1:, 0] = values[:-1, 0]
        return values - west
    plane = west + north - corner
    if predictor == "med":
        low, high = np.minimum(west, north), np.maximum(west, north)
        return values - np.clip(plane, low, high)
    by_west, by_north, by_corner = (np.abs(plane - one) for one in (west, north, corner))
    north_or_corner = np.where(by_north <= by_corner, north, corner)
    nearest = np.where((by_west <= by_north) & (by_west <= by_corner), west, north_or_corner)
    return values - nearest


def _plane(predictor: str) -> Encoding:
    """Return the way of one plane of 8-bit residues, gzipped."""

    def encode(film: Grey) -> bytes:
        residues = (_residues(film, predictor) & 0xFF).astype(np.uint8)
        return gzip.compress(residues.tobytes(), GZIP_LEVEL, mtime=0)

    return Encoding(encode=encode, decoder=predictor)


def _planes(predictor: str, *, folded: bool) -> Encoding:
    """Return the way of high bytes of 16-bit residues and then the low ones, gzipped."""

    def encode(film: Grey) -> bytes:
        high, low = _bytes_of(_residues(film, predictor), folded=folded)
        return gzip.compress(high.tobytes() + low.tobytes(), GZIP_LEVEL, mtime=0)

    return Encoding(encode=encode, decoder=f"{predictor}-folded" if folded else predictor)


def _bytes_of(residues: Ints, *, folded: bool) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    wrapped = residues.astype(np.int16).astype(np.int32)
    values = ((wrapped << 1) ^ (wrapped >> 31)) if folded else wrapped
    return ((values >> 8) & 0xFF).astype(np.uint8), (values & 0xFF).astype(np.uint8)


def _channels(high: NDArray[np.uint8], low: NDArray[np.uint8]) -> Image.Image:
    """Return a picture of two planes; an alpha channel would not come back whole from a canvas."""
    return Image.fromarray(np.stack((high, low, np.zeros_like(high)), axis=-1))


def _webp_of_residues(film: Grey) -> bytes:
    return _as_webp(_channels(*_bytes_of(_residues(film, "med"), folded=True)), 1, 20)


def _png_of_bytes(film: Grey) -> bytes:
    out = io.BytesIO()
    high, low = (film >> 8).astype(np.uint8), (film & 0xFF).astype(np.uint8)
    _channels(high, low).save(out, "PNG", compress_level=4)
    return out.getvalue()


_CHOSEN = Encoding(encode=packed, decoder="chosen")

EIGHT_BITS: Mapping[str, Encoding] = {
    "PNG 4 (first release)": _png(4),
    "PNG 1": _png(1),
    "PNG 6": _png(6),
    "PNG 9": _png(9),
    "WebP 0": _webp(0, 0),
    "WebP 1": _webp(1, 20),
    "WebP 2": _webp(2, 50),
    "WebP 4": _webp(4, 80),
    "left, gzip": _plane("left"),
    "median edge, gzip": _plane("med"),
    "Paeth, gzip": _plane("paeth"),
    "fitted (chosen)": _CHOSEN,
}
"""The first is what the others are compared with. PNG's filters are chosen row by row."""

SIXTEEN_BITS: Mapping[str, Encoding] = {
    "left, planes, gzip (first release)": _planes("left", folded=False),
    "median edge, folded, planes, gzip": _planes("med", folded=True),
    "Paeth, folded, planes, gzip": _planes("paeth", folded=True),
    "WebP 1 of median-edge residues": Encoding(
        encode=_webp_of_residues, decoder="image-med", media_type="image/webp", gzipped=False
    ),
    "PNG 4 of high and low bytes": Encoding(
        encode=_png_of_bytes, decoder="image-two", media_type="image/png", gzipped=False
    ),
    "fitted (chosen)": _CHOSEN,
}
