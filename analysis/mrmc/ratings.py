"""From answers with confidence to ratings that an ROC curve can be drawn of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd

from analysis.arrays import Bools, Codes, Floats, Ints
from analysis.bundle.words import LETTERS, RaterKind
from analysis.matrix import NO_LETTER, ReadingMatrix

# Slips apart, a rating of the finding separates the answers wholly; sureness hardly does.
SEPARATED = 0.95
FEWEST_OF_A_LETTER = 5


class Reading(StrEnum):
    """What a confidence says."""

    SURE = "how sure the rater is of the answer"
    FINDING = "rates the positive letter"
    ABSENCE = "rates the negative letter"
    UNKNOWN = "cannot be told"


_DIRECTIONS = {Reading.SURE: 0.0, Reading.FINDING: 1.0, Reading.ABSENCE: -1.0, Reading.UNKNOWN: 0.0}


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
    unreadable : numpy.ndarray of bool, shape (n_columns,)
        Whether it cannot be told what the rater's confidence means.
    notes : tuple of str, length n_columns
        How the confidence was read, and how many ratings are missing answers.
    """

    positive: Bools
    ratings: Floats
    rated: Bools
    gaps: Ints
    unreadable: Bools
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
    Confidence means one of two things (`Reading`). How sure the rater is of the answer: then the
    rating is the confidence for the positive letter and its negative for the other. Or it rates
    the finding itself and the answer follows from a cut-off, each rater's own: then the
    confidence is the rating. Which it is shows in how far the answers separate the confidences: the
    share of pairs of a rater's answers, one of either letter, in which the same letter has the
    higher confidence. From 95 % on it rates the finding. The readers are looked at together, pairs
    within readers, for a study gives them one scale; a model is looked at alone unless it gave
    fewer than five answers of a letter and those are separated, as they may be by chance: then it
    is taken as the readers are. Where nobody shows it, the ratings are undefined.

    Examples
    --------
    A reader who is sure of B, unsure of B, unsure of A:

    >>> from analysis.bundle import bundle_from_tables
    >>> from analysis.matrix import reading_matrix
    >>> matrix = reading_matrix(bundle_from_tables(
    ...     pd.DataFrame({"item_id": ["q1", "q2", "q3"], "truth": list("BAA")}),
    ...     pd.DataFrame({"rater_id": "R1", "item_id": ["q1", "q2", "q3"],
    ...                   "answer": list("BBA"), "confidence": [5, 1, 1]}),
    ... ))
    >>> ratings_of(matrix, (0, 1)).ratings[:, 0].tolist()
    [5.0, 1.0, -1.0]
    """
    items = matrix.assigned
    answers, confidence = matrix.answers[items], matrix.confidence[items]
    positive: Bools = matrix.truth[items] == letters[1]
    missing: Bools = answers == NO_LETTER
    with_confidence: Bools = np.isfinite(confidence)
    readings = _readings(matrix, answers, confidence, letters)
    directions = np.array([_DIRECTIONS[reading] for reading in readings])
    signs = np.where(answers == letters[1], 1.0, -1.0)
    ratings = np.where(directions != 0, directions, signs) * confidence
    worst = np.where(positive, -np.inf, np.inf)[:, None]
    rated = np.logical_or.reduce(with_confidence, axis=0)
    notes = [
        _note(column.kind, reading if gave else Reading.UNKNOWN, int(absent), letters)
        for column, reading, gave, absent in zip(
            matrix.columns, readings, rated, missing.sum(axis=0), strict=True
        )
    ]
    return Ratings(
        positive=positive,
        ratings=np.where(missing, worst, ratings),
        rated=rated,
        gaps=(~missing & ~with_confidence).sum(axis=0, dtype=np.int64),
        unreadable=np.array([reading is Reading.UNKNOWN for reading in readings], dtype=np.bool_),
        notes=tuple(notes),
    )


def _readings(
    matrix: ReadingMatrix, answers: Codes, confidence: Floats, letters: tuple[int, int]
) -> list[Reading]:
    """Tell, by column, what the confidence says."""
    kinds = [column.kind for column in matrix.columns]
    of = [_separation(answers[:, i], confidence[:, i], letters) for i in range(len(matrix.columns))]
    readers = _reading([one for one, kind in zip(of, kinds, strict=True) if kind is _READER])
    found = []
    for one, kind in zip(of, kinds, strict=True):
        own = _reading([one])
        # A few answers of a letter are easily separated by chance, but not easily mixed.
        shown = one.fewest >= FEWEST_OF_A_LETTER or own is Reading.SURE
        alone = kind is not _READER and (shown or readers is Reading.UNKNOWN)
        found.append(own if alone else readers)
    return found


_READER = RaterKind.READER


@dataclass(frozen=True, slots=True, kw_only=True)
class _Separation:
    """Pairs of a rater's answers, one of either letter, and in how many the positive is higher."""

    higher: float
    pairs: int
    fewest: int


def _separation(answers: Codes, confidence: Floats, letters: tuple[int, int]) -> _Separation:
    low, high = (confidence[(answers == letter) & np.isfinite(confidence)] for letter in letters)
    ordered = np.sort(low)
    below, upto = (np.searchsorted(ordered, high, side=side) for side in ("left", "right"))
    return _Separation(
        higher=float((below + upto).sum()) / 2,
        pairs=len(low) * len(high),
        fewest=min(len(low), len(high)),
    )


def _reading(separations: Sequence[_Separation]) -> Reading:
    pairs = sum(one.pairs for one in separations)
    if not pairs:
        return Reading.UNKNOWN
    share = sum(one.higher for one in separations) / pairs
    if share >= SEPARATED:
        return Reading.FINDING
    return Reading.ABSENCE if share <= 1 - SEPARATED else Reading.SURE


def _note(kind: RaterKind, reading: Reading, absent: int, letters: tuple[int, int]) -> str:
    who = "readers" if kind is _READER else "model"
    parts = []
    if reading is Reading.SURE:
        parts.append(f"{who}: confidence is {reading}")
    elif reading is not Reading.UNKNOWN:
        letter = LETTERS[letters[1] if reading is Reading.FINDING else letters[0]]
        parts.append(f"{who}: confidence rates answer {letter}, which follows from a cut-off")
    if absent:
        parts.append("missing answers have the worst rating")
    return "; ".join(parts)
