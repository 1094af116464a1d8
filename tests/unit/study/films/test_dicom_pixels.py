"""Unusual pixel data is shown according to the standard, or rejected with the correct reason."""

import struct
from io import BytesIO
from itertools import product
from typing import Any

import numpy as np
import pydicom
import pytest
from numpy.typing import NDArray
from pydicom.dataset import Dataset
from pydicom.encaps import encapsulate

from study.films import BadFilm
from study.films.dicom import read
from tests.unit.study.films.test_dicom import (
    BUNDLED,
    CURVE,
    RAMP,
    SIGNED_RAMP,
    dicom_bytes,
    displayed_image,
    lut,
)

BORDER_WIDTH = 8
INSIDE = (slice(BORDER_WIDTH, -BORDER_WIDTH), slice(BORDER_WIDTH, -BORDER_WIDTH))
BORDER = np.ones(RAMP.shape, dtype=bool)
BORDER[INSIDE] = False
MONOCHROME = ("MONOCHROME1", "MONOCHROME2")


def with_border(stored: NDArray[Any], *values: int) -> NDArray[Any]:
    """Return stored values with a border of alternating values."""
    bordered_image = stored.copy()
    bordered_image[BORDER] = np.resize(np.array(values, dtype=np.int64), BORDER.sum()).astype(
        bordered_image.dtype
    )
    return bordered_image


def with_words(data: bytes, **words: int) -> bytes:
    """Return a file with attributes of 16 bits, written as unsigned for either sign."""
    source = pydicom.dcmread(BytesIO(data))
    for keyword, value in words.items():
        source.add_new(keyword, "US", value & 0xFFFF)
    out = BytesIO()
    source.save_as(out)
    return out.getvalue()


PADDING_RANGES = [(5000,), (5000, 5003), (5003, 5000), (65_535,), (0,)]
SIGNED_PADDING_RANGES = [(-3000,), (-3000, -2990), (-2990, -3000), (32_767,), (-32_768,)]


@pytest.mark.parametrize("photometric", MONOCHROME)
@pytest.mark.parametrize(
    ("signed", "limits"),
    [*product([False], PADDING_RANGES), *product([True], SIGNED_PADDING_RANGES)],
)
@pytest.mark.parametrize("window", [{}, {"WindowCenter": 900, "WindowWidth": 4000}], ids=str)
@pytest.mark.parametrize("lut_applied", [False, True])
def test_padding_is_black_and_does_not_affect_the_image(
    photometric: str,
    signed: bool,
    limits: tuple[int, ...],
    window: dict[str, Any],
    lut_applied: bool,
) -> None:
    """A film with a border of padding is compared with the film without it."""
    bits = {"BitsStored": 16, "HighBit": 15}
    stored = (SIGNED_RAMP if signed else RAMP + 100)[:, :].copy()
    if lut_applied:
        entry = lut(CURVE, int(stored.min()), signed=signed)
        window = {"VOILUTSequence": [entry]}
    plain = dicom_bytes(
        stored[INSIDE].copy(), PhotometricInterpretation=photometric, **bits, **window
    )
    data = dicom_bytes(
        with_border(stored, *limits), PhotometricInterpretation=photometric, **bits, **window
    )
    words = dict(zip(("PixelPaddingValue", "PixelPaddingRangeLimit"), limits, strict=False))
    shown = displayed_image(with_words(data, **words))
    assert (shown[BORDER] == 0).all()
    assert np.abs(shown[INSIDE] - displayed_image(plain)).max() <= 1


def test_padding_beyond_the_bits_stored_is_recognised() -> None:
    """Padding of 65535 is not taken for 4095 if 12 bits are stored."""
    stored = with_border(RAMP, 0xFFFF)
    stored[32, 32] = 4095
    shown = displayed_image(with_words(dicom_bytes(stored), PixelPaddingValue=0xFFFF))
    assert (shown[BORDER] == 0).all()
    assert shown[32, 32] == 255


def test_padding_of_the_complete_image_is_ignored() -> None:
    """A note reports the padding."""
    result = read(with_words(dicom_bytes(RAMP), PixelPaddingValue=0, PixelPaddingRangeLimit=4095))
    assert np.array_equal(result.samples, RAMP)
    assert any("padding" in note for note in result.notes)


@pytest.mark.parametrize(
    ("signed", "stored_bits", "high"), [*product((False, True), (8, 10, 12), (11, 13, 15))]
)
def test_bits_outside_the_stored_value_are_ignored(
    signed: bool, stored_bits: int, high: int
) -> None:
    """The position of the value in its cell and the other bits vary."""
    values = np.arange(4096).reshape(64, 64) % (1 << stored_bits)
    shift = high + 1 - stored_bits
    garbage = np.random.default_rng(1).integers(0, 1 << 16, values.shape)
    mask = ((1 << stored_bits) - 1) << shift
    cells = ((values << shift) | (garbage & ~mask)).astype(np.uint16)
    data = dicom_bytes(cells, BitsStored=stored_bits, HighBit=high, PixelRepresentation=int(signed))
    half = 1 << (stored_bits - 1)
    expected = (values + half) % (2 * half) if signed else values
    assert np.array_equal(read(data).samples, expected)


@pytest.mark.parametrize(
    "tags",
    [
        {"BitsStored": 12, "HighBit": 9},
        {"BitsStored": 12, "HighBit": 16},
        {"BitsStored": 0, "HighBit": 0},
        {"BitsStored": 17, "HighBit": 16},
    ],
    ids=str,
)
def test_contradictory_bits_are_rejected(tags: dict[str, int]) -> None:
    """Otherwise the image would be wrong."""
    with pytest.raises(BadFilm, match="contradict each other"):
        read(dicom_bytes(RAMP, **tags))


def with_raw_value(data: bytes, keyword: str, value: bytes) -> bytes:
    """Return a file with an attribute of these bytes."""
    source = pydicom.dcmread(BytesIO(data))
    tag = pydicom.datadict.tag_for_keyword(keyword)
    assert tag is not None
    dataset = pydicom.dataelem.RawDataElement(
        pydicom.tag.Tag(tag), "LO", len(value), value, 0, False, True, True
    )
    source[tag] = pydicom.dataelem.convert_raw_data_element(dataset)
    out = BytesIO()
    source.save_as(out)
    return out.getvalue().replace(
        struct.pack("<HH", tag >> 16, tag & 0xFFFF) + b"LO",
        struct.pack("<HH", tag >> 16, tag & 0xFFFF) + b"DS",
    )


DECIMAL_ATTRIBUTES = ("WindowCenter", "WindowWidth", "RescaleSlope", "RescaleIntercept")
SPACING_ATTRIBUTES = ("ImagerPixelSpacing", "NominalScannedPixelSpacing", "PixelSpacing")
COMPLETE_ATTRIBUTES = {
    "WindowCenter": 700,
    "WindowWidth": 900,
    "RescaleSlope": 1.5,
    "RescaleIntercept": 10,
    **{name: [0.2, 0.2] for name in SPACING_ATTRIBUTES},
}


@pytest.mark.parametrize("keyword", DECIMAL_ATTRIBUTES)
def test_a_decimal_comma_is_read_as_a_point(keyword: str) -> None:
    """A note reports the comma, and the image equals that of a file with a point."""
    data = dicom_bytes(RAMP, **COMPLETE_ATTRIBUTES)
    comma = read(with_raw_value(data, keyword, b" 612,5 "))
    assert comma.window == read(with_raw_value(data, keyword, b"612.5 ")).window
    assert any(keyword in note and "comma" in note for note in comma.notes)


@pytest.mark.parametrize("keyword", SPACING_ATTRIBUTES)
def test_a_spacing_with_commas_is_read(keyword: str) -> None:
    """Both directions are compared."""
    data = dicom_bytes(RAMP)
    assert read(with_raw_value(data, keyword, b"0,150\\0,150")).spacing == "0.15\\0.15"


@pytest.mark.parametrize("keyword", [*DECIMAL_ATTRIBUTES, *SPACING_ATTRIBUTES, "PixelAspectRatio"])
@pytest.mark.parametrize(
    "value", [b"abc", b"1.234,5 ", b"nan ", b"inf ", b"1e999 ", b"--1 ", b"12 mm ", b"1\\x\\2 "]
)
def test_an_invalid_decimal_is_ignored_with_a_note(keyword: str, value: bytes) -> None:
    """The film is shown without the attribute, and the note does not repeat its value."""
    result = read(with_raw_value(dicom_bytes(RAMP, **COMPLETE_ATTRIBUTES), keyword, value))
    assert any(keyword in note for note in result.notes)
    assert not any(value.decode().strip() in note for note in result.notes)
    if keyword in DECIMAL_ATTRIBUTES:
        assert result.window == (0, 4095)
    else:
        assert result.spacing == "0.2\\0.2"


@pytest.mark.parametrize("keyword", DECIMAL_ATTRIBUTES)
@pytest.mark.parametrize("value", [b"", b"  "])
def test_an_empty_decimal_is_ignored_without_a_note(keyword: str, value: bytes) -> None:
    """The attribute is treated as absent."""
    tags = {name: number for name, number in COMPLETE_ATTRIBUTES.items() if name != keyword}
    result = read(with_raw_value(dicom_bytes(RAMP, **COMPLETE_ATTRIBUTES), keyword, value))
    assert (result.window, result.notes) == (read(dicom_bytes(RAMP, **tags)).window, result.notes)


@pytest.mark.parametrize("photometric", MONOCHROME)
@pytest.mark.parametrize("function", ["LINEAR", "LINEAR_EXACT", "SIGMOID"])
@pytest.mark.parametrize(
    ("centre", "width"),
    [(10_000, 2_000), (-9_000, 400), (9_000, 12_000), (4_090, 1_000), (32_768, 65_536), (1e30, 1)],
)
def test_a_window_outside_the_pixel_range_is_ignored_with_a_note(
    photometric: str, function: str, centre: float, width: float
) -> None:
    """The window is completely or mostly outside; all grey levels are shown."""
    tags = {"WindowCenter": centre, "WindowWidth": width, "VOILUTFunction": function}
    result = read(dicom_bytes(RAMP // 2, PhotometricInterpretation=photometric, **tags))
    assert any("its window is mostly or entirely outside" in note for note in result.notes)
    assert result.window == (0, 2047)


@pytest.mark.parametrize(
    ("centre", "width"), [(40, 80), (4_000, 180), (600, 1_599), (2_048, 4_096), (2_048, 8_000)]
)
def test_a_window_within_the_pixel_range_is_used(centre: int, width: int) -> None:
    """The window is narrow, at either end, or wider than the pixel range."""
    result = read(dicom_bytes(RAMP, WindowCenter=centre, WindowWidth=width))
    assert result.window == (centre - width / 2, centre + width / 2 - 1)


@pytest.mark.parametrize("photometric", MONOCHROME)
@pytest.mark.parametrize(("descriptor_vr", "first"), [("US", 0x10000 - 2048), ("SS", -2048)])
@pytest.mark.parametrize("has_second_table", [False, True])
def test_a_lut_looks_the_same_in_all_encodings(
    photometric: str, descriptor_vr: str, first: int, has_second_table: bool
) -> None:
    """The first value is unsigned or signed, entries have 8 or 16 bits, with one or more tables."""
    pictures = []
    for bits, kind in product((8, 16), ("US", "OW", "OB")):
        if kind == "OB" and bits == 16:
            continue
        curve = [value >> (16 - bits) for value in CURVE]
        entry = Dataset()
        entry.add_new("LUTDescriptor", descriptor_vr, [4096, first, bits])
        form = np.asarray(curve, dtype=np.uint8 if bits == 8 else "<u2").tobytes()
        entry.add_new("LUTData", kind, curve if kind == "US" else form)
        sequence = [entry, lut([0] * 4096, -2048, signed=True)] if has_second_table else [entry]
        data = dicom_bytes(
            SIGNED_RAMP, PhotometricInterpretation=photometric, VOILUTSequence=sequence
        )
        pictures.append(displayed_image(data))
    expected = dicom_bytes(
        SIGNED_RAMP,
        PhotometricInterpretation=photometric,
        VOILUTSequence=[lut(CURVE, -2048, signed=True)],
    )
    assert all(np.abs(seen - displayed_image(expected)).max() <= 1 for seen in pictures)


def test_a_lut_of_65536_entries_has_a_length_of_0() -> None:
    """The number 65536 does not fit into two bytes."""
    entry = Dataset()
    entry.add_new("LUTDescriptor", "US", [0, 0, 16])
    entry.add_new("LUTData", "OW", np.arange(65_535, -1, -1, dtype="<u2").tobytes())
    data = dicom_bytes(RAMP * 16, BitsStored=16, HighBit=15, VOILUTSequence=[entry])
    assert np.array_equal(read(data).samples, 65_535 - RAMP * 16)


@pytest.mark.parametrize("fault", ["short", "no data", "one level"])
def test_an_invalid_lut_is_ignored_with_a_note(fault: str) -> None:
    """The window is used instead."""
    entry = lut([5] * 4096 if fault == "one level" else CURVE, 0)
    if fault == "short":
        entry.LUTData = CURVE[:1000]
    elif fault == "no data":
        del entry.LUTData
    result = read(dicom_bytes(RAMP, VOILUTSequence=[entry], WindowCenter=700, WindowWidth=900))
    assert any("VOI LUT" in note for note in result.notes)
    assert result.window == (250, 1149)


def test_the_functional_groups_of_a_single_frame_object_are_used() -> None:
    """Groups of the frame take precedence over shared groups."""

    def item(**tags: Any) -> Dataset:
        dataset = Dataset()
        for name, value in tags.items():
            setattr(dataset, name, value)
        return dataset

    shared = item(
        FrameVOILUTSequence=[item(WindowCenter=5, WindowWidth=3)],
        PixelValueTransformationSequence=[
            item(RescaleSlope=2, RescaleIntercept=-100, RescaleType="US")
        ],
        PixelMeasuresSequence=[item(PixelSpacing=[0.3, 0.3])],
        FrameAnatomySequence=[item(FrameLaterality="R")],
    )
    frame = item(FrameVOILUTSequence=[item(WindowCenter=1900, WindowWidth=2000)])
    groups = {
        "SharedFunctionalGroupsSequence": [shared],
        "PerFrameFunctionalGroupsSequence": [frame],
        "NumberOfFrames": 1,
    }
    result = read(dicom_bytes(RAMP, **groups))
    assert result.window == ((900 + 100) / 2, (2899 + 100) / 2)
    assert (result.spacing, result.laterality) == ("0.3\\0.3", "R")
    with pytest.raises(BadFilm, match="with 3 frames"):
        read(dicom_bytes(RAMP, **{**groups, "NumberOfFrames": 3}))


@pytest.mark.parametrize(
    ("tags", "shape", "spacing"),
    [
        ({"PixelAspectRatio": [2, 1]}, (128, 64), ""),
        ({"PixelAspectRatio": [1, 2]}, (64, 128), ""),
        ({"PixelAspectRatio": [1, 1]}, (64, 64), ""),
        ({"ImagerPixelSpacing": [0.2, 0.1]}, (128, 64), "0.1\\0.1"),
        ({"NominalScannedPixelSpacing": [0.1, 0.2]}, (64, 128), "0.1\\0.1"),
        ({"PixelSpacing": [0.1, 0.15]}, (64, 96), "0.1\\0.1"),
        ({"PixelSpacing": [0.2, 0.2005]}, (64, 64), "0.2\\0.2005"),
    ],
    ids=str,
)
def test_non_square_pixels_are_resampled(
    tags: dict[str, Any], shape: tuple[int, int], spacing: str
) -> None:
    """The image is twice as high if pixels are twice as high as wide."""
    result = read(dicom_bytes(RAMP, **tags))
    assert result.samples.shape == shape
    assert result.spacing == spacing
    assert any("not square" in note for note in result.notes) == (shape != (64, 64))
    assert abs(int(result.samples[0, 0])) <= 40
    assert abs(int(result.samples[-1, -1]) - 4095) <= 40


def test_contradictory_pixel_shapes_are_rejected() -> None:
    """The correct shape is unknown."""
    with pytest.raises(BadFilm, match="ImagerPixelSpacing and PixelAspectRatio give different"):
        read(dicom_bytes(RAMP, ImagerPixelSpacing=[0.2, 0.2], PixelAspectRatio=[2, 1]))
    with pytest.raises(BadFilm, match="64000 x 64 pixels"):
        read(dicom_bytes(RAMP, PixelAspectRatio=[1, 1000]))


def test_an_invalid_attribute_is_reported() -> None:
    """The message does not suggest copying the file again."""
    shutter = {"ShutterShape": "CIRCULAR", "CenterOfCircularShutter": [32, 32]}
    cases: list[tuple[dict[str, Any], str]] = [
        (shutter, "without a readable RadiusOfCircularShutter"),
        ({"ShutterShape": "BITMAP"}, "unsupported shape"),
        ({"ShutterShape": "POLYGONAL", "VerticesOfThePolygonalShutter": [1, 1, 5]}, "corners"),
        ({"PhotometricInterpretation": "GREY"}, "unknown PhotometricInterpretation"),
        ({"PhotometricInterpretation": "YBR_FULL"}, "in colour"),
        ({"Rows": [64, 64]}, "Rows"),
        ({"BitsAllocated": 12}, "12 bits allocated"),
        ({"PixelData": RAMP.tobytes()[:-2]}, "cut off: 8,190 of 8,192"),
        ({"PixelData": RAMP.tobytes() * 2}, "several images"),
        ({"PixelData": b""}, "empty"),
        ({"RescaleSlope": 0}, "rescales all grey levels"),
    ]
    for tags, reason in cases:
        with pytest.raises(BadFilm, match=reason) as excinfo:
            read(dicom_bytes(RAMP, **tags))
        assert "cannot be processed" not in str(excinfo.value)


def test_damaged_compressed_pixels_are_rejected_as_such() -> None:
    """The pixels are zeros between a valid start and end, or have an impossible HighBit."""
    source = pydicom.dcmread(BUNDLED / "JPEG2000.dcm")
    frame = bytearray(pydicom.encaps.get_frame(source.PixelData, 0, number_of_frames=1))
    frame[60:140] = bytes(80)
    source.PixelData = encapsulate([bytes(frame)])
    out = BytesIO()
    source.save_as(out)
    with pytest.raises(BadFilm, match="pixel data is damaged"):
        read(out.getvalue())
    source = pydicom.dcmread(BUNDLED / "MR_small_jpeg_ls_lossless.dcm")
    source.BitsStored, source.HighBit = 12, 15
    out = BytesIO()
    source.save_as(out)
    with pytest.raises(BadFilm, match="HighBit 15"):
        read(out.getvalue())
