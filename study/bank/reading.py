"""Reads a bank's files into a working file, in which items are checked against each other."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import file_digest
from itertools import islice
from pathlib import Path
from typing import Literal

from study.bank.fields import (
    OPTION_FIELDS,
    SPELLINGS,
    Fields,
    Notes,
    has_field,
    kind_of,
)
from study.bank.images import NOT_FOUND_REMEDY, ImageFolder
from study.bank.items import ItemReader
from study.bank.layout import Part
from study.bank.measures import TOLERANCE
from study.bank.ordinary import add_entries
from study.bank.workers import map_in_order, max_workers
from study.base.bank_model import Fault
from study.base.canonical import joint_sha256
from study.base.errors import BadFile
from study.base.provenance import UNKNOWN_PROVENANCE, Provenance
from study.base.text import difference
from study.store.staging import Batch, Group, Staging, staging
from study.tables.columns import column_list
from study.tables.source import OpenSource, Piece, Record, SourceFormat, open_source
from study.tables.text_file import open_bytes
from study.tables.values import quoted_value

BankFormat = Literal["rexvqa", "csv"]
MissingImages = Literal["refuse", "drop", "frontal"]
OnProgress = Callable[[str, int, int], None]
"""Called with a step (`items` in bytes, or `films`), the amount done, and the total."""

_TABLE_FORMATS = ("csv", "xlsx")
MAX_NOTED = 1_000
_FEW_FILMS = 2_000
"""Up to this number of films, all are read even if the bank will be refused, to list all faults."""

_FILMS_PER_BATCH = 64
_RECORDS_PER_BATCH = 1_000
_MIN_BYTES_FOR_WORKERS = 8 << 20
"""Worker processes, which take 10 to 50 ms to start, are used for banks of at least this size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """Options of an import.

    Attributes
    ----------
    format : {"rexvqa", "csv"}, optional
        The format; by default it is recognised by a file's extension or first character.
    missing_images : {"refuse", "drop", "frontal"}, optional
        How to treat items with missing films: report a fault, leave them out, or import them
        without these films if a frontal film exists. Items with missing prior films are imported
        without them, unless missing films are refused. The default is "drop" with `skip_faulty`,
        otherwise "refuse".
    skip_faulty : bool
        Whether to import the valid items even if others have faults; all films are then read.
    simulated : bool
        Whether the films are simulated radiographs, which every screen that shows them states.
    provenance : Provenance
        Source and terms of use of the bank, included in every export of its content.
    scale : float
        Factor by which DICOM images are reduced, from 0.05 to 1. A factor below 1 is recorded with
        every item (`rendition`).
    allow_possible_identifiers : bool
        Whether to import, with a note, rows of a DICOM folder that contain words that may be part
        of a name or ordinary words.
    progress : callable, optional
        Called during the import to report progress.
    n_workers : int, optional
        The number of processes for a large file; by default, one more than the number of
        processors. The result does not depend on it.
    """

    format: BankFormat | None = None
    missing_images: MissingImages | None = None
    skip_faulty: bool = False
    simulated: bool = False
    provenance: Provenance = UNKNOWN_PROVENANCE
    scale: float = 1.0
    allow_possible_identifiers: bool = False
    progress: OnProgress | None = None
    n_workers: int | None = None

    @property
    def missing(self) -> MissingImages:
        """Return how to treat items with missing films."""
        return self.missing_images or ("drop" if self.skip_faulty else "refuse")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadBank:
    """A bank as read from its files.

    Attributes
    ----------
    format : str
        `rexvqa` or `csv`.
    sha256 : str
        Hash of the file's bytes in hexadecimal; for several files, of their hashes, one per line.
    staged : Staging
        The valid items and their films, and the faults of the other items.
    notes : tuple of str
        Counts of values that were not understood, and decisions made.
    n_missing : int
        The number of missing films.
    shortened : Group or None
        The items imported without some of their films, which are missing.
    n_unseen : int
        The number of films that were not read because the bank already has faults.
    n_workers : int
        The number of worker processes used.
    """

    format: str
    sha256: str
    staged: Staging
    notes: tuple[str, ...]
    n_missing: int
    shortened: Group | None
    n_unseen: int
    n_workers: int


@contextmanager
def read_bank(
    parts: Sequence[Part],
    *,
    images: Path,
    work: Path,
    options: ImportOptions,
) -> Iterator[ReadBank]:
    """Read and validate a question bank; the result can be queried within the context.

    Parameters
    ----------
    parts : sequence of Part
        The files of one bank; ``docs/bank-format.md`` describes their format.
    images : Path
        The images folder.
    work : Path
        The working file. If an interrupted import left one, it is reused.
    options : ImportOptions
        The options of the import.

    Raises
    ------
    BadFile
        A file, or the images folder, cannot be read.
    NotNow
        Another import uses the working file.
    """
    on_progress: OnProgress = options.progress or (lambda *_: None)
    n_workers = max_workers() if options.n_workers is None else options.n_workers
    folder, notes = ImageFolder(images), Notes()
    with staging(work, images) as staged:
        reading = _BankReader(folder=folder, staged=staged, notes=notes, n_workers=n_workers)
        sources = _read_items(parts, options.format, reading, on_progress)
        if reading.has_truth:
            staged.fault_truthless("no correct answer", "give the letter of the correct option")
        staged.fault_same_ids("item id given {n} times", "give each item its own id")
        _set_examinations(staged, notes)
        _note_respellings(staged, notes)
        refused = not options.skip_faulty and staged.n_faults() > 0
        n_unseen = _read_films(
            folder, staged, notes, on_progress, refused=refused, missing=options.missing
        )
        without_prior = None if options.missing == "refuse" else staged.drop_missing_priors()
        if without_prior:
            note = "prior image not found, item imported without it"
            notes.add(note, without_prior.first, without_prior.n)
        if options.missing == "frontal":
            staged.drop_missing_views()
        shortened = staged.shortened()
        staged.fault_films()
        staged.fault_priors(
            "prior image {path} is the same file as a current one",
            "name the image of the earlier examination, or none",
        )
        for path, n, key in staged.flat_films(MAX_NOTED):
            notes.add(f"image {path} has one grey level only", key, n)
        for path, key in staged.set_spacings(TOLERANCE, MAX_NOTED):
            notes.add(f"pixel spacings of image {path} differ, left unknown", key)
        n_missing = staged.n_missing_films()
        staged.keep_sound()
        staged.share()
        yield ReadBank(
            format="csv" if sources[0][0] in _TABLE_FORMATS else "rexvqa",
            sha256=joint_sha256([digest for _, digest in sources]),
            staged=staged,
            notes=notes.lines(),
            n_missing=n_missing,
            shortened=shortened,
            n_unseen=n_unseen,
            n_workers=reading.n_workers,
        )


def sha256_of_files(parts: Sequence[Part]) -> str:
    """Return the hash that identifies a bank's files.

    Raises
    ------
    BadFile
        A file cannot be read.
    """
    hashes = []
    for part in parts:
        with open_bytes(part.path) as file:
            hashes.append(file_digest(file, "sha256").hexdigest())
    return joint_sha256(hashes)


def _read_items(
    parts: Sequence[Part],
    format: BankFormat | None,
    reading: "_BankReader",
    on_progress: OnProgress,
) -> list[tuple[SourceFormat, str]]:
    total = sum(part.path.stat().st_size for part in parts if part.path.is_file())
    if total < _MIN_BYTES_FOR_WORKERS:
        reading.n_workers = 0
    sources, n_bytes = [], 0
    for part in parts:
        source_format = _source_format(part.path, format)
        with open_source(
            part.path, format=source_format, is_record=_is_item, kind_of=kind_of
        ) as source:
            reading.read(part, source, partial(_report_bytes, on_progress, n_bytes, total))
            sources.append((source.format, source.sha256))
            n_bytes += source.n_bytes_read
    return sources


@dataclass(slots=True, kw_only=True)
class _Drafts:
    """The drafts of a batch of records, and notes on them."""

    batch: Batch
    notes: Notes
    has_items: bool
    has_truth: bool
    has_place_keys: bool
    """Whether any record is identified only by its position in the file."""


@dataclass(slots=True, kw_only=True)
class _BankReader:
    """Reads the files of a bank into a working file."""

    folder: ImageFolder
    staged: Staging
    notes: Notes
    n_workers: int
    has_truth: bool = False
    has_items: bool = False

    def read(self, part: Part, source: OpenSource, on_read: Callable[[int], None]) -> None:
        is_table = source.format in _TABLE_FORMATS
        if is_table:
            _check_columns(source)
        self.has_items = False
        entries = iter(source.entries)
        self._add_drafts(self._draft(part, list(islice(entries, 1))))
        self._read_pieces(part, source, on_read)
        while records := list(islice(entries, _RECORDS_PER_BATCH)):
            self._add_drafts(self._draft(part, records))
            on_read(source.n_bytes_read)
        on_read(source.n_bytes_read)
        if not self.has_items and not is_table:
            raise BadFile(
                f"{part.path} contains no items; give an object of items by ID, or a list of items"
            )

    def _read_pieces(self, part: Part, source: OpenSource, on_read: Callable[[int], None]) -> None:
        """Read the pieces into which a large file can be split, which leave out its end."""
        queue = deque[Piece]()

        def pending() -> Iterator[Piece]:
            for piece in source.pieces():
                queue.append(piece)
                yield piece

        def draft_piece(piece: Piece) -> _Drafts | None:
            records = piece.records(0)
            return None if records is None else self._draft(part, records)

        with closing(map_in_order(draft_piece, pending(), self.n_workers)) as results:
            for drafts in results:
                if drafts is None:
                    source.give_back(queue)
                    return
                piece = queue.popleft()
                if drafts.has_place_keys:
                    drafts = self._draft(part, piece.records(source.n_entries) or ())
                source.count_entries(drafts.batch.n)
                self._add_drafts(drafts)
                on_read(source.n_bytes_read)

    def _draft(self, part: Part, entries: Sequence[Record | Fault]) -> _Drafts:
        """Return the drafts for entries, without changing this object."""
        notes, batch = Notes(None), Batch()
        reader = ItemReader(self.folder, notes)
        add_entries(entries, reader, batch, part.split)
        return _Drafts(
            batch=batch,
            notes=notes,
            has_items=reader.has_items,
            has_truth=reader.has_truth,
            has_place_keys=reader.has_place_keys,
        )

    def _add_drafts(self, drafts: _Drafts) -> None:
        self.staged.keep(drafts.batch)
        self.notes.join(drafts.notes)
        self.has_items = self.has_items or drafts.has_items
        self.has_truth = self.has_truth or drafts.has_truth


def _report_bytes(on_progress: OnProgress, n_earlier: int, total: int, n: int) -> None:
    on_progress("items", n_earlier + n, total)


def _source_format(path: Path, format: BankFormat | None) -> SourceFormat | None:
    if format == "csv":
        return "csv"
    if format == "rexvqa":
        return "jsonl" if path.suffix.lower() in (".jsonl", ".ndjson") else "json"
    return None


def _is_item(record: dict[str, object]) -> bool:
    fields = Fields(record)
    return isinstance(fields.first("question"), str) and "options" in fields


def _check_columns(source: OpenSource) -> None:
    required = {
        "item_id": ("item_id",),
        "question": ("question",),
        "options (or option_a, option_b, ...)": ("options", OPTION_FIELDS[0]),
        "images": ("images",),
    }
    missing_columns = [
        name for name, fields in required.items() if not has_field(source.columns, *fields)
    ]
    if missing_columns:
        raise BadFile(
            f"{source.name} has no column {', '.join(missing_columns)}; its header is"
            f" {column_list(source.columns)}; name the columns as the description of the format"
            " says"
            " (docs/bank-format.md)"
        )


def _set_examinations(staged: Staging, notes: Notes) -> None:
    """Set every item's examination, and report examinations with several patients as faults.

    A file has up to four keys for an examination, which may not be unique across patients. The
    first unique key is used. If no key is unique, the first one is used, and examinations with
    several patients are faults.
    """
    keys = []
    for key, is_shared in staged.examination_keys():
        keys.append(key)
        if not is_shared:
            break
    else:
        keys = keys[:1] or [0]
    first, chosen = keys[0], keys[-1]
    if chosen != first:
        names = SPELLINGS["examination_id"]
        notes.add(
            f"{names[first]} is shared between patients; {names[chosen]} is used for the"
            " examination",
            staged.first_key(),
        )
    staged.set_examinations(chosen)
    staged.fault_shared_examinations(
        "examination {examination} is given to patients {patients}",
        "an examination belongs to one patient: correct the ids",
    )
    if completed_items := staged.share_patients():
        note = "patient taken from another item of the same examination"
        notes.add(note, completed_items.first, completed_items.n)
    for name, group in staged.examinations_that_differ(("age", "sex")).items():
        notes.add(f"items of one examination differ in {name}", group.first, group.n)


def _note_respellings(staged: Staging, notes: Notes) -> None:
    """Add notes on values that count as equal although their spellings differ."""
    for column, what in _COMPARED_COLUMNS.items():
        respelt = (staged.respelt_ids if column in _ID_COLUMNS else staged.respelt_names)(column)
        for value, first, items in respelt:
            differs = difference(value, first)
            equality = f"{quoted_value(value)} counts as {quoted_value(first)}"
            note = f"{what} {equality}: they differ in {differs}"
            notes.add(note, items.first, items.n)


_ID_COLUMNS = ("patient_id", "examination_id")
_COMPARED_COLUMNS = {
    "patient_id": "patient",
    "examination_id": "examination",
    "task": "task",
    "category": "category",
    "subcategory": "subcategory",
}


def _read_films(
    folder: ImageFolder,
    staged: Staging,
    notes: Notes,
    on_progress: OnProgress,
    *,
    refused: bool,
    missing: MissingImages,
) -> int:
    """Read the films; return the number of films not read because the bank is refused anyway."""
    staged.recall_films()
    staged.mark_missing(folder.missing_message, NOT_FOUND_REMEDY)
    for path, name, key in staged.respell_missing(folder.similar_path):
        differs = difference(path, name)
        notes.add(
            f"image {quoted_value(path, 160)} found under a name that differs: {differs}", key
        )
    n_done, total = staged.n_films()
    if total > _FEW_FILMS and (refused or (n_done and missing == "refuse")):
        return total - n_done
    on_progress("films", n_done, total)
    while known := staged.unread(_FILMS_PER_BATCH):
        staged.keep_films(folder.look_at(known))
        n_done += len(known)
        on_progress("films", n_done, total)
    return 0
