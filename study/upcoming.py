"""Which films a reader will need next, by number: for preparing them, never for showing."""

from study.access import Person
from study.protocol import Condition
from study.store import Store, readings


def upcoming_films(store: Store, person: Person, n_cases: int) -> list[int]:
    """Return the films of a reader's next cases, in the order they will be needed."""
    if person.reader is None:
        return []
    with store.look(sealed=True) as look:
        return [
            film["id"]
            for row in readings.unread(look, person.reader, n_cases)
            if row["condition"] != Condition.IMAGE_ABSENT
            for film in readings.views(look, row["item"])
        ]
