"""Draw a chart for print as SVG, and as PNG, which Typst converts from the SVG.

Fonts come from packages, not from the machine, so that a figure is the same on every machine.
"""

from __future__ import annotations

import math
import re
import struct
import unicodedata
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any

import typst

from analysis.figures.drawing.axes import BIDI_CONTROLS
from analysis.figures.drawing.chart import (
    Axis,
    Band,
    Boxes,
    Chart,
    Dash,
    HeatMap,
    Key,
    Label,
    Layer,
    Line,
    Mark,
    Note,
    Points,
    ReferenceLine,
    Side,
    Tick,
)
from analysis.figures.drawing.colours import LIGHT, colour_at
from analysis.figures.drawing.fonts import code_points, is_invisible, missing_glyphs_sentence
from analysis.figures.drawing.layout import (
    KEY_MARK_MM,
    LINE_MM,
    MIN_TEXT_PT,
    MM_PER_POINT,
    SINE_OF_SLANT,
    SMALL_PT,
    TICK_MM,
    TITLE_PT,
    PlacedPanel,
    lay_out,
    wrap_title,
)
from analysis.figures.drawing.pages import parts_of
from analysis.figures.drawing.sheet import (
    FONT_UNITS,
    MM_PER_INCH,
    Fill,
    Marks,
    Sheet,
    Stroke,
    Text,
    measure_text,
)
from analysis.translation import localised

PNG_DPI = 300
# Length in bytes of the signature and header of a PNG, after which chunks may be inserted.
HEADER_LENGTH = 33
PICTURE_PAGE = b"""#set page(width: auto, height: auto, margin: 0pt, fill: white)
#image("figure.svg")"""
GRID_PT, EDGE_PT = 0.5, 0.9
# Drawing order of bands and of the grid; the layers of a panel start at 1.
BELOW_GRID, GRID = 0.0, 0.5
CELL_GAP = 0.016
Texts = tuple[tuple[str, ...], ...]
# Line spacing in a cell, in font sizes.
LINE_SPACING = 1.25
SCALE_STEPS = 64
# A matrix with more rows has cells without gaps, in at most this number of colours.
MAX_SEPARATE_ROWS = 96
MISSING_GLYPH = "□"
JOINERS = frozenset("\u200c\u200d")
CENTRED = {"side": Side.CENTRE}
DASHES: dict[Dash, tuple[float, ...]] = {
    Dash.SOLID: (),
    Dash.DASHED: (4, 2.5),
    Dash.DOTTED: (1, 1.8),
}
# Diamonds and squares have the same area as circles, so that they look equally large.
MARKERS = {
    Mark.CIRCLE: ("o", 1.0),
    Mark.DIAMOND: ("D", 1.22 / math.sqrt(2)),
    Mark.SQUARE: ("s", 0.88),
}


def n_parts(chart: Chart) -> int:
    """Return the number of parts in which a chart is printed; several if it is too high."""
    return len(parts_of(chart, width_mm))


def svgs(chart: Chart) -> tuple[bytes, ...]:
    """Draw each part of a chart as SVG with text as paths; the bytes are the same every time."""
    return tuple(map(_svg, parts_of(chart, width_mm)))


def svg(chart: Chart, part: int = 1) -> bytes:
    """Draw a part of a chart as SVG, as `svgs` does."""
    return _svg(parts_of(chart, width_mm)[part - 1])


def _svg(part: Chart) -> bytes:
    return _sheet(part).svg()


def png(chart: Chart, part: int = 1) -> bytes:
    """Draw a part of a chart as PNG with 300 dots per inch; the bytes are the same every time."""
    return svg_to_png(svg(chart, part))


def svg_to_png(picture: bytes) -> bytes:
    """Convert an SVG to PNG with 300 dots per inch."""
    sources = {"main.typ": PICTURE_PAGE, "figure.svg": picture}
    file: bytes = typst.compile(  # type: ignore[call-overload]  # its types lack the mapping
        sources, ignore_system_fonts=True, format="png", ppi=PNG_DPI
    )
    return file[:HEADER_LENGTH] + _resolution() + file[HEADER_LENGTH:]


def smallest_text_pt(picture: bytes) -> float:
    """Return the size in points of the smallest text in an SVG; infinity if it has no text."""
    scales = re.findall(rb"scale\(([\d.]+) -", picture)
    return min((float(scale) * FONT_UNITS for scale in scales), default=math.inf)


def _resolution() -> bytes:
    """Return the chunk of a PNG that states the resolution, which Typst omits."""
    per_metre = round(PNG_DPI / MM_PER_INCH * 1000)
    content = b"pHYs" + struct.pack(">IIB", per_metre, per_metre, 1)
    return struct.pack(">I", len(content) - 4) + content + struct.pack(">I", zlib.crc32(content))


def sheet(chart: Chart, part: int = 1) -> Sheet:
    """Return the drawing of a part of a chart."""
    return _sheet(parts_of(chart, width_mm)[part - 1])


def _sheet(chart: Chart) -> Sheet:
    layout = lay_out(chart, width_mm)
    missing_signs = wrap_title(missing_glyphs_sentence(_texts(chart)), layout.width, width_mm)
    layout = layout.with_space_below(LINE_MM * len(missing_signs))
    drawn = Sheet(layout.width, layout.height)
    for i, line in enumerate(reversed(missing_signs)):
        _add_text(drawn, 0, LINE_MM * (i + 0.5), Label(text=line), LIGHT.quiet)
    for key, (x, y) in zip(chart.key, layout.key, strict=True):
        _draw_key(drawn, key, x, y)
    for placed_panel in layout.panels:
        _Panel(drawn, placed_panel).draw()
    return drawn


def _texts(chart: Chart) -> Iterator[str]:
    """Yield all texts of a chart."""
    yield from (key.label for key in chart.key)
    for panel in chart.panels:
        yield from (panel.title, panel.subtitle, panel.x.title, panel.y.title)
        yield from (tick.label.text for axis in (panel.x, panel.y) for tick in axis.ticks)
        for layer in panel.layers:
            if isinstance(layer, Note):
                yield layer.label.text
            elif isinstance(layer, HeatMap):
                yield from (text for row in layer.texts for text in row)


def _add_text(drawn: Sheet, x: float, y: float, label: Label, colour: str, **look: Any) -> None:
    text = printable(label)
    if text:
        drawn.texts.append(Text(x=x, y=y, text=text, colour=colour, **look))


class _Panel:
    def __init__(self, sheet: Sheet, placed_panel: PlacedPanel) -> None:
        self.sheet, self.placed, self.panel = sheet, placed_panel, placed_panel.panel

    def draw(self) -> None:
        if self.panel.framed:
            self._write_ticks()
        self._write_titles()
        for order, layer in enumerate(self.panel.layers, start=1):
            self._draw(layer, BELOW_GRID if isinstance(layer, Band) else float(order))

    def _write_ticks(self) -> None:
        panel, placed_panel = self.panel, self.placed
        x, y = panel.x, panel.y
        under = placed_panel.bottom - (TICK_MM if x.slanted else TICK_MM + LINE_MM / 2)
        look: dict[str, Any] = {"side": Side.RIGHT, "angle": 45} if x.slanted else CENTRED
        colour, size = (LIGHT.ink, placed_panel.label_pt) if x.slanted else (LIGHT.quiet, SMALL_PT)
        labelled = (
            _non_overlapping_slanted(x, placed_panel.width, size)
            if x.slanted
            else non_overlapping(x, placed_panel.width)
        )
        for tick in labelled if x.labels else ():
            self._add_text(self._x(tick.at), under, tick.label, colour, size_pt=size, **look)
        colour = LIGHT.quiet if y.title else LIGHT.ink
        for tick in _ticks_inside(y) if y.labels else ():
            place = placed_panel.left - TICK_MM, self._y(tick.at)
            look = {"size_pt": placed_panel.label_pt, "side": Side.RIGHT}
            self._add_text(*place, tick.label, colour, **look)
        grid: dict[str, Any] = {"colour": LIGHT.rule, "width_pt": GRID_PT}
        for tick in _ticks_inside(x) if x.grid else ():
            self._add_stroke([tick.at] * 2, [y.low, y.high], GRID, **grid)
        for tick in _ticks_inside(y) if y.grid else ():
            self._add_stroke([x.low, x.high], [tick.at] * 2, GRID, **grid)

    def _x(self, value: float) -> float:
        return self.placed.left + _share(self.panel.x, value) * self.placed.width

    def _y(self, value: float) -> float:
        return self.placed.bottom + _share(self.panel.y, value) * self.placed.height

    def _write_titles(self) -> None:
        placed_panel, panel = self.placed, self.panel
        lines = [(line, True) for line in placed_panel.title]
        if panel.subtitle:
            lines.append((panel.subtitle, False))
        y = placed_panel.bottom + placed_panel.height + 1.5 + LINE_MM * (len(lines) - 0.5)
        for line, bold in lines:
            size, colour = (TITLE_PT, LIGHT.ink) if bold else (SMALL_PT, LIGHT.quiet)
            self._add_text(placed_panel.left, y, Label(text=line), colour, size_pt=size, bold=bold)
            y -= LINE_MM
        if panel.x.title and panel.framed:
            labelled = panel.x.labels and any(tick.label.text for tick in panel.x.ticks)
            down = placed_panel.bottom - (TICK_MM + LINE_MM if labelled else 0) - 0.6 - LINE_MM / 2
            middle = placed_panel.left + placed_panel.width / 2
            for line in placed_panel.x_title:
                self._add_text(middle, down, Label(text=line), LIGHT.ink, **CENTRED)
                down -= LINE_MM
        if panel.y.title and panel.framed:
            labels = [tick.label for tick in panel.y.ticks if panel.y.labels]
            widest = max(
                (width_mm(label, placed_panel.label_pt, False) for label in labels), default=0.0
            )
            x = placed_panel.left - TICK_MM - widest - 0.4 - LINE_MM / 2
            middle, title = placed_panel.bottom + placed_panel.height / 2, Label(text=panel.y.title)
            self._add_text(x, middle, title, LIGHT.ink, angle=90, **CENTRED)

    def _add_text(self, x: float, y: float, label: Label, colour: str, **look: Any) -> None:
        _add_text(self.sheet, x, y, label, colour, **look)

    def _add_stroke(
        self, x: Iterable[float], y: Iterable[float], order: float, **look: Any
    ) -> None:
        xs, ys = list(map(self._x, x)), list(map(self._y, y))
        self.sheet.lines.append(Stroke(x=xs, y=ys, order=order, **look))

    def _add_fill(self, boxes: Iterable[Sequence[float]], colour: str, order: float) -> None:
        """Fill boxes, whose left, bottom, right and top are in coordinates of the axes."""
        boxes_placed = [(self._x(a), self._y(b), self._x(c), self._y(d)) for a, b, c, d in boxes]
        if boxes_placed:
            self.sheet.fills.append(Fill(boxes=boxes_placed, colour=colour, order=order))

    def _draw(self, layer: Layer, order: float) -> None:
        x, y = self.panel.x, self.panel.y
        match layer:
            case Points():
                self._draw_points(layer, order)
            case Line():
                self._add_stroke(layer.x, layer.y, order, **_line_style(layer))
            case Boxes():
                self._draw_boxes(layer, order)
            case HeatMap():
                self._draw_cells(layer, order)
            case ReferenceLine():
                at = [layer.at] * 2
                xs, ys = (at, [y.low, y.high]) if layer.vertical else ([x.low, x.high], at)
                self._add_stroke(xs, ys, order, **_line_style(layer))
            case Band(vertical=True):
                self._add_fill([(layer.low, y.low, layer.high, y.high)], LIGHT.shade, order)
            case Band():
                self._add_fill([(x.low, layer.low, x.high, layer.high)], LIGHT.shade, order)
            case Note():
                self._add_text(
                    self._x(layer.x) + layer.dx_mm,
                    self._y(layer.y) + layer.dy_mm,
                    layer.label,
                    LIGHT.colours[layer.ink],
                    size_pt=min(SMALL_PT, self.placed.label_pt),
                    bold=layer.bold,
                    side=layer.side,
                    order=order,
                )

    def _draw_points(self, layer: Points, order: float) -> None:
        colour, nan = LIGHT.colours[layer.ink], math.nan
        ends = zip(layer.low, layer.high, layer.y, strict=False)
        runs = [(low, high, y) for low, high, y in ends if not math.isnan(low)]
        xs = [value for low, high, _ in runs for value in (low, high, nan)]
        ys = [value for _, _, y in runs for value in (y, y, nan)]
        self._add_stroke(xs, ys, order, colour=colour, width_pt=0.6 if layer.shares else 1.0)
        marks = zip(layer.sizes_mm, layer.x, layer.y, strict=True)
        for size, alike in groupby(marks, key=itemgetter(0)):
            _, across, up = zip(*alike, strict=True)
            look = _marker_style(layer.mark, size, colour, hollow=layer.hollow)
            if layer.shares:  # The edge is part of the area, which shows the share.
                look["size_pt"] -= EDGE_PT
            xs, ys = list(map(self._x, across)), list(map(self._y, up))
            self.sheet.lines.append(Marks(x=xs, y=ys, order=order, **look))

    def _draw_boxes(self, layer: Boxes, order: float) -> None:
        half, nan = layer.thickness / 2, math.nan
        rows = zip(layer.y, layer.low, layer.high, strict=True)
        boxes = [(low, y - half, high, y + half) for y, low, high in rows]
        self._add_fill(boxes, LIGHT.pale[layer.ink], order)
        xs = [value for middle in layer.middle for value in (middle, middle, nan)]
        ys = [value for y in layer.y for value in (y - half, y + half, nan)]
        self._add_stroke(xs, ys, order, colour=LIGHT.colours[layer.ink], width_pt=1.6)

    def _draw_cells(self, layer: HeatMap, order: float) -> None:
        by_colour = defaultdict(list)
        gap = CELL_GAP if len(layer.values) <= MAX_SEPARATE_ROWS else 0.0
        reach = 0.5 - gap
        for i, row in enumerate(layer.values):
            for j, value in enumerate(row):
                colour = _cell_colour(layer, value, coarse=gap == 0)
                by_colour[colour].append((j - reach, i + reach, j + reach, i - reach))
        for colour, boxes in by_colour.items():
            self._add_fill(boxes, colour, order)
        cell = self.placed.width / len(layer.values[0])
        for texts in (layer.texts, _only_estimates(layer.texts)):
            size = _size_in_cells(texts, cell)
            if size >= MIN_TEXT_PT:
                self._write_cells(layer, texts, size, order)
                break
        if layer.labels:
            self._draw_scale(layer)

    def _write_cells(self, layer: HeatMap, texts: Texts, size: float, order: float) -> None:
        step = LINE_SPACING * size * MM_PER_POINT * len(layer.values[0]) / self.placed.width
        for i, row in enumerate(texts):
            for j, text in enumerate(row):
                ink = LIGHT.ink_on(_cell_colour(layer, layer.values[i][j], coarse=False))
                shown = text.split("\n")
                for k, line in enumerate(shown):
                    y = self._y(i + step * (k - (len(shown) - 1) / 2))
                    look: dict[str, Any] = {"size_pt": size, "order": order, **CENTRED}
                    self._add_text(self._x(j), y, Label(text=line), ink, **look)

    def _draw_scale(self, layer: HeatMap) -> None:
        placed_panel = self.placed
        left, wide = placed_panel.left + placed_panel.width + 3.0, 2.4
        for step in range(SCALE_STEPS):
            y = placed_panel.bottom + step / SCALE_STEPS * placed_panel.height
            # Each step overlaps the next one slightly, so that there is no visible seam.
            end = min(
                y + 1.5 * placed_panel.height / SCALE_STEPS,
                placed_panel.bottom + placed_panel.height,
            )
            colour = colour_at(layer.scale, (step + 0.5) / SCALE_STEPS)
            box = left, y, left + wide, end
            self.sheet.fills.append(Fill(boxes=[box], colour=colour))
        for value in layer.labels:
            y = (
                placed_panel.bottom
                + (value - layer.low) / (layer.high - layer.low) * placed_panel.height
            )
            text = Label(text=localised(f"{value:g}".replace("-", "\u2212")))
            self._add_text(left + wide + 1.0, y, text, LIGHT.quiet)


def _size_in_cells(texts: Texts, cell_mm: float) -> float:
    """Return the font size in points at which the longest line fits a cell."""
    lines = {line for row in texts for text in row for line in text.split("\n")}
    longest = max((width_mm(Label(text=line), SMALL_PT, False) for line in lines), default=0.0)
    return min(SMALL_PT, SMALL_PT * 0.86 * cell_mm / max(longest, 0.1))


def _only_estimates(texts: Texts) -> Texts:
    r"""Return only the texts of a single line, without a zero before the decimal separator.

    Examples
    --------
    >>> _only_estimates((("−0.21", "0.10 to\n0.42", "–"),))
    (('−.21', '', '–'),)
    """
    return tuple(
        tuple("" if "\n" in text else re.sub(r"^(\u2212?)0(?=[.,])", r"\1", text) for text in row)
        for row in texts
    )


def _cell_colour(layer: HeatMap, value: float, *, coarse: bool) -> str:
    if math.isnan(value):
        return LIGHT.empty
    share = (value - layer.low) / (layer.high - layer.low)
    return colour_at(
        layer.scale, round(share * MAX_SEPARATE_ROWS) / MAX_SEPARATE_ROWS if coarse else share
    )


def _draw_key(drawn: Sheet, key: Key, x: float, y: float) -> None:
    if key.ink is None:
        _add_text(drawn, x, y, key.words, LIGHT.ink)
        return
    colour = LIGHT.colours[key.ink]
    if key.mark:
        look = _marker_style(key.mark, 1.7, colour, hollow=key.hollow)
        drawn.lines.append(Marks(x=[x + KEY_MARK_MM / 2 - 0.4], y=[y], **look))
    elif key.dash:
        look = {"colour": colour, "width_pt": 1.1, "dashes": DASHES[key.dash]}
        drawn.lines.append(Stroke(x=[x, x + 4.0], y=[y, y], **look))
    else:
        box = x, y - 1.1, x + 4.0, y + 1.1
        drawn.fills.append(Fill(boxes=[box], colour=LIGHT.pale[key.ink]))
    _add_text(drawn, x + KEY_MARK_MM, y, key.words, LIGHT.ink)


def _line_style(layer: Line | ReferenceLine) -> dict[str, Any]:
    return {
        "colour": LIGHT.colours[layer.ink],
        "width_pt": layer.width_pt,
        "dashes": DASHES[layer.dash],
    }


def _marker_style(mark: Mark, size_mm: float, colour: str, *, hollow: bool) -> dict[str, Any]:
    shape, share = MARKERS[mark]
    return {
        "shape": shape,
        "size_pt": share * size_mm / MM_PER_POINT,
        "colour": LIGHT.paper if hollow else colour,
        "edge": colour,
        "edge_pt": EDGE_PT,
    }


def _share(axis: Axis, value: float) -> float:
    """Return the position of a value on an axis, limited to its ends, which are 0 and 1."""
    if math.isnan(value):
        return math.nan
    low, high = sorted((axis.low, axis.high))
    ends = axis.low, axis.high, min(max(value, low), high)
    begin, end, at = map(math.log, ends) if axis.log else ends
    return 0.0 if begin == end else (at - begin) / (end - begin)


def _ticks_inside(axis: Axis) -> list[Tick]:
    """Return the ticks between the ends of an axis."""
    low, high = sorted((axis.low, axis.high))
    slack = 1e-9 * (high - low)
    return [tick for tick in axis.ticks if low - slack <= tick.at <= high + slack]


def non_overlapping(axis: Axis, length_mm: float) -> list[Tick]:
    """Return ticks whose labels do not overlap; zero has priority, then the ends."""
    if axis.low == axis.high:
        return []
    ticks = _ticks_inside(axis)
    last = len(ticks) - 1
    order = sorted(range(len(ticks)), key=lambda i: (ticks[i].at != 0, i not in (0, last), i))
    labels_placed: dict[int, tuple[float, float]] = {}
    for i in order:
        tick = ticks[i]
        middle = _share(axis, tick.at) * length_mm
        half = width_mm(tick.label, SMALL_PT, False) / 2 + 0.5
        if all(middle + half <= a or b <= middle - half for a, b in labels_placed.values()):
            labels_placed[i] = (middle - half, middle + half)
    return [ticks[i] for i in sorted(labels_placed)]


def _non_overlapping_slanted(axis: Axis, length_mm: float, size_pt: float) -> list[Tick]:
    """Return ticks whose slanted labels do not overlap, starting with the first."""
    ticks_kept: list[Tick] = []
    for tick in _ticks_inside(axis):
        step = (
            (_share(axis, tick.at) - _share(axis, ticks_kept[-1].at)) * length_mm
            if ticks_kept
            else 0.0
        )
        if not ticks_kept or step * SINE_OF_SLANT >= size_pt * MM_PER_POINT:
            ticks_kept.append(tick)
    return ticks_kept


@lru_cache(maxsize=4096)
def printable(label: Label) -> str:
    """Return the text of a label with a box for each character without a glyph.

    If the label has a replacement for which the fonts have all glyphs, that is returned instead.

    Examples
    --------
    >>> printable(Label(text="Résidente 1"))
    'Résidente 1'
    >>> printable(Label(text="住院医师", fallback="R07"))
    '住院医师'
    >>> printable(Label(text="𒀀", fallback="R07")), printable(Label(text="𒀀 a"))
    ('R07', '□ a')
    """
    text = _clean(label.text)
    if MISSING_GLYPH not in text or not label.fallback:
        return text
    otherwise = _clean(label.fallback)
    return text if MISSING_GLYPH in otherwise else otherwise


@lru_cache(maxsize=4096)
def width_mm(label: Label, size_pt: float, bold: bool) -> float:
    """Return the printed width of a label in millimetres."""
    return measure_text(printable(label), bold=bold).width / FONT_UNITS * size_pt * MM_PER_POINT


def _clean(text: str) -> str:
    shown = []
    for sign in unicodedata.normalize("NFC", " ".join(text.split())):
        if sign in BIDI_CONTROLS or (is_invisible(sign) and sign not in JOINERS):
            continue
        shown.append(
            sign if ord(sign) in code_points() else "" if sign in JOINERS else MISSING_GLYPH
        )
    return "".join(shown)
