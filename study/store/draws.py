"""The items of a bank that may be drawn: which meet the conditions, and what stratum each is of."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from study.base.bank_model import VIEW_CLASSES
from study.base.canonical import canonical_json
from study.base.text import FirstSpelling, id_key, text_key
from study.store.banks import STRUCK
from study.store.comparing import compared_id
from study.store.connection import Transaction

ATTRIBUTES = ("site", "split", "class", "validation_code")
"""What a bank may say of its items beside its own fields, by which they may be told apart."""

_UNIT = {
    "item": "item_id",
    "examination": "examination_id",
    "patient": "coalesce(nullif(patient_id, ''), examination_id)",
}
"""A unit's id; `to_draw` and `left` take those that look alike for one."""

_IN = {name: f"label IN ({', '.join(map(repr, labels))})" for name, labels in VIEW_CLASSES.items()}
_CLASS = " ".join(f"WHEN {is_in} THEN '{name}'" for name, is_in in _IN.items())
_STRATA = {
    "bank": "origin",
    "view": "coalesce((SELECT group_concat(label, '+') FROM (SELECT label FROM item_views "
    "WHERE item_views.item = items.id ORDER BY position)), '')",
    "view_class": "coalesce((SELECT group_concat(class, '+') FROM (SELECT DISTINCT "
    f"CASE {_CLASS} END AS class FROM item_views WHERE item_views.item = items.id "
    "ORDER BY class)), '')",
    **{
        name: f"coalesce((SELECT json_extract(attributes, '$.{name}') FROM item_attributes "
        "WHERE item_attributes.item = items.id), '')"
        for name in ATTRIBUTES
    },
}

TELLS = 0.9
"""An attribute by which so many answers can be known is the reference standard under a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What an item has to meet to be drawn; None and nothing ask for nothing.

    Parameters
    ----------
    views
        Kinds of view (`VIEW_CLASSES`), of each of which it has one.
    ages, sexes, items
        Its age in words, its sex and its item_id are among these.
    without
        The item_id of what is left out.
    """

    views: tuple[str, ...] = ()
    ages: tuple[str, ...] | None = None
    sexes: tuple[str, ...] | None = None
    items: tuple[str, ...] | None = None
    without: tuple[str, ...] | None = None


_LISTED = {
    "ages": "age IN",
    "sexes": "sex IN",
    "items": "item_id IN",
    "without": "item_id NOT IN",
}
assert {"views", *_LISTED} == {one.name for one in fields(Conditions)}


def to_draw(
    look: Transaction, bank: int, unit: str, strata: Sequence[str], conditions: Conditions
) -> Iterator[tuple[str, ...]]:
    """Yield the item_id of every item that may be drawn, its unit, and its value of each stratum.

    Of units and of values that look alike the first stands for all.

    Parameters
    ----------
    unit : {"item", "examination", "patient"}
        An item without a patient is of its examination.
    strata : sequence of str
        Columns of items; `bank`: of which one an item of a joined bank is; `view`: the names of its
        views, joined by `+`; `view_class`: their kinds, each once; or one of `ATTRIBUTES`.
    """
    columns = ", ".join(["item_id", _UNIT[unit], *(_STRATA.get(one, one) for one in strata)])
    where, values = _where(look, conditions)
    # Most items are of this bank where that takes long: in their own order they are read faster.
    found = look.cursor(
        f"SELECT {columns} FROM items NOT INDEXED WHERE bank = {bank:d}{where}", **values
    )
    units = FirstSpelling(id_key)
    values_of = [FirstSpelling(text_key) for _ in strata]
    for item_id, name, *named in found:
        first = (one[value] for one, value in zip(values_of, named, strict=True))
        yield item_id, name if unit == "item" else units[name], *first


def units(look: Transaction, bank: int) -> Iterator[tuple[str, str, str]]:
    """Yield every item of a bank with what it may be one of: item_id, examination, patient."""
    sql = f"SELECT item_id, examination_id, patient_id FROM items NOT INDEXED WHERE bank = {bank:d}"
    examinations, patients = FirstSpelling(id_key), FirstSpelling(id_key)
    for item_id, examination_id, patient_id in look.cursor(sql):
        yield item_id, examinations[examination_id], patients[patient_id]


def left(look: Transaction, bank: int, unit: str, conditions: Conditions) -> tuple[int, int]:
    """Return how many items may be drawn, and of how many units they are."""
    where, values = _where(look, conditions)
    row = look.row(
        f"SELECT count(*) AS items, count(DISTINCT {compared_id(_UNIT[unit])}) AS units "
        "FROM items NOT INDEXED "
        f"WHERE bank = {bank:d}{where}",
        **values,
    )
    return (row["items"], row["units"]) if row else (0, 0)


class CaseImages(NamedTuple):
    """The images of an item: its patient, their labels and kinds of view, and the files' hashes."""

    item_id: str
    patient: str
    labels: tuple[str, ...]
    kinds: tuple[str, ...]
    images: frozenset[str]


def case_images(
    look: Transaction, bank: int, item_ids: Sequence[str], *, prior: bool
) -> list[CaseImages]:
    """Return what is known of the images of items; with `prior`, of their prior images too."""
    rows = look.rows(
        f"SELECT item_id, {_UNIT['patient']} AS patient, label, prior, sha256 "
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


def last_struck(look: Transaction) -> int:
    """Return the number of the last striking off or taking back, which changes what is drawn."""
    return int(look.value("SELECT coalesce(max(id), 0) FROM struck_items"))


def _where(look: Transaction, conditions: Conditions) -> tuple[str, dict[str, str]]:
    parts = [f"id NOT IN {STRUCK}"] if last_struck(look) else []
    parts += [
        f"EXISTS (SELECT 1 FROM item_views WHERE item_views.item = items.id AND {_IN[name]})"
        for name in conditions.views
    ]
    values = {}
    for name, asks in _LISTED.items():
        listed = getattr(conditions, name)
        if listed is not None:
            parts.append(f"{asks} (SELECT value FROM json_each(:{name}))")
            values[name] = canonical_json(listed)
    return "".join(f" AND {part}" for part in parts), values


def ages(look: Transaction, bank: int) -> list[str]:
    """Return every age, in words, that an item of a bank has."""
    rows = look.rows("SELECT DISTINCT age FROM items WHERE bank = :bank", bank=bank)
    return [row["age"] for row in rows]


def has_attribute(look: Transaction, bank: int, name: str) -> bool:
    """Return whether any item of a bank has one of `ATTRIBUTES`, or a `bank` of its own."""
    return bool(
        look.value(
            f"SELECT EXISTS (SELECT 1 FROM items WHERE bank = :bank AND {_STRATA[name]} <> '')",
            bank=bank,
        )
    )


def n_values(look: Transaction, bank: int, name: str) -> int:
    """Return how many values a field to stratify by has in a bank; up to 2 are counted."""
    column = _STRATA.get(name, name)
    return int(
        look.value(
            f"SELECT count(*) FROM (SELECT DISTINCT {column} FROM items "
            "WHERE bank = :bank LIMIT 2)",
            bank=bank,
        )
    )


def tells_the_answer(look: Transaction, bank: int, name: str) -> bool:
    """Return whether one of `ATTRIBUTES` is the reference standard of a bank under another name.

    It is where it says the letter or the text of the correct option of half of the items that have
    it, or where few values tell the letter or text of nearly all of them, which do not all have the
    same.
    """
    first = FirstSpelling(text_key)
    by_letter: dict[str, Counter[str]] = defaultdict(Counter)
    by_text: dict[str, Counter[str]] = defaultdict(Counter)
    said = total = 0
    for value, letter, text in look.cursor(
        f"SELECT {_STRATA[name]} AS value, truth, "
        "json_extract(options, '$[' || (unicode(truth) - 65) || ']') FROM items "
        "JOIN reference_standard ON reference_standard.item = items.id "
        "WHERE bank = :bank AND value <> ''",
        bank=bank,
    ):
        total += 1
        said += text_key(value) in (text_key(letter), text_key(text))
        by_letter[first[value]][letter] += 1
        by_text[first[value]][text_key(text)] += 1
    return 2 * said >= max(total, 1) or any(_foretells(found) for found in (by_letter, by_text))


def _foretells(found: dict[str, Any]) -> bool:
    """Return whether values, of which most are met again, tell an answer that is not always it."""
    together = sum(found.values(), Counter[str]())
    n = together.total()
    right = sum(max(counts.values()) for counts in found.values())
    return (
        2 * len(found) <= n
        and right >= TELLS * n
        and bool(together)
        and max(together.values()) < TELLS * n
    )
