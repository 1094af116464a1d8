"""The protocol of a study: all decisions made before reading starts, as a single checked value.

A protocol is written as a TOML file (see `docs/protocol.md`). Unknown keys are rejected, omitted
keys have their default values, and all errors are listed at once. `docs/designs.md` explains the
study designs.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

import tomli_w

from study.bank.content import ITEM_RULES
from study.base.bank_model import VIEW_CLASSES
from study.base.budget import BUDGET
from study.base.errors import BadProtocol, NotFound
from study.base.system import system_reason
from study.base.text import did_you_mean, nearest, quoted
from study.base.translation import in_language, languages, later, t, tn, translated
from study.protocol import checks
from study.protocol.arms import Arm, arms_check
from study.protocol.checks import ids_beside
from study.protocol.contradictions import contradictions
from study.protocol.metadata import Metadata, check_metadata
from study.protocol.questionnaire import ReaderQuestion, check_questions
from study.protocol.sample_size import SampleSize, check_sample_size
from study.store import Store
from study.store.draws import ATTRIBUTES
from study.store.studies import StudyRow, study_row


class Condition(StrEnum):
    """The content shown to a reader, called modality in MRMC studies.

    aided: a model's answer is also shown; wrong-image: the images of another patient are shown;
    open-ended: no options are shown, and the answer is text.
    """

    UNAIDED = "unaided"
    AIDED = "aided"
    IMAGE_ABSENT = "image-absent"
    WRONG_IMAGE = "wrong-image"
    OPEN_ENDED = "open-ended"


class Aid(StrEnum):
    """When the model's answer is shown in the condition aided; `AFTER` is sequential reading."""

    FIRST = "first"
    ON_DEMAND = "on demand"
    AFTER = "after"


class Feedback(StrEnum):
    """When a reader learns the reference standard."""

    NEVER = "never"
    AFTER_CASE = "after case"
    AFTER_STUDY = "after study"


STRATA = ("bank", "task", "category", "subcategory", "view", "view_class", "sex", *ATTRIBUTES)
SUBGROUPS = ("category", "subcategory", "bank", "sex")
SEXES = ("female", "male", "other")
ITEM_LISTS = ("only_items", "without_items")
UNITS = ("patient", "examination", "item")
ORDERS = ("random", "fixed")
OPTION_ORDERS = ("canonical", "random")
CONTEXTS = ("age", "sex", "indication", "comparison", "prior")
ENDPOINTS = ("accuracy", "AUC", "pair-weighted accuracy", "pair-weighted AUC")
HYPOTHESES = ("non-inferiority", "superiority")
CLAIMS_ABOUT = ("readers like these", "these readers")
AID_SHOWS = ("answer", "confidence", "explanation", "boxes", "map")
AID_MISSING = ("refuse", "say")
MAX_PROSE = 20_000

EXCLUSIONS = ("sensitivity", "primary")
SCORE_CARDS = ("own", "peers")
BUNDLE_EXTRAS = ("questionnaire", "questionnaire texts", "display checks")

CONSENT_TO_INSERT = later("[Insert the consent text approved by your ethics committee]")
"""The placeholder in the example consent text, which is written in the user's language."""

AID_KEYS = ("aid", "aid_model", "aid_shows", "aid_text", "aid_missing", "aid_errors")
"""Keys that describe the aid in the condition aided."""

_OMITTED_AT_DEFAULT = frozenset(
    {
        "instructions",
        "consent",
        "questionnaire",
        "display_check",
        "cannot_answer",
        "break_every",
        "session_days",
        "interim_results",
        "endpoint",
        "hypothesis",
        "claim_about",
        "primary_model",
        "positive",
        "subgroups",
        "ordered_options",
        "years_limit",
        "smallest_window",
        "exclusions",
        "score_card",
        "bundle_extras",
        "fault_marks",
        "required_views",
        "age",
        "unknown_age",
        "sex",
        "without_flags",
        *ITEM_LISTS,
        *AID_KEYS,
        "reads_per_case",
        "cases_per_reader",
        "anchor",
        "arms",
        "session_feedback",
        "metadata",
        "sample_size",
    }
)
"""Keys that the locked protocol contains only if their value differs from the default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """A checked protocol.

    Parameters
    ----------
    cases
        Number of cases to draw.
    seed
        Determines the draw and every random order.
    allocation
        ``"proportional"``, ``"equal"`` or the number of cases by stratum.
    one_question_per
        The unit of which at most one question is drawn: ``patient``, ``examination`` or ``item``.
    confidence
        Number of steps of the confidence scale; 0 for none.
    sessions
        Number of sessions of each reader. A single session contains all conditions; if there are
        several sessions, each contains one condition.
    washout_days
        Days from a reader's last reading in a session to the opening of the next session.
    time_limit_s
        Time limit per case in seconds; 0 for no limit.
    margin
        Non-inferiority margin for the model minus the mean of the readers, as a proportion.
    practice_cases
        Number of practice cases from outside the sample, which are read first and with feedback.
        They are not part of the study's readings.
    instructions, consent
        Markdown shown before the first case; empty for none.
    questionnaire
        Questions to readers about themselves.
    display_check
        Whether readers check their screen at each sign-in.
    cannot_answer
        Whether readers may leave a case unanswered with a reason.
    fault_marks
        Whether readers may mark a question as faulty, in addition to their answer.
    break_every
        Number of cases after which a break is offered; 0 for never.
    session_days
        Days within which a session must be finished after its first case; 0 for no limit.
    interim_results
        Whether accuracy may be seen while the study is open.
    endpoint, hypothesis, claim_about
        The declared endpoint and hypothesis, and the readers they apply to; empty if not declared.
    primary_model
        The model of the hypothesis; empty if it applies to every model.
    positive
        Options that count as positive for sensitivity and specificity, as letters or text.
    subgroups
        Fields of the items, besides the task, by whose values the comparisons of readers are
        repeated.
    ordered_options
        Whether the options are ordered, like grades, in questions that have the same options.
        Weighted agreement is then computed as well.
    years_limit
        Minimum years of experience of the readers who are compared, as a group, with the less
        experienced readers; 0 for no such comparison.
    smallest_window
        Smallest permitted window in CSS pixels, in either orientation; empty for no limit.
    exclusions
        Whether excluded readings are left out of the ``primary`` analysis or only of a
        ``sensitivity`` analysis.
    score_card
        Whether a score card shows the reader's ``own`` answers only, or also those of anonymous
        ``peers`` and of the models.
    bundle_extras
        Data recorded before the first case that the bundle contains: the ``questionnaire`` (choices
        and numbers), its free text (``questionnaire texts``) and the ``display checks``.
    required_views
        Kinds of view that every case must have.
    age
        Minimum and maximum age in years, inclusive; empty for any.
    unknown_age
        Whether items with an unknown or unreadable age may be drawn.
    sex
        Permitted sexes; empty for any.
    without_flags
        Codes of content rules; items that break any of them are not drawn.
    only_items, without_items
        The item_ids that may be drawn, and those that must not be drawn; empty for no limit.
    aid
        When the model's answer is shown in the condition aided.
    aid_model
        The name of the model whose answers are shown.
    aid_shows
        The parts of the model's answers that are shown; see `AID_SHOWS`.
    aid_text
        Markdown that introduces the aid.
    aid_missing
        Whether the study cannot be opened if the model has no answer to a case (``refuse``), or the
        page then states that there is no answer (``say``).
    aid_errors
        Number of correct answers of the model that are replaced by wrong answers.
    reads_per_case
        Number of readers in each arm who read a case outside the anchor; 0 for all readers.
    cases_per_reader
        Number of cases for each reader; 0 for as many as `reads_per_case` requires.
    anchor
        Number of cases that every reader reads in an incomplete design.
    arms
        Parallel arms to which readers are randomised; empty for none.
    session_feedback
        Whether readers learn the approximate share of correct answers after a session.
    metadata
        Information for reviewers; it does not affect the cases.
    sample_size
        The planned sample size with its power; it does not affect the cases.
    """

    name: str = ""
    cases: int = 200
    seed: int = 20250604
    stratify_by: tuple[str, ...] = ("task",)
    allocation: str | Mapping[str, int] = "proportional"
    one_question_per: str = "patient"
    case_order: str = "random"
    option_order: str = "canonical"
    conditions: tuple[Condition, ...] = (Condition.UNAIDED,)
    sessions: int = 1
    washout_days: float = 28
    confidence: int = 0
    comments: bool = False
    back_navigation: bool = False
    time_limit_s: float = 0
    feedback: Feedback = Feedback.NEVER
    practice_cases: int = 0
    hidden_repeats: int = 0
    context: tuple[str, ...] = ("age", "sex")
    margin: float = 0.05
    instructions: str = ""
    consent: str = ""
    questionnaire: tuple[ReaderQuestion, ...] = ()
    display_check: bool = False
    cannot_answer: bool = False
    break_every: int = 0
    session_days: float = 0
    interim_results: bool = False
    endpoint: str = ""
    hypothesis: str = ""
    claim_about: str = ""
    primary_model: str = ""
    positive: tuple[str, ...] = ()
    subgroups: tuple[str, ...] = ()
    ordered_options: bool = False
    years_limit: int = 0
    smallest_window: tuple[int, ...] = (1024, 700)
    exclusions: str = "sensitivity"
    score_card: str = "own"
    bundle_extras: tuple[str, ...] = ()
    fault_marks: bool = False
    required_views: tuple[str, ...] = ()
    age: tuple[int, ...] = ()
    unknown_age: bool = False
    sex: tuple[str, ...] = ()
    without_flags: tuple[str, ...] = ()
    only_items: tuple[str, ...] = ()
    without_items: tuple[str, ...] = ()
    aid: Aid = Aid.FIRST
    aid_model: str = ""
    aid_shows: tuple[str, ...] = ("answer",)
    aid_text: str = ""
    aid_missing: str = "refuse"
    aid_errors: int = 0
    reads_per_case: int = 0
    cases_per_reader: int = 0
    anchor: int = 0
    arms: tuple[Arm, ...] = ()
    session_feedback: bool = False
    metadata: Metadata = field(default_factory=Metadata)
    sample_size: SampleSize = field(default_factory=SampleSize)

    @property
    def is_incomplete(self) -> bool:
        """Whether each reader reads only some of the cases."""
        return bool(self.reads_per_case or self.cases_per_reader)

    @property
    def is_aided(self) -> bool:
        """Whether any reader reads cases with an aid."""
        return Condition.AIDED in self.all_conditions

    @property
    def is_sequential(self) -> bool:
        """Whether aided cases are answered twice, before and after the aid is shown."""
        return self.aid == Aid.AFTER and Condition.AIDED in self.conditions

    @property
    def presented_conditions(self) -> tuple[Condition, ...]:
        """Return the conditions in which cases are presented.

        In sequential reading, the reader gives an unaided and an aided answer to one presentation.
        """
        if self.is_sequential:
            return tuple(name for name in self.conditions if name != Condition.UNAIDED)
        return self.conditions

    @property
    def has_new_design(self) -> bool:
        """Whether `study.protocol.designs` makes the lists of the readers.

        Lists of the earlier designs are made by the original rules, so that they do not change.
        """
        new = {Condition.AIDED, Condition.WRONG_IMAGE}
        return self.is_incomplete or bool(self.arms) or not new.isdisjoint(self.conditions)

    @property
    def case_blocks(self) -> int:
        """Return the number of blocks whose cases change their condition together; 0 for none."""
        with_options = [name for name in self.presented_conditions if name != Condition.OPEN_ENDED]
        divided = self.has_new_design and self.sessions > 1 and len(with_options) > 1
        return len(with_options) if divided else 0

    @property
    def all_conditions(self) -> tuple[Condition, ...]:
        """Return the conditions, in any arm, in which cases are read."""
        read: dict[Condition, None] = {}
        for arm in self.by_arm.values():
            if arm.is_sequential:
                read[Condition.UNAIDED] = None
            read |= dict.fromkeys(arm.conditions)
        return tuple(read)

    @property
    def by_arm(self) -> dict[str, "Protocol"]:
        """Return the protocol for the readers of each arm; without arms, under an empty name."""
        return {arm.name: self.of_arm(arm.name) for arm in self.arms} or {"": self}

    def of_arm(self, name: str) -> "Protocol":
        """Return the protocol that applies to the readers of an arm."""
        arm = next((arm for arm in self.arms if arm.name == name), None)
        if arm is None:
            return self
        return replace(
            self,
            conditions=arm.conditions or self.conditions,
            aid=Aid(arm.aid) if arm.aid else self.aid,
            aid_text=arm.aid_text or self.aid_text,
            instructions=arm.instructions or self.instructions,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the protocol as JSON values, with the keys of the TOML file.

        Keys added in later versions are omitted at their default value, so that a protocol that
        does not use them keeps its hash.
        """
        values = self.in_full()
        defaults = Protocol().in_full()
        return {
            key: value
            for key, value in values.items()
            if key not in _OMITTED_AT_DEFAULT or value != defaults[key]
        }

    def in_full(self) -> dict[str, Any]:
        """Return all keys, including those at their default, with their values as JSON values."""
        values = asdict(self)
        values["confidence"] = self.confidence or False
        values["allocation"] = (
            self.allocation if isinstance(self.allocation, str) else dict(self.allocation)
        )
        values["questionnaire"] = [question.as_json() for question in self.questionnaire]
        values["arms"] = [arm.as_json() for arm in self.arms]
        values["metadata"] = self.metadata.as_json()
        values["sample_size"] = self.sample_size.as_json()
        return {
            key: list(value) if isinstance(value, tuple) else value for key, value in values.items()
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Protocol":
        """Return the protocol from the values that `as_json` returned."""
        return _check_values(values, source="the stored protocol")


def read_protocol(path: Path) -> Protocol:
    """Read and check a protocol file; lists of items may be files in the same folder.

    Raises
    ------
    NotFound
        The file or one of its lists does not exist.
    BadProtocol
        The file is not TOML or contains errors, which are all listed.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise NotFound(
            t(
                "The protocol file {path} cannot be read: {strerror}.",
                path=path,
                strerror=system_reason(error),
            )
        ) from error
    except ValueError as error:
        raise BadProtocol(
            t("{path} is not encoded in UTF-8. Save it again as UTF-8.", path=path)
        ) from error
    values = _parse_toml(text, source=str(path))
    for key in ITEM_LISTS:
        if isinstance(values.get(key), str):
            values[key] = ids_beside(path, values[key])
    return _check_values(values, source=str(path))


def protocol_from(text: str, *, source: str) -> Protocol:
    """Check the text of a protocol file; `source` is its name in error messages.

    Raises
    ------
    BadProtocol
        The text is not TOML or contains errors, which are all listed.
    """
    return _check_values(_parse_toml(text, source=source), source=source)


_QUOTED_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'")
_KEY = re.compile(r"\s*[\w-]+\s*")


def _refuse_deep_keys(text: str, source: str) -> None:
    """Refuse deeply nested keys such as ``a.a.a``, for which the parser takes quadratic time."""
    n_keys = 0
    for part in _QUOTED_STRING.sub("quoted", text).split("."):
        n_keys = n_keys + 1 if _KEY.fullmatch(part) else 0
        if n_keys > BUDGET.depth:
            raise BadProtocol(str(BUDGET.too_deep(source)))


def _parse_toml(text: str, *, source: str) -> dict[str, Any]:
    _refuse_deep_keys(text, source)
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise _toml_error(source, str(error)) from error


def _toml_error(source: str, reason: str) -> BadProtocol:
    """Return the error for a file that is not TOML; `reason` is added as a note for commands."""
    if place := re.search(r"line (\d+), column (\d+)", reason):
        text = t(
            "{source} is not valid TOML: the error is in line {line}, column {column}. See "
            "docs/protocol.md.",
            source=source,
            line=place[1],
            column=place[2],
        )
    else:
        text = t("{source} is not valid TOML. See docs/protocol.md.", source=source)
    error = BadProtocol(text)
    error.add_note(reason)
    return error


def faults_of(values: Mapping[str, Any]) -> list[str]:
    """Return every error in a protocol that is being written; without errors, it can be drawn."""
    return _examine(values)[1]


def example_faults(consent: object) -> list[str]:
    """Return an error if a consent text still contains the placeholder, in any language.

    `faults_of` does not include this error, because a draft with the placeholder can be edited and
    previewed; it cannot be drawn or opened.
    """
    words = _plain_words(str(consent))
    for name in languages():
        with in_language(name):
            line = translated(CONSENT_TO_INSERT)
        if line and _plain_words(line) in words:
            return [
                t(
                    "consent still holds the placeholder {line}. Replace it with the text your "
                    "ethics committee approved, or leave the consent empty.",
                    line=line,
                )
            ]
    return []


def _plain_words(text: str) -> str:
    """Return the words of a string without line breaks, brackets and markup."""
    return " ".join(re.sub(r"[\W_]+", " ", text).casefold().split())


def refuse_example(protocol: Protocol) -> None:
    """Refuse to draw a protocol whose consent text still contains the placeholder.

    Raises
    ------
    BadProtocol
        The consent text contains the placeholder.
    """
    faults = example_faults(protocol.consent)
    if faults:
        raise BadProtocol(t("The sample was not drawn:") + f"\n  {faults[0]}")


def _check_values(values: Mapping[str, Any], *, source: str) -> Protocol:
    protocol, faults = _examine(values)
    if faults:
        fault_list = "\n".join(f"  {fault}" for fault in faults)
        raise BadProtocol(
            tn(
                "{source} has {n} error:\n{listed}",
                "{source} has {n} errors:\n{listed}",
                len(faults),
                source=source,
                listed=fault_list,
            )
        )
    return protocol


_MAX_UNKNOWN_KEYS = 100
"""Number of unknown keys that are listed and compared with the known keys; others are counted."""


def _examine(values: Mapping[str, Any]) -> tuple[Protocol, list[str]]:
    """Return the protocol with the valid keys, and all errors in keys, values and combinations."""
    faults: list[str] = []
    valid: dict[str, Any] = {}
    faulty: set[str] = set()
    unknown = [key for key in values if key not in _CHECKS]
    for key in unknown[:_MAX_UNKNOWN_KEYS]:
        faulty.add(nearest(key, _CHECKS))
        faults.append(_unknown_key(key))
    if n_more := len(unknown[_MAX_UNKNOWN_KEYS:]):
        faults.append(t("and {n} more unknown keys.", n=f"{n_more:,}"))
    for key, check in _CHECKS.items():
        if key in values:
            try:
                valid[key] = check(values[key])
                continue
            except checks.Faults as several:
                faults += several.lines
            except ValueError as error:
                faults.append(f"{key} = {_shortened_value(values[key])}: {error}")
            faulty.add(key)
    protocol = Protocol(**valid)
    return protocol, faults + contradictions(protocol, except_keys=faulty)


def _unknown_key(key: str) -> str:
    suggestion = did_you_mean(key, _CHECKS)
    if suggestion:
        return t("{key}: unknown key.", key=key) + suggestion
    return t("{key}: unknown key. docs/protocol.md lists the keys.", key=key)


def _shortened_value(value: Any) -> str:
    text = quoted(value)
    return text if len(text) <= 100 else f"{text[:97]}..."


def _conditions(value: Any) -> tuple[Condition, ...]:
    conditions = checks.some_of(tuple(Condition), at_least=1)(value)
    return tuple(Condition(name) for name in conditions)


def _aid(value: Any) -> Aid:
    return Aid(checks.one_of(tuple(Aid))(value))


_CHECKS: Mapping[str, checks.Check] = {
    "name": checks.text,
    "cases": checks.whole(1, 1_000_000),
    "seed": checks.whole(-(2**63), 2**63 - 1),
    "stratify_by": checks.some_of(STRATA, at_least=0),
    "allocation": checks.allocation,
    "one_question_per": checks.one_of(UNITS),
    "case_order": checks.one_of(ORDERS),
    "option_order": checks.one_of(OPTION_ORDERS),
    "conditions": _conditions,
    "sessions": checks.whole(1, 20),
    "washout_days": checks.number(0, 3650),
    "confidence": checks.confidence,
    "comments": checks.yes_no,
    "back_navigation": checks.yes_no,
    "time_limit_s": checks.number(0, 86_400),
    "feedback": lambda value: Feedback(checks.one_of(tuple(Feedback))(value)),
    "practice_cases": checks.whole(0, 1000),
    "hidden_repeats": checks.whole(0, 1_000_000),
    "context": checks.some_of(CONTEXTS, at_least=0),
    "margin": checks.number(0, 1),
    "instructions": checks.prose(MAX_PROSE),
    "consent": checks.prose(MAX_PROSE),
    "questionnaire": check_questions,
    "display_check": checks.yes_no,
    "cannot_answer": checks.yes_no,
    "break_every": checks.whole(0, 10_000),
    "session_days": checks.number(0, 3650),
    "interim_results": checks.yes_no,
    "endpoint": checks.one_of(("", *ENDPOINTS)),
    "hypothesis": checks.one_of(("", *HYPOTHESES)),
    "claim_about": checks.one_of(("", *CLAIMS_ABOUT)),
    "primary_model": checks.text,
    "positive": checks.texts(26),
    "subgroups": checks.some_of(SUBGROUPS, at_least=0),
    "ordered_options": checks.yes_no,
    "years_limit": checks.whole(0, 80),
    "smallest_window": checks.window,
    "exclusions": checks.one_of(EXCLUSIONS),
    "score_card": checks.one_of(SCORE_CARDS),
    "bundle_extras": checks.some_of(BUNDLE_EXTRAS, at_least=0),
    "fault_marks": checks.yes_no,
    "required_views": checks.some_of(tuple(VIEW_CLASSES), at_least=0),
    "age": checks.years,
    "unknown_age": checks.yes_no,
    "sex": checks.some_of(SEXES, at_least=0),
    "without_flags": checks.some_of(ITEM_RULES, at_least=0),
    "only_items": checks.ids,
    "without_items": checks.ids,
    "aid": _aid,
    "aid_model": checks.text,
    "aid_shows": checks.some_of(AID_SHOWS, at_least=1),
    "aid_text": checks.prose(MAX_PROSE),
    "aid_missing": checks.one_of(AID_MISSING),
    "aid_errors": checks.whole(0, 1_000_000),
    "reads_per_case": checks.whole(0, 10_000),
    "cases_per_reader": checks.whole(0, 1_000_000),
    "anchor": checks.whole(0, 1_000_000),
    "arms": arms_check(conditions=_conditions, aid=_aid, prose=checks.prose(MAX_PROSE)),
    "session_feedback": checks.yes_no,
    "metadata": check_metadata,
    "sample_size": check_sample_size,
}
assert set(_CHECKS) == {entry.name for entry in fields(Protocol)}


def stored_protocol(study: StudyRow) -> Protocol:
    """Return the protocol in force: the locked protocol of a study with its amendments."""
    return _protocol_in_force(study.protocol, study.amendments)


@lru_cache(maxsize=64)
def _protocol_in_force(locked: str, amendments: str) -> Protocol:
    """Return a protocol from its stored text and amendments."""
    values = json.loads(locked)["protocol"]
    for changes in json.loads(amendments):
        values = {**values, **{key: change["new"] for key, change in changes.items()}}
    return Protocol.from_json(values)


_TOML_HEADING = "# The protocol of a reader study. What each key means: docs/protocol.md\n"


def toml_of_study(store: Store, study: str) -> str:
    """Return the protocol in force of a study, with its amendments, as TOML.

    Raises
    ------
    NotFound
        The study does not exist.
    """
    with store.look() as look:
        return as_toml(stored_protocol(study_row(look, study)))


def as_toml(protocol: Protocol) -> str:
    """Return a protocol as TOML with all keys.

    >>> print(as_toml(Protocol(cases=20)).splitlines()[2])
    cases = 20
    """
    values = protocol.in_full()
    # A carriage return in a multi-line string would be read as a line end and be lost.
    return _TOML_HEADING + tomli_w.dumps(
        values, multiline_strings="\r" not in _joined_strings(values)
    )


def _joined_strings(value: Any) -> str:
    """Return all strings in nested values, joined."""
    if isinstance(value, Mapping):
        return "".join(map(_joined_strings, value.values()))
    if isinstance(value, list):
        return "".join(map(_joined_strings, value))
    return value if isinstance(value, str) else ""
