"""The leaderboard: accuracy and how certain the ranks are, by micro and by macro."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.bundle.words import RaterKind
from analysis.figures.accuracy import kinds_key
from analysis.figures.drawing.axes import fitted_axis, interval_text, rater_labels
from analysis.figures.drawing.chart import Axis, Chart, Label, Panel, Tick
from analysis.figures.drawing.look import INKS, MARKS
from analysis.figures.drawing.names import RaterName, in_condition, name_of
from analysis.figures.forest import Estimate, ends_of, forest

RANKINGS = {"micro": "micro: every item weighs the same", "macro": "macro: every task the same"}
MOST_RANK_TICKS = 8


def leaderboard_chart(
    leaderboard: pd.DataFrame,
    *,
    condition: str = "",
    names: Mapping[str, RaterName] | None = None,
) -> Chart | None:
    """Chart accuracy and rank with their intervals, by micro and by macro accuracy.

    Parameters
    ----------
    leaderboard : pandas.DataFrame
        The table `leaderboard`.
    condition : str
        The readers' condition.
    names : mapping of str to RaterName, optional
        Names by `rater_id`; default: the ids.

    Returns
    -------
    Chart or None
        The best by micro accuracy on top; None with fewer than two ranked raters.
    """
    rows = in_condition(leaderboard, condition)
    rows = rows.loc[(rows["by"] == "overall") & rows["rank"].notna()]
    first = rows.loc[rows["group"] == "micro"].sort_values(["rank", "rater_id"])
    raters = list(dict.fromkeys(first["rater_id"]))
    if len(raters) < 2:
        return None
    rows = rows.loc[rows["rater_id"].isin(raters)]
    parts = {group: rows.loc[rows["group"] == group] for group in RANKINGS}
    parts = {group: part for group, part in parts.items() if len(part)}
    scores = {group: _accuracies(part, raters, names) for group, part in parts.items()}
    axis = fitted_axis([end for one in scores.values() for end in ends_of(one)], parts=4, most=100)
    panels: list[Panel] = []
    for group, part in parts.items():
        shown = not panels
        labels = rater_labels(raters, names)
        panels.append(
            forest(labels, scores[group], axis, title=f"Percent correct, {group}", shown=shown)
        )
        ranks = _ranks(part, raters, names)
        title = f"Rank, {group}"
        panels.append(
            forest(labels, ranks, _rank_axis(len(raters)), title=title, shown=False, weight=0.8)
        )
    return Chart(rows=(tuple(panels),), key=kinds_key(rows))


def _accuracies(
    rows: pd.DataFrame, raters: Sequence[str], names: Mapping[str, RaterName] | None
) -> list[Estimate]:
    return [
        _estimate(row, raters, [100 * row[c] for c in ("accuracy", "ci_low", "ci_high")], names)
        for row in rows.to_dict("records")
    ]


def _ranks(
    rows: pd.DataFrame, raters: Sequence[str], names: Mapping[str, RaterName] | None
) -> list[Estimate]:
    return [
        _estimate(row, raters, [float(row[c]) for c in ("rank", "rank_low", "rank_high")], names)
        for row in rows.to_dict("records")
    ]


def _estimate(
    row: Mapping[Any, Any],
    raters: Sequence[str],
    ends: Sequence[float],
    names: Mapping[str, RaterName] | None,
) -> Estimate:
    kind = RaterKind(row["rater_kind"])
    value, low, high = (100 * row[c] for c in ("accuracy", "ci_low", "ci_high"))
    rank = interval_text(row["rank"], row["rank_low"], row["rank_high"], decimals=0)
    lines = [
        name_of(names, row["rater_id"]).on_figure.text,
        RANKINGS[row["group"]],
        f"{interval_text(value, low, high, decimals=1)} %, n = {row['n']}",
        f"rank {rank}",
    ]
    return Estimate(
        row=float(raters.index(row["rater_id"])),
        ink=INKS[kind],
        mark=MARKS[kind],
        value=ends[0],
        low=ends[1],
        high=ends[2],
        hover="\n".join(lines),
    )


def _rank_axis(n: int) -> Axis:
    step = max(1, -(-n // MOST_RANK_TICKS))
    at = list(range(1, n + 1, step)) if step < 3 else [1, *range(step, n + 1, step)]
    ticks = tuple(Tick(at=i, label=Label(text=str(i))) for i in at)
    return Axis(low=0.5, high=n + 0.5, ticks=ticks)
