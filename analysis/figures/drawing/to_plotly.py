"""Draw a chart as a plotly figure, for pages and for the report."""

from __future__ import annotations

import html
import math
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from analysis.figures.drawing.chart import (
    Axis,
    Band,
    Boxes,
    Chart,
    Dash,
    HeatMap,
    Ink,
    Key,
    Label,
    Layer,
    Line,
    Mark,
    Note,
    Points,
    ReferenceLine,
)
from analysis.figures.drawing.colours import FONT, LIGHT, Palette, colour_at
from analysis.figures.drawing.layout import (
    KEY_MARK_MM,
    MM_PER_POINT,
    SMALL_PT,
    Layout,
    PlacedPanel,
    lay_out,
)
from analysis.translation import separators

PX_PER_MM = 5.0
# Widths of a small and a capital letter as shares of the font size, and the factor for bold text.
LETTER_WIDTH, CAPITAL_WIDTH, BOLD_FACTOR = 0.6, 0.72, 1.1
SIGNIFICANT_DIGITS = 6
MAX_AXIS_TICKS = 60
# Text closer to the end of an axis than this share of its length is moved inwards; otherwise
# rounding might move it off the axis, and it would not be drawn.
EDGE_SHARE = 1e-4
# Dashes that are short enough for a line of 20 pixels.
KEY_DASHES = {Dash.SOLID: "solid", Dash.DASHED: "5px,2.5px", Dash.DOTTED: "2px,2px"}
Element = dict[str, Any]


def plotly_figure(chart: Chart, palette: Palette = LIGHT) -> go.Figure:
    """Draw a chart with plotly.

    Values are rounded to six digits. The figure has the width of its container if the chart
    stretches.
    """
    layout = lay_out(chart, estimated_width)
    look = _figure_layout(chart, layout, palette)
    panels = [
        _Panel(placed_panel, n, palette) for n, placed_panel in enumerate(layout.panels, start=1)
    ]
    for number, panel in enumerate(panels, start=1):
        look[f"xaxis{number}"] = panel.axis(panel.panel.x, panel.y, _x_domain(panel.placed, layout))
        look[f"yaxis{number}"] = panel.axis(panel.panel.y, panel.x, _y_domain(panel.placed, layout))
    keys = [
        (key, (x - layout.left) * PX_PER_MM, (y - layout.top) * PX_PER_MM)
        for key, (x, y) in zip(chart.key, layout.key, strict=True)
    ]
    look["annotations"] = [note for panel in panels for note in panel.notes]
    look["annotations"] += [_key_text(key, x, y, palette) for key, x, y in keys]
    look["shapes"] = [shape for panel in panels for shape in panel.shapes]
    look["shapes"] += [_key_mark(key, x, y, palette) for key, x, y in keys]
    return go.Figure(
        {"data": [trace for panel in panels for trace in panel.traces], "layout": look}
    )


def estimated_width(label: Label, size_pt: float, bold: bool) -> float:
    """Estimate the width of a label in millimetres on a screen with unknown fonts."""
    letters = sum(_letter_width(sign) for sign in label.text)
    return letters * (BOLD_FACTOR if bold else 1.0) * size_pt * MM_PER_POINT


def _letter_width(sign: str) -> float:
    if unicodedata.east_asian_width(sign) in "WF":
        return 1.0
    return CAPITAL_WIDTH if sign.isupper() else LETTER_WIDTH


def _figure_layout(chart: Chart, layout: Layout, palette: Palette) -> Element:
    look: Element = {
        "template": "none",
        "font": {"family": FONT, "size": 13, "color": palette.ink},
        "paper_bgcolor": palette.paper,
        "plot_bgcolor": palette.empty if chart.square else palette.paper,
        "hoverlabel": {"font": {"family": FONT, "size": 13}, "align": "left"},
        "hovermode": "closest",
        "showlegend": False,
        "height": round(layout.height * PX_PER_MM),
        "margin": {
            "l": round(layout.left * PX_PER_MM),
            "r": round(layout.right * PX_PER_MM),
            "t": round((layout.height - layout.top) * PX_PER_MM),
            "b": round(layout.bottom * PX_PER_MM),
        },
    }
    if not chart.stretches:
        look["width"] = round(layout.width * PX_PER_MM)
    if separators() != ".,":
        look["separators"] = separators()
    return look


def _x_domain(placed_panel: PlacedPanel, layout: Layout) -> tuple[float, float]:
    wide = layout.width - layout.left - layout.right
    start = (placed_panel.left - layout.left) / wide
    return _clamp_share(start), _clamp_share(start + placed_panel.width / wide)


def _y_domain(placed_panel: PlacedPanel, layout: Layout) -> tuple[float, float]:
    top, bottom = layout.top, layout.bottom
    start = (placed_panel.bottom - bottom) / (top - bottom)
    return _clamp_share(start), _clamp_share(start + placed_panel.height / (top - bottom))


def _clamp_share(value: float) -> float:
    return round(min(max(value, 0.0), 1.0), 6)


class _Panel:
    """The traces, shapes and annotations of a panel."""

    def __init__(self, placed_panel: PlacedPanel, number: int, palette: Palette) -> None:
        self.placed, self.panel, self.palette = placed_panel, placed_panel.panel, palette
        self.x, self.y = (f"{axis}{number}" if number > 1 else axis for axis in "xy")
        self.refs = {"xref": self.x, "yref": self.y}
        self.traces: list[Element] = []
        self.shapes: list[Element] = []
        self.notes: list[Element] = []
        if placed_panel.title or self.panel.subtitle:
            self._write_heading()
        for layer in self.panel.layers:
            self._draw(layer)
        if self._writes_rows:
            self._write_rows()

    @property
    def _writes_rows(self) -> bool:
        """Whether row names are drawn as text, because hundreds of axis labels take seconds."""
        y = self.panel.y
        return y.labels and self.panel.framed and len(y.ticks) > MAX_AXIS_TICKS

    def _write_rows(self) -> None:
        x, ticks = self.panel.x, self.panel.y.ticks
        low, high = _coordinate(x, x.low), _coordinate(x, x.high)
        within = low + EDGE_SHARE * (high - low)
        self._add_scatter(
            "text",
            [10**within if x.log else within] * len(ticks),
            [tick.at for tick in ticks],
            text=[plotly_text(tick.label.text) for tick in ticks],
            textposition="middle left",
            textfont={"size": px(self.placed.label_pt), "color": self.palette.ink},
            cliponaxis=False,
            **_hover_options(()),
        )

    def axis(self, axis: Axis, anchor: str, domain: tuple[float, float]) -> Element:
        labelled = (axis is self.panel.y and not axis.title) or axis.slanted
        look: Element = {
            "domain": domain,
            "anchor": anchor,
            "type": "log" if axis.log else "linear",
            "range": _round_values(_coordinate(axis, end) for end in (axis.low, axis.high)),
            "tickvals": _round_values(tick.at for tick in axis.ticks),
            "ticktext": [plotly_text(tick.label.text) for tick in axis.ticks],
            "tickfont": {
                "size": px(self.placed.label_pt) if labelled else 11,
                "color": self.palette.ink if labelled else self.palette.quiet,
            },
            "showticklabels": axis.labels
            and self.panel.framed
            and not (axis is self.panel.y and self._writes_rows),
            "showgrid": axis.grid and self.panel.framed,
            "gridcolor": self.palette.rule,
            "zeroline": False,
            "ticks": "",
            "fixedrange": True,
        }
        if axis.slanted:
            look["tickangle"] = -45
        if axis.title:
            look["title"] = {"text": plotly_text(axis.title), "font": {"size": 12}, "standoff": 6}
        return look

    def _write_heading(self) -> None:
        lines = [f"<b>{plotly_text(line)}</b>" for line in self.placed.title]
        if self.panel.subtitle:
            subtitle = plotly_text(self.panel.subtitle)
            lines.append(f"<span style='color:{self.palette.quiet}'>{subtitle}</span>")
        note = {
            "text": "<br>".join(lines),
            "x": 0,
            "y": 1,
            "xref": f"{self.x} domain",
            "yref": f"{self.y} domain",
            "xanchor": "left",
            "yanchor": "bottom",
            "align": "left",
            "showarrow": False,
            "yshift": 4,
            "font": {"size": 12, "color": self.palette.ink},
        }
        self.notes.append(note)

    def _draw(self, layer: Layer) -> None:
        match layer:
            case Points():
                if layer.x:
                    self._draw_points(layer)
            case Line():
                self._draw_line(layer)
            case Boxes():
                self._draw_boxes(layer)
            case HeatMap():
                self._draw_cells(layer)
                self._write_cells(layer)
            case ReferenceLine():
                self._draw_reference_line(layer)
            case Band():
                self._draw_band(layer)
            case Note():
                self._draw_note(layer)

    def _add_scatter(self, mode: str, x: Iterable[float], y: Iterable[float], **look: Any) -> None:
        trace = {"type": "scatter", "mode": mode, "x": _round_values(x), "y": _round_values(y)}
        self.traces.append({**trace, **look, "xaxis": self.x, "yaxis": self.y})

    def _draw_points(self, layer: Points) -> None:
        colour = self.palette.colours[layer.ink]
        # A single interrupted line, because a browser takes seconds for hundreds of error bars.
        if any(not math.isnan(low) for low in layer.low):
            ends = zip(layer.low, layer.high, strict=True)
            self._add_scatter(
                "lines",
                [x for low, high in ends for x in (low, high, math.nan)],
                [y for at in layer.y for y in (at, at, math.nan)],
                line={"color": colour, "width": 1.0 if layer.shares else 1.6},
                cliponaxis=False,
                **_hover_options(()),
            )
        edge = 1.6 if layer.hollow else 0
        look: Element = {
            "cliponaxis": False,
            "marker": {
                "color": self.palette.paper if layer.hollow else colour,
                "symbol": layer.mark.value,
                "size": [round(size * PX_PER_MM - edge, 1) for size in layer.sizes_mm]
                if layer.shares  # The edge is part of the area, which shows the share.
                else round(layer.size_mm * PX_PER_MM),
                "line": {"width": edge, "color": colour},
                "opacity": 1,  # By default, marks of different sizes are translucent.
            },
            **_hover_options(layer.hover),
        }
        self._add_scatter("markers", layer.x, layer.y, **look)

    def _draw_line(self, layer: Line) -> None:
        self._add_scatter(
            "lines", layer.x, layer.y, line=self._line_style(layer), **_hover_options(layer.hover)
        )

    def _line_style(self, layer: Line | ReferenceLine) -> Element:
        return {
            "color": self.palette.colours[layer.ink],
            "width": round(layer.width_pt * 1.5, 2),
            "dash": layer.dash.value,
        }

    def _draw_boxes(self, layer: Boxes) -> None:
        half, colour = layer.thickness / 2, self.palette.colours[layer.ink]
        boxes = list(zip(layer.y, layer.low, layer.high, strict=True))
        self._add_scatter(
            "lines",
            [x for _, low, high in boxes for x in (low, high, high, low, low, math.nan)],
            [at + d for at, *_ in boxes for d in (-half, -half, half, half, -half, math.nan)],
            fill="toself",
            fillcolor=self.palette.pale[layer.ink],
            line={"width": 0},
            **_hover_options(()),
        )
        self._add_scatter(
            "lines",
            [x for middle in layer.middle for x in (middle, middle, math.nan)],
            [y for at in layer.y for y in (at - half, at + half, math.nan)],
            line={"color": colour, "width": 2.4},
            **_hover_options(()),
        )
        # Invisible marks that show the hover text.
        at = [low if math.isnan(m) else m for m, low in zip(layer.middle, layer.low, strict=True)]
        span = abs(self.panel.y.high - self.panel.y.low)
        marker = {
            "opacity": 0,
            "symbol": Mark.SQUARE.value,
            "size": max(round(layer.thickness / span * self.placed.height * PX_PER_MM), 6),
            "color": colour,
        }
        self._add_scatter("markers", at, layer.y, marker=marker, **_hover_options(layer.hover))

    def _draw_cells(self, layer: HeatMap) -> None:
        rows, columns = len(layer.values), len(layer.values[0])
        trace: Element = {
            "type": "heatmap",
            "xaxis": self.x,
            "yaxis": self.y,
            "z": np.array(layer.values, dtype=np.float32),
            "x": list(range(columns)),
            "y": list(range(rows)),
            "zmin": layer.low,
            "zmax": layer.high,
            "colorscale": [list(step) for step in self.palette.scale(layer.scale)],
            "hoverongaps": False,
            "xgap": 1.5 if columns <= 96 else 0,
            "ygap": 1.5 if rows <= 96 else 0,
            "showscale": bool(layer.labels),
            "hovertemplate": f"{'%{text}' if layer.hover else layer.names}<extra></extra>",
        }
        if layer.hover:
            trace["text"] = [
                [_hover_text(texts) if texts else "" for texts in row] for row in layer.hover
            ]
        if layer.labels:
            trace["colorbar"] = {
                "thickness": 10,
                "outlinewidth": 0,
                "tickvals": list(layer.labels),
                "tickfont": {"size": 11, "color": self.palette.quiet},
                "len": 1,
                "xpad": 12,
                "ypad": 0,
            }
        self.traces.append(trace)

    def _write_cells(self, layer: HeatMap) -> None:
        if not layer.texts:
            return
        cell = self.placed.width / len(layer.values[0])
        longest = max(len(line) for row in layer.texts for text in row for line in text.split("\n"))
        size = min(px(SMALL_PT), 0.9 * cell * PX_PER_MM / (LETTER_WIDTH * max(longest, 1)))
        scale = self.palette.scale(layer.scale)
        for i, row in enumerate(layer.texts):
            for j, text in enumerate(row):
                if text:
                    value = layer.values[i][j]
                    share = (value - layer.low) / (layer.high - layer.low)
                    background = (
                        self.palette.empty if math.isnan(value) else colour_at(scale, share)
                    )
                    note = {
                        **self.refs,
                        "x": j,
                        "y": i,
                        "text": plotly_text(text).replace("\n", "<br>"),
                        "showarrow": False,
                        "font": {"size": round(size, 1), "color": self.palette.ink_on(background)},
                    }
                    self.notes.append(note)

    def _draw_reference_line(self, layer: ReferenceLine) -> None:
        over_cells = any(isinstance(other, HeatMap) for other in self.panel.layers)
        along, across = "xy" if layer.vertical else "yx"
        # Shapes between grid and marks cannot use coordinates of the panel, but those of the axes.
        ends = self.panel.y if layer.vertical else self.panel.x
        shape = {
            **self.refs,
            "type": "line",
            "layer": "above" if over_cells else "between",
            f"{along}0": round_value(layer.at),
            f"{along}1": round_value(layer.at),
            f"{across}0": round_value(ends.low),
            f"{across}1": round_value(ends.high),
            "line": self._line_style(layer),
        }
        self.shapes.append(shape)

    def _draw_band(self, layer: Band) -> None:
        along, across = "xy" if layer.vertical else "yx"
        shape = {
            **self.refs,
            "type": "rect",
            f"{across}ref": f"{self.refs[f'{across}ref']} domain",
            f"{along}0": round_value(layer.low),
            f"{along}1": round_value(layer.high),
            f"{across}0": 0,
            f"{across}1": 1,
            "fillcolor": self.palette.shade,
            "line": {"width": 0},
            "layer": "below",
        }
        self.shapes.append(shape)

    def _draw_note(self, layer: Note) -> None:
        text = plotly_text(layer.label.text)
        note = {
            **self.refs,
            "x": round_value(_coordinate(self.panel.x, layer.x)),
            "y": round_value(_coordinate(self.panel.y, layer.y)),
            "text": f"<b>{text}</b>" if layer.bold else text,
            "xanchor": layer.side.value,
            "yanchor": "middle",
            "xshift": layer.dx_mm * PX_PER_MM,
            "yshift": layer.dy_mm * PX_PER_MM,
            "showarrow": False,
            "font": {
                "size": min(px(SMALL_PT), px(self.placed.label_pt)),
                "color": self.palette.colours[layer.ink],
            },
        }
        self.notes.append(note)


def _key_text(key: Key, x: float, y: float, palette: Palette) -> Element:
    return {
        "xref": "paper",
        "yref": "paper",
        "text": plotly_text(key.label),
        "x": 0,
        "y": 1,
        "xanchor": "left",
        "yanchor": "middle",
        "xshift": round(x + KEY_MARK_MM * PX_PER_MM),
        "yshift": round(y),
        "showarrow": False,
        "font": {"size": 12, "color": palette.ink},
    }


def _key_mark(key: Key, x: float, y: float, palette: Palette) -> Element:
    """Return the shape for the mark of a key's entry."""
    colour = palette.colours[key.ink or Ink.INK]
    shape: Element = {
        "xref": "paper",
        "yref": "paper",
        "xsizemode": "pixel",
        "ysizemode": "pixel",
        "xanchor": 0,
        "yanchor": 1,
    }
    if not key.mark and key.dash:
        line = {"color": colour, "width": 1.8, "dash": KEY_DASHES[key.dash]}
        return {**shape, "type": "line", **_box_around(x + 10, y, 10, 0), "line": line}
    if not key.mark:
        pale = {"fillcolor": palette.pale[key.ink or Ink.INK], "line": {"width": 0}}
        return {**shape, "type": "rect", **_box_around(x + 10, y, 10, 5), **pale}
    middle = x + KEY_MARK_MM / 2 * PX_PER_MM - 2
    shape["fillcolor"] = palette.paper if key.hollow else colour
    shape["line"] = {"width": 1.4, "color": colour}
    if key.mark is Mark.DIAMOND:
        h = 4.2 * 1.2
        path = f"M{middle - h},{y} L{middle},{y - h} L{middle + h},{y} L{middle},{y + h} Z"
        return {**shape, "type": "path", "path": path}
    if key.mark is Mark.CIRCLE:
        return {**shape, "type": "circle", **_box_around(middle, y, 4.2, 4.2)}
    return {**shape, "type": "rect", **_box_around(middle, y, 4.2 * 0.88, 4.2 * 0.88)}


def _box_around(x: float, y: float, wide: float, high: float) -> Element:
    return {"x0": x - wide, "x1": x + wide, "y0": y - high, "y1": y + high}


def _hover_options(texts: Sequence[str]) -> Element:
    if not texts:
        return {"hoverinfo": "skip"}
    return {
        "text": [_hover_text(lines) for lines in texts],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _hover_text(text: str) -> str:
    first, *rest = (plotly_text(line) for line in text.split("\n"))
    return "<br>".join([f"<b>{first}</b>", *rest])


def _coordinate(axis: Axis, value: float) -> float:
    """Return a value in plotly's coordinates, which are logarithms on a logarithmic axis."""
    return math.log10(value) if axis.log else value


def plotly_text(text: str) -> str:
    """Escape text for plotly, whose labels support a subset of HTML."""
    return html.escape(text, quote=False)


def round_value(value: float) -> float | None:
    """Round a value to six significant digits; None if it is undefined."""
    return None if math.isnan(value) else float(f"{value:.{SIGNIFICANT_DIGITS}g}")


def _round_values(values: Iterable[float]) -> list[float | None]:
    return [round_value(value) for value in values]


def px(size_pt: float) -> float:
    """Convert a font size from points to pixels."""
    return round(size_pt * MM_PER_POINT * PX_PER_MM, 1)
