"""Queries the contents of a bank: counts by field, searches, comparison with another bank."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import Any, NamedTuple

from study.base.bank_model import Question
from study.base.canonical import parsed_json
from study.base.text import FirstSpelling, text_key
from study.store import banks
from study.store.banks import FILM_COLUMNS, STRUCK_ITEMS, FilmRow
from study.store.comparing import compared_id
from study.store.connection import Transaction

_COMPARED_COLUMNS = (
    *("question", "options", "task", "category", "subcategory"),
    *("examination_id", "patient_id", "age", "sex"),
)
_FILMS_OF = (
    "(SELECT group_concat(sha256) FROM (SELECT sha256 FROM item_views "
    "JOIN films ON films.id = film WHERE item = {item}.id ORDER BY position))"
)
_PRIORS_OF = (
    "(SELECT json_group_array(json_array(sha256, days)) FROM (SELECT sha256, days "
    "FROM item_priors JOIN films ON films.id = film WHERE item = {item}.id ORDER BY position))"
)
_TRUTH_OF = "(SELECT truth FROM reference_standard WHERE item = {item}.id)"
_ATTRIBUTES_OF = "(SELECT attributes FROM item_attributes WHERE item = {item}.id)"
_DIFFERENCES = ", ".join(
    f'{entry.format(item="a")} IS NOT {entry.format(item="b")} AS "{name}"'
    for name, entry in (
        *((name, f"{{item}}.{name}") for name in _COMPARED_COLUMNS),
        ("truth", _TRUTH_OF),
        ("films", _FILMS_OF),
        ("prior films", _PRIORS_OF),
        ("attributes", _ATTRIBUTES_OF),
    )
)


def questions(look: Transaction, bank: int) -> Iterator[Question]:
    """Yield a bank's items, grouped by examination, for the content rules.

    The order is independent of the import, and therefore so are the findings.
    """
    for row in look.cursor(
        "SELECT item_id, question, options, truth, examination_id, patient_id, (SELECT "
        "group_concat(label, '|') FROM item_views WHERE item_views.item = items.id), "
        "coalesce(json_extract(attributes, '$.split'), ''), "
        "EXISTS (SELECT 1 FROM item_priors WHERE item_priors.item = items.id) FROM items "
        "LEFT JOIN reference_standard ON reference_standard.item = items.id "
        "LEFT JOIN item_attributes ON item_attributes.item = items.id "
        f"WHERE bank = {int(bank)} ORDER BY {compared_id('examination_id')}, item_id"
    ):
        item_id, question, options, truth, examination_id, patient_id, labels, split, prior = row
        yield Question(
            item_id,
            question,
            tuple(parsed_json(options)),
            truth,
            examination_id,
            patient_id,
            () if labels is None else tuple(labels.split("|")),
            split,
            bool(prior),
        )


def facets(look: Transaction, bank: int) -> Iterator[tuple[Any, ...]]:
    """Yield every item's number and `FACETS`, in the order of the import."""
    return look.cursor(
        "SELECT items.id, coalesce(json_extract(attributes, '$.split'), ''), task, category, "
        "subcategory, coalesce((SELECT group_concat(label, '+') FROM (SELECT label FROM item_views "
        "WHERE item_views.item = items.id AND label <> '' ORDER BY position)), ''), sex, age, "
        "origin FROM items NOT INDEXED LEFT JOIN item_attributes ON item = items.id "
        f"WHERE bank = {int(bank)} ORDER BY items.id"
    )


FACETS = ("split", "task", "category", "subcategory", "view", "sex", "age", "bank")


def search_items(look: Transaction, bank: int, text: str) -> set[int]:
    """Return the numbers of the items whose question or id contains a text, ignoring case."""
    escaped = re.sub(r"([\\%_])", r"\\\1", text)
    items = look.tuples(
        int,
        "SELECT id FROM items WHERE bank = :bank AND (question LIKE :part ESCAPE '\\' "
        "OR item_id LIKE :part ESCAPE '\\')",
        bank=bank,
        part=f"%{escaped}%",
    )
    return set(items)


class ListedItem(NamedTuple):
    """An item in a list; `struck` is the reason why it was struck off, or None."""

    id: int
    item_id: str
    question: str
    task: str
    options: str
    struck: str | None


_LISTED_QUERY = (
    "SELECT items.id, item_id, question, task, options, (SELECT reason FROM struck_items "
    f"WHERE struck_items.item = items.id AND items.id IN {STRUCK_ITEMS} ORDER BY id DESC LIMIT 1) "
    "AS struck FROM items "
)


def listed(look: Transaction, numbers: Iterable[int]) -> list[ListedItem]:
    """Return the items with these numbers, in order of number."""
    chosen = ", ".join(str(int(number)) for number in numbers)
    return look.tuples(
        ListedItem, f"{_LISTED_QUERY} WHERE items.id IN ({chosen}) ORDER BY items.id"
    )


def by_item_id(look: Transaction, bank: int, item_id: str) -> ListedItem | None:
    """Return an item in a bank by its id, or None."""
    sql = f"{_LISTED_QUERY} WHERE bank = :bank AND item_id = :item_id"
    stored_id = banks.stored_item_ids(look, bank, [item_id]).get(item_id)
    return look.one(ListedItem, sql, bank=bank, item_id=stored_id) if stored_id else None


def films_of(look: Transaction, bank: int, number: int) -> list[FilmRow]:
    """Return the films of an item with their paths, in order, prior films last."""
    rows = look.rows(
        f"SELECT {FILM_COLUMNS}, label, prior, days FROM item_films JOIN films ON films.id = film "
        "JOIN banks ON banks.id = films.bank WHERE item = :number AND item IN "
        "(SELECT id FROM items WHERE bank = :bank) ORDER BY position",
        number=number,
        bank=bank,
    )
    return [FilmRow(**row) for row in rows]


def struck_items(look: Transaction, bank: int) -> set[int]:
    """Return the numbers of a bank's items that are struck off."""
    sql = f"SELECT id FROM items WHERE bank = :bank AND id IN {STRUCK_ITEMS}"
    return set(look.tuples(int, sql, bank=bank))


def struck_cases(look: Transaction, study: int) -> list[str]:
    """Return the item_id of every case of a study that was struck off its bank."""
    sql = (
        "SELECT item_id FROM cases JOIN items ON items.id = cases.item "
        f"WHERE study = :study AND items.id IN {STRUCK_ITEMS} ORDER BY number"
    )
    return look.tuples(str, sql, study=study)


def mark_struck(change: Transaction, item: int, *, struck: bool, reason: str, at_utc: str) -> None:
    """Record that an item is struck off, or reinstated."""
    change.insert("struck_items", item=item, struck=int(struck), reason=reason, at_utc=at_utc)


def counts(look: Transaction, bank: int, column: str) -> dict[str, int]:
    """Return the number of a bank's items for each value of a column, in order of value.

    Values that look alike are counted under the first spelling.
    """
    return _count_by_spelling(
        look.cursor(
            f"SELECT {column}, count(*), min(id) FROM items WHERE bank = :bank GROUP BY {column}",
            bank=bank,
        )
    )


def _count_by_spelling(rows: Iterable[tuple[Any, ...]]) -> dict[str, int]:
    """Return the count of each value, from rows of value, count and number of the first item."""
    counts, first = Counter[str](), FirstSpelling(text_key)
    for value, n, _ in sorted(rows, key=itemgetter(2)):
        counts[first[value]] += n
    return dict(sorted(counts.items()))


def views(look: Transaction, bank: int) -> dict[str, int]:
    """Return the number of a bank's items for each set of views, such as `PA+LATERAL`."""
    rows = look.rows(
        "SELECT value, count(*) AS n FROM (SELECT coalesce((SELECT group_concat(label, '+') FROM "
        "(SELECT label FROM item_views WHERE item_views.item = items.id AND label <> '' "
        "ORDER BY position)), '') AS value FROM items WHERE bank = :bank) "
        "GROUP BY value ORDER BY value",
        bank=bank,
    )
    return {row["value"]: row["n"] for row in rows}


def splits(look: Transaction, bank: int) -> dict[str, int]:
    """Return the number of a bank's items in each split of their data set, in order of name."""
    return _count_by_spelling(
        look.cursor(
            "SELECT coalesce(json_extract(attributes, '$.split'), '') AS value, count(*), "
            "min(items.id) FROM items LEFT JOIN item_attributes ON item = items.id "
            "WHERE bank = :bank GROUP BY value",
            bank=bank,
        )
    )


def truths(look: Transaction, bank: int) -> dict[tuple[str, int], int]:
    """Return the number of a bank's items for each correct letter and number of options."""
    rows = look.rows(
        "SELECT truth, json_array_length(options) AS n_options, count(*) AS n FROM items "
        "JOIN reference_standard ON item = items.id WHERE bank = :bank GROUP BY truth, n_options",
        bank=bank,
    )
    return {(row["truth"], row["n_options"]): row["n"] for row in rows}


def totals(look: Transaction, bank: int) -> dict[str, int]:
    """Return a bank's numbers of examinations, patients and items with a reference standard."""
    return dict(
        look.row(
            f"SELECT count(DISTINCT {compared_id('examination_id')}) AS examinations, "
            f"count(DISTINCT nullif({compared_id('patient_id')}, '')) AS patients, "
            "(SELECT count(*) FROM reference_standard JOIN items ON items.id = item "
            "WHERE bank = :bank) AS with_reference_standard FROM items WHERE bank = :bank",
            bank=bank,
        )
        or {}
    )


def items_only_in(look: Transaction, bank: int, other: int) -> list[str]:
    """Return the item_id of every item in a bank that the other bank lacks, in order."""
    rows = look.rows(
        f"SELECT item_id FROM items WHERE bank = :bank AND {compared_id('item_id')} NOT IN "
        f"(SELECT {compared_id('item_id')} FROM items WHERE bank = :other) ORDER BY item_id",
        bank=bank,
        other=other,
    )
    return [row["item_id"] for row in rows]


def differing_items(look: Transaction, bank: int, other: int) -> Iterator[tuple[str, list[str]]]:
    """Yield each item that both banks have and that differs, with the names of the differences."""
    for row in look.stream(
        f"WITH there AS MATERIALIZED (SELECT id, {compared_id('item_id')} AS form FROM items "
        f"WHERE bank = :other) SELECT a.item_id, {_DIFFERENCES} FROM items AS a "
        f"JOIN there ON form = {compared_id('a.item_id')} JOIN items AS b ON b.id = there.id "
        "WHERE a.bank = :bank ORDER BY a.item_id",
        bank=bank,
        other=other,
    ):
        names = [name for name, differs in row.items() if name != "item_id" and differs]
        if names:
            yield row["item_id"], names


def renamed_films(look: Transaction, bank: int, other: int) -> list[dict[str, Any]]:
    """Return the films in both banks that are not shown by items with the same id.

    Each has its `sha256`, and the first item with it in either bank, `item` and `other_item`.
    """
    shown = " UNION ALL ".join(
        f"SELECT sha256, item_id FROM films JOIN {table} ON film = films.id "
        "JOIN items ON items.id = item WHERE films.bank = {bank}"
        for table in ("item_views", "item_priors")
    )
    return look.rows(
        f"WITH here AS ({shown.format(bank=':bank')}), there AS ({shown.format(bank=':other')}) "
        "SELECT sha256, (SELECT min(item_id) FROM here AS h WHERE h.sha256 = shared.sha256) "
        "AS item, (SELECT min(item_id) FROM there AS t WHERE t.sha256 = shared.sha256) "
        "AS other_item "
        "FROM (SELECT sha256 FROM here INTERSECT SELECT sha256 FROM there "
        "EXCEPT SELECT here.sha256 FROM here JOIN there USING (sha256, item_id)) AS shared "
        "ORDER BY item",
        bank=bank,
        other=other,
    )
