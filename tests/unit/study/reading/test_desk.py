"""The reader's desk: one reading per case, blinding, and no lost answers."""

import dataclasses
import json
import sqlite3
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from study.bank.importing import import_bank
from study.base.actor import Acting, By
from study.base.errors import BadFile, NotAllowed, NotFound, NotNow
from study.exchange.restoring import restore
from study.lifecycle.deployments import init
from study.reading import desk
from study.store import SEALED_TABLES, Store
from tests.conftest import (
    ACTING,
    NOW,
    REFUSED,
    SECRETS,
    draw_trial,
    entropy_from,
    invite,
    open_trial,
    person,
    presentation,
    reading,
    tamper,
    write_bank,
)
from tests.sites import export_bundle

Opened = Callable[..., Store]


def _desk(store: Store, reader_id: str = "R1") -> desk.Desk:
    return desk.desk(store, person(store, reader_id), now=NOW)


def _take(
    store: Store, *records: Any, after_s: float = 2.0, reader_id: str = "R1"
) -> desk.Acknowledgement:
    now = NOW + timedelta(seconds=after_s)
    return desk.take_records(store, person(store, reader_id), records, now=now)


def _rows(store: Store) -> list[dict[str, Any]]:
    with store.look() as look:
        return look.rows("SELECT * FROM readings ORDER BY rowid")


def test_the_current_case_and_the_next_two_are_handed_out(opened: Opened) -> None:
    """The cases are sorted by position."""
    page = _desk(opened())
    assert [case.position for case in page.cases] == [1, 2, 3]
    assert (page.total, page.read, page.finished) == (8, 0, False)


def test_a_case_view_has_exactly_the_permitted_fields() -> None:
    """Before a field is added, it must be decided whether it breaks the blinding."""
    fields = {field.name for field in dataclasses.fields(desk.CaseView)}
    assert fields == {
        "case",
        "position",
        "condition",
        "question",
        "options",
        "context",
        "views",
        "presented",
        "practice",
        "reading",
        "stage",
        "aid",
        "first_answer",
    }
    aid = {field.name for field in dataclasses.fields(desk.AidContent)}
    assert aid == {"missing", "option", "confidence", "explanation", "boxes", "maps"}
    film = {field.name for field in dataclasses.fields(desk.FilmView)}
    shape = {"width", "height", "bits", "low", "high", "spacing_mm"}
    assert film == {"film", "label", "prior", "days"} | shape


def test_the_desk_does_not_reveal_the_order_of_the_import(tmp_path: Path) -> None:
    """A bank imported in reverse, such as one sorted by finding, gives the same desk."""
    desks, numbers = [], []
    for name, step in (("up", 1), ("down", -1)):
        path = write_bank(tmp_path / name)
        records = list(json.loads(path.read_text()).items())[::step]
        path.write_text(json.dumps(dict(records)))
        new_store = init(tmp_path / f"{name}.db", entropy=entropy_from(1), now=NOW)
        import_bank(new_store, path, name="bank", images=path.parent, acting=ACTING)
        open_trial(new_store, {"cases": 8, "practice_cases": 2}, "R1")
        practised = _desk(new_store)
        for case in practised.cases:
            desk.take_records(new_store, person(new_store), [reading(case.case)], now=NOW)
        desks.append((practised, _desk(new_store)))
        with new_store.look() as look:
            rows = look.rows("SELECT path, id FROM films ORDER BY path")
        numbers.append([row["id"] for row in rows])
    assert numbers[0] != numbers[1]
    assert desks[0] == desks[1]
    assert [case.practice for page in desks[0] for case in page.cases] == [True] * 2 + [False] * 3


def test_a_hidden_repeat_has_films_of_another_name(opened: Opened) -> None:
    """Each film name is valid for one reader only."""
    store = opened(cases=4, hidden_repeats=4)
    met: dict[str, set[str]] = {}
    while cases := _desk(store).cases:
        for view in cases[0].views:
            case, place = view.film.split("/")
            row = desk.film(store, person(store), case, int(place))
            assert row is not None
            assert desk.film(store, person(store, "R2"), case, int(place)) is None
            met.setdefault(row.path, set()).add(view.film)
        desk.take_records(store, person(store), [reading(cases[0].case)], now=NOW)
    assert len(met) > 4
    assert {len(names) for names in met.values()} == {2}


def test_an_unknown_label_of_an_earlier_version_is_not_shown(
    opened: Opened,
) -> None:
    """An earlier version stored the text of the file as the label."""
    store = opened()
    tamper(store, "UPDATE item_views SET label = 'PICC LINE' WHERE position = 1")
    (case, *_) = _desk(store).cases
    assert [view.label for view in case.views] == ["", "LATERAL"]


def test_a_film_is_sent_with_its_pixel_spacing(store: Store, tmp_path: Path) -> None:
    """The spacing is in millimetres at the detector, or missing if unknown."""
    path = write_bank(tmp_path / "bank")
    records = json.loads(path.read_text())
    spaced = {key: record | {"PixelSpacing": [0.143, None]} for key, record in records.items()}
    path.write_text(json.dumps(spaced))
    import_bank(store, path, name="bank", images=path.parent, acting=ACTING)
    open_trial(store, {"cases": 8, "one_question_per": "item"}, "R1")
    for case in _desk(store).cases:
        assert [view.spacing_mm for view in case.views] == [0.143, None]


@pytest.mark.parametrize("table", sorted(SEALED_TABLES))
def test_sqlite_refuses_the_sealed_tables_to_the_desk(store: Store, table: str) -> None:
    """The database connection of the reading page cannot read these tables."""
    with pytest.raises(sqlite3.DatabaseError, match=REFUSED), store.desk() as look:
        look.rows(f"SELECT * FROM {table}")


def test_the_desk_never_contains_secrets(opened: Opened) -> None:
    """All cases of a study are read, and everything that is sent is searched."""
    store = opened()
    messages = []
    while cases := _desk(store).cases:
        messages.append(repr(cases))
        _take(store, presentation(cases[0].case), reading(cases[0].case))
    assert len(messages) == 8
    assert not any(secret in "".join(messages) for secret in SECRETS)


def test_an_answer_sent_again_is_stored_once(opened: Opened) -> None:
    """The answer is acknowledged both times."""
    store = opened()
    case = _desk(store).cases[0].case
    for _ in range(2):
        receipt = _take(store, presentation(case), reading(case, "B"))
        assert receipt.stored == (f"shown-{case}", f"read-{case}")
    assert [(row["answer"], row["response_ms"]) for row in _rows(store)] == [("B", 1234.5)]
    assert receipt.desk.cases[0].position == 2


def test_a_second_answer_from_another_tab_is_refused(
    opened: Opened,
) -> None:
    """The first answer is kept."""
    store = opened()
    case = _desk(store).cases[0].case
    _take(store, presentation(case), reading(case, "B"))
    receipt = _take(store, reading(case, "C", id="from-another-tab"))
    assert receipt.refused == (
        ("from-another-tab", "This case has already been read; the first answer was recorded."),
    )
    assert [row["answer"] for row in _rows(store)] == ["B"]


def test_a_shuffled_option_is_stored_under_its_canonical_letter(opened: Opened) -> None:
    """The reader presses A; the letter of the bank is stored."""
    store = opened(option_order="random")
    case = _desk(store).cases[0]
    _take(store, presentation(case.case), reading(case.case, "A"))
    with store.look() as look:
        texts = json.loads(
            look.value(
                "SELECT options FROM items JOIN cases ON item = items.id "
                "JOIN assignments ON case_id = cases.id WHERE assignments.id = :case",
                case=case.case,
            )
        )
    assert texts["ABCD".index(_rows(store)[0]["answer"])] == case.options[0][1]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"option": "E"}, "does not have this option"),
        ({"option": None, "status": "timed_out"}, "no time limit"),
        ({"confidence": 3}, "not ask for a confidence rating"),
        ({"comment": "hm"}, "not accept comments"),
        ({"supersedes": "some-other-reading"}, "cannot be changed"),
        ({"times": None}, "Invalid record"),
        ({"times": {"response_ms": "soon"}}, "Invalid record"),
        ({"status": "unparsed"}, "Invalid record"),
        ({"behaviour": {"<script>": 1}}, "Invalid record"),
        ({"behaviour": {"zoom": 10**400}}, "Invalid record"),
        ({"presented_epoch_ms": None}, "Invalid record"),
        ({"selections": [{"option": "\ud800"}]}, "Invalid record"),
        ({"flags": ["\ud800"]}, "Invalid record"),
        ({"case": "0000000000000000"}, "not assigned to you"),
    ],
)
def test_an_impossible_reading_is_refused_with_the_reason(
    opened: Opened, changed: dict[str, Any], reason: str
) -> None:
    """The server does not trust the page."""
    store = opened()
    case = _desk(store).cases[0].case
    receipt = _take(store, presentation(case), {**reading(case), **changed})
    assert reason in receipt.refused[0][1]
    assert _rows(store) == []


def test_invalid_records_do_not_block_valid_ones(opened: Opened) -> None:
    """A batch is processed record by record."""
    store = opened()
    case = _desk(store).cases[0].case
    receipt = _take(store, None, 7, {"kind": "reading"}, presentation(case), reading(case))
    assert len(receipt.refused) == 3
    assert f"read-{case}" in receipt.stored


def test_too_many_records_in_a_message_are_refused(opened: Opened) -> None:
    """A reading page never sends hundreds at once."""
    with pytest.raises(BadFile, match="At most"):
        _take(opened(), *[{}] * 501)


def test_a_case_not_yet_handed_out_cannot_be_read(opened: Opened) -> None:
    """A reader cannot answer ahead of the desk."""
    store = opened()
    with store.look() as look:
        late = look.value(
            "SELECT assignments.id FROM assignments JOIN readers ON readers.id = reader "
            "WHERE reader_id = 'R1' AND position = 4"
        )
    assert "not available" in _take(store, reading(late)).refused[0][1]


def test_the_case_of_another_reader_cannot_be_read(opened: Opened) -> None:
    """A case belongs to one reader."""
    store = opened()
    other = _desk(store, "R2").cases[0].case
    assert "not assigned to you" in _take(store, reading(other)).refused[0][1]


def test_a_changed_answer_is_a_new_row(opened: Opened) -> None:
    """If going back is allowed, both answers are kept and the last one counts."""
    store = opened(back_navigation=True)
    case = _desk(store).cases[0].case
    _take(store, presentation(case), reading(case, "B"))
    stored = desk.case_at(store, person(store), 1, now=NOW)
    assert stored.reading is not None
    assert stored.reading.option == "B"
    change = reading(case, "C", id="changed-it", supersedes=stored.reading.id)
    assert _take(store, change).stored == ("changed-it",)
    assert [row["answer"] for row in _rows(store)] == ["B", "C"]
    twice = reading(case, "D", id="changed-it-elsewhere", supersedes=stored.reading.id)
    assert "changed elsewhere" in _take(store, twice).refused[0][1]
    assert _desk(store).read == 1


def test_going_back_is_refused_unless_the_protocol_allows_it(opened: Opened) -> None:
    """By default a case cannot be opened again."""
    store = opened()
    with pytest.raises(NotAllowed):
        desk.case_at(store, person(store), 1, now=NOW)


def test_going_back_is_possible_only_to_cases_already_read(opened: Opened) -> None:
    """Positions after these cases are refused."""
    store = opened(back_navigation=True)
    for position in (5, 0, -1, 2**63, 10**22):
        with pytest.raises(NotFound):
            desk.case_at(store, person(store), position, now=NOW)


def test_feedback_is_given_only_for_a_stored_reading(opened: Opened) -> None:
    """A refused reading does not reveal the reference standard."""
    store = opened(feedback="after case")
    case = _desk(store).cases[0].case
    refused = _take(store, reading(case, "E"))
    assert refused.feedback == {}
    feedback = _take(store, presentation(case), reading(case, "A", id="read-it-now")).feedback
    assert set(feedback) == {"read-it-now"}
    assert feedback["read-it-now"].correct == (feedback["read-it-now"].option == "A")


def test_a_presentation_with_a_readings_id_gets_no_feedback(opened: Opened) -> None:
    """Feedback would reveal the answer to an unread case."""
    store = opened(feedback="after case")
    first, second = (case.case for case in _desk(store).cases[:2])
    _take(store, presentation(first), reading(first))
    receipt = _take(store, {**presentation(second), "id": f"read-{first}"})
    assert receipt.feedback == {}


def test_by_default_there_is_no_feedback(opened: Opened) -> None:
    """A study never reveals answers unless its protocol says so."""
    store = opened()
    case = _desk(store).cases[0].case
    receipt = _take(store, presentation(case), reading(case))
    assert receipt.feedback == {}


@pytest.mark.parametrize("feedback", ["never", "after study"])
def test_the_desk_of_an_open_study_contains_no_score(opened: Opened, feedback: str) -> None:
    """The value "after study" refers to the score card of the closed study."""
    store = opened(feedback=feedback)
    while cases := _desk(store).cases:
        assert _take(store, reading(cases[0].case, "A")).feedback == {}
    assert _desk(store).finished
    assert not hasattr(_desk(store), "score")


def test_a_required_confidence_must_be_on_the_scale(opened: Opened) -> None:
    """An answer without confidence, or with confidence outside the scale, is refused."""
    store = opened(confidence=5)
    case = _desk(store).cases[0].case
    for confidence in (None, 6):
        assert "confidence" in _take(store, reading(case, confidence=confidence)).refused[0][1]
    assert _take(store, reading(case, confidence=5)).stored


def test_image_absent_cases_have_no_film(opened: Opened) -> None:
    """Not even the number of a film is sent."""
    store = opened(conditions=["image-absent"])
    assert _desk(store).cases[0].views == ()


def test_the_context_has_the_parts_that_the_protocol_names(opened: Opened) -> None:
    """Age and sex are shown only if the protocol names them."""
    shown = dict(_desk(opened(context=["sex"])).cases[0].context)
    assert list(shown) == ["Sex"]
    assert shown["Sex"] in ("male", "female")


def _with_context(tmp_path: Path, context: list[str]) -> Store:
    """Return an open study of a bank with indications, some of which include findings."""
    path = write_bank(tmp_path)
    records = json.loads(path.read_text())
    for number, record in enumerate(records.values()):
        findings = f" FINDINGS : {SECRETS[0]}" if number % 2 else ""
        record["context"] = {"Indication": f"Cough {number}.{findings}", "Comparison": "None."}
    path.write_text(json.dumps(records))
    new_store = init(tmp_path / "context.db", entropy=entropy_from(1), now=NOW)
    import_bank(new_store, path, name="bank", images=path.parent, acting=ACTING)
    open_trial(
        new_store,
        {"cases": 24, "one_question_per": "item", "case_order": "fixed", "context": context},
        "R1",
    )
    return new_store


def test_indication_and_comparison_are_shown_if_the_protocol_names_them(tmp_path: Path) -> None:
    """An indication that continues with the findings is not shown."""
    store = _with_context(tmp_path, ["indication", "age", "comparison"])
    contexts = []
    while cases := _desk(store).cases:
        contexts.append(dict(cases[0].context))
        _take(store, presentation(cases[0].case), reading(cases[0].case))
    assert {context["Comparison"] for context in contexts} == {"None."}
    assert sorted(
        context["Indication"] for context in contexts if "Indication" in context
    ) == sorted(f"Cough {number}." for number in range(0, 24, 2))
    assert {tuple(context) for context in contexts} == {
        ("Indication", "Age", "Comparison"),
        ("Age", "Comparison"),
    }
    assert not any(secret in repr(contexts) for secret in SECRETS)


def test_the_desk_can_read_the_context_but_no_other_report_text(tmp_path: Path) -> None:
    """Only the view of the context is accessible."""
    store = _with_context(tmp_path, [])
    assert not _desk(store).cases[0].context
    with store.desk() as look:
        rows = look.rows("SELECT section, words FROM shown_context")
    assert {row["section"] for row in rows} == {"indication", "comparison"}
    assert not any(secret in repr(rows) for secret in SECRETS)
    for statement in (
        "SELECT words FROM report_texts AS shown_context",
        "SELECT words FROM shown_context UNION SELECT words FROM report_texts",
        "SELECT (SELECT words FROM report_texts) FROM shown_context",
    ):
        with pytest.raises(sqlite3.DatabaseError, match=REFUSED), store.desk() as look:
            look.rows(statement)


def test_the_bundle_includes_the_context_that_was_shown(tmp_path: Path) -> None:
    """A restored study has identical records; other context is not exported."""
    store = _with_context(tmp_path, ["indication"])
    path = export_bundle(store)
    cases = [json.loads(line) for line in _records(path).splitlines() if b'"row":"case"' in line]
    assert sum("indication" in case for case in cases) == 12
    assert not any("comparison" in case for case in cases)
    other = init(tmp_path / "other.db", entropy=entropy_from(2), now=NOW)
    restore(other, path, acting=Acting(by=By(name="c", role="administrator"), now=NOW))
    assert _records(export_bundle(other, "again.zip")) == _records(path)


def _records(bundle: Path) -> bytes:
    with zipfile.ZipFile(bundle) as archive:
        return archive.read("records.jsonl")


def test_a_drawn_study_cannot_be_read(banked: Store) -> None:
    """The study must be opened first."""
    draw_trial(banked, {"cases": 8, "one_question_per": "item"})
    invite(banked, "R1")
    with pytest.raises(NotNow, match="not open"):
        _desk(banked)
