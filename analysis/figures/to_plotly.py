"""A chart on the screen: a plotly figure, which a page shows and the report embeds."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from analysis.figures.chart import (
    Axis,
    Band,
    Boxes,
    Cells,
    Chart,
    Key,
    Label,
    Layer,
    Line,
    Mark,
    Note,
    Points,
    Rule,
)
from analysis.figures.layout import (
    KEY_MARK_MM,
    MM_PER_POINT,
    SMALL_PT,
    Layout,
    Placed,
    laid_out,
)
from analysis.figures.look import (
    COLOURS,
    EMPTY,
    FONT,
    INK,
    PALE,
    PAPER,
    QUIET,
    RULE,
    SHADE,
    colour_at,
    ink_on,
)

PX_PER_MM = 5.0
# Shares of the font's size, of a screen's sans serif: an average letter, a bold one.
LETTER, BOLD_LETTER = 0.6, 0.66
DIGITS = 6
Element = dict[str, Any]


def plotly_figure(chart: Chart) -> go.Figure:
    """Draw a chart with plotly.

    Parameters
    ----------
    chart : Chart
        What to draw.

    Returns
    -------
    plotly.graph_objects.Figure
        Values rounded to six digits; as wide as its container where the chart stretches.
    """
    layout = laid_out(chart, estimated_width)
    traces: list[Element] = []
    look = _base(chart, layout)
    for number, placed in enumerate(layout.panels, start=1):
        x, y = (f"{axis}{number}" if number > 1 else axis for axis in "xy")
        look[f"xaxis{number}"] = _axis(placed.panel.x, placed, y, _across(placed, layout))
        look[f"yaxis{number}"] = _axis(placed.panel.y, placed, x, _up(placed, layout))
        look["annotations"] += _head(placed, x, y)
        for layer in placed.panel.layers:
            _draw(layer, placed, (x, y), traces, look)
    look["annotations"] += _key_texts(chart, layout)
    look["shapes"] += _key_marks(chart, layout)
    return go.Figure({"data": traces, "layout": look})


def estimated_width(label: Label, size_pt: float, bold: bool) -> float:
    """Estimate how wide a label runs on a screen whose fonts are not known, in millimetres."""
    letter = BOLD_LETTER if bold else LETTER
    return len(label.text) * letter * size_pt * MM_PER_POINT


def plotly_text(text: str) -> str:
    """Escape text for plotly, whose labels read a subset of HTML."""
    return html.escape(text, quote=False)


def rounded(value: float) -> float | None:
    """Return a value as it is written to the page: six digits, None where it is undefined."""
    return None if math.isnan(value) else float(f"{value:.{DIGITS}g}")


def _px(size_pt: float) -> float:
    return round(size_pt * MM_PER_POINT * PX_PER_MM, 1)


def _base(chart: Chart, layout: Layout) -> Element:
    top, bottom = _ends(layout)
    margin = {
        "l": round(layout.left * PX_PER_MM),
        "r": round(layout.right * PX_PER_MM),
        "t": round((layout.height - top) * PX_PER_MM),
        "b": round(bottom * PX_PER_MM),
    }
    look: Element = {
        "template": "none",
        "font": {"family": FONT, "size": 13, "color": INK},
        "paper_bgcolor": PAPER,
        "plot_bgcolor": EMPTY if chart.square else PAPER,
        "hoverlabel": {"font": {"family": FONT, "size": 13}, "align": "left"},
        "hovermode": "closest",
        "showlegend": False,
        "height": round(layout.height * PX_PER_MM),
        "margin": margin,
        "annotations": [],
        "shapes": [],
    }
    if not chart.stretches:
        look["width"] = round(layout.width * PX_PER_MM)
    return look


def _ends(layout: Layout) -> tuple[float, float]:
    top = max(one.bottom + one.height for one in layout.panels)
    return top, min(one.bottom for one in layout.panels)


def _across(placed: Placed, layout: Layout) -> tuple[float, float]:
    wide = layout.width - layout.left - layout.right
    start = (placed.left - layout.left) / wide
    return _share(start), _share(start + placed.width / wide)


def _up(placed: Placed, layout: Layout) -> tuple[float, float]:
    top, bottom = _ends(layout)
    start = (placed.bottom - bottom) / (top - bottom)
    return _share(start), _share(start + placed.height / (top - bottom))


def _share(value: float) -> float:
    return round(min(max(value, 0.0), 1.0), 6)


def _axis(axis: Axis, placed: Placed, anchor: str, domain: tuple[float, float]) -> Element:
    labelled = axis is placed.panel.y or axis.slanted
    low, high = (math.log10(v) if axis.log else v for v in (axis.low, axis.high))
    look: Element = {
        "domain": domain,
        "anchor": anchor,
        "type": "log" if axis.log else "linear",
        "range": [rounded(low), rounded(high)],
        "tickvals": [rounded(tick.at) for tick in axis.ticks],
        "ticktext": [plotly_text(tick.label.text) for tick in axis.ticks],
        "tickfont": {
            "size": _px(placed.label_pt) if labelled else 11,
            "color": INK if labelled else QUIET,
        },
        "showticklabels": axis.labels and placed.panel.framed,
        "showgrid": axis.grid and placed.panel.framed,
        "gridcolor": RULE,
        "zeroline": False,
        "ticks": "",
        "fixedrange": True,
    }
    if axis.slanted:
        look["tickangle"] = -45
    if axis.title:
        look["title"] = {"text": plotly_text(axis.title), "font": {"size": 12}, "standoff": 6}
    return look


def _head(placed: Placed, x: str, y: str) -> list[Element]:
    panel = placed.panel
    if not placed.title and not panel.subtitle:
        return []
    lines = [f"<b>{plotly_text(line)}</b>" for line in placed.title]
    if panel.subtitle:
        lines.append(f"<span style='color:{QUIET}'>{plotly_text(panel.subtitle)}</span>")
    return [
        {
            "text": "<br>".join(lines),
            "x": 0,
            "y": 1,
            "xref": f"{x} domain",
            "yref": f"{y} domain",
            "xanchor": "left",
            "yanchor": "bottom",
            "align": "left",
            "showarrow": False,
            "yshift": 4,
            "font": {"size": 12, "color": INK},
        }
    ]


def _draw(
    layer: Layer,
    placed: Placed,
    axes: tuple[str, str],
    traces: list[Element],
    look: Element,
) -> None:
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
            look["shapes"].append(_rule(layer, axes))
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
    symbol = layer.mark.value + ("-open" if layer.hollow else "")
    trace: Element = {
        "type": "scatter",
        "mode": "markers",
        "x": [rounded(v) for v in layer.x],
        "y": [rounded(v) for v in layer.y],
        "marker": {
            "color": colour,
            "symbol": symbol,
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
        place = {"xref": axes[0], "yref": axes[1], "y0": rounded(y - half), "y1": rounded(y + half)}
        shapes.append(
            {
                **place,
                "type": "rect",
                "x0": rounded(low),
                "x1": rounded(high),
                "fillcolor": PALE[layer.ink],
                "line": {"width": 0},
                "layer": "below",
            }
        )
        if not math.isnan(middle):
            at = rounded(middle)
            line = {"color": COLOURS[layer.ink], "width": 2.4}
            shapes.append({**place, "type": "line", "x0": at, "x1": at, "line": line})
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
    size = min(_px(SMALL_PT), 0.9 * cell * PX_PER_MM / (LETTER * max(longest, 1)))
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


def _rule(layer: Rule, axes: tuple[str, str]) -> Element:
    along, across = ("x", "y") if layer.upright else ("y", "x")
    refs = dict(zip("xy", axes, strict=True))
    at = rounded(layer.at)
    return {
        "type": "line",
        f"{along}ref": refs[along],
        f"{across}ref": f"{refs[across]} domain",
        f"{along}0": at,
        f"{along}1": at,
        f"{across}0": 0,
        f"{across}1": 1,
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
            "size": min(_px(SMALL_PT), _px(placed.label_pt)),
            "color": COLOURS[layer.ink],
        },
    }


def _key_texts(chart: Chart, layout: Layout) -> list[Element]:
    return [
        {
            **_on_sheet(layout),
            "text": plotly_text(key.label),
            "x": 0,
            "y": 1,
            "xanchor": "left",
            "yanchor": "middle",
            "xshift": round((x + KEY_MARK_MM - layout.left) * PX_PER_MM),
            "yshift": round((y - _ends(layout)[0]) * PX_PER_MM),
            "showarrow": False,
            "font": {"size": 12, "color": INK},
        }
        for key, (x, y) in zip(chart.key, layout.key, strict=True)
    ]


def _on_sheet(layout: Layout) -> Mapping[str, str]:
    return {"xref": "paper", "yref": "paper"}


def _key_marks(chart: Chart, layout: Layout) -> list[Element]:
    shapes = []
    for key, (x, y) in zip(chart.key, layout.key, strict=True):
        left = (x - layout.left) * PX_PER_MM
        level = (y - _ends(layout)[0]) * PX_PER_MM
        shape: Element = {
            **_on_sheet(layout),
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
            line = {"color": COLOURS[key.ink], "width": 1.8, "dash": key.dash.value}
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
