"""The commands about scoring answers in words: given to scorers, followed, printed, closed."""

from pathlib import Path

import click

from study.base.errors import NotFound
from study.base.text import csv_line
from study.base.translation import t
from study.cli.program import Group, command, now, program
from study.cli.reviews import person_called
from study.lifecycle import scoring as domain
from study.store import Store, Transaction, judgements
from study.store.judgements import ANSWER, EXPLANATION
from study.store.studies import study_row

_KINDS = {"answers": ANSWER, "explanations": EXPLANATION}
_KIND = click.option(
    "--kind", type=click.Choice(list(_KINDS)), default="answers", show_default=True
)


@program.group(cls=Group)
def scoring() -> None:
    """Scoring of a closed study's answers in words."""


@command("open", group=scoring)
@_KIND
@click.option("--scorer", "handles", metavar="SHORT-NAME", multiple=True, required=True)
@click.option("--items", "n", metavar="N", type=int, help="Of so many questions only, at random.")
@click.option("--seed", metavar="N", type=int, default=1, show_default=True)
def open_(
    db: Path, study: str, kind: str, handles: tuple[str, ...], n: int | None, seed: int
) -> None:
    """Have a closed study's answers in words, or its explanations, scored by reviewers."""
    store = Store(db)
    with store.look() as look:
        asked = [person_called(look, handle) for handle in handles]
    number = domain.open_scoring(
        store, study, kind=_KINDS[kind], scorers=asked, n_items=n, seed=seed, now=now()
    )
    with store.look() as look:
        words = domain.words_of(look, number)
    n_answers = sum(len(one.answers) for one in words)
    print(f"Opened: scoring of {n_answers} {kind} of {study!r}, {len(words)} different ones.")


@command(group=scoring)
@_KIND
def show(db: Path, study: str, kind: str) -> None:
    """Print how far each scorer is, and how many answers are settled."""
    with Store(db).look() as look:
        row = _scoring(look, study, kind)
        words = domain.words_of(look, row)
        for one in judgements.scorers(look, row):
            judged = sum(one.position in each.given for each in words)
            waiting = sum(one.position in each.waits_for for each in words)
            print(f"{one.code} {one.handle}: {judged} judged, {waiting} waiting")
    n_settled = sum(one.result is not None for one in words)
    print(f"{n_settled} of {len(words)} different {kind} settled")


@command(group=scoring)
def scores(db: Path, study: str) -> None:
    """Print the scores of closed scorings as CSV, as the bundle has them."""
    with Store(db).look() as look:
        rows = list(domain.score_rows(look, study_row(look, study).id))
    print(csv_line(domain.TABLE), end="")
    for row in rows:
        print(csv_line(tuple(row[name] for name in domain.TABLE)), end="")


@command(group=scoring)
@_KIND
def close(db: Path, study: str, kind: str) -> None:
    """End a scoring: nobody scores any more, and the scores leave with the study's bundle."""
    store = Store(db)
    with store.look() as look:
        row = _scoring(look, study, kind)
    domain.close_scoring(store, row, now=now())
    print(f"Closed: scoring of the {kind} of {study!r}.")


def _scoring(look: Transaction, study: str, kind: str) -> int:
    for row in judgements.scorings_of_study(look, study_row(look, study).id):
        if row.kind == _KINDS[kind]:
            return row.id
    raise NotFound(t("These answers have not been given to scorers."))
