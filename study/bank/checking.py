"""Checks a bank's files by every rule and keeps nothing: a report rule by rule."""

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from study.bank.content import REMEDIES, Finding, look_over
from study.bank.guessing import Balance, balance, clues
from study.bank.layout import find_bank, one_file
from study.bank.reading import BankFormat, read_bank
from study.base.bank_model import LETTERS, Fault, Rule
from study.base.errors import BadFile
from study.store import Transaction, bank_contents, banks

MEND_FILE = "mend the file, or name another"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What came of checking a bank.

    `findings` are in order of code, `notes` as an import has them; `letters` tells how often each
    option of a sound item is the correct one.
    """

    file: str
    n_found: int
    n_sound: int
    findings: tuple[Finding, ...]
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
    from study.bank.dicom_bank import holds_dicom  # a second to load

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
            finding = Finding(rule=Rule.FILE, remedy=MEND_FILE)
            finding.add(parts[0].path.name, str(error))
            return Report(file=files, n_found=0, n_sound=0, findings=(finding,), notes=())


def letters(look: Transaction, bank: int) -> Balance:
    """Return how often each option of a bank's items is the correct one."""
    found = bank_contents.truths(look, bank)
    return balance({(LETTERS.index(truth), size): n for (truth, size), n in found.items()})


def by_rule(faults: Iterable[Fault]) -> list[Finding]:
    """Return the faults rule by rule, in order of code."""
    found: dict[Rule, Finding] = {}
    for fault in faults:
        group = found.setdefault(fault.rule, Finding(rule=fault.rule, remedy=fault.remedy))
        group.add(fault.key, fault.what)
    return [found[rule] for rule in sorted(found)]


def content_findings(look: Transaction, bank: int) -> list[Finding]:
    """Return what sound items break of the rules of content, and where answers can be guessed."""
    found = look_over(bank_contents.questions(look, bank))
    for rule, sentence in clues(banks.Questions(look, bank), shuffled=False).items():
        finding = Finding(rule=rule, remedy=REMEDIES[rule])
        finding.add("the bank", sentence)
        found.append(finding)
    return sorted(found, key=lambda one: one.rule)
