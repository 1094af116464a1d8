"""The look of all figures: ink on paper, one colour for readers, one for models."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from analysis.bundle.words import RaterKind
from analysis.figures.drawing.chart import Ink, Mark

FONT = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
INK = "#1f2933"
PAPER = "#ffffff"
QUIET = "#66717d"
RULE = "#e3e7eb"
EMPTY = "#eef0f2"
SHADE = "#eef2ea"
# Told apart by people with any colour vision (Okabe and Ito's blue and vermilion), and by shape.
COLOURS: Mapping[Ink, str] = {
    Ink.READER: "#0072b2",
    Ink.MODEL: "#c1511a",
    Ink.MIXED: "#4d4d4d",
    Ink.INK: INK,
    Ink.QUIET: QUIET,
}
PALE: Mapping[Ink, str] = {
    Ink.READER: "#bcd9ec",
    Ink.MODEL: "#efcdb9",
    Ink.MIXED: "#d2d2d2",
    Ink.INK: "#d5d9dd",
    Ink.QUIET: SHADE,
}
INKS = {RaterKind.READER: Ink.READER, RaterKind.MODEL: Ink.MODEL}
MARKS = {RaterKind.READER: Mark.CIRCLE, RaterKind.MODEL: Mark.DIAMOND}
Scale = tuple[tuple[float, str], ...]
# White at 0: below chance is red, above chance blue.
AGREEMENT_SCALE: Scale = (
    (0.0, "#a33b2e"),
    (0.25, "#dd9b8c"),
    (0.5, "#ffffff"),
    (0.625, "#d3e3f0"),
    (0.75, "#8fb8d9"),
    (0.875, "#3f82b5"),
    (1.0, "#0b4a7d"),
)
# Below zero in the models' disfavour: blue is the readers' colour, vermilion the models'.
DIFFERENCE_SCALE: Scale = (
    (0.0, "#0b4a7d"),
    (0.25, "#8fb8d9"),
    (0.5, "#ffffff"),
    (0.75, "#e8ab8b"),
    (1.0, "#a33b10"),
)
COUNT_SCALE: Scale = (
    (0.0, "#ffffff"),
    (0.25, "#d3e3f0"),
    (0.5, "#8fb8d9"),
    (0.75, "#3f82b5"),
    (1.0, "#0b4a7d"),
)


def colour_at(scale: Scale, share: float) -> str:
    """Return the colour of a scale at a share of its way, ends for what lies beyond.

    Examples
    --------
    >>> colour_at(((0.0, "#000000"), (1.0, "#ffffff")), 0.5)
    '#808080'
    """
    share = min(max(share, 0.0), 1.0)
    for (a, first), (b, second) in itertools.pairwise(scale):
        if share <= b:
            part = (share - a) / (b - a)
            mixed = (
                round(low + part * (high - low))
                for low, high in zip(_parts(first), _parts(second), strict=True)
            )
            return "#" + "".join(f"{one:02x}" for one in mixed)
    return scale[-1][1]


def ink_on(colour: str) -> str:
    """Return the ink, dark or paper, that is read better on a colour (WCAG's luminance)."""
    return PAPER if luminance(colour) < 0.25 else INK


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, 0 to 1, as WCAG 2.2 defines it."""
    linear = [
        part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4
        for part in _parts(colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
