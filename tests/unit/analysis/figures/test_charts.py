"""Contents of figures: values of the tables, order and names."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

import numpy as np
import pandas as pd
import pytest

from analysis import Options, Results, analyse, comparisons, item_difficulty
from analysis.figures.accuracy import accuracy_chart, leaderboard_chart, profile_chart
from analysis.figures.agreement import (
    group_agreement_chart,
    kappa_matrix_chart,
    task_agreement_chart,
    truth_pairs,
)
from analysis.figures.comparisons import between_chart, comparisons_chart, panel_chart
from analysis.figures.drawing.chart import (
    Axis,
    Band,
    Boxes,
    Chart,
    HeatMap,
    Label,
    Layer,
    Line,
    Note,
    Panel,
    Points,
    ReferenceLine,
    Side,
    Tick,
    chart_csv,
)
from analysis.figures.drawing.colours import AGREEMENT_SCALE, colour_at, luminance
from analysis.figures.drawing.layout import lay_out, place_names, reflow
from analysis.figures.drawing.sheet import Marks
from analysis.figures.drawing.to_plotly import plotly_figure
from analysis.figures.drawing.to_print import MARKERS, non_overlapping, sheet, width_mm
from analysis.figures.robustness import MAX_WITH_NUMBERS, difficulty_chart, items_read_by_both
from analysis.figures.times import QUARTERS, drift_chart, speed_chart, times_chart
from analysis.report.figures import matrix_figure, report_figures
from analysis.statistics.accuracy.items import difficulty_caption
from analysis.statistics.agreement.pairs.measures import MEASURES
from tests.unit.analysis.figures import tables
from tests.unit.analysis.report.full_run import CLAIMS, panel_row

LayerT = TypeVar("LayerT", bound=Layer)


def _layers(panel: Panel, kind: type[LayerT]) -> list[LayerT]:
    return [layer for layer in panel.layers if isinstance(layer, kind)]


def _require_chart(chart: Chart | None) -> Chart:
    assert chart is not None
    return chart


def _marks(panel: Panel) -> Iterator[tuple[float, float]]:
    for layer in _layers(panel, Points):
        yield from zip(layer.x, layer.y, strict=True)


def _labels(panel: Panel) -> list[str]:
    return [tick.label.text for tick in panel.y.ticks]


def test_the_panel_shows_both_claims_the_margin_and_the_values() -> None:
    """Values are in percentage points, with the best model at the top and a line for each claim."""
    limits = {"A": ((0.12, 0.07, 0.17), (0.12, 0.03, 0.21)), "B": ((0.085, 0.035, 0.135),) * 2}
    rows = [
        panel_row(model_id=model, claim=claim, difference=middle, ci_low=low, ci_high=high)
        for model, both in limits.items()
        for claim, (middle, low, high) in zip(CLAIMS, both, strict=True)
    ]
    chart = _require_chart(panel_chart(pd.DataFrame(rows)))
    plot, numbers = chart.rows[0]
    assert _labels(plot) == ["A", "B"]
    fixed, random = _layers(plot, Points)
    assert (fixed.hollow, random.hollow) == (False, True)
    assert fixed.x == pytest.approx((12, 8.5))
    assert fixed.low == pytest.approx((7, 3.5))
    assert random.high == pytest.approx((21, 13.5))
    assert [rule.at for rule in _layers(plot, ReferenceLine)] == [0, -5]
    assert _layers(plot, Band)[0].low == -5
    assert _layers(plot, Band)[0].high == plot.x.high
    assert [note.label.text for note in _layers(numbers, Note)][:2] == [
        "12.0 (7.0 to 17.0)",
        "12.0 (3.0 to 21.0)",
    ]
    assert "3 readers, 60 items" in fixed.hover[0]


def test_without_a_margin_no_region_is_shaded() -> None:
    """No line shows an undeclared margin."""
    plot = _require_chart(panel_chart(pd.DataFrame([panel_row(margin=np.nan)]))).rows[0][0]
    assert not _layers(plot, Band)
    assert [rule.at for rule in _layers(plot, ReferenceLine)] == [0]


@pytest.fixture
def pair() -> pd.DataFrame:
    """Return the comparison of a reader with a model that has 20 points more."""
    table = comparisons(tables.study(readers=("R1",), models=("M1",), n=20))
    return table.assign(difference=-0.2, ci_low=-0.27, ci_high=-0.12, p_adjusted=0.01)


def test_comparisons_are_shown_as_model_minus_reader(pair: pd.DataFrame) -> None:
    """The difference and its interval have the opposite direction of the table."""
    plot = _require_chart(comparisons_chart(pair)).panels[0]
    points = _layers(plot, Points)[0]
    assert points.x == pytest.approx((20,))
    assert points.low == pytest.approx((12,))
    assert points.high == pytest.approx((27,))
    assert not points.hollow
    assert plot.title == "M1"
    assert _labels(plot) == ["R1"]
    assert "M1 minus R1" in points.hover[0]
    assert "Tango" in points.hover[0]
    assert "adjusted p = 0.010" in points.hover[0]


def test_the_interval_over_patients_is_shown_if_it_exists(pair: pd.DataFrame) -> None:
    """The test takes into account that patients have several items, so the interval must too."""
    table = pair.assign(cluster_ci_low=0.05, cluster_ci_high=0.4)
    points = _layers(_require_chart(comparisons_chart(table)).panels[0], Points)[0]
    assert (points.low, points.high) == ((-40,), (-5,))
    assert "patients" in points.hover[0]


def test_many_models_are_shown_as_a_heat_map() -> None:
    """Seventeen panels would be difficult to read."""
    models = tuple(f"M{i:02d}" for i in range(17))
    table = comparisons(tables.study(readers=("R1", "R2"), models=models, n=20))
    chart = _require_chart(comparisons_chart(table))
    cells = _layers(chart.panels[0], HeatMap)[0]
    assert np.shape(cells.values) == (2, 17)
    table = table.set_index(["rater_a", "rater_b"])
    expected = -100 * table.loc[("R2", "M03"), "difference"]
    assert cells.values[1][3] == pytest.approx(expected)


def test_the_profile_shows_the_range_of_readers_with_every_model(results: Results) -> None:
    """Each task has the lowest, mean and highest accuracy of the readers."""
    accuracy = results.tables["accuracy"]
    chart = _require_chart(profile_chart(accuracy))
    assert [panel.title for panel in chart.panels] == ["Readers", *tables.MODELS]
    rows = accuracy.loc[(accuracy["by"] == "task") & (accuracy["rater_kind"] == "reader")]
    by_task = 100 * rows.groupby("group")["accuracy"].agg(["min", "mean", "max"])
    for panel in chart.panels:
        box = _layers(panel, Boxes)[0]
        order = [label.rsplit(" (", 1)[0] for label in _labels(panel)]
        assert box.low == pytest.approx(by_task.loc[order, "min"])
        assert box.middle == pytest.approx(by_task.loc[order, "mean"])
        assert box.high == pytest.approx(by_task.loc[order, "max"])


def test_agreement_of_groups_is_named_by_measure_and_kind(results: Results) -> None:
    """Each measure has three marks; measures that compare letters are marked as such."""
    groups = results.tables["agreement_groups"]
    plot, numbers = _require_chart(group_agreement_chart(groups)).rows[0]
    assert _labels(plot)[0] == "Brennan-Prediger"
    assert _labels(plot)[-1] == "Gwet's AC1 on letters"
    assert len(list(_marks(plot))) == 18
    assert len(_layers(numbers, Note)) == 18


def _of_all_cases(table: pd.DataFrame, **values: str) -> pd.Series:
    """Return the row of Brennan-Prediger over all cases in which `values` apply."""
    chosen = table.query("scope == 'all' and measure == 'brennan_prediger'")
    for column, value in values.items():
        chosen = chosen.loc[chosen[column] == value]
    return chosen.iloc[0]


def test_agreement_by_task_shows_pairs_of_a_reader_and_a_model_in_the_middle(
    results: Results,
) -> None:
    """Such pairs have no interval in the table, so the figure has none."""
    groups, between = (results.tables[f"agreement_{name}"] for name in ("groups", "between"))
    chart = _require_chart(task_agreement_chart(groups, between))
    assert [panel.title for panel in chart.panels] == ["Brennan-Prediger", "Error consistency"]
    assert _labels(chart.panels[0]) == ["All cases", *sorted(results.bundle.items["task"].unique())]
    readers, models, mixed = _layers(chart.panels[0], Points)
    assert readers.x[0] == _of_all_cases(groups, raters="readers")["estimate"]
    assert models.x[0] == _of_all_cases(groups, raters="models")["estimate"]
    assert mixed.x[0] == _of_all_cases(between)["readers_models"]
    assert all(math.isnan(low) for low in mixed.low)


def test_agreement_by_task_is_shown_without_pairs_of_a_reader_and_a_model(results: Results) -> None:
    """The table of agreement between kinds may be empty."""
    groups, between = (results.tables[f"agreement_{name}"] for name in ("groups", "between"))
    chart = _require_chart(task_agreement_chart(groups, between.iloc[:0]))
    assert [key.label for key in chart.key] == [
        "Readers among themselves",
        "Models among themselves",
    ]


def test_the_difference_of_two_agreements_is_shown_with_both_agreements(results: Results) -> None:
    """Estimates are on the left, the difference with its interval on the right."""
    between = results.tables["agreement_between"]
    left, right, _ = _require_chart(between_chart(between, title="Brennan-Prediger")).rows[0]
    assert len(list(_marks(left))) == 3 * len(_labels(left))
    difference, row = _layers(right, Points)[0], _of_all_cases(between)
    assert difference.x[0] == row["difference"]
    assert (difference.low[0], difference.high[0]) == (row["ci_low"], row["ci_high"])


def test_times_are_shown_in_seconds_by_correctness(results: Results) -> None:
    """Quartiles and medians of all, correct and wrong answers have the same scale."""
    times = results.tables["times"]
    chart = _require_chart(times_chart(times))
    assert [p.title for p in chart.panels] == ["All answers", "Correct answers", "Wrong answers"]
    for panel, group in zip(chart.panels, ("micro", "correct", "wrong"), strict=True):
        box, rows = _layers(panel, Boxes)[0], times.loc[times["group"] == group]
        assert box.middle == pytest.approx(rows["median_ms"] / 1000)
        assert box.low == pytest.approx(rows["q1_ms"] / 1000)
    assert len({(panel.x.low, panel.x.high) for panel in chart.panels}) == 1


def test_the_drift_chart_has_one_line_per_reader_over_the_quarters(results: Results) -> None:
    """The name is at the end of the line."""
    times = results.tables["times"]
    panel = _require_chart(drift_chart(times)).panels[0]
    (line,) = _layers(panel, Line)
    lines = np.array(line.y).reshape(len(tables.READERS), 5)
    quarters = times.query("by == 'position' and rater_id == 'R1'").set_index("group")["median_ms"]
    assert lines[0, :4] == pytest.approx(quarters[list(QUARTERS)] / 1000)
    assert np.isnan(lines[:, 4]).all()
    assert {note.label.text for note in _layers(panel, Note)} == set(tables.READERS)


def test_the_speed_chart_needs_two_raters_with_times(results: Results) -> None:
    """The relation of speed and accuracy needs at least two marks."""
    accuracy, times = results.tables["accuracy"], results.tables["times"]
    assert speed_chart(times.loc[times["rater_id"] == "R1"], accuracy) is None
    panel = _require_chart(speed_chart(times, accuracy)).panels[0]
    micro = accuracy.loc[(accuracy["group"] == "micro") & (accuracy["rater_kind"] == "reader")]
    marks = _layers(panel, Points)[0]
    assert marks.y == pytest.approx(100 * micro["accuracy"])


def test_the_difficulty_chart_counts_items_by_their_number_of_correct_raters() -> None:
    """Readers are on the vertical axis, models on the horizontal; each item counts once."""
    table = pd.DataFrame(
        {
            "condition": "",
            "n_readers": 2,
            "n_readers_correct": [2, 2, 0, 1],
            "n_models": 1,
            "n_models_correct": [1, 1, 1, 0],
        }
    )
    panel = _require_chart(difficulty_chart(table)).panels[0]
    cells = _layers(panel, HeatMap)[0]
    assert cells.texts == (("", "1"), ("1", ""), ("", "2"))
    assert panel.y.high > panel.y.low
    assert "2 cases" in cells.hover[2][1]


@pytest.mark.parametrize("n_readers", [3, MAX_WITH_NUMBERS + 10])
def test_the_data_of_the_difficulty_chart_count_every_item(n_readers: int) -> None:
    """The file has numbers of items even if the cells are too small to show them."""
    readers = tuple(f"R{i}" for i in range(n_readers))
    table = item_difficulty(tables.study(readers=readers))
    data = pd.read_csv(io.BytesIO(chart_csv(_require_chart(difficulty_chart(table)))))
    assert data["value"].sum() == 200
    assert len(data) == (n_readers + 1) * (8 + 1)


def test_items_that_a_reader_did_not_read_are_in_the_figure() -> None:
    """Their position is the share of the other readers; the caption states their number."""
    table = pd.DataFrame(
        {
            "condition": "",
            "n_readers": [3, 3, 2, 1, 0],
            "n_readers_correct": [3, 0, 1, 1, 0],
            "n_models": 1,
            "n_models_correct": [1, 1, 0, 0, 1],
        }
    )
    cells = _layers(_require_chart(difficulty_chart(table)).panels[0], HeatMap)[0]
    assert cells.texts == (("", "1"), ("", ""), ("1", ""), ("1", "1"))
    caption = difficulty_caption(items_read_by_both(table, ""))
    assert ", 4 cases;" in caption
    assert "2 of them were read by fewer than 3 readers (n = 1 to 2)" in caption


def test_the_leaderboard_is_sorted_by_micro_rank(results: Results) -> None:
    """The chart shows accuracy and rank, both micro and macro."""
    table = results.tables["leaderboard"]
    chart = _require_chart(leaderboard_chart(table))
    micro = table.loc[table["group"] == "micro"].sort_values(["rank", "rater_id"])
    assert _labels(chart.panels[0]) == list(micro["rater_id"])
    ranks = sorted((y, x) for x, y in _marks(chart.panels[1]))
    assert [rank for _, rank in ranks] == sorted(micro["rank"])


def test_the_matrix_does_not_depend_on_the_order_of_rows(results: Results) -> None:
    """Readers precede models."""
    pairs = results.tables["agreement_pairs"]
    first = kappa_matrix_chart(pairs)
    other = kappa_matrix_chart(pairs.sample(frac=1, random_state=3))
    assert first.rows == other.rows
    assert _labels(first.panels[0])[:3] == [f"R{i} ({i})" for i in (1, 2, 3)]


def test_all_matrices_list_raters_in_the_same_order(results: Results) -> None:
    """Readers precede models, each sorted by id as in other figures; both sides have numbers."""
    pairs = results.tables["agreement_pairs"]
    raters = [*sorted(tables.READERS), *sorted(tables.MODELS)]
    for measure in MEASURES:
        panel = kappa_matrix_chart(pairs, measure=measure).panels[0]
        assert _labels(panel) == [f"{rater} ({i})" for i, rater in enumerate(raters, start=1)]
        columns = [tick.label.text for tick in panel.x.ticks]
        assert columns == [f"({i})" for i in range(1, len(raters) + 1)]
        assert not panel.x.slanted


def test_a_matrix_shows_estimates_below_and_intervals_above(results: Results) -> None:
    """Each cell equals a row of the table; shares of items have a scale from 0 to 1."""
    pairs = results.tables["agreement_pairs"]
    raters = [*sorted(tables.READERS), *sorted(tables.MODELS)]
    for measure, low in (("kappa_letters", -1), ("raw", 0)):
        (cells,) = _layers(kappa_matrix_chart(pairs, measure=measure).panels[0], HeatMap)
        assert (cells.low, cells.high) == (low, 1)
        rows = pairs.loc[(pairs["measure"] == measure) & (pairs["scope"] == "all")]
        for row in rows.to_dict("records"):
            first, second = sorted(raters.index(row[key]) for key in ("rater_a", "rater_b"))
            assert cells.values[second][first] == cells.values[first][second] == row["estimate"]
            below, above = cells.texts[second][first], cells.texts[first][second]
            assert _number(below) == pytest.approx(row["estimate"], abs=0.0051)
            ends = [_number(end) for end in above.split(" to\n")]
            assert ends == pytest.approx([row["ci_low"], row["ci_high"]], abs=0.0051)
        assert all(cells.texts[i][i] == "" for i in range(len(raters)))


def test_the_reference_standard_is_the_last_row(results: Results) -> None:
    """Cells equal the table; error consistency is undefined and has no such row."""
    pairs, truth = (results.tables[f"agreement_{name}"] for name in ("pairs", "with_truth"))
    raters = [*sorted(tables.READERS), *sorted(tables.MODELS)]
    last = truth_pairs(truth, raters, "kappa_letters", "all", "")
    panel = kappa_matrix_chart(pairs, measure="kappa_letters", model_pairs=last).panels[0]
    assert _labels(panel)[-1] == f"Reference standard ({len(raters) + 1})"
    assert {rule.at for rule in _layers(panel, ReferenceLine)} == {2.5, len(raters) - 0.5}
    (cells,) = _layers(panel, HeatMap)
    rows = truth.query("scope == 'all' and measure == 'kappa_letters'").set_index("rater_id")
    for i, rater in enumerate(raters):
        assert cells.values[-1][i] == cells.values[i][-1] == rows.loc[rater, "estimate"]
        assert _number(cells.texts[-1][i]) == pytest.approx(rows.loc[rater, "estimate"], abs=0.0051)
        assert cells.texts[i][-1].count("to") == 1
    assert truth_pairs(truth, raters, "error_consistency", "all", "").empty
    drawn = {figure.name: figure for figure in report_figures(results) if figure.chart.square}
    assert "which is never wrong" in drawn["error-consistency"].caption
    assert "each rater against the reference standard" in drawn["raw"].caption


@pytest.mark.thorough
def test_each_category_has_its_own_matrix(results: Results) -> None:
    """The matrix is computed from the items, because no table contains it."""
    items = results.bundle.items.assign(category=["x", "y"] * (len(results.bundle.items) // 2))
    bundle = replace(results.bundle, items=items)
    tabled = analyse(bundle, Options(bootstrap=10))
    figure = matrix_figure(tabled, "raw", scope="category=x", reference=True)
    assert figure is not None
    (cells,) = _layers(figure.chart.panels[0], HeatMap)
    answers = bundle.readings.merge(items.loc[items["category"] == "x"], on="item_id")
    wide = answers.pivot(index="item_id", columns="rater_id", values="answer")
    assert cells.values[1][0] == pytest.approx((wide["R1"] == wide["R2"]).mean())
    right = answers.loc[answers["rater_id"] == "R1", ["answer", "truth"]]
    assert cells.values[-1][0] == pytest.approx((right["answer"] == right["truth"]).mean())


def _number(text: str) -> float:
    return float(text.replace("\u2212", "-"))


def test_the_scale_of_agreement_is_readable_without_colour() -> None:
    """Colours become darker from 0; below 0 they are paler than those of medium agreement."""
    light = [luminance(colour) for at, colour in AGREEMENT_SCALE if at >= 0.5]
    assert light == sorted(light, reverse=True)
    assert luminance(AGREEMENT_SCALE[0][1]) > luminance(colour_at(AGREEMENT_SCALE, 0.75))


def test_large_matrices_show_fewer_numbers() -> None:
    """Cells have no numbers above 24 raters, and no hover text above 60."""
    readers = tuple(f"R{i:02d}" for i in range(61))
    pairs = analyse(tables.study(readers=readers, models=(), n=12)).tables["agreement_pairs"]
    cells = _layers(kappa_matrix_chart(pairs).panels[0], HeatMap)[0]
    assert cells.texts == ()
    assert cells.hover == ()


def test_equal_micro_and_macro_values_share_a_panel() -> None:
    """The values are equal if all tasks have the same number of items."""
    table = analyse(tables.study(n=20), Options(bootstrap=5)).tables["accuracy"]
    assert [panel.title for panel in accuracy_chart(table).panels][:2] == [
        "Overall, micro",
        "Overall, macro",
    ]
    micro = table["group"] == "micro"
    overall_rows, tasks = table.loc[micro], table.loc[table["by"] == "task"]
    same = pd.concat([overall_rows, overall_rows.assign(group="macro"), tasks])
    titles = [panel.title for panel in accuracy_chart(same).panels]
    assert titles[0] == "Overall"
    assert len(titles) == 1 + table.loc[table["by"] == "task", "group"].nunique()


def _rows_of_tasks(**sizes: int) -> pd.DataFrame:
    """Return the accuracy rows of a reader and a model, overall and in tasks of these sizes."""
    groups = [
        ("overall", "micro", sum(sizes.values())),
        *(("task", k, n) for k, n in sizes.items()),
    ]
    rows = [
        {"rater_id": rater, "rater_kind": kind, "condition": "", "by": by, "group": group, "n": n}
        for rater, kind in (("R", "reader"), ("M", "model"))
        for by, group, n in groups
    ]
    values = {"accuracy": 0.5, "ci_low": 0.3, "ci_high": 0.7, "n_correct": 1, "n_missing": 0}
    return pd.DataFrame(rows).assign(**values)


def _areas(chart: Chart) -> Iterator[list[float]]:
    """Yield the areas of all marks with their edges, as shares of the largest: screen, print."""
    screen = [
        size + trace.marker.line.width
        for trace in plotly_figure(chart).data
        if trace.mode == "markers" and trace.marker.opacity != 0
        for size in trace.marker.size
    ]
    keys = sum(key.mark is not None for key in chart.key)
    marks = [line for line in sheet(chart).lines if isinstance(line, Marks)][keys:]
    factor = dict(MARKERS.values())
    paper = [
        (equal_marks.size_pt + equal_marks.edge_pt) / factor[equal_marks.shape]
        for equal_marks in marks
        for _ in equal_marks.x
    ]
    for sizes in (screen, paper):
        yield [(size / max(sizes)) ** 2 for size in sizes]


@pytest.mark.parametrize("draw", [accuracy_chart, profile_chart])
@pytest.mark.parametrize(
    ("sizes", "shares"),
    [
        ({"Large": 120, "Half": 60, "Small": 30}, [1.0, 0.5, 0.25]),
        ({"Large": 40, "Half": 40, "Small": 40}, [1.0, 1.0, 1.0]),
        ({"Large": 120, "Half": 60, "Small": 3}, [1.0, 0.5, (0.6 / 1.8) ** 2]),
    ],
)
def test_the_area_of_a_mark_shows_the_number_of_cases(
    draw: Callable[[pd.DataFrame], Chart | None], sizes: dict[str, int], shares: list[float]
) -> None:
    """Screen and print are checked; tasks of the same size have the same marks."""
    chart = _require_chart(draw(_rows_of_tasks(**sizes)))
    overall = [1.0, 1.0] if draw is accuracy_chart else []
    every = np.repeat(shares, 2) if draw is accuracy_chart else np.tile(shares, 2)
    for areas in _areas(chart):
        assert areas == pytest.approx([*overall, *every], abs=0.02)


def test_every_rater_has_a_name_next_to_its_mark() -> None:
    """Marks may be close together, and intervals may lie between them."""
    axes = Axis(low=0, high=92), Axis(low=0, high=60)
    places = [(40.0 + 2 * (i % 4), 28.0 + i) for i in range(12)]
    lines = [(x, 0.0, 60.0) for x, _ in places]
    names = [Label(text=f"住院医师 {i}") for i in range(12)]
    assert len(place_names(names, places, axes, (92, 60), uprights=lines)) == 12


def test_narrow_figures_have_more_rows_and_fewer_ticks() -> None:
    """Each row has its labels, and no title is cut."""
    table = analyse(tables.study(n=20), Options(bootstrap=5)).tables["accuracy"]
    narrow = replace(accuracy_chart(table), width_mm=85)
    rows = reflow(narrow, width_mm).rows
    assert len(rows) > 1
    assert all(row[0].y.labels and not any(entry.y.labels for entry in row[1:]) for row in rows)
    for panel in lay_out(reflow(narrow, width_mm), width_mm).panels:
        assert panel.width >= 15
        assert "".join("".join(panel.title).split()) == "".join(panel.panel.title.split())
    crowded = Axis(low=-20, high=20, ticks=tuple(_tick(at) for at in (-20, -10, 0, 10, 20)))
    assert [tick.at for tick in non_overlapping(crowded, 100)] == [-20, -10, 0, 10, 20]
    assert [tick.at for tick in non_overlapping(crowded, 14)] == [-20, 0, 20]


def _tick(at: float) -> Tick:
    return Tick(at=at, label=Label(text=str(at)))


def test_a_name_between_intervals_is_at_the_end_of_its_interval() -> None:
    """The name covers no other interval, and is closest to its own mark."""
    axes = Axis(low=0, high=92), Axis(low=0, high=60)
    places = [(46.0, 30.0), (38.0, 20.0), (54.0, 20.0)]
    lines = [(46.0, 15.0, 52.0), (38.0, 2.0, 45.0), (54.0, 2.0, 45.0)]
    names = [Label(text=text) for text in ("Consultant", "A", "B")]
    middle = place_names(names, places, axes, (92, 60), uprights=lines)[0]
    assert middle.side is Side.CENTRE
    assert middle.y + middle.dy_mm > 52 + 1.45
