"""Reads a bank's ordinary records column by column, several times as fast as one by one.

A record is ordinary if it has the same keys as most records near it, and no value that causes a
fault or a note. `ItemReader` reads all other records. Both ways produce the same rows.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import chain, compress, count
from typing import Any

from study.bank.fields import MAX_ATTRIBUTE, MAX_TEXT, KeysOfFields, keys_of_fields
from study.bank.items import (
    EXAMINATION_KEYS,
    ItemReader,
    attribute_text,
    split_list,
    why_invalid,
)
from study.bank.options import correct_letters_of_items, options_of_items
from study.bank.terms import age_in_words, sex_in_words, view_label
from study.base.bank_model import REPORT_SECTIONS, Fault
from study.base.canonical import canonical_json_of_each
from study.films import BadFilm
from study.store.staging import Batch
from study.tables.columns import plain_key
from study.tables.source import Record
from study.tables.values import as_list, as_text, as_texts, is_missing

_TEXTS = ("task", "category", "subcategory", "patient_id", "explanation", *REPORT_SECTIONS)
_READ_FIELDS = frozenset(
    {
        *("item_id", "question", "options", "truth", "images", "views", "age", "sex"),
        *("examination_id", *_TEXTS),
    }
)
"""The fields of ordinary records; all others are empty."""

_MIN_RECORDS = 20
"""If there are fewer records, they are read one by one."""

_View = tuple[str, str, str]


def add_entries(
    entries: Sequence[Record | Fault], reader: ItemReader, batch: Batch, split: str
) -> None:
    """Add the entries of a file to an empty batch.

    The first ordinary record is read like an unusual one, so that rows and notes are in the order
    of first occurrence.
    """
    items = _ordinary_items(entries, reader.locate)
    columns = items.columns(split) if items else {"n": []}
    ordinary = set(columns["n"])
    for n, entry in enumerate(entries, 1):
        if n in ordinary:
            continue
        if isinstance(entry, Record):
            batch.add(n, reader.draft(entry, split))
        else:
            batch.add_fault(n, entry)
    batch.n = len(entries)
    if items and ordinary:
        batch.add_columns(columns)
        reader.note_unknown(items.unknown, columns["item_id"][0], len(ordinary))


def _ordinary_items(
    entries: Sequence[Record | Fault], locate: Callable[[str], str]
) -> "_OrdinaryItems | None":
    """Return the records with the most frequent keys, or None if these keys are not ordinary."""
    keys = [
        tuple(entry.value) if isinstance(entry, Record) and type(entry.value) is dict else ()
        for entry in entries
    ]
    if len(keys) < _MIN_RECORDS:
        return None
    most_frequent = keys[0]
    if keys.count(most_frequent) <= len(keys) // 2:
        most_frequent = Counter(keys).most_common(1)[0][0]
    fields = keys_of_fields(most_frequent)
    if (
        not most_frequent
        or fields.repeated
        or any(
            len(spellings) > 1 and field != "examination_id"
            for field, spellings in fields.by_field.items()
        )
    ):
        return None
    has_keys = [own_id == most_frequent for own_id in keys]
    records: list[Any] = list(compress(entries, has_keys))
    return _OrdinaryItems(list(compress(count(1), has_keys)), records, fields, locate)


class _OrdinaryItems:
    """The columns of records with the same keys.

    Each method reads one or more columns, and marks the records with unusual values in them.
    """

    def __init__(
        self,
        numbers: Sequence[int],
        records: Sequence[Record],
        fields: KeysOfFields,
        locate: Callable[[str], str],
    ) -> None:
        self._numbers = numbers
        self._keys = [record.key for record in records]
        values: list[Any] = [record.value for record in records]
        self._columns: dict[str, tuple[object, ...]] = dict(
            zip(values[0], zip(*(value.values() for value in values), strict=True), strict=True)
        )
        self._fields = fields
        self._locate = locate
        self._unusual = {0}
        self.unknown = fields.unknown

    def columns(self, split: str) -> dict[str, list[Any]]:
        """Return the columns of the ordinary items by their names in the working file."""
        for field in self._fields.by_field.keys() - _READ_FIELDS:
            self._mark_unusual(not is_missing(value) for value in self._column(field))
        options = options_of_items(self._text_lists("options", as_list))
        self._mark_unusual(not texts for texts in options)
        truths = correct_letters_of_items(self._texts("truth"), options)
        self._mark_unusual(truth is None for truth in truths)
        columns: dict[str, Iterable[Any]] = {
            "n": self._numbers,
            "item_id": self._item_ids(),
            "question": self._questions(),
            "options": canonical_json_of_each(options),
            "truth": [truth or None for truth in truths],
            "views": self._views(),
            "age": self._in_words("age", age_in_words),
            "sex": self._in_words("sex", sex_in_words),
            "attributes": self._attributes(split),
            **self._examination_ids(),
            **{name: self._texts(name) for name in _TEXTS},
        }
        is_ordinary = [n not in self._unusual for n in range(len(self._numbers))]
        return {name: list(compress(column, is_ordinary)) for name, column in columns.items()}

    def _mark_unusual(self, is_unusual: Iterable[object]) -> None:
        self._unusual.update(compress(count(), is_unusual))

    def _column(self, field: str) -> Sequence[object]:
        for key in self._fields.by_field.get(field, ()):
            return self._columns[key]
        return (None,) * len(self._numbers)

    def _texts(self, field: str) -> list[str]:
        return self._as_texts(self._column(field))

    def _as_texts(self, column: Sequence[object]) -> list[str]:
        """Return a column as texts; values that are too long or not text are unusual."""
        texts = as_texts(column)
        try:
            longest = max(map(len, column))  # type: ignore[arg-type]
        except TypeError:
            longest = MAX_TEXT + 1
        if longest > MAX_TEXT:
            self._mark_unusual(isinstance(value, str) and len(value) > MAX_TEXT for value in column)
        if None in texts:
            self._mark_unusual(text is None for text in texts)
        return [text or "" for text in texts]

    def _text_lists(
        self, field: str, read: Callable[[object], list[object] | None]
    ) -> list[Sequence[str]]:
        """Return a column as lists of texts; entries that are too long or not text are unusual."""
        column = self._column(field)
        lists: list[Any] = [value if type(value) is list else read(value) or [] for value in column]
        entries = [*chain.from_iterable(lists), *(v for v in column if isinstance(v, str))]
        if set(map(type, entries)) <= {str} and max(map(len, entries), default=0) <= MAX_TEXT:
            return lists
        is_unusual = [
            any(not isinstance(entry, str) or len(entry) > MAX_TEXT for entry in entries)
            or (isinstance(value, str) and len(value) > MAX_TEXT)
            for value, entries in zip(column, lists, strict=True)
        ]
        self._mark_unusual(is_unusual)
        return [[] if bad else entries for bad, entries in zip(is_unusual, lists, strict=True)]

    def _item_ids(self) -> list[str]:
        inside, keys = self._texts("item_id"), self._as_texts(self._keys)
        item_ids = [key or own_id for key, own_id in zip(keys, inside, strict=True)]
        self._mark_unusual(map(why_invalid, item_ids))
        self._mark_unusual(
            own_id and own_id != item_id for own_id, item_id in zip(inside, item_ids, strict=True)
        )
        return item_ids

    def _questions(self) -> list[str]:
        self._mark_unusual(not isinstance(value, str) for value in self._column("question"))
        questions = self._texts("question")
        self._mark_unusual(not text for text in questions)
        return questions

    def _in_words(self, field: str, in_words: Callable[[str], tuple[str, bool]]) -> list[str]:
        texts = self._texts(field)
        worded = {text: in_words(text) for text in set(texts)}
        self._mark_unusual(not worded[text][1] for text in texts)
        return [worded[text][0] for text in texts]

    def _examination_ids(self) -> dict[str, list[str | None]]:
        """Return the examination ids from each key that a file may have for them."""
        ids: dict[str, list[str | None]] = {
            plain_key(key): [text or None for text in self._as_texts(self._columns[key])]
            for key in self._fields.by_field.get("examination_id", ())
        }
        absent: list[str | None] = [None] * len(self._numbers)
        return {f"examination_{n}": ids.get(key, absent) for n, key in enumerate(EXAMINATION_KEYS)}

    def _attributes(self, split: str) -> list[str]:
        columns = {"split": [split] * len(self._numbers)} if split else {}
        for key, name in self._fields.others:
            column = self._columns[key]
            texts = as_texts(column)
            if None in texts:
                texts = [
                    attribute_text(value) if text is None else text
                    for text, value in zip(texts, column, strict=True)
                ]
                self._mark_unusual(text is None for text in texts)
            longest = MAX_ATTRIBUTE - len(name) if name else 0
            lengths = [len(text or "") for text in texts]
            if max(lengths) > longest:
                self._mark_unusual(length > longest for length in lengths)
            if name in columns:  # the record's split takes precedence over that of the file
                texts = [text or split for text in texts]
            columns[name or ""] = [text or "" for text in texts]
        if not columns:
            return [""] * len(self._numbers)
        names = tuple(columns)
        attributes = [
            {name: text for name, text in zip(names, row, strict=True) if text}
            if "" in row
            else dict(zip(names, row, strict=True))
            for row in zip(*columns.values(), strict=True)
        ]
        return ["" if text == "{}" else text for text in canonical_json_of_each(attributes)]

    def _views(self) -> list[tuple[_View, ...]]:
        """Return path, label and original label of each item's views; empty for unusual items."""
        read = cache(self._views_of)
        views = [
            read(tuple(paths), tuple(terms))
            for paths, terms in zip(
                self._text_lists("images", split_list),
                self._text_lists("views", split_list),
                strict=True,
            )
        ]
        self._mark_unusual(not item_views for item_views in views)
        return views

    def _views_of(self, paths: Sequence[str], terms: Sequence[str]) -> tuple[_View, ...]:
        if terms and len(terms) != len(paths):
            return ()
        views: dict[str, _View] = {}
        for path, term in zip(paths, terms or [""] * len(paths), strict=True):
            text, written = as_text(path), as_text(term)
            label, is_understood = view_label(written or "")
            if not text or written is None or not is_understood:
                return ()
            try:
                inside = self._locate(text)
            except BadFilm:
                return ()
            views[inside] = (inside, label, written if written != label else "")
        return tuple(views.values()) if len(views) == len(paths) else ()
