"""The CSV format: the header, alternative names of columns, and invalid tables."""

from collections.abc import Callable
from pathlib import Path

import pytest

from study.base.bank_model import REPORT_SECTIONS, View
from study.base.errors import BadFile
from tests.unit.study.bank.conftest import BankFile, read_bank_file

Read = Callable[..., BankFile]

HEADER = (
    "item_id,question,option_a,option_b,option_c,truth,task,category,subcategory,examination_id,"
    "patient_id,age,sex,images,views,indication,comparison,findings,impression,explanation"
)
ROW = (
    'q1,"Effusion,\nor none?",Left,Right,None,C,Presence,Pleura,Effusion,E1,P1,60,female,'
    "deid_png/P1/A1/pa.png|deid_png/P1/A1/lat.png,PA|LATERAL,Cough,None,Clear,Normal,Sharp"
)


def test_every_column_is_read(bank: Read) -> None:
    file = bank(f"\ufeff{HEADER}\r\n{ROW}\r\n\r\n", "bank.csv")
    assert (file.format, file.faults, file.notes, file.n_found) == ("csv", (), (), 1)
    item = file.items[0]
    assert item.question == "Effusion,\nor none?"
    assert (item.options, item.truth) == (("Left", "Right", "None"), "C")
    assert (item.examination_id, item.patient_id) == ("E1", "P1")
    assert (item.age, item.sex) == ("60 years", "female")
    assert item.views == (
        View(path="deid_png/P1/A1/pa.png", label="PA"),
        View(path="deid_png/P1/A1/lat.png", label="LATERAL"),
    )
    assert [item.report[name] for name in REPORT_SECTIONS] == ["Cough", "None", "Clear", "Normal"]
    assert item.explanation == "Sharp"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_separator_is_detected_in_the_header(bank: Read, separator: str) -> None:
    cells = ["item_id", "question", "options", "answer", "images"]
    row = ["q1", "Effusion?", '"[""Yes"", ""No""]"', "No", "deid_png/P1/A1/pa.png"]
    file = bank(f"{separator.join(cells)}\n{separator.join(row)}\n", "bank.csv")
    assert file.faults == ()
    assert (file.items[0].options, file.items[0].truth) == (("Yes", "No"), "B")


def test_keys_of_the_data_set_are_accepted_as_columns(bank: Read) -> None:
    file = bank(
        "question_id,question,options,correct_answer,ImagePath,ImageViewPosition,PatientAge\n"
        "q1,Effusion?,\"['A. Yes', 'B. No']\",B,\"['../deid_png/P1/A1/pa.png']\",['PA'],045Y\n",
        "bank.csv",
    )
    assert file.faults == ()
    assert (file.items[0].options, file.items[0].age) == (("Yes", "No"), "45 years")


@pytest.mark.parametrize(
    ("images", "n_views"),
    [
        ("deid_png/P1/A1/pa.png", 1),
        ("deid_png/P1/A1/pa.png|deid_png/P1/A1/lat.png", 2),
        ("deid_png/P1/A1/pa.png; deid_png/P1/A1/lat.png", 2),
        ('"[""deid_png/P1/A1/pa.png"", ""deid_png/P1/A1/lat.png""]"', 2),
    ],
)
def test_images_may_be_a_list_or_separated_paths(bank: Read, images: str, n_views: int) -> None:
    file = bank(f"item_id,question,option_a,option_b,images\nq1,Q,x,y,{images}\n", "bank.csv")
    assert file.faults == ()
    assert len(file.items[0].views) == n_views


def test_a_table_without_a_truth_column_has_no_reference_standard(bank: Read) -> None:
    file = bank(
        "item_id,question,option_a,option_b,images\nq1,Q,x,y,deid_png/P1/A1/pa.png\n", "bank.csv"
    )
    assert file.items[0].truth is None


def test_an_empty_cell_in_the_truth_column_is_an_error(bank: Read) -> None:
    file = bank(f"{HEADER}\n{ROW}\n{ROW.replace('q1', 'q2').replace(',C,', ',,')}\n", "bank.csv")
    assert [(fault.key, fault.what) for fault in file.faults] == [("q2", "no correct answer")]
    assert len(file.items) == 1


def test_an_empty_option_before_another_is_an_error(bank: Read) -> None:
    file = bank(
        "item_id,question,option_a,option_b,option_c,option_d,images\n"
        "q1,Q,x,y,,,deid_png/P1/A1/pa.png\nq2,Q,x,,y,,deid_png/P1/A1/pa.png\n",
        "bank.csv",
    )
    assert [item.item_id for item in file.items] == ["q1"]
    assert [fault.what for fault in file.faults] == ["empty option B"]


def test_the_error_about_a_row_of_the_wrong_length_names_its_line(bank: Read) -> None:
    file = bank(f"{HEADER}\n{ROW}\nq2,too short\n", "bank.csv")
    assert [fault.key for fault in file.faults] == ["line 4"]
    assert file.n_found == 2


def test_unknown_columns_are_reported_in_a_note(bank: Read) -> None:
    file = bank(
        "item_id,question,option_a,option_b,images,mood\nq1,Q,x,y,deid_png/P1/A1/pa.png,good\n",
        "bank.csv",
    )
    assert file.notes == ("unknown key “mood” kept as an attribute (1 item, first q1)",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no entries"),
        (HEADER, "no entries"),
        ("item_id,question\nq1,Q\n", r"no column options .*, images; its header is item_id, que"),
        ("item_id,Item ID,question\n1,2,3\n", "columns given twice: Item ID, item_id"),
        (f'{HEADER}\nq1,"never closed\n{ROW}', "row that begins at line 2"),
    ],
)
def test_an_invalid_table_is_refused(bank: Read, text: str, message: str) -> None:
    with pytest.raises(BadFile, match=message):
        bank(text, "bank.csv")


def test_the_format_is_detected_by_content_if_the_file_extension_is_unknown(bank: Read) -> None:
    assert bank(f"{HEADER}\n{ROW}\n", "bank.txt").format == "csv"


def test_the_format_can_be_specified(root: Path) -> None:
    path = root / "bank.json"
    path.write_text(f"{HEADER}\n{ROW}\n")
    assert len(read_bank_file(path, images=root, format="csv").items) == 1
