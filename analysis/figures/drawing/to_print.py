"""A chart in print: SVG and PNG, drawn with matplotlib."""

from __future__ import annotations

from analysis.figures.drawing.canvas import Canvas, Point, settled
from analysis.figures.drawing.chart import Band, Chart, Key, Label, Side
from analysis.figures.drawing.layout import (
    KEY_MARK_MM,
    LINE_MM,
    SMALL_PT,
    TICK_MM,
    TITLE_PT,
    Placed,
    laid_out,
)
from analysis.figures.drawing.look import COLOURS, INK, PALE, PAPER, QUIET, RULE
from analysis.figures.drawing.print_layers import Frame, draw_layer
from analysis.figures.drawing.print_text import width_mm

GRID_PT = 0.5


def svg(chart: Chart) -> bytes:
    """Draw a chart as SVG.

    Parameters
    ----------
    chart : Chart
        What to draw.

    Returns
    -------
    bytes
        Text as paths; the same bytes every time.
    """
    with settled():
        return _drawn(chart).svg()


def png(chart: Chart) -> bytes:
    """Draw a chart as PNG.

    Parameters
    ----------
    chart : Chart
        What to draw.

    Returns
    -------
    bytes
        300 dots an inch; the same bytes every time.
    """
    with settled():
        return _drawn(chart).png()


def _drawn(chart: Chart) -> Canvas:
    layout = laid_out(chart, width_mm)
    canvas = Canvas(layout.width, layout.height)
    canvas.rectangles([(0, 0, layout.width, layout.height)], PAPER)
    for key, place in zip(chart.key, layout.key, strict=True):
        _draw_key(canvas, key, place)
    for placed in layout.panels:
        _draw_panel(canvas, placed)
    return canvas


def _draw_panel(canvas: Canvas, placed: Placed) -> None:
    frame, panel = Frame(placed), placed.panel
    left, bottom, right, top = frame.edges
    for layer in panel.layers:
        if isinstance(layer, Band):
            draw_layer(canvas, frame, layer)
    if panel.framed:
        if panel.y.grid:
            ys = [frame.y(tick.at) for tick in panel.y.ticks]
            canvas.lines([[(left, y), (right, y)] for y in ys], RULE, width_pt=GRID_PT)
        if panel.x.grid:
            xs = [frame.x(tick.at) for tick in panel.x.ticks]
            canvas.lines([[(x, bottom), (x, top)] for x in xs], RULE, width_pt=GRID_PT)
        _write_x(canvas, frame)
        _write_y(canvas, frame)
    _write_head(canvas, placed)
    for layer in panel.layers:
        if not isinstance(layer, Band):
            draw_layer(canvas, frame, layer)


def _write_head(canvas: Canvas, placed: Placed) -> None:
    lines = [(line, True) for line in placed.title]
    if placed.panel.subtitle:
        lines.append((placed.panel.subtitle, False))
    y = placed.bottom + placed.height + 1.5 + LINE_MM * (len(lines) - 0.5)
    for line, bold in lines:
        canvas.text(
            (placed.left, y),
            Label(text=line),
            INK if bold else QUIET,
            size_pt=TITLE_PT if bold else SMALL_PT,
            bold=bold,
        )
        y -= LINE_MM


def _write_x(canvas: Canvas, frame: Frame) -> None:
    axis, (left, bottom, right, _) = frame.placed.panel.x, frame.edges
    y = bottom - TICK_MM - LINE_MM / 2
    for tick in axis.ticks if axis.labels else ():
        if axis.slanted:
            size, place = frame.placed.label_pt, (frame.x(tick.at), bottom - TICK_MM)
            canvas.text(place, tick.label, INK, size_pt=size, side=Side.RIGHT, turned=45)
        else:
            place = (frame.x(tick.at), y)
            canvas.text(place, tick.label, QUIET, size_pt=SMALL_PT, side=Side.CENTRE)
    if axis.title:
        labelled = axis.labels and any(tick.label.text for tick in axis.ticks)
        down = bottom - (TICK_MM + LINE_MM if labelled else 0) - 0.6 - LINE_MM / 2
        centre = ((left + right) / 2, down)
        canvas.text(centre, Label(text=axis.title), INK, size_pt=SMALL_PT, side=Side.CENTRE)


def _write_y(canvas: Canvas, frame: Frame) -> None:
    axis, (left, bottom, _, top) = frame.placed.panel.y, frame.edges
    size, widest = frame.placed.label_pt, 0.0
    for tick in axis.ticks if axis.labels else ():
        place = (left - TICK_MM, frame.y(tick.at))
        colour = QUIET if axis.title else INK
        canvas.text(place, tick.label, colour, size_pt=size, side=Side.RIGHT)
        widest = max(widest, width_mm(tick.label, size, False))
    if axis.title:
        place = (left - TICK_MM - widest - 0.4 - LINE_MM / 2, (bottom + top) / 2)
        title = Label(text=axis.title)
        canvas.text(place, title, INK, size_pt=SMALL_PT, side=Side.CENTRE, turned=90)


def _draw_key(canvas: Canvas, key: Key, place: Point) -> None:
    x, y = place
    middle, colour = x + KEY_MARK_MM / 2 - 0.4, COLOURS[key.ink]
    if key.mark:
        paper = PAPER if key.hollow else None
        canvas.marks([(middle, y)], key.mark, colour, size=1.7, paper=paper)
    elif key.dash:
        canvas.lines([[(x, y), (x + 4.0, y)]], colour, width_pt=1.1, dash=key.dash)
    else:
        canvas.rectangles([(x, y - 1.1, x + 4.0, y + 1.1)], PALE[key.ink])
    canvas.text((x + KEY_MARK_MM, y), Label(text=key.label), INK, size_pt=SMALL_PT)
