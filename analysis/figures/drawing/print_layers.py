"""The layers of a chart on a sheet of paper."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator

from analysis.figures.drawing.canvas import Canvas, Point
from analysis.figures.drawing.chart import (
    Axis,
    Band,
    Boxes,
    Cells,
    Label,
    Layer,
    Line,
    Note,
    Points,
    Rule,
    Side,
)
from analysis.figures.drawing.layout import SMALL_PT, Placed
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
from analysis.figures.drawing.print_text import width_mm

INTERVAL_PT = 1.0
CELL_GAP = 0.016
SCALE_STEPS = 64
SHADES = 96


class Frame:
    """Turns a panel's values into places on the sheet; what lies beyond its ends is put there."""

    def __init__(self, placed: Placed) -> None:
        self.placed = placed
        self._x = _along(placed.panel.x, placed.left, placed.width)
        self._y = _along(placed.panel.y, placed.bottom, placed.height)

    def x(self, value: float) -> float:
        return self._x(value)

    def y(self, value: float) -> float:
        return self._y(value)

    def at(self, x: float, y: float) -> Point:
        return self._x(x), self._y(y)

    @property
    def edges(self) -> tuple[float, float, float, float]:
        one = self.placed
        return one.left, one.bottom, one.left + one.width, one.bottom + one.height


def _along(axis: Axis, start: float, length: float) -> Callable[[float], float]:
    scale: Callable[[float], float] = math.log10 if axis.log else float
    low, high = scale(axis.low), scale(axis.high)

    def place(value: float) -> float:
        share = (scale(value) - low) / (high - low)
        return start + min(max(share, 0.0), 1.0) * length

    return place


def draw_layer(canvas: Canvas, frame: Frame, layer: Layer) -> None:
    """Draw a layer."""
    left, bottom, right, top = frame.edges
    match layer:
        case Points():
            _draw_points(canvas, frame, layer)
        case Line():
            canvas.lines(
                _runs(frame, layer), COLOURS[layer.ink], width_pt=layer.width_pt, dash=layer.dash
            )
        case Boxes():
            _draw_boxes(canvas, frame, layer)
        case Cells():
            _draw_cells(canvas, frame, layer)
        case Rule(upright=True):
            run = [(frame.x(layer.at), bottom), (frame.x(layer.at), top)]
            canvas.lines([run], COLOURS[layer.ink], width_pt=layer.width_pt, dash=layer.dash)
        case Rule():
            run = [(left, frame.y(layer.at)), (right, frame.y(layer.at))]
            canvas.lines([run], COLOURS[layer.ink], width_pt=layer.width_pt, dash=layer.dash)
        case Band(upright=True):
            canvas.rectangles([(frame.x(layer.low), bottom, frame.x(layer.high), top)], SHADE)
        case Band():
            canvas.rectangles([(left, frame.y(layer.low), right, frame.y(layer.high))], SHADE)
        case Note():
            x, y = frame.at(layer.x, layer.y)
            size = min(SMALL_PT, frame.placed.label_pt)
            canvas.text(
                (x + layer.dx_mm, y + layer.dy_mm),
                layer.label,
                COLOURS[layer.ink],
                size_pt=size,
                side=layer.side,
                bold=layer.bold,
            )


def _draw_points(canvas: Canvas, frame: Frame, layer: Points) -> None:
    colour = COLOURS[layer.ink]
    canvas.lines(
        [
            [frame.at(low, y), frame.at(high, y)]
            for y, low, high in zip(layer.y, layer.low, layer.high, strict=False)
            if not math.isnan(low)
        ],
        colour,
        width_pt=INTERVAL_PT,
    )
    canvas.marks(
        [frame.at(x, y) for x, y in zip(layer.x, layer.y, strict=True)],
        layer.mark,
        colour,
        size=layer.size_mm,
        paper=PAPER if layer.hollow else None,
    )


def _runs(frame: Frame, layer: Line) -> Iterator[list[Point]]:
    run: list[Point] = []
    for x, y in zip(layer.x, layer.y, strict=True):
        if math.isnan(x) or math.isnan(y):
            yield run
            run = []
        else:
            run.append(frame.at(x, y))
    yield run


def _draw_boxes(canvas: Canvas, frame: Frame, layer: Boxes) -> None:
    rows = list(zip(layer.y, layer.low, layer.middle, layer.high, strict=True))
    half = layer.thick / 2
    canvas.rectangles(
        [
            (frame.x(low), frame.y(y - half), frame.x(high), frame.y(y + half))
            for y, low, _, high in rows
        ],
        PALE[layer.ink],
    )
    strokes = [
        [frame.at(middle, y - half), frame.at(middle, y + half)]
        for y, _, middle, _ in rows
        if not math.isnan(middle)
    ]
    canvas.lines(strokes, COLOURS[layer.ink], width_pt=1.6)


def _draw_cells(canvas: Canvas, frame: Frame, layer: Cells) -> None:
    """Fill the cells colour by colour: one path for all of a colour keeps a large matrix light."""
    by_colour = defaultdict(list)
    gap = CELL_GAP if len(layer.values) <= SHADES else 0.0
    for i, row in enumerate(layer.values):
        for j, value in enumerate(row):
            colour = EMPTY if math.isnan(value) else _shade(layer, value, coarse=gap == 0)
            by_colour[colour].append(
                (
                    frame.x(j - 0.5 + gap),
                    frame.y(i + 0.5 - gap),
                    frame.x(j + 0.5 - gap),
                    frame.y(i - 0.5 + gap),
                )
            )
    for colour, boxes in by_colour.items():
        canvas.rectangles(boxes, colour)
    _write_cells(canvas, frame, layer)
    if layer.labels:
        _draw_scale(canvas, frame, layer)


def _shade(layer: Cells, value: float, *, coarse: bool) -> str:
    share = (value - layer.low) / (layer.high - layer.low)
    return colour_at(layer.scale, round(share * SHADES) / SHADES if coarse else share)


def _write_cells(canvas: Canvas, frame: Frame, layer: Cells) -> None:
    if not layer.texts:
        return
    cell = abs(frame.x(1) - frame.x(0)) if len(layer.values[0]) > 1 else frame.placed.width
    longest = max(width_mm(Label(text=t), SMALL_PT, False) for row in layer.texts for t in row)
    size = min(SMALL_PT, SMALL_PT * 0.86 * cell / max(longest, 0.1))
    for i, row in enumerate(layer.texts):
        for j, text in enumerate(row):
            value = layer.values[i][j]
            back = EMPTY if math.isnan(value) else _shade(layer, value, coarse=False)
            place = frame.at(j, i)
            canvas.text(place, Label(text=text), ink_on(back), size_pt=size, side=Side.CENTRE)


def _draw_scale(canvas: Canvas, frame: Frame, layer: Cells) -> None:
    _, bottom, right, top = frame.edges
    left, wide, high = right + 3.0, 2.4, top - bottom
    steps = [i / SCALE_STEPS for i in range(SCALE_STEPS)]
    for share in steps:
        y = bottom + share * high
        # A little over the next one, so that no seam shows.
        box = (left, y, left + wide, min(y + 1.5 * high / SCALE_STEPS, top))
        canvas.rectangles([box], colour_at(layer.scale, share + 0.5 / SCALE_STEPS))
    for value in layer.labels:
        y = bottom + (value - layer.low) / (layer.high - layer.low) * high
        text = Label(text=f"{value:g}".replace("-", "\u2212"))
        canvas.text((left + wide + 1.0, y), text, QUIET, size_pt=SMALL_PT)
