"""Manages banks: describes, compares, joins, checks and removes them, and strikes items off."""

import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

from study.bank.content import REMEDIES, RuleFinding, check_content
from study.bank.guessing import Balance, clues_by_rule, position_balance
from study.bank.importing import name_taken_error
from study.bank.layout import contains_dicom, find_bank, single_file_bank
from study.bank.reading import BankFormat, ImportOptions, read_bank
from study.base.actor import Acting
from study.base.bank_model import LETTERS, Fault, Rule
from study.base.canonical import sha256_of, stamp
from study.base.errors import BadFile, BadInput, NotFound, NotNow
from study.base.provenance import Provenance
from study.base.text import check_name, checked_reason, id_key, quoted
from study.base.translation import t, tn
from study.films import shelf
from study.store import Store, Transaction, bank_contents, banks, events
from study.store.bank_contents import ListedItem
from study.store.banks import BankRow
from study.store.events import EventKind

MAX_EXAMPLES = 20
_YEARS = re.compile(r"(\d+) years?")
_YOUNGER = re.compile(r"\d+ (?:month|week|day)s?")

_COUNTED_COLUMNS = ("task", "category", "subcategory", "sex")
_N_NAMED = 3

FIX_FILE = "fix the file, or choose another"


def describe_bank(row: BankRow, holders: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return the description of a bank."""
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


def describe_in_full(look: Transaction, name: str) -> dict[str, Any]:
    """Return the description of a bank, its totals, and its numbers of items by attribute.

    Raises
    ------
    NotFound
        There is no bank of that name.
    """
    row = banks.bank_row(look, name)
    counts = {column: bank_contents.counts(look, row.id, column) for column in _COUNTED_COLUMNS}
    ages: Counter[str] = Counter()
    for age, n in bank_contents.counts(look, row.id, "age").items():
        ages[age_band(age)] += n
    return {
        **describe_bank(row, banks.studies_and_drafts(look, row.id)),
        **bank_contents.totals(look, row.id),
        "with_prior_images": banks.n_with_prior(look, row.id),
        "by": {
            "split": bank_contents.splits(look, row.id),
            **counts,
            "view": bank_contents.views(look, row.id),
            "age": dict(
                sorted(ages.items(), key=lambda entry: (_first_number(entry[0]), entry[0]))
            ),
        },
    }


def age_band(age: str) -> str:
    """Return the decade of an age; ranges are returned unchanged.

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
    digits = re.match(r"\d+", band)
    return int(digits[0]) if digits else 1000


@dataclass(slots=True, kw_only=True)
class Difference:
    """A kind of difference between two banks: the number, and up to `MAX_EXAMPLES` examples."""

    what: str
    n: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, example: str) -> None:
        """Count a difference, and keep it as an example if there are fewer than `MAX_EXAMPLES`."""
        self.n += 1
        if self.n <= MAX_EXAMPLES:
            self.examples.append(example)


def compare_banks(look: Transaction, name: str, other: str) -> tuple[int, list[Difference]]:
    """Return the number of equal items in two banks, and the kinds of differences.

    Items are matched by ID, films by the hash of their files.

    Raises
    ------
    NotFound
        There is no bank of one of the names.
    """
    bank, other_bank = banks.bank_row(look, name), banks.bank_row(look, other)
    only_in_one = []
    for row, other_row in ((bank, other_bank), (other_bank, bank)):
        difference = Difference(what=f"only in {row.name}")
        for item_id in bank_contents.items_only_in(look, row.id, other_row.id):
            difference.add(item_id)
        only_in_one.append(difference)
    n_equal = bank.n_items - only_in_one[0].n
    by_column: dict[str, Difference] = {}
    for item_id, columns in bank_contents.differing_items(look, bank.id, other_bank.id):
        n_equal -= 1
        for column in columns:
            what = f"different {'reference standard' if column == 'truth' else column}"
            by_column.setdefault(column, Difference(what=what)).add(item_id)
    renamed = Difference(what="the same film under other ids")
    for film in bank_contents.renamed_films(look, bank.id, other_bank.id):
        renamed.add(f"{film['item']} / {film['other_item']}")
    return n_equal, [
        difference for difference in (*only_in_one, *by_column.values(), renamed) if difference.n
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """A joined bank; `shared_patients` are patient IDs that occur in more than one bank."""

    bank: str
    n_items: int
    n_films: int
    shared_patients: tuple[str, ...]

    @property
    def note(self) -> str:
        """Return a warning about shared patient IDs; empty if there are none."""
        if not self.shared_patients:
            return ""
        return tn(
            "{n} patient is in more than one bank by id, such as {examples}. The same id counts as "
            "the same patient.",
            "{n} patients are in more than one bank by id, such as {examples}. The same id counts "
            "as the same patient.",
            len(self.shared_patients),
            examples=", ".join(self.shared_patients[:_N_NAMED]),
        )


def join_banks(
    store: Store, sources: Sequence[str], *, name: str, prefix: bool = False, acting: Acting
) -> Joined:
    """Create a bank from the items of several banks; those and their image files are not changed.

    Items that are struck off are left out. The order of the banks has no effect.

    Parameters
    ----------
    prefix
        Whether to put the bank's name and a slash before every item, examination and patient ID,
        for banks in which equal IDs mean different items and patients.

    Raises
    ------
    NotFound
        There is no bank of one of the names.
    NotNow
        The name is taken, or a bank was restored from a study's bundle and has no films.
    BadInput
        Fewer than two banks are named, the name is invalid, or without `prefix` two banks contain
        the same item ID.
    """
    check_name(name, "bank")
    with store.change() as change:
        if banks.find(change, name):
            raise name_taken_error(name)
        rows = [banks.bank_row(change, source) for source in sorted(set(sources))]
        _refuse_to_join(change, rows, prefix=prefix)
        number = banks.add(
            change,
            name=name,
            format=banks.JOINED,
            source_name=", ".join(row.name for row in rows),
            source_sha256=sha256_of([[row.name, row.content_sha256] for row in rows]),
            content_sha256="",
            images_root="",
            simulated=max(row.simulated for row in rows),
            imported_at_utc=stamp(acting.now),
            **asdict(_provenance(rows)),
        )
        for row in rows:
            banks.join(change, number, row, prefix=prefix)
        simulated = any(row.simulated for row in rows)
        sha256 = banks.content_sha256(change, number, simulated=simulated)
        banks.set_content_hash(change, number, sha256)
        banks.add_marks(change, number, list(banks.bank_marks(change, number)))
        joined = banks.bank_row(change, name)
        detail = {**banks.facts(joined), "n_items": joined.n_items, "n_left_out": 0}
        events.record(change, "", acting, kind=EventKind.BANK_IMPORTED, detail=detail)
        return Joined(
            bank=name,
            n_items=joined.n_items,
            n_films=joined.n_films,
            shared_patients=() if prefix else tuple(_values_in_several(change, rows, "patient_id")),
        )


def _refuse_to_join(look: Transaction, rows: Sequence[BankRow], *, prefix: bool) -> None:
    if len(rows) < 2:
        raise BadInput(t("Name two or more banks to join."))
    for row in rows:
        refuse_without_images(row)
    names = [id_key(row.name) for row in rows]
    if prefix and any(first.startswith(f"{other}/") for first, other in permutations(names, 2)):
        raise BadInput(
            t(
                "The name of one bank begins with the name of another and a slash, so that IDs "
                "with this prefix could be equal. Choose other banks, or join them without a "
                "prefix."
            )
        )
    shared_ids = [] if prefix else _values_in_several(look, rows, "item_id")
    if shared_ids:
        raise BadInput(
            tn(
                "{n} item ID is in more than one of these banks, such as {examples}. An ID must "
                "name one item: join the banks with their names as a prefix of every ID.",
                "{n} item IDs are in more than one of these banks, such as {examples}. An ID must "
                "name one item: join the banks with their names as a prefix of every ID.",
                len(shared_ids),
                examples=", ".join(shared_ids[:_N_NAMED]),
            )
        )


def refuse_without_images(row: BankRow) -> None:
    """Raise `NotNow` if a bank was restored from a study's bundle, which contains no films."""
    if row.format == banks.FROM_BUNDLE:
        raise NotNow(
            t(
                "The bank {bank} came with a restored study and has no images. Import it again.",
                bank=quoted(row.name),
            )
        )


def _values_in_several(look: Transaction, rows: Iterable[BankRow], column: str) -> list[str]:
    values = {
        value
        for row, other_row in combinations(rows, 2)
        for value in banks.common_values(look, row.id, other_row.id, column)
    }
    return sorted(values)


def _provenance(rows: Sequence[BankRow]) -> Provenance:
    """Return the provenance of all banks together, each text with its bank's name."""

    def each(texts: Iterable[tuple[str, str]]) -> str:
        return "; ".join(f"{name}: {text}" for name, text in texts if text)

    return Provenance(
        version=each((row.name, row.version) for row in rows),
        licence=each((row.name, row.licence) for row in rows),
        citation=each(
            (row.name, " ".join(filter(None, (row.citation, row.source_url)))) for row in rows
        ),
    )


def strike(
    store: Store, bank: str, item_id: str, *, reason: str, reinstate: bool = False, acting: Acting
) -> None:
    """Strike an item off, or reinstate it; studies that have drawn it keep it.

    Raises
    ------
    NotFound
        There is no such bank, or no such item in it.
    NotNow
        The item already has that state.
    BadInput
        The reason is empty or too long.
    """
    words = checked_reason(reason)
    with store.change() as change:
        item = item_of(change, bank, item_id)
        if (item.struck is None) == reinstate:
            raise NotNow(
                t("The question {item} is not struck off.", item=quoted(item_id))
                if reinstate
                else t("The question {item} is struck off already.", item=quoted(item_id))
            )
        strike_within(change, bank, item, reason=words, reinstate=reinstate, acting=acting)


def strike_within(
    change: Transaction,
    bank: str,
    item: ListedItem,
    *,
    reason: str,
    reinstate: bool = False,
    acting: Acting,
) -> None:
    """Strike an item off or reinstate it, within a transaction and after all other checks."""
    bank_contents.mark_struck(
        change, item.id, struck=not reinstate, reason=reason, at_utc=stamp(acting.now)
    )
    kind = EventKind.ITEM_TAKEN_BACK if reinstate else EventKind.ITEM_STRUCK
    detail = {"bank": bank, "item": item.item_id, "reason": reason}
    events.record(change, "", acting, kind=kind, detail=detail)


def items_of(look: Transaction, bank: str, item_ids: Sequence[str]) -> list[ListedItem]:
    """Return items in a bank by their IDs.

    Raises
    ------
    NotFound
        There is no such bank, or it lacks some of the items, which the message lists.
    """
    number = banks.bank_row(look, bank).id
    items = [bank_contents.by_item_id(look, number, item_id) for item_id in item_ids]
    missing = [item_id for item_id, item in zip(item_ids, items, strict=True) if item is None]
    if missing:
        reason = tn(
            "The bank {bank} has no question with this ID. Correct or remove it:",
            "The bank {bank} has no questions with these {n} IDs. Correct or remove them:",
            len(missing),
            bank=quoted(bank),
        )
        raise NotFound("\n  ".join([reason, *map(quoted, missing)]))
    return [item for item in items if item is not None]


def item_of(look: Transaction, bank: str, item_id: str) -> ListedItem:
    """Return an item in a bank by its ID.

    Raises
    ------
    NotFound
        There is no such bank, or no such item in it.
    """
    return items_of(look, bank, [item_id])[0]


def remove_bank(store: Store, name: str, *, acting: Acting) -> BankRow:
    """Remove a bank, and return its row; the image files are kept.

    Films prepared for reading are also removed, unless another bank contains them.

    Raises
    ------
    NotFound
        There is no bank of that name.
    NotNow
        Studies or drafts use the bank; the message names them.
    """
    with store.change() as change:
        row = banks.bank_row(change, name)
        holders = banks.studies_and_drafts(change, row.id)
        if any(holders.values()):
            raise NotNow(_in_use_message(name, **holders))
        prepared = banks.films_of_no_other_bank(change, row.id)
        banks.remove(change, row.id)
        detail = {**banks.facts(row), "n_items": row.n_items, "n_films": row.n_films}
        events.record(change, "", acting, kind=EventKind.BANK_REMOVED, detail=detail)
    film_shelf = shelf.Shelf(store.companion_path("films"))
    for sha256 in prepared:
        film_shelf.drop(sha256)
    return row


def _in_use_message(name: str, studies: list[str], drafts: list[str]) -> str:
    """Return the message that names the studies and drafts that use a bank."""
    parts = []
    if studies:
        parts.append(
            t(
                "The bank {name} is used by {studies} and cannot be removed.",
                name=quoted(name),
                studies=", ".join(studies),
            )
        )
    if drafts:
        parts.append(
            t(
                "The bank {name} is chosen in {drafts}. Delete these drafts, or choose another "
                "bank in them, first.",
                name=quoted(name),
                drafts=", ".join(drafts),
            )
        )
    return " ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of checking a bank.

    `findings` are in order of rule code, and `notes` are those of an import. `letters` states how
    often each option of a valid item is the correct one.
    """

    file: str
    n_found: int
    n_sound: int
    findings: tuple[RuleFinding, ...]
    notes: tuple[str, ...]
    letters: Balance = position_balance({})  # noqa: RUF009 (frozen)

    @property
    def is_sound(self) -> bool:
        """Return whether an import would accept all items."""
        return not any(finding.is_fault for finding in self.findings)


def check_bank(path: Path, *, images: Path | None, format: BankFormat | None = None) -> Report:
    """Check a bank file, or the bank file in a folder, as an import would, without storing it.

    Parameters
    ----------
    images
        The folder that image paths are relative to; by default it is found near the file.

    Raises
    ------
    BadFile
        A folder contains no bank file, several bank files, or DICOM films.
    """
    if path.is_dir() and contains_dicom(path):
        raise BadFile(
            f"{path} contains DICOM films, which are checked when they are converted: import it; "
            "if there are errors, they are listed and nothing is imported"
        )
    parts, own_bank = find_bank(path) if path.is_dir() else single_file_bank(path, images)
    files = ", ".join(str(part.path) for part in parts)
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch) / "check"
        options = ImportOptions(
            format=format, missing_images="refuse", skip_faulty=True, n_workers=0
        )
        try:
            with read_bank(parts, images=images or own_bank, work=work, options=options) as read:
                return Report(
                    file=files,
                    n_found=read.staged.n_found,
                    n_sound=read.staged.n_items,
                    findings=(
                        *group_by_rule(read.staged.every_fault()),
                        *content_findings(read.staged.tables, 1),
                    ),
                    notes=read.notes,
                    letters=correct_letters(read.staged.tables, 1),
                )
        except BadFile as error:
            finding = RuleFinding(rule=Rule.FILE, remedy=FIX_FILE)
            finding.add(parts[0].path.name, str(error))
            return Report(file=files, n_found=0, n_sound=0, findings=(finding,), notes=())


def correct_letters(look: Transaction, bank: int) -> Balance:
    """Return how often each option of a bank's items is the correct one."""
    counts = bank_contents.truths(look, bank)
    return position_balance(
        {(LETTERS.index(truth), size): n for (truth, size), n in counts.items()}
    )


def group_by_rule(faults: Iterable[Fault]) -> list[RuleFinding]:
    """Return the faults grouped by rule, in order of rule code."""
    groups: dict[Rule, RuleFinding] = {}
    for fault in faults:
        group = groups.setdefault(fault.rule, RuleFinding(rule=fault.rule, remedy=fault.remedy))
        group.add(fault.key, fault.what)
    return [groups[rule] for rule in sorted(groups)]


def content_findings(look: Transaction, bank: int) -> list[RuleFinding]:
    """Return the content findings of valid items, and the clues by which answers can be guessed."""
    findings = check_content(bank_contents.questions(look, bank))
    for rule, sentence in clues_by_rule(banks.Questions(look, bank), shuffled=False).items():
        finding = RuleFinding(rule=rule, remedy=REMEDIES[rule])
        finding.add("the bank", sentence)
        findings.append(finding)
    return sorted(findings, key=lambda item: item.rule)
