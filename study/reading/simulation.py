"""Simulates a reader, who uses the same calls as the reading page and is marked as simulated.

An item's difficulty is a normal deviate, and one of its distractors is the most tempting. Both are
derived from the hash of the protocol, so that they are the same for all simulated readers of a
study. A reader answers correctly with probability logistic(ability - difficulty). The ability is
chosen so that the mean over all difficulties is the requested accuracy. A wrong answer is the most
tempting distractor with probability 0.6, otherwise a distractor chosen at random. Response times
are log-normal (median 14 s) and longer for difficult items and for wrong answers. If the study has
a time limit, a case that takes longer times out, which lowers the accuracy. The randomness of a
reader depends on the seed, reader, item, condition and repeat. No condition makes a case harder.

If the model's answer that is shown as an aid differs from the reader's answer, the reader adopts it
with a fixed probability. The reader always requests an aid that is shown on demand. In sequential
reading, the answer before the aid is considered is the same in both stages.

The reader answers an open-ended case with the text of the option that it would have chosen. It
does no preparation and no practice cases, and never skips a case.

The clock of a simulated reader starts at the current time and advances by the simulated times and
by the wash-out between two sessions.
"""

import json
import math
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from statistics import NormalDist
from typing import Any, NotRequired, TypedDict, Unpack

from study.base.actor import COMMAND_LINE, Acting
from study.base.bank_model import LETTERS
from study.base.canonical import moment, random_key
from study.base.errors import BadInput, NotFound, NotNow
from study.base.text import quoted
from study.people.roles import Role
from study.people.signing_in import Person
from study.protocol.protocol import Aid, Condition, Protocol, stored_protocol
from study.reading.accepting import accept_record
from study.reading.course import ReaderContext
from study.reading.desk import CaseView, desk
from study.reading.records import AidRequest, CaseRecord, Presentation, Reading, Times
from study.store import Store, Transaction, aids, events, people, readings
from study.store.aids import DueAid
from study.store.events import EventKind
from study.store.readings import CaseToSimulate
from study.store.studies import refuse_restored, study_row

DIFFICULTY_SD = 1.2
PROBABILITY_OF_DISTRACTOR = 0.6
MEDIAN_MS = 14_000.0
TIME_SPREAD = 0.45
SECOND_STAGE_TIME_FACTOR = 0.25
"""The time for stage 2 of sequential reading, relative to stage 1."""

_NORMAL = NormalDist()
_N_GRID_POINTS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationResult:
    """The number of readings of a simulated reader."""

    reader_id: str
    n_read: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """A simulated reader: the ability, the probability `follow` of following the aid, the seeds."""

    person: Person
    protocol: Protocol
    ability: float
    items_seed: int
    seed: int
    follow: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    option: str | None
    words: str
    response_ms: float
    confidence: int | None


class Behaviour(TypedDict):
    """How a simulated reader answers.

    Attributes
    ----------
    accuracy
        Expected proportion of correct answers without an aid, above 0 and below 1.
    follow
        Probability of adopting the aid's answer if it differs from the reader's; 0 by default.
    """

    accuracy: float
    follow: NotRequired[float]


def simulate(
    store: Store,
    *,
    study: str,
    reader_id: str,
    seed: int,
    now: datetime,
    **behaviour: Unpack[Behaviour],
) -> SimulationResult:
    """Read all unread cases as a simulated reader; return the number of readings.

    Reading stops if the reader is paused or the session has lapsed.

    Raises
    ------
    NotFound
        The study or the reader does not exist.
    NotNow
        The study is not open, or the reader is a person who has already begun.
    BadInput
        `accuracy` or `follow` is out of range.
    """
    accuracy, follow = behaviour["accuracy"], behaviour.get("follow", 0.0)
    if not 0 < accuracy < 1:
        raise BadInput(f"accuracy = {accuracy}: must be between 0 and 1.")
    if not 0 <= follow <= 1:
        raise BadInput(f"follow = {follow}: must be between 0 and 1.")
    reader = replace(_admit(store, study, reader_id, seed, accuracy, now), follow=follow)
    clock, n_read = now, 0
    with store.kept_open():
        while (current := desk(store, reader.person, now=clock)).cases or current.opens_at_utc:
            if not current.cases:
                clock = moment(current.opens_at_utc or "")
                continue
            committed_at = _read(store, reader, current.cases[0], clock)
            if committed_at is not None:
                clock = committed_at
                n_read += 1
    return SimulationResult(reader_id=reader_id, n_read=n_read)


def _admit(
    store: Store, study: str, reader_id: str, seed: int, accuracy: float, now: datetime
) -> _Reader:
    with store.change() as change:
        row_of_study = study_row(change, study)
        row = people.reader(change, row_of_study.id, reader_id)
        if row is None:
            same_name = people.reader_suggestion(change, row_of_study.id, reader_id)
            raise NotFound(
                f"There is no reader {quoted(reader_id)} in {quoted(study)}. Invite them first."
                f"{same_name}"
            )
        if row_of_study.state != "open":
            raise NotNow(f"The study {quoted(study)} is {row_of_study.state}, not open.")
        refuse_restored(row_of_study)
        if not row.simulated:
            if readings.has_begun(change, row.id):
                raise NotNow(
                    f"{quoted(reader_id)} has readings of a person; a simulation would mix with "
                    "them."
                )
            people.mark_simulated(change, row.id)
            events.record(
                change,
                study,
                Acting(by=COMMAND_LINE, now=now),
                kind=EventKind.READER_SIMULATED,
                detail={"reader_id": reader_id},
            )
    return _Reader(
        person=Person(
            role=Role.READER, study=row_of_study.id, study_name=study, reader=row.id, name=reader_id
        ),
        protocol=stored_protocol(row_of_study).of_arm(row.arm),
        ability=ability(accuracy),
        items_seed=int(row_of_study.protocol_sha256[:16], 16),
        seed=seed,
        follow=0.0,
    )


def _read(store: Store, reader: _Reader, view: CaseView, clock: datetime) -> datetime | None:
    """Read a case; return when it was committed, or None if another process read it first."""
    case = view.case
    with store.look() as look:
        simulated = readings.simulated_case(look, case)
        assert simulated is not None  # the case is on the reader's list
        answer = _answer(simulated, reader)
    limit_ms = reader.protocol.time_limit_s * 1000.0 or math.inf
    taken_ms = min(answer.response_ms, limit_ms)
    shown_at = clock + timedelta(milliseconds=250)
    committed_at = shown_at + timedelta(milliseconds=taken_ms)
    token = random_key(f"{reader.person.name}/{case}", seed=reader.seed, purpose="record id")[:32]
    presentation = Presentation(
        id=f"p-{token}", case=case, shown_at=shown_at, circumstances={"simulated": True}
    )
    with store.desk() as change:
        if readings.current(change, case) is not None:
            return None
        _submit(change, reader, presentation, shown_at)
        if simulated.aid == Aid.ON_DEMAND:
            asked_at = shown_at + timedelta(milliseconds=taken_ms / 2)
            request = AidRequest(id=f"a-{token}", case=case, requested_at=asked_at)
            _submit(change, reader, request, asked_at)
        aid = aids.due(change, case) if simulated.aid else None
        answer = _answer_after_advice(answer, aid, simulated, reader)
        reading = Reading(
            id=f"r-{token}",
            case=case,
            presented_at=shown_at,
            committed_at=committed_at,
            aid_shown_ms=None if aid is None else _aid_shown_ms(change, view, simulated, taken_ms),
            **_outcome(answer, timed_out=answer.response_ms > limit_ms, taken_ms=taken_ms),
        )
        _submit(change, reader, reading, committed_at)
    return committed_at


_FRAME_MS = 16.7


def _aid_shown_ms(
    look: Transaction, view: CaseView, case: CaseToSimulate, taken_ms: float
) -> float | None:
    """Return the time from the first frame of a case to the first frame with its aid."""
    if case.aid == Aid.FIRST:
        return _FRAME_MS
    if case.aid == Aid.ON_DEMAND:
        return round(taken_ms / 2 + 2 * _FRAME_MS, 1)
    first_stage = readings.elapsed_of_first_stage(look, view.case)
    return None if first_stage is None else round(first_stage + 2 * _FRAME_MS, 1)


def _answer_after_advice(
    answer: _Answer, aid: DueAid | None, case: CaseToSimulate, reader: _Reader
) -> _Answer:
    """Return the reader's answer after seeing the aid."""
    if aid is None or aid.answer is None:
        return answer
    shown = LETTERS[case.shown_order.index(aid.answer)]
    random_prefix = f"{reader.person.name}/{case.item_id}/{case.repeat}"
    follows = _uniform(random_prefix, reader.seed, "follow") < reader.follow
    return replace(answer, option=shown) if follows else answer


def _outcome(answer: _Answer, *, timed_out: bool, taken_ms: float) -> dict[str, Any]:
    first_ms = None if timed_out else round(taken_ms * 0.75, 1)
    times = Times(
        response_ms=taken_ms,
        elapsed_ms=taken_ms,
        hidden_ms=0.0,
        paused_ms=0.0,
        first_selection_ms=first_ms,
    )
    if timed_out:
        return {"status": "timed_out", "option": None, "times": times}
    return {
        "status": "answered",
        "option": answer.option,
        "words": answer.words,
        "times": times,
        "confidence": answer.confidence,
        "selections": ((answer.option, first_ms),) if answer.option else (),
    }


def _submit(change: Transaction, reader: _Reader, record: CaseRecord, at: datetime) -> None:
    context = ReaderContext(look=change, protocol=reader.protocol, person=reader.person, now=at)
    receipt = accept_record(context, record, timing_source="simulated")
    if receipt.refused:
        raise NotNow(f"The simulated reading was refused: {receipt.refused}")


def _answer(case: CaseToSimulate, reader: _Reader) -> _Answer:
    texts = json.loads(case.options)
    letters = LETTERS[: len(texts)]
    item_id, seed = case.item_id, reader.seed
    random_prefix = f"{reader.person.name}/{item_id}/{case.repeat}"
    in_sequence = case.stage > 0  # the reader's own answer is the same in both stages
    if case.condition != Condition.UNAIDED and not in_sequence:
        random_prefix += (
            f"/{case.condition}"  # so that answers can differ by chance between conditions
        )
    difficulty = DIFFICULTY_SD * _normal(item_id, reader.items_seed, "difficulty")
    pretended_truth = letters[int(_uniform(item_id, reader.items_seed, "no truth") * len(letters))]
    truth = case.truth or pretended_truth
    correct = _uniform(random_prefix, seed, "correct") < _logistic(reader.ability - difficulty)
    answer = truth if correct else _incorrect_option(truth, letters, item_id, random_prefix, reader)
    slow = math.exp(TIME_SPREAD * _normal(random_prefix, seed, "time") + 0.15 * difficulty)
    certainty = _uniform(random_prefix, seed, "confidence")
    open_ended = case.condition == Condition.OPEN_ENDED
    return _Answer(
        option=None if open_ended else LETTERS[case.shown_order.index(answer)],
        words=texts[letters.index(answer)] if open_ended else "",
        response_ms=round(
            MEDIAN_MS
            * slow
            * (1.0 if correct else 1.25)
            * (SECOND_STAGE_TIME_FACTOR if case.stage == 2 else 1),
            1,
        ),
        confidence=_confidence(reader.protocol.confidence, certainty),
    )


def _incorrect_option(
    truth: str, letters: str, item_id: str, random_prefix: str, reader: _Reader
) -> str:
    distractors = [letter for letter in letters if letter != truth]
    if _uniform(random_prefix, reader.seed, "tempted") < PROBABILITY_OF_DISTRACTOR:
        seed = reader.items_seed
        return min(
            distractors,
            key=lambda letter: random_key(f"{item_id}/{letter}", seed=seed, purpose="t"),
        )
    return distractors[int(_uniform(random_prefix, reader.seed, "distractor") * len(distractors))]


def ability(accuracy: float) -> float:
    """Return the ability for which the mean probability of a correct answer is `accuracy`.

    The mean is taken over a fixed grid of equally likely difficulties, and the ability is
    determined by bisection. The expected accuracy is exact to 1e-3.

    >>> round(ability(0.75), 3)
    1.396
    """
    grid = [
        DIFFICULTY_SD * _NORMAL.inv_cdf((i + 0.5) / _N_GRID_POINTS) for i in range(_N_GRID_POINTS)
    ]
    low, high = -40.0, 40.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        if sum(_logistic(middle - difficulty) for difficulty in grid) < accuracy * _N_GRID_POINTS:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def _uniform(key: str, seed: int, purpose: str) -> float:
    return (int(random_key(key, seed=seed, purpose=f"simulate/{purpose}")[:13], 16) + 0.5) / 16**13


def _normal(key: str, seed: int, purpose: str) -> float:
    return _NORMAL.inv_cdf(_uniform(key, seed, purpose))


def _confidence(steps: int, certainty: float) -> int | None:
    return 1 + min(int(certainty * steps), steps - 1) if steps else None
