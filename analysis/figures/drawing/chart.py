"""The content of a figure, independent of how it is drawn: panels with axes and layers.

All text is plain; the functions that draw a chart escape it for their markup.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import pandas as pd

from analysis.bundle.cells import escape_table

# Width of a figure that spans the page of a journal.
PAGE_MM = 174.0
# Smallest diameter at which a mark is visible on its interval.
MIN_MARK_MM = 0.6

Numbers = tuple[float, ...]


class Ink(StrEnum):
    """The meaning of a colour; `analysis.figures.drawing.colours` defines the colours."""

    READER = "reader"
    MODEL = "model"
    MIXED = "mixed"
    INK = "ink"
    QUIET = "quiet"


class Mark(StrEnum):
    """Shapes of marks, which can be distinguished without colours."""

    CIRCLE = "circle"
    DIAMOND = "diamond"
    SQUARE = "square"


class Dash(StrEnum):
    """The dash pattern of a line."""

    SOLID = "solid"
    DASHED = "dash"
    DOTTED = "dot"


class Side(StrEnum):
    """The part of a text that is placed at its point."""

    LEFT = "left"
    CENTRE = "center"
    RIGHT = "right"


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """Text in a chart.

    Parameters
    ----------
    text : str
        Plain text.
    fallback : str
        Replacement if the font has no glyphs for `text`. If it is empty, missing glyphs become
        boxes.
    """

    text: str
    fallback: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A position on an axis; if the label is empty, there is only a grid line."""

    at: float
    label: Label


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """An axis of a panel.

    Parameters
    ----------
    low, high : float
        Values at the beginning and end; the axis is reversed if `low` is above `high`.
    ticks : tuple of Tick
        Labels and positions of grid lines.
    title : str
        Title with the unit; empty for none.
    log : bool
        Whether the axis is logarithmic; all values must then be positive.
    grid, labels : bool
        Whether the ticks have grid lines, and whether they have labels.
    slanted : bool
        Whether the labels are at 45 degrees.
    """

    low: float
    high: float
    ticks: tuple[Tick, ...] = ()
    title: str = ""
    log: bool = False
    grid: bool = True
    labels: bool = True
    slanted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """Marks, which may have intervals.

    Parameters
    ----------
    x, y : tuple of float
        Positions of the marks.
    low, high : tuple of float
        Ends of the intervals along x, nan for a mark without one; empty if no mark has an interval.
    hover : tuple of str
        Hover text of each mark, which may have several lines; not printed.
    size_mm : float
        Diameter of a mark, or of the largest mark if there are `shares`.
    shares : tuple of float
        Area of each mark as a share of the largest possible one; empty for equal marks.
    """

    ink: Ink
    mark: Mark
    x: Numbers
    y: Numbers
    low: Numbers = ()
    high: Numbers = ()
    hover: tuple[str, ...] = ()
    hollow: bool = False
    size_mm: float = 1.6
    shares: Numbers = ()

    @property
    def sizes_mm(self) -> Numbers:
        """The diameter of each mark, which is at least 0.6 mm if there are `shares`."""
        if not self.shares:
            return (self.size_mm,) * len(self.x)
        return tuple(
            max(self.size_mm * math.sqrt(share), min(MIN_MARK_MM, self.size_mm))
            for share in self.shares
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line through points, interrupted where a value is nan."""

    ink: Ink
    x: Numbers
    y: Numbers
    dash: Dash = Dash.SOLID
    width_pt: float = 1.0
    hover: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Boxes:
    """Bars along x from `low` to `high`, with a stroke at `middle` unless it is nan."""

    ink: Ink
    y: Numbers
    low: Numbers
    middle: Numbers
    high: Numbers
    hover: tuple[str, ...] = ()
    thickness: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatMap:
    """A heat map, whose cell (i, j) reaches half a unit around y = i and x = j.

    Parameters
    ----------
    values : tuple of tuple of float
        The values that determine the colours, row by row; nan for an empty cell.
    low, high : float
        The values at the ends of the scale of colours.
    texts, hover : tuple of tuple of str
        Text in the cells and hover text, in the same shape; empty for none.
    scale : tuple of (float, str)
        Colours at shares of the way from `low` to `high`.
    labels : tuple of float
        Values on the scale next to the heat map; empty for no scale.
    data : tuple of tuple of float
        The data in the same shape, if `values` are a function of them; empty if `values` are the
        data.
    names : str
        Template of plotly for the hover text of a heat map without `hover`.
    """

    values: tuple[Numbers, ...]
    low: float
    high: float
    scale: tuple[tuple[float, str], ...]
    texts: tuple[tuple[str, ...], ...] = ()
    hover: tuple[tuple[str, ...], ...] = ()
    labels: Numbers = ()
    data: tuple[Numbers, ...] = ()
    names: str = "%{y} and %{x}: %{z:.2f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceLine:
    """A straight line across the panel, at a value of x (if `vertical`) or of y."""

    at: float
    vertical: bool = True
    ink: Ink = Ink.INK
    dash: Dash = Dash.SOLID
    width_pt: float = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """A shaded area across the panel between two values of x (if `vertical`) or of y."""

    low: float
    high: float
    vertical: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Text in a panel, moved from its point by `dx_mm` to the right and `dy_mm` upwards."""

    x: float
    y: float
    label: Label
    side: Side = Side.LEFT
    ink: Ink = Ink.INK
    bold: bool = False
    dx_mm: float = 0.0
    dy_mm: float = 0.0


Layer = Points | Line | Boxes | HeatMap | ReferenceLine | Band | Note


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A pair of axes with layers, of which the first is drawn first.

    Parameters
    ----------
    title, subtitle : str
        Bold title and grey subtitle above the panel.
    height_mm : float
        Height of the area inside the axes.
    weight : float
        Width of the panel relative to the weights of the other columns.
    framed : bool
        Whether there are a grid and labels; False for a column of text.
    """

    x: Axis
    y: Axis
    layers: tuple[Layer, ...]
    title: str = ""
    subtitle: str = ""
    height_mm: float = 50.0
    weight: float = 1.0
    framed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """An entry of the key: a mark, a line or (without `mark` and `dash`) a shaded area.

    An entry without an ink has only words.
    """

    label: str
    ink: Ink | None
    mark: Mark | None = None
    dash: Dash | None = None
    hollow: bool = False
    fallback: str = ""

    @property
    def words(self) -> Label:
        """The label with its replacement for missing glyphs."""
        return Label(text=self.label, fallback=self.fallback)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chart:
    """A figure.

    Parameters
    ----------
    rows : tuple of tuple of Panel
        Rows of panels, whose columns are aligned.
    key : tuple of Key
        Entries of the key above the panels.
    width_mm : float
        Printed width.
    stretches : bool
        Whether the chart takes the available width on a web page.
    square : bool
        Whether the chart has a single panel that is as wide as it is high; the chart is then as
        narrow as the panel allows.
    redraw : callable or None
        Makes the chart for another `width_mm`; None if its content does not depend on the width.
    """

    rows: tuple[tuple[Panel, ...], ...]
    key: tuple[Key, ...] = ()
    width_mm: float = PAGE_MM
    stretches: bool = True
    square: bool = False
    redraw: Callable[..., Chart | None] | None = None
    panels: tuple[Panel, ...] = field(init=False)

    def __post_init__(self) -> None:
        panels = tuple(panel for row in self.rows for panel in row)
        object.__setattr__(self, "panels", panels)

    def at_width(self, width_mm: float) -> Chart:
        """Return the chart for print at another width."""
        redrawn = self.redraw and self.redraw(width_mm=width_mm)
        return redrawn or replace(self, width_mm=width_mm)


COLUMNS = ("panel", "of", "row", "column", "x", "y", "value", "low", "high", "note")


def chart_csv(chart: Chart) -> bytes:
    """Return the data of a chart as CSV, with numbers in full precision.

    `row` and `column` are names on the axes; `x` and `y` are positions on numeric axes. `value` is
    an estimate (in a bar, the stroke), and `low` and `high` are the ends of its interval or bar.
    """
    rows = [row for panel in chart.panels for row in _rows(panel, chart)]
    table = pd.DataFrame(rows, columns=COLUMNS).dropna(axis="columns", how="all")
    return escape_table(table).to_csv(index=False, lineterminator="\n").encode()


def _rows(panel: Panel, chart: Chart) -> Iterator[dict[str, Any]]:
    words = {(key.ink, key.mark, key.hollow): key.label for key in chart.key}
    titled = {"panel": panel.title or None}
    for layer in panel.layers:
        if isinstance(layer, Points):
            who = {"of": words.get((layer.ink, layer.mark, layer.hollow), layer.ink.value)}
            ends = list(zip(layer.low, layer.high, strict=True)) or [(math.nan, math.nan)] * len(
                layer.x
            )
            for i, (x, y, (low, high)) in enumerate(zip(layer.x, layer.y, ends, strict=True)):
                place = {
                    **_coordinate("column", "x", panel.x, x),
                    **_coordinate("row", "y", panel.y, y),
                }
                if _has_names(panel.y):  # the estimates are along this axis
                    place["value"] = place.pop("x", x)
                yield {
                    **titled,
                    **who,
                    **place,
                    "low": low,
                    "high": high,
                    "note": _note(layer.hover, i),
                }
        elif isinstance(layer, Boxes):
            for i, (y, low, middle, high) in enumerate(
                zip(layer.y, layer.low, layer.middle, layer.high, strict=True)
            ):
                yield {
                    **titled,
                    "of": words.get((layer.ink, None, False), layer.ink.value),
                    **_coordinate("row", "y", panel.y, y),
                    "value": middle,
                    "low": low,
                    "high": high,
                    "note": _note(layer.hover, i),
                }
        elif isinstance(layer, HeatMap):
            for i, values in enumerate(layer.data or layer.values):
                for j, value in enumerate(values):
                    if not math.isnan(value):
                        yield {
                            **titled,
                            **_coordinate("row", "y", panel.y, i),
                            # Columns of a matrix have the same names as the rows.
                            **_coordinate("column", "x", panel.y if chart.square else panel.x, j),
                            "value": value,
                            "note": _note(layer.hover[i], j) if layer.hover else None,
                        }


def _has_names(axis: Axis) -> bool:
    """Return whether an axis has names instead of numbers."""
    return any(tick.label.text.strip("-\u2212.,0123456789%") for tick in axis.ticks)


def _coordinate(name: str, number: str, axis: Axis, value: float) -> dict[str, Any]:
    if not _has_names(axis):
        return {number: value}
    nearest = min(axis.ticks, key=lambda tick: abs(tick.at - value))
    return {name: nearest.label.text}


def _note(hover: tuple[str, ...], i: int) -> str | None:
    return "; ".join(hover[i].split("\n")) if hover else None
