"""Which items have a positive and a negative class, and which letters are positive."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from analysis.arrays import Bools, Ints
from analysis.bundle.model import LETTERS, PLACE, Bundle
from analysis.bundle.protocol import positive_options
from analysis.errors import OptionsError, quoted
from analysis.options import Options
from analysis.readings.matrix import NO_LETTER, ReadingMatrix
from analysis.readings.shared_items import Shared
from analysis.statistics.merits import (
    PERCENT_CORRECT,
    FigureOfMerit,
    Figures,
    Metric,
    binary_letters,
    percent_correct,
)

AFFIRMATIVE = frozenset({"yes", "true", "present", "positive", "abnormal"})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dichotomy:
    """The positive letters of every item of a matrix.

    Parameters
    ----------
    letters : numpy.ndarray of bool, shape (n_items, 26)
        Whether each letter is positive; no letter is positive if an item does not have two classes.
    texts : numpy.ndarray of str, shape (n_items,)
        The texts of the positive options; empty if the item gives no options.
    """

    letters: Bools
    texts: npt.NDArray[np.object_]

    def counted(self, matrix: ReadingMatrix) -> Bools:
        """Return the items with a reference standard and two classes, shape (n_items,)."""
        is_counted: Bools = matrix.assigned & self.letters.any(axis=1)
        return is_counted

    def positive(self, matrix: ReadingMatrix) -> Bools:
        """Return whether the reference standard is positive, shape (n_items,)."""
        rows = np.arange(len(matrix.truth))
        positive: Bools = self.counted(matrix) & self.letters[rows, matrix.truth]
        return positive

    def correct(self, matrix: ReadingMatrix) -> Bools:
        """Return whether an answer is of the item's class, shape (n_items, n_columns).

        A missing answer is wrong.
        """
        rows = np.arange(len(matrix.truth))[:, None]
        answered = matrix.answers != NO_LETTER
        same = self.letters[rows, matrix.answers] == self.positive(matrix)[:, None]
        correct: Bools = self.counted(matrix)[:, None] & answered & same
        return correct

    def figures(
        self, matrix: ReadingMatrix, shared: Shared, columns: Ints
    ) -> Iterator[FigureOfMerit]:
        """Yield sensitivity and specificity of some raters, over the items that they share.

        Parameters
        ----------
        matrix : ReadingMatrix
            The readings.
        shared : Shared
            The items; where these are too few, nothing is defined.
        columns : numpy.ndarray of int, shape (n_raters,)
            Positions of the raters in the matrix.
        """
        is_counted, positive = self.counted(matrix), self.positive(matrix)
        correct = self.correct(matrix)[:, columns]
        for metric, of_class, word in (
            (Metric.SENSITIVITY, positive, "positive"),
            (Metric.SPECIFICITY, ~positive, "negative"),
        ):
            items = shared.items & is_counted & of_class
            reason = shared.reason or ("" if items.any() else f"no {word} item was given to all")
            yield Figures(matrix=matrix, ratings=None).figure(
                metric,
                replace(shared, items=items, reason=reason),
                percent_correct(correct[items], matrix.clusters[items]),
                PERCENT_CORRECT,
            )

    def name(self, items: Bools) -> str:
        """Return the positive options of some items: a letter, or texts if the letters differ."""
        sets = np.unique(self.letters[items], axis=0)
        texts = sorted({str(text) for text in self.texts[items]})
        if len(sets) > 1 and "" not in texts:
            return "; ".join(texts)
        return "; ".join(_letters(row) for row in sets)


def _letters(row: Bools) -> str:
    return ", ".join(LETTERS[place] for place in np.flatnonzero(row))


def dichotomy_of(matrix: ReadingMatrix, bundle: Bundle, options: Options) -> Dichotomy:
    """Return which letters are positive.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    bundle : Bundle
        The checked tables. The protocol's `positive` names positive options.
    options : Options
        Its `positive` takes precedence over the protocol's.

    Returns
    -------
    Dichotomy
        An item has two classes if a named option is among its options and another one is not
        named. Any other item with two options has two classes as well: the positive option is the
        one of `AFFIRMATIVE`, or the second. Items that do not state their options have two if all
        items of the study have one of two reference standards and no other answer.

    Raises
    ------
    OptionsError
        A named option is offered by no item.

    Examples
    --------
    >>> import pandas as pd
    >>> from analysis.bundle import bundle_from_tables
    >>> from analysis.readings.matrix import reading_matrix
    >>> bundle = bundle_from_tables(
    ...     pd.DataFrame({"item_id": ["p", "q", "r"], "truth": list("ABC"), "n_options": [2, 2, 3],
    ...                   "options": ['["Yes", "No"]', '["mass", "nodule"]', '["0", "1", "2"]']}),
    ...     pd.DataFrame({"rater_id": "R1", "item_id": ["p", "q", "r"], "answer": list("ABC")}),
    ... )
    >>> matrix = reading_matrix(bundle)
    >>> dichotomy_of(matrix, bundle, Options()).texts.tolist()
    ['Yes', 'nodule', '']
    >>> dichotomy_of(matrix, bundle, Options(positive=("1", "2"))).texts.tolist()
    ['Yes', 'nodule', '1, 2']
    """
    items = bundle.items.set_index("item_id").loc[list(matrix.item_ids)]
    binary = binary_letters(matrix, bundle.items)
    named = options.positive or positive_options(bundle.protocol)
    rule = _Rule(named=tuple(named), binary=binary)
    places_by_options = {
        option_set: rule.positive(*option_set)
        for option_set in set(zip(items["options"], items["n_options"], strict=True))
    }
    rule.refuse_unknown(places_by_options)
    letters = np.zeros((len(items), len(LETTERS)), dtype=np.bool_)
    texts = np.full(len(items), "", dtype=object)
    for row, option_set in enumerate(zip(items["options"], items["n_options"], strict=True)):
        positive_places = places_by_options[option_set]
        letters[row, positive_places] = True
        listed = _texts(option_set[0])
        texts[row] = ", ".join(listed[place] for place in positive_places if listed)
    return Dichotomy(letters=letters, texts=texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """The rule that derives the positive letters of an item from its options."""

    named: tuple[str, ...]
    binary: tuple[int, int] | None

    def positive(self, options: str, n_options: int) -> list[int]:
        """Return the positions of the positive options; empty for an item without two classes."""
        texts = _texts(options)
        n_offered = n_options or len(texts)
        chosen = self._places_of_named_options(texts, n_offered)
        if chosen and len(chosen) != n_offered:
            return sorted(chosen)
        if n_offered == 2:
            affirmative = [i for i, text in enumerate(texts) if _normalised(text) in AFFIRMATIVE]
            return affirmative if len(affirmative) == 1 else [1]
        return [self.binary[1]] if self.binary and not n_offered else []

    def _places_of_named_options(self, texts: Sequence[str], n_offered: int) -> set[int]:
        names = {_normalised(name) for name in self.named}
        by_text = {i for i, text in enumerate(texts) if _normalised(text) in names}
        by_letter = {PLACE[name] for name in self.named if name in PLACE}
        return by_text or {i for i in by_letter if i < (n_offered or len(LETTERS))}

    def refuse_unknown(self, places_by_options: dict[tuple[str, int], list[int]]) -> None:
        """Refuse names that no item offers."""
        for name in self.named:
            rule = _Rule(named=(name,), binary=None)
            if not any(
                rule._places_of_named_options(_texts(options), n_options)
                for options, n_options in places_by_options
            ):
                raise OptionsError(
                    f"positive is {quoted(name)}, which no item offers; give the letter of an"
                    " option, or its text as in items.csv"
                )


def _normalised(text: str) -> str:
    return text.strip().rstrip(".").casefold()


def _texts(options: str) -> list[str]:
    return [str(text) for text in json.loads(options)] if options.strip() else []
