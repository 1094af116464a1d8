"""Which items have a positive and a negative class, and which letters are positive."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from analysis.arrays import Bools, Ints
from analysis.bundle.model import LETTER_POSITIONS, LETTERS, Bundle
from analysis.bundle.protocol import positive_options
from analysis.errors import OptionsError, quoted
from analysis.options import Options
from analysis.readings.matrix import NO_LETTER, ReadingMatrix
from analysis.readings.shared_items import SharedItems
from analysis.statistics.merits import (
    PERCENT_CORRECT,
    FigureOfMerit,
    FiguresOfMerit,
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
        The texts of the positive options; empty if the texts of the item's options are unknown.
    """

    letters: Bools
    texts: npt.NDArray[np.object_]

    def counted_items(self, matrix: ReadingMatrix) -> Bools:
        """Return the items with a reference standard and two classes, shape (n_items,)."""
        is_counted: Bools = matrix.has_truth & self.letters.any(axis=1)
        return is_counted

    def positive_items(self, matrix: ReadingMatrix) -> Bools:
        """Return whether the reference standard is positive, shape (n_items,)."""
        rows = np.arange(len(matrix.truth))
        positive: Bools = self.counted_items(matrix) & self.letters[rows, matrix.truth]
        return positive

    def has_item_class(self, matrix: ReadingMatrix) -> Bools:
        """Return whether the class of an answer is the item's, shape (n_items, n_columns).

        Missing answers count as incorrect.
        """
        rows = np.arange(len(matrix.truth))[:, None]
        answered = matrix.answers != NO_LETTER
        has_same_class = self.letters[rows, matrix.answers] == self.positive_items(matrix)[:, None]
        correct: Bools = self.counted_items(matrix)[:, None] & answered & has_same_class
        return correct

    def figures_of_merit(
        self, matrix: ReadingMatrix, shared: SharedItems, columns: Ints
    ) -> Iterator[FigureOfMerit]:
        """Yield the sensitivity and specificity of raters, over the items that they share.

        Parameters
        ----------
        matrix : ReadingMatrix
            The readings.
        shared : SharedItems
            The items; if they are too few, both metrics are undefined.
        columns : numpy.ndarray of int, shape (n_raters,)
            Positions of the raters in the matrix.
        """
        is_counted, positive = self.counted_items(matrix), self.positive_items(matrix)
        correct = self.has_item_class(matrix)[:, columns]
        for metric, of_class, word in (
            (Metric.SENSITIVITY, positive, "positive"),
            (Metric.SPECIFICITY, ~positive, "negative"),
        ):
            items = shared.items & is_counted & of_class
            reason = shared.reason or ("" if items.any() else f"no {word} item was given to all")
            yield FiguresOfMerit(matrix=matrix, ratings=None).figure(
                metric,
                replace(shared, items=items, reason=reason),
                percent_correct(correct[items], matrix.clusters[items]),
                PERCENT_CORRECT,
            )

    def positive_option_names(self, items: Bools) -> str:
        """Return the positive options of items: letters, or texts if the letters differ."""
        sets = np.unique(self.letters[items], axis=0)
        texts = sorted({str(text) for text in self.texts[items]})
        if len(sets) > 1 and "" not in texts:
            return "; ".join(texts)
        return "; ".join(_letter_list(row) for row in sets)


def _letter_list(row: Bools) -> str:
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
        An item has two classes if some of its options are named as positive and others are not.
        Any other item with two options also has two classes: the positive option is the one whose
        text is in `AFFIRMATIVE`, or else the second. Items without stated options have two classes
        if only two letters occur as reference standards and answers in the study.

    Raises
    ------
    OptionsError
        No item offers a named option.

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
    named_options = options.positive or positive_options(bundle.protocol)
    rule = _PositiveRule(named_options=tuple(named_options), binary=binary)
    places_by_options = {
        option_set: rule.positive_positions(*option_set)
        for option_set in set(zip(items["options"], items["n_options"], strict=True))
    }
    rule.refuse_unknown(places_by_options)
    letters = np.zeros((len(items), len(LETTERS)), dtype=np.bool_)
    texts = np.full(len(items), "", dtype=object)
    for row, option_set in enumerate(zip(items["options"], items["n_options"], strict=True)):
        positive_places = places_by_options[option_set]
        letters[row, positive_places] = True
        option_texts = _option_texts(option_set[0])
        texts[row] = ", ".join(option_texts[place] for place in positive_places if option_texts)
    return Dichotomy(letters=letters, texts=texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PositiveRule:
    """The rule that derives the positive letters of an item from its options."""

    named_options: tuple[str, ...]
    binary: tuple[int, int] | None

    def positive_positions(self, options: str, n_options: int) -> list[int]:
        """Return the positions of the positive options; empty for an item without two classes."""
        texts = _option_texts(options)
        n_offered = n_options or len(texts)
        named_places = self._places_of_named_options(texts, n_offered)
        if named_places and len(named_places) != n_offered:
            return sorted(named_places)
        if n_offered == 2:
            affirmative = [
                i for i, text in enumerate(texts) if _normalised_text(text) in AFFIRMATIVE
            ]
            return affirmative if len(affirmative) == 1 else [1]
        return [self.binary[1]] if self.binary and not n_offered else []

    def _places_of_named_options(self, texts: Sequence[str], n_offered: int) -> set[int]:
        names = {_normalised_text(name) for name in self.named_options}
        by_text = {i for i, text in enumerate(texts) if _normalised_text(text) in names}
        by_letter = {
            LETTER_POSITIONS[name] for name in self.named_options if name in LETTER_POSITIONS
        }
        return by_text or {i for i in by_letter if i < (n_offered or len(LETTERS))}

    def refuse_unknown(self, places_by_options: dict[tuple[str, int], list[int]]) -> None:
        """Raise an error for a name that no item offers."""
        for name in self.named_options:
            rule = _PositiveRule(named_options=(name,), binary=None)
            if not any(
                rule._places_of_named_options(_option_texts(options), n_options)
                for options, n_options in places_by_options
            ):
                raise OptionsError(
                    f"positive is {quoted(name)}, which no item offers; give the letter of an"
                    " option, or its text as in items.csv"
                )


def _normalised_text(text: str) -> str:
    return text.strip().rstrip(".").casefold()


def _option_texts(options: str) -> list[str]:
    return [str(text) for text in json.loads(options)] if options.strip() else []
