"""Each model against the mean of the readers: both claims, with the margin."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.figures.drawing.axes import fitted_axis, interval_text, p_text, rater_labels, signed
from analysis.figures.drawing.chart import Band, Chart, Dash, Ink, Key, Layer, Mark, Rule
from analysis.figures.drawing.names import RaterName, name_of
from analysis.figures.forest import Estimate, ends_of, forest, numbers
from analysis.translation import capital, later, pieces, said, t, written

CLAIMS: Mapping[str, tuple[float, bool]] = {
    "these readers": (-0.19, False),
    "readers like these": (0.19, True),
}
AGAINST: Mapping[str, str] = {
    "these readers": later("against these readers"),
    "readers like these": later("against readers like these"),
}
ROWS_HIGH = 2.0


def panel_chart(
    panel: pd.DataFrame,
    *,
    metric: str = "accuracy",
    condition: str = "",
    names: Mapping[str, RaterName] | None = None,
) -> Chart | None:
    """Chart every model's difference from the readers' mean.

    The largest difference on top; None where none is defined.
    """
    rows = panel.loc[(panel["metric"] == metric) & (panel["condition"] == condition)]
    rows = rows.loc[rows["difference"].notna()]
    if rows.empty:
        return None
    best = rows.groupby("model_id")["difference"].max()
    models = sorted(best.index, key=lambda model: (-best[model], model))
    factor, decimals = (100, 1) if metric == "accuracy" else (1, 3)
    estimates = [
        _estimate(row, models.index(row["model_id"]), factor, decimals, names)
        for row in rows.to_dict("records")
    ]
    margins = rows["margin"].dropna()
    margin = -factor * float(margins.iloc[0]) if len(margins) else math.nan
    title = (
        t("Model minus mean of the readers, percentage points")
        if metric == "accuracy"
        else t("Model minus mean of the readers, AUC")
    )
    axis = fitted_axis([*ends_of(estimates), 0.0, margin], title=title)
    if len(axis.ticks) > 1 and axis.ticks[-1].at <= 0:
        # A tick on the better side as well.
        axis = fitted_axis([axis.low, axis.high, axis.ticks[1].at - axis.ticks[0].at], title=title)
    plot = forest(
        rater_labels(models, names),
        estimates,
        axis,
        behind=_lines(margin, axis.high),
        rows_high=ROWS_HIGH,
        least_rows=4,
    )
    side = numbers(plot, estimates, title=t("Difference and interval"))
    return Chart(rows=((plot, side),), key=_key(rows, margin, factor))


def _estimate(
    row: Mapping[Any, Any],
    place: int,
    factor: float,
    decimals: int,
    names: Mapping[str, RaterName] | None,
) -> Estimate:
    value, low, high, mean, model = (
        factor * row[c] for c in ("difference", "ci_low", "ci_high", "reader_mean", "model_value")
    )
    shift, hollow = CLAIMS.get(row["claim"], (0.0, False))
    text = interval_text(value, low, high, decimals=decimals)
    lines = [
        name_of(names, row["model_id"]).on_figure.text,
        f"{said(AGAINST.get(row['claim'], row['claim']))}: {text}",
        t(
            "model {model}, readers {mean}; {readers} readers, {n} items",
            model=written(f"{model:.{decimals}f}"),
            mean=written(f"{mean:.{decimals}f}"),
            readers=str(row["n_readers"]),
            n=str(row["n_items"]),
        ),
        *([t("p for no difference {p}", p=p_text(row["p"]))] if row["p"] == row["p"] else []),
        *(
            [t("p for inferior by the margin {p}", p=p_text(row["p_noninferior"]))]
            if row["p_noninferior"] == row["p_noninferior"]
            else []
        ),
        *filter(None, [pieces(str(row["note"] or ""))]),
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


def _lines(margin: float, end: float) -> list[Layer]:
    zero = Rule(at=0, width_pt=0.9)
    if math.isnan(margin):
        return [zero]
    band = Band(low=margin, high=end)
    return [band, zero, Rule(at=margin, dash=Dash.DASHED, ink=Ink.QUIET, width_pt=0.9)]


def _key(rows: pd.DataFrame, margin: float, factor: float) -> tuple[Key, ...]:
    shown = set(rows["claim"])
    keys = [
        Key(label=capital(said(AGAINST[claim])), ink=Ink.MODEL, mark=Mark.DIAMOND, hollow=hollow)
        for claim, (_, hollow) in CLAIMS.items()
        if claim in shown
    ]
    if not math.isnan(margin):
        size = signed(f"{margin:g}")
        words = (
            t("Margin {size} points", size=size) if factor != 1 else t("Margin {size}", size=size)
        )
        keys.append(Key(label=words, ink=Ink.QUIET, dash=Dash.DASHED))
        keys.append(Key(label=t("Better than the margin"), ink=Ink.QUIET))
    return tuple(keys)
