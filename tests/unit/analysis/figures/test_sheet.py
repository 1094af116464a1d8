"""A sheet is written as Matplotlib would write it, byte for byte."""

from __future__ import annotations

import io
import math
from typing import Any

import matplotlib
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.transforms import Affine2D

from analysis.figures.drawing.chart import Side
from analysis.figures.drawing.fonts import font_properties
from analysis.figures.drawing.sheet import Fill, Marks, Sheet, Stroke, Text

SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "reading-room",
    "text.hinting": "none",
    "text.parse_math": False,
    "path.simplify": False,
    "lines.solid_capstyle": "butt",
    "lines.solid_joinstyle": "miter",
    "lines.dash_joinstyle": "miter",
}
NAN = math.nan


def _by_matplotlib(sheet: Sheet) -> bytes:
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(sheet.width / 25.4, sheet.height / 25.4), dpi=300)
        placed = Affine2D().scale(1 / 25.4) + figure.dpi_scale_trans
        for fill in sheet.fills:
            boxes = [
                Path([(a, b), (c, b), (c, d), (a, d), (a, b)], closed=True)
                for a, b, c, d in fill.boxes
            ]
            look: Any = {"facecolor": fill.colour, "edgecolor": "none", "linewidth": 0}
            path = Path.make_compound_path(*boxes)
            figure.add_artist(PathPatch(path, transform=placed, zorder=fill.order, **look))
        for line in sheet.lines:
            look = {"transform": placed, "zorder": line.order}
            if isinstance(line, Marks):
                look |= {
                    "linestyle": "none",
                    "marker": line.shape,
                    "markersize": line.size_pt,
                    "markerfacecolor": line.colour,
                    "markeredgecolor": line.edge,
                    "markeredgewidth": line.edge_pt,
                }
            else:
                style = (0, line.dashes) if line.dashes else "solid"
                look |= {"color": line.colour, "linewidth": line.width_pt, "linestyle": style}
            figure.lines.append(Line2D(line.x, line.y, **look))
            figure.lines[-1].set_figure(figure)
        for text in sheet.texts:
            figure.text(
                text.x,
                text.y,
                text.text,
                color=text.colour,
                font=font_properties(text.text, bold=text.bold),
                fontsize=text.size_pt,
                ha=text.side.value,
                va="center_baseline",
                rotation=text.angle,
                rotation_mode="anchor",
                transform=placed,
                zorder=text.order,
            )
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
        return file.getvalue()


@pytest.mark.parametrize("width", [85.0, 174.0])
def test_a_sheet_equals_the_file_that_matplotlib_writes(width: float) -> None:
    """Text in all scripts, sides and angles, lines with gaps, marks, boxes and their order."""
    sheet = Sheet(width, 61.3)
    names = (
        "Reader 1",
        "a -- b & <c>",
        "−0.21",
        "住院医师",
        "レジデント",
        "مرحبا",
        "שלום",
        " ",
        "AVA",
    )
    for i, name in enumerate(names):
        for side, angle, bold in (
            (Side.LEFT, 0, False),
            (Side.CENTRE, 90, True),
            (Side.RIGHT, 45, False),
        ):
            size = 6 + i / 3
            sheet.texts.append(
                Text(
                    x=7.7 * i,
                    y=5.1 * i,
                    text=name,
                    colour="#1f2933",
                    size_pt=size,
                    side=side,
                    angle=angle,
                    bold=bold,
                    order=float(i % 3),
                )
            )
    for dashes, pt in (((), 1.0), ((4, 2.5), 0.6), ((1, 1.8), 1.1)):
        x, y = [1.0, 20.5, NAN, 30.25, 40.0, NAN], [2.0, 2.0, NAN, 7.5, 60.125, NAN]
        sheet.lines.append(
            Stroke(x=x, y=y, colour="#c1511a", width_pt=pt, dashes=dashes, order=1.0)
        )
    sheet.lines.append(Stroke(x=[-5.0, width + 5], y=[3.0, 70.0], colour="#c1511a", width_pt=1.0))
    sheet.lines.append(Stroke(x=[], y=[], colour="#c1511a", width_pt=1.0))
    sheet.lines.append(Stroke(x=[NAN], y=[NAN], colour="#c1511a", width_pt=1.0))
    for shape in "oDso":
        for x, y in (([3.0, NAN, 9.9], [4.0, NAN, 8.8]), ([], [])):
            look: Any = {"colour": "#ffffff", "edge": "#0072b2", "edge_pt": 0.9}
            sheet.lines.append(Marks(x=x, y=y, shape=shape, size_pt=4.8 / 1.3, order=2.0, **look))
    sheet.fills.append(Fill(boxes=[(1, 2, 3.5, 4), (5, 9.1, 7, 8)], colour="#eef0f2", order=0.5))
    sheet.fills.append(Fill(boxes=[(0, 1.5, 2.25, 1.0)], colour="#bcd9ec"))
    assert sheet.svg().decode() == _by_matplotlib(sheet).decode()
