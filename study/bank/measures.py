"""What a bank says of its films in numbers: millimetres a pixel, and days before the current ones.

A scale that is wrong misleads more than none, so whatever is in doubt is noted and left unknown;
it is never a fault, since a film can be read without it. Of a prior film's date only the days
before the current ones are kept.
"""

import math
from collections.abc import Sequence
from datetime import date
from itertools import repeat

from study.bank.fields import EXAMINATION_DATE, Fields, Notes, Trouble
from study.base.bank_model import Rule
from study.tables.columns import plain_key
from study.tables.values import as_list, as_text, missing, shown

LEAST_MM, MOST_MM = 0.01, 5.0
TOLERANCE = 0.01
"""How far rows and columns, or two statements on one film, may be apart and still be one."""

MOST_DAYS = 36_525
_REMEDY = "name an examination made before, or leave the prior image out"


def read_spacings(
    fields: Fields, n_images: int, notes: Notes, key: str, field: str = "pixel_spacing"
) -> list[float | None]:
    r"""Return the spacing of each image of an item, in mm; None where it is unknown.

    Parameters
    ----------
    fields : Fields
        Of the item. One value for all images or one value per image, each a number, the text of
        one, or a pair (row, column) as a list or as DICOM writes it, ``0.143\0.143``. Two bare
        numbers are one per image where there are two images, and else a pair.
    n_images : int
        How many images the item names.
    notes : Notes
        Takes what was left unknown, under `key`.
    field : str
        Which field says it: that of the images, or of the prior images.

    Returns
    -------
    list of float or None
        As many as images.
    """
    given = fields.given(field)
    if not given:
        return [None] * n_images
    spelling, value = given[0]
    spacings_mm = _read(value, n_images, notes, key)
    if any(_read(other, n_images, Notes(), key) != spacings_mm for _, other in given[1:]):
        notes.add(f"pixel spacings differ, {spelling} is taken", key)
    return spacings_mm


def gathered(paths: Sequence[tuple[str, float | None]]) -> dict[str, list[float]]:
    """Return what is said of each path; an image may be listed twice.

    >>> gathered([("a", 0.2), ("b", None), ("a", 0.3)])
    {'a': [0.2, 0.3]}
    """
    found: dict[str, list[float]] = {}
    for path, spacing_mm in paths:
        if spacing_mm is not None:
            found.setdefault(path, []).append(spacing_mm)
    return found


def _read(value: object, n_images: int, notes: Notes, key: str) -> list[float | None]:
    entries = _entries(value, n_images)
    if entries is None:
        notes.add("pixel spacing dropped: not as many as images", key)
        return [None] * n_images
    found = [_spacing_mm(entry) for entry in entries]
    for doubt in dict.fromkeys(one for one in found if isinstance(one, str)):
        notes.add(f"pixel spacing {doubt}, left unknown", key)
    return [None if isinstance(one, str) else one for one in found]


def _entries(value: object, n_images: int) -> list[object] | None:
    """Return one entry per image, or None where their number does not fit."""
    listed = _listed(value)
    if listed is None:
        return [value] * n_images
    if len(listed) == n_images:
        return listed
    if len(listed) == 1:
        return listed * n_images
    if len(listed) == 2 and all(_number(part) is not None for part in listed):
        return [listed] * n_images
    return None


def _listed(value: object) -> list[object] | None:
    """Return the entries of a list, also of one written as text; None for a single value."""
    listed = as_list(value)
    if listed is None and isinstance(value, str):
        for separator in "|;":
            if separator in value:
                return [part.strip() for part in value.split(separator)]
    return listed


def _spacing_mm(entry: object) -> float | str | None:
    """Return the spacing of one entry, None where none is given, or what is doubtful about it."""
    if missing(entry):
        return None
    sides = _sides(entry)
    if sides is None:
        return "not understood"
    if not all(LEAST_MM <= side <= MOST_MM for side in sides):
        return f"not within {LEAST_MM} to {MOST_MM:g} mm"
    if not _alike(sides):
        return "of pixels that are not square"
    return sum(sides) / len(sides)


def _sides(entry: object) -> list[float] | None:
    """Return the one or two numbers of an entry."""
    parts: list[object] = as_list(entry) or [entry]
    if len(parts) == 1 and isinstance(parts[0], str):
        parts = [*parts[0].split("\\")]
    numbers = [number for part in parts if (number := _number(part)) is not None]
    return numbers if len(numbers) == len(parts) <= 2 else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    text = as_text(value) if isinstance(value, str) else value
    try:
        number = float("" if text is None else text)
    except (ValueError, OverflowError):
        return None
    return None if math.isnan(number) else number


def _alike(values: Sequence[float]) -> bool:
    return max(values) <= min(values) * (1 + TOLERANCE)


def read_days(fields: Fields, n: int, notes: Notes, trouble: Trouble) -> list[int | None]:
    """Return how many days before the current films each prior one of an item was made.

    Parameters
    ----------
    fields : Fields
        Of the item. `prior_days` goes before `prior_date`, which needs `StudyDate`; each is one
        value for all, or one a prior image.
    n : int
        How many prior images the item names.
    notes : Notes
        Takes what was left unknown.
    trouble : Trouble
        Takes that a prior image is no earlier one.

    Returns
    -------
    list of int or None
        None where it is unknown.
    """
    by_date = fields.first("prior_days") is None
    given = _each(fields.first("prior_date" if by_date else "prior_days"), n)
    if given is None:
        notes.add("prior intervals dropped: not as many as prior images", trouble.key)
        return [None] * n
    today = _examination(fields) if by_date else None
    found = [_between(one, today) if by_date else _whole(one) for one in given]
    for value, days in zip(given, found, strict=True):
        if missing(value):
            continue
        if days is None or days > MOST_DAYS:
            said = "prior date, or StudyDate," if by_date else f"prior interval {shown(value)}"
            notes.add(f"{said} not understood, interval left unknown", trouble.key)
        elif days < 0:
            trouble.add("a prior image made after the current ones", _REMEDY, Rule.NO_PRIOR)
    return [days if days is not None and days <= MOST_DAYS else None for days in found]


def rounded(days: int) -> tuple[int, str]:
    """Return a time in the unit that people would say it in.

    >>> [rounded(days) for days in (0, 13, 45, 91, 700, 800)]
    [(0, 'day'), (13, 'day'), (6, 'week'), (3, 'month'), (23, 'month'), (2, 'year')]
    """
    if days < 14:
        return days, "day"
    if days < 60:
        return round(days / 7), "week"
    if days < 730:
        return round(days / 30.44), "month"
    return round(days / 365.25), "year"


def prior_name(days: int | None) -> str:
    """Return what a prior film is called in English, as models are told.

    >>> prior_name(91), prior_name(1), prior_name(0), prior_name(None)
    ('prior, 3 months earlier', 'prior, 1 day earlier', 'prior, same day', 'prior')
    """
    if days is None:
        return "prior"
    number, unit = rounded(days)
    return f"prior, {number} {unit}{'s' * (number != 1)} earlier" if number else "prior, same day"


def day_of(text: str) -> date | None:
    """Return a day written as `20200131`, `2020-01-31` or with a time behind it; or None.

    >>> day_of("20200131"), day_of("2020-01-31T08:00"), day_of("31 January")
    (datetime.date(2020, 1, 31), datetime.date(2020, 1, 31), None)
    """
    try:
        return date.fromisoformat(text[:10] if text[4:5] == "-" else text[:8])
    except ValueError:
        return None


def _each(value: object, n: int) -> Sequence[object] | None:
    """Return one value for each of `n`; None where there are too many or too few."""
    if missing(value):
        return [None] * n
    listed = as_list(value)
    if listed is None and isinstance(value, str) and any(sign in value for sign in "|;"):
        listed = [part.strip() for part in value.replace(";", "|").split("|")]
    if listed is None or len(listed) == 1:
        return [*repeat(value if listed is None else listed[0], n)]
    return listed if len(listed) == n else None


def _whole(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        days = float(value if isinstance(value, int | float) else as_text(value) or "")
    except ValueError:
        return None
    return int(days) if days.is_integer() else None


def _examination(fields: Fields) -> date | None:
    found = {plain_key(key): value for key, _, value in fields.others()}
    return day_of(as_text(found.get(EXAMINATION_DATE)) or "")


def _between(value: object, today: date | None) -> int | None:
    before = day_of(as_text(value) or "")
    return None if before is None or today is None else (today - before).days
