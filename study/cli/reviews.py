"""The commands about experts' reviews of a bank: opened, followed, closed, and put to use."""

from pathlib import Path

import click

from study.base.errors import NotFound
from study.base.text import csv_line, decoded
from study.base.translation import t
from study.cli.program import PATH, Group, command, now, program
from study.lifecycle import reviewing
from study.protocol.checks import ids_in
from study.store import Store, Transaction, banks, judgements, people

_BANK = click.option("--bank", metavar="NAME", required=True)
_NAME = click.option("--review", "name", metavar="NAME", required=True)


@program.group(cls=Group)
def review() -> None:
    """Experts' reviews of a bank's questions."""


@command("open", of_study=False, group=review)
@_BANK
@_NAME
@click.option("--reviewer", "handles", metavar="SHORT-NAME", multiple=True, required=True)
@click.option("--items", "n", metavar="N", type=int, help="So many, drawn at random.")
@click.option("--seed", metavar="N", type=int, default=1, show_default=True)
@click.option("--list", "file", metavar="FILE", type=PATH, help="The item ids in a file.")
def open_(
    db: Path,
    bank: str,
    name: str,
    handles: tuple[str, ...],
    n: int | None,
    seed: int,
    file: Path | None,
) -> None:
    """Have reviewers judge questions of a bank: give --items or --list, and --reviewer for each."""
    if (n is None) == (file is None):
        raise click.UsageError("Give either --items or --list.")
    store = Store(db)
    with store.look() as look:
        asked = [person_called(look, handle) for handle in handles]
        if file is not None:
            item_ids = ids_in(decoded(file.read_bytes(), source=file.name))
        else:
            item_ids = reviewing.sampled(look, bank, n or 0, seed=seed)
    reviewing.open_review(store, bank, name=name, item_ids=item_ids, reviewers=asked, now=now())
    print(f"Opened: review {name!r} of bank {bank!r}, {len(item_ids)} items.")


@command(of_study=False, group=review)
@_BANK
@_NAME
def show(db: Path, bank: str, name: str) -> None:
    """Print how far each reviewer is, and what was found of each settled item."""
    with Store(db).look() as look:
        row = _review(look, bank, name)
        items = reviewing.item_reviews(look, row)
        who = {one.person: one.handle for one in judgements.reviewers(look, row)}
    for person, handle in who.items():
        judged = sum(person in one.given for one in items)
        waiting = sum(person in one.waits_for for one in items)
        print(f"{handle}: {judged} judged, {waiting} waiting")
    print(csv_line(("item_id", "finding")), end="")
    for one in items:
        print(csv_line((one.item.item_id, one.result or "")), end="")


@command(of_study=False, group=review)
@_BANK
@_NAME
def verdicts(db: Path, bank: str, name: str) -> None:
    """Print every verdict, as CSV; python -m analysis review reads it."""
    with Store(db).look() as look:
        rows = reviewing.verdict_table(look, _review(look, bank, name))
    for row in (reviewing.TABLE, *rows):
        print(csv_line(row), end="")


@command(of_study=False, group=review)
@_BANK
@_NAME
def close(db: Path, bank: str, name: str) -> None:
    """End a review: nobody judges any more, and what it found can be used."""
    store = Store(db)
    reviewing.close_review(store, _number(store, bank, name), now=now())
    print(f"Closed: review {name!r} of bank {bank!r}.")


@command(of_study=False, group=review)
@_BANK
@_NAME
def strike(db: Path, bank: str, name: str) -> None:
    """Strike off what a closed review found faulty, so that no study draws it from now on."""
    store = Store(db)
    n = reviewing.strike_faulty(store, _number(store, bank, name), now=now())
    print(f"Struck off: {n} item(s) of bank {bank!r}.")


def _number(store: Store, bank: str, name: str) -> int:
    with store.look() as look:
        return _review(look, bank, name)


def _review(look: Transaction, bank: str, name: str) -> int:
    for row in judgements.reviews_of_bank(look, banks.bank_row(look, bank).id):
        if row.name == name:
            return row.id
    raise NotFound(
        t("The bank {bank} has no review named {name}.", bank=repr(bank), name=repr(name))
    )


def person_called(look: Transaction, handle: str) -> int:
    """Return whoever of the deployment has a short name, by number.

    Raises
    ------
    NotFound
        Nobody has.
    """
    for row in people.grants_of_deployment(look):
        if row.whose == handle and not row.revoked_at_utc:
            return row.person
    raise NotFound(t("No reviewer is called {name}.", name=repr(handle)))
