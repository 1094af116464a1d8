"""In aided reading, the model's answer is sent when it is due, and never before."""

import json
import re
from pathlib import Path
from typing import Any

from study.lifecycle import studies
from study.models.models import add_model
from study.reading import desk
from study.reading.desk import CaseView, Desk
from study.store import Store, banks
from study.store.studies import study_row
from study.trail.verification import verify
from tests.conftest import ACTING, NOW, draw_trial, invite, person, presentation, reading

SENTINEL = re.compile(r"WORDS-OF-THE-MODEL-(q\d+)")
AIDED = {
    "cases": 4,
    "one_question_per": "item",
    "aid_model": "m",
    "aid_shows": ["answer", "confidence", "explanation", "boxes"],
    "option_order": "random",
}


def _open(store: Store, tmp_path: Path, *readers: str, **values: Any) -> dict[str, str]:
    """Open a study and return the item of each question.

    The model answers A in all cases or, if errors are planted, correctly.
    """
    draw_trial(store, {**AIDED, **values})
    invite(store, *(readers or ("R1",)))
    with store.look() as look:
        rows = banks.items_of_study(look, study_row(look, "trial").id)
    box = {"x": 0.25, "y": 0.5, "width": 0.25, "height": 0.125, "label": "opacity"}
    answers = {
        row.item_id: {
            "model_prediction": row.truth if values.get("aid_errors") else "A",
            "confidence": 0.75,
            "explanation": f"WORDS-OF-THE-MODEL-{row.item_id}",
            "boxes": [box],
        }
        for row in rows
    }
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps(answers))
    add_model(store, path, study="trial", model_id="m", acting=ACTING)
    studies.open_study(store, study="trial", acting=ACTING)
    return {row.question: row.item_id for row in rows}


def _desk(store: Store, reader: str = "R1") -> Desk:
    return desk.desk(store, person(store, reader), now=NOW)


def _take(store: Store, *records: dict[str, Any], reader: str = "R1") -> desk.Acknowledgement:
    return desk.take_records(store, person(store, reader), list(records), now=NOW)


def _read(store: Store, case: CaseView, reader: str = "R1", **changed: Any) -> None:
    receipt = _take(store, presentation(case.case), reading(case.case, **changed), reader=reader)
    assert not receipt.refused


def _items_with_aid(page: Desk) -> set[str]:
    """Return the items of which a desk contains any part of the aid."""
    return set(SENTINEL.findall(repr(page)))


def _request(case: CaseView) -> dict[str, Any]:
    return {
        "kind": "aid request",
        "id": f"ask-{case.case}",
        "case": case.case,
        "epoch_ms": NOW.timestamp() * 1000,
    }


def test_an_aid_that_is_shown_first_is_sent_with_the_current_case_only(
    banked: Store, tmp_path: Path
) -> None:
    """Prefetched cases do not contain the aid; its letter is that of the option as shown."""
    item_of = _open(banked, tmp_path, conditions=["aided"], aid_text="From *RadNet*.")
    while (page := _desk(banked)).cases:
        first, *others = page.cases
        assert _items_with_aid(page) == {item_of[first.question]}
        assert first.aid is not None
        assert first.aid.content is not None
        assert (first.aid.when, first.aid.markdown) == ("first", "From *RadNet*.")
        shown = dict(first.options)[first.aid.content.option or ""]
        assert shown.startswith("Finding A")
        assert first.aid.content.confidence == 0.75
        assert [box["label"] for box in first.aid.content.boxes] == ["opacity"]
        assert all(case.aid is not None and case.aid.content is None for case in others)
        _read(banked, first, times={"response_ms": 5.0, "aid_shown_ms": 1.5})
    assert page.finished
    with banked.look() as look:
        assert {row["aid_shown_ms"] for row in look.rows("SELECT * FROM readings")} == {1.5}
    assert verify(banked) == []


def test_an_unaided_case_is_sent_without_the_aid(banked: Store, tmp_path: Path) -> None:
    """In a crossover, the same case is read unaided and aided."""
    item_of = _open(banked, tmp_path, conditions=["unaided", "aided"])
    texts_seen = set()
    while (page := _desk(banked)).cases:
        first = page.cases[0]
        aided = first.condition == "aided"
        assert _items_with_aid(page) == ({item_of[first.question]} if aided else set())
        texts_seen.add(first.condition)
        _read(banked, first)
    assert texts_seen == {"unaided", "aided"}


def test_in_sequential_reading_the_aid_is_revealed_by_the_first_answer(
    banked: Store, tmp_path: Path
) -> None:
    """Stage 1 is locked, stage 2 shows the reader's answer; both count as one case of the list."""
    item_of = _open(banked, tmp_path, conditions=["unaided", "aided"], aid="after", confidence=3)
    for position in range(1, 5):
        page = _desk(banked)
        assert (page.total, page.read) == (4, position - 1)
        first, second = page.cases[:2]
        assert [case.position for case in page.cases] == [
            place for place in range(position, min(position + 3, 5)) for _ in range(2)
        ]
        assert (first.stage, first.condition, second.stage, second.condition) == (
            *(1, "unaided"),
            *(2, "aided"),
        )
        assert first.aid is None
        assert first.first_answer is second.first_answer is None
        assert second.aid is not None
        assert _items_with_aid(page) == set()
        assert [view.film for view in first.views] == [view.film for view in second.views]
        early = _take(banked, reading(second.case, confidence=1))
        assert [reason for _, reason in early.refused] == ["This case is not available yet."]
        _read(banked, first, option="B", confidence=2)
        revealed = _desk(banked)
        assert _items_with_aid(revealed) == {item_of[first.question]}
        assert revealed.cases[0].case == second.case
        assert revealed.cases[0].first_answer == desk.FirstAnswer(option="B", confidence=2)
        changed = reading(first.case, "C", id="again-1234", confidence=1)
        assert _take(banked, {**changed, "supersedes": f"read-{first.case}"}).refused
        _read(banked, revealed.cases[0], option="A", confidence=3)
    assert _desk(banked).finished
    with banked.look() as look:
        rows = look.rows(
            "SELECT position, stage, condition FROM assignments ORDER BY position, stage"
        )
    assert [tuple(row.values()) for row in rows[:2]] == [(1, 1, "unaided"), (1, 2, "aided")]
    assert verify(banked) == []


def test_an_aid_on_demand_is_sent_after_the_request_is_stored(
    banked: Store, tmp_path: Path
) -> None:
    """Only the current case has the aid, even after a reload."""
    item_of = _open(banked, tmp_path, conditions=["aided"], aid="on demand")
    first, second, third = _desk(banked).cases
    assert _items_with_aid(_desk(banked)) == set()
    assert _take(banked, _request(first)).refused, "before it is on the screen"
    _take(banked, presentation(first.case))
    assert _take(banked, _request(second)).refused
    for _ in range(2):  # a record that is sent again is acknowledged again
        receipt = _take(banked, _request(first))
        assert receipt.stored == (f"ask-{first.case}",)
        assert _items_with_aid(receipt.desk) == {item_of[first.question]}
    assert _items_with_aid(_desk(banked)) == {item_of[first.question]}
    _read(banked, first, times={"response_ms": 5.0, "aid_shown_ms": 3.5})
    assert _items_with_aid(_desk(banked)) == set()
    _read(banked, second, times={"response_ms": 5.0, "aid_shown_ms": 3.5})
    with banked.look() as look:
        shown = [row["aid_shown_ms"] for row in look.rows("SELECT * FROM readings ORDER BY rowid")]
    assert shown == [3.5, None]
    assert third.aid is not None
    assert verify(banked) == []


def test_a_request_without_an_aid_on_demand_is_refused(banked: Store, tmp_path: Path) -> None:
    """The aid is shown first, or the study has none."""
    _open(banked, tmp_path, conditions=["unaided", "aided"])
    for _ in range(5):
        case = _desk(banked).cases[0]
        _take(banked, presentation(case.case))
        refused = _take(banked, _request(case)).refused
        assert [reason for _, reason in refused] == [
            "The model's answer cannot be requested for this case."
        ]
        _read(banked, case)


def test_the_aid_never_reaches_an_unaided_arm(banked: Store, tmp_path: Path) -> None:
    """The answers and the introduction of the aid are not sent."""
    arms = [{"name": "control", "conditions": ["unaided"]}, {"name": "ai", "aid_text": "BY-RADNET"}]
    _open(banked, tmp_path, "R1", "R2", conditions=["aided"], arms=arms, aid_errors=1,
          aid_shows=["answer", "confidence"])  # fmt: skip
    with banked.look() as look:
        arm_of = {row["reader_id"]: row["arm"] for row in look.rows("SELECT * FROM readers")}
    for reader, arm in arm_of.items():
        handed_out = []
        while (page := _desk(banked, reader)).cases:
            handed_out.append(repr(page))
            _read(banked, page.cases[0], reader)
        aided = "BY-RADNET" in "".join(handed_out)
        assert aided == ("AidContent(" in "".join(handed_out)) == (arm == "ai")
        assert bool(page.debriefing) == (arm == "ai"), "about planted errors, at the end"


def test_a_wrong_image_looks_like_the_image_of_an_unaided_case(
    banked: Store, tmp_path: Path
) -> None:
    """The images of the other case can be requested, and the condition is not sent."""
    _open(banked, tmp_path, conditions=["unaided", "wrong-image"], aid_model="", sessions=2,
          aid_shows=["answer"])  # fmt: skip
    reader = person(banked)
    with banked.look() as look:
        rows = look.rows(
            "SELECT assignments.id, condition, cases.item, shown.item AS shown FROM assignments "
            "JOIN cases ON cases.id = assignments.case_id "
            "JOIN wrong_images ON wrong_images.case_id = cases.id "
            "JOIN cases AS shown ON shown.id = shown_case"
        )
        paths = {
            row["item"]: row["path"]
            for row in look.rows(
                "SELECT item, path FROM item_views JOIN films ON films.id = film WHERE position = 1"
            )
        }
    for row in rows:
        film = desk.film(banked, reader, row["id"], 1)
        wrong = row["condition"] == "wrong-image"
        assert film is not None
        assert film.path == paths[row["shown"] if wrong else row["item"]]
    assert paths[rows[0]["item"]] != paths[rows[0]["shown"]]
    page = _desk(banked)
    assert {case.condition for case in page.cases} == {"unaided"}
    assert "wrong" not in repr(page)
    assert all(case.views for case in page.cases)
