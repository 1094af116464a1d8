"""The readings of a study, kept between two looks: only those that are new are read."""

import threading
from dataclasses import dataclass, field

from study.store import Store, Transaction, events, progress
from study.store.events import ChainEnd
from study.store.progress import Placed, ReadingRow
from study.store.studies import StudyRow

_MOST_STUDIES = 2


@dataclass(slots=True)
class _Known:
    """The readings up to an event; rows of the store are never changed, only added."""

    end: ChainEnd
    last: int = 0
    by_id: dict[str, Placed] = field(default_factory=dict)

    def add(self, placed: Placed) -> None:
        self.last, reading = placed.place[-1], placed.reading
        self.by_id[reading.id] = placed
        if reading.supersedes is not None:
            place, before = self.by_id[reading.supersedes]
            self.by_id[before.id] = Placed(place, before._replace(current=0))


def readings_of_study(store: Store, look: Transaction, study: StudyRow) -> list[ReadingRow]:
    """Return every reading of a study, superseded ones too, in order of reader and position."""
    key = (str(store.path), study.name)
    chain = events.study_chain(study.name)
    with _LOCK:
        known = _KNOWN.pop(key, None)
        # Another store may have been put in this one's place: then the chain tells another story.
        if known is None or events.hash_at(look, chain, known.end.number) != known.end.hash:
            known = _Known(events.head(look, chain))
        for placed in progress.readings(look, study.id, after=known.last):
            known.add(placed)
        known.end = events.head(look, chain)
        _KNOWN[key] = known
        while len(_KNOWN) > _MOST_STUDIES:
            del _KNOWN[next(iter(_KNOWN))]
        return [one.reading for one in sorted(known.by_id.values())]


_KNOWN: dict[tuple[str, str], _Known] = {}
_LOCK = threading.Lock()
