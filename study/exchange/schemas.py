"""The bundle's tables, column by column: the data dictionary that exports carry."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of a table: its name, Frictionless type, meaning and closed set if it has one."""

    name: str
    type: str = "string"
    description: str
    required: bool = False
    enum: tuple[str, ...] = ()
    seldom: bool = False
    """Whether a table in which no row has it is written without it."""

    def field(self) -> dict[str, Any]:
        """Return the column as a field of a Frictionless table schema."""
        constraints: dict[str, Any] = {}
        if self.required:
            constraints["required"] = True
        if self.enum:
            constraints["enum"] = list(self.enum)
        field: dict[str, Any] = {
            "name": self.name,
            "type": self.type,
            "description": self.description,
        }
        return {**field, "constraints": constraints} if constraints else field


STATUSES = ("answered", "skipped", "timed_out", "unparsed", "refused")

_ITEM_ID = Column(name="item_id", description="Item: one question", required=True)
_RATER_ID = Column(
    name="rater_id", description="Study code of a reader, or a model's name", required=True
)

ITEMS = (
    _ITEM_ID,
    Column(name="truth", description="Reference standard: a letter in canonical order"),
    Column(name="n_options", type="integer", description="Number of options offered"),
    Column(name="options", description="Options in canonical order, as a JSON list"),
    Column(name="question", description="The question as asked"),
    Column(name="task", description="Task the question belongs to"),
    Column(name="category", description="Category within the task"),
    Column(name="subcategory", description="Subcategory"),
    Column(name="examination_id", description="Examination the question is about"),
    Column(name="patient_id", description="Patient the examination is of"),
    Column(
        name="option_set",
        description="The same text where items offer the same options in the same order; "
        "empty where no other item of the study does",
    ),
    Column(name="bank", description="The bank it is of, where several were joined", seldom=True),
    Column(
        name="prior_days",
        description="Of each prior image shown, how many days before the current ones it was "
        "made, divided by |; ? where that is not known; empty where none was shown",
        seldom=True,
    ),
)

RATERS = (
    _RATER_ID,
    Column(
        name="rater_kind",
        description="Reader or model",
        required=True,
        enum=("reader", "model"),
    ),
    Column(name="label", description="Name for figures; says (simulated) where that is so"),
    Column(name="level", description="A reader's level of training"),
    Column(name="years", description="A reader's years of experience"),
    Column(name="site", description="A reader's site"),
    Column(name="model_version", description="A model's version"),
)

READINGS = (
    _RATER_ID,
    _ITEM_ID,
    Column(name="answer", description="Letter in the item's canonical order; empty if none"),
    Column(
        name="condition",
        description="What the reader was shown; of a model only where its file says so",
    ),
    Column(name="session", type="integer", description="Sitting block of the reader, from 1"),
    Column(
        name="repeat",
        type="integer",
        description="1, or 2 for a hidden repeat; of a model with several runs which one, from 1",
    ),
    Column(name="position", type="integer", description="Place in the reader's list, from 1"),
    Column(name="status", description="What became of the question", enum=STATUSES),
    Column(
        name="confidence",
        type="number",
        description="How sure the reader is of the answer: step of the confidence scale; of a "
        "model from 0 to 1",
    ),
    Column(
        name="response_ms",
        type="number",
        description="Milliseconds from the first painted frame to the commit, visible and unpaused",
    ),
    Column(name="elapsed_ms", type="number", description="Milliseconds from paint to commit, all"),
    Column(name="hidden_ms", type="number", description="Milliseconds out of sight in between"),
    Column(name="paused_ms", type="number", description="Milliseconds paused in between"),
    Column(name="presented_at_utc", description="Server's time of the presentation (ISO 8601)"),
    Column(name="answered_at_utc", description="Server's time the answer arrived (ISO 8601)"),
    Column(name="timing_source", description="browser, or simulated"),
    Column(name="shown_order", description="Canonical letters in the order they were shown"),
    Column(
        name="raw_answer",
        description="Letter as pressed, the reason for giving the case up, or a model's own words",
    ),
    Column(
        name="flags",
        description="What casts doubt on the reading or its times: words separated by blanks",
    ),
    Column(
        name="excluded",
        description="The reason for which the reading was set aside; empty where it counts",
    ),
    Column(name="run", description="What a model's run is called", seldom=True),
)

QUESTIONNAIRE = (
    _RATER_ID,
    Column(name="question_id", description="The question's id in the protocol", required=True),
    Column(name="question", description="The question as asked", required=True),
    Column(
        name="kind",
        description="How it was answered",
        required=True,
        enum=("choice", "number", "text"),
    ),
    Column(name="answer", description="What the reader said; empty where the question was left"),
)

DISPLAY_CHECKS = (
    _RATER_ID,
    Column(
        name="sign_in",
        type="integer",
        description="Which of the reader's checks it is, from 1: one a sign-in",
        required=True,
    ),
    Column(
        name="checked_at_utc",
        description="Moment the result was received, by the server's clock",
        required=True,
    ),
    Column(name="viewport_width", type="number", description="Window's width in CSS pixels"),
    Column(name="viewport_height", type="number", description="Window's height in CSS pixels"),
    Column(name="screen_width", type="number", description="Screen's width in CSS pixels"),
    Column(name="screen_height", type="number", description="Screen's height in CSS pixels"),
    Column(
        name="device_pixel_ratio", type="number", description="Pixels of the screen a CSS pixel"
    ),
    Column(name="page_zoom", type="number", description="Zoom of the page, 1 for none"),
    Column(name="colour_depth", type="number", description="Bits a pixel of the screen"),
    Column(
        name="middle_step",
        description="Smallest step, of 255 grey levels, seen on middle grey; none: not even 8",
    ),
    Column(name="dark_step", description="Smallest step seen on dark grey; none: not even 8"),
    Column(name="bright_step", description="Smallest step seen on bright grey; none: not even 8"),
    Column(name="presses", type="number", description="Shapes answered in the check"),
    Column(name="misplaced", type="number", description="Of these, those put in a wrong place"),
    Column(name="times", type="number", description="How often the check was gone through"),
    Column(
        name="advice",
        description="What the reader was advised on: of zoom, window, nothing, dark and bright, "
        "words separated by blanks; empty where the screen did well",
    ),
)

OPEN_ANSWERS = (
    Column(
        name="answer_id",
        description="Which words these are; the same for as long as the study is",
        required=True,
    ),
    Column(
        name="kind",
        description="answer: to an open-ended case; explanation: why a model answered as it did",
        required=True,
        enum=("answer", "explanation"),
    ),
    _RATER_ID,
    Column(
        name="rater_kind",
        description="Reader or model",
        required=True,
        enum=("reader", "model"),
    ),
    _ITEM_ID,
    Column(name="condition", description="What was shown; open-ended of every answer"),
    Column(
        name="run",
        description="What a model's run is called; of a reader the number of a hidden repeat, from "
        "2, else empty",
    ),
    Column(
        name="status",
        description="What became of the question; of an explanation that of its answer",
        enum=STATUSES,
    ),
    Column(name="words", description="The words as they were typed or put out"),
    Column(
        name="response_ms",
        type="number",
        description="Milliseconds from the first painted frame to the commit, visible and unpaused",
    ),
    Column(
        name="flags",
        description="What casts doubt on the reading or its times: words separated by blanks",
    ),
    Column(
        name="excluded",
        description="The reason for which the reading was set aside; empty where it counts",
    ),
)

OPEN_SCORES = (
    Column(name="answer_id", description="Which words, of open_answers.csv", required=True),
    Column(name="scorer", description="Who scored them: S1, S2, ...; no name", required=True),
    Column(
        name="turn",
        type="integer",
        description="1 and 2: blind to each other; 3: where these differ",
        required=True,
    ),
    Column(
        name="score",
        description="How right the words are; two that say the same are the score, of three that "
        "do not the middle one",
        required=True,
        enum=("correct", "partly correct", "incorrect"),
    ),
    Column(name="comment", description="What the scorer remarked"),
    Column(
        name="scored_at_utc",
        description="Moment the score was received, by the server's clock",
        required=True,
    ),
)

_BY_RULES = (
    ("strict", "What the words are by the strict rules: a letter, or a status"),
    ("standard", "The same by the standard rules"),
    ("loose", "The same by the loose rules"),
)
ANSWERS_BY_RULES = (
    _RATER_ID,
    _ITEM_ID,
    Column(name="condition", description="What the model was shown, as in the readings"),
    Column(name="run", description="What the model's run is called, as in the readings"),
    *(Column(name=name, description=said, required=True) for name, said in _BY_RULES),
)


def columns_in(name: str, rows: Iterable[Mapping[str, Any]]) -> tuple[Column, ...]:
    """Return the columns that a table of a name is written with, given its rows."""
    there = {key for row in rows for key, value in row.items() if value not in (None, "")}
    return tuple(column for column in FILES[name] if not column.seldom or column.name in there)


FILES = {
    "items.csv": ITEMS,
    "raters.csv": RATERS,
    "readings.csv": READINGS,
    "questionnaire.csv": QUESTIONNAIRE,
    "display_checks.csv": DISPLAY_CHECKS,
    "answers_by_rules.csv": ANSWERS_BY_RULES,
    "open_answers.csv": OPEN_ANSWERS,
    "open_scores.csv": OPEN_SCORES,
}
"""Every table a bundle may have; the first three are in each."""


def _refers(*keys: str) -> list[dict[str, Any]]:
    resources = {
        "rater_id": "raters-csv",
        "item_id": "items-csv",
        "answer_id": "open_answers-csv",
    }
    return [
        {"fields": [key], "reference": {"resource": resources[key], "fields": [key]}}
        for key in keys
    ]


KEYS: Mapping[str, Mapping[str, Any]] = {
    "items.csv": {"primaryKey": ["item_id"]},
    "raters.csv": {"primaryKey": ["rater_id"]},
    "readings.csv": {"foreignKeys": _refers("rater_id", "item_id")},
    "questionnaire.csv": {
        "primaryKey": ["rater_id", "question_id"],
        "foreignKeys": _refers("rater_id"),
    },
    "display_checks.csv": {
        "primaryKey": ["rater_id", "sign_in"],
        "foreignKeys": _refers("rater_id"),
    },
    "answers_by_rules.csv": {
        "primaryKey": ["rater_id", "item_id", "condition", "run"],
        "foreignKeys": _refers("rater_id", "item_id"),
    },
    "open_answers.csv": {
        "primaryKey": ["answer_id"],
        "foreignKeys": _refers("rater_id", "item_id"),
    },
    "open_scores.csv": {
        "primaryKey": ["answer_id", "scorer"],
        "foreignKeys": _refers("answer_id"),
    },
}
"""What tells a row of each table from the others, and what of it refers to another table."""
