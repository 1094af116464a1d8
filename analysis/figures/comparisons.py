"""Each model against each reader: the paired differences of accuracy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.figures.drawing.axes import (
    even_columns,
    fitted_axis,
    in_rows,
    interval_text,
    p_text,
    rater_labels,
    signed,
)
from analysis.figures.drawing.chart import Axis, Cells, Chart, Ink, Key, Mark, Panel, Rule, Tick
from analysis.figures.drawing.look import DIFFERENCE_SCALE
from analysis.figures.drawing.names import RaterName, name_of
from analysis.figures.forest import Estimate, ends_of, forest
from analysis.statistics.agreement.pairs.pairing import PairKind
from analysis.translation import pieces, t, written

COLUMNS = (4, 3)
MOST_MODELS, MOST_READERS = 16, 40


def comparisons_chart(
    comparisons: pd.DataFrame,
    *,
    condition: str = "",
    alpha: float = 0.05,
    names: Mapping[str, RaterName] | None = None,
) -> Chart | None:
    """Chart every model's difference from every reader, model minus reader.

    A mark is filled where the adjusted p is smaller than `alpha`. A panel for every model; over 16
    models or 40 readers a heat map; None where no difference is defined.
    """
    rows = comparisons.loc[
        (comparisons["pair_kind"] == PairKind.MIXED) & (comparisons["condition"] == condition)
    ]
    rows = rows.loc[rows["difference"].notna()]
    if rows.empty:
        return None
    readers, models = (sorted(rows[column].unique()) for column in ("rater_a", "rater_b"))
    if len(models) > MOST_MODELS or len(readers) > MOST_READERS:
        return _heat_map(rows, readers, models, names)
    found = {
        model: [
            _estimate(row, readers.index(row["rater_a"]), alpha, names)
            for row in rows.loc[rows["rater_b"] == model].to_dict("records")
        ]
        for model in models
    }
    ends = [end for estimates in found.values() for end in ends_of(estimates)]
    axis = fitted_axis([*ends, 0.0], parts=4, title=t("Model minus reader, points"))
    columns = even_columns(len(models), COLUMNS)
    panels = [
        forest(
            rater_labels(readers, names),
            estimates,
            axis,
            behind=[Rule(at=0)],
            title=name_of(names, model).on_figure.text,
            shown=i % columns == 0,
        )
        for i, (model, estimates) in enumerate(found.items())
    ]
    return Chart(rows=in_rows(panels, columns), key=_key(alpha))


def _estimate(
    row: Mapping[Any, Any], place: int, alpha: float, names: Mapping[str, RaterName] | None
) -> Estimate:
    clustered = not math.isnan(row["cluster_ci_low"])
    ends = ("cluster_ci_low", "cluster_ci_high") if clustered else ("ci_low", "ci_high")
    # The table says reader minus model: the other sign, the ends change places.
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
        hover=_hover(row, interval_text(value, low, high, decimals=1), clustered, names),
    )


def _hover(
    row: Mapping[Any, Any], text: str, clustered: bool, names: Mapping[str, RaterName] | None
) -> str:
    reader, model = (name_of(names, row[key]).on_figure.text for key in ("rater_a", "rater_b"))
    p = row["p_adjusted"]
    lines = [
        t("{model} minus {reader}", model=model, reader=reader),
        t(
            "{difference} points, {method}",
            difference=text,
            method=t("bootstrap over patients") if clustered else pieces(row["ci_method"]),
        ),
        t(
            "{model} % and {reader} % of {n}; only the model correct {only_model}, only the reader"
            " {only_reader}",
            model=signed(f"{100 * row['accuracy_b']:.1f}"),
            reader=signed(f"{100 * row['accuracy_a']:.1f}"),
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
            label=t("Adjusted p below {alpha}", alpha=written(f"{alpha:g}")),
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
        tuple(Tick(at=i, label=label) for i, label in enumerate(rater_labels(those, names)))
        for those in (models, readers)
    ]
    cells = Cells(
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
