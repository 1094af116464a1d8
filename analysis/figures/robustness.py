"""What accuracy rests on: the image, the place of an option, the bank; what confidence is worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.bundle.model import RaterKind
from analysis.figures.accuracy import kinds_key
from analysis.figures.drawing.axes import (
    even_columns,
    fitted_axis,
    in_rows,
    interval_text,
    percent_axis,
    rater_labels,
    signed,
)
from analysis.figures.drawing.chart import (
    Chart,
    Dash,
    Ink,
    Key,
    Layer,
    Line,
    Mark,
    Panel,
    Points,
    Rule,
)
from analysis.figures.drawing.look import INKS, MARKS
from analysis.figures.drawing.names import LONGEST_GROUP, RaterName, name_of, shorten
from analysis.figures.forest import Estimate, ends_of, forest, uprights
from analysis.translation import t

COLUMNS = (4, 3)
HIGH_MM = 46.0


def differences_chart(
    rows: pd.DataFrame,
    *,
    axis_title: str,
    names: Mapping[str, RaterName] | None = None,
) -> Chart | None:
    """Chart differences by rater: a panel for every value of `panel`, a row for every rater.

    Parameters
    ----------
    rows : pandas.DataFrame
        Columns `rater_id, rater_kind, panel, n, difference, ci_low, ci_high`; proportions, in the
        order of the raters and panels.
    axis_title : str
        What the difference is, with its unit.
    names : mapping of str to RaterName, optional
        The raters' names.

    Returns
    -------
    Chart or None
        None where no difference is defined.
    """
    rows = rows.loc[rows["difference"].notna()]
    if rows.empty:
        return None
    raters = list(dict.fromkeys(rows["rater_id"]))
    titles = list(dict.fromkeys(rows["panel"]))
    found = {
        title: [
            _estimate(row, raters.index(row["rater_id"]), names)
            for row in rows.loc[rows["panel"] == title].to_dict("records")
        ]
        for title in titles
    }
    ends = [end for estimates in found.values() for end in ends_of(estimates)]
    axis = fitted_axis([*ends, 0.0], parts=4, title=axis_title, least=-100, most=100)
    columns = even_columns(len(titles), COLUMNS)
    panels = [
        forest(
            rater_labels(raters, names),
            estimates,
            axis,
            behind=[Rule(at=0)],
            title=shorten(title, LONGEST_GROUP),
            shown=place % columns == 0,
        )
        for place, (title, estimates) in enumerate(found.items())
    ]
    return Chart(rows=in_rows(panels, columns), key=kinds_key(rows))


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
        ink=INKS[kind],
        mark=MARKS[kind],
        value=value,
        low=low,
        high=high,
        hover="\n".join(hover),
    )


def reliability_chart(
    reliability: pd.DataFrame, *, names: Mapping[str, RaterName] | None = None
) -> Chart | None:
    """Chart how often models are right by how sure they are: a panel for every model.

    `reliability` are rows of `model_reliability`. None without any.
    """
    models = list(dict.fromkeys(reliability["model_id"]))
    if not models:
        return None
    columns = even_columns(len(models), COLUMNS)
    panels = [
        Panel(
            x=percent_axis(t("Mean confidence, %")),
            y=percent_axis(),
            layers=_bins(reliability.loc[reliability["model_id"] == model]),
            title=label.text,
            height_mm=HIGH_MM,
        )
        for model, label in zip(models, rater_labels(models, names), strict=True)
    ]
    key = (
        Key(label=t("Answers of similar confidence"), ink=Ink.MODEL, mark=Mark.DIAMOND),
        Key(label=t("Perfect calibration"), ink=Ink.QUIET, dash=Dash.DASHED),
    )
    return Chart(rows=in_rows(panels, columns), key=key)


def _bins(rows: pd.DataFrame) -> tuple[Layer, ...]:
    sure, right, low, high = (
        tuple(100 * rows[column]) for column in ("mean_confidence", "accuracy", "ci_low", "ci_high")
    )
    hover = tuple(
        t(
            "{value} % correct of {n}",
            value=interval_text(value, *ends, decimals=1),
            n=str(n),
        )
        + "\n"
        + t("mean confidence {value} %", value=signed(f"{x:.1f}"))
        for x, value, ends, n in zip(
            sure, right, zip(low, high, strict=True), rows["n"], strict=True
        )
    )
    return (
        Line(ink=Ink.QUIET, x=(0.0, 100.0), y=(0.0, 100.0), dash=Dash.DASHED),
        uprights(sure, low, high),
        Points(ink=Ink.MODEL, mark=Mark.DIAMOND, x=sure, y=right, hover=hover),
    )
