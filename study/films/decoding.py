"""Decodes an image file to grey levels, or states why it cannot be shown unchanged."""

import hashlib
import io
import math
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from study.base.bank_model import Rule
from study.base.errors import BadFile, StudyError

Grey = NDArray[np.uint8] | NDArray[np.uint16]

FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "WEBP")
MAX_SIDE = 8_192  # the largest texture that graphics cards draw
MAX_PIXELS = 1 << 26  # below the size at which Pillow starts to warn of decompression bombs
MAX_BYTES = 1 << 28

WINDOW_KEY = "Window"
"""The key of the text chunk in which this program's PNG files store the initial window."""

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_FIRST_ELEMENT = re.compile(rb"[\x02\x08]\0[\x00-\x20]\0|\0[\x02\x08]\0[\x00-\x20]")
"""The first bytes of a DICOM data set: group 0002 or 0008, in either byte order."""

_ORIENTATION = 0x0112
_PHOTOMETRIC = 262
_EIGHT_BIT_MODES = frozenset({"1", "L", "LA", "La", "P", "PA", "RGB", "RGBA", "RGBa", "RGBX"})
_SIXTEEN_BIT_MODES = frozenset({"I;16", "I;16L", "I;16B", "I;16N", "I"})
_EXPORT_AGAIN = "export the film again as 8- or 16-bit grayscale PNG"


class BadFilm(BadFile):
    """A film that cannot be shown unchanged.

    Parameters
    ----------
    fault : str
        What is wrong with the film.
    remedy : str
        How to correct it.
    rule : Rule
        The broken rule for banks.
    """

    def __init__(
        self, fault: str, remedy: str = _EXPORT_AGAIN, rule: Rule = Rule.IMAGE_UNREADABLE
    ) -> None:
        super().__init__(f"{fault}; {remedy}")
        self.what = fault
        self.remedy = remedy
        self.rule = rule


@dataclass(frozen=True, slots=True, kw_only=True)
class FilmFacts:
    """Facts about a decoded film.

    Attributes
    ----------
    width, height : int
        Size in pixels, as displayed (EXIF orientation applied).
    bits : int
        Number of bits in which a sample is stored, 8 or 16; fewer levels may occur.
    low, high : int
        Smallest and largest sample.
    """

    width: int
    height: int
    bits: int
    low: int
    high: int


def inspect(data: bytes) -> FilmFacts:
    """Decode a film completely and return facts about it.

    Parameters
    ----------
    data : bytes
        The file's bytes.

    Returns
    -------
    FilmFacts

    Raises
    ------
    BadFile
        The bytes are not a film that can be shown; the message states the reason and the remedy.
    """
    pixels = grey_levels(data)
    height, width = pixels.shape
    return FilmFacts(
        width=width,
        height=height,
        bits=8 * pixels.dtype.itemsize,
        low=int(pixels.min()),
        high=int(pixels.max()),
    )


def grey_levels(data: bytes) -> Grey:
    """Decode a film to its grey levels.

    Grey levels are not rescaled, windowed, clipped or inverted. Colour becomes ITU-R 601 luminance,
    which equals the channels if they are equal. Alpha is dropped. Samples of 1, 2 and 4 bits are
    spread over 0 to 255, as PNG prescribes. The EXIF orientation is applied, as in every browser,
    so that a rotated film has the same orientation everywhere.

    Parameters
    ----------
    data : bytes
        The file's bytes: PNG, JPEG, TIFF, BMP or WebP, one frame.

    Returns
    -------
    ndarray of uint8 or uint16, shape (height, width)

    Raises
    ------
    BadFile
        The bytes cannot be decoded completely, or the grey levels cannot be preserved.
    """
    if len(data) > MAX_BYTES:
        raise BadFilm(f"the file has {len(data):,} bytes, more than {MAX_BYTES:,}")
    if data[128:132] == b"DICM":
        raise BadFilm("a DICOM file, not an image file")
    if data.startswith(_PNG_SIGNATURE):
        _check_png(data)
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            check_size(*image.size)
            _check_frames(image)
            image.info.pop("xmp", None)  # else Pillow rotates a TIFF by its XMP while loading it
            image.load()
            return _apply_orientation(_decode_levels(image), _orientation(image))
    except BadFilm:
        raise
    except UnidentifiedImageError:
        raise BadFilm(f"not an image of a known kind ({', '.join(FORMATS)})") from None
    except Exception as error:  # decoders raise almost any error on broken bytes
        raise BadFilm(
            "cannot be decoded: the file is damaged or incomplete", _EXPORT_AGAIN
        ) from error


def initial_window(data: bytes) -> tuple[float, float] | None:
    """Return the limits of a film's initial window, if its file contains them."""
    if not data.startswith(_PNG_SIGNATURE):
        return None
    with Image.open(io.BytesIO(data), formats=("PNG",)) as image:
        text = str(image.info.get(WINDOW_KEY, ""))
    try:
        low, high = map(float, text.split())
    except ValueError:
        return None
    return (low, high) if math.isfinite(low) and math.isfinite(high) and low < high else None


def _check_png(data: bytes) -> None:
    """Refuse two kinds of PNG that Pillow accepts: damaged ones, and colour with 16 bits.

    Pillow would reduce the colours to 8 bits.
    """
    at, kind, ended = len(_PNG_SIGNATURE), b"", False
    while not ended:
        length, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        end = at + 12 + length
        if end > len(data):
            raise BadFilm("the PNG is cut off", "copy the file again, or " + _EXPORT_AGAIN)
        critical = not kind[0] & 0x20
        stored = int.from_bytes(data[end - 4 : end], "big")
        if critical and zlib.crc32(memoryview(data)[at + 4 : end - 4]) != stored:
            raise BadFilm(
                "the PNG is damaged (checksum)", "copy the file again, or " + _EXPORT_AGAIN
            )
        if kind == b"IHDR" and data[at + 16 : at + 18] > b"\x10\x00":
            raise BadFilm("a PNG with 16 bits per channel that is not plain grayscale")
        at, ended = end, kind == b"IEND"


def check_size(width: int, height: int) -> None:
    """Raise `BadFilm` if a film is too large or has no pixels."""
    if width < 1 or height < 1:
        raise BadFilm(f"an image without pixels ({width} x {height})", "export it again")
    if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE and width * height <= MAX_PIXELS):
        raise BadFilm(
            f"{width} x {height} pixels; up to {MAX_SIDE:,} per side and {MAX_PIXELS:,} in total"
            " are supported",
            "export the film again at a smaller size",
        )


def _check_frames(image: Image.Image) -> None:
    frames = getattr(image, "n_frames", 1)
    if frames > 1 and image.format != "MPO":  # MPO: a photograph followed by its preview
        raise BadFilm(f"{frames} frames in one file", "save each frame as a separate file")


def _decode_levels(image: Image.Image) -> Grey:
    image.info.pop("transparency", None)
    if image.mode in _EIGHT_BIT_MODES:
        if image.mode in ("LA", "La"):
            return np.array(image.getchannel(0), dtype=np.uint8)
        return np.array(image.convert("L"), dtype=np.uint8)
    if image.mode not in _SIXTEEN_BIT_MODES:
        raise BadFilm(f"pixel format {image.mode} is not supported")
    tags = getattr(image, "tag_v2", {})
    if tags.get(_PHOTOMETRIC) == 0:  # Pillow inverts these at 8 bits and not at 16
        raise BadFilm("a TIFF with more than 8 bits per pixel in which 0 is white")
    samples = np.asarray(image)
    low, high = int(samples.min()), int(samples.max())
    if low < 0 or high > 65_535:
        raise BadFilm(f"pixel values {low} to {high}; only 0 to 65,535 are supported")
    return samples.astype(np.uint16)


def _orientation(image: Image.Image) -> object:
    """Return the orientation from EXIF, or from the tag of a TIFF.

    Pillow's `getexif` would also read it from XMP or from a text chunk of a PNG, which no browser
    does.
    """
    if (tags := getattr(image, "tag_v2", None)) is not None:
        return tags.get(_ORIENTATION, 1)
    exif = Image.Exif()
    if stored := image.info.get("exif"):
        exif.load(stored)
    return exif.get(_ORIENTATION, 1)


def _apply_orientation(pixels: Grey, orientation: object) -> Grey:
    """Apply an EXIF orientation; 1 and unknown values do not change the film."""
    if orientation in (5, 6, 7, 8):
        pixels = pixels.T
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    return pixels.copy()


def imported_bytes(path: Path, sha256: str) -> bytes:
    """Return the bytes of a film's file after comparing them with the hash from the import.

    Raises
    ------
    StudyError
        The file cannot be read, or has changed since the import.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StudyError("This film cannot be read at present. Ask your coordinator.") from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise StudyError("This film was changed after its import. Ask your coordinator.")
    return data


def is_dicom(data: bytes) -> bool:
    """Return whether these bytes begin a DICOM file: 128 bytes followed by `DICM`."""
    return data[128:132] == b"DICM"


def lacks_preamble(data: bytes) -> bool:
    """Return whether these bytes begin a DICOM data set without the preamble of a file."""
    return bool(_FIRST_ELEMENT.match(data))
