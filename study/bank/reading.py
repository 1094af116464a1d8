"""Reads a bank's files into a working file, and settles there what no item tells by itself."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import file_digest, sha256
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
from study.bank.workers import in_order
from study.base.bank_model import Fault
from study.base.errors import BadFile
from study.base.text import difference
from study.store.staging import Batch, Group, Staging, staging
from study.tables.columns import listed
from study.tables.source import OpenSource, Piece, Record, SourceFormat, opened
from study.tables.text_file import opened_bytes
from study.tables.values import shown

BankFormat = Literal["rexvqa", "csv"]
MissingImages = Literal["refuse", "drop", "frontal"]
OnProgress = Callable[[str, int, int], None]
"""Told a step (`items` in bytes, or `films`), how much of it is done, and of how much."""

_TABLES = ("csv", "xlsx")
MOST_TOLD = 1_000
_FEW_FILMS = 2_000
"""Up to so many are looked at even if the bank is to be refused: all faults are told at once."""

_AT_ONCE = 64
_TOGETHER = 1_000
_LARGE = 8 << 20
"""Bytes of a bank's files, from where on others help: to begin costs some tens of milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadBank:
    """A bank as read from its files.

    Attributes
    ----------
    format : str
        `rexvqa` or `csv`.
    sha256 : str
        Of the file's bytes, in hexadecimal; of several files, of their hashes one a line.
    staged : Staging
        The sound items and their films, and every fault of the others.
    notes : tuple of str
        What was not understood or had to be decided, with counts.
    n_missing : int
        How many films are not there.
    shortened : Group or None
        The items taken without films that are missing.
    n_unseen : int
        How many films were not looked at, since the bank has faults already.
    n_workers : int
        How many processes helped.
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
    format: BankFormat | None = None,
    missing_images: MissingImages = "refuse",
    skip_faulty: bool = False,
    progress: OnProgress | None = None,
    n_workers: int = 0,
) -> Iterator[ReadBank]:
    """Read and validate a question bank; it can be asked while the context lasts.

    Parameters
    ----------
    parts : sequence of Part
        The files, whose layout is described in ``docs/bank-format.md``; all of them one bank.
    images : Path
        The folder that holds the images.
    work : Path
        Where the working file is to lie. What an import that was cut off left there is used.
    format : {"rexvqa", "csv"}, optional
        Taken from a file's ending, else from its first character.
    missing_images : {"refuse", "drop", "frontal"}
        What becomes of items whose films are not all there: each is a fault; left out; or taken
        without them, where the frontal film is there. Without prior films that are not there an
        item is taken unless missing ones are refused.
    skip_faulty : bool
        Whether the sound items are wanted without the others: their films are all looked at.
    n_workers : int
        How many processes help with a large file; what comes of it is the same.

    Raises
    ------
    BadFile
        When a file as a whole, or the images folder, cannot be read.
    NotNow
        When another import has the working file.
    """
    tell: OnProgress = progress or (lambda *_: None)
    folder, notes = ImageFolder(images), Notes()
    with staging(work, images) as staged:
        reading = _Reading(folder=folder, staged=staged, notes=notes, n_workers=n_workers)
        sources = _read_items(parts, format, reading, tell)
        if reading.has_truth:
            staged.fault_truthless("no correct answer", "give the letter of the correct option")
        staged.fault_same_ids("item id given {n} times", "give each item its own id")
        _settle_examinations(staged, notes)
        _note_respellings(staged, notes)
        refused = not skip_faulty and staged.n_faults() > 0
        n_unseen = _read_films(folder, staged, notes, tell, refused=refused, missing=missing_images)
        without_prior = None if missing_images == "refuse" else staged.drop_missing_priors()
        if without_prior:
            what = "prior image not found, item taken without it"
            notes.add(what, without_prior.first, without_prior.n)
        if missing_images == "frontal":
            staged.drop_missing_views()
        shortened = staged.shortened()
        staged.fault_films()
        staged.fault_priors(
            "prior image {path} is the same file as a current one",
            "name the image of the earlier examination, or none",
        )
        for path, n, key in staged.flat_films(MOST_TOLD):
            notes.add(f"image {path} has one grey level only", key, n)
        for path, key in staged.set_spacings(TOLERANCE, MOST_TOLD):
            notes.add(f"pixel spacings of image {path} differ, left unknown", key)
        n_missing = staged.n_missing_films()
        staged.keep_sound()
        staged.share()
        yield ReadBank(
            format="csv" if sources[0][0] in _TABLES else "rexvqa",
            sha256=_sha256([one for _, one in sources]),
            staged=staged,
            notes=notes.lines(),
            n_missing=n_missing,
            shortened=shortened,
            n_unseen=n_unseen,
            n_workers=reading.n_workers,
        )


def sha256_of_files(parts: Sequence[Part]) -> str:
    """Return the hash by which a bank's files are known again.

    Raises
    ------
    BadFile
        When one cannot be read.
    """
    found = []
    for part in parts:
        with opened_bytes(part.path) as file:
            found.append(file_digest(file, "sha256").hexdigest())
    return _sha256(found)


def _sha256(of_files: Sequence[str]) -> str:
    if len(of_files) == 1:
        return of_files[0]
    return sha256("".join(f"{one}\n" for one in of_files).encode()).hexdigest()


def _read_items(
    parts: Sequence[Part],
    format: BankFormat | None,
    reading: "_Reading",
    tell: OnProgress,
) -> list[tuple[SourceFormat, str]]:
    total = sum(part.path.stat().st_size for part in parts if part.path.is_file())
    if total < _LARGE:
        reading.n_workers = 0
    found, before = [], 0
    for part in parts:
        wanted = _source_format(part.path, format)
        with opened(part.path, format=wanted, is_record=_is_item, kind_of=kind_of) as source:
            reading.read(part, source, partial(_tell_bytes, tell, before, total))
            found.append((source.format, source.sha256))
            before += source.n_bytes_read
    return found


@dataclass(slots=True, kw_only=True)
class _Drafted:
    """What became of some records: their drafts, and what was said of them."""

    batch: Batch
    notes: Notes
    any_item: bool
    has_truth: bool
    by_place: bool
    """Whether any is known by its place alone."""


@dataclass(slots=True, kw_only=True)
class _Reading:
    """The files of a bank being read into a working file."""

    folder: ImageFolder
    staged: Staging
    notes: Notes
    n_workers: int
    has_truth: bool = False
    any_item: bool = False

    def read(self, part: Part, source: OpenSource, tell: Callable[[int], None]) -> None:
        is_table = source.format in _TABLES
        if is_table:
            _check_columns(source)
        self.any_item = False
        entries = iter(source.entries)
        self._keep(self._drafted(part, islice(entries, 1)))
        self._read_pieces(part, source, tell)
        while some := list(islice(entries, _TOGETHER)):
            self._keep(self._drafted(part, some))
            tell(source.n_bytes_read)
        tell(source.n_bytes_read)
        if not self.any_item and not is_table:
            raise BadFile(
                f"{part.path} holds no items; give an object of items by id, or a list of items"
            )

    def _read_pieces(self, part: Part, source: OpenSource, tell: Callable[[int], None]) -> None:
        """Read what is cut into pieces well, which is all of a large file but its end."""
        under_way = deque[Piece]()

        def handed_on() -> Iterator[Piece]:
            for piece in source.pieces():
                under_way.append(piece)
                yield piece

        def drafted(piece: Piece) -> _Drafted | None:
            records = piece.records(0)
            return None if records is None else self._drafted(part, records)

        with closing(in_order(drafted, handed_on(), self.n_workers)) as results:
            for found in results:
                if found is None:
                    source.give_back(under_way)
                    return
                piece = under_way.popleft()
                if found.by_place:
                    found = self._drafted(part, piece.records(source.n_entries) or ())
                source.took(found.batch.n)
                self._keep(found)
                tell(source.n_bytes_read)

    def _drafted(self, part: Part, entries: Iterable[Record | Fault]) -> _Drafted:
        """Return what becomes of entries; nothing here is changed by it."""
        notes, batch = Notes(None), Batch()
        reader = ItemReader(self.folder, notes)
        any_item = by_place = False
        for entry in entries:
            if isinstance(entry, Record):
                any_item = any_item or isinstance(entry.value, dict)
                draft = reader.draft(entry, part.split)
                by_place = by_place or draft.key == entry.place
                batch.add(draft)
            else:
                batch.add_fault(entry)
        return _Drafted(
            batch=batch,
            notes=notes,
            any_item=any_item,
            has_truth=reader.has_truth,
            by_place=by_place,
        )

    def _keep(self, found: _Drafted) -> None:
        self.staged.keep(found.batch)
        self.notes.join(found.notes)
        self.any_item = self.any_item or found.any_item
        self.has_truth = self.has_truth or found.has_truth


def _tell_bytes(tell: OnProgress, before: int, total: int, n: int) -> None:
    tell("items", before + n, total)


def _source_format(path: Path, format: BankFormat | None) -> SourceFormat | None:
    if format == "csv":
        return "csv"
    if format == "rexvqa":
        return "jsonl" if path.suffix.lower() in (".jsonl", ".ndjson") else "json"
    return None


def _is_item(found: dict[str, object]) -> bool:
    fields = Fields(found)
    return isinstance(fields.first("question"), str) and "options" in fields


def _check_columns(source: OpenSource) -> None:
    wanted = {
        "item_id": ("item_id",),
        "question": ("question",),
        "options (or option_a, option_b, ...)": ("options", OPTION_FIELDS[0]),
        "images": ("images",),
    }
    absent = [name for name, fields in wanted.items() if not has_field(source.columns, *fields)]
    if absent:
        raise BadFile(
            f"{source.name} has no column {', '.join(absent)}; its header is"
            f" {listed(source.columns)}; name the columns as docs/bank-format.md says"
        )


def _settle_examinations(staged: Staging, notes: Notes) -> None:
    """Give every item its examination, and fault those that share one between patients.

    Files give up to four keys for an examination, and it is not known of each whether it is unique
    across patients. The first key under which no examination has two patients is taken; where none
    is, the first key, and its examinations are faulted.
    """
    given = []
    for key, is_shared in staged.examination_keys():
        given.append(key)
        if not is_shared:
            break
    else:
        given = given[:1] or [0]
    first, taken = given[0], given[-1]
    if taken != first:
        names = SPELLINGS["examination_id"]
        notes.add(
            f"{names[first]} is shared between patients; {names[taken]} is taken for the"
            " examination",
            staged.first_key(),
        )
    staged.set_examinations(taken)
    staged.fault_shared_examinations(
        "examination {examination} is given to patients {patients}",
        "an examination is of one patient: correct the ids",
    )
    if found := staged.share_patients():
        what = "patient taken from another item of the same examination"
        notes.add(what, found.first, found.n)
    for name, group in staged.examinations_that_differ(("age", "sex")).items():
        notes.add(f"items of one examination differ in {name}", group.first, group.n)


def _note_respellings(staged: Staging, notes: Notes) -> None:
    """Note values that count as one although they are written in several ways."""
    for column, what in _COMPARED.items():
        found = (staged.respelt_ids if column in _IDS else staged.respelt_names)(column)
        for value, first, items in found:
            differs = difference(value, first)
            told = f"{what} {shown(value)} counts as {shown(first)}: they differ in {differs}"
            notes.add(told, items.first, items.n)


_IDS = ("patient_id", "examination_id")
_COMPARED = {
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
    tell: OnProgress,
    *,
    refused: bool,
    missing: MissingImages,
) -> int:
    """Look at every film; return how many were not, as the bank is refused anyhow."""
    staged.recall_films()
    staged.mark_missing(folder.absent, NOT_FOUND_REMEDY)
    for written, name, key in staged.respell_missing(folder.spelt):
        differs = difference(written, name)
        notes.add(f"image {shown(written, 160)} found under a name that differs: {differs}", key)
    done, total = staged.n_films()
    if total > _FEW_FILMS and (refused or (done and missing == "refuse")):
        return total - done
    tell("films", done, total)
    while known := staged.unread(_AT_ONCE):
        staged.keep_films(folder.look_at(known))
        done += len(known)
        tell("films", done, total)
    return 0
