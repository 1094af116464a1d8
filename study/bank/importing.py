"""Imports a question bank into the store: everything checked first, then all of it or nothing."""

from array import array
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

from study.bank.content import look_over
from study.bank.guessing import guessable
from study.bank.layout import Part
from study.bank.reading import (
    BankFormat,
    MissingImages,
    OnProgress,
    ReadBank,
    read_bank,
    sha256_of_files,
)
from study.bank.workers import begun, most_workers
from study.base.actor import COMMAND_LINE, By
from study.base.bank_model import Fault
from study.base.canonical import stamp
from study.base.errors import BadFile, NotNow
from study.base.provenance import NOT_KNOWN, Provenance
from study.base.text import check_name
from study.store import Store, Transaction, bank_contents, banks, events
from study.store.events import EventKind
from study.store.staging import reading

MOST_LISTED = 1_000
MOST_EXAMPLES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Films that are not there.

    Attributes
    ----------
    n_films : int
    n_items : int
        How many items were left out for them, or would be.
    n_shortened : int
        How many items were taken without them.
    examples : tuple of Fault
        The first of the items left out.
    """

    n_films: int
    n_items: int
    n_shortened: int
    examples: tuple[Fault, ...]


class FaultyBank(BadFile):
    """A bank whose items have faults.

    `faults` are the first of them, `n_faulty` how many items have any, `n_items` how many have
    none; `missing` are the films that are not there. The text is for the command line; a page words
    the way out itself.
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
        """Travel between processes by what it was made of."""
        return partial(type(self), **vars(self)), self.args


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import stored, and what it left out.

    `n_left_out` counts the items, `left_out` are the first of their faults other than films that
    are not there. `guessable` says where answers could be guessed without the films. `is_new` says
    whether anything was stored: the same files again change nothing.
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


class ImportOptions(TypedDict, total=False):
    """What may be said of every import, a bank's or a DICOM folder's; see `import_bank`."""

    missing_images: MissingImages | None
    skip_faulty: bool
    simulated: bool
    provenance: Provenance
    progress: OnProgress | None
    by: By


def import_bank(
    store: Store,
    parts: tuple[Part, ...] | Path,
    *,
    name: str,
    images: Path,
    now: datetime,
    format: BankFormat | None = None,
    missing_images: MissingImages | None = None,
    skip_faulty: bool = False,
    simulated: bool = False,
    provenance: Provenance = NOT_KNOWN,
    progress: OnProgress | None = None,
    by: By = COMMAND_LINE,
    n_workers: int | None = None,
) -> Imported:
    """Import a bank's files and its films.

    Parameters
    ----------
    parts
        The files, all of them one bank; or the one file.
    images
        The folder the image paths start from; no path may leave it.
    missing_images
        What becomes of items whose films are not all there; see `study.bank.reading.read_bank`.
        They are left out with `skip_faulty`, and else a fault.
    skip_faulty
        Leave out items with faults; else a file with any fault is refused whole.
    simulated
        The films are simulated radiographs, which is then said on every screen that shows them.
    provenance
        Where the bank comes from and on what terms, said wherever its content is handed on.
    n_workers
        How many processes help with a large file, as many as are of use if None; what comes of it
        is the same.

    Raises
    ------
    BadFile
        A file, or any item without `skip_faulty`, has faults; the text lists them.
    NotNow
        Another bank of that name is already there, or another import is under way.
    """
    files = (Part(path=parts),) if isinstance(parts, Path) else parts
    check_name(name, "bank")
    with store.look() as look:
        there = banks.find(look, name)
    if there is not None:
        if there.source_sha256 == sha256_of_files(files) and there.format != banks.FROM_BUNDLE:
            return Imported(bank=name, n_items=there.n_items, n_films=there.n_films, is_new=False)
        raise NotNow(f"A bank named {name!r} is already there. Choose another name.")
    work = store.path.with_name(f"{store.path.name}-import")
    missing_images = missing_images or ("drop" if skip_faulty else "refuse")
    with read_bank(
        files,
        images=images,
        work=work,
        format=format,
        missing_images=missing_images,
        skip_faulty=skip_faulty,
        progress=progress,
        n_workers=most_workers() if n_workers is None else n_workers,
    ) as found:
        _refuse_faulty(files, found, missing_images, skip_faulty=skip_faulty)
        if progress is not None:
            progress("store", 0, 1)
        with (
            _look_beside(work, simulated, found.n_workers) as looks,
            store.change(attached=work) as change,
        ):
            if banks.find(change, name):
                raise NotNow(f"A bank named {name!r} is already there. Choose another name.")
            bank = banks.add(
                change,
                name=name,
                format=found.format,
                source_name=", ".join(part.path.name for part in files),
                source_sha256=found.sha256,
                content_sha256="",
                images_root=str(images.resolve()),
                simulated=int(simulated),
                imported_at_utc=stamp(now),
                **asdict(provenance),
            )
            banks.add_content(change, bank)
            content_sha256, told, clues, marks = looks
            banks.set_content_hash(change, bank, content_sha256)
            banks.add_marks(change, bank, marks)
            row = banks.bank_row(change, name)
            _record(change, row, found, now, by)
        return Imported(
            bank=name,
            n_items=row.n_items,
            n_films=row.n_films,
            n_left_out=_n_left_out(found),
            left_out=tuple(found.staged.faults(MOST_LISTED)),
            missing=_missing(found),
            notes=(*found.notes, *map(str, told)),
            guessable=clues,
        )


def _look_beside(
    work: Path, simulated: bool, n_workers: int
) -> AbstractContextManager[Iterator[Any]]:
    """Begin to work out a bank's hash, notes on its content, guessable answers and marks."""
    looks: tuple[Callable[[Transaction], Any], ...] = (
        lambda tables: banks.content_sha256(tables, 1, simulated=simulated),
        lambda tables: look_over(bank_contents.questions(tables, 1)),
        lambda tables: guessable(banks.Questions(tables, 1), shuffled=False),
        lambda tables: array("q", banks.bank_marks(tables, 1)),
    )

    def looked(n: int) -> Any:
        with reading(work) as tables:
            return looks[n](tables)

    return begun(looked, range(len(looks)), n_workers)


def _missing(found: ReadBank) -> Missing:
    n_items, examples = found.staged.missing(MOST_EXAMPLES)
    return Missing(
        n_films=found.n_missing,
        n_items=n_items,
        n_shortened=found.shortened.n if found.shortened else 0,
        examples=tuple(examples),
    )


def _n_left_out(found: ReadBank) -> int:
    """Return the number of items left out; an item may have several faults."""
    return found.staged.n_found - found.staged.n_items


def _refuse_faulty(
    files: tuple[Part, ...], found: ReadBank, missing_images: MissingImages, *, skip_faulty: bool
) -> None:
    path = " and ".join(str(part.path) for part in files)
    faulty = found.staged.n_faults() > 0 and not skip_faulty
    lacking = found.n_missing > 0 and missing_images == "refuse"
    if faulty or lacking:
        raise _faulty(_refusal(path, found, lacking=lacking), found)
    if not found.staged.n_items:
        raise _faulty(f"{path} holds no item without fault.\n" + _listed(found), found)


def _faulty(text: str, found: ReadBank) -> FaultyBank:
    return FaultyBank(
        text,
        faults=tuple(found.staged.faults(MOST_LISTED)),
        n_faulty=found.staged.n_faulty(),
        n_items=found.staged.n_items,
        missing=_missing(found),
    )


def _refusal(path: str, found: ReadBank, *, lacking: bool) -> str:
    n_faults, missing = found.staged.n_faults(), _missing(found)
    n_all = n_faults + missing.n_items if lacking else n_faults
    lines = [
        f"{path}: errors: {n_all:,}, items: {found.staged.n_found:,}; nothing was imported.",
        _listed(found),
    ]
    if lacking:
        lines.append(
            f"Missing images: {missing.n_films:,}, of {missing.n_items:,} items. Add them, or "
            "leave those items out with --missing-images drop, or keep those whose frontal image "
            "exists with --missing-images frontal. With either, items that lack only a prior "
            "image are imported without it."
        )
    if found.n_unseen:
        lines.append(f"Images not checked yet: {found.n_unseen:,}.")
    if n_faults:
        lines.append("Fix the file, or leave out the items with errors with --skip-faulty.")
    return "\n".join(lines)


def _listed(found: ReadBank) -> str:
    faults = [*found.staged.faults(MOST_LISTED), *_missing(found).examples]
    lines = [f"  {fault}" for fault in faults]
    n_more = found.staged.n_faults() - MOST_LISTED
    return "\n".join([*lines, f"  ... and {n_more:,} more"] if n_more > 0 else lines)


def _record(
    change: Transaction, row: banks.BankRow, found: ReadBank, now: datetime, by: By
) -> None:
    events.record(
        change,
        "",
        now,
        kind=EventKind.BANK_IMPORTED,
        detail={
            **banks.facts(row),
            "n_items": row.n_items,
            "n_left_out": _n_left_out(found),
        },
        by=by,
    )
