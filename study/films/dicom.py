"""Reads DICOM images: grey levels, the initial window, and the few attributes that may be kept.

Only attributes that this module reads by name are kept.
"""

import io
import logging
import math
import warnings
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from pydicom import dcmread
from pydicom.dataset import Dataset
from pydicom.encaps import generate_frames
from pydicom.filereader import _read_file_meta_info
from pydicom.pixels.decoders.base import get_decoder
from pydicom.uid import (
    UID,
    DeflatedExplicitVRLittleEndian,
    JPEGExtended12Bit,
    MediaStorageDirectoryStorage,
    RLELossless,
)

from study.films.decoding import (
    MAX_BYTES,
    WINDOW_KEY,
    BadFilm,
    check_size,
    is_dicom,
    lacks_preamble,
)
from study.films.dicom_attributes import (
    CORRECT_IN_ARCHIVE,
    Attributes,
    merge_functional_groups,
    texts,
)
from study.films.dicom_geometry import outside_shutter, resample_to_square, spacing_and_shape
from study.films.dicom_pixels import (
    UNCOMPRESSED,
    Layout,
    layout_of,
    padding,
    samples_and_window,
    stored_values,
)

logging.getLogger("pydicom").setLevel(logging.CRITICAL)  # its warnings quote patient data

_COPY_AGAIN = "copy the file again from the archive"
_COLOUR_PREFIXES = ("RGB", "YBR", "PALETTE", "HSV", "ARGB", "CMYK")
_PROJECTION_MODALITIES = frozenset({"CR", "DX", "RG", "RF", "XA", "SC", "OT", ""})
_VIEWS = {
    "LL": "LEFT LATERAL",
    "RL": "RIGHT LATERAL",
    "LLD": "LEFT DECUBITUS",
    "RLD": "RIGHT DECUBITUS",
    "LLO": "LEFT OBLIQUE",
    "RLO": "RIGHT OBLIQUE",
}
_MAX_EXACT_AGE = 89


@dataclass(frozen=True, slots=True, kw_only=True)
class DicomFilm:
    r"""An image that may be kept, together with values that must not be kept.

    Attributes
    ----------
    samples : ndarray of uint16, shape (height, width)
        The stored values, shifted and inverted if necessary so that 0 is the darkest; see `read`.
    window : tuple of float
        The samples that are initially shown as black and white.
    spacing : str
        Distance between rows and between columns in mm, such as `0.143\0.143`; empty if unknown.
    view : str
        The projection as named in the file; empty if the file does not name it.
    laterality, age, sex : str
        `L`, `R`, `B` or `U`; an age such as `060Y`; `F`, `M` or `O`. Empty if unknown.
    patient, examination, instance : str
        The IDs in the file, which are replaced and never kept.
    day : date or None
        The date of the image, which is used for the number of days between two images and never
        kept.
    texts : frozenset of tuple of str
        Keyword, VR and value of every public text attribute of the file. They are used to detect
        identifying values in the texts of the bank and never kept.
    notes : tuple of str
        Messages about the image for the coordinator.
    """

    samples: NDArray[np.uint16]
    window: tuple[float, float]
    spacing: str
    view: str
    laterality: str
    age: str
    sex: str
    patient: str
    examination: str
    instance: str
    day: date | None
    texts: frozenset[tuple[str, str, str]]
    notes: tuple[str, ...]

    def png(self, scale: float = 1.0) -> bytes:
        """Return the image as a 16-bit PNG that contains only the pixels and the window.

        Parameters
        ----------
        scale : float
            Below 1, the image is made smaller with a Lanczos filter, which uses every sample.
        """
        picture = Image.fromarray(self.samples)
        if scale < 1:
            height, width = self.samples.shape
            size = (max(1, round(width * scale)), max(1, round(height * scale)))
            smaller = Image.fromarray(self.samples.astype(np.float32)).resize(
                size, Image.Resampling.LANCZOS
            )
            picture = Image.fromarray(np.rint(np.asarray(smaller)).clip(0, 65_535).astype("<u2"))
        info, out = PngInfo(), io.BytesIO()
        info.add_text(WINDOW_KEY, f"{self.window[0]!r} {self.window[1]!r}")
        picture.save(out, format="PNG", pnginfo=info)
        return out.getvalue()


def instance_uid(data: bytes) -> str:
    """Return the SOPInstanceUID of a file; empty if the file does not state it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return str(_file_meta(data).get("MediaStorageSOPInstanceUID", ""))
        except Exception:  # `read` reports what is wrong with the file
            return ""


def read(data: bytes) -> DicomFilm:
    """Read an image.

    A rescale slope and a linear window only shift or stretch grey levels: the samples remain those
    of the file, and the window is expressed in the same units. A modality LUT, a VOI LUT and a
    sigmoid change the grey levels: their output is kept, scaled to 0 to 65,535. Images with
    MONOCHROME1 or the presentation LUT shape INVERSE are inverted. Padding and the area outside a
    shutter become black. Images whose pixels are not square are resampled.

    Raises
    ------
    BadFilm
        The bytes are not a single grayscale image, or cannot be decoded completely.
    """
    if len(data) > MAX_BYTES:
        raise BadFilm(f"the file has {len(data):,} bytes, more than {MAX_BYTES:,}")
    if not is_dicom(data):
        fault = "a DICOM file without" if lacks_preamble(data) else "not a DICOM file: no"
        raise BadFilm(f"{fault} preamble", "export it from the archive as a DICOM Part 10 file")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they concern odd values in attributes that are not used
        try:
            return _film_of(_parse_attributes(data))
        except BadFilm:
            raise
        except Exception as error:  # its message may quote the file
            raise BadFilm(
                f"the DICOM file has attributes that cannot be processed ({type(error).__name__})",
                "export the image again, or leave the row out",
            ) from error


def _file_meta(data: bytes) -> Dataset:
    file = io.BytesIO(data)
    file.seek(132)
    return _read_file_meta_info(file)


def _parse_attributes(data: bytes) -> Attributes:
    try:
        syntax = _file_meta(data).get("TransferSyntaxUID")
        if syntax == DeflatedExplicitVRLittleEndian:
            raise BadFilm("a deflated DICOM file", UNCOMPRESSED)
        if not syntax:
            raise BadFilm("a DICOM file without transfer syntax", UNCOMPRESSED)
        dataset = dcmread(io.BytesIO(data))
    except BadFilm:
        raise
    except Exception as error:  # pydicom raises nearly anything on broken bytes
        raise BadFilm(
            f"the DICOM file is damaged: its attributes cannot be parsed ({type(error).__name__})",
            _COPY_AGAIN,
        ) from error
    merge_functional_groups(dataset)
    return Attributes(dataset)


def _film_of(source: Attributes) -> DicomFilm:
    dataset = source.dataset
    layout = _check_layout(source)
    known = frozenset(texts(dataset))
    keyword, spacing_mm, shape = spacing_and_shape(source)
    values, cells = stored_values(source, layout)
    hidden = padding(source, values, cells, layout)
    is_outside = outside_shutter(source, *values.shape)
    if is_outside is not None:
        hidden = is_outside if hidden is None else hidden | is_outside
    samples, window = samples_and_window(source, values, hidden)
    if shape != 1:
        samples = resample_to_square(samples, shape)
        spacing_mm = spacing_mm and (min(spacing_mm), min(spacing_mm))
        source.notes.append("its pixels are not square: it is resampled to square ones")
    modality = source.code("Modality")
    if keyword == "PixelSpacing" and modality in _PROJECTION_MODALITIES:
        source.notes.append(
            "its pixel spacing may be one calibrated to the patient, not the detector's"
        )
    _note_burnt_in_text(source, modality)
    tags = tuple(dataset.keys())
    if any(tag.group in range(0x6000, 0x6020) and not tag.is_private for tag in tags):
        source.notes.append("its overlays, such as drawings and text, are not shown")
    return DicomFilm(
        samples=samples,
        window=window,
        spacing="\\".join(map(str, spacing_mm or ())),
        view=_view(source, modality),
        laterality=_code_letter(source, "LRBU", "ImageLaterality", "FrameLaterality", "Laterality"),
        age=_age(source),
        sex=_code_letter(source, "FMO", "PatientSex"),
        patient=source.text("PatientID"),
        examination=source.text("StudyInstanceUID") or source.text("AccessionNumber"),
        instance=source.text("SOPInstanceUID"),
        day=source.day("AcquisitionDate") or source.day("StudyDate"),
        texts=known,
        notes=tuple(dict.fromkeys(source.notes)),
    )


def _check_layout(source: Attributes) -> Layout:
    """Refuse images that cannot be shown, from their attributes; return how pixels are stored."""
    _check_pixels_present(source)
    photometric = source.code("PhotometricInterpretation")
    channels = source.integer("SamplesPerPixel", 1)
    if photometric.startswith(_COLOUR_PREFIXES) or channels > 1:
        raise BadFilm("a DICOM file in colour", "export it as grayscale")
    if photometric not in ("MONOCHROME1", "MONOCHROME2"):
        fault = "an unknown" if photometric else "no"
        raise BadFilm(f"a DICOM file with {fault} PhotometricInterpretation", CORRECT_IN_ARCHIVE)
    frames = source.integer("NumberOfFrames", 1) or 1
    if frames != 1:
        raise BadFilm(f"a DICOM file with {frames:,} frames", "save each frame as a separate file")
    width, height = source.integer("Columns"), source.integer("Rows")
    check_size(width, height)
    layout = layout_of(source)
    syntax = source.dataset.file_meta.TransferSyntaxUID
    if not syntax.is_transfer_syntax:
        raise BadFilm("a DICOM file with an unknown transfer syntax", UNCOMPRESSED)
    if not syntax.is_compressed:
        row = math.ceil(width * layout.allocated / 8)
        expected = math.ceil(width * height * layout.allocated / 8)
        _check_length(source.dataset.PixelData, expected, row)
    else:
        _check_compressed(source.dataset, syntax, layout, width, height)
    return layout


def _check_pixels_present(source: Attributes) -> None:
    if "FloatPixelData" in source or "DoubleFloatPixelData" in source:
        raise BadFilm("a DICOM file with floating-point pixels", "export it with 16-bit integers")
    meta = Attributes(source.dataset.file_meta)
    if MediaStorageDirectoryStorage in (
        source.text("SOPClassUID"),
        meta.text("MediaStorageSOPClassUID"),
    ):
        raise BadFilm("a DICOMDIR, which is a list of files", "name an image file")
    if "PixelData" not in source:
        name = UID(source.text("SOPClassUID")).name
        kind = f" ({name})" if name and not name[0].isdecimal() else ""
        is_image = "Image Storage" in name
        remedy = "export it with its pixel data" if is_image else "name an image file"
        raise BadFilm(f"a DICOM file without pixels{kind}", remedy)
    if not (data := source.raw("PixelData")) or not isinstance(data, bytes):
        raise BadFilm("a DICOM file whose pixel data is empty or cannot be read", _COPY_AGAIN)


def _check_length(pixel_data: bytes, expected: int, row: int) -> None:
    if len(pixel_data) < expected:
        raise BadFilm(
            f"the pixel data is cut off: {len(pixel_data):,} of {expected:,} bytes", _COPY_AGAIN
        )
    if len(pixel_data) >= 2 * expected > 2:
        raise BadFilm("the pixel data contains several images", "save each as a separate file")
    surplus = pixel_data[expected:]
    if len(surplus) >= max(row, 2) and any(surplus):  # padding consists of zeros
        raise BadFilm(
            "the pixel data contains more rows than the attributes state", CORRECT_IN_ARCHIVE
        )


def _check_compressed(
    dataset: Dataset, syntax: UID, layout: Layout, width: int, height: int
) -> None:
    if syntax == JPEGExtended12Bit and layout.stored > 8:
        raise BadFilm("a DICOM file with 12-bit lossy JPEG", UNCOMPRESSED)
    try:
        is_known = get_decoder(syntax).is_available
    except NotImplementedError:
        is_known = False
    if not is_known:
        raise BadFilm("a DICOM file with an unsupported compression", UNCOMPRESSED)
    if syntax != RLELossless:
        _check_coded_picture(dataset, width, height)


def _check_coded_picture(dataset: Dataset, width: int, height: int) -> None:
    """Refuse a compressed picture that is cut off, or whose size differs from the attributes."""
    try:
        coded = b"".join(generate_frames(dataset.PixelData, number_of_frames=1))
    except Exception as error:  # pydicom raises nearly anything on broken bytes
        raise BadFilm("the compressed pixel data is damaged", _COPY_AGAIN) from error
    if b"\xff\xd9" not in coded[-16:]:
        raise BadFilm("the picture in the DICOM file is cut off", "copy the file again")
    size = _coded_size(coded)
    if size != (width, height):
        raise BadFilm(
            f"the picture in the DICOM file has {size[0]} x {size[1]} pixels, but its attributes"
            f" state {width} x {height}",
            UNCOMPRESSED,
        )


def _coded_size(coded: bytes) -> tuple[int, int]:
    """Return width and height from the header of a JPEG, JPEG-LS or JPEG 2000 picture."""
    siz = coded.find(b"\xff\x4f\xff\x51")
    if 0 <= siz <= 4096:
        right, bottom, left, top = (
            int.from_bytes(coded[at : at + 4], "big") for at in range(siz + 8, siz + 24, 4)
        )
        return right - left, bottom - top
    at = 2
    while at + 9 <= len(coded) and coded[at] == 0xFF:
        kind = coded[at + 1]
        if kind == 0xFF:  # a padding byte
            at += 1
            continue
        if kind == 0xF7 or (0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC)):
            return (
                int.from_bytes(coded[at + 7 : at + 9], "big"),
                int.from_bytes(coded[at + 5 : at + 7], "big"),
            )
        at += 2 + int.from_bytes(coded[at + 2 : at + 4], "big")
    return 0, 0


def _note_burnt_in_text(source: Attributes, modality: str) -> None:
    burnt_in = source.code("BurnedInAnnotation")
    if burnt_in == "YES":
        source.notes.append("the file says that text is burnt into the picture: look at it")
    elif burnt_in != "NO" and modality in _PROJECTION_MODALITIES:
        source.notes.append(
            "the file does not say whether text is burnt into the picture: look at it"
        )


def _view(source: Attributes, modality: str) -> str:
    if position := source.code("ViewPosition"):
        return _VIEWS.get(position, position)
    if codes := source.items("ViewCodeSequence"):
        return Attributes(codes[0]).code("CodeMeaning")
    directions = [text[:1] for text in source.texts("PatientOrientation")]
    if (
        modality not in _PROJECTION_MODALITIES
        or len(directions) != 2
        or directions[1] not in ("F", "H")
    ):
        return ""
    known = {"L": "FRONTAL", "R": "FRONTAL", "A": "LATERAL", "P": "LATERAL"}
    return known.get(directions[0], "")


def _age(source: Attributes) -> str:
    """Return the age in DICOM's notation; above 89 years, a range, because such ages are rare."""
    age = source.code("PatientAge")
    if not age:
        born, study_day = source.day("PatientBirthDate"), source.day("StudyDate")
        if born is None or study_day is None or study_day < born:
            return ""
        before = (study_day.month, study_day.day) < (born.month, born.day)
        age = f"{study_day.year - born.year - before:03d}Y"
    if not (age[:-1].isdecimal() and age[-1] in "YMWD"):
        return ""
    return "90-120" if age.endswith("Y") and int(age[:-1]) > _MAX_EXACT_AGE else age


def _code_letter(source: Attributes, known: str, *keywords: str) -> str:
    codes = (source.code(keyword) for keyword in keywords)
    return next((code for code in codes if len(code) == 1 and code in known), "")
