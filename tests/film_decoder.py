"""Decode packed films as a browser does.

The decoder is slow, and was written independently of the encoder in order to check it.
"""

import gzip
import json
from bisect import bisect_left
from typing import Any

import numpy as np

from study.films import Grey
from study.films.packing import ESCAPE, Ints


def unpacked(body: bytes) -> Grey:
    """Undo `study.films.pack_film`.

    Parameters
    ----------
    body : bytes
        The return value of `pack_film`.

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
    values = _values_from_residues(header, zigzag.reshape(height, width).tolist())
    if header["levels"]:
        values = np.cumsum(header["levels"])[values]
    return values.astype(np.uint8) if header["bits"] == 8 else values.astype(np.uint16)


def _values_from_residues(header: dict[str, Any], zigzag: list[list[int]]) -> Ints:
    width, half = header["width"], 1 << (header["fraction_bits"] - 1)
    bits, top, steps, all_weights = (
        header[key] for key in ("fraction_bits", "top", "steps", "weights")
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
            # The steps are in ascending order: the index is their number below the steepness.
            a, b, c, d, e, f = all_weights[bisect_left(steps, steepness)]
            total = a * west + b * north + c * north_west + d * north_east + e * far_west
            guess = min(max((total + f * far[x] + half) >> bits, 0), top)
            here.append((guess + ((z >> 1) ^ -(z & 1))) & 0xFFFF)
        rows.append([*here, here[-1]])
    return np.array([row[2:-1] for row in rows[2:]], dtype=np.int32)
