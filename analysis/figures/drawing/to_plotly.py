"""A chart on the screen: a plotly figure, which a page shows and the report embeds."""

from __future__ import annotations

import math
import unicodedata

import plotly.graph_objects as go

from analysis.figures.drawing.chart import Axis, Chart, Label
from analysis.figures.drawing.layout import MM_PER_POINT, Layout, Placed, laid_out
from analysis.figures.drawing.look import EMPTY, FONT, INK, PAPER, QUIET, RULE
from analysis.figures.drawing.plotly_key import key_marks, key_texts
from analysis.figures.drawing.plotly_layers import (
    LETTER,
    PX_PER_MM,
    Element,
    add_layer,
    plotly_text,
    px,
    rounded,
)

# Shares of the size of type: a capital; how much wider bold type runs.
CAPITAL, BOLDER = 0.72, 1.1


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
            add_layer(layer, placed, (x, y), traces, look)
    look["annotations"] += key_texts(chart, layout)
    look["shapes"] += key_marks(chart, layout)
    return go.Figure({"data": traces, "layout": look})


def estimated_width(label: Label, size_pt: float, bold: bool) -> float:
    """Estimate how wide a label runs on a screen whose fonts are not known, in millimetres."""
    letters = sum(_letter(sign) for sign in label.text)
    return letters * (BOLDER if bold else 1.0) * size_pt * MM_PER_POINT


def _letter(sign: str) -> float:
    if unicodedata.east_asian_width(sign) in "WF":
        return 1.0
    return CAPITAL if sign.isupper() else LETTER


def _base(chart: Chart, layout: Layout) -> Element:
    top, bottom = layout.top, layout.bottom
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


def _across(placed: Placed, layout: Layout) -> tuple[float, float]:
    wide = layout.width - layout.left - layout.right
    start = (placed.left - layout.left) / wide
    return _share(start), _share(start + placed.width / wide)


def _up(placed: Placed, layout: Layout) -> tuple[float, float]:
    top, bottom = layout.top, layout.bottom
    start = (placed.bottom - bottom) / (top - bottom)
    return _share(start), _share(start + placed.height / (top - bottom))


def _share(value: float) -> float:
    return round(min(max(value, 0.0), 1.0), 6)


def _axis(axis: Axis, placed: Placed, anchor: str, domain: tuple[float, float]) -> Element:
    labelled = (axis is placed.panel.y and not axis.title) or axis.slanted
    low, high = (math.log10(v) if axis.log else v for v in (axis.low, axis.high))
    look: Element = {
        "domain": domain,
        "anchor": anchor,
        "type": "log" if axis.log else "linear",
        "range": [rounded(low), rounded(high)],
        "tickvals": [rounded(tick.at) for tick in axis.ticks],
        "ticktext": [plotly_text(tick.label.text) for tick in axis.ticks],
        "tickfont": {
            "size": px(placed.label_pt) if labelled else 11,
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
