"""The commands about models as raters: handing predictions in, and withdrawing them."""

from pathlib import Path

import click

from study.base.errors import BadFile, BadInput
from study.cli.program import PATH, Group, command, note, now, program
from study.models.answer_parser import RULES, STANDARD
from study.models.files import parsed_columns, remember_columns, remembered_columns
from study.models.model_protocol import Shown
from study.models.models import (
    FIELDS,
    Found,
    cards,
    describe_model,
    keep_model,
    read_model,
    withdraw_model,
)
from study.models.predictions import columns_of
from study.models.rereading import keep_reread, reread
from study.store import Store

_MODEL = click.option("--model", metavar="NAME", required=True)


@program.group(cls=Group)
def models() -> None:
    """Models as raters."""


@command(group=models)
@click.argument("files", metavar="FILE ...", type=PATH, nargs=-1, required=True)
@_MODEL
@click.option("--model-version", metavar="V", default="")
@click.option("--columns", metavar="id=COL,...", default="", help="What the columns mean.")
@click.option("--replace", is_flag=True, help="Withdraw the model of that name, for --reason.")
@click.option("--reason", metavar="TEXT", default="", help="Why it is replaced.")
@click.option("--dry-run", is_flag=True, help="Print what the file holds, and keep nothing.")
def add(
    db: Path,
    study: str,
    files: tuple[Path, ...],
    model: str,
    model_version: str,
    columns: str,
    replace: bool,
    reason: str,
    dry_run: bool,
) -> None:
    """Add a model's predictions, from a file of any harness or with --columns.

    Columns can mean id, answer, output, run, condition, confidence, probability_A ..., order,
    prompt and explanation. Several files are the model's runs, or its parts.
    """
    store = Store(db)
    meant = parsed_columns(columns) if columns else None
    try:
        found = read_model(store, *files, study=study, meant=meant)
    except BadFile as error:
        raise BadFile(f"{error}{_hint(store, files[0]) if meant is None else ''}") from error
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
        if meant:
            remember_columns(store, found.file.columns, meant, now())
    print_found(found, model)
    if dry_run:
        print("Nothing was kept.")


def _hint(store: Store, file: Path) -> str:
    """Return how the columns of a file are named, or were the last time; empty if it has none."""
    try:
        columns = columns_of(file)
    except BadFile:
        return ""
    before = remembered_columns(store, columns)
    if not columns:
        return ""
    if before:
        words = ",".join(f"{role}={column}" for role, column in before.items())
        return f"\nThese columns were named before: --columns {words!r}"
    return "\nColumns can be named: --columns id=COLUMN,output=COLUMN"


def print_found(found: Found, model_id: str) -> None:
    """Print what was read of a model's predictions, and note what is to be known."""
    note(f"{found.source_name}: {found.file.shape}, {found.file.n_rows:,} rows.")
    for words in found.file.notes:
        note(words)
    counts = ", ".join(f"{count} {status}" for status, count in sorted(found.by_status.items()))
    print(
        f"{model_id}: {found.n_cases} cases: {counts}, {found.n_absent} absent; "
        f"{found.n_not_drawn} prediction(s) for items not in the study were left."
    )
    if found.file.n_runs > 1:
        note(f"{found.file.n_runs} runs; the first of them stands for the model.")
    if len(found.file.conditions) > 1:
        named = ", ".join(one or "as the readers were shown" for one in found.file.conditions)
        note(f"conditions: {named}; the first of them stands for the model.")
    if found.n_unanswered:
        wrong = "" if found.file.conditions == (Shown.OPEN_ENDED,) else " and count as wrong"
        note(f"{found.n_unanswered} of {found.n_cases} cases have no answer{wrong}.")


@command("reread", group=models)
@_MODEL
@click.option("--rules", type=click.Choice(sorted(RULES)), default=STANDARD, show_default=True)
@click.option("--reason", metavar="TEXT", default="", help="Keep it so, for this reason.")
def read_again(db: Path, study: str, model: str, rules: str, reason: str) -> None:
    """Read a model's kept words again by stricter or looser rules.

    Says what changes; with --reason the model is replaced by its own words so read.
    """
    store = Store(db)
    read = reread(store, study=study, model_id=model, rules=rules)
    if reason:
        keep_reread(store, read, reason=reason, now=now())
    for (before, after), n in sorted(read.changed.items()):
        print(f"{n} {before} -> {after}")
    print(
        f"{model}: {read.changed.total()} of {read.found.file.n_rows} change by the {rules} rules."
    )
    print("Kept." if reason else "Nothing was kept.")


@command(group=models)
@_MODEL
@click.option("--set", "told", metavar="FIELD=TEXT", multiple=True, help=", ".join(FIELDS))
def card(db: Path, study: str, model: str, told: tuple[str, ...]) -> None:
    """Print a model's card, for the leaderboard, or with --set change fields of it."""
    store = Store(db)
    before = dict(cards(store, study).get(model, {}))
    if told:
        if wrong := next((one for one in told if "=" not in one), ""):
            raise BadInput(f"--set {wrong!r} is not of the form FIELD=TEXT")
        before |= dict(one.split("=", 1) for one in told)
        describe_model(store, study=study, model_id=model, card=before, now=now())
    for field, words in before.items():
        print(f"{field}: {words}")


@command(group=models)
@_MODEL
@click.option("--reason", metavar="TEXT", required=True)
def withdraw(db: Path, study: str, model: str, reason: str) -> None:
    """Withdraw a model, with a reason."""
    withdraw_model(Store(db), study=study, model_id=model, reason=reason, now=now())
    print(f"Withdrawn: {model}. Its predictions stay in the store, and count nowhere.")
