"""Charts of accuracy, overall, by task and as profiles, and of the leaderboard."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.bundle.model import RaterKind
from analysis.figures.drawing.axes import (
    MAX_GROUP_LENGTH,
    RaterName,
    arrange_in_rows,
    condition_name,
    conditions_of,
    even_columns,
    fit_axis,
    interval_text,
    localise_signed,
    name_of,
    percent_axis,
    rater_labels,
    row_height_mm,
    rows_axis,
    rows_in_condition,
    shorten,
)
from analysis.figures.drawing.chart import (
    Axis,
    Boxes,
    Chart,
    Dash,
    Ink,
    Key,
    Label,
    Layer,
    Mark,
    Panel,
    Points,
    ReferenceLine,
    Tick,
)
from analysis.figures.drawing.colours import RATER_INKS, RATER_MARKS
from analysis.figures.forest import Estimate, Rows, ends_of, forest
from analysis.translation import later, t, translated

PANELS_IN_A_ROW, PANELS_BESIDE_LONG_NAMES = 7, 4
LONG_NAME = 24
# Diameter of marks, and of the largest marks if the area shows the number of cases.
MARK_MM, MAX_MARK_MM = 1.6, 1.8
# Maximum number of panels in the overview.
MAX_CONDITIONS = 3
# Usual and smallest height of a row in the overview; usual and largest height of all rows.
OVERVIEW_ROW_MM, MIN_OVERVIEW_ROW_MM = 6.7, 2.5
OVERVIEW_MM, MAX_OVERVIEW_MM = 90.0, 170.0
OVERALL_TITLES = {"micro": later("Overall, micro"), "macro": later("Overall, macro")}
OVERALL_TITLE = later("Overall")
GROUP_NAMES = {"micro": later("micro"), "macro": later("macro")}


def accuracy_chart(
    accuracy: pd.DataFrame,
    *,
    condition: str = "",
    names: Mapping[str, RaterName] | None = None,
) -> Chart:
    """Chart the accuracy of every rater with its interval: micro, macro and each task side by side.

    There is a row of panels for every seven groups, with readers above models. The area of a task's
    mark is proportional to its number of cases; overall marks are as large as those of the largest
    task.
    """
    rows = rows_in_condition(accuracy, condition)
    rows = drop_redundant_macro(rows.loc[rows["by"].isin(["overall", "task"])])
    of_tasks = rows["n"].where(rows["by"] == "task")
    rows = rows.assign(share=(of_tasks / of_tasks.max()).fillna(1.0))
    groups = list(dict.fromkeys(zip(rows["by"], rows["group"], strict=True)))
    raters = list(dict.fromkeys(rows["rater_id"]))
    columns = _n_columns(raters, names)
    overall = OVERALL_TITLES if ("overall", "macro") in groups else {"micro": OVERALL_TITLE}
    panels = [
        _panel(
            rows.loc[(rows["by"] == by) & (rows["group"] == group)],
            raters,
            names,
            title=translated(overall[group]) if by == "overall" else group,
            first=place % columns == 0,
        )
        for place, (by, group) in enumerate(groups)
    ]
    return Chart(rows=arrange_in_rows(panels, columns), key=kinds_key(rows))


def drop_redundant_macro(rows: pd.DataFrame) -> pd.DataFrame:
    """Drop macro accuracy if it equals micro accuracy for every rater, as with equal task sizes."""
    overall = rows.loc[rows["by"] == "overall"]
    micro, macro = (
        overall.loc[overall["group"] == group].set_index(["rater_id", "condition"])["accuracy"]
        for group in ("micro", "macro")
    )
    # Equal after rounding as in tables.
    same = np.allclose(micro, macro.reindex(micro.index), rtol=0, atol=5e-4, equal_nan=True)
    return rows.loc[(rows["by"] != "overall") | (rows["group"] != "macro")] if same else rows


def overview_chart(
    rows: pd.DataFrame,
    means: Mapping[str, float],
    *,
    names: Mapping[str, RaterName] | None = None,
) -> Chart | None:
    """Chart the accuracy of every rater over all items with the readers' mean, by condition.

    `rows` are the micro accuracies in the order of the raters; `means` are the readers' means by
    condition. None is returned if no accuracy is defined. If there are very many raters, only every
    second or third one is named, and so on, so that the names are legible.
    """
    rows = rows.loc[rows["accuracy"].notna()]
    if rows.empty:
        return None
    raters = list(dict.fromkeys(rows["rater_id"]))
    ends = [100 * value for column in ("accuracy", "ci_low", "ci_high") for value in rows[column]]
    axis = fit_axis(ends, title=t("Percent correct"), least=0, highest=100)
    conditions = conditions_of(rows)[:MAX_CONDITIONS]
    height, tick_step = _overview_height(len(raters))
    named = rows_axis(rater_labels(raters, names))
    panels = [
        Panel(
            x=axis,
            y=replace(named, ticks=named.ticks[::tick_step], labels=place == 0),
            layers=(
                *_mean_line(means.get(condition)),
                *(
                    _points(shown_rows.loc[shown_rows["rater_kind"] == kind], kind, raters, names)
                    for kind in RaterKind
                ),
            ),
            title=condition_name(condition) if len(conditions) > 1 else "",
            height_mm=height,
        )
        for place, condition in enumerate(conditions)
        for shown_rows in [rows_in_condition(rows, condition)]
    ]
    key = kinds_key(rows)
    if means:
        key += (Key(label=t("Mean of the readers"), ink=Ink.QUIET, dash=Dash.DASHED),)
    return Chart(rows=(tuple(panels),), key=key)


def _overview_height(n: int) -> tuple[float, int]:
    """Return the height of all rows of the overview in millimetres, and the step between names.

    Examples
    --------
    >>> _overview_height(4), _overview_height(24), _overview_height(40), _overview_height(200)
    ((26.8, 1), (90.0, 1), (100.0, 1), (170.0, 3))
    """
    default_mm = min(max(n, 2) * OVERVIEW_ROW_MM, OVERVIEW_MM)
    height = min(max(default_mm, n * MIN_OVERVIEW_ROW_MM), MAX_OVERVIEW_MM)
    return height, math.ceil(n * MIN_OVERVIEW_ROW_MM / height)


def _mean_line(mean: float | None) -> tuple[ReferenceLine, ...]:
    if mean is None:
        return ()
    return (ReferenceLine(at=100 * mean, ink=Ink.QUIET, dash=Dash.DASHED),)


def kinds_key(rows: pd.DataFrame) -> tuple[Key, ...]:
    """Return the key for the kinds of raters in the rows."""
    kinds = set(rows["rater_kind"])
    words = {RaterKind.READER: t("Readers"), RaterKind.MODEL: t("Models")}
    return tuple(
        Key(label=words[kind], ink=RATER_INKS[kind], mark=RATER_MARKS[kind])
        for kind in RaterKind
        if kind in kinds
    )


def _n_columns(raters: list[str], names: Mapping[str, RaterName] | None) -> int:
    longest = max((len(label.text) for label in rater_labels(raters, names)), default=0)
    return PANELS_IN_A_ROW if longest <= LONG_NAME else PANELS_BESIDE_LONG_NAMES


def _panel(
    rows: pd.DataFrame,
    raters: list[str],
    names: Mapping[str, RaterName] | None,
    *,
    title: str,
    first: bool,
) -> Panel:
    least, highest = rows["n"].min(), rows["n"].max()
    return Panel(
        x=percent_axis(),
        y=rows_axis(rater_labels(raters, names), shown=first),
        layers=tuple(
            _points(rows.loc[(rows["rater_kind"] == kind)], kind, raters, names)
            for kind in RaterKind
        ),
        title=title,
        subtitle=f"n = {least}" if least == highest else f"n = {least}\u2013{highest}",
        height_mm=row_height_mm(len(raters)) * max(len(raters), 2),
    )


def _points(
    rows: pd.DataFrame,
    kind: RaterKind,
    raters: list[str],
    names: Mapping[str, RaterName] | None,
) -> Points:
    rows = rows.loc[rows["accuracy"].notna()]
    sized = "share" in rows
    return Points(
        ink=RATER_INKS[kind],
        mark=RATER_MARKS[kind],
        x=tuple(100 * rows["accuracy"]),
        y=tuple(float(raters.index(rater)) for rater in rows["rater_id"]),
        low=tuple(100 * rows["ci_low"]),
        high=tuple(100 * rows["ci_high"]),
        hover=tuple(_hover(row, names) for row in rows.to_dict("records")),
        size_mm=min(MAX_MARK_MM if sized else MARK_MM, 0.6 * row_height_mm(len(raters))),
        shares=tuple(rows["share"]) if sized else (),
    )


def _hover(row: Mapping[Any, Any], names: Mapping[str, RaterName] | None) -> str:
    value, low, high = (100 * row[c] for c in ("accuracy", "ci_low", "ci_high"))
    return "\n".join(
        [
            name_of(names, row["rater_id"]).on_figure.text,
            translated(GROUP_NAMES.get(row["group"], str(row["group"]))),
            t("{value} %", value=interval_text(value, low, high, decimals=1)),
            t(
                "{n} of {total} correct, {missing} not answered",
                n=str(row["n_correct"]),
                total=str(row["n"]),
                missing=str(row["n_missing"]),
            ),
        ]
    )


RANKING_NAMES = {
    "micro": later("micro: every item weighs the same"),
    "macro": later("macro: every task the same"),
}
SCORE_TITLES = {"micro": later("Percent correct, micro"), "macro": later("Percent correct, macro")}
RANK_TITLES = {"micro": later("Rank, micro"), "macro": later("Rank, macro")}
MAX_RANK_TICKS = 8


def leaderboard_chart(
    leaderboard: pd.DataFrame,
    *,
    condition: str = "",
    names: Mapping[str, RaterName] | None = None,
) -> Chart | None:
    """Chart accuracy and rank with their intervals, by micro and by macro accuracy.

    The rater with the best micro accuracy is at the top. None is returned if fewer than two raters
    have a rank.
    """
    rows = rows_in_condition(leaderboard, condition)
    rows = rows.loc[(rows["by"] == "overall") & rows["rank"].notna()]
    first = rows.loc[rows["group"] == "micro"].sort_values(["rank", "rater_id"])
    raters = list(dict.fromkeys(first["rater_id"]))
    if len(raters) < 2:
        return None
    rows = drop_redundant_macro(rows.loc[rows["rater_id"].isin(raters)])
    parts = {group: rows.loc[rows["group"] == group] for group in RANKING_NAMES}
    parts = {group: part for group, part in parts.items() if len(part)}
    scores = {group: _accuracies(part, raters, names) for group, part in parts.items()}
    axis = fit_axis(
        [end for estimates in scores.values() for end in ends_of(estimates)], parts=4, highest=100
    )
    panels: list[Panel] = []
    for group, part in parts.items():
        several = len(parts) > 1
        left = Rows(labels=rater_labels(raters, names), labelled=not panels)
        title = translated(SCORE_TITLES[group]) if several else t("Percent correct")
        panels.append(forest(left, scores[group], axis, title=title))
        right = replace(left, labelled=False)
        ranks = _ranks(part, raters, names)
        title = translated(RANK_TITLES[group]) if several else t("Rank")
        panels.append(forest(right, ranks, _rank_axis(len(raters)), title=title, weight=0.8))
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
        translated(RANKING_NAMES[row["group"]]),
        t("{value} %, n = {n}", value=interval_text(value, low, high, decimals=1), n=str(row["n"])),
        t("rank {rank}", rank=rank),
    ]
    return Estimate(
        row=float(raters.index(row["rater_id"])),
        ink=RATER_INKS[kind],
        mark=RATER_MARKS[kind],
        value=ends[0],
        low=ends[1],
        high=ends[2],
        hover="\n".join(lines),
    )


def _rank_axis(n: int) -> Axis:
    step = max(1, -(-n // MAX_RANK_TICKS))
    at = list(range(1, n + 1, step)) if step < 3 else [1, *range(step, n + 1, step)]
    ticks = tuple(Tick(at=i, label=Label(text=str(i))) for i in at)
    return Axis(low=0.5, high=n + 0.5, ticks=ticks)


COLUMN_CHOICES = (4, 3)
MAX_MODELS = 14
ROW_MM = 5.6


def profile_chart(
    accuracy: pd.DataFrame,
    *,
    condition: str = "",
    names: Mapping[str, RaterName] | None = None,
) -> Chart | None:
    """Chart accuracy by task: a panel for the readers, and one per model over the readers' range.

    More than 14 models share a panel. The area of a mark is proportional to its number of cases.
    None is returned if fewer than two tasks have an accuracy.
    """
    rows = rows_in_condition(accuracy, condition)
    rows = rows.loc[(rows["by"] == "task") & rows["accuracy"].notna()]
    sizes = rows.groupby("group")["n"].max()
    tasks = sorted(sizes.index, key=lambda task: (-sizes[task], task))
    if len(tasks) < 2:
        return None
    rows = rows.assign(share=rows["n"] / sizes.max())
    readers = rows.loc[rows["rater_kind"] == RaterKind.READER]
    models = rows.loc[rows["rater_kind"] == RaterKind.MODEL]
    background = (_reader_range(readers, tasks),) if len(readers) else ()
    panels: list[tuple[str, list[Layer]]] = []
    if len(readers):
        panels.append((t("Readers"), [*background, _marks(readers, tasks, names, is_alone=False)]))
    ids = list(dict.fromkeys(models["rater_id"]))
    if len(ids) > MAX_MODELS:
        panels.append((t("Models"), [*background, _marks(models, tasks, names, is_alone=False)]))
    else:
        for label, model in zip(rater_labels(ids, names), ids, strict=True):
            marks = _marks(models.loc[models["rater_id"] == model], tasks, names, is_alone=True)
            panels.append((label.text, [*background, marks]))
    labels = [Label(text=f"{shorten(task, MAX_GROUP_LENGTH)} ({sizes[task]})") for task in tasks]
    columns = even_columns(len(panels), COLUMN_CHOICES)
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
        rows=arrange_in_rows(drawn, columns),
        key=_key(readers, models, apart=len(ids) <= MAX_MODELS),
    )


def _reader_range(readers: pd.DataFrame, tasks: Sequence[str]) -> Boxes:
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
                mean=localise_signed(f"{mean[task]:.1f}"),
                low=localise_signed(f"{low[task]:.1f}"),
                high=localise_signed(f"{high[task]:.1f}"),
            )
            for task in present
        ),
        thickness=0.66,
    )


def _marks(
    rows: pd.DataFrame,
    tasks: Sequence[str],
    names: Mapping[str, RaterName] | None,
    *,
    is_alone: bool,
) -> Points:
    kind = RaterKind(rows["rater_kind"].iloc[0])
    return Points(
        ink=RATER_INKS[kind],
        mark=RATER_MARKS[kind],
        x=tuple(100 * rows["accuracy"]),
        y=tuple(float(tasks.index(task)) for task in rows["group"]),
        low=tuple(100 * rows["ci_low"]) if is_alone else (),
        high=tuple(100 * rows["ci_high"]) if is_alone else (),
        hover=tuple(_profile_hover(row, names) for row in rows.to_dict("records")),
        size_mm=MAX_MARK_MM,
        shares=tuple(rows["share"]),
        hollow=not is_alone,
    )


def _profile_hover(row: Mapping[Any, Any], names: Mapping[str, RaterName] | None) -> str:
    value, low, high = (100 * row[c] for c in ("accuracy", "ci_low", "ci_high"))
    name = name_of(names, row["rater_id"]).on_figure.text
    text = interval_text(value, low, high, decimals=1)
    return f"{name}\n{row['group']}\n" + t("{value} %, n = {n}", value=text, n=str(row["n"]))


def _key(readers: pd.DataFrame, models: pd.DataFrame, *, apart: bool) -> tuple[Key, ...]:
    keys: list[Key] = []
    if len(readers):
        keys.append(Key(label=t("Lowest to highest reader, line: mean"), ink=Ink.READER))
        keys.append(Key(label=t("A reader"), ink=Ink.READER, mark=Mark.CIRCLE, hollow=True))
    if len(models):
        words = t("A model, with its interval") if apart else t("A model")
        keys.append(Key(label=words, ink=Ink.MODEL, mark=Mark.DIAMOND, hollow=not apart))
    return tuple(keys)
