"""One reading looked at: its times, flags and comment, never its answer or whether it was right."""

from collections.abc import Iterable
from dataclasses import dataclass

from study.monitoring.exclusions import excluded_readings
from study.monitoring.quality import setup
from study.store import Store, progress
from study.store.studies import study_row


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingFacts:
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


_AS_STORED = (
    "id",
    "reader_id",
    "position",
    "session",
    "condition",
    "repeat",
    "item_id",
    "status",
    "response_ms",
    "elapsed_ms",
    "hidden_ms",
    "paused_ms",
    "shown_at_utc",
    "received_at_utc",
    "flags",
    "comment",
    "given_up",
)


def readings_of(store: Store, study: str) -> list[ReadingFacts]:
    """Return every reading that counts or is excluded, in order of reader and position.

    Raises
    ------
    NotFound
        No such study.
    """
    with store.look(sealed=True) as look:
        found = study_row(look, study)
        rows = [row for row in progress.readings(look, found.id) if row.current]
        excluded = excluded_readings(look, found)
    return [
        ReadingFacts(
            **{key: getattr(row, key) for key in _AS_STORED},
            setup=setup(row.circumstances),
            excluded=excluded.get(row.id, ""),
        )
        for row in rows
    ]


def chosen(found: Iterable[ReadingFacts], reader_id: str, position: int) -> ReadingFacts | None:
    """Return the reading of a reader at a position, or None where nothing was read there yet."""
    wanted = (reader_id, position)
    return next((one for one in found if (one.reader_id, one.position) == wanted), None)
