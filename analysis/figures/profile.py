"""Accuracy by task: where readers and models are strong and weak."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.bundle.model import RaterKind
from analysis.figures.drawing.axes import (
    even_columns,
    in_rows,
    interval_text,
    percent_axis,
    rater_labels,
    rows_axis,
    signed,
)
from analysis.figures.drawing.chart import (
    Boxes,
    Chart,
    Ink,
    Key,
    Label,
    Layer,
    Mark,
    Panel,
    Points,
)
from analysis.figures.drawing.look import INKS, MARKS
from analysis.figures.drawing.names import (
    LONGEST_GROUP,
    RaterName,
    in_condition,
    name_of,
    shorten,
)
from analysis.translation import t

COLUMNS = (4, 3)
MOST_MODELS = 14
ROW_MM = 5.6


def profile_chart(
    accuracy: pd.DataFrame,
    *,
    condition: str = "",
    names: Mapping[str, RaterName] | None = None,
) -> Chart | None:
    """Chart accuracy by task: a panel for the readers, and one for every model over their range.

    None where fewer than two tasks have an accuracy. Over 14 models all stand in one panel.
    """
    rows = in_condition(accuracy, condition)
    rows = rows.loc[(rows["by"] == "task") & rows["accuracy"].notna()]
    sizes = rows.groupby("group")["n"].max()
    tasks = sorted(sizes.index, key=lambda task: (-sizes[task], task))
    if len(tasks) < 2:
        return None
    readers = rows.loc[rows["rater_kind"] == RaterKind.READER]
    models = rows.loc[rows["rater_kind"] == RaterKind.MODEL]
    behind = (_range(readers, tasks),) if len(readers) else ()
    panels: list[tuple[str, list[Layer]]] = []
    if len(readers):
        panels.append((t("Readers"), [*behind, _marks(readers, tasks, names, alone=False)]))
    ids = list(dict.fromkeys(models["rater_id"]))
    if len(ids) > MOST_MODELS:
        panels.append((t("Models"), [*behind, _marks(models, tasks, names, alone=False)]))
    else:
        for label, model in zip(rater_labels(ids, names), ids, strict=True):
            marks = _marks(models.loc[models["rater_id"] == model], tasks, names, alone=True)
            panels.append((label.text, [*behind, marks]))
    labels = [Label(text=f"{shorten(task, LONGEST_GROUP)} ({sizes[task]})") for task in tasks]
    columns = even_columns(len(panels), COLUMNS)
    drawn = [
        Panel(
            x=percent_axis(),
            y=rows_axis(labels, shown=i % columns == 0),
            layers=tuple(layers),
            title=title,
            height_mm=ROW_MM * max(len(tasks), 2),
        )
        for i, (title, layers) in enumerate(panels)
    ]
    return Chart(
        rows=in_rows(drawn, columns), key=_key(readers, models, apart=len(ids) <= MOST_MODELS)
    )


def _range(readers: pd.DataFrame, tasks: Sequence[str]) -> Boxes:
    by_task = (100 * readers.set_index("group")["accuracy"]).groupby(level=0)
    low, mean, high = by_task.min(), by_task.mean(), by_task.max()
    present = [task for task in tasks if task in low.index]
    return Boxes(
        ink=Ink.READER,
        y=tuple(float(tasks.index(task)) for task in present),
        low=tuple(float(low[task]) for task in present),
        middle=tuple(float(mean[task]) for task in present),
        high=tuple(float(high[task]) for task in present),
        hover=tuple(
            f"{task}\n"
            + t(
                "Readers' mean {mean} %, from {low} to {high} %",
                mean=signed(f"{mean[task]:.1f}"),
                low=signed(f"{low[task]:.1f}"),
                high=signed(f"{high[task]:.1f}"),
            )
            for task in present
        ),
        thick=0.66,
    )


def _marks(
    rows: pd.DataFrame,
    tasks: Sequence[str],
    names: Mapping[str, RaterName] | None,
    *,
    alone: bool,
) -> Points:
    kind = RaterKind(rows["rater_kind"].iloc[0])
    return Points(
        ink=INKS[kind],
        mark=MARKS[kind],
        x=tuple(100 * rows["accuracy"]),
        y=tuple(float(tasks.index(task)) for task in rows["group"]),
        low=tuple(100 * rows["ci_low"]) if alone else (),
        high=tuple(100 * rows["ci_high"]) if alone else (),
        hover=tuple(_hover(row, names) for row in rows.to_dict("records")),
        size_mm=1.5 if alone else 1.2,
        hollow=not alone,
    )


def _hover(row: Mapping[Any, Any], names: Mapping[str, RaterName] | None) -> str:
    value, low, high = (100 * row[c] for c in ("accuracy", "ci_low", "ci_high"))
    name = name_of(names, row["rater_id"]).on_figure.text
    text = interval_text(value, low, high, decimals=1)
    return f"{name}\n{row['group']}\n" + t("{value} %, n = {n}", value=text, n=str(row["n"]))


def _key(readers: pd.DataFrame, models: pd.DataFrame, *, apart: bool) -> tuple[Key, ...]:
    keys: list[Key] = []
    if len(readers):
        keys.append(Key(label=t("Lowest to highest reader, stroke: mean"), ink=Ink.READER))
        keys.append(Key(label=t("A reader"), ink=Ink.READER, mark=Mark.CIRCLE, hollow=True))
    if len(models):
        words = t("A model, with its interval") if apart else t("A model")
        keys.append(Key(label=words, ink=Ink.MODEL, mark=Mark.DIAMOND, hollow=not apart))
    return tuple(keys)
