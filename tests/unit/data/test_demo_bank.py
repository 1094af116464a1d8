"""The committed demo bank: complete, consistent, opaque, and as its checksums say."""

import hashlib
import json
import re
import struct
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

DEMO = Path(__file__).resolve().parents[3] / "data" / "demo"
TASKS = {
    "Presence Assessment",
    "Negation Assessment",
    "Differential Diagnosis",
    "Location and Distribution Assessment",
    "Geometric Information Assessment",
}
Bank = dict[str, dict[str, Any]]
TELLING = re.compile(
    r"normal|nodul|mass|effus|pneumo|consol|cardio|oedema|tube|line|port|left|right|cavit|hernia"
)


@pytest.fixture(scope="module")
def bank() -> Bank:
    """Read the bank."""
    read: Bank = json.loads((DEMO / "bank.json").read_text(encoding="utf-8"))
    return read


@pytest.fixture(scope="module")
def films(bank: Bank) -> list[Path]:
    """Every film the bank refers to, once."""
    return sorted({DEMO / path for item in bank.values() for path in item["ImagePath"]})


def chunk_kinds(path: Path) -> list[bytes]:
    """Kinds of the chunks of a PNG file, in order."""
    data, position, kinds = path.read_bytes(), 8, []
    while position < len(data):
        (length,) = struct.unpack(">I", data[position : position + 4])
        kinds.append(data[position + 4 : position + 8])
        position += 12 + length
    return kinds


def test_every_file_has_the_checksum_listed_for_it() -> None:
    """SHA256SUMS lists all files of the folder and their true hashes."""
    listed = {}
    for line in (DEMO / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, name = line.split("  ", 1)
        listed[name] = digest
    present = {
        path.relative_to(DEMO).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in DEMO.rglob("*")
        if path.is_file() and path.name != "SHA256SUMS"
    }
    assert listed == present


def test_each_of_at_least_24_examinations_has_a_pa_and_a_lateral_film(bank: Bank) -> None:
    """An examination is one study id with the same two views in every item."""
    views = {item["study_id"]: tuple(item["ImageViewPosition"]) for item in bank.values()}
    assert len(views) >= 24
    assert set(views.values()) == {("PA", "LATERAL")}
    for item in bank.values():
        assert len(item["ImagePath"]) == len(item["ImageModality"]) == 2
        assert item["ImageModality"] == ["DX", "DX"]


def test_at_least_40_items_cover_the_five_tasks(bank: Bank) -> None:
    """All five ReXVQA tasks occur, each with several items, geometry with at least five."""
    tasks = Counter(item["task_name"] for item in bank.values())
    assert len(bank) >= 40
    assert set(tasks) == TASKS
    assert min(tasks.values()) >= 5


def test_options_are_four_different_lettered_texts(bank: Bank) -> None:
    """Options read "A. ...", to "D. ..." and no two are the same."""
    for item in bank.values():
        assert [option[:3] for option in item["options"]] == ["A. ", "B. ", "C. ", "D. "]
        assert len({option[3:].casefold() for option in item["options"]}) == 4


def test_correct_letters_are_balanced(bank: Bank) -> None:
    """No letter is right more often than another by more than one."""
    letters = Counter(item["correct_answer"] for item in bank.values())
    assert set(letters) == set("ABCD")
    assert max(letters.values()) - min(letters.values()) <= 1


def test_every_film_of_the_bank_exists_and_none_is_left_over(bank: Bank, films: list[Path]) -> None:
    """Paths are relative to the demo folder; the films folder holds exactly those files."""
    assert all(path.is_file() for path in films)
    assert set(films) == set((DEMO / "films").iterdir())
    assert len(films) == 2 * len({item["study_id"] for item in bank.values()})


def test_films_are_16_bit_with_a_wide_range(films: list[Path]) -> None:
    """Every film uses most of the 16-bit range and clips next to nothing of the anatomy."""
    for path in films:
        with Image.open(path) as image:
            assert image.mode == "I;16"
            pixels = np.asarray(image)
        assert pixels.max() - pixels.min() > 60_000
        anatomy = pixels[pixels > 1500]
        assert 750 <= max(pixels.shape) <= 900
        assert (anatomy == pixels.max()).mean() < 0.005
        assert anatomy.std() > 8_000


def test_films_hold_nothing_but_pixels(films: list[Path]) -> None:
    """No text, time or other metadata chunk is in any film."""
    for path in films:
        assert set(chunk_kinds(path)) == {b"IHDR", b"IDAT", b"IEND"}


def test_all_films_together_stay_under_20_megabytes(films: list[Path]) -> None:
    """The repository stays light."""
    assert sum(path.stat().st_size for path in films) <= 20e6


def test_names_and_ids_tell_nothing(bank: Bank, films: list[Path]) -> None:
    """File names and ids are hexadecimal or numeric, and no path names a finding."""
    for path in films:
        assert re.fullmatch(r"[0-9a-f]{12}\.png", path.name)
    for item_id, item in bank.items():
        assert re.fullmatch(r"[0-9a-f]{16}", item_id)
        assert re.fullmatch(r"[0-9a-f]{12}", item["study_id"])
        assert re.fullmatch(r"2\.25\.\d+", item["StudyInstanceUid"])
        assert re.fullmatch(r"SIM\d{3}", item["PatientID"])
        assert not any(TELLING.search(path) for path in item["ImagePath"])


def test_question_order_does_not_follow_the_tasks(bank: Bank) -> None:
    """Items are ordered by their opaque id, not by task or finding."""
    assert list(bank) == sorted(bank)
    tasks = [item["task_name"] for item in bank.values()]
    assert sum(a != b for a, b in pairwise(tasks)) > 2 * len(TASKS)


def test_an_examination_has_one_set_of_study_fields(bank: Bank) -> None:
    """Items of the same examination agree on patient, films and report."""
    fields = ("PatientID", "AccessionNumber", "PatientSex", "PatientAge", "StudyDate", "Findings")
    seen: dict[str, list[str]] = {}
    for item in bank.values():
        values = [item[name] for name in fields] + item["ImagePath"]
        assert seen.setdefault(item["study_id"], values) == values
        assert re.fullmatch(r"\d{3}Y", item["PatientAge"])


def test_the_bank_does_not_name_the_provenance(bank: Bank) -> None:
    """Generator parameters are stored next to the bank, and nothing in the bank refers to them."""
    assert "provenance" not in json.dumps(bank)


def test_geometric_answers_agree_with_the_measured_truth(bank: Bank) -> None:
    """A cardiothoracic ratio from provenance lies inside the option marked correct."""
    records = json.loads((DEMO / "provenance.json").read_text(encoding="utf-8"))["examinations"]
    ratio = {
        r["films"]["PA"]["file"]: r["measured"]["cardiothoracic_ratio"] for r in records.values()
    }
    checked = 0
    for item in bank.values():
        if "cardiothoracic ratio" in item["question"]:
            option = item["options"]["ABCD".index(item["correct_answer"])]
            low, high = map(float, re.findall(r"0\.\d+", option))
            assert low <= ratio[item["ImagePath"][0]] <= high
            checked += 1
    assert checked >= 2


def test_every_film_has_the_generators_detector_pixel(bank: Bank) -> None:
    """The spacing in the bank is what the geometry was projected with, as provenance keeps it."""
    records = json.loads((DEMO / "provenance.json").read_text(encoding="utf-8"))["examinations"]
    pixel_mm = {
        film["file"]: film["pixel_mm"] for r in records.values() for film in r["films"].values()
    }
    for item in bank.values():
        assert item["ImagerPixelSpacing"] == [pixel_mm[path] for path in item["ImagePath"]]
    assert all(0.3 < value < 0.7 for value in pixel_mm.values())


def test_three_simulated_models_answer_every_item(bank: Bank) -> None:
    """Predictions are marked as simulated, complete, and mostly letters."""
    files = sorted((DEMO / "models").glob("*.json"))
    assert [path.stem for path in files] == [f"simulated-model-{mark}" for mark in "abc"]
    for path in files:
        submission = json.loads(path.read_text(encoding="utf-8"))
        assert submission.keys() == bank.keys()
        answers = [entry["model_prediction"] for entry in submission.values()]
        assert sum(answer in set("ABCD") for answer in answers) >= len(bank) - 3
        for item_id, entry in submission.items():
            assert entry["options"] == bank[item_id]["options"]


def test_some_prediction_is_raw_words(bank: Bank) -> None:
    """At least one prediction cannot be parsed to a letter, so that path is seen in the demo."""
    answers = [
        entry["model_prediction"]
        for path in (DEMO / "models").glob("*.json")
        for entry in json.loads(path.read_text(encoding="utf-8")).values()
    ]
    assert any(len(answer) > 1 for answer in answers)
