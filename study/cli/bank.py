"""Commands for question banks: import, list, check, compare, join, strike, teach and remove."""

import json
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

import click

from study.bank.importing import Imported, import_bank
from study.bank.layout import contains_dicom, find_bank, single_file_bank
from study.bank.managing import (
    Report,
    check_bank,
    compare_banks,
    describe_bank,
    describe_in_full,
    join_banks,
    remove_bank,
    strike,
)
from study.bank.reading import BankFormat, ImportOptions, MissingImages
from study.base.bank_model import LETTERS
from study.base.provenance import Provenance
from study.base.text import csv_line, quoted
from study.cli.program import PATH, acting, command, note, program, warn
from study.store import Store, banks

_JSON = click.option("--json", "as_json", is_flag=True, help="As JSON.")
_BANK = click.option("--bank", "name", metavar="NAME", required=True, help="The bank's name.")


@program.group()
def bank() -> None:
    """Question banks."""


@command("list", of_study=False, group=bank)
@_JSON
def list_(db: Path | str, as_json: bool) -> None:
    """Print every bank as CSV.

    The columns are bank, items, films, imported_at_utc, source, content_sha256 and studies (the
    number of studies that use it).
    """
    with Store(db).look() as look:
        rows = [
            describe_bank(row, banks.studies_and_drafts(look, row.id)) for row in banks.listed(look)
        ]
    if as_json:
        _print_json(rows)
        return
    columns = (
        *("bank", "items", "films", "imported_at_utc", "source", "version", "licence"),
        *("content_sha256", "studies"),
    )
    print(csv_line(columns), end="")
    for facts in rows:
        print(
            csv_line({**facts, "studies": len(facts["studies"])}[name] for name in columns), end=""
        )


@command(of_study=False, group=bank)
@_BANK
@_JSON
def show(db: Path | str, name: str, as_json: bool) -> None:
    """Print a bank's description and the counts of its items.

    It names the studies and drafts that use the bank, and counts its items by split, task,
    category, subcategory, sex, view and age in decades.
    """
    with Store(db).look() as look:
        facts = describe_in_full(look, name)
    if as_json:
        _print_json(facts)
        return
    for key, value in facts.items():
        if key != "by":
            print(f"{key}: {', '.join(value) if isinstance(value, list) else value}")
    for column, counts in facts["by"].items():
        print(f"by {column}:")
        for value, n in counts.items():
            print(f"  {n:>8}  {value or '(none)'}")


@bank.command()
@click.argument("path", metavar="PATH", type=PATH)
@click.option("--images", metavar="DIR", type=PATH, help="Default: the folder of PATH.")
@click.option(
    "--format", type=click.Choice(["rexvqa", "csv"]), help="Default: from the file extension."
)
@_JSON
def check(
    path: Path, images: Path | None, format: Literal["rexvqa", "csv"] | None, as_json: bool
) -> int:
    """Check a bank file, or a folder with one, as an import would, without storing it.

    For each rule it prints the finding, its frequency, up to 20 examples and the remedy. It also
    prints how often each letter is correct, with the p-value of a chance distribution. Exit status
    1 if an import would refuse it. See docs/bank-rules.md.
    """
    report = check_bank(path, images=images, format=format)
    if as_json:
        _print_json(_as_json(report))
    else:
        _print_report(report)
    return 0 if report.is_sound else 1


def _as_json(report: Report) -> dict[str, Any]:
    return {
        "file": report.file,
        "sound": report.is_sound,
        "items": report.n_found,
        "sound_items": report.n_sound,
        "rules": [
            {
                "code": finding.rule,
                "rule": finding.title,
                "finding": finding.finding,
                "fault": finding.is_fault,
                "count": finding.n,
                "examples": [{"item": key, "what": fault} for key, fault in finding.examples],
                "remedy": finding.remedy,
            }
            for finding in report.findings
        ],
        "correct_letters": {
            letter: {"items": n, "expected": round(expected, 2)}
            for letter, n, expected in _letter_counts(report)
        },
        "correct_letters_p": report.letters.p if report.letters.n else None,
        "notes": list(report.notes),
    }


def _letter_counts(report: Report) -> Iterable[tuple[str, int, float]]:
    return zip(LETTERS, report.letters.n, report.letters.expected, strict=False)


def _print_report(report: Report) -> None:
    print(f"{report.file}: items: {report.n_found}, without errors: {report.n_sound}.")
    for finding in report.findings:
        kind = "fault" if finding.is_fault else "note"
        print(f"\n{finding.rule} {kind}: {finding.finding} ({finding.n})")
        _print_examples([f"{key}: {fault}" for key, fault in finding.examples], finding.n)
        print(f"  What to do: {finding.remedy}")
    if report.letters.n:
        counts = ", ".join(f"{letter} {n} ({by:.1f})" for letter, n, by in _letter_counts(report))
        print(f"\nCorrect options (expected by chance): {counts}; p = {report.letters.p:.3g}.")
    for words in report.notes:
        note(words)
    if report.is_sound:
        print("\nAll items can be imported.")
    else:
        print("\nAn import would refuse it; docs/bank-rules.md explains every rule.")


@command(of_study=False, group=bank)
@click.argument("name", metavar="A")
@click.argument("other", metavar="B")
@_JSON
def compare(db: Path | str, name: str, other: str, as_json: bool) -> None:
    """Print what two banks have in common and where they differ.

    It lists items that only one of them has, the differences between items with the same id, and
    images that both have under different ids.
    """
    with Store(db).look() as look:
        n_alike, differences = compare_banks(look, name, other)
    if as_json:
        _print_json({"alike": n_alike, "differences": list(map(asdict, differences))})
        return
    print(f"Identical items in both: {n_alike}.")
    for difference in differences:
        print(f"\n{difference.what} ({difference.n})")
        _print_examples(difference.examples, difference.n)


def _print_examples(examples: Sequence[str], n: int) -> None:
    for example in examples:
        print(f"  {example}")
    if n > len(examples):
        print(f"  ... and {n - len(examples)} more")


@command(of_study=False, group=bank)
@_BANK
def remove(db: Path | str, name: str) -> None:
    """Remove a bank with its items and the records of its images; the image files are kept.

    The command is refused while studies or drafts use the bank; the message names them. The audit
    trail keeps a record of the bank.
    """
    row = remove_bank(Store(db), name, acting=acting())
    print(f"Removed: bank {quoted(name)}, {row.n_items} items and {row.n_films} films.")
    if row.images_root:
        note(f"its image files are kept in {row.images_root}.")


@command(of_study=False, group=bank)
@click.argument("name", metavar="NAME")
@click.option(
    "--bank", "sources", metavar="BANK", multiple=True, required=True, help="A bank to join."
)
@click.option(
    "--prefix",
    is_flag=True,
    help="Put each bank's name before its item, examination and patient IDs.",
)
def join(db: Path | str, name: str, sources: tuple[str, ...], prefix: bool) -> None:
    """Join several banks into a new bank, from which a study can be drawn.

    Give --bank once for each bank. See docs/bank-format.md#several-banks.
    """
    joined = join_banks(Store(db), sources, name=name, prefix=prefix, acting=acting())
    print(f"Joined: bank {quoted(name)}, {joined.n_items} items and {joined.n_films} films.")
    if joined.note:
        note(joined.note)


@command("strike", of_study=False, group=bank)
@click.argument("item", metavar="ITEM")
@_BANK
@click.option("--reason", metavar="TEXT", required=True, help="Kept in the audit trail.")
@click.option("--back", is_flag=True, help="Reinstate the item.")
def strike_(db: Path | str, item: str, name: str, reason: str, back: bool) -> None:
    """Strike an item, so that later studies do not draw it.

    The item is no longer used for teaching; studies that have drawn it keep it. The audit trail
    records when an item is struck off or reinstated.
    """
    strike(Store(db), name, item, reason=reason, reinstate=back, acting=acting())
    print(f"{'Reinstated' if back else 'Struck off'}: {item} of bank {quoted(name)}.")


@command(of_study=False, group=bank)
@_BANK
@click.option("--on/--off", "taught", default=True, help="Open it for teaching, or close it again.")
def teach(db: Path | str, name: str, taught: bool) -> None:
    """Open a bank for teaching, or close it again.

    Everyone with an account may then practise with the bank and see the answers. It is not
    available while its cases are being read in a study that hides accuracy, nor to readers of a
    study that is not closed.
    """
    from study.lifecycle.teaching import set_availability  # takes 0.1 s to import

    set_availability(Store(db), name, taught=taught, acting=acting())
    print(f"Bank {quoted(name)} is {'open' if taught else 'no longer open'} for teaching.")


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))


class _ImportOptions(TypedDict):
    """The options of `import`, without the files and the bank's name."""

    images: Path | None
    missing_images: MissingImages | None
    format: BankFormat | None
    skip_faulty: bool
    scale: float | None
    allow: bool
    version: str
    licence: str
    source_url: str
    citation: str


@command("import", of_study=False)
@click.argument("path", metavar="PATH", type=PATH)
@click.argument("more", metavar="", nargs=-1)
@click.option("--bank", metavar="NAME", required=True, help="The bank's name in the store.")
@click.option(
    "--split",
    metavar="NAME ...",
    multiple=True,
    help="Splits of the ReXVQA release (default: all).",
)
@click.option(
    "--images", metavar="DIR", type=PATH, help="The folder that image paths are relative to."
)
@click.option(
    "--missing-images",
    type=click.Choice(("refuse", "drop", "frontal")),
    help="If images are missing: import nothing (default); leave out their items; or import the "
    "items whose frontal image exists.",
)
@click.option(
    "--format", type=click.Choice(("rexvqa", "csv")), help="Default: from the file extension."
)
@click.option("--skip-faulty", is_flag=True, help="Leave out items with errors, and list them.")
@click.option(
    "--scale",
    type=float,
    metavar="X",
    help="Scale of DICOM images: 0.25 reduces each side to a quarter.",
)
@click.option(
    "--allow-possible-identifiers",
    "allow",
    is_flag=True,
    help="For DICOM folders: import text with words that may be names or ordinary words.",
)
@click.option("--version", metavar="V", default="", help="Version of the bank, such as 1.0.")
@click.option("--licence", metavar="TEXT", default="", help="Name of the licence, or its terms.")
@click.option("--source-url", metavar="URL", default="", help="Where the bank comes from.")
@click.option("--citation", metavar="TEXT", default="", help="How to cite the bank.")
def import_(
    db: Path | str,
    path: Path,
    more: tuple[str, ...],
    bank: str,
    split: tuple[str, ...],
    **import_options: Unpack[_ImportOptions],
) -> None:
    """Import a question bank (JSON, JSONL, CSV or XLSX, or a folder with it) and its images.

    PATH is a bank file or a folder that contains one, such as the ReXVQA release or DICOM images
    with a spreadsheet. If there are faults, nothing is imported and all faults are listed. An
    interrupted import resumes with the images that have not been checked; importing the same files
    again has no effect. Warnings on stderr state how answers can be guessed without the images.
    See docs/bank-format.md and docs/bank-format.md#dicom.
    """
    if more and not split:
        raise click.UsageError(f"Got unexpected extra argument ({' '.join(more)})")
    images, scale, allow = (
        import_options["images"],
        import_options["scale"],
        import_options["allow"],
    )
    options = ImportOptions(
        format=import_options["format"],
        missing_images=import_options["missing_images"],
        skip_faulty=import_options["skip_faulty"],
        provenance=Provenance(
            version=import_options["version"],
            licence=import_options["licence"],
            source_url=import_options["source_url"],
            citation=import_options["citation"],
        ),
        scale=scale or 1.0,
        allow_possible_identifiers=allow,
        progress=ImportProgress() if sys.stderr.isatty() else None,
    )
    if path.is_dir() and not split and not more and contains_dicom(path):
        from study.bank.dicom_bank import import_dicom  # takes a second to import

        result = import_dicom(Store(db), path, name=bank, acting=acting(), options=options)
    else:
        if scale is not None or allow:
            option = "--allow-possible-identifiers" if allow else "--scale"
            raise click.UsageError(f"{option} is only for a folder of DICOM images.")
        if path.is_dir():
            parts, own_images = find_bank(path, (*split, *more))
        elif split:
            raise click.UsageError("--split is only for a folder; this is a file.")
        else:
            parts, own_images = single_file_bank(path, images)
        result = import_bank(
            Store(db),
            parts,
            name=bank,
            images=images or own_images,
            acting=acting(),
            options=options,
        )
    _print_result(bank, result)


def _print_result(bank: str, result: Imported) -> None:
    if not result.is_new:
        print(f"Bank {quoted(bank)} was already imported from the same files; nothing was changed.")
        return
    for words in result.notes:
        note(words)
    for fault in (*result.left_out, *result.missing.examples):
        print(f"Left out: {fault}", file=sys.stderr)
    if result.missing.n_films:
        note(
            f"Missing images: {result.missing.n_films:,}; items left out: "
            f"{result.missing.n_items:,}; "
            f"items imported without them: {result.missing.n_shortened:,}"
        )
    warn(result.guessable)
    print(
        f"Imported {result.n_items} items and {result.n_films} films "
        f"into bank {quoted(result.bank)}; items left out: {result.n_left_out}."
    )


class ImportProgress:
    """Prints the progress, speed and remaining time of an import on stderr."""

    def __init__(self) -> None:
        self._step, self._since = "", 0.0

    def __call__(self, step: str, n_done: int, total: int) -> None:
        """Print the progress in place of the previous line."""
        if step != self._step:
            self._step, self._since = step, time.monotonic()
        rate = n_done / max(time.monotonic() - self._since, 0.001)
        left = f", {(total - n_done) / rate:,.0f} s left" if rate and n_done < total else ""
        if step == "items":
            words = f"Items read: {n_done >> 20:,} of {total >> 20:,} MB"
        else:
            words = f"Films checked: {n_done:,} of {total:,} ({rate:,.0f} per second{left})"
        text = "Storing ..." if step == "store" else words
        print(f"\r{text:<70}", end="\n" if n_done == total else "", file=sys.stderr)
