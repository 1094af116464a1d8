"""A case given up: a reading without an answer, with a reason that is kept and vouched for."""

import csv
import io
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from study.exchange.bundle import bundle_files
from study.monitoring.progress import status
from study.reading import desk
from study.store import Store, events
from study.trail.verification import verify
from tests.conftest import NOW, person, presentation, reading, tamper

Opened = Callable[..., Store]


def _take(store: Store, *records: Any) -> desk.Acknowledgement:
    now = NOW + timedelta(seconds=2)
    return desk.take_records(store, person(store), records, now=now)


def _given_up(case: str, reason: Any = "Rotated, cut off", **changed: Any) -> dict[str, Any]:
    return {**reading(case, None), "status": "skipped", "reason": reason, **changed}


def _case(store: Store) -> str:
    return desk.desk(store, person(store), now=NOW).cases[0].case


def _readings(store: Store) -> list[dict[str, str]]:
    text = bundle_files(store, "trial")["readings.csv"].decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_a_case_is_given_up_only_where_the_protocol_lets_it(opened: Opened) -> None:
    """By default every case is answered."""
    store = opened()
    assert "Every case must be answered" in _take(store, _given_up(_case(store))).refused[0][1]


def test_the_reason_is_kept_exported_and_vouched_for(opened: Opened) -> None:
    """In a table of its own, in the event, and as the raw answer of the bundle."""
    store = opened(cannot_answer=True, confidence=5)
    case = _case(store)
    assert _take(store, presentation(case), _given_up(case)).refused == ()
    (row,) = _readings(store)
    assert (row["status"], row["answer"], row["raw_answer"], row["confidence"]) == (
        "skipped",
        "",
        "Rotated, cut off",
        "",
    )
    with store.look() as look:
        details = [event.detail for event in events.walk(look, "study:trial")]
    assert [detail["reason"] for detail in details if "reason" in detail] == ["Rotated, cut off"]
    reader = status(store, "trial")["readers"][0]
    assert (reader["n_read"], reader["n_skipped"], reader["n_answered"]) == (1, 1, 0)
    assert verify(store) == []


@pytest.mark.parametrize("reason", [None, "", "  ", 5, ["x"]])
def test_without_a_reason_no_case_is_given_up(opened: Opened, reason: Any) -> None:
    """The page asks for one."""
    store = opened(cannot_answer=True)
    assert "Invalid record" in _take(store, _given_up(_case(store), reason)).refused[0][1]


def test_a_reason_beside_an_answer_is_nothing_the_page_sends(opened: Opened) -> None:
    """An answered case was not given up."""
    store = opened(cannot_answer=True)
    record = reading(_case(store), "A", reason="but")
    assert "Invalid record" in _take(store, record).refused[0][1]


def test_a_long_reason_is_cut_and_flagged(opened: Opened) -> None:
    """At 500 characters, and cleaned of what is no text; the reading stays."""
    store = opened(cannot_answer=True)
    case = _case(store)
    assert _take(store, presentation(case), _given_up(case, "\ud800" + "x" * 600)).refused == ()
    assert _readings(store)[0]["raw_answer"] == "\ufffd" + "x" * 499
    with store.look() as look:
        assert look.value("SELECT flags FROM readings") == '["reason_cut"]'


def test_an_answer_may_be_taken_back_with_a_reason_and_the_other_way_round(opened: Opened) -> None:
    """Where going back is allowed, and each time only the last one counts."""
    store = opened(cannot_answer=True, back_navigation=True)
    case = _case(store)
    _take(store, presentation(case), reading(case, "B"))
    given_up = _given_up(case, id="given-it-up", supersedes=f"read-{case}")
    assert _take(store, given_up).refused == ()
    again = desk.case_at(store, person(store), 1, now=NOW).reading
    assert again is not None
    assert (again.status, again.option) == ("skipped", None)
    assert [row["raw_answer"] for row in _readings(store)] == ["Rotated, cut off"]
    answered = reading(case, "C", id="after-all", supersedes="given-it-up")
    assert _take(store, answered).refused == ()
    assert [(row["answer"], row["status"]) for row in _readings(store)] == [("C", "answered")]
    assert verify(store) == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE reasons SET words = 'other'",
        "DELETE FROM reasons",
        "INSERT INTO reasons SELECT id, 'slipped in' FROM readings WHERE status = 'answered'",
    ],
)
def test_an_altered_reason_is_found(opened: Opened, statement: str) -> None:
    """The event holds the words."""
    store = opened(cannot_answer=True)
    first = _case(store)
    _take(store, presentation(first), _given_up(first))
    second = _case(store)
    _take(store, presentation(second), reading(second))
    tamper(store, statement)
    (breach,) = verify(store)
    assert "the reason of reading" in breach
