"""Names beside marks, where they cover neither marks nor each other."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

from analysis.figures.drawing.chart import Axis, Label, Note, Side
from analysis.figures.drawing.names import shorten

LONGEST_BESIDE = 26
# Of the text, at the size of small print: what is reserved, in millimetres.
LETTER_MM, HIGH_MM, AWAY_MM = 1.35, 2.9, 1.7
# Where a text may go from its mark, by preference: side, and up.
PLACES = (
    (Side.LEFT, 1.4),
    (Side.RIGHT, 1.4),
    (Side.LEFT, -1.4),
    (Side.RIGHT, -1.4),
    (Side.LEFT, 3.4),
    (Side.LEFT, -3.4),
    (Side.RIGHT, 3.4),
    (Side.RIGHT, -3.4),
)
# Where all of these are taken, lines may be crossed, and the name stands further away.
FURTHER = tuple(
    (side, up) for up in (5.4, -5.4, 7.4, -7.4, 9.4, -9.4) for side in (Side.LEFT, Side.RIGHT)
)
# At the end of a line: after its mark, as near its height as there is room.
AFTER = tuple((Side.LEFT, up) for up in (0.0, 1.5, -1.5, 3.0, -3.0, 4.5, -4.5, 6.0, -6.0))
Box = tuple[float, float, float, float]


def beside(
    names: Sequence[Label],
    places: Sequence[tuple[float, float]],
    axes: tuple[Axis, Axis],
    size_mm: tuple[float, float],
    *,
    uprights: Sequence[tuple[float, float, float]] = (),
    choices: Sequence[tuple[Side, float]] = PLACES,
) -> list[Note]:
    """Write each name beside its mark.

    Parameters
    ----------
    names : sequence of Label
        In the order in which they choose a place.
    places : sequence of (float, float)
        Values of x and y of the marks.
    axes : tuple of Axis
        Of x and y.
    size_mm : tuple of float
        About the width and height of the panel.
    uprights : sequence of (float, float, float)
        Upright lines to keep off: x, and the values of y where they begin and end.
    choices : sequence of (Side, float)
        Where a text may go from its mark, by preference.

    Returns
    -------
    list of Note
        A name that fits nowhere is left out: it stands on hover.
    """
    at = [
        tuple(_share(axis, v) * mm for axis, v, mm in zip(axes, place, size_mm, strict=True))
        for place in places
    ]
    marks: list[Box] = [(x - 1.0, y - 1.0, x + 1.0, y + 1.0) for x, y in at]
    lines: list[Box] = []
    for line in uprights:
        x, low, high = (
            _share(axis, v) * mm
            for axis, v, mm in zip(
                (axes[0], axes[1], axes[1]), line, (size_mm[0], *size_mm[1:] * 2), strict=True
            )
        )
        lines.append((x - 0.4, low, x + 0.4, high))
    notes = []
    taken = marks
    for name, place, (x, y) in zip(names, places, at, strict=True):
        label = Label(text=shorten(name.text, LONGEST_BESIDE), otherwise=name.otherwise)
        wide = sum(
            LETTER_MM * (1.7 if unicodedata.east_asian_width(sign) in "WF" else 1.0)
            for sign in label.text
        )
        ways = [(*one, [*taken, *lines]) for one in choices]
        if choices is PLACES:
            ways += [(*one, taken) for one in (*PLACES, *FURTHER)]
        for side, up, kept in ways:
            left = x + AWAY_MM if side is Side.LEFT else x - AWAY_MM - wide
            box = (left, y + up - HIGH_MM / 2, left + wide, y + up + HIGH_MM / 2)
            inside = box[0] >= 0 and box[2] <= size_mm[0] and box[1] >= 0 and box[3] <= size_mm[1]
            if inside and not any(_meet(box, other) for other in kept):
                taken.append(box)
                away = AWAY_MM if side is Side.LEFT else -AWAY_MM
                note = Note(x=place[0], y=place[1], label=label, side=side, dx_mm=away, dy_mm=up)
                notes.append(note)
                break
    return notes


def _share(axis: Axis, value: float) -> float:
    low, high, value = (math.log(v) if axis.log else v for v in (axis.low, axis.high, value))
    return (value - low) / (high - low)


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
