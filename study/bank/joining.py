"""Joins banks into one, so that a study can draw from several: each item knows which it is of."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import combinations

from study.base.actor import COMMAND_LINE, By
from study.base.canonical import sha256_of, stamp
from study.base.errors import BadInput, NotNow
from study.base.provenance import Provenance
from study.base.text import check_name
from study.base.translation import t, tn
from study.store import Store, Transaction, banks, events
from study.store.banks import BankRow
from study.store.events import EventKind

N_EXAMPLES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """A joined bank; `shared_patients` are ids of patients that more than one of the banks has."""

    bank: str
    n_items: int
    n_films: int
    shared_patients: tuple[str, ...]

    @property
    def note(self) -> str:
        """Return what whoever joins banks has to know of their patients; empty where nothing is."""
        if not self.shared_patients:
            return ""
        return tn(
            "{n} patient is in more than one bank by id, such as {examples}. The same id counts as "
            "the same patient.",
            "{n} patients are in more than one bank by id, such as {examples}. The same id counts "
            "as the same patient.",
            len(self.shared_patients),
            examples=", ".join(self.shared_patients[:N_EXAMPLES]),
        )


def join_banks(
    store: Store, sources: Sequence[str], *, name: str, now: datetime, by: By = COMMAND_LINE
) -> Joined:
    """Make a bank of the items of several; they stay as they are, and the films where they lie.

    What is struck off in a bank is not taken along. The order in which banks are named changes
    nothing.

    Raises
    ------
    NotFound
        There is no bank of one of the names.
    NotNow
        The name is taken, or a bank came with a study's bundle and has no films.
    BadInput
        Fewer than two banks, or an item's id is in two of them; or the name is none.
    """
    check_name(name, "bank")
    with store.change() as change:
        if banks.find(change, name):
            raise NotNow(f"A bank named {name!r} is already there. Choose another name.")
        rows = [banks.bank_row(change, one) for one in sorted(set(sources))]
        _refuse(change, rows)
        number = banks.add(
            change,
            name=name,
            format=banks.JOINED,
            source_name=", ".join(row.name for row in rows),
            source_sha256=sha256_of([[row.name, row.content_sha256] for row in rows]),
            content_sha256="",
            images_root="",
            simulated=max(row.simulated for row in rows),
            imported_at_utc=stamp(now),
            **asdict(_provenance(rows)),
        )
        for row in rows:
            banks.join(change, number, row)
        simulated = any(row.simulated for row in rows)
        sha256 = banks.content_sha256(change, number, simulated=simulated)
        banks.set_content_hash(change, number, sha256)
        made = banks.bank_row(change, name)
        detail = {**banks.facts(made), "n_items": made.n_items, "n_left_out": 0}
        events.record(change, "", now, kind=EventKind.BANK_IMPORTED, detail=detail, by=by)
        return Joined(
            bank=name,
            n_items=made.n_items,
            n_films=made.n_films,
            shared_patients=tuple(_in_two(change, rows, "patient_id")),
        )


def _refuse(look: Transaction, rows: Sequence[BankRow]) -> None:
    if len(rows) < 2:
        raise BadInput(t("Name two or more banks to join."))
    for row in rows:
        if row.format == banks.FROM_BUNDLE:
            raise NotNow(
                t(
                    "The bank {bank!r} came with a restored study and has no images. Import it "
                    "again.",
                    bank=row.name,
                )
            )
    twice = _in_two(look, rows, "item_id")
    if twice:
        raise BadInput(
            tn(
                "{n} item id is in more than one of these banks, such as {examples}. An id must "
                "name one item: give the items of one bank other ids, and import it again.",
                "{n} item ids are in more than one of these banks, such as {examples}. An id must "
                "name one item: give the items of one bank other ids, and import it again.",
                len(twice),
                examples=", ".join(twice[:N_EXAMPLES]),
            )
        )


def _in_two(look: Transaction, rows: Iterable[BankRow], column: str) -> list[str]:
    found = {
        value
        for one, other in combinations(rows, 2)
        for value in banks.in_both(look, one.id, other.id, column)
    }
    return sorted(found)


def _provenance(rows: Sequence[BankRow]) -> Provenance:
    """Return where all of them come from, each with its name: none goes unsaid in an export."""

    def each(told: Iterable[tuple[str, str]]) -> str:
        return "; ".join(f"{name}: {text}" for name, text in told if text)

    return Provenance(
        version=each((row.name, row.version) for row in rows),
        licence=each((row.name, row.licence) for row in rows),
        citation=each(
            (row.name, " ".join(filter(None, (row.citation, row.source_url)))) for row in rows
        ),
    )
