"""The commands that close a study and write it in every form."""

import argparse
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from study.base.actor import COMMAND_LINE
from study.exchange import archives
from study.lifecycle import closing
from study.store import Store
from study.trail import deposits


def add(command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add both commands; `command` as in `study.cli.copies`."""
    close = command("close", _close, "Close a study for good: nothing is read any more.", True)
    close.add_argument("--reason", required=True, metavar="TEXT", help="kept in the trail")
    archive = command("archive", _archive, "Write a study in every form, with hashes.", True)
    archive.add_argument("--out", required=True, type=Path, metavar="DIR", help="a new folder")


def note_if_open(store: Store, study: str) -> None:
    """Say that what was written tells accuracy, where the study's pages do not yet."""
    if not closing.accuracy_is_shown(store, study):
        print(
            "Note: the study is not closed, and this holds the reference standard. "
            "Its pages show nobody accuracy before it is closed.",
            file=sys.stderr,
        )


def deposit(store: Store, study: str) -> None:
    """Send a study's head to whoever was named for it; where that fails, say so and go on."""
    now = datetime.now(UTC)
    why = deposits.send_now(store, os.environ, study, now=now, by=COMMAND_LINE)
    if why:
        print(why, file=sys.stderr)


def _close(options: argparse.Namespace) -> int:
    now = datetime.now(UTC)
    store = Store(options.db)
    found = closing.close(store, study=options.study, reason=options.reason, now=now).counts
    print(
        f"Closed {options.study!r} for good: {found.n_read} of {found.n_assigned} readings, "
        f"{found.n_unread} missing."
    )
    deposit(store, options.study)
    return 0


def _archive(options: argparse.Namespace) -> int:
    store, now = Store(options.db), datetime.now(UTC)
    made = archives.archive(store, options.out, study=options.study, whole=True, now=now)
    note_if_open(store, options.study)
    for name, why in made.left_out.items():
        print(f"Left out: {name}: {why}", file=sys.stderr)
    print(f"Wrote {', '.join((*made.sha256, archives.SUMS))} to {options.out}")
    return 0
