"""Before the first case and after the last: each step once, in order, in the chain."""

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
from study.people.signing_in import Person, sign_in, signed_in
from study.reading import desk
from study.reading.simulation import simulate
from study.store import Store, events
from study.trail.verification import verify
from tests.conftest import NOW, entropy_from, invite, person, preparation, presentation, reading

Opened = Callable[..., Store]
QUESTIONS = [
    {"id": "level", "question": "Your level?", "kind": "choice", "options": ["one", "two"]},
    {"id": "years", "question": "Years?", "kind": "number", "required": False},
    {"id": "words", "question": "Anything else?", "kind": "text", "required": False},
]
ALL: dict[str, Any] = {
    "consent": "# Agree?",
    "instructions": "Read.",
    "questionnaire": QUESTIONS,
    "display_check": True,
}
ANSWERS = {"answers": {"level": "one"}}
STEPS = ("consent", "instructions", "questionnaire", "display")


def _take(store: Store, *records: Any, who: Person | None = None) -> desk.Acknowledgement:
    now = NOW + timedelta(seconds=2)
    return desk.take_records(store, who or person(store), records, now=now)


def _to_do(store: Store, who: Person | None = None) -> list[str]:
    return [step.step for step in desk.desk(store, who or person(store), now=NOW).preparation]


def _rows(store: Store) -> list[dict[str, Any]]:
    with store.look() as look:
        return look.rows("SELECT * FROM preparations ORDER BY rowid")


def _prepare(store: Store, who: Person | None = None) -> desk.Acknowledgement:
    steps = [preparation(step, ANSWERS if step == "questionnaire" else None) for step in STEPS]
    return _take(store, *steps, who=who)


def test_a_study_without_preparation_goes_straight_to_its_cases(opened: Opened) -> None:
    """The default protocol asks for nothing before the first case."""
    store = opened()
    found = desk.desk(store, person(store), now=NOW)
    assert (found.preparation, found.practice_total, len(found.cases)) == ((), 0, 3)


def test_the_steps_come_in_order_and_no_case_before_them(opened: Opened) -> None:
    """Consent, instructions, questionnaire, display; each goes when it is done."""
    store = opened(**ALL)
    for place, step in enumerate(STEPS):
        found = desk.desk(store, person(store), now=NOW)
        assert [one.step for one in found.preparation] == list(STEPS[place:])
        assert found.cases == ()
        detail = ANSWERS if step == "questionnaire" else None
        assert _take(store, preparation(step, detail)).stored == (f"prepared-{step}",)
    assert len(desk.desk(store, person(store), now=NOW).cases) == 3
    assert verify(store) == []


def test_a_step_is_shown_with_its_text_or_its_questions(opened: Opened) -> None:
    """As the protocol has them, in Markdown."""
    store = opened(**ALL)
    steps = desk.desk(store, person(store), now=NOW).preparation
    consent, instructions, questionnaire, display = steps
    assert (consent.markdown, instructions.markdown) == ("# Agree?", "Read.")
    assert [question.id for question in questionnaire.questions] == ["level", "years", "words"]
    assert (display.markdown, display.questions) == ("", ())


@pytest.mark.parametrize("step", STEPS[1:])
def test_a_later_step_is_refused_before_the_earlier_ones(opened: Opened, step: str) -> None:
    """Nobody answers the questionnaire before they have consented."""
    store = opened(**ALL)
    detail = ANSWERS if step == "questionnaire" else None
    ((_, why),) = _take(store, preparation(step, detail)).refused
    assert "the previous step first: consent" in why
    assert _rows(store) == []


def test_a_step_the_protocol_does_not_ask_for_is_refused(opened: Opened) -> None:
    """As is one that does not exist."""
    store = opened(consent="Agree?")
    for step in ("display", "nonsense", "practice"):
        ((_, why),) = _take(store, preparation(step)).refused
        assert why == "This study has no such step."


def test_a_step_sent_twice_is_stored_once_and_the_first_stands(opened: Opened) -> None:
    """With the same id or with another, both are acknowledged."""
    store = opened(**{**ALL, "consent": "", "instructions": "", "display_check": False})
    first = preparation("questionnaire", ANSWERS)
    second = preparation("questionnaire", {"answers": {"level": "two"}}, id="from-another-tab")
    for record in (first, first, second):
        assert _take(store, record).stored == (record["id"],)
    (row,) = _rows(store)
    assert (row["id"], json.loads(row["detail"])) == (first["id"], ANSWERS)
    assert verify(store) == []


def test_an_id_stands_for_one_step_of_one_reader(opened: Opened) -> None:
    """Another reader's record, or another step, cannot hide behind it."""
    store = opened(**ALL)
    _take(store, preparation("consent"))
    other = _take(store, preparation("consent"), who=person(store, "R2"))
    again = _take(store, preparation("instructions", id="prepared-consent"))
    for receipt in (other, again):
        assert receipt.refused == (("prepared-consent", "Another record already has this ID."),)
    assert _to_do(store, person(store, "R2"))[0] == "consent"


@pytest.mark.parametrize("detail", [{}, {"agreed": False}, {"agreed": 1}, {"agreed": "yes"}])
def test_consent_is_given_or_not_stored(opened: Opened, detail: dict[str, Any]) -> None:
    """Only a plain yes is one."""
    store = opened(consent="Agree?")
    record = preparation("consent", **{"detail": detail})
    assert "has to be given" in _take(store, record).refused[0][1]
    assert _rows(store) == []


@pytest.mark.parametrize(
    ("detail", "reason"),
    [
        ({}, "answers must be an object"),
        ({"answers": {}}, "The question 'level' must be answered"),
        ({"answers": {"level": " "}}, "The question 'level' must be answered"),
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
def test_answers_that_do_not_fit_are_refused(
    opened: Opened, detail: dict[str, Any], reason: str
) -> None:
    """With the question's name; nothing is stored, and nothing else held up."""
    store = opened(**{**ALL, "consent": "", "instructions": ""})
    receipt = _take(store, preparation("questionnaire", detail))
    assert reason in receipt.refused[0][1]
    assert _rows(store) == []


def test_answers_are_bounded_and_stay_out_of_the_chain(opened: Opened) -> None:
    """They may be personal: the event has the hash of a salted row, and no word of them."""
    store = opened(**{**ALL, "consent": "", "instructions": "", "display_check": False})
    words = "PERSONAL" + "\ud800" + "x" * 5000
    given = {"answers": {"level": "two", "years": 7, "words": words}}
    assert _take(store, preparation("questionnaire", given)).refused == ()
    (row,) = _rows(store)
    kept = json.loads(row["detail"])["answers"]
    assert (kept["level"], kept["years"]) == ("two", 7)
    assert kept["words"] == ("PERSONAL\ufffd" + "x" * 5000)[:2000]
    with store.look() as look:
        trail = json.dumps(list(events.walk(look, "study:trial")))
    assert "preparation done" in trail
    assert "PERSONAL" not in trail
    assert len(row["salt"]) == 32
    assert row["salt"] not in trail


def test_display_measurements_are_cleaned_and_bounded(opened: Opened) -> None:
    """As circumstances are: no lone surrogate, no NaN, not too deep, not too long."""
    store = opened(display_check=True)
    unsound: list[dict[str, Any]] = [{"long": "x" * 5000}, {"deep": [[[[[[[[[[]]]]]]]]]]}]
    for detail in unsound:
        assert "Invalid record" in _take(store, preparation("display", detail)).refused[0][1]
    odd = {"grey_step": 2, "name": "\ud800", "ratio": float("inf")}
    assert _take(store, preparation("display", odd)).refused == ()
    assert json.loads(_rows(store)[0]["detail"]) == {
        "grey_step": 2,
        "name": "\ufffd",
        "ratio": None,
    }


def test_an_absurd_clock_is_no_time_at_all(opened: Opened) -> None:
    """What could not be measured is null; the server's own time is kept."""
    store = opened(consent="Agree?")
    _take(store, preparation("consent", epoch_ms=0))
    (row,) = _rows(store)
    assert (row["done_at_utc"], row["received_at_utc"]) == (None, "2025-06-04T12:00:02.000Z")


@pytest.mark.parametrize(
    "changed",
    [{"step": 7}, {"step": None}, {"detail": ["agreed"]}, {"epoch_ms": "soon"}, {"id": "x"}],
)
def test_a_malformed_step_does_not_hold_up_the_rest(
    opened: Opened, changed: dict[str, Any]
) -> None:
    """It is refused; the sound one beside it is taken."""
    store = opened(consent="Agree?")
    broken = {**preparation("consent", id="broken-one"), **changed}
    receipt = _take(store, broken, preparation("consent"))
    assert len(receipt.refused) == 1
    assert receipt.stored == ("prepared-consent",)


def test_the_display_is_checked_at_every_sign_in_and_not_at_a_reload(opened: Opened) -> None:
    """The same sign-in asks once, the next one again; the other steps are never asked again."""
    store = opened(**ALL)
    (code,) = invite(store, "R3")
    first = sign_in(store, code.text, entropy=entropy_from(5), now=NOW)
    second = sign_in(store, code.text, entropy=entropy_from(6), now=NOW)
    _prepare(store, first.person)
    reloaded = signed_in(store, first.token, now=NOW)
    assert reloaded is not None
    assert _to_do(store, reloaded) == []
    assert _to_do(store, second.person) == ["display"]
    again = preparation("display", id="another-screen")
    assert _take(store, again, who=second.person).stored == ("another-screen",)
    assert _to_do(store, second.person) == []
    assert len({row["sign_in"] for row in _rows(store) if row["step"] == "display"}) == 2
    assert verify(store) == []


def test_an_answer_from_before_a_sign_in_ran_out_is_not_lost(opened: Opened) -> None:
    """The new sign-in hands no case out before its display check, but takes what was answered."""
    store = opened(**ALL)
    before = dataclasses.replace(person(store), sign_in="a")
    case = _prepare(store, before).desk.cases[0].case
    after = dataclasses.replace(before, sign_in="b")
    receipt = _take(store, presentation(case), reading(case), who=after)
    assert receipt.refused == ()
    assert (receipt.desk.read, receipt.desk.cases) == (1, ())
    assert [step.step for step in receipt.desk.preparation] == ["display"]


def test_no_case_is_read_before_everything_is_prepared(opened: Opened) -> None:
    """Not even one whose id somebody knows."""
    store = opened(**ALL)
    with store.look() as look:
        case = look.value(
            "SELECT assignments.id FROM assignments JOIN readers ON readers.id = reader "
            "WHERE reader_id = 'R1' AND position = 1"
        )
    receipt = _take(store, presentation(case), reading(case))
    assert [why for _, why in receipt.refused] == ["This case is not available yet."] * 2
    _prepare(store)
    assert _take(store, presentation(case), reading(case)).refused == ()


def test_the_coordinator_finds_what_was_said_and_measured(opened: Opened) -> None:
    """Per reader and step, with its times; the salt stays in the store."""
    store = opened(**ALL)
    _prepare(store)
    rows = preparation_rows(store, "trial")
    assert [(row["reader_id"], row["step"]) for row in rows] == [("R1", step) for step in STEPS]
    assert json.loads(rows[2]["detail"]) == ANSWERS
    assert set(rows[0]) == {"reader_id", "step", "done_at_utc", "received_at_utc", "detail"}


def test_a_simulated_reader_prepares_nothing_and_nobody_does_for_them(opened: Opened) -> None:
    """They read on; a person's record for them is refused."""
    store = opened(**ALL)
    done = simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    assert done.n_read == 8
    assert "simulated one" in _take(store, preparation("consent")).refused[0][1]
    assert verify(store) == []


def test_a_reader_who_has_begun_to_prepare_is_a_person(opened: Opened) -> None:
    """A simulation never mixes with them."""
    store = opened(**ALL)
    _take(store, preparation("consent"))
    with pytest.raises(NotNow, match="a person"):
        simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)


END = {"kind": "finish", "id": "the-end-of-it"}


def _desk(store: Store, **other: Any) -> desk.Desk:
    return desk.desk(store, replace(person(store), **other), now=NOW)


def _take_finishing(store: Store, *records: dict[str, Any]) -> desk.Acknowledgement:
    return desk.take_records(store, person(store), records, now=NOW + timedelta(seconds=2))


def _read_all(store: Store) -> str:
    """Read every case, and return the last."""
    last = ""
    while cases := _desk(store).cases:
        last = cases[0].case
        assert _take_finishing(store, reading(last, id=f"first-{last}")).refused == ()
    return last


def _changed(case: str) -> dict[str, Any]:
    return reading(case, id="changed-it", option="D", supersedes=f"first-{case}")


def _kinds(store: Store) -> list[str]:
    with store.look() as look:
        return [row["kind"] for row in look.rows("SELECT kind FROM events")]


def test_whoever_may_go_back_may_review_until_they_finish(opened: Opened) -> None:
    """Every case is read and may still be changed; said twice, the end is noted once."""
    store = opened(back_navigation=True)
    assert not _desk(store).review
    case = _read_all(store)
    found = _desk(store)
    assert (found.finished, found.review) == (True, True)
    assert _take_finishing(store, _changed(case)).refused == ()
    receipt = _take_finishing(store, END, END, {**END, "id": "another-one"})
    assert receipt.stored == ("the-end-of-it", "the-end-of-it", "another-one")
    assert (receipt.desk.finished, receipt.desk.review) == (True, False)
    assert _kinds(store).count("reading finished") == 1
    assert verify(store) == []


def test_after_the_end_answers_stand(opened: Opened) -> None:
    """Nothing is looked at or changed any more; what was sent before it may come again."""
    store = opened(back_navigation=True)
    case = _read_all(store)
    _take_finishing(store, END)
    ((_, why),) = _take_finishing(store, _changed(case)).refused
    assert "no longer be changed" in why
    with pytest.raises(NotAllowed, match="no longer be changed"):
        desk.case_at(store, person(store), 1, now=NOW)
    assert _take_finishing(store, reading(case, id=f"first-{case}")).refused == ()


def test_nobody_finishes_before_the_last_case_or_for_another(opened: Opened) -> None:
    """Too early is refused, and each reader has an end of their own."""
    store = opened(back_navigation=True)
    ((_, why),) = _take_finishing(store, END).refused
    assert why == "Some cases have not been read yet."
    _read_all(store)
    _take_finishing(store, END)
    assert _kinds(store).count("reading finished") == 1
    other = person(store, "R2")
    while cases := desk.desk(store, other, now=NOW).cases:
        desk.take_records(store, other, [reading(cases[0].case)], now=NOW)
    assert desk.desk(store, other, now=NOW).review


def test_without_going_back_the_last_answer_is_the_end(opened: Opened) -> None:
    """There is nothing to review, and nothing to finish."""
    store = opened()
    _read_all(store)
    assert (_desk(store).finished, _desk(store).review) == (True, False)
    ((_, why),) = _take_finishing(store, END).refused
    assert why == "This study ends with the last answer."


def test_whoever_finishes_as_the_study_is_closed_loses_nothing(opened: Opened) -> None:
    """The page that waited for them is told yes; an answer beside it would be refused."""
    store = opened(back_navigation=True)
    case = _read_all(store)
    studies.close(store, study="trial", reason="Every case is read.", now=NOW)
    assert not _desk(store).review
    assert _take_finishing(store, END).stored == ("the-end-of-it",)
    with pytest.raises(NotNow):
        _take_finishing(store, _changed(case), END)


def test_whoever_has_read_everything_is_not_asked_for_the_screen_again(opened: Opened) -> None:
    """At the next sign-in there is nothing to prepare for; with cases left there is."""
    store = opened(display_check=True)
    _take_finishing(store, preparation("display", {"dark_step": 2}))
    assert [one.step for one in _desk(store, sign_in="next").preparation] == ["display"]
    _read_all(store)
    assert _desk(store, sign_in="next").preparation == ()
