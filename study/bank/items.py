"""Converts a record of a bank file to an item, or to a list of faults."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from study.bank.fields import (
    MAX_ATTRIBUTE,
    SPELLINGS,
    Fields,
    Notes,
    Trouble,
)
from study.bank.images import ImageFolder
from study.bank.measures import read_days, read_spacings, spacings_by_path
from study.bank.options import note_on_letters, read_options, read_truth
from study.bank.terms import age_in_words, context_parts, sex_in_words, view_label
from study.base.bank_model import REPORT_SECTIONS, Fault, Item, Prior, Rule, View
from study.base.canonical import canonical_json
from study.films import BadFilm
from study.tables.columns import plain_key
from study.tables.source import Record
from study.tables.values import as_list, as_text, is_missing, quoted_value

LONGEST_ID = 500
_INVISIBLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
EXAMINATION_KEYS = tuple(plain_key(name) for name in SPELLINGS["examination_id"])


@dataclass(slots=True, kw_only=True)
class ItemDraft:
    """An item that is being read: the values and faults so far."""

    key: str
    item_id: str
    trouble: Trouble
    views: tuple[View, ...] = ()
    priors: tuple[Prior, ...] = ()
    examination_ids: tuple[str | None, ...] = (None,) * len(EXAMINATION_KEYS)
    patient_id: str = ""
    has_truth: bool = True
    spacings_mm: Mapping[str, Sequence[float]] = field(default_factory=dict)
    item: Item | None = None

    @property
    def faults(self) -> list[Fault]:
        """All faults so far."""
        return self.trouble.faults


class ItemReader:
    """Converts the records of a bank into drafts of items.

    Parameters
    ----------
    folder : ImageFolder
        The images folder.
    notes : Notes
        Collects notes on values that were not understood.

    Attributes
    ----------
    has_truth : bool
        Whether any record so far had a field for the reference standard.
    has_items : bool
        Whether any record so far was an object with fields.
    has_place_keys : bool
        Whether any record so far is identified only by its position.
    """

    def __init__(self, folder: ImageFolder, notes: Notes) -> None:
        self.locate = lru_cache(maxsize=64)(
            folder.locate
        )  # an examination usually has several questions
        self._notes = notes
        self.has_truth = self.has_items = self.has_place_keys = False

    def draft(self, record: Record, split: str = "") -> ItemDraft:
        """Read one record.

        Parameters
        ----------
        record : Record
            Any value; a value that is not an object with fields is a fault.
        split : str
            The split of the record's file; a split in the record itself takes precedence.

        Returns
        -------
        ItemDraft
            The draft, which has an item unless there are faults; films are not read.
        """
        if not isinstance(record.value, dict):
            trouble = Trouble(key_for_messages(record.key) or record.place)
            trouble.add(
                f"not an item but {quoted_value(record.value)}",
                "give an object of fields",
                Rule.RECORD,
            )
            self.has_place_keys = self.has_place_keys or not key_for_messages(record.key)
            return ItemDraft(key=trouble.key, item_id="", trouble=trouble)
        self.has_items = True
        fields = Fields(record.value)
        item_id = item_id_of(record, fields) or ""
        id_fault = why_invalid(item_id)
        trouble = Trouble(record.place if id_fault else item_id)
        self.has_place_keys = self.has_place_keys or bool(id_fault)
        draft = ItemDraft(key=trouble.key, item_id="" if id_fault else item_id, trouble=trouble)
        if id_fault:
            trouble.add(id_fault, "give each item an id of its own, as text", Rule.NO_ID)
        self._note_keys(record, fields, draft)
        self._read_fields(fields, draft, split)
        return draft

    def note_unknown(self, keys: Iterable[str], item: str, n: int = 1) -> None:
        """Note unknown keys of an item, or of `n` items."""
        for key in keys:
            self._notes.add(f"unknown key {quoted_value(key)} kept as an attribute", item, n)

    def _note_keys(self, record: Record, fields: Fields, draft: ItemDraft) -> None:
        if fields.repeated_keys:
            repeated = ", ".join(map(quoted_value, fields.repeated_keys))
            draft.trouble.add(f"keys given twice: {repeated}", "keep one of each", Rule.KEYS_TWICE)
        for key, n_characters, max_characters in fields.too_long():
            draft.trouble.add(
                f"{quoted_value(key)} has {n_characters:,} characters, "
                f"more than {max_characters:,}",
                "shorten it; a whole report or another file may have got into it",
                Rule.TOO_LONG,
            )
        self.note_unknown(fields.unknown, draft.key)
        item_id = fields.first("item_id")
        if record.key and item_id is not None and as_text(item_id) != as_text(record.key):
            self._notes.add(
                "an id inside the item differs from its key; the key is used", draft.key
            )

    def _read_fields(self, fields: Fields, draft: ItemDraft, split: str) -> None:
        trouble = draft.trouble
        question = _required_text(fields, "question", trouble)
        if question == "":
            trouble.add("no question", "give the question's text", Rule.NO_QUESTION)
        options = read_options(fields, trouble)
        if kept_options := note_on_letters(options):
            self._notes.add(kept_options, draft.key)
        self.has_truth = self.has_truth or "truth" in fields
        draft.has_truth = fields.first("truth") is not None
        truth = read_truth(fields, options, trouble)
        draft.views = self._views(fields, draft)
        draft.priors = self._priors(fields, draft)
        texts = {name: _required_text(fields, name, trouble) or "" for name in _PLAIN_FIELDS}
        draft.patient_id = texts["patient_id"]
        draft.examination_ids = self._examination_ids(fields, trouble)
        report, context = self._report(fields, draft)
        age = self._in_words("age", fields, context, draft)
        sex = self._in_words("sex", fields, context, draft)
        explanation = self._unseen_text(fields, "explanation", draft)
        attributes = self._attributes(fields, draft, split)
        if trouble.faults:
            return
        draft.item = Item(
            item_id=draft.item_id,
            question=question or "",
            options=options,
            truth=truth,
            task=texts["task"],
            category=texts["category"],
            subcategory=texts["subcategory"],
            examination_id="",  # set when all items are known
            patient_id=draft.patient_id,
            age=age,
            sex=sex,
            views=draft.views,
            report=report,
            explanation=explanation,
            attributes=attributes,
            priors=draft.priors,
        )

    def _attributes(self, fields: Fields, draft: ItemDraft, split: str) -> dict[str, str]:
        attributes = {"split": split} if split else {}
        for key, name, value in fields.others():
            text = attribute_text(value)
            if not name or text is None or len(name) + len(text) > MAX_ATTRIBUTE:
                self._notes.add(f"{quoted_value(key)} is too long or not text, left out", draft.key)
            else:
                attributes[name] = text
        return attributes

    def _examination_ids(self, fields: Fields, trouble: Trouble) -> tuple[str | None, ...]:
        ids: dict[str, str] = {}
        for key, value in fields.given("examination_id"):
            text = as_text(value)
            if text is None:
                trouble.add(
                    f"{key} is not text: {quoted_value(value)}", "write it as text", Rule.NOT_TEXT
                )
            else:
                ids[plain_key(key)] = text
        return tuple(map(ids.get, EXAMINATION_KEYS))

    def _views(self, fields: Fields, draft: ItemDraft) -> tuple[View, ...]:
        entries = split_list(fields.first("images"))
        if not entries:
            draft.trouble.add("no image", "name at least one image file", Rule.NO_IMAGE)
            return ()
        view_names = self._image_paths(entries, fields, draft, "")
        views: dict[str, View] = {}
        for path, label, original, _ in view_names:
            views.setdefault(path, View(path=path, label=label, original=original))
        return tuple(views.values())

    def _priors(self, fields: Fields, draft: ItemDraft) -> tuple[Prior, ...]:
        """Return the prior films, with intervals in days instead of dates."""
        entries = split_list(fields.first("prior_images"))
        if not entries:
            values = map(fields.first, ("prior_views", "prior_days", "prior_date"))
            if any(value is not None for value in values):
                self._notes.add("a prior view or interval without a prior image", draft.key)
            return ()
        days = read_days(fields, len(entries), self._notes, draft.trouble)
        current = {view.path for view in draft.views}
        priors: dict[str, Prior] = {}
        for path, label, original, place in self._image_paths(entries, fields, draft, "prior_"):
            if path in current:
                draft.trouble.add(
                    f"image {quoted_value(path, 160)} is both a current and a prior one",
                    "name the image of the earlier examination, or none",
                    Rule.NO_PRIOR,
                )
            priors.setdefault(
                path, Prior(path=path, label=label, original=original, days=days[place])
            )
        return tuple(priors.values())

    def _image_paths(
        self, entries: Sequence[object], fields: Fields, draft: ItemDraft, kind: str
    ) -> list[tuple[str, str, str, int]]:
        """Return the path, label, original label and index of each image of an item."""
        labels = self._labels(fields, len(entries), draft, f"{kind}views")
        spacings = read_spacings(
            fields, len(entries), self._notes, draft.key, f"{kind}pixel_spacing"
        )
        images: list[tuple[str, str, str, int]] = []
        spacings_by_image: list[tuple[str, float | None]] = []
        for place, (path, (label, original), spacing_mm) in enumerate(
            zip(entries, labels, spacings, strict=True)
        ):
            text = as_text(path)
            if not text:
                draft.trouble.add(
                    f"image path {quoted_value(path)} is not text",
                    "give a path as text",
                    Rule.NO_IMAGE,
                )
                continue
            try:
                inside = self.locate(text)
            except BadFilm as bad:
                draft.trouble.add(bad.what, bad.remedy, bad.rule)
                continue
            if any(inside == image[0] for image in images):
                self._notes.add("an image listed twice is shown once", draft.key)
            images.append((inside, label, original, place))
            spacings_by_image.append((inside, spacing_mm))
        draft.spacings_mm = {**draft.spacings_mm, **spacings_by_path(spacings_by_image)}
        return images

    def _labels(
        self, fields: Fields, n_images: int, draft: ItemDraft, name: str
    ) -> list[tuple[str, str]]:
        """Return the images' view labels, each with the original label if it differs.

        If there are more or fewer labels than images, all are dropped.
        """
        labels_in_file = [as_text(label) for label in split_list(fields.first(name))]
        if labels_in_file and len(labels_in_file) != n_images:
            self._notes.add("view labels dropped: not one per image", draft.key)
        if len(labels_in_file) != n_images:
            return [("", "")] * n_images
        labels = []
        for text in labels_in_file:
            label, understood = view_label(text or "")
            if text is None or not understood:
                unknown = quoted_value(text or "")
                self._notes.add(f"view name {unknown} not known, not shown to readers", draft.key)
            labels.append((label, text if text and text != label else ""))
        return labels

    def _report(self, fields: Fields, draft: ItemDraft) -> tuple[dict[str, str], dict[str, str]]:
        labels_in_file = fields.first("context")
        context: dict[str, str] = {}
        if isinstance(labels_in_file, dict):
            inner = Fields(labels_in_file)
            values = {name: as_text(inner.first(name)) for name in ("age", "sex", *REPORT_SECTIONS)}
            context = {name: text for name, text in values.items() if text}
        elif labels_in_file is not None:
            context = context_parts(self._unseen_text(fields, "context", draft))
        if labels_in_file is not None and not context:
            self._notes.add("context not understood, left out", draft.key)
        report = {
            name: self._unseen_text(fields, name, draft) or context.get(name, "")
            for name in REPORT_SECTIONS
        }
        return {name: text for name, text in report.items() if text}, context

    def _in_words(
        self, name: str, fields: Fields, context: dict[str, str], draft: ItemDraft
    ) -> str:
        value = fields.first(name)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        text = as_text(value if value is not None else context.get(name))
        worded, understood = (age_in_words if name == "age" else sex_in_words)(text or "")
        if text is None or not understood:
            outcome = "kept as given" if worded else "left empty"
            self._notes.add(
                f"{name} {quoted_value(value if text is None else text)} {outcome}", draft.key
            )
        return worded

    def _unseen_text(self, fields: Fields, name: str, draft: ItemDraft) -> str:
        """Return a text that readers do not see; omit and record values that are not text."""
        if text := fields.text(name):
            return text
        value = fields.first(name)
        lines = [as_text(line) for line in value] if isinstance(value, list) else [as_text(value)]
        if None in lines:
            self._notes.add(f"{name} is not text, left out", draft.key)
        return "\n".join(line for line in lines if line)


def attribute_text(value: object) -> str | None:
    """Return a JSON value as text, or None if that is impossible, for example for Infinity."""
    if isinstance(value, int | str):
        return as_text(value)
    try:
        return as_text(canonical_json(value))
    except ValueError:
        return None


_PLAIN_FIELDS = ("task", "category", "subcategory", "patient_id")


def item_id_of(record: Record, fields: Fields) -> str | None:
    """Return a record's ID from its key or a field; empty if absent, None if not text."""
    return as_text(record.key) if record.key else as_text(fields.first("item_id"))


def why_invalid(item_id: str) -> str:
    """Return why an ID is invalid; empty if it is valid."""
    if not item_id:
        return "no item id"
    if len(item_id) > LONGEST_ID:
        size = f"{len(item_id):,} characters, more than {LONGEST_ID}"
        return f"item id {quoted_value(item_id)} has {size}"
    if not item_id.isprintable() and _INVISIBLE.search(item_id):
        return (
            f"item id {quoted_value(item_id)} contains a line break or another invisible character"
        )
    return ""


def key_for_messages(key: str) -> str:
    """Return a key for fault messages; empty if it is not text."""
    return as_text(key) or ""


def _required_text(fields: Fields, name: str, trouble: Trouble) -> str | None:
    """Return a text field, which may be a list of one text, or None after a fault."""
    text = fields.text(name)
    if text and name != "question":
        return text
    value = fields.first(name)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
        text = as_text(value)
    if text is None or (name == "question" and not isinstance(value, str) and text):
        trouble.add(
            f"{name.replace('_', ' ')} is not text: {quoted_value(value)}",
            "write it as text",
            Rule.NOT_TEXT,
        )
        return None
    return text


def split_list(value: object) -> list[object]:
    """Return the entries of a list, or of a text with brackets or with the separator `|` or `;`."""
    if is_missing(value):
        return []
    entries = as_list(value)
    if entries is not None:
        return entries
    if isinstance(value, str):
        separator = "|" if "|" in value else ";"
        return [part.strip() for part in value.split(separator)]
    return [value]
