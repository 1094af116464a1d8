"""Question banks from files: every item validated, every film decoded, every fault listed.

`source` reads files of records, `fields` knows the keys, `terms` the codes, `options` the letters,
`images` the folder, `spacing` the pixels' size, `items` puts an item together, `examinations` puts
items together; `model` says what comes out.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Literal

from study.bank.examinations import settle_examinations
from study.bank.fields import OPTION_FIELDS, Fields, Notes, has_field
from study.bank.images import ImageFolder, Outcome
from study.bank.items import ItemDraft, ItemReader
from study.bank.source import Source, SourceFormat, read_source
from study.bank.spacing import settle_spacings
from study.base.bank_model import BankFile, Fault, Film, Item, View
from study.base.bank_rules import Rule
from study.base.errors import BadFile

__all__ = ["BankFile", "BankFormat", "Fault", "Film", "Item", "View", "read_bank"]

BankFormat = Literal["rexvqa", "csv"]


def read_bank(
    path: Path,
    *,
    images: Path,
    format: BankFormat | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> BankFile:
    """Read and validate a question bank.

    Parameters
    ----------
    path : Path
        The bank file; its layout is described in ``docs/bank-format.md``.
    images : Path
        The folder that holds the images.
    format : {"rexvqa", "csv"}, optional
        Taken from the file's ending, else from its first character.
    progress : callable, optional
        Called with the number of films read and their number in all.

    Returns
    -------
    BankFile
        Sound items with their films, and every fault of every other item.

    Raises
    ------
    BadFile
        When the file as a whole, or the images folder, cannot be read.
    """
    folder = ImageFolder(images)
    source = read_source(path, format=_source_format(path, format), is_record=_is_item)
    if source.format == "csv":
        _check_columns(path, source)
    elif not any(isinstance(record.value, dict) for record in source.records):
        raise BadFile(f"{path} holds no items; give an object of items by id, or a list of items")
    notes = Notes()
    reader = ItemReader(folder, has_truth=_has_truth(source), notes=notes)
    drafts = [reader.draft(record) for record in source.records]
    outcomes = folder.read_all((view.path for draft in drafts for view in draft.views), progress)
    _check_ids(drafts)
    _check_films(drafts, outcomes, notes)
    settle_examinations(drafts, notes)
    sound = [draft for draft in drafts if draft.item and not draft.faults]
    items = tuple(draft.item for draft in sound if draft.item)
    spacings_mm = settle_spacings(sound, notes)
    return BankFile(
        format="csv" if source.format == "csv" else "rexvqa",
        sha256=source.sha256,
        items=items,
        films=_films(items, outcomes, spacings_mm),
        faults=source.faults + tuple(fault for draft in drafts for fault in draft.faults),
        notes=notes.lines(),
        n_found=len(source.records) + len(source.faults),
    )


def _source_format(path: Path, format: BankFormat | None) -> SourceFormat | None:
    if format == "csv":
        return "csv"
    if format == "rexvqa":
        return "jsonl" if path.suffix.lower() in (".jsonl", ".ndjson") else "json"
    return None


def _is_item(found: dict[str, object]) -> bool:
    fields = Fields(found)
    return isinstance(fields.first("question"), str) and "options" in fields


def _check_columns(path: Path, source: Source) -> None:
    wanted = {
        "item_id": ("item_id",),
        "question": ("question",),
        "options (or option_a, option_b, ...)": ("options", OPTION_FIELDS[0]),
        "images": ("images",),
    }
    absent = [name for name, fields in wanted.items() if not has_field(source.columns, *fields)]
    if absent:
        raise BadFile(
            f"{path} has no column {', '.join(absent)}; its header is"
            f" {', '.join(source.columns) or 'empty'}; name the columns as docs/bank-format.md says"
        )


def _has_truth(source: Source) -> bool:
    """Whether the bank has a reference standard: a column, or a key in any item."""
    if source.columns:
        return has_field(source.columns, "truth")
    return any(
        isinstance(record.value, dict) and has_field(record.value, "truth")
        for record in source.records
    )


def _check_ids(drafts: Iterable[ItemDraft]) -> None:
    counts = Counter(draft.item_id for draft in drafts if draft.item_id)
    told: set[str] = set()
    for draft in drafts:
        if counts[draft.item_id] > 1:
            draft.item = None
            if draft.item_id not in told:
                draft.trouble.add(
                    f"item id given {counts[draft.item_id]} times",
                    "give each item its own id",
                    Rule.SAME_ID,
                )
                told.add(draft.item_id)


def _check_films(drafts: Iterable[ItemDraft], outcomes: dict[str, Outcome], notes: Notes) -> None:
    for draft in drafts:
        for view in draft.views:
            outcome = outcomes[view.path]
            if not isinstance(outcome, Film):
                draft.trouble.add(outcome.what, outcome.remedy, outcome.rule)
            elif outcome.low == outcome.high:
                notes.add(f"image {view.path} has one grey level only", draft.key)


def _films(
    items: Iterable[Item], outcomes: dict[str, Outcome], spacings_mm: dict[str, float]
) -> dict[str, Film]:
    paths = dict.fromkeys(view.path for item in items for view in item.views)
    found = {path: outcomes[path] for path in paths}
    return {
        path: replace(film, spacing_mm=spacings_mm.get(path))
        for path, film in found.items()
        if isinstance(film, Film)
    }
