"""From answers with confidence to ratings that an ROC curve can be drawn of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.arrays import Bools, Codes, Floats, Ints
from analysis.bundle.words import LETTERS, RaterKind
from analysis.matrix import NO_LETTER, ReadingMatrix


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ratings:
    """What every rater makes of every item with a binary reference standard.

    Parameters
    ----------
    positive : numpy.ndarray of bool, shape (n_items,)
        Whether the reference standard is the positive letter.
    ratings : numpy.ndarray of float, shape (n_items, n_columns)
        Higher means more likely positive; where there is no answer, the worst: -inf for a positive
        item and inf for a negative one.
    rated : numpy.ndarray of bool, shape (n_columns,)
        Whether the rater gave any confidence.
    gaps : numpy.ndarray of int, shape (n_columns,)
        Answers without a confidence; with any, the rater's ratings are not complete.
    notes : tuple of str, length n_columns
        How the confidence was read, and how many ratings are missing answers.
    """

    positive: Bools
    ratings: Floats
    rated: Bools
    gaps: Ints
    notes: tuple[str, ...]


def binary_letters(matrix: ReadingMatrix, items: pd.DataFrame) -> tuple[int, int] | None:
    """Return the negative and the positive letter where all items ask one binary question.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    items : pandas.DataFrame
        The bundle's items, for their `options`.

    Returns
    -------
    tuple of two int, or None
        0 for A, ...; the first letter is taken as negative, which changes no area. None unless the
        items with a reference standard have two truths between them, offer two options each (or do
        not say), and share an option set, or the same `options`, or name neither; and no answer
        is another letter.
    """
    assigned = matrix.assigned
    letters = np.unique(matrix.truth[assigned])
    given = np.unique(matrix.answers[assigned])
    if len(letters) != 2 or not set(given.tolist()) <= {NO_LETTER, *letters.tolist()}:
        return None
    if not np.isin(matrix.n_options[assigned], (0, 2)).all():
        return None
    sets = set(matrix.groups["option_set"][assigned])
    if sets == {""}:
        sets = set(items.loc[items["truth"] != "", "options"])
    return (int(letters[0]), int(letters[1])) if len(sets) == 1 else None


def ratings_of(matrix: ReadingMatrix, letters: tuple[int, int]) -> Ratings:
    """Rate every item by answer and confidence.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    letters : tuple of two int
        The negative and the positive letter.

    Returns
    -------
    Ratings
        Of the items with a reference standard.

    Notes
    -----
    Confidence means one of two things. Where it is how sure the rater is of the answer, the rating
    is the confidence for the positive letter and its negative for the other. Where it rates the
    finding itself and the answer follows from a cut-off, every answer of one letter has a
    confidence above every answer of the other; then the confidence is the rating. The readers are
    looked at together, for a study gives them one scale; a model is looked at alone.
    """
    items = matrix.assigned
    answers, confidence = matrix.answers[items], matrix.confidence[items]
    positive: Bools = matrix.truth[items] == letters[1]
    missing: Bools = answers == NO_LETTER
    with_confidence: Bools = np.isfinite(confidence)
    directions = _directions(matrix, answers, confidence, letters)
    signs = np.where(answers == letters[1], 1.0, -1.0)
    ratings = np.where(directions != 0, directions, signs) * confidence
    worst = np.where(positive, -np.inf, np.inf)[:, None]
    notes = [
        _note(int(direction), int(absent), letters)
        for direction, absent in zip(directions, missing.sum(axis=0), strict=True)
    ]
    return Ratings(
        positive=positive,
        ratings=np.where(missing, worst, ratings),
        rated=np.logical_or.reduce(with_confidence, axis=0),
        gaps=(~missing & ~with_confidence).sum(axis=0, dtype=np.int64),
        notes=tuple(notes),
    )


def _directions(
    matrix: ReadingMatrix, answers: Codes, confidence: Floats, letters: tuple[int, int]
) -> Floats:
    """Return, by column, 1 or -1 where the confidence rates the finding or its absence, else 0."""
    directions = np.zeros(len(matrix.columns))
    for columns in _on_one_scale(matrix):
        high = _given(answers[:, columns] == letters[1], confidence[:, columns])
        low = _given(answers[:, columns] == letters[0], confidence[:, columns])
        if len(high) and len(low):
            above, below = high.min() > low.max(), high.max() < low.min()
            directions[columns] = float(above) - float(below)
    return directions


def _on_one_scale(matrix: ReadingMatrix) -> Sequence[list[int]]:
    """Return the readers' columns, then each model's."""
    models: dict[str, list[int]] = {}
    readers = []
    for place, column in enumerate(matrix.columns):
        if column.kind is RaterKind.MODEL:
            models.setdefault(column.rater_id, []).append(place)
        else:
            readers.append(place)
    return [readers, *models.values()]


def _given(answers: Bools, confidence: Floats) -> Floats:
    return confidence[answers & np.isfinite(confidence)]


def _note(direction: int, absent: int, letters: tuple[int, int]) -> str:
    parts = []
    if direction:
        letter = LETTERS[letters[1] if direction > 0 else letters[0]]
        parts.append(f"confidence is a rating of answer {letter}, which follows from a cut-off")
    if absent:
        parts.append("missing answers have the worst rating")
    return "; ".join(parts)
