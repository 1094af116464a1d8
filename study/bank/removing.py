"""Removes a bank that nothing holds to: its items, and what was kept and prepared of its films."""

from datetime import datetime

from study.base.actor import COMMAND_LINE, By
from study.base.errors import NotNow
from study.base.translation import t
from study.films import shelf
from study.store import Store, banks, events
from study.store.banks import BankRow
from study.store.events import EventKind


def remove_bank(store: Store, name: str, *, now: datetime, by: By = COMMAND_LINE) -> BankRow:
    """Remove a bank, and return what it was; the image files stay where they lie.

    Films prepared for reading go too, where no other bank has the same.

    Raises
    ------
    NotFound
        There is no bank of that name.
    NotNow
        A study or a draft holds to it; all of them are named.
    """
    with store.change() as change:
        row = banks.bank_row(change, name)
        holders = banks.holders(change, row.id)
        if any(holders.values()):
            raise NotNow(_holding(name, **holders))
        prepared = banks.only_here(change, row.id)
        banks.remove(change, row.id)
        detail = {**banks.facts(row), "n_items": row.n_items, "n_films": row.n_films}
        events.record(change, "", now, kind=EventKind.BANK_REMOVED, detail=detail, by=by)
    kept = shelf.beside(store.path)
    for sha256 in prepared:
        kept.drop(sha256)
    return row


def _holding(name: str, studies: list[str], drafts: list[str]) -> str:
    """Say what keeps a bank: a study's answers are about its items, for good."""
    parts = []
    if studies:
        parts.append(
            t(
                "The bank {name} is used by {studies} and cannot be removed.",
                name=repr(name),
                studies=", ".join(studies),
            )
        )
    if drafts:
        parts.append(
            t(
                "The bank {name} is chosen in {drafts}. Delete these drafts, or choose another "
                "bank in them, first.",
                name=repr(name),
                drafts=", ".join(drafts),
            )
        )
    return " ".join(parts)
