"""Lets people practise with banks that are open for teaching, with repetition of missed cases.

Teaching is separate from studies: the reference standard is shown after each answer, and nothing is
timed or exported. It must not affect studies. A bank is closed to learners while its cases are
being read in an open study whose accuracy is hidden, and to readers who still have to read its
cases. Readers who have practised with cases of a study are listed before the study is opened.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from study.base.actor import Acting
from study.base.bank_model import LETTERS
from study.base.canonical import random_key, sha256_of, shuffled, stamp
from study.base.errors import BadInput, NotAllowed, NotFound, NotNow
from study.base.text import FirstSpelling, quoted, text_key
from study.base.translation import t, translated
from study.lifecycle import exposure
from study.people.roles import Role
from study.people.signing_in import Person
from study.protocol.protocol import Condition, Feedback, Protocol
from study.reading.desk import (
    Acknowledgement,
    CaseFeedback,
    CaseView,
    Desk,
    case_view,
    parse_records,
    rules,
)
from study.reading.records import (
    N_CASES_SENT,
    NOT_YET,
    CaseRecord,
    Presentation,
    Reading,
    RecordOutcome,
    canonical_letter,
    shown_letter,
)
from study.reading.score_card import NO_ANSWERS, Count
from study.store import Store, Transaction, banks, events, people, readings, teaching
from study.store.banks import FilmRow
from study.store.deployment import secret
from study.store.events import EventKind
from study.store.readings import WaitingCase
from study.store.teaching import LearntRow, TaughtRow

CASES_PER_ROUND = 20
"""Number of cases in a round, after which learners see their result."""

_PROTOCOL = Protocol(feedback=Feedback.AFTER_CASE, smallest_window=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """A bank opened for teaching, and a person's progress in it.

    Parameters
    ----------
    refused
        Why the person cannot use the bank now; empty if they can.
    round
        The current round, counted from 1.
    is_begun
        Whether cases of this round have been answered.
    first
        The person's first answers to cases, by task.
    n_coming_back
        Number of missed cases still to be repeated.
    is_over
        Whether no case is left.
    """

    bank: int
    name: str
    refused: str
    round: int
    is_begun: bool
    first: dict[str, Count]
    n_coming_back: int
    is_over: bool


def set_availability(store: Store, bank: str, *, taught: bool, acting: Acting) -> None:
    """Open a bank for teaching, or close it again.

    Raises
    ------
    NotFound
        The bank does not exist.
    NotNow
        The bank is already open or closed, as requested.
    BadInput
        The bank has no images in this deployment, or no reference standard.
    """
    with store.change() as change:
        row = banks.bank_row(change, bank)
        if teaching.is_taught(change, row.id) == taught:
            raise NotNow(
                t("The bank {bank} is open for teaching already.", bank=quoted(bank))
                if taught
                else t("The bank {bank} is not open for teaching.", bank=quoted(bank))
            )
        if taught and (not row.n_films or teaching.next_item(change, row.id, 0, ()) is None):
            raise BadInput(
                t(
                    "The bank {bank} cannot be used for teaching: its images or its reference "
                    "standard are not here.",
                    bank=quoted(bank),
                )
            )
        teaching.mark(change, row.id, taught=taught, at_utc=stamp(acting.now))
        kind = EventKind.TEACHING_OPENED if taught else EventKind.TEACHING_ENDED
        events.record(change, "", acting, kind=kind, detail={"bank": bank})


def list_lessons(store: Store, person: Person) -> list[Lesson]:
    """Return the banks open for teaching, with a person's progress in each."""
    with store.look() as look:
        return [_lesson(look, person, row) for row in teaching.taught(look)]


def _lesson(look: Transaction, person: Person, bank: TaughtRow) -> Lesson:
    answers = teaching.answers(look, person.id, bank.id)
    return Lesson(
        bank=bank.id,
        name=bank.name,
        refused=_bank_refusal(look, person, bank),
        round=len(answers) // CASES_PER_ROUND + 1,
        is_begun=len(answers) % CASES_PER_ROUND > 0,
        first=_first_by_task(look, person.id, bank.id),
        n_coming_back=len(repetitions_due(_outcomes(answers))),
        is_over=not _next_items(look, person, bank.id, answers),
    )


def _first_by_task(look: Transaction, person: int, bank: int) -> dict[str, Count]:
    task = FirstSpelling(text_key)
    counts: dict[str, Count] = {}
    for name, n, matching in teaching.first_answers_by_task(look, person, bank):
        counts[task[name]] = counts.get(task[name], NO_ANSWERS) + Count(
            n_correct=int(matching), n=n
        )
    return counts


def _bank_refusal(look: Transaction, person: Person, bank: TaughtRow) -> str:
    """Return why a person cannot use a bank for teaching now, or an empty string."""
    if exposure.studies_reading(look, bank.id):
        return t("Closed for now: cases from this bank are being read in a study.")
    for part in people.all_grants_of(look, person.id):
        if part.role != Role.READER or part.revoked_at_utc or part.discarded_at_utc:
            continue
        if part.study is None or part.reader is None or part.state == "closed":
            continue
        if banks.study_shows_bank(look, bank.id, part.study):
            return t(
                "You read cases from this bank in the study {study}. You can practise with it once "
                "that study is closed.",
                study=quoted(part.study_name),
            )
        read = readings.counts(look, part.reader)
        if part.state == "open" and read.n_read < read.n_assigned:
            return t("First finish your cases in the study {study}.", study=quoted(part.study_name))
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _NextCase:
    """A case for a learner: its number (from 1, over all rounds), its ID and its item."""

    number: int
    case: str
    item: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _RoundState:
    """A learner's round with a bank: all answers so far, and the next cases.

    `before` is the number of answers before the round.
    """

    person: Person
    bank: TaughtRow
    before: int
    answers: Sequence[LearntRow]
    coming: Sequence[_NextCase]

    @property
    def read(self) -> int:
        """Return the number of answered cases in the round."""
        return min(len(self.answers) - self.before, CASES_PER_ROUND)

    @property
    def total(self) -> int:
        """Return the number of cases in the round."""
        return CASES_PER_ROUND if self.coming else self.read


def desk(store: Store, person: Person, bank: int, round: int) -> Desk:
    """Return a learner's desk in a round with a bank, for the reading page.

    Raises
    ------
    NotFound
        The bank is not open for teaching, or the round has not been reached.
    NotAllowed
        The person cannot use the bank now.
    """
    with store.look() as look:
        state = _round_state(look, person, bank, round)
    return _desk(store, state)


def seal(store: Store, person: Person, bank: int, round: int) -> str:
    """Return the seal of a page's outbox."""
    with store.look(sealed=True) as look:
        return _seal(look, person, bank, round)


def film(
    store: Store, person: Person, bank: int, round: int, case: str, view: int
) -> FilmRow | None:
    """Return the row of a film of a learner's current or previous case, or None."""
    with store.look() as look:
        state = _round_state(look, person, bank, round)
        secret_key = secret(look)
        at = {case.case: case.item for case in state.coming} | {
            _case(secret_key, person, bank, answer.number, answer.item): answer.item
            for answer in state.answers[-CASES_PER_ROUND:]
        }
        return teaching.film(look, at[case], view) if case in at else None


def take_records(
    store: Store,
    person: Person,
    bank: int,
    round: int,
    records: Sequence[Any],
    *,
    now: datetime,
) -> Acknowledgement:
    """Store a learner's answers, and return the reference standard for each.

    An answer that is sent twice is stored once.
    """
    outcomes: list[RecordOutcome] = []
    with store.change() as change:
        for record in parse_records(records):
            if not isinstance(record, RecordOutcome):
                state = _round_state(change, person, bank, round)
                refused = _store_answer(change, state, record, now)
                case = record.case if isinstance(record, CaseRecord) else ""
                record = RecordOutcome(id=record.id, case="" if refused else case, refused=refused)
            outcomes.append(record)
        state = _round_state(change, person, bank, round)
        feedback = {
            record.id: case_feedback
            for record in outcomes
            if (case_feedback := _feedback(change, person, record))
        }
    return Acknowledgement.of(outcomes, _desk(store, state), feedback=feedback)


def _store_answer(change: Transaction, state: _RoundState, record: Any, now: datetime) -> str:
    """Store an answer, or return why it is refused; presentations are not stored."""
    if isinstance(record, Presentation):
        return ""
    if not isinstance(record, Reading):
        return t("This study has no such step.")
    known = teaching.by_id(change, record.id)
    if known is not None:
        is_own = (known["person"], known["bank"]) == (state.person.id, state.bank.id)
        return "" if is_own else t("Another reading already has this ID.")
    at = state.coming[0] if state.coming else None
    if at is None or at.case != record.case:
        return translated(NOT_YET)
    order = _order(change, state.person, at)
    if record.option is not None and record.option not in LETTERS[: len(order)]:
        return t("This case has no option {option}.", option=record.option)
    answer = None if record.option is None else canonical_letter(record.option, order)
    teaching.add(
        change,
        id=record.id,
        person=state.person.id,
        bank=state.bank.id,
        number=at.number,
        item=at.item,
        answer=answer,
        matches=int(answer == teaching.truth(change, at.item)[0]),
        at_utc=stamp(now),
    )
    return ""


def _feedback(look: Transaction, person: Person, outcome: RecordOutcome) -> CaseFeedback | None:
    row = None if outcome.refused else teaching.by_id(look, outcome.id)
    if row is None:  # a case that was only shown
        return None
    at = _NextCase(number=row["number"], case=outcome.case, item=row["item"])
    truth, explanation = teaching.truth(look, at.item)
    return CaseFeedback(
        option=shown_letter(truth, _order(look, person, at)),
        correct=bool(row["matches"]),
        explanation=explanation,
    )


def _round_state(look: Transaction, person: Person, bank: int, round: int) -> _RoundState:
    row = next((bank_row for bank_row in teaching.taught(look) if bank_row.id == bank), None)
    if row is None:
        raise NotFound(
            t("This bank is not open for teaching. Choose another on the Teaching page.")
        )
    if reason := _bank_refusal(look, person, row):
        raise NotAllowed(reason)
    answers = teaching.answers(look, person.id, bank)
    before = (round - 1) * CASES_PER_ROUND
    if not 0 <= before <= len(answers):
        raise NotFound(t("You have not reached this round yet. Continue on the Teaching page."))
    secret_key = secret(look)
    coming = [
        _NextCase(number=number, case=_case(secret_key, person, bank, number, item), item=item)
        for number, item in enumerate(
            _next_items(look, person, bank, answers), start=len(answers) + 1
        )
        if number <= before + CASES_PER_ROUND
    ]
    return _RoundState(person=person, bank=row, before=before, answers=answers, coming=coming)


def _next_items(
    look: Transaction, person: Person, bank: int, answers: Sequence[LearntRow]
) -> list[int]:
    """Return the numbers of the items that come next."""
    low, high = teaching.bounds(look, bank)

    def new(number: int, excluding: tuple[int, ...]) -> int | None:
        drawn = int(random_key(str(number), seed=person.id, purpose=f"teaching/{bank}"), 16)
        return teaching.next_item(look, bank, low + drawn % (high - low + 1), excluding)

    return schedule_items(_outcomes(answers), new)


def _outcomes(answers: Sequence[LearntRow]) -> list[tuple[int, bool]]:
    return [(answer.item, bool(answer.matches)) for answer in answers]


def _case(secret_key: str, person: Person, bank: int, number: int, item: int) -> str:
    return sha256_of([secret_key, "teaching", person.id, bank, number, item])[:32]


def _seal(look: Transaction, person: Person, bank: int, round: int) -> str:
    return sha256_of([secret(look), "teaching", person.id, bank, round])[:32]


def _order(look: Transaction, person: Person, at: _NextCase) -> str:
    """Return the order in which a case's options are shown, which differs at each repetition."""
    letters = LETTERS[: len(json.loads(teaching.item(look, at.item).options))]
    purpose = f"option order/{at.item}/{at.number}"
    return "".join(shuffled(letters, seed=person.id, purpose=purpose))


def _desk(store: Store, state: _RoundState) -> Desk:
    person, bank = state.person, state.bank
    with store.look(sealed=True) as look:
        return Desk(
            seal=_seal(look, person, bank.id, state.before // CASES_PER_ROUND + 1),
            study=bank.name,
            reader=person.name,
            simulated_films=bool(banks.bank_row(look, bank.name).simulated),
            total=state.total,
            read=state.read,
            rules=rules(_PROTOCOL),
            cases=tuple(_view(look, state, case) for case in state.coming),
            stored=state.read,
        )


def _view(look: Transaction, state: _RoundState, at: _NextCase) -> CaseView:
    row = teaching.item(look, at.item)
    return case_view(
        look,
        WaitingCase(
            id=at.case,
            position=at.number,
            condition=Condition.UNAIDED,
            shown_order=_order(look, state.person, at),
            presented=0,
            images=row.item,
            **row._asdict(),
        ),
        _PROTOCOL,
        before=state.before,
    )


REPETITION_GAPS = (N_CASES_SENT, 10)
"""Number of cases until a repetition, after a wrong answer and after a correct answer."""

Answer = tuple[int, bool]
"""An item, and whether the answer to it was correct."""


def repetitions_due(answers: Iterable[Answer]) -> dict[int, int]:
    """Return the items to be repeated, each with the earliest case number for its repetition.

    >>> repetitions_due([(7, False), (8, True)])
    {7: 4}
    >>> repetitions_due([(7, False), (8, True), (7, True)])
    {7: 13}
    >>> repetitions_due([(7, False), (7, True), (7, True)])
    {}
    """
    due_at: dict[int, int] = {}
    turn: dict[int, int] = {}
    for number, (item, matches) in enumerate(answers, start=1):
        if not matches:
            turn[item] = 0
        elif item in turn:
            turn[item] += 1
        if turn.get(item, len(REPETITION_GAPS)) == len(REPETITION_GAPS):
            turn.pop(item, None)
            due_at.pop(item, None)
        else:
            due_at[item] = number + REPETITION_GAPS[turn[item]]
    return due_at


def schedule_items(
    answers: Sequence[Answer], new: Callable[[int, tuple[int, ...]], int | None]
) -> list[int]:
    """Return the next items in order; none if there are neither new items nor repetitions.

    Repetitions that are due precede new items. If there are no new items, the next repetition is
    made early; the case that follows it depends on the answer and is not sent in advance.

    Parameters
    ----------
    new
        Returns an item for a case number that is not among the excluded items, or None.
    """
    due_at, known = repetitions_due(answers), tuple(dict.fromkeys(item for item, _ in answers))
    due_items: list[int] = []
    for number in range(len(answers) + 1, len(answers) + 1 + N_CASES_SENT):
        ready = sorted((at, item) for item, at in due_at.items() if at <= number)
        item = ready[0][1] if ready else new(number, (*known, *due_items))
        if item is None:
            just = answers[-1][0] if answers else None
            early = sorted((item == just, at, item) for item, at in due_at.items())
            return due_items if due_items or not early else [early[0][-1]]
        due_at.pop(item, None)
        due_items.append(item)
    return due_items
