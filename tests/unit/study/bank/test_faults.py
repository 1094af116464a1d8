"""Errors of a bank: all errors of all items are listed, and no invalid item is imported."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from study.base.bank_model import Fault, Rule
from study.base.errors import BadFile
from tests.unit.study.bank.conftest import BankFile, read_bank_file
from tests.unit.study.base.test_text_keys import DIFFERENT_MEANINGS, LOOK_ALIKES

Read = Callable[..., BankFile]
ItemDict = dict[str, Any]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"question": ""}, "no question"),
        ({"question": "  "}, "no question"),
        ({"question": 7}, "question is not text: 7"),
        ({"question": ["a", "b"]}, "question is not text"),
        ({"question": "a\0b"}, "question is not text"),
        ({"question": "\ud800"}, "question is not text"),
        ({"question": "x" * 5_000_000}, "“question” has 5,000,000 characters, more than 10,000"),
        (
            {"options": ["x", "No", "y" * 10_001]},
            "“options” has 10,001 characters, more than 10,000",
        ),
        ({"Findings": "x" * 100_001}, "“Findings” has 100,001 characters, more than 100,000"),
        ({"options": None}, "no options"),
        ({"options": []}, "no options"),
        ({"options": "Yes or no"}, "options not understood"),
        ({"options": 4}, "options not understood"),
        ({"options": ["No"]}, "1 option"),
        ({"options": list("abcdefghi")}, "9 options"),
        ({"options": ["x", "", "No"]}, "empty option B"),
        ({"options": ["A. x", "B.", "C. No"]}, "empty option B"),
        ({"options": ["x", None, "No"]}, "empty option B"),
        ({"options": ["x", True, "No"]}, "not texts: True"),
        ({"options": ["x", " X", "No"]}, "given twice: “x”"),
        ({"options": ["B. x", "A. y", "C. No"]}, "options lettered B, A, C"),
        ({"options": ["A. x", "B. y", "D. No"]}, "options lettered A, B, D"),
        ({"options": {"A": "x", "C": "No"}}, "options under the keys"),
        ({"correct_answer": ""}, "no correct answer"),
        ({"correct_answer": None}, "no correct answer"),
        ({"correct_answer": "D"}, "“D” is not among the options"),
        ({"correct_answer": "Maybe"}, "not among the options"),
        ({"correct_answer": "A. No"}, "not among the options"),
        ({"correct_answer": ["C"]}, "correct answer not text"),
        ({"options": ["C", "B", "A"], "correct_answer": "A"}, "fits the options A and C"),
        ({"answer": "B"}, "correct answers that differ"),
        ({"task_name": {"a": 1}}, "task is not text"),
        ({"PatientID": 1.5}, "patient id is not text"),
        ({"study_id": True}, "study_id is not text"),
        ({"ImagePath": []}, "no image"),
        ({"ImagePath": None}, "no image"),
        ({"ImagePath": [None, "deid_png/P1/A1/pa.png"]}, "image path None is not text"),
        ({"ImagePath": {"a": 1}}, "is not text"),
        ({"ImagePath": "../deid_png/none.png"}, "not found"),
        ({"ImagePath": "../deid_png/P1"}, "is not a file"),
        ({"ImagePath": "../metadata/bank.json"}, "not an image"),
        ({"ImagePath": "../../set/deid_png/P1/A1/pa.png"}, "leads out of the images folder"),
        ({"ImagePath": "deid_png/../../x.png"}, "leads out"),
        ({"ImagePath": "..\\..\\x.png"}, "leads out"),
        ({"ImagePath": "/etc/hostname"}, "not found"),
        ({"ImagePath": "C:\\films\\x.png"}, "leads out"),
        ({"ImagePath": ".."}, "leads out"),
        ({"ImagePath": "https://example.org/x.png"}, "is not a file's path"),
        ({"ImagePath": "file:///etc/hostname"}, "is not a file's path"),
        ({"ImagePath": "a\0.png"}, "is not text"),
        ({"ImagePath": "x" * 5000}, "cannot be read"),
    ],
)
def test_an_error_names_its_item_and_a_remedy(
    bank: Read, item: ItemDict, change: ItemDict, message: str
) -> None:
    file = bank({"bad": item | change, "good": item})
    assert [sound.item_id for sound in file.items] == ["good"]
    assert file.n_found == 2
    assert {fault.key for fault in file.faults} == {"bad"}
    assert any(message in fault.what for fault in file.faults), file.faults
    assert all(fault.remedy for fault in file.faults)
    assert Rule.RECORD not in {fault.rule for fault in file.faults}


def test_all_errors_of_all_items_are_listed(bank: Read) -> None:
    file = bank({"q1": {"correct_answer": "A"}, "q2": 5, "q3": {"ImagePath": "/x", "options": 1}})
    reported = [(fault.key, fault.what, fault.rule) for fault in file.faults]
    assert reported == [
        ("q1", "no question", Rule.NO_QUESTION),
        ("q1", "no options", Rule.OPTIONS),
        ("q1", "no image", Rule.NO_IMAGE),
        ("q2", "not an item but 5", Rule.RECORD),
        ("q3", "no question", Rule.NO_QUESTION),
        ("q3", "options not understood: 1", Rule.OPTIONS),
        ("q3", "no correct answer", Rule.NO_TRUTH),
        ("q3", "image “x” not found", Rule.IMAGE_MISSING),
    ]


@pytest.mark.parametrize("text", ['{"q1": {"question": %s}}', "[%s]", '{"question": %s}\n{}'])
def test_a_number_with_too_many_digits_for_python_is_refused(bank: Read, text: str) -> None:
    with pytest.raises(BadFile, match=r"number too long|holds no item"):
        bank(text % ("9" * 10_000))


def test_an_error_is_printed_on_one_line() -> None:
    fault = Fault(key="q1", what="no image", remedy="name one")
    assert str(fault) == "q1: no image; name one"


def test_a_symbolic_link_out_of_the_folder_is_refused(
    bank: Read, item: ItemDict, root: Path
) -> None:
    (root.parent / "secret.png").write_bytes((root / "deid_png/P1/A1/pa.png").read_bytes())
    (root / "link.png").symlink_to(root.parent / "secret.png")
    (root / "out").symlink_to(root.parent)
    (root / "inside.png").symlink_to(root / "deid_png/P1/A1/pa.png")
    (root / "loop.png").symlink_to(root / "loop.png")
    file = bank(
        {
            "file": item | {"ImagePath": "link.png"},
            "folder": item | {"ImagePath": "out/secret.png"},
            "loop": item | {"ImagePath": "loop.png"},
            "inside": item | {"ImagePath": "inside.png"},
        }
    )
    assert [sound.item_id for sound in file.items] == ["inside"]
    assert ["leads out" in fault.what for fault in file.faults] == [True, True, False]


def test_an_absolute_path_inside_the_folder_is_accepted(
    bank: Read, item: ItemDict, root: Path
) -> None:
    (root.parent / "alias").symlink_to(root)
    alias = root.parent / "alias"
    item["ImagePath"] = [
        str(root / "deid_png/P1/A1/pa.png"),
        str(alias / "deid_png/P1/A1/lat.png"),
    ]
    file = bank({"q1": item}, images=alias)
    assert [view.path for view in file.items[0].views] == [
        "deid_png/P1/A1/pa.png",
        "deid_png/P1/A1/lat.png",
    ]


def test_a_path_with_a_leading_slash_is_relative_to_the_folder(bank: Read, item: ItemDict) -> None:
    """Files of the ReXVQA leaderboard have such paths."""
    item["ImagePath"] = ["/deid_png/P1/A1/pa.png", "/deid_png/P1/A1/lat.png"]
    file = bank({"q1": item})
    assert [view.path for view in file.items[0].views] == [
        "deid_png/P1/A1/pa.png",
        "deid_png/P1/A1/lat.png",
    ]


def test_a_named_pipe_is_refused_without_waiting(bank: Read, item: ItemDict, root: Path) -> None:
    os.mkfifo(root / "pipe.png")
    assert "is not a file" in bank({"q1": item | {"ImagePath": "pipe.png"}}).faults[0].what


def test_a_truncated_film_is_an_error_in_every_item_that_shows_it(
    bank: Read, item: ItemDict, root: Path
) -> None:
    film = root / "deid_png/P1/A1/lat.png"
    film.write_bytes(film.read_bytes()[:-30])
    file = bank({"q1": item, "q2": item})
    assert [fault.key for fault in file.faults] == ["q1", "q2"]
    assert "deid_png/P1/A1/lat.png" in file.faults[0].what
    assert file.films == {}


def test_items_with_the_same_id_are_all_refused(bank: Read, item: ItemDict) -> None:
    text = json.dumps(item)
    file = bank(f'{{"q1": {text}, "q2": {text}, "q1": {text}}}')
    assert [sound.item_id for sound in file.items] == ["q2"]
    assert [str(fault) for fault in file.faults] == [
        "q1: item id given 2 times; give each item its own id"
    ]
    assert file.n_found == 3


@pytest.mark.parametrize(
    "twice",
    ['"question": "Is it?", "question": "Is it not?"', '"question": "a", "Question": "b"'],
)
def test_a_duplicate_key_of_an_item_is_an_error(bank: Read, item: ItemDict, twice: str) -> None:
    del item["question"]
    file = bank(f'{{"q1": {json.dumps(item)[:-1]}, {twice}}}}}')
    assert "keys given twice: “question”" in file.faults[0].what


def test_a_duplicate_letter_of_an_option_is_an_error(bank: Read, item: ItemDict) -> None:
    text = json.dumps({"q1": item | {"options": 0}})
    file = bank(text.replace('"options": 0', '"options": {"A": "x", "B": "y", "A": "z"}'))
    assert "options under the keys" in file.faults[0].what


def test_the_error_about_an_item_without_id_has_its_position(bank: Read, item: ItemDict) -> None:
    file = bank([item | {"id": "q1"}, item, item | {"id": ""}])
    assert [(fault.key, fault.what) for fault in file.faults] == [
        ("entry 2", "no item id"),
        ("entry 3", "no item id"),
    ]


def test_an_id_that_does_not_fit_on_a_line_is_an_error(bank: Read, item: ItemDict) -> None:
    """Lists of items have one ID per line, so long IDs and line breaks are refused."""
    file = bank({"q" * 501: item, "q1\nq2": item, "q3\u2028": item, "q\u00a0" + "4" * 498: item})
    assert [(fault.key, fault.what) for fault in file.faults] == [
        ("entry 1", f"item id “{'q' * 59}…” has 501 characters, more than 500"),
        ("entry 2", "item id “q1\\nq2” contains a line break or another invisible character"),
    ]
    assert [sound.item_id[:2] for sound in file.items] == ["q3", "q\u00a0"]


def test_an_empty_key_is_not_an_id(bank: Read, item: ItemDict) -> None:
    assert bank({"": item, " ": item}).items == ()


def test_a_reference_answer_missing_from_a_single_item_is_an_error(
    bank: Read, item: ItemDict
) -> None:
    other = dict(item)
    del other["correct_answer"]
    file = bank({"q1": item, "q2": other})
    assert [str(fault) for fault in file.faults] == [
        "q2: no correct answer; give the letter of the correct option"
    ]


def test_an_examination_of_two_patients_is_an_error_in_all_its_items(
    bank: Read, item: ItemDict
) -> None:
    other = item | {"PatientID": "P2"}
    file = bank({"q1": item, "q2": other, "q3": other | {"ImagePath": "none.png"}})
    assert file.items == ()
    assert [f.key for f in file.faults if "is given to patients P1, P2" in f.what] == [
        "q1",
        "q2",
        "q3",
    ]


def test_an_invalid_line_of_json_is_an_error_and_the_others_are_read(
    bank: Read, item: ItemDict
) -> None:
    text = json.dumps(item | {"id": "q1"}) + "\n{broken\n" + json.dumps(item | {"id": "q2"})
    file = bank(text, "bank.jsonl")
    assert len(file.items) == 2
    assert file.faults[0].key == "line 2"
    assert file.n_found == 3


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
likely_values = st.sampled_from(
    [
        "A",
        ["A. x", "B. y"],
        "['deid_png/P1/A1/pa.png']",
        "<context>Age:",
        "../deid_png/P1/A1/pa.png",
        "060Y",
        {"A": "x", "B": "y"},
        "[" * 3000,
        "\ud800",
    ]
)
item_keys = st.sampled_from(
    [
        *("question", "Question", "options", "option_a", "correct_answer", "answer", "ImagePath"),
        *("views", "PatientAge", "sex", "context", "id", "study_id", "PatientID", "Findings"),
        *("task_name", "strange", "PixelSpacing"),
    ]
)
unusual_items = st.dictionaries(item_keys, likely_values | json_values, max_size=9)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=json_values
    | st.dictionaries(st.text(max_size=3), unusual_items | json_values, min_size=1, max_size=4)
    | st.lists(unusual_items, max_size=4)
)
def test_any_json_gives_a_bank_or_an_error(root: Path, content: object) -> None:
    path = root / "any.json"
    path.write_text(json.dumps(content))
    try:
        file = read_bank_file(path, images=root)
    except BadFile:
        return
    bad = {fault.key for fault in file.faults}
    assert not bad & {item.item_id for item in file.items}
    assert file.n_found >= len(file.items)
    for item in file.items:
        assert len(set(item.options)) == len(item.options) >= 2
        assert item.truth is None or item.truth in "ABCDEFGH"[: len(item.options)]
        assert {view.path for view in item.views} <= set(file.films)
    for fault in file.faults:
        str(fault).encode("utf-8")
    "\n".join(file.notes).encode("utf-8")


@pytest.mark.parametrize(("text", "other", "difference"), LOOK_ALIKES)
def test_the_error_about_options_that_look_alike_names_the_difference(
    bank: Read, item: ItemDict, text: str, other: str, difference: str
) -> None:
    file = bank({"q1": {**item, "options": [text, other, "No"], "correct_answer": "C"}})
    (fault,) = file.faults
    assert fault.rule is Rule.SAME_OPTION
    assert difference in fault.what


@pytest.mark.parametrize(("text", "other"), DIFFERENT_MEANINGS)
def test_options_with_different_meanings_are_kept_as_written(
    bank: Read, item: ItemDict, text: str, other: str
) -> None:
    options = [text, other, "No finding"]
    file = bank({"q1": {**item, "options": options, "correct_answer": text}})
    assert not file.faults
    (read,) = file.items
    assert (list(read.options), read.truth) == (options, "A")


@pytest.mark.parametrize(("text", "other", "difference"), LOOK_ALIKES)
def test_the_correct_answer_may_look_like_its_option(
    bank: Read, item: ItemDict, text: str, other: str, difference: str
) -> None:
    file = bank({"q1": {**item, "options": ["Nothing", text], "correct_answer": other}})
    (read,) = file.items
    assert read.truth == "B"
    assert read.options[1] == text


@pytest.mark.parametrize("letter", ["\uff22", "B\u200b", "(\uff22)", "\u0412"])
def test_a_character_that_looks_like_a_letter_is_read_as_the_letter(
    bank: Read, item: ItemDict, letter: str
) -> None:
    file = bank({"q1": {**item, "options": ["x1", "x2"], "correct_answer": letter}})
    (read,) = file.items
    assert read.truth == "B"


@pytest.mark.parametrize("invisible", ["\u200b", "\u00ad\ufe0f", "\u3164", "\u2800"])
def test_invisible_text_counts_as_empty(bank: Read, item: ItemDict, invisible: str) -> None:
    file = bank({"q1": {**item, "question": invisible, "options": [invisible, "No"]}})
    assert {fault.rule for fault in file.faults} == {Rule.NO_QUESTION, Rule.EMPTY_OPTION}
