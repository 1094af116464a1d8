"""Prints films of every kind, packed by the server's code and to be unpacked by the page's code."""

import base64
import gzip
import json
from collections.abc import Iterator

import numpy as np

from study.films import Grey, pack_film


def films() -> Iterator[tuple[str, Grey]]:
    """Yield named films: smooth films of several depths, and images that are not radiographs."""
    rng = np.random.default_rng(4)
    rows, columns = np.mgrid[0:300, 0:170]
    smooth = 0.5 + 0.3 * np.sin(rows / 40) * np.cos(columns / 25) + 0.15 * (columns > 90)
    noisy = np.clip(smooth + rng.normal(0, 0.004, smooth.shape), 0, 1)
    yield "8 bits", np.rint(noisy * 255).astype(np.uint8)
    for top in (1023, 4095, 16_383, 65_535):
        yield f"to {top}", np.rint(noisy * top).astype(np.uint16)
    yield "12 bits over 16", np.rint(noisy * 4095).astype(np.uint16) * 16
    yield "wild 16 bits", rng.integers(0, 65_536, (40, 30), np.uint16)
    yield "wild 8 bits", rng.integers(0, 256, (40, 30), np.uint8)
    yield "black and white", rng.integers(0, 2, (40, 30)).astype(np.uint16) * 65_535
    yield "flat", np.full((30, 40), 9, np.uint8)
    yield "one pixel", np.full((1, 1), 65_535, np.uint16)
    yield "one row", np.arange(50, dtype=np.uint8).reshape(1, 50)
    yield "one column", np.arange(50, dtype=np.uint8).reshape(50, 1)


def _written(name: str, film: Grey) -> dict[str, object]:
    height, width = film.shape
    return {
        "name": name,
        "width": width,
        "height": height,
        "packed": base64.b64encode(gzip.decompress(pack_film(film))).decode(),
        "samples": base64.b64encode(film.tobytes()).decode(),
    }


if __name__ == "__main__":
    print(json.dumps([_written(name, film) for name, film in films()]))
