"""Drafts of studies in the store: they may change, and nothing vouches for them."""

from typing import Any, NamedTuple

from study.store.connection import Transaction


class DraftRow(NamedTuple):
    """A draft with its maker's handle and its bank's name, or None; `protocol` is JSON."""

    id: int
    name: str
    made_by: int
    bank: int | None
    protocol: str
    saved_at_utc: str
    reached: int
    handle: str
    bank_name: str | None


_DRAFTS = (
    "SELECT drafts.*, handle, banks.name AS bank_name FROM drafts "
    "JOIN people ON people.id = made_by LEFT JOIN banks ON banks.id = bank "
)


def add(change: Transaction, **columns: Any) -> int:
    """Insert a draft and return its id."""
    return change.insert("drafts", **columns)


def find(look: Transaction, number: int) -> DraftRow | None:
    """Return a draft, or None."""
    row = look.row(_DRAFTS + "WHERE drafts.id = :number", number=number)
    return None if row is None else DraftRow(**row)


def listed(look: Transaction) -> list[DraftRow]:
    """Return every draft, the one saved last first."""
    rows = look.rows(_DRAFTS + "ORDER BY saved_at_utc DESC, drafts.id DESC")
    return [DraftRow(**row) for row in rows]


def save(change: Transaction, number: int, **columns: Any) -> None:
    """Replace what a draft says."""
    change.execute(
        "UPDATE drafts SET name = :name, bank = :bank, protocol = :protocol, "
        "saved_at_utc = :saved_at_utc WHERE id = :number",
        number=number,
        **columns,
    )


def reach(change: Transaction, number: int, steps: int) -> None:
    """Keep how many steps of a draft were left behind, if they are more than before."""
    change.execute(
        "UPDATE drafts SET reached = max(reached, :steps) WHERE id = :number",
        number=number,
        steps=steps,
    )


def remove(change: Transaction, number: int) -> None:
    """Delete a draft."""
    change.execute("DELETE FROM drafts WHERE id = :number", number=number)
