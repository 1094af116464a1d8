"""Writes gzip whose every stretch is compressed in the way that suits it.

Noise has no repetitions. Looking for them costs most of a compressor's time and makes the result
larger than Huffman's code alone; but a black border is nothing else. So each stretch is written
both ways, and the shorter one is kept. Any gzip reader, such as a browser's, takes the result.
"""

import struct
import zlib
from collections.abc import Iterable, Iterator

_STRETCH = 1 << 18
_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # no name, no time, no system
_MEMORY = 9
_LEVEL = 4
_SPARSE = 3
"""Below a third of its size, a stretch may hold repetitions worth looking for."""


def gzipped(parts: Iterable[bytes]) -> bytes:
    """Return a gzip file of parts one after the other; no stretch reaches over two of them."""
    checksum, length = 0, 0
    written = [_HEADER]
    for stretch in _stretches(parts):
        checksum = zlib.crc32(stretch, checksum)
        length += len(stretch)
        written.append(_shortest(stretch))
    end = zlib.compressobj(1, zlib.DEFLATED, -15)
    written.append(end.flush())
    written.append(struct.pack("<II", checksum, length & 0xFFFF_FFFF))
    return b"".join(written)


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
