"""Computes the progress and pace of a study and its readers, without information on correctness.

While a study is open, its data are read in a transaction in which the store denies access to the
reference standard. Readings are cached, so that only new readings have to be read.

The active time of a reading is the time since the previous reading arrived, if it is at most
`LONGEST_GAP_MS`, or otherwise its response time; a reading whose response time is then unknown does
not count. Thus a night between two cases does not count as reading time, but a long look at a film
does.
"""

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from itertools import groupby, pairwise
from operator import attrgetter
from statistics import median
from typing import Any, Protocol

from study.base.canonical import moment
from study.protocol.protocol import stored_protocol
from study.reading.course import SessionStanding, SessionState, is_withdrawn, sessions_of
from study.store import Store, Transaction, events, models, people, progress, readings, studies
from study.store.events import ChainEnd
from study.store.people import ReaderRow
from study.store.progress import PlacedReading, ReadingRow
from study.store.studies import StudyRow, study_row

Row = Mapping[str, Any]


class Stage(StrEnum):
    """The stage of a reader in the study."""

    NOT_BEGUN = "not begun"
    PREPARING = "preparing"
    PRACTISING = "practising"
    READING = "reading"
    FINISHED = "finished"
    WITHDRAWN = "withdrawn"


STARTED_STAGES = frozenset({Stage.PREPARING, Stage.PRACTISING, Stage.READING})
"""The stages of readers who have started but not finished."""


STAGES_OF_READINGS = (Stage.FINISHED, Stage.READING, Stage.NOT_BEGUN, Stage.WITHDRAWN)
"""The stages that can be derived from readings, in the order used for closed studies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Numbers of cases out of those assigned.

    A case counts as read if it was answered, skipped or timed out. Excluded readings are included
    in the other counts as well.
    """

    n_assigned: int = 0
    n_presented: int = 0
    n_read: int = 0
    n_answered: int = 0
    n_skipped: int = 0
    n_timed_out: int = 0
    n_excluded: int = 0

    @property
    def n_unread(self) -> int:
        """Return the number of assigned cases without a reading."""
        return self.n_assigned - self.n_read

    @property
    def as_dict(self) -> dict[str, int]:
        """Return the numbers that reports and the trail contain, by name."""
        return {key: getattr(self, key) for key in _REPORTED_COUNTS}


_REPORTED_COUNTS = ("n_assigned", "n_read", "n_answered", "n_skipped", "n_timed_out", "n_excluded")

_COUNT_NAMES = tuple(field.name for field in fields(Counts))


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCounts:
    """The counts of a reader in a session and condition."""

    reader_id: str
    session: int
    condition: str
    counts: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderCounts:
    """The counts and stage of a reader."""

    reader_id: str
    simulated: bool
    stage: Stage
    counts: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Completeness:
    """Counts of assigned cases and readings in a study; stages are derived from readings."""

    readers: Sequence[ReaderCounts]
    sessions: Sequence[SessionCounts]
    n_cases: int
    n_models: int

    @property
    def counts(self) -> Counts:
        """Return the sums over all readers."""
        return sum_counts(reader.counts for reader in self.readers)

    @property
    def by_stage(self) -> dict[Stage, int]:
        """Return the number of readers in each of the `STAGES_OF_READINGS`."""
        return {
            stage: sum(row.stage is stage for row in self.readers) for stage in STAGES_OF_READINGS
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionProgress(SessionCounts):
    """The counts of a reader in a session and condition, and the status of the session."""

    status: SessionStanding


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """A reader's pace; unknown values are None, never 0.

    `n_timed` is the number of readings with a response time, `n_active` the number of readings
    whose active time is known; `active_ms` is the sum of their active times.
    """

    n_timed: int
    median_response_ms: float | None
    n_active: int
    active_ms: float

    @property
    def cases_per_hour(self) -> float | None:
        """Return the cases per hour of active time; None if too few readings have one."""
        if self.n_active < MIN_PACE_READINGS or self.active_ms <= 0:
            return None
        return self.n_active * _HOUR_MS / self.active_ms


class Basis(StrEnum):
    """The source of the pace from which the remaining time is estimated."""

    OWN = "own"
    OTHERS = "others"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLeft:
    """The estimated remaining hours of reading, and the source of the pace.

    `n` is the number of readings that the reader's pace is based on. If the pace is the median of
    the other readers, `n` is the number of these readers.
    """

    hours: float
    basis: Basis
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderProgress(ReaderCounts):
    """The counts, pace and estimated remaining time of a reader.

    `silent_days` is the number of days in which a reader who has started but not finished could
    have read but sent nothing. It is None for other readers, and while the reader cannot read.
    """

    pace: Pace
    left: TimeLeft | None
    last_at_utc: str | None
    silent_days: float | None
    parts: tuple[SessionProgress, ...]

    @property
    def current(self) -> SessionStanding | None:
        """Return the first session that is not done, or None."""
        return next(
            (part.status for part in self.parts if part.status.state != SessionState.DONE), None
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of a study at a point in time.

    `arrivals` contains the times at which each reader's first readings of cases arrived.
    `n_cases_left_behind` counts the unread cases of withdrawn readers.
    """

    study: str
    state: str
    protocol_sha256: str
    n_amendments: int
    n_cases_left_behind: int
    dates: Mapping[str, str | None]
    counts: Counts
    readers: tuple[ReaderProgress, ...]
    arrivals: Mapping[str, tuple[str, ...]]


def progress_of(store: Store, study: str, *, now: datetime) -> Progress:
    """Return the progress and pace of a study and its readers.

    Raises
    ------
    NotFound
        The study does not exist.
    """
    with store.look(sealed=True) as look:
        row = study_row(look, study)
        readers = people.readers(look, row.id)
        counts = progress.counts(look, row.id)
        active = progress.activity(look, row.id)
        firsts: dict[str, list[ReadingRow]] = {name: [] for name in active}
        for reading in sorted(
            readings_of_study(store, look, row), key=attrgetter("received_at_utc")
        ):
            if reading.supersedes is None:
                firsts[reading.reader_id].append(reading)
        session_states = {
            (each.reader_id, each.session): each for each in sessions_of(look, row, counts, now=now)
        }
    by_reader = _by_reader(counts)
    paces = {name: pace_of(gaps) for name, gaps in firsts.items()}
    people_paces = [paces[reader.reader_id] for reader in readers if not reader.simulated]
    reader_rows = tuple(
        _reader_progress(
            reader,
            _session_progress(by_reader.get(reader.reader_id, []), session_states),
            active[reader.reader_id],
            paces[reader.reader_id],
            people_paces,
            now if row.state == "open" else None,
        )
        for reader in readers
    )
    return Progress(
        study=study,
        state=row.state,
        protocol_sha256=row.protocol_sha256,
        n_amendments=len(json.loads(row.amendments)),
        n_cases_left_behind=sum(
            reader.counts.n_unread for reader in reader_rows if reader.stage is Stage.WITHDRAWN
        ),
        dates={
            "drawn": row.drawn_at_utc,
            "opened": row.opened_at_utc,
            "closed": row.closed_at_utc,
        },
        counts=sum_counts(reader.counts for reader in reader_rows),
        readers=reader_rows,
        arrivals={
            name: tuple(reading.received_at_utc for reading in gaps)
            for name, gaps in firsts.items()
        },
    )


def silent_readers(progress: Progress, days: float) -> list[ReaderProgress]:
    """Return the readers who have started, can read, and sent nothing for `days` days."""
    return [
        reader
        for reader in progress.readers
        if reader.silent_days is not None and reader.silent_days >= days
    ]


def completeness_in(look: Transaction, study: StudyRow) -> Completeness:
    """Return the counts of a study by reader, session and condition within a transaction."""
    number = study.id
    counted = _by_reader(progress.counts(look, number))
    steps = readings.interventions(look, number)
    return Completeness(
        readers=[
            ReaderCounts(
                reader_id=row.reader_id,
                simulated=bool(row.simulated),
                counts=(counts := _sum_rows(counted.get(row.reader_id, []))),
                stage=_stage(counts, withdrawn=is_withdrawn(steps, row.reader_id)),
            )
            for row in people.readers(look, number)
        ],
        sessions=[
            SessionCounts(**_session_counts(row))
            for rows in counted.values()
            for row in sorted(rows, key=lambda row: (row["session"], row["condition"]))
        ],
        n_cases=len(studies.cases(look, number)),
        n_models=len(models.of_study(look, number)),
    )


def status(store: Store, study: str) -> dict[str, Any]:
    """Return a study's state as JSON values, without information on correctness.

    Returns
    -------
    dict
        ``study``, ``state``, ``protocol_sha256``, ``bank``, ``n_cases``, ``conditions``,
        ``opened_at_utc``, ``readers`` (each with ``reader_id``, ``simulated``, ``n_assigned``,
        ``n_read``, ``n_answered``, ``n_skipped``, ``n_timed_out``, ``last_reading_at_utc``,
        ``sessions``: each with ``session``, ``n_assigned``, ``n_read``) and
        ``models`` (each with ``model_id``, ``model_version``, ``simulated``, ``synthetic``,
        ``n_predicted``, ``n_answered``, ``n_skipped``, ``n_unparsed``, ``n_refused``,
        ``n_absent``).
    """
    with store.look() as look:
        row_of_study = study_row(look, study)
        n_cases = len(studies.cases(look, row_of_study.id))
        counts = _by_reader(progress.counts(look, row_of_study.id))
        return {
            "study": study,
            "state": row_of_study.state,
            "protocol_sha256": row_of_study.protocol_sha256,
            "bank": row_of_study.bank_name,
            "simulated_films": bool(row_of_study.simulated_films),
            "n_cases": n_cases,
            "conditions": [
                str(condition) for condition in stored_protocol(row_of_study).all_conditions
            ],
            "opened_at_utc": row_of_study.opened_at_utc,
            "readers": [
                {
                    "reader_id": row.reader_id,
                    "simulated": bool(row.simulated),
                    **_status_counts(counts.get(row.reader_id, [])),
                }
                for row in people.readers(look, row_of_study.id)
            ],
            "models": [
                {
                    **{key: getattr(row, key) for key in _MODEL_KEYS},
                    "simulated": bool(row.simulated),
                    "synthetic": bool(row.synthetic),
                    "n_absent": n_cases - row.n_predicted,
                }
                for row in models.of_study(look, row_of_study.id)
            ],
        }


_MODEL_KEYS = (
    "model_id",
    "model_version",
    "n_predicted",
    "n_answered",
    "n_skipped",
    "n_unparsed",
    "n_refused",
)


def preparation_rows(store: Store, study: str) -> list[dict[str, Any]]:
    """Return the preparation steps of a study's readers in chronological order.

    Returns
    -------
    list of dict
        ``reader_id``, ``step``, ``done_at_utc`` (None if the browser's clock was implausible),
        ``received_at_utc`` and ``detail`` (JSON as text).
    """
    with store.look() as look:
        number = study_row(look, study).id
        names = {row.id: row.reader_id for row in people.readers(look, number)}
        return [
            {"reader_id": names[row["reader"]], **{key: row[key] for key in _PREPARATION_KEYS}}
            for row in readings.preparations_of_study(look, number)
        ]


_PREPARATION_KEYS = ("step", "done_at_utc", "received_at_utc", "detail")


def sum_counts(counts: Iterable[Counts]) -> Counts:
    """Return the sum of several counts."""
    summands = list(counts)
    return Counts(**{key: sum(getattr(counts, key) for counts in summands) for key in _COUNT_NAMES})


def _counts(row: Row) -> Counts:
    return Counts(**{key: row[key] for key in _COUNT_NAMES})


def _sum_rows(rows: Iterable[Row]) -> Counts:
    return sum_counts(_counts(row) for row in rows)


def _by_reader(rows: Iterable[Row]) -> dict[str, list[Row]]:
    return {
        name: list(group) for name, group in groupby(rows, key=lambda row: str(row["reader_id"]))
    }


def _session_counts(row: Row) -> dict[str, Any]:
    named = {key: row[key] for key in ("reader_id", "session", "condition")}
    return {**named, "counts": _counts(row)}


def _status_counts(rows: Sequence[Row]) -> dict[str, Any]:
    counts = _sum_rows(rows)
    last = max((at for row in rows if (at := row["last_reading_at_utc"])), default=None)
    sessions = groupby(rows, key=lambda row: int(row["session"]))
    summed = {session: _sum_rows(own_counts) for session, own_counts in sessions}
    return {
        **{key: getattr(counts, key) for key in _REPORTED_COUNTS if key != "n_excluded"},
        "last_reading_at_utc": last,
        "sessions": [
            {"session": session, "n_assigned": own_counts.n_assigned, "n_read": own_counts.n_read}
            for session, own_counts in summed.items()
        ],
    }


def _session_progress(
    rows: Iterable[Row], session_states: Mapping[tuple[str, int], SessionStanding]
) -> tuple[SessionProgress, ...]:
    return tuple(
        SessionProgress(
            **_session_counts(row), status=session_states[row["reader_id"], row["session"]]
        )
        for row in rows
    )


def _reader_progress(
    row: ReaderRow,
    parts: tuple[SessionProgress, ...],
    active: Row,
    pace: Pace,
    others: Sequence[Pace],
    now: datetime | None,
) -> ReaderProgress:
    """Return a reader's progress; `now` is None in a study that is not open."""
    counts = sum_counts(part.counts for part in parts)
    stage = _stage(counts, withdrawn=any(part.status.withdrawn for part in parts))
    if stage is Stage.NOT_BEGUN:
        stage = _stage_before_readings(counts, active)
    last = max(
        (at for at in (*(active[key] for key in _ACTIVITY_TIMES), _last_reading(parts)) if at),
        default=None,
    )
    opened = _open_since(parts, last)
    watched = stage in STARTED_STAGES and not row.simulated
    return ReaderProgress(
        reader_id=row.reader_id,
        simulated=bool(row.simulated),
        stage=stage,
        counts=counts,
        pace=pace,
        left=None if stage is Stage.WITHDRAWN else time_left(counts.n_unread, pace, others),
        last_at_utc=last,
        silent_days=_days_since(now, opened) if now and watched and opened else None,
        parts=parts,
    )


_ACTIVITY_TIMES = ("step_at_utc", "practised_at_utc", "shown_at_utc")


def _open_since(parts: Iterable[SessionProgress], last_at_utc: str | None) -> str | None:
    """Return the time since which a reader could have read but sent nothing, or None."""
    for part in parts:
        if part.status.state == SessionState.OPEN and not part.status.paused:
            return max(part.status.opens_at_utc or "", last_at_utc or "") or None
    return None


def _last_reading(parts: Iterable[SessionProgress]) -> str | None:
    return max((at for part in parts if (at := part.status.last_at_utc)), default=None)


def _stage(counts: Counts, *, withdrawn: bool) -> Stage:
    if withdrawn:
        return Stage.WITHDRAWN
    if counts.n_assigned and not counts.n_unread:
        return Stage.FINISHED
    return Stage.READING if counts.n_read else Stage.NOT_BEGUN


def _stage_before_readings(counts: Counts, active: Row) -> Stage:
    if counts.n_presented:
        return Stage.READING
    if active["n_practised"]:
        return Stage.PRACTISING
    return Stage.PREPARING if active["n_steps"] else Stage.NOT_BEGUN


def _days_since(now: datetime, at_utc: str) -> float:
    return max(0.0, (now - moment(at_utc)).total_seconds() / 86_400)


LONGEST_GAP_MS = 10 * 60 * 1000.0
"""The longest gap between two readings that does not count as a break."""


MIN_PACE_READINGS = 5
"""Minimum number of readings with a known active time from which a pace is computed."""


_HOUR_MS = 3_600_000.0


class Arrival(Protocol):
    """The arrival of the first reading of a case, and its response time (None if unknown)."""

    @property
    def received_at_utc(self) -> str: ...

    @property
    def response_ms(self) -> float | None: ...


def pace_of(arrivals: Sequence[Arrival]) -> Pace:
    """Return the pace of a reader from the first readings of their cases in chronological order."""
    times = [arrival.response_ms for arrival in arrivals if arrival.response_ms is not None]
    at = [moment(arrival.received_at_utc) for arrival in arrivals]
    gaps = [None, *((later - earlier).total_seconds() * 1000 for earlier, later in pairwise(at))]
    active = [
        pace_ms
        for arrival, gap in zip(arrivals, gaps, strict=False)
        if (pace_ms := gap if gap is not None and gap <= LONGEST_GAP_MS else arrival.response_ms)
        is not None
    ]
    return Pace(
        n_timed=len(times),
        median_response_ms=median(times) if times else None,
        n_active=len(active),
        active_ms=sum(active),
    )


def time_left(n_unread: int, own_pace: Pace, others: Sequence[Pace]) -> TimeLeft | None:
    """Return the estimated time for the unread cases; None if there are none or no pace is known.

    It is based on the reader's own pace or, with fewer than `MIN_PACE_READINGS` readings, on the
    median pace of the other readers.
    """
    if not n_unread:
        return None
    rate = own_pace.cases_per_hour
    if rate is not None:
        return TimeLeft(hours=n_unread / rate, basis=Basis.OWN, n=own_pace.n_active)
    rates = [rate for other in others if (rate := other.cases_per_hour) is not None]
    if not rates:
        return None
    return TimeLeft(hours=n_unread / median(rates), basis=Basis.OTHERS, n=len(rates))


_MAX_CACHED_STUDIES = 2


@dataclass(slots=True)
class _CachedReadings:
    """The cached readings of a study up to an event; rows are added to the store, never changed."""

    end: ChainEnd
    last: int = 0
    by_id: dict[str, PlacedReading] = field(default_factory=dict)

    def add(self, placed: PlacedReading) -> None:
        self.last, reading = placed.place[-1], placed.reading
        self.by_id[reading.id] = placed
        if reading.supersedes is not None:
            place, previous = self.by_id[reading.supersedes]
            self.by_id[previous.id] = PlacedReading(place, previous._replace(current=0))


def readings_of_study(store: Store, look: Transaction, study: StudyRow) -> list[ReadingRow]:
    """Return all readings of a study, including superseded ones, by reader and position."""
    key = (store.address, study.name)
    chain = events.study_chain(study.name)
    with _LOCK:
        cached = _CACHE.pop(key, None)
        # The file may have been replaced by another store with a different chain.
        if cached is None or events.hash_at(look, chain, cached.end.number) != cached.end.hash:
            cached = _CachedReadings(events.head(look, chain))
        for reading in progress.readings(look, study.id, after=cached.last):
            cached.add(reading)
        cached.end = events.head(look, chain)
        _CACHE[key] = cached
        while len(_CACHE) > _MAX_CACHED_STUDIES:
            del _CACHE[next(iter(_CACHE))]
        return [pace.reading for pace in sorted(cached.by_id.values())]


_CACHE: dict[tuple[str, str], _CachedReadings] = {}

_LOCK = threading.Lock()
