"""Working file of a bank's import: records are on disk, so that memory does not limit their number.

At the end its tables have the form of the store's tables and contain only the valid items. After an
interrupted import, the facts about the films checked so far are kept.
"""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from sqlite_utils import Database

from study.base.bank_model import (
    REPORT_SECTIONS,
    VIEW_CLASSES,
    Fault,
    Film,
    Item,
    Prior,
    Rule,
    View,
)
from study.base.canonical import canonical_json
from study.base.errors import NotNow, StudyError
from study.base.text import FirstSpelling, difference, id_key, text_key
from study.base.translation import t
from study.films import BadFilm
from study.store import comparing
from study.store.connection import Transaction
from study.store.sqlite import LARGE_CACHE, add_functions, explain_error

_MOST_CACHED_FILMS = 50_000
_IMAGE_MISSING = Rule.IMAGE_MISSING
N_EXAMINATION_KEYS = 4
_EXAMINATIONS = tuple(f"examination_{n}" for n in range(N_EXAMINATION_KEYS))

_TABLES = f"""
CREATE TABLE drafts (
    n INTEGER PRIMARY KEY, key TEXT, item_id TEXT, {" TEXT, ".join(_EXAMINATIONS)} TEXT,
    examination_id TEXT, patient_id TEXT, age TEXT, sex TEXT, has_truth INTEGER, is_whole INTEGER,
    is_sound INTEGER
);
CREATE TABLE texts (
    n INTEGER PRIMARY KEY, question TEXT, options TEXT, task TEXT, category TEXT, subcategory TEXT,
    truth TEXT
);
CREATE TABLE unseen (
    n INTEGER PRIMARY KEY, attributes TEXT, explanation TEXT, {" TEXT, ".join(REPORT_SECTIONS)} TEXT
);
CREATE TABLE spacings (n INTEGER, film INTEGER, spacing_mm REAL);
CREATE TABLE faults (n INTEGER, key TEXT, what TEXT, remedy TEXT, rule TEXT);
CREATE TABLE item_views (
    item INTEGER, position INTEGER, film INTEGER, label TEXT, said TEXT,
    PRIMARY KEY (item, position)
) WITHOUT ROWID;
CREATE TABLE item_priors (
    item INTEGER, position INTEGER, film INTEGER, label TEXT, said TEXT, days INTEGER,
    PRIMARY KEY (item, position)
) WITHOUT ROWID;
CREATE TABLE films (
    id INTEGER PRIMARY KEY, bank INTEGER DEFAULT 1, path TEXT UNIQUE, sha256 TEXT, width INTEGER,
    height INTEGER, bits INTEGER, low INTEGER, high INTEGER, n_bytes INTEGER, spacing_mm REAL,
    mtime_ns INTEGER, state TEXT DEFAULT '', what TEXT, remedy TEXT, rule TEXT
);
CREATE TABLE meta (images TEXT);
CREATE TABLE shortened (item INTEGER PRIMARY KEY);
CREATE VIEW items AS SELECT n AS id, 1 AS bank, item_id, question, options, task, category,
    subcategory, examination_id, patient_id, age, sex, '' AS origin
    FROM drafts JOIN texts USING (n);
CREATE VIEW reference_standard AS SELECT n AS item, truth FROM texts WHERE truth IS NOT NULL;
CREATE VIEW item_attributes AS SELECT n AS item, attributes FROM unseen WHERE attributes <> '';
CREATE VIEW explanations AS SELECT n AS item, explanation AS words FROM unseen
    WHERE explanation <> '';
CREATE VIEW report_texts AS SELECT n AS item, section, words FROM (SELECT n, section,
    CASE section {" ".join(f"WHEN '{name}' THEN {name}" for name in REPORT_SECTIONS)} END AS words
    FROM unseen CROSS JOIN sections) WHERE words <> '';
CREATE TABLE sections (section TEXT PRIMARY KEY) WITHOUT ROWID;
INSERT INTO sections VALUES {", ".join(f"('{name}')" for name in REPORT_SECTIONS)};
"""
_FILM_COLUMN = {"item_views": 2, "item_priors": 2, "spacings": 1}
"""The column with the film's number in each of these tables."""

_FILM_TABLES = ("item_views", "item_priors")
_FILM_FACTS = ("sha256", "width", "height", "bits", "low", "high", "n_bytes")


class Draft(Protocol):
    """A record as it was read; `item` is None if the record has faults.

    `has_truth` is also true for a record that cannot have a reference standard.
    """

    key: str
    item_id: str
    examination_ids: tuple[str | None, ...]
    patient_id: str
    has_truth: bool
    views: tuple[View, ...]
    priors: tuple[Prior, ...]
    spacings_mm: Mapping[str, Sequence[float]]
    item: Item | None

    @property
    def faults(self) -> Sequence[Fault]:
        """All faults so far."""


class Group(NamedTuple):
    """A group of items that are reported together: their number, and the key of the first."""

    n: int
    first: str


class Respelling(NamedTuple):
    """A value that is spelt differently from the first equal value."""

    value: str
    first: str
    items: Group


_NAME_COLUMNS = ("task", "category", "subcategory")
_COLUMNS = {
    "drafts": (
        *("n", "key", "item_id", *_EXAMINATIONS, "examination_id", "patient_id", "age", "sex"),
        *("has_truth", "is_whole", "is_sound"),
    ),
    "texts": ("n", "question", "options", *_NAME_COLUMNS, "truth"),
    "unseen": ("n", "attributes", "explanation", *REPORT_SECTIONS),
}
"""The columns of the tables with one row per record."""


class Batch:
    """Drafts as rows of the working file, numbered from 1, with paths instead of film numbers.

    `names` contains the values of each column in `_NAME_COLUMNS`; `has_unusual_ids` states whether
    any id differs from the form in which it is compared.
    """

    def __init__(self) -> None:
        self.n = 0
        self.rows: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        self.names: dict[str, set[str]] = defaultdict(set)
        self.has_unusual_ids = False

    def add(self, n: int, draft: Draft) -> None:
        """Add the record with a number."""
        self.n = n
        rows, item = self.rows, draft.item
        complete = item is not None
        age, sex = (item.age, item.sex) if item else ("", "")
        facts = (age, sex, draft.has_truth, complete, complete)
        ids = draft.examination_ids
        examination = next(filter(None, ids), "")
        known = (draft.key, draft.item_id, *ids, examination, draft.patient_id)
        rows["drafts"].append((n, *known, *facts))
        self._note_ids(known[1:])
        self._add_faults(draft.faults)
        for position, view in enumerate(draft.views, 1):
            rows["item_views"].append((n, position, view.path, view.label, view.original))
        for position, film in enumerate(draft.priors, 1):
            prior = (film.path, film.label, film.original, film.days)
            rows["item_priors"].append((n, position, *prior))
        for path, spacings_mm in draft.spacings_mm.items():
            rows["spacings"].extend((n, path, spacing_mm) for spacing_mm in spacings_mm)
        if item is not None:
            options = canonical_json(item.options)
            fields = (item.task, item.category, item.subcategory)
            rows["texts"].append((n, item.question, options, *fields, item.truth))
            for column, name in zip(_NAME_COLUMNS, fields, strict=True):
                self.names[column].add(name)
            attributes = canonical_json(item.attributes) if item.attributes else ""
            report = [item.report.get(section, "") for section in REPORT_SECTIONS]
            rows["unseen"].append((n, attributes, item.explanation, *report))

    def add_columns(self, columns: Mapping[str, Sequence[Any]]) -> None:
        """Add items without faults, by the names of the working file's columns.

        `views` are the path, label and original label of each view.
        """
        n, item_ids = columns["n"], columns["item_id"]
        examinations = [columns[name] for name in _EXAMINATIONS]
        all_columns = {
            **columns,
            "key": item_ids,
            "examination_id": [
                next(filter(None, ids), "") for ids in zip(*examinations, strict=True)
            ],
            "has_truth": [truth is not None for truth in columns["truth"]],
            **dict.fromkeys(("is_whole", "is_sound"), [True] * len(n)),
        }
        for table, names in _COLUMNS.items():
            self.rows[table] += zip(*(all_columns[name] for name in names), strict=True)
            self.rows[table].sort(key=itemgetter(0))
        self.rows["item_views"] += (
            (number, position, *view)
            for number, views in zip(n, columns["views"], strict=True)
            for position, view in enumerate(views, 1)
        )
        self.rows["item_views"].sort(key=itemgetter(0))
        for column in _NAME_COLUMNS:
            self.names[column].update(columns[column])
        for ids in (item_ids, columns["patient_id"], *examinations):
            self._note_ids(ids)

    def _note_ids(self, ids: Iterable[str | None]) -> None:
        joined = "".join(filter(None, ids))
        if not joined.isascii() or " " in joined or not joined.isprintable():
            self.has_unusual_ids = True

    def add_fault(self, n: int, fault: Fault) -> None:
        """Add the fault of the record with a number, which could not be read."""
        self.n = n
        self._add_faults([fault])

    def _add_faults(self, faults: Iterable[Fault]) -> None:
        for fault in faults:
            columns = (fault.key, fault.what, fault.remedy, str(fault.rule))
            self.rows["faults"].append((self.n, *columns))


class Staging:
    """The tables of a running import; `tables` is a transaction that can be queried like the store.

    Parameters
    ----------
    path
        The file.
    connection
        A connection to the file, which no other process has open.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self.tables = Transaction(Database(connection))
        self._film_ids: dict[str, int] = {}
        self._n = 0
        self._names: dict[str, set[str]] = defaultdict(set)
        self._has_unusual_ids = False
        self._forms: dict[str, str] = {}

    def keep(self, batch: Batch) -> None:
        """Append drafts."""
        for table, rows in batch.rows.items():
            if film := _FILM_COLUMN.get(table):
                rows = [
                    (*row[:film], self._film_number(row[film]), *row[film + 1 :]) for row in rows
                ]
            marks = ", ".join("?" * (len(rows[0]) - 1))
            self._connection.executemany(
                f"INSERT INTO {table} VALUES (? + {self._n}, {marks})", rows
            )
        self._n += batch.n
        self._has_unusual_ids = self._has_unusual_ids or batch.has_unusual_ids
        for column, names in batch.names.items():
            self._names[column] |= names
        self._connection.commit()

    def _comparable_column(self, column: str) -> str:
        """Return the name of the column with the comparable form of a column's ids."""
        if column not in self._forms:
            form = column
            if self._has_unusual_ids:
                form = f"{column}_form"
                self._connection.execute(f"ALTER TABLE drafts ADD COLUMN {form} TEXT")
                self._connection.execute(f"UPDATE drafts SET {form} = id_key({column})")
            if column != "patient_id":
                self._connection.execute(f"CREATE INDEX drafts_{column} ON drafts ({form})")
            self._forms[column] = form
        return self._forms[column]

    def respelt_ids(self, column: str) -> list[Respelling]:
        """Return the ids of a column that are spelt differently from the first equal one."""
        if not self._has_unusual_ids:
            return []
        form = self._comparable_column(column)
        pairs = self._connection.execute(
            f"SELECT {column}, count(*), min(n) FROM drafts WHERE {form} IN (SELECT {form} FROM "
            f"drafts WHERE {form} <> '' GROUP BY {form} HAVING count(DISTINCT {column}) > 1) "
            f"GROUP BY {column} ORDER BY min(n)"
        )
        return self._respelt(pairs, id_key)

    def respelt_names(self, column: str) -> list[Respelling]:
        """Return the names in a column that are spelt differently from the first equal one."""
        n_by_form = Counter(map(text_key, self._names[column]))
        alike = [name for name in self._names[column] if n_by_form[text_key(name)] > 1]
        if not alike:
            return []
        pairs = self._connection.execute(
            f"SELECT {column}, count(*), min(n) FROM texts WHERE {column} IN "
            f"(SELECT value FROM json_each(?)) GROUP BY {column} ORDER BY min(n)",
            (canonical_json(alike),),
        )
        return self._respelt(pairs, text_key)

    def _respelt(
        self, pairs: Iterable[tuple[str, int, int]], key: Callable[[str], str]
    ) -> list[Respelling]:
        first = FirstSpelling(key)
        return [
            Respelling(value, first[value], Group(n, self._key_of(place)))
            for value, n, place in list(pairs)
            if first[value] != value
        ]

    def _film_number(self, path: str) -> int:
        number = self._film_ids.get(path)
        if number is None:
            if len(self._film_ids) >= _MOST_CACHED_FILMS:
                self._film_ids.clear()
            self._connection.execute("INSERT OR IGNORE INTO films (path) VALUES (?)", (path,))
            number = self._value("SELECT id FROM films WHERE path = ?", path)
            self._film_ids[path] = number
        return int(number)

    def _value(self, sql: str, *values: Any) -> Any:
        return self._connection.execute(sql, values).fetchone()[0]

    @property
    def n_found(self) -> int:
        """Return the number of records, including invalid ones."""
        return self._n

    @property
    def n_items(self) -> int:
        """Return the number of valid items so far."""
        return int(self._value("SELECT count(*) FROM drafts WHERE is_sound"))

    def _add_faults_from(self, select: str, *values: Any) -> None:
        """Add the faults that a query returns as n, key, what, remedy and rule."""
        self._connection.execute(f"INSERT INTO faults {select}", values)
        self._connection.execute(
            "UPDATE drafts SET is_sound = 0 WHERE is_sound AND n IN (SELECT n FROM faults)"
        )

    def fault_truthless(self, fault: str, remedy: str) -> None:
        """Add a fault to every item without a reference standard."""
        self._add_faults_from(
            "SELECT n, key, ?, ?, ? FROM drafts WHERE NOT has_truth ORDER BY n",
            fault,
            remedy,
            Rule.NO_TRUTH,
        )

    def fault_same_ids(self, fault: str, remedy: str) -> None:
        """Add a fault to all items with a repeated id; the first states the count as `{n}`.

        If the id is spelt in several ways, the differences follow in parentheses.
        """
        form = self._comparable_column("item_id")
        repeated = f"drafts WHERE {form} <> '' GROUP BY {form} HAVING count(*) > 1"
        if not self._value(f"SELECT EXISTS (SELECT 1 FROM {repeated})"):
            return
        self._connection.execute(
            f"UPDATE drafts SET is_whole = 0, is_sound = 0 WHERE {form} IN "
            f"(SELECT {form} FROM {repeated})"
        )
        self._add_faults_from(
            "SELECT min(n), key, replace(?, '{n}', count(*)) || differing(min(item_id), "
            f"max(item_id)), ?, ? FROM {repeated} ORDER BY 1",
            fault,
            remedy,
            Rule.SAME_ID,
        )

    def examination_keys(self) -> Iterator[tuple[int, bool]]:
        """Yield each kind of examination key that occurs, and whether two patients share one."""
        patient = self._comparable_column("patient_id")
        for n, column in enumerate(_EXAMINATIONS):
            if self._value(f"SELECT EXISTS (SELECT 1 FROM drafts WHERE {column} IS NOT NULL)"):
                shared = self._value(
                    f"SELECT EXISTS (SELECT 1 FROM drafts WHERE {column} IS NOT NULL GROUP BY "
                    f"{self._form_of(column)} HAVING count(DISTINCT nullif({patient}, '')) > 1)"
                )
                yield n, bool(shared)

    def set_examinations(self, key: int) -> None:
        """Set each draft's examination from this key, or else from any key or its first film."""
        by_film = (
            "SELECT path FROM item_views JOIN films ON id = film WHERE item = n ORDER BY position"
        )
        examination_sql = (
            f"coalesce({_EXAMINATIONS[key]}, {', '.join(_EXAMINATIONS)}, ({by_film} LIMIT 1), '')"
        )
        self._connection.execute(
            f"UPDATE drafts SET examination_id = {examination_sql} "
            f"WHERE examination_id <> {examination_sql}"
        )

    def _form_of(self, column: str) -> str:
        return comparing.compared_id(column) if self._has_unusual_ids else column

    def fault_shared_examinations(self, fault: str, remedy: str) -> None:
        """Add a fault to the items of each examination that has several patients.

        `fault` may contain `{examination}` and `{patients}`.
        """
        examination, patient = (
            self._comparable_column("examination_id"),
            self._comparable_column("patient_id"),
        )
        self._add_faults_from(
            "SELECT n, key, replace(replace(?, '{examination}', examination_id), '{patients}', "
            "(SELECT group_concat(one, ', ') FROM (SELECT min(patient_id) AS one FROM drafts "
            f"AS others WHERE others.{examination} = drafts.{examination} AND patient_id <> '' "
            f"GROUP BY {patient} ORDER BY one))), ?, ? FROM drafts WHERE {examination} IN (SELECT "
            f"{examination} FROM drafts WHERE {examination} <> '' GROUP BY {examination} "
            f"HAVING count(DISTINCT nullif({patient}, '')) > 1) ORDER BY n",
            fault,
            remedy,
            Rule.TWO_PATIENTS,
        )

    def share_patients(self) -> Group | None:
        """Set missing patients from other items of the same examination."""
        if not self._value("SELECT EXISTS (SELECT 1 FROM drafts WHERE patient_id = '')"):
            return None
        examination, patient = (
            self._comparable_column("examination_id"),
            self._comparable_column("patient_id"),
        )
        without_patient = (
            f"FROM drafts WHERE is_whole AND patient_id = '' AND {examination} IN ("
            f"SELECT {examination} FROM drafts WHERE {examination} <> '' GROUP BY {examination} "
            f"HAVING count(DISTINCT nullif({patient}, '')) = 1)"
        )
        group = self._group(f"SELECT count(*), min(n) {without_patient}")
        if group:
            shared = ", ".join(
                f"{column} = (SELECT max({column}) FROM drafts AS others "
                f"WHERE others.{examination} = drafts.{examination})"
                for column in dict.fromkeys(("patient_id", patient))
            )
            self._connection.execute(
                f"UPDATE drafts SET {shared} WHERE n IN (SELECT n {without_patient})"
            )
        return group

    def examinations_that_differ(self, columns: Sequence[str]) -> dict[str, Group]:
        """Return the number of examinations whose items differ, for each column that differs."""
        examination = self._comparable_column("examination_id")
        differing = ", ".join(
            f"count(DISTINCT CASE WHEN is_whole THEN nullif({name}, '') END) > 1 AS {name}_differs"
            for name in columns
        )
        expressions = ", ".join(
            f"count(*) FILTER (WHERE {name}_differs), min(first) FILTER (WHERE {name}_differs)"
            for name in columns
        )
        row = self._connection.execute(
            f"SELECT {expressions} FROM (SELECT min(n) AS first, {differing} FROM drafts "
            f"WHERE {examination} <> '' GROUP BY {examination})"
        ).fetchone()
        return {
            name: Group(n, self._key_of(first))
            for name, n, first in zip(columns, row[::2], row[1::2], strict=True)
            if n
        }

    def _group(self, sql: str) -> Group | None:
        n, first = self._connection.execute(sql).fetchone()
        return Group(n, self._key_of(first)) if n else None

    def _key_of(self, n: int) -> str:
        return str(self._value("SELECT key FROM drafts WHERE n = ?", n))

    def recall_films(self) -> None:
        """Copy the facts known about films; they are valid while a film's file is unchanged."""
        facts = ", ".join(f"{name} = known.{name}" for name in (*_FILM_FACTS, "mtime_ns"))
        self._connection.execute(
            f"UPDATE films SET {facts} FROM known "
            "WHERE known.path = films.path AND known.state = 'sound'"
        )
        self._connection.execute("DROP TABLE known")
        self._connection.commit()

    def mark_missing(self, missing_message: Callable[[str], str | None], remedy: str) -> None:
        """Mark the missing films, with the message that `missing_message` returns for each."""
        self._connection.create_function("absent", 1, missing_message)
        self._connection.execute(
            "UPDATE films SET what = absent(path), remedy = ?, rule = ?", (remedy, _IMAGE_MISSING)
        )
        self._connection.execute("UPDATE films SET state = 'missing' WHERE what IS NOT NULL")
        self._connection.commit()

    def respell_missing(
        self, other_spelling: Callable[[str], str | None]
    ) -> list[tuple[str, str, str]]:
        """Replace the path of each missing film by that of a file with a similar name, if any.

        Returns
        -------
        list of (path, str, str)
            The path in the bank, the file's path, and the key of the first item that shows it.
        """
        missing = self._connection.execute(
            "SELECT id, path FROM films WHERE state = 'missing' ORDER BY id"
        ).fetchall()
        changed = []
        for film, path in missing:
            if name := other_spelling(path):
                changed.append((path, name, self._first_key_showing(film)))
                self._rename_film(film, name)
        self._connection.commit()
        return changed

    def _first_key_showing(self, film: int) -> str:
        items = " UNION ALL ".join(
            f"SELECT item FROM {table} WHERE film = ?" for table in _FILM_TABLES
        )
        return self._key_of(self._value(f"SELECT min(item) FROM ({items})", film, film))

    def _rename_film(self, film: int, path: str) -> None:
        film_row = self._connection.execute(
            "SELECT id FROM films WHERE path = ?", (path,)
        ).fetchone()
        if film_row is None:
            self._connection.execute(
                "UPDATE films SET path = ?, state = '', what = NULL WHERE id = ?", (path, film)
            )
            return
        for table in _FILM_COLUMN:
            self._connection.execute(
                f"UPDATE {table} SET film = ? WHERE film = ?", (film_row[0], film)
            )
        self._connection.execute("DELETE FROM films WHERE id = ?", (film,))

    def first_key(self) -> str:
        """Return the key of the first item."""
        return str(self._value("SELECT key FROM drafts ORDER BY n LIMIT 1"))

    def unread(self, n: int) -> list[tuple[str, int | None, int | None]]:
        """Return the first unchecked films: path, and size and time when last read."""
        return self._connection.execute(
            "SELECT path, n_bytes, mtime_ns FROM films WHERE state = '' ORDER BY id LIMIT ?", (n,)
        ).fetchall()

    def n_films(self) -> tuple[int, int]:
        """Return the number of checked films and the number of all films."""
        row = self._connection.execute("SELECT total(state <> ''), count(*) FROM films")
        read, n_films = row.fetchone()
        return int(read), n_films

    def keep_films(self, outcomes: Iterable[tuple[str, Film | BadFilm | None, int]]) -> None:
        """Store the facts about films and their files' times; None stands for an unchanged film."""
        rows, known = [], []
        for path, outcome, mtime_ns in outcomes:
            if outcome is None:
                known.append((path,))
                continue
            film = outcome if isinstance(outcome, Film) else None
            bad = outcome if isinstance(outcome, BadFilm) else None
            facts = [getattr(film, name, None) for name in _FILM_FACTS]
            state = "sound" if bad is None else "missing" if bad.rule == _IMAGE_MISSING else "bad"
            reasons = (bad.what, bad.remedy, bad.rule) if bad else (None, None, None)
            rows.append((*facts, mtime_ns, state, *reasons, path))
        changed = (*_FILM_FACTS, "mtime_ns", "state", "what", "remedy", "rule")
        changes = ", ".join(f"{name} = ?" for name in changed)
        self._connection.executemany(f"UPDATE films SET {changes} WHERE path = ?", rows)
        self._connection.executemany("UPDATE films SET state = 'sound' WHERE path = ?", known)
        self._connection.commit()

    def drop_missing_priors(self) -> Group | None:
        """Remove missing prior films from their items."""
        self._remove_missing_films(
            "item_priors",
            "SELECT item FROM item_priors JOIN films ON films.id = film WHERE state = 'missing'",
        )
        return self.shortened()

    def drop_missing_views(self) -> None:
        """Remove missing films from items that have their frontal film."""
        names = ", ".join(f"'{name}'" for name in VIEW_CLASSES["frontal"])
        self._remove_missing_films(
            "item_views",
            "SELECT item FROM (SELECT item, label, state, max(label IN "
            f"({names})) OVER (PARTITION BY item) AS named, max(state = 'missing') OVER "
            "(PARTITION BY item) AS lacking, rank() OVER (PARTITION BY item, label = '' "
            "ORDER BY position) AS place FROM item_views JOIN films ON films.id = film) "
            f"WHERE lacking AND state = 'sound' AND (label IN ({names}) OR "
            "(NOT named AND label = '' AND place = 1)) GROUP BY item",
        )

    def _remove_missing_films(self, table: str, items: str) -> None:
        """Remove the missing films of some items from a table, and renumber the remaining ones."""
        self._connection.executescript(
            f"CREATE TABLE kept AS {items};"
            "INSERT OR IGNORE INTO shortened SELECT item FROM kept;"
            f"CREATE TABLE stays AS SELECT {table}.* FROM {table} JOIN films ON films.id = film "
            "WHERE item IN kept AND state <> 'missing' ORDER BY item, position;"
            f"DELETE FROM {table} WHERE item IN kept;"
            "UPDATE stays SET position = place FROM (SELECT rowid AS n, row_number() OVER "
            "(PARTITION BY item ORDER BY position) AS place FROM stays) AS new "
            "WHERE n = stays.rowid;"
            f"INSERT INTO {table} SELECT * FROM stays;"
            "DROP TABLE stays; DROP TABLE kept;"
        )

    def shortened(self) -> Group | None:
        """Return the items from which films were removed."""
        return self._group(
            "SELECT count(*), min(n) FROM drafts WHERE is_whole "
            "AND n IN (SELECT item FROM shortened)"
        )

    def fault_priors(self, fault: str, remedy: str) -> None:
        """Add a fault to items that show one file as both prior and current film (`{path}`)."""
        self._add_faults_from(
            "SELECT DISTINCT n, key, replace(?, '{path}', prior.path), ?, ? FROM item_priors "
            "CROSS JOIN films AS prior ON prior.id = item_priors.film JOIN item_views USING (item) "
            "JOIN films ON films.id = item_views.film JOIN drafts ON n = item "
            "WHERE films.sha256 = prior.sha256 AND films.id <> prior.id ORDER BY n",
            fault,
            remedy,
            Rule.NO_PRIOR,
        )

    def fault_films(self) -> None:
        """Add a fault to all items with a film that is missing or cannot be shown."""
        self._add_faults_from(
            "SELECT n, key, what, remedy, rule FROM ("
            + " UNION ALL ".join(
                f"SELECT n, key, what, remedy, rule, {place} AS place, position FROM {table} "
                "JOIN films ON films.id = film JOIN drafts ON n = item "
                "WHERE state IN ('missing', 'bad')"
                for place, table in enumerate(_FILM_TABLES)
            )
            + ") ORDER BY n, place, position"
        )

    def n_missing_films(self) -> int:
        """Return the number of missing films."""
        return int(self._value("SELECT count(*) FROM films WHERE state = 'missing'"))

    def flat_films(self, max_side: int) -> list[tuple[str, int, str]]:
        """Return films with one grey level, each with its number of items and the first key."""
        return self._connection.execute(
            "SELECT path, count(*), key FROM ("
            + " UNION ALL ".join(
                f"SELECT films.id AS film, path, key, n FROM films JOIN {table} ON film = films.id "
                "JOIN drafts ON n = item WHERE state = 'sound' AND low = high"
                for table in _FILM_TABLES
            )
            + " ORDER BY n) GROUP BY film LIMIT ?",
            (max_side,),
        ).fetchall()

    def set_spacings(self, tolerance: float, max_items: int) -> list[tuple[str, str]]:
        """Set the spacing of films from their valid items; return some items that disagree."""
        self._connection.executescript(
            "CREATE TABLE agreed AS SELECT film, min(spacings.n) AS first, min(spacing_mm) AS "
            "least, max(spacing_mm) AS most FROM spacings JOIN drafts USING (n) WHERE is_sound "
            "GROUP BY film; CREATE INDEX spacings_of ON spacings (film, n);"
        )
        self._connection.execute(
            "UPDATE films SET spacing_mm = (SELECT spacing_mm FROM spacings JOIN agreed USING "
            "(film) WHERE film = films.id AND spacings.n = first ORDER BY spacings.rowid) "
            "WHERE id IN (SELECT film FROM agreed WHERE most <= least * (1 + ?))",
            (tolerance,),
        )
        return self._connection.execute(
            "SELECT path, key FROM agreed JOIN films ON films.id = film JOIN drafts ON n = first "
            "WHERE most > least * (1 + ?) ORDER BY first LIMIT ?",
            (tolerance, max_items),
        ).fetchall()

    def keep_sound(self) -> None:
        """Delete items with faults and everything that belongs to them."""
        if self._value("SELECT EXISTS (SELECT 1 FROM drafts WHERE NOT is_sound)"):
            columns = {**dict.fromkeys(_FILM_TABLES, "item"), "texts": "n", "unseen": "n"}
            for table, n in columns.items():
                self._connection.execute(
                    f"DELETE FROM {table} WHERE {n} IN (SELECT n FROM drafts WHERE NOT is_sound)"
                )
        self._connection.execute(
            "DELETE FROM films WHERE id NOT IN "
            f"(SELECT film FROM {' UNION SELECT film FROM '.join(_FILM_TABLES)})"
        )
        self._connection.commit()

    def share(self) -> None:
        """Stop writing, and let other processes read the file.

        Raises
        ------
        NotNow
            Another import has opened the file meanwhile.
        """
        self._connection.execute("PRAGMA locking_mode = NORMAL")
        with _import_lock():
            self._connection.execute("SELECT images FROM meta").fetchone()  # releases the file
            self._connection.execute("BEGIN")
            # This locks the file for reading.
            self._connection.execute("SELECT images FROM meta").fetchone()

    def n_faulty(self) -> int:
        """Return the number of records with a fault other than a missing film."""
        return int(
            self._value("SELECT count(DISTINCT n) FROM faults WHERE rule <> ?", _IMAGE_MISSING),
        )

    def every_fault(self) -> Iterator[Fault]:
        """Yield all faults in file order."""
        return self._faults("TRUE", -1)

    def faults(self, max_faults: int = -1) -> Iterator[Fault]:
        """Yield the faults other than missing films, in file order."""
        return self._faults(f"rule <> '{_IMAGE_MISSING}'", max_faults)

    def _faults(self, condition: str, max_faults: int) -> Iterator[Fault]:
        for key, fault, remedy, rule in self._connection.execute(
            f"SELECT key, what, remedy, rule FROM faults WHERE {condition} "
            "ORDER BY n, rowid LIMIT ?",
            (max_faults,),
        ):
            yield Fault(key=key, what=fault, remedy=remedy, rule=Rule(rule))

    def n_faults(self) -> int:
        """Return the number of faults other than missing films."""
        return int(self._value("SELECT count(*) FROM faults WHERE rule <> ?", _IMAGE_MISSING))

    def missing(self, max_faults: int) -> tuple[int, list[Fault]]:
        """Return the number of items with missing films, and the first of these faults."""
        n = self._value("SELECT count(DISTINCT n) FROM faults WHERE rule = ?", _IMAGE_MISSING)
        return int(n), list(self._faults(f"rule = '{_IMAGE_MISSING}'", max_faults))


@contextmanager
def staging(path: Path, images: Path) -> Iterator[Staging]:
    """Open a working file, with the facts about films from an interrupted import of that folder.

    The file is deleted afterwards, unless this import is interrupted too.

    Raises
    ------
    NotNow
        Another import uses the file.
    """
    with closing(_open_locked(path)) as connection:
        try:
            _recreate_tables(connection, str(images.absolute()))
            yield Staging(path, connection)
        except StudyError:
            _remove_file(path)
            raise
        except sqlite3.DatabaseError as error:
            _remove_file(path)
            raise explain_error(error, path) from error
        else:
            _remove_file(path)


@contextmanager
def reading(path: Path) -> Iterator[Transaction]:
    """Open a working file that an import shares (`Staging.share`)."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        add_functions(connection)
        yield Transaction(Database(connection))


def _open_locked(path: Path) -> sqlite3.Connection:
    try:
        with _import_lock():
            return _connect_exclusively(path)
    except sqlite3.DatabaseError:  # the machine crashed while the file was written
        _remove_file(path)
        return _connect_exclusively(path)


@contextmanager
def _import_lock() -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise NotNow(
            t("Another import is under way. Wait until it is done, then try again.")
        ) from error


def _connect_exclusively(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=0)
    try:
        # Data that is lost if the machine crashes is read again.
        connection.execute("PRAGMA page_size = 16384")  # page size of a new file: items are long
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute(LARGE_CACHE)
        add_functions(connection)
        connection.create_function("differing", 2, _describe_difference, deterministic=True)
        connection.executescript("BEGIN EXCLUSIVE; COMMIT")
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


def _describe_difference(text: str, other: str) -> str:
    differs = difference(text, other)
    return f" in ways that look alike ({differs})" if differs else ""


def _remove_file(path: Path) -> None:
    for name in (path, path.with_name(f"{path.name}-journal")):
        name.unlink(missing_ok=True)


def _recreate_tables(connection: sqlite3.Connection, images: str) -> None:
    """Recreate the tables, and keep the facts about films in the table `known`."""
    tables_present = dict(
        connection.execute("SELECT name, type FROM sqlite_master WHERE sql <> ''")
    )
    known = "meta" in tables_present and connection.execute("SELECT images FROM meta").fetchone()
    for name, kind in tables_present.items():
        if kind != "index" and not (name == "films" and known == (images,)):
            connection.execute(f"DROP {kind} {name}")
    if known == (images,):
        connection.execute("ALTER TABLE films RENAME TO known")
    connection.executescript(_TABLES)
    connection.execute("INSERT INTO meta VALUES (?)", (images,))
    if known != (images,):
        connection.execute("CREATE TABLE known AS SELECT * FROM films")
    connection.commit()
