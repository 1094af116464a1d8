"""The commands about what is judged: experts' reviews of banks, and scoring of answers in words."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from study.base.errors import NotFound
from study.base.text import csv_line, did_you_mean
from study.base.translation import t
from study.cli.program import PATH, command, note, now, program
from study.lifecycle import exposure, reviewing
from study.lifecycle import scoring as answer_scoring
from study.protocol.checks import ids_in_file
from study.store import Store, Transaction, banks, judgements, people
from study.store.judgements import ANSWER, EXPLANATION
from study.store.studies import study_row

_BANK = click.option("--bank", metavar="NAME", required=True, help="The bank's name.")
_NAME = click.option("--review", "name", metavar="NAME", required=True, help="The review's name.")

_KINDS = {"answers": ANSWER, "explanations": EXPLANATION}
_KIND = click.option(
    "--kind",
    type=click.Choice(list(_KINDS)),
    default="answers",
    show_default=True,
    help="What is scored.",
)


@program.group()
def review() -> None:
    """Experts' reviews of a bank's questions."""


def _of_review(name: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    add = command(name, of_study=False, group=review)
    return lambda function: add(_BANK(_NAME(function)))


@_of_review("open")
@click.option(
    "--reviewer",
    "handles",
    metavar="SHORT-NAME",
    multiple=True,
    required=True,
    help="A person with the role of a reviewer.",
)
@click.option("--items", "n", metavar="N", type=int, help="So many, drawn at random.")
@click.option("--seed", metavar="N", type=int, default=1, show_default=True, help="Of the draw.")
@click.option("--list", "file", metavar="FILE", type=PATH, help="The item ids in a file.")
def open_review(
    db: Path,
    bank: str,
    name: str,
    handles: tuple[str, ...],
    n: int | None,
    seed: int,
    file: Path | None,
) -> None:
    """Have reviewers judge questions of a bank: give --items or --list, and --reviewer for each.

    Two reviewers judge each question, a third where they differ. Not while the bank's cases are
    being read in a study whose accuracy nobody may see.
    """
    if (n is None) == (file is None):
        raise click.UsageError("Give either --items or --list.")
    store = Store(db)
    with store.look() as look:
        asked = [_person_called(look, handle) for handle in handles]
        if file is not None:
            item_ids = ids_in_file(file)
        else:
            item_ids = reviewing.sampled(look, bank, n or 0, seed=seed)
    reviewing.open_review(store, bank, name=name, item_ids=item_ids, reviewers=asked, now=now())
    print(f"Opened: review {name!r} of bank {bank!r}, {len(item_ids)} items.")


@_of_review("show")
def show_review(db: Path, bank: str, name: str) -> None:
    """Print how far each reviewer is, and the result for each settled item."""
    with Store(db).look() as look:
        row = _review(look, bank, name)
        hidden = exposure.withheld(look, banks.bank_row(look, bank).id)
        items = reviewing.item_reviews(look, row)
        who = {one.person: one.handle for one in judgements.reviewers(look, row)}
    for person, handle in who.items():
        judged = sum(person in one.given for one in items)
        waiting = sum(person in one.waits_for for one in items)
        print(f"{handle}: {judged} judged, {waiting} waiting")
    if hidden:
        note(hidden)
        return
    print(csv_line(("item_id", "finding")), end="")
    for one in items:
        print(csv_line((one.item.item_id, one.result or "")), end="")


@_of_review()
def verdicts(db: Path, bank: str, name: str) -> None:
    """Print every verdict, as CSV; python -m analysis review reads it.

    The columns are item_id, patient_id, task, reviewer, place, verdict, comment and at_utc.
    """
    with Store(db).look() as look:
        rows = reviewing.verdict_table(look, _review(look, bank, name))
    for row in (reviewing.TABLE, *rows):
        print(csv_line(row), end="")


@_of_review("close")
def close_review(db: Path, bank: str, name: str) -> None:
    """End a review: no further verdicts are accepted, and its results can be used."""
    store = Store(db)
    reviewing.close_review(store, _number(store, bank, name), now=now())
    print(f"Closed: review {name!r} of bank {bank!r}.")


@_of_review()
def strike(db: Path, bank: str, name: str) -> None:
    """Strike the items that a closed review found faulty, so that no study draws them."""
    store = Store(db)
    n = reviewing.strike_faulty(store, _number(store, bank, name), now=now())
    print(f"Items struck off bank {bank!r}: {n}.")


def _number(store: Store, bank: str, name: str) -> int:
    with store.look() as look:
        return _review(look, bank, name)


def _review(look: Transaction, bank: str, name: str) -> int:
    reviews = judgements.reviews_of_bank(look, banks.bank_row(look, bank).id)
    for row in reviews:
        if row.name == name:
            return row.id
    raise NotFound(
        t("The bank {bank} has no review named {name}.", bank=repr(bank), name=repr(name))
        + did_you_mean(name, [row.name for row in reviews])
    )


def _person_called(look: Transaction, handle: str) -> int:
    """Return whoever of the deployment has a short name, by number.

    Raises
    ------
    NotFound
        Nobody has.
    """
    grants = [row for row in people.grants_of_deployment(look) if not row.revoked_at_utc]
    for row in grants:
        if row.whose == handle:
            return row.person
    known = did_you_mean(handle, [row.whose for row in grants])
    raise NotFound(t("No reviewer is called {name}.", name=repr(handle)) + known)


@program.group()
def scoring() -> None:
    """Scoring of a closed study's answers in words."""


@command("open", group=scoring)
@_KIND
@click.option(
    "--scorer",
    "handles",
    metavar="SHORT-NAME",
    multiple=True,
    required=True,
    help="A person with the role of a reviewer.",
)
@click.option("--items", "n", metavar="N", type=int, help="Of so many questions only, at random.")
@click.option("--seed", metavar="N", type=int, default=1, show_default=True, help="Of the draw.")
def open_scoring(
    db: Path, study: str, kind: str, handles: tuple[str, ...], n: int | None, seed: int
) -> None:
    """Have a closed study's answers in words, or its models' explanations, scored.

    Two or more people with the role of a reviewer score them, none of whom read in the study. Two
    score each answer, a third where they differ; they are not told whose answer it is.
    """
    store = Store(db)
    with store.look() as look:
        asked = [_person_called(look, handle) for handle in handles]
    number = answer_scoring.open_scoring(
        store, study, kind=_KINDS[kind], scorers=asked, n_items=n, seed=seed, now=now()
    )
    with store.look() as look:
        words = answer_scoring.words_of(look, number)
    n_answers = sum(len(one.answers) for one in words)
    print(f"Opened: scoring of {n_answers} {kind} of {study!r}, {len(words)} different ones.")


@command("show", group=scoring)
@_KIND
def show_scoring(db: Path, study: str, kind: str) -> None:
    """Print how far each scorer is, and how many answers are settled."""
    with Store(db).look() as look:
        row = _scoring(look, study, kind)
        words = answer_scoring.words_of(look, row)
        for one in judgements.scorers(look, row):
            judged = sum(one.position in each.given for each in words)
            waiting = sum(one.position in each.waits_for for each in words)
            print(f"{one.code} {one.handle}: {judged} judged, {waiting} waiting")
    n_settled = sum(one.result is not None for one in words)
    print(f"{n_settled} of {len(words)} different {kind} settled")


@command(group=scoring)
def scores(db: Path, study: str) -> None:
    """Print the scores of closed scorings as CSV, as the bundle has them.

    See docs/bundle.md#answers-in-words.
    """
    with Store(db).look() as look:
        found = study_row(look, study)
        exposure.refuse_withheld(look, found.bank)
        rows = list(answer_scoring.score_rows(look, found.id))
    print(csv_line(answer_scoring.TABLE), end="")
    for row in rows:
        print(csv_line(tuple(row[name] for name in answer_scoring.TABLE)), end="")


@command("close", group=scoring)
@_KIND
def close_scoring(db: Path, study: str, kind: str) -> None:
    """End a scoring: no further scores are accepted, and the bundle includes them."""
    store = Store(db)
    with store.look() as look:
        row = _scoring(look, study, kind)
    answer_scoring.close_scoring(store, row, now=now())
    print(f"Closed: scoring of the {kind} of {study!r}.")


def _scoring(look: Transaction, study: str, kind: str) -> int:
    for row in judgements.scorings_of_study(look, study_row(look, study).id):
        if row.kind == _KINDS[kind]:
            return row.id
    raise NotFound(t("These answers have not been given to scorers."))
