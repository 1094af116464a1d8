"""A study of twelve readers, twenty models and twelve tasks that has every figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis import Bundle, Options, Results, bundle_from_tables
from analysis.registry import STATISTICS
from tests.unit.analysis.figures import tables

TABLES = ("missing", "reader_conditions")
"""Tables that figures use besides those of the statistics with figures."""


@dataclass(frozen=True, kw_only=True)
class StudySize:
    """The numbers of readers, models, tasks and items of a study."""

    readers: int = 12
    models: int = 20
    tasks: int = 12
    items: int = 48


def results(size: StudySize) -> Results:
    """Return the tables of all statistics with figures, for a study of the requested size."""
    names = [entry.name for entry in STATISTICS if entry.figures or entry.name in TABLES]
    return tables.results(bundle(size), Options(bootstrap=3, margin=0.05), names)


def bundle(size: StudySize) -> Bundle:
    """Return readers under two conditions, with advice, and models under three."""
    random = np.random.default_rng(3)
    n = size.items
    items = pd.DataFrame(
        {
            "item_id": [f"q{i:04d}" for i in range(n)],
            "truth": random.choice(list("AB"), n),
            "n_options": 2,
            "options": '["no", "yes"]',
            "task": [f"Assessment of finding number {i % size.tasks + 1}" for i in range(n)],
            "patient_id": [f"p{i // 2:04d}" for i in range(n)],
            "bank": [f"bank {i % 3}" for i in range(n)],
        }
    )
    readers = [f"R{i:03d}" for i in range(1, size.readers + 1)]
    models = [f"Vision-Model-{i:03d}-Large" for i in range(1, size.models + 1)]
    raters = pd.DataFrame(
        {
            "rater_id": readers + models,
            "rater_kind": ["reader"] * len(readers) + ["model"] * len(models),
            "label": [f"Radiologist number {i}" for i in range(1, size.readers + 1)] + models,
        }
    )
    conditions = ("image", "image-absent")
    readings = [
        *(_readings(items, reader, ("aided", "unaided"), random) for reader in readers),
        *(_readings(items, model, conditions, random) for model in models),
    ]
    advice = readings[0]["condition"] == "aided"
    for table in readings[: size.readers]:
        table["response_ms"] = random.lognormal(9, 0.5, len(table)).round()
        table["position"] = [*range(1, n + 1)] * 2
        table["aid_model"] = np.where(advice, models[0], "")
        table["aid_answer"] = np.where(advice, random.choice(list("AB"), len(table)), "")
        table["aid_shown_ms"] = np.where(advice, "0", "")
    words, scores = _words(items, models, random)
    return bundle_from_tables(
        items,
        pd.concat([table.astype(str) for table in readings], ignore_index=True).fillna(""),
        raters,
        open_answers=words,
        open_scores=scores,
    )


def _readings(
    items: pd.DataFrame, rater: str, conditions: Sequence[str], random: np.random.Generator
) -> pd.DataFrame:
    truth = items["truth"].to_numpy(dtype=object)
    parts = []
    for condition in conditions:
        right = random.random(len(items)) < random.uniform(0.5, 0.9)
        answers = np.where(right, truth, np.where(truth == "A", "B", "A"))
        part = pd.DataFrame({"rater_id": rater, "condition": condition, "answer": answers})
        confidence = random.integers(1, 101, len(items))
        parts.append(part.assign(item_id=items["item_id"].to_numpy(), confidence=confidence))
    return pd.concat(parts, ignore_index=True)


def _words(
    items: pd.DataFrame, models: Sequence[str], random: np.random.Generator
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return an answer in words by every model to every item, with two scores each."""
    rows = [(model, item) for model in models for item in items["item_id"]]
    answers = pd.DataFrame(rows, columns=["rater_id", "item_id"])
    answers = answers.assign(
        answer_id=[f"a{i:05d}" for i in range(len(rows))],
        kind="answer",
        condition="open-ended",
        words="words",
    )
    marks = random.choice(["correct", "partly correct", "incorrect"], len(rows))
    scores = [
        {"answer_id": answer, "turn": turn, "scorer": f"S{turn}", "score": mark}
        for answer, mark in zip(answers["answer_id"], marks, strict=True)
        for turn in (1, 2)
    ]
    return answers, pd.DataFrame(scores)
