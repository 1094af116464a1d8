"""A sheet of paper measured in millimetres, drawn with matplotlib's artists.

Only paths and text are used, without axes, so that nothing depends on matplotlib's own layout, and
an SVG needs no made-up ids.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Affine2D

from analysis.figures.drawing.chart import Dash, Label, Mark, Side
from analysis.figures.drawing.layout import MM_PER_POINT
from analysis.figures.drawing.print_text import face, printable

MM_PER_INCH = 25.4
PNG_DPI = 300
Point = tuple[float, float]
DASHES = {Dash.SOLID: "solid", Dash.DASHED: (0, (4, 2.5)), Dash.DOTTED: (0, (1, 1.8))}
# Settings that belong to a machine, not to what is drawn on it.
NOT_OURS = (
    "animation",
    "backend",
    "docstring",
    "interactive",
    "keymap",
    "timezone",
    "tk.",
    "toolbar",
    "webagg",
)
# Matplotlib's own defaults, whatever a machine's settings file says, and ids that repeat.
SETTINGS: Any = {
    **{k: v for k, v in matplotlib.rcParamsDefault.items() if not k.startswith(NOT_OURS)},
    "svg.hashsalt": "reading-room",
    "text.hinting": "none",
    "path.simplify": False,
}
# The settings are one set a process, and pages run in several threads.
ONE_AT_A_TIME = threading.Lock()
# A diamond and a square of the area of the circle look as large as it.
OUTLINES = {
    Mark.CIRCLE: Path.unit_circle(),
    Mark.DIAMOND: Path.unit_regular_polygon(4).transformed(Affine2D().scale(1.22)),
    Mark.SQUARE: Path(
        [(-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88), (0, 0)], closed=True
    ),
}


@contextmanager
def settled() -> Iterator[None]:
    """Hold matplotlib's settings still while a sheet is drawn: the same bytes everywhere."""
    with ONE_AT_A_TIME, matplotlib.rc_context(SETTINGS):
        yield


class Canvas:
    """A sheet to draw on, within `settled`; the origin is its lower left corner.

    Parameters
    ----------
    width, height : float
        In millimetres.
    """

    def __init__(self, width: float, height: float) -> None:
        self._figure = Figure(figsize=(width / MM_PER_INCH, height / MM_PER_INCH))
        self._mm = Affine2D().scale(1 / MM_PER_INCH) + self._figure.dpi_scale_trans
        self._n = 0

    def lines(
        self,
        runs: Iterable[Sequence[Point]],
        colour: str,
        *,
        width_pt: float,
        dash: Dash = Dash.SOLID,
    ) -> None:
        """Draw lines of one kind, each through its points."""
        paths = [Path(np.asarray(run)) for run in runs if len(run) > 1]
        if paths:
            self._path(
                paths, fill=False, edgecolor=colour, linewidth=width_pt, linestyle=DASHES[dash]
            )

    def rectangles(self, boxes: Iterable[tuple[float, float, float, float]], colour: str) -> None:
        """Fill rectangles given by left, bottom, right and top."""
        paths = [
            Path([(a, b), (c, b), (c, d), (a, d), (a, b)], closed=True) for a, b, c, d in boxes
        ]
        if paths:
            self._path(paths, facecolor=colour, edgecolor="none", linewidth=0)

    def marks(
        self, places: Iterable[Point], mark: Mark, colour: str, *, size: float, paper: str | None
    ) -> None:
        """Draw marks of a size; `paper` is what fills a hollow one."""
        scaled = OUTLINES[mark].transformed(Affine2D().scale(size / 2))
        paths = [scaled.transformed(Affine2D().translate(x, y)) for x, y in places]
        if paths:
            self._path(paths, facecolor=paper or colour, edgecolor=colour, linewidth=0.9)

    def text(
        self,
        place: Point,
        label: Label,
        colour: str,
        *,
        size_pt: float,
        side: Side = Side.LEFT,
        bold: bool = False,
        turned: float = 0.0,
    ) -> None:
        """Write a text; the height of its figures is centred on the place."""
        words = printable(label)
        if not words:
            return
        down = 0.36 * size_pt * MM_PER_POINT
        angle = np.deg2rad(turned)
        self._add(
            Text(
                place[0] + down * np.sin(angle),
                place[1] - down * np.cos(angle),
                words,
                color=colour,
                fontproperties=face(bold=bold),
                fontsize=size_pt,
                horizontalalignment=side.value,
                verticalalignment="baseline",
                rotation=turned,
                rotation_mode="anchor",
                parse_math=False,
                transform=self._mm,
            )
        )

    def svg(self) -> bytes:
        """Return the sheet as SVG, text as paths, the same bytes every time."""
        canvas: Any = FigureCanvasSVG(self._figure)
        file = io.BytesIO()
        canvas.print_svg(file, metadata={"Date": None, "Creator": None})
        return file.getvalue()

    def png(self) -> bytes:
        """Return the sheet as PNG of 300 dots an inch, the same bytes every time."""
        self._figure.set_dpi(PNG_DPI)
        canvas: Any = FigureCanvasAgg(self._figure)
        file = io.BytesIO()
        canvas.print_png(file, metadata={"Software": None})
        return file.getvalue()

    def _path(self, paths: Sequence[Path], **look: Any) -> None:
        path = paths[0] if len(paths) == 1 else Path.make_compound_path(*paths)
        self._add(PathPatch(path, transform=self._mm, capstyle="butt", joinstyle="miter", **look))

    def _add(self, artist: Artist) -> None:
        self._n += 1
        artist.set_zorder(self._n)
        self._figure.add_artist(artist)
