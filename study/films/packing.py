"""Films on their way to a browser: every grey level, in as few bytes as it unpacks quickly.

Why these bytes and no image file: `docs/decisions/005-films-travel-as-predicted-samples.md`.
"""

import gzip
import io
import json
from bisect import bisect_left
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from study.films.decoding import Grey
from study.films.deflating import gzipped
from study.films.prediction import FRACTION_BITS, Ints, Predictor, fitted, residues

VERSION = 2
"""Of the bytes: to be raised whenever the same film would give others."""

Folded = NDArray[np.uint16]
Counts = NDArray[np.intp]

MEDIA_TYPE = "application/octet-stream"
CONTENT_ENCODING = "gzip"
ESCAPE = 255
_PART = 1 << 20
_SPLITS = (0, 1, 2, 4, 8)
"""Low bits held apart: as many as fill a byte, since Huffman's code would waste a part of a bit."""


def packed(pixels: Grey, window: tuple[float, float] | None = None) -> bytes:
    """Encode a film for the browser, without loss.

    The bytes are gzip of: the length of a JSON header as four bytes, the lowest first; the header;
    the high parts, a byte for each sample; the low parts, `split` bits each, the first in the
    highest bits of a byte; the escapes. With samples ``v``, which are the film's levels, or their
    places in `levels` where the header has that list, and with guesses ``g`` by
    `prediction.Predictor` from the samples before::

        d = (v - g), wrapped into -32768 to 32767
        z = 2 * d if d >= 0 else -2 * d - 1
        high = z >> split, low = z & (2**split - 1)

    A ``high`` of 255 or more is written as 255, and its ``z`` among the escapes, two bytes each,
    the lower first. The header holds `width`, `height`, `bits`, `split`, `escapes` (their number),
    `top`, `steps`, `weights`, `fraction_bits`, and `levels`: the lowest level and the gaps between
    all, or nothing where most levels between the film's lowest and highest occur; and `window`
    where the film came with one. The same film gives the same bytes on the same build of zlib and
    NumPy.

    Parameters
    ----------
    pixels : ndarray of uint8 or uint16, shape (height, width)
    window : tuple of float, optional
        The samples to be shown black and white at first.

    Returns
    -------
    bytes
    """
    samples, levels = _placed(pixels)
    predictor = fitted(samples)
    zigzag = np.concatenate([_zigzag(part) for part in residues(samples, predictor)]).ravel()
    split = _split(zigzag)
    high = zigzag >> split
    escapes = zigzag[high >= ESCAPE].astype("<u2")
    header = _header(pixels, predictor, levels, split=split, escapes=len(escapes), window=window)
    return gzipped(
        [
            len(header).to_bytes(4, "little") + header,
            np.minimum(high, ESCAPE).astype(np.uint8).tobytes(),
            _low_bits(zigzag, split),
            escapes.tobytes(),
        ]
    )


def unpacked(body: bytes) -> Grey:
    """Undo `packed`, as the browser does; slow, and written apart from the packing to check it.

    Parameters
    ----------
    body : bytes
        From `packed`.

    Returns
    -------
    ndarray of uint8 or uint16, shape (height, width)
    """
    plain = gzip.decompress(body)
    size = int.from_bytes(plain[:4], "little")
    header = json.loads(plain[4 : 4 + size])
    width, height = header["width"], header["height"]
    planes = np.frombuffer(plain, dtype=np.uint8, offset=4 + size)
    count = width * height
    high = planes[:count].astype(int)
    split = header["split"]
    packed_bits = planes[count : count + -(-count * split // 8)]
    bits = np.unpackbits(packed_bits, count=count * split).reshape(count, split)
    zigzag = (high << split) | (bits @ (1 << np.arange(split)[::-1]))
    escapes = np.frombuffer(plain[len(plain) - 2 * header["escapes"] :], dtype="<u2")
    zigzag[high == ESCAPE] = escapes
    values = _unpredicted(header, zigzag.reshape(height, width).tolist())
    if header["levels"]:
        values = np.cumsum(header["levels"])[values]
    return values.astype(np.uint8) if header["bits"] == 8 else values.astype(np.uint16)


def _placed(pixels: Grey) -> tuple[Ints, list[int]]:
    """Return a film by the places of its levels, and those, where it leaves out most between.

    Films of 10 or 12 bits are often spread over 16; the gaps would cost a bit each.
    """
    low, high = int(pixels.min()), int(pixels.max())
    there = _counts(pixels.ravel()) > 0
    levels = np.flatnonzero(there)
    if 2 * len(levels) > high - low + 1:
        return pixels.astype(np.int32), []
    places = (np.cumsum(there) - 1).astype(np.int32)
    return places[pixels], [int(levels[0]), *np.diff(levels).tolist()]


def _zigzag(residue: Ints) -> Folded:
    wrapped = residue.astype(np.int16)
    return ((wrapped << 1) ^ (wrapped >> 15)).view(np.uint16)


def _counts(values: Grey) -> Counts:
    """Return how often each value from 0 to 65,535 occurs; by parts, as NumPy widens them."""
    parts = range(0, len(values), _PART)
    counted = [np.bincount(values[n : n + _PART], minlength=1 << 16) for n in parts]
    return np.asarray(np.sum(counted, axis=0))


def _split(zigzag: Folded) -> int:
    """Return how many low bits to hold apart, by the bits that the rest would need."""
    counts = _counts(zigzag)
    return min(_SPLITS, key=lambda split: split * len(zigzag) + _high_bits(counts, split))


def _high_bits(counts: Counts, split: int) -> float:
    high = counts.reshape(-1, 1 << split).sum(axis=1)
    n_escapes = int(high[ESCAPE:].sum())
    return _entropy_bits(np.append(high[:ESCAPE], n_escapes)) + 16 * n_escapes


def _low_bits(zigzag: Folded, split: int) -> bytes:
    """Return the low bits of all, densely; every split divides a byte evenly."""
    if not split:
        return b""
    each = 8 // split
    low = np.zeros(-(-len(zigzag) // each) * each, dtype=np.uint8)
    low[: len(zigzag)] = zigzag & ((1 << split) - 1)
    joined = np.zeros(len(low) // each, dtype=np.uint8)
    for place in range(each):
        joined |= low[place::each] << (8 - split * (place + 1))
    return joined.tobytes()


def _entropy_bits(counts: Counts) -> float:
    some = counts[counts > 0]
    return float(np.maximum(1, -np.log2(some / some.sum())) @ some)


def _header(
    pixels: Grey,
    predictor: Predictor,
    levels: list[int],
    *,
    split: int,
    escapes: int,
    window: tuple[float, float] | None,
) -> bytes:
    height, width = pixels.shape
    header: dict[str, Any] = {
        "width": width,
        "height": height,
        "bits": 8 * pixels.dtype.itemsize,
        "split": split,
        "escapes": escapes,
        "fraction_bits": FRACTION_BITS,
        "top": predictor.top,
        "steps": predictor.steps,
        "weights": predictor.weights,
        "levels": levels,
        **({"window": window} if window else {}),
    }
    return json.dumps(header, separators=(",", ":")).encode()


def _unpredicted(header: dict[str, Any], zigzag: list[list[int]]) -> Ints:
    width, half = header["width"], 1 << (header["fraction_bits"] - 1)
    bits, top, steps, all_weights = (
        header[one] for one in ("fraction_bits", "top", "steps", "weights")
    )
    rows = [[0] * (width + 3), [0] * (width + 3)]
    for residues_of_row in zigzag:
        far, above = rows[-2:]
        first = above[2] if len(rows) > 2 else 0
        here = [first, first]
        for x, z in enumerate(residues_of_row, start=2):
            west, far_west = here[x - 1], here[x - 2]
            north_west, north, north_east = above[x - 1 : x + 2]
            steepness = (
                abs(far_west - north_west) + abs(north - north_west) + abs(north - north_east)
            )
            # The steps rise: as many are passed as stand before the first that is not.
            a, b, c, d, e, f = all_weights[bisect_left(steps, steepness)]
            total = a * west + b * north + c * north_west + d * north_east + e * far_west
            guess = min(max((total + f * far[x] + half) >> bits, 0), top)
            here.append((guess + ((z >> 1) ^ -(z & 1))) & 0xFFFF)
        rows.append([*here, here[-1]])
    return np.array([row[2:-1] for row in rows[2:]], dtype=np.int32)


def preview(pixels: Grey, *, low: float, high: float, longest: int = 1600) -> bytes:
    """Return a film as an 8-bit greyscale PNG.

    Parameters
    ----------
    pixels : numpy.ndarray of unsigned int, shape (height, width)
        Grey levels.
    low, high : float
        The grey levels shown black and white.
    longest : int, default 1600
        The longer side at most, in pixels; a smaller film keeps its size.
    """
    span = high - low or 1
    shown = np.clip((pixels.astype(np.float32) - low) * (255 / span), 0, 255)
    picture = Image.fromarray(np.rint(shown).astype(np.uint8))
    picture.thumbnail((longest, longest), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    picture.save(out, format="PNG")
    return out.getvalue()
