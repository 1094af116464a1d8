"""The ReXVQA layout in its spellings: what is understood, and what an item becomes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from study.bank.terms import VIEW_LABELS, view_label
from study.base.bank_model import Item, View
from study.base.errors import BadFile
from tests.unit.study.bank.conftest import BankFile, read_whole

Read = Callable[..., BankFile]
ItemDict = dict[str, Any]

LEADERBOARD = {
    "image_path": ["../deid_png/P1/A1/pa.png"],
    "section_findings": "Clear lungs.",
    "section_impression": "Normal.",
    "frontal_lateral": "Frontal",
    "split": "test",
    "subject_id": 17,
    "study_id": 5,
    "context": "<context>Age:50-60.Gender:M.Indication: Cough. Fever.</context>",
    "question": "Is there a pleural effusion?",
    "options": ["A. Yes", "B. No"],
    "correct_answer": "B",
    "category": "Pleura",
    "subcategory": "Effusion",
    "model_prediction": "A",
}


def only(found: BankFile) -> Item:
    """Return the one sound item of a bank without faults."""
    assert found.faults == ()
    assert len(found.items) == 1
    return found.items[0]


def test_what_no_text_can_be_made_of_is_no_attribute(bank: Read, item: ItemDict) -> None:
    """Python reads Infinity and half a sign out of JSON; the rest of the item is sound."""
    odd = {"dose": float("inf"), "doses": [1.0, float("-inf")], "tags": ["\ud800"], "ok": [1.5]}
    found = bank({"q1": item | odd})
    assert only(found).attributes.keys() - {"ok"} == only(bank({"q1": item})).attributes.keys()
    left_out = [one for one in found.notes if "left out" in one]
    assert left_out == [
        f"“{name}” is too long or not text, left out (1 item, first q1)"
        for name in ("dose", "doses", "tags")
    ]


def test_item_as_the_data_set_spells_it(bank: Read, item: ItemDict) -> None:
    found = bank({"q1": item})
    assert only(found) == Item(
        item_id="q1",
        question="Is there a pleural effusion?",
        options=("Yes, on the left", "Yes, on the right", "No"),
        truth="C",
        task="Presence Assessment",
        category="Pleura",
        subcategory="Effusion",
        examination_id="S1",
        patient_id="P1",
        age="60 years",
        sex="female",
        views=(
            View(path="deid_png/P1/A1/pa.png", label="PA", said="POSTERO_ANTERIOR"),
            View(path="deid_png/P1/A1/lat.png", label="LATERAL", said="LL"),
        ),
        report={
            "indication": "Cough.",
            "comparison": "None.",
            "findings": "Clear lungs.",
            "impression": "Normal.",
        },
        explanation="Both angles are sharp.",
        attributes={
            "class": "x",
            "validation_code": "7",
            "StudyDate": "20200101",
            "Manufacturer": "M",
            "ImageModality": '["DX","DX"]',
        },
    )
    assert (found.format, found.n_found, found.notes) == ("rexvqa", 1, ())
    film = found.films["deid_png/P1/A1/pa.png"]
    assert (film.width, film.height, film.bits, film.low) == (30, 20, 16, 0)


def test_item_as_the_leaderboard_spells_it(bank: Read) -> None:
    found = bank({"q1": LEADERBOARD})
    item = only(found)
    assert (item.patient_id, item.examination_id) == ("17", "5")
    assert (item.age, item.sex) == ("50 to 60 years", "male")
    assert item.report == {
        "indication": "Cough. Fever.",
        "findings": "Clear lungs.",
        "impression": "Normal.",
    }
    assert item.views == (View(path="deid_png/P1/A1/pa.png", label="FRONTAL", said="Frontal"),)
    assert (item.options, item.truth, found.notes) == (("Yes", "No"), "B", ())


@pytest.mark.parametrize(
    "written",
    [
        ["../deid_png/P1/A1/pa.png"],
        "../deid_png/P1/A1/pa.png",
        "['../deid_png/P1/A1/pa.png']",
        '["../deid_png/P1/A1/pa.png"]',
        "deid_png/P1/A1/pa.png",
        "./deid_png/P2/../P1//A1/pa.png",
        "..\\deid_png\\P1\\A1\\pa.png",
    ],
)
def test_image_path_in_every_usual_form(bank: Read, item: ItemDict, written: object) -> None:
    item |= {"ImagePath": written, "ImageViewPosition": "['AP PORTABLE']"}
    views = only(bank({"q1": item})).views
    assert views == (View(path="deid_png/P1/A1/pa.png", label="AP", said="AP PORTABLE"),)


def test_images_folder_may_be_the_one_the_paths_name(
    bank: Read, item: ItemDict, root: Path
) -> None:
    views = only(bank({"q1": item}, images=root / "deid_png")).views
    assert [view.path for view in views] == ["P1/A1/pa.png", "P1/A1/lat.png"]


def test_numpy_style_list_is_a_list(bank: Read, item: ItemDict) -> None:
    item["ImagePath"] = "['../deid_png/P1/A1/pa.png'\n '../deid_png/P1/A1/lat.png']"
    assert len(only(bank({"q1": item})).views) == 2


@pytest.mark.parametrize(
    ("options", "texts"),
    [
        (["A. x", "B. y"], ("x", "y")),
        (["A) x", "B) y"], ("x", "y")),
        (["(A) x", "(B) y"], ("x", "y")),
        (["A: x", "B: y"], ("x", "y")),
        (["a.x", "b.y"], ("x", "y")),
        (["x", "y"], ("x", "y")),
        ({"A": "x", "B": "y"}, ("x", "y")),
        ({"b": "y", "a": "x"}, ("x", "y")),
        ('{"A": "x", "B": "y"}', ("x", "y")),
        ("['A. x', \"B. y's\"]", ("x", "y's")),
        (["A large effusion", "B lines"], ("A large effusion", "B lines")),
        (["A. fumigatus", "Tuberculosis"], ("A. fumigatus", "Tuberculosis")),
        ([1, 2], ("1", "2")),
    ],
)
def test_letters_come_off_only_when_all_options_carry_theirs(
    bank: Read, item: ItemDict, options: object, texts: tuple[str, ...]
) -> None:
    item |= {"options": options, "correct_answer": "B"}
    assert only(bank({"q1": item})).options == texts


@pytest.mark.parametrize(
    "truth",
    ["C", "c", "C.", "(C)", "C)", " C ", "C. No", "C: no.", "No", "no", "No.", "(C) No"],
)
def test_correct_answer_in_every_usual_form(bank: Read, item: ItemDict, truth: str) -> None:
    item["correct_answer"] = truth
    assert only(bank({"q1": item})).truth == "C"


def test_keys_are_compared_without_case_and_underscores(bank: Read, item: ItemDict) -> None:
    shouted = {key.upper().replace("_", " "): value for key, value in item.items()}
    assert only(bank({"q1": shouted})) == only(bank({"q1": item}))


@pytest.mark.parametrize("name", ["question_id", "id", "item_id"])
def test_list_and_json_lines_carry_their_ids_inside(bank: Read, item: ItemDict, name: str) -> None:
    item[name] = "q1"
    wanted = only(bank([item]))
    assert wanted.item_id == "q1"
    assert only(bank(json.dumps(item), "bank.jsonl")) == wanted
    assert only(bank(json.dumps(item), "bank.json")) == wanted
    two = bank(json.dumps(item) + "\n" + json.dumps(item | {name: "q2"}) + "\n", "bank.json")
    assert [each.item_id for each in two.items] == ["q1", "q2"]


def test_byte_order_mark_is_no_fault(bank: Read, item: ItemDict) -> None:
    assert only(bank("\ufeff" + json.dumps({"q1": item})))


def test_bank_without_any_correct_answer_has_no_reference_standard(
    bank: Read, item: ItemDict
) -> None:
    del item["correct_answer"]
    assert only(bank({"q1": item})).truth is None


def test_examination_falls_back_on_its_first_film(bank: Read, item: ItemDict) -> None:
    for key in ("study_id", "StudyInstanceUid", "AccessionNumber"):
        del item[key]
    assert only(bank({"q1": item})).examination_id == "deid_png/P1/A1/pa.png"


def test_examination_key_that_patients_share_gives_way_to_the_next(
    bank: Read, item: ItemDict
) -> None:
    other = item | {"PatientID": "P2", "StudyInstanceUid": "1.2.4", "AccessionNumber": "A2"}
    found = bank({"q1": item, "q2": other})
    assert [each.examination_id for each in found.items] == ["1.2.3", "1.2.4"]
    assert "study_id is shared between patients" in found.notes[0]


def test_patient_is_taken_from_the_same_examination(bank: Read, item: ItemDict) -> None:
    found = bank({"q1": item, "q2": item | {"PatientID": None}})
    assert [each.patient_id for each in found.items] == ["P1", "P1"]
    assert "patient taken from another item" in found.notes[0]


def test_what_is_not_understood_is_told_with_counts(bank: Read, item: ItemDict) -> None:
    item |= {"Mood": 1, "PatientAge": "old", "PatientSex": "7", "Findings": {"a": 1}}
    item["ImageViewPosition"] = ["Swimmers", "PA"]
    found = bank({"q1": item, "q2": item})
    assert len(found.items) == 2
    assert (found.items[0].age, found.items[0].sex) == ("old", "")
    said = "\n".join(found.notes)
    for part in (
        "unknown key “Mood” kept as an attribute (2 items, first q1)",
        "“old”",
        "“7”",
        "view name “Swimmers”",
    ):
        assert part in said
    assert "findings is not text" in said


# All the release says of its films, and what a reader may be told of it.
RELEASED = {
    "ANTERO_POSTERIOR": "AP",
    "AP": "AP",
    "AP AXIAL": "AP AXIAL",
    "AP (KUB)": "AP",
    "DECUBITUS": "DECUBITUS",
    "ERECT": "ERECT",
    "KUB": "",
    "LAO": "LAO",
    "LAT": "LATERAL",
    "LATERAL": "LATERAL",
    "LL": "LATERAL",
    "LPO": "LPO",
    "N/A": "",
    "None": "",
    "OBLIQUE": "OBLIQUE",
    "OTHER": "",
    "PA": "PA",
    "PICC LINE": "",
    "POSTERO_ANTERIOR": "PA",
    "RAO": "RAO",
    "RPO": "RPO",
    "SUPINE": "SUPINE",
    "UNKNOWN": "",
}


@pytest.mark.parametrize(("said", "label"), RELEASED.items())
def test_only_names_of_projections_become_labels(
    bank: Read, item: ItemDict, said: str, label: str
) -> None:
    """Whatever else the file says in their place is kept, and is no label."""
    item |= {"ImagePath": ["deid_png/P1/A1/pa.png"], "ImageViewPosition": [said]}
    (view,) = only(bank({"q1": item})).views
    assert view.label == label
    assert (view.said or view.label) == said


def test_every_label_is_its_own_label() -> None:
    """So that a stored one may be looked up once more on its way to a reader."""
    assert [view_label(label) for label in sorted(VIEW_LABELS)] == [
        (label, True) for label in sorted(VIEW_LABELS)
    ]


def test_labels_that_do_not_match_the_images_are_dropped_and_told(
    bank: Read, item: ItemDict
) -> None:
    item["ImageViewPosition"] = ["PA"]
    found = bank({"q1": item})
    assert [view.label for view in only(found).views] == ["", ""]
    assert "view labels dropped" in found.notes[0]


def test_image_listed_twice_is_shown_once(bank: Read, item: ItemDict) -> None:
    item["ImagePath"] = ["../deid_png/P1/A1/pa.png", "deid_png/P1/A1/pa.png"]
    found = bank({"q1": item})
    assert only(found).views == (
        View(path="deid_png/P1/A1/pa.png", label="PA", said="POSTERO_ANTERIOR"),
    )
    assert "shown once" in found.notes[0]


def test_each_film_is_read_once_and_progress_is_told(root: Path, item: ItemDict) -> None:
    path = root / "bank.json"
    path.write_text(json.dumps({f"q{n}": item for n in range(5)}))
    told: list[tuple[str, int, int]] = []
    found = read_whole(path, images=root, progress=lambda *one: told.append(one))
    size = path.stat().st_size
    assert told[-3:] == [("items", size, size), ("films", 0, 2), ("films", 2, 2)]
    assert len(found.items) == 5
    assert len(found.films) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("{}", "no entries"),
        ("[]", "no entries"),
        ("3", "single JSON int"),
        ('{"a": 1, "b": []}', "no items"),
        ("[1]", "no items"),
    ],
)
def test_file_that_is_no_bank_is_refused(bank: Read, text: str, says: str) -> None:
    with pytest.raises(BadFile, match=says):
        bank(text)


def test_file_that_is_not_there_or_not_utf8_is_refused(root: Path) -> None:
    with pytest.raises(BadFile, match="does not exist"):
        read_whole(root / "none.json", images=root)
    with pytest.raises(BadFile, match="is a folder"):
        read_whole(root, images=root)
    (root / "bank.json").write_bytes(b'{"q": "\n\xff"}')
    with pytest.raises(BadFile, match=r"not UTF-8: byte 8, line 2"):
        read_whole(root / "bank.json", images=root)


def test_missing_images_folder_is_refused(root: Path, bank: Read, item: ItemDict) -> None:
    with pytest.raises(BadFile, match="images folder"):
        bank({"q1": item}, images=root / "none")
    with pytest.raises(BadFile, match="not a folder"):
        bank({"q1": item}, images=root / "deid_png" / "P1" / "A1" / "pa.png")
