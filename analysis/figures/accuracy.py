"""The forest plot of accuracy: every rater with the Wilson interval, overall and by task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.bundle.words import RaterKind
from analysis.figures.drawing.axes import (
    in_rows,
    interval_text,
    percent_axis,
    rater_labels,
    row_mm,
    rows_axis,
)
from analysis.figures.drawing.chart import Chart, Key, Panel, Points
from analysis.figures.drawing.look import INKS, MARKS
from analysis.figures.drawing.names import RaterName, in_condition, name_of

PANELS_IN_A_ROW, PANELS_BESIDE_LONG_NAMES = 7, 4
LONG_NAME = 24
OVERALL_TITLES = {"micro": "Overall, micro", "macro": "Overall, macro"}


def accuracy_chart(
    accuracy: pd.DataFrame,
    *,
    condition: str = "",
    names: Mapping[str, RaterName] | None = None,
) -> Chart:
    """Chart every rater's accuracy with its interval: micro, macro and each task beside another.

    Parameters
    ----------
    accuracy : pandas.DataFrame
        The table of `analysis.statistics.accuracy.accuracy`.
    condition : str
        The readers' condition; models with one condition stand beside the readers of each.
    names : mapping of str to RaterName, optional
        Names by `rater_id`; default: the ids.

    Returns
    -------
    Chart
        A row of panels for every seven groups; readers above, models below.
    """
    rows = in_condition(accuracy, condition)
    rows = rows.loc[rows["by"].isin(["overall", "task"])]
    groups = list(dict.fromkeys(zip(rows["by"], rows["group"], strict=True)))
    raters = list(dict.fromkeys(rows["rater_id"]))
    columns = _columns(raters, names)
    panels = [
        _panel(
            rows.loc[(rows["by"] == by) & (rows["group"] == group)],
            raters,
            names,
            first=place % columns == 0,
        )
        for place, (by, group) in enumerate(groups)
    ]
    return Chart(rows=in_rows(panels, columns), key=kinds_key(rows))


def kinds_key(rows: pd.DataFrame) -> tuple[Key, ...]:
    """Return what tells readers from models, for the kinds that are there."""
    kinds = set(rows["rater_kind"])
    words = {RaterKind.READER: "Readers", RaterKind.MODEL: "Models"}
    return tuple(
        Key(label=words[kind], ink=INKS[kind], mark=MARKS[kind])
        for kind in RaterKind
        if kind in kinds
    )


def _columns(raters: list[str], names: Mapping[str, RaterName] | None) -> int:
    longest = max((len(label.text) for label in rater_labels(raters, names)), default=0)
    return PANELS_IN_A_ROW if longest <= LONG_NAME else PANELS_BESIDE_LONG_NAMES


def _panel(
    rows: pd.DataFrame,
    raters: list[str],
    names: Mapping[str, RaterName] | None,
    *,
    first: bool,
) -> Panel:
    head = rows.iloc[0]
    group = str(head["group"])
    return Panel(
        x=percent_axis(),
        y=rows_axis(rater_labels(raters, names), shown=first),
        layers=tuple(
            _points(rows.loc[(rows["rater_kind"] == kind)], kind, raters, names)
            for kind in RaterKind
        ),
        title=OVERALL_TITLES[group] if head["by"] == "overall" else group,
        subtitle=f"n = {head['n']}",
        height_mm=row_mm(len(raters)) * max(len(raters), 2),
    )


def _points(
    rows: pd.DataFrame,
    kind: RaterKind,
    raters: list[str],
    names: Mapping[str, RaterName] | None,
) -> Points:
    rows = rows.loc[rows["accuracy"].notna()]
    return Points(
        ink=INKS[kind],
        mark=MARKS[kind],
        x=tuple(100 * rows["accuracy"]),
        y=tuple(float(raters.index(rater)) for rater in rows["rater_id"]),
        low=tuple(100 * rows["ci_low"]),
        high=tuple(100 * rows["ci_high"]),
        hover=tuple(_hover(row, names) for row in rows.to_dict("records")),
        size_mm=min(1.6, 0.6 * row_mm(len(raters))),
    )


def _hover(row: Mapping[Any, Any], names: Mapping[str, RaterName] | None) -> str:
    value, low, high = (100 * row[c] for c in ("accuracy", "ci_low", "ci_high"))
    return "\n".join(
        [
            name_of(names, row["rater_id"]).on_figure.text,
            str(row["group"]),
            f"{interval_text(value, low, high, decimals=1)} %",
            f"{row['n_correct']} of {row['n']} correct, {row['n_missing']} not answered",
        ]
    )
