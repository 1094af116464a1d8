"""What a protocol asks of one reader: how many readings, how many hours, how many days."""

import json
from dataclasses import dataclass, replace

from study.protocol.assignment import Assigned, assign
from study.protocol.protocol import Protocol

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
