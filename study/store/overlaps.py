"""What a bank has in common with the cases of studies, whatever name it was imported under.

Two banks have something in common where a file of a film is the same, or an item's id and question.
"""

from typing import NamedTuple

from study.store.connection import Transaction
from study.store.extract import ITEMS_SHOWN

_SHARED = (
    f"SELECT EXISTS (SELECT 1 FROM items AS shown WHERE id IN {ITEMS_SHOWN} AND ("
    "bank = :bank OR EXISTS (SELECT 1 FROM items AS same WHERE same.bank = :bank "
    "AND same.item_id = shown.item_id AND same.question = shown.question) OR EXISTS ("
    "SELECT 1 FROM item_views JOIN films ON films.id = film WHERE item = shown.id "
    "AND films.sha256 IN (SELECT sha256 FROM films WHERE bank = :bank))))"
)


def shared(look: Transaction, bank: int, study: int) -> bool:
    """Return whether a study shows anything that is in a bank, as a case or for practice."""
    return bool(look.value(_SHARED, bank=bank, study=study))


class Part(NamedTuple):
    """A role a person has or had in a study."""

    role: str
    reader: int | None
    study: int
    name: str


def parts_elsewhere(look: Transaction, person: int, study: int) -> list[Part]:
    """Return the roles a person has or had in other studies."""
    rows = look.rows(
        "SELECT role, reader, studies.id AS study, studies.name FROM grants "
        "JOIN studies ON studies.id = grants.study "
        "WHERE person = :person AND grants.study <> :study ORDER BY grants.id",
        person=person,
        study=study,
    )
    return [Part(**row) for row in rows]
