"""The two kinds of item: the answer is written down, or looked up in a measurement."""

from __future__ import annotations

from dataclasses import dataclass

TASKS = (
    "Presence Assessment",
    "Negation Assessment",
    "Differential Diagnosis",
    "Location and Distribution Assessment",
    "Geometric Information Assessment",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One question with its right option and three wrong ones.

    Attributes
    ----------
    key : str
        Examination, see `examinations.py`.
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
    wrong: tuple[str, str, str]
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
    ranges : tuple
        Four options with the values for which each holds: text, lowest, highest.
    why : str
        Explanation with ``{value}`` for the measured value.
    """

    key: str
    category: str
    subcategory: str
    question: str
    measure: str
    ranges: tuple[tuple[str, float, float], ...]
    why: str
