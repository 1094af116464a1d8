"""Reads the geometry of DICOM images: the visible part, and the size and shape of the pixels."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from study.films.decoding import BadFilm, check_size
from study.films.dicom_attributes import CORRECT_IN_ARCHIVE, Attributes

Mask = NDArray[np.bool_]
Samples = NDArray[np.uint16]

# The detector's spacing comes first: PixelSpacing may be calibrated to the patient.
_SPACING_KEYWORDS = ("ImagerPixelSpacing", "NominalScannedPixelSpacing", "PixelSpacing")
_SHAPE_TOLERANCE = 0.01


def outside_shutter(source: Attributes, height: int, width: int) -> Mask | None:
    """Return a mask of the pixels that a display shutter hides: those outside any of its shapes.

    Raises
    ------
    BadFilm
        The shutter has an unknown shape, or its edges cannot be read.
    """
    if not (shapes := source.texts("ShutterShape")):
        return None
    visible = np.ones((height, width), dtype=bool)
    for shape in shapes:
        if shape not in _SHUTTER_MASKS:
            raise BadFilm(
                f"a display shutter of an unsupported shape ({shape[:16]})", CORRECT_IN_ARCHIVE
            )
        visible &= _SHUTTER_MASKS[shape](source, height, width)
    return ~visible


def _shutter_edges(source: Attributes, keyword: str, n: int | None = 1) -> list[int]:
    edges = source.numbers(keyword, n)
    if not edges:
        raise BadFilm(f"a display shutter without a readable {keyword}", CORRECT_IN_ARCHIVE)
    return [int(edge) for edge in edges]


def _rectangle_mask(source: Attributes, height: int, width: int) -> Mask:
    (left,), (right,) = (
        _shutter_edges(source, f"Shutter{side}VerticalEdge") for side in ("Left", "Right")
    )
    (top,), (bottom,) = (
        _shutter_edges(source, f"Shutter{side}HorizontalEdge") for side in ("Upper", "Lower")
    )
    rows, columns = np.ogrid[1 : height + 1, 1 : width + 1]
    across, down = (columns >= left) & (columns <= right), (rows >= top) & (rows <= bottom)
    return np.asarray(across & down)


def _circle_mask(source: Attributes, height: int, width: int) -> Mask:
    row, column = _shutter_edges(source, "CenterOfCircularShutter", 2)
    (radius,) = _shutter_edges(source, "RadiusOfCircularShutter")
    rows, columns = np.ogrid[1 : height + 1, 1 : width + 1]
    return np.asarray((rows - row) ** 2 + (columns - column) ** 2 <= radius**2)


def _polygon_mask(source: Attributes, height: int, width: int) -> Mask:
    ends = _shutter_edges(source, "VerticesOfThePolygonalShutter", None)
    if len(ends) < 6 or len(ends) % 2:
        raise BadFilm("a display shutter without three corners", CORRECT_IN_ARCHIVE)
    picture = Image.new("1", (width, height))
    corners = [(x - 1, y - 1) for y, x in zip(ends[::2], ends[1::2], strict=True)]
    ImageDraw.Draw(picture).polygon(corners, fill=1, outline=1)
    return np.array(picture, dtype=bool)


_SHUTTER_MASKS: dict[str, Callable[[Attributes, int, int], Mask]] = {
    "RECTANGULAR": _rectangle_mask,
    "CIRCULAR": _circle_mask,
    "POLYGONAL": _polygon_mask,
}


def spacing_and_shape(source: Attributes) -> tuple[str, tuple[float, float] | None, float]:
    """Return the attribute that gives the spacing, the spacing in mm, and the shape of a pixel.

    Returns
    -------
    keyword : str
        Keyword of the attribute; empty if the spacing is unknown.
    spacing_mm : tuple of float or None
        Distance between rows, and between columns.
    shape : float
        Height of a pixel divided by its width; 1 if it is unknown.

    Raises
    ------
    BadFilm
        The attributes contradict each other.
    """
    pairs: dict[str, tuple[float, float]] = {}
    for keyword in (*_SPACING_KEYWORDS, "PixelAspectRatio"):
        pair = source.numbers(keyword, 2)
        if pair and min(pair) > 0:
            pairs[keyword] = pair[0], pair[1]
        elif pair:
            source.notes.append(f"its {keyword} is not above 0 and is ignored")
    shapes = [down / across for down, across in pairs.values()]
    if shapes and max(shapes) > min(shapes) * (1 + _SHAPE_TOLERANCE):
        raise BadFilm(
            f"{' and '.join(pairs)} give different pixel shapes",
            "correct them in the archive and export the image again",
        )
    shape = shapes[0] if shapes else 1.0
    if 1 / (1 + _SHAPE_TOLERANCE) <= shape <= 1 + _SHAPE_TOLERANCE:
        shape = 1.0
    keyword = next((name for name in _SPACING_KEYWORDS if name in pairs), "")
    return keyword, pairs.get(keyword), shape


def resample_to_square(samples: Samples, shape: float) -> Samples:
    """Resample an image to square pixels by dividing the longer side of each pixel.

    Parameters
    ----------
    samples : ndarray of uint16, shape (height, width)
    shape : float
        Height of a pixel divided by its width.

    Raises
    ------
    BadFilm
        The result would be too large.
    """
    height, width = samples.shape
    size = (round(width / shape), height) if shape < 1 else (width, round(height * shape))
    check_size(*size)
    picture = Image.fromarray(samples.astype(np.float32))
    resized: NDArray[np.float32] = np.asarray(picture.resize(size, Image.Resampling.BILINEAR))
    return np.asarray(np.rint(resized), dtype=np.uint16)
