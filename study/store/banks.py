"""Stored question banks; content that only some users may see is in separate tables."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, NamedTuple

from study.base.bank_model import Film, GuessableQuestion, Item, Prior, View
from study.base.canonical import canonical_json, parsed_json
from study.base.errors import NotFound
from study.base.provenance import Provenance
from study.base.text import did_you_mean, id_key, quoted
from study.base.translation import t
from study.store.comparing import compared_id, marks
from study.store.connection import Transaction
from study.store.extract import ITEMS_SHOWN, is_section_shown

FROM_BUNDLE = "bundle"
"""The format of a bank restored from a study's bundle: the drawn items, without films."""

JOINED = "joined"
"""The format of a bank joined from several others, whose items record their original bank."""


class BankRow(NamedTuple):
    """A bank with its counts of items and films."""

    id: int
    name: str
    format: str
    source_name: str
    source_sha256: str
    content_sha256: str
    images_root: str
    simulated: int
    imported_at_utc: str
    version: str
    licence: str
    source_url: str
    citation: str
    n_items: int
    n_films: int

    @property
    def provenance(self) -> Provenance:
        """Return the bank's provenance."""
        return Provenance(**{name: getattr(self, name) for name in _PROVENANCE})


class FilmRow(NamedTuple):
    """A film with its location and, as a view of a case, its label.

    `prior` is 1 for a film of an earlier examination, which was made `days` earlier, if known.
    """

    path: str
    sha256: str
    low: int
    high: int
    images_root: str
    place: str = ""
    label: str = ""
    prior: int = 0
    days: int | None = None

    @property
    def file(self) -> Path:
        """Return the path of the film: `place` if it is outside its bank's folder."""
        return Path(self.place or Path(self.images_root) / self.path)


class ItemRow(NamedTuple):
    """An item with its reference standard, or None; `options` is JSON.

    `prior_days` represents the prior films that its study shows.
    """

    item_id: str
    question: str
    options: str
    task: str
    category: str
    subcategory: str
    examination_id: str
    patient_id: str
    truth: str | None
    origin: str
    prior_days: str | None


_PROVENANCE = tuple(field.name for field in fields(Provenance))
_ITEM_COLUMNS = ("task", "category", "subcategory", "examination_id", "patient_id", "age", "sex")
FILM_COLUMNS = "films.path, films.sha256, films.low, films.high, banks.images_root, films.place"
_BANKS_QUERY = (
    "SELECT banks.*, (SELECT count(*) FROM items WHERE bank = banks.id) AS n_items, "
    "(SELECT count(*) FROM films WHERE bank = banks.id) AS n_films FROM banks "
)


def add(change: Transaction, **columns: Any) -> int:
    """Insert a bank's row and return its id."""
    return change.insert("banks", **columns)


def find(look: Transaction, name: str) -> BankRow | None:
    """Return the bank with a name, or with a name that looks the same, or None."""
    return look.one(BankRow, _BANKS_QUERY + "WHERE name = :name", name=name) or look.one(
        BankRow, _BANKS_QUERY + "WHERE id_key(name) = id_key(:name)", name=name
    )


def bank_row(look: Transaction, name: str) -> BankRow:
    """Return a bank's row, or raise `NotFound` with the existing names."""
    row = find(look, name)
    if row is None:
        known = names(look)
        raise NotFound(
            t(
                "There is no bank named {name}. Available banks: {there}.",
                name=quoted(name),
                there=", ".join(known) or t("none"),
            )
            + did_you_mean(name, known)
        )
    return row


def by_content(look: Transaction, content_sha256: str) -> int | None:
    """Return the bank whose content has this hash, or None."""
    number = look.value(
        "SELECT id FROM banks WHERE content_sha256 = :content_sha256 ORDER BY id",
        content_sha256=content_sha256,
    )
    return None if number is None else int(number)


def names(look: Transaction) -> list[str]:
    """Return the names of all banks."""
    return [row["name"] for row in look.rows("SELECT name FROM banks ORDER BY name")]


def listed(look: Transaction) -> list[BankRow]:
    """Return every bank's row, the newest first."""
    return [BankRow(**row) for row in look.rows(_BANKS_QUERY + "ORDER BY id DESC")]


_CONTENT_TABLES = {
    "films": ("id path sha256 width height bits low high n_bytes spacing_mm", "id", ""),
    "items": (
        "id item_id question options task category subcategory examination_id patient_id age sex",
        "",
        "id",
    ),
    "item_views": ("item position film label said", "film", "item"),
    "item_priors": ("item position film label said days", "film", "item"),
    "reference_standard": ("item truth", "", "item"),
    "report_texts": ("item section words", "", "item"),
    "explanations": ("item words", "", "item"),
    "item_attributes": ("item attributes", "", "item"),
}
"""The tables of a bank's content: the columns, and which of them refer to a film or an item."""


def add_content(change: Transaction, bank: int) -> None:
    """Copy a bank's content from the tables of the same names in the attached file.

    Each kind of text goes into its own table.
    """
    for table, columns in _columns_to_copy(change, bank).items():
        change.execute(
            f"INSERT INTO main.{table} ({', '.join(columns)}) "
            f"SELECT {', '.join(columns.values())} FROM beside.{table} "
            f"ORDER BY {next(iter(columns))}"
        )


def _columns_to_copy(change: Transaction, bank: int) -> dict[str, dict[str, str]]:
    """Return the columns of each table, with the SQL expressions for the copy in another bank."""
    after = {
        table: change.value(f"SELECT coalesce(max(id), 0) FROM main.{table}")
        for table in ("films", "items")
    }
    columns_of = {}
    for table, (columns, film, item) in _CONTENT_TABLES.items():
        columns_of[table] = {name: name for name in columns.split()}
        if film:
            columns_of[table][film] += f" + {after['films']:d}"
        if item:
            columns_of[table][item] += f" + {after['items']:d}"
        if table in after:
            columns_of[table]["bank"] = f"{bank:d}"
    return columns_of


def add_items(change: Transaction, bank: int, items: Iterable[Item]) -> None:
    """Insert items with their reference standard and without films, as bundles contain them."""
    for item in items:
        number = change.insert(
            "items",
            bank=bank,
            origin=item.origin,
            item_id=item.item_id,
            question=item.question,
            options=canonical_json(item.options),
            **{name: getattr(item, name) for name in _ITEM_COLUMNS},
        )
        if item.truth is not None:
            change.insert("reference_standard", item=number, truth=item.truth)
        for section, words in item.report.items():
            change.insert("report_texts", item=number, section=section, words=words)
        for position, prior in enumerate(item.priors, start=1):
            label, days = prior.label, prior.days
            change.insert("item_priors", item=number, position=position, label=label, days=days)


def join(change: Transaction, bank: int, source: BankRow, *, prefix: bool = False) -> None:
    """Copy the items of another bank that are not struck off, and record its name as their origin.

    With `prefix`, the name also precedes the item, examination and patient ids.
    """
    items = f"bank = {source.id:d} AND id NOT IN {STRUCK_ITEMS}"
    of_source = {"films": f"bank = {source.id:d}", "items": items}
    for table, columns in _columns_to_copy(change, bank).items():
        if table == "films":
            columns |= {
                "path": ":name || '/' || path",
                "place": "CASE place WHEN '' THEN :root || '/' || path ELSE place END",
            }
        if table == "items":
            columns["origin"] = "CASE origin WHEN '' THEN :name ELSE origin END"
            for column in ("item_id", "examination_id", "patient_id") if prefix else ():
                columns[column] = f"iif({column} = '', '', :name || '/' || {column})"
        condition = of_source.get(table, f"item IN (SELECT id FROM items WHERE {items})")
        change.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) "
            f"SELECT {', '.join(columns.values())} FROM {table} WHERE {condition} ORDER BY 1",
            name=source.name,
            root=source.images_root,
        )


def n_with_prior(look: Transaction, bank: int) -> int:
    """Return the number of a bank's items with a prior film, including struck-off items."""
    return int(
        look.value(
            "SELECT count(DISTINCT item) FROM item_priors CROSS JOIN items ON items.id = item "
            "WHERE bank = :bank",
            bank=bank,
        )
    )


def common_values(look: Transaction, bank: int, other: int, column: str) -> list[str]:
    """Return the values of a column that occur in both banks, including struck-off items."""
    form = compared_id(column)
    rows = look.rows(
        f"SELECT {form} AS value FROM items WHERE bank = :one AND {column} <> '' "
        f"INTERSECT SELECT {form} FROM items WHERE bank = :other",
        one=bank,
        other=other,
    )
    return [row["value"] for row in rows]


STRUCK_ITEMS = (
    "(SELECT item FROM struck_items WHERE struck = 1 "
    "AND id IN (SELECT max(id) FROM struck_items GROUP BY item))"
)
"""The items that are struck off, which are neither drawn nor used in teaching."""


PRIOR_DAYS = (
    "(SELECT item, group_concat(coalesce(CAST(days AS TEXT), '?'), '|') AS prior_days FROM "
    "(SELECT item, days FROM item_priors ORDER BY item, position) GROUP BY item)"
)
"""The days between each prior film of an item and its current ones, `?` if unknown."""


def items_of_study(look: Transaction, study: int) -> list[ItemRow]:
    """Return the items of a study's cases, in order of number."""
    rows = look.rows(
        f"SELECT {', '.join(ItemRow._fields)} FROM cases JOIN items ON items.id = cases.item "
        "LEFT JOIN reference_standard ON reference_standard.item = items.id "
        f"LEFT JOIN {PRIOR_DAYS} AS prior ON prior.item = items.id AND {is_section_shown('prior')} "
        "WHERE study = :study ORDER BY number",
        study=study,
    )
    return [ItemRow(**row) for row in rows]


def sexes_of_study(look: Transaction, study: int) -> dict[str, str]:
    """Return the sex of the patient of each item of a study; empty if it is unknown."""
    rows = look.cursor(
        "SELECT item_id, coalesce(sex, '') FROM cases JOIN items ON items.id = cases.item "
        "WHERE study = :study",
        study=study,
    )
    return dict(rows)


def practice_candidates(look: Transaction, bank: int) -> set[str]:
    """Return the item_id of every item with a reference standard and films, not struck off."""
    rows = look.cursor(
        "SELECT item_id FROM items JOIN reference_standard ON item = items.id WHERE bank = :bank "
        f"AND items.id NOT IN {STRUCK_ITEMS} AND items.id IN (SELECT item FROM item_views)",
        bank=bank,
    )
    return {item_id for (item_id,) in rows}


def ids_of_split(look: Transaction, bank: int, split: str) -> set[str]:
    """Return the item_id of every item in a bank in a split of its data set."""
    rows = look.rows(
        "SELECT item_id FROM items JOIN item_attributes ON item = items.id WHERE bank = :bank "
        "AND json_extract(attributes, '$.split') = :split",
        bank=bank,
        split=split,
    )
    return {row["item_id"] for row in rows}


_IS_IN_STUDY = "AND items.id IN (SELECT item FROM cases WHERE study = :study)"


class Questions:
    """The questions with a reference standard of a bank, or of a study's cases.

    They are used to detect guessable answers. The object can be iterated repeatedly; it is never
    loaded completely, and not readable through `Store.desk`.
    """

    def __init__(self, look: Transaction, bank: int, study: int | None = None) -> None:
        self._look, self._bank, self._study = look, bank, study

    def __iter__(self) -> Iterator[GuessableQuestion]:
        """Yield the questions in the order of the import."""
        chosen = "" if self._study is None else _IS_IN_STUDY
        values = {} if self._study is None else {"study": self._study}
        rows = self._look.cursor(
            "SELECT options, truth, coalesce((SELECT group_concat(label, '+') FROM "
            "(SELECT label FROM item_views WHERE item_views.item = items.id AND label <> '' "
            "ORDER BY position)), '') AS view, item_id FROM items JOIN reference_standard "
            "ON reference_standard.item = items.id WHERE bank = :bank "
            f"{chosen} ORDER BY items.id",
            bank=self._bank,
            **values,
        )
        for options, truth, view, item_id in rows:
            yield GuessableQuestion(parsed_json(options), truth, view, item_id)


def sharing_films(look: Transaction, bank: int, ids: Iterable[str]) -> set[str]:
    """Return the item_id of every item in a bank that shares a film with any of these items.

    Prior films are included.
    """
    tables = ("item_views", "item_priors")
    shown = look.rows(
        " UNION ".join(
            f"SELECT sha256 FROM items JOIN {table} ON {table}.item = items.id "
            "JOIN films ON films.id = film "
            "WHERE items.bank = :bank AND item_id IN (SELECT value FROM json_each(:ids))"
            for table in tables
        ),
        bank=bank,
        ids=canonical_json(list(ids)),
    )
    rows = look.rows(
        " UNION ALL ".join(
            f"SELECT item_id FROM films JOIN {table} ON film = films.id "
            "JOIN items ON items.id = item WHERE films.bank = :bank "
            "AND sha256 IN (SELECT value FROM json_each(:shown))"
            for table in tables
        ),
        bank=bank,
        shown=canonical_json([row["sha256"] for row in shown]),
    )
    return {row["item_id"] for row in rows}


def stored_item_ids(look: Transaction, bank: int, ids: Sequence[str]) -> dict[str, str]:
    """Map each id that a bank contains to the item_id as stored.

    An identical item_id takes precedence over one that looks the same.
    """
    id_json = canonical_json(list(ids))
    of_bank = "SELECT item_id FROM items WHERE bank = :bank AND"
    id_list = "(SELECT value FROM json_each(:ids))"
    stored_ids = look.tuples(str, f"{of_bank} item_id IN {id_list}", bank=bank, ids=id_json)
    spellings = {item_id: item_id for item_id in stored_ids}
    if others := {id_key(text): text for text in ids if text not in spellings}:
        for item_id in look.tuples(
            str,
            f"{of_bank} {compared_id('item_id')} IN {id_list}",
            bank=bank,
            ids=canonical_json(list(others)),
        ):
            key = id_key(item_id)
            spellings |= {
                text: item_id for text in ids if text not in spellings and id_key(text) == key
            }
    return spellings


def item_number(look: Transaction, bank: int, item_id: str) -> int:
    """Return the rowid of an item in a bank.

    Raises
    ------
    KeyError
        The bank has no such item.
    """
    number = look.value(
        "SELECT id FROM items WHERE bank = :bank AND item_id = :item_id", bank=bank, item_id=item_id
    )
    if number is None:
        raise KeyError(item_id)
    return int(number)


_ITEMS_QUERY = (
    "SELECT items.*, truth, coalesce(explanations.words, '') AS explanation, attributes, "
    "(SELECT json_group_array(json_array(position, label, path, said)) FROM (SELECT position, "
    "label, path, said FROM item_views JOIN films ON films.id = film "
    "WHERE item_views.item = items.id ORDER BY position)) AS views, "
    "(SELECT json_group_array(json_array(position, label, path, said, days)) FROM (SELECT "
    "position, label, path, said, days FROM item_priors LEFT JOIN films ON films.id = film "
    "WHERE item_priors.item = items.id ORDER BY position)) AS priors, "
    "(SELECT json_group_object(section, words) FROM report_texts "
    "WHERE report_texts.item = items.id) AS report FROM items "
    "LEFT JOIN reference_standard ON reference_standard.item = items.id "
    "LEFT JOIN explanations ON explanations.item = items.id "
    "LEFT JOIN item_attributes ON item_attributes.item = items.id "
)


def complete_items(look: Transaction, bank: int) -> Iterator[Item]:
    """Yield a bank's complete items in the order of the import."""
    for row in look.stream(f"{_ITEMS_QUERY}WHERE bank = :bank ORDER BY items.id", bank=bank):
        views = json.loads(row["views"])
        yield Item(
            **{name: row[name] for name in ("item_id", "question", "truth", *_ITEM_COLUMNS)},
            options=tuple(json.loads(row["options"])),
            views=tuple(
                View(path=path, label=label, original=term) for _, label, path, term in views
            ),
            report=json.loads(row["report"]),
            explanation=row["explanation"],
            attributes=json.loads(row["attributes"] or "{}"),
            origin=row.get("origin", ""),
            priors=tuple(
                Prior(path=path, label=label, original=term, days=days)
                for _, label, path, term, days in json.loads(row["priors"])
            ),
        )


def complete_films(look: Transaction, bank: int) -> Iterator[Film]:
    """Yield a bank's films in the order of their first use."""
    for row in look.stream(_FILMS_QUERY + "ORDER BY id", bank=bank):
        yield Film(**row)


def content_sha256(look: Transaction, bank: int, *, simulated: bool) -> str:
    """Return the hash of a bank's content: whether it is simulated, its films and its items.

    The hash covers the canonical JSON of ``{"films": [...], "items": [...], "simulated": ...}``,
    which is never loaded completely. Films are in order of path, items in order of item_id;
    `options` is the JSON text as stored. Row numbers and the images' folder are omitted, so that
    the same bank has the same hash in two deployments. Also omitted are unknown spacings, view
    terms equal to the label, and absent attributes and prior films, so that banks imported before
    these were stored keep their hash.
    """
    films = look.stream(_FILMS_QUERY + "ORDER BY path", bank=bank)
    items = look.cursor(_hashed_items_query(), bank=bank)
    digest = hashlib.sha256()
    parts = {
        "films": (canonical_json(_hashed_film(row)) for row in films),
        "items": (text for (text,) in items),
    }
    for name, texts in parts.items():
        digest.update(f"{'{' if name == 'films' else ','}{canonical_json(name)}:[".encode())
        for n, text in enumerate(texts):
            digest.update(("," * (n > 0) + text).encode())
        digest.update(b"]")
    digest.update(f',"simulated":{canonical_json(simulated)}'.encode() + b"}")
    return digest.hexdigest()


_FILMS_QUERY = (
    "SELECT path, sha256, width, height, bits, low, high, n_bytes, spacing_mm FROM films "
    "WHERE bank = :bank "
)


def _hashed_film(row: dict[str, Any]) -> dict[str, Any]:
    return {key: row[key] for key in row if key != "spacing_mm" or row[key] is not None}


def _hashed_items_query() -> str:
    """Return the query for items as canonical JSON; SQLite writes the same text as Python."""
    values = {
        **{
            name: f"json_quote({name})"
            for name in ("item_id", "question", "options", *_ITEM_COLUMNS)
        },
        "truth": "json_quote(truth)",
        "explanation": "json_quote(coalesce(explanations.words, ''))",
        "report": "(SELECT json_group_object(section, words) FROM (SELECT section, words FROM "
        "report_texts WHERE report_texts.item = items.id ORDER BY section))",
        "views": "'[' || coalesce((SELECT group_concat('[' || position || ',' || json_quote(label) "
        "|| ',' || json_quote(path) || iif(said = '', '', ',' || json_quote(said)) || ']') FROM "
        "(SELECT position, label, path, said FROM item_views JOIN films ON films.id = film "
        "WHERE item_views.item = items.id ORDER BY position)), '') || ']'",
    }
    priors = (
        "(SELECT group_concat('[' || position || ',' || json_quote(label) || ',' || "
        "json_quote(path) || ',' || json_quote(said) || ',' || "
        "coalesce(CAST(days AS TEXT), 'null') || ']') FROM "
        "(SELECT position, label, path, said, days FROM item_priors LEFT JOIN films "
        "ON films.id = film WHERE item_priors.item = items.id ORDER BY position))"
    )
    optional = {
        "attributes": ("attributes", "coalesce(attributes, '') = ''"),
        "bank": ("json_quote(origin)", "origin = ''"),
        "priors": (
            f"'[' || {priors} || ']'",
            "NOT EXISTS (SELECT 1 FROM item_priors WHERE item_priors.item = items.id)",
        ),
    }
    for name, (value, is_left_out) in optional.items():
        values[name] = f"iif({is_left_out}, '', ',\"{name}\":' || {value})"
    members = "".join(
        "%s" if name in optional else f'{"," * (n > 0)}"{name}":%s'
        for n, name in enumerate(sorted(values))
    )
    members_values = ", ".join(values[name] for name in sorted(values))
    return (
        f"SELECT printf('{{{members}}}', {members_values}) FROM items "
        "LEFT JOIN reference_standard ON reference_standard.item = items.id "
        "LEFT JOIN explanations ON explanations.item = items.id "
        "LEFT JOIN item_attributes ON item_attributes.item = items.id "
        "WHERE bank = :bank ORDER BY item_id"
    )


def facts(row: BankRow) -> dict[str, Any]:
    """Return the facts about a bank's row that the event of its import records.

    The images' folder is not included: films may be moved, because their hash is checked.
    """
    return {
        "bank": row.name,
        "format": row.format,
        "source": row.source_name,
        "source_sha256": row.source_sha256,
        "content_sha256": row.content_sha256,
        "simulated": bool(row.simulated),
        **asdict(row.provenance),
    }


def set_content_hash(change: Transaction, bank: int, content_sha256: str) -> None:
    """Complete a bank's row with the hash of its content."""
    change.execute(
        "UPDATE banks SET content_sha256 = :content_sha256 WHERE id = :bank",
        content_sha256=content_sha256,
        bank=bank,
    )


def bank_marks(look: Transaction, bank: int) -> Iterator[int]:
    """Yield the marks by which a bank's content is recognised elsewhere, in ascending order."""
    return (mark for (mark,) in look.cursor(marks("bank = :bank", "bank = :bank"), bank=bank))


def add_marks(change: Transaction, bank: int, banks: Iterable[int]) -> None:
    """Store the marks by which a bank's content is recognised."""
    change.insert_many("exposure_marks", ("mark", "bank"), ((mark, bank) for mark in banks))


_FILMS_SHOWN = (
    f"id IN (SELECT film FROM item_views WHERE item IN {ITEMS_SHOWN} "
    f"UNION SELECT film FROM item_priors WHERE item IN {ITEMS_SHOWN})"
)
_STUDY_SHOWS_BANK_QUERY = (
    f"SELECT EXISTS (SELECT 1 FROM items WHERE id IN {ITEMS_SHOWN} AND bank = :bank) "
    f"OR EXISTS (SELECT 1 FROM ({marks(f'id IN {ITEMS_SHOWN}', _FILMS_SHOWN)}) "
    "CROSS JOIN exposure_marks AS here USING (mark) CROSS JOIN exposure_marks AS there "
    "USING (mark) WHERE there.bank = :bank "
    "AND here.bank = (SELECT bank FROM studies WHERE id = :study)) "
    f"OR EXISTS (SELECT 1 FROM (SELECT item_id, question FROM items WHERE id IN {ITEMS_SHOWN}) "
    "AS shown CROSS JOIN items AS same WHERE same.bank = :bank "
    "AND same.item_id = shown.item_id AND text_key(same.question) = text_key(shown.question))"
)


def study_shows_bank(look: Transaction, bank: int, study: int) -> bool:
    """Return whether a study shows content of a bank, as a case or for practice.

    Content is the same if an item has the same id and question, or if marks from
    `study.store.comparing.marks` agree, in any bank. Texts that look alike count as equal.
    """
    return bool(look.value(_STUDY_SHOWS_BANK_QUERY, bank=bank, study=study))


_TABLES_OF_ITEMS = (
    "struck_items",
    "item_views",
    "item_priors",
    "reference_standard",
    "report_texts",
    "explanations",
    "item_attributes",
)


def studies_and_drafts(look: Transaction, bank: int) -> dict[str, list[str]]:
    """Return the names of the `studies` and `drafts` that use a bank."""
    names = {}
    for table in ("studies", "drafts"):
        rows = look.rows(f"SELECT name FROM {table} WHERE bank = :bank ORDER BY name", bank=bank)
        names[table] = [row["name"] for row in rows]
    return names


def films_of_no_other_bank(look: Transaction, bank: int) -> list[str]:
    """Return the hashes of a bank's films that no other bank has."""
    rows = look.rows(
        "SELECT DISTINCT sha256 FROM films WHERE bank = :bank "
        "EXCEPT SELECT sha256 FROM films WHERE bank <> :bank",
        bank=bank,
    )
    return [row["sha256"] for row in rows]


def remove(change: Transaction, bank: int) -> None:
    """Delete a bank and its content; the commit fails if a study uses it."""
    change.execute("PRAGMA defer_foreign_keys = ON")
    change.execute("DELETE FROM banks WHERE id = :bank", bank=bank)
    for table in _TABLES_OF_ITEMS:
        change.execute(
            f"DELETE FROM {table} WHERE item IN (SELECT id FROM items WHERE bank = :bank)",
            bank=bank,
        )
    for table in ("review_ends", "review_verdicts", "reviewers", "review_items"):
        change.execute(
            f"DELETE FROM {table} WHERE review IN (SELECT id FROM reviews WHERE bank = :bank)",
            bank=bank,
        )
    own_tables = (
        "reviews",
        "teaching_answers",
        "teaching_marks",
        "exposure_marks",
        "items",
        "films",
    )
    for table in own_tables:
        change.execute(f"DELETE FROM {table} WHERE bank = :bank", bank=bank)
