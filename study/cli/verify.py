"""The commands that show whether anything was changed or lost: verify, head, accept-loss."""

import argparse
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

from study.base.errors import BadFile
from study.store import Store
from study.trail import heads, losses, receipt_checks, verification
from study.trail.heads import Said, head_line


def add(command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the commands; `command` as in `study.cli.copies`."""
    check = command("verify", _verify, "Check the chain and everything it vouches for.")
    check.add_argument(
        "--receipts", type=Path, metavar="FILE", help="readers' receipts, one a line"
    )
    check.add_argument("--heads", type=Path, metavar="FILE", help="deposited heads, one a line")
    command("head", _head, "Print the head of a study's chain, to be kept elsewhere.", True)
    taking = command("accept-loss", _accept, "Accept that a store ends before what was stored.")
    taking.add_argument("--reason", required=True, metavar="WORDS", help="kept in the trail")


def _verify(options: argparse.Namespace) -> int:
    store = Store(options.db)
    said = [
        *(receipt_checks.check(store, _text(options.receipts)) if options.receipts else ()),
        *(heads.check(store, _text(options.heads)) if options.heads else ()),
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


def _all_hold(said: Iterable[Said]) -> bool:
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


def _head(options: argparse.Namespace) -> int:
    print(head_line(Store(options.db), options.study, now=datetime.now(UTC)))
    return 0


def _accept(options: argparse.Namespace) -> int:
    accepted = losses.accept(Store(options.db), reason=options.reason, now=datetime.now(UTC))
    for one in accepted:
        print(one.sentence)
    print("Accepted, and written into the trail.")
    return 0
