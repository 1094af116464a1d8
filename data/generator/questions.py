"""The question bank: items joined with examinations, options shuffled, letters balanced."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import numpy as np

from data.generator.examinations import EXAMINATIONS, PEOPLE
from data.generator.items import GEOMETRIC, Item, MeasuredItem, items, measured_items
from data.generator.simulate import VIEWS, opaque

LETTERS = "ABCD"


def build_bank(records: dict[str, Any], seed: int) -> dict[str, dict[str, Any]]:
    """All items in the ReXVQA format, keyed and ordered by opaque question ids.

    Parameters
    ----------
    records : dict
        Examination key to what `simulate` returned.
    seed : int
        Seed of ids, of the letters and of the order of options.

    Returns
    -------
    dict
        Question id to item.
    """
    asked = [*items(), *(settle(item, records[item.key]) for item in measured_items())]
    rng = np.random.default_rng([seed, 31])
    letters = rng.permutation(np.resize(list(LETTERS), len(asked)))
    bank = {}
    for item, letter in zip(asked, letters, strict=True):
        name = opaque(seed, item.key, item.task, item.question, digits=16)
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


def settle(item: MeasuredItem, record: dict[str, Any]) -> Item:
    """Turn a measured item into one with a right option.

    Raises
    ------
    ValueError
        When the value falls into none of the ranges: the item would not be decidable.
    """
    source, _, name = item.measure.rpartition(":")
    value = record["truth"][0][name] if source == "truth" else record["measured"][name]
    holding = [text for text, low, high in item.ranges if low <= value <= high]
    if len(holding) != 1:
        raise ValueError(f"{item.key}: {item.measure} is {value}, which no single option covers")
    return Item(
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
        "study_id": opaque(seed, key, "study"),
        "StudyInstanceUid": f"2.25.{UUID(opaque(seed, key, 'uid', digits=32)).int}",
        "PatientID": examination.person,
        "AccessionNumber": opaque(seed, key, "accession", digits=10).upper(),
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
