"""Reads the attributes of DICOM files, including attributes that violate the standard."""

import math
import re
from collections.abc import Iterator
from datetime import date
from typing import Any

from pydicom.datadict import dictionary_VR, keyword_for_tag
from pydicom.dataset import Dataset
from pydicom.multival import MultiValue
from pydicom.sequence import Sequence

from study.films.decoding import BadFilm

CORRECT_IN_ARCHIVE = "correct it in the archive and export the image again"

_BINARY_VRS = frozenset({"US", "SS", "UL", "SL", "UV", "SV", "FL", "FD"})
_TEXT_VRS = frozenset({"PN", "DA", "DT", "UI", "LO", "SH", "ST", "LT", "UC", "UT", "AE"})
_LONGEST_TEXT = 1_000
# DS and IS as in the standard, or with a decimal comma; "nan" and "inf" do not match.
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", re.ASCII)
_FUNCTIONAL_GROUPS = ("SharedFunctionalGroupsSequence", "PerFrameFunctionalGroupsSequence")
_MACROS = (
    "FrameVOILUTSequence",
    "PixelValueTransformationSequence",
    "PixelMeasuresSequence",
    "FrameAnatomySequence",
    "PatientOrientationInFrameSequence",
    "FrameDisplayShutterSequence",
    "FramePixelDataPropertiesSequence",
    "XAXRFFramePixelDataPropertiesSequence",
)


class Attributes:
    """The attributes of one data set.

    Parameters
    ----------
    dataset : Dataset
    notes : list of str, optional
        Receives a sentence for each optional attribute that is ignored or corrected.
    """

    def __init__(self, dataset: Dataset, notes: list[str] | None = None) -> None:
        self.dataset = dataset
        self.notes: list[str] = [] if notes is None else notes

    def __contains__(self, keyword: str) -> bool:
        """Return whether the attribute is present, with or without a value."""
        return keyword in self.dataset

    def texts(self, keyword: str) -> list[str]:
        """Return all values of a text attribute; an empty list if it is absent or unreadable."""
        value = self.raw(keyword)
        values = value if isinstance(value, MultiValue | list) else [value]
        texts = ["" if value is None else str(value).strip(" \0") for value in values]
        return [text for text in texts if text]

    def text(self, keyword: str) -> str:
        """Return the first value of a text attribute; empty if it is absent or unreadable."""
        return next(iter(self.texts(keyword)), "")

    def code(self, keyword: str) -> str:
        """Return a code in capitals, such as `YES`."""
        return self.text(keyword).upper()

    def integer(self, keyword: str, default: int | None = None) -> int:
        """Return an integer that is required to show the image.

        Raises
        ------
        BadFilm
            The value is unreadable, or it is absent and has no default.
        """
        numbers = self._numbers(keyword)
        if numbers == () and default is not None:
            return default
        if numbers is None or len(numbers) != 1:
            fault = "is missing" if numbers == () else "cannot be read"
            raise BadFilm(f"the attribute {keyword} {fault}", CORRECT_IN_ARCHIVE)
        return int(numbers[0])

    def numbers(self, keyword: str, n: int | None = None) -> tuple[float, ...] | None:
        """Return the numbers of an optional attribute.

        Parameters
        ----------
        keyword : str
        n : int, optional
            The required number of values.

        Returns
        -------
        tuple of float or None
            Empty if the attribute is absent. If it is unreadable, a note is added and the result is
            None.
        """
        numbers = self._numbers(keyword)
        if numbers is None or (numbers and n is not None and len(numbers) != n):
            self.notes.append(f"its {keyword} cannot be read and is ignored")
            return None
        return numbers

    def items(self, keyword: str) -> list[Dataset]:
        """Return the items of a sequence; an empty list if it is absent or unreadable."""
        value = self.raw(keyword)
        return list(value) if isinstance(value, Sequence) else []

    def day(self, keyword: str) -> date | None:
        """Return a date, or None."""
        text = self.text(keyword).replace(".", "")
        try:
            return date(int(text[:4]), int(text[4:6]), int(text[6:8]))
        except ValueError:
            return None

    def raw(self, keyword: str) -> Any:
        """Return the value as pydicom converts it; None if it is absent or unreadable."""
        try:
            return self.dataset.get(keyword)
        except Exception:  # pydicom converts on access and raises almost any error
            return None

    def _numbers(self, keyword: str) -> tuple[float, ...] | None:
        if keyword not in self.dataset:
            return ()
        element = self.dataset.get_item(keyword)
        value = element.value
        if isinstance(value, bytes) and (element.VR or dictionary_VR(keyword)) in _BINARY_VRS:
            value = self.raw(keyword)
            if value is None and element.value:
                return None
        if isinstance(value, bytes):
            value = value.decode("ascii", "replace")
        if isinstance(value, str):
            value = value.split("\\") if value.strip(" \0") else []
        if value is None:
            return ()
        values = [value] if isinstance(value, int | float) else list(value)
        texts = [str(value).strip(" \0\t\r\n") for value in values]
        if not all(_NUMBER.fullmatch(text) for text in texts):
            return None
        if any("," in text for text in texts):
            self.notes.append(f"its {keyword} has a decimal comma, read as a decimal point")
        numbers = tuple(float(text.replace(",", ".")) for text in texts)
        return numbers if all(map(math.isfinite, numbers)) else None


def merge_functional_groups(dataset: Dataset) -> None:
    """Copy the attributes in the functional groups of a single frame into the data set.

    Enhanced objects store window, rescale, spacing, shutter and orientation in these groups. A
    group of the frame takes precedence over a shared group, and both take precedence over the data
    set.
    """
    for groups in _FUNCTIONAL_GROUPS:
        for group in Attributes(dataset).items(groups)[:1]:
            for macro in _MACROS:
                for item in Attributes(group).items(macro)[:1]:
                    for tag in tuple(item.keys()):  # copying does not convert the values
                        dataset[tag] = item.get_item(tag)


def texts(dataset: Dataset) -> Iterator[tuple[str, str, str]]:
    """Yield the keyword, VR and value of every public text attribute, including in sequences."""
    for tag in tuple(dataset.keys()):
        if tag.is_private or not (keyword := keyword_for_tag(tag)):
            continue
        attributes = Attributes(dataset)
        vr = dictionary_VR(tag)
        if vr == "SQ":
            for item in attributes.items(keyword):
                yield from texts(item)
        elif vr in _TEXT_VRS:
            for text in attributes.texts(keyword):
                yield keyword, vr, text[:_LONGEST_TEXT]
