"""From answers with confidence to ratings that an ROC curve can be drawn of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.arrays import Bools, Codes, Floats
from analysis.bundle.model import LETTERS, RaterKind
from analysis.readings.confidence import WORDS, Confidence, Meaning
from analysis.readings.matrix import NO_LETTER, ReadingMatrix

# Slips apart, answers that follow from ratings are in their order.
FOLLOWS = 0.95
# Fewer pairs of answers are easily in one order by chance.
ENOUGH = 25


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ratings:
    """What every rater makes of every item of a matrix, where the reference standard is binary.

    Parameters
    ----------
    positive : numpy.ndarray of bool, shape (n_items,)
        Whether the reference standard is the positive letter.
    ratings : numpy.ndarray of float, shape (n_items, n_columns)
        Higher means more likely positive; where there is no answer, the worst: -inf for a positive
        item and inf for a negative one. nan where an answer has no confidence.
    rated : numpy.ndarray of bool, shape (n_columns,)
        Whether the rater gave any confidence.
    unreadable : bool
        Whether it cannot be told which letter the ratings are of.
    notes : tuple of str, length n_columns
        How the confidence was read.
    """

    positive: Bools
    ratings: Floats
    rated: Bools
    unreadable: bool
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


def ratings_of(matrix: ReadingMatrix, letters: tuple[int, int], confidence: Confidence) -> Ratings:
    """Rate every item by answer and confidence.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    letters : tuple of two int
        The negative and the positive letter.
    confidence : Confidence
        What confidence is taken for.

    Returns
    -------
    Ratings
        Those of items without a reference standard mean nothing.

    Notes
    -----
    Where confidence says how sure the rater is of the answer, the rating is the confidence for the
    positive letter and its negative for the other. Where it rates the finding, and the answer
    follows from a cut-off, each rater's own, the confidence is the rating: of the letter that goes
    with the higher confidence in more pairs of a reader's answers, one of either letter (ties half;
    of models' answers where no reader gave both). That is one letter for all, for a study has one
    scale. Where answers and confidence do not go together so, a note says it.

    Examples
    --------
    A reader who is sure of B, unsure of B, unsure of A:

    >>> from analysis.bundle import bundle_from_tables
    >>> from analysis.readings.confidence import Meaning
    >>> from analysis.readings.matrix import reading_matrix
    >>> matrix = reading_matrix(bundle_from_tables(
    ...     pd.DataFrame({"item_id": ["q1", "q2", "q3"], "truth": list("BAA")}),
    ...     pd.DataFrame({"rater_id": "R1", "item_id": ["q1", "q2", "q3"],
    ...                   "answer": list("BBA"), "confidence": [5, 1, 1]}),
    ... ))
    >>> ratings_of(matrix, (0, 1), Confidence(meaning=Meaning.ANSWER)).ratings[:, 0].tolist()
    [5.0, 1.0, -1.0]
    >>> ratings_of(matrix, (0, 1), Confidence(meaning=Meaning.FINDING)).ratings[:, 0].tolist()
    [5.0, 1.0, 1.0]
    """
    items = matrix.assigned
    answers, given = matrix.answers, matrix.confidence
    positive: Bools = matrix.truth == letters[1]
    pairs = [
        _pairs(answers[items, i], given[items, i], letters) for i in range(len(matrix.columns))
    ]
    rated_letter = _rated_letter([column.kind for column in matrix.columns], pairs)
    if confidence.meaning is Meaning.FINDING:
        signs = np.full(answers.shape, -1.0 if rated_letter == 0 else 1.0)
    else:
        signs = np.where(answers == letters[1], 1.0, -1.0)
    rated = np.logical_or.reduce(np.isfinite(given[items]), axis=0)
    notes = [
        _note(column.kind, found, confidence, rated_letter, letters) if gave else ""
        for column, found, gave in zip(matrix.columns, pairs, rated, strict=True)
    ]
    worst = np.where(positive, -np.inf, np.inf)[:, None]
    return Ratings(
        positive=positive,
        ratings=np.where(answers == NO_LETTER, worst, signs * given),
        rated=rated,
        unreadable=confidence.meaning is Meaning.FINDING and rated_letter is None,
        notes=tuple(notes),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pairs:
    """Pairs of answers, one of either letter, and in how many the positive has the higher."""

    higher: float
    n: int


def _pairs(answers: Codes, confidence: Floats, letters: tuple[int, int]) -> _Pairs:
    low, high = (confidence[(answers == letter) & np.isfinite(confidence)] for letter in letters)
    ordered = np.sort(low)
    below, upto = (np.searchsorted(ordered, high, side=side) for side in ("left", "right"))
    return _Pairs(higher=float((below + upto).sum()) / 2, n=len(low) * len(high))


def _rated_letter(kinds: Sequence[RaterKind], pairs: Sequence[_Pairs]) -> int | None:
    """Return which letter, 0 the negative and 1 the positive, goes with the higher confidence."""
    for kind in RaterKind:
        of_kind = [found for one, found in zip(kinds, pairs, strict=True) if one is kind]
        n = sum(found.n for found in of_kind)
        if n:
            return int(2 * sum(found.higher for found in of_kind) >= n)
    return None


def _note(
    kind: RaterKind,
    pairs: _Pairs,
    confidence: Confidence,
    rated_letter: int | None,
    letters: tuple[int, int],
) -> str:
    who = "readers" if kind is RaterKind.READER else "model"
    parts = []
    if confidence.meaning is Meaning.ANSWER:
        parts.append(f"{who}: confidence is {WORDS[Meaning.ANSWER]}")
        if pairs.n >= ENOUGH and not 1 - FOLLOWS < pairs.higher / pairs.n < FOLLOWS:
            parts.append(f"{who}: answers go with confidence as if it rated the finding")
    elif rated_letter is not None:
        letter = LETTERS[letters[rated_letter]]
        parts.append(f"{who}: confidence rates answer {letter}, which follows from a cut-off")
        share = (pairs.higher if rated_letter else pairs.n - pairs.higher) / max(pairs.n, 1)
        if pairs.n and share < FOLLOWS:
            parts.append(f"{who}: not every answer follows from the confidence")
    if parts and confidence.origin:
        parts.append(confidence.origin)
    return "; ".join(parts)
