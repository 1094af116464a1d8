"""Checks a model's marks on images: boxes and heat maps, in fractions of the image."""

import math
from collections.abc import Mapping
from typing import Any

MOST_BOXES = 50
MOST_CELLS = 128
LONGEST_LABEL = 100


def boxes_of(value: object) -> list[dict[str, Any]] | None:
    """Return boxes in the form in which they are stored, or None if any of them is not valid.

    A box is an object with `x`, `y`, `width` and `height` (fractions of the image, from its upper
    left corner), and optionally `view` (index of the item's views, from 0) and `label`.

    >>> boxes_of([{"x": 0.1, "y": 0, "width": 0.5, "height": 0.5}])[0]["view"]
    0
    """
    if not isinstance(value, list) or len(value) > MOST_BOXES:
        return None
    boxes = [_box(box) for box in value]
    return None if None in boxes else [box for box in boxes if box is not None]


def _box(value: object) -> dict[str, Any] | None:
    if not isinstance(value, Mapping):
        return None
    view, label = value.get("view", 0), value.get("label") or ""
    sides = [_fraction(value.get(name)) for name in ("x", "y", "width", "height")]
    if not _is_view_index(view) or not isinstance(label, str) or None in sides:
        return None
    x, y, width, height = (side or 0.0 for side in sides)
    if not (width and height) or x + width > 1.0001 or y + height > 1.0001:
        return None
    return {
        "view": view,
        **{"x": x, "y": y, "width": width, "height": height},
        "label": label.strip()[:LONGEST_LABEL],
    }


def heat_maps_of(value: object) -> list[dict[str, Any]] | None:
    """Return heat maps in the form in which they are stored, or None if any is not valid.

    A heat map is an object with `rows` (lists of numbers from 0 to 1, all of the same length, that
    cover the image), and optionally `view`.

    >>> heat_maps_of([{"rows": [[0, 0.5], [1, 0.25]]}])
    [{'view': 0, 'rows': [[0.0, 0.5], [1.0, 0.25]]}]
    """
    if not isinstance(value, list) or len(value) > MOST_BOXES:
        return None
    maps = []
    for entry in value:
        rows = _rows(entry.get("rows")) if isinstance(entry, Mapping) else None
        view = entry.get("view", 0) if isinstance(entry, Mapping) else None
        if rows is None or not _is_view_index(view):
            return None
        maps.append({"view": view, "rows": rows})
    return maps


def _rows(value: object) -> list[list[float]] | None:
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_CELLS:
        return None
    rows = []
    for row in value:
        if not isinstance(row, list) or not 1 <= len(row) <= MOST_CELLS:
            return None
        numbers = [_fraction(number) for number in row]
        if None in numbers or len(row) != len(value[0]):
            return None
        rows.append([round(number or 0.0, 3) for number in numbers])
    return rows


def _is_view_index(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_BOXES


def _fraction(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and 0 <= value <= 1 else None
