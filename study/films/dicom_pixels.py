"""Converts the pixel data of a DICOM file to 16-bit samples and an initial window."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydicom.dataset import Dataset
from pydicom.uid import RLELossless

from study.films.decoding import BadFilm
from study.films.dicom_attributes import CORRECT_IN_ARCHIVE, Attributes

Levels = NDArray[np.int32]
Mask = NDArray[np.bool_]
Shares = NDArray[np.float64]

UNCOMPRESSED = "export it from the archive as uncompressed single-frame grayscale DICOM"
MIN_SHOWN_SHARE = 0.1
"""The share of the grey scale that an image must use at least in its initial window."""


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
        Attributes are missing, contradict each other, or state more than 16 bits.
    """
    allocated = source.integer("BitsAllocated")
    if allocated > 16:
        raise BadFilm(
            f"a DICOM file with {allocated} bits per pixel", "export it with 16 bits or fewer"
        )
    if allocated not in (1, 8, 16):
        raise BadFilm(f"a DICOM file with {allocated} bits allocated per pixel", UNCOMPRESSED)
    stored = source.integer("BitsStored")
    high = source.integer("HighBit", stored - 1)
    if not 1 <= stored <= high + 1 <= allocated:
        raise BadFilm(
            f"BitsAllocated {allocated}, BitsStored {stored} and HighBit {high} contradict each"
            " other",
            CORRECT_IN_ARCHIVE,
        )
    return Layout(
        allocated=allocated,
        stored=stored,
        high=high,
        signed=source.integer("PixelRepresentation") == 1,
    )


def stored_values(source: Attributes, layout: Layout) -> tuple[Levels, NDArray[Any] | None]:
    """Return the value of each pixel, and its complete cell if the file contains cells.

    A cell consists of all bits allocated to a pixel. It may contain bits that do not belong to the
    value, such as overlays. Compressed images have no cells.

    Raises
    ------
    BadFilm
        The pixel data cannot be decoded, or is not a single image of the size that the attributes
        state.
    """
    syntax = source.dataset.file_meta.TransferSyntaxUID
    if syntax.is_compressed and syntax != RLELossless:
        if layout.high != layout.stored - 1:
            raise BadFilm(
                f"a compressed DICOM file with HighBit {layout.high} of {layout.stored} bits"
                " stored",
                UNCOMPRESSED,
            )
        return _decode_pixels(source, layout).astype(np.int32), None
    # pydicom always reads the value from the low bits and ignores HighBit: request complete cells.
    full = replace(layout, stored=layout.allocated, high=layout.allocated - 1, signed=False)
    cells = _decode_pixels(source, full)
    values = cells.astype(np.int32) >> (layout.high + 1 - layout.stored)
    values &= (1 << layout.stored) - 1
    if layout.signed:
        values[values >= 1 << (layout.stored - 1)] -= 1 << layout.stored
    return values, cells


def _decode_pixels(source: Attributes, layout: Layout) -> NDArray[Any]:
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
        raise BadFilm("its pixel data contains several images", "save each as a separate file")
    return pixels


def padding(
    source: Attributes, values: Levels, cells: NDArray[Any] | None, layout: Layout
) -> Mask | None:
    """Return a mask of the padding: pixels from PixelPaddingValue to PixelPaddingRangeLimit.

    A file may state either value with the wrong sign, or as a complete cell with more bits than are
    stored; all these forms are recognised.
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
    """Return samples, of which larger ones are lighter, and the limits of the initial window.

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
    values, slope, intercept = _apply_modality(source, values)
    visible = values[~hidden]
    inverse = source.code("PhotometricInterpretation") == "MONOCHROME1"
    inverse = inverse or source.code("PresentationLUTShape") == "INVERSE"
    if slope is None:
        limits, slope = None, 1.0
    else:
        shares = _apply_curve(source, values, visible, slope, intercept)
        if shares is not None:
            shares = 1 - shares if inverse else shares
            samples = np.rint(shares * 65_535).astype(np.uint16)
            samples[hidden] = 0
            return samples, (0.0, 65_535.0)
        limits = _usable_window(source, visible, slope, intercept)
    low, high = limits or (float(visible.min()), float(visible.max()))
    return _shift_to_samples(values, visible, hidden, low, high, is_inverted=inverse != (slope < 0))


def _shift_to_samples(
    values: Levels, visible: Levels, hidden: Mask, low: float, high: float, *, is_inverted: bool
) -> tuple[NDArray[np.uint16], tuple[float, float]]:
    """Shift or invert values to obtain samples; keep the values of the file where possible."""
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


def _apply_modality(source: Attributes, values: Levels) -> tuple[Levels, float | None, float]:
    """Return values after a modality LUT; without a LUT, unchanged values with slope and intercept.

    The slope is None if it cannot be read; no window can then be interpreted.
    """
    if luts := source.items("ModalityLUTSequence"):
        looked_up = _apply_lut(Attributes(luts[0], source.notes), values, source)
        if looked_up is None:
            raise BadFilm(
                "a modality LUT that is unreadable or has too few entries", CORRECT_IN_ARCHIVE
            )
        source.notes.append("its modality LUT is applied to the samples")
        return looked_up[0], 1.0, 0.0
    slopes, intercepts = source.numbers("RescaleSlope"), source.numbers("RescaleIntercept")
    if slopes is None or intercepts is None:
        return values, None, 0.0
    slope, intercept = slopes[0] if slopes else 1.0, intercepts[0] if intercepts else 0.0
    if slope == 0:
        raise BadFilm("a DICOM file that rescales all grey levels to the same value", UNCOMPRESSED)
    return values, slope, intercept


def _apply_curve(
    source: Attributes, values: Levels, visible: Levels, slope: float, intercept: float
) -> Shares | None:
    """Return the output of a non-linear VOI transformation, 0 (black) to 1 (white), or None."""
    for lut in source.items("VOILUTSequence")[:1]:
        levels = np.floor(values * slope + intercept).astype(np.int64)
        looked_up = _apply_lut(Attributes(lut, source.notes), levels, source)
        if looked_up is None:
            source.notes.append("its VOI LUT cannot be read and is ignored")
        elif _is_flat(looked_up[0], values, visible):
            source.notes.append("its VOI LUT gives all levels the same value and is ignored")
        else:
            source.notes.append("its VOI LUT or sigmoid is applied to the samples")
            return np.clip(looked_up[0] / looked_up[1], 0, 1)
    limits = _window_limits(source)
    if source.code("VOILUTFunction") != "SIGMOID" or limits is None:
        return None
    if not _is_usable_window(_in_stored_values(limits, slope, intercept), visible):
        return None
    (centre, width) = limits[0] / 2 + limits[1] / 2, limits[1] - limits[0]
    distance = (values * slope + intercept - centre) / width
    source.notes.append("its VOI LUT or sigmoid is applied to the samples")
    return np.asarray(1 / (1 + np.exp(np.clip(-4 * distance, -700, 700))))


def _is_flat(levels: Levels, values: Levels, visible: Levels) -> bool:
    low, high = int(visible.min()), int(visible.max())
    shown = levels[(values >= low) & (values <= high)]
    return bool(low < high and shown.min() == shown.max())


def _apply_lut(lut: Attributes, levels: Any, source: Attributes) -> tuple[Levels, int] | None:
    """Return the output of a LUT and its maximum, or None if the LUT cannot be read.

    See PS3.3 C.11.1.1 and C.11.2.1.1. The first mapped value may have the wrong sign: of the two
    interpretations, the one that covers more levels is used.
    """
    descriptor = lut.numbers("LUTDescriptor", 3)
    if not descriptor:
        return None
    count, _, bits = (int(number) & 0xFFFF for number in descriptor)
    count = count or 0x10000
    if (table := _lut_entries(lut, count, source)) is None:
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


def _lut_entries(lut: Attributes, count: int, source: Attributes) -> Levels | None:
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


def _window_limits(source: Attributes) -> tuple[float, float] | None:
    """Return the limits of the first window in rescaled levels, or None if it cannot be read.

    See PS3.3 C.11.2.1.2.1, and C.11.2.1.3.2 for LINEAR_EXACT.
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
    limits: tuple[float, float], slope: float, intercept: float
) -> tuple[float, float]:
    low, high = sorted((end - intercept) / slope for end in limits)
    return low, high


def _usable_window(
    source: Attributes, visible: Levels, slope: float, intercept: float
) -> tuple[float, float] | None:
    """Return the limits of the window in stored values, or None (with a note) if it is unfit."""
    if (limits := _window_limits(source)) is None:
        return None
    low, high = _in_stored_values(limits, slope, intercept)
    if _is_usable_window((low, high), visible):
        return low, high
    source.notes.append(
        "its window is mostly or entirely outside the pixel values; all grey levels are shown"
    )
    return None


def _is_usable_window(limits: tuple[float, float], visible: Levels) -> bool:
    """Return whether an image can be recognised in a window.

    It cannot be recognised if it gets less than a tenth of the grey scale, or if it gets less than
    half and most pixels are outside the window.
    """
    low, high = limits
    if not np.isfinite(limits).all():
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
    return share >= MIN_SHOWN_SHARE and within >= 0.5
