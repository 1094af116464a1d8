"""Which films a reader will need next: for preparing them, never for showing."""

from study.people.signing_in import Person
from study.protocol.protocol import Condition
from study.store import Store, practice, readings
from study.store.banks import FilmRow


def upcoming_films(store: Store, person: Person, n_cases: int) -> list[FilmRow]:
    """Return the films' rows of a reader's next cases, in the order they will be needed."""
    if person.reader is None:
        return []
    with store.look(sealed=True) as look:
        rows = practice.unread(look, person.reader, n_cases)
        rows += readings.unread(look, person.reader, n_cases)
        found = [
            readings.film(look, person.reader, row["id"], view["position"])
            for row in rows[:n_cases]
            if row["condition"] != Condition.IMAGE_ABSENT
            for view in readings.views(look, row["item"])
        ]
    return [film for film in found if film is not None]
