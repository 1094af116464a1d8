"""A sheet of texts, lines, marks and boxes in millimetres, written as SVG by Matplotlib's renderer.

The file is the same as that of a Matplotlib figure with the same contents, but is written in a
fraction of the time, because a figure typesets each text several times.
"""

from __future__ import annotations

import io
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.colors import to_rgba
from matplotlib.ft2font import LoadFlags
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path
from matplotlib.transforms import Affine2D

from analysis.figures.drawing.chart import Side
from analysis.figures.drawing.fonts import font_properties, measuring_font
from analysis.figures.drawing.layout import SMALL_PT, Box

POINTS_PER_INCH, MM_PER_INCH = 72.0, 25.4
POINTS_PER_MM = POINTS_PER_INCH * (1 / MM_PER_INCH)
# Size in points of the glyphs in an SVG file, which are scaled to the size of each text.
FONT_UNITS = 100.0
# Sizes in a font file are in 64ths of its units.
UNITS_PER_POINT = 64
# Drawing order of texts and marks outside the layers of panels.
ABOVE_PANELS = 1_000.0
# Matplotlib's defaults, so that settings on this machine have no effect, and changes to them.
MATPLOTLIB_SETTINGS: dict[Any, Any] = {
    **{
        name: value
        for name, value in matplotlib.rcParamsDefault.items()
        if name.startswith(("font.", "image.", "path.", "svg.", "text."))
    },
    "svg.hashsalt": "reading-room",
    "text.hinting": "none",
    "path.simplify": False,
}
# The settings are global to the process, in which pages run in several threads.
RENDERING_LOCK = threading.Lock()
# The type of `RendererSVG`, whose methods have no annotations.
Renderer = Any
SVG_METADATA = {"Date": None, "Creator": None}
BOX_CODES = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
TO_POINTS = Affine2D().scale(POINTS_PER_MM)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSize:
    """The size of a text in a font of 100 points.

    Parameters
    ----------
    width, height, descent : float
        Size in points.
    ascender : float
        Height of the letters of the font above the baseline, in points.
    """

    width: float
    height: float
    descent: float
    ascender: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Text whose digits are centred vertically on its position."""

    x: float
    y: float
    text: str
    colour: str
    size_pt: float = SMALL_PT
    bold: bool = False
    side: Side = Side.LEFT
    angle: float = 0
    order: float = ABOVE_PANELS

    def baseline_start(self) -> tuple[float, float]:
        """Return the start of the baseline in points from the lower left corner of the sheet."""
        (offset_x, offset_y), (_, high, _) = self._anchor()
        x, y = _rotate(0.0, -high, self.angle)
        return x - offset_x + self.x * POINTS_PER_MM, y - offset_y + self.y * POINTS_PER_MM

    def box(self) -> Box:
        """Return the left, lower, right and upper edge of the text."""
        (offset_x, offset_y), (wide, high, low) = self._anchor()
        corners = [_rotate(x, y, self.angle) for x in (0.0, wide) for y in (-high - low, 0.0)]
        xs = [(x - offset_x) / POINTS_PER_MM + self.x for x, _ in corners]
        ys = [(y - offset_y) / POINTS_PER_MM + self.y for _, y in corners]
        return min(xs), min(ys), max(xs), max(ys)

    def draw(self, renderer: Renderer) -> None:
        """Draw the text."""
        x, y = self.baseline_start()
        look = font_properties(self.text, bold=self.bold).copy()
        look.set_size(self.size_pt)
        context = _graphics_context(renderer, self.colour, 0.0)
        renderer.draw_text(context, x, renderer.height - y, self.text, look, self.angle)

    def _anchor(self) -> tuple[tuple[float, float], tuple[float, float, float]]:
        """Return the point of the text that is at its position, and width, ascent and descent."""
        text, scale = measure_text(self.text, bold=self.bold), self.size_pt / FONT_UNITS
        wide, low = text.width * scale, text.descent * scale
        high = max(text.height * scale - low, text.ascender * scale)
        across = {Side.LEFT: 0.0, Side.CENTRE: wide / 2, Side.RIGHT: wide}[self.side]
        return _rotate(across, -high / 2, self.angle), (wide, high, low)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stroke:
    """A line through positions, interrupted where they are nan."""

    x: Sequence[float]
    y: Sequence[float]
    colour: str
    width_pt: float
    dashes: Sequence[float] = ()
    order: float = ABOVE_PANELS

    def draw(self, renderer: Renderer) -> None:
        """Draw the line."""
        if self.x:
            context = _graphics_context(renderer, self.colour, self.width_pt)
            context.set_joinstyle("miter")
            if self.dashes:
                context.set_dashes(0, [length * self.width_pt for length in self.dashes])
            renderer.draw_path(context, Path(np.column_stack([self.x, self.y])), TO_POINTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Equal marks at several positions; `shape` is a marker of Matplotlib."""

    x: Sequence[float]
    y: Sequence[float]
    shape: str
    size_pt: float
    colour: str
    edge: str
    edge_pt: float
    order: float = ABOVE_PANELS

    def draw(self, renderer: Renderer) -> None:
        """Draw the marks."""
        if self.x:
            marker = MarkerStyle(self.shape)
            shape: Any = marker.get_transform()
            places = Path(np.column_stack([self.x, self.y]))
            context = _graphics_context(renderer, self.edge, self.edge_pt)
            context.set_joinstyle(marker.get_joinstyle())
            renderer.draw_markers(
                context,
                marker.get_path(),
                shape.scale(self.size_pt),
                places,
                TO_POINTS,
                to_rgba(self.colour),
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill:
    """Filled boxes; the numbers of a box are left, bottom, right and top."""

    boxes: Sequence[Sequence[float]]
    colour: str
    order: float = ABOVE_PANELS

    def draw(self, renderer: Renderer) -> None:
        """Draw the boxes."""
        corners = [((a, b), (c, b), (c, d), (a, d), (a, b)) for a, b, c, d in self.boxes]
        path = Path(np.reshape(corners, (-1, 2)), BOX_CODES * len(corners))
        context = _graphics_context(renderer, self.colour, 0.0)
        renderer.draw_path(context, path, TO_POINTS, to_rgba(self.colour))


@dataclass(frozen=True, slots=True)
class Sheet:
    """The drawing of a figure; positions are in millimetres from the lower left corner."""

    width: float
    height: float
    fills: list[Fill] = field(default_factory=list)
    lines: list[Stroke | Marks] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)

    def svg(self) -> bytes:
        """Return the sheet as SVG with text as paths; the bytes are the same every time."""
        width, height = (mm / MM_PER_INCH * POINTS_PER_INCH for mm in (self.width, self.height))
        file, elements = io.StringIO(), chain(self.fills, self.lines, self.texts)
        paper = Fill(boxes=[(0, 0, self.width, self.height)], colour="#ffffff")
        new_renderer: Any = RendererSVG
        with RENDERING_LOCK, matplotlib.rc_context(MATPLOTLIB_SETTINGS):
            renderer = new_renderer(width, height, file, metadata=SVG_METADATA)
            renderer.open_group("figure")
            for element in (paper, *sorted(elements, key=attrgetter("order"))):
                renderer.open_group(SVG_GROUPS[type(element)])
                element.draw(renderer)
                renderer.close_group(SVG_GROUPS[type(element)])
            renderer.close_group("figure")
            renderer.finalize()
        return file.getvalue().encode()


SVG_GROUPS = {Fill: "patch", Stroke: "line2d", Marks: "line2d", Text: "text"}


@lru_cache(maxsize=4096)
def measure_text(text: str, *, bold: bool) -> TextSize:
    """Measure a text."""
    used = measuring_font(text, bold=bold)
    used.set_size(FONT_UNITS, POINTS_PER_INCH)
    used.set_text(text, 0.0, flags=LoadFlags.NO_HINTING)
    (width, height), descent = used.get_width_height(), used.get_descent()
    return TextSize(
        width=width / UNITS_PER_POINT,
        height=height / UNITS_PER_POINT,
        descent=descent / UNITS_PER_POINT,
        ascender=_ascender(used),
    )


def _ascender(used: Any) -> float:
    metrics, head = used.get_sfnt_table("OS/2"), used.get_sfnt_table("head")
    return float(metrics["sTypoAscender"] / head["unitsPerEm"] * FONT_UNITS)


def _rotate(x: float, y: float, degrees: float) -> tuple[float, float]:
    if not degrees:
        return x, y
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return cos * x - sin * y, sin * x + cos * y


def _graphics_context(renderer: Renderer, colour: str, width_pt: float) -> Any:
    context = renderer.new_gc()
    context.set_foreground(colour)
    context.set_linewidth(width_pt)
    return context
