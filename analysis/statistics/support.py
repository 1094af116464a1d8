"""The patients that support a comparison: those with an answer on each of its sides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from analysis.arrays import Bools, Ints
from analysis.bundle.model import Bundle, RaterKind, Status
from analysis.presentation.wording import Row
from analysis.readings.matrix import (
    NO_LETTER,
    ReadingMatrix,
    columns_by_condition,
    first_readings,
)
from analysis.results import Results
from analysis.statistics.claims import PAIR_WEIGHTED
from analysis.statistics.study import Study

YEARS = "years"
OTHER_TASKS = "other tasks"
"""The grouping of a row over the items that do not belong to the task in `group`."""
NEVER_PRESENTED = "absent as wrong"
"""The analysis in `sensitivity_panel` that counts items not assigned to a reader."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """The readings of a run that support its comparisons.

    Parameters
    ----------
    study : Study
        The bundle with the options of the run.
    answered, counted : numpy.ndarray of bool, shape (n_items, n_columns)
        Whether a reading has an answer, and whether it is counted.
    places : dict of str to list of int
        The columns that are compared in each condition.
    """

    study: Study
    answered: Bools
    counted: Bools
    places: dict[str, list[int]]

    @property
    def matrix(self) -> ReadingMatrix:
        """The readings as arrays."""
        return self.study.matrix

    def columns(self, condition: str, raters: Iterable[str] | None = None) -> list[int]:
        """Return the columns of `raters` in a condition; by default those of all readers."""
        compared = [(i, self.matrix.columns[i]) for i in self.places.get(condition, [])]
        if raters is None:
            return [i for i, column in compared if column.kind is RaterKind.READER]
        return [i for i, column in compared if column.rater_id in raters]

    def patients(self, items: Bools | Ints) -> int:
        """Return the number of patients to whom these items belong."""
        return int(np.count_nonzero(np.bincount(self.matrix.clusters[items])))


_ANSWERS_OF_RESULTS: WeakKeyDictionary[Results, Answers] = WeakKeyDictionary()


def answers_of(results: Results) -> Answers:
    """Return the readings of a run, which are arranged only once."""
    if results not in _ANSWERS_OF_RESULTS:
        _ANSWERS_OF_RESULTS[results] = answers_of_study(Study(results.bundle, results.options))
    return _ANSWERS_OF_RESULTS[results]


def keep_readings(results: Results, matrix: ReadingMatrix) -> None:
    """Keep the readings of a run, whose matrix is known, for `answers_of`."""
    study = Study(results.bundle, results.options)
    vars(study)["matrix"] = matrix
    _ANSWERS_OF_RESULTS[results] = answers_of_study(study)


def answers_of_study(study: Study) -> Answers:
    """Arrange the readings of a study."""
    matrix = study.matrix
    return Answers(
        study=study,
        answered=matrix.answers != NO_LETTER,
        counted=matrix.is_counted,
        places=columns_by_condition(matrix.columns),
    )


def patients_with_answers(results: Results) -> int:
    """Return the number of patients with at least one answer."""
    answers = answers_of(results)
    return answers.patients(np.flatnonzero(answers.answered.any(axis=1)))


def patients_ranked(bundle: Bundle, condition: str) -> int:
    """Return the number of patients with answers of two raters or more in a condition."""
    answers = answers_of_study(Study(bundle))
    answered_here = answers.answered[:, answers.places.get(condition, [])]
    return answers.patients(answered_here.sum(axis=1) > 1)


def patients_compared(results: Results, row: Row) -> int:
    """Return the number of patients with an answer on each side of a row's comparison.

    `row` is from a table that compares raters, conditions or groups of readers. An item supports
    the comparison if each side has an answer to it: a model and a reader, readers under each
    condition, or a reader of each group. The item must also be assigned to every reader, unless
    the mean is pair-weighted or the analysis counts items not assigned to a reader.
    """
    answers = answers_of(results)
    sides = _sides(answers, row)
    items = answers.matrix.has_truth.copy()
    for side in sides:
        items &= answers.answered[:, side].any(axis=1)
    if row.get("method") != PAIR_WEIGHTED and row.get("analysis") != NEVER_PRESENTED:
        items &= answers.counted[:, [column for side in sides for column in side]].all(axis=1)
    by, group = str(row.get("by", "")), str(row.get("group", ""))
    if by == OTHER_TASKS:
        items &= answers.matrix.groups["task"] != group
    elif by in answers.matrix.groups:
        items &= answers.matrix.groups[by] == group
    return answers.patients(items)


def _sides(answers: Answers, row: Row) -> list[list[int]]:
    """Return the columns of each side of a comparison."""
    condition = str(row.get("condition", row.get("condition_a", "")))
    if "rater_a" in row:
        return [answers.columns(condition, [str(row[side])]) for side in ("rater_a", "rater_b")]
    if row.get("model_id"):
        return [
            answers.columns(condition, [str(row["model_id"])]),
            answers.columns(condition),
        ]
    if "factor" in row:
        return _sides_of_groups(answers, row)
    if "condition_a" in row:
        conditions = [str(row["condition_a"]), str(row["condition_b"])]
        return [answers.columns(name, _readers_under(answers, conditions)) for name in conditions]
    return [answers.columns(condition)]


def _readers_under(answers: Answers, conditions: list[str]) -> set[str]:
    """Return the readers with readings under all conditions."""
    readers = [
        {answers.matrix.columns[i].rater_id for i in answers.columns(name)} for name in conditions
    ]
    return set.intersection(*readers)


def _sides_of_groups(answers: Answers, row: Row) -> list[list[int]]:
    """Return the columns of two groups of readers, under each condition that is compared."""
    groups = [
        _group_members(answers, str(row["factor"]), str(row[f"group_{side}"])) for side in "ab"
    ]
    if "condition_a" in row:
        conditions = [str(row["condition_a"]), str(row["condition_b"])]
        paired = _readers_under(answers, conditions)
        return [answers.columns(name, group & paired) for name in conditions for group in groups]
    # Parallel arms without a common condition are compared under their own conditions.
    condition = str(row["condition"])
    own_conditions = [condition] * 2 if condition in answers.places else condition.split(" - ")
    return [
        answers.columns(name, group) for name, group in zip(own_conditions, groups, strict=True)
    ]


def _group_members(answers: Answers, factor: str, group: str) -> set[str]:
    raters = answers.study.bundle.raters
    readers = raters.loc[raters["rater_kind"] == RaterKind.READER]
    if factor != YEARS:
        return set(readers.loc[readers[factor] == group, "rater_id"])
    limit = answers.study.years_limit
    years = pd.to_numeric(readers["years"], errors="coerce")
    is_member = years < limit if group.startswith("<") else years >= limit
    return set(readers.loc[is_member, "rater_id"])


def patients_for_agreement(results: Results, condition: str) -> int:
    """Return the number of patients who support both kinds of agreement in a condition.

    It is the smaller of two numbers: patients with answers of two readers, and patients with
    answers of a reader and a model.
    """
    answers = answers_of(results)
    readers = answers.columns(condition)
    models = [i for i in answers.places.get(condition, []) if i not in readers]
    by_readers = answers.answered[:, readers].sum(axis=1)
    with_models = (by_readers > 0) & answers.answered[:, models].any(axis=1)
    return min(answers.patients(by_readers > 1), answers.patients(with_models))


def patients_under_conditions(results: Results, rater: str, conditions: Iterable[str]) -> int:
    """Return the number of patients with answers of a rater under all of these conditions.

    Answers in words are included, and so are models' answers under conditions without readers.
    """
    bundle, answers = results.bundle, answers_of(results)
    tables = [bundle.readings, bundle.aside]
    choices = first_readings(pd.concat([part.loc[part["rater_id"] == rater] for part in tables]))
    choices = choices.loc[choices["status"] == Status.ANSWERED]
    words = bundle.open_answers
    words = words.loc[(words["rater_id"] == rater) & (words["status"] == Status.ANSWERED)]
    both = set(answers.matrix.item_ids)
    for condition in conditions:
        both &= {
            item
            for table in (choices, words)
            for item in table.loc[table["condition"] == condition, "item_id"]
        }
    return answers.patients(np.isin(answers.matrix.item_ids, sorted(both)))
