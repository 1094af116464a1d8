"""Question banks as a whole: described, compared, joined, struck from, removed, and checked."""

import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

from study.bank.content import REMEDIES, RuleFinding, look_over
from study.bank.guessing import Balance, balance, clues
from study.bank.layout import find_bank, holds_dicom, one_file
from study.bank.reading import BankFormat, read_bank
from study.base.actor import COMMAND_LINE, By
from study.base.bank_model import LETTERS, Fault, Rule
from study.base.canonical import sha256_of, stamp
from study.base.errors import BadFile, BadInput, NotFound, NotNow
from study.base.provenance import Provenance
from study.base.text import check_name, checked_reason, id_key
from study.base.translation import t, tn
from study.films import shelf
from study.store import Store, Transaction, bank_contents, banks, events
from study.store.bank_contents import ListedItem
from study.store.banks import BankRow
from study.store.events import EventKind

MOST_EXAMPLES = 20
_YEARS = re.compile(r"(\d+) years?")
_YOUNGER = re.compile(r"\d+ (?:month|week|day)s?")

_COUNTED = ("task", "category", "subcategory", "sex")
_NAMED = 3

MEND_FILE = "mend the file, or name another"


def described(row: BankRow, holders: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return what is known of a bank as a whole."""
    return {
        "bank": row.name,
        "items": row.n_items,
        "films": row.n_films,
        "imported_at_utc": row.imported_at_utc,
        "format": row.format,
        **asdict(row.provenance),
        "source": row.source_name,
        "source_sha256": row.source_sha256,
        "content_sha256": row.content_sha256,
        "images": row.images_root,
        "simulated": bool(row.simulated),
        **holders,
    }


def in_full(look: Transaction, name: str) -> dict[str, Any]:
    """Return all that is known of a bank, and its items counted by what they say of themselves.

    Raises
    ------
    NotFound
        There is no bank of that name.
    """
    row = banks.bank_row(look, name)
    counted = {column: bank_contents.counts(look, row.id, column) for column in _COUNTED}
    ages: Counter[str] = Counter()
    for age, n in bank_contents.counts(look, row.id, "age").items():
        ages[age_band(age)] += n
    return {
        **described(row, banks.holders(look, row.id)),
        **bank_contents.totals(look, row.id),
        "with_prior_images": banks.n_with_prior(look, row.id),
        "by": {
            "split": bank_contents.splits(look, row.id),
            **counted,
            "view": bank_contents.views(look, row.id),
            "age": dict(sorted(ages.items(), key=lambda one: (_first_number(one[0]), one[0]))),
        },
    }


def age_band(age: str) -> str:
    """Return the ten years that an age belongs to; what is a range already stays as it is.

    >>> age_band("60 years"), age_band("3 months"), age_band("50 to 60 years")
    ('60 to 69 years', '0 to 9 years', '50 to 60 years')
    """
    if _YOUNGER.fullmatch(age):
        return "0 to 9 years"
    if years := _YEARS.fullmatch(age):
        first = int(years[1]) // 10 * 10
        return f"{first} to {first + 9} years"
    return age


def _first_number(band: str) -> int:
    found = re.match(r"\d+", band)
    return int(found[0]) if found else 1000


@dataclass(slots=True, kw_only=True)
class Difference:
    """One way in which two banks differ: how often, and up to `MOST_EXAMPLES` of it."""

    what: str
    n: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, example: str) -> None:
        """Count one more."""
        self.n += 1
        if self.n <= MOST_EXAMPLES:
            self.examples.append(example)


def compared(look: Transaction, name: str, other: str) -> tuple[int, list[Difference]]:
    """Return how many items two banks share without a difference, and every way they differ.

    Items are told by their ids, films by the hash of their files.

    Raises
    ------
    NotFound
        There is no bank of one of the names.
    """
    here, there = banks.bank_row(look, name), banks.bank_row(look, other)
    found = []
    for one, another in ((here, there), (there, here)):
        only = Difference(what=f"only in {one.name}")
        for item_id in bank_contents.only_in(look, one.id, another.id):
            only.add(item_id)
        found.append(only)
    n_alike = here.n_items - found[0].n
    by_column: dict[str, Difference] = {}
    for item_id, columns in bank_contents.differing(look, here.id, there.id):
        n_alike -= 1
        for column in columns:
            what = f"different {'reference standard' if column == 'truth' else column}"
            by_column.setdefault(column, Difference(what=what)).add(item_id)
    renamed = Difference(what="the same film under other ids")
    for film in bank_contents.renamed(look, here.id, there.id):
        renamed.add(f"{film['item']} / {film['other_item']}")
    return n_alike, [one for one in (*found, *by_column.values(), renamed) if one.n]


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
            examples=", ".join(self.shared_patients[:_NAMED]),
        )


def join_banks(
    store: Store,
    sources: Sequence[str],
    *,
    name: str,
    prefix: bool = False,
    now: datetime,
    by: By = COMMAND_LINE,
) -> Joined:
    """Make a bank of the items of several banks, which remain unchanged, as do their image files.

    Items that are struck off are left out. The order in which banks are named has no effect.

    Parameters
    ----------
    prefix
        Whether every item, examination and patient id gets its bank's name and a slash before it:
        for banks in which equal ids mean different items and patients.

    Raises
    ------
    NotFound
        There is no bank of one of the names.
    NotNow
        The name is taken, or a bank came with a study's bundle and has no films.
    BadInput
        Fewer than two banks, or without `prefix` an item id that is in two of them, or an
        unfit name.
    """
    check_name(name, "bank")
    with store.change() as change:
        if banks.find(change, name):
            raise NotNow(f"A bank named {name!r} is already there. Choose another name.")
        rows = [banks.bank_row(change, one) for one in sorted(set(sources))]
        _refuse(change, rows, prefix=prefix)
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
            banks.join(change, number, row, prefix=prefix)
        simulated = any(row.simulated for row in rows)
        sha256 = banks.content_sha256(change, number, simulated=simulated)
        banks.set_content_hash(change, number, sha256)
        banks.add_marks(change, number, list(banks.bank_marks(change, number)))
        made = banks.bank_row(change, name)
        detail = {**banks.facts(made), "n_items": made.n_items, "n_left_out": 0}
        events.record(change, "", now, kind=EventKind.BANK_IMPORTED, detail=detail, by=by)
        return Joined(
            bank=name,
            n_items=made.n_items,
            n_films=made.n_films,
            shared_patients=() if prefix else tuple(_in_two(change, rows, "patient_id")),
        )


def _refuse(look: Transaction, rows: Sequence[BankRow], *, prefix: bool) -> None:
    if len(rows) < 2:
        raise BadInput(t("Name two or more banks to join."))
    for row in rows:
        refuse_without_images(row)
    names = [id_key(row.name) for row in rows]
    if prefix and any(one.startswith(f"{other}/") for one, other in permutations(names, 2)):
        raise BadInput(
            t(
                "The name of one bank begins with the name of another and a slash, so that IDs "
                "with this prefix could be equal. Join other banks, or join without prefix."
            )
        )
    twice = [] if prefix else _in_two(look, rows, "item_id")
    if twice:
        raise BadInput(
            tn(
                "{n} item ID is in more than one of these banks, such as {examples}. An ID must "
                "name one item: join the banks with their names as a prefix of every ID.",
                "{n} item IDs are in more than one of these banks, such as {examples}. An ID must "
                "name one item: join the banks with their names as a prefix of every ID.",
                len(twice),
                examples=", ".join(twice[:_NAMED]),
            )
        )


def refuse_without_images(row: BankRow) -> None:
    """Raise `NotNow` where a bank came with a study's bundle, for its films did not."""
    if row.format == banks.FROM_BUNDLE:
        raise NotNow(
            t(
                "The bank {bank!r} came with a restored study and has no images. Import it again.",
                bank=row.name,
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


def strike(
    store: Store,
    bank: str,
    item_id: str,
    *,
    reason: str,
    back: bool = False,
    now: datetime,
    by: By = COMMAND_LINE,
) -> None:
    """Strike an item off, or take it back; studies that drew it keep it.

    Raises
    ------
    NotFound
        There is no such bank, or no such item in it.
    NotNow
        It is so already.
    BadInput
        The reason is none or too long.
    """
    words = checked_reason(reason)
    with store.change() as change:
        item = item_of(change, bank, item_id)
        if (item.struck is None) == back:
            raise NotNow(
                t("The question {item} is not struck off.", item=repr(item_id))
                if back
                else t("The question {item} is struck off already.", item=repr(item_id))
            )
        strike_within(change, bank, item, reason=words, back=back, now=now, by=by)


def strike_within(
    change: Transaction,
    bank: str,
    item: ListedItem,
    *,
    reason: str,
    back: bool = False,
    now: datetime,
    by: By,
) -> None:
    """Strike an item off, or take it back, within a transaction that has checked all else."""
    bank_contents.mark_struck(change, item.id, struck=not back, reason=reason, at_utc=stamp(now))
    kind = EventKind.ITEM_TAKEN_BACK if back else EventKind.ITEM_STRUCK
    detail = {"bank": bank, "item": item.item_id, "reason": reason}
    events.record(change, "", now, kind=kind, detail=detail, by=by)


def item_of(look: Transaction, bank: str, item_id: str) -> ListedItem:
    """Return an item of a bank by its name.

    Raises
    ------
    NotFound
        There is no such bank, or no such item in it.
    """
    item = bank_contents.by_item_id(look, banks.bank_row(look, bank).id, item_id)
    if item is None:
        raise NotFound(
            t("The bank {bank} has no question {item}.", bank=repr(bank), item=repr(item_id))
        )
    return item


def remove_bank(store: Store, name: str, *, now: datetime, by: By = COMMAND_LINE) -> BankRow:
    """Remove a bank, and return what it was; the image files stay where they lie.

    Films prepared for reading go too, where no other bank has the same.

    Raises
    ------
    NotFound
        There is no bank of that name.
    NotNow
        A study or a draft holds to it; all of them are named.
    """
    with store.change() as change:
        row = banks.bank_row(change, name)
        holders = banks.holders(change, row.id)
        if any(holders.values()):
            raise NotNow(_holding(name, **holders))
        prepared = banks.only_here(change, row.id)
        banks.remove(change, row.id)
        detail = {**banks.facts(row), "n_items": row.n_items, "n_films": row.n_films}
        events.record(change, "", now, kind=EventKind.BANK_REMOVED, detail=detail, by=by)
    kept = shelf.beside(store.path)
    for sha256 in prepared:
        kept.drop(sha256)
    return row


def _holding(name: str, studies: list[str], drafts: list[str]) -> str:
    """Say what keeps a bank: a study's answers are about its items, for good."""
    parts = []
    if studies:
        parts.append(
            t(
                "The bank {name} is used by {studies} and cannot be removed.",
                name=repr(name),
                studies=", ".join(studies),
            )
        )
    if drafts:
        parts.append(
            t(
                "The bank {name} is chosen in {drafts}. Delete these drafts, or choose another "
                "bank in them, first.",
                name=repr(name),
                drafts=", ".join(drafts),
            )
        )
    return " ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What came of checking a bank.

    `findings` are in order of code, `notes` as an import has them; `letters` tells how often each
    option of a sound item is the correct one.
    """

    file: str
    n_found: int
    n_sound: int
    findings: tuple[RuleFinding, ...]
    notes: tuple[str, ...]
    letters: Balance = balance({})  # noqa: RUF009 (frozen)

    @property
    def is_sound(self) -> bool:
        """Whether an import would take the bank whole."""
        return not any(one.is_fault for one in self.findings)


def check_bank(path: Path, *, images: Path | None, format: BankFormat | None = None) -> Report:
    """Check a bank file, or the one in a folder, as an import would; nothing is kept.

    Parameters
    ----------
    images
        The folder the image paths start from; if None, the file's own, or where a folder has them.

    Raises
    ------
    BadFile
        A folder holds no bank file, or several, or DICOM films.
    """
    if path.is_dir() and holds_dicom(path):
        raise BadFile(
            f"{path} holds DICOM films, which are checked as they are converted: import it; with "
            "any fault nothing is kept, and all are listed"
        )
    parts, own = find_bank(path) if path.is_dir() else one_file(path, images)
    files = ", ".join(str(part.path) for part in parts)
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch) / "check"
        try:
            with read_bank(
                parts, images=images or own, work=work, format=format, skip_faulty=True
            ) as found:
                return Report(
                    file=files,
                    n_found=found.staged.n_found,
                    n_sound=found.staged.n_items,
                    findings=(
                        *by_rule(found.staged.every_fault()),
                        *content_findings(found.staged.tables, 1),
                    ),
                    notes=found.notes,
                    letters=letters(found.staged.tables, 1),
                )
        except BadFile as error:
            finding = RuleFinding(rule=Rule.FILE, remedy=MEND_FILE)
            finding.add(parts[0].path.name, str(error))
            return Report(file=files, n_found=0, n_sound=0, findings=(finding,), notes=())


def letters(look: Transaction, bank: int) -> Balance:
    """Return how often each option of a bank's items is the correct one."""
    found = bank_contents.truths(look, bank)
    return balance({(LETTERS.index(truth), size): n for (truth, size), n in found.items()})


def by_rule(faults: Iterable[Fault]) -> list[RuleFinding]:
    """Return the faults rule by rule, in order of code."""
    found: dict[Rule, RuleFinding] = {}
    for fault in faults:
        group = found.setdefault(fault.rule, RuleFinding(rule=fault.rule, remedy=fault.remedy))
        group.add(fault.key, fault.what)
    return [found[rule] for rule in sorted(found)]


def content_findings(look: Transaction, bank: int) -> list[RuleFinding]:
    """Return what sound items break of the rules of content, and where answers can be guessed."""
    found = look_over(bank_contents.questions(look, bank))
    for rule, sentence in clues(banks.Questions(look, bank), shuffled=False).items():
        finding = RuleFinding(rule=rule, remedy=REMEDIES[rule])
        finding.add("the bank", sentence)
        found.append(finding)
    return sorted(found, key=lambda one: one.rule)
