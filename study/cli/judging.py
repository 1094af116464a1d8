"""Commands for judging: expert reviews of banks, and scoring of open-ended answers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict, Unpack

import click

from study.base.errors import NotFound
from study.base.text import csv_line, did_you_mean, quoted
from study.base.translation import t
from study.cli.program import PATH, acting, command, note, program
from study.lifecycle import exposure, judging, reviewing
from study.lifecycle import scoring as answer_scoring
from study.protocol.checks import ids_in_file
from study.store import Store, Transaction, banks, judgements, people
from study.store.judgements import ANSWER, EXPLANATION, REVIEW, SCORING, JudgingRow
from study.store.studies import study_row

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

_BANK = click.option("--bank", metavar="NAME", required=True, help="The bank's name.")
_NAME = click.option("--review", "name", metavar="NAME", required=True, help="The review's name.")
_SEED = click.option(
    "--seed", metavar="N", type=int, default=1, show_default=True, help="Seed of the draw."
)

_KINDS = {"answers": ANSWER, "explanations": EXPLANATION}
_KIND = click.option(
    "--kind",
    type=click.Choice(list(_KINDS)),
    default="answers",
    show_default=True,
    help="What is scored.",
)


def _judges_option(option: str) -> _Decorator:
    return click.option(
        option,
        "handles",
        metavar="SHORT-NAME",
        multiple=True,
        required=True,
        help="A person with the role of a reviewer.",
    )


@program.group()
def review() -> None:
    """Expert reviews of a bank's questions."""


def _review_command(name: str | None = None) -> _Decorator:
    add = command(name, of_study=False, group=review)
    return lambda function: add(_BANK(_NAME(function)))


class _Items(TypedDict):
    """The options that choose the items of a review."""

    n: int | None
    seed: int
    file: Path | None


@_review_command("open")
@_judges_option("--reviewer")
@click.option("--items", "n", metavar="N", type=int, help="Number of items, drawn at random.")
@_SEED
@click.option("--list", "file", metavar="FILE", type=PATH, help="A file with the item IDs.")
def open_review(
    db: Path | str,
    bank: str,
    name: str,
    handles: tuple[str, ...],
    **items: Unpack[_Items],
) -> None:
    """Start a review of a bank's questions, chosen by --items or --list.

    Give --reviewer once for each reviewer. Two reviewers judge each question, and a third if they
    differ. The command is refused while the bank's cases are being read in a study that hides
    accuracy.
    """
    n, file = items["n"], items["file"]
    if (n is None) == (file is None):
        raise click.UsageError("Give either --items or --list.")
    store = Store(db)
    with store.look() as look:
        reviewers = [_find_person(look, handle) for handle in handles]
        if file is not None:
            item_ids = ids_in_file(file)
        else:
            item_ids = reviewing.sample_items(look, bank, n or 0, seed=items["seed"])
    reviewing.open_review(
        store, bank, name=name, item_ids=item_ids, reviewers=reviewers, acting=acting()
    )
    plural = "s" * (len(item_ids) != 1)
    print(f"Opened: review {quoted(name)} of bank {quoted(bank)}, {len(item_ids)} item{plural}.")


@_review_command("show")
def show_review(db: Path | str, bank: str, name: str) -> None:
    """Print each reviewer's progress, and the result for each item that has one."""
    with Store(db).look() as look:
        row = _find_review(look, bank, name)
        hidden = exposure.withheld_reason(look, row.bank)
        judged_cases = _print_progress(look, row)
    if hidden:
        note(hidden)
        return
    print(csv_line(("item_id", "finding")), end="")
    for case in judged_cases:
        print(csv_line((case.item_id, case.result or "")), end="")


@_review_command()
def verdicts(db: Path | str, bank: str, name: str) -> None:
    """Print every verdict as CSV, which python -m analysis review reads.

    The columns are item_id, patient_id, task, reviewer, place, verdict, comment and at_utc.
    """
    with Store(db).look() as look:
        rows = reviewing.verdict_table(look, _find_review(look, bank, name).id)
    for row in (reviewing.VERDICT_COLUMNS, *rows):
        print(csv_line(row), end="")


@_review_command("close")
def close_review(db: Path | str, bank: str, name: str) -> None:
    """End a review: no more verdicts are accepted, and its results can be used."""
    store = Store(db)
    judging.close(store, REVIEW, _review_number(store, bank, name), acting=acting())
    print(f"Closed: review {quoted(name)} of bank {quoted(bank)}.")


@_review_command()
def strike(db: Path | str, bank: str, name: str) -> None:
    """Strike the items that a closed review found faulty, so that no study draws them."""
    store = Store(db)
    n = reviewing.strike_faulty(store, _review_number(store, bank, name), acting=acting())
    print(f"Items struck off bank {quoted(bank)}: {n}.")


def _review_number(store: Store, bank: str, name: str) -> int:
    with store.look() as look:
        return _find_review(look, bank, name).id


def _find_review(look: Transaction, bank: str, name: str) -> JudgingRow:
    reviews = judgements.reviews_of_bank(look, banks.bank_row(look, bank).id)
    for row in reviews:
        if row.name == name:
            return row
    raise NotFound(
        t("The bank {bank} has no review named {name}.", bank=quoted(bank), name=quoted(name))
        + did_you_mean(name, [row.name for row in reviews])
    )


def _find_person(look: Transaction, handle: str) -> int:
    """Return the number of the person in the deployment who has this short name.

    Raises
    ------
    NotFound
        No person has this short name.
    """
    grants = [row for row in people.grants_of_deployment(look) if not row.revoked_at_utc]
    for row in grants:
        if row.holder_name == handle:
            return row.person
    known = did_you_mean(handle, [row.holder_name for row in grants])
    raise NotFound(t("No reviewer is called {name}.", name=quoted(handle)) + known)


def _print_progress(look: Transaction, row: JudgingRow) -> list[judging.Judged]:
    """Print each judge's progress, and return everything that is judged."""
    judged_cases = judging.everything_judged(look, row)
    for judge in judgements.judges(look, row):
        n_judged = sum(judge.position in case.verdicts for case in judged_cases)
        n_waiting = sum(judge.position in case.waits_for for case in judged_cases)
        code = "" if row.kind == REVIEW else f"{judge.code} "
        print(f"{code}{judge.handle}: {n_judged} judged, {n_waiting} waiting")
    return judged_cases


@program.group()
def scoring() -> None:
    """Scoring of a closed study's free-text answers."""


@command("open", group=scoring)
@_KIND
@_judges_option("--scorer")
@click.option(
    "--items", "n", metavar="N", type=int, help="The answers to N questions only, drawn at random."
)
@_SEED
def open_scoring(
    db: Path | str, study: str, kind: str, handles: tuple[str, ...], n: int | None, seed: int
) -> None:
    """Start the scoring of a closed study's open-ended answers, or of its models' explanations.

    The scorers are two or more people with the role of reviewer who are not readers of the study.
    Two of them score each answer, and a third if they differ; they do not see who gave the answer.
    """
    store = Store(db)
    with store.look() as look:
        scorers = [_find_person(look, handle) for handle in handles]
    answer_scoring.open_scoring(
        store,
        study,
        kind=_KINDS[kind],
        scorers=scorers,
        sample=answer_scoring.Sample(n_items=n, seed=seed),
        acting=acting(),
    )
    with store.look() as look:
        judged_cases = judging.everything_judged(look, _find_scoring(look, study, kind))
    n_answers = sum(len(case.answers) for case in judged_cases)
    print(
        f"Opened: scoring of {n_answers} {kind} of {quoted(study)}, {len(judged_cases)} different "
        "ones."
    )


@command("show", group=scoring)
@_KIND
def show_scoring(db: Path | str, study: str, kind: str) -> None:
    """Print each scorer's progress, and the number of answers that have a result."""
    with Store(db).look() as look:
        judged_cases = _print_progress(look, _find_scoring(look, study, kind))
    n_settled = sum(case.result is not None for case in judged_cases)
    print(f"{n_settled} of {len(judged_cases)} different {kind} settled")


@command(group=scoring)
def scores(db: Path | str, study: str) -> None:
    """Print the scores of closed scorings as CSV, in the format of the bundle.

    See docs/bundle.md#answers-in-words.
    """
    with Store(db).look() as look:
        row = study_row(look, study)
        exposure.refuse_withheld(look, row.bank)
        rows = list(answer_scoring.score_rows(look, row.id))
    print(csv_line(answer_scoring.SCORE_COLUMNS), end="")
    for score in rows:
        print(csv_line(tuple(score[name] for name in answer_scoring.SCORE_COLUMNS)), end="")


@command("close", group=scoring)
@_KIND
def close_scoring(db: Path | str, study: str, kind: str) -> None:
    """End a scoring: no more scores are accepted, and the bundle includes them."""
    store = Store(db)
    with store.look() as look:
        number = _find_scoring(look, study, kind).id
    judging.close(store, SCORING, number, acting=acting())
    print(f"Closed: scoring of the {kind} of {quoted(study)}.")


def _find_scoring(look: Transaction, study: str, kind: str) -> JudgingRow:
    for row in judgements.scorings_of_study(look, study_row(look, study).id):
        if row.kind == _KINDS[kind]:
            return row
    raise NotFound(t("These answers have not been given to scorers."))
