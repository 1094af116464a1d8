"""Any record of a browser is stored or refused, and does not affect other records."""

import contextlib
import copy
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from study.lifecycle import studies
from study.people.codes import new_code
from study.people.invitations import Invitation
from study.reading import desk
from study.reading.records import MalformedRecord, parse_record, record_id
from study.store import Store
from study.trail.verification import verify
from tests.conftest import (
    ACTING,
    NOW,
    bank_store,
    entropy_from,
    number_of_examples,
    open_trial,
    person,
    preparation,
    presentation,
    reading,
)

_texts = st.text(st.characters(), max_size=8)  # lone surrogates included
_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(10**300, 10**400)
    | st.floats()
    | _texts
    | st.just("x" * 5000),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_texts, inner, max_size=4),
    max_leaves=12,
)
_TOP = tuple(reading("0123456789"))
_PLACES = (
    *(("reading", name) for name in _TOP),
    *(("reading", "times", name) for name in reading("0123456789")["times"]),
    ("reading", "selections", 0, "at_ms"),
    ("reading", "selections", 0, "option"),
    ("reading", "behaviour", "zoom"),
    *(("presentation", name) for name in presentation("0123456789")),
    ("presentation", "circumstances", "renderer"),
    ("reading", "reason"),
)
_STEPS = {
    "consent": {"agreed": True},
    "instructions": {},
    "questionnaire": {"answers": {"level": "one", "years": 3, "words": "none"}},
    "display": {"grey_step": 2, "window": [1440, 900]},
}
_QUESTIONS: list[dict[str, Any]] = [
    {"id": "level", "question": "Level?", "kind": "choice", "options": ["one", "two"]},
    {"id": "years", "question": "Years?", "kind": "number"},
    {"id": "words", "question": "Else?", "kind": "text", "required": False},
]
_STEP_PLACES = (
    *((step, name) for step in _STEPS for name in preparation("consent")),
    ("consent", "detail", "agreed"),
    ("questionnaire", "detail", "answers"),
    *(("questionnaire", "detail", "answers", question["id"]) for question in _QUESTIONS),
    ("display", "detail", "grey_step"),
)


def _changed(record: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """Return a copy of a record with one field replaced."""
    changed = copy.deepcopy(record)
    inner: Any = changed
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    return changed


@given(_json)
def test_any_json_is_a_record_or_malformed(value: object) -> None:
    """No JSON raises another error."""
    record_id(value)
    with contextlib.suppress(MalformedRecord):
        parse_record(value)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Return an open study with comments and more cases than a test reads."""
    store = bank_store(tmp_path_factory.mktemp("records"), n_patients=150)
    values = {"cases": 300, "one_question_per": "item", "comments": True, "hidden_repeats": 300}
    open_trial(store, values, "R1")
    with store.kept_open():
        yield store


@pytest.mark.thorough
@settings(max_examples=number_of_examples(120), suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(_PLACES), _json)
def test_an_invalid_field_does_not_affect_other_records(
    opened: Store, place: tuple[Any, ...], value: object
) -> None:
    """A valid record with an arbitrary value in one field is stored or refused.

    The valid record in the same message is always stored.
    """
    reader = person(opened)
    first, second = desk.desk(opened, reader, now=NOW).cases[:2]
    sound = {"presentation": presentation(first.case), "reading": reading(first.case)}
    sent = [
        _changed(record, place[1:], value) if kind == place[0] else record
        for kind, record in sound.items()
    ]
    neighbour = reading(second.case)
    now = NOW + timedelta(seconds=2)
    receipt = desk.take_records(opened, reader, [*sent, neighbour], now=now)
    assert f"read-{second.case}" in receipt.stored
    assert len(receipt.stored) + len(receipt.refused) == 3
    if receipt.desk.cases and receipt.desk.cases[0].case == first.case:  # finish every case
        desk.take_records(opened, reader, [reading(first.case, id=f"again-{first.case}")], now=now)


@pytest.fixture(scope="module")
def unprepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Return an open study with all steps before its cases, which is verified at the end."""
    store = bank_store(tmp_path_factory.mktemp("steps"))
    values = {"consent": "?", "instructions": "!", "questionnaire": _QUESTIONS}
    open_trial(
        store, {"cases": 4, "one_question_per": "item", "display_check": True, **values}, "R0"
    )
    with store.kept_open():
        yield store
    assert verify(store) == []


@pytest.mark.thorough
@settings(max_examples=number_of_examples(40), suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(_STEP_PLACES), _json)
def test_an_invalid_step_is_stored_or_refused_and_can_be_repeated(
    unprepared: Store, place: tuple[Any, ...], value: object
) -> None:
    """A field is replaced by a random value; the valid step completes the preparation."""
    with unprepared.look() as look:
        number = look.value("SELECT count(*) FROM readers")
    studies.invite(
        unprepared,
        study="trial",
        invitations=[Invitation(reader_id=f"R{number}")],
        codes=[new_code(entropy_from(number))],
        acting=ACTING,
    )
    reader = person(unprepared, f"R{number}")
    steps = {
        step: preparation(step, detail, id=f"{step}-{number}") for step, detail in _STEPS.items()
    }
    sent = [
        _changed(record, place[1:], value) if step == place[0] else record
        for step, record in steps.items()
    ]
    now = NOW + timedelta(seconds=2)
    receipt = desk.take_records(unprepared, reader, sent, now=now)
    assert len(receipt.stored) + len(receipt.refused) == len(steps)
    repeated = [{**record, "id": f"again-{record['id']}"} for record in steps.values()]
    receipt = desk.take_records(unprepared, reader, repeated, now=now)
    assert receipt.refused == ()
    assert receipt.desk.preparation == ()
