"""A simulated reader, who goes through the same calls as the reading page, and is marked so.

The model of the reader: an item's difficulty is a normal deviate and one of its distractors is the
most tempting; both are the same for all simulated readers of a study, drawn at random from the hash
of its protocol. A reader answers correctly with probability logistic(ability - difficulty), the
ability set so that the mean over all difficulties is the accuracy asked for; a wrong answer falls
on the most tempting distractor with probability 0.6, else on any of them. Response times are
log-normal (median 14 s), longer for difficult items and for wrong answers; where the study has a
time limit a longer one is a case timed out, which takes from the accuracy. All that is a reader's
own randomness comes from the seed, reader, item, condition and repeat; no condition makes
a case harder.

To an open-ended case it answers with the text of the option it would have chosen.

A simulated reader has nothing to prepare, reads no practice cases and gives no case up.

A simulated reader's clock starts at the present and runs ahead by the simulated times, and over the
wash-out between two sessions.
"""

import json
import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import NormalDist
from typing import Any

from study.base.bank_model import LETTERS
from study.base.canonical import lot, moment
from study.base.errors import BadInput, NotFound, NotNow
from study.people.roles import Role
from study.people.signing_in import Person
from study.protocol.protocol import Condition, Protocol, stored_protocol
from study.reading.accepting import take
from study.reading.course import ReaderContext
from study.reading.desk import desk
from study.reading.records import CaseRecord, Presentation, Reading, Times
from study.store import Store, Transaction, events, people, readings
from study.store.events import EventKind
from study.store.readings import CaseToSimulate
from study.store.studies import refuse_restored, study_row

DIFFICULTY_SD = 1.2
TEMPTING = 0.6
MEDIAN_MS = 14_000.0
SPREAD = 0.45

_NORMAL = NormalDist()
_GRID = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """What a simulated reader did."""

    reader_id: str
    n_read: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """A simulated reader: who, how able, and the seeds of the items' lots and of their own."""

    person: Person
    protocol: Protocol
    ability: float
    items_seed: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    option: str | None
    words: str
    response_ms: float
    confidence: int | None


def simulate(
    store: Store, *, study: str, reader_id: str, seed: int, accuracy: float, now: datetime
) -> Simulated:
    """Let a simulated reader read everything they have not read yet; count what was read here.

    Who is paused, or whose session has lapsed, reads nothing more.

    Parameters
    ----------
    accuracy
        Expected proportion of correct answers, above 0 and below 1.

    Raises
    ------
    NotFound
        No such study or reader.
    NotNow
        The study is not open, or the reader is a person who has begun already.
    BadInput
        `accuracy` is out of range.
    """
    if not 0 < accuracy < 1:
        raise BadInput(f"accuracy = {accuracy}: must lie between 0 and 1.")
    reader = _admit(store, study, reader_id, seed, accuracy, now)
    clock, n_read = now, 0
    with store.kept_warm():
        while (current := desk(store, reader.person, now=clock)).cases or current.opens_at_utc:
            if not current.cases:
                clock = moment(current.opens_at_utc or "")
                continue
            committed_at = _read(store, reader, current.cases[0].case, clock)
            if committed_at is not None:
                clock = committed_at
                n_read += 1
    return Simulated(reader_id=reader_id, n_read=n_read)


def _admit(
    store: Store, study: str, reader_id: str, seed: int, accuracy: float, now: datetime
) -> _Reader:
    with store.change() as change:
        row_of_study = study_row(change, study)
        row = people.reader(change, row_of_study.id, reader_id)
        if row is None:
            meant = people.like_reader(change, row_of_study.id, reader_id)
            raise NotFound(
                f"There is no reader {reader_id!r} in {study!r}. Invite them first.{meant}"
            )
        if row_of_study.state != "open":
            raise NotNow(f"The study {study!r} is {row_of_study.state}, not open.")
        refuse_restored(row_of_study)
        if not row.simulated:
            if readings.has_begun(change, row.id):
                raise NotNow(
                    f"{reader_id!r} has readings of a person; a simulation would mix with them."
                )
            people.mark_simulated(change, row.id)
            events.record(
                change, study, now, kind=EventKind.READER_SIMULATED, detail={"reader_id": reader_id}
            )
    return _Reader(
        person=Person(
            role=Role.READER, study=row_of_study.id, study_name=study, reader=row.id, name=reader_id
        ),
        protocol=stored_protocol(row_of_study),
        ability=ability(accuracy),
        items_seed=int(row_of_study.protocol_sha256[:16], 16),
        seed=seed,
    )


def _read(store: Store, reader: _Reader, case: str, clock: datetime) -> datetime | None:
    """Read one case and return when it was committed; None where another program read it first."""
    with store.look() as look:
        simulated = readings.simulated_case(look, case)
        assert simulated is not None  # it stands on the reader's list
        answer = _answer(simulated, reader)
    limit_ms = reader.protocol.time_limit_s * 1000.0 or math.inf
    taken_ms = min(answer.response_ms, limit_ms)
    shown_at = clock + timedelta(milliseconds=250)
    committed_at = shown_at + timedelta(milliseconds=taken_ms)
    token = lot(f"{reader.person.name}/{case}", seed=reader.seed, purpose="record id")[:32]
    presentation = Presentation(
        id=f"p-{token}", case=case, shown_at=shown_at, circumstances={"simulated": True}
    )
    reading = Reading(
        id=f"r-{token}",
        case=case,
        presented_at=shown_at,
        committed_at=committed_at,
        **_outcome(answer, timed_out=answer.response_ms > limit_ms, taken_ms=taken_ms),
    )
    with store.desk() as change:
        if readings.current(change, case) is not None:
            return None
        _hand_in(change, reader, presentation, shown_at)
        _hand_in(change, reader, reading, committed_at)
    return committed_at


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


def _hand_in(change: Transaction, reader: _Reader, record: CaseRecord, at: datetime) -> None:
    context = ReaderContext(look=change, protocol=reader.protocol, person=reader.person, now=at)
    taken = take(context, record, timing_source="simulated")
    if taken.refused:
        raise NotNow(f"The simulated reading was refused: {taken.refused}")


def _answer(case: CaseToSimulate, reader: _Reader) -> _Answer:
    texts = json.loads(case.options)
    letters = LETTERS[: len(texts)]
    item_id, seed = case.item_id, reader.seed
    whose = f"{reader.person.name}/{item_id}/{case.repeat}"
    if case.condition != Condition.UNAIDED:  # else conditions would never differ by luck
        whose += f"/{case.condition}"
    difficulty = DIFFICULTY_SD * _normal(item_id, reader.items_seed, "difficulty")
    pretended = letters[int(_uniform(item_id, reader.items_seed, "no truth") * len(letters))]
    truth = case.truth or pretended
    correct = _uniform(whose, seed, "correct") < _logistic(reader.ability - difficulty)
    answer = truth if correct else _wrong(truth, letters, item_id, whose, reader)
    slow = math.exp(SPREAD * _normal(whose, seed, "time") + 0.15 * difficulty)
    sure = _uniform(whose, seed, "confidence")
    open_ended = case.condition == Condition.OPEN_ENDED
    return _Answer(
        option=None if open_ended else LETTERS[case.shown_order.index(answer)],
        words=texts[letters.index(answer)] if open_ended else "",
        response_ms=round(MEDIAN_MS * slow * (1.0 if correct else 1.25), 1),
        confidence=_confidence(reader.protocol.confidence, sure),
    )


def _wrong(truth: str, letters: str, item_id: str, whose: str, reader: _Reader) -> str:
    distractors = [letter for letter in letters if letter != truth]
    if _uniform(whose, reader.seed, "tempted") < TEMPTING:
        seed = reader.items_seed
        return min(
            distractors, key=lambda letter: lot(f"{item_id}/{letter}", seed=seed, purpose="t")
        )
    return distractors[int(_uniform(whose, reader.seed, "distractor") * len(distractors))]


def ability(accuracy: float) -> float:
    """Return the ability whose mean success over the items' difficulties is `accuracy`.

    The mean is taken over a fixed grid of equally likely difficulties, and the ability found by
    bisection; the expected accuracy is exact to 1e-3.

    >>> round(ability(0.75), 3)
    1.396
    """
    grid = [DIFFICULTY_SD * _NORMAL.inv_cdf((i + 0.5) / _GRID) for i in range(_GRID)]
    low, high = -40.0, 40.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        if sum(_logistic(middle - difficulty) for difficulty in grid) < accuracy * _GRID:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def _uniform(key: str, seed: int, purpose: str) -> float:
    return (int(lot(key, seed=seed, purpose=f"simulate/{purpose}")[:13], 16) + 0.5) / 16**13


def _normal(key: str, seed: int, purpose: str) -> float:
    return _NORMAL.inv_cdf(_uniform(key, seed, purpose))


def _confidence(steps: int, sure: float) -> int | None:
    return 1 + min(int(sure * steps), steps - 1) if steps else None
