"""Compresses films for the browser: lossless, small and fast to decompress.

Each sample is predicted from six preceding neighbours, with weights fitted to the film, and the
prediction errors are written as gzip. Radiographs are smooth with added noise. A fixed predictor
that copies one neighbour, as in PNG, adds that neighbour's noise to the error; a weighted mean of
several neighbours adds less. The best smoothing depends on the film and the position: pixels are
therefore grouped by the gradient around them, and each group has its own weights. The browser
repeats the prediction in 32-bit integer arithmetic.

Noise has no repetitions. Searching for them takes most of a compressor's time and makes the result
larger than Huffman coding alone; a black border, however, consists of repetitions. Each stretch is
therefore encoded both ways and the shorter result is kept. Any gzip decoder, such as the browser's,
can read it.

`docs/decisions/005-films-travel-as-predicted-samples.md` explains why no image format is used.
"""

import io
import json
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from study.films.decoding import Grey

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]
Neighbours = tuple[Ints, ...]
"""W, N, NW, NE, WW, NN of every sample."""

NEIGHBOURS = 6
FRACTION_BITS = 12
MAX_WEIGHT = 7 << FRACTION_BITS
"""Largest sum of a group's absolute weights: 65,535 times this, plus a half, is below 2**31."""

_ROWS = 256
"""Number of rows processed at a time, which limits memory."""
_FITTED = 120_000
_SHARES = (0.3, 0.5, 0.7, 0.85, 0.95)
_ROUNDS = 3
_COPY = (1 << FRACTION_BITS, *([0] * (NEIGHBOURS - 1)))

VERSION = 2
"""Version of the encoding; it is raised whenever the same film would give other bytes."""

Folded = NDArray[np.uint16]
Counts = NDArray[np.intp]
MEDIA_TYPE = "application/octet-stream"
CONTENT_ENCODING = "gzip"
ESCAPE = 255
_PART = 1 << 20
_SPLITS = (0, 1, 2, 4, 8)
"""Numbers of low bits stored separately: divisors of 8, because Huffman coding wastes bits."""

_STRETCH = 1 << 18
_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # a gzip header without name, time and system
_MEMORY = 9
_LEVEL = 4
_SPARSE = 3
"""A stretch that shrinks below a third of its size may contain repetitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictor:
    """Parameters of the prediction.

    With W the sample to the left, N above, NW and NE next to N, WW two to the left and NN two
    above, the guess is ``(w . (W, N, NW, NE, WW, NN) + 2**11) >> 12``, limited to 0 to `top`.
    Outside the film, samples above it are zero, samples to the left of a row equal the sample above
    (or 0), and samples to the right equal the row's last sample.

    Attributes
    ----------
    steps : tuple of int
        Ascending. A pixel's group is the number of steps that ``|WW - NW| + |N - NW| + |N - NE|``
        exceeds. W is left out, so that the browser knows the group before it has decoded the sample
        to the left.
    weights : tuple of tuple of int
        Six for each group, in units of ``2**-12``.
    top : int
        The largest sample.
    """

    steps: tuple[int, ...]
    weights: tuple[tuple[int, ...], ...]
    top: int


def fitted(samples: Ints) -> Predictor:
    """Fit a predictor to a film by least absolute error over an even selection of its pixels.

    Parameters
    ----------
    samples : ndarray of int32, shape (height, width)
        0 to 65,535.
    """
    top = int(samples.max())
    neighbours, targets = _chosen(samples)
    if not targets.size:
        return Predictor(steps=(), weights=(_COPY,), top=top)
    steepness = _steepness(tuple(neighbours))
    steps = tuple(sorted({int(step) for step in np.quantile(steepness, _SHARES)}))
    kinds = _kinds(steepness, steps)
    weights = tuple(
        _weights(neighbours[:, kinds == kind], targets[kinds == kind])
        for kind in range(len(steps) + 1)
    )
    return Predictor(steps=steps, weights=weights, top=top)


def residues(samples: Ints, predictor: Predictor) -> Iterator[Ints]:
    """Yield the differences between samples and predictions, some rows at a time."""
    table = np.array(predictor.weights, dtype=np.int32).T
    for rows, neighbours in _bands(samples):
        kinds = _kinds(_steepness(neighbours), predictor.steps)
        guess = np.full(kinds.shape, 1 << (FRACTION_BITS - 1), dtype=np.int32)
        for neighbour, weights in zip(neighbours, table, strict=True):
            guess += neighbour * weights.take(kinds)
        guess >>= FRACTION_BITS
        yield samples[rows] - np.clip(guess, 0, predictor.top)


def _bands(samples: Ints) -> Iterator[tuple[slice, Neighbours]]:
    """Yield bands of rows with the six neighbours of their samples."""
    height, width = samples.shape
    framed = np.zeros((height + 2, width + 3), dtype=np.int32)
    framed[2:, 2:-1] = samples
    framed[3:, :2] = samples[:-1, :1]
    framed[2:, -1] = samples[:, -1]
    for top in range(0, height, _ROWS):
        rows = slice(top, min(top + _ROWS, height))
        current_row, above, far = (framed[rows.start + n : rows.stop + n] for n in (2, 1, 0))
        neighbours = (
            current_row[:, 1:-2],
            above[:, 2:-1],
            above[:, 1:-2],
            above[:, 3:],
            current_row[:, :-3],
            far[:, 2:-1],
        )
        yield rows, neighbours


def _chosen(samples: Ints) -> tuple[Ints, Ints]:
    """Return the neighbours, shape (6, n), and the samples of pixels selected evenly from the film.

    The edge is left out, because zeros and copies replace neighbours there.
    """
    step = max(1, samples.size // _FITTED) | 1  # odd, so that no column is favoured
    around, targets = [], []
    first = 0
    for rows, neighbours in _bands(samples):
        inside = (slice(max(0, 2 - rows.start), None), slice(2, -1))
        current_values = samples[rows][inside]
        around.append([neighbour[inside].ravel()[first::step] for neighbour in neighbours])
        targets.append(current_values.ravel()[first::step])
        first = (first - current_values.size) % step
    return np.concatenate(around, axis=1), np.concatenate(targets)


def _steepness(neighbours: Neighbours) -> Ints:
    _, north, north_west, north_east, far_west, _ = neighbours
    steepness: Ints = np.abs(far_west - north_west)
    steepness += np.abs(north - north_west)
    steepness += np.abs(north - north_east)
    return steepness


def _kinds(steepness: Ints, steps: Sequence[int]) -> NDArray[np.uint8]:
    kinds = np.zeros(steepness.shape, dtype=np.uint8)
    for step in steps:
        kinds += steepness > step
    return kinds


def _weights(neighbours: Ints, targets: Ints) -> tuple[int, ...]:
    """Return weights by least squares, reweighted towards least absolute error."""
    if len(targets) < NEIGHBOURS:
        return _COPY
    known, sought = neighbours.astype(np.float64), targets.astype(np.float64)
    trust: Floats = np.ones(len(sought))
    exact: Floats = np.zeros(NEIGHBOURS)
    for _ in range(_ROUNDS + 1):
        # Normal equations: on matrices this long and narrow, BLAS threads gain nothing.
        trusted = known * trust
        square = np.einsum("in,jn->ij", trusted, known)
        exact = np.asarray(np.linalg.lstsq(square, np.einsum("in,n->i", trusted, sought))[0])
        error = np.abs(sought - np.einsum("in,i->n", known, exact))
        trust = np.asarray(1 / np.maximum(error, 0.5))
    return _whole(exact)


def _whole(exact: Floats) -> tuple[int, ...]:
    """Round weights and their sum; weights that are too large are replaced by a plain copy."""
    scale = 1 << FRACTION_BITS
    bounded = np.clip(np.nan_to_num(exact), -MAX_WEIGHT, MAX_WEIGHT) * scale
    integers = np.rint(bounded).astype(np.int64)
    integers[np.argmax(np.abs(integers))] += round(float(bounded.sum())) - int(integers.sum())
    if int(np.abs(integers).sum()) > MAX_WEIGHT:
        return _COPY
    return tuple(int(weight) for weight in integers)


def packed(pixels: Grey, window: tuple[float, float] | None = None) -> bytes:
    """Encode a film for the browser, without loss.

    The bytes are gzip of: the length of a JSON header as four bytes, the lowest first; the header;
    the high parts, a byte for each sample; the low parts, `split` bits each, the first in the
    highest bits of a byte; the escapes. With samples ``v``, which are the film's levels, or their
    indices in `levels` if the header has that list, and with guesses ``g`` by `Predictor` from the
    samples before::

        d = (v - g), wrapped into -32768 to 32767
        z = 2 * d if d >= 0 else -2 * d - 1
        high = z >> split, low = z & (2**split - 1)

    A ``high`` of 255 or more is written as 255, and its ``z`` among the escapes, two bytes each,
    the lower first. The header contains `width`, `height`, `bits`, `split`, `escapes` (their
    number), `top`, `steps`, `weights`, `fraction_bits`, and `levels`: the lowest level and the gaps
    between all, or nothing if most levels between the film's lowest and highest occur; and `window`
    if the film has one. The same film gives the same bytes on the same build of zlib and NumPy.

    Parameters
    ----------
    pixels : ndarray of uint8 or uint16, shape (height, width)
    window : tuple of float, optional
        The samples initially shown as black and white.

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
    height, width = pixels.shape
    description = {
        "width": width,
        "height": height,
        "bits": 8 * pixels.dtype.itemsize,
        "split": split,
        "escapes": len(escapes),
        "fraction_bits": FRACTION_BITS,
        "top": predictor.top,
        "steps": predictor.steps,
        "weights": predictor.weights,
        "levels": levels,
        **({"window": window} if window else {}),
    }
    header = json.dumps(description, separators=(",", ":")).encode()
    return gzipped(
        [
            len(header).to_bytes(4, "little") + header,
            np.minimum(high, ESCAPE).astype(np.uint8).tobytes(),
            _low_bits(zigzag, split),
            escapes.tobytes(),
        ]
    )


def _placed(pixels: Grey) -> tuple[Ints, list[int]]:
    """Return a film as indices, and its levels, if most levels in its range do not occur.

    Films of 10 or 12 bits are often spread over 16; each gap would cost a bit.
    """
    low, high = int(pixels.min()), int(pixels.max())
    is_present = _counts(pixels.ravel()) > 0
    levels = np.flatnonzero(is_present)
    if 2 * len(levels) > high - low + 1:
        return pixels.astype(np.int32), []
    places = (np.cumsum(is_present) - 1).astype(np.int32)
    return places[pixels], [int(levels[0]), *np.diff(levels).tolist()]


def _zigzag(residue: Ints) -> Folded:
    wrapped = residue.astype(np.int16)
    return ((wrapped << 1) ^ (wrapped >> 15)).view(np.uint16)


def _counts(values: Grey) -> Counts:
    """Return how often each value from 0 to 65,535 occurs; in parts, because NumPy widens them."""
    parts = range(0, len(values), _PART)
    histograms = [np.bincount(values[n : n + _PART], minlength=1 << 16) for n in parts]
    return np.asarray(np.sum(histograms, axis=0))


def _split(zigzag: Folded) -> int:
    """Return the number of low bits to store separately, by the bits that the rest would need."""
    counts = _counts(zigzag)
    return min(_SPLITS, key=lambda split: split * len(zigzag) + _high_bits(counts, split))


def _high_bits(counts: Counts, split: int) -> float:
    high = counts.reshape(-1, 1 << split).sum(axis=1)
    n_escapes = int(high[ESCAPE:].sum())
    return _entropy_bits(np.append(high[:ESCAPE], n_escapes)) + 16 * n_escapes


def _low_bits(zigzag: Folded, split: int) -> bytes:
    """Return the low bits of all samples, densely packed; every split divides a byte evenly."""
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
    occurring = counts[counts > 0]
    return float(np.maximum(1, -np.log2(occurring / occurring.sum())) @ occurring)


def preview(pixels: Grey, *, low: float, high: float, longest: int = 1600) -> bytes:
    """Return a film as an 8-bit greyscale PNG.

    Parameters
    ----------
    pixels : numpy.ndarray of unsigned int, shape (height, width)
        Grey levels.
    low, high : float
        The grey levels shown black and white.
    longest : int, default 1600
        Maximum length of the longer side in pixels; a smaller film keeps its size.
    """
    span = high - low or 1
    shown = np.clip((pixels.astype(np.float32) - low) * (255 / span), 0, 255)
    picture = Image.fromarray(np.rint(shown).astype(np.uint8))
    picture.thumbnail((longest, longest), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    picture.save(out, format="PNG")
    return out.getvalue()


def gzipped(parts: Iterable[bytes]) -> bytes:
    """Return a gzip file of consecutive parts; no stretch extends over two of them."""
    checksum, length = 0, 0
    chunks = [_HEADER]
    for stretch in _stretches(parts):
        checksum = zlib.crc32(stretch, checksum)
        length += len(stretch)
        chunks.append(_shortest(stretch))
    end = zlib.compressobj(1, zlib.DEFLATED, -15)
    chunks.append(end.flush())
    chunks.append(struct.pack("<II", checksum, length & 0xFFFF_FFFF))
    return b"".join(chunks)


def _stretches(parts: Iterable[bytes]) -> Iterator[bytes]:
    for part in parts:
        for start in range(0, len(part), _STRETCH):
            yield part[start : start + _STRETCH]


def _shortest(stretch: bytes) -> bytes:
    """Return raw deflate blocks without an end, aligned to a byte so that more can follow."""
    plain = _deflated(stretch, 1, zlib.Z_HUFFMAN_ONLY)
    if len(plain) * _SPARSE > len(stretch):
        return plain
    return min(plain, _deflated(stretch, _LEVEL, zlib.Z_DEFAULT_STRATEGY), key=len)


def _deflated(stretch: bytes, level: int, strategy: int) -> bytes:
    compressor = zlib.compressobj(level, zlib.DEFLATED, -15, _MEMORY, strategy)
    return compressor.compress(stretch) + compressor.flush(zlib.Z_SYNC_FLUSH)
