"""Figures on sensitivity have the values of the tables, a panel per group and a row per rater."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from analysis import Options, Results, analyse, bundle_from_tables
from analysis.figures.drawing.chart import Line, Points
from analysis.report.figures import ReportFigure, report_figures

N = 120
ITEMS = pd.DataFrame(
    {
        "item_id": [f"q{n:03}" for n in range(N)],
        "truth": list("ABCD") * (N // 4),
        "n_options": 4,
        "task": ["presence", "location"] * (N // 2),
        "bank": ["public"] * (N // 2) + ["ours"] * (N // 2),
    }
)
RATERS = pd.DataFrame({"rater_id": ["R", "M", "N"], "rater_kind": ["reader", "model", "model"]})


def _answers(rng: np.random.Generator, rater: str, share: float, condition: str) -> pd.DataFrame:
    right = rng.random(N) < share
    return pd.DataFrame(
        {
            "rater_id": rater,
            "item_id": ITEMS["item_id"],
            "answer": np.where(right, ITEMS["truth"], rng.choice(list("ABCD"), N)),
            "condition": condition,
            "confidence": rng.uniform(0.3, 1, N).round(2) if rater != "R" else np.nan,
        }
    )


@pytest.fixture(scope="module")
def results() -> Results:
    """Return results of a reader and two models, some without the image or with other options."""
    rng = np.random.default_rng(4)
    readings = [_answers(rng, "R", 0.7, "unaided")]
    for model, share in (("M", 0.8), ("N", 0.5)):
        readings += [
            _answers(rng, model, share, "image"),
            _answers(rng, model, 0.3, "image-absent"),
        ]
    readings.append(_answers(rng, "M", 0.75, "options-shuffled"))
    bundle = bundle_from_tables(ITEMS, pd.concat(readings), RATERS)
    return analyse(bundle, Options(bootstrap=20, confidence="answer"))


def _figures(results: Results) -> dict[str, ReportFigure]:
    return {
        figure.name: figure for figure in report_figures(results) if figure.section == "robustness"
    }


def test_conditions_positions_confidence_and_banks_have_figures(results: Results) -> None:
    """The figures have different names and are in the order of the report."""
    assert [name.removesuffix("-1-unaided") for name in _figures(results)] == [
        "input-1-image-absent",
        "input-2-options-shuffled",
        "option-places",
        "reliability",
        "banks-1",
    ]


@pytest.mark.thorough
def test_the_effect_of_the_image_has_a_panel_per_task(results: Results) -> None:
    """Each model is a row; values equal those of the table in percentage points."""
    chart = _figures(results)["input-1-image-absent-1-unaided"].chart
    (panels,) = chart.rows
    assert [panel.title for panel in panels] == ["All cases", "location", "presence"]
    table = results.tables["model_conditions"]
    table = table.loc[(table["condition_b"] == "image-absent") & (table["by"] == "overall")]
    (marks,) = (layer for layer in panels[0].layers if isinstance(layer, Points))
    assert marks.x == pytest.approx(tuple(100 * table["difference"]))
    assert marks.low == pytest.approx(tuple(100 * table["ci_low"]))
    shuffled = _figures(results)["input-2-options-shuffled-1-unaided"].chart
    assert [len(panel.y.ticks) for panel in shuffled.rows[0]] == [1, 1, 1]


def test_confidence_is_drawn_against_accuracy(
    results: Results,
) -> None:
    """Each model has a panel with a point per bin and a line of equality."""
    chart = _figures(results)["reliability-1-unaided"].chart
    bins = results.tables["model_reliability"]
    for panel, model in zip(chart.rows[0], ("M", "N"), strict=True):
        (marks,) = (layer for layer in panel.layers if isinstance(layer, Points))
        own_rows = bins.loc[bins["model_id"] == model]
        assert marks.x == pytest.approx(tuple(100 * own_rows["mean_confidence"]))
        assert marks.y == pytest.approx(tuple(100 * own_rows["accuracy"]))
        same, upright = (layer for layer in panel.layers if isinstance(layer, Line))
        assert same.x == same.y
        assert len(upright.x) == 3 * len(own_rows)


@pytest.mark.thorough
def test_every_figure_is_drawn_for_screen_and_print(results: Results) -> None:
    """Each figure has a caption and both column widths of a journal."""
    for figure in _figures(results).values():
        assert figure.caption.endswith(".")
        assert figure.plotly().data
        for width in (85, 180):
            picture = Image.open(io.BytesIO(figure.file("png", width)))
            assert picture.width > 900
