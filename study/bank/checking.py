"""Checks a bank's files by every rule and keeps nothing: a report rule by rule."""

import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from study.bank.layout import find_bank, one_file
from study.bank.reading import BankFormat, read_bank
from study.base.bank_model import Fault
from study.base.bank_rules import TITLES, Rule
from study.base.errors import BadFile

N_EXAMPLES = 20
MEND_FILE = "mend the file, or name another"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What breaks one rule: how often, and up to `N_EXAMPLES` of it as (item or line, what)."""

    rule: Rule
    n: int
    examples: tuple[tuple[str, str], ...]
    remedy: str

    @property
    def title(self) -> str:
        """Return the rule in words."""
        return TITLES[self.rule]

    @property
    def is_fault(self) -> bool:
        """Whether an import refuses it; else it is told only."""
        return self.rule.startswith("B1")


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
                    findings=tuple(by_rule(found.staged.every_fault())),
                    notes=found.notes,
                )
        except BadFile as error:
            example = (parts[0].path.name, str(error))
            finding = Finding(rule=Rule.FILE, n=1, examples=(example,), remedy=MEND_FILE)
            return Report(file=files, n_found=0, n_sound=0, findings=(finding,), notes=())


def by_rule(faults: Iterable[Fault]) -> list[Finding]:
    """Return the faults rule by rule, in order of code."""
    first: dict[Rule, list[Fault]] = {}
    n: Counter[Rule] = Counter()
    for fault in faults:
        n[fault.rule] += 1
        if n[fault.rule] <= N_EXAMPLES:
            first.setdefault(fault.rule, []).append(fault)
    return [
        Finding(
            rule=rule,
            n=n[rule],
            examples=tuple((fault.key, fault.what) for fault in group),
            remedy=group[0].remedy,
        )
        for rule, group in sorted(first.items())
    ]
