"""The commands that show whether anything was changed or lost: verify, head, accept-loss."""

import sys
from collections.abc import Iterable
from pathlib import Path

import click

from study.base.errors import BadFile
from study.cli.program import PATH, command, now
from study.store import Store
from study.trail import heads, losses, verification
from study.trail.heads import LineFinding, head_line


@command(of_study=False)
@click.option("--receipts", metavar="FILE", type=PATH, help="Readers' receipts, one a line.")
@click.option("--heads", "kept", metavar="FILE", type=PATH, help="Deposited heads, one a line.")
def verify(db: Path, receipts: Path | None, kept: Path | None) -> int:
    """Check the chain and everything it vouches for."""
    store = Store(db)
    said = [
        *(heads.check_receipts(store, _text(receipts)) if receipts else ()),
        *(heads.check_heads(store, _text(kept)) if kept else ()),
    ]
    breaches = verification.verify(store)
    for remark in verification.remarks(store):
        print(f"Note: {remark}")
    for breach in breaches:
        print(breach, file=sys.stderr)
    if not breaches and verification.is_extract(store):
        print("Everything in this copy of a study holds: chain, protocol, items, assignments,")
        print("readings, predictions. Its films and the rest of its bank are not in it.")
    elif not breaches:
        print("Everything holds: chain, protocols, assignments, readings, predictions, films.")
    return 1 if breaches or not _all_hold(said) else 0


def _all_hold(said: Iterable[LineFinding]) -> bool:
    """Print what became of each receipt and head, and return whether all of them hold."""
    told = list(said)
    for one in told:
        print(one.words, file=sys.stdout if one.holds else sys.stderr)
    return all(one.holds for one in told)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise BadFile(f"{path} is no text in UTF-8. Save it as such.") from error


@command()
def head(db: Path, study: str) -> None:
    """Print the head of a study's chain, to be kept elsewhere."""
    print(head_line(Store(db), study, now=now()))


@command("accept-loss", of_study=False)
@click.option("--reason", metavar="WORDS", required=True, help="Kept in the trail.")
def accept_loss(db: Path, reason: str) -> None:
    """Accept that a store ends before what was stored."""
    for one in losses.accept(Store(db), reason=reason, now=now()):
        print(one.sentence)
    print("Accepted, and written into the trail.")
