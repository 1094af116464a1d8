"""The commands about question banks: what is there, whether a file is sound, and removing one."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import click

from study.bank.checking import Report, check_bank
from study.bank.describing import compared, described, in_full
from study.bank.joining import join_banks
from study.bank.removing import remove_bank
from study.bank.striking import strike
from study.base.bank_model import LETTERS
from study.base.text import csv_line
from study.cli.program import PATH, Group, command, note, now, program
from study.lifecycle.teaching import mark
from study.store import Store, banks

_JSON = click.option("--json", "as_json", is_flag=True, help="As JSON.")
_BANK = click.option("--bank", "name", metavar="NAME", required=True)


@program.group(cls=Group)
def bank() -> None:
    """Question banks."""


@command("list", of_study=False, group=bank)
@_JSON
def list_(db: Path, as_json: bool) -> None:
    """Print every bank of a store, as CSV."""
    with Store(db).look() as look:
        found = [described(row, banks.holders(look, row.id)) for row in banks.listed(look)]
    if as_json:
        _print_json(found)
        return
    columns = (
        *("bank", "items", "films", "imported_at_utc", "source", "version", "licence"),
        *("content_sha256", "studies"),
    )
    print(csv_line(columns), end="")
    for one in found:
        print(csv_line({**one, "studies": len(one["studies"])}[name] for name in columns), end="")


@command(of_study=False, group=bank)
@_BANK
@_JSON
def show(db: Path, name: str, as_json: bool) -> None:
    """Print what a bank is and what is in it, counted."""
    with Store(db).look() as look:
        found = in_full(look, name)
    if as_json:
        _print_json(found)
        return
    for key, value in found.items():
        if key != "by":
            print(f"{key}: {', '.join(value) if isinstance(value, list) else value}")
    for column, counts in found["by"].items():
        print(f"by {column}:")
        for value, n in counts.items():
            print(f"  {n:>8}  {value or '(none)'}")


@bank.command()
@click.argument("path", metavar="PATH", type=PATH)
@click.option("--images", metavar="DIR", type=PATH, help="Default: the folder of PATH.")
@click.option("--format", type=click.Choice(["rexvqa", "csv"]), help="Default: by its ending.")
@_JSON
def check(
    path: Path, images: Path | None, format: Literal["rexvqa", "csv"] | None, as_json: bool
) -> int:
    """Check a bank file, or a folder with one, and keep nothing.

    Exit status 1 where an import would refuse it.
    """
    found = check_bank(path, images=images, format=format)
    if as_json:
        _print_json(_as_json(found))
    else:
        _print(found)
    return 0 if found.is_sound else 1


def _as_json(found: Report) -> dict[str, Any]:
    return {
        "file": found.file,
        "sound": found.is_sound,
        "items": found.n_found,
        "sound_items": found.n_sound,
        "rules": [
            {
                "code": one.rule,
                "rule": one.title,
                "fault": one.is_fault,
                "count": one.n,
                "examples": [{"item": key, "what": what} for key, what in one.examples],
                "remedy": one.remedy,
            }
            for one in found.findings
        ],
        "correct_letters": {
            letter: {"items": n, "expected": round(expected, 2)}
            for letter, n, expected in _letters(found)
        },
        "correct_letters_p": found.letters.p if found.letters.n else None,
        "notes": list(found.notes),
    }


def _letters(found: Report) -> Iterable[tuple[str, int, float]]:
    return zip(LETTERS, found.letters.n, found.letters.expected, strict=False)


def _print(found: Report) -> None:
    print(f"{found.file}: {found.n_found} item(s), {found.n_sound} of them sound.")
    for one in found.findings:
        print(f"\n{one.rule} {'fault' if one.is_fault else 'note'}: {one.title} ({one.n})")
        for key, what in one.examples:
            print(f"  {key}: {what}")
        if one.n > len(one.examples):
            print(f"  ... and {one.n - len(one.examples)} more")
        print(f"  What to do: {one.remedy}")
    if found.letters.n:
        counts = ", ".join(f"{letter} {n} ({by:.1f})" for letter, n, by in _letters(found))
        print(f"\nCorrect options, and as many by chance: {counts}; p = {found.letters.p:.3g}.")
    for words in found.notes:
        note(words)
    if found.is_sound:
        print("\nAn import takes it whole.")
    else:
        print("\nAn import refuses it; docs/bank-rules.md explains every rule.")


@command(of_study=False, group=bank)
@click.argument("name", metavar="A")
@click.argument("other", metavar="B")
@_JSON
def compare(db: Path, name: str, other: str, as_json: bool) -> None:
    """Print what two banks have in common, and what not."""
    with Store(db).look() as look:
        n_alike, differences = compared(look, name, other)
    if as_json:
        _print_json({"alike": n_alike, "differences": [asdict(one) for one in differences]})
        return
    print(f"{n_alike} item(s) are in both and alike.")
    for one in differences:
        print(f"\n{one.what} ({one.n})")
        for example in one.examples:
            print(f"  {example}")
        if one.n > len(one.examples):
            print(f"  ... and {one.n - len(one.examples)} more")


@command(of_study=False, group=bank)
@_BANK
def remove(db: Path, name: str) -> None:
    """Remove a bank that no study and no draft uses."""
    row = remove_bank(Store(db), name, now=now())
    print(f"Removed: bank {name!r}, {row.n_items} items and {row.n_films} films.")
    if row.images_root:
        note(f"its image files stay in {row.images_root}.")


@command(of_study=False, group=bank)
@click.argument("name", metavar="NAME")
@click.option("--bank", "sources", metavar="BANK", multiple=True, required=True)
def join(db: Path, name: str, sources: tuple[str, ...]) -> None:
    """Make one bank of several, to draw a study from: give --bank for each of them."""
    made = join_banks(Store(db), sources, name=name, now=now())
    print(f"Joined: bank {name!r}, {made.n_items} items and {made.n_films} films.")
    if made.note:
        note(made.note)


@command("strike", of_study=False, group=bank)
@click.argument("item", metavar="ITEM")
@_BANK
@click.option("--reason", metavar="TEXT", required=True)
@click.option("--back", is_flag=True, help="Take it back.")
def strike_(db: Path, item: str, name: str, reason: str, back: bool) -> None:
    """Strike an item off, so that no study draws it from now on; or take it back."""
    strike(Store(db), name, item, reason=reason, back=back, now=now())
    print(f"{'Taken back' if back else 'Struck off'}: {item} of bank {name!r}.")


@command(of_study=False, group=bank)
@_BANK
@click.option("--on/--off", "taught", default=True, help="Open it for teaching, or end that.")
def teach(db: Path, name: str, taught: bool) -> None:
    """Let people practise with a bank, answers shown; or no longer."""
    mark(Store(db), name, taught=taught, now=now())
    print(f"Bank {name!r} is {'open' if taught else 'no longer open'} for teaching.")


def _print_json(found: Any) -> None:
    print(json.dumps(found, indent=2, ensure_ascii=False))
