"""A simulated reader, who goes through the same calls as the reading page, and is marked so.

The model of the reader: an item's difficulty is a normal deviate shared by all simulated readers; a
reader answers correctly with probability logistic(ability - difficulty), the ability set so that
the expected accuracy is the one asked for; a wrong answer falls on the item's most tempting
distractor with probability 0.6, else on any of them. Response times are log-normal (median 14 s),
longer for difficult items and for wrong answers. Everything is drawn by lot from seed, reader and
item.

A simulated reader's clock starts at the present and runs ahead by the simulated times.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import NormalDist
from typing import Any

from study.access import Person
from study.assignment import LETTERS
from study.chance import lot
from study.desk import Desk, desk
from study.errors import BadFile, NotFound, NotNow
from study.protocol import Protocol
from study.records import Presentation, Reading, Times
from study.store import Store, Transaction, people, readings
from study.studies import record, stored_protocol, study_row
from study.taking import take

DIFFICULTY_SD = 1.2
TEMPTING = 0.6
MEDIAN_MS = 14_000.0
SPREAD = 0.45

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """What a simulated reader did."""

    reader_id: str
    n_read: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    item_id: str
    option: str
    n_options: int
    response_ms: float
    fraction: float


def simulate(
    store: Store, *, study: str, reader_id: str, seed: int, accuracy: float, now: datetime
) -> Simulated:
    """Let a simulated reader read everything they have not read yet.

    Parameters
    ----------
    accuracy
        Expected proportion of correct answers, above 0 and below 1.

    Raises
    ------
    NotFound
        No such study or reader.
    NotNow
        The study is not open, or the reader is a person who has read already.
    BadFile
        `accuracy` is out of range.
    """
    if not 0 < accuracy < 1:
        raise BadFile(f"accuracy = {accuracy}: must lie between 0 and 1.")
    person, protocol = _admit(store, study, reader_id, now)
    clock, n_read = now, 0
    with store.kept_warm():
        while (found := desk(store, person)).cases:
            clock = _read_next(store, person, protocol, found, seed, accuracy, clock)
            n_read += 1
    return Simulated(reader_id=reader_id, n_read=n_read)


def _admit(store: Store, study: str, reader_id: str, now: datetime) -> tuple[Person, Protocol]:
    with store.change() as change:
        found = study_row(change, study)
        row = people.reader(change, found["id"], reader_id)
        if row is None:
            raise NotFound(f"No reader {reader_id!r} in {study!r}. Invite them first.")
        if found["state"] != "open":
            raise NotNow(f"The study {study!r} is {found['state']}, not open.")
        if readings.has_any(change, row["id"], "browser"):
            raise NotNow(
                f"{reader_id!r} has readings of a person; a simulation would mix with them."
            )
        if not row["simulated"]:
            people.mark_simulated(change, row["id"])
            record(change, study, now, kind="reader simulated", detail={"reader_id": reader_id})
    person = Person(
        role="reader", study=found["id"], study_name=study, reader=row["id"], name=reader_id
    )
    return person, stored_protocol(found)


def _read_next(
    store: Store,
    person: Person,
    protocol: Protocol,
    found: Desk,
    seed: int,
    accuracy: float,
    clock: datetime,
) -> datetime:
    case = found.cases[0]
    with store.look() as look:
        made = _answer(look, person, case.case, seed, accuracy)
    shown_at = clock + timedelta(milliseconds=250)
    committed_at = shown_at + timedelta(milliseconds=made.response_ms)
    first_ms = made.response_ms * (0.6 + 0.3 * made.fraction)
    token = lot(f"{person.name}/{case.case}", seed=seed, purpose="record id")[:32]
    presentation = Presentation(
        id=f"p-{token}", case=case.case, shown_at=shown_at, circumstances={"simulated": True}
    )
    reading = Reading(
        id=f"r-{token}",
        case=case.case,
        option=made.option,
        status="answered",
        times=Times(
            response_ms=made.response_ms,
            elapsed_ms=made.response_ms,
            hidden_ms=0.0,
            paused_ms=0.0,
            first_selection_ms=first_ms,
        ),
        presented_at=shown_at,
        committed_at=committed_at,
        confidence=_confidence(protocol.confidence, made.fraction),
        selections=((made.option, first_ms),),
    )
    for one, at in ((presentation, shown_at), (reading, committed_at)):
        with store.desk() as change:
            taken = take(
                change,
                person.study_name,
                protocol,
                person.reader or 0,
                person.name,
                one,
                now=at,
                timing_source="simulated",
            )
        if taken.refused:
            raise NotNow(f"The simulated reading was refused: {taken.refused}")
    return committed_at


def _answer(look: Transaction, person: Person, case: str, seed: int, accuracy: float) -> _Case:
    row = readings.simulated_case(look, case)
    options: Sequence[Any] = json.loads(row["options"])
    order, item_id = row["shown_order"], row["item_id"]
    whose = f"{person.name}/{item_id}/{row['repeat']}"
    difficulty = DIFFICULTY_SD * _normal(item_id, seed, "difficulty")
    truth = row["truth"] or LETTERS[int(_uniform(item_id, seed, "no truth") * len(options))]
    correct = _uniform(whose, seed, "correct") < _logistic(_ability(accuracy) - difficulty)
    answer = truth if correct else _wrong(truth, len(options), item_id, whose, seed)
    slow = math.exp(SPREAD * _normal(whose, seed, "time") + 0.15 * difficulty)
    return _Case(
        item_id=item_id,
        option=LETTERS[order.index(answer)],
        n_options=len(options),
        response_ms=round(MEDIAN_MS * slow * (1.0 if correct else 1.25), 1),
        fraction=_uniform(whose, seed, "confidence"),
    )


def _wrong(truth: str, n_options: int, item_id: str, whose: str, seed: int) -> str:
    distractors = [letter for letter in LETTERS[:n_options] if letter != truth]
    tempting = min(
        distractors, key=lambda letter: lot(f"{item_id}/{letter}", seed=seed, purpose="t")
    )
    if _uniform(whose, seed, "tempted") < TEMPTING:
        return tempting
    return distractors[int(_uniform(whose, seed, "distractor") * len(distractors))]


def _ability(accuracy: float) -> float:
    """Return the ability with mean success `accuracy` over difficulties (probit approximation)."""
    slope = math.sqrt(1 + DIFFICULTY_SD**2 * (16 * math.sqrt(3) / (15 * math.pi)) ** 2)
    return slope * math.log(accuracy / (1 - accuracy))


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def _uniform(key: str, seed: int, purpose: str) -> float:
    return (int(lot(key, seed=seed, purpose=f"simulate/{purpose}")[:13], 16) + 0.5) / 16**13


def _normal(key: str, seed: int, purpose: str) -> float:
    return _NORMAL.inv_cdf(_uniform(key, seed, purpose))


def _confidence(steps: int, fraction: float) -> int | None:
    return 1 + min(int(fraction * steps), steps - 1) if steps else None
