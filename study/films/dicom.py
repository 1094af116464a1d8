"""DICOM films: grey levels, the window they are shown in, and the few facts that may be kept.

Nothing else leaves here: what is not asked for by name stays in the file.
"""

import io
import logging
import warnings
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from PIL.PngImagePlugin import PngInfo
from pydicom import dcmread
from pydicom.dataset import Dataset
from pydicom.encaps import generate_frames
from pydicom.filereader import _read_file_meta_info
from pydicom.pixels.decoders.base import get_decoder
from pydicom.uid import DeflatedExplicitVRLittleEndian, JPEGExtended12Bit, RLELossless

from study.films.decoding import MAX_BYTES, WINDOW, BadFilm, check_size

logging.getLogger("pydicom").setLevel(logging.CRITICAL)  # its warnings quote patients' values

Levels = NDArray[np.float64]

_UNCOMPRESSED = "export it from the archive as uncompressed single-frame grayscale DICOM"
_OF_A_PATIENT = ("PatientID", "PatientName", "OtherPatientIDs", "PatientBirthName")
_OF_AN_EXAMINATION = ("StudyInstanceUID", "AccessionNumber", "StudyID", "SeriesInstanceUID")
_PROJECTIONS = frozenset({"CR", "DX", "RG", "RF", "XA", "SC", "OT", ""})
_VIEWS = {
    "LL": "LEFT LATERAL",
    "RL": "RIGHT LATERAL",
    "LLD": "LEFT DECUBITUS",
    "RLD": "RIGHT DECUBITUS",
    "LLO": "LEFT OBLIQUE",
    "RLO": "RIGHT OBLIQUE",
}
_OLDEST = 89


@dataclass(frozen=True, slots=True, kw_only=True)
class DicomFilm:
    r"""A film as it may be kept, and beside it the values that may not.

    Attributes
    ----------
    samples : ndarray of uint16, shape (height, width)
        As stored, moved and turned so that 0 is the lowest and more is lighter; see `read`.
    window : tuple of float
        The samples shown black and white at first.
    spacing : str
        Rows and columns in mm, as `0.143\0.143`; empty if not known.
    view : str
        What the file calls the projection, in its own words; empty if nothing.
    laterality, age, sex : str
        `L`, `R`, `B` or `U`; as `060Y`; `F`, `M` or `O`; empty if not known.
    patient, examination, instance : str
        The file's own ids: to be replaced by others, never to be kept.
    day : date or None
        When it was made: for the days between two films, and never to be kept.
    secrets : tuple of str
        Values that tell who the patient is, for finding them elsewhere.
    notes : tuple of str
        What somebody should know of it.
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
    secrets: tuple[str, ...]
    notes: tuple[str, ...]

    def png(self, scale: float = 1.0) -> bytes:
        """Return the film as a 16-bit PNG with its window, and nothing else of the file.

        Parameters
        ----------
        scale : float
            Below 1, a smaller rendition: Lanczos, which weighs every sample.
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
        info.add_text(WINDOW, f"{self.window[0]!r} {self.window[1]!r}")
        picture.save(out, format="PNG", pnginfo=info)
        return out.getvalue()


def is_dicom(data: bytes) -> bool:
    """Return whether bytes begin as a DICOM file does: `DICM` after 128 others."""
    return data[128:132] == b"DICM"


def instance_uid(data: bytes) -> str:
    """Return a file's SOPInstanceUID, empty where it does not tell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return str(_meta(data).get("MediaStorageSOPInstanceUID", ""))
        except Exception:  # whatever is wrong with it is told when it is read
            return ""


def read(data: bytes) -> DicomFilm:
    """Read one film.

    A rescale slope and a linear window move or stretch grey levels without changing one: the
    samples stay those of the file, and the window is put in their terms. A modality LUT, a VOI LUT
    and a sigmoid do not: their output is kept, over 0 to 65,535. MONOCHROME1 and a presentation
    LUT of the shape INVERSE (which goes with it) are turned; outside of a shutter all is black.

    Raises
    ------
    BadFilm
        When the bytes are no film of one frame of grey, or cannot be decoded completely.
    """
    if len(data) > MAX_BYTES:
        raise BadFilm(f"the file has {len(data):,} bytes, more than {MAX_BYTES:,}")
    if not is_dicom(data):
        raise BadFilm("not a DICOM file", "give a DICOM file, with its preamble")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # odd values in tags that nobody asks for
        try:
            if _meta(data).get("TransferSyntaxUID") == DeflatedExplicitVRLittleEndian:
                raise BadFilm("a deflated DICOM file", _UNCOMPRESSED)
            source = dcmread(io.BytesIO(data))
            _check(source)
            return _film(source)
        except BadFilm:
            raise
        except Exception as error:  # decoders raise nearly anything on broken bytes
            # What they say may quote the file; the kind of error says nothing of anybody.
            raise BadFilm(
                f"the DICOM file cannot be decoded ({type(error).__name__})",
                "copy the file again, or " + _UNCOMPRESSED,
            ) from error


def _meta(data: bytes) -> Dataset:
    file = io.BytesIO(data)
    file.seek(132)
    return _read_file_meta_info(file)


def _check(source: Dataset) -> None:
    """Refuse by the tags alone what is no film, before anything is decoded."""
    if "PixelData" not in source:
        what = "real numbers" if "FloatPixelData" in source else "no pixels: a report or a plan"
        raise BadFilm(f"a DICOM file with {what}", "give a film")
    photometric, channels = source.get("PhotometricInterpretation"), source.get("SamplesPerPixel")
    if photometric not in ("MONOCHROME1", "MONOCHROME2") or channels not in (None, 1):
        what = "in colour" if photometric else "that does not say how its grey levels are meant"
        raise BadFilm(f"a DICOM file {what}", "export it as grayscale")
    frames = int(source.get("NumberOfFrames") or 1)
    if frames != 1:
        raise BadFilm(f"a DICOM file of {frames:,} frames", "save each as a file of its own")
    width, height = int(source.get("Columns") or 0), int(source.get("Rows") or 0)
    check_size(width, height)
    bits = int(source.get("BitsAllocated") or 0)
    if bits > 16:
        raise BadFilm(f"a DICOM file of {bits} bits a pixel", "export it with 16 bits at most")
    syntax = source.file_meta.TransferSyntaxUID
    if syntax.is_compressed:
        try:
            known = get_decoder(syntax).is_available
        except NotImplementedError:
            known = False
        if syntax == JPEGExtended12Bit and int(source.get("BitsStored") or 0) > 8:
            raise BadFilm("a DICOM file in lossy JPEG of 12 bits", _UNCOMPRESSED)
        if not known:
            raise BadFilm("a DICOM file compressed in a way that is not known", _UNCOMPRESSED)
        if syntax != RLELossless:
            _check_coded(source, width, height)


def _check_coded(source: Dataset, width: int, height: int) -> None:
    """Refuse a picture that is not as large as the tags say, or that is cut off."""
    coded = b"".join(generate_frames(source.PixelData, number_of_frames=1))
    if b"\xff\xd9" not in coded[-16:]:
        raise BadFilm("the picture in the DICOM file is cut off", "copy the file again")
    size = _coded_size(coded)
    if size != (width, height):
        raise BadFilm(
            f"the picture in the DICOM file is {size[0]} x {size[1]}, its tags say"
            f" {width} x {height}",
            _UNCOMPRESSED,
        )


def _coded_size(coded: bytes) -> tuple[int, int]:
    """Return width and height by the header of a JPEG, JPEG-LS or JPEG 2000 picture."""
    siz = coded.find(b"\xff\x4f\xff\x51")
    if 0 <= siz <= 4096:
        right, bottom, left, top = (
            int.from_bytes(coded[at : at + 4], "big") for at in range(siz + 8, siz + 24, 4)
        )
        return right - left, bottom - top
    at = 2
    while at + 9 <= len(coded) and coded[at] == 0xFF:
        kind = coded[at + 1]
        if kind == 0xFF:  # a byte to fill up with
            at += 1
            continue
        if kind == 0xF7 or (0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC)):
            return (
                int.from_bytes(coded[at + 7 : at + 9], "big"),
                int.from_bytes(coded[at + 5 : at + 7], "big"),
            )
        at += 2 + int.from_bytes(coded[at + 2 : at + 4], "big")
    return 0, 0


def _film(source: Dataset) -> DicomFilm:
    samples, window, notes = _samples(source)
    if (outside := _shutter(source)) is not None:
        samples = np.where(outside, np.uint16(0), samples)
    modality = str(source.get("Modality") or "")
    burnt = str(source.get("BurnedInAnnotation") or "")
    if burnt == "YES":
        notes.append("the file says that text is burnt into the picture: look at it")
    elif not burnt and modality in _PROJECTIONS:
        notes.append("the file does not say whether text is burnt into the picture: look at it")
    spacing, doubt = _spacing(source, modality)
    return DicomFilm(
        samples=samples,
        window=window,
        spacing=spacing,
        view=_view(source, modality),
        laterality=_one_of(source, ("ImageLaterality", "Laterality"), "LRBU"),
        age=_age(source),
        sex=_one_of(source, ("PatientSex",), "FMO"),
        patient=_text(source, "PatientID"),
        examination=_text(source, "StudyInstanceUID") or _text(source, "AccessionNumber"),
        instance=_text(source, "SOPInstanceUID"),
        day=_day(source, "AcquisitionDate") or _day(source, "StudyDate"),
        secrets=tuple(
            value
            for name in (*_OF_A_PATIENT, *_OF_AN_EXAMINATION, "SOPInstanceUID")
            if (value := _text(source, name))
        ),
        notes=(*notes, *doubt),
    )


def _samples(source: Dataset) -> tuple[NDArray[np.uint16], tuple[float, float], list[str]]:
    stored = source.pixel_array
    slope, intercept, notes = 1.0, 0.0, list[str]()
    if source.get("ModalityLUTSequence"):
        stored, _ = _looked_up(stored, source.ModalityLUTSequence[0], source)
        notes.append("its modality LUT is applied to the samples")
    else:
        slope = float(source.get("RescaleSlope", 1) or 0)
        intercept = float(source.get("RescaleIntercept", 0) or 0)
    if slope == 0 or not np.isfinite([slope, intercept]).all():
        raise BadFilm("a DICOM file that rescales all grey levels to one", _UNCOMPRESSED)
    turned = source.PhotometricInterpretation == "MONOCHROME1"
    turned = turned or source.get("PresentationLUTShape") == "INVERSE"
    shares = _curve(source, stored, slope, intercept)
    if shares is not None:
        notes.append("its VOI LUT or sigmoid is applied to the samples")
        levels = np.rint((1 - shares if turned else shares) * 65_535)
        return levels.astype(np.uint16), (0.0, 65_535.0), notes
    low, high = float(stored.min()), float(stored.max())
    if (ends := _linear(source)) is not None:
        low, high = sorted((end - intercept) / slope for end in ends)
    offset = min(0, int(stored.min()))
    samples = stored.astype(np.int64) - offset
    low, high = low - offset, high - offset
    if turned != (slope < 0):
        top = int(samples.max())
        samples, low, high = top - samples, top - high, top - low
    return samples.astype(np.uint16), (low, max(high, low + 0.5)), notes


def _first(value: Any) -> float:
    return float(value if isinstance(value, str | int | float) else value[0])


def _has_lut(source: Dataset) -> bool:
    found = source.get("VOILUTSequence")
    return bool(found) and None not in (found[0].get("LUTDescriptor"), found[0].get("LUTData"))


def _linear(source: Dataset) -> tuple[float, float] | None:
    """Return the window's ends among the rescaled levels; PS3.3 C.11.2.1.2.1 and .3.2."""
    if source.get("WindowCenter") is None or source.get("WindowWidth") is None:
        return None
    centre, width = _first(source.WindowCenter), _first(source.WindowWidth)
    if source.get("VOILUTFunction") == "LINEAR_EXACT":
        return (centre - width / 2, centre + width / 2) if width > 0 else None
    return (centre - width / 2, centre + width / 2 - 1) if width >= 1 else None


def _curve(source: Dataset, stored: Any, slope: float, intercept: float) -> Levels | None:
    """Return what no linear window does, as shares of white from 0 to 1; else None."""
    if _has_lut(source):
        levels = np.floor(stored * slope + intercept).astype(np.int64)
        levels, top = _looked_up(levels, source.VOILUTSequence[0], source)
        shown: Levels = np.clip(levels / top, 0, 1)
        return shown
    if source.get("VOILUTFunction") != "SIGMOID" or _linear(source) is None:
        return None
    centre, width = _first(source.WindowCenter), _first(source.WindowWidth)
    away: Levels = (stored * slope + intercept - centre) / width
    shares: Levels = 1 / (1 + np.exp(-4 * away))
    return shares


def _looked_up(levels: Any, entry: Dataset, source: Dataset) -> tuple[Any, int]:
    """Return what a LUT makes of levels, and the most it can; PS3.3 C.11.1.1 and C.11.2.1.1."""
    count, first, bits = (int(one) for one in entry.LUTDescriptor)
    values = entry.LUTData
    if isinstance(values, bytes):
        order = "<" if source.original_encoding[1] else ">"
        size = 1 if len(values) <= (count or 65_536) + 1 else 2
        values = np.frombuffer(values, dtype=f"{order}u{size}")
    table = np.asarray(values, dtype=np.int64).ravel()[: count or 65_536] & 0xFFFF
    places = np.clip(levels.astype(np.int64) - first, 0, len(table) - 1)
    return table[places], 2**bits - 1


def _shutter(source: Dataset) -> NDArray[np.bool_] | None:
    """Return where a display shutter hides the film: outside of any of its shapes."""
    shapes = source.get("ShutterShape")
    if not shapes:
        return None
    height, width = int(source.Rows), int(source.Columns)
    seen = np.ones((height, width), dtype=bool)
    for shape in [shapes] if isinstance(shapes, str) else shapes:
        seen &= _inside(source, str(shape), height, width)
    return ~seen


def _inside(source: Dataset, shape: str, height: int, width: int) -> NDArray[np.bool_]:
    rows, columns = np.ogrid[1 : height + 1, 1 : width + 1]
    if shape == "RECTANGULAR":
        across = (columns >= int(source.ShutterLeftVerticalEdge)) & (
            columns <= int(source.ShutterRightVerticalEdge)
        )
        down = (rows >= int(source.ShutterUpperHorizontalEdge)) & (
            rows <= int(source.ShutterLowerHorizontalEdge)
        )
        return np.asarray(across & down)
    if shape == "CIRCULAR":
        row, column = (int(one) for one in source.CenterOfCircularShutter)
        radius = int(source.RadiusOfCircularShutter)
        return np.asarray((rows - row) ** 2 + (columns - column) ** 2 <= radius**2)
    if shape == "POLYGONAL":
        ends = [int(one) for one in source.VerticesOfThePolygonalShutter]
        picture = Image.new("1", (width, height))
        corners = [(x - 1, y - 1) for y, x in zip(ends[::2], ends[1::2], strict=True)]
        ImageDraw.Draw(picture).polygon(corners, fill=1, outline=1)
        return np.array(picture, dtype=bool)
    raise BadFilm(f"a display shutter of an unknown shape ({shape[:16]})", _UNCOMPRESSED)


def _spacing(source: Dataset, modality: str) -> tuple[str, list[str]]:
    for name in ("ImagerPixelSpacing", "NominalScannedPixelSpacing", "PixelSpacing"):
        value = source.get(name)
        if value is not None and len(value) == 2:
            doubt = name == "PixelSpacing" and modality in _PROJECTIONS
            note = "its pixel spacing may be one calibrated to the patient, not the detector's"
            return f"{float(value[0])}\\{float(value[1])}", [note] if doubt else []
    return "", []


def _view(source: Dataset, modality: str) -> str:
    position = _text(source, "ViewPosition").upper()
    if position:
        return _VIEWS.get(position, position)
    if codes := source.get("ViewCodeSequence"):
        return _text(codes[0], "CodeMeaning").upper()
    along = [str(one)[:1] for one in source.get("PatientOrientation") or []]
    if modality not in _PROJECTIONS or len(along) != 2 or along[1] not in ("F", "H"):
        return ""
    known = {"L": "FRONTAL", "R": "FRONTAL", "A": "LATERAL", "P": "LATERAL"}
    return known.get(along[0], "")


def _age(source: Dataset) -> str:
    """Return an age as DICOM writes it; above 89 years a range, for few are that old."""
    age = _text(source, "PatientAge").upper()
    if not age:
        born, taken = _day(source, "PatientBirthDate"), _day(source, "StudyDate")
        if born is None or taken is None or taken < born:
            return ""
        before = (taken.month, taken.day) < (born.month, born.day)
        age = f"{taken.year - born.year - before:03d}Y"
    if not (age[:-1].isdecimal() and age[-1] in "YMWD"):
        return ""
    return "90-120" if age.endswith("Y") and int(age[:-1]) > _OLDEST else age


def _day(source: Dataset, name: str) -> date | None:
    text = _text(source, name)
    try:
        return date(int(text[:4]), int(text[4:6]), int(text[6:8]))
    except ValueError:
        return None


def _one_of(source: Dataset, names: tuple[str, ...], known: str) -> str:
    found = (_text(source, name).upper() for name in names)
    return next((one for one in found if len(one) == 1 and one in known), "")


def _text(source: Dataset, name: str) -> str:
    value = source.get(name)
    return "" if value is None else str(value).strip()
