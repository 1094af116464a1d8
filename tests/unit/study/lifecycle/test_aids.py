"""The aid is prepared and sealed when a study is opened, and covered by that event."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from study.base.errors import NotNow
from study.lifecycle import studies
from study.lifecycle.studies import opening_obstacle
from study.models.models import add_model, withdraw_model
from study.store import Store, aids, banks
from study.store.aids import AidRow
from study.store.studies import cases, study_row
from study.trail.verification import verify
from tests.conftest import ACTING, draw_trial, invite, tamper

VALUES = {"cases": 10, "one_question_per": "item", "conditions": ["aided"], "aid_model": "m"}


def _draw_with_reader(store: Store, **values: Any) -> dict[str, str]:
    """Draw the study with a reader, and return the correct letter of each case."""
    draw_trial(store, {**VALUES, **values})
    invite(store, "R1")
    with store.look() as look:
        rows = banks.items_of_study(look, study_row(look, "trial").id)
    return {row.item_id: str(row.truth) for row in rows}


def _add_model(store: Store, answers: dict[str, str], tmp_path: Path, **more: Any) -> None:
    path = tmp_path / "predictions.json"
    path.write_text(
        json.dumps({item: {"model_prediction": letter, **more} for item, letter in answers.items()})
    )
    add_model(store, path, study="trial", model_id="m", acting=ACTING)


def _open(store: Store) -> dict[str, AidRow]:
    studies.open_study(store, study="trial", acting=ACTING)
    with store.look() as look:
        return dict(aids.of_study(look, study_row(look, "trial").id))


def test_a_study_is_not_opened_without_the_model_or_its_answers(
    banked: Store, tmp_path: Path
) -> None:
    """The refusal names the key and a remedy, also on the page for opening the study."""
    truths = _draw_with_reader(banked)
    _assert_refused(banked, "aid_model = m, but the study trial has no such model")
    _add_model(banked, dict(list(truths.items())[1:]), tmp_path)
    _assert_refused(banked, "aid_model = m has no answer for 1 case")


def _assert_refused(store: Store, words: str) -> None:
    assert words in opening_obstacle(store, "trial")
    with pytest.raises(NotNow, match=words):
        studies.open_study(store, study="trial", acting=ACTING)


def test_cases_without_an_answer_have_no_aid_if_the_protocol_allows_them(
    banked: Store, tmp_path: Path
) -> None:
    """The other cases have an aid."""
    truths = _draw_with_reader(banked, aid_missing="say")
    _add_model(banked, dict(list(truths.items())[1:]), tmp_path)
    assert {item: row.answer for item, row in _open(banked).items()} == dict(
        list(truths.items())[1:]
    )


def test_planted_errors_replace_correct_answers_in_proportion_to_the_strata(
    banked: Store, tmp_path: Path
) -> None:
    """The protocol states the number of planted errors; other answers are unchanged."""
    truths = _draw_with_reader(banked, aid_errors=4, stratify_by=["sex"], cases=12)
    answers = {
        item: "A" if place < 2 else letter for place, (item, letter) in enumerate(truths.items())
    }
    _add_model(banked, answers, tmp_path)
    shown = _open(banked)
    planted = [item for item, row in shown.items() if row.planted]
    assert len(planted) == 4
    assert all(answers[item] == truths[item] != shown[item].answer for item in planted)
    assert all(shown[item].answer == answers[item] for item in shown if item not in planted)
    with banked.look() as look:
        stratum = {row.item_id: row.stratum for row in cases(look, study_row(look, "trial").id)}
    counts = Counter(stratum[item] for item in planted)
    assert max(counts.values()) <= 3
    assert len(counts) == 2


def test_more_planted_errors_than_correct_answers_are_refused(
    banked: Store, tmp_path: Path
) -> None:
    """The message states the number of correct answers."""
    truths = _draw_with_reader(banked, aid_errors=9)
    wrong = {item: "ABCD"[("ABCD".index(letter) + 1) % 4] for item, letter in truths.items()}
    first = next(iter(truths))
    _add_model(banked, {**wrong, first: truths[first]}, tmp_path)
    with pytest.raises(NotNow, match="has only 1 correct answers"):
        studies.open_study(banked, study="trial", acting=ACTING)


def test_only_the_parts_of_the_model_answer_that_readers_see_are_copied(
    banked: Store, tmp_path: Path
) -> None:
    """An explanation that readers do not see is not stored with the aid."""
    truths = _draw_with_reader(banked, aid_shows=["confidence"])
    _add_model(banked, truths, tmp_path, confidence=0.75, explanation="An opacity.")
    rows = _open(banked).values()
    assert {(row.answer, row.confidence, row.explanation) for row in rows} == {(None, 0.75, "")}


def test_an_altered_aid_or_wrong_image_is_detected(banked: Store, tmp_path: Path) -> None:
    """The event of the opening has their hash with a salt, so that letters cannot be guessed."""
    truths = _draw_with_reader(banked, conditions=["aided", "wrong-image"], sessions=2)
    _add_model(banked, truths, tmp_path)
    _open(banked)
    assert verify(banked) == []
    tamper(banked, "UPDATE aids SET answer = CASE answer WHEN 'A' THEN 'B' ELSE 'A' END")
    tamper(
        banked, "UPDATE wrong_images SET shown_case = (SELECT max(id) FROM cases) WHERE case_id = 1"
    )
    breaches = verify(banked)
    assert any("the aids are not those it was opened with" in line for line in breaches)
    assert any("the wrong images are not those it was opened with" in line for line in breaches)


def test_the_model_of_an_open_study_cannot_be_withdrawn(banked: Store, tmp_path: Path) -> None:
    """Readers see its answers while the study is open.

    The model can be withdrawn before opening and after closing.
    """
    truths = _draw_with_reader(banked)
    _add_model(banked, truths, tmp_path)
    withdraw_model(banked, study="trial", model_id="m", reason="Wrong file.", acting=ACTING)
    _add_model(banked, truths, tmp_path)
    _open(banked)
    with pytest.raises(NotNow, match="is the aid of the open study trial"):
        withdraw_model(banked, study="trial", model_id="m", reason="Wrong file.", acting=ACTING)
    studies.close(banked, study="trial", reason="Done.", acting=ACTING)
    withdraw_model(banked, study="trial", model_id="m", reason="Wrong file.", acting=ACTING)
    assert verify(banked) == []
