"""Which items were hard, and for whom: readers right against models right."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.arrays import Ints
from analysis.figures.drawing.chart import Axis, Cells, Chart, Label, Panel, Tick
from analysis.figures.drawing.look import COUNT_SCALE
from analysis.translation import t, tn

CELL_MM = 9.0
LARGEST_MM = 110.0
MOST_WITH_NUMBERS = 30
MOST_TICKS = 12


def difficulty_chart(items: pd.DataFrame, *, condition: str = "") -> Chart | None:
    """Chart how many items so many readers and so many models had right.

    A heat map of counts of items, models to the right, readers upwards; None without readers or
    without models. An item that not all readers have read stands by the share of those who have, at
    the nearest of the counts.
    """
    rows = read_by_any(items, condition)
    if rows.empty:
        return None
    n_readers, n_models = int(rows["n_readers"].max()), int(rows["n_models"].max())
    counts = np.zeros((n_readers + 1, n_models + 1), dtype=int)
    np.add.at(counts, (_places(rows, "readers"), _places(rows, "models")), 1)
    most = max(int(counts.max()), 1)
    # The square root keeps the rare corners, which matter most, from looking empty.
    shades = np.sqrt(counts / most)
    small = max(counts.shape) <= MOST_WITH_NUMBERS
    cells = Cells(
        values=tuple(tuple(float(v) for v in row) for row in shades),
        low=0,
        high=1,
        scale=COUNT_SCALE,
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
    cell = min(CELL_MM, LARGEST_MM / max(counts.shape))
    panel = Panel(
        x=_counts_axis(n_models, t("Models that were correct")),
        y=_counts_axis(n_readers, t("Readers that were correct")),
        layers=(cells,),
        height_mm=max(cell * (n_readers + 1), 24.0),
        subtitle=t("Items by who had them right, n = {n}", n=str(len(rows))),
    )
    width = max(cell * (n_models + 1), 30.0) + 22.0
    return Chart(rows=((panel,),), width_mm=width, stretches=False)


def read_by_any(items: pd.DataFrame, condition: str) -> pd.DataFrame:
    """Return the condition's items that a reader has read, where there are models beside them."""
    rows = items.loc[items["condition"] == condition]
    read: pd.DataFrame = rows.loc[(rows["n_readers"] > 0) & (rows["n_models"] > 0)]
    return read


def _places(rows: pd.DataFrame, kind: str) -> Ints:
    n = rows[f"n_{kind}"].to_numpy(dtype=np.float64)
    right = rows[f"n_{kind}_correct"].to_numpy(dtype=np.float64)
    places: Ints = np.floor(right / n * n.max() + 0.5).astype(np.int64)
    return places


def _counts_axis(n: int, title: str) -> Axis:
    every = -(-(n + 1) // MOST_TICKS)
    ticks = tuple(Tick(at=i, label=Label(text=str(i))) for i in range(0, n + 1, every))
    return Axis(low=-0.5, high=n + 0.5, ticks=ticks, title=title, grid=False)
