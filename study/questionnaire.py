"""The questionnaire: what a protocol asks its readers of themselves, and their answers, checked."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from study.checks import Faults
from study.surrogates import without_surrogates

MAX_QUESTIONS = 50
MAX_OPTIONS = 20
MAX_WORDS = 500
MAX_ANSWER = 2000

_KINDS = ("choice", "number", "text")
_KEYS = ("id", "question", "kind", "options", "required")
_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question to a reader; `options` are for the kind ``choice`` alone."""

    id: str
    question: str
    kind: Literal["choice", "number", "text"]
    options: tuple[str, ...] = ()
    required: bool = True

    def as_json(self) -> dict[str, Any]:
        """Return the question as JSON values, with the keys of the TOML file."""
        return {**asdict(self), "options": list(self.options)}


class UnfitAnswers(ValueError):
    """Answers that do not fit the questions; the text names the first that does not."""


def questions(value: Any) -> tuple[Question, ...]:
    """Check the questions of a protocol.

    Raises
    ------
    Faults
        Anything is not as documented in `docs/protocol.md`; every fault is listed.
    """
    if not isinstance(value, list) or len(value) > MAX_QUESTIONS:
        raise ValueError(f"must be a list of at most {MAX_QUESTIONS} tables.")
    faults = [
        f"questionnaire[{place}]: {fault}"
        for place, one in enumerate(value, start=1)
        for fault in _faults(one)
    ]
    ids = [one.get("id") for one in value if isinstance(one, Mapping)]
    twice = sorted({repr(one) for one in ids if ids.count(one) > 1})
    faults += [f"questionnaire: the id {one} stands there twice." for one in twice]
    if faults:
        raise Faults(faults)
    return tuple(Question(**{**one, "options": tuple(one.get("options", ()))}) for one in value)


def _faults(one: Any) -> Iterator[str]:
    if not isinstance(one, Mapping):
        yield "must be a table."
        return
    for key in one:
        if key not in _KEYS:
            yield f"{key}: unknown key. Known keys: {', '.join(_KEYS)}."
    name = one.get("id")
    if not isinstance(name, str) or not _ID.fullmatch(name):
        yield "id: must be a letter and then at most 39 letters, digits, - or _."
    if not _is_words(one.get("question")):
        yield f"question: must be text of 1 to {MAX_WORDS} characters."
    if one.get("kind") not in _KINDS:
        yield f"kind: must be one of {', '.join(_KINDS)}."
    if not isinstance(one.get("required", True), bool):
        yield "required: must be true or false."
    yield from _option_faults(one.get("options", []), one.get("kind"))


def _option_faults(options: Any, kind: Any) -> Iterator[str]:
    if not isinstance(options, list) or not all(_is_words(option) for option in options):
        yield f"options: must be a list of texts of 1 to {MAX_WORDS} characters."
    elif kind == "choice" and not 2 <= len(options) <= MAX_OPTIONS:
        yield f"options: a choice has 2 to {MAX_OPTIONS} of them."
    elif kind in ("number", "text") and options:
        yield "options: only a choice has them. Leave them out."
    elif len(set(options)) < len(options):
        yield "options: names something twice."


def _is_words(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and len(value) <= MAX_WORDS


def fit_answers(asked: Sequence[Question], given: Any) -> dict[str, str | float]:
    """Return the answers to a questionnaire as they are stored; a question left open is left out.

    Raises
    ------
    UnfitAnswers
        A question is not asked, a required one not answered, or an answer is not of its kind.
    """
    if not isinstance(given, Mapping):
        raise UnfitAnswers("answers is an object.")
    for name in given:
        if name not in {question.id for question in asked}:
            raise UnfitAnswers(f"The questionnaire has no question {str(name)[:60]!r}.")
    found = {}
    for question in asked:
        answer = _answer(question, given.get(question.id))
        if answer is not None:
            found[question.id] = answer
        elif question.required:
            raise UnfitAnswers(f"The question {question.id!r} needs an answer.")
    return found


def _answer(question: Question, value: Any) -> str | float | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if question.kind == "number":
        return _number(question, value)
    if not isinstance(value, str):
        raise UnfitAnswers(f"The answer to {question.id!r} must be text.")
    if question.kind == "choice" and value not in question.options:
        raise UnfitAnswers(f"The answer to {question.id!r} is none of its options.")
    return value if question.kind == "choice" else without_surrogates(value)[:MAX_ANSWER]


def _number(question: Question, value: Any) -> float:
    try:
        found = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        raise UnfitAnswers(f"The answer to {question.id!r} must be a number.")
    return found
