"""The checked bundle, its columns, and the values that they allow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import pandas as pd


class RaterKind(StrEnum):
    """The kind of a rater."""

    READER = "reader"
    MODEL = "model"


class PairKind(StrEnum):
    """The kinds of the two raters in a pair."""

    READERS = "reader-reader"
    MIXED = "reader-model"
    MODELS = "model-model"


class Status(StrEnum):
    """The outcome of a reading; `absent` means that there is no row and never occurs in a file."""

    ANSWERED = "answered"
    SKIPPED = "skipped"
    TIMED_OUT = "timed_out"
    UNPARSED = "unparsed"
    REFUSED = "refused"
    ABSENT = "absent"


RULE_SETS = ("strict", "standard", "loose")
"""The sets of rules for parsing models' outputs, which are columns of `answers_by_rules.csv`."""

OPEN_ANSWER_KINDS = ("answer", "explanation")
SCORE_VALUES = {"correct": 1.0, "partly correct": 0.5, "incorrect": 0.0}
"""The levels of a score, best first, with their values."""

WRITTEN_STATUSES = tuple(status for status in Status if status is not Status.ABSENT)
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LETTER_POSITIONS = {letter: place for place, letter in enumerate(LETTERS)}

ITEM_COLUMNS = (
    "item_id",
    "truth",
    "n_options",
    "options",
    "question",
    "task",
    "category",
    "subcategory",
    "examination_id",
    "patient_id",
    "option_set",
    "bank",
    "sex",
)
RATER_COLUMNS = (
    "rater_id",
    "rater_kind",
    "label",
    "level",
    "years",
    "site",
    "model_version",
    "arm",
)
READING_COLUMNS = (
    "rater_id",
    "item_id",
    "answer",
    "condition",
    "session",
    "repeat",
    "position",
    "status",
    "confidence",
    "response_ms",
    "elapsed_ms",
    "hidden_ms",
    "paused_ms",
    "presented_at_utc",
    "answered_at_utc",
    "timing_source",
    "shown_order",
    "raw_answer",
    "flags",
    "excluded",
    "run",
    "aid_model",
    "aid_answer",
    "aid_planted",
    "aid_shown_ms",
    "stage",
    "arm",
    "block",
)
OPEN_ANSWER_COLUMNS = (
    "answer_id",
    "kind",
    "rater_id",
    "rater_kind",
    "item_id",
    "condition",
    "run",
    "status",
    "words",
    "response_ms",
    "flags",
    "excluded",
)
OPEN_SCORE_COLUMNS = ("answer_id", "scorer", "turn", "score", "comment", "scored_at_utc")
READING_NUMBERS = ("position", "confidence", "response_ms", "elapsed_ms", "hidden_ms", "paused_ms")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bundle:
    """A checked bundle.

    Parameters
    ----------
    items : pandas.DataFrame
        One row per item: the columns of `items.csv` as text, where `truth` is a letter or empty and
        `n_options` an int (0: not stated).
    raters : pandas.DataFrame
        One row per rater: `rater_id`, `rater_kind`, `label` (never empty), `simulated` (bool) and
        the other columns of `raters.csv` as text.
    readings : pandas.DataFrame
        One row per reading: the columns of `readings.csv` as text, where `answer` is a letter or
        empty, `status` is never empty, `repeat` is an int and `flags` are words separated by single
        spaces. With `answers_by_rules.csv` there is a column for each of `RULE_SETS`: a letter or a
        status, or empty if all rules give the same answer as the study.
    aside : pandas.DataFrame
        The models' readings outside the primary analysis, with the same columns as `readings`: runs
        after the first, and conditions that no reader had.
    open_answers : pandas.DataFrame
        One row per free-text answer or explanation: the columns of `open_answers.csv` as text.
    open_scores : pandas.DataFrame
        One row per score of an answer or explanation: the columns of `open_scores.csv` as text,
        `turn` as int.
    protocol : mapping
        The protocol as exported; empty if there is none.
    confidence_means : str
        The meaning of confidence, `answer` or `finding`; empty if no input states it.
    sha256 : mapping of str to str
        SHA-256 of every input file.
    about : mapping
        The entry `reading_room` of `datapackage.json`; empty if there is none.
    """

    items: pd.DataFrame
    raters: pd.DataFrame
    readings: pd.DataFrame
    aside: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=[*READING_COLUMNS]))
    open_answers: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(columns=[*OPEN_ANSWER_COLUMNS], dtype=object)
    )
    open_scores: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(columns=[*OPEN_SCORE_COLUMNS], dtype=object)
    )
    protocol: Mapping[str, Any] = field(default_factory=dict)
    confidence_means: str = ""
    sha256: Mapping[str, str] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def labels(self) -> dict[str, str]:
        """The labels of raters in figures and tables, by `rater_id`."""
        return dict(zip(self.raters["rater_id"], self.raters["label"], strict=True))

    @property
    def simulated(self) -> frozenset[str]:
        """The raters whose answers came from a simulation."""
        return frozenset(self.raters.loc[self.raters["simulated"].astype(bool), "rater_id"])
