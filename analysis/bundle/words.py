"""The closed sets of words a bundle is written in, and its columns."""

from __future__ import annotations

from enum import StrEnum


class RaterKind(StrEnum):
    """Who gave the answers."""

    READER = "reader"
    MODEL = "model"


class Status(StrEnum):
    """What became of a reading; `absent` is never written, it is a reading that has no row."""

    ANSWERED = "answered"
    SKIPPED = "skipped"
    TIMED_OUT = "timed_out"
    UNPARSED = "unparsed"
    REFUSED = "refused"
    ABSENT = "absent"


WRITTEN_STATUSES = tuple(status for status in Status if status is not Status.ABSENT)
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

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
)
RATER_COLUMNS = ("rater_id", "rater_kind", "label", "level", "years", "site", "model_version")
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
)
READING_NUMBERS = ("position", "confidence", "response_ms", "elapsed_ms", "hidden_ms", "paused_ms")
