"""Compresses films for the browser without loss, to a small size that is fast to decompress.

Each sample is predicted from six preceding neighbours, with weights fitted to the film, and the
prediction errors are written as gzip. Radiographs are smooth images with noise. A fixed predictor
that copies a single neighbour, as in PNG, adds that neighbour's noise to the error; a weighted mean
of several neighbours adds less. The best weights depend on the film and on the position in it:
pixels are therefore grouped by the gradient around them, and each group has separate weights. The
browser repeats the prediction in 32-bit integer arithmetic.

Noise has no repetitions. A compressor spends most of its time searching for them, and its result is
then larger than with Huffman coding alone. A black border, however, consists of repetitions. Each
stretch that may contain repetitions is therefore encoded in both ways, and the shorter result is
kept. Any gzip decoder, such as the browser's, can read it.

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
"""The neighbours W, N, NW, NE, WW and NN of every sample; see `Predictor`."""

NEIGHBOURS = 6
FRACTION_BITS = 12
MAX_WEIGHT = 7 << FRACTION_BITS
"""Largest sum of a group's absolute weights; 65,535 times this sum, plus a half, is below 2**31."""

_N_BAND_ROWS = 256
"""Number of rows processed at a time; a small number saves memory."""
_N_FITTED_PIXELS = 120_000
_GROUP_QUANTILES = (0.3, 0.5, 0.7, 0.85, 0.95)
_N_REWEIGHTINGS = 3
_COPY_LEFT = (1 << FRACTION_BITS, *([0] * (NEIGHBOURS - 1)))

VERSION = 2
"""Version of the encoding; it is increased whenever the same film would give other bytes."""

ZigzagResidues = NDArray[np.uint16]
Counts = NDArray[np.intp]
MEDIA_TYPE = "application/octet-stream"
CONTENT_ENCODING = "gzip"
ESCAPE = 255
_PART_LENGTH = 1 << 20
_POSSIBLE_SPLITS = (0, 1, 2, 4, 8)
"""Possible numbers of low bits stored without Huffman coding, which would waste bits on noise.

They divide a byte evenly.
"""

_STRETCH_LENGTH = 1 << 18
_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # a gzip header without name, time and system
_MEMORY_LEVEL = 9
_COMPRESSION_LEVEL = 4
_REPETITION_RATIO = 3
"""A stretch that Huffman coding reduces to a third of its size may contain repetitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictor:
    """Parameters of the prediction.

    The neighbours of a sample are W to the left, N above, NW and NE next to N, WW two to the left
    and NN two above. The prediction is ``(w . (W, N, NW, NE, WW, NN) + 2**11) >> 12``, limited to 0
    to `top`. Outside the film, samples above it count as zero, samples to the left of a row equal
    the first sample of the row above (or 0), and samples to the right equal the row's last sample.

    Attributes
    ----------
    steps : tuple of int
        Thresholds in ascending order. A pixel's group is the number of thresholds that
        ``|WW - NW| + |N - NW| + |N - NE|`` exceeds. W is not used, so that the browser knows the
        group before it has decoded the sample to the left.
    weights : tuple of tuple of int
        Six weights for each group, in units of ``2**-12``.
    top : int
        The largest sample.
    """

    steps: tuple[int, ...]
    weights: tuple[tuple[int, ...], ...]
    top: int


def fit_predictor(samples: Ints) -> Predictor:
    """Fit a predictor to evenly selected pixels of a film by least absolute error.

    Parameters
    ----------
    samples : ndarray of int32, shape (height, width)
        Values from 0 to 65,535.
    """
    top = int(samples.max())
    neighbours, targets = _select_pixels(samples)
    if not targets.size:
        return Predictor(steps=(), weights=(_COPY_LEFT,), top=top)
    steepness = _steepness(tuple(neighbours))
    steps = tuple(sorted({int(step) for step in np.quantile(steepness, _GROUP_QUANTILES)}))
    groups = _groups(steepness, steps)
    weights = tuple(
        _fit_weights(neighbours[:, groups == group], targets[groups == group])
        for group in range(len(steps) + 1)
    )
    return Predictor(steps=steps, weights=weights, top=top)


def residues(samples: Ints, predictor: Predictor) -> Iterator[Ints]:
    """Yield the differences between samples and predictions, some rows at a time."""
    table = np.array(predictor.weights, dtype=np.int32).T
    for rows, neighbours in _bands(samples):
        groups = _groups(_steepness(neighbours), predictor.steps)
        guess = np.full(groups.shape, 1 << (FRACTION_BITS - 1), dtype=np.int32)
        for neighbour, weights in zip(neighbours, table, strict=True):
            guess += neighbour * weights.take(groups)
        guess >>= FRACTION_BITS
        yield samples[rows] - np.clip(guess, 0, predictor.top)


def _bands(samples: Ints) -> Iterator[tuple[slice, Neighbours]]:
    """Yield bands of rows with the six neighbours of their samples."""
    height, width = samples.shape
    framed = np.zeros((height + 2, width + 3), dtype=np.int32)
    framed[2:, 2:-1] = samples
    framed[3:, :2] = samples[:-1, :1]
    framed[2:, -1] = samples[:, -1]
    for top in range(0, height, _N_BAND_ROWS):
        rows = slice(top, min(top + _N_BAND_ROWS, height))
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


def _select_pixels(samples: Ints) -> tuple[Ints, Ints]:
    """Select pixels evenly from a film; return their neighbours, shape (6, n), and their samples.

    The edges are left out, because zeros and copies replace neighbours there.
    """
    step = max(1, samples.size // _N_FITTED_PIXELS) | 1  # odd, so that no column is favoured
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


def _groups(steepness: Ints, steps: Sequence[int]) -> NDArray[np.uint8]:
    groups = np.zeros(steepness.shape, dtype=np.uint8)
    for step in steps:
        groups += steepness > step
    return groups


def _fit_weights(neighbours: Ints, targets: Ints) -> tuple[int, ...]:
    """Return weights by least squares, reweighted towards least absolute error."""
    if len(targets) < NEIGHBOURS:
        return _COPY_LEFT
    known, sought = neighbours.astype(np.float64), targets.astype(np.float64)
    trust: Floats = np.ones(len(sought))
    exact: Floats = np.zeros(NEIGHBOURS)
    for _ in range(_N_REWEIGHTINGS + 1):
        # Normal equations: for such a long and narrow matrix, BLAS threads are no faster.
        trusted = known * trust
        square = np.einsum("in,jn->ij", trusted, known)
        exact = np.asarray(np.linalg.lstsq(square, np.einsum("in,n->i", trusted, sought))[0])
        error = np.abs(sought - np.einsum("in,i->n", known, exact))
        trust = np.asarray(1 / np.maximum(error, 0.5))
    return _round_weights(exact)


def _round_weights(exact: Floats) -> tuple[int, ...]:
    """Round weights, keeping their rounded sum; replace too large ones by a plain copy."""
    scale = 1 << FRACTION_BITS
    bounded = np.clip(np.nan_to_num(exact), -MAX_WEIGHT, MAX_WEIGHT) * scale
    integers = np.rint(bounded).astype(np.int64)
    integers[np.argmax(np.abs(integers))] += round(float(bounded.sum())) - int(integers.sum())
    if int(np.abs(integers).sum()) > MAX_WEIGHT:
        return _COPY_LEFT
    return tuple(int(weight) for weight in integers)


def pack_film(pixels: Grey, window: tuple[float, float] | None = None) -> bytes:
    """Encode a film for the browser without loss.

    The result is gzip of: the length of a JSON header in four bytes, the lowest byte first; the
    header; the high parts, one byte for each sample; the low parts, `split` bits for each sample,
    the first sample in the highest bits of a byte; the escapes. Let ``v`` be the samples, which are
    the film's levels, or their indices in `levels` if the header contains that list, and ``g`` the
    predictions of `Predictor` from the preceding samples. Then::

        d = (v - g), wrapped into -32768 to 32767
        z = 2 * d if d >= 0 else -2 * d - 1
        high = z >> split, low = z & (2**split - 1)

    A ``high`` of 255 or more is written as 255, and its ``z`` is added to the escapes in two bytes,
    the lower byte first. The header contains `width`, `height`, `bits`, `split`, `escapes` (their
    number), `top`, `steps`, `weights`, `fraction_bits` and `levels`. `levels` is the lowest level
    followed by the differences between successive levels; it is empty if most levels between the
    film's lowest and highest occur. The header also contains `window` if the film has an initial
    window. The same film gives the same bytes with the same build of zlib and NumPy.

    Parameters
    ----------
    pixels : ndarray of uint8 or uint16, shape (height, width)
    window : tuple of float, optional
        The samples that are initially shown as black and white.

    Returns
    -------
    bytes
    """
    samples, levels = _index_levels(pixels)
    predictor = fit_predictor(samples)
    zigzag = np.concatenate([_zigzag(part) for part in residues(samples, predictor)]).ravel()
    split = _best_split(zigzag)
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
    return gzip_parts(
        [
            len(header).to_bytes(4, "little") + header,
            np.minimum(high, ESCAPE).astype(np.uint8).tobytes(),
            _low_bits(zigzag, split),
            escapes.tobytes(),
        ]
    )


def _index_levels(pixels: Grey) -> tuple[Ints, list[int]]:
    """Return a film as indices of its levels, and the levels, if most in its range do not occur.

    Otherwise, return the film unchanged and no levels. Films of 10 or 12 bits are often spread over
    16 bits, which would cost up to six additional bits for each sample.
    """
    low, high = int(pixels.min()), int(pixels.max())
    is_present = _counts(pixels.ravel()) > 0
    levels = np.flatnonzero(is_present)
    if 2 * len(levels) > high - low + 1:
        return pixels.astype(np.int32), []
    places = (np.cumsum(is_present) - 1).astype(np.int32)
    return places[pixels], [int(levels[0]), *np.diff(levels).tolist()]


def _zigzag(residue: Ints) -> ZigzagResidues:
    wrapped = residue.astype(np.int16)
    return ((wrapped << 1) ^ (wrapped >> 15)).view(np.uint16)


def _counts(values: Grey) -> Counts:
    """Return how often each value from 0 to 65,535 occurs.

    The values are counted in parts, because NumPy copies them to a wider type.
    """
    parts = range(0, len(values), _PART_LENGTH)
    histograms = [np.bincount(values[n : n + _PART_LENGTH], minlength=1 << 16) for n in parts]
    return np.asarray(np.sum(histograms, axis=0))


def _best_split(zigzag: ZigzagResidues) -> int:
    """Return the number of low bits to store separately that gives the smallest estimated size."""
    counts = _counts(zigzag)
    return min(_POSSIBLE_SPLITS, key=lambda split: split * len(zigzag) + _high_bits(counts, split))


def _high_bits(counts: Counts, split: int) -> float:
    high = counts.reshape(-1, 1 << split).sum(axis=1)
    n_escapes = int(high[ESCAPE:].sum())
    return _entropy_bits(np.append(high[:ESCAPE], n_escapes)) + 16 * n_escapes


def _low_bits(zigzag: ZigzagResidues, split: int) -> bytes:
    """Return the low bits of all samples, densely packed; `split` divides a byte evenly."""
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
        The grey levels that are shown as black and as white.
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


def gzip_parts(parts: Iterable[bytes]) -> bytes:
    """Return a gzip file of consecutive parts; each stretch belongs to a single part."""
    checksum, length = 0, 0
    chunks = [_HEADER]
    for stretch in _stretches(parts):
        checksum = zlib.crc32(stretch, checksum)
        length += len(stretch)
        chunks.append(_compress_stretch(stretch))
    end = zlib.compressobj(1, zlib.DEFLATED, -15)
    chunks.append(end.flush())
    chunks.append(struct.pack("<II", checksum, length & 0xFFFF_FFFF))
    return b"".join(chunks)


def _stretches(parts: Iterable[bytes]) -> Iterator[bytes]:
    for part in parts:
        for start in range(0, len(part), _STRETCH_LENGTH):
            yield part[start : start + _STRETCH_LENGTH]


def _compress_stretch(stretch: bytes) -> bytes:
    """Return a stretch as raw deflate blocks without an end, aligned to a byte."""
    plain = _deflate(stretch, 1, zlib.Z_HUFFMAN_ONLY)
    if len(plain) * _REPETITION_RATIO > len(stretch):
        return plain
    return min(plain, _deflate(stretch, _COMPRESSION_LEVEL, zlib.Z_DEFAULT_STRATEGY), key=len)


def _deflate(stretch: bytes, level: int, strategy: int) -> bytes:
    compressor = zlib.compressobj(level, zlib.DEFLATED, -15, _MEMORY_LEVEL, strategy)
    return compressor.compress(stretch) + compressor.flush(zlib.Z_SYNC_FLUSH)
