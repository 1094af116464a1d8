"""Reads a bank's pixel spacings in mm and the days between prior and current films.

A wrong scale is more misleading than a missing one, so doubtful values are noted and left unknown.
They are not faults, because a film can be read without them. Dates of prior films are not stored,
only the number of days before the current film.
"""

import math
from collections.abc import Sequence
from datetime import date
from itertools import repeat

from study.bank.fields import EXAMINATION_DATE, Fields, Notes, Trouble
from study.base.bank_model import Rule
from study.tables.columns import plain_key
from study.tables.values import as_list, as_text, is_missing, quoted_value

MIN_SPACING_MM, MAX_SPACING_MM = 0.01, 5.0
TOLERANCE = 0.01
"""The relative difference up to which two spacings count as equal."""

MAX_DAYS = 36_525
_REMEDY = "name an earlier examination, or leave the prior image out"


def read_spacings(
    fields: Fields, n_images: int, notes: Notes, key: str, field: str = "pixel_spacing"
) -> list[float | None]:
    r"""Return the spacing of each image of an item, in mm; None if it is unknown.

    Parameters
    ----------
    fields : Fields
        The item's fields. The field contains one value for all images or one per image. A value is
        a number, a number as text, or a pair (row, column) as a list or in DICOM's notation,
        ``0.143\0.143``. Two numbers without a list of pairs are read as one per image if there are
        two images, and otherwise as a pair.
    n_images : int
        The number of images of the item.
    notes : Notes
        Collects notes on unknown values under `key`.
    field : str
        The field with the spacings of the images, or of the prior images.

    Returns
    -------
    list of float or None
        One value per image.
    """
    spellings = fields.given(field)
    if not spellings:
        return [None] * n_images
    spelling, value = spellings[0]
    spacings_mm = _read_value(value, n_images, notes, key)
    if any(_read_value(other, n_images, Notes(), key) != spacings_mm for _, other in spellings[1:]):
        notes.add(f"pixel spacings differ, {spelling} is used", key)
    return spacings_mm


def spacings_by_path(paths: Sequence[tuple[str, float | None]]) -> dict[str, list[float]]:
    """Return the known spacings of each path; an image may be listed twice.

    >>> spacings_by_path([("a", 0.2), ("b", None), ("a", 0.3)])
    {'a': [0.2, 0.3]}
    """
    by_path: dict[str, list[float]] = {}
    for path, spacing_mm in paths:
        if spacing_mm is not None:
            by_path.setdefault(path, []).append(spacing_mm)
    return by_path


def _read_value(value: object, n_images: int, notes: Notes, key: str) -> list[float | None]:
    entries = _entries(value, n_images)
    if entries is None:
        notes.add("pixel spacings dropped: not one per image", key)
        return [None] * n_images
    results = [_spacing_mm(entry) for entry in entries]
    for doubt in dict.fromkeys(result for result in results if isinstance(result, str)):
        notes.add(f"pixel spacing {doubt}, left unknown", key)
    return [None if isinstance(result, str) else result for result in results]


def _entries(value: object, n_images: int) -> list[object] | None:
    """Return one entry per image, or None if there are more or fewer entries than images."""
    entries = _entries_of(value)
    if entries is None:
        return [value] * n_images
    if len(entries) == n_images:
        return entries
    if len(entries) == 1:
        return entries * n_images
    if len(entries) == 2 and all(_number(part) is not None for part in entries):
        return [entries] * n_images
    return None


def _entries_of(value: object) -> list[object] | None:
    """Return the entries of a list, or of a text that contains a list; None for a single value."""
    entries = as_list(value)
    if entries is None and isinstance(value, str):
        for separator in "|;":
            if separator in value:
                return [part.strip() for part in value.split(separator)]
    return entries


def _spacing_mm(entry: object) -> float | str | None:
    """Return the spacing of an entry, None if it is empty, or the reason why it is doubtful."""
    if is_missing(entry):
        return None
    sides = _sides(entry)
    if sides is None:
        return "not understood"
    if not all(MIN_SPACING_MM <= side <= MAX_SPACING_MM for side in sides):
        return f"not within {MIN_SPACING_MM} to {MAX_SPACING_MM:g} mm"
    if not _are_equal(sides):
        return "of pixels that are not square"
    return sum(sides) / len(sides)


def _sides(entry: object) -> list[float] | None:
    """Return the one or two numbers in an entry, or None if it has other content."""
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


def _are_equal(values: Sequence[float]) -> bool:
    return max(values) <= min(values) * (1 + TOLERANCE)


def read_days(fields: Fields, n: int, notes: Notes, trouble: Trouble) -> list[int | None]:
    """Return the days from each prior film of an item to the current films.

    Parameters
    ----------
    fields : Fields
        The item's fields. `prior_days` has precedence over `prior_date`, which needs `StudyDate`;
        each is one value for all prior images, or one per prior image.
    n : int
        The number of prior images of the item.
    notes : Notes
        Collects notes on unknown intervals.
    trouble : Trouble
        Collects a fault if a prior image was made after the current ones.

    Returns
    -------
    list of int or None
        None if unknown.
    """
    by_date = fields.first("prior_days") is None
    values = _value_per_image(fields.first("prior_date" if by_date else "prior_days"), n)
    if values is None:
        notes.add("prior intervals dropped: not one per prior image", trouble.key)
        return [None] * n
    study_date = _examination_date(fields) if by_date else None
    all_days = [
        _days_between(entry, study_date) if by_date else _whole_days(entry) for entry in values
    ]
    for value, days in zip(values, all_days, strict=True):
        if is_missing(value):
            continue
        if days is None or days > MAX_DAYS:
            name = (
                "prior date, or StudyDate," if by_date else f"prior interval {quoted_value(value)}"
            )
            notes.add(f"{name} not understood, interval left unknown", trouble.key)
        elif days < 0:
            trouble.add("a prior image made after the current ones", _REMEDY, Rule.NO_PRIOR)
    return [days if days is not None and days <= MAX_DAYS else None for days in all_days]


def in_suitable_unit(days: int) -> tuple[int, str]:
    """Return a number of days in a suitable unit: days, weeks, months or years.

    >>> [in_suitable_unit(days) for days in (0, 13, 45, 91, 700, 800)]
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
    """Return the English name of a prior film, as sent to models.

    >>> prior_name(91), prior_name(1), prior_name(0), prior_name(None)
    ('prior, 3 months earlier', 'prior, 1 day earlier', 'prior, same day', 'prior')
    """
    if days is None:
        return "prior"
    number, unit = in_suitable_unit(days)
    return f"prior, {number} {unit}{'s' * (number != 1)} earlier" if number else "prior, same day"


def parse_day(text: str) -> date | None:
    """Return the date in `20200131`, `2020-01-31`, or either with a time; or None.

    >>> parse_day("20200131"), parse_day("2020-01-31T08:00"), parse_day("31 January")
    (datetime.date(2020, 1, 31), datetime.date(2020, 1, 31), None)
    """
    try:
        return date.fromisoformat(text[:10] if text[4:5] == "-" else text[:8])
    except ValueError:
        return None


def _value_per_image(value: object, n: int) -> Sequence[object] | None:
    """Return one value for each of `n` images, or None if there are more or fewer values."""
    if is_missing(value):
        return [None] * n
    entries = as_list(value)
    if entries is None and isinstance(value, str) and any(separator in value for separator in "|;"):
        entries = [part.strip() for part in value.replace(";", "|").split("|")]
    if entries is None or len(entries) == 1:
        return [*repeat(value if entries is None else entries[0], n)]
    return entries if len(entries) == n else None


def _whole_days(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        days = float(value if isinstance(value, int | float) else as_text(value) or "")
    except ValueError:
        return None
    return int(days) if days.is_integer() else None


def _examination_date(fields: Fields) -> date | None:
    others = {plain_key(key): value for key, _, value in fields.others()}
    return parse_day(as_text(others.get(EXAMINATION_DATE)) or "")


def _days_between(value: object, study_date: date | None) -> int | None:
    prior_date = parse_day(as_text(value) or "")
    return None if prior_date is None or study_date is None else (study_date - prior_date).days
