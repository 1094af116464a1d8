"""Selects the items in a bank that may be drawn, with their strata."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from study.base.bank_model import VIEW_CLASSES
from study.base.canonical import canonical_json
from study.base.text import FirstSpelling, id_key, text_key
from study.store.banks import STRUCK_ITEMS
from study.store.comparing import compared_id
from study.store.connection import Transaction

ATTRIBUTES = ("site", "split", "class", "validation_code")
"""Optional attributes of a bank's items, by which they can be stratified like by fields."""

_UNIT_COLUMNS = {
    "item": "item_id",
    "examination": "examination_id",
    "patient": "coalesce(nullif(patient_id, ''), examination_id)",
}
"""The id of a unit; `drawable_items` and `n_drawable` treat ids that look alike as the same."""

_VIEW_CONDITIONS = {
    name: f"label IN ({', '.join(map(repr, labels))})" for name, labels in VIEW_CLASSES.items()
}
_VIEW_CLASS_CASES = " ".join(
    f"WHEN {is_in} THEN '{name}'" for name, is_in in _VIEW_CONDITIONS.items()
)
_STRATUM_COLUMNS = {
    "bank": "origin",
    "view": "coalesce((SELECT group_concat(label, '+') FROM (SELECT label FROM item_views "
    "WHERE item_views.item = items.id ORDER BY position)), '')",
    "view_class": "coalesce((SELECT group_concat(class, '+') FROM (SELECT DISTINCT "
    f"CASE {_VIEW_CLASS_CASES} END AS class FROM item_views WHERE item_views.item = items.id "
    "ORDER BY class)), '')",
    **{
        name: f"coalesce((SELECT json_extract(attributes, '$.{name}') FROM item_attributes "
        "WHERE item_attributes.item = items.id), '')"
        for name in ATTRIBUTES
    },
}

REVEALING_SHARE = 0.9
"""An attribute that predicts at least this share of answers reveals the reference standard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """Conditions that items must meet to be drawn; None or an empty value means no condition.

    Parameters
    ----------
    views
        Kinds of view (`VIEW_CLASSES`); the item must have at least one view of each.
    ages, sexes, items
        Permitted ages in words, sexes and item_ids.
    without
        Excluded item_ids.
    """

    views: tuple[str, ...] = ()
    ages: tuple[str, ...] | None = None
    sexes: tuple[str, ...] | None = None
    items: tuple[str, ...] | None = None
    without: tuple[str, ...] | None = None


_LIST_CONDITIONS = {
    "ages": "age IN",
    "sexes": "sex IN",
    "items": "item_id IN",
    "without": "item_id NOT IN",
}
assert {"views", *_LIST_CONDITIONS} == {field.name for field in fields(Conditions)}


def drawable_items(
    look: Transaction, bank: int, unit: str, strata: Sequence[str], conditions: Conditions
) -> Iterator[tuple[str, ...]]:
    """Yield the item_id of every item that may be drawn, its unit, and its value in each stratum.

    Units and values that look alike are returned in their first spelling.

    Parameters
    ----------
    unit : {"item", "examination", "patient"}
        Without a patient, the unit of an item is its examination.
    strata : sequence of str
        Columns of items, one of `ATTRIBUTES`, `bank` (the original bank of an item of a joined
        bank), `view` (the labels of its views, joined by `+`), or `view_class` (their kinds, each
        once).
    """
    columns = ", ".join(
        ["item_id", _UNIT_COLUMNS[unit], *(_STRATUM_COLUMNS.get(name, name) for name in strata)]
    )
    condition, values = _where_clause(look, conditions)
    # In large stores most items belong to one bank, so a scan of the table is faster than an index.
    rows = look.cursor(
        f"SELECT {columns} FROM items NOT INDEXED WHERE bank = {bank:d}{condition}", **values
    )
    units = FirstSpelling(id_key)
    values_of = [FirstSpelling(text_key) for _ in strata]
    for item_id, name, *values_in_row in rows:
        first = (spellings[text] for spellings, text in zip(values_of, values_in_row, strict=True))
        yield item_id, name if unit == "item" else units[name], *first


def units(look: Transaction, bank: int) -> Iterator[tuple[str, str, str]]:
    """Yield the item_id, examination and patient of every item in a bank."""
    sql = f"SELECT item_id, examination_id, patient_id FROM items NOT INDEXED WHERE bank = {bank:d}"
    examinations, patients = FirstSpelling(id_key), FirstSpelling(id_key)
    for item_id, examination_id, patient_id in look.cursor(sql):
        yield item_id, examinations[examination_id], patients[patient_id]


def n_drawable(look: Transaction, bank: int, unit: str, conditions: Conditions) -> tuple[int, int]:
    """Return the numbers of items that may be drawn and of their units."""
    condition, values = _where_clause(look, conditions)
    row = look.row(
        f"SELECT count(*) AS items, count(DISTINCT {compared_id(_UNIT_COLUMNS[unit])}) AS units "
        "FROM items NOT INDEXED "
        f"WHERE bank = {bank:d}{condition}",
        **values,
    )
    return (row["items"], row["units"]) if row else (0, 0)


class CaseImages(NamedTuple):
    """The images of an item: its patient, labels and kinds of view, and hashes of the files."""

    item_id: str
    patient: str
    labels: tuple[str, ...]
    kinds: tuple[str, ...]
    images: frozenset[str]


def case_images(
    look: Transaction, bank: int, item_ids: Sequence[str], *, prior: bool
) -> list[CaseImages]:
    """Return the images of items; with `prior`, including their prior images."""
    rows = look.rows(
        f"SELECT item_id, {_UNIT_COLUMNS['patient']} AS patient, label, prior, sha256 "
        "FROM items JOIN item_films ON item_films.item = items.id AND prior <= :prior "
        "JOIN films ON films.id = film "
        "WHERE items.bank = :bank AND item_id IN (SELECT value FROM json_each(:item_ids)) "
        "ORDER BY item_id, position",
        bank=bank,
        item_ids=canonical_json(list(item_ids)),
        prior=int(prior),
    )
    kind_of = {label: name for name, labels in VIEW_CLASSES.items() for label in labels}
    by_item = {item_id: list(group) for item_id, group in groupby(rows, itemgetter("item_id"))}
    patients = FirstSpelling(id_key)
    return [
        CaseImages(
            item_id=item_id,
            patient=patients[row["patient"]],
            labels=tuple(f"{row['label']}{' prior' * row['prior']}" for row in by_item[item_id]),
            kinds=tuple(
                f"{kind_of.get(row['label'], row['label'])}{' prior' * row['prior']}"
                for row in by_item[item_id]
            ),
            images=frozenset(row["sha256"] for row in by_item[item_id]),
        )
        for item_id in item_ids
        for row in by_item[item_id][:1]
    ]


def last_strike_number(look: Transaction) -> int:
    """Return the number of the last change to struck-off items, which affects draws."""
    return int(look.value("SELECT coalesce(max(id), 0) FROM struck_items"))


def _where_clause(look: Transaction, conditions: Conditions) -> tuple[str, dict[str, str]]:
    parts = [f"id NOT IN {STRUCK_ITEMS}"] if last_strike_number(look) else []
    parts += [
        "EXISTS (SELECT 1 FROM item_views WHERE item_views.item = items.id "
        f"AND {_VIEW_CONDITIONS[name]})"
        for name in conditions.views
    ]
    values = {}
    for name, column_condition in _LIST_CONDITIONS.items():
        permitted = getattr(conditions, name)
        if permitted is not None:
            parts.append(f"{column_condition} (SELECT value FROM json_each(:{name}))")
            values[name] = canonical_json(permitted)
    return "".join(f" AND {part}" for part in parts), values


def ages(look: Transaction, bank: int) -> list[str]:
    """Return the ages, in words, of a bank's items."""
    rows = look.rows("SELECT DISTINCT age FROM items WHERE bank = :bank", bank=bank)
    return [row["age"] for row in rows]


def has_attribute(look: Transaction, bank: int, name: str) -> bool:
    """Return whether any item in a bank has one of `ATTRIBUTES`, or the name of its bank."""
    return bool(
        look.value(
            "SELECT EXISTS (SELECT 1 FROM items WHERE bank = :bank "
            f"AND {_STRATUM_COLUMNS[name]} <> '')",
            bank=bank,
        )
    )


def n_values(look: Transaction, bank: int, name: str) -> int:
    """Return the number of values of a field in a bank, counted up to 2."""
    column = _STRATUM_COLUMNS.get(name, name)
    return int(
        look.value(
            f"SELECT count(*) FROM (SELECT DISTINCT {column} FROM items "
            "WHERE bank = :bank LIMIT 2)",
            bank=bank,
        )
    )


def reveals_answer(look: Transaction, bank: int, name: str) -> bool:
    """Return whether one of `ATTRIBUTES` reveals the reference standard of a bank.

    It does if it equals the letter or the text of the correct option for at least half of the items
    that have it, or if few values predict the letter or text for nearly all of them. If nearly all
    items have the same answer, such a prediction does not count.
    """
    first = FirstSpelling(text_key)
    by_letter: dict[str, Counter[str]] = defaultdict(Counter)
    by_text: dict[str, Counter[str]] = defaultdict(Counter)
    n_equal = total = 0
    for value, letter, text in look.cursor(
        f"SELECT value, truth, text FROM (SELECT {_STRATUM_COLUMNS[name]} AS value, truth, "
        "json_extract(options, '$[' || (unicode(truth) - 65) || ']') AS text FROM items "
        "JOIN reference_standard ON reference_standard.item = items.id "
        "WHERE bank = :bank) WHERE value <> ''",
        bank=bank,
    ):
        total += 1
        n_equal += text_key(value) in (text_key(letter), text_key(text))
        by_letter[first[value]][letter] += 1
        by_text[first[value]][text_key(text)] += 1
    return 2 * n_equal >= max(total, 1) or _predict_answers(by_letter) or _predict_answers(by_text)


def _predict_answers(answers: dict[str, Counter[str]]) -> bool:
    """Return whether repeated values predict answers that are not nearly all the same."""
    all_answers = sum(answers.values(), Counter[str]())
    n = all_answers.total()
    right = sum(max(counts.values()) for counts in answers.values())
    return (
        2 * len(answers) <= n
        and right >= REVEALING_SHARE * n
        and bool(all_answers)
        and max(all_answers.values()) < REVEALING_SHARE * n
    )
