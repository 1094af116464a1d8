"""The colours of all figures, on paper and on a dark page."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from analysis.bundle.model import RaterKind
from analysis.figures.drawing.chart import Ink, Mark

FONT = (
    "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, 'Noto Sans', 'PingFang SC',"
    " 'Microsoft YaHei', 'Noto Sans CJK SC', 'Hiragino Sans', 'Malgun Gothic', 'Noto Sans Arabic',"
    " 'Geeza Pro', sans-serif"
)
Scale = tuple[tuple[float, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """The colours of a chart.

    Parameters
    ----------
    paper, ink, quiet, rule, empty, shade : str
        Colours of the background, text, secondary text, grid lines, cells without a value, and
        bands.
    colours, pale : mapping of Ink to str
        Colours of marks and lines, and of areas.
    steps : mapping of str to str
        Replacements for colours of a scale; other colours are unchanged.
    inks : tuple of (str, str, float)
        The dark and the light ink for numbers in cells, and the luminance of a cell above which the
        dark ink is used.
    """

    paper: str
    ink: str
    quiet: str
    rule: str
    empty: str
    shade: str
    colours: Mapping[Ink, str]
    pale: Mapping[Ink, str]
    steps: Mapping[str, str]
    inks: tuple[str, str, float]

    def scale(self, scale: Scale) -> Scale:
        """Return a scale in the colours of this palette."""
        return tuple((at, self.steps.get(colour, colour)) for at, colour in scale)

    def ink_on(self, colour: str) -> str:
        """Return the ink, dark or light, that has the better contrast on a colour (WCAG)."""
        dark, light, threshold = self.inks
        return light if luminance(colour) < threshold else dark


# Readers and models can be distinguished with any type of colour vision (Okabe and Ito's blue and
# vermilion), and by the shape of their marks.
LIGHT = Palette(
    paper="#ffffff",
    ink="#1f2933",
    quiet="#66717d",
    rule="#e3e7eb",
    empty="#eef0f2",
    shade="#eef2ea",
    colours={
        Ink.READER: "#0072b2",
        Ink.MODEL: "#c1511a",
        Ink.MIXED: "#4d4d4d",
        Ink.INK: "#1f2933",
        Ink.QUIET: "#66717d",
    },
    pale={
        Ink.READER: "#bcd9ec",
        Ink.MODEL: "#efcdb9",
        Ink.MIXED: "#d2d2d2",
        Ink.INK: "#d5d9dd",
        Ink.QUIET: "#eef2ea",
    },
    steps={},
    inks=("#1f2933", "#ffffff", 0.25),
)
# On a dark page the marks are lighter, and emphasis is light instead of dark. Black or white has a
# contrast of at least 4.5 to 1 on every colour.
DARK = Palette(
    paper="#0f1418",
    ink="#e6e9ec",
    quiet="#a3aeb8",
    rule="#2a343d",
    empty="#1a2129",
    shade="#1b241c",
    colours={
        Ink.READER: "#5cb3ec",
        Ink.MODEL: "#f0935c",
        Ink.MIXED: "#c3cad1",
        Ink.INK: "#e6e9ec",
        Ink.QUIET: "#a3aeb8",
    },
    pale={
        Ink.READER: "#214a66",
        Ink.MODEL: "#613520",
        Ink.MIXED: "#434c55",
        Ink.INK: "#3b4650",
        Ink.QUIET: "#1b241c",
    },
    steps={
        "#ffffff": "#26303a",
        "#d3e3f0": "#21415a",
        "#8fb8d9": "#25608e",
        "#3f82b5": "#5fa9dc",
        "#0b4a7d": "#b5dcf7",
        "#f3cdb5": "#5c3a26",
        "#e8ab8b": "#80452a",
        "#a33b10": "#f3a578",
    },
    inks=("#000000", "#ffffff", 0.179),
)
RATER_INKS = {RaterKind.READER: Ink.READER, RaterKind.MODEL: Ink.MODEL}
RATER_MARKS = {RaterKind.READER: Mark.CIRCLE, RaterKind.MODEL: Mark.DIAMOND}
# White at 0; increasingly dark blue above chance, which is legible without colour; pale orange
# below chance, which cannot be confused with blue.
AGREEMENT_SCALE: Scale = (
    (0.0, "#f3cdb5"),
    (0.5, "#ffffff"),
    (0.625, "#d3e3f0"),
    (0.75, "#8fb8d9"),
    (0.875, "#3f82b5"),
    (1.0, "#0b4a7d"),
)
# Differences in favour of readers are below zero and blue; those in favour of models are vermilion.
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
    """Return the colour of a scale at a share of its length, which is limited to 0 and 1.

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
                for low, high in zip(_channels(first), _channels(second), strict=True)
            )
            return "#" + "".join(f"{channel:02x}" for channel in mixed)
    return scale[-1][1]


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, 0 to 1, as WCAG 2.2 defines it."""
    linear = [
        part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4
        for part in _channels(colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
