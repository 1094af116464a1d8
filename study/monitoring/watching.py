"""How far a study is, how fast it goes and who has fallen silent, told without right or wrong.

Everything is read through a transaction in which SQLite refuses the reference standard.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import groupby
from typing import Any

from study.base.timestamps import moment
from study.monitoring.pace import Pace, TimeLeft, pace_of, time_left
from study.reading.sessions import SessionStanding, State, sessions_of
from study.store import Store, people, watching
from study.store import sessions as stored_sessions
from study.store.studies import study_row

_Row = Mapping[str, Any]


class Stage(StrEnum):
    """How far a reader is."""

    NOT_BEGUN = "not begun"
    PREPARING = "preparing"
    PRACTISING = "practising"
    READING = "reading"
    FINISHED = "finished"
    WITHDRAWN = "withdrawn"


BEGUN = frozenset({Stage.PREPARING, Stage.PRACTISING, Stage.READING})
"""The stages of whoever has begun and is not done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Cases of a list: each number is out of those assigned.

    Read is every case with a reading: answered, given up or timed out.
    """

    n_assigned: int = 0
    n_presented: int = 0
    n_read: int = 0
    n_answered: int = 0
    n_skipped: int = 0
    n_timed_out: int = 0

    @property
    def n_unread(self) -> int:
        """How many assigned cases have no reading yet."""
        return self.n_assigned - self.n_read


COUNTS = ("n_assigned", "n_presented", "n_read", "n_answered", "n_skipped", "n_timed_out")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One session and condition of one reader, and how far they are in it."""

    reader_id: str
    condition: str
    counts: Counts
    standing: SessionStanding


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderWatch:
    """One reader: how far, how fast, how long to go.

    `silent_days` is how long they could have read since they were last heard of, for whoever has
    begun and is not done; None for anybody else, and while they cannot read.
    """

    reader_id: str
    simulated: bool
    stage: Stage
    counts: Counts
    pace: Pace
    left: TimeLeft | None
    last_at_utc: str | None
    silent_days: float | None
    parts: tuple[Part, ...]

    @property
    def current(self) -> SessionStanding | None:
        """The first session that is not read to its end, or None."""
        return next((one.standing for one in self.parts if one.standing.state != State.DONE), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """A study as it stands at a moment; `arrivals` holds when each reader's readings came in."""

    study: str
    state: str
    protocol_sha256: str
    n_amendments: int
    n_cases_left_behind: int
    dates: Mapping[str, str | None]
    counts: Counts
    readers: tuple[ReaderWatch, ...]
    arrivals: Mapping[str, tuple[str, ...]]


def watch(store: Store, study: str, *, now: datetime) -> Watch:
    """Return how far a study is.

    Raises
    ------
    NotFound
        No such study.
    """
    with store.look(sealed=True) as look:
        row = study_row(look, study)
        readers = people.readers(look, row["id"])
        counted = _by_reader(watching.counts(look, row["id"]))
        firsts = _by_reader(
            one for one in watching.readings(look, row["id"]) if one["supersedes"] is None
        )
        active = watching.activity(look, row["id"])
        standings = _standings(sessions_of(look, row, now=now))
    paces = {name: pace_of(firsts.get(name, [])) for name in active}
    people_paces = [paces[one["reader_id"]] for one in readers if not one["simulated"]]
    watched = tuple(
        _reader(
            one,
            _parts(counted.get(one["reader_id"], []), standings),
            active[one["reader_id"]],
            paces[one["reader_id"]],
            people_paces,
            now,
            is_open=row["state"] == "open",
        )
        for one in readers
    )
    return Watch(
        study=study,
        state=row["state"],
        protocol_sha256=row["protocol_sha256"],
        n_amendments=len(json.loads(row["amendments"])),
        n_cases_left_behind=sum(
            one.counts.n_unread for one in watched if one.stage is Stage.WITHDRAWN
        ),
        dates={key: row[f"{key}_at_utc"] for key in ("drawn", "opened", "closed")},
        counts=total(one.counts for one in watched),
        readers=watched,
        arrivals={
            name: tuple(sorted(one["received_at_utc"] for one in rows))
            for name, rows in firsts.items()
        },
    )


def total(counts: Iterable[Counts]) -> Counts:
    """Return the sum of several counts."""
    several = list(counts)
    return Counts(**{key: sum(getattr(one, key) for one in several) for key in COUNTS})


def silent(found: Watch, days: float) -> list[ReaderWatch]:
    """Return the readers who have begun, could read, and were not heard of for so many days."""
    return [one for one in found.readers if one.silent_days is not None and one.silent_days >= days]


def _by_reader(rows: Iterable[_Row]) -> dict[str, list[_Row]]:
    return {
        name: list(group) for name, group in groupby(rows, key=lambda row: str(row["reader_id"]))
    }


def _standings(found: Iterable[SessionStanding]) -> dict[tuple[str, int], SessionStanding]:
    return {(one.reader_id, one.session): one for one in found}


def _parts(
    rows: Iterable[_Row], standings: Mapping[tuple[str, int], SessionStanding]
) -> tuple[Part, ...]:
    return tuple(
        Part(
            reader_id=row["reader_id"],
            condition=row["condition"],
            counts=Counts(**{key: row[key] for key in COUNTS}),
            standing=standings[row["reader_id"], row["session"]],
        )
        for row in rows
    )


def _reader(
    row: _Row,
    parts: tuple[Part, ...],
    active: _Row,
    pace: Pace,
    others: Sequence[Pace],
    now: datetime,
    *,
    is_open: bool,
) -> ReaderWatch:
    counts = total(one.counts for one in parts)
    stage = _stage(counts, active, withdrawn=any(one.standing.withdrawn for one in parts))
    last = max(
        (at for at in (*(active[key] for key in _SEEN), _last_reading(parts)) if at), default=None
    )
    opened = _open_since(parts, last)
    watched = is_open and stage in BEGUN and not row["simulated"]
    return ReaderWatch(
        reader_id=row["reader_id"],
        simulated=bool(row["simulated"]),
        stage=stage,
        counts=counts,
        pace=pace,
        left=None if stage is Stage.WITHDRAWN else time_left(counts.n_unread, pace, others),
        last_at_utc=last,
        silent_days=_days(now, opened) if watched and opened else None,
        parts=parts,
    )


_SEEN = ("step_at_utc", "practised_at_utc", "shown_at_utc")


def _open_since(parts: Iterable[Part], last_at_utc: str | None) -> str | None:
    """Return since when a reader could have read and was not heard of, or None."""
    for one in parts:
        if one.standing.state == State.OPEN and not one.standing.paused:
            return max(one.standing.opens_at_utc or "", last_at_utc or "") or None
    return None


def _last_reading(parts: Iterable[Part]) -> str | None:
    return max((at for one in parts if (at := one.standing.last_at_utc)), default=None)


def _stage(counts: Counts, active: _Row, *, withdrawn: bool) -> Stage:
    if withdrawn:
        return Stage.WITHDRAWN
    if counts.n_assigned and not counts.n_unread:
        return Stage.FINISHED
    if counts.n_presented or counts.n_read:
        return Stage.READING
    if active["n_practised"]:
        return Stage.PRACTISING
    return Stage.PREPARING if active["n_steps"] else Stage.NOT_BEGUN


def _days(now: datetime, at_utc: str) -> float:
    return max(0.0, (now - moment(at_utc)).total_seconds() / 86_400)


def stepped_in(store: Store, study: str) -> list[dict[str, Any]]:
    """Return how somebody stepped into a study, oldest first, as the store holds it."""
    with store.look(sealed=True) as look:
        return stored_sessions.interventions(look, study_row(look, study)["id"])
