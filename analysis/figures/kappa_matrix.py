"""The matrix of agreement between every two raters, as an annotated heat map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from analysis.agreement.pairing import PairKind
from analysis.figures.look import (
    AGREEMENT_SCALE,
    DARK_FROM,
    EMPTY,
    INK,
    PAPER,
    QUIET,
    base_layout,
)
from analysis.figures.names import RaterName, name_of, plotly_text

MEASURE_TITLES: Mapping[str, str] = {
    "brennan_prediger": "Brennan-Prediger",
    "error_consistency": "Error consistency",
    "kappa_letters": "Cohen's kappa on letters",
    "raw": "Raw agreement",
    "same_wrong": "Same wrong answer",
}
MOST_WITH_NUMBERS = 24
LARGEST = 900


def kappa_matrix_figure(
    pairs: pd.DataFrame,
    *,
    measure: str = "brennan_prediger",
    condition: str = "",
    scope: str = "all",
    names: Mapping[str, RaterName] | None = None,
) -> go.Figure:
    """Draw the agreement of every two raters, readers first, with the interval on hover.

    Parameters
    ----------
    pairs : pandas.DataFrame
        The table of `analysis.agreement_pairs`.
    measure : str
        One of its measures.
    condition : str
        The readers' condition; pairs of models that have another single condition stand in each.
    scope : str
        One of its scopes.
    names : mapping of str to RaterName, optional
        Names by `rater_id`; default: the ids.

    Returns
    -------
    plotly.graph_objects.Figure
        A square heat map; undefined cells and the diagonal are grey.
    """
    wanted = pairs.loc[(pairs["measure"] == measure) & (pairs["scope"] == scope)]
    rows = _rows_of(wanted, condition)
    readers, models = _raters(rows)
    raters = [*readers, *models]
    values, hover = _cells(rows, raters, names)
    figure = go.Figure(
        {
            "type": "heatmap",
            "z": values,
            "text": hover,
            "x": list(range(len(raters))),
            "y": list(range(len(raters))),
            "zmin": -1,
            "zmax": 1,
            "colorscale": AGREEMENT_SCALE,
            "hovertemplate": "%{text}<extra></extra>",
            "hoverongaps": False,
            "xgap": 1.5,
            "ygap": 1.5,
            "colorbar": {
                "thickness": 10,
                "outlinewidth": 0,
                "tickvals": [-1, -0.5, 0, 0.5, 1],
                "tickfont": {"size": 11, "color": QUIET},
                "len": 0.9,
            },
        }
    )
    if len(raters) <= MOST_WITH_NUMBERS:
        figure.update_layout(annotations=_annotations(values))
    _separate(figure, len(readers), len(models))
    _lay_out(figure, raters, names)
    return figure


def _rows_of(rows: pd.DataFrame, condition: str) -> pd.DataFrame:
    """Return the condition's pairs, and those of its models from the condition they were run under.

    A model with a condition of its own is compared with these readers; the pairs of such models
    stand beside them, once.
    """
    here = rows["condition"] == condition
    models = set(rows.loc[here & (rows["pair_kind"] == PairKind.MIXED), "rater_b"])
    among = (rows["pair_kind"] == PairKind.MODELS) & rows["rater_a"].isin(models)
    beside = rows.loc[among & rows["rater_b"].isin(models) & ~here]
    both = pd.concat([rows.loc[here], beside])
    return both.drop_duplicates(["rater_a", "rater_b"])


def _raters(rows: pd.DataFrame) -> tuple[list[str], list[str]]:
    kinds = {PairKind.READERS: (0, 0), PairKind.MIXED: (0, 1), PairKind.MODELS: (1, 1)}
    groups: tuple[set[str], set[str]] = (set(), set())
    for kind, part in rows.groupby("pair_kind"):
        a, b = kinds[PairKind(str(kind))]
        groups[a].update(part["rater_a"])
        groups[b].update(part["rater_b"])
    return sorted(groups[0]), sorted(groups[1])


def _cells(
    rows: pd.DataFrame, raters: Sequence[str], names: Mapping[str, RaterName] | None
) -> tuple[list[list[float | None]], list[list[str]]]:
    place = {rater: i for i, rater in enumerate(raters)}
    values: list[list[float | None]] = [[None] * len(raters) for _ in raters]
    hover = [[""] * len(raters) for _ in raters]
    for row in rows.to_dict("records"):
        a, b = place[row["rater_a"]], place[row["rater_b"]]
        text = _hover({str(key): value for key, value in row.items()}, names)
        value = None if pd.isna(row["estimate"]) else float(row["estimate"])
        values[a][b] = values[b][a] = value
        hover[a][b] = hover[b][a] = text
    return values, hover


def _hover(row: Mapping[str, object], names: Mapping[str, RaterName] | None) -> str:
    a, b = (name_of(names, str(row[key])).on_figure for key in ("rater_a", "rater_b"))
    estimate, low, high = (float(str(row[key])) for key in ("estimate", "ci_low", "ci_high"))
    interval = "no interval" if low != low else f"{low:.3f} to {high:.3f}"
    reason = plotly_text(str(row["undefined_because"]))
    return f"<b>{a}</b> and <b>{b}</b><br>{estimate:.3f} ({interval}), n = {row['n']}" + (
        f"<br>{reason}" if reason else ""
    )


def _annotations(values: list[list[float | None]]) -> list[dict[str, Any]]:
    """Write every cell's value; given to plotly at once, which checks all of them every time."""
    size = 12 if len(values) <= 14 else 9
    return [
        {
            "x": j,
            "y": i,
            "text": "–" if value is None else f"{value:.2f}".replace("-", "\u2212"),
            "showarrow": False,
            "font": {"size": size, "color": PAPER if abs(value or 0) > DARK_FROM else INK},
        }
        for i, row in enumerate(values)
        for j, value in enumerate(row)
        if i != j
    ]


def _separate(figure: go.Figure, n_readers: int, n_models: int) -> None:
    """Draw the line between readers and models."""
    if not n_readers or not n_models:
        return
    edge, n = n_readers - 0.5, n_readers + n_models
    line = {"color": INK, "width": 1.5}
    figure.add_shape(type="line", x0=edge, x1=edge, y0=-0.5, y1=n - 0.5, line=line)
    figure.add_shape(type="line", x0=-0.5, x1=n - 0.5, y0=edge, y1=edge, line=line)


def _lay_out(
    figure: go.Figure, raters: Sequence[str], names: Mapping[str, RaterName] | None
) -> None:
    n = len(raters)
    labels = [name_of(names, rater).on_figure for rater in raters]
    widest = min(max((len(name_of(names, rater).full) for rater in raters), default=0), 40)
    margin = 24 + 6.6 * widest
    side = min(max(n * 46, 150), LARGEST)
    axis = {
        "tickvals": list(range(n)),
        "ticktext": labels,
        "range": [-0.5, n - 0.5],
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
        "tickfont": {"size": 12 if n <= MOST_WITH_NUMBERS else 7},
    }
    figure.update_layout(
        **base_layout(
            width=side + margin + 70,
            height=side + margin * 0.75 + 20,
            margin={"l": margin, "r": 60, "t": 12, "b": margin * 0.75},
            xaxis={**axis, "tickangle": -45},
            yaxis={**axis, "range": [n - 0.5, -0.5]},
            plot_bgcolor=EMPTY,
        )
    )
