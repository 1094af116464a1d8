"""A chart's figure on a dark page: the same marks, lighter; print and report stay white."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from analysis.figures.drawing.chart import Ink
from analysis.figures.drawing.look import (
    COLOURS,
    EMPTY,
    INK,
    PALE,
    PAPER,
    QUIET,
    RULE,
    SHADE,
    colour_at,
    luminance,
)

GROUND = "#0f1418"
DARK: Mapping[str, str] = {
    PAPER: GROUND,
    INK: "#e6e9ec",
    QUIET: "#a3aeb8",
    RULE: "#2a343d",
    EMPTY: "#1a2129",
    SHADE: "#1b241c",
    COLOURS[Ink.READER]: "#5cb3ec",
    COLOURS[Ink.MODEL]: "#f0935c",
    COLOURS[Ink.MIXED]: "#c3cad1",
    PALE[Ink.READER]: "#214a66",
    PALE[Ink.MODEL]: "#613520",
    PALE[Ink.MIXED]: "#434c55",
    PALE[Ink.INK]: "#3b4650",
}
"""Each colour of `analysis.figures.drawing.look` on a dark ground."""

DARK_STEPS: Mapping[str, str] = {
    "#ffffff": "#26303a",
    "#d3e3f0": "#21415a",
    "#8fb8d9": "#25608e",
    "#3f82b5": "#5fa9dc",
    "#0b4a7d": "#b5dcf7",
    "#dd9b8c": "#7d3a31",
    "#a33b2e": "#f0a095",
    "#e8ab8b": "#80452a",
    "#a33b10": "#f3a578",
}
"""Each step of the colour scales: what stands out on paper by darkness stands out by light."""

_COLOUR = re.compile(r"#[0-9a-f]{6}\b")


def on_dark(figure: go.Figure) -> go.Figure:
    """Return a figure of `analysis.figures.drawing.to_plotly` as a dark page shows it.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
        As drawn for a white page; it is left as it is.
    """
    drawn = figure.to_dict()
    cells = {one.get("xaxis", "x"): one for one in drawn["data"] if one["type"] == "heatmap"}
    steps = {axis: _steps(one) for axis, one in cells.items()}
    dark: dict[str, Any] = _darkened(drawn)
    for trace in dark["data"]:
        if trace["type"] == "heatmap":
            trace["colorscale"] = [list(one) for one in steps[trace.get("xaxis", "x")]]
    for note in dark["layout"].get("annotations", ()):
        if note.get("xref") in cells:
            _legible(note, cells[note["xref"]], steps[note["xref"]])
    return go.Figure(dark)


def _darkened(part: Any) -> Any:
    if isinstance(part, str):
        return _COLOUR.sub(lambda found: DARK.get(found[0], found[0]), part)
    if isinstance(part, dict):
        return {key: _darkened(value) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_darkened(value) for value in part]
    return part


def _steps(trace: dict[str, Any]) -> tuple[tuple[float, str], ...]:
    return tuple((at, DARK_STEPS.get(colour, colour)) for at, colour in trace["colorscale"])


def _legible(
    note: dict[str, Any], cells: dict[str, Any], steps: tuple[tuple[float, str], ...]
) -> None:
    """Give a cell's text the ink that is read on it; titles stand beyond the cells."""
    row, column = note["y"], note["x"]
    if note["yref"].endswith("domain"):
        return
    value = cells["z"][row][column]
    low, high = cells["zmin"], cells["zmax"]
    back = DARK[EMPTY] if value is None else colour_at(steps, (value - low) / (high - low))
    note["font"]["color"] = ink_on_dark_step(back)


def ink_on_dark_step(colour: str) -> str:
    """Return black or white, whichever is read better: one of them always reaches 4.5 to 1."""
    return "#ffffff" if luminance(colour) < 0.179 else "#000000"
