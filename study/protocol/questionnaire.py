"""Checks a protocol's questions to its readers about themselves, and the answers to them."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from study.base.canonical import without_surrogates
from study.base.text import did_you_mean, quoted
from study.base.translation import t
from study.protocol.checks import Faults

MAX_QUESTIONS = 50
MAX_OPTIONS = 20
MAX_WORDS = 500
MAX_ANSWER = 2000

_KINDS = ("choice", "number", "text")
_KEYS = ("id", "question", "kind", "options", "required", "shown_if")
_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownIf:
    """A condition for showing a question: the answer to an earlier choice question."""

    question: str
    answer: str

    def as_json(self) -> dict[str, str]:
        """Return the condition with the keys of the TOML file."""
        return {"question": self.question, "is": self.answer}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderQuestion:
    """A question to a reader; only the kind ``choice`` has `options`."""

    id: str
    question: str
    kind: Literal["choice", "number", "text"]
    options: tuple[str, ...] = ()
    required: bool = True
    shown_if: ShownIf | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the question as JSON values, with the keys of the TOML file."""
        values = {**asdict(self), "options": list(self.options)}
        del values["shown_if"]  # a protocol without such conditions keeps its hash
        return values | ({"shown_if": self.shown_if.as_json()} if self.shown_if else {})


class UnfitAnswers(ValueError):
    """The answers do not match the questions; the message names the first that does not."""


def check_questions(value: Any) -> tuple[ReaderQuestion, ...]:
    """Check the questions of a protocol.

    Raises
    ------
    Faults
        The questions do not have the format in `docs/protocol.md`; every fault is listed.
    """
    if not isinstance(value, list) or len(value) > MAX_QUESTIONS:
        raise ValueError(
            t("must be a list of at most {max_questions} tables.", max_questions=MAX_QUESTIONS)
        )
    faults = [
        t("Question {n} of the questionnaire: {fault}", n=place, fault=fault)
        for place, question in enumerate(value, start=1)
        for fault in _faults(question)
    ]
    faults += [
        t("Question {n} of the questionnaire: {fault}", n=place + 1, fault=fault)
        for place, question in enumerate(value)
        if isinstance(question, Mapping) and "shown_if" in question
        for fault in _condition_faults(question["shown_if"], value[:place])
    ]
    ids = [question.get("id") for question in value if isinstance(question, Mapping)]
    repeated = sorted({quoted(name) for name in ids if ids.count(name) > 1})
    faults += [
        t("Two questions of the questionnaire have the id {id}. Rename one.", id=name)
        for name in repeated
    ]
    if faults:
        raise Faults(faults)
    return tuple(map(_question, value))


def _question(values: Mapping[str, Any]) -> ReaderQuestion:
    condition = values.get("shown_if")
    return ReaderQuestion(
        **{
            **values,
            "options": tuple(values.get("options", ())),
            "shown_if": condition
            and ShownIf(question=condition["question"], answer=condition["is"]),
        }
    )


def _condition_faults(condition: Any, earlier: Sequence[Any]) -> Iterator[str]:
    possible = [
        {"question": question["id"], "is": option}
        for question in earlier
        if isinstance(question, Mapping) and {"id", "options"} <= question.keys()
        if isinstance(question["options"], list)
        for option in question["options"]
    ]
    if condition not in possible:
        yield t("shown_if: must name an earlier choice question and one of its options.")


def _faults(question: Any) -> Iterator[str]:
    if not isinstance(question, Mapping):
        yield t("must be a table.")
        return
    for key in question:
        if key not in _KEYS:
            known = t("{key}: unknown key. Known keys: {listed}.", key=key, listed=", ".join(_KEYS))
            yield known + did_you_mean(str(key), _KEYS)
    name = question.get("id")
    if not isinstance(name, str) or not _ID.fullmatch(name):
        yield t("id: must start with a letter, followed by up to 39 letters, digits, - or _.")
    if not _is_words(question.get("question")):
        yield t("question: must be text of 1 to {max_words} characters.", max_words=MAX_WORDS)
    if question.get("kind") not in _KINDS:
        yield t("kind: must be one of {listed}.", listed=", ".join(_KINDS))
    if not isinstance(question.get("required", True), bool):
        yield t("required: must be true or false.")
    yield from _option_faults(question.get("options", []), question.get("kind"))


def _option_faults(options: Any, kind: Any) -> Iterator[str]:
    if not isinstance(options, list) or not all(_is_words(option) for option in options):
        yield t(
            "options: must be a list of strings, each of 1 to {max_words} characters.",
            max_words=MAX_WORDS,
        )
    elif kind == "choice" and not 2 <= len(options) <= MAX_OPTIONS:
        yield t(
            "options: a choice question needs 2 to {max_options} options.", max_options=MAX_OPTIONS
        )
    elif kind in ("number", "text") and options:
        yield t("options: only a choice question has options. Remove them.")
    elif len(set(options)) < len(options):
        yield t("options: contains duplicates.")


def _is_words(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and len(value) <= MAX_WORDS


def check_answers(questions: Sequence[ReaderQuestion], answers: Any) -> dict[str, str | float]:
    """Check the answers to a questionnaire; return the answered questions in the form to store.

    Raises
    ------
    UnfitAnswers
        An answer belongs to no question or to a question that was not shown, a required question
        is not answered, or an answer does not match the kind of its question.
    """
    if not isinstance(answers, Mapping):
        raise UnfitAnswers(t("answers must be an object."))
    for name in answers:
        if name not in {question.id for question in questions}:
            raise UnfitAnswers(
                t("The questionnaire has no question {value}.", value=quoted(str(name)[:60]))
            )
    stored: dict[str, str | float] = {}
    for question in questions:
        answer = _answer(question, answers.get(question.id))
        condition = question.shown_if
        if condition and stored.get(condition.question) != condition.answer:
            if answer is not None:
                raise UnfitAnswers(
                    t(
                        "The question {id} is not asked after these answers. Remove its answer.",
                        id=quoted(question.id),
                    )
                )
        elif answer is not None:
            stored[question.id] = answer
        elif question.required:
            raise UnfitAnswers(t("The question {id} must be answered.", id=quoted(question.id)))
    return stored


def _answer(question: ReaderQuestion, value: Any) -> str | float | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if question.kind == "number":
        return _number(question, value)
    if not isinstance(value, str):
        raise UnfitAnswers(t("The answer to {id} must be text.", id=quoted(question.id)))
    if question.kind == "choice" and value not in question.options:
        raise UnfitAnswers(
            t("The answer to {id} is not one of its options.", id=quoted(question.id))
        )
    return value if question.kind == "choice" else without_surrogates(value)[:MAX_ANSWER]


def _number(question: ReaderQuestion, value: Any) -> float:
    try:
        number = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise UnfitAnswers(t("The answer to {id} must be a number.", id=quoted(question.id)))
    return number
