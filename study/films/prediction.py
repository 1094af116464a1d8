"""Guesses every sample of a film from six it follows, by weights fitted to that film.

Radiographs are smooth with noise on top. A fixed predictor that copies one neighbour, as PNG's do,
pays for that neighbour's noise as well; a weighted mean of several does not. How much smoothing is
right depends on the film and on the place: so the pixels are told apart by how steep the samples
around them are, and each kind gets weights of its own.

All arithmetic that the browser repeats is in whole numbers within 32 bits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]
Neighbours = tuple[Ints, ...]
"""W, N, NW, NE, WW, NN of every sample."""

NEIGHBOURS = 6
FRACTION_BITS = 12
MAX_WEIGHT = 7 << FRACTION_BITS
"""The sum of a kind's weights, signs aside: 65,535 times this, and a half, stay below 2**31."""

_ROWS = 256
"""Rows worked on at a time, so that a large film needs no more memory than a small one."""
_FITTED = 120_000
_SHARES = (0.3, 0.5, 0.7, 0.85, 0.95)
_ROUNDS = 3
_COPY = (1 << FRACTION_BITS, *([0] * (NEIGHBOURS - 1)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictor:
    """What a guess is made of.

    With W the sample to the left, N above, NW and NE beside that, WW two to the left and NN two
    above, the guess is ``(w . (W, N, NW, NE, WW, NN) + 2**11) >> 12``, cut to 0 to `top`. Around
    the film lie zeros above, the sample above (else 0) to the left of a row's first, and copies of
    a row's last to its right.

    Attributes
    ----------
    steps : tuple of int
        Rising. A pixel's kind is how many of them ``|WW - NW| + |N - NW| + |N - NE|`` exceeds. W is
        not in it, so that the browser knows the kind before it has the sample to the left.
    weights : tuple of tuple of int
        Six for each kind, in units of ``2**-12``.
    top : int
        The largest sample.
    """

    steps: tuple[int, ...]
    weights: tuple[tuple[int, ...], ...]
    top: int


def fitted(samples: Ints) -> Predictor:
    """Fit a predictor to a film: least absolute error over an even choice of its pixels.

    Parameters
    ----------
    samples : ndarray of int32, shape (height, width)
        0 to 65,535.
    """
    top = int(samples.max())
    around, wanted = _chosen(samples)
    if not wanted.size:
        return Predictor(steps=(), weights=(_COPY,), top=top)
    steepness = _steepness(tuple(around))
    steps = tuple(sorted({int(step) for step in np.quantile(steepness, _SHARES)}))
    kinds = _kinds(steepness, steps)
    weights = tuple(
        _weights(around[:, kinds == kind], wanted[kinds == kind]) for kind in range(len(steps) + 1)
    )
    return Predictor(steps=steps, weights=weights, top=top)


def residues(samples: Ints, predictor: Predictor) -> Iterator[Ints]:
    """Yield, some rows at a time, by how much the samples exceed their guesses."""
    table = np.array(predictor.weights, dtype=np.int32).T
    for rows, around in _bands(samples):
        kinds = _kinds(_steepness(around), predictor.steps)
        guess = np.full(kinds.shape, 1 << (FRACTION_BITS - 1), dtype=np.int32)
        for neighbour, weights in zip(around, table, strict=True):
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
        here, above, far = (framed[rows.start + n : rows.stop + n] for n in (2, 1, 0))
        around = (
            here[:, 1:-2],
            above[:, 2:-1],
            above[:, 1:-2],
            above[:, 3:],
            here[:, :-3],
            far[:, 2:-1],
        )
        yield rows, around


def _chosen(samples: Ints) -> tuple[Ints, Ints]:
    """Return the neighbours, shape (6, n), and the samples of pixels spread over the film.

    Its edge is left out, where zeros and copies stand for neighbours.
    """
    step = max(1, samples.size // _FITTED) | 1  # odd, so that no column is favoured
    around, wanted = [], []
    first = 0
    for rows, neighbours in _bands(samples):
        inside = (slice(max(0, 2 - rows.start), None), slice(2, -1))
        here = samples[rows][inside]
        around.append([one[inside].ravel()[first::step] for one in neighbours])
        wanted.append(here.ravel()[first::step])
        first = (first - here.size) % step
    return np.concatenate(around, axis=1), np.concatenate(wanted)


def _steepness(around: Neighbours) -> Ints:
    _, north, north_west, north_east, far_west, _ = around
    steepness: Ints = np.abs(far_west - north_west)
    steepness += np.abs(north - north_west)
    steepness += np.abs(north - north_east)
    return steepness


def _kinds(steepness: Ints, steps: Sequence[int]) -> NDArray[np.uint8]:
    kinds = np.zeros(steepness.shape, dtype=np.uint8)
    for step in steps:
        kinds += steepness > step
    return kinds


def _weights(around: Ints, wanted: Ints) -> tuple[int, ...]:
    """Return weights by least squares, reweighted towards least absolute error."""
    if len(wanted) < NEIGHBOURS:
        return _COPY
    known, sought = around.astype(np.float64), wanted.astype(np.float64)
    trust: Floats = np.ones(len(sought))
    exact: Floats = np.zeros(NEIGHBOURS)
    for _ in range(_ROUNDS + 1):
        # By the normal equations: on matrices this long and narrow threads of BLAS only wait.
        trusted = known * trust
        square = np.einsum("in,jn->ij", trusted, known)
        exact = np.asarray(np.linalg.lstsq(square, np.einsum("in,n->i", trusted, sought))[0])
        error = np.abs(sought - np.einsum("in,i->n", known, exact))
        trust = np.asarray(1 / np.maximum(error, 0.5))
    return _whole(exact)


def _whole(exact: Floats) -> tuple[int, ...]:
    """Round weights so that their sum is right as well; what is too large becomes a plain copy."""
    scale = 1 << FRACTION_BITS
    bounded = np.clip(np.nan_to_num(exact), -MAX_WEIGHT, MAX_WEIGHT) * scale
    whole = np.rint(bounded).astype(np.int64)
    whole[np.argmax(np.abs(whole))] += round(float(bounded.sum())) - int(whole.sum())
    if int(np.abs(whole).sum()) > MAX_WEIGHT:
        return _COPY
    return tuple(int(weight) for weight in whole)
