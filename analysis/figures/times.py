"""Charts of response times: overall, by correctness and by quarter of the session."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from analysis.bundle.model import RaterKind
from analysis.figures.drawing.axes import (
    RaterName,
    fit_axis,
    interval_text,
    localise_signed,
    name_of,
    rater_labels,
    row_height_mm,
    rows_axis,
    seconds_axis,
)
from analysis.figures.drawing.chart import (
    Axis,
    Boxes,
    Chart,
    Ink,
    Key,
    Label,
    Layer,
    Line,
    Mark,
    Panel,
    Points,
    Tick,
)
from analysis.figures.drawing.colours import RATER_INKS, RATER_MARKS
from analysis.figures.drawing.layout import POSITIONS_AFTER_MARK, place_names
from analysis.figures.forest import vertical_intervals
from analysis.translation import later, t, translated

QUARTERS = ("first quarter", "second quarter", "third quarter", "fourth quarter")
QUARTER_LABELS = (later("First"), later("Second"), later("Third"), later("Fourth"))
MAX_NAMED = 14
CHART_WIDTH_MM, PANEL_HEIGHT_MM = 110.0, 60.0
# Width of the vertical axis and both margins.
AXIS_AND_MARGINS_MM = 18.0
# Width of the longest name to the right of the last quarter.
NAME_MM = 37.0
LOW_COLUMN, MEDIAN_COLUMN, HIGH_COLUMN = "q1_ms", "median_ms", "q3_ms"


def times_chart(
    times: pd.DataFrame,
    *,
    condition: str = "",
    names: Mapping[str, RaterName] | None = None,
) -> Chart | None:
    """Chart the median response time of every rater with its quartiles.

    All, correct and wrong answers have a panel each. None is returned if no time is known.
    """
    rows = _rows_with_times(times, condition)
    groups = {
        t("All answers"): rows.loc[rows["by"] == "overall"],
        t("Correct answers"): rows.loc[(rows["by"] == "correct") & (rows["group"] == "correct")],
        t("Wrong answers"): rows.loc[(rows["by"] == "correct") & (rows["group"] == "wrong")],
    }
    groups = {title: part for title, part in groups.items() if len(part)}
    if not groups:
        return None
    shown = pd.concat(list(groups.values()))
    raters = sorted(shown["rater_id"].unique())
    axis = seconds_axis(
        [*(shown[LOW_COLUMN] / 1000), *(shown[HIGH_COLUMN] / 1000)], title=t("Seconds")
    )
    panels = tuple(
        Panel(
            x=axis,
            y=rows_axis(rater_labels(raters, names), shown=i == 0, grid=False),
            layers=(_boxes(part, raters, names),),
            title=title,
            height_mm=max(len(raters), 2) * row_height_mm(len(raters)) * 1.15,
        )
        for i, (title, part) in enumerate(groups.items())
    )
    key = Key(label=t("From the lower to the upper quartile, line: median"), ink=Ink.READER)
    return Chart(rows=(panels,), key=(key,))


def speed_chart(
    times: pd.DataFrame,
    accuracy: pd.DataFrame,
    *,
    condition: str = "",
    names: Mapping[str, RaterName] | None = None,
    width_mm: float = CHART_WIDTH_MM,
) -> Chart | None:
    """Chart the accuracy of every rater against the median response time.

    Names are next to the marks if there are at most 14 raters. None is returned for fewer than two.
    """
    micro = (accuracy["by"] == "overall") & (accuracy["group"] == "micro")
    right = accuracy.loc[micro & accuracy["accuracy"].notna()]
    known = _rows_with_times(times, condition)
    both = known.loc[known["by"] == "overall"].merge(
        right, on=["rater_id", "condition"], suffixes=("_timed", "")
    )
    both = both.loc[both[MEDIAN_COLUMN] > 0].sort_values("rater_id")
    if len(both) < 2:
        return None
    plot_mm = width_mm - AXIS_AND_MARGINS_MM
    values = 100 * both["accuracy"]
    x = seconds_axis(list(both[MEDIAN_COLUMN] / 1000), title=t("Median seconds per answer"))
    y = fit_axis([*(100 * both["ci_low"]), *(100 * both["ci_high"])], title=t("Percent correct"))
    layers: list[Layer] = [
        vertical_intervals(both[MEDIAN_COLUMN] / 1000, 100 * both["ci_low"], 100 * both["ci_high"])
    ]
    for kind in RaterKind:
        part = both.loc[both["rater_kind"] == kind]
        layers.append(
            Points(
                ink=RATER_INKS[kind],
                mark=RATER_MARKS[kind],
                x=tuple(part[MEDIAN_COLUMN] / 1000),
                y=tuple(100 * part["accuracy"]),
                hover=tuple(_speed_hover(row, names) for row in part.to_dict("records")),
            )
        )
    if len(both) <= MAX_NAMED:
        labels = rater_labels(list(both["rater_id"]), names)
        places = list(zip(both[MEDIAN_COLUMN] / 1000, values, strict=True))
        lines = [
            (at, 100 * low, 100 * high)
            for at, low, high in zip(
                both[MEDIAN_COLUMN] / 1000, both["ci_low"], both["ci_high"], strict=True
            )
        ]
        layers += place_names(labels, places, (x, y), (plot_mm, PANEL_HEIGHT_MM), uprights=lines)
    return Chart(
        rows=((Panel(x=x, y=y, layers=tuple(layers), height_mm=PANEL_HEIGHT_MM),),),
        width_mm=width_mm,
        stretches=False,
        redraw=partial(speed_chart, times, accuracy, condition=condition, names=names),
    )


def drift_chart(
    times: pd.DataFrame,
    *,
    condition: str = "",
    names: Mapping[str, RaterName] | None = None,
    width_mm: float = CHART_WIDTH_MM,
) -> Chart | None:
    """Chart the median response time in the quarters of the readers' sessions.

    There is a line per rater, with names if there are at most 14. None is returned if positions in
    the session are not known.
    """
    rows = _rows_with_times(times, condition)
    rows = rows.loc[
        (rows["by"] == "position") & rows["group"].isin(QUARTERS) & (rows[MEDIAN_COLUMN] > 0)
    ]
    if rows["group"].nunique() < 2:
        return None
    wide = (rows.pivot(index="rater_id", columns="group", values=MEDIAN_COLUMN) / 1000).reindex(
        columns=list(QUARTERS)
    )
    lines: list[tuple[float, float]] = []
    marks: list[tuple[float, float, str]] = []
    for rater, values in wide.iterrows():
        name = name_of(names, str(rater)).on_figure
        places = [(float(i), float(value)) for i, value in enumerate(values)]
        lines += [*places, (math.nan, math.nan)]
        marks += [
            (
                x,
                y,
                f"{name.text}\n{_quarter(quarter)}: "
                + t("{seconds} s", seconds=localise_signed(f"{y:.1f}")),
            )
            for (x, y), quarter in zip(places, QUARTERS, strict=True)
            if not math.isnan(y)
        ]
    x, y = zip(*lines, strict=True)
    x_known, y_known, hover = zip(*marks, strict=True)
    layers: list[Layer] = [
        Line(ink=Ink.READER, x=x, y=y, width_pt=1.0),
        Points(ink=Ink.READER, mark=Mark.CIRCLE, x=x_known, y=y_known, hover=hover),
    ]
    axis = seconds_axis(
        [float(v) for v in wide.to_numpy().ravel() if v == v], title=t("Median seconds per answer")
    )
    ticks = tuple(
        Tick(at=i, label=Label(text=translated(QUARTER_LABELS[i]))) for i, q in enumerate(QUARTERS)
    )
    plot_mm = width_mm - AXIS_AND_MARGINS_MM
    high = 3.0 + 3.2 * NAME_MM / (plot_mm - NAME_MM) if len(wide) <= MAX_NAMED else 3.2
    x_axis = Axis(low=-0.2, high=high, ticks=ticks, title=t("Quarter of the session"), grid=False)
    if len(wide) <= MAX_NAMED:
        last = wide[QUARTERS[-1]].dropna().sort_values()
        labels = rater_labels([str(rater) for rater in last.index], names)
        ends = [(3.0, float(value)) for value in last]
        layers += place_names(
            labels, ends, (x_axis, axis), (plot_mm, PANEL_HEIGHT_MM), choices=POSITIONS_AFTER_MARK
        )
    panel = Panel(x=x_axis, y=axis, layers=tuple(layers), height_mm=PANEL_HEIGHT_MM)
    return Chart(
        rows=((panel,),),
        width_mm=width_mm,
        stretches=False,
        redraw=partial(drift_chart, times, condition=condition, names=names),
    )


def _quarter(name: str) -> str:
    words = (
        t("first quarter"),
        t("second quarter"),
        t("third quarter"),
        t("fourth quarter"),
    )
    return words[QUARTERS.index(name)]


def _rows_with_times(times: pd.DataFrame, condition: str) -> pd.DataFrame:
    return times.loc[
        (times["condition"] == condition) & times[MEDIAN_COLUMN].notna() & (times[LOW_COLUMN] > 0)
    ]


def _boxes(
    rows: pd.DataFrame, raters: Sequence[str], names: Mapping[str, RaterName] | None
) -> Boxes:
    return Boxes(
        ink=Ink.READER,
        y=tuple(float(raters.index(rater)) for rater in rows["rater_id"]),
        low=tuple(rows[LOW_COLUMN] / 1000),
        middle=tuple(rows[MEDIAN_COLUMN] / 1000),
        high=tuple(rows[HIGH_COLUMN] / 1000),
        hover=tuple(_times_hover(row, names) for row in rows.to_dict("records")),
        thickness=0.58,
    )


def _times_hover(row: Mapping[Any, Any], names: Mapping[str, RaterName] | None) -> str:
    low, middle, high, mean = (
        row[c] / 1000 for c in (LOW_COLUMN, MEDIAN_COLUMN, HIGH_COLUMN, "geometric_mean_ms")
    )
    return (
        name_of(names, row["rater_id"]).on_figure.text
        + "\n"
        + t(
            "median {median} s, quartiles {low} to {high} s",
            median=localise_signed(f"{middle:.1f}"),
            low=localise_signed(f"{low:.1f}"),
            high=localise_signed(f"{high:.1f}"),
        )
        + "\n"
        + t(
            "geometric mean {mean} s, n = {n}, {flagged} flagged",
            mean=localise_signed(f"{mean:.1f}"),
            n=str(row["n"]),
            flagged=str(row["n_flagged"]),
        )
    )


def _speed_hover(row: Mapping[Any, Any], names: Mapping[str, RaterName] | None) -> str:
    value, low, high = (100 * row[c] for c in ("accuracy", "ci_low", "ci_high"))
    text = interval_text(value, low, high, decimals=1)
    name = name_of(names, row["rater_id"]).on_figure.text
    correct = t("{value} % correct, n = {n}", value=text, n=str(row["n"]))
    median = t("median {seconds} s", seconds=localise_signed(f"{row[MEDIAN_COLUMN] / 1000:.1f}"))
    return f"{name}\n{correct}\n{median}"
