"""The layers of a chart as plotly's traces, shapes and annotations."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

from analysis.figures.drawing.chart import (
    Band,
    Boxes,
    Cells,
    Layer,
    Line,
    Mark,
    Note,
    Points,
    Rule,
)
from analysis.figures.drawing.layout import MM_PER_POINT, SMALL_PT, Placed
from analysis.figures.drawing.look import (
    COLOURS,
    EMPTY,
    PALE,
    PAPER,
    QUIET,
    SHADE,
    colour_at,
    ink_on,
)

PX_PER_MM = 5.0
# Share of the font's size that a letter of a screen's sans serif is wide.
LETTER = 0.6
DIGITS = 6
Element = dict[str, Any]


def add_layer(
    layer: Layer,
    placed: Placed,
    axes: tuple[str, str],
    traces: list[Element],
    look: Element,
) -> None:
    """Add a layer to the traces, and to the shapes and annotations of the look."""
    on = {"xaxis": axes[0], "yaxis": axes[1]}
    match layer:
        case Points():
            if layer.x:
                traces.append({**_points(layer), **on})
        case Line():
            traces.append({**_line(layer), **on})
        case Boxes():
            look["shapes"] += _boxes(layer, axes)
            traces.append({**_middles(layer, placed), **on})
        case Cells():
            traces.append({**_cells(layer), **on})
            look["annotations"] += _cell_texts(layer, placed, axes)
        case Rule():
            look["shapes"].append(_rule(layer, placed, axes))
        case Band():
            look["shapes"].append(_band(layer, axes))
        case Note():
            look["annotations"].append(_note(layer, placed, axes))


def _hovering(texts: Sequence[str]) -> Element:
    if not texts:
        return {"hoverinfo": "skip"}
    return {"text": [_hover(one) for one in texts], "hovertemplate": "%{text}<extra></extra>"}


def _hover(text: str) -> str:
    first, *rest = (plotly_text(line) for line in text.split("\n"))
    return "<br>".join([f"<b>{first}</b>", *rest])


def _points(layer: Points) -> Element:
    colour = COLOURS[layer.ink]
    trace: Element = {
        "type": "scatter",
        "mode": "markers",
        "cliponaxis": False,
        "x": [rounded(v) for v in layer.x],
        "y": [rounded(v) for v in layer.y],
        "marker": {
            "color": PAPER if layer.hollow else colour,
            "symbol": layer.mark.value,
            "size": round(layer.size_mm * PX_PER_MM),
            "line": {"width": 1.6 if layer.hollow else 0, "color": colour},
        },
        **_hovering(layer.hover),
    }
    if any(not math.isnan(low) for low in layer.low):
        ends = zip(layer.x, layer.low, layer.high, strict=True)
        lengths = [(rounded(high - x), rounded(x - low)) for x, low, high in ends]
        trace["error_x"] = {
            "type": "data",
            "symmetric": False,
            "array": [one[0] for one in lengths],
            "arrayminus": [one[1] for one in lengths],
            "color": colour,
            "thickness": 1.6,
            "width": 0,
        }
    return trace


def _line(layer: Line) -> Element:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [rounded(v) for v in layer.x],
        "y": [rounded(v) for v in layer.y],
        "line": {
            "color": COLOURS[layer.ink],
            "width": round(layer.width_pt * 1.5, 2),
            "dash": layer.dash.value,
        },
        **_hovering(layer.hover),
    }


def _boxes(layer: Boxes, axes: tuple[str, str]) -> list[Element]:
    half = layer.thick / 2
    shapes = []
    for y, low, middle, high in zip(layer.y, layer.low, layer.middle, layer.high, strict=True):
        place: Element = {
            "xref": axes[0],
            "yref": axes[1],
            "y0": rounded(y - half),
            "y1": rounded(y + half),
        }
        shapes.append(
            {
                **place,
                "type": "rect",
                "x0": rounded(low),
                "x1": rounded(high),
                "fillcolor": PALE[layer.ink],
                "line": {"width": 0},
                "layer": "between",
            }
        )
        if not math.isnan(middle):
            at = rounded(middle)
            line = {"color": COLOURS[layer.ink], "width": 2.4}
            shapes.append(
                {**place, "type": "line", "x0": at, "x1": at, "line": line, "layer": "between"}
            )
    return shapes


def _middles(layer: Boxes, placed: Placed) -> Element:
    """Return marks that are not seen, to hover on."""
    at = [low if math.isnan(m) else m for m, low in zip(layer.middle, layer.low, strict=True)]
    span = abs(placed.panel.y.high - placed.panel.y.low)
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [rounded(v) for v in at],
        "y": [rounded(v) for v in layer.y],
        "marker": {
            "opacity": 0,
            "symbol": Mark.SQUARE.value,
            "size": max(round(layer.thick / span * placed.height * PX_PER_MM), 6),
            "color": COLOURS[layer.ink],
        },
        **_hovering(layer.hover),
    }


def _cells(layer: Cells) -> Element:
    rows, columns = len(layer.values), len(layer.values[0])
    trace: Element = {
        "type": "heatmap",
        "z": [[rounded(v) for v in row] for row in layer.values],
        "x": list(range(columns)),
        "y": list(range(rows)),
        "zmin": layer.low,
        "zmax": layer.high,
        "colorscale": [list(step) for step in layer.scale],
        "hoverongaps": False,
        "xgap": 1.5 if columns <= 96 else 0,
        "ygap": 1.5 if rows <= 96 else 0,
        "showscale": bool(layer.labels),
    }
    if layer.hover:
        trace["text"] = [[_hover(one) if one else "" for one in row] for row in layer.hover]
        trace["hovertemplate"] = "%{text}<extra></extra>"
    else:
        trace["hovertemplate"] = f"{layer.names}<extra></extra>"
    if layer.labels:
        trace["colorbar"] = {
            "thickness": 10,
            "outlinewidth": 0,
            "tickvals": list(layer.labels),
            "tickfont": {"size": 11, "color": QUIET},
            "len": 1,
            "xpad": 12,
            "ypad": 0,
        }
    return trace


def _cell_texts(layer: Cells, placed: Placed, axes: tuple[str, str]) -> list[Element]:
    """Write the cells; given to plotly at once, which checks all of them every time."""
    if not layer.texts:
        return []
    cell = placed.width / len(layer.values[0])
    longest = max(len(text) for row in layer.texts for text in row)
    size = min(px(SMALL_PT), 0.9 * cell * PX_PER_MM / (LETTER * max(longest, 1)))
    notes = []
    for i, row in enumerate(layer.texts):
        for j, text in enumerate(row):
            if text:
                value = layer.values[i][j]
                share = (value - layer.low) / (layer.high - layer.low)
                back = EMPTY if math.isnan(value) else colour_at(layer.scale, share)
                notes.append(
                    {
                        "x": j,
                        "y": i,
                        "xref": axes[0],
                        "yref": axes[1],
                        "text": plotly_text(text),
                        "showarrow": False,
                        "font": {"size": round(size, 1), "color": ink_on(back)},
                    }
                )
    return notes


def _rule(layer: Rule, placed: Placed, axes: tuple[str, str]) -> Element:
    over_cells = any(isinstance(one, Cells) for one in placed.panel.layers)
    along, across = ("x", "y") if layer.upright else ("y", "x")
    refs = dict(zip("xy", axes, strict=True))
    at = rounded(layer.at)
    # Shapes between grid and marks do not know a share of the panel, so the axis' own ends.
    ends = placed.panel.y if layer.upright else placed.panel.x
    return {
        "type": "line",
        "layer": "above" if over_cells else "between",
        f"{along}ref": refs[along],
        f"{across}ref": refs[across],
        f"{along}0": at,
        f"{along}1": at,
        f"{across}0": rounded(ends.low),
        f"{across}1": rounded(ends.high),
        "line": {
            "color": COLOURS[layer.ink],
            "width": round(layer.width_pt * 1.5, 2),
            "dash": layer.dash.value,
        },
    }


def _band(layer: Band, axes: tuple[str, str]) -> Element:
    along, across = ("x", "y") if layer.upright else ("y", "x")
    refs = dict(zip("xy", axes, strict=True))
    return {
        "type": "rect",
        f"{along}ref": refs[along],
        f"{across}ref": f"{refs[across]} domain",
        f"{along}0": rounded(layer.low),
        f"{along}1": rounded(layer.high),
        f"{across}0": 0,
        f"{across}1": 1,
        "fillcolor": SHADE,
        "line": {"width": 0},
        "layer": "below",
    }


def _note(layer: Note, placed: Placed, axes: tuple[str, str]) -> Element:
    text = plotly_text(layer.label.text)
    x, y = (
        math.log10(value) if axis.log else value
        for value, axis in ((layer.x, placed.panel.x), (layer.y, placed.panel.y))
    )
    return {
        "x": rounded(x),
        "y": rounded(y),
        "xref": axes[0],
        "yref": axes[1],
        "text": f"<b>{text}</b>" if layer.bold else text,
        "xanchor": layer.side.value,
        "yanchor": "middle",
        "xshift": layer.dx_mm * PX_PER_MM,
        "yshift": layer.dy_mm * PX_PER_MM,
        "showarrow": False,
        "font": {
            "size": min(px(SMALL_PT), px(placed.label_pt)),
            "color": COLOURS[layer.ink],
        },
    }


def plotly_text(text: str) -> str:
    """Escape text for plotly, whose labels read a subset of HTML."""
    return html.escape(text, quote=False)


def rounded(value: float) -> float | None:
    """Return a value as it is written to the page: six digits, None where it is undefined."""
    return None if math.isnan(value) else float(f"{value:.{DIGITS}g}")


def px(size_pt: float) -> float:
    """Return a size of type in pixels."""
    return round(size_pt * MM_PER_POINT * PX_PER_MM, 1)
