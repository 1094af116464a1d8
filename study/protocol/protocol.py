"""The protocol: everything decided before reading starts, as one checked value.

It is written by hand as TOML (see `docs/protocol.md`). Unknown keys are rejected, omitted keys take
their default, and all errors are listed at once. Designs are explained in `docs/designs.md`.
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

from study.bank.content import BY_ITEM
from study.base.bank_model import VIEW_CLASSES
from study.base.budget import BUDGET
from study.base.errors import BadProtocol, NotFound
from study.base.system import system_reason
from study.base.text import did_you_mean, nearest, quoted
from study.base.translation import in_language, languages, later, t, tn, translated
from study.protocol import checks
from study.protocol.arms import Arm, arms
from study.protocol.checks import ids_beside
from study.protocol.contradictions import contradictions
from study.protocol.metadata import Metadata, metadata
from study.protocol.questionnaire import ReaderQuestion, questions
from study.protocol.sample_size import SampleSize, sample_size
from study.store import Store
from study.store.draws import ATTRIBUTES
from study.store.studies import StudyRow, study_row


class Condition(StrEnum):
    """The content shown to a reader (MRMC: modality).

    aided: a model's answer as well; wrong-image: the images of another patient; open-ended: no
    options, and the answer is text.
    """

    UNAIDED = "unaided"
    AIDED = "aided"
    IMAGE_ABSENT = "image-absent"
    WRONG_IMAGE = "wrong-image"
    OPEN_ENDED = "open-ended"


class Aid(StrEnum):
    """When the model's answer is shown in the condition aided; after: sequential reading."""

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
ABOUT = ("readers like these", "these readers")
AID_SHOWS = ("answer", "confidence", "explanation", "boxes", "map")
AID_MISSING = ("refuse", "say")
MAX_PROSE = 20_000

EXCLUSIONS = ("sensitivity", "primary")
SCORE_CARDS = ("own", "peers")
BUNDLE_EXTRAS = ("questionnaire", "questionnaire texts", "display checks")

CONSENT_TO_INSERT = later("[Insert the consent text approved by your ethics committee]")
"""The placeholder in the example of a consent text, in the language in use."""

AID_KEYS = ("aid", "aid_model", "aid_shows", "aid_text", "aid_missing", "aid_errors")
"""Keys that describe the aid of the condition aided."""

_LEFT_OUT = frozenset(
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
"""Keys that the locked protocol contains only if they are not at their default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """A checked protocol.

    Parameters
    ----------
    cases
        Number of cases to draw.
    seed
        Fixes the draw and every order.
    allocation
        ``"proportional"``, ``"equal"`` or cases by stratum.
    one_question_per
        The unit that may give one question only: ``patient``, ``examination`` or ``item``.
    confidence
        Steps of the confidence scale; 0 for none.
    sessions
        Sessions of each reader. A single session contains all conditions; of several, each
        contains one condition.
    washout_days
        Days from the reader's last reading of a session to the opening of the next session.
    time_limit_s
        Time limit per case in seconds; 0 for no limit.
    margin
        Non-inferiority margin, model minus mean of the readers, as a proportion.
    practice_cases
        Number of practice cases from outside the sample, read first and with feedback; they are
        not part of the study's readings.
    instructions, consent
        Markdown shown before the first case; empty for none.
    questionnaire
        Questions to readers about themselves.
    display_check
        Whether the screen is checked at each sign-in.
    cannot_answer
        Whether readers may leave a case unanswered with a reason.
    fault_marks
        Whether readers may mark a question as faulty, in addition to their answer.
    break_every
        Cases after which a break is offered; 0 for never.
    session_days
        Days within which a session must be finished after its first case; 0 for no limit.
    interim_results
        Whether accuracy may be seen while the study is open.
    endpoint, hypothesis, claim_about
        The declared endpoint and hypothesis, and the readers they apply to; empty if not declared.
    primary_model
        The model of the hypothesis; empty if it applies to every model.
    positive
        Options that count as positive in sensitivity and specificity, as letters or texts.
    subgroups
        Fields of the items by which the comparisons of readers are repeated, besides the task.
    ordered_options
        Whether the options of questions that share their options are ordered, as for a grade: the
        agreement is then also weighted.
    years_limit
        Years of experience from which readers form a group that is compared with the others; 0 for
        no such groups.
    smallest_window
        Smallest permitted window in CSS pixels, in either orientation; empty for no limit.
    exclusions
        Whether excluded readings are left out of the ``primary`` analysis, or of a ``sensitivity``
        analysis only.
    score_card
        Whether a score card shows the reader's ``own`` answers only, or also those of anonymous
        ``peers`` and of the models.
    bundle_extras
        Data from before the first case that the bundle contains: the ``questionnaire`` (choices
        and numbers; free text with ``questionnaire texts`` too) and the ``display checks``.
    required_views
        Kinds of view that every case must have.
    age, unknown_age
        Minimum and maximum age in years, inclusive; empty for any. Whether items with unknown or
        unreadable age may be drawn.
    sex
        Permitted sexes; empty for any.
    without_flags
        Codes of content rules; items that break one of them are not drawn.
    only_items, without_items
        The item_ids that may be drawn, and those that may not; empty for no limit.
    aid
        When the model's answer is shown in the condition aided.
    aid_model
        The name of the model whose answers are shown.
    aid_shows
        Which parts of its answers are shown, of `AID_SHOWS`.
    aid_text
        Markdown that introduces the aid.
    aid_missing
        Whether a case without an answer prevents the opening (``refuse``), or the page states that
        there is none (``say``).
    aid_errors
        Number of correct answers of the model that are replaced by wrong ones.
    reads_per_case
        Readers of each arm who read a case outside the anchor; 0 for all of them.
    cases_per_reader
        Cases of each reader; 0: as many as `reads_per_case` requires.
    anchor
        Number of cases that every reader reads in an incomplete design.
    arms
        Parallel arms to which readers are randomised; empty for none.
    session_feedback
        Whether readers learn the approximate share of correct answers after a session.
    metadata
        Information for reviewers; it does not affect cases.
    sample_size
        The planned sample size with its power; it does not affect cases.
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
    def presented(self) -> tuple[Condition, ...]:
        """Return the conditions in which cases are presented.

        In sequential reading one presentation has an unaided and an aided answer.
        """
        if self.is_sequential:
            return tuple(name for name in self.conditions if name != Condition.UNAIDED)
        return self.conditions

    @property
    def has_new_design(self) -> bool:
        """Whether the lists of readers are made by `study.protocol.designs`.

        Lists of earlier designs are made by the original rules, so that they do not change.
        """
        new = {Condition.AIDED, Condition.WRONG_IMAGE}
        return self.is_incomplete or bool(self.arms) or not new.isdisjoint(self.conditions)

    @property
    def case_blocks(self) -> int:
        """Return the number of blocks of cases that change conditions together; 0 for none."""
        with_options = [name for name in self.presented if name != Condition.OPEN_ENDED]
        divided = self.has_new_design and self.sessions > 1 and len(with_options) > 1
        return len(with_options) if divided else 0

    @property
    def all_conditions(self) -> tuple[Condition, ...]:
        """Return the conditions of all arms in which there are readings."""
        read: dict[Condition, None] = {}
        for arm in self.by_arm.values():
            if arm.is_sequential:
                read[Condition.UNAIDED] = None
            read |= dict.fromkeys(arm.conditions)
        return tuple(read)

    @property
    def by_arm(self) -> dict[str, "Protocol"]:
        """Return the protocol of the readers of each arm; one without name if there are none."""
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

        Later keys are left out at their default, so that a protocol that does not use them keeps
        its hash.
        """
        values = self.in_full()
        defaults = Protocol().in_full()
        return {
            key: value
            for key, value in values.items()
            if key not in _LEFT_OUT or value != defaults[key]
        }

    def in_full(self) -> dict[str, Any]:
        """Return every key with its value as JSON values, defaults included."""
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
        """Return the protocol that `as_json` wrote."""
        return _checked(values, source="the stored protocol")


def read_protocol(path: Path) -> Protocol:
    """Read and check a protocol file; lists of items may be files in the same folder.

    Raises
    ------
    NotFound
        The file or one of its lists does not exist.
    BadProtocol
        It is not TOML or contains errors; all of them are listed.
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
    values = _parsed(text, source=str(path))
    for key in ITEM_LISTS:
        if isinstance(values.get(key), str):
            values[key] = ids_beside(path, values[key])
    return _checked(values, source=str(path))


def protocol_from(text: str, *, source: str) -> Protocol:
    """Check the text of a protocol file; `source` is its name in error messages.

    Raises
    ------
    BadProtocol
        It is not TOML or contains errors; all of them are listed.
    """
    return _checked(_parsed(text, source=source), source=source)


_QUOTED = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'")
_KEY = re.compile(r"\s*[\w-]+\s*")


def _refuse_deep_keys(text: str, source: str) -> None:
    """Reject keys such as ``a.a.a``, for which the parser takes quadratic time."""
    n_keys = 0
    for part in _QUOTED.sub("quoted", text).split("."):
        n_keys = n_keys + 1 if _KEY.fullmatch(part) else 0
        if n_keys > BUDGET.depth:
            raise BadProtocol(str(BUDGET.too_deep(source)))


def _parsed(text: str, *, source: str) -> dict[str, Any]:
    _refuse_deep_keys(text, source)
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise _not_toml(source, str(error)) from error


def _not_toml(source: str, reason: str) -> BadProtocol:
    """Return the error for a file that is not TOML; `reason` is a note for the command line."""
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
    """Return every error in a protocol that is being written; without errors it can be drawn."""
    return _examined(values)[1]


def example_faults(consent: object) -> list[str]:
    """Return the error in a consent text that still contains the placeholder, in any language.

    This is not one of `faults_of`, because a draft with the placeholder can be edited and
    previewed; it cannot be drawn or opened.
    """
    words = _squeezed(str(consent))
    for name in languages():
        with in_language(name):
            line = translated(CONSENT_TO_INSERT)
        if line and _squeezed(line) in words:
            return [
                t(
                    "consent still holds the placeholder {line}. Replace it with the text your "
                    "ethics committee approved, or leave the consent empty.",
                    line=line,
                )
            ]
    return []


def _squeezed(text: str) -> str:
    """Return the words of a text without line breaks, brackets and markup."""
    return " ".join(re.sub(r"[\W_]+", " ", text).casefold().split())


def refuse_example(protocol: Protocol) -> None:
    """Refuse to draw a protocol whose consent text still contains the placeholder.

    Raises
    ------
    BadProtocol
        It contains the placeholder.
    """
    faults = example_faults(protocol.consent)
    if faults:
        raise BadProtocol(t("The sample was not drawn:") + f"\n  {faults[0]}")


def _checked(values: Mapping[str, Any], *, source: str) -> Protocol:
    protocol, faults = _examined(values)
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
"""Unknown keys that are listed and compared with the known ones; the rest is only counted."""


def _examined(values: Mapping[str, Any]) -> tuple[Protocol, list[str]]:
    """Return the protocol of the valid keys, and all errors: in keys, values and between keys."""
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
                faults.append(f"{key} = {_short(values[key])}: {error}")
            faulty.add(key)
    protocol = Protocol(**valid)
    return protocol, faults + contradictions(protocol, except_keys=faulty)


def _unknown_key(key: str) -> str:
    suggestion = did_you_mean(key, _CHECKS)
    if suggestion:
        return t("{key}: unknown key.", key=key) + suggestion
    return t("{key}: unknown key. docs/protocol.md lists the keys.", key=key)


def _short(value: Any) -> str:
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
    "questionnaire": questions,
    "display_check": checks.yes_no,
    "cannot_answer": checks.yes_no,
    "break_every": checks.whole(0, 10_000),
    "session_days": checks.number(0, 3650),
    "interim_results": checks.yes_no,
    "endpoint": checks.one_of(("", *ENDPOINTS)),
    "hypothesis": checks.one_of(("", *HYPOTHESES)),
    "claim_about": checks.one_of(("", *ABOUT)),
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
    "without_flags": checks.some_of(BY_ITEM, at_least=0),
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
    "arms": arms(conditions=_conditions, aid=_aid, prose=checks.prose(MAX_PROSE)),
    "session_feedback": checks.yes_no,
    "metadata": metadata,
    "sample_size": sample_size,
}
assert set(_CHECKS) == {entry.name for entry in fields(Protocol)}


def stored_protocol(study: StudyRow) -> Protocol:
    """Return the protocol in force: the locked one of a study, with its amendments."""
    return _in_force(study.protocol, study.amendments)


@lru_cache(maxsize=64)
def _in_force(locked: str, amendments: str) -> Protocol:
    """Return a protocol from its stored text and amendments."""
    values = json.loads(locked)["protocol"]
    for changes in json.loads(amendments):
        values = {**values, **{key: change["new"] for key, change in changes.items()}}
    return Protocol.from_json(values)


_HEAD = "# The protocol of a reader study. What each key means: docs/protocol.md\n"


def toml_of_study(store: Store, study: str) -> str:
    """Return the protocol in force of a study, as amended.

    Raises
    ------
    NotFound
        No such study.
    """
    with store.look() as look:
        return as_toml(stored_protocol(study_row(look, study)))


def as_toml(protocol: Protocol) -> str:
    """Return a protocol as TOML, every key with its value.

    >>> print(as_toml(Protocol(cases=20)).splitlines()[2])
    cases = 20
    """
    values = protocol.in_full()
    # A carriage return within lines would be read as the end of a line, and be lost.
    return _HEAD + tomli_w.dumps(values, multiline_strings="\r" not in _texts(values))


def _texts(value: Any) -> str:
    """Return all texts of nested values."""
    if isinstance(value, Mapping):
        return "".join(map(_texts, value.values()))
    if isinstance(value, list):
        return "".join(map(_texts, value))
    return value if isinstance(value, str) else ""
