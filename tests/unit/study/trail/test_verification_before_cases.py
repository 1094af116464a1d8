"""Verification reports every alteration of the steps before the first case."""

import shutil
import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from study.reading import desk
from study.store import Store
from study.trail.verification import verify
from tests import templates
from tests.conftest import (
    NOW,
    bank_store,
    draw_trial,
    open_trial,
    person,
    preparation,
    presentation,
    reading,
    tamper,
)

PROTOCOL = {
    "cases": 8,
    "one_question_per": "item",
    "consent": "Agree?",
    "questionnaire": [{"id": "years", "question": "Years?", "kind": "number"}],
    "display_check": True,
    "practice_cases": 2,
    "cannot_answer": True,
}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a store whose reader has prepared, practised and skipped a case."""
    store = bank_store(tmp_path_factory.mktemp("prepared"))
    open_trial(store, PROTOCOL, "R1", "R2")
    steps = [
        preparation("consent"),
        preparation("questionnaire", {"answers": {"years": 3}}),
        preparation("display"),
    ]
    now = NOW + timedelta(seconds=2)
    while len(steps) > 0:
        receipt = desk.take_records(store, person(store), steps, now=now)
        assert receipt.refused == ()
        first = receipt.desk.cases[0]
        given_up: dict[str, Any] = {
            "option": None,
            "status": "skipped",
            "reason": "too dark",
            "selections": [],
        }
        answer = reading(first.case) if first.practice else {**reading(first.case), **given_up}
        steps = [] if receipt.desk.read else [presentation(first.case), answer]
    return store.path


@pytest.fixture
def prepared_store(original: Path, tmp_path: Path) -> Store:
    """Return a copy of that store that a test may alter."""
    return Store(templates.copy_store(original, tmp_path / "copy.db"))


def test_an_unaltered_store_has_no_breach(prepared_store: Store) -> None:
    """The study has three steps, two practice readings and a skipped case."""
    with prepared_store.look() as look:
        for table, n in (("preparations", 3), ("practice_readings", 2), ("reasons", 1)):
            assert look.value(f"SELECT count(*) FROM {table}") == n
    assert verify(prepared_store) == []


ALTERATIONS = [
    ("UPDATE preparations SET detail = '{}' WHERE step = 'questionnaire'", "preparation prepared-"),
    ("UPDATE preparations SET step = 'instructions' WHERE step = 'consent'", "was altered"),
    ("UPDATE preparations SET sign_in = 'x' WHERE step = 'display'", "prepared-display was alt"),
    ("DELETE FROM preparations WHERE step = 'consent'", "prepared-consent is missing"),
    (
        "INSERT INTO preparations SELECT 'slipped-in', 2, step, sign_in, detail, done_at_utc, "
        "received_at_utc, salt FROM preparations LIMIT 1",
        "slipped-in was altered or inserted",
    ),
    ("UPDATE practice_cases SET item = item + 1 WHERE number = 1", "practice cases are not those"),
    ("UPDATE practice_cases SET number = 9 WHERE number = 1", "practice cases are not those"),
    ("DELETE FROM practice_cases", "practice cases are not those"),
    (
        "UPDATE practice_assignments SET shown_order = 'DCBA' WHERE reader = 1",
        "practice list of R1 was altered",
    ),
    ("DELETE FROM practice_assignments WHERE reader = 2", "practice list of R2 was altered"),
    ("UPDATE practice_readings SET answer = 'D'", "practice reading"),
    ("DELETE FROM practice_readings", "is missing"),
    ("UPDATE reasons SET words = 'other'", "the reason of reading"),
    ("DELETE FROM reasons", "the reason of reading"),
]


@pytest.mark.parametrize(("statement", "message"), ALTERATIONS, ids=[row[0] for row in ALTERATIONS])
def test_each_alteration_is_reported(prepared_store: Store, statement: str, message: str) -> None:
    """For each kind of alteration a sentence is printed."""
    tamper(prepared_store, statement)
    breaches = verify(prepared_store)
    assert any(message in breach for breach in breaches), breaches


def test_practice_cases_inserted_into_a_study_without_them_are_reported(banked: Store) -> None:
    """No event of the study mentions practice."""
    draw_trial(banked, {"cases": 8, "one_question_per": "item"})
    tamper(banked, "INSERT INTO practice_cases (study, item, number) VALUES (1, 1, 1)")
    assert any("practice cases are not those" in breach for breach in verify(banked))


def test_an_exchanged_film_of_a_practice_case_is_reported(
    prepared_store: Store, original: Path, tmp_path: Path
) -> None:
    """The check covers the films of all cases."""
    bank = tmp_path / "moved"
    shutil.copytree(original.parent / "bank", bank)
    tamper(prepared_store, f"UPDATE banks SET images_root = '{bank}'")
    with prepared_store.look() as look:
        film = look.value(
            "SELECT path FROM practice_cases JOIN item_views USING (item) "
            "JOIN films ON films.id = film LIMIT 1"
        )
    (bank / film).write_bytes(b"another film")
    assert any("not the one that was imported" in breach for breach in verify(prepared_store))


@pytest.mark.sqlite("opens the file itself")
def test_append_only_rows_cannot_be_changed_through_sqlite(prepared_store: Store) -> None:
    """The triggers also refuse changes by other programs."""
    connection = sqlite3.connect(prepared_store.path)
    for table in (
        "preparations",
        "practice_cases",
        "practice_assignments",
        "practice_readings",
        "reasons",
    ):
        for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET rowid = rowid"):
            with pytest.raises(sqlite3.IntegrityError, match="written once"):
                connection.execute(statement)
    connection.close()
