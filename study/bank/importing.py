"""Imports a question bank into the store: everything checked first, then all of it or nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from study.bank import read_bank
from study.bank.content import by_examination, look_over
from study.bank.guessing import guessable
from study.base.actor import COMMAND_LINE, By
from study.base.bank_model import Asked, BankFile, Fault, Item
from study.base.canonical import sha256_of
from study.base.errors import BadFile, NotNow
from study.base.text import check_name
from study.base.timestamps import stamp
from study.store import Store, Transaction, banks, events
from study.store.events import EventKind


class FaultyBank(BadFile):
    """A bank whose items have faults: `faults` lists them, `n_found` counts the items.

    The text is for the command line; a page words the way out itself.
    """

    def __init__(self, text: str, found: BankFile) -> None:
        super().__init__(text)
        self.faults = found.faults
        self.n_found = found.n_found
        self.n_faulty = _n_left_out(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import stored, and what it left out: items by number, with all their faults.

    `guessable` says where answers could be guessed without the films.
    """

    bank: str
    n_items: int
    n_films: int
    n_left_out: int
    left_out: tuple[Fault, ...]
    notes: tuple[str, ...]
    guessable: tuple[str, ...]


def import_bank(
    store: Store,
    path: Path,
    *,
    name: str,
    images: Path,
    now: datetime,
    format: Literal["rexvqa", "csv"] | None = None,
    skip_faulty: bool = False,
    simulated: bool = False,
    progress: Callable[[int, int], None] | None = None,
    by: By = COMMAND_LINE,
) -> Imported:
    """Import a bank file and its films.

    Parameters
    ----------
    images
        The folder the image paths start from; no path may leave it.
    skip_faulty
        Leave out items with faults; else a file with any fault is refused whole.
    simulated
        The films are simulated radiographs, which is then said on every screen that shows them.

    Raises
    ------
    BadFile
        The file, or any item without `skip_faulty`, has faults; the text lists them all.
    NotNow
        A bank of that name is already there.
    """
    with store.look() as look:
        _refuse_known(look, name)
    found = read_bank(path, images=images, format=format, progress=progress)
    if found.faults and not skip_faulty:
        raise FaultyBank(_refusal(path, found), found)
    if not found.items:
        raise FaultyBank(f"{path} holds no item without fault.\n" + _listed(found.faults), found)
    with store.change() as change:
        _refuse_known(change, name)
        bank = banks.add(
            change,
            name=name,
            format=found.format,
            source_name=path.name,
            source_sha256=found.sha256,
            content_sha256="",
            images_root=str(images.resolve()),
            simulated=int(simulated),
            imported_at_utc=stamp(now),
        )
        banks.add_content(change, bank, found.items, found.films)
        content_sha256 = sha256_of(banks.content(change, bank))
        banks.set_content_hash(change, bank, content_sha256)
        _record(change, banks.bank_row(change, name), found, now, by)
    return Imported(
        bank=name,
        n_items=len(found.items),
        n_films=len(found.films),
        n_left_out=_n_left_out(found),
        left_out=found.faults,
        notes=(*found.notes, *map(str, look_over(by_examination(found.items)))),
        guessable=guessable(
            (
                Asked(options=item.options, truth=item.truth, view=_view(item))
                for item in found.items
                if item.truth is not None
            ),
            shuffled=False,
        ),
    )


def _view(item: Item) -> str:
    return "+".join(view.label for view in item.views if view.label)


def _refuse_known(look: Transaction, name: str) -> None:
    check_name(name, "bank")
    if banks.find(look, name):
        raise NotNow(f"A bank named {name!r} is already there. Choose another name.")


def _refusal(path: Path, found: BankFile) -> str:
    return (
        f"{path}: {len(found.faults)} fault(s) in {found.n_found} item(s); nothing was imported.\n"
        + _listed(found.faults)
        + "\nMend the file, or leave the faulty items out with --skip-faulty."
    )


def _n_left_out(found: BankFile) -> int:
    """Return the number of items left out; an item may have several faults."""
    return found.n_found - len(found.items)


def _listed(faults: tuple[Fault, ...]) -> str:
    return "\n".join(f"  {fault}" for fault in faults)


def _record(
    change: Transaction, row: banks.BankRow, found: BankFile, now: datetime, by: By
) -> None:
    events.record(
        change,
        "",
        now,
        kind=EventKind.BANK_IMPORTED,
        detail={
            **banks.facts(row),
            "n_items": len(found.items),
            "n_left_out": _n_left_out(found),
        },
        by=by,
    )
