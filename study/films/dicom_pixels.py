"""Converts the pixel data of a DICOM file to 16-bit samples and an initial window."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydicom.dataset import Dataset
from pydicom.uid import RLELossless

from study.films.decoding import BadFilm
from study.films.dicom_attributes import CORRECT, Attributes

Levels = NDArray[np.int32]
Mask = NDArray[np.bool_]
Shares = NDArray[np.float64]

UNCOMPRESSED = "export it from the archive as uncompressed single-frame grayscale DICOM"
LEAST_SHOWN = 0.1
"""The share of the grey scale that an image must use in its initial window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a pixel is stored: bits allocated and stored, the highest bit, and whether signed."""

    allocated: int
    stored: int
    high: int
    signed: bool


def layout_of(source: Attributes) -> Layout:
    """Return how pixels are stored.

    Raises
    ------
    BadFilm
        Attributes are missing, contradict each other, or give more than 16 bits.
    """
    allocated = source.integer("BitsAllocated")
    if allocated > 16:
        raise BadFilm(
            f"a DICOM file of {allocated} bits per pixel", "export it with 16 bits or fewer"
        )
    if allocated not in (1, 8, 16):
        raise BadFilm(f"a DICOM file with {allocated} bits allocated per pixel", UNCOMPRESSED)
    stored = source.integer("BitsStored")
    high = source.integer("HighBit", stored - 1)
    if not 1 <= stored <= high + 1 <= allocated:
        raise BadFilm(
            f"BitsAllocated {allocated}, BitsStored {stored} and HighBit {high} contradict each"
            " other",
            CORRECT,
        )
    return Layout(
        allocated=allocated,
        stored=stored,
        high=high,
        signed=source.integer("PixelRepresentation") == 1,
    )


def stored_values(source: Attributes, layout: Layout) -> tuple[Levels, NDArray[Any] | None]:
    """Return the value of each pixel, and its complete cell if the file contains cells.

    A cell may contain bits that do not belong to the value, such as overlays. Compressed images
    have no cells.

    Raises
    ------
    BadFilm
        The pixel data cannot be decoded, or not to one image of the size the attributes give.
    """
    syntax = source.dataset.file_meta.TransferSyntaxUID
    if syntax.is_compressed and syntax != RLELossless:
        if layout.high != layout.stored - 1:
            raise BadFilm(
                f"a compressed DICOM file with HighBit {layout.high} of {layout.stored} bits"
                " stored",
                UNCOMPRESSED,
            )
        return _decoded(source, layout).astype(np.int32), None
    # pydicom always reads the value from the low bits and ignores HighBit: request complete cells.
    full = replace(layout, stored=layout.allocated, high=layout.allocated - 1, signed=False)
    cells = _decoded(source, full)
    values = cells.astype(np.int32) >> (layout.high + 1 - layout.stored)
    values &= (1 << layout.stored) - 1
    if layout.signed:
        values[values >= 1 << (layout.stored - 1)] -= 1 << layout.stored
    return values, cells


def _decoded(source: Attributes, layout: Layout) -> NDArray[Any]:
    """Decode the pixel data, using only attributes that this program has read and checked."""
    described = Dataset()
    described.file_meta = source.dataset.file_meta
    described.SamplesPerPixel, described.NumberOfFrames = 1, 1
    described.PhotometricInterpretation = "MONOCHROME2"
    described.Rows, described.Columns = source.integer("Rows"), source.integer("Columns")
    described.BitsAllocated, described.BitsStored = layout.allocated, layout.stored
    described.HighBit, described.PixelRepresentation = layout.high, int(layout.signed)
    described["PixelData"] = source.dataset["PixelData"]
    try:
        pixels = described.pixel_array
    except Exception as error:  # decoders raise nearly anything on broken bytes
        # Messages may quote the file; the type of the error does not identify a patient.
        raise BadFilm(
            f"its pixel data is damaged ({type(error).__name__})",
            "copy the file again, or " + UNCOMPRESSED,
        ) from error
    if pixels.shape != (described.Rows, described.Columns):
        raise BadFilm("its pixel data holds several images", "save each as a file of its own")
    return pixels


def padding(
    source: Attributes, values: Levels, cells: NDArray[Any] | None, layout: Layout
) -> Mask | None:
    """Return a mask of the padding: pixels from PixelPaddingValue to PixelPaddingRangeLimit.

    Files may give either value with the wrong sign, or as a cell wider than the stored bits; all
    forms are recognised.
    """
    limits = [
        int(numbers[0]) & 0xFFFF
        for keyword in ("PixelPaddingValue", "PixelPaddingRangeLimit")
        if (numbers := source.numbers(keyword))
    ]
    if not limits or not source.numbers("PixelPaddingValue"):
        return None
    signed_16 = [n - 0x10000 if layout.signed and n > 0x7FFF else n for n in limits]
    within = (values >= min(signed_16)) & (values <= max(signed_16))
    if cells is not None and not _fit_layout(signed_16, layout):
        within |= (cells >= min(limits)) & (cells <= max(limits))
    if within.all():
        source.notes.append("its padding would cover the whole image and is ignored")
        return None
    return within if within.any() else None


def _fit_layout(numbers: list[int], layout: Layout) -> bool:
    top = 1 << (layout.stored - layout.signed)
    low = -top if layout.signed else 0
    return all(low <= number < top for number in numbers)


def samples_and_window(
    source: Attributes, values: Levels, hidden: Mask | None
) -> tuple[NDArray[np.uint16], tuple[float, float]]:
    """Return samples in which larger is lighter, and the limits of the initial window.

    Parameters
    ----------
    source : Attributes
    values : ndarray of int32, shape (height, width)
    hidden : ndarray of bool, optional
        Background pixels: padding and the area outside a shutter. They get the lowest sample,
        which is black in the initial window, and do not influence that window.
    """
    if hidden is not None and hidden.all():
        source.notes.append("its shutter and padding would hide the whole image and are ignored")
    if hidden is None or hidden.all():
        hidden = np.zeros(values.shape, dtype=bool)
    values, slope, intercept = _modality(source, values)
    visible = values[~hidden]
    inverse = source.code("PhotometricInterpretation") == "MONOCHROME1"
    inverse = inverse or source.code("PresentationLUTShape") == "INVERSE"
    if slope is None:
        ends, slope = None, 1.0
    else:
        shares = _curve(source, values, visible, slope, intercept)
        if shares is not None:
            shares = 1 - shares if inverse else shares
            samples = np.rint(shares * 65_535).astype(np.uint16)
            samples[hidden] = 0
            return samples, (0.0, 65_535.0)
        ends = _window(source, visible, slope, intercept)
    low, high = ends or (float(visible.min()), float(visible.max()))
    return _shifted(values, visible, hidden, low, high, is_inverted=inverse != (slope < 0))


def _shifted(
    values: Levels, visible: Levels, hidden: Mask, low: float, high: float, *, is_inverted: bool
) -> tuple[NDArray[np.uint16], tuple[float, float]]:
    """Shift or invert values to samples; values of the file stay unchanged where possible."""
    if is_inverted:
        values, visible, low, high = -values, -visible, -high, -low
    least, highest = int(visible.min()), int(visible.max())
    base = least if is_inverted else min(0, least)
    if hidden.any():  # background must be black even in a window that begins below all samples
        base = max(min(base, int(np.floor(max(low, -1e6)))), highest - 65_535)
    samples = (values - base).clip(0, 65_535).astype(np.uint16)
    samples[hidden] = 0
    low, high = low - base, high - base
    return samples, (low, max(high, low + 0.5))


def _modality(source: Attributes, values: Levels) -> tuple[Levels, float | None, float]:
    """Return values after a modality LUT; without a LUT, unchanged values with slope and intercept.

    The slope is None if it cannot be read; then no window can be interpreted.
    """
    if luts := source.items("ModalityLUTSequence"):
        looked_up = _looked_up(Attributes(luts[0], source.notes), values, source)
        if looked_up is None:
            raise BadFilm("a modality LUT shorter than it says, or unreadable", CORRECT)
        source.notes.append("its modality LUT is applied to the samples")
        return looked_up[0], 1.0, 0.0
    slopes, intercepts = source.numbers("RescaleSlope"), source.numbers("RescaleIntercept")
    if slopes is None or intercepts is None:
        return values, None, 0.0
    slope, intercept = slopes[0] if slopes else 1.0, intercepts[0] if intercepts else 0.0
    if slope == 0:
        raise BadFilm("a DICOM file that rescales all grey levels to one", UNCOMPRESSED)
    return values, slope, intercept


def _curve(
    source: Attributes, values: Levels, visible: Levels, slope: float, intercept: float
) -> Shares | None:
    """Return the output of a non-linear VOI transformation, 0 (black) to 1 (white), or None."""
    for lut in source.items("VOILUTSequence")[:1]:
        levels = np.floor(values * slope + intercept).astype(np.int64)
        looked_up = _looked_up(Attributes(lut, source.notes), levels, source)
        if looked_up is None:
            source.notes.append("its VOI LUT cannot be read and is ignored")
        elif _is_flat(looked_up[0], values, visible):
            source.notes.append("its VOI LUT makes all levels one and is ignored")
        else:
            source.notes.append("its VOI LUT or sigmoid is applied to the samples")
            return np.clip(looked_up[0] / looked_up[1], 0, 1)
    ends = _ends(source)
    if source.code("VOILUTFunction") != "SIGMOID" or ends is None:
        return None
    if not _shows(_in_stored_values(ends, slope, intercept), visible):
        return None
    (centre, width) = ends[0] / 2 + ends[1] / 2, ends[1] - ends[0]
    distance = (values * slope + intercept - centre) / width
    source.notes.append("its VOI LUT or sigmoid is applied to the samples")
    return np.asarray(1 / (1 + np.exp(np.clip(-4 * distance, -700, 700))))


def _is_flat(levels: Levels, values: Levels, visible: Levels) -> bool:
    low, high = int(visible.min()), int(visible.max())
    shown = levels[(values >= low) & (values <= high)]
    return bool(low < high and shown.min() == shown.max())


def _looked_up(lut: Attributes, levels: Any, source: Attributes) -> tuple[Levels, int] | None:
    """Return the output of a LUT and its maximum; see PS3.3 C.11.1.1 and C.11.2.1.1.

    None if the LUT cannot be read. The first mapped value may have the wrong sign: of the two
    interpretations, the one that covers more levels is used.
    """
    descriptor = lut.numbers("LUTDescriptor", 3)
    if not descriptor:
        return None
    count, _, bits = (int(number) & 0xFFFF for number in descriptor)
    count = count or 0x10000
    if (table := _table(lut, count, source)) is None:
        return None
    low, high = int(levels.min()), int(levels.max())
    declared = int(descriptor[1])
    first = max(
        (declared, declared - 0x10000 if declared >= 0 else declared + 0x10000),
        key=lambda start: max(0, min(high, start + count - 1) - max(low, start) + 1),
    )
    places = np.clip(levels.astype(np.int64) - first, 0, count - 1)
    top = (1 << bits if bits <= 16 else 0) - 1
    return table[places], max(top, (1 << int(table.max()).bit_length()) - 1, 1)


def _table(lut: Attributes, count: int, source: Attributes) -> Levels | None:
    """Return the entries of a LUT with 8 or 16 bits; None if there are too few."""
    try:
        data = lut.dataset.get("LUTData")
    except Exception:  # pydicom converts on access, and raises nearly anything
        return None
    if isinstance(data, bytes):
        order = "<" if source.dataset.original_encoding[1] else ">"
        bytes_each = 1 if len(data) <= count + 1 else 2
        entries = np.frombuffer(data[: count * bytes_each], dtype=f"{order}u{bytes_each}")
    elif data is None:
        return None
    else:
        entries = np.atleast_1d(np.asarray(data, dtype=np.int64) & 0xFFFF)
        if len(entries) < count <= 2 * len(entries):  # two entries of 8 bits in each word
            entries = np.frombuffer(entries.astype("<u2").tobytes(), dtype=np.uint8)
    return entries[:count].astype(np.int32) if len(entries) >= count else None


def _ends(source: Attributes) -> tuple[float, float] | None:
    """Return the limits of the first readable window, in rescaled levels.

    PS3.3 C.11.2.1.2.1, and C.11.2.1.3.2 for LINEAR_EXACT.
    """
    centres, widths = source.numbers("WindowCenter"), source.numbers("WindowWidth")
    if not centres or not widths:
        return None
    centre, width = centres[0], widths[0]
    exact = source.code("VOILUTFunction") in ("LINEAR_EXACT", "SIGMOID")
    if width < 1 and not (exact and width > 0):
        source.notes.append("its WindowWidth is too small and its window is ignored")
        return None
    low = centre - width / 2
    return (low, low + width) if exact else (low, low + width - 1)


def _in_stored_values(
    ends: tuple[float, float], slope: float, intercept: float
) -> tuple[float, float]:
    low, high = sorted((end - intercept) / slope for end in ends)
    return low, high


def _window(
    source: Attributes, visible: Levels, slope: float, intercept: float
) -> tuple[float, float] | None:
    """Return the limits of the window in stored values; None, with a note, if it shows nothing."""
    if (ends := _ends(source)) is None:
        return None
    low, high = _in_stored_values(ends, slope, intercept)
    if _shows((low, high), visible):
        return low, high
    source.notes.append(
        "its window lies outside the pixel values, all or most of it: all grey levels are shown"
    )
    return None


def _shows(ends: tuple[float, float], visible: Levels) -> bool:
    """Return whether a window shows an image.

    A window shows no image if the image gets less than a tenth of the grey scale, or less than
    half with most pixels outside the window.
    """
    low, high = ends
    if not np.isfinite(ends).all():
        return False
    least, highest = int(visible.min()), int(visible.max())
    if least == highest:
        return True
    if high <= low:
        return least <= low <= highest
    share = (min(high, highest) - max(low, least)) / (high - low)
    if share >= 0.5:
        return True
    within = float(np.mean((visible >= low) & (visible <= high)))
    return share >= LEAST_SHOWN and within >= 0.5
