"""One reading looked at: its times, flags and comment, never its answer or whether it was right."""

from collections.abc import Iterable
from operator import attrgetter
from typing import NamedTuple

from study.monitoring.exclusions import excluded_readings
from study.monitoring.known_readings import readings_of_study
from study.monitoring.quality import setup
from study.store import Store
from study.store.studies import study_row


class ReadingFacts(NamedTuple):
    """What a coordinator may see of a reading while the study is open.

    `excluded` is the reason for which it is set aside, empty where it counts; `given_up` the
    reader's reason for giving the case up.
    """

    id: str
    reader_id: str
    position: int
    session: int
    condition: str
    repeat: int
    item_id: str
    status: str
    response_ms: float | None
    elapsed_ms: float | None
    hidden_ms: float | None
    paused_ms: float | None
    shown_at_utc: str
    received_at_utc: str
    flags: tuple[str, ...]
    comment: str
    given_up: str
    setup: str
    excluded: str


_AS_STORED = ReadingFacts._fields[:-2]


def readings_of(store: Store, study: str) -> list[ReadingFacts]:
    """Return every reading that counts or is excluded, in order of reader and position.

    Raises
    ------
    NotFound
        No such study.
    """
    with store.look(sealed=True) as look:
        found = study_row(look, study)
        rows = [row for row in readings_of_study(store, look, found) if row.current]
        excluded = excluded_readings(look, found)
    stored = attrgetter(*_AS_STORED)
    return [
        ReadingFacts._make((*stored(row), setup(row.circumstances), excluded.get(row.id, "")))
        for row in rows
    ]


def chosen(found: Iterable[ReadingFacts], reader_id: str, position: int) -> ReadingFacts | None:
    """Return the reading of a reader at a position, or None where nothing was read there yet."""
    wanted = (reader_id, position)
    return next((one for one in found if (one.reader_id, one.position) == wanted), None)
