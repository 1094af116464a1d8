"""Predictions of three simulated models, in the leaderboard's submission format.

A model answers an item correctly with probability ``logistic(ability - difficulty)``. Difficulty is
drawn once per item and shared by the models, and most wrong answers fall on one distractor per
item, so that errors correlate as they do between real models. No real model is imitated.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from data.generator.manifest import write_json

LETTERS = "ABCD"
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
# Raw words instead of a letter, so that the unparsed path of an importer is seen.
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
        Where the files go.
    seed : int
        Seed of difficulties, distractors and answers.
    """
    difficulty, main_wrong = _shared(bank, seed)
    for number, (name, ability) in enumerate(ABILITIES.items()):
        rng = np.random.default_rng([seed, 43, number])
        words = dict(zip(rng.permutation(len(bank)), RAW_WORDS.get(name, ()), strict=False))
        submission = {}
        for index, (item_id, item) in enumerate(bank.items()):
            letter = _answer(item, ability - difficulty[index], main_wrong[index], rng)
            submission[item_id] = {
                "question": item["question"],
                "options": item["options"],
                "model_prediction": words.get(index, letter),
            }
        write_json(folder / f"{name}.json", submission)


def _shared(bank: dict[str, dict[str, Any]], seed: int) -> tuple[list[float], list[str]]:
    """Difficulty and main distractor of each item, the same for every model."""
    rng = np.random.default_rng([seed, 41])
    difficulty, main_wrong = [], []
    for item in bank.values():
        difficulty.append(rng.normal(TASK_DIFFICULTY[item["task_name"]], DIFFICULTY_SD))
        main_wrong.append(str(rng.choice(list(_wrong(item)))))
    return difficulty, main_wrong


def _answer(item: dict[str, Any], advantage: float, main: str, rng: np.random.Generator) -> str:
    """One answer: a letter."""
    if rng.random() < 1.0 / (1.0 + np.exp(-advantage)):
        return str(item["correct_answer"])
    if rng.random() < MAIN_DISTRACTOR_SHARE:
        return main
    return str(rng.choice([letter for letter in _wrong(item) if letter != main]))


def _wrong(item: dict[str, Any]) -> str:
    return LETTERS.replace(item["correct_answer"], "")
