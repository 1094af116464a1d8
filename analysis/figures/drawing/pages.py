"""Fit a chart that is too tall for print: with denser rows, or else in several parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

from analysis.figures.drawing.chart import (
    Axis,
    Band,
    Boxes,
    Chart,
    HeatMap,
    Key,
    Layer,
    Line,
    Note,
    Panel,
    Points,
    ReferenceLine,
)
from analysis.figures.drawing.layout import (
    MIN_TEXT_PT,
    MM_PER_POINT,
    NAME_SHARE_OF_ROW,
    Measure,
    lay_out,
    reflow,
)
from analysis.translation import t

Marks = TypeVar("Marks", Points, Boxes)

# Maximum width of a column in a journal, and maximum heights of figures in a column and across a
# page, where the caption is below the figure.
COLUMN_MM = 100.0
MAX_COLUMN_HEIGHT_MM, MAX_PAGE_HEIGHT_MM = 230.0, 200.0
# Smallest distance between the marks of neighbouring rows, in diameters.
MIN_MARK_GAP = 1.05
# Row heights that are tried, where 1 is the usual height and 0 that of the densest rows.
HEIGHT_SHARES = tuple(share / 8 for share in range(8, -1, -1))


def max_height_mm(width_mm: float) -> float:
    """Return the maximum height of a printed figure by its width.

    Examples
    --------
    >>> max_height_mm(85), max_height_mm(174)
    (230.0, 200.0)
    """
    return MAX_COLUMN_HEIGHT_MM if width_mm <= COLUMN_MM else MAX_PAGE_HEIGHT_MM


def parts_of(chart: Chart, measure: Measure) -> tuple[Chart, ...]:
    """Lay out a chart for print, in several parts if it is higher than a page.

    Rows of names become denser as long as the names have at least 6 points and the marks of
    neighbouring rows do not touch. If that is not enough, each part gets some of the rows of
    panels, or some of the names if a single row of panels is too tall. A matrix is never divided.

    Parameters
    ----------
    chart : Chart
        The chart.
    measure : callable
        Width in millimetres of a text, given its size in points and whether it is bold.

    Returns
    -------
    tuple of Chart
        The parts; if there are several, each states its number.
    """
    max_mm = max_height_mm(chart.width_mm)
    flowed = reflow(chart, measure)
    if chart.square:
        return (flowed,)
    legible = _set_heights(flowed, lambda panel: max(panel.height_mm, _min_height_mm(panel)))
    if _height(legible, measure) <= max_mm:
        return (legible,)
    if _height(_set_heights(flowed, _min_height_mm), measure) <= max_mm:
        return tuple(_stretch_rows([flowed], max_mm, measure))
    narrow = reflow(_set_heights(chart, _min_height_mm), measure)
    rows = tuple(part for row in narrow.rows for part in _divide_row(narrow, row, max_mm, measure))
    groups = _group_rows(replace(narrow, rows=rows), max_mm, measure)
    if len(rows) == len(narrow.rows) == len(flowed.rows):
        parts = [_with_rows(flowed, [flowed.rows[i] for i in group]) for group in groups]
        return tuple(_stretch_rows(_number_parts(parts), max_mm, measure))
    return _number_parts([_with_rows(narrow, [rows[i] for i in group]) for group in groups])


def _stretch_rows(parts: Sequence[Chart], max_mm: float, measure: Measure) -> list[Chart]:
    """Make the rows of parts as high as possible without a part becoming too tall."""
    for share in HEIGHT_SHARES:
        scaled = [_set_heights(part, partial(_height_between, share=share)) for part in parts]
        if all(_height(part, measure) <= max_mm for part in scaled):
            break
    return scaled


def _with_rows(chart: Chart, rows: Sequence[tuple[Panel, ...]]) -> Chart:
    return replace(chart, rows=tuple(rows))


def _height(chart: Chart, measure: Measure) -> float:
    return lay_out(chart, measure).height


def _set_heights(chart: Chart, height_mm: Callable[[Panel], float]) -> Chart:
    """Return the chart with panels of the heights that a function returns."""
    rows = tuple(
        tuple(replace(panel, height_mm=height) for panel in row)
        for row in chart.rows
        for height in [max(map(height_mm, row))]
    )
    return replace(chart, rows=rows)


def _height_between(panel: Panel, share: float) -> float:
    least = _min_height_mm(panel)
    return least + share * max(panel.height_mm - least, 0.0)


def _min_height_mm(panel: Panel) -> float:
    """Return the smallest possible height of a panel, which is fixed without rows of names."""
    if not _has_rows(panel.y):
        return panel.height_mm
    places = sorted(tick.at for tick in panel.y.ticks)
    span = abs(panel.y.high - panel.y.low)
    step = min(b - a for a, b in pairwise(places))
    for_names = MIN_TEXT_PT * MM_PER_POINT / NAME_SHARE_OF_ROW * span / step
    points = [layer for layer in panel.layers if isinstance(layer, Points)]
    heights = sorted({round(y, 6) for layer in points for y in layer.y})
    gap = min((b - a for a, b in pairwise(heights)), default=math.inf)
    mark = max((layer.size_mm for layer in points), default=0.0)
    return max(for_names, MIN_MARK_GAP * mark * span / gap)


def _has_rows(axis: Axis) -> bool:
    """Return whether an axis has names, each with a row."""
    return not axis.title and not axis.log and len(axis.ticks) > 1


def _divide_row(
    chart: Chart, row: Sequence[Panel], max_mm: float, measure: Measure
) -> Iterator[tuple[Panel, ...]]:
    """Yield a row of panels, or several rows with some of its names each if it is too tall."""
    height = _height(replace(chart, rows=(tuple(row),)), measure)
    axis = row[0].y
    if height <= max_mm or not all(_is_divisible(panel, axis) for panel in row):
        yield tuple(row)
        return
    n, fixed = len(axis.ticks), height - row[0].height_mm
    pitch = row[0].height_mm / n
    fit = max(int((max_mm - fixed) / pitch) - 1, 1)
    n_parts = -(-n // fit)
    ends = [round(n * part / n_parts) for part in range(n_parts + 1)]
    for first, last in pairwise(ends):
        yield tuple(_slice_panel(panel, first, last) for panel in row)


def _is_divisible(panel: Panel, axis: Axis) -> bool:
    """Return whether a panel has the same rows as an axis and no heat map."""
    same = [tick.at for tick in panel.y.ticks] == [tick.at for tick in axis.ticks]
    cells = any(isinstance(layer, HeatMap) for layer in panel.layers)
    return same and _has_rows(panel.y) and not cells


def _slice_panel(panel: Panel, first: int, last: int) -> Panel:
    """Return the part of a panel with the rows from `first` up to, but not including, `last`."""
    ticks = sorted(panel.y.ticks, key=lambda tick: tick.at)
    ends = sorted((panel.y.low, panel.y.high))
    at = [tick.at for tick in ticks]
    low = ends[0] if first == 0 else (at[first - 1] + at[first]) / 2
    high = ends[1] if last == len(at) else (at[last - 1] + at[last]) / 2
    upwards = panel.y.low < panel.y.high
    y = replace(
        panel.y,
        low=low if upwards else high,
        high=high if upwards else low,
        ticks=tuple(ticks[first:last]),
    )
    layers = tuple(part for layer in panel.layers for part in _slice_layer(layer, low, high))
    height = panel.height_mm * (high - low) / (ends[1] - ends[0])
    return replace(panel, y=y, layers=layers, height_mm=height)


def _slice_layer(layer: Layer, low: float, high: float) -> Iterator[Layer]:
    """Yield the part of a layer between two values of y, unless it is empty."""
    match layer:
        case Points():
            yield _slice_marks(layer, low, high, ("x", "y", "low", "high", "hover", "shares"))
        case Boxes():
            yield _slice_marks(layer, low, high, ("y", "low", "middle", "high", "hover"))
        case Line():
            inside = [low <= y < high for y in layer.y]
            y = tuple(
                y if is_inside else math.nan for y, is_inside in zip(layer.y, inside, strict=True)
            )
            if any(inside):
                yield replace(layer, y=y)
        case Note():
            if low <= layer.y < high:
                yield layer
        case ReferenceLine(vertical=False):
            if low <= layer.at < high:
                yield layer
        case Band(vertical=False):
            bottom, top = (
                max(min(layer.low, layer.high), low),
                min(max(layer.low, layer.high), high),
            )
            if bottom < top:
                yield replace(layer, low=bottom, high=top)
        case _:
            yield layer


def _slice_marks(layer: Marks, low: float, high: float, names: Sequence[str]) -> Marks:
    """Return the marks of a layer between two values of y; `names` are the fields of a mark."""
    indices = [i for i, y in enumerate(layer.y) if low <= y < high]
    values: dict[str, Any] = {
        name: tuple(field_values[i] for i in indices)
        if (field_values := getattr(layer, name))
        else ()
        for name in names
    }
    return replace(layer, **values)


def _group_rows(chart: Chart, max_mm: float, measure: Measure) -> list[list[int]]:
    """Group the rows of panels, as many in each group as fit."""
    # The key of each part has an additional entry with the number of the part.
    keyed = _with_number(chart, 1, 1)
    groups: list[list[int]] = []
    for i in range(len(chart.rows)):
        longer = [*groups[-1], i] if groups else [i]
        rows = [chart.rows[j] for j in longer]
        if groups and _height(_with_rows(keyed, rows), measure) <= max_mm:
            groups[-1] = longer
        else:
            groups.append([i])
    return groups


def _number_parts(charts: Sequence[Chart]) -> tuple[Chart, ...]:
    if len(charts) == 1:
        return tuple(charts)
    n = len(charts)
    return tuple(_with_number(chart, i, n) for i, chart in enumerate(charts, start=1))


def _with_number(chart: Chart, part: int, n: int) -> Chart:
    return replace(chart, key=(*chart.key, Key(label=part_words(part, n), ink=None)))


def part_words(part: int, n: int) -> str:
    """Return the words that name a part of a figure.

    Examples
    --------
    >>> part_words(2, 3)
    'part 2 of 3'
    """
    return t("part {part} of {n}", part=str(part), n=str(n))
