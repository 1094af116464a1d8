"""Pixel spacing: how many millimetres of the detector one pixel of a film stands for.

A scale that is wrong misleads more than none, so whatever is in doubt is noted and left unknown;
it is never a fault, since a film can be read without it.
"""

import math
from collections.abc import Sequence

from study.bank.fields import Fields, Notes, as_list, as_text, missing

LEAST_MM, MOST_MM = 0.01, 5.0
TOLERANCE = 0.01
"""How far rows and columns, or two statements on one film, may be apart and still be one."""


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
