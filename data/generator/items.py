"""The items of the bank, from two files: the answer is written down, or found in a measurement."""

from __future__ import annotations

import csv
import tomllib
from dataclasses import dataclass
from pathlib import Path

GEOMETRIC = "Geometric Information Assessment"
_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One question with its right option and three wrong ones.

    Attributes
    ----------
    key : str
        Examination, see `examinations.toml`.
    task, category, subcategory, question : str
        As in ReXVQA.
    right : str
        The correct option.
    wrong : tuple of str
        Three distractors, certainly wrong for this film.
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
    """A geometric question; the measured value picks the right option.

    Attributes
    ----------
    key, category, subcategory, question
        As for `Item`.
    measure : str
        Name of the measurement, or ``"truth:NAME"`` for a value of the inserted finding.
    ranges : list
        Four options with the values for which each holds: text, lowest, highest.
    why : str
        Explanation with ``{value}`` for the measured value.
    """

    key: str
    category: str
    subcategory: str
    question: str
    measure: str
    ranges: list[tuple[str, float, float]]
    why: str


def items() -> list[Item]:
    """Return the items whose answer is written down, in the order of their file."""
    with (_HERE / "items.csv").open(encoding="utf-8", newline="") as file:
        return [
            Item(wrong=tuple(row.pop(f"wrong_{n}") for n in (1, 2, 3)), **row)
            for row in csv.DictReader(file)
        ]


def measured_items() -> list[MeasuredItem]:
    """Return the items whose answer is measured, in the order of their file."""
    told = tomllib.loads((_HERE / "measured_items.toml").read_text(encoding="utf-8"))
    return [MeasuredItem(**one) for one in told["item"]]
