"""The commands that close a study and write it in every form."""

import os
import sys
from pathlib import Path

import click

from study.base.actor import COMMAND_LINE
from study.cli.program import PATH, command, note, now
from study.exchange import archives
from study.lifecycle import studies
from study.store import Store, banks
from study.store.studies import study_row
from study.trail import heads

WITHOUT_TEXTS = click.option(
    "--without-texts", is_flag=True, help="Leave out the texts of questions and options."
)


@command()
@click.option("--reason", metavar="TEXT", required=True, help="Kept in the trail.")
def close(db: Path, study: str, reason: str) -> None:
    """Close a study for good: nothing is read any more."""
    store = Store(db)
    found = studies.close(store, study=study, reason=reason, now=now()).counts
    print(
        f"Closed {study!r} for good: {found.n_read} of {found.n_assigned} readings, "
        f"{found.n_unread} missing."
    )
    deposit(store, study)


@command()
@click.option("--out", metavar="DIR", type=PATH, required=True, help="A new folder.")
@WITHOUT_TEXTS
def archive(db: Path, study: str, out: Path, without_texts: bool) -> None:
    """Write a study in every form, with hashes."""
    store = Store(db)
    texts = not without_texts
    made = archives.archive(store, out, study=study, whole=True, texts=texts, now=now())
    note_if_open(store, study)
    note_terms(store, study, without_texts=without_texts)
    for name, why in made.left_out.items():
        print(f"Left out: {name}: {why}", file=sys.stderr)
    print(f"Wrote {', '.join((*made.sha256, archives.SUMS))} to {out}")


def note_if_open(store: Store, study: str) -> None:
    """Say that what was written tells accuracy, where the study's pages do not yet."""
    if not studies.accuracy_is_shown(store, study):
        note(
            "the study is not closed, and this holds the reference standard. "
            "Its pages show nobody accuracy before it is closed."
        )


def note_terms(store: Store, study: str, *, without_texts: bool) -> None:
    """Say on what terms the questions written may be passed on, where those are strict."""
    with store.look() as look:
        bank = banks.bank_row(look, study_row(look, study).bank_name)
    if bank.provenance.warning and not without_texts:
        note(f"{bank.provenance.warning} With --without-texts they are left out.")


def deposit(store: Store, study: str) -> None:
    """Send a study's head to whoever was named for it; where that fails, say so and go on."""
    why = heads.send_now(store, os.environ, study, now=now(), by=COMMAND_LINE)
    if why:
        print(why, file=sys.stderr)
