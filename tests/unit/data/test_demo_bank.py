"""The committed demo bank is complete and consistent, has no hints, and matches its checksums."""

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
REVEALING_WORDS = re.compile(
    r"normal|nodul|mass|effus|pneumo|consol|cardio|oedema|tube|line|port|left|right|cavit|hernia"
)


@pytest.fixture(scope="module")
def bank() -> Bank:
    """Return the bank."""
    read: Bank = json.loads((DEMO / "bank.json").read_text(encoding="utf-8"))
    return read


@pytest.fixture(scope="module")
def films(bank: Bank) -> list[Path]:
    """Return all films of the bank without repetition."""
    return sorted({DEMO / path for item in bank.values() for path in item["ImagePath"]})


def chunk_kinds(path: Path) -> list[bytes]:
    """Return the kinds of the chunks of a PNG file, in order."""
    data, position, kinds = path.read_bytes(), 8, []
    while position < len(data):
        (length,) = struct.unpack(">I", data[position : position + 4])
        kinds.append(data[position + 4 : position + 8])
        position += 12 + length
    return kinds


def test_every_file_has_the_listed_checksum() -> None:
    """SHA256SUMS lists all files of the folder."""
    checksums = {}
    for line in (DEMO / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, name = line.split("  ", 1)
        checksums[name] = digest
    present = {
        path.relative_to(DEMO).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in DEMO.rglob("*")
        if path.is_file() and path.name != "SHA256SUMS"
    }
    assert checksums == present


def test_at_least_24_examinations_have_a_pa_and_a_lateral_film(bank: Bank) -> None:
    """All items of an examination have the same two views."""
    views = {item["study_id"]: tuple(item["ImageViewPosition"]) for item in bank.values()}
    assert len(views) >= 24
    assert set(views.values()) == {("PA", "LATERAL")}
    for item in bank.values():
        assert len(item["ImagePath"]) == len(item["ImageModality"]) == 2
        assert item["ImageModality"] == ["DX", "DX"]


def test_at_least_40_items_cover_all_five_tasks(bank: Bank) -> None:
    """Each ReXVQA task has several items, and the geometric task at least five."""
    tasks = Counter(item["task_name"] for item in bank.values())
    assert len(bank) >= 40
    assert set(tasks) == TASKS
    assert min(tasks.values()) >= 5


def test_items_have_four_different_options_with_letters(bank: Bank) -> None:
    """Options are "A. ..." to "D. ..."."""
    for item in bank.values():
        assert [option[:3] for option in item["options"]] == ["A. ", "B. ", "C. ", "D. "]
        assert len({option[3:].casefold() for option in item["options"]}) == 4


def test_correct_letters_are_balanced(bank: Bank) -> None:
    """The frequencies of the correct letters differ by at most one."""
    letters = Counter(item["correct_answer"] for item in bank.values())
    assert set(letters) == set("ABCD")
    assert max(letters.values()) - min(letters.values()) <= 1


def test_the_folder_contains_exactly_the_films_of_the_bank(bank: Bank, films: list[Path]) -> None:
    """Paths are relative to the demo folder."""
    assert all(path.is_file() for path in films)
    assert set(films) == set((DEMO / "films").iterdir())
    assert len(films) == 2 * len({item["study_id"] for item in bank.values()})


def test_films_are_16_bit_with_a_wide_range(films: list[Path]) -> None:
    """Films use most of the range and clip almost no anatomy."""
    for path in films:
        with Image.open(path) as image:
            assert image.mode == "I;16"
            pixels = np.asarray(image)
        assert pixels.max() - pixels.min() > 60_000
        anatomy = pixels[pixels > 1500]
        assert 750 <= max(pixels.shape) <= 900
        assert (anatomy == pixels.max()).mean() < 0.005
        assert anatomy.std() > 8_000


def test_films_contain_only_pixels(films: list[Path]) -> None:
    """No film has a chunk with text, time or other metadata."""
    for path in films:
        assert set(chunk_kinds(path)) == {b"IHDR", b"IDAT", b"IEND"}


def test_films_take_less_than_20_megabytes(films: list[Path]) -> None:
    """The limit keeps the repository small."""
    assert sum(path.stat().st_size for path in films) <= 20e6


def test_names_and_ids_reveal_no_findings(bank: Bank, films: list[Path]) -> None:
    """File names and ids are hexadecimal or numeric, and no path names a finding."""
    for path in films:
        assert re.fullmatch(r"[0-9a-f]{12}\.png", path.name)
    for item_id, item in bank.items():
        assert re.fullmatch(r"[0-9a-f]{16}", item_id)
        assert re.fullmatch(r"[0-9a-f]{12}", item["study_id"])
        assert re.fullmatch(r"2\.25\.\d+", item["StudyInstanceUid"])
        assert re.fullmatch(r"SIM\d{3}", item["PatientID"])
        assert not any(REVEALING_WORDS.search(path) for path in item["ImagePath"])


def test_the_order_of_items_is_independent_of_tasks(bank: Bank) -> None:
    """Items are sorted by their id."""
    assert list(bank) == sorted(bank)
    tasks = [item["task_name"] for item in bank.values()]
    assert sum(a != b for a, b in pairwise(tasks)) > 2 * len(TASKS)


def test_items_of_an_examination_are_consistent(bank: Bank) -> None:
    """All items of an examination have the same patient, films and report."""
    fields = ("PatientID", "AccessionNumber", "PatientSex", "PatientAge", "StudyDate", "Findings")
    values_seen: dict[str, list[str]] = {}
    for item in bank.values():
        values = [item[name] for name in fields] + item["ImagePath"]
        assert values_seen.setdefault(item["study_id"], values) == values
        assert re.fullmatch(r"\d{3}Y", item["PatientAge"])


def test_the_bank_does_not_refer_to_the_provenance(bank: Bank) -> None:
    """Parameters of the generator are stored next to the bank."""
    assert "provenance" not in json.dumps(bank)


def test_geometric_answers_agree_with_measurements(bank: Bank) -> None:
    """The cardiothoracic ratio from the provenance is within the correct option."""
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


def test_every_film_has_the_pixel_spacing_of_the_generator(bank: Bank) -> None:
    """The spacing in the bank equals that of the projection in the provenance file."""
    records = json.loads((DEMO / "provenance.json").read_text(encoding="utf-8"))["examinations"]
    pixel_mm = {
        film["file"]: film["pixel_mm"] for r in records.values() for film in r["films"].values()
    }
    for item in bank.values():
        assert item["ImagerPixelSpacing"] == [pixel_mm[path] for path in item["ImagePath"]]
    assert all(0.3 < value < 0.7 for value in pixel_mm.values())


def test_three_simulated_models_answer_every_item(bank: Bank) -> None:
    """Predictions are complete, marked as simulated, and mostly letters."""
    files = sorted((DEMO / "models").glob("*.json"))
    assert [path.stem for path in files] == [f"simulated-model-{mark}" for mark in "abc"]
    for path in files:
        submission = json.loads(path.read_text(encoding="utf-8"))
        assert submission.keys() == bank.keys()
        answers = [entry["model_prediction"] for entry in submission.values()]
        assert sum(answer in set("ABCD") for answer in answers) >= len(bank) - 3
        for item_id, entry in submission.items():
            assert entry["options"] == bank[item_id]["options"]


def test_predictions_are_free_text(bank: Bank) -> None:
    """At least one prediction cannot be parsed, so that the demo shows this case."""
    answers = [
        entry["model_prediction"]
        for path in (DEMO / "models").glob("*.json")
        for entry in json.loads(path.read_text(encoding="utf-8")).values()
    ]
    assert any(len(answer) > 1 for answer in answers)
