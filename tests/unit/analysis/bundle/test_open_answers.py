"""open_answers.csv and open_scores.csv: accepted files, and errors with their rows."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from analysis import Bundle, BundleError, bundle_from_tables, read_bundle

ITEMS = pd.DataFrame({"item_id": ["q1", "q2"], "truth": "A"})
READINGS = pd.DataFrame({"rater_id": "R1", "item_id": ["q1", "q2"], "answer": "A"})
ANSWERS = pd.DataFrame(
    {
        "answer_id": ["a1", "a2"],
        "kind": "answer",
        "rater_id": "R1",
        "item_id": ["q1", "q2"],
        "words": ["pleural effusion", ""],
    }
)
SCORES = pd.DataFrame(
    {"answer_id": "a1", "scorer": ["S1", "S2"], "turn": [1, 2], "score": ["correct", "incorrect"]}
)


def _read(answers: pd.DataFrame = ANSWERS, scores: pd.DataFrame = SCORES) -> Bundle:
    return bundle_from_tables(ITEMS, READINGS, open_answers=answers, open_scores=scores)


def test_statuses_and_kinds_of_raters_are_filled_in() -> None:
    bundle = _read()
    assert bundle.open_answers["status"].tolist() == ["answered", "skipped"]
    assert bundle.open_answers["rater_kind"].tolist() == ["reader", "reader"]
    assert bundle.open_scores["turn"].tolist() == [1, 2]


def test_the_files_are_read_from_a_folder_and_a_bundle_without_them_opens(tmp_path: Path) -> None:
    ITEMS.to_csv(tmp_path / "items.csv", index=False)
    READINGS.to_csv(tmp_path / "readings.csv", index=False)
    assert not len(read_bundle(tmp_path).open_answers)
    SCORES.to_csv(tmp_path / "open_scores.csv", index=False)
    with pytest.raises(BundleError, match=r"open_scores\.csv: needs open_answers\.csv"):
        read_bundle(tmp_path)
    ANSWERS.to_csv(tmp_path / "open_answers.csv", index=False)
    bundle = read_bundle(tmp_path)
    assert bundle.open_scores["score"].tolist() == ["correct", "incorrect"]
    assert {"open_answers.csv", "open_scores.csv"} <= set(bundle.sha256)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"answer_id": ["a1", "a1"]}, "row 3: answer_id “a1” is also in an earlier row"),
        ({"answer_id": ["a1", " "]}, "row 3: answer_id is empty. Name the answer"),
        ({"kind": ["answer", "remark"]}, "row 3: kind “remark” is unknown. Write one of answer"),
        ({"item_id": ["q1", "q9"]}, "row 3: item_id “q9” is not in items.csv"),
        ({"rater_id": ["R1", "R9"]}, "row 3: rater_id “R9” is not among the raters"),
        ({"status": ["answered", "lost"]}, "row 3: status “lost” is unknown"),
        ({"item_id": ["q1", "q1"]}, "row 3: “q1” by “R1” is also in an earlier row"),
    ],
)
def test_an_invalid_answer_is_reported_with_its_row(changed: Any, text: str) -> None:
    with pytest.raises(BundleError) as excinfo:
        _read(ANSWERS.assign(**changed), SCORES[:0])
    assert f"open_answers.csv, {text}" in str(excinfo.value)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"answer_id": ["a1", "a7"]}, "row 3: answer_id “a7” is not an answered row"),
        ({"answer_id": ["a1", "a2"]}, "row 3: answer_id “a2” is not an answered row"),
        ({"scorer": ["S1", " "]}, "row 3: scorer is empty"),
        ({"turn": [1, 4]}, "row 3: turn “4” is unknown. Write 1 or 2"),
        ({"score": ["correct", "right"]}, "row 3: score “right” is unknown. Write one of correct"),
        ({"turn": [1, 1]}, "row 3: turn 1 of “a1”, or its scorer, is also in an earlier row"),
        ({"scorer": "S1"}, "row 3: turn 2 of “a1”, or its scorer, is also in an earlier row"),
    ],
)
def test_an_invalid_score_is_reported_with_its_row(changed: Any, text: str) -> None:
    with pytest.raises(BundleError) as excinfo:
        _read(scores=SCORES.assign(**changed))
    assert f"open_scores.csv, {text}" in str(excinfo.value)


def test_a_missing_column_is_reported() -> None:
    with pytest.raises(BundleError, match=r"open_answers\.csv, row 1: lacks the column words"):
        _read(ANSWERS.drop(columns="words"))
