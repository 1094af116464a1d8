"""The key of a chart, drawn with plotly's shapes and annotations at fixed distances."""

from __future__ import annotations

from analysis.figures.drawing.chart import Chart, Dash, Key, Mark
from analysis.figures.drawing.layout import KEY_MARK_MM, Layout
from analysis.figures.drawing.look import COLOURS, INK, PALE, PAPER
from analysis.figures.drawing.plotly_layers import PX_PER_MM, Element, plotly_text

# Short enough for a stroke of 20 pixels.
KEY_DASHES = {Dash.SOLID: "solid", Dash.DASHED: "5px,2.5px", Dash.DOTTED: "2px,2px"}
ON_SHEET: Element = {"xref": "paper", "yref": "paper"}


def key_texts(chart: Chart, layout: Layout) -> list[Element]:
    """Return the key's words."""
    return [
        {
            **ON_SHEET,
            "text": plotly_text(key.label),
            "x": 0,
            "y": 1,
            "xanchor": "left",
            "yanchor": "middle",
            "xshift": round((x + KEY_MARK_MM - layout.left) * PX_PER_MM),
            "yshift": round((y - layout.top) * PX_PER_MM),
            "showarrow": False,
            "font": {"size": 12, "color": INK},
        }
        for key, (x, y) in zip(chart.key, layout.key, strict=True)
    ]


def key_marks(chart: Chart, layout: Layout) -> list[Element]:
    """Return the key's marks."""
    shapes = []
    for key, (x, y) in zip(chart.key, layout.key, strict=True):
        left = (x - layout.left) * PX_PER_MM
        level = (y - layout.top) * PX_PER_MM
        shape: Element = {
            **ON_SHEET,
            "xsizemode": "pixel",
            "ysizemode": "pixel",
            "xanchor": 0,
            "yanchor": 1,
        }
        if key.mark:
            half = 4.2
            middle = left + KEY_MARK_MM / 2 * PX_PER_MM - 2
            shape |= _mark_shape(key, middle, level, half)
        elif key.dash:
            line = {"color": COLOURS[key.ink], "width": 1.8, "dash": KEY_DASHES[key.dash]}
            shape |= {"type": "line", "x0": left, "x1": left + 20, "y0": level, "y1": level}
            shape |= {"line": line}
        else:
            shape |= {"type": "rect", "x0": left, "x1": left + 20, "y0": level - 5}
            shape |= {"y1": level + 5, "fillcolor": PALE[key.ink], "line": {"width": 0}}
        shapes.append(shape)
    return shapes


def _mark_shape(key: Key, x: float, y: float, half: float) -> Element:
    colour = COLOURS[key.ink]
    look: Element = {
        "fillcolor": PAPER if key.hollow else colour,
        "line": {"width": 1.4, "color": colour},
    }
    if key.mark is Mark.DIAMOND:
        h = half * 1.2

        path = f"M{x - h},{y} L{x},{y - h} L{x + h},{y} L{x},{y + h} Z"
        return {**look, "type": "path", "path": path}
    kind = "circle" if key.mark is Mark.CIRCLE else "rect"
    size = half if key.mark is Mark.CIRCLE else half * 0.88
    return {**look, "type": kind, "x0": x - size, "x1": x + size, "y0": y - size, "y1": y + size}
