"""One finished film: projection, detector, display and the PNG it is stored in."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from data.generator import display
from data.generator.anatomy import Chest
from data.generator.attenuation import transmission
from data.generator.detector import expose
from data.generator.projection import Geometry, project_devices, project_tissue

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
FILTER_UP = 2


def make_film(
    chest: Chest,
    geometry: Geometry,
    *,
    quanta_per_pixel: float,
    marker: str | None,
    rng: np.random.Generator,
) -> NDArray[np.uint16]:
    """Expose and process one view.

    Parameters
    ----------
    chest : Chest
        The patient with findings.
    geometry : Geometry
        The view.
    quanta_per_pixel : float
        Exposure, in detected quanta in an unattenuated pixel.
    marker : str or None
        ``"R"`` or ``"L"`` for a lead marker on a PA film.
    rng : numpy.random.Generator
        Quantum noise.
    """
    water, bone = project_tissue(chest, geometry)
    metal = project_devices(chest.devices, geometry)
    signal = expose(transmission(water, bone, metal), geometry.pixel_mm, quanta_per_pixel, rng)
    lungs = lung_shadow(chest, geometry)
    grey = display.process(signal, lungs, water > 1.0, geometry.view)
    if marker is not None:
        display.stamp_marker(grey, marker, on_left=marker == "R")
    return display.to_levels(grey)


def lung_shadow(chest: Chest, geometry: Geometry) -> NDArray[np.bool_]:
    """Film pixels that the lungs' labels fall on."""
    lungs = (chest.lung("left") | chest.lung("right"))[::3, ::3, ::2]
    points = np.argwhere(lungs) * np.array([3.0, 3.0, 2.0]) * chest.spacing_mm
    column, row, _ = geometry.project(points)
    shadow = np.zeros(geometry.shape, bool)
    shadow[np.round(row).astype(int), np.round(column).astype(int)] = True
    return ndimage.binary_closing(shadow, iterations=4)


def write_png(path: Path, pixels: NDArray[np.uint16]) -> None:
    """Write a 16-bit greyscale PNG with nothing in it but pixels.

    Every row uses the Up filter: on these films it compresses 12 % better than the usual choice row
    by row, and the bytes depend on zlib alone.
    """
    rows, columns = pixels.shape
    raw = pixels.astype(">u2").view(np.uint8).reshape(rows, columns * 2)
    above = np.vstack([np.zeros((1, columns * 2), np.uint8), raw[:-1]])
    filtered = np.hstack([np.full((rows, 1), FILTER_UP, np.uint8), raw - above])
    header = struct.pack(">IIBBBBB", columns, rows, 16, 0, 0, 0, 0)
    compressor = zlib.compressobj(9, zlib.DEFLATED, 15, 9)
    data = compressor.compress(filtered.tobytes()) + compressor.flush()
    chunks = [(b"IHDR", header), (b"IDAT", data), (b"IEND", b"")]
    path.write_bytes(PNG_SIGNATURE + b"".join(_chunk(*chunk) for chunk in chunks))


def _chunk(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)
