"""Simulated bundles of any size, in the format of an export and reproducible from a seed.

Items differ in difficulty and in their main distractor, which are the same for all raters; raters
differ in ability. Patients have one or more examinations, and examinations have several items.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

SEED = 20250604
LETTERS = np.array(list("ABCD"), dtype=object)
# The tasks of ReXVQA and their shares of its items.
TASKS = {
    "Presence Assessment": 0.361,
    "Negation Assessment": 0.365,
    "Differential Diagnosis": 0.209,
    "Location and Distribution Assessment": 0.061,
    "Geometric Information Assessment": 0.004,
}
CATEGORIES = 30
SUBCATEGORIES = 120
OPTION_SETS = 12
ITEMS_PER_EXAMINATION = 4
MISSED_SHARE = 0.01  # share of cases without an answer in time


@dataclass(frozen=True, kw_only=True)
class Size:
    """The size of a bundle."""

    readers: int
    models: int
    items: int
    patients: int


@dataclass(frozen=True, kw_only=True)
class Tables:
    """The tables of a bundle, as they are written to files."""

    items: pd.DataFrame
    raters: pd.DataFrame
    readings: pd.DataFrame

    def write(self, folder: Path) -> Path:
        """Write the tables to a folder and return the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        self.items.to_csv(folder / "items.csv", index=False)
        self.raters.to_csv(folder / "raters.csv", index=False)
        self.readings.to_csv(folder / "readings.csv", index=False)
        return folder


def simulate_bundle(size: Size, *, seed: int = SEED) -> Tables:
    """Return a bundle of the requested size."""
    rng = np.random.default_rng(seed)
    items = _items(size, rng)
    raters = _raters(size)
    truth = np.searchsorted(LETTERS, items["truth"].to_numpy(dtype=object))
    answers = _answers(truth, len(raters), rng)
    return Tables(items=items, raters=raters, readings=_readings(items, raters, answers, rng))


def _items(size: Size, rng: np.random.Generator) -> pd.DataFrame:
    n = size.items
    examination = np.arange(n) // ITEMS_PER_EXAMINATION
    n_examinations = int(examination[-1]) + 1
    # Every patient has an examination, and further examinations are assigned at random.
    patient = rng.permutation(
        np.r_[
            np.arange(min(size.patients, n_examinations)),
            rng.integers(size.patients, size=max(0, n_examinations - size.patients)),
        ]
    )
    task = rng.choice(len(TASKS), size=n, p=np.array(list(TASKS.values())))
    category = rng.integers(CATEGORIES, size=n)
    subcategory = category * (SUBCATEGORIES // CATEGORIES) + rng.integers(
        SUBCATEGORIES // CATEGORIES, size=n
    )
    findings = [f"finding {i:03d}" for i in range(SUBCATEGORIES)]
    options = [
        str([f"{side} {finding}" for side in ("left", "right", "no", "bilateral")]).replace(
            "'", '"'
        )
        for finding in findings
    ]
    return pd.DataFrame(
        {
            "item_id": [f"item-{i:06d}" for i in range(n)],
            "truth": LETTERS[rng.integers(len(LETTERS), size=n)],
            "n_options": len(LETTERS),
            "options": np.array(options, dtype=object)[subcategory],
            "question": np.array([f"Which of these is seen: {f}?" for f in findings])[subcategory],
            "task": np.array(list(TASKS), dtype=object)[task],
            "category": np.array([f"category {i:02d}" for i in range(CATEGORIES)])[category],
            "subcategory": np.array(findings)[subcategory],
            "examination_id": [f"examination-{i:06d}" for i in examination],
            "patient_id": [f"patient-{patient[i]:06d}" for i in examination],
            "option_set": np.array(
                [f"set {i:02d}" if i < OPTION_SETS else "" for i in range(CATEGORIES)]
            )[category],
        }
    )


def _raters(size: Size) -> pd.DataFrame:
    readers = [f"R{i:03d}" for i in range(1, size.readers + 1)]
    models = [f"M{i:03d}" for i in range(1, size.models + 1)]
    return pd.DataFrame(
        {
            "rater_id": readers + models,
            "rater_kind": ["reader"] * len(readers) + ["model"] * len(models),
            "label": [f"{name} (simulated)" for name in readers + models],
        }
    )


def _answers(truth: NDArray[np.int64], n_raters: int, rng: np.random.Generator) -> NDArray[np.int8]:
    """Return the option that each rater chose for each item, or -1; shape (n_items, n_raters)."""
    n = len(truth)
    difficulty = 1.2 * rng.standard_normal(n)
    tempting = (truth + rng.integers(1, len(LETTERS), size=n)) % len(LETTERS)
    answers = np.empty((n, n_raters), dtype=np.int8)
    for rater, ability in enumerate(np.linspace(0.3, 1.6, n_raters)):
        right = rng.random(n) < 1 / (1 + np.exp(difficulty - ability))
        other = (truth + rng.integers(1, len(LETTERS), size=n)) % len(LETTERS)
        wrong = np.where(rng.random(n) < 0.6, tempting, other)
        answers[:, rater] = np.where(right, truth, wrong)
        answers[rng.random(n) < MISSED_SHARE, rater] = -1
    return answers


def _readings(
    items: pd.DataFrame, raters: pd.DataFrame, answers: NDArray[np.int8], rng: np.random.Generator
) -> pd.DataFrame:
    n, n_raters = answers.shape
    choices = answers.T.ravel()
    missed = choices < 0
    response_ms = np.round(rng.lognormal(np.log(14_000), 0.45, size=n * n_raters), 1)
    reader = np.repeat((raters["rater_kind"] == "reader").to_numpy(), n)
    seconds = np.tile(np.arange(n) * 20, n_raters)
    shown = np.datetime64("2025-06-04T08:00:00") + seconds.astype("timedelta64[s]")
    text = np.char.add(np.datetime_as_string(shown, unit="ms"), "Z").astype(object)
    return pd.DataFrame(
        {
            "rater_id": np.repeat(raters["rater_id"].to_numpy(dtype=object), n),
            "item_id": np.tile(items["item_id"].to_numpy(dtype=object), n_raters),
            "answer": np.where(missed, "", LETTERS[choices]),
            "condition": np.where(reader, "unaided", ""),
            "session": np.where(reader, "1", ""),
            "repeat": 0,
            "position": np.tile(np.arange(1, n + 1), n_raters),
            "status": np.where(missed, "timed_out", "answered"),
            "confidence": np.where(missed, "", rng.integers(1, 6, n * n_raters).astype(str)),
            "response_ms": np.where(reader, response_ms.astype(str), ""),
            "elapsed_ms": np.where(reader, response_ms.astype(str), ""),
            "hidden_ms": np.where(reader, "0.0", ""),
            "paused_ms": np.where(reader, "0.0", ""),
            "presented_at_utc": np.where(reader, text, ""),
            "answered_at_utc": np.where(reader, text, ""),
            "timing_source": np.where(reader, "simulated", ""),
            "shown_order": np.where(reader, "ABCD", ""),
            "raw_answer": np.where(reader | missed, "", LETTERS[choices]),
        }
    )
