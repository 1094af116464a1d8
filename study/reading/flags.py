"""Names what makes a reading's times doubtful, as flags; a flagged reading is kept all the same.

Two clocks are compared: the browser's, which measured, and the server's, which received. Only a
presentation that arrived at once, in an earlier message than its reading, tells how long the server
saw the case on the screen; after a cut line both arrive together, and nothing can be compared.
How long a record waited is told by the browser's clock alone, from its commit to its sending, where
the message says when it was sent: a workstation's clock may be minutes off.
"""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta

from study.base.canonical import moment, stamp
from study.protocol.protocol import Protocol
from study.reading.records import CLOCK_IMPLAUSIBLE, Reading
from study.store.readings import PresentationRow

TOO_SHORT_MS = 2_000.0
"""A server interval this much shorter than the browser's elapsed time cannot be."""

LATE_MS = 30_000.0
"""A record that arrives this much later than it was made is late."""

ELSEWHERE_MS = 1_000.0
"""Two showings of a case this far apart are two."""

TOO_FAST_MS = 300.0
"""Nobody takes in a film, decides and presses two keys in this; a simple reaction takes 200 ms."""

ASTRAY = timedelta(hours=24)
"""A browser's clock this far from the server's is wrong, or the answer waited for a day."""

_SHOWN_TWICE = frozenset({"resumed", "resumed_elsewhere", "revisited"})


def suspicions(
    record: Reading, presented: PresentationRow | None, protocol: Protocol, now: datetime
) -> list[str]:
    """Return the flags of a reading.

    Parameters
    ----------
    presented
        The stored presentation of its case, None where none arrived before the reading.
    now
        When the server received the reading.
    """
    elsewhere = _presented_elsewhere(record, presented)
    flags = [*_arrival(record, None if elsewhere else presented, now)]
    if presented is None:
        flags.append("presentation_lost")
    if elsewhere:
        flags.append("presented_elsewhere")
    if record.committed_at and abs(now - record.committed_at) > ASTRAY:
        flags.append(CLOCK_IMPLAUSIBLE)
    return [*flags, *_pace(record, protocol)]


def _pace(record: Reading, protocol: Protocol) -> Iterator[str]:
    response = record.times.response_ms
    if response is None:
        return
    if response < TOO_FAST_MS and record.status == "answered" and not record.supersedes:
        yield "too_fast"
    if protocol.time_limit_s and response > protocol.time_limit_s * 1000 + TOO_SHORT_MS:
        yield "over_time_limit"


def _presented_elsewhere(record: Reading, presented: PresentationRow | None) -> bool:
    """Whether the stored presentation is of another browser, which looked at the case first."""
    if presented is None or record.presented_at is None or record.supersedes:
        return False
    if _SHOWN_TWICE & set(record.flags) or _has_absurd_clock(presented):
        return False
    shown_at = moment(presented.shown_at_utc)
    return abs(_ms(record.presented_at - shown_at)) > ELSEWHERE_MS


def _has_absurd_clock(presented: PresentationRow) -> bool:
    return CLOCK_IMPLAUSIBLE in json.loads(presented.circumstances)


def _arrival(record: Reading, presented: PresentationRow | None, now: datetime) -> Iterator[str]:
    elapsed = record.times.elapsed_ms
    together = presented is not None and presented.received_at_utc >= stamp(now)
    ahead = timedelta() if record.sent_at is None else now - record.sent_at
    if presented and elapsed is not None and not together and _tells(record, presented, ahead):
        server_ms = _ms(now - moment(presented.received_at_utc))
        if server_ms < elapsed - TOO_SHORT_MS:
            yield "clock_disagreement"
        elif server_ms > elapsed + LATE_MS:
            yield "received_late"
        return
    sent_at = record.sent_at or now
    waited = record.committed_at is not None and _ms(sent_at - record.committed_at) > LATE_MS
    if waited or (together and elapsed is not None and elapsed > TOO_SHORT_MS):
        yield "received_late"


def _tells(record: Reading, presented: PresentationRow, ahead: timedelta) -> bool:
    """Whether a presentation's arrival is when this reading's clock began.

    The server's clock is `ahead` of the browser's, by the message the reading came in.
    """
    if record.supersedes or _has_absurd_clock(presented):
        return False
    late_ms = _ms(moment(presented.received_at_utc) - moment(presented.shown_at_utc) - ahead)
    return late_ms <= LATE_MS


def _ms(interval: timedelta) -> float:
    return interval.total_seconds() * 1000
