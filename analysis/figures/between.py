"""Do readers agree with models as they agree with each other? Two estimates, and the difference."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.figures.drawing.axes import fitted_axis, interval_text
from analysis.figures.drawing.chart import Chart, Ink, Key, Label, Mark, Rule
from analysis.figures.forest import Estimate, ends_of, forest, numbers
from analysis.figures.group_agreement import LOOKS, scope_text
from analysis.figures.kappa_matrix import MEASURE_TITLES
from analysis.translation import pieces, said, t, written

SHOWN = ("among_readers", "readers_models", "among_models")
COLUMN_LOOKS = {
    "among_readers": "readers",
    "readers_models": "readers_models",
    "among_models": "models",
}
ROWS_HIGH = 1.5


def between_chart(
    between: pd.DataFrame, *, measure: str = "brennan_prediger", condition: str = ""
) -> Chart | None:
    """Chart the agreement among readers beside that of readers with models, and their difference.

    All cases on top, then tasks; None where no difference is defined.
    """
    rows = between.loc[(between["measure"] == measure) & (between["condition"] == condition)]
    rows = rows.loc[rows["difference"].notna()]
    scopes = sorted(set(rows["scope"]), key=lambda scope: (scope != "all", scope))
    if not scopes:
        return None
    records = rows.to_dict("records")
    means = [
        _mean(row, column, scopes.index(row["scope"]))
        for row in records
        for column in SHOWN
        if not math.isnan(row[column])
    ]
    differences = [_difference(row, scopes.index(row["scope"])) for row in records]
    labels = [Label(text=scope_text(scope)) for scope in scopes]
    left = forest(
        labels,
        means,
        fitted_axis(
            [*ends_of(means), 0.0], title=said(MEASURE_TITLES.get(measure, measure)), most=1.0
        ),
        title=t("Agreement"),
        rows_high=ROWS_HIGH,
    )
    right = forest(
        labels,
        differences,
        fitted_axis([*ends_of(differences), 0.0], title=t("With models minus among readers")),
        behind=[Rule(at=0)],
        title=t("Difference"),
        shown=False,
        rows_high=ROWS_HIGH,
    )
    side = numbers(right, differences, title=t("Difference and interval"))
    return Chart(rows=((left, right, side),), key=_key(rows))


def _mean(row: Mapping[Any, Any], column: str, place: int) -> Estimate:
    shift, ink, mark, hollow, words = LOOKS[COLUMN_LOOKS[column]]
    value = float(row[column])
    return Estimate(
        row=place + 0.8 * shift,
        ink=ink,
        mark=mark,
        hollow=hollow,
        value=value,
        low=math.nan,
        high=math.nan,
        hover=f"{said(words)}\n{scope_text(row['scope'])}: {written(f'{value:.3f}')}\n{_who(row)}",
    )


def _difference(row: Mapping[Any, Any], place: int) -> Estimate:
    value, low, high = (float(row[c]) for c in ("difference", "ci_low", "ci_high"))
    exact = interval_text(value, low, high, decimals=3)
    return Estimate(
        row=float(place),
        ink=Ink.INK,
        mark=Mark.SQUARE,
        value=value,
        low=low,
        high=high,
        hover=f"{scope_text(row['scope'])}\n{exact}\n{_who(row)}\n{pieces(row['method'])}",
        text=interval_text(value, low, high, decimals=2),
    )


def _who(row: Mapping[Any, Any]) -> str:
    return t(
        "{readers} readers, {models} models, {n} items",
        readers=str(row["n_readers"]),
        models=str(row["n_models"]),
        n=str(row["n_items"]),
    )


def _key(rows: pd.DataFrame) -> tuple[Key, ...]:
    keys = []
    for column in SHOWN:
        if rows[column].notna().any():
            _, ink, mark, hollow, words = LOOKS[COLUMN_LOOKS[column]]
            keys.append(Key(label=said(words), ink=ink, mark=mark, hollow=hollow))
    return tuple(keys)
