"""Who reads what, in which order, with the options in which order: fixed before anyone reads.

Pure: the same protocol, cases and reader always give the same assignment, so a reader can be added
later, and a statistician can recompute every order from the protocol's seed. Its lists are then
written, and what it asks of one reader can be told beforehand.
"""

import hmac
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from study.base.actor import By
from study.base.bank_model import LETTERS
from study.base.canonical import lot, sha256_of, shuffled
from study.protocol.protocol import Condition, Protocol, stored_protocol
from study.store import Transaction, deployment, events, studies
from study.store.events import EventKind
from study.store.people import ReaderRow
from study.store.studies import PRACTICE, STUDY, CaseSet, StudyRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """One place in a reader's list.

    `position` counts from 1 over all sessions. `repeat` counts a reader's readings of the item in
    the condition, in the order they are read: hidden repeats and those of later sessions alike.
    `shown_order` spells the canonical letters in the order shown: with ``"CAB"`` the reader sees
    C's text at letter A. `block` is the case's block, None in designs without blocks; `stage` is 1
    or 2 in sequential reading, where both share a position, and `aid` when the aid is shown.
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


def assign(
    cases: Sequence[tuple[str, str]], protocol: Protocol, *, reader_id: str, reader_index: int
) -> list[Assigned]:
    """Return a reader's whole list in order of position.

    Parameters
    ----------
    cases
        (item_id, options as a JSON list) in order of case number.
    reader_index
        Counts the readers from 0; it rotates the order of the conditions with options, so that they
        are balanced over readers.
    """
    n_options = {item_id: len(json.loads(options)) for item_id, options in cases}
    met: Counter[tuple[str, Condition]] = Counter()
    assigned: list[Assigned] = []
    for session, condition, turn in _blocks(protocol, reader_index):
        whose = f"{reader_id}/{condition}" if turn == 1 else f"{reader_id}/{condition}/{turn}"
        for item_id in _block(list(n_options), protocol, whose):
            met[item_id, condition] += 1
            repeat = met[item_id, condition]
            which = f"{reader_id}/{item_id}/{condition}/{repeat}"
            assigned.append(
                Assigned(
                    item_id=item_id,
                    condition=condition,
                    session=session,
                    repeat=repeat,
                    position=len(assigned) + 1,
                    shown_order=options_order(n_options[item_id], protocol, which),
                )
            )
    return assigned


def assign_practice(
    cases: Sequence[tuple[str, str]], protocol: Protocol, *, reader_id: str, reader_index: int
) -> list[Assigned]:
    """Return a reader's practice list in order of position; arguments as for `assign`.

    All are read in the condition of the reader's first block.
    """
    n_options = {item_id: len(json.loads(options)) for item_id, options in cases}
    order = (
        shuffled(n_options, seed=protocol.seed, purpose=f"practice order/{reader_id}")
        if protocol.case_order == "random"
        else list(n_options)
    )
    return [
        Assigned(
            item_id=item_id,
            condition=next(_blocks(protocol, reader_index))[1],
            session=1,
            repeat=1,
            position=position,
            shown_order=options_order(
                n_options[item_id], protocol, f"{reader_id}/{item_id}/practice"
            ),
        )
        for position, item_id in enumerate(order, start=1)
    ]


def _rotated(conditions: Sequence[Condition], by: int) -> list[Condition]:
    turn = by % len(conditions) if conditions else 0
    return [*conditions[turn:], *conditions[:turn]]


def _blocks(protocol: Protocol, reader_index: int) -> Iterator[tuple[int, Condition, int]]:
    """Yield (session, condition, which turn of the condition this is) in the order of reading.

    In one session the conditions follow one another; in several, each session has one. What is
    open-ended comes first, every turn of it: whoever has seen the options has been told the answer.
    """
    n_turns = max(1, protocol.sessions // len(protocol.conditions))
    options = [one for one in protocol.conditions if one != Condition.OPEN_ENDED]
    words = [one for one in protocol.conditions if one == Condition.OPEN_ENDED]
    blocks = [
        (condition, turn)
        for conditions in (words, _rotated(options, reader_index))
        for turn in range(1, n_turns + 1)
        for condition in conditions
    ]
    for before, (condition, turn) in enumerate(blocks):
        yield 1 if protocol.sessions == 1 else before + 1, condition, turn


def _block(item_ids: Sequence[str], protocol: Protocol, whose: str) -> list[str]:
    """Return one block's cases in order, its hidden repeats spread over the second half."""
    seed = protocol.seed
    order = (
        shuffled(item_ids, seed=seed, purpose=f"case order/{whose}")
        if protocol.case_order == "random"
        else list(item_ids)
    )
    block = [(item_id, 1) for item_id in order]
    early = order[: max(len(order) // 2, protocol.hidden_repeats)]
    repeated = shuffled(early, seed=seed, purpose=f"hidden repeats/{whose}")
    for item_id in repeated[: protocol.hidden_repeats]:
        block.insert(_repeat_place(item_id, block, seed, whose), (item_id, 2))
    return [item_id for item_id, _ in block]


def _repeat_place(item_id: str, block: Sequence[tuple[str, int]], seed: int, whose: str) -> int:
    """Return a place drawn by lot in the second half, and after the case's first reading."""
    first = block.index((item_id, 1)) + 1
    start = max(len(block) // 2, first)
    draw = int(lot(item_id, seed=seed, purpose=f"repeat place/{whose}"), 16)
    return start + draw % (len(block) - start + 1)


def options_order(n_options: int, protocol: Protocol, which: str) -> str:
    """Return the order in which options are shown; `which` is ``rater/item/condition/repeat``."""
    letters = LETTERS[:n_options]
    if protocol.option_order == "canonical":
        return letters
    return "".join(shuffled(letters, seed=protocol.seed, purpose=f"option order/{which}"))


SECONDS_A_READING = 30
"""What a reading is taken to last: one question on a radiograph, without hurry."""

_ENOUGH = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Burden:
    """One reader's share of a study.

    Parameters
    ----------
    n_readings, n_practice
        Readings of the study, hidden repeats among them; practice cases beside.
    n_sessions
        Sessions they are read in.
    hours
        All of it at `SECONDS_A_READING`, or at the time limit where that is shorter.
    days
        Days between the first and the last session for wash-outs alone.
    """

    n_readings: int
    n_practice: int
    n_sessions: int
    hours: float
    days: float


def burden(protocol: Protocol) -> Burden:
    """Return what a protocol asks of one reader."""
    placed = _small(protocol)
    n_blocks = len(placed) // min(protocol.cases, _ENOUGH)
    n_readings = (protocol.cases + protocol.hidden_repeats) * n_blocks
    seconds = min(protocol.time_limit_s or SECONDS_A_READING, SECONDS_A_READING)
    return Burden(
        n_readings=n_readings,
        n_practice=protocol.practice_cases,
        n_sessions=len({one.session for one in placed}),
        hours=(n_readings + protocol.practice_cases) * seconds / 3600,
        days=_washouts(placed) * protocol.washout_days,
    )


def _small(protocol: Protocol) -> list[Assigned]:
    """Return a list such as a reader's, of few cases: its sessions are those of the whole."""
    n = min(protocol.cases, _ENOUGH)
    few = replace(protocol, cases=n, allocation="equal", hidden_repeats=0)
    options = json.dumps(["", ""])
    cases = [(str(number), options) for number in range(n)]
    return assign(cases, few, reader_id="", reader_index=0)


def _washouts(placed: list[Assigned]) -> int:
    """Return how many wash-outs follow one another: a session waits for the last of its cases."""
    sessions: dict[int, set[str]] = {}
    for one in placed:
        sessions.setdefault(one.session, set()).add(one.item_id)
    waited: dict[int, int] = {}
    for session in sorted(sessions):
        before = [
            waited[other] + (not sessions[other].isdisjoint(sessions[session])) for other in waited
        ]
        waited[session] = max(before, default=0)
    return max(waited.values(), default=0)


def assign_reader(
    change: Transaction,
    study: StudyRow,
    reader: ReaderRow,
    index: int,
    by: By,
    now: datetime,
) -> None:
    """Store a reader's whole list and practice list, and their hashes in the study's chain.

    Parameters
    ----------
    index
        Counts the study's readers from 0, in the order of their invitation.
    """
    protocol, name = stored_protocol(study), reader.reader_id
    key = bytes.fromhex(deployment.secret(change))
    counts = {}
    for case_set, assigning in ((STUDY, assign), (PRACTICE, assign_practice)):
        cases = {row.item_id: row for row in studies.cases(change, study.id, case_set)}
        options = [(item_id, row.options) for item_id, row in cases.items()]
        entries = assigning(options, protocol, reader_id=name, reader_index=index)
        studies.add_assignments(
            change,
            case_set,
            (
                {
                    **asdict(entry),
                    "id": _opaque(key, f"{case_set.purpose}/{reader.id}/{entry.position}"),
                    "reader": reader.id,
                    "case": cases[entry.item_id].id,
                }
                for entry in entries
            ),
        )
        counts[case_set] = len(entries)
    n_practice = counts[PRACTICE]
    about = {"n_practice": n_practice, "practice_sha256": list_hash(change, reader.id, PRACTICE)}
    events.record(
        change,
        study.name,
        now,
        kind=EventKind.READER_ASSIGNED,
        detail={
            "reader_id": name,
            "n_assigned": counts[STUDY],
            "assignments_sha256": list_hash(change, reader.id),
            **(about if n_practice else {}),
        },
        by=by,
    )


def list_hash(look: Transaction, reader: int, case_set: CaseSet = STUDY) -> str:
    """Return the hash that covers a reader's list, ids included; one of practice may be empty."""
    return sha256_of(studies.assignments(look, reader, case_set))


def _opaque(key: bytes, what: str) -> str:
    return hmac.digest(key, what.encode(), "sha256").hex()[:24]
