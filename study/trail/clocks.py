"""Clocks that run backwards: noted when it happens, and found when a store is verified.

No answer is refused because a computer's clock is wrong. The trail says from when on it was, so
that nobody takes the times after it for what they are not. What a simulated reader does happens on
a clock of its own, which runs ahead.
"""

from collections.abc import Iterable, Iterator
from datetime import timedelta

from study.base.canonical import moment
from study.store.events import LONG_BACK, EventKind, EventRow

SLIPS = timedelta(minutes=2)
"""Two processes write in another order than they looked at the clock, and clocks are set right."""


def breaches(chain: str, trail: Iterable[EventRow]) -> Iterator[str]:
    """Yield where a chain's times go back by over an hour without the program having noted it."""
    for before, event, noted in _steps_back(trail):
        if not noted:
            yield (
                f"{chain}: event {event.number} ({event.kind}) is dated {event.at_utc}, "
                f"{_gap(before, event)} before event {before.number}."
            )


def remarks(chain: str, trail: Iterable[EventRow]) -> Iterator[str]:
    """Yield where a chain's times go back by little, or as the program noted."""
    for before, event, noted in _steps_back(trail):
        if noted:
            yield (
                f"{chain}: the clock went back by {_gap(before, event)} at event "
                f"{event.number}, from {before.at_utc} to {event.at_utc}."
            )


def _steps_back(trail: Iterable[EventRow]) -> Iterator[tuple[EventRow, EventRow, bool]]:
    """Yield an event, the later-dated one it follows, and whether that is accounted for."""
    events = list(trail)
    simulated = {e.detail["reader_id"] for e in events if e.kind == EventKind.READER_SIMULATED}
    came = max((e.number for e in events if e.kind == EventKind.STUDY_RESTORED), default=0)
    before: EventRow | None = None
    for event in events:
        if event.actor in simulated:
            continue
        if before is not None and moment(event.at_utc) < moment(before.at_utc) - SLIPS:
            little = moment(event.at_utc) >= moment(before.at_utc) - LONG_BACK
            told = event.kind == EventKind.CLOCK_WENT_BACK
            yield before, event, little or told or event.number <= came
        before = event


def _gap(before: EventRow, event: EventRow) -> str:
    minutes = round((moment(before.at_utc) - moment(event.at_utc)).total_seconds() / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"
