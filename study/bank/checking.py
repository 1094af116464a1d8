"""Checks a bank's files by every rule and keeps nothing: a report rule by rule."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from study.bank import BankFormat, read_bank
from study.bank.content import REMEDIES, Finding, by_examination, look_over
from study.bank.guessing import clues
from study.bank.layout import find_bank
from study.base.bank_model import Asked, Fault, Item
from study.base.bank_rules import Rule
from study.base.errors import BadFile

MEND_FILE = "mend the file, or name another"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What came of checking a bank: `findings` in order of code, `notes` as an import has them."""

    file: str
    n_found: int
    n_sound: int
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]

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
        A folder holds no bank file, or several.
    """
    file, own = find_bank(path) if path.is_dir() else (path, path.parent)
    try:
        found = read_bank(file, images=images or own, format=format)
    except BadFile as error:
        finding = Finding(rule=Rule.FILE, remedy=MEND_FILE)
        finding.add(file.name, str(error))
        return Report(file=str(file), n_found=0, n_sound=0, findings=(finding,), notes=())
    return Report(
        file=str(file),
        n_found=found.n_found,
        n_sound=len(found.items),
        findings=(*by_rule(found.faults), *content_findings(found.items)),
        notes=found.notes,
    )


def by_rule(faults: Iterable[Fault]) -> list[Finding]:
    """Return the faults rule by rule, in order of code."""
    found: dict[Rule, Finding] = {}
    for fault in faults:
        group = found.setdefault(fault.rule, Finding(rule=fault.rule, remedy=fault.remedy))
        group.add(fault.key, fault.what)
    return [found[rule] for rule in sorted(found)]


def content_findings(items: Sequence[Item]) -> list[Finding]:
    """Return what sound items break of the rules of content, and where answers can be guessed."""
    found = look_over(by_examination(items))
    for rule, sentence in clues(map(asked_of, filter(_has_truth, items)), shuffled=False).items():
        finding = Finding(rule=rule, remedy=REMEDIES[rule])
        finding.add("the bank", sentence)
        found.append(finding)
    return sorted(found, key=lambda one: one.rule)


def asked_of(item: Item) -> Asked:
    """Return what of an item bears on guessing."""
    view = "+".join(view.label for view in item.views if view.label)
    return Asked(options=item.options, truth=item.truth or "", view=view)


def _has_truth(item: Item) -> bool:
    return item.truth is not None
