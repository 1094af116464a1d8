"""Identifiers of patients and examinations in DICOM files, and their spellings.

The table `KINDS` lists the attributes that identify a person, place or examination, and how their
values are spelled. `study.bank.identity_check` searches the texts of a bank for the spellings.

A spelling is certain or possible. A full name, an ID with digits or a date is certain. A surname
alone (Lung, Rose, Klein) or the name of a hospital (General) is only possible, because it may be an
ordinary word.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

from study.bank.word_forms import inflected_forms, place_variants
from study.bank.words import MAX_WORDS, has_no_spaces, split_words

_WORDS = {
    name: frozenset(words.split())
    for name, words in tomllib.loads(
        Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    ).items()
}
_PLACEHOLDERS = _WORDS["placeholders"]
_WORDS_THAT_ARE_NO_NAMES = _WORDS["particles"] | _PLACEHOLDERS


_MIN_JOINED_NAME = 8
"""Minimum length of a full name that is matched without a space, so “Ng Lu” is not in “lung”."""


_CYRILLIC = re.compile("[\u0400-\u04ff]")
_MIN_LOGIN = 6
"""Minimum length of a surname with initials but without a space, as in “JMiller”."""

_YEARS = range(1880, 2101)
"""Four-digit numbers that are years rather than IDs."""


class Spelling(NamedTuple):
    """One way to write an identifier.

    Attributes
    ----------
    key : str
        As yielded by `study.bank.words.possible_keys`: folded, without separators between words.
    certain : bool
        Whether it identifies a person; otherwise it may be an ordinary word.
    everywhere : bool
        Whether a certain spelling is also reported in rows of other patients.
    least, most : int
        The minimum and maximum number of words of a text that it may span.
    capitals : bool
        Whether each of these words must start with a capital letter.
    part : int
        The index of the part of a name; two different parts close to each other form a name.
    given_name : bool
        Whether it is only a given name.
    """

    key: str
    certain: bool = True
    everywhere: bool = True
    least: int = 1
    most: int = MAX_WORDS
    capitals: bool = False
    part: int = 0
    given_name: bool = False


def _name_spellings(value: str) -> Iterator[Spelling]:
    """Yield the spellings of each component group of a person's name."""
    for group in value.split("="):
        components = group.split("^")
        if len(components) == 1:
            components = group.split(",", 1)
        if len(components) == 1:  # any word may be the surname
            parts = [(word, True) for word in re.split(r"[\s_]+", group)]
        else:
            parts = [(components[0], True), (" ".join(components[1:3]), False)]
        known = [(words, surname) for text, surname in parts if (words := _name_words(text))]
        yield from _part_spellings(known, is_cyrillic=bool(_CYRILLIC.search(group)))
        yield from _full_name_spellings(known)


def _name_words(text: str) -> tuple[str, ...]:
    """Return the words of a part of a name, or no words for a placeholder."""
    words = tuple(word for word in split_words(text) if not word.isdecimal())
    words = tuple(word for word in words if word not in _WORDS["titles"])
    return () if all(word in _WORDS_THAT_ARE_NO_NAMES for word in words) else words


def _part_spellings(
    parts: list[tuple[tuple[str, ...], bool]], *, is_cyrillic: bool
) -> Iterator[Spelling]:
    """Yield each part of a name alone, its single words, and their inflected forms."""
    for place, (words, surname) in enumerate(parts):
        pieces = {"".join(words): len(words)}
        pieces |= {word: 1 for word in words if word not in _WORDS_THAT_ARE_NO_NAMES}
        for key, n in pieces.items():
            if len(key) < 2 or (len(key) == 2 and not key.isalpha()):
                continue
            max_parts = 4 if len(key) >= 6 else n
            is_short = len(key) == 2 and not has_no_spaces(key)
            genitive = (f"{key}s",) if len(key) >= 4 and key.isascii() else ()
            forms = dict.fromkeys(inflected_forms(key, is_cyrillic=is_cyrillic), True)
            forms |= dict.fromkeys((key, *genitive), is_short)
            for form, capitals in forms.items():
                yield Spelling(
                    key=form,
                    certain=False,
                    most=max_parts,
                    capitals=capitals,
                    part=place,
                    given_name=not surname,
                )


def _full_name_spellings(parts: list[tuple[tuple[str, ...], bool]]) -> Iterator[Spelling]:
    """Yield the surname and given names in either order, and the surname with initials."""
    if len(parts) == 1 and has_no_spaces(key := "".join(parts[0][0])) and len(key) >= 3:
        yield Spelling(key)
    for (surname, is_surname), (given_names, _) in permutations(parts, 2):
        for name in {"".join(surname), *surname} - _WORDS_THAT_ARE_NO_NAMES:
            for other in {"".join(given_names), given_names[0]}:
                for key in (name + other, other + name):
                    can_be_joined = len(key) >= _MIN_JOINED_NAME or has_no_spaces(key)
                    yield Spelling(key, least=1 if can_be_joined else 2)
            if is_surname and len(name) > 1 and not has_no_spaces(name + given_names[0]):
                yield from _initials_spellings(name, given_names)


def _initials_spellings(surname: str, given_names: tuple[str, ...]) -> Iterator[Spelling]:
    for initials in {given_names[0][0], "".join(word[0] for word in given_names)}:
        yield Spelling(f"{surname}+{initials}", capitals=True)
        is_long = len(surname + initials) >= _MIN_JOINED_NAME
        for key in (surname + initials, initials + surname):
            if len(key) >= _MIN_LOGIN:
                yield Spelling(key, certain=is_long, most=1, capitals=not is_long)


def _patient_id_spellings(value: str) -> Iterator[Spelling]:
    """Yield the spellings of a patient's id; short ids and those without digits are possible."""
    key = "".join(split_words(value))
    has_digit = any(char.isdecimal() for char in key)
    if len(key) >= 5 and has_digit:
        yield Spelling(key, everywhere=len(key) >= 7 or not key.isdecimal())
    elif (len(key) >= 3 and has_digit) or (len(key) >= 4 and key not in _PLACEHOLDERS):
        yield Spelling(key, certain=False)
    yield from _number_spellings(value, least=4)


def _other_id_spellings(value: str) -> Iterator[Spelling]:
    """Yield the spellings of other IDs; short IDs and words are not identifiers."""
    key = "".join(split_words(value))
    has_digit = any(char.isdecimal() for char in key)
    if has_digit and len(key) >= (6 if key.isdecimal() else 5):
        yield Spelling(key, everywhere=len(key) >= 7 or not key.isdecimal())
    elif has_digit and len(key) >= 4 and (len(key) == 5 or not key.isdecimal()):
        yield Spelling(key, certain=False)
    yield from _number_spellings(value, least=5)


def _number_spellings(value: str, *, least: int) -> Iterator[Spelling]:
    """Yield the digits of an ID, its long numbers, and both without leading zeros.

    All digits of an ID, without leading zeros, are yielded from a length of `least`.
    """
    words = split_words(value)
    key = "".join(words)
    digits = "".join(char for char in key if char.isdecimal())
    numbers = {digits, *(word for word in words if word.isdecimal() and len(word) >= 6)}
    for number in {*numbers, *(number.lstrip("0") for number in numbers)} - {key}:
        if len(number) >= 6:
            yield Spelling(number, everywhere=len(number) >= 7)
        elif key.isdecimal() and len(number) >= 4:
            yield Spelling(number, certain=False)
        elif len(number) >= least and number.lstrip("0") == digits.lstrip("0"):
            if int(number) not in _YEARS:
                yield Spelling(number, certain=False)


def _uid_spellings(value: str) -> Iterator[Spelling]:
    if not value.startswith("1.2.840.10008."):  # an SOP class or a transfer syntax
        yield Spelling(f"uid:{value}")


def _birth_date_spellings(value: str) -> Iterator[Spelling]:
    yield from _date_spellings(value, all_forms=True)


def _date_spellings(value: str, *, all_forms: bool = False) -> Iterator[Spelling]:
    """Yield the keys of a date as in `study.bank.words`; incomplete dates are only possible."""
    text = value.replace(".", "").replace("-", "")[:8]
    try:
        day = date(int(text[:4]), int(text[4:6]), int(text[6:8]))
    except ValueError:
        return
    yield Spelling(f"date:{day}", everywhere=all_forms)
    yield Spelling(f"short date:{day}", everywhere=False)
    yield Spelling(f"month:{day:%Y-%m}", certain=False)
    yield Spelling(f"day:{day:%m-%d}", certain=False)


def _place_spellings(value: str) -> Iterator[Spelling]:
    """Yield the spellings of a hospital: complete, in parts, and without words like “clinic”."""
    for piece in {value, *re.split(r"[,;/|()\r\n]|\s[-–—]\s", value)}:
        words = split_words(piece)
        core = [word for word in words if word not in _WORDS["generic"]]
        if not core or all(word in _PLACEHOLDERS or word.isdecimal() for word in core):
            continue
        inside = words[words.index(core[0]) : len(words) - words[::-1].index(core[-1])]
        chosen_words = {tuple(words), tuple(inside), tuple(core)}
        for chosen in chosen_words.union(*map(place_variants, chosen_words)):
            key = "".join(chosen)
            if len(chosen) > 1 and len(key) >= 6:
                yield Spelling(key)
            elif len(key) >= 3:
                yield Spelling(key, certain=False, capitals=True)


def _contact_spellings(value: str) -> Iterator[Spelling]:
    """Yield the spellings of an address or a telephone number."""
    for piece in {value, *re.split(r"[,;^\r\n]", value)}:
        words = split_words(piece)
        key = "".join(words)
        if key.isdecimal():
            for start in range(max(1, len(key) - 6)):
                if len(key) - start >= 7:
                    yield Spelling(key[start:])
                    yield Spelling("0" + key[start:])
        elif len(words) > 1 and len(key) >= 6:
            for ending in ("str", "strasse"):
                yield Spelling(re.sub(r"str(?:asse)?(?=\d)", ending, key))
            if any(
                word.isdecimal() for word in words[:2]
            ):  # regardless of how "Street" is abbreviated
                yield Spelling("".join(words[:2]), certain=False)
        elif len(key) >= 4 and key not in _PLACEHOLDERS:
            yield Spelling(key, certain=False, capitals=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of identifier.

    Attributes
    ----------
    own, other : str
        The name in messages, for the image's patient and for another patient of the folder.
    keywords : tuple of str
        The DICOM attributes that contain this kind, including those in sequences.
    vrs : tuple of str
        Value representations; all other attributes with one of these contain this kind.
    spellings : callable
        Yields the spellings of a value.
    of_patient : bool
        Whether it is a patient's name. A given name alone and the surname of another patient are
        then reported, too.
    """

    own: str
    other: str
    spellings: Callable[[str], Iterator[Spelling]]
    keywords: tuple[str, ...]
    vrs: tuple[str, ...] = ()
    of_patient: bool = False


KINDS: Mapping[str, Kind] = {
    "patient name": Kind(
        own="the patient's name",
        other="another patient's name",
        spellings=_name_spellings,
        keywords=(
            *("PatientName", "OtherPatientNames", "PatientBirthName"),
            *("PatientMotherBirthName", "ResponsiblePerson"),
        ),
        of_patient=True,
    ),
    "patient id": Kind(
        own="an id of the patient",
        other="an id of another patient",
        spellings=_patient_id_spellings,
        keywords=(
            *("PatientID", "OtherPatientIDs", "MedicalRecordLocator", "AdmissionID"),
            *("ServiceEpisodeID", "SourcePatientID"),
        ),
    ),
    "birth date": Kind(
        own="the patient's date of birth",
        other="another patient's date of birth",
        spellings=_birth_date_spellings,
        keywords=("PatientBirthDate",),
    ),
    "contact": Kind(
        own="the patient's address or telephone number",
        other="another patient's address or telephone number",
        spellings=_contact_spellings,
        keywords=("PatientAddress", "PatientTelephoneNumbers", "PatientTelecomInformation"),
    ),
    "examination id": Kind(
        own="an id of the examination",
        other="an id of another examination",
        spellings=_other_id_spellings,
        keywords=(
            *("AccessionNumber", "StudyID", "RequestedProcedureID", "ScheduledProcedureStepID"),
            *("PerformedProcedureStepID", "PlacerOrderNumberImagingServiceRequest"),
            *("FillerOrderNumberImagingServiceRequest",),
        ),
    ),
    "uid": Kind(
        own="an id of the examination",
        other="an id of another examination",
        spellings=_uid_spellings,
        keywords=(),
        vrs=("UI",),
    ),
    "staff name": Kind(
        own="the name of a physician or operator",
        other="the name of a physician or operator",
        spellings=_name_spellings,
        keywords=(),
        vrs=("PN",),
    ),
    "date": Kind(
        own="a date of the examination",
        other="",
        spellings=_date_spellings,
        keywords=(),
        vrs=("DA", "DT"),
    ),
    "hospital": Kind(
        own="the name or address of the hospital",
        other="the name or address of the hospital",
        spellings=_place_spellings,
        keywords=(
            *("InstitutionName", "InstitutionAddress", "InstitutionalDepartmentName"),
            *("RequestingService", "PatientInstitutionResidence", "CurrentPatientLocation"),
            *("PerformedLocation", "ScheduledStudyLocation", "IssuerOfPatientID"),
        ),
    ),
    "device": Kind(
        own="a name or number of the device",
        other="a name or number of the device",
        spellings=_other_id_spellings,
        keywords=(
            *("StationName", "DeviceSerialNumber", "DetectorID", "PlateID", "CassetteID"),
            *("GantryID", "GeneratorID", "DeviceID", "ScheduledStationName"),
            *("PerformedStationName", "ScheduledStationAETitle", "PerformedStationAETitle"),
        ),
    ),
}
_KIND_OF = {keyword: name for name, kind in KINDS.items() for keyword in kind.keywords}
_KIND_OF_VR = {vr: name for name, kind in KINDS.items() for vr in kind.vrs}


class Identifier(NamedTuple):
    """A value that identifies a person, place or examination, and its kind in `KINDS`."""

    kind: str
    value: str


def identifiers(texts: Iterable[tuple[str, str, str]]) -> frozenset[Identifier]:
    """Return the identifiers in the texts of a DICOM file, given as keyword, VR and value."""
    return frozenset(
        Identifier(kind, decoded)
        for keyword, vr, value in texts
        if (kind := _KIND_OF.get(keyword) or _KIND_OF_VR.get(vr))
        for decoded in _decodings(value)
    )


def _decodings(value: str) -> Iterator[str]:
    """Yield a value, and its decoding as UTF-8, which some files use without declaring it."""
    yield value
    with suppress(UnicodeError):
        yield value.encode("latin-1").decode("utf-8")


def spellings(identifier: Identifier) -> frozenset[Spelling]:
    """Return every spelling of an identifier."""
    return frozenset(KINDS[identifier.kind].spellings(identifier.value))
