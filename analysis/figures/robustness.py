"""Charts of item difficulty, calibration, and differences between inputs, options and banks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from analysis.arrays import Ints
from analysis.bundle.model import RaterKind
from analysis.figures.accuracy import kinds_key
from analysis.figures.drawing.axes import (
    MAX_GROUP_LENGTH,
    RaterName,
    arrange_in_rows,
    even_columns,
    fit_axis,
    interval_text,
    localise_signed,
    name_of,
    percent_axis,
    rater_labels,
    rows_in_condition,
    shorten,
)
from analysis.figures.drawing.chart import (
    Axis,
    Chart,
    Dash,
    HeatMap,
    Ink,
    Key,
    Label,
    Layer,
    Line,
    Mark,
    Panel,
    Points,
    ReferenceLine,
    Tick,
)
from analysis.figures.drawing.colours import COUNT_SCALE, RATER_INKS, RATER_MARKS
from analysis.figures.forest import Estimate, Rows, ends_of, forest, vertical_intervals
from analysis.translation import t, tn

CELL_MM = 9.0
MAX_CHART_MM = 110.0
MAX_WITH_NUMBERS = 30
MAX_TICKS = 12


def difficulty_chart(items: pd.DataFrame, *, condition: str = "") -> Chart | None:
    """Chart the number of items by the numbers of correct readers and of correct models.

    The chart is a heat map with models on the x axis and readers on the y axis; None is returned if
    there are no readers or no models. For an item that not all readers have read, the share of
    correct readers is multiplied by the number of all readers and rounded.
    """
    rows = items_read_by_both(items, condition)
    if rows.empty:
        return None
    n_readers, n_models = int(rows["n_readers"].max()), int(rows["n_models"].max())
    counts = np.zeros((n_readers + 1, n_models + 1), dtype=int)
    np.add.at(counts, (_cell_positions(rows, "readers"), _cell_positions(rows, "models")), 1)
    highest = max(int(counts.max()), 1)
    # Colours by the square root show rare combinations, which matter most.
    shades = np.sqrt(counts / highest)
    small = max(counts.shape) <= MAX_WITH_NUMBERS
    cells = HeatMap(
        values=tuple(tuple(float(v) for v in row) for row in shades),
        low=0,
        high=1,
        scale=COUNT_SCALE,
        data=tuple(tuple(row) for row in counts.tolist()),
        texts=tuple(tuple(str(v) if v else "" for v in row) for row in counts) if small else (),
        hover=tuple(
            tuple(
                tn("{n} case", "{n} cases", count)
                + "\n"
                + t(
                    "{readers} of {n_readers} readers correct, {models} of {n_models} models"
                    " correct",
                    readers=str(i),
                    n_readers=str(n_readers),
                    models=str(j),
                    n_models=str(n_models),
                )
                for j, count in enumerate(row)
            )
            for i, row in enumerate(counts.tolist())
        )
        if small
        else (),
        names=t("{readers} readers, {models} models", readers="%{y}", models="%{x}"),
    )
    cell = min(CELL_MM, MAX_CHART_MM / max(counts.shape))
    panel = Panel(
        x=_counts_axis(n_models, t("Models that were correct")),
        y=_counts_axis(n_readers, t("Readers who were correct")),
        layers=(cells,),
        height_mm=max(cell * (n_readers + 1), 24.0),
        subtitle=t("Items by correct readers and models, n = {n}", n=str(len(rows))),
    )
    width = max(cell * (n_models + 1), 30.0) + 22.0
    return Chart(rows=((panel,),), width_mm=width, stretches=False)


def items_read_by_both(items: pd.DataFrame, condition: str) -> pd.DataFrame:
    """Return the items of a condition that both readers and models have answered."""
    rows = items.loc[items["condition"] == condition]
    read: pd.DataFrame = rows.loc[(rows["n_readers"] > 0) & (rows["n_models"] > 0)]
    return read


def _cell_positions(rows: pd.DataFrame, kind: str) -> Ints:
    n = rows[f"n_{kind}"].to_numpy(dtype=np.float64)
    right = rows[f"n_{kind}_correct"].to_numpy(dtype=np.float64)
    places: Ints = np.floor(right / n * n.max() + 0.5).astype(np.int64)
    return places


def _counts_axis(n: int, title: str) -> Axis:
    tick_step = -(-(n + 1) // MAX_TICKS)
    ticks = tuple(Tick(at=i, label=Label(text=str(i))) for i in range(0, n + 1, tick_step))
    return Axis(low=-0.5, high=n + 0.5, ticks=ticks, title=title, grid=False)


COLUMN_CHOICES = (4, 3)
PANEL_HEIGHT_MM = 46.0


def differences_chart(
    rows: pd.DataFrame,
    *,
    axis_title: str,
    names: Mapping[str, RaterName] | None = None,
) -> Chart | None:
    """Chart differences by rater, with a panel for each value of `panel` and a row per rater.

    Parameters
    ----------
    rows : pandas.DataFrame
        Columns `rater_id, rater_kind, panel, n, difference, ci_low, ci_high`, with differences as
        proportions and rows in the order of the raters and panels.
    axis_title : str
        Name of the difference with its unit.
    names : mapping of str to RaterName, optional
        The names of the raters.

    Returns
    -------
    Chart or None
        The chart; None if no difference is defined.
    """
    rows = rows.loc[rows["difference"].notna()]
    if rows.empty:
        return None
    raters = list(dict.fromkeys(rows["rater_id"]))
    titles = list(dict.fromkeys(rows["panel"]))
    by_title = {
        title: [
            _estimate(row, raters.index(row["rater_id"]), names)
            for row in rows.loc[rows["panel"] == title].to_dict("records")
        ]
        for title in titles
    }
    ends = [end for estimates in by_title.values() for end in ends_of(estimates)]
    axis = fit_axis([*ends, 0.0], parts=4, title=axis_title, least=-100, highest=100)
    columns = even_columns(len(titles), COLUMN_CHOICES)
    panels = [
        forest(
            Rows(labels=rater_labels(raters, names), labelled=place % columns == 0),
            estimates,
            axis,
            background=[ReferenceLine(at=0)],
            title=shorten(title, MAX_GROUP_LENGTH),
        )
        for place, (title, estimates) in enumerate(by_title.items())
    ]
    return Chart(rows=arrange_in_rows(panels, columns), key=kinds_key(rows))


def model_rows(table: pd.DataFrame, condition: str, column: str) -> pd.DataFrame:
    """Return the rows of models in a condition, which is in `column`, with columns of raters."""
    rows = table.assign(
        rater_id=table["model_id"], rater_kind=RaterKind.MODEL.value, condition=table[column]
    )
    return rows_in_condition(rows, condition)


def task_panels(rows: pd.DataFrame) -> pd.Series[str]:
    """Return the title of the panel for each row: its task, or all cases."""
    return rows["group"].where(rows["by"] == "task", t("All cases"))


def _estimate(
    row: Mapping[Any, Any], place: int, names: Mapping[str, RaterName] | None
) -> Estimate:
    value, low, high = (100 * row[c] + 0.0 for c in ("difference", "ci_low", "ci_high"))
    kind = RaterKind(row["rater_kind"])
    hover = [
        name_of(names, row["rater_id"]).on_figure.text,
        str(row["panel"]),
        t(
            "{difference} points, n = {n}",
            difference=interval_text(value, low, high, decimals=1),
            n=str(row["n"]),
        ),
    ]
    return Estimate(
        row=float(place),
        ink=RATER_INKS[kind],
        mark=RATER_MARKS[kind],
        value=value,
        low=low,
        high=high,
        hover="\n".join(hover),
    )


def reliability_chart(
    reliability: pd.DataFrame, *, names: Mapping[str, RaterName] | None = None
) -> Chart | None:
    """Chart the accuracy of models by confidence, with a panel for each model.

    `reliability` has rows of `model_reliability`; None is returned if it is empty.
    """
    models = list(dict.fromkeys(reliability["model_id"]))
    if not models:
        return None
    columns = even_columns(len(models), COLUMN_CHOICES)
    panels = [
        Panel(
            x=percent_axis(t("Mean confidence, %")),
            y=percent_axis(),
            layers=_bin_layers(reliability.loc[reliability["model_id"] == model]),
            title=label.text,
            height_mm=PANEL_HEIGHT_MM,
        )
        for model, label in zip(models, rater_labels(models, names), strict=True)
    ]
    key = (
        Key(label=t("Answers of similar confidence"), ink=Ink.MODEL, mark=Mark.DIAMOND),
        Key(label=t("Perfect calibration"), ink=Ink.QUIET, dash=Dash.DASHED),
    )
    return Chart(rows=arrange_in_rows(panels, columns), key=key)


def _bin_layers(rows: pd.DataFrame) -> tuple[Layer, ...]:
    confidence, right, low, high = (
        tuple(100 * rows[column]) for column in ("mean_confidence", "accuracy", "ci_low", "ci_high")
    )
    hover = tuple(
        t(
            "{value} % correct of {n}",
            value=interval_text(value, *ends, decimals=1),
            n=str(n),
        )
        + "\n"
        + t("mean confidence {value} %", value=localise_signed(f"{x:.1f}"))
        for x, value, ends, n in zip(
            confidence, right, zip(low, high, strict=True), rows["n"], strict=True
        )
    )
    return (
        Line(ink=Ink.QUIET, x=(0.0, 100.0), y=(0.0, 100.0), dash=Dash.DASHED),
        vertical_intervals(confidence, low, high),
        Points(ink=Ink.MODEL, mark=Mark.DIAMOND, x=confidence, y=right, hover=hover),
    )
