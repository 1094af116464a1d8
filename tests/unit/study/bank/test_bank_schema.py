"""The JSON Schema of a bank file accepts the same files as an import."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from study.bank.fields import OPTION_FIELDS, SPELLINGS
from study.tables.columns import plain_key
from tests.conftest import ROOT, bank_records
from tests.unit.study.bank.conftest import BankFile

SCHEMA = json.loads((ROOT / "docs" / "bank.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
ROW = jsonschema.Draft202012Validator({**SCHEMA["$defs"]["row"], "$defs": SCHEMA["$defs"]})

ItemDict = dict[str, Any]


def _records(items: ItemDict) -> list[ItemDict]:
    return [{"question_id": key, **item} for key, item in items.items()]


@pytest.mark.parametrize("listed", [False, True])
def test_valid_banks_are_accepted(*, listed: bool) -> None:
    """The demo bank and the tests' bank are accepted as an object and as a list."""
    VALIDATOR.check_schema(SCHEMA)
    demo = json.loads((ROOT / "data" / "demo" / "bank.json").read_text())
    for items in (demo, bank_records(5)):
        VALIDATOR.validate(_records(items) if listed else items)


def test_the_schema_contains_every_spelling_of_a_key() -> None:
    known = {plain_key(name) for name in SCHEMA["$defs"]["item"]["properties"]}
    spellings = {plain_key(name) for names in SPELLINGS.values() for name in names}
    assert {*spellings, *map(plain_key, OPTION_FIELDS)} <= known


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"question": ""}, "question"),
        ({"question": 7}, "question"),
        ({"question": ["a", "b"]}, "question"),
        ({"question": "x" * 10_001}, "question"),
        ({"options": None}, "options"),
        ({"options": ["No"]}, "options"),
        ({"options": list("abcdefghi")}, "options"),
        ({"options": ["x", "", "No"]}, "options"),
        ({"options": ["x", None, "No"]}, "options"),
        ({"options": ["x", "x", "No"]}, "options"),
        ({"options": {"A": "x", "Z": "No"}}, "options"),
        ({"options": "Yes or no"}, "options"),
        ({"correct_answer": 1.5}, "correct_answer"),
        ({"task_name": {"a": 1}}, "task_name"),
        ({"PatientID": 1.5}, "PatientID"),
        ({"study_id": True}, "study_id"),
        ({"ImagePath": []}, "ImagePath"),
        ({"ImagePath": None}, "ImagePath"),
        ({"ImagePath": [None, "a.png"]}, "ImagePath"),
        ({"ImagePath": {"a": 1}}, "ImagePath"),
        ({"Findings": "x" * 100_001}, "Findings"),
    ],
)
def test_the_schema_refuses_the_same_fields_as_an_import(
    bank: Callable[..., BankFile], item: ItemDict, change: ItemDict, place: str
) -> None:
    items = {"bad": item | change, "good": item}
    assert {fault.key for fault in bank(items).faults} == {"bad"}
    errors = list(VALIDATOR.iter_errors(items))
    assert {tuple(error.absolute_path)[:2] for error in errors} == {("bad", place)}


@pytest.mark.parametrize("missing_key", ["question", "options", "ImagePath"])
def test_required_fields_are_enforced(item: ItemDict, missing_key: str) -> None:
    del item[missing_key]
    assert not VALIDATOR.is_valid({"q1": item})
    assert not VALIDATOR.is_valid(_records({"q1": item}))


@pytest.mark.parametrize("content", [{}, [], "q1", {"q1": 5}, [{"question": "No id?"}]])
def test_other_json_is_refused(content: object) -> None:
    assert not VALIDATOR.is_valid(content)


def test_the_schema_of_a_row_applies_to_csv_files(tmp_path: Path) -> None:
    path = tmp_path / "bank.csv"
    header = "item_id,question,option_a,option_b,option_c,truth,images,views"
    path.write_text(f"{header}\nq1,Well?,Yes,No,,A,a.png|b.png,PA|LATERAL\nq2,,Yes,No,,A,a.png,\n")
    with path.open(newline="") as file:
        sound, faulty = csv.DictReader(file)
    assert ROW.is_valid(sound)
    assert [list(error.absolute_path) for error in ROW.iter_errors(faulty)] == [["question"]]
