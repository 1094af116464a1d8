"""Copies a study, or a bank, from one store into another: what a reader's desk works on, no more.

Never copied: report texts, predictions, people, readers, and anything a reader did.
"""

from collections.abc import Mapping
from typing import Any

from study.store.connection import Transaction
from study.store.extract import ITEMS_SHOWN

_WHOLE = "(SELECT id FROM items WHERE bank = :bank)"


def draft(look: Transaction, number: int) -> dict[str, Any] | None:
    """Return a draft's row, or None."""
    return look.row("SELECT * FROM drafts WHERE id = :number", number=number)


def copy_bank(look: Transaction, change: Transaction, bank: int) -> None:
    """Copy a bank with every item."""
    _copy_items(look, change, bank, f"IN {_WHOLE}", {"bank": bank})


def copy_drawn_study(look: Transaction, change: Transaction, study: int) -> None:
    """Copy a study as it was when it was drawn, its amendments too, with the items it shows."""
    (row,) = look.rows("SELECT * FROM studies WHERE id = :study", study=study)
    _copy_items(look, change, row["bank"], f"IN {ITEMS_SHOWN}", {"study": study})
    opened = {"state": "drawn", "opened_at_utc": None, "closed_at_utc": None}
    change.insert("studies", **{**row, **opened})
    for table in ("cases", "practice_cases", "amendments"):
        _add(change, table, look.rows(f"SELECT * FROM {table} WHERE study = :study", study=study))


def _copy_items(
    look: Transaction, change: Transaction, bank: int, among: str, values: Mapping[str, int]
) -> None:
    queries = {
        "items": f"SELECT * FROM items WHERE id {among}",
        "item_views": f"SELECT * FROM item_views WHERE item {among}",
        "reference_standard": f"SELECT * FROM reference_standard WHERE item {among}",
        "explanations": f"SELECT * FROM explanations WHERE item {among}",
    }
    films = f"SELECT * FROM films WHERE id IN (SELECT film FROM item_views WHERE item {among})"
    _add(change, "banks", look.rows("SELECT * FROM banks WHERE id = :bank", bank=bank))
    _add(change, "films", look.rows(films, **values))
    for table, query in queries.items():
        _add(change, table, look.rows(query, **values))


def _add(change: Transaction, table: str, rows: list[dict[str, Any]]) -> None:
    if rows:
        names = tuple(rows[0])
        change.insert_many(table, names, (tuple(row.values()) for row in rows))
