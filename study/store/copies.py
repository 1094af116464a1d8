"""Copies a study, or a bank, from one store into another: what a reader's desk works on, no more.

Never copied: findings and impressions, predictions, people, readers, and anything a reader did.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from study.store.connection import Transaction
from study.store.extract import ITEMS_SHOWN

_WHOLE = "(SELECT id FROM items WHERE bank = :bank)"


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeUp:
    """What is copied in place of the reference standard and its explanations.

    Parameters
    ----------
    truth
        Gives a letter for an item's id and its number of options; it cannot know the true one.
    words
        Stands for every explanation.
    """

    truth: Callable[[str, int], str]
    words: str


def copy_bank(look: Transaction, change: Transaction, bank: int, made_up: MadeUp | None) -> None:
    """Copy a bank with every item."""
    _copy_items(look, change, bank, f"IN {_WHOLE}", {"bank": bank}, made_up)


def copy_drawn_study(
    look: Transaction, change: Transaction, study: int, made_up: MadeUp | None
) -> None:
    """Copy a study as it was when it was drawn, its amendments too, with the items it shows."""
    (row,) = look.rows("SELECT * FROM studies WHERE id = :study", study=study)
    _copy_items(look, change, row["bank"], f"IN {ITEMS_SHOWN}", {"study": study}, made_up)
    opened = {"state": "drawn", "opened_at_utc": None, "closed_at_utc": None}
    change.insert("studies", **{**row, **opened})
    for table in ("cases", "practice_cases", "amendments"):
        _add(change, table, look.rows(f"SELECT * FROM {table} WHERE study = :study", study=study))


def _copy_items(
    look: Transaction,
    change: Transaction,
    bank: int,
    among: str,
    values: Mapping[str, int],
    made_up: MadeUp | None,
) -> None:
    queries = {
        "items": f"SELECT * FROM items WHERE id {among}",
        "item_views": f"SELECT * FROM item_views WHERE item {among}",
        "item_priors": f"SELECT * FROM item_priors WHERE item {among}",
        "report_texts": f"SELECT * FROM shown_context WHERE item {among}",
    }
    if made_up is None:
        queries |= {
            table: f"SELECT * FROM {table} WHERE item {among}"
            for table in ("reference_standard", "explanations")
        }
    films = (
        f"SELECT * FROM films WHERE id IN (SELECT film FROM item_views WHERE item {among} "
        f"UNION SELECT film FROM item_priors WHERE item {among})"
    )
    _add(change, "banks", look.rows("SELECT * FROM banks WHERE id = :bank", bank=bank))
    _add(change, "films", look.rows(films, **values))
    for table, query in queries.items():
        _add(change, table, look.rows(query, **values))
    if made_up is not None:
        rows = look.rows(
            "SELECT items.id, items.item_id, json_array_length(options) AS n "
            f"FROM reference_standard JOIN items ON items.id = item WHERE item {among}",
            **values,
        )
        truths = [
            {"item": row["id"], "truth": made_up.truth(row["item_id"], row["n"])} for row in rows
        ]
        _add(change, "reference_standard", truths)
        _add(change, "explanations", [{"item": row["id"], "words": made_up.words} for row in rows])


def _add(change: Transaction, table: str, rows: list[dict[str, Any]]) -> None:
    if rows:
        names = tuple(rows[0])
        change.insert_many(table, names, (tuple(row.values()) for row in rows))
