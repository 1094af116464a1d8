"""The forest plot of accuracy: every rater with the Wilson interval, overall and by task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from analysis.bundle.words import RaterKind
from analysis.figures.look import COLOURS, INK, QUIET, RULE, SYMBOLS, base_layout
from analysis.figures.names import RaterName, in_condition, name_of, plotly_text, wrapped

PANELS_IN_A_ROW = 7
GAP = 0.018
OVERALL_TITLES = {"micro": "Overall, micro", "macro": "Overall, macro"}


def accuracy_figure(
    accuracy: pd.DataFrame,
    *,
    condition: str = "",
    names: Mapping[str, RaterName] | None = None,
) -> go.Figure:
    """Draw every rater's accuracy with its interval: micro, macro and each task beside another.

    Parameters
    ----------
    accuracy : pandas.DataFrame
        The table of `analysis.accuracy`.
    condition : str
        The readers' condition; models with one condition stand beside the readers of each.
    names : mapping of str to RaterName, optional
        Names by `rater_id`; default: the ids.

    Returns
    -------
    plotly.graph_objects.Figure
        A row of panels for every seven groups; readers above, models below.
    """
    rows = in_condition(accuracy, condition)
    rows = rows.loc[rows["by"].isin(["overall", "task"])]
    groups = list(dict.fromkeys(zip(rows["by"], rows["group"], strict=True)))
    raters = list(dict.fromkeys(rows["rater_id"]))
    figure = go.Figure()
    bands = [groups[i : i + PANELS_IN_A_ROW] for i in range(0, len(groups), PANELS_IN_A_ROW)]
    height = len(bands) * (26 * max(len(raters), 2) + 138) + 10
    for band, members in enumerate(bands):
        for place, group in enumerate(members):
            panel = rows.loc[(rows["by"] == group[0]) & (rows["group"] == group[1])]
            _add_panel(figure, panel, raters, names, (band, len(bands)), (place, len(members)))
    widest = max((len(name_of(names, r).full) for r in raters), default=0)
    left = 30 + 7.2 * min(widest, 42)
    figure.update_layout(
        **base_layout(height=height, margin={"l": left, "r": 16, "t": 88, "b": 46})
    )
    return figure


def _add_panel(
    figure: go.Figure,
    panel: pd.DataFrame,
    raters: list[str],
    names: Mapping[str, RaterName] | None,
    band: tuple[int, int],
    place: tuple[int, int],
) -> None:
    number = band[0] * PANELS_IN_A_ROW + place[0] + 1
    x, y = (f"{axis}{number}" if number > 1 else axis for axis in "xy")
    columns = max(place[1], 4)
    left, right = place[0] / columns, (place[0] + 1) / columns
    top, bottom = 1 - band[0] / band[1], 1 - (band[0] + 1) / band[1]
    share = 0.22 if band[1] > 1 else 0.0
    for kind in RaterKind:
        marks = panel.loc[(panel["rater_kind"] == kind) & panel["accuracy"].notna()]
        if len(marks):
            figure.add_trace(_marks(marks, kind, raters, names, x, y))
    figure.add_annotation(
        text=_title(panel),
        x=0,
        y=1,
        xref=f"{x} domain",
        yref=f"{y} domain",
        xanchor="left",
        yanchor="bottom",
        align="left",
        showarrow=False,
        yshift=6,
        font={"size": 12, "color": INK},
    )
    figure.update_layout(
        {
            f"xaxis{number}": _percent_axis(y, (left, max(right - GAP, left + 0.01))),
            f"yaxis{number}": _rater_axis(
                raters, names, x, (bottom, top - share * (top - bottom)), first=place[0] == 0
            ),
        }
    )


def _marks(
    marks: pd.DataFrame,
    kind: RaterKind,
    raters: list[str],
    names: Mapping[str, RaterName] | None,
    x: str,
    y: str,
) -> go.Scatter:
    estimate = 100 * marks["accuracy"]
    return go.Scatter(
        x=estimate.tolist(),
        y=[raters.index(rater) for rater in marks["rater_id"]],
        xaxis=x,
        yaxis=y,
        mode="markers",
        marker={"color": COLOURS[kind], "symbol": SYMBOLS[kind], "size": 8},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": (100 * marks["ci_high"] - estimate).tolist(),
            "arrayminus": (estimate - 100 * marks["ci_low"]).tolist(),
            "color": COLOURS[kind],
            "thickness": 1.6,
            "width": 0,
        },
        text=[_hover(row, names) for row in marks.to_dict("records")],
        hovertemplate="%{text}<extra></extra>",
    )


def _hover(row: Mapping[Any, Any], names: Mapping[str, RaterName] | None) -> str:
    name = name_of(names, row["rater_id"]).on_figure
    low, high, value = (100 * row[c] for c in ("ci_low", "ci_high", "accuracy"))
    return (
        f"<b>{name}</b><br>{plotly_text(row['group'])}<br>"
        f"{value:.1f} % ({low:.1f} to {high:.1f})<br>"
        f"{row['n_correct']} of {row['n']} correct, {row['n_missing']} not answered"
    )


def _title(panel: pd.DataFrame) -> str:
    first = panel.iloc[0]
    group = str(first["group"])
    title = OVERALL_TITLES[group] if first["by"] == "overall" else group
    return f"<b>{wrapped(title, 18)}</b><br><span style='color:{QUIET}'>n = {first['n']}</span>"


def _percent_axis(anchor: str, domain: tuple[float, float]) -> dict[str, object]:
    return {
        "domain": domain,
        "anchor": anchor,
        "range": [-3, 103],
        "tickvals": [0, 25, 50, 75, 100],
        "ticktext": ["0", "", "50", "", "100"],
        "tickfont": {"size": 11, "color": QUIET},
        "gridcolor": RULE,
        "zeroline": False,
        "fixedrange": True,
    }


def _rater_axis(
    raters: list[str],
    names: Mapping[str, RaterName] | None,
    anchor: str,
    domain: tuple[float, float],
    *,
    first: bool,
) -> dict[str, object]:
    return {
        "domain": domain,
        "anchor": anchor,
        "range": [len(raters) - 0.4, -0.6],
        "tickvals": list(range(len(raters))),
        "ticktext": [name_of(names, rater).on_figure for rater in raters],
        "showticklabels": first,
        "gridcolor": RULE,
        "zeroline": False,
        "fixedrange": True,
    }
