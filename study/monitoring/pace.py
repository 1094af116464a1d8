"""How fast a reader reads, and how long the rest will take: estimates that say what they rest on.

Active time runs from one reading's arrival to the next, where that is `SITTING_MS` at most; a
reading after a longer gap counts with its own response time, and one without a known time not at
all. So a night between two cases is no reading time, and looking at a film for long is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from statistics import median
from typing import Protocol

from study.base.canonical import moment

SITTING_MS = 10 * 60 * 1000.0
"""A longer gap between two readings is a break."""

ENOUGH = 5
"""Readings with a known time that a pace is told from, at least."""

_HOUR_MS = 3_600_000.0


class Basis(StrEnum):
    """Whose pace an estimate of the time left rests on."""

    OWN = "own"
    OTHERS = "others"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """A reader's pace; what cannot be told is None, never 0.

    `n_timed` readings have a response time; `n_active` readings make up `active_ms`.
    """

    n_timed: int
    median_response_ms: float | None
    n_active: int
    active_ms: float

    @property
    def cases_per_hour(self) -> float | None:
        """Cases in an hour of active time; None under `ENOUGH` readings."""
        if self.n_active < ENOUGH or self.active_ms <= 0:
            return None
        return self.n_active * _HOUR_MS / self.active_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLeft:
    """How many hours of reading are left, from whose pace, and from how many readings of theirs.

    From the others' pace it is that of the median reader, and `n` counts readers.
    """

    hours: float
    basis: Basis
    n: int


class Arrival(Protocol):
    """When the first reading of a case came in, and its response time; None where unknown."""

    @property
    def received_at_utc(self) -> str: ...

    @property
    def response_ms(self) -> float | None: ...


def pace_of(arrivals: Sequence[Arrival]) -> Pace:
    """Return the pace of one reader, from the first readings of their cases in order of time."""
    times = [one.response_ms for one in arrivals if one.response_ms is not None]
    at = [moment(one.received_at_utc) for one in arrivals]
    gaps = [None, *((then - first).total_seconds() * 1000 for first, then in pairwise(at))]
    spent = [
        own
        for one, gap in zip(arrivals, gaps, strict=False)
        if (own := gap if gap is not None and gap <= SITTING_MS else one.response_ms) is not None
    ]
    return Pace(
        n_timed=len(times),
        median_response_ms=median(times) if times else None,
        n_active=len(spent),
        active_ms=sum(spent),
    )


def time_left(n_unread: int, own: Pace, others: Sequence[Pace]) -> TimeLeft | None:
    """Return how long the unread cases will take; None where nothing is left or nobody has read.

    From a reader's own pace; under `ENOUGH` readings of theirs, from the median of the others'.
    """
    if not n_unread:
        return None
    rate = own.cases_per_hour
    if rate is not None:
        return TimeLeft(hours=n_unread / rate, basis=Basis.OWN, n=own.n_active)
    rates = [found for one in others if (found := one.cases_per_hour) is not None]
    if not rates:
        return None
    return TimeLeft(hours=n_unread / median(rates), basis=Basis.OTHERS, n=len(rates))
