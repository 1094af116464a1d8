"""Both renderers show the same values, for any names and with reproducible bytes."""

from __future__ import annotations

import hashlib
import io
import math
import os
import re
import subprocess
import sys
import unicodedata
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.textpath import TextPath
from PIL import Image

from analysis import Options, Results, analyse, bundle_from_tables, reader_panel
from analysis.figures.agreement import kappa_matrix_chart
from analysis.figures.comparisons import panel_chart
from analysis.figures.drawing.axes import RaterName
from analysis.figures.drawing.chart import (
    Axis,
    Boxes,
    Chart,
    HeatMap,
    Label,
    Line,
    Panel,
    Points,
    Tick,
)
from analysis.figures.drawing.colours import AGREEMENT_SCALE
from analysis.figures.drawing.fonts import font_properties
from analysis.figures.drawing.layout import MM_PER_POINT, Box
from analysis.figures.drawing.sheet import ABOVE_PANELS, Marks
from analysis.figures.drawing.to_plotly import plotly_figure
from analysis.figures.drawing.to_print import (
    png,
    printable,
    sheet,
    smallest_text_pt,
    svg,
    width_mm,
)
from analysis.report.figures import ReportFigure, report_figures
from tests.unit.analysis.figures import tables
from tests.unit.analysis.figures.conftest import MakeResults

UNUSUAL_NAMES = (
    'a,"b"\'c',
    "שלום",
    "مرحبا",
    "<b>R</b>&amp;",
    "$x^2$ $\\frac{",
    "100%",
    "😀👩‍⚕️",
    "住院医师",
    "\u202egnp",
    "line\nbreak",
    "R" * 90,
)


@pytest.fixture(scope="module")
def figures(results: Results) -> list[ReportFigure]:
    """Return all figures of three readers and eight models."""
    return report_figures(results)


def _marks_on_paper(chart: Chart) -> list[tuple[float, float]]:
    drawn = sheet(replace(chart, key=()))
    return [
        place
        for line in drawn.lines
        if isinstance(line, Marks)
        for place in zip(line.x, line.y, strict=True)
    ]


def test_marks_have_the_same_relative_position_in_both_renderers(
    figures: list[ReportFigure],
) -> None:
    """Positions on the screen and in print are compared."""
    for figure in figures:
        printed = np.array(_marks_on_paper(figure.chart))
        drawn, k = figure.plotly(), 0
        for number, panel in enumerate(figure.chart.panels, start=1):
            x_axis = drawn.layout[f"xaxis{number}"]
            y_axis = drawn.layout[f"yaxis{number}"]
            name = f"x{number}" if number > 1 else "x"
            marks_seen = [
                (
                    math.log10(x) if x_axis.type == "log" else x,
                    math.log10(y) if y_axis.type == "log" else y,
                )
                for trace in drawn.data
                if trace.type == "scatter" and trace.mode == "markers" and trace.xaxis == name
                if trace.marker.opacity != 0
                for x, y in zip(trace.x, trace.y, strict=True)
            ]
            count = sum(len(layer.x) for layer in panel.layers if isinstance(layer, Points))
            assert len(marks_seen) == count, figure.name
            paper = printed[k : k + count]
            k += count
            for axis, column in ((x_axis, 0), (y_axis, 1)):
                values = np.array([entry[column] for entry in marks_seen])
                low, high = axis.range
                share = (values - low) / (high - low)
                if len(values) > 1 and np.ptp(share) > 0:
                    slope, _ = np.polyfit(share, paper[:, column], 1)
                    line = paper[0, column] + slope * (share - share[0])
                    assert np.allclose(line, paper[:, column], atol=1e-4), figure.name
        assert k == len(printed), figure.name


def test_the_figure_on_screen_contains_all_values(figures: list[ReportFigure]) -> None:
    """Values are rounded to six digits, and undefined values are null."""
    for figure in figures:
        drawn = figure.plotly()
        scatters = iter([trace for trace in drawn.data if trace.type == "scatter"])
        maps = iter([trace for trace in drawn.data if trace.type == "heatmap"])
        for panel in figure.chart.panels:
            for layer in panel.layers:
                if isinstance(layer, HeatMap):
                    z = np.array(next(maps).z, dtype=float)
                    assert np.allclose(z, np.array(layer.values), rtol=1e-5, equal_nan=True)
                elif isinstance(layer, Points) and layer.x:
                    if not np.isnan(layer.low).all():
                        ends = np.array(next(scatters).x, dtype=float).reshape(-1, 3)
                        limits = np.column_stack([layer.low, layer.high])
                        assert np.allclose(ends[:, :2], limits, rtol=1e-5, equal_nan=True)
                        assert np.isnan(ends[:, 2]).all()
                    assert np.allclose(next(scatters).x, layer.x, rtol=1e-5)
                elif isinstance(layer, Line):
                    assert np.allclose(
                        np.array(next(scatters).y, dtype=float), layer.y, equal_nan=True, rtol=1e-5
                    )
                elif isinstance(layer, Boxes):
                    boxes = np.array(next(scatters).x, dtype=float).reshape(-1, 6)
                    limits = np.column_stack([layer.low, layer.high])
                    assert np.allclose(boxes[:, :2], limits, rtol=1e-5)
                    strokes = np.array(next(scatters).x, dtype=float).reshape(-1, 3)
                    assert np.allclose(strokes[:, 0], layer.middle, rtol=1e-5)
                    assert np.allclose(next(scatters).x, layer.middle, rtol=1e-5)


def test_bytes_are_reproducible(figures: list[ReportFigure]) -> None:
    """The files contain no time of creation."""
    for figure in (figures[0], figures[-1]):
        assert figure.svgs[0] == svg(figure.chart)
        assert figure.pngs[0] == png(figure.chart)
        assert figure.plotly().to_json() == figure.plotly().to_json()
        assert b"dc:date" not in figure.svgs[0]


def test_bytes_are_reproducible_in_another_process(tmp_path: Path) -> None:
    """Matplotlib's settings and the hash seed have no effect."""
    script = (
        "import hashlib\n"
        "from analysis import reader_panel\n"
        "from analysis.figures.comparisons import panel_chart\n"
        "from analysis.figures.drawing.to_print import png, svg\n"
        "from tests.unit.analysis.figures import tables\n"
        "chart = panel_chart(reader_panel(tables.study(n=20)))\n"
        "print(hashlib.sha256(svg(chart) + png(chart)).hexdigest())\n"
    )
    (tmp_path / "matplotlibrc").write_text(
        "svg.fonttype: none\nfont.size: 30\npath.simplify: True\nsavefig.dpi: 50\n"
        "lines.linewidth: 9\npatch.antialiased: False\npath.snap: False\n"
        "savefig.bbox: tight\nfigure.facecolor: red\ntext.hinting: force_autohint\n"
    )
    elsewhere = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "2", "MATPLOTLIBRC": str(tmp_path)},
    ).stdout
    chart = panel_chart(reader_panel(tables.study(n=20)))
    assert elsewhere.strip() == hashlib.sha256(svg(chart) + png(chart)).hexdigest()


def test_printed_figures_have_the_sizes_that_journals_require(figures: list[ReportFigure]) -> None:
    """Figures fit a page, have 300 dots per inch, and contain text as paths."""
    for figure in figures:
        assert sheet(figure.chart).width <= 175, figure.name
    matrix = next(figure for figure in figures if figure.chart.square)
    with Image.open(io.BytesIO(matrix.pngs[0])) as image:
        assert image.width == pytest.approx(sheet(matrix.chart).width / 25.4 * 300, abs=1)
        assert round(image.info["dpi"][0]) == 300
    assert b"<text" not in matrix.svgs[0]


@pytest.mark.parametrize("width", [85, 180])
def test_every_figure_fits_a_column_and_a_page(figures: list[ReportFigure], width: int) -> None:
    """No text is outside the figure, and titles of axes do not overlap."""
    for figure in figures:
        for part in range(1, figure.parts(width) + 1):
            drawn = sheet(figure.chart.at_width(width), part)
            assert drawn.width <= width + 0.1, figure.name
            boxes = [text.box() for text in drawn.texts if text.order == ABOVE_PANELS]
            for i, (left, bottom, right, top) in enumerate(boxes):
                assert left >= -0.1, figure.name
                assert right <= drawn.width + 0.1, figure.name
                assert bottom >= -0.1, figure.name
                assert top <= drawn.height + 0.1, figure.name
                assert not any(_overlap(boxes[i], other) for other in boxes[:i]), figure.name


@pytest.mark.parametrize("width", [85, 180])
@pytest.mark.parametrize("n", [3, 20, 60])
def test_slanted_names_fit_and_do_not_overlap(width: int, n: int) -> None:
    """Names for which there is no space are omitted; the first name ends at the figure's edge."""
    cells = HeatMap(values=((0.0,) * n,), low=-60, high=60, scale=AGREEMENT_SCALE)
    ticks = tuple(Tick(at=i, label=Label(text=f"Model {i} of a long name")) for i in range(n))
    x = Axis(low=-0.5, high=n - 0.5, ticks=ticks, grid=False, slanted=True)
    y = Axis(low=0.5, high=-0.5, ticks=(Tick(at=0, label=Label(text="R1")),), grid=False)
    panel = Panel(x=x, y=y, layers=(cells,), height_mm=30)
    drawn = sheet(Chart(rows=((panel,),), width_mm=width))
    names = [text for text in drawn.texts if text.angle == 45]
    boxes = [text.box() for text in names]
    assert names[0].text == "Model 0 of a long name"
    assert min(left for left, *_ in boxes) >= -0.1
    size = names[0].size_pt * MM_PER_POINT
    for (_, _, right, _), (_, _, after, _) in pairwise(boxes):
        assert (after - right) * math.sin(math.pi / 4) >= 0.9 * size


@pytest.mark.thorough
@pytest.mark.parametrize("width", [85, 180])
def test_no_printed_text_is_smaller_than_six_points(
    figures: list[ReportFigure], results: Results, width: int
) -> None:
    """Text is measured in the SVG; a matrix omits numbers and names that do not fit."""
    drawn = {figure.name: figure.file("svg", width) for figure in figures}
    table = results.tables["agreement_pairs"]
    for n in (12, 24, 40):
        names = [f"Reader {i}" for i in range(n)]
        pairs = pd.DataFrame(combinations(names, 2), columns=["rater_a", "rater_b"])
        pairs = pairs.assign(estimate=-0.42, ci_low=-0.61, ci_high=0.08, measure="kappa_letters")
        pairs = pairs.assign(scope="all", condition="", pair_kind="reader-reader")
        chart = kappa_matrix_chart(pairs.reindex(columns=table.columns))
        drawn[f"matrix of {n}"] = svg(chart.at_width(width))
    sizes = {name: smallest_text_pt(picture) for name, picture in drawn.items()}
    assert {name: size for name, size in sizes.items() if not 5.99 < size < 20} == {}


def test_cells_that_are_too_small_show_no_numbers() -> None:
    """Intervals are omitted first, then estimates."""
    texts = (("", "0.10 to\n0.42"), ("\u22120.21", ""))
    values = ((math.nan, 0.3), (-0.21, math.nan))
    cells = HeatMap(values=values, low=-1, high=1, scale=AGREEMENT_SCALE, texts=texts)
    axis = Axis(low=-0.5, high=1.5, grid=False)
    messages = []
    for side in (20.0, 14.0, 6.0):
        panel = Panel(x=axis, y=axis, layers=(cells,), height_mm=side)
        chart = Chart(rows=((panel,),), square=True)
        messages.append(sorted(text.text for text in sheet(chart).texts))
    assert messages == [["0.10 to", "0.42", "\u22120.21"], ["\u2212.21"], []]


def _overlap(a: Box, b: Box) -> bool:
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return wide > 0.1 and high > 0.2


def test_the_data_of_a_figure_are_its_values(figures: list[ReportFigure]) -> None:
    """All pairs of a matrix and all accuracies are included, with all digits and names."""
    tables = {figure.name: pd.read_csv(io.BytesIO(figure.file("csv", 85))) for figure in figures}
    assert all(len(table) for table in tables.values())
    matrix = next(figure for figure in figures if figure.chart.square)
    values = [
        value
        for layer in matrix.chart.panels[0].layers
        if isinstance(layer, HeatMap)
        for row in layer.values
        for value in row
        if not math.isnan(value)
    ]
    assert tables[matrix.name]["value"].tolist() == values
    assert set(tables[matrix.name]["row"]) == set(tables[matrix.name]["column"])


@pytest.mark.thorough
def test_unusual_names_are_drawn_literally(make_results: MakeResults) -> None:
    """Names are not parsed as markup or formulas, cause no warning, and are escaped in plotly."""
    results = make_results(UNUSUAL_NAMES, ("=cmd()", "M " * 60), n=24)
    for figure in report_figures(results):
        assert figure.svgs[0].startswith(b"<?xml")
        assert "<b>R</b>" not in figure.plotly().to_json()


def test_names_with_missing_glyphs_are_shown_with_boxes_or_as_ids() -> None:
    """Two names in an unknown script can be distinguished by their ids."""
    assert printable(Label(text="𒀀𒀁")) == "□□"
    assert printable(Label(text="𒀀𒀁", fallback="R1")) == "R1"
    assert printable(Label(text="𒀀𒀁", fallback="𒀀")) == "□□"
    assert printable(Label(text="a\u202eb\u200f\x00c\nd")) == "abc d"
    assert printable(Label(text="\ud800")) == "□"
    assert printable(Label(text="שלום")) == "שלום"
    assert width_mm(Label(text="WW"), 8, False) > width_mm(Label(text="ii"), 8, False)


@pytest.mark.parametrize("name", ["住院医师", "レジデント", "전공의", "مرحبا", "שלום", "डॉक्टर"])
@pytest.mark.parametrize("bold", [False, True])
def test_names_in_any_script_are_drawn_with_their_glyphs(name: str, bold: bool) -> None:
    """Missing glyphs would all look alike and cause a warning."""
    assert printable(Label(text=name, fallback="R1")) == name
    shapes = {
        sign: TextPath((0, 0), sign, prop=font_properties(name, bold=bold)).vertices.tobytes()
        for sign in name
        if not unicodedata.combining(sign)
    }
    assert len(set(shapes.values())) == len(shapes)
    assert width_mm(Label(text=name), 8, bold) > 2


def test_characters_have_the_shape_used_in_their_language() -> None:
    """The character for bone has a different shape in China than in Japan and Korea."""
    drawn = {
        TextPath((0, 0), "骨", prop=font_properties(name)).vertices.tobytes()
        for name in ("骨", "骨の")
    }
    assert len(drawn) == 2


@pytest.mark.thorough
def test_each_condition_has_its_own_figures() -> None:
    """The figures show the condition's readers and all models, and have different names."""
    bundle = tables.study(n=20)
    readers = bundle.readings["rater_id"].isin(tables.READERS)
    own_rows, others = bundle.readings.loc[readers], bundle.readings.loc[~readers]
    parts = [own_rows.assign(condition="a/b"), own_rows.assign(condition="a b"), others]
    both = bundle_from_tables(bundle.items, pd.concat(parts), bundle.raters)
    figures = report_figures(analyse(both, Options(bootstrap=10)))
    assert len({figure.name for figure in figures}) == len(figures)
    first, *rest = figures
    assert first.section == "overview"
    assert [panel.title for panel in first.chart.panels] == ["a b", "a/b"]
    assert {figure.condition for figure in rest} == {"a/b", "a b"}
    forests = [figure for figure in figures if figure.section == "accuracy"]
    for forest in forests:
        assert len(forest.chart.panels[0].y.ticks) == len(tables.READERS) + len(tables.MODELS)


@pytest.mark.parametrize("emptied", ["missing", "empty", "undefined"])
def test_a_figure_of_empty_tables_is_omitted(results: Results, emptied: str) -> None:
    """Empty or undefined tables cause no error."""
    changed_names = set(results.tables) - {"accuracy", "agreement_pairs", "missing"}
    other_tables = {
        name: table for name, table in results.tables.items() if name not in changed_names
    }
    for name in changed_names if emptied != "missing" else ():
        table = results.tables[name]
        other_tables[name] = table.iloc[:0] if emptied == "empty" else _undefined(table)
    result = report_figures(replace(results, tables=other_tables))
    assert {figure.section for figure in result} == {"overview", "accuracy", "tasks", "agreement"}


def _undefined(table: pd.DataFrame) -> pd.DataFrame:
    numbers = [column for column in table.columns if table[column].dtype == float]
    table = table.assign(**dict.fromkeys(numbers, np.nan))
    counts = [c for c in ("rank", "rank_low", "rank_high") if c in table]
    table = table.assign(**dict.fromkeys(counts, np.nan))
    return table.assign(n_models=0) if "n_models_correct" in table else table


def test_every_caption_states_n_and_the_interval(figures: list[ReportFigure]) -> None:
    """If there is no interval, the caption states the reason."""
    assert {figure.section for figure in figures} == {
        "overview",
        "accuracy",
        "leaderboard",
        "tasks",
        "comparison",
        "agreement",
        "time",
        "items",
    }
    for figure in figures:
        assert "interval" in figure.caption or "spread" in figure.caption, figure.name
        assert any(sign.isdigit() for sign in figure.caption), figure.name
        assert not re.search(r"\bnan\b", figure.caption)


@pytest.mark.thorough
def test_files_of_figures_of_two_hundred_raters_are_small(make_results: MakeResults) -> None:
    """Only one matrix is drawn, and all figures together have less than 2.5 megabytes."""
    readers = tuple(f"R{i:03d}" for i in range(120))
    models = tuple(f"M{i:03d}" for i in range(80))
    figures = report_figures(make_results(readers, models, n=10))
    assert len([f for f in figures if f.chart.square]) == 1
    assert sum(len(plotly_figure(figure.chart).to_json()) for figure in figures) < 2_500_000


def test_figures_can_be_drawn_from_any_thread(figures: list[ReportFigure]) -> None:
    """Matplotlib's settings apply to the process, and have no effect on PNG and SVG."""
    from concurrent.futures import ThreadPoolExecutor

    chart = figures[0].chart
    with ThreadPoolExecutor(4) as pool:
        drawn = {hashlib.sha256(entry).hexdigest() for entry in pool.map(svg, [chart] * 6)}
        painted = {hashlib.sha256(entry).hexdigest() for entry in pool.map(png, [chart] * 4)}
    assert (len(drawn), len(painted)) == (1, 1)


def test_characters_without_a_glyph_are_named_below_the_figure(results: Results) -> None:
    """Without missing glyphs the figure has its usual height."""
    names = {"R1": RaterName(label="\U00012000 and \U00013000", simulated=False)}
    pairs = results.tables["agreement_pairs"]
    known, missing = (sheet(kappa_matrix_chart(pairs, names=each)) for each in (None, names))
    message = " ".join(text.text for text in missing.texts)
    assert "U+12000 (CUNEIFORM SIGN A), U+13000 (EGYPTIAN HIEROGLYPH A001)" in message
    assert not any("glyph" in text.text for text in known.texts)
    assert missing.height > known.height
