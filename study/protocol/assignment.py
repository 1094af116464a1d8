"""Assigns cases to readers, with the order of cases and of options.

The same protocol, cases and reader always give the same list, so that a reader can be added later
and a statistician can recompute every order from the seed. Lists are stored before reading starts.
"""

import hmac
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import count

from study.base.actor import Acting
from study.base.bank_model import LETTERS
from study.base.canonical import random_key, sha256_of, shuffled
from study.protocol import designs
from study.protocol.designs import ListPlace, Part
from study.protocol.protocol import Aid, Condition, Protocol, stored_protocol
from study.store import Transaction, deployment, events, studies
from study.store.events import EventKind
from study.store.people import ReaderRow
from study.store.studies import PRACTICE, STUDY, CaseRow, CaseSet, StudyRow


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignedCase:
    """An entry in a reader's list.

    `position` counts from 1 over all sessions. `repeat` counts a reader's readings of the item in
    the condition, in the order of reading, including hidden repeats and readings in later sessions.
    `shown_order` lists the canonical letters in the order in which the options are shown: with
    ``"CAB"``, option C is shown at letter A. `block` is the case's block, or None in designs
    without blocks. `stage` is 1 or 2 in sequential reading, where both stages have the same
    position; otherwise 0. `aid` states when the aid is shown.
    """

    item_id: str
    condition: Condition
    session: int
    repeat: int
    position: int
    shown_order: str
    block: int | None = None
    stage: int = 0
    aid: str = ""


Case = tuple[str, str, str]
"""The item_id of a case, its options as a JSON list, and its stratum."""


def assign(
    cases: Sequence[tuple[str, str]], protocol: Protocol, *, reader_id: str, reader_index: int
) -> list[AssignedCase]:
    """Return a reader's list in order of position, in a design without an aid, arms or blocks.

    Parameters
    ----------
    cases
        The item_id and the options as a JSON list of each case, in order of case number.
    reader_index
        Number of the reader, from 0. The order of the conditions with options is rotated by it, so
        that orders are balanced over readers.
    """
    item_ids = [item_id for item_id, _ in cases]
    parts = [
        Part(
            session=session,
            name=f"{condition}" if turn == 1 else f"{condition}/{turn}",
            conditions=dict.fromkeys(item_ids, condition),
            n_repeats=protocol.hidden_repeats,
        )
        for session, condition, turn in _condition_blocks(protocol, reader_index)
    ]
    return _assign_parts(parts, dict(cases), protocol, reader_id)


def assign_list(cases: Sequence[Case], protocol: Protocol, place: ListPlace) -> list[AssignedCase]:
    """Return a list in order of position, in a design with an aid, wrong images, arms or blocks.

    Parameters
    ----------
    protocol
        The protocol of the whole study.
    """
    of_arm = protocol.of_arm(place.arm)
    strata = {item_id: stratum for item_id, _, stratum in cases}
    options = {item_id: options for item_id, options, _ in cases}
    return _assign_parts(designs.list_parts(strata, of_arm, place), options, of_arm, place.name)


def _assign_parts(
    parts: Iterable[Part], options: Mapping[str, str], protocol: Protocol, purpose_prefix: str
) -> list[AssignedCase]:
    """Return the entries of a list.

    In sequential reading, an aided case has two entries with the same position.
    """
    n_options = {item_id: len(json.loads(texts)) for item_id, texts in options.items()}
    n_readings_of: Counter[tuple[str, Condition]] = Counter()
    position = count(1)
    assigned: list[AssignedCase] = []
    for part in parts:
        for item_id in _ordered_cases(
            list(part.conditions), protocol, f"{purpose_prefix}/{part.name}", part.n_repeats
        ):
            condition = part.conditions[item_id]
            n_readings_of[item_id, condition] += 1
            repeat = n_readings_of[item_id, condition]
            key_text = f"{purpose_prefix}/{item_id}/{condition}/{repeat}"
            aid = str(protocol.aid) if condition == Condition.AIDED else ""
            placed = AssignedCase(
                item_id=item_id,
                condition=condition,
                session=part.session,
                repeat=repeat,
                position=next(position),
                shown_order=options_order(n_options[item_id], protocol, key_text),
                block=part.blocks.get(item_id),
                aid=aid,
            )
            if aid == Aid.AFTER:
                assigned += [
                    replace(placed, condition=Condition.UNAIDED, stage=1),
                    replace(placed, stage=2),
                ]
            else:
                assigned.append(placed)
    return assigned


def assign_practice(
    cases: Sequence[tuple[str, str]], protocol: Protocol, *, reader_id: str, condition: Condition
) -> list[AssignedCase]:
    """Return a reader's practice list in order of position; for the parameters see `assign`.

    All cases are read in the condition of the reader's first block, but never with an aid or wrong
    images.
    """
    n_options = {item_id: len(json.loads(options)) for item_id, options in cases}
    order = (
        shuffled(n_options, seed=protocol.seed, purpose=f"practice order/{reader_id}")
        if protocol.case_order == "random"
        else list(n_options)
    )
    as_unaided = (Condition.AIDED, Condition.WRONG_IMAGE)
    return [
        AssignedCase(
            item_id=item_id,
            condition=Condition.UNAIDED if condition in as_unaided else condition,
            session=1,
            repeat=1,
            position=position,
            shown_order=options_order(
                n_options[item_id], protocol, f"{reader_id}/{item_id}/practice"
            ),
        )
        for position, item_id in enumerate(order, start=1)
    ]


def _rotate(conditions: Sequence[Condition], by: int) -> list[Condition]:
    turn = by % len(conditions) if conditions else 0
    return [*conditions[turn:], *conditions[:turn]]


def _condition_blocks(
    protocol: Protocol, reader_index: int
) -> Iterator[tuple[int, Condition, int]]:
    """Yield (session, condition, number of the condition's occurrence) in the order of reading.

    A single session contains all conditions one after another; if there are several sessions, each
    has one condition. Open-ended cases always come first, because options could reveal the answer.
    """
    n_turns = max(1, protocol.sessions // len(protocol.conditions))
    options = [name for name in protocol.conditions if name != Condition.OPEN_ENDED]
    words = [name for name in protocol.conditions if name == Condition.OPEN_ENDED]
    blocks = [
        (condition, turn)
        for conditions in (words, _rotate(options, reader_index))
        for turn in range(1, n_turns + 1)
        for condition in conditions
    ]
    for before, (condition, turn) in enumerate(blocks):
        yield 1 if protocol.sessions == 1 else before + 1, condition, turn


def _ordered_cases(
    item_ids: Sequence[str], protocol: Protocol, purpose_prefix: str, n_repeats: int
) -> list[str]:
    """Return the cases of a part in order, with the hidden repeats spread over the second half."""
    seed = protocol.seed
    order = (
        shuffled(item_ids, seed=seed, purpose=f"case order/{purpose_prefix}")
        if protocol.case_order == "random"
        else list(item_ids)
    )
    block = [(item_id, 1) for item_id in order]
    early = order[: max(len(order) // 2, n_repeats)]
    repeated = shuffled(early, seed=seed, purpose=f"hidden repeats/{purpose_prefix}")
    for item_id in repeated[:n_repeats]:
        block.insert(_repeat_position(item_id, block, seed, purpose_prefix), (item_id, 2))
    return [item_id for item_id, _ in block]


def _repeat_position(
    item_id: str, block: Sequence[tuple[str, int]], seed: int, purpose_prefix: str
) -> int:
    """Return a random position in the second half, after the case's first reading."""
    first = block.index((item_id, 1)) + 1
    start = max(len(block) // 2, first)
    draw = int(random_key(item_id, seed=seed, purpose=f"repeat place/{purpose_prefix}"), 16)
    return start + draw % (len(block) - start + 1)


def options_order(n_options: int, protocol: Protocol, key_text: str) -> str:
    """Return the order of the options; `key_text` is ``rater/item/condition/repeat``."""
    letters = LETTERS[:n_options]
    if protocol.option_order == "canonical":
        return letters
    return "".join(shuffled(letters, seed=protocol.seed, purpose=f"option order/{key_text}"))


SECONDS_A_READING = 30
"""The assumed time for a reading, which is one question about a radiograph."""

_MAX_SAMPLE_CASES = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A reader's workload in a study.

    Parameters
    ----------
    n_cases
        Number of different cases, without practice cases.
    n_readings
        Number of readings, including hidden repeats.
    n_practice
        Number of practice cases.
    n_sessions
        Number of sessions.
    hours
        Total time at `SECONDS_A_READING` per reading, or at the time limit if that is shorter. The
        two readings of a case in sequential reading count as one.
    days
        Minimum number of days from the first to the last session because of wash-outs.
    """

    n_cases: int
    n_readings: int
    n_practice: int
    n_sessions: int
    hours: float
    days: float


def workloads(protocol: Protocol) -> dict[str, Workload]:
    """Return a reader's workload by arm; without arms, under an empty name.

    If cases are shared among an unknown number of readers, the workload is that of a reader who
    reads all cases.
    """
    return {arm: _workload(protocol, arm) for arm in protocol.by_arm}


def _workload(protocol: Protocol, arm: str) -> Workload:
    n = min(protocol.cases, _MAX_SAMPLE_CASES)
    small_list = _assign_sample_list(protocol, arm, n)
    presented = {entry.position for entry in small_list}
    n_cases = protocol.cases_per_reader or protocol.cases
    n_own = n_cases + protocol.hidden_repeats
    sessions = {entry.session for entry in small_list}
    n_rounds = len(sessions) if protocol.of_arm(arm).case_blocks else len(presented) // n
    n_presented = n_own * n_rounds
    seconds = min(protocol.time_limit_s or SECONDS_A_READING, SECONDS_A_READING)
    return Workload(
        n_cases=n_cases,
        n_readings=n_presented * len(small_list) // len(presented),
        n_practice=protocol.practice_cases,
        n_sessions=len(sessions),
        hours=(n_presented + protocol.practice_cases) * seconds / 3600,
        days=_n_washouts(small_list) * protocol.washout_days,
    )


def _assign_sample_list(protocol: Protocol, arm: str, n: int) -> list[AssignedCase]:
    """Return a list of `n` cases with the sessions of the protocol."""
    few = replace(
        protocol,
        cases=n,
        allocation="equal",
        hidden_repeats=0,
        reads_per_case=0,
        cases_per_reader=0,
        anchor=0,
    )
    options = json.dumps(["", ""])
    numbers = [str(number) for number in range(n)]
    if few.has_new_design:
        cases = [(number, options, "") for number in numbers]
        return assign_list(cases, few, ListPlace(arm=arm, number=1, lists=1))
    return assign([(number, options) for number in numbers], few, reader_id="", reader_index=0)


def _n_washouts(assigned: list[AssignedCase]) -> int:
    """Return how many wash-outs follow one another.

    A session must wait for the wash-out of the last session that contains one of its cases.
    """
    sessions: dict[int, set[str]] = {}
    for entry in assigned:
        sessions.setdefault(entry.session, set()).add(entry.item_id)
    waited: dict[int, int] = {}
    for session in sorted(sessions):
        before = [
            waited[other] + (not sessions[other].isdisjoint(sessions[session])) for other in waited
        ]
        waited[session] = max(before, default=0)
    return max(waited.values(), default=0)


def assign_reader(
    change: Transaction, study: StudyRow, reader: ReaderRow, place: ListPlace | int, acting: Acting
) -> None:
    """Store a reader's list and practice list, and their hashes in the study's chain.

    Parameters
    ----------
    place
        The reader's list. In designs without an aid, arms or blocks: the number of the reader, from
        0, in the order of invitation.
    """
    protocol, name = stored_protocol(study), reader.reader_id
    cases = studies.cases(change, study.id)
    if isinstance(place, int):
        options = [(row.item_id, row.options) for row in cases]
        entries = assign(options, protocol, reader_id=name, reader_index=place)
        assigned_by_list = {}
    else:
        drawn = [(row.item_id, row.options, row.stratum) for row in cases]
        entries = assign_list(drawn, protocol, place)
        assigned_by_list = {"arm": place.arm, "list": place.number}
    _store_assignments(change, STUDY, reader, cases, entries)
    practice = studies.cases(change, study.id, PRACTICE)
    entries_of_practice = assign_practice(
        [(row.item_id, row.options) for row in practice],
        protocol,
        reader_id=name,
        condition=entries[0].condition,
    )
    _store_assignments(change, PRACTICE, reader, practice, entries_of_practice)
    n_practice = len(practice)
    details = {"n_practice": n_practice, "practice_sha256": list_hash(change, reader.id, PRACTICE)}
    events.record(
        change,
        study.name,
        acting,
        kind=EventKind.READER_ASSIGNED,
        detail={
            "reader_id": name,
            "n_assigned": len(entries),
            "assignments_sha256": list_hash(change, reader.id),
            **(details if n_practice else {}),
            **assigned_by_list,
        },
    )


def _store_assignments(
    change: Transaction,
    case_set: CaseSet,
    reader: ReaderRow,
    cases: Sequence[CaseRow],
    entries: Iterable[AssignedCase],
) -> None:
    """Store a list, with an ID for each entry that reveals nothing about it."""
    key = bytes.fromhex(deployment.secret(change))
    numbers = {row.item_id: row.id for row in cases}
    rows = (
        {
            **asdict(entry),
            "id": _hashed_id(
                key,
                f"{case_set.purpose}/{reader.id}/{entry.position}"
                + (f"/{entry.stage}" if entry.stage else ""),
            ),
            "reader": reader.id,
            "case": numbers[entry.item_id],
        }
        for entry in entries
    )
    studies.add_assignments(change, case_set, rows)


def list_hash(look: Transaction, reader: int, case_set: CaseSet = STUDY) -> str:
    """Return the hash of a reader's list, which covers the IDs; a practice list may be empty."""
    return sha256_of(studies.assignments(look, reader, case_set))


def _hashed_id(key: bytes, purpose: str) -> str:
    return hmac.digest(key, purpose.encode(), "sha256").hex()[:24]
