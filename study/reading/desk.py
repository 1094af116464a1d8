"""The reader's desk: provides cases, accepts presentations and readings, and issues receipts.

Everything that a reader sees is built here, from objects that have no fields for other content, in
a transaction in which the store refuses access to the reference standard, report texts,
explanations and predictions (`Store.desk`). The only exception is feedback (on practice cases, and
if the protocol provides it), which is read separately after the reading is stored.

A receipt such as ``r1 · 60 of 60 · 7QK2-M9XD-4T3N`` contains twelve characters, derived from the
hash of the last reading event, the study code and the hash of the locked protocol. The event's hash
covers the reading and every event before it, so a person who changes an answer and recomputes all
hashes cannot reproduce the twelve characters (60 bits) that the reader has kept. A receipt does not
reveal which answers are correct.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from study.bank.terms import view_label
from study.base.bank_model import LETTERS
from study.base.canonical import moment, sha256_of
from study.base.errors import BadFile, NotAllowed, NotFound, NotNow
from study.base.translation import t
from study.people.codes import ALPHABET
from study.people.signing_in import Person
from study.protocol.protocol import Condition, Feedback, Protocol, stored_protocol
from study.reading import course
from study.reading.accepting import accept_record
from study.reading.course import Hold, Place, ReaderContext, StepView
from study.reading.records import (
    FAULTY,
    N_CASES_SENT,
    Finish,
    MalformedRecord,
    Preparation,
    Record,
    RecordOutcome,
    parse_record,
    record_id,
    shown_letter,
)
from study.reading.session_feedback import session_feedback
from study.store import Store, Transaction, aids, events, people, readings, studies
from study.store.aids import DueAid
from study.store.banks import FilmRow
from study.store.deployment import secret
from study.store.events import EventKind
from study.store.readings import AnswerRow, ViewRow, WaitingCase, shown_context
from study.store.studies import PRACTICE, STUDY, StudyRow, refuse_restored


@dataclass(frozen=True, slots=True, kw_only=True)
class FilmView:
    """A film as shown to a reader: its name and how to draw it, but never its number or path.

    The name consists of the case's ID and the position of the view, so that it differs between
    readers and between presentations of the film. A `prior` image belongs to an earlier
    examination, made `days` before the current one if known.
    """

    film: str
    label: str
    width: int
    height: int
    bits: int
    low: int
    high: int
    spacing_mm: float | None
    prior: bool = False
    days: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnReading:
    """The reader's earlier answer, shown if the protocol allows going back."""

    id: str
    option: str | None
    words: str | None
    status: str
    confidence: int | None
    comment: str
    faulty: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AidContent:
    """The model's answer as shown to a reader; `missing` if the model has no answer.

    `option` is the letter as shown to this reader. Boxes and maps refer to a view of the case by
    its index. A part that the protocol does not show is None or empty.
    """

    missing: bool
    option: str | None = None
    confidence: float | None = None
    explanation: str | None = None
    boxes: tuple[Mapping[str, Any], ...] = ()
    maps: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AidView:
    """The aid of an aided case; `content` is None until it may be shown."""

    when: str
    markdown: str
    content: AidContent | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstAnswer:
    """The reader's answer in stage 1 of sequential reading, which stage 2 shows."""

    option: str | None
    confidence: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseView:
    """A case as its reader sees it, without fields for other content.

    An open-ended case has no options. In sequential reading a case is read twice, in `stage` 1 and
    2, with the same images; in stage 2, `first_answer` is the stored answer from stage 1.
    """

    case: str
    position: int
    condition: str
    question: str
    options: tuple[tuple[str, str], ...]
    context: tuple[tuple[str, str], ...]
    views: tuple[FilmView, ...]
    presented: bool
    practice: bool = False
    reading: OwnReading | None = None
    stage: int = 0
    aid: AidView | None = None
    first_answer: FirstAnswer | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """The data for a reader's page: the rules, the progress and the next cases.

    `total`, `read` and the cases' positions count within the current `session`. There are no cases
    while `preparation` contains steps. Practice cases come before the study's cases and are counted
    in neither `total` nor `read`. In `review` every case has been read, and the reader may go back
    until they confirm that they have finished. During a `hold` there are no cases; `opens_at_utc`
    and `opens_in_ms` state when the session opens, if known. `stored` is the number of this
    reader's records in the store; if it decreases, an older store was restored. `receipt` is the
    reader's receipt if there are no cases. `debriefing` tells a reader who has finished that the
    model's answers contained planted errors. `ended_session` is the session that `session_feedback`
    is about; 0 for none.
    """

    seal: str
    study: str
    reader: str
    simulated_films: bool
    total: int
    read: int
    rules: Mapping[str, Any]
    cases: tuple[CaseView, ...]
    preparation: tuple[StepView, ...] = ()
    practice_total: int = 0
    session: int = 1
    sessions: int = 1
    review: bool = False
    hold: str = ""
    opens_at_utc: str | None = None
    opens_in_ms: int | None = None
    stored: int = 0
    receipt: str = ""
    debriefing: str = ""
    ended_session: int = 0
    session_feedback: str = ""

    @property
    def finished(self) -> bool:
        """Whether every assigned case has a reading."""
        return self.session == self.sessions and self.read == self.total


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFeedback:
    """Feedback on a practice case, or on a case of the study if the protocol provides feedback.

    For an open-ended case, `option` is the text of the reference answer, and `correct` is None
    because the answer has not been judged.
    """

    option: str
    correct: bool | None
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledgement:
    """The outcome of a batch of records, and the new desk.

    `to_explain` lists the records that receive `feedback` after they are stored.
    """

    stored: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]
    desk: Desk
    to_explain: tuple[RecordOutcome, ...] = ()
    feedback: Mapping[str, CaseFeedback] = field(default_factory=dict)

    @classmethod
    def of(cls, outcomes: Sequence[RecordOutcome], desk: Desk, **more: Any) -> "Acknowledgement":
        """Return the outcome of each record, with the new desk."""
        return cls(
            stored=tuple(record.id for record in outcomes if not record.refused),
            refused=tuple((record.id, record.refused) for record in outcomes if record.refused),
            desk=desk,
            **more,
        )


MAX_RECORDS = 500
"""Maximum number of records in a message; a reading page never sends more."""


def desk(store: Store, person: Person, *, now: datetime) -> Desk:
    """Return a reader's current desk.

    Raises
    ------
    NotAllowed
        The person is not a reader.
    NotNow
        The study is not open yet.
    """
    with store.look(sealed=True) as look:
        new_desk = desk_in_transaction(look, person, now=now)
    return with_session_feedback(store, person, new_desk, now=now)


def desk_in_transaction(look: Transaction, person: Person, *, now: datetime) -> Desk:
    """Return a reader's desk (see `desk`) within a transaction, without feedback on a session."""
    _reader_number(person)
    return _desk(*_open_study(look, person, now))


def with_session_feedback(
    store: Store, person: Person, current_desk: Desk, *, now: datetime
) -> Desk:
    """Return the desk with the feedback on the session that has just ended, if there is any."""
    if not current_desk.ended_session:
        return current_desk
    with store.look(sealed=True) as look:
        _, reader = _open_study(look, person, now)
    text = session_feedback(store, person, reader.protocol, current_desk.ended_session, now=now)
    return replace(current_desk, session_feedback=text)


def seal(look: Transaction, person: Person) -> str:
    """Return the hash of this deployment, study and reader that a page's outbox contains."""
    return sha256_of([secret(look), "seal", person.study_name, person.name])[:32]


def case_at(store: Store, person: Person, position: int, *, now: datetime) -> CaseView:
    """Return a case of the current session that the reader has read and wants to see again.

    Raises
    ------
    NotAllowed
        The protocol does not let readers go back.
    NotFound
        The reader has not read a case at that position.
    NotNow
        The reader receives no cases at present.
    """
    number = _reader_number(person)
    with store.look(sealed=True) as look:
        study, reader = _open_study(look, person, now)
        if not reader.protocol.back_navigation:
            raise NotAllowed(t("This study does not allow going back to earlier cases."))
        if reader.has_finished:
            raise NotAllowed(t("You have finished; your answers can no longer be changed."))
        place = reader.place
        if place.hold or study.state != "open":
            raise NotNow(t("No case can be shown at the moment. Reload the page to see why."))
        within = 1 <= position <= place.current.n_cases
        row = readings.at_position(look, number, place.before + position) if within else None
        answer = None if row is None else readings.current(look, row.id)
        if row is None or answer is None:
            raise NotFound(t("You have not read a case at that position."))
        return case_view(look, row, reader.protocol, answer, before=place.before)


def film(store: Store, person: Person, case: str, view: int) -> FilmRow | None:
    """Return the row of a film in one of the reader's cases, or None; `view` counts from 1."""
    with store.look(sealed=True) as look:
        return readings.film(look, _reader_number(person), case, view)


def take_records(
    store: Store, person: Person, records: Sequence[Any], *, now: datetime
) -> Acknowledgement:
    """Store the records that the page sent, and return their outcomes.

    A record that is sent twice is stored once and acknowledged twice. A malformed or impossible
    record is refused with a reason and does not affect the other records.
    """
    with store.desk() as change:
        receipt = take_in_transaction(change, person, records, now=now)
    return with_feedback(store, person, receipt, now=now)


def take_in_transaction(
    change: Transaction, person: Person, records: Sequence[Any], *, now: datetime
) -> Acknowledgement:
    """Store records within a transaction of `Store.desk`; feedback is added later."""
    _reader_number(person)
    checked = parse_records(records)
    study, reader = _open_study(change, person, now)
    # A reader may finish while the study is being closed.
    if study.state != "open" and not all(isinstance(record, Finish) for record in checked):
        raise NotNow(t("The study is closed; answers are no longer accepted."))
    outcomes = [_accept(reader, record) for record in checked]
    has_feedback = reader.protocol.feedback is Feedback.AFTER_CASE
    return Acknowledgement.of(
        outcomes,
        _desk(study, reader),
        to_explain=tuple(
            record
            for record in outcomes
            if (record.practice or has_feedback)
            and record.case
            and not record.refused
            and record.stage != 1  # the answer in stage 2 has not been given yet
        ),
    )


def with_feedback(
    store: Store, person: Person, receipt: Acknowledgement, *, now: datetime
) -> Acknowledgement:
    """Return the outcomes of stored records with the feedback that the reader may now see."""
    receipt = replace(receipt, desk=with_session_feedback(store, person, receipt.desk, now=now))
    if not receipt.to_explain:
        return receipt
    return replace(receipt, feedback=_feedback(store, receipt.to_explain))


def _accept(reader: ReaderContext, record: Record | RecordOutcome) -> RecordOutcome:
    if isinstance(record, RecordOutcome):
        return record
    if isinstance(record, Preparation):
        return course.accept_step(reader, record)
    if isinstance(record, Finish):
        return course.accept_finish(reader, record)
    return accept_record(reader, record)


def parse_records(records: Sequence[Any]) -> list[Record | RecordOutcome]:
    """Check records parsed from JSON; return each record, or the outcome of a refused record.

    Raises
    ------
    BadFile
        There are too many records.
    """
    if len(records) > MAX_RECORDS:
        raise BadFile(
            t("At most {max_records} records can be sent at once.", max_records=MAX_RECORDS)
        )
    return [_parse_or_refuse(raw) for raw in records]


def _parse_or_refuse(raw: Any) -> Record | RecordOutcome:
    try:
        return parse_record(raw)
    except MalformedRecord as error:
        return RecordOutcome(
            id=record_id(raw), case="", refused=t("Invalid record: {error}.", error=error)
        )


def _reader_number(person: Person) -> int:
    if person.reader is None:
        raise NotAllowed(t("Only readers of this study can read."))
    return person.reader


def _open_study(look: Transaction, person: Person, now: datetime) -> tuple[StudyRow, ReaderContext]:
    """Return a study that has been opened, and the context of its reader."""
    study = studies.find(look, person.study_name)
    if study is None:
        raise NotFound(t("This study no longer exists."))
    if study.state == "drawn":
        raise NotNow(t("The study is not open for reading at the moment. Ask your coordinator."))
    refuse_restored(study)
    protocol = stored_protocol(study)
    if protocol.arms:
        row = people.reader_row(look, _reader_number(person))
        protocol = protocol.of_arm(row.arm if row else "")
    return study, ReaderContext(look=look, protocol=protocol, person=person, now=now)


def _desk(study: StudyRow, reader: ReaderContext) -> Desk:
    look, protocol, person, place = reader.look, reader.protocol, reader.person, reader.place
    current, hold = place.current, _hold(study, place)
    # A reader who has read everything needs no display check.
    all_read = bool(hold) or place.all_read
    due = [] if all_read else course.steps_due(reader)
    washing = hold is Hold.WASHING_OUT and current.opens_at_utc
    cases = () if due or hold else _cases(reader)
    n_practice = (
        readings.counts(look, reader.reader, PRACTICE).n_assigned if protocol.practice_cases else 0
    )
    return Desk(
        seal=seal(look, person),
        study=study.name,
        reader=person.name,
        simulated_films=bool(study.simulated_films),
        total=current.n_cases,
        read=current.n_cases_read,
        rules=rules(protocol),
        cases=cases,
        preparation=tuple(course.step_view(protocol, step) for step in due),
        practice_total=n_practice,
        session=current.session,
        sessions=len(place.sessions),
        review=_in_review(study, reader),
        hold=hold or "",
        opens_at_utc=washing or None,
        opens_in_ms=_ms_until(washing, reader.now) if washing else None,
        stored=readings.n_records(look, reader.reader),
        receipt="" if cases or due else receipt(look, study, reader.reader, person.name),
        debriefing=_debriefing(reader),
        ended_session=_ended_session(study, reader),
    )


def _ended_session(study: StudyRow, reader: ReaderContext) -> int:
    """Return the session about which a reader now gets feedback; 0 if there is none."""
    current, hold = reader.place.current, reader.place.hold
    is_between = current.session > 1 and current.first_at_utc is None
    is_due = is_between and hold in (None, Hold.WASHING_OUT) and study.state == "open"
    has_feedback = reader.protocol.session_feedback and not reader.is_simulated
    return current.session - 1 if has_feedback and is_due else 0


def _debriefing(reader: ReaderContext) -> str:
    """Return the statement about planted errors, if any, for a reader who has read every case."""
    aided = Condition.AIDED in reader.protocol.conditions
    if not (reader.protocol.aid_errors and aided and reader.place.all_read):
        return ""
    return t(
        "In this study some correct answers of the AI model were deliberately replaced by wrong "
        "ones, to learn how readers deal with errors of a model. Do not conclude from what you saw "
        "how accurate the model is. Please do not tell other readers while the study is running."
    )


def _in_review(study: StudyRow, reader: ReaderContext) -> bool:
    """Return whether a reader has read every case and may still go back to them."""
    may = reader.protocol.back_navigation and study.state == "open" and not reader.place.hold
    return may and reader.place.all_read and not reader.has_finished


def _hold(study: StudyRow, place: Place) -> Hold | None:
    """Return why the reader receives no cases; None if they do, or have read every case."""
    unread = any(session.n_read < session.n_assigned for session in place.sessions)
    return Hold.CLOSED if study.state == "closed" and unread else place.hold


def _ms_until(at_utc: str, now: datetime) -> int:
    return max(0, round((moment(at_utc) - now).total_seconds() * 1000))


def _cases(reader: ReaderContext) -> tuple[CaseView, ...]:
    """Return the next cases: practice cases until all are read, then the study's cases."""
    look, protocol, place = reader.look, reader.protocol, reader.place
    if reader.practice_cases:
        return case_views(look, reader.practice_cases, protocol, practice=True)
    rows = readings.unread(look, reader.reader, N_CASES_SENT, place.current.session)
    # Options are only sent after all open-ended cases have been read.
    if rows and rows[0].condition == Condition.OPEN_ENDED:
        rows = [row for row in rows if row.condition == Condition.OPEN_ENDED]
    views = case_views(look, rows, protocol, before=place.before)
    # The model's answer is sent with the current case, not with prefetched cases.
    return tuple(
        replace(view, aid=replace(view.aid, content=None)) if view.aid and number else view
        for number, view in enumerate(views)
    )


def rules(protocol: Protocol) -> dict[str, Any]:
    """Return the rules of a protocol that the reading page needs."""
    return {
        "confidence_steps": protocol.confidence,
        "comments": protocol.comments,
        "fault_marks": protocol.fault_marks,
        "back_navigation": protocol.back_navigation,
        "time_limit_s": protocol.time_limit_s,
        "feedback": str(protocol.feedback),
        "score_card": protocol.score_card,
        "cannot_answer": protocol.cannot_answer,
        "break_every": protocol.break_every,
        "smallest_window": list(protocol.smallest_window),
    }


def case_view(
    look: Transaction,
    row: WaitingCase,
    protocol: Protocol,
    answer: AnswerRow | None = None,
    *,
    before: int = 0,
) -> CaseView:
    """Return a case as its reader sees it, with their answer; see `case_views`."""
    view = case_views(look, [row], protocol, before=before)[0]
    return view if answer is None else replace(view, reading=_own_reading(answer, _order(row)))


def case_views(
    look: Transaction,
    rows: Sequence[WaitingCase],
    protocol: Protocol,
    *,
    practice: bool = False,
    before: int = 0,
) -> tuple[CaseView, ...]:
    """Return cases as their reader sees them, in a transaction that refuses the reference standard.

    Parameters
    ----------
    before
        Number of cases before their session.
    """
    with_films = [row.images for row in rows if row.images is not None]
    films = readings.views(look, with_films, prior="prior" in protocol.context)
    context = shown_context(look, [row.item for row in rows], protocol.context)
    views = (
        _case_view(
            row,
            context[row.item],
            () if row.images is None else films.get(row.images, ()),
            practice=practice,
            before=before,
        )
        for row in rows
    )
    return tuple(
        _with_aid(look, row, view, protocol) if row.aid else view
        for row, view in zip(rows, views, strict=True)
    )


def _with_aid(look: Transaction, row: WaitingCase, view: CaseView, protocol: Protocol) -> CaseView:
    """Return the view of an aided case with the aid, if due, or of stage 1 without it."""
    if row.stage == 1:
        return replace(view, stage=1)
    aid_due = aids.due(look, row.id)
    content = None if aid_due is None else _content(aid_due, _order(row))
    aid = AidView(when=row.aid, markdown=protocol.aid_text, content=content)
    own = readings.current(look, row.first_stage) if row.first_stage else None
    first_answer = own and FirstAnswer(
        option=shown_letter(own.answer, row.shown_order) if own.answer else None,
        confidence=own.confidence,
    )
    return replace(view, stage=row.stage, aid=aid, first_answer=first_answer)


def _content(row: DueAid, order: str) -> AidContent:
    if row.missing:
        return AidContent(missing=True)
    return AidContent(
        missing=False,
        option=shown_letter(row.answer, order) if row.answer else None,
        confidence=row.confidence,
        explanation=row.explanation or None,
        boxes=tuple(json.loads(row.boxes or "[]")),
        maps=tuple(json.loads(row.map or "[]")),
    )


def _case_view(
    row: WaitingCase,
    context: tuple[tuple[str, str], ...],
    films: Sequence[ViewRow],
    *,
    practice: bool,
    before: int,
) -> CaseView:
    texts = json.loads(row.options)
    return CaseView(
        case=row.id,
        position=row.position - before,
        condition=_shown_condition(row.condition),
        question=row.question,
        options=tuple(
            (LETTERS[place], texts[LETTERS.index(letter)])
            for place, letter in enumerate(_order(row))
        ),
        context=context,
        views=tuple(_film(row.first_stage or row.id, film) for film in films),
        presented=bool(row.presented),
        practice=practice,
    )


def _shown_condition(condition: str) -> str:
    """Return the condition as shown to the reader, which does not reveal a wrong image."""
    return Condition.UNAIDED if condition == Condition.WRONG_IMAGE else condition


def _order(row: WaitingCase) -> str:
    """Return the letters of the options in the order shown; empty for an open-ended case."""
    return "" if row.condition == Condition.OPEN_ENDED else row.shown_order


def _film(case: str, row: ViewRow) -> FilmView:
    return FilmView(
        film=f"{case}/{row.position}",
        label=view_label(row.label)[0],
        width=row.width,
        height=row.height,
        bits=row.bits,
        low=row.low,
        high=row.high,
        spacing_mm=row.spacing_mm,
        prior=bool(row.prior),
        days=row.days,
    )


def _own_reading(row: AnswerRow, order: str) -> OwnReading:
    """Return the reader's answer; `order` is empty if it was given in words."""
    return OwnReading(
        id=row.id,
        option=shown_letter(row.answer, order) if row.answer is not None and order else None,
        words=None if order else row.answer,
        status=row.status,
        confidence=row.confidence,
        comment=row.comment,
        faulty=FAULTY in json.loads(row.flags),
    )


def _feedback(store: Store, outcomes: Sequence[RecordOutcome]) -> dict[str, CaseFeedback]:
    feedback: dict[str, CaseFeedback] = {}
    with store.look() as look:
        for record in outcomes:
            of = PRACTICE if record.practice else STUDY
            answer = readings.by_id(look, record.id, of)
            if answer is None or answer.assignment != record.case:  # a presentation
                continue
            row = readings.truth(look, record.case, of)
            if row is None:
                continue
            in_words = row.condition == Condition.OPEN_ENDED
            feedback[record.id] = CaseFeedback(
                option=json.loads(row.options)[LETTERS.index(row.truth)]
                if in_words
                else shown_letter(row.truth, row.shown_order),
                correct=None if in_words else answer.answer == row.truth,
                explanation=row.explanation,
            )
    return feedback


_LENGTH, _GROUP = 12, 4


def receipt(look: Transaction, study: StudyRow, reader: int, reader_id: str) -> str:
    """Return a reader's receipt for the readings so far; empty if there are none.

    Parameters
    ----------
    study
        The study's row.
    reader, reader_id
        The reader's row number and study code.
    """
    chain = events.study_chain(study.name)
    last = events.last_hash(look, chain, EventKind.CASE_READ, reader_id)
    if last is None:
        return ""
    counts = readings.counts(look, reader)
    characters = receipt_characters(study.protocol_sha256, reader_id, last)
    return _receipt_text(reader_id, counts.n_read, counts.n_assigned, characters)


def receipt_of(store: Store, person: Person) -> str:
    """Return the receipt of the signed-in reader, or an empty string."""
    with store.look(sealed=True) as look:
        study = studies.find(look, person.study_name)
        if study is None or person.reader is None:
            return ""
        return receipt(look, study, person.reader, person.name)


def receipt_characters(protocol_sha256: str, reader_id: str, event_hash: str) -> str:
    """Return the twelve characters for a reader's readings up to an event."""
    digest = int(sha256_of(["receipt", protocol_sha256, reader_id, event_hash]), 16) >> 196
    return "".join(ALPHABET[(digest >> 5 * place) & 31] for place in reversed(range(_LENGTH)))


def _receipt_text(reader_id: str, n_read: int, n_assigned: int, characters: str) -> str:
    groups = (characters[start : start + _GROUP] for start in range(0, _LENGTH, _GROUP))
    return f"{reader_id} · {n_read} of {n_assigned} · {'-'.join(groups)}"
