"""The steps before the first case and after the last are done once, in order, and recorded."""

import dataclasses
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from study.base.errors import NotAllowed, NotNow
from study.lifecycle import studies
from study.monitoring.progress import preparation_rows
from study.people.signing_in import Person, sign_in, signed_in_person
from study.reading import desk
from study.reading.simulation import simulate
from study.store import Store, events
from study.trail.verification import verify
from tests.conftest import (
    ACTING,
    NOW,
    entropy_from,
    invite,
    person,
    preparation,
    presentation,
    reading,
)

Opened = Callable[..., Store]
QUESTIONS = [
    {"id": "level", "question": "Your level?", "kind": "choice", "options": ["one", "two"]},
    {"id": "years", "question": "Years?", "kind": "number", "required": False},
    {"id": "words", "question": "Anything else?", "kind": "text", "required": False},
]
ALL_STEPS_PROTOCOL: dict[str, Any] = {
    "consent": "# Agree?",
    "instructions": "Read.",
    "questionnaire": QUESTIONS,
    "display_check": True,
}
ANSWERS = {"answers": {"level": "one"}}
STEPS = ("consent", "instructions", "questionnaire", "display")


def _take(store: Store, *records: Any, person_acting: Person | None = None) -> desk.Acknowledgement:
    now = NOW + timedelta(seconds=2)
    return desk.take_records(store, person_acting or person(store), records, now=now)


def _remaining_steps(store: Store, person_acting: Person | None = None) -> list[str]:
    return [
        step.step for step in desk.desk(store, person_acting or person(store), now=NOW).preparation
    ]


def _rows(store: Store) -> list[dict[str, Any]]:
    with store.look() as look:
        return look.rows("SELECT * FROM preparations ORDER BY rowid")


def _prepare(store: Store, person: Person | None = None) -> desk.Acknowledgement:
    steps = [preparation(step, ANSWERS if step == "questionnaire" else None) for step in STEPS]
    return _take(store, *steps, person_acting=person)


def test_a_study_without_preparation_starts_with_its_cases(opened: Opened) -> None:
    """The default protocol has no step before the first case."""
    store = opened()
    page = desk.desk(store, person(store), now=NOW)
    assert (page.preparation, page.practice_total, len(page.cases)) == ((), 0, 3)


def test_the_steps_come_in_order_before_the_cases(opened: Opened) -> None:
    """Each step disappears when it is done."""
    store = opened(**ALL_STEPS_PROTOCOL)
    for place, step in enumerate(STEPS):
        page = desk.desk(store, person(store), now=NOW)
        assert [todo.step for todo in page.preparation] == list(STEPS[place:])
        assert page.cases == ()
        detail = ANSWERS if step == "questionnaire" else None
        assert _take(store, preparation(step, detail)).stored == (f"prepared-{step}",)
    assert len(desk.desk(store, person(store), now=NOW).cases) == 3
    assert verify(store) == []


def test_a_step_is_shown_with_its_text_or_its_questions(opened: Opened) -> None:
    """Text and questions are those in the protocol, with Markdown."""
    store = opened(**ALL_STEPS_PROTOCOL)
    steps = desk.desk(store, person(store), now=NOW).preparation
    consent, instructions, questionnaire, display = steps
    assert (consent.markdown, instructions.markdown) == ("# Agree?", "Read.")
    assert [question.id for question in questionnaire.questions] == ["level", "years", "words"]
    assert (display.markdown, display.questions) == ("", ())


@pytest.mark.parametrize("step", STEPS[1:])
def test_a_later_step_is_refused_before_the_earlier_ones(opened: Opened, step: str) -> None:
    """For example, the questionnaire is refused before the consent."""
    store = opened(**ALL_STEPS_PROTOCOL)
    detail = ANSWERS if step == "questionnaire" else None
    ((_, reason),) = _take(store, preparation(step, detail)).refused
    assert "the previous step first: consent" in reason
    assert _rows(store) == []


def test_a_step_that_is_not_in_the_protocol_is_refused(opened: Opened) -> None:
    """An unknown step is refused too."""
    store = opened(consent="Agree?")
    for step in ("display", "nonsense", "practice"):
        ((_, reason),) = _take(store, preparation(step)).refused
        assert reason == "This study has no such step."


def test_a_step_sent_twice_is_stored_once(opened: Opened) -> None:
    """A step is acknowledged again, with the same ID or another, and the first record is kept."""
    store = opened(
        **{**ALL_STEPS_PROTOCOL, "consent": "", "instructions": "", "display_check": False}
    )
    first = preparation("questionnaire", ANSWERS)
    second = preparation("questionnaire", {"answers": {"level": "two"}}, id="from-another-tab")
    for record in (first, first, second):
        assert _take(store, record).stored == (record["id"],)
    (row,) = _rows(store)
    assert (row["id"], json.loads(row["detail"])) == (first["id"], ANSWERS)
    assert verify(store) == []


def test_an_id_belongs_to_one_step_of_one_reader(opened: Opened) -> None:
    """A record of another reader or step with the same ID is refused."""
    store = opened(**ALL_STEPS_PROTOCOL)
    _take(store, preparation("consent"))
    other = _take(store, preparation("consent"), person_acting=person(store, "R2"))
    other_step = _take(store, preparation("instructions", id="prepared-consent"))
    for receipt in (other, other_step):
        assert receipt.refused == (("prepared-consent", "Another record already has this ID."),)
    assert _remaining_steps(store, person(store, "R2"))[0] == "consent"


@pytest.mark.parametrize("detail", [{}, {"agreed": False}, {"agreed": 1}, {"agreed": "yes"}])
def test_a_consent_must_be_given_explicitly(opened: Opened, detail: dict[str, Any]) -> None:
    """Only the value true is accepted."""
    store = opened(consent="Agree?")
    record = preparation("consent", **{"detail": detail})
    assert "must be given" in _take(store, record).refused[0][1]
    assert _rows(store) == []


@pytest.mark.parametrize(
    ("detail", "reason"),
    [
        ({}, "answers must be an object"),
        ({"answers": {}}, "The question “level” must be answered"),
        ({"answers": {"level": " "}}, "The question “level” must be answered"),
        ({"answers": {"level": "three"}}, "not one of its options"),
        ({"answers": {"level": ["one"]}}, "must be text"),
        ({"answers": {"level": "one", "years": "5"}}, "must be a number"),
        ({"answers": {"level": "one", "years": True}}, "must be a number"),
        ({"answers": {"level": "one", "years": float("nan")}}, "must be a number"),
        ({"answers": {"level": "one", "years": 10**400}}, "must be a number"),
        ({"answers": {"level": "one", "words": 5}}, "must be text"),
        ({"answers": {"level": "one", "\ud800": "x"}}, "has no question"),
    ],
)
def test_invalid_answers_are_refused(opened: Opened, detail: dict[str, Any], reason: str) -> None:
    """The message names the question, and nothing is stored."""
    store = opened(**{**ALL_STEPS_PROTOCOL, "consent": "", "instructions": ""})
    receipt = _take(store, preparation("questionnaire", detail))
    assert reason in receipt.refused[0][1]
    assert _rows(store) == []


def test_answers_are_limited_and_not_part_of_the_chain(opened: Opened) -> None:
    """Answers may be personal, so the event has only the hash of a salted row."""
    store = opened(
        **{**ALL_STEPS_PROTOCOL, "consent": "", "instructions": "", "display_check": False}
    )
    words = "PERSONAL" + "\ud800" + "x" * 5000
    answers = {"answers": {"level": "two", "years": 7, "words": words}}
    assert _take(store, preparation("questionnaire", answers)).refused == ()
    (row,) = _rows(store)
    stored = json.loads(row["detail"])["answers"]
    assert (stored["level"], stored["years"]) == ("two", 7)
    assert stored["words"] == ("PERSONAL\ufffd" + "x" * 5000)[:2000]
    with store.look() as look:
        trail = json.dumps(list(events.walk(look, "study:trial")))
    assert "preparation done" in trail
    assert "PERSONAL" not in trail
    assert len(row["salt"]) == 32
    assert row["salt"] not in trail


def test_display_measurements_are_cleaned_and_limited(opened: Opened) -> None:
    """Lone surrogates, NaN, deep nesting and long texts are handled like circumstances."""
    store = opened(display_check=True)
    unsound: list[dict[str, Any]] = [{"long": "x" * 5000}, {"deep": [[[[[[[[[[]]]]]]]]]]}]
    for detail in unsound:
        assert "Invalid record" in _take(store, preparation("display", detail)).refused[0][1]
    measurements = {"grey_step": 2, "name": "\ud800", "ratio": float("inf")}
    assert _take(store, preparation("display", measurements)).refused == ()
    assert json.loads(_rows(store)[0]["detail"]) == {
        "grey_step": 2,
        "name": "\ufffd",
        "ratio": None,
    }


def test_an_implausible_time_of_a_step_is_stored_as_null(opened: Opened) -> None:
    """The time by the server's clock is stored too."""
    store = opened(consent="Agree?")
    _take(store, preparation("consent", epoch_ms=0))
    (row,) = _rows(store)
    assert (row["done_at_utc"], row["received_at_utc"]) == (None, "2025-06-04T12:00:02.000Z")


@pytest.mark.parametrize(
    "changed",
    [{"step": 7}, {"step": None}, {"detail": ["agreed"]}, {"epoch_ms": "soon"}, {"id": "x"}],
)
def test_a_malformed_step_does_not_block_the_others(
    opened: Opened, changed: dict[str, Any]
) -> None:
    """The malformed step is refused, and the valid record in the same message is accepted."""
    store = opened(consent="Agree?")
    broken = {**preparation("consent", id="broken-one"), **changed}
    receipt = _take(store, broken, preparation("consent"))
    assert len(receipt.refused) == 1
    assert receipt.stored == ("prepared-consent",)


def test_the_display_is_checked_at_every_sign_in_and_not_at_a_reload(opened: Opened) -> None:
    """Other steps are never repeated."""
    store = opened(**ALL_STEPS_PROTOCOL)
    (code,) = invite(store, "R3")
    first = sign_in(store, code.text, entropy=entropy_from(5), now=NOW)
    second = sign_in(store, code.text, entropy=entropy_from(6), now=NOW)
    _prepare(store, first.person)
    reloaded = signed_in_person(store, first.token, now=NOW)
    assert reloaded is not None
    assert _remaining_steps(store, reloaded) == []
    assert _remaining_steps(store, second.person) == ["display"]
    repeated = preparation("display", id="another-screen")
    assert _take(store, repeated, person_acting=second.person).stored == ("another-screen",)
    assert _remaining_steps(store, second.person) == []
    assert len({row["sign_in"] for row in _rows(store) if row["step"] == "display"}) == 2
    assert verify(store) == []


def test_an_answer_from_an_expired_sign_in_is_accepted(opened: Opened) -> None:
    """After a new sign-in no case is shown before the display check, but the answer is accepted."""
    store = opened(**ALL_STEPS_PROTOCOL)
    before = dataclasses.replace(person(store), sign_in="a")
    case = _prepare(store, before).desk.cases[0].case
    after = dataclasses.replace(before, sign_in="b")
    receipt = _take(store, presentation(case), reading(case), person_acting=after)
    assert receipt.refused == ()
    assert (receipt.desk.read, receipt.desk.cases) == (1, ())
    assert [step.step for step in receipt.desk.preparation] == ["display"]


def test_cases_are_refused_before_the_preparation_is_complete(opened: Opened) -> None:
    """Knowing the ID of a case does not help."""
    store = opened(**ALL_STEPS_PROTOCOL)
    with store.look() as look:
        case = look.value(
            "SELECT assignments.id FROM assignments JOIN readers ON readers.id = reader "
            "WHERE reader_id = 'R1' AND position = 1"
        )
    receipt = _take(store, presentation(case), reading(case))
    assert [reason for _, reason in receipt.refused] == ["This case is not available yet."] * 2
    _prepare(store)
    assert _take(store, presentation(case), reading(case)).refused == ()


def test_the_rows_of_the_preparation_have_answers_and_measurements(opened: Opened) -> None:
    """Each reader and step has a row with its times, without the salt."""
    store = opened(**ALL_STEPS_PROTOCOL)
    _prepare(store)
    rows = preparation_rows(store, "trial")
    assert [(row["reader_id"], row["step"]) for row in rows] == [("R1", step) for step in STEPS]
    assert json.loads(rows[2]["detail"]) == ANSWERS
    assert set(rows[0]) == {"reader_id", "step", "done_at_utc", "received_at_utc", "detail"}


def test_a_simulated_reader_needs_no_preparation(opened: Opened) -> None:
    """A person's record for a simulated reader is refused."""
    store = opened(**ALL_STEPS_PROTOCOL)
    result = simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    assert result.n_read == 8
    assert "simulated one" in _take(store, preparation("consent")).refused[0][1]
    assert verify(store) == []


def test_a_reader_who_has_begun_to_prepare_is_a_person(opened: Opened) -> None:
    """Such a reader cannot be simulated."""
    store = opened(**ALL_STEPS_PROTOCOL)
    _take(store, preparation("consent"))
    with pytest.raises(NotNow, match="a person"):
        simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)


FINISH_RECORD = {"kind": "finish", "id": "the-end-of-it"}


def _desk(store: Store, **other: Any) -> desk.Desk:
    return desk.desk(store, replace(person(store), **other), now=NOW)


def _read_all(store: Store) -> str:
    """Read every case and return the last one."""
    last = ""
    while cases := _desk(store).cases:
        last = cases[0].case
        assert _take(store, reading(last, id=f"first-{last}")).refused == ()
    return last


def _changed_answer(case: str) -> dict[str, Any]:
    return reading(case, id="changed-it", option="D", supersedes=f"first-{case}")


def _kinds(store: Store) -> list[str]:
    with store.look() as look:
        return [row["kind"] for row in look.rows("SELECT kind FROM events")]


def test_if_going_back_is_allowed_answers_can_be_reviewed_until_the_end(opened: Opened) -> None:
    """The end is recorded once, even if the record is sent twice."""
    store = opened(back_navigation=True)
    assert not _desk(store).review
    case = _read_all(store)
    page = _desk(store)
    assert (page.finished, page.review) == (True, True)
    assert _take(store, _changed_answer(case)).refused == ()
    receipt = _take(store, FINISH_RECORD, FINISH_RECORD, {**FINISH_RECORD, "id": "another-one"})
    assert receipt.stored == ("the-end-of-it", "the-end-of-it", "another-one")
    assert (receipt.desk.finished, receipt.desk.review) == (True, False)
    assert _kinds(store).count("reading finished") == 1
    assert verify(store) == []


def test_after_the_end_answers_cannot_be_changed(opened: Opened) -> None:
    """Records from before the end may be sent again."""
    store = opened(back_navigation=True)
    case = _read_all(store)
    _take(store, FINISH_RECORD)
    ((_, reason),) = _take(store, _changed_answer(case)).refused
    assert "no longer be changed" in reason
    with pytest.raises(NotAllowed, match="no longer be changed"):
        desk.case_at(store, person(store), 1, now=NOW)
    assert _take(store, reading(case, id=f"first-{case}")).refused == ()


def test_reading_ends_after_the_last_case_for_each_reader(opened: Opened) -> None:
    """Finishing early is refused."""
    store = opened(back_navigation=True)
    ((_, reason),) = _take(store, FINISH_RECORD).refused
    assert reason == "Some cases have not been read yet."
    _read_all(store)
    _take(store, FINISH_RECORD)
    assert _kinds(store).count("reading finished") == 1
    other = person(store, "R2")
    while cases := desk.desk(store, other, now=NOW).cases:
        desk.take_records(store, other, [reading(cases[0].case)], now=NOW)
    assert desk.desk(store, other, now=NOW).review


def test_if_going_back_is_not_allowed_the_last_answer_ends_the_reading(opened: Opened) -> None:
    """Answers are not reviewed at the end, and a record of the end is refused."""
    store = opened()
    _read_all(store)
    assert (_desk(store).finished, _desk(store).review) == (True, False)
    ((_, reason),) = _take(store, FINISH_RECORD).refused
    assert (
        reason == "You cannot finish early: this study ends when the last case has been answered."
    )


def test_the_end_of_reading_is_accepted_after_the_study_is_closed(opened: Opened) -> None:
    """An answer in the same message is refused."""
    store = opened(back_navigation=True)
    case = _read_all(store)
    studies.close(store, study="trial", reason="Every case is read.", acting=ACTING)
    assert not _desk(store).review
    assert _take(store, FINISH_RECORD).stored == ("the-end-of-it",)
    with pytest.raises(NotNow):
        _take(store, _changed_answer(case), FINISH_RECORD)


def test_after_the_last_case_the_display_is_not_checked_again(opened: Opened) -> None:
    """As long as cases are unread, the display is checked after each sign-in."""
    store = opened(display_check=True)
    _take(store, preparation("display", {"dark_step": 2}))
    assert [step.step for step in _desk(store, sign_in="next").preparation] == ["display"]
    _read_all(store)
    assert _desk(store, sign_in="next").preparation == ()
