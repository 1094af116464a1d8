"""Maps the keys of ReXVQA, its leaderboard and the CSV format to fields."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from study.base.bank_model import LETTERS, REPORT_SECTIONS, Fault, Rule
from study.base.text import id_key
from study.tables.columns import Kind, plain_key
from study.tables.source import Repeated
from study.tables.values import as_text, is_missing

# The spellings of each field, the preferred one first; case, spaces and underscores are ignored.
SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "item_id": ("item_id", "question_id", "id"),
    "question": ("question",),
    "options": ("options", "choices"),
    "truth": ("truth", "correct_answer", "answer"),
    "task": ("task", "task_name"),
    "category": ("category",),
    "subcategory": ("subcategory",),
    "examination_id": ("examination_id", "study_id", "StudyInstanceUid", "AccessionNumber"),
    "patient_id": ("patient_id", "subject_id"),
    "age": ("age", "PatientAge"),
    "sex": ("sex", "PatientSex", "gender"),
    "images": ("images", "ImagePath", "image_paths", "image"),
    "views": ("views", "ImageViewPosition", "view_position", "view", "frontal_lateral"),
    # The spacing at the detector is preferred, as PixelSpacing may be calibrated to the patient.
    "pixel_spacing": (
        "ImagerPixelSpacing",
        "pixel_spacing",
        "image_pixel_spacing",
        "pixel_spacing_mm",
        "spacing_mm",
    ),
    "prior_images": (
        "prior_images",
        "PriorImagePath",
        "prior_image_paths",
        "prior_image",
        "previous_images",
    ),
    "prior_views": (
        "prior_views",
        "PriorImageViewPosition",
        "prior_view_position",
        "prior_view",
        "prior_frontal_lateral",
    ),
    "prior_days": ("prior_days", "prior_interval_days", "days_since_prior"),
    "prior_date": ("prior_date", "PriorStudyDate"),
    "prior_pixel_spacing": ("PriorImagerPixelSpacing", "prior_pixel_spacing"),
    "indication": ("indication", "section_indication"),
    "comparison": ("comparison", "section_comparison"),
    "findings": ("findings", "section_findings"),
    "impression": ("impression", "section_impression"),
    "context": ("context",),
    "explanation": ("explanation", "correct_answer_explanation"),
}
OPTION_FIELDS = tuple(f"option_{letter.lower()}" for letter in LETTERS)
# Known keys that a reader study does not use; they are kept as attributes without a note.
UNUSED_KEYS = (
    "class",
    "validation_code",
    "StudyDate",
    "Manufacturer",
    "ImageModality",
    "split",
    "site",
    "model_prediction",
)
MAX_ATTRIBUTE = 2_000

MAX_TEXT, MAX_UNSEEN_TEXT = 10_000, 100_000
"""Maximum length of a text that readers see or that identifies an item, and of other texts."""

_UNSEEN_FIELDS = frozenset({*REPORT_SECTIONS, "context", "explanation"})
_FIELD_OF = {
    plain_key(spelling): (field, rank)
    for field, spellings in (*SPELLINGS.items(), *((name, (name,)) for name in OPTION_FIELDS))
    for rank, spelling in enumerate(spellings)
}
_UNUSED_KEYS = {plain_key(key): key for key in UNUSED_KEYS}


class Trouble:
    """Collects the faults of one item under its key."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.faults: list[Fault] = []

    def add(self, fault: str, remedy: str, rule: Rule) -> None:
        """Add a fault, its remedy, and the rule it breaks."""
        self.faults.append(Fault(key=self.key, what=fault, remedy=remedy, rule=rule))


MAX_NOTES = 1_000


class Notes:
    """Collects notes on values that were not understood, with counts and the first item of each.

    Parameters
    ----------
    max_notes : int, optional
        The maximum number of different notes; None if these notes will be added to others.
    """

    def __init__(self, max_notes: int | None = MAX_NOTES) -> None:
        self._counts: Counter[str] = Counter()
        self._first: dict[str, str] = {}
        self._max_notes = max_notes

    def add(self, fault: str, key: str, n: int = 1) -> None:
        """Count a note for one item, or for `n` items."""
        if self._max_notes and fault not in self._counts and len(self._counts) >= self._max_notes:
            fault = "other things not understood"
        self._counts[fault] += n
        self._first.setdefault(fault, key)

    def join(self, other_notes: "Notes") -> None:
        """Add the notes of later items."""
        for fault, n in other_notes._counts.items():
            self.add(fault, other_notes._first[fault], n)

    def lines(self) -> tuple[str, ...]:
        """Return one sentence for each note, in order of first occurrence."""
        return tuple(
            f"{fault} ({n:,} item{'s' if n > 1 else ''}, first {self._first[fault]})"
            for fault, n in self._counts.items()
        )


class Fields:
    """The fields of a record, under any of their spellings.

    Parameters
    ----------
    record : mapping of str to object
        The record as read.

    Attributes
    ----------
    unknown : sequence of str
        Unknown keys.
    twice : sequence of str
        Keys that occur twice, or in two spellings that differ only by case or underscores.
    """

    def __init__(self, record: Mapping[str, object]) -> None:
        self._record = record
        self._keys_by_field, self.unknown, self._other_keys, self.repeated_keys, fields = (
            keys_of_fields(tuple(record))
        )
        if isinstance(record, Repeated):
            keys = Counter(key for key, _ in record.pairs)
            self.repeated_keys += tuple(key for key, n in keys.items() if n > 1)
        self._filled = filled = dict[str, object]()
        self._may_be_long = False
        for key, value in record.items():
            if type(value) is str:
                if len(value) > MAX_TEXT:
                    self._may_be_long = True
                if (text := value.strip()) and (text.isascii() or id_key(text)):
                    filled[key] = text
            elif not is_missing(value):
                filled[key] = value
                if type(value) is list:
                    for text in value:
                        if type(text) is str and len(text) > MAX_TEXT:
                            self._may_be_long = True
        self._first = {field: filled[key] for key, field in fields if key in filled}

    def __contains__(self, field: str) -> bool:
        """Return whether any spelling of the field is present, filled or not."""
        return field in self._keys_by_field

    def given(self, field: str) -> list[tuple[str, object]]:
        """Return each filled spelling of a field with its value, the preferred one first."""
        filled = self._filled
        return [(key, filled[key]) for key in self._keys_by_field.get(field, ()) if key in filled]

    def first(self, field: str) -> object:
        """Return the preferred filled value of a field, or None."""
        return self._first.get(field)

    def text(self, field: str) -> str | None:
        """Return the preferred filled value as text (see `as_text`); empty if there is none."""
        value = self._first.get(field)
        if type(value) is str and value.isascii() and "\0" not in value:
            return value  # filled values have no surrounding spaces
        return as_text(value)

    def too_long(self) -> Iterator[tuple[str, int, int]]:
        """Yield each key with a text that is too long, the length, and the maximum."""
        if not self._may_be_long:
            return
        for field, keys in self._keys_by_field.items():
            max_length = MAX_UNSEEN_TEXT if field in _UNSEEN_FIELDS else MAX_TEXT
            for key in keys:
                value = self._record[key]
                texts = value if isinstance(value, list) else (value,)
                for longest in [
                    len(t) for t in texts if isinstance(t, str) and len(t) > max_length
                ]:
                    yield key, longest, max_length

    def others(self) -> Iterator[tuple[str, str | None, object]]:
        """Yield the key, name and value of each filled key that belongs to no field."""
        for key, name in self._other_keys:
            if (value := self._filled.get(key)) is not None:
                yield key, name, value


class KeysOfFields(NamedTuple):
    """The meaning of the keys of a record.

    Attributes
    ----------
    by_field : mapping of str to tuple of str
        The keys of each field, the preferred one first.
    unknown : tuple of str
        Unknown keys.
    others : tuple of (str, str or None)
        The keys that belong to no field, each with its name as an attribute.
    repeated : tuple of str
        Keys that occur in two spellings that differ only by case or underscores.
    with_fields : tuple of (str, str)
        The keys with their fields; the preferred spelling of a field follows the others.
    """

    by_field: Mapping[str, tuple[str, ...]]
    unknown: tuple[str, ...]
    others: tuple[tuple[str, str | None], ...]
    repeated: tuple[str, ...]
    with_fields: tuple[tuple[str, str], ...]


@lru_cache(maxsize=1024)
def keys_of_fields(keys: tuple[str, ...]) -> KeysOfFields:
    """Return the meaning of the keys of a record."""
    plain_keys = Counter(map(plain_key, keys))
    repeated_keys = tuple(key for key in keys if plain_keys[plain_key(key)] > 1 and plain_key(key))
    ranked_keys: dict[str, list[tuple[int, str]]] = {}
    unknown: list[str] = []
    known_unused: list[str] = []
    for key in keys:
        plain = plain_key(key)
        if plain in _FIELD_OF:
            field, rank = _FIELD_OF[plain]
            ranked_keys.setdefault(field, []).append((rank, key))
        elif plain:
            (known_unused if plain in _UNUSED_KEYS else unknown).append(key)
    ranked = {
        field: tuple(key for _, key in sorted(pairs, key=itemgetter(0)))
        for field, pairs in ranked_keys.items()
    }
    last = {_UNUSED_KEYS[plain_key(key)]: key for key in known_unused}
    named = {**{key: name for name, key in last.items()}, **{key: as_text(key) for key in unknown}}
    fields = tuple((key, field) for field, spelt in ranked.items() for key in reversed(spelt))
    return KeysOfFields(ranked, tuple(unknown), tuple(named.items()), repeated_keys, fields)


_KINDS = {
    "pixel_spacing": Kind.NUMBER,
    "prior_pixel_spacing": Kind.NUMBER,
    "prior_days": Kind.NUMBER,
    "prior_date": Kind.DATE,
}
EXAMINATION_DATE = plain_key("StudyDate")


def kind_of(column: str) -> Kind:
    """Return the kind of values in a bank's column.

    >>> kind_of("Option A").name, kind_of("ImagerPixelSpacing").name, kind_of("mood").name
    ('TEXT', 'NUMBER', 'ANY')
    """
    plain = plain_key(column)
    if plain == EXAMINATION_DATE:
        return Kind.DATE
    field, _ = _FIELD_OF.get(plain, ("", 0))
    return _KINDS.get(field, Kind.TEXT if field else Kind.ANY)


def has_field(columns: Iterable[str], *fields: str) -> bool:
    """Return whether a header has any spelling of any of these fields."""
    present = {_FIELD_OF.get(plain_key(column), ("", 0))[0] for column in columns}
    return not present.isdisjoint(fields)
