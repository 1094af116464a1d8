"""Charts of models compared with single readers, with the readers' mean, and by agreement."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.bundle.model import PairKind
from analysis.figures.agreement import STYLES_BY_RATERS, scope_text
from analysis.figures.drawing.axes import (
    RaterName,
    arrange_in_rows,
    even_columns,
    fit_axis,
    interval_text,
    localise_signed,
    name_of,
    p_text,
    rater_labels,
)
from analysis.figures.drawing.chart import (
    Axis,
    Band,
    Chart,
    Dash,
    HeatMap,
    Ink,
    Key,
    Label,
    Layer,
    Mark,
    Panel,
    ReferenceLine,
    Tick,
)
from analysis.figures.drawing.colours import DIFFERENCE_SCALE
from analysis.figures.forest import Estimate, Rows, ends_of, forest, number_column
from analysis.translation import capitalise, later, localised, t, translate_pieces, translated

COLUMN_CHOICES = (4, 3)
MAX_MODELS, MAX_READERS = 16, 40


def comparisons_chart(
    comparisons: pd.DataFrame,
    *,
    condition: str = "",
    alpha: float = 0.05,
    names: Mapping[str, RaterName] | None = None,
) -> Chart | None:
    """Chart the difference of every model from every reader, model minus reader.

    A mark is filled if the adjusted p is below `alpha`. There is a panel per model, or a heat map
    for more than 16 models or 40 readers. None is returned if no difference is defined.
    """
    rows = comparisons.loc[
        (comparisons["pair_kind"] == PairKind.MIXED) & (comparisons["condition"] == condition)
    ]
    rows = rows.loc[rows["difference"].notna()]
    if rows.empty:
        return None
    readers, models = (sorted(rows[column].unique()) for column in ("rater_a", "rater_b"))
    if len(models) > MAX_MODELS or len(readers) > MAX_READERS:
        return _heat_map(rows, readers, models, names)
    by_model = {
        model: [
            _estimate(row, readers.index(row["rater_a"]), alpha, names)
            for row in rows.loc[rows["rater_b"] == model].to_dict("records")
        ]
        for model in models
    }
    ends = [end for estimates in by_model.values() for end in ends_of(estimates)]
    axis = fit_axis([*ends, 0.0], parts=4, title=t("Model minus reader, points"))
    columns = even_columns(len(models), COLUMN_CHOICES)
    panels = [
        forest(
            Rows(labels=rater_labels(readers, names), labelled=i % columns == 0),
            estimates,
            axis,
            background=[ReferenceLine(at=0)],
            title=name_of(names, model).on_figure.text,
        )
        for i, (model, estimates) in enumerate(by_model.items())
    ]
    return Chart(rows=arrange_in_rows(panels, columns), key=_key(alpha))


def _estimate(
    row: Mapping[Any, Any], place: int, alpha: float, names: Mapping[str, RaterName] | None
) -> Estimate:
    clustered = not math.isnan(row["cluster_ci_low"])
    ends = ("cluster_ci_low", "cluster_ci_high") if clustered else ("ci_low", "ci_high")
    # The table has reader minus model, so that the sign changes and the limits are exchanged.
    value, high, low = (-100 * row[column] + 0.0 for column in ("difference", *ends))
    p = row["p_adjusted"]
    return Estimate(
        row=float(place),
        ink=Ink.MODEL,
        mark=Mark.DIAMOND,
        hollow=not p < alpha,
        value=value,
        low=low,
        high=high,
        hover=_hover_text(row, interval_text(value, low, high, decimals=1), clustered, names),
    )


def _hover_text(
    row: Mapping[Any, Any], text: str, clustered: bool, names: Mapping[str, RaterName] | None
) -> str:
    reader, model = (name_of(names, row[key]).on_figure.text for key in ("rater_a", "rater_b"))
    p = row["p_adjusted"]
    lines = [
        t("{model} minus {reader}", model=model, reader=reader),
        t(
            "{difference} points, {method}",
            difference=text,
            method=t("bootstrap over patients")
            if clustered
            else translate_pieces(row["ci_method"]),
        ),
        t(
            "{model} % and {reader} % of {n}; only the model correct {only_model}, only the reader"
            " {only_reader}",
            model=localise_signed(f"{100 * row['accuracy_b']:.1f}"),
            reader=localise_signed(f"{100 * row['accuracy_a']:.1f}"),
            n=str(row["n"]),
            only_model=str(row["only_b_correct"]),
            only_reader=str(row["only_a_correct"]),
        ),
    ]
    if not math.isnan(p):
        lines.append(t("adjusted p {value}", value=p_text(p)))
    return "\n".join(lines)


def _key(alpha: float) -> tuple[Key, ...]:
    return (
        Key(
            label=t("Adjusted p below {alpha}", alpha=localised(f"{alpha:g}")),
            ink=Ink.MODEL,
            mark=Mark.DIAMOND,
        ),
        Key(label=t("Not below"), ink=Ink.MODEL, mark=Mark.DIAMOND, hollow=True),
    )


def _heat_map(
    rows: pd.DataFrame,
    readers: Sequence[str],
    models: Sequence[str],
    names: Mapping[str, RaterName] | None,
) -> Chart:
    table = rows.pivot(index="rater_a", columns="rater_b", values="difference")
    values = -100 * table.reindex(index=list(readers), columns=list(models)).to_numpy()
    columns, high = len(models), len(readers)
    ticks = [
        tuple(Tick(at=i, label=label) for i, label in enumerate(rater_labels(raters, names)))
        for raters in (models, readers)
    ]
    cells = HeatMap(
        values=tuple(tuple(float(v) for v in row) for row in values),
        low=-60,
        high=60,
        scale=DIFFERENCE_SCALE,
        labels=(-60, -30, 0, 30, 60),
        names=t("{model} minus {reader}", model="%{x}", reader="%{y}") + ": %{z:.1f}",
    )
    panel = Panel(
        x=Axis(low=-0.5, high=columns - 0.5, ticks=ticks[0], grid=False, slanted=True),
        y=Axis(low=high - 0.5, high=-0.5, ticks=ticks[1], grid=False),
        layers=(cells,),
        height_mm=min(max(high * 4.0, 30.0), 200.0),
    )
    return Chart(rows=((panel,),))


CLAIM_STYLES: Mapping[str, tuple[float, bool]] = {
    "these readers": (-0.19, False),
    "readers like these": (0.19, True),
}
COMPARATOR_WORDS: Mapping[str, str] = {
    "these readers": later("against these readers"),
    "readers like these": later("against readers like these"),
}
ROW_HEIGHT = 2.0


def panel_chart(
    panel: pd.DataFrame,
    *,
    metric: str = "accuracy",
    condition: str = "",
    names: Mapping[str, RaterName] | None = None,
) -> Chart | None:
    """Chart the difference of every model from the readers' mean.

    The largest difference is at the top. None is returned if no difference is defined.
    """
    rows = panel.loc[(panel["metric"] == metric) & (panel["condition"] == condition)]
    rows = rows.loc[rows["difference"].notna()]
    if rows.empty:
        return None
    best = rows.groupby("model_id")["difference"].max()
    models = sorted(best.index, key=lambda model: (-best[model], model))
    factor, decimals = (100, 1) if metric == "accuracy" else (1, 3)
    estimates = [
        _panel_estimate(row, models.index(row["model_id"]), factor, decimals, names)
        for row in rows.to_dict("records")
    ]
    margins = rows["margin"].dropna()
    margin = -factor * float(margins.iloc[0]) if len(margins) else math.nan
    title = (
        t("Model minus mean of the readers, percentage points")
        if metric == "accuracy"
        else t("Model minus mean of the readers, AUC")
    )
    axis = fit_axis([*ends_of(estimates), 0.0, margin], title=title)
    if len(axis.ticks) > 1 and axis.ticks[-1].at <= 0:
        # A longer axis has a tick above 0.
        axis = fit_axis([axis.low, axis.high, axis.ticks[1].at - axis.ticks[0].at], title=title)
    plot = forest(
        Rows(labels=rater_labels(models, names), height=ROW_HEIGHT, least=4),
        estimates,
        axis,
        background=_reference_lines(margin, axis.high),
    )
    side = number_column(plot, estimates, title=t("Difference and interval"))
    return Chart(rows=((plot, side),), key=_panel_key(rows, margin, factor))


def _panel_estimate(
    row: Mapping[Any, Any],
    place: int,
    factor: float,
    decimals: int,
    names: Mapping[str, RaterName] | None,
) -> Estimate:
    value, low, high, mean, model = (
        factor * row[c] for c in ("difference", "ci_low", "ci_high", "reader_mean", "model_value")
    )
    shift, hollow = CLAIM_STYLES.get(row["claim"], (0.0, False))
    text = interval_text(value, low, high, decimals=decimals)
    lines = [
        name_of(names, row["model_id"]).on_figure.text,
        f"{translated(COMPARATOR_WORDS.get(row['claim'], row['claim']))}: {text}",
        t(
            "model {model}, readers {mean}; {readers} readers, {n} items",
            model=localised(f"{model:.{decimals}f}"),
            mean=localised(f"{mean:.{decimals}f}"),
            readers=str(row["n_readers"]),
            n=str(row["n_items"]),
        ),
        *([t("p for no difference {p}", p=p_text(row["p"]))] if row["p"] == row["p"] else []),
        *(
            [t("p for inferiority by at least the margin {p}", p=p_text(row["p_noninferior"]))]
            if row["p_noninferior"] == row["p_noninferior"]
            else []
        ),
        *filter(None, [translate_pieces(str(row["note"] or ""))]),
    ]
    return Estimate(
        row=place + shift,
        ink=Ink.MODEL,
        mark=Mark.DIAMOND,
        hollow=hollow,
        value=value,
        low=low,
        high=high,
        hover="\n".join(lines),
        text=text,
    )


def _reference_lines(margin: float, end: float) -> list[Layer]:
    zero = ReferenceLine(at=0, width_pt=0.9)
    if math.isnan(margin):
        return [zero]
    band = Band(low=margin, high=end)
    return [band, zero, ReferenceLine(at=margin, dash=Dash.DASHED, ink=Ink.QUIET, width_pt=0.9)]


def _panel_key(rows: pd.DataFrame, margin: float, factor: float) -> tuple[Key, ...]:
    shown = set(rows["claim"])
    keys = [
        Key(
            label=capitalise(translated(COMPARATOR_WORDS[claim])),
            ink=Ink.MODEL,
            mark=Mark.DIAMOND,
            hollow=hollow,
        )
        for claim, (_, hollow) in CLAIM_STYLES.items()
        if claim in shown
    ]
    if not math.isnan(margin):
        size = localise_signed(f"{margin:g}")
        words = (
            t("Margin {size} points", size=size) if factor != 1 else t("Margin {size}", size=size)
        )
        keys.append(Key(label=words, ink=Ink.QUIET, dash=Dash.DASHED))
        keys.append(Key(label=t("Better than the margin"), ink=Ink.QUIET))
    return tuple(keys)


PLOTTED_COLUMNS = ("among_readers", "readers_models", "among_models")
STYLE_OF_COLUMN = {
    "among_readers": "readers",
    "readers_models": "readers_models",
    "among_models": "models",
}
SCOPE_ROW_HEIGHT = 1.5


def between_chart(
    between: pd.DataFrame,
    *,
    title: str,
    measure: str = "brennan_prediger",
    condition: str = "",
) -> Chart | None:
    """Chart the agreement among readers and of readers with models, and the difference of the two.

    The first row is for all cases and the others for tasks; `title` names the measure. None is
    returned if no difference is defined.
    """
    rows = between.loc[(between["measure"] == measure) & (between["condition"] == condition)]
    rows = rows.loc[rows["difference"].notna()]
    scopes = sorted(set(rows["scope"]), key=lambda scope: (scope != "all", scope))
    if not scopes:
        return None
    records = rows.to_dict("records")
    means = [
        _mean_estimate(row, column, scopes.index(row["scope"]))
        for row in records
        for column in PLOTTED_COLUMNS
        if not math.isnan(row[column])
    ]
    differences = [_difference_estimate(row, scopes.index(row["scope"])) for row in records]
    labels = [Label(text=scope_text(scope)) for scope in scopes]
    left = forest(
        Rows(labels=labels, height=SCOPE_ROW_HEIGHT),
        means,
        fit_axis([*ends_of(means), 0.0], title=title, highest=1.0),
        title=t("Agreement"),
    )
    right = forest(
        Rows(labels=labels, labelled=False, height=SCOPE_ROW_HEIGHT),
        differences,
        fit_axis([*ends_of(differences), 0.0], title=t("With models minus among readers")),
        background=[ReferenceLine(at=0)],
        title=t("Difference"),
    )
    side = number_column(right, differences, title=t("Difference and interval"))
    return Chart(rows=((left, right, side),), key=_between_key(rows))


def _mean_estimate(row: Mapping[Any, Any], column: str, place: int) -> Estimate:
    shift, ink, mark, hollow, words = STYLES_BY_RATERS[STYLE_OF_COLUMN[column]]
    value = float(row[column])
    return Estimate(
        row=place + 0.8 * shift,
        ink=ink,
        mark=mark,
        hollow=hollow,
        value=value,
        low=math.nan,
        high=math.nan,
        hover=f"{translated(words)}\n{scope_text(row['scope'])}: {localised(f'{value:.3f}')}"
        f"\n{_counts_text(row)}",
    )


def _difference_estimate(row: Mapping[Any, Any], place: int) -> Estimate:
    value, low, high = (float(row[c]) for c in ("difference", "ci_low", "ci_high"))
    exact = interval_text(value, low, high, decimals=3)
    return Estimate(
        row=float(place),
        ink=Ink.INK,
        mark=Mark.SQUARE,
        value=value,
        low=low,
        high=high,
        hover=f"{scope_text(row['scope'])}\n{exact}\n{_counts_text(row)}\n{translate_pieces(row['method'])}",
        text=interval_text(value, low, high, decimals=2),
    )


def _counts_text(row: Mapping[Any, Any]) -> str:
    return t(
        "{readers} readers, {models} models, {n} items",
        readers=str(row["n_readers"]),
        models=str(row["n_models"]),
        n=str(row["n_items"]),
    )


def _between_key(rows: pd.DataFrame) -> tuple[Key, ...]:
    keys = []
    for column in PLOTTED_COLUMNS:
        if rows[column].notna().any():
            _, ink, mark, hollow, words = STYLES_BY_RATERS[STYLE_OF_COLUMN[column]]
            keys.append(Key(label=translated(words), ink=ink, mark=mark, hollow=hollow))
    return tuple(keys)
