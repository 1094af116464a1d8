"""Names beside marks, where they cover neither marks nor each other."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from itertools import zip_longest

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
AWAY = {Side.LEFT: AWAY_MM, Side.CENTRE: 0.0, Side.RIGHT: -AWAY_MM}
# From the end of a mark's own line to the middle of a name above or beneath it.
BEYOND_MM = HIGH_MM / 2 + 0.6
# Where all of these are taken, the name stands further away; at last lines may be crossed.
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
        In the order of the marks.
    places : sequence of (float, float)
        Values of x and y of the marks.
    axes : tuple of Axis
        Of x and y.
    size_mm : tuple of float
        About the width and height of the panel.
    uprights : sequence of (float, float, float)
        Upright lines to keep off, the first of the first mark and so on: x, and the values of y
        where they begin and end.
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
    written = [Label(text=shorten(n.text, LONGEST_BESIDE), otherwise=n.otherwise) for n in names]
    every = [
        [(*way, _box(way, label, x, y)) for way in _ways(choices, line, y)]
        for label, (x, y), line in zip_longest(written, at, lines)
    ]
    within = [[way for way in ways if _inside(way[-1], size_mm)] for ways in every]
    clear = [
        [
            way
            for way in ways
            if not _meets(way[-1], [*marks, *lines])
            and (way[:2] in choices or _is_nearest(way[-1], i, marks, lines))
        ]
        for i, ways in enumerate(within)
    ]
    # Those with the fewest places choose first, so that nobody takes another's only one.
    order = sorted(range(len(names)), key=lambda i: len(clear[i]) if uprights else 0)
    taken, found = [*marks], {}
    for ways in (clear, within):
        for i in (one for one in order if one not in found):
            for side, up, box in ways[i]:
                if not _meets(box, taken):
                    taken.append(box)
                    found[i] = Note(
                        x=places[i][0],
                        y=places[i][1],
                        label=written[i],
                        side=side,
                        dx_mm=AWAY[side],
                        dy_mm=up,
                    )
                    break
    return [found[i] for i in sorted(found)]


def _ways(
    choices: Sequence[tuple[Side, float]], line: Box | None, y: float
) -> list[tuple[Side, float]]:
    """Return where a name may go: beside its mark, at an end of its line, further away."""
    ends: list[tuple[Side, float]] = []
    if line:
        ends = [(Side.CENTRE, line[3] - y + BEYOND_MM), (Side.CENTRE, line[1] - y - BEYOND_MM)]
    return [*choices, *ends, *(FURTHER if choices is PLACES else ())]


def _box(way: tuple[Side, float], label: Label, x: float, y: float) -> Box:
    """Return about what a name covers, in millimetres."""
    side, up = way
    wide = sum(
        LETTER_MM * (1.7 if unicodedata.east_asian_width(sign) in "WF" else 1.0)
        for sign in label.text
    )
    left = x + AWAY[side] - {Side.LEFT: 0.0, Side.CENTRE: wide / 2, Side.RIGHT: wide}[side]
    return left, y + up - HIGH_MM / 2, left + wide, y + up + HIGH_MM / 2


def _inside(box: Box, size_mm: tuple[float, float]) -> bool:
    return box[0] >= 0 and box[2] <= size_mm[0] and box[1] >= 0 and box[3] <= size_mm[1]


def _is_nearest(box: Box, i: int, marks: Sequence[Box], lines: Sequence[Box]) -> bool:
    """Tell whether a name stands closest to what it names, so that it is not read as another's."""
    gaps = [
        min(math.hypot(*_gap(box, one)) for one in own)
        for own in (zip(marks, lines, strict=True) if lines else ((mark,) for mark in marks))
    ]
    return gaps[i] == min(gaps)


def _gap(a: Box, b: Box) -> tuple[float, float]:
    return max(b[0] - a[2], a[0] - b[2], 0.0), max(b[1] - a[3], a[1] - b[3], 0.0)


def _meets(box: Box, others: Sequence[Box]) -> bool:
    return any(_meet(box, other) for other in others)


def _share(axis: Axis, value: float) -> float:
    low, high, value = (math.log(v) if axis.log else v for v in (axis.low, axis.high, value))
    return (value - low) / (high - low)


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
