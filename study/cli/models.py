"""The commands about models as raters: handing predictions in, and withdrawing them."""

from pathlib import Path

import click

from study.cli.program import PATH, Group, command, note, now, program
from study.models.models import Found, keep_model, read_model
from study.models.withdrawals import withdraw_model
from study.store import Store

_MODEL = click.option("--model", metavar="NAME", required=True)


@program.group(cls=Group)
def models() -> None:
    """Models as raters."""


@command(group=models)
@click.argument("file", metavar="FILE", type=PATH)
@_MODEL
@click.option("--model-version", metavar="V", default="")
@click.option("--replace", is_flag=True, help="Withdraw the model of that name, for --reason.")
@click.option("--reason", metavar="TEXT", default="", help="Why it is replaced.")
@click.option("--dry-run", is_flag=True, help="Print what the file holds, and keep nothing.")
def add(
    db: Path,
    study: str,
    file: Path,
    model: str,
    model_version: str,
    replace: bool,
    reason: str,
    dry_run: bool,
) -> None:
    """Add a model's predictions (JSON, JSONL or CSV)."""
    store = Store(db)
    found = read_model(store, file, study=study)
    if not dry_run:
        keep_model(
            store,
            found,
            model_id=model,
            model_version=model_version,
            replace=replace,
            reason=reason,
            now=now(),
        )
    _print(found, model)
    if dry_run:
        print("Nothing was kept.")


def _print(found: Found, model_id: str) -> None:
    for words in found.file.notes:
        note(words)
    counts = ", ".join(f"{count} {status}" for status, count in sorted(found.by_status.items()))
    print(
        f"{model_id}: {found.n_cases} cases: {counts}, {found.n_absent} absent; "
        f"{found.n_not_drawn} prediction(s) for items not in the study were left."
    )
    if found.n_unanswered:
        note(f"{found.n_unanswered} of {found.n_cases} cases have no answer and count as wrong.")


@command(group=models)
@_MODEL
@click.option("--reason", metavar="TEXT", required=True)
def withdraw(db: Path, study: str, model: str, reason: str) -> None:
    """Withdraw a model, with a reason."""
    withdraw_model(Store(db), study=study, model_id=model, reason=reason, now=now())
    print(f"Withdrawn: {model}. Its predictions stay in the store, and count nowhere.")
