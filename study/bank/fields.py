"""Which keys mean what: the spellings of ReXVQA, of its leaderboard and of our own CSV header."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from operator import itemgetter

from study.base.bank_model import LETTERS, REPORT_SECTIONS, Fault, Rule
from study.base.text import id_key
from study.tables.columns import Kind, plain_key
from study.tables.source import Repeated
from study.tables.values import as_text, missing

# Each field's spellings, the preferred one first; compared without case, spaces and underscores.
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
    # The detector's own spacing first: PixelSpacing may be one calibrated to the patient.
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
# Known, and of no use to a reader study: kept as attributes without a word.
LEFT_ASIDE = (
    "class",
    "validation_code",
    "StudyDate",
    "Manufacturer",
    "ImageModality",
    "split",
    "site",
    "model_prediction",
)
MOST_OF_AN_ATTRIBUTE = 2_000

MAX_TEXT, MAX_UNSEEN_TEXT = 10_000, 100_000
"""Signs of a text that readers are shown or items are told by, and of reports and explanations."""

_UNSEEN = frozenset({*REPORT_SECTIONS, "context", "explanation"})
_FIELD_OF = {
    plain_key(spelling): (field, rank)
    for field, spellings in (*SPELLINGS.items(), *((name, (name,)) for name in OPTION_FIELDS))
    for rank, spelling in enumerate(spellings)
}
_LEFT_ASIDE = {plain_key(key): key for key in LEFT_ASIDE}


class Trouble:
    """Collects the faults of one item under its key."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.faults: list[Fault] = []

    def add(self, what: str, remedy: str, rule: Rule) -> None:
        """Note one fault, what to do about it, and the rule it breaks."""
        self.faults.append(Fault(key=self.key, what=what, remedy=remedy, rule=rule))


MOST_NOTES = 1_000


class Notes:
    """Collects what was not understood, with counts and the first place of each.

    Parameters
    ----------
    most : int, optional
        How many different things are told; None of a part, whose notes will be joined to others.
    """

    def __init__(self, most: int | None = MOST_NOTES) -> None:
        self._counts: Counter[str] = Counter()
        self._first: dict[str, str] = {}
        self._most = most

    def add(self, what: str, key: str, n: int = 1) -> None:
        """Count one more item, or `n`, of which this is to be said."""
        if self._most and what not in self._counts and len(self._counts) >= self._most:
            what = "other things not understood"
        self._counts[what] += n
        self._first.setdefault(what, key)

    def join(self, behind: "Notes") -> None:
        """Add what was said of items behind these."""
        for what, n in behind._counts.items():
            self.add(what, behind._first[what], n)

    def lines(self) -> tuple[str, ...]:
        """Return one sentence each, in the order first met."""
        return tuple(
            f"{what} ({n:,} item{'s' if n > 1 else ''}, first {self._first[what]})"
            for what, n in self._counts.items()
        )


class Fields:
    """The fields of one record, whatever their keys were called.

    Parameters
    ----------
    record : mapping of str to object
        The record as read.

    Attributes
    ----------
    unknown : sequence of str
        Keys that mean nothing here.
    twice : list of str
        Keys given twice, or in two ways that differ by case or underscores only.
    """

    def __init__(self, record: Mapping[str, object]) -> None:
        self._record = record
        self._keys, self.unknown, self._named, twice = _spelt(tuple(record))
        self.twice = [*twice]
        if isinstance(record, Repeated):
            keys = Counter(key for key, _ in record.pairs)
            self.twice += [key for key, n in keys.items() if n > 1]
        self._filled = filled = dict[str, object]()
        for key, value in record.items():
            if type(value) is str:
                if (text := value.strip()) and (text.isascii() or id_key(text)):
                    filled[key] = text
            elif not missing(value):
                filled[key] = value

    def __contains__(self, field: str) -> bool:
        """Whether any spelling of the field is there, filled or not."""
        return field in self._keys

    def given(self, field: str) -> list[tuple[str, object]]:
        """Return every filled spelling of a field with its value, the preferred one first."""
        filled = self._filled
        return [(key, filled[key]) for key in self._keys.get(field, ()) if key in filled]

    def first(self, field: str) -> object:
        """Return the preferred filled value of a field, or None."""
        for key in self._keys.get(field, ()):
            if (value := self._filled.get(key)) is not None:
                return value
        return None

    def text(self, field: str) -> str | None:
        """Return the preferred filled value as `as_text` does: empty if there is none."""
        return as_text(self.first(field))

    def too_long(self) -> Iterator[tuple[str, int, int]]:
        """Yield every key with a text that is too long, how long it is, and how long it may be."""
        if not _any_long(self._record.values()):
            return
        for field, keys in self._keys.items():
            most = MAX_UNSEEN_TEXT if field in _UNSEEN else MAX_TEXT
            for key in keys:
                value = self._record[key]
                texts = value if isinstance(value, list) else (value,)
                for longest in [len(t) for t in texts if isinstance(t, str) and len(t) > most]:
                    yield key, longest, most

    def others(self) -> Iterator[tuple[str, str | None, object]]:
        """Yield what is filled and has no field of its own here: its key, its name, its value."""
        for key, name in self._named:
            if (value := self._filled.get(key)) is not None:
                yield key, name, value


@lru_cache(maxsize=1024)
def _spelt(
    keys: tuple[str, ...],
) -> tuple[
    Mapping[str, tuple[str, ...]],
    tuple[str, ...],
    tuple[tuple[str, str | None], ...],
    tuple[str, ...],
]:
    """Return the keys of each field, the preferred first; those unknown; others' names; alike."""
    plain_keys = Counter(map(plain_key, keys))
    twice = tuple(key for key in keys if plain_keys[plain_key(key)] > 1 and plain_key(key))
    found: dict[str, list[tuple[int, str]]] = {}
    unknown: list[str] = []
    aside: list[str] = []
    for key in keys:
        plain = plain_key(key)
        if plain in _FIELD_OF:
            field, rank = _FIELD_OF[plain]
            found.setdefault(field, []).append((rank, key))
        elif plain:
            (aside if plain in _LEFT_ASIDE else unknown).append(key)
    ranked = {
        field: tuple(key for _, key in sorted(given, key=itemgetter(0)))
        for field, given in found.items()
    }
    last = {_LEFT_ASIDE[plain_key(key)]: key for key in aside}
    named = {**{key: name for name, key in last.items()}, **{key: as_text(key) for key in unknown}}
    return ranked, tuple(unknown), tuple(named.items()), twice


def _any_long(values: Iterable[object]) -> bool:
    """Whether a text is longer than any may be that is shown: so it is with next to none."""
    for value in values:
        if type(value) is str:
            if len(value) > MAX_TEXT:
                return True
        elif type(value) is list:
            for one in value:
                if type(one) is str and len(one) > MAX_TEXT:
                    return True
    return False


_KINDS = {
    "pixel_spacing": Kind.NUMBER,
    "prior_pixel_spacing": Kind.NUMBER,
    "prior_days": Kind.NUMBER,
    "prior_date": Kind.DATE,
}
EXAMINATION_DATE = plain_key("StudyDate")


def kind_of(column: str) -> Kind:
    """Return what a column of a bank holds.

    >>> kind_of("Option A").name, kind_of("ImagerPixelSpacing").name, kind_of("mood").name
    ('TEXT', 'NUMBER', 'ANY')
    """
    plain = plain_key(column)
    if plain == EXAMINATION_DATE:
        return Kind.DATE
    field, _ = _FIELD_OF.get(plain, ("", 0))
    return _KINDS.get(field, Kind.TEXT if field else Kind.ANY)


def has_field(columns: Iterable[str], *fields: str) -> bool:
    """Whether a header has any spelling of any of these fields."""
    found = {_FIELD_OF.get(plain_key(column), ("", 0))[0] for column in columns}
    return not found.isdisjoint(fields)
