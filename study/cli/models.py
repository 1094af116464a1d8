"""The commands about models as raters: handing predictions in, and withdrawing them."""

import argparse
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from study.models.models import Found, keep_model, read_model
from study.models.withdrawals import withdraw_model
from study.store import Store


def add(commands: Any, command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the group ``models``; `command` makes one of a group's commands."""
    group = commands.add_parser("models", help="Models as raters.", description="Models as raters.")
    verbs = group.add_subparsers(required=True, metavar="COMMAND")
    adding = command(verbs, "add", _add, "Add a model's predictions.", True)
    adding.add_argument("file", type=Path, metavar="FILE", help="JSON, JSONL or CSV")
    adding.add_argument("--model", required=True, metavar="NAME")
    adding.add_argument("--model-version", default="", metavar="V")
    adding.add_argument(
        "--replace", action="store_true", help="withdraw the model of that name, for --reason"
    )
    adding.add_argument("--reason", default="", metavar="TEXT", help="why it is replaced")
    adding.add_argument(
        "--dry-run", action="store_true", help="print what the file holds, and keep nothing"
    )
    withdrawing = command(verbs, "withdraw", _withdraw, "Withdraw a model, with a reason.", True)
    withdrawing.add_argument("--model", required=True, metavar="NAME")
    withdrawing.add_argument("--reason", required=True, metavar="TEXT")


def _add(options: argparse.Namespace) -> int:
    store = Store(options.db)
    found = read_model(store, options.file, study=options.study)
    if not options.dry_run:
        keep_model(
            store,
            found,
            model_id=options.model,
            model_version=options.model_version,
            replace=options.replace,
            reason=options.reason,
            now=datetime.now(UTC),
        )
    _print(found, options.model)
    if options.dry_run:
        print("Nothing was kept.")
    return 0


def _print(found: Found, model_id: str) -> None:
    for note in found.file.notes:
        print(f"Note: {note}", file=sys.stderr)
    counts = ", ".join(f"{count} {status}" for status, count in sorted(found.by_status.items()))
    print(
        f"{model_id}: {found.n_cases} cases: {counts}, {found.n_absent} absent; "
        f"{found.n_not_drawn} prediction(s) for items not in the study were left."
    )
    if found.n_unanswered:
        print(
            f"Note: {found.n_unanswered} of {found.n_cases} cases have no answer and count as "
            "wrong.",
            file=sys.stderr,
        )


def _withdraw(options: argparse.Namespace) -> int:
    withdraw_model(
        Store(options.db),
        study=options.study,
        model_id=options.model,
        reason=options.reason,
        now=datetime.now(UTC),
    )
    print(f"Withdrawn: {options.model}. Its predictions stay in the store, and count nowhere.")
    return 0
