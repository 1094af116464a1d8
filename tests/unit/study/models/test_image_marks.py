"""Boxes and heat maps in prediction files are kept if valid; otherwise a note reports them."""

import json
from pathlib import Path
from typing import Any

import pytest

from study.models.image_marks import boxes_of, heat_maps_of
from study.models.predictions import read_predictions

BOX = {"x": 0.25, "y": 0.5, "width": 0.5, "height": 0.25}


@pytest.mark.parametrize(
    "value",
    [
        "box",
        [1],
        [{**BOX, "x": 0.75}],
        [{**BOX, "height": 0}],
        [{**BOX, "y": -0.1}],
        [{**BOX, "width": True}],
        [{**BOX, "x": float("nan")}],
        [{**BOX, "view": -1}],
        [{**BOX, "label": 3}],
        [{"x": 0, "y": 0, "width": 1}],
        [BOX] * 51,
    ],
)
def test_boxes_outside_of_the_image_are_not_valid(value: object) -> None:
    """Values that are not numbers and more than 50 boxes are not valid either."""
    assert boxes_of(value) is None


@pytest.mark.parametrize(
    "value",
    [{}, [{"rows": []}], [{"rows": [[0], [0, 1]]}], [{"rows": [[1.5]]}], [{"rows": [[0] * 129]}]],
)
def test_a_heat_map_is_a_rectangle_of_numbers_from_0_to_1(value: object) -> None:
    """A heat map has at most 128 rows and columns."""
    assert heat_maps_of(value) is None


def _read(tmp_path: Path, **more: Any) -> Any:
    path = tmp_path / "predictions.jsonl"
    path.write_text(json.dumps({"item_id": "q1", "answer": "A", **more}))
    return read_predictions(path, options={"q1": ("yes", "no")})


def test_a_file_may_have_boxes_a_heat_map_and_an_explanation(tmp_path: Path) -> None:
    """A cell may contain boxes or a map as JSON."""
    boxes = [{**BOX, "label": " opacity "}]
    for value in (boxes, json.dumps(boxes)):
        file = _read(tmp_path, boxes=value, map=[{"rows": [[0, 1]]}], explanation="An opacity.")
        (row,) = file.predictions
        assert row.detail["boxes"] == [{"view": 0, **BOX, "label": "opacity"}]
        assert row.detail["map"] == [{"view": 0, "rows": [[0.0, 1.0]]}]
        assert row.detail["explanation"] == "An opacity."


def test_marks_that_are_not_valid_are_noted_and_not_used(tmp_path: Path) -> None:
    """The answer of the row is still used."""
    file = _read(tmp_path, boxes=[{"x": 2}])
    assert "boxes" not in file.predictions[0].detail
    assert file.predictions[0].answer == "A"
    assert any("boxes of 1 entry is not a list as in" in note for note in file.notes)
