"""DICOM films are shown as pydicom renders them, or refused with the correct reason."""

import warnings
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pydicom
import pytest
from numpy.typing import NDArray
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.pixels.processing import apply_modality_lut, apply_voi_lut
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, generate_uid

from study.films import BadFilm, grey_levels, initial_window, pack_film
from study.films.dicom import read
from tests.film_decoder import unpacked

BUNDLED = Path(pydicom.__file__).parent / "data" / "test_files"
ACCEPTED_FILES = (
    *("693_J2KI", "CT_small", "J2K_pixelrep_mismatch", "JPEG2000", "JPEGLSNearLossless_08"),
    *("JPEGLSNearLossless_16", "MR_small", "MR_small_RLE", "MR_small_bigendian", "MR_small_expb"),
    *("MR_small_implicit", "MR_small_jp2klossless", "MR_small_jpeg_ls_lossless"),
    *("MR_small_padded", "examples_overlay", "liver_1frame"),
)
REFUSED_FILES = {
    "MR_truncated": "cut off: 8,130 of 8,192 bytes",
    "SC_rgb_jpeg": "in colour",
    "examples_palette": "in colour",
    "rtdose": "15 frames",
    "rtdose_1frame": "32 bits",
    "test-SR": r"without pixels \(Comprehensive SR Storage\)",
    "image_dfl": "deflated",
    "JPGExtended": "12-bit lossy JPEG",
    "no_meta": "not a DICOM file",
    "rtstruct": "without preamble",
    "ExplVR_BigEndNoMeta": "without preamble",
    "meta_missing_tsyntax": "without transfer syntax",
    "badVR": "NumberOfFrames cannot be read",
    "nested_priv_SQ": "no PhotometricInterpretation",
    "DICOMDIR-empty": "a DICOMDIR",
    "chrJapMulti": "without pixels .*; export it with its pixel data",
}


def dicom_bytes(stored: NDArray[Any], **tags: Any) -> bytes:
    """Return the bytes of a DICOM file with these stored values."""
    dataset = Dataset()
    dataset.file_meta = FileMetaDataset()
    dataset.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    dataset.file_meta.MediaStorageSOPClassUID = dataset.SOPClassUID = CTImageStorage
    dataset.file_meta.MediaStorageSOPInstanceUID = dataset.SOPInstanceUID = generate_uid()
    dataset.Rows, dataset.Columns = stored.shape
    dataset.PhotometricInterpretation, dataset.SamplesPerPixel = "MONOCHROME2", 1
    dataset.BitsAllocated, dataset.BitsStored, dataset.HighBit = 16, 12, 11
    dataset.PixelRepresentation = int(stored.dtype.kind == "i")
    dataset.PixelData = stored.tobytes()
    for name, value in tags.items():
        setattr(dataset, name, value)
    out = BytesIO()
    dataset.save_as(out, enforce_file_format=True)
    return out.getvalue()


def lut(values: list[int], first: int, *, signed: bool = False) -> Dataset:
    """Return a LUT sequence with one item of 16 bits."""
    dataset = Dataset()
    dataset.add_new("LUTDescriptor", "SS" if signed else "US", [len(values), first, 16])
    dataset.add_new("LUTData", "US", values)
    return dataset


def pydicom_rendering(data: bytes) -> NDArray[np.float64]:
    """Return the image as pydicom renders it, from 0 to 255."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source = pydicom.dcmread(BytesIO(data))
        levels = apply_modality_lut(source.pixel_array, source)
        shown = np.asarray(apply_voi_lut(levels, source), dtype=float)
    if source.get("VOILUTSequence"):
        low, high = 0.0, float(2 ** source.VOILUTSequence[0].LUTDescriptor[2] - 1)
    elif source.get("WindowWidth") is None:
        low, high = shown.min(), shown.max()
    elif source.get("ModalityLUTSequence"):
        low, high = 0.0, float(2 ** source.ModalityLUTSequence[0].LUTDescriptor[2] - 1)
    else:
        bits, signed = source.BitsStored, source.PixelRepresentation
        ends = np.array([-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] if signed else [0, 2**bits - 1])
        low, high = ends * float(source.get("RescaleSlope", 1)) + float(
            source.get("RescaleIntercept", 0)
        )
    share = (shown - low) / (high - low)
    inverse = source.get("PresentationLUTShape") == "INVERSE"
    is_inverted = source.PhotometricInterpretation == "MONOCHROME1" or inverse
    return 255 * (1 - share if is_inverted else share)


def displayed_image(data: bytes) -> NDArray[np.float64]:
    """Return the first image that the reading page draws of the stored film."""
    png = read(data).png()
    ends = initial_window(png)
    assert ends is not None
    low, high = ends
    levels = unpacked(pack_film(grey_levels(png), ends)).astype(float)
    return np.asarray(np.floor(np.clip((levels - low) / (high - low), 0, 1) * 255 + 0.5))


@pytest.mark.parametrize("name", ACCEPTED_FILES)
def test_the_example_files_of_pydicom_look_as_pydicom_renders_them(name: str) -> None:
    """The images differ by at most one grey level, for every transfer syntax."""
    data = (BUNDLED / f"{name}.dcm").read_bytes()
    assert np.abs(displayed_image(data) - pydicom_rendering(data)).max() <= 1


RAMP = np.arange(4096, dtype=np.uint16).reshape(64, 64)
SIGNED_RAMP = (np.arange(4096) - 2048).astype(np.int16).reshape(64, 64)
CURVE = [round(65_535 * (n / 4095) ** 2) for n in range(4096)]
WINDOW = {"WindowCenter": 700, "WindowWidth": 900}


@pytest.mark.parametrize("photometric", ["MONOCHROME1", "MONOCHROME2"])
@pytest.mark.parametrize("stored", [RAMP, SIGNED_RAMP], ids=["unsigned", "signed"])
@pytest.mark.parametrize(
    "tags",
    [
        {},
        {"RescaleSlope": 2.5, "RescaleIntercept": -1000},
        WINDOW,
        {**WINDOW, "RescaleSlope": 0.5, "RescaleIntercept": 100},
        {**WINDOW, "VOILUTFunction": "LINEAR_EXACT"},
        {**WINDOW, "VOILUTFunction": "SIGMOID"},
        {"WindowCenter": 12, "WindowWidth": 1},
        {"WindowCenter": [700, 20], "WindowWidth": [900, 50]},
        {**WINDOW, "PresentationLUTShape": "INVERSE"},
    ],
    ids=str,
)
def test_images_with_a_window_look_as_pydicom_renders_them(
    stored: NDArray[Any], photometric: str, tags: dict[str, Any]
) -> None:
    """The images differ by at most one grey level, for both polarities, signed or unsigned."""
    data = dicom_bytes(stored, PhotometricInterpretation=photometric, **tags)
    assert np.abs(displayed_image(data) - pydicom_rendering(data)).max() <= 1


@pytest.mark.parametrize("photometric", ["MONOCHROME1", "MONOCHROME2"])
def test_images_with_lookup_tables_look_as_pydicom_renders_them(photometric: str) -> None:
    """Signed and unsigned VOI LUTs, and a modality LUT with a window, are compared."""
    for stored, first in ((RAMP, 0), (SIGNED_RAMP, -2048)):
        entry = lut(CURVE, first, signed=first < 0)
        data = dicom_bytes(stored, PhotometricInterpretation=photometric, VOILUTSequence=[entry])
        assert np.abs(displayed_image(data) - pydicom_rendering(data)).max() <= 1
    entry = lut(CURVE, 0)
    entry.ModalityLUTType = "US"
    data = dicom_bytes(
        RAMP, PhotometricInterpretation=photometric, ModalityLUTSequence=[entry], **WINDOW
    )
    assert np.abs(displayed_image(data) - pydicom_rendering(data)).max() <= 1


def test_stored_samples_are_those_in_the_file() -> None:
    """A window and a rescale do not change the samples; a negative slope inverts the film."""
    samples = read(dicom_bytes(RAMP, RescaleSlope=3, RescaleIntercept=-7, **WINDOW))
    assert np.array_equal(grey_levels(samples.png()), RAMP)
    assert np.array_equal(read(dicom_bytes(SIGNED_RAMP)).samples, RAMP)
    assert np.array_equal(read(dicom_bytes(RAMP, RescaleSlope=-1)).samples, 4095 - RAMP)


@pytest.mark.parametrize(
    ("tags", "visible"),
    [
        (
            {
                "ShutterShape": "RECTANGULAR",
                "ShutterLeftVerticalEdge": 11,
                "ShutterRightVerticalEdge": 30,
                "ShutterUpperHorizontalEdge": 21,
                "ShutterLowerHorizontalEdge": 25,
            },
            100,
        ),
        (
            {
                "ShutterShape": "CIRCULAR",
                "CenterOfCircularShutter": [32, 32],
                "RadiusOfCircularShutter": 10,
            },
            317,
        ),
        (
            {
                "ShutterShape": "POLYGONAL",
                "VerticesOfThePolygonalShutter": [11, 11, 11, 20, 20, 20, 20, 11],
            },
            100,
        ),
    ],
    ids=["rectangle", "circle", "polygon"],
)
def test_pixels_outside_a_shutter_are_black(tags: dict[str, Any], visible: int) -> None:
    """Rows and columns count from 1, and the edges are visible."""
    assert (
        np.count_nonzero(read(dicom_bytes(RAMP + 1, BitsStored=13, HighBit=12, **tags)).samples)
        == visible
    )


def test_only_a_few_attributes_are_kept() -> None:
    """View, side, age computed from two dates, and the spacing of the detector are kept."""
    tags = {
        "Modality": "DX",
        "ViewPosition": "LL",
        "ImageLaterality": "U",
        "PatientSex": "F",
        "PatientBirthDate": "19600524",
        "StudyDate": "20200523",
        "ImagerPixelSpacing": [0.15, 0.15],
        "PixelSpacing": [0.13, 0.13],
        "BurnedInAnnotation": "YES",
    }
    result = read(dicom_bytes(RAMP, **tags))
    assert (result.view, result.laterality, result.sex, result.age) == (
        "LEFT LATERAL",
        "U",
        "F",
        "059Y",
    )
    assert result.spacing == "0.15\\0.15"
    assert "burnt into" in result.notes[0]
    assert read(dicom_bytes(RAMP, PatientAge="097Y")).age == "90-120"
    rotated = dicom_bytes(RAMP, Modality="CR", PatientOrientation=["L", "F"])
    assert read(rotated).view == "FRONTAL"


@pytest.mark.parametrize(("name", "message"), REFUSED_FILES.items())
def test_other_kinds_of_dicom_object_are_refused_with_the_name_of_the_kind(
    name: str, message: str
) -> None:
    """Examples are colour images, several frames, plans, reports and truncated pixels."""
    paths = sorted(BUNDLED.parent.rglob(f"{name}.dcm"))
    with pytest.raises(BadFilm, match=message):
        read(paths[0].read_bytes())


PATHS = [path for path in sorted(BUNDLED.parent.rglob("*")) if path.is_file()]


def test_every_file_of_pydicom_is_shown_or_rejected() -> None:
    """No other error occurs, and no file is refused as one that the program cannot process."""
    rejected = {}
    for path in PATHS:
        try:
            assert read(path.read_bytes()).samples.size, path.name
        except BadFilm as bad:
            rejected[path.name] = bad.what
    assert not [name for name, what in rejected.items() if "cannot be processed" in what]


def test_a_decompression_bomb_is_refused_before_decoding() -> None:
    """The declared size, or a different size within the compressed pixels, is too large."""
    with pytest.raises(BadFilm, match="65000 x 64 pixels"):
        read(dicom_bytes(RAMP, Columns=65000))
    data = bytearray((BUNDLED / "JPEG2000.dcm").read_bytes())
    siz = data.find(b"\xff\x4f\xff\x51")
    data[siz + 8 : siz + 12] = (60_000).to_bytes(4, "big")
    with pytest.raises(BadFilm, match="attributes state 256 x 1024"):
        read(bytes(data))


def test_truncated_pixels_are_refused() -> None:
    """The end of the compressed pixels is missing."""
    source = pydicom.dcmread(BUNDLED / "JPEG2000.dcm")
    frame = pydicom.encaps.get_frame(source.PixelData, 0, number_of_frames=1)
    source.PixelData = pydicom.encaps.encapsulate([frame[: len(frame) // 2]])
    out = BytesIO()
    source.save_as(out)
    with pytest.raises(BadFilm, match="cut off"):
        read(out.getvalue())


@pytest.mark.parametrize("rows", [63, 48, 33])
def test_more_pixel_rows_than_the_attributes_state_are_refused(rows: int) -> None:
    """Otherwise the film would be shown without its lower part."""
    with pytest.raises(BadFilm, match="more rows than the attributes state"):
        read(dicom_bytes(RAMP, Rows=rows))


def test_an_overlay_that_is_not_shown_is_noted() -> None:
    """The overlay may contain the marker of the side."""
    source = pydicom.dcmread(BytesIO(dicom_bytes(RAMP)))
    source.add_new(0x60003000, "OW", bytes(512))
    out = BytesIO()
    source.save_as(out)
    assert any("overlays" in note for note in read(out.getvalue()).notes)
    assert not any("overlays" in note for note in read(dicom_bytes(RAMP)).notes)


def test_a_film_that_was_scaled_down_keeps_the_window() -> None:
    """Width and height are divided by four, and each sample contributes to a mean."""
    small = read(dicom_bytes(RAMP, **WINDOW)).png(scale=0.25)
    assert grey_levels(small).shape == (16, 16)
    assert grey_levels(small).mean() == pytest.approx(RAMP.mean(), rel=0.01)
    assert initial_window(small) == initial_window(read(dicom_bytes(RAMP, **WINDOW)).png())
