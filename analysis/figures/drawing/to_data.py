"""What a chart shows as a table: a row for every mark, bar or cell."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from analysis.bundle.cells import guarded_table
from analysis.figures.drawing.chart import Axis, Boxes, Cells, Chart, Panel, Points

COLUMNS = ("panel", "of", "row", "column", "x", "y", "value", "low", "high", "note")


def csv(chart: Chart) -> bytes:
    """Return the chart's data as CSV, numbers with all their digits.

    `row` and `column` are names on the axes, `x` and `y` places on axes of numbers; of `value`,
    `low` and `high` the first is an estimate (of a bar the stroke in it), the others its ends.
    """
    rows = [row for panel in chart.panels for row in _rows(panel, chart)]
    table = pd.DataFrame(rows, columns=COLUMNS).dropna(axis="columns", how="all")
    return guarded_table(table).to_csv(index=False, lineterminator="\n").encode()


def _rows(panel: Panel, chart: Chart) -> Iterator[dict[str, Any]]:
    words = {(key.ink, key.mark, key.hollow): key.label for key in chart.key}
    titled = {"panel": panel.title or None}
    for layer in panel.layers:
        if isinstance(layer, Points):
            who = {"of": words.get((layer.ink, layer.mark, layer.hollow), layer.ink.value)}
            ends = list(zip(layer.low, layer.high, strict=True)) or [(math.nan, math.nan)] * len(
                layer.x
            )
            for i, (x, y, (low, high)) in enumerate(zip(layer.x, layer.y, ends, strict=True)):
                place = {**_place("column", "x", panel.x, x), **_place("row", "y", panel.y, y)}
                if _named(panel.y):  # along the axis lies what is estimated
                    place["value"] = place.pop("x", x)
                yield {
                    **titled,
                    **who,
                    **place,
                    "low": low,
                    "high": high,
                    "note": _note(layer.hover, i),
                }
        elif isinstance(layer, Boxes):
            for i, (y, low, middle, high) in enumerate(
                zip(layer.y, layer.low, layer.middle, layer.high, strict=True)
            ):
                yield {
                    **titled,
                    "of": words.get((layer.ink, None, False), layer.ink.value),
                    **_place("row", "y", panel.y, y),
                    "value": middle,
                    "low": low,
                    "high": high,
                    "note": _note(layer.hover, i),
                }
        elif isinstance(layer, Cells):
            for i, values in enumerate(layer.values):
                for j, value in enumerate(values):
                    if not math.isnan(value):
                        yield {
                            **titled,
                            **_place("row", "y", panel.y, i),
                            # Columns of a matrix are numbered as the rows are.
                            **_place("column", "x", panel.y if chart.square else panel.x, j),
                            # Without a scale the shades stand for the texts.
                            "value": value if layer.labels else layer.texts[i][j] or "0",
                            "note": _note(layer.hover[i], j) if layer.hover else None,
                        }


def _named(axis: Axis) -> bool:
    """Tell an axis of names from one of numbers."""
    return any(tick.label.text.strip("-\u2212.,0123456789%") for tick in axis.ticks)


def _place(name: str, number: str, axis: Axis, value: float) -> dict[str, Any]:
    if not _named(axis):
        return {number: value}
    nearest = min(axis.ticks, key=lambda tick: abs(tick.at - value))
    return {name: nearest.label.text}


def _note(hover: tuple[str, ...], i: int) -> str | None:
    return "; ".join(hover[i].split("\n")) if hover else None
