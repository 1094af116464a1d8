"""The ReXVQA format: how keys and values in its different notations are interpreted."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from study.bank.terms import VIEW_LABELS, view_label
from study.base.bank_model import Item, View
from study.base.errors import BadFile
from tests.unit.study.bank.conftest import BankFile, read_bank_file

Read = Callable[..., BankFile]
ItemDict = dict[str, Any]

LEADERBOARD_ITEM = {
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


def only_item(file: BankFile) -> Item:
    """Return the only item of a bank without errors."""
    assert file.faults == ()
    assert len(file.items) == 1
    return file.items[0]


def test_values_that_are_not_text_are_not_stored_as_attributes(bank: Read, item: ItemDict) -> None:
    """Python reads Infinity and lone surrogates in JSON; the rest of the item is valid."""
    odd = {"dose": float("inf"), "doses": [1.0, float("-inf")], "tags": ["\ud800"], "ok": [1.5]}
    file = bank({"q1": item | odd})
    assert (
        only_item(file).attributes.keys() - {"ok"}
        == only_item(bank({"q1": item})).attributes.keys()
    )
    left_out = [note for note in file.notes if "left out" in note]
    assert left_out == [
        f"“{name}” is too long or not text, left out (1 item, first q1)"
        for name in ("dose", "doses", "tags")
    ]


def test_an_item_with_the_keys_of_the_data_set_is_read(bank: Read, item: ItemDict) -> None:
    file = bank({"q1": item})
    assert only_item(file) == Item(
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
            View(path="deid_png/P1/A1/pa.png", label="PA", original="POSTERO_ANTERIOR"),
            View(path="deid_png/P1/A1/lat.png", label="LATERAL", original="LL"),
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
    assert (file.format, file.n_found, file.notes) == ("rexvqa", 1, ())
    film = file.films["deid_png/P1/A1/pa.png"]
    assert (film.width, film.height, film.bits, film.low) == (30, 20, 16, 0)


def test_an_item_with_the_keys_of_the_leaderboard_is_read(bank: Read) -> None:
    file = bank({"q1": LEADERBOARD_ITEM})
    item = only_item(file)
    assert (item.patient_id, item.examination_id) == ("17", "5")
    assert (item.age, item.sex) == ("50 to 60 years", "male")
    assert item.report == {
        "indication": "Cough. Fever.",
        "findings": "Clear lungs.",
        "impression": "Normal.",
    }
    assert item.views == (View(path="deid_png/P1/A1/pa.png", label="FRONTAL", original="Frontal"),)
    assert (item.options, item.truth, file.notes) == (("Yes", "No"), "B", ())


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
def test_an_image_path_is_read_in_every_notation(
    bank: Read, item: ItemDict, written: object
) -> None:
    item |= {"ImagePath": written, "ImageViewPosition": "['AP PORTABLE']"}
    views = only_item(bank({"q1": item})).views
    assert views == (View(path="deid_png/P1/A1/pa.png", label="AP", original="AP PORTABLE"),)


def test_the_images_folder_may_be_part_of_the_paths(bank: Read, item: ItemDict, root: Path) -> None:
    views = only_item(bank({"q1": item}, images=root / "deid_png")).views
    assert [view.path for view in views] == ["P1/A1/pa.png", "P1/A1/lat.png"]


def test_a_list_in_numpy_notation_is_read(bank: Read, item: ItemDict) -> None:
    item["ImagePath"] = "['../deid_png/P1/A1/pa.png'\n '../deid_png/P1/A1/lat.png']"
    assert len(only_item(bank({"q1": item})).views) == 2


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
def test_letters_are_removed_if_all_options_have_them(
    bank: Read, item: ItemDict, options: object, texts: tuple[str, ...]
) -> None:
    item |= {"options": options, "correct_answer": "B"}
    assert only_item(bank({"q1": item})).options == texts


@pytest.mark.parametrize(
    "truth",
    ["C", "c", "C.", "(C)", "C)", " C ", "C. No", "C: no.", "No", "no", "No.", "(C) No"],
)
def test_a_correct_answer_is_read_in_every_notation(bank: Read, item: ItemDict, truth: str) -> None:
    item["correct_answer"] = truth
    assert only_item(bank({"q1": item})).truth == "C"


def test_case_and_underscores_of_keys_do_not_matter(bank: Read, item: ItemDict) -> None:
    shouted = {key.upper().replace("_", " "): value for key, value in item.items()}
    assert only_item(bank({"q1": shouted})) == only_item(bank({"q1": item}))


@pytest.mark.parametrize("name", ["question_id", "id", "item_id"])
def test_items_in_lists_and_json_lines_contain_their_ids(
    bank: Read, item: ItemDict, name: str
) -> None:
    item[name] = "q1"
    wanted = only_item(bank([item]))
    assert wanted.item_id == "q1"
    assert only_item(bank(json.dumps(item), "bank.jsonl")) == wanted
    assert only_item(bank(json.dumps(item), "bank.json")) == wanted
    two = bank(json.dumps(item) + "\n" + json.dumps(item | {name: "q2"}) + "\n", "bank.json")
    assert [each.item_id for each in two.items] == ["q1", "q2"]


def test_a_byte_order_mark_is_accepted(bank: Read, item: ItemDict) -> None:
    assert only_item(bank("\ufeff" + json.dumps({"q1": item})))


def test_a_bank_without_correct_answers_has_no_reference_standard(
    bank: Read, item: ItemDict
) -> None:
    del item["correct_answer"]
    assert only_item(bank({"q1": item})).truth is None


def test_an_examination_without_id_has_the_path_of_its_first_film(
    bank: Read, item: ItemDict
) -> None:
    for key in ("study_id", "StudyInstanceUid", "AccessionNumber"):
        del item[key]
    assert only_item(bank({"q1": item})).examination_id == "deid_png/P1/A1/pa.png"


def test_an_examination_id_shared_by_patients_is_replaced_by_the_next_key(
    bank: Read, item: ItemDict
) -> None:
    other = item | {"PatientID": "P2", "StudyInstanceUid": "1.2.4", "AccessionNumber": "A2"}
    file = bank({"q1": item, "q2": other})
    assert [each.examination_id for each in file.items] == ["1.2.3", "1.2.4"]
    assert "study_id is shared between patients" in file.notes[0]


def test_a_missing_patient_is_taken_from_the_same_examination(bank: Read, item: ItemDict) -> None:
    file = bank({"q1": item, "q2": item | {"PatientID": None}})
    assert [each.patient_id for each in file.items] == ["P1", "P1"]
    assert "patient taken from another item" in file.notes[0]


def test_unknown_keys_and_values_are_reported_with_counts(bank: Read, item: ItemDict) -> None:
    item |= {"Mood": 1, "PatientAge": "old", "PatientSex": "7", "Findings": {"a": 1}}
    item["ImageViewPosition"] = ["Swimmers", "PA"]
    file = bank({"q1": item, "q2": item})
    assert len(file.items) == 2
    assert (file.items[0].age, file.items[0].sex) == ("old", "")
    notes = "\n".join(file.notes)
    for part in (
        "unknown key “Mood” kept as an attribute (2 items, first q1)",
        "“old”",
        "“7”",
        "view name “Swimmers”",
    ):
        assert part in notes
    assert "findings is not text" in notes


# The names of views in the data set, and the labels shown to readers.
RELEASED_VIEW_LABELS = {
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


@pytest.mark.parametrize(("name", "label"), RELEASED_VIEW_LABELS.items())
def test_only_names_of_projections_become_labels(
    bank: Read, item: ItemDict, name: str, label: str
) -> None:
    """Other names are stored, but not shown."""
    item |= {"ImagePath": ["deid_png/P1/A1/pa.png"], "ImageViewPosition": [name]}
    (view,) = only_item(bank({"q1": item})).views
    assert view.label == label
    assert (view.original or view.label) == name


def test_labelling_a_label_again_does_not_change_it() -> None:
    """A stored label is converted again before it is shown to a reader."""
    assert [view_label(label) for label in sorted(VIEW_LABELS)] == [
        (label, True) for label in sorted(VIEW_LABELS)
    ]


def test_labels_that_do_not_match_the_images_are_dropped_with_a_note(
    bank: Read, item: ItemDict
) -> None:
    item["ImageViewPosition"] = ["PA"]
    file = bank({"q1": item})
    assert [view.label for view in only_item(file).views] == ["", ""]
    assert "view labels dropped" in file.notes[0]


def test_an_image_listed_twice_is_shown_once(bank: Read, item: ItemDict) -> None:
    item["ImagePath"] = ["../deid_png/P1/A1/pa.png", "deid_png/P1/A1/pa.png"]
    file = bank({"q1": item})
    assert only_item(file).views == (
        View(path="deid_png/P1/A1/pa.png", label="PA", original="POSTERO_ANTERIOR"),
    )
    assert "shown once" in file.notes[0]


def test_each_film_is_read_once_and_progress_is_reported(root: Path, item: ItemDict) -> None:
    path = root / "bank.json"
    path.write_text(json.dumps({f"q{n}": item for n in range(5)}))
    calls: list[tuple[str, int, int]] = []
    file = read_bank_file(path, images=root, progress=lambda *step: calls.append(step))
    size = path.stat().st_size
    assert calls[-3:] == [("items", size, size), ("films", 0, 2), ("films", 2, 2)]
    assert len(file.items) == 5
    assert len(file.films) == 2


@pytest.mark.parametrize(
    ("text", "message"),
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
def test_a_file_that_is_not_a_bank_is_refused(bank: Read, text: str, message: str) -> None:
    with pytest.raises(BadFile, match=message):
        bank(text)


def test_a_file_that_is_missing_or_not_utf8_is_refused(root: Path) -> None:
    with pytest.raises(BadFile, match="does not exist"):
        read_bank_file(root / "none.json", images=root)
    with pytest.raises(BadFile, match="is a folder"):
        read_bank_file(root, images=root)
    (root / "bank.json").write_bytes(b'{"q": "\n\xff"}')
    with pytest.raises(BadFile, match=r"not UTF-8: byte 8, line 2"):
        read_bank_file(root / "bank.json", images=root)


def test_a_missing_images_folder_is_refused(root: Path, bank: Read, item: ItemDict) -> None:
    with pytest.raises(BadFile, match="images folder"):
        bank({"q1": item}, images=root / "none")
    with pytest.raises(BadFile, match="not a folder"):
        bank({"q1": item}, images=root / "deid_png" / "P1" / "A1" / "pa.png")
