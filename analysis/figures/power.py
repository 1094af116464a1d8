"""The chart of the power of a planned study by its cases and readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.figures.drawing.axes import fit_axis
from analysis.figures.drawing.chart import (
    Axis,
    Chart,
    Dash,
    Ink,
    Key,
    Label,
    Layer,
    Line,
    Mark,
    Note,
    Panel,
    Points,
    ReferenceLine,
    Tick,
)
from analysis.translation import t

MAX_LINES = 6
HEIGHT_MM = 60.0
TARGET_PERCENT = 80.0
MIN_LABEL_GAP_PERCENT = 6.0
"""Lines whose ends differ by less than this power share a label."""


def power_chart(power: pd.DataFrame) -> Chart:
    """Chart the power for a metric: a panel for each claim, a line for each number of readers.

    If there is a single number of cases, the lines run over the readers instead. Six evenly spaced
    lines are shown if there are more. Simulations are points.

    Parameters
    ----------
    power : pandas.DataFrame
        Rows of `power.csv` for one metric.
    """
    x_column, line_column = ("n_cases", "n_readers")
    if power[x_column].nunique() == 1:
        x_column, line_column = line_column, x_column
    claims = list(dict.fromkeys(power["claim"]))
    titles = (t("Readers like these"), t("These readers"), t("These cases"))
    panels = [
        _panel(power.loc[power["claim"] == claim], x_column, line_column, title)
        for claim, title in zip(claims, titles, strict=True)
    ]
    label = t("readers") if line_column == "n_readers" else t("cases")
    key = [
        Key(
            label=t("Closed form (labels: number of {what})", what=label),
            ink=Ink.READER,
            dash=Dash.SOLID,
        ),
        Key(label=t("80 % power"), ink=Ink.QUIET, dash=Dash.DASHED),
    ]
    if power["method"].str.startswith("simulation").any():
        key.insert(1, Key(label=t("Simulation"), ink=Ink.INK, mark=Mark.CIRCLE))
    return Chart(rows=(tuple(panels),), key=tuple(key))


def _panel(rows: pd.DataFrame, x_column: str, line_column: str, title: str) -> Panel:
    is_simulated = rows["method"].str.startswith("simulation")
    shown = _evenly_spaced(sorted(rows[line_column].unique()))
    values = sorted(float(value) for value in rows[x_column].unique())
    x = fit_axis(values, title=t("Cases") if x_column == "n_cases" else t("Readers"), parts=4)
    x = replace(x, high=x.high + 0.16 * max(x.high - x.low, 1.0))
    y = _power_axis()
    layers: list[Layer] = [
        ReferenceLine(at=TARGET_PERCENT, vertical=False, ink=Ink.QUIET, dash=Dash.DASHED)
    ]
    ends = []
    for number in shown:
        closed = rows.loc[(rows[line_column] == number) & ~is_simulated].sort_values(x_column)
        at, power = tuple(closed[x_column].astype(float)), tuple(100 * closed["power"])
        layers.append(Line(ink=Ink.READER, x=at, y=power))
        ends.append((at[-1], power[-1]))
    points = rows.loc[is_simulated & rows[line_column].isin(shown)]
    if len(points):
        layers.append(
            Points(
                ink=Ink.INK,
                mark=Mark.CIRCLE,
                x=tuple(points[x_column].astype(float)),
                y=tuple(100 * points["power"]),
                size_mm=1.0,
            )
        )
    layers += _labels(shown, ends)
    return Panel(x=x, y=y, layers=tuple(layers), title=title, height_mm=HEIGHT_MM)


def _labels(numbers: Sequence[int], ends: Sequence[tuple[float, float]]) -> list[Note]:
    """Write the numbers at the ends of their lines; neighbouring ends share a label."""
    groups: list[list[int]] = []
    for place in sorted(range(len(ends)), key=lambda place: ends[place][1]):
        if groups and ends[place][1] - ends[groups[-1][0]][1] < MIN_LABEL_GAP_PERCENT:
            groups[-1].append(place)
        else:
            groups.append([place])
    return [
        Note(
            x=ends[group[0]][0],
            y=sum(ends[place][1] for place in group) / len(group),
            label=Label(text=_range_text(sorted(numbers[place] for place in group))),
            dx_mm=1.5,
        )
        for group in groups
    ]


def _range_text(numbers: Sequence[int]) -> str:
    """Write ascending numbers as their range."""
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}\u2013{numbers[-1]}"


def _power_axis() -> Axis:
    ticks = tuple(Tick(at=at, label=Label(text=str(at))) for at in range(0, 101, 20))
    return Axis(low=-3, high=103, ticks=ticks, title=t("Power (%)"))


def _evenly_spaced(numbers: Sequence[int]) -> list[int]:
    """Return at most six of the numbers, evenly spaced and including the first and the last."""
    places = np.linspace(0, len(numbers) - 1, min(MAX_LINES, len(numbers)))
    return [int(numbers[int(place)]) for place in np.unique(places.round())]
