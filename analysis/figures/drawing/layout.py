"""Positions of the parts of a chart and of the names next to marks, for screen and print."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest

from analysis.figures.drawing.axes import shorten
from analysis.figures.drawing.chart import Axis, Chart, HeatMap, Key, Label, Note, Panel, Side, Tick

MM_PER_POINT = 25.4 / 72
LABEL_PT = 7.5
SMALL_PT = 7.0
TITLE_PT = 7.0
# Smallest size of printed text; numbers in cells that would be smaller are omitted.
MIN_TEXT_PT = 6.0
# Font size of a row's name as a share of the height of the row.
NAME_SHARE_OF_ROW = 0.85
LINE_MM = 3.3
GAP_MM = 4.0
EDGE_MM = 1.5
TICK_MM = 1.2
SCALE_MM = 13.0
KEY_MM = 4.2
KEY_MARK_MM = 5.0
# Smallest width of a printed panel; narrower panels are moved to the next row.
MIN_PANEL_MM = 15.0
# Smallest width of a printed cell; if cells are smaller, the names are listed above the matrix.
MIN_CELL_MM = 9.0
# Maximum height of a matrix with its names listed above it.
MAX_LISTED_MM = 200.0
SINE_OF_SLANT = math.sin(math.pi / 4)

# Label, size in points, bold -> width in millimetres.
Measure = Callable[[Label, float, bool], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedPanel:
    """A panel with its position and its titles.

    Parameters
    ----------
    left, bottom, width, height : float
        The area inside the axes in millimetres, from the lower left corner of the chart.
    title, x_title : tuple of str
        The lines of the title and of the title of the x axis.
    label_pt : float
        Font size of the labels of the y axis and of slanted labels of the x axis.
    """

    panel: Panel
    left: float
    bottom: float
    width: float
    height: float
    title: tuple[str, ...]
    x_title: tuple[str, ...]
    label_pt: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The size of a chart and the positions of its parts, in millimetres.

    Parameters
    ----------
    width, height : float
        Size of the chart.
    panels : tuple of PlacedPanel
        The panels with their positions.
    key : tuple of (float, float)
        Left edge and vertical centre of each entry of the key.
    left, right : float
        Space to the left and to the right of the panels.
    """

    width: float
    height: float
    panels: tuple[PlacedPanel, ...]
    key: tuple[tuple[float, float], ...]
    left: float
    right: float

    def with_space_below(self, by: float) -> Layout:
        """Return the layout with additional space at the bottom."""
        return replace(
            self,
            height=self.height + by,
            panels=tuple(replace(panel, bottom=panel.bottom + by) for panel in self.panels),
            key=tuple((x, y + by) for x, y in self.key),
        )

    @property
    def top(self) -> float:
        """Position of the upper end of the highest panel."""
        return max(panel.bottom + panel.height for panel in self.panels)

    @property
    def bottom(self) -> float:
        """Position of the lower end of the lowest panel."""
        return min(panel.bottom for panel in self.panels)


def lay_out(chart: Chart, measure: Measure) -> Layout:
    """Place the panels of a chart.

    Parameters
    ----------
    chart : Chart
        The chart.
    measure : callable
        Width in millimetres of a text, given its size in points and whether it is bold.
    """
    columns = _ColumnLayout(chart, measure)
    key, key_height = _key_positions(chart, columns.width, measure)
    panels_placed: list[PlacedPanel] = []
    down = EDGE_MM + key_height
    for row in chart.rows:
        titles = [
            wrap_title(p.title, w, measure) for p, w in zip(row, columns.widths, strict=False)
        ]
        down += _heading_height(row, titles)
        line = columns.place_row(row, titles, down)
        panels_placed += line
        foot = max(_footer_height(panel, measure) for panel in line)
        down += max(panel.height for panel in line) + foot + GAP_MM
    height = down - GAP_MM + EDGE_MM
    return Layout(
        width=columns.width,
        height=height,
        panels=tuple(replace(panel, bottom=panel.bottom + height) for panel in panels_placed),
        key=tuple((x, height - y) for x, y in key),
        left=columns.lefts[0],
        right=columns.right,
    )


def reflow(chart: Chart, measure: Measure) -> Chart:
    """Arrange panels that would be too narrow side by side in more rows.

    If there is too little space, a column of numbers is omitted, and the rows and columns of a
    matrix are numbered, with their names listed above it.
    """
    if chart.square:
        return _number_names(chart, measure)
    columns = len(chart.rows[0])
    if not all(panel.framed for panel in chart.panels):
        return _drop_number_columns(chart, measure)
    while columns > 1 and min(_ColumnLayout(chart, measure).widths) < MIN_PANEL_MM:
        columns -= 1
        panels = [
            replace(panel, y=replace(panel.y, labels=i % columns == 0))
            for i, panel in enumerate(chart.panels)
        ]
        rows = tuple(tuple(panels[i : i + columns]) for i in range(0, len(panels), columns))
        chart = replace(chart, rows=rows)
    return chart


def _drop_number_columns(chart: Chart, measure: Measure) -> Chart:
    columns = _ColumnLayout(chart, measure)
    plots = zip(columns.widths, chart.rows[0], strict=True)
    narrowest = min(width for width, panel in plots if panel.framed)
    if narrowest >= MIN_PANEL_MM and columns.width <= chart.width_mm:
        return chart
    rows = tuple(tuple(panel for panel in row if panel.framed) for row in chart.rows)
    return reflow(replace(chart, rows=rows), measure)


def _number_names(chart: Chart, measure: Measure) -> Chart:
    (panel,) = chart.panels
    names = [tick.label for tick in panel.y.ticks]
    width_mm = _ColumnLayout(chart, measure).widths[0]
    named = _thin_names(chart, measure)
    # Few rows have space for their names.
    if width_mm >= MIN_CELL_MM * len(names):
        return named
    (fewer,) = named.panels
    if not panel.x.ticks and len(fewer.y.ticks) == len(names):
        return named
    keys = (Key(label=name.text, fallback=name.fallback, ink=None) for name in names)
    # Columns of a matrix are numbered from the left, rows from the top.
    ticks = panel.x.ticks or tuple(
        Tick(at=tick.at, label=Label(text=f"({tick.at + 1:.0f})")) for tick in panel.y.ticks
    )
    numbered = replace(panel, x=replace(panel.x, ticks=ticks), y=replace(panel.y, ticks=ticks))
    numbered_chart = _thin_names(
        replace(chart, rows=((numbered,),), key=(*chart.key, *keys)), measure
    )
    # For very many raters the list would be longer than the page.
    return (
        numbered_chart
        if lay_out(numbered_chart, measure).height <= MAX_LISTED_MM
        else _thin_names(chart, measure)
    )


def _thin_names(chart: Chart, measure: Measure) -> Chart:
    """Name only every second or third row of a matrix, and so on, until the names are legible."""
    (panel,) = chart.panels
    for tick_step in range(1, len(panel.y.ticks) + 1):
        x, y = (replace(axis, ticks=axis.ticks[::tick_step]) for axis in (panel.x, panel.y))
        fewer = replace(chart, rows=((replace(panel, x=x, y=y),),))
        if label_size(y, _ColumnLayout(fewer, measure).widths[0]) >= MIN_TEXT_PT:
            return fewer
    return chart


class _ColumnLayout:
    """The left edges and the widths of the columns of panels, and the total width."""

    def __init__(self, chart: Chart, measure: Measure) -> None:
        columns = [[p for p in column if p] for column in zip_longest(*chart.rows)]
        before = [max(_left_margin(p, measure) for p in column) for column in columns]
        widths_written = [max(_text_width(p, measure) for p in column) for column in columns]
        self.right = EDGE_MM + 2.5 + (SCALE_MM if _has_scale(chart) else 0.0)
        fixed = (
            EDGE_MM + sum(before) + sum(widths_written) + GAP_MM * (len(columns) - 1) + self.right
        )
        space_mm = max(chart.width_mm - fixed, 8.0 * len(columns))
        if chart.square:
            space_mm = min(space_mm, chart.panels[0].height_mm)
        self.width = fixed + space_mm
        weights = [
            0.0 if text else column[0].weight
            for column, text in zip(columns, widths_written, strict=True)
        ]
        self.widths = [
            text or space_mm * weight / sum(weights)
            for text, weight in zip(widths_written, weights, strict=True)
        ]
        self.lefts = _left_edges(before, self.widths)
        self._square, self._measure = chart.square, measure

    def place_row(
        self, row: Sequence[Panel], titles: Sequence[tuple[str, ...]], down: float
    ) -> list[PlacedPanel]:
        """Place the panels of a row `down` millimetres below the upper edge."""
        line = []
        is_alone = sum(panel.framed for panel in row) == 1
        for panel, title, left, width in zip(row, titles, self.lefts, self.widths, strict=False):
            height = self.widths[0] if self._square else panel.height_mm
            middle = left + width / 2
            # The title of a single panel can be wider than the panel.
            wide = 2 * min(middle, self.width - middle) - 2 * EDGE_MM if is_alone else width
            placed_panel = PlacedPanel(
                panel=panel,
                left=left,
                bottom=-(down + height),
                width=width,
                height=height,
                title=title,
                x_title=wrap_title(panel.x.title, wide, self._measure),
                label_pt=label_size(panel.y, height),
            )
            line.append(placed_panel)
        return line


def label_size(axis: Axis, length_mm: float) -> float:
    """Return the font size in points at which the labels of an axis do not touch each other.

    An axis with a title has numbers, and few ticks.
    """
    span = abs(axis.high - axis.low)
    if axis.title:
        return SMALL_PT
    if axis.log or len(axis.ticks) < 2 or not span:
        return LABEL_PT
    places = sorted(tick.at for tick in axis.ticks)
    step = min(b - a for a, b in pairwise(places))
    return max(min(LABEL_PT, NAME_SHARE_OF_ROW * step / span * length_mm / MM_PER_POINT), 1.0)


def _text_width(panel: Panel, measure: Measure) -> float:
    """Return the width of a column of text, or 0 for another panel."""
    if panel.framed:
        return 0.0
    texts = (x.label for x in panel.layers if isinstance(x, Note))
    size = label_size(panel.y, panel.height_mm)
    widest = max((measure(text, min(size, SMALL_PT), False) for text in texts), default=0.0)
    return max(widest, measure(Label(text=panel.title), TITLE_PT, True), 1.0)


def _left_edges(before: Sequence[float], widths: Sequence[float]) -> list[float]:
    lefts, x = [], EDGE_MM
    for space_mm, width in zip(before, widths, strict=True):
        lefts.append(x + space_mm)
        x += space_mm + width + GAP_MM
    return lefts


def _has_scale(chart: Chart) -> bool:
    return any(isinstance(x, HeatMap) and x.labels for p in chart.panels for x in p.layers)


def _left_margin(panel: Panel, measure: Measure) -> float:
    title = LINE_MM + 1.0 if panel.y.title else 0.0
    if not panel.framed or not panel.y.labels:
        return title
    size = label_size(panel.y, panel.height_mm)
    widths = (measure(tick.label, size, False) for tick in panel.y.ticks)
    left = title + TICK_MM + max(widths, default=0.0)
    if panel.x.slanted and panel.x.ticks:  # the first label extends to the left of the panel
        return max(left, 1.0 + SINE_OF_SLANT * measure(panel.x.ticks[0].label, size, False))
    return left


def _heading_height(row: Sequence[Panel], titles: Sequence[tuple[str, ...]]) -> float:
    lines = max(len(t) + bool(p.subtitle) for p, t in zip(row, titles, strict=True))
    return lines * LINE_MM + (1.5 if lines else 0.0)


def _footer_height(placed_panel: PlacedPanel, measure: Measure) -> float:
    panel, foot = placed_panel.panel, 0.0
    labels = [tick.label for tick in panel.x.ticks if tick.label.text]
    if panel.framed and panel.x.labels and labels:
        foot = TICK_MM + LINE_MM
        if panel.x.slanted:
            size = label_size(panel.y, panel.height_mm)
            foot = (
                TICK_MM + 1.5 + SINE_OF_SLANT * max(measure(label, size, False) for label in labels)
            )
    return foot + (LINE_MM * len(placed_panel.x_title) + 0.6 if placed_panel.x_title else 0.0)


def _key_positions(
    chart: Chart, width: float, measure: Measure
) -> tuple[list[tuple[float, float]], float]:
    places: list[tuple[float, float]] = []
    x, y = EDGE_MM, EDGE_MM + KEY_MM / 2
    for key in chart.key:
        wide = (KEY_MARK_MM if key.ink else 0.0) + measure(key.words, SMALL_PT, False) + 4.0
        if places and x + wide > width:
            x, y = EDGE_MM, y + KEY_MM
        places.append((x, y))
        x += wide
    return places, (y + KEY_MM / 2 + 1.0 if places else 0.0)


def wrap_title(text: str, width: float, measure: Measure) -> tuple[str, ...]:
    """Break a title into at most four lines of the panel's width, and shorten what does not fit."""
    lines: list[str] = []
    for gap, word in _broken_words(text, width + 0.6 * GAP_MM, measure):
        longer = f"{lines[-1]}{gap}{word}" if lines else word
        if lines and measure(Label(text=longer), TITLE_PT, True) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > 4:
        lines = [*lines[:3], " ".join(lines[3:])]
    return tuple(_shorten_line(line, width + 0.6 * GAP_MM, measure) for line in lines)


def _broken_words(text: str, width: float, measure: Measure) -> Iterator[tuple[str, str]]:
    """Yield each word of a title after the separator that precedes it.

    Words that are too long for a line are broken after hyphens.
    """
    for word in text.split():
        long = measure(Label(text=word), TITLE_PT, True) > width
        first, *rest = re.findall("[^-]+-?|-", word) if long else [word]
        yield " ", first
        yield from (("", part) for part in rest)


def _shorten_line(line: str, width: float, measure: Measure) -> str:
    n_characters = len(line)
    while n_characters > 1:
        shown = line[:n_characters] + "…" * (n_characters < len(line))
        if measure(Label(text=shown), TITLE_PT, True) <= width:
            break
        n_characters -= 1
    return line if n_characters == len(line) else line[:n_characters].rstrip() + "…"


MAX_NAME_LENGTH = 26
# Width and height reserved for a letter in small print, and distance of a name from its mark.
LETTER_WIDTH_MM, LETTER_HEIGHT_MM, NAME_DISTANCE_MM = 1.35, 2.9, 1.7
# Possible positions of a name relative to its mark, in order of preference: the side, and the
# distance upwards in millimetres.
NAME_POSITIONS = (
    (Side.LEFT, 1.4),
    (Side.RIGHT, 1.4),
    (Side.LEFT, -1.4),
    (Side.RIGHT, -1.4),
    (Side.LEFT, 3.4),
    (Side.LEFT, -3.4),
    (Side.RIGHT, 3.4),
    (Side.RIGHT, -3.4),
)
NAME_OFFSETS_MM = {Side.LEFT: NAME_DISTANCE_MM, Side.CENTRE: 0.0, Side.RIGHT: -NAME_DISTANCE_MM}
# Distance from the end of a mark's line to the middle of a name above or below the line.
NAME_BEYOND_LINE_MM = LETTER_HEIGHT_MM / 2 + 0.6
# Positions further away, which are tried if all others are occupied.
DISTANT_NAME_POSITIONS = tuple(
    (side, up) for up in (5.4, -5.4, 7.4, -7.4, 9.4, -9.4) for side in (Side.LEFT, Side.RIGHT)
)
# Positions for a name at the end of a line: to the right of the mark, as close as possible.
POSITIONS_AFTER_MARK = tuple(
    (Side.LEFT, up) for up in (0.0, 1.5, -1.5, 3.0, -3.0, 4.5, -4.5, 6.0, -6.0)
)
Box = tuple[float, float, float, float]


def place_names(
    names: Sequence[Label],
    places: Sequence[tuple[float, float]],
    axes: tuple[Axis, Axis],
    size_mm: tuple[float, float],
    *,
    uprights: Sequence[tuple[float, float, float]] = (),
    choices: Sequence[tuple[Side, float]] = NAME_POSITIONS,
) -> list[Note]:
    """Place each name next to its mark.

    Parameters
    ----------
    names : sequence of Label
        The names in the order of the marks.
    places : sequence of (float, float)
        Values of x and y of the marks.
    axes : tuple of Axis
        The axes of x and y.
    size_mm : tuple of float
        Approximate width and height of the panel.
    uprights : sequence of (float, float, float)
        Vertical lines to avoid, one per mark: the value of x, and the values of y at the ends.
    choices : sequence of (Side, float)
        Possible positions of a name relative to its mark, in order of preference.

    Returns
    -------
    list of Note
        The names. A name without a free position is omitted and appears only in the hover text.
    """
    at = [
        tuple(_axis_share(axis, v) * mm for axis, v, mm in zip(axes, place, size_mm, strict=True))
        for place in places
    ]
    marks: list[Box] = [(x - 1.0, y - 1.0, x + 1.0, y + 1.0) for x, y in at]
    lines: list[Box] = []
    for line in uprights:
        x, low, high = (
            _axis_share(axis, v) * mm
            for axis, v, mm in zip(
                (axes[0], axes[1], axes[1]), line, (size_mm[0], *size_mm[1:] * 2), strict=True
            )
        )
        lines.append((x - 0.4, low, x + 0.4, high))
    labels = [Label(text=shorten(n.text, MAX_NAME_LENGTH), fallback=n.fallback) for n in names]
    all_labels = [
        [(*way, _box(way, label, x, y)) for way in _name_positions(choices, line, y)]
        for label, (x, y), line in zip_longest(labels, at, lines)
    ]
    within = [[way for way in ways if _is_inside(way[-1], size_mm)] for ways in all_labels]
    clear = [
        [
            way
            for way in ways
            if not _overlaps_any(way[-1], [*marks, *lines])
            and (way[:2] in choices or _is_nearest(way[-1], i, marks, lines))
        ]
        for i, ways in enumerate(within)
    ]
    # Names with the fewest positions are placed first, so that no name takes the only position of
    # another.
    order = sorted(range(len(names)), key=lambda i: len(clear[i]) if uprights else 0)
    occupied, positions = [*marks], {}
    for ways in (clear, within):
        for i in (name for name in order if name not in positions):
            for side, up, box in ways[i]:
                if not _overlaps_any(box, occupied):
                    occupied.append(box)
                    positions[i] = Note(
                        x=places[i][0],
                        y=places[i][1],
                        label=labels[i],
                        side=side,
                        dx_mm=NAME_OFFSETS_MM[side],
                        dy_mm=up,
                    )
                    break
    return [positions[i] for i in sorted(positions)]


def _name_positions(
    choices: Sequence[tuple[Side, float]], line: Box | None, y: float
) -> list[tuple[Side, float]]:
    """Return the possible positions of a name: at its mark, at an end of its line, further away."""
    ends: list[tuple[Side, float]] = []
    if line:
        ends = [
            (Side.CENTRE, line[3] - y + NAME_BEYOND_LINE_MM),
            (Side.CENTRE, line[1] - y - NAME_BEYOND_LINE_MM),
        ]
    return [*choices, *ends, *(DISTANT_NAME_POSITIONS if choices is NAME_POSITIONS else ())]


def _box(way: tuple[Side, float], label: Label, x: float, y: float) -> Box:
    """Return the approximate area of a name in millimetres."""
    side, up = way
    wide = sum(
        LETTER_WIDTH_MM * (1.7 if unicodedata.east_asian_width(sign) in "WF" else 1.0)
        for sign in label.text
    )
    left = (
        x + NAME_OFFSETS_MM[side] - {Side.LEFT: 0.0, Side.CENTRE: wide / 2, Side.RIGHT: wide}[side]
    )
    return left, y + up - LETTER_HEIGHT_MM / 2, left + wide, y + up + LETTER_HEIGHT_MM / 2


def _is_inside(box: Box, size_mm: tuple[float, float]) -> bool:
    return box[0] >= 0 and box[2] <= size_mm[0] and box[1] >= 0 and box[3] <= size_mm[1]


def _is_nearest(box: Box, i: int, marks: Sequence[Box], lines: Sequence[Box]) -> bool:
    """Return whether no mark is closer to a name than its own, so that it cannot be misread."""
    gaps = [
        min(math.hypot(*_gap(box, mark)) for mark in marks_of_line)
        for marks_of_line in (
            zip(marks, lines, strict=True) if lines else ((mark,) for mark in marks)
        )
    ]
    return gaps[i] == min(gaps)


def _gap(a: Box, b: Box) -> tuple[float, float]:
    return max(b[0] - a[2], a[0] - b[2], 0.0), max(b[1] - a[3], a[1] - b[3], 0.0)


def _overlaps_any(box: Box, others: Sequence[Box]) -> bool:
    return any(_overlap(box, other) for other in others)


def _axis_share(axis: Axis, value: float) -> float:
    low, high, value = (math.log(v) if axis.log else v for v in (axis.low, axis.high, value))
    return (value - low) / (high - low)


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
