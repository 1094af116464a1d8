"""The content of a figure, independent of its drawing: panels with axes and layers.

All texts are plain; functions that draw a chart escape them for their markup.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import pandas as pd

from analysis.bundle.cells import guarded_table

# Width of a figure across a page of a journal.
PAGE_MM = 174.0
# Diameter of the smallest mark that is still visible on its interval.
LEAST_MARK_MM = 0.6

Numbers = tuple[float, ...]


class Ink(StrEnum):
    """The meaning of a mark, whose colour `analysis.figures.drawing.colours` defines."""

    READER = "reader"
    MODEL = "model"
    MIXED = "mixed"
    INK = "ink"
    QUIET = "quiet"


class Mark(StrEnum):
    """Shapes that can be distinguished without colours."""

    CIRCLE = "circle"
    DIAMOND = "diamond"
    SQUARE = "square"


class Dash(StrEnum):
    """The dash pattern of a line."""

    SOLID = "solid"
    DASHED = "dash"
    DOTTED = "dot"


class Side(StrEnum):
    """The direction of a text from its point."""

    LEFT = "left"
    CENTRE = "center"
    RIGHT = "right"


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A text of a chart.

    Parameters
    ----------
    text : str
        Plain text.
    otherwise : str
        Replacement if the font has no glyphs for `text`; empty: missing glyphs become boxes.
    """

    text: str
    otherwise: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A position on an axis; without a label text there is only a line."""

    at: float
    label: Label


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One direction of a panel.

    Parameters
    ----------
    low, high : float
        Values at its beginning and end; `low` above `high` reverses it.
    ticks : tuple of Tick
        Labels and positions of grid lines.
    title : str
        With the unit; empty for none.
    log : bool
        Logarithmic; all values are positive then.
    grid, labels : bool
        Whether lines are drawn at ticks, and whether labels are.
    slanted : bool
        Labels at 45 degrees.
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
    """Marks, with intervals where these are given.

    Parameters
    ----------
    x, y : tuple of float
        Their positions.
    low, high : tuple of float
        The intervals' ends, along x, nan for none; empty when none has any.
    hover : tuple of str
        Lines of the hover text of each; not printed.
    size_mm : float
        Diameter of a mark, or of the largest one if there are `shares`.
    shares : tuple of float
        Area of each mark as a share of the largest one's; empty for equal marks.
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
        """Diameter of each mark, which is at least 0.6 mm if the marks have `shares`."""
        if not self.shares:
            return (self.size_mm,) * len(self.x)
        return tuple(
            max(self.size_mm * math.sqrt(share), min(LEAST_MARK_MM, self.size_mm))
            for share in self.shares
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line through points, broken where a value is nan."""

    ink: Ink
    x: Numbers
    y: Numbers
    dash: Dash = Dash.SOLID
    width_pt: float = 1.0
    hover: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Boxes:
    """Bars along x from `low` to `high` with a stroke at `middle` (nan: none)."""

    ink: Ink
    y: Numbers
    low: Numbers
    middle: Numbers
    high: Numbers
    hover: tuple[str, ...] = ()
    thick: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """A heat map; cell (i, j) covers half a unit around y = i and x = j; nan is left empty.

    Parameters
    ----------
    values : tuple of tuple of float
        By row.
    texts, hover : tuple of tuple of str
        In the same shape, or empty for none.
    scale : tuple of (float, str)
        Colours by share of the way from `low` to `high`.
    labels : tuple of float
        Values on the scale next to the heat map; empty for no scale.
    data : tuple of tuple of float
        The data in the same shape, if `values` are only their shades; empty if `values` are the
        data.
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
    """A straight line across the panel, at a value of x (`upright`) or of y."""

    at: float
    upright: bool = True
    ink: Ink = Ink.INK
    dash: Dash = Dash.SOLID
    width_pt: float = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """A shade across the panel between two values of x (`upright`) or of y."""

    low: float
    high: float
    upright: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A text in the panel, `dx_mm` and `dy_mm` (up) from its point."""

    x: float
    y: float
    label: Label
    side: Side = Side.LEFT
    ink: Ink = Ink.INK
    bold: bool = False
    dx_mm: float = 0.0
    dy_mm: float = 0.0


Layer = Points | Line | Boxes | Cells | ReferenceLine | Band | Note


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A pair of axes with layers, the first lowest.

    Parameters
    ----------
    title, subtitle : str
        Above it, bold and quiet.
    height_mm : float
        Of the area inside the axes.
    weight : float
        Share of the chart's width, against the weights of the other columns.
    framed : bool
        False for a column of text: no grid and no labels.
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
    """An entry of the key; without a mark it is a shade (`dash` None) or a line.

    Without an ink it has only words.
    """

    label: str
    ink: Ink | None
    mark: Mark | None = None
    dash: Dash | None = None
    hollow: bool = False
    otherwise: str = ""

    @property
    def words(self) -> Label:
        """The label with its other wording."""
        return Label(text=self.label, otherwise=self.otherwise)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chart:
    """A figure.

    Parameters
    ----------
    rows : tuple of tuple of Panel
        Rows of panels; the columns of all rows are aligned.
    key : tuple of Key
        Drawn above them.
    width_mm : float
        In print. On a page, a chart that `stretches` takes the available width.
    square : bool
        One panel, as wide as it is high; the chart is as narrow as that makes it.
    again : callable or None
        Makes the chart for another `width_mm` if its content depends on the width.
    """

    rows: tuple[tuple[Panel, ...], ...]
    key: tuple[Key, ...] = ()
    width_mm: float = PAGE_MM
    stretches: bool = True
    square: bool = False
    again: Callable[..., Chart | None] | None = None
    panels: tuple[Panel, ...] = field(init=False)

    def __post_init__(self) -> None:
        panels = tuple(panel for row in self.rows for panel in row)
        object.__setattr__(self, "panels", panels)

    def at_width(self, width_mm: float) -> Chart:
        """Return the chart for print at another width."""
        redrawn = self.again and self.again(width_mm=width_mm)
        return redrawn or replace(self, width_mm=width_mm)


COLUMNS = ("panel", "of", "row", "column", "x", "y", "value", "low", "high", "note")


def csv(chart: Chart) -> bytes:
    """Return the chart's data as CSV, with numbers in full precision.

    `row` and `column` are names on the axes, `x` and `y` positions on numeric axes; `value` is an
    estimate (the stroke within a bar), and `low` and `high` are its ends.
    """
    rows = [row for panel in chart.panels for row in _rows(panel, chart)]
    table = pd.DataFrame(rows, columns=COLUMNS).dropna(axis="columns", how="all")
    return guarded_table(table).to_csv(index=False, lineterminator="\n").encode()


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
                place = {**_place("column", "x", panel.x, x), **_place("row", "y", panel.y, y)}
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
                    **_place("row", "y", panel.y, y),
                    "value": middle,
                    "low": low,
                    "high": high,
                    "note": _note(layer.hover, i),
                }
        elif isinstance(layer, Cells):
            for i, values in enumerate(layer.data or layer.values):
                for j, value in enumerate(values):
                    if not math.isnan(value):
                        yield {
                            **titled,
                            **_place("row", "y", panel.y, i),
                            # Columns of a matrix are numbered as the rows are.
                            **_place("column", "x", panel.y if chart.square else panel.x, j),
                            "value": value,
                            "note": _note(layer.hover[i], j) if layer.hover else None,
                        }


def _has_names(axis: Axis) -> bool:
    """Return whether an axis has names instead of numbers."""
    return any(tick.label.text.strip("-\u2212.,0123456789%") for tick in axis.ticks)


def _place(name: str, number: str, axis: Axis, value: float) -> dict[str, Any]:
    if not _has_names(axis):
        return {number: value}
    nearest = min(axis.ticks, key=lambda tick: abs(tick.at - value))
    return {name: nearest.label.text}


def _note(hover: tuple[str, ...], i: int) -> str | None:
    return "; ".join(hover[i].split("\n")) if hover else None
