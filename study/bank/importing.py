"""Imports a question bank into the store, completely or not at all, after checking everything."""

from array import array
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from study.bank.content import check_content
from study.bank.guessing import clue_sentences
from study.bank.layout import Part
from study.bank.reading import ImportOptions, ReadBank, read_bank, sha256_of_files
from study.bank.workers import start_tasks
from study.base.actor import Acting
from study.base.bank_model import Fault
from study.base.canonical import stamp
from study.base.errors import BadFile, NotNow
from study.base.text import check_name
from study.base.translation import t
from study.store import Store, Transaction, bank_contents, banks, events
from study.store.events import EventKind
from study.store.staging import reading

MOST_LISTED = 1_000
DEFAULT_OPTIONS = ImportOptions()
SIMULATED_OPTIONS = ImportOptions(simulated=True)
MOST_EXAMPLES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Missing films.

    Attributes
    ----------
    n_films : int
    n_items : int
        The number of items that were, or would be, left out because of them.
    n_shortened : int
        The number of items that were imported without them.
    examples : tuple of Fault
        The faults of the first items that were left out.
    """

    n_films: int
    n_items: int
    n_shortened: int
    examples: tuple[Fault, ...]


class FaultyBank(BadFile):
    """A bank whose items have faults.

    `faults` are the first faults, `n_faulty` and `n_items` the numbers of items with and without
    faults, and `missing` describes missing films. The message is for the command line; pages state
    the remedy in other words.
    """

    def __init__(
        self, text: str, *, faults: tuple[Fault, ...], n_faulty: int, n_items: int, missing: Missing
    ) -> None:
        super().__init__(text)
        self.faults = faults
        self.n_faulty = n_faulty
        self.n_items = n_items
        self.missing = missing

    def __reduce__(self) -> tuple[object, ...]:
        """Support pickling, to return the error from a worker process."""
        return partial(type(self), **vars(self)), self.args


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The result of an import.

    `n_left_out` is the number of items left out, and `left_out` are their first faults other than
    missing films. `guessable` are the clues by which answers can be guessed without the films. If
    the same files were imported before, `is_new` is False, and nothing was stored.
    """

    bank: str
    n_items: int
    n_films: int
    n_left_out: int = 0
    left_out: tuple[Fault, ...] = ()
    missing: Missing = Missing(n_films=0, n_items=0, n_shortened=0, examples=())
    notes: tuple[str, ...] = ()
    guessable: tuple[str, ...] = ()
    is_new: bool = True


def name_taken_error(name: str) -> NotNow:
    """Return the error for a name that another bank has."""
    return NotNow(t("A bank named {bank} already exists. Choose another name.", bank=name))


def import_bank(
    store: Store,
    parts: tuple[Part, ...] | Path,
    *,
    name: str,
    images: Path,
    acting: Acting,
    options: ImportOptions = DEFAULT_OPTIONS,
) -> Imported:
    """Import a bank's files and its films.

    Parameters
    ----------
    parts
        The files of the bank, or the path of its only file.
    images
        The folder to which image paths are relative; no path may lead out of it.

    Raises
    ------
    BadFile
        A file has faults, or an item has faults and `options.skip_faulty` is not set. The message
        lists them.
    NotNow
        A different bank of that name exists, or another import is running.
    """
    files = (Part(path=parts),) if isinstance(parts, Path) else parts
    check_name(name, "bank")
    with store.look() as look:
        existing = banks.find(look, name)
    if existing is not None:
        if (
            existing.source_sha256 == sha256_of_files(files)
            and existing.format != banks.FROM_BUNDLE
        ):
            return Imported(
                bank=name, n_items=existing.n_items, n_films=existing.n_films, is_new=False
            )
        raise name_taken_error(name)
    work = store.companion_path("import")
    with read_bank(files, images=images, work=work, options=options) as read:
        _refuse_faulty(files, read, options)
        if options.progress is not None:
            options.progress("store", 0, 1)
        with (
            _start_checks(work, options.simulated, read.n_workers) as checks,
            store.change(attached=work) as change,
        ):
            if banks.find(change, name):
                raise name_taken_error(name)
            bank = banks.add(
                change,
                name=name,
                format=read.format,
                source_name=", ".join(part.path.name for part in files),
                source_sha256=read.sha256,
                content_sha256="",
                images_root=str(images.resolve()),
                simulated=int(options.simulated),
                imported_at_utc=stamp(acting.now),
                **asdict(options.provenance),
            )
            banks.add_content(change, bank)
            with change.kept_alive():
                content_sha256, notes, clues, marks = checks
            banks.set_content_hash(change, bank, content_sha256)
            banks.add_marks(change, bank, marks)
            row = banks.bank_row(change, name)
            _record_import(change, row, read, acting)
        return Imported(
            bank=name,
            n_items=row.n_items,
            n_films=row.n_films,
            n_left_out=_n_omitted(read),
            left_out=tuple(read.staged.faults(MOST_LISTED)),
            missing=_missing_films(read),
            notes=(*read.notes, *map(str, notes)),
            guessable=clues,
        )


def _start_checks(
    work: Path, simulated: bool, n_workers: int
) -> AbstractContextManager[Iterator[Any]]:
    """Start computing a bank's hash, content findings, guessable answers and marks."""
    checks: tuple[Callable[[Transaction], Any], ...] = (
        lambda tables: banks.content_sha256(tables, 1, simulated=simulated),
        lambda tables: check_content(bank_contents.questions(tables, 1)),
        lambda tables: clue_sentences(banks.Questions(tables, 1), shuffled=False),
        lambda tables: array("q", banks.bank_marks(tables, 1)),
    )

    def run(n: int) -> Any:
        with reading(work) as tables:
            return checks[n](tables)

    return start_tasks(run, range(len(checks)), n_workers)


def _missing_films(read: ReadBank) -> Missing:
    n_items, examples = read.staged.missing(MOST_EXAMPLES)
    return Missing(
        n_films=read.n_missing,
        n_items=n_items,
        n_shortened=read.shortened.n if read.shortened else 0,
        examples=tuple(examples),
    )


def _n_omitted(read: ReadBank) -> int:
    """Return the number of items left out, which differs from that of faults."""
    return read.staged.n_found - read.staged.n_items


def _refuse_faulty(files: tuple[Part, ...], read: ReadBank, options: ImportOptions) -> None:
    path = " and ".join(str(part.path) for part in files)
    has_faults = read.staged.n_faults() > 0 and not options.skip_faulty
    has_missing = read.n_missing > 0 and options.missing == "refuse"
    if has_faults or has_missing:
        raise _faulty_bank(_refusal_text(path, read, has_missing=has_missing), read)
    if not read.staged.n_items:
        raise _faulty_bank(f"{path} contains no valid item.\n" + _fault_lines(read), read)


def _faulty_bank(text: str, read: ReadBank) -> FaultyBank:
    return FaultyBank(
        text,
        faults=tuple(read.staged.faults(MOST_LISTED)),
        n_faulty=read.staged.n_faulty(),
        n_items=read.staged.n_items,
        missing=_missing_films(read),
    )


def _refusal_text(path: str, read: ReadBank, *, has_missing: bool) -> str:
    n_faults, missing = read.staged.n_faults(), _missing_films(read)
    n_all = n_faults + missing.n_items if has_missing else n_faults
    lines = [
        f"{path}: errors: {n_all:,}, items: {read.staged.n_found:,}; nothing was imported.",
        _fault_lines(read),
    ]
    if has_missing:
        lines.append(
            f"Missing images: {missing.n_films:,}, of {missing.n_items:,} items. Add them, or "
            "leave those items out with --missing-images drop, or keep those whose frontal image "
            "exists with --missing-images frontal. With either, items that lack only a prior "
            "image are imported without it."
        )
    if read.n_unseen:
        lines.append(f"Images not checked yet: {read.n_unseen:,}.")
    if n_faults:
        lines.append("Fix the file, or leave out the items with errors with --skip-faulty.")
    return "\n".join(lines)


def _fault_lines(read: ReadBank) -> str:
    faults = [*read.staged.faults(MOST_LISTED), *_missing_films(read).examples]
    lines = [f"  {fault}" for fault in faults]
    n_more = read.staged.n_faults() - MOST_LISTED
    return "\n".join([*lines, f"  ... and {n_more:,} more"] if n_more > 0 else lines)


def _record_import(change: Transaction, row: banks.BankRow, read: ReadBank, acting: Acting) -> None:
    events.record(
        change,
        "",
        acting,
        kind=EventKind.BANK_IMPORTED,
        detail={
            **banks.facts(row),
            "n_items": row.n_items,
            "n_left_out": _n_omitted(read),
        },
    )
