"""A reader's course through a study: the steps before the first case, the sessions, and the end.

The steps are consent, instructions, questionnaire and display check, in this order. The first three
are done once, the display check at every sign-in, because the screen may have changed. A simulated
reader has no steps.

The wash-out is measured by the server's clock: a session opens `washout_days` after the last
reading of the previous session was received, and only if that session is complete. If the protocol
has `session_days`, a session lapses that long after its first presentation was received. Days that
a coordinator adds count from the time of the extension or from the session's previous end,
whichever is later.

Without back navigation, a reader who has read every case has finished. With back navigation, the
reader can review the answers, which become final when the reader confirms them.
"""

import hmac
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from itertools import groupby
from typing import Any

from study.base.actor import Acting
from study.base.canonical import canonical_json, moment, stamp
from study.base.translation import t
from study.people.signing_in import Person
from study.protocol.protocol import Protocol, stored_protocol
from study.protocol.questionnaire import ReaderQuestion, UnfitAnswers, check_answers
from study.reading.records import (
    N_CASES_SENT,
    SIMULATED,
    Finish,
    MalformedRecord,
    Preparation,
    RecordOutcome,
    clean_object,
)
from study.store import Transaction, deployment, events, people, readings
from study.store import readings as stored
from study.store.events import EventKind, record_with_hash
from study.store.people import ReaderRow
from study.store.readings import InterventionRow, SessionRow, WaitingCase
from study.store.studies import PRACTICE, StudyRow


class SessionState(StrEnum):
    """The state of a session.

    `WAITING`: the previous session is not complete. `WASHING_OUT`: it is complete, but the wash-out
    has not ended.
    """

    WAITING = "waiting"
    WASHING_OUT = "washing out"
    OPEN = "open"
    LAPSED = "lapsed"
    DONE = "done"


class Hold(StrEnum):
    """Why a reader receives no cases although some are unread."""

    CLOSED = "closed"
    WITHDRAWN = "withdrawn"
    PAUSED = "paused"
    WASHING_OUT = "washing out"
    LAPSED = "lapsed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStanding:
    """The state of a reader's session.

    `n_cases` and `n_cases_read` count the two readings of a case in sequential reading as one.
    `opens_at_utc` is None while it is unknown. `ends_at_utc` is None if the session has no time
    limit or no presentation yet.
    """

    reader_id: str
    session: int
    conditions: tuple[str, ...]
    n_assigned: int
    n_read: int
    n_cases: int
    n_cases_read: int
    state: SessionState
    opens_at_utc: str | None
    first_at_utc: str | None
    last_at_utc: str | None
    ends_at_utc: str | None
    paused: bool
    withdrawn: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A reader's position: all sessions, the current session, and the reason for a hold.

    `since_utc` is the start of the hold if it may have started while a case was on the screen.
    """

    sessions: tuple[SessionStanding, ...]
    current: SessionStanding
    hold: Hold | None
    since_utc: str | None

    @property
    def all_read(self) -> bool:
        """Whether every case has been read."""
        return all(session.n_read == session.n_assigned for session in self.sessions)

    @property
    def before(self) -> int:
        """The number of cases on the reader's list before the current session."""
        earlier = self.sessions[: self.current.session - 1]
        return sum(session.n_cases for session in earlier)


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Whether a record is accepted, possibly with a flag, or refused with a reason."""

    refused: str = ""
    flag: str = ""


def sessions_of(
    look: Transaction, study: StudyRow, count_rows: Iterable[Mapping[str, Any]], *, now: datetime
) -> list[SessionStanding]:
    """Return the state of every session of every reader of a study, by reader and session.

    Parameters
    ----------
    count_rows
        The rows that `study.store.progress.counts` returns.
    """
    protocol, steps = stored_protocol(study), stored.interventions(look, study.id)
    return [
        session
        for name, rows in groupby(count_rows, lambda row: str(row["reader_id"]))
        for session in _standings(
            protocol, name, _session_rows(rows), _interventions_on(steps, name), now
        )
    ]


def _session_rows(rows: Iterable[Mapping[str, Any]]) -> list[SessionRow]:
    sessions = (
        SessionRow(
            session=row["session"],
            condition=row["condition"],
            n_assigned=row["n_assigned"],
            n_read=row["n_read"],
            first_at_utc=row["first_shown_at_utc"],
            last_at_utc=row["last_reading_at_utc"],
            n_cases=row["n_cases"],
            n_cases_read=row["n_cases_read"],
        )
        for row in rows
    )
    return sorted(sessions, key=lambda row: row.session)


@dataclass(kw_only=True)
class ReaderContext:
    """A reader of an opened study, and the values that decide whether records are accepted.

    Each value is read from the store only once, when it is needed. `refresh` discards the values
    that a stored record may have changed.
    """

    look: Transaction
    protocol: Protocol
    person: Person
    now: datetime

    @property
    def reader(self) -> int:
        """The number of the reader's row."""
        return self.person.reader or 0

    @cached_property
    def row(self) -> ReaderRow:
        """The reader's row."""
        row = people.reader_row(self.look, self.reader)
        assert row is not None  # a role refers to it
        return row

    @property
    def is_simulated(self) -> bool:
        """Whether the reader is marked as simulated."""
        return bool(self.row.simulated)

    @cached_property
    def place(self) -> Place:
        """The reader's position in the study."""
        return place_of(self.look, self.protocol, self.row, self.interventions, now=self.now)

    @cached_property
    def interventions(self) -> list[InterventionRow]:
        """The interventions in the study, in order."""
        return stored.interventions(self.look, self.row.study)

    @cached_property
    def steps_done(self) -> set[tuple[str, str]]:
        """The steps that the reader has completed, each with the sign-in for which it counts."""
        return readings.steps_done(self.look, self.reader)

    @cached_property
    def practice_cases(self) -> list[WaitingCase]:
        """The next practice cases without a reading; a simulated reader has none."""
        if not self.protocol.practice_cases or self.is_simulated:
            return []
        return readings.unread(self.look, self.reader, N_CASES_SENT, case_set=PRACTICE)

    @cached_property
    def has_finished(self) -> bool:
        """Whether the reader has confirmed that their answers are final."""
        chain = events.study_chain(self.person.study_name)
        finished = EventKind.READING_FINISHED
        return events.last_hash(self.look, chain, finished, self.person.name) is not None

    def refresh(self) -> None:
        """Discard the values that a stored record may have changed."""
        for name in ("place", "steps_done", "practice_cases", "has_finished"):
            self.__dict__.pop(name, None)


def place_of(
    look: Transaction,
    protocol: Protocol,
    reader: ReaderRow,
    steps: Sequence[InterventionRow],
    *,
    now: datetime,
) -> Place:
    """Return the position of a reader of an opened study.

    Parameters
    ----------
    steps
        The study's interventions in order.
    """
    rows = stored.sessions_of_reader(look, reader.id)
    standings = tuple(_standings(protocol, reader.reader_id, rows, steps, now))
    current = next(
        (session for session in standings if session.state is not SessionState.DONE), standings[-1]
    )
    hold, held_since = _hold(current, steps)
    return Place(sessions=standings, current=current, hold=hold, since_utc=held_since)


def admit(
    place: Place, session: int, *, known: bool, shown_at: datetime | None, correction: bool
) -> Admission:
    """Return whether a record of a case in a session is accepted now.

    If the case was shown before a pause or before the session lapsed, the record is accepted and
    flagged, because it may have waited on the reader's computer. Records of other cases are then
    refused, as are records of a session that has not opened.

    Parameters
    ----------
    known
        Whether a presentation of the case has already been accepted and stored.
    shown_at
        When the case was first shown; None if unknown.
    correction
        Whether the record changes a stored answer.
    """
    current = place.sessions[session - 1]
    if place.hold is Hold.WITHDRAWN:
        return Admission(refused=t("You have left this study."))
    if current.state in (SessionState.WAITING, SessionState.WASHING_OUT):
        return Admission(refused=t("This session is not open yet."))
    if correction and any(later.first_at_utc for later in place.sessions[session:]):
        return Admission(
            refused=t(
                "The next session has started; answers from this session can no longer be changed."
            )
        )
    if place.since_utc is None:
        return Admission()
    paused = place.hold is Hold.PAUSED
    if known or (shown_at is not None and stamp(shown_at) < place.since_utc):
        return Admission(flag="received_while_paused" if paused else "received_after_lapse")
    return Admission(
        refused=t("Reading is paused.")
        if paused
        else t("The deadline for this session has passed.")
    )


def paused_since(steps: Iterable[InterventionRow], reader_id: str | None) -> str | None:
    """Return when the current pause of a reader began, or None if the reader is not paused.

    Parameters
    ----------
    steps
        The study's interventions in order.
    reader_id
        None for the pause of the whole study.
    """
    pause_start = None
    for step in steps:
        if step.reader_id == reader_id and step.kind in ("pause", "resume"):
            pause_start = step.at_utc if step.kind == "pause" else None
    return pause_start


def is_withdrawn(steps: Iterable[InterventionRow], reader_id: str) -> bool:
    """Return whether a reader was withdrawn from their study."""
    return any(step.kind == "withdraw" and step.reader_id == reader_id for step in steps)


def _interventions_on(steps: Iterable[InterventionRow], reader_id: str) -> list[InterventionRow]:
    """Return the interventions that affect a reader."""
    return [step for step in steps if step.reader_id in (None, reader_id)]


def _standings(
    protocol: Protocol,
    name: str,
    sessions: Iterable[SessionRow],
    steps: Sequence[InterventionRow],
    now: datetime,
) -> Iterator[SessionStanding]:
    paused = bool(paused_since(steps, None) or paused_since(steps, name))
    before: SessionStanding | None = None
    for session, blocks in groupby(sessions, lambda row: row.session):
        rows = list(blocks)
        first = min((row.first_at_utc for row in rows if row.first_at_utc), default=None)
        opens = _opens_at(protocol, before)
        ends = _ends_at(protocol, first, [s for s in steps if _is_about(s, name, session)])
        counts = {
            "n_assigned": sum(row.n_assigned for row in rows),
            "n_read": sum(row.n_read for row in rows),
            "n_cases": sum(row.n_cases for row in rows),
            "n_cases_read": sum(row.n_cases_read for row in rows),
        }
        before = SessionStanding(
            reader_id=name,
            session=session,
            conditions=tuple(row.condition for row in rows),
            **counts,
            state=_state(counts, before, first, opens, ends, stamp(now)),
            opens_at_utc=opens,
            first_at_utc=first,
            last_at_utc=max((row.last_at_utc for row in rows if row.last_at_utc), default=None),
            ends_at_utc=ends,
            paused=paused,
            withdrawn=is_withdrawn(steps, name),
        )
        yield before


def _is_about(step: InterventionRow, reader_id: str, session: int) -> bool:
    return (step.reader_id, step.session) == (reader_id, session)


def _opens_at(protocol: Protocol, before: SessionStanding | None) -> str | None:
    """Return when a session opens or opened; None if unknown, or for the first session."""
    if before is None or before.state is not SessionState.DONE or before.last_at_utc is None:
        return None
    return stamp(moment(before.last_at_utc) + timedelta(days=protocol.washout_days))


def _ends_at(
    protocol: Protocol, first_at_utc: str | None, steps: Iterable[InterventionRow]
) -> str | None:
    """Return when a session lapses; None if it has no limit.

    Parameters
    ----------
    steps
        The interventions that extended or released the session, in order.
    """
    if not protocol.session_days or first_at_utc is None:
        return None
    end = moment(first_at_utc) + timedelta(days=protocol.session_days)
    for step in steps:
        if step.kind == "release":
            return None
        end = max(end, moment(step.at_utc)) + timedelta(days=step.days or 0)
    return stamp(end)


def _state(
    counts: Mapping[str, int],
    before: SessionStanding | None,
    first: str | None,
    opens: str | None,
    ends: str | None,
    now: str,
) -> SessionState:
    if counts["n_read"] == counts["n_assigned"]:
        return SessionState.DONE
    if before is not None and before.state is not SessionState.DONE:
        return SessionState.WAITING
    if first is None and opens is not None and now < opens:
        return SessionState.WASHING_OUT
    return SessionState.LAPSED if ends is not None and now >= ends else SessionState.OPEN


def _hold(
    current: SessionStanding, steps: Sequence[InterventionRow]
) -> tuple[Hold | None, str | None]:
    """Return the reason for a hold, and its start if a case may have been on the screen then."""
    if current.withdrawn:
        return Hold.WITHDRAWN, None
    if current.state is SessionState.DONE:
        return None, None
    lapsed = current.state is SessionState.LAPSED
    began = [
        paused_since(steps, None),
        paused_since(steps, current.reader_id),
        current.ends_at_utc if lapsed else None,
    ]
    first_start = min((at_utc for at_utc in began if at_utc), default=None)
    if current.paused:
        return Hold.PAUSED, first_start
    if current.state is SessionState.WASHING_OUT:
        return Hold.WASHING_OUT, None
    return (Hold.LAPSED, first_start) if lapsed else (None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepView:
    """A step before the first case, with its text in Markdown and its questions, if any."""

    step: str
    markdown: str
    questions: tuple[ReaderQuestion, ...]


class Step(StrEnum):
    """The steps before the first case, in their order."""

    CONSENT = "consent"
    INSTRUCTIONS = "instructions"
    QUESTIONNAIRE = "questionnaire"
    DISPLAY = "display"


def required_steps(protocol: Protocol) -> list[Step]:
    """Return the steps that a protocol includes, in order."""
    step_kinds = {
        Step.CONSENT: protocol.consent,
        Step.INSTRUCTIONS: protocol.instructions,
        Step.QUESTIONNAIRE: protocol.questionnaire,
        Step.DISPLAY: protocol.display_check,
    }
    return [step for step in Step if step_kinds[step]]


def steps_due(reader: ReaderContext) -> list[Step]:
    """Return the steps that a reader still has to complete at this sign-in, in order."""
    steps = required_steps(reader.protocol)
    if not steps or reader.is_simulated:
        return []
    sign_in, steps_done = reader.person.sign_in, reader.steps_done
    return [step for step in steps if (step, _sign_in_for(step, sign_in)) not in steps_done]


def is_prepared(reader: ReaderContext) -> bool:
    """Return whether a reader has completed every step, the display check at any sign-in.

    To receive cases, a reader must have done the display check at the current sign-in (see
    `steps_due`). An answer that arrives after the next sign-in is accepted without it.
    """
    steps = required_steps(reader.protocol)
    if not steps or reader.is_simulated:
        return True
    return {step for step, _ in reader.steps_done}.issuperset(steps)


def step_view(protocol: Protocol, step: Step) -> StepView:
    """Return the content of a step for the page."""
    texts = {Step.CONSENT: protocol.consent, Step.INSTRUCTIONS: protocol.instructions}
    return StepView(
        step=step,
        markdown=texts.get(step, ""),
        questions=protocol.questionnaire if step is Step.QUESTIONNAIRE else (),
    )


def accept_step(reader: ReaderContext, record: Preparation) -> RecordOutcome:
    """Store a completed step within the caller's transaction, or return why it is refused."""
    try:
        refused = _step_refusal(reader, record)
        if not refused and not readings.preparation(reader.look, record.id):
            _store_step(reader, record)
    except UnfitAnswers as error:
        refused = str(error)
    except MalformedRecord as error:
        refused = t("Invalid record: {error}.", error=error)
    return RecordOutcome(id=record.id, case="", refused=refused)


def _step_refusal(reader: ReaderContext, record: Preparation) -> str:
    known = readings.preparation(reader.look, record.id)
    if known is not None:
        same = (known["reader"], known["step"]) == (reader.reader, record.step)
        return "" if same else t("Another record already has this ID.")
    if reader.is_simulated:
        return SIMULATED
    if record.step not in required_steps(reader.protocol):
        return t("This study has no such step.")
    waiting = steps_due(reader)
    if record.step in waiting[1:]:
        return t("Complete the previous step first: {step}.", step=waiting[0])
    return ""


def _store_step(reader: ReaderContext, record: Preparation) -> None:
    """Store a step; if it was completed before, the first record is kept."""
    change, person, step = reader.look, reader.person, Step(record.step)
    if step not in steps_due(reader):
        return
    readings.add_preparation(
        change,
        id=record.id,
        reader=reader.reader,
        step=step,
        sign_in=_sign_in_for(step, person.sign_in),
        detail=canonical_json(_checked_detail(reader.protocol, step, record.detail)),
        done_at_utc=stamp(record.done_at) if record.done_at else None,
        received_at_utc=stamp(reader.now),
        salt=_salt(change, record.id),
    )
    stored, kind = readings.preparation(change, record.id), EventKind.PREPARATION_DONE
    detail = {"preparation": record.id, "step": step}
    record_with_hash(
        change, person.study_name, Acting(by=person.by, now=reader.now), kind, stored, detail
    )
    reader.refresh()


def _checked_detail(protocol: Protocol, step: Step, answers: Mapping[str, Any]) -> dict[str, Any]:
    if step is Step.CONSENT:
        if answers.get("agreed") is not True:
            raise MalformedRecord("consent must be given")
        return {"agreed": True}
    if step is Step.QUESTIONNAIRE:
        return {"answers": check_answers(protocol.questionnaire, answers.get("answers"))}
    return clean_object(answers, "measurements") if step is Step.DISPLAY else {}


def _sign_in_for(step: Step, sign_in: str) -> str:
    return sign_in if step is Step.DISPLAY else ""


def _salt(look: Transaction, record_id: str) -> str:
    """Return the salt that prevents guessing a questionnaire's answers from their hash."""
    key = bytes.fromhex(deployment.secret(look))
    return hmac.digest(key, f"preparation/{record_id}".encode(), "sha256").hex()[:32]


def accept_finish(reader: ReaderContext, record: Finish) -> RecordOutcome:
    """Record once that a reader has finished, or return why this is not possible."""
    refused = _finish_refusal(reader)
    if not refused and not reader.has_finished:
        events.record(
            reader.look,
            reader.person.study_name,
            Acting(by=reader.person.by, now=reader.now),
            kind=EventKind.READING_FINISHED,
            detail={"finish": record.id},
        )
        reader.refresh()
    return RecordOutcome(id=record.id, case="", refused=refused)


def _finish_refusal(reader: ReaderContext) -> str:
    if not reader.protocol.back_navigation:
        return t("You cannot finish early: this study ends when the last case has been answered.")
    if not reader.place.all_read:
        return t("Some cases have not been read yet.")
    return ""
