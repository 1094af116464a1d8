"""Sessions: which one a reader is in, when the next opens, and what keeps them from reading now.

The wash-out runs by the server's clock alone: a session opens `washout_days` after the last reading
of the one before was received, and it opens only when that one is read to its end. Where the
protocol gives a session days, it lapses that long after its first presentation was received; days
it was given by hand count from then, or from the end it had, whichever is later.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import groupby
from typing import Any

from study.base.canonical import moment, stamp
from study.base.translation import t
from study.protocol.protocol import Protocol, stored_protocol
from study.store import Transaction, people
from study.store import sessions as stored
from study.store.sessions import InterventionRow, SessionRow
from study.store.studies import StudyRow


class State(StrEnum):
    """Where a session stands: `WAITING` for the one before to be read, `WASHING_OUT` after it."""

    WAITING = "waiting"
    WASHING_OUT = "washing out"
    OPEN = "open"
    LAPSED = "lapsed"
    DONE = "done"


class Hold(StrEnum):
    """Why a reader is handed nothing, though there are cases they have not read."""

    CLOSED = "closed"
    WITHDRAWN = "withdrawn"
    PAUSED = "paused"
    WASHING_OUT = "washing out"
    LAPSED = "lapsed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStanding:
    """Where one session of one reader stands.

    `opens_at_utc` is None while nobody can know it, and `ends_at_utc` where there is no end, or no
    first presentation yet.
    """

    reader_id: str
    session: int
    conditions: tuple[str, ...]
    n_assigned: int
    n_read: int
    state: State
    opens_at_utc: str | None
    first_at_utc: str | None
    last_at_utc: str | None
    ends_at_utc: str | None
    paused: bool
    withdrawn: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a reader is: every session, the one they are in, and what holds them up in it.

    `since_utc` is when the hold began, where it can begin while a case is on the screen.
    """

    sessions: tuple[SessionStanding, ...]
    current: SessionStanding
    hold: Hold | None
    since_utc: str | None

    @property
    def all_read(self) -> bool:
        """Whether no case is left to read."""
        return all(one.n_read == one.n_assigned for one in self.sessions)

    @property
    def before(self) -> int:
        """How many places of the reader's list come before the current session."""
        earlier = self.sessions[: self.current.session - 1]
        return sum(one.n_assigned for one in earlier)


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Whether a record may come in: refused with a reason, or kept, perhaps with a flag."""

    refused: str = ""
    flag: str = ""


def sessions_of(
    look: Transaction, study: StudyRow, counted: Iterable[Mapping[str, Any]], *, now: datetime
) -> list[SessionStanding]:
    """Return where every session of every reader of a study stands, by reader and session.

    Parameters
    ----------
    counted
        The study's cases as `study.store.progress.counts` counts them.
    """
    protocol, steps = stored_protocol(study), stored.interventions(look, study.id)
    return [
        one
        for name, rows in groupby(counted, lambda row: str(row["reader_id"]))
        for one in _standings(protocol, name, _in_order(rows), _about(steps, name), now)
    ]


def _in_order(rows: Iterable[Mapping[str, Any]]) -> list[SessionRow]:
    found = (
        SessionRow(
            session=row["session"],
            condition=row["condition"],
            n_assigned=row["n_assigned"],
            n_read=row["n_read"],
            first_at_utc=row["first_shown_at_utc"],
            last_at_utc=row["last_reading_at_utc"],
        )
        for row in rows
    )
    return sorted(found, key=lambda row: row.session)


def place_of(look: Transaction, protocol: Protocol, reader: int, *, now: datetime) -> Place:
    """Return where a reader of an opened study is."""
    row = people.reader_row(look, reader)
    assert row is not None  # a role refers to it
    steps = stored.interventions(look, row.study)
    standings = tuple(
        _standings(protocol, row.reader_id, stored.of_reader(look, row.id), steps, now)
    )
    current = next((one for one in standings if one.state is not State.DONE), standings[-1])
    hold, since = _hold(current, steps)
    return Place(sessions=standings, current=current, hold=hold, since_utc=since)


def admit(
    place: Place, session: int, *, known: bool, shown_at: datetime | None, correction: bool
) -> Admission:
    """Say whether a record of a case in a session may come in now.

    What was shown before a pause or the end of the session's days is kept, and flagged: it may have
    waited on the reader's computer. What was not is refused; so is a case of a session that has not
    opened, which no page was given.

    Parameters
    ----------
    known
        Whether the presentation of its case is stored already, which was admitted.
    shown_at
        When its case was first shown, None where that cannot be told.
    correction
        Whether it changes an answer that is stored.
    """
    standing = place.sessions[session - 1]
    if place.hold is Hold.WITHDRAWN:
        return Admission(refused=t("You have left this study."))
    if standing.state in (State.WAITING, State.WASHING_OUT):
        return Admission(refused=t("This session is not open yet."))
    if correction and any(one.first_at_utc for one in place.sessions[session:]):
        return Admission(
            refused=t(
                "The next session has started; answers from this session can no longer be changed."
            )
        )
    if place.since_utc is None:
        return Admission()
    paused = place.hold is Hold.PAUSED
    if known or (shown_at is not None and stamp(shown_at) < place.since_utc):
        return Admission(flag="received_while_paused" if paused else "received_after_lapse")
    return Admission(
        refused=t("Reading is paused.")
        if paused
        else t("The deadline for this session has passed.")
    )


def paused_since(steps: Iterable[InterventionRow], reader_id: str | None) -> str | None:
    """Return since when a reader, or with None the study, is paused by itself; None if it is not.

    Parameters
    ----------
    steps
        The study's interventions in order.
    """
    since = None
    for step in steps:
        if step.reader_id == reader_id and step.kind in ("pause", "resume"):
            since = step.at_utc if step.kind == "pause" else None
    return since


def is_withdrawn(steps: Iterable[InterventionRow], reader_id: str) -> bool:
    """Return whether a reader was withdrawn from their study."""
    return any(step.kind == "withdraw" and step.reader_id == reader_id for step in steps)


def _about(steps: Iterable[InterventionRow], reader_id: str) -> list[InterventionRow]:
    """Return the interventions that a reader is touched by."""
    return [one for one in steps if one.reader_id in (None, reader_id)]


def _standings(
    protocol: Protocol,
    name: str,
    sessions: Iterable[SessionRow],
    steps: Sequence[InterventionRow],
    now: datetime,
) -> Iterator[SessionStanding]:
    paused = bool(paused_since(steps, None) or paused_since(steps, name))
    before: SessionStanding | None = None
    for session, blocks in groupby(sessions, lambda row: row.session):
        rows = list(blocks)
        first = min((row.first_at_utc for row in rows if row.first_at_utc), default=None)
        opens = _opens_at(protocol, before)
        ends = _ends_at(protocol, first, [s for s in steps if _is_about(s, name, session)])
        counts = {
            "n_assigned": sum(row.n_assigned for row in rows),
            "n_read": sum(row.n_read for row in rows),
        }
        before = SessionStanding(
            reader_id=name,
            session=session,
            conditions=tuple(row.condition for row in rows),
            **counts,
            state=_state(counts, before, first, opens, ends, stamp(now)),
            opens_at_utc=opens,
            first_at_utc=first,
            last_at_utc=max((row.last_at_utc for row in rows if row.last_at_utc), default=None),
            ends_at_utc=ends,
            paused=paused,
            withdrawn=is_withdrawn(steps, name),
        )
        yield before


def _is_about(step: InterventionRow, reader_id: str, session: int) -> bool:
    return (step.reader_id, step.session) == (reader_id, session)


def _opens_at(protocol: Protocol, before: SessionStanding | None) -> str | None:
    """Return when a session opens or opened; the first opens with the study."""
    if before is None or before.state is not State.DONE or before.last_at_utc is None:
        return None
    return stamp(moment(before.last_at_utc) + timedelta(days=protocol.washout_days))


def _ends_at(
    protocol: Protocol, first_at_utc: str | None, steps: Iterable[InterventionRow]
) -> str | None:
    """Return when a session's days are over; None where they are not counted.

    Parameters
    ----------
    steps
        By what the session was extended or released, in order.
    """
    if not protocol.session_days or first_at_utc is None:
        return None
    end = moment(first_at_utc) + timedelta(days=protocol.session_days)
    for step in steps:
        if step.kind == "release":
            return None
        end = max(end, moment(step.at_utc)) + timedelta(days=step.days or 0)
    return stamp(end)


def _state(
    counts: Mapping[str, int],
    before: SessionStanding | None,
    first: str | None,
    opens: str | None,
    ends: str | None,
    now: str,
) -> State:
    if counts["n_read"] == counts["n_assigned"]:
        return State.DONE
    if before is not None and before.state is not State.DONE:
        return State.WAITING
    if first is None and opens is not None and now < opens:
        return State.WASHING_OUT
    return State.LAPSED if ends is not None and now >= ends else State.OPEN


def _hold(
    current: SessionStanding, steps: Sequence[InterventionRow]
) -> tuple[Hold | None, str | None]:
    """Return what holds a reader up, and since when where a case may have been on the screen."""
    if current.withdrawn:
        return Hold.WITHDRAWN, None
    if current.state is State.DONE:
        return None, None
    lapsed = current.state is State.LAPSED
    began = [
        paused_since(steps, None),
        paused_since(steps, current.reader_id),
        current.ends_at_utc if lapsed else None,
    ]
    since = min((at_utc for at_utc in began if at_utc), default=None)
    if current.paused:
        return Hold.PAUSED, since
    if current.state is State.WASHING_OUT:
        return Hold.WASHING_OUT, None
    return (Hold.LAPSED, since) if lapsed else (None, None)
