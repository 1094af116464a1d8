"""Printed figures of large studies are legible and complete, and fit a page."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.figures.drawing.chart import (
    Axis,
    Band,
    Boxes,
    Chart,
    HeatMap,
    Ink,
    Key,
    Label,
    Line,
    Mark,
    Note,
    Panel,
    Points,
    ReferenceLine,
    Tick,
)
from analysis.figures.drawing.layout import MIN_TEXT_PT
from analysis.figures.drawing.pages import max_height_mm, parts_of
from analysis.figures.drawing.to_print import sheet, smallest_text_pt, svg, width_mm
from analysis.figures.forest import number_column
from analysis.report.figures import ReportFigure, report_figures
from analysis.report.formats.page import _downloads
from analysis.report.formats.pdf import _write_parts
from tests.unit.analysis.figures import large

WIDTHS = (85, 174, 180)


@pytest.fixture(scope="module")
def figures() -> list[ReportFigure]:
    """Return all figures of twelve readers, twenty models and twelve tasks."""
    return report_figures(large.results(large.StudySize()))


def _parts_on_paper(chart: Chart, width: float) -> Iterable[tuple[float, float, float]]:
    """Yield each part's width and height in millimetres and its smallest text size in points."""
    wide = chart.at_width(width)
    for part in range(1, len(parts_of(wide, width_mm)) + 1):
        drawn = sheet(wide, part)
        sizes = [text.size_pt for text in drawn.texts]
        yield drawn.width, drawn.height, min(sizes, default=math.inf)


@pytest.mark.thorough
def test_every_figure_of_a_large_study_fits_a_page(figures: list[ReportFigure]) -> None:
    """No part exceeds the maximum width and height, or has text below six points."""
    names = {figure.name.split("-")[0] for figure in figures}
    assert names >= {"accuracy", "banks", "input", "kappa", "open", "panel", "reliance", "roc"}
    wrong = {
        (figure.name, width, tuple(map(round, part)))
        for figure in figures
        for width in WIDTHS
        for part in _parts_on_paper(figure.chart, width)
        if part[0] > width + 0.5 or part[1] > max_height_mm(width) or part[2] < MIN_TEXT_PT - 0.001
    }
    assert wrong == set()
    assert max_height_mm(85) <= 230


@pytest.mark.parametrize("width", WIDTHS)
def test_parts_contain_all_marks(figures: list[ReportFigure], width: float) -> None:
    """Each estimate is in exactly one part, next to its name."""
    for figure in figures:
        if figure.chart.square:
            continue
        parts = parts_of(figure.chart.at_width(width), width_mm)
        assert _marks(parts) == _marks([figure.chart.at_width(width)]), figure.name
        assert len({len(part.key) for part in parts}) == 1, figure.name


def _marks(charts: Iterable[Chart]) -> list[tuple[str, str, float]]:
    return sorted(
        (panel.title, _name_at(panel.y, y), x)
        for chart in charts
        for panel in chart.panels
        for layer in panel.layers
        if isinstance(layer, Points)
        for x, y in zip(layer.x, layer.y, strict=True)
    )


def _name_at(axis: Axis, y: float) -> str:
    if axis.title:
        return f"{y:.6f}"
    return min(axis.ticks, key=lambda tick: abs(tick.at - y)).label.text


def test_all_files_of_a_divided_figure_can_be_downloaded(
    figures: list[ReportFigure], tmp_path: Path
) -> None:
    """The page links to each part; the PDF shows each part, and the caption once."""
    figure = next(figure for figure in figures if figure.name.startswith("accuracy"))
    assert len(figure.svgs) == 2
    links = [link["file"] for link in _downloads(figure)]
    assert links == [
        f"{figure.name}.svg",
        f"{figure.name}-part2.svg",
        f"{figure.name}.png",
        f"{figure.name}-part2.png",
        f"{figure.name}.csv",
    ]
    shown = _write_parts(figure, tmp_path)
    assert [part["title"][-11:] for part in shown] == ["part 1 of 2", "part 2 of 2"]
    assert [bool(part["caption"]) for part in shown] == [True, False]


def _forest(n: int, **more: Any) -> Chart:
    names = tuple(Tick(at=i, label=Label(text=f"Rater {i}")) for i in range(n))
    y = Axis(low=n - 0.4, high=-0.6, ticks=names)
    at = tuple(float(i) for i in range(n))
    points = Points(ink=Ink.READER, mark=Mark.CIRCLE, x=at, y=at, low=at, high=at)
    x = Axis(low=0, high=n, title="Percent")
    panel = Panel(x=x, y=y, layers=(points,), height_mm=1.6 * n)
    panel = replace(panel, **more)
    return Chart(rows=((panel,),), key=(Key(label="Readers", ink=Ink.READER, mark=Mark.CIRCLE),))


def test_a_figure_that_fits_a_page_is_drawn_unchanged() -> None:
    """The figure's key does not name a part."""
    chart = _forest(10, height_mm=48.0)
    (part,) = parts_of(chart, width_mm)
    assert (part.rows, part.key) == (chart.rows, chart.key)


def test_rows_move_closer_before_a_figure_is_divided() -> None:
    """The text of names is not smaller than six points."""
    chart = _forest(60, height_mm=288.0)
    (part,) = parts_of(chart, width_mm)
    (across, high, least) = next(iter(_parts_on_paper(chart, 174)))
    assert high <= 200 < 288
    assert least >= 6
    assert across == pytest.approx(174)
    assert len(part.key) == 1


def test_a_figure_with_too_many_names_for_a_page_is_divided() -> None:
    """Rows too low for text of six points become higher."""
    parts = parts_of(_forest(200), width_mm)
    assert [part.key[-1].label for part in parts] == ["part 1 of 3", "part 2 of 3", "part 3 of 3"]
    names = [tick.label.text for part in parts for tick in part.panels[0].y.ticks]
    assert names == [f"Rater {i}" for i in range(200)]
    for part, (_, high, least) in zip(parts, _parts_on_paper(_forest(200), 174), strict=True):
        assert high <= 200
        assert least >= 5.999
        (points,) = part.panels[0].layers
        assert isinstance(points, Points)
        assert points.low == points.high == points.x == points.y
        ends = sorted((part.panels[0].y.low, part.panels[0].y.high))
        assert all(ends[0] <= y < ends[1] for y in points.y)
    picture = svg(_forest(200), 3)
    assert smallest_text_pt(picture) >= 5.999


def test_layers_of_every_kind_are_divided_with_the_rows() -> None:
    """Lines and bands are divided, notes and bars stay in their rows."""
    at = tuple(float(i) for i in range(200))
    layers = (
        Boxes(ink=Ink.READER, y=at, low=at, middle=at, high=at),
        Line(ink=Ink.QUIET, x=at, y=at),
        ReferenceLine(at=5.0),
        ReferenceLine(at=150.0, vertical=False),
        Band(low=0, high=1),
        Band(low=10, high=120, vertical=False),
        *(Note(x=0, y=y, label=Label(text=f"{y:.0f}")) for y in at),
    )
    chart = _forest(200, layers=layers)
    column = number_column(chart.panels[0], (), title="Numbers")
    chart = replace(chart, rows=((chart.panels[0], column),))
    parts = parts_of(chart, width_mm)
    assert len(parts) == 3
    first, last = parts[0].panels[0].layers, parts[-1].panels[0].layers
    assert [type(layer) for layer in first[:4]] == [Boxes, Line, ReferenceLine, Band]
    bars = [layer for part in parts for layer in part.panels[0].layers if isinstance(layer, Boxes)]
    assert [y for layer in bars for y in layer.y] == list(at)
    assert bars[0].low == bars[0].middle == bars[0].high == bars[0].y
    bands = [x for x in first if isinstance(x, Band) and not x.vertical]
    assert bands[0].low == 10
    assert bands[0].high < 70
    assert not [x for x in last if isinstance(x, Band) and not x.vertical]
    assert [x.at for x in last if isinstance(x, ReferenceLine)] == [5.0, 150.0]
    assert [x.label.text for x in last if isinstance(x, Note)][-1] == "199"
    (line,) = (x for x in last if isinstance(x, Line))
    assert line.x == at
    assert [y for y in line.y if not math.isnan(y)] == list(bars[-1].y)
    assert parts[-1].panels[1].y == replace(
        parts[-1].panels[0].y, grid=False, labels=False, title=""
    )


def test_colours_of_cells_are_not_divided() -> None:
    """The colours apply to row numbers of the complete figure."""
    cells = HeatMap(
        values=((0.5,),) * 200, low=0, high=1, scale=((0.0, "#ffffff"), (1.0, "#000000"))
    )
    assert len(parts_of(_forest(200, layers=(cells,)), width_mm)) == 1
