"""What people judge, in the store: answers in words, their scorings, experts' reviews of items.

Which answers or items, by whom, and what each judged. What readers and models said in their own
words are answers to open-ended cases, and models' explanations.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from study.base.canonical import sha256_of
from study.store import models, studies
from study.store.connection import Transaction

OPEN_ENDED = "open-ended"
"""The condition under which a case is answered in words: `answer` holds them, and no letter."""

ANSWER = "answer"
EXPLANATION = "explanation"


class OpenAnswer(NamedTuple):
    """Words of a rater about an item, to be judged by somebody who need not know whose they are.

    Attributes
    ----------
    answer_id
        The reading's id; of a model a hash of which model, item, condition and run it is. It is the
        same for as long as the study is, in a restored study too. It names nobody, but its form may
        tell a reader's from a model's: no scorer is shown it.
    kind
        ``answer``: to an open-ended case. ``explanation``: why a model answered as it did, under
        whichever condition.
    run
        What a model's run is called; of a reader the number of the repeat, from the second on.
    words
        As they were typed or put out; empty where there is no answer, see `status`.
    """

    answer_id: str
    kind: str
    rater_id: str
    rater_kind: str
    item: int
    item_id: str
    condition: str
    run: str
    status: str
    words: str
    response_ms: float | None


def open_answers_of_study(look: Transaction, study: int) -> list[OpenAnswer]:
    """Return the open answers and explanations of a study, readers first, then models.

    Neither readings that another supersedes nor models that were withdrawn are among them.
    """
    return [*_of_readers(look, study), *_of_models(look, study)]


def _of_readers(look: Transaction, study: int) -> Iterator[OpenAnswer]:
    rows = look.rows(
        "SELECT readings.id, reader_id, cases.item, item_id, repeat, status, answer, response_ms "
        "FROM readings JOIN assignments ON assignments.id = assignment "
        "JOIN readers ON readers.id = reader JOIN cases ON cases.id = case_id "
        "JOIN items ON items.id = cases.item "
        "WHERE readers.study = :study AND condition = :condition AND NOT EXISTS "
        "(SELECT 1 FROM readings AS later WHERE later.supersedes = readings.id) "
        "ORDER BY readers.id, assignments.position",
        study=study,
        condition=OPEN_ENDED,
    )
    for row in rows:
        yield OpenAnswer(
            answer_id=row["id"],
            kind=ANSWER,
            rater_id=row["reader_id"],
            rater_kind="reader",
            item=row["item"],
            item_id=row["item_id"],
            condition=OPEN_ENDED,
            run=str(row["repeat"]) if row["repeat"] > 1 else "",
            status=row["status"],
            words=row["answer"] or "",
            response_ms=row["response_ms"],
        )


def _of_models(look: Transaction, study: int) -> Iterator[OpenAnswer]:
    name = look.value("SELECT name FROM studies WHERE id = :study", study=study)
    items = {row.item_id: row.item for row in studies.cases(look, study)}
    for model in models.of_study(look, study):
        for one in models.predictions(look, model.id):
            about: dict[str, Any] = {
                "rater_id": model.model_id,
                "rater_kind": "model",
                "item": items[one.item_id],
                "item_id": one.item_id,
                "condition": one.condition,
                "run": one.run,
                "status": one.status,
                "response_ms": None,
            }
            which = [name, *model.key, one.item_id, one.condition, one.repeat]
            if one.condition == OPEN_ENDED:
                answer_id = _answer_id(ANSWER, which)
                yield OpenAnswer(answer_id, ANSWER, words=one.answer or "", **about)
            explanation = json.loads(one.detail).get("explanation")
            if explanation:
                answer_id = _answer_id(EXPLANATION, which)
                yield OpenAnswer(answer_id, EXPLANATION, words=explanation, **about)


def _answer_id(kind: str, which: list[Any]) -> str:
    return sha256_of([kind, *which])[:32]


class ScoringRow(NamedTuple):
    """A scoring of a study's answers or explanations; `ended_at_utc` is empty while it goes on."""

    id: int
    study: int
    study_name: str
    bank: int
    bank_name: str
    kind: str
    seed: int
    opened_at_utc: str
    ended_at_utc: str


class ScorerRow(NamedTuple):
    """Who scores, by their place among the scorers; one who came with a bundle is nobody here."""

    position: int
    person: int | None
    handle: str

    @property
    def code(self) -> str:
        """Return what a scorer is called outside."""
        return f"S{self.position + 1}"


class ScoringAnswer(NamedTuple):
    """An answer under scoring; those of one position say the same, and are judged as one."""

    position: int
    answer_id: str


class ScoreRow(NamedTuple):
    """What a scorer last said of the words at a position, and in which turn."""

    position: int
    scorer: int
    turn: int
    verdict: str
    comment: str
    at_utc: str


_SCORING = (
    "SELECT scorings.id, study, studies.name AS study_name, bank, banks.name AS bank_name, kind, "
    "seed, scorings.opened_at_utc, coalesce(at_utc, '') AS ended_at_utc FROM scorings "
    "JOIN studies ON studies.id = study JOIN banks ON banks.id = bank "
    "LEFT JOIN scoring_ends ON scoring = scorings.id "
)


def add_scoring(change: Transaction, *, study: int, kind: str, seed: int, at_utc: str) -> int:
    """Insert a scoring; return its number."""
    return change.insert("scorings", study=study, kind=kind, seed=seed, opened_at_utc=at_utc)


def add_cases(change: Transaction, scoring: int, cases: Sequence[int]) -> None:
    """Insert the cases that were drawn to be scored; none where all are."""
    for case in cases:
        change.insert("scoring_cases", scoring=scoring, case_id=case)


def add_answers(change: Transaction, scoring: int, answers: Sequence[ScoringAnswer]) -> None:
    """Insert the answers under scoring, each with its position."""
    for one in answers:
        change.insert("scoring_answers", scoring=scoring, **one._asdict())


def add_scorers(change: Transaction, scoring: int, persons: Sequence[int]) -> None:
    """Insert who scores, in order."""
    for position, person in enumerate(persons):
        change.insert("scorers", scoring=scoring, position=position, person=person)


def add_score(change: Transaction, scoring: int, **columns: Any) -> None:
    """Insert what somebody says of the words at a position; the last they said counts."""
    change.insert("scores", scoring=scoring, **columns)


def end_scoring(change: Transaction, scoring: int, at_utc: str) -> None:
    """Note that a scoring is over."""
    change.insert("scoring_ends", scoring=scoring, at_utc=at_utc)


def scorings_of_study(look: Transaction, study: int) -> list[ScoringRow]:
    """Return a study's scorings, in the order they were opened."""
    sql = f"{_SCORING} WHERE study = :study ORDER BY scorings.id"
    return look.tuples(ScoringRow, sql, study=study)


def scoring_by_number(look: Transaction, scoring: int) -> ScoringRow | None:
    """Return a scoring, or None."""
    return look.one(ScoringRow, f"{_SCORING} WHERE scorings.id = :scoring", scoring=scoring)


def scorings_of_person(look: Transaction, person: int) -> list[ScoringRow]:
    """Return the scorings somebody has a part in, the newest first."""
    return look.tuples(
        ScoringRow,
        f"{_SCORING} WHERE scorings.id IN (SELECT scoring FROM scorers WHERE person = :person) "
        "ORDER BY scorings.id DESC",
        person=person,
    )


def scorers(look: Transaction, scoring: int) -> list[ScorerRow]:
    """Return who scores, in order."""
    return look.tuples(
        ScorerRow,
        "SELECT position, person, coalesce(handle, '') AS handle FROM scorers "
        "LEFT JOIN people ON people.id = person WHERE scoring = :scoring ORDER BY position",
        scoring=scoring,
    )


def scoring_answers(look: Transaction, scoring: int) -> list[ScoringAnswer]:
    """Return the answers under scoring, by position."""
    return look.tuples(
        ScoringAnswer,
        "SELECT position, answer_id FROM scoring_answers WHERE scoring = :scoring "
        "ORDER BY position, answer_id",
        scoring=scoring,
    )


def scoring_item_ids(look: Transaction, scoring: int) -> list[str]:
    """Return the items that were drawn to be scored; none where all are."""
    return look.tuples(
        str,
        "SELECT item_id FROM scoring_cases JOIN cases ON cases.id = case_id "
        "JOIN items ON items.id = cases.item WHERE scoring = :scoring ORDER BY item_id",
        scoring=scoring,
    )


def scores(look: Transaction, scoring: int) -> list[ScoreRow]:
    """Return what each scorer last said of the words at each position."""
    return look.tuples(
        ScoreRow,
        "SELECT position, scorer, turn, score AS verdict, comment, at_utc FROM scores WHERE id IN "
        "(SELECT max(id) FROM scores WHERE scoring = :scoring GROUP BY position, scorer) "
        "ORDER BY id",
        scoring=scoring,
    )


def every_score(look: Transaction, scoring: int) -> list[dict[str, Any]]:
    """Return everything that scorers said, in the order they said it, as it can be restored."""
    return look.rows(
        "SELECT position, scorer, turn, score, comment, at_utc FROM scores "
        "WHERE scoring = :scoring ORDER BY id",
        scoring=scoring,
    )


class ReviewRow(NamedTuple):
    """A review of a bank's items; `ended_at_utc` is empty while it goes on."""

    id: int
    bank: int
    bank_name: str
    name: str
    opened_at_utc: str
    ended_at_utc: str


class ReviewerRow(NamedTuple):
    """Who judges, by their place among the reviewers."""

    position: int
    person: int
    handle: str


class ReviewedItem(NamedTuple):
    """An item under review, by its place."""

    position: int
    item: int
    item_id: str
    patient_id: str
    task: str


class VerdictRow(NamedTuple):
    """What a reviewer last said of an item."""

    item: int
    person: int
    verdict: str
    comment: str
    at_utc: str


_REVIEW = (
    "SELECT reviews.id, bank, banks.name AS bank_name, reviews.name, opened_at_utc, "
    "coalesce(at_utc, '') AS ended_at_utc FROM reviews JOIN banks ON banks.id = bank "
    "LEFT JOIN review_ends ON review = reviews.id "
)


def add_review(change: Transaction, *, bank: int, name: str, at_utc: str) -> int:
    """Insert a review; return its number."""
    return change.insert("reviews", bank=bank, name=name, opened_at_utc=at_utc)


def add_items(change: Transaction, review: int, items: Sequence[int]) -> None:
    """Insert the items under review, in order."""
    for position, item in enumerate(items):
        change.insert("review_items", review=review, position=position, item=item)


def add_reviewers(change: Transaction, review: int, persons: Sequence[int]) -> None:
    """Insert who judges, in order."""
    for position, person in enumerate(persons):
        change.insert("reviewers", review=review, position=position, person=person)


def add_verdict(
    change: Transaction,
    review: int,
    *,
    item: int,
    person: int,
    verdict: str,
    comment: str,
    at_utc: str,
) -> None:
    """Insert what somebody says of an item; the last they said counts."""
    change.insert(
        "review_verdicts",
        review=review,
        item=item,
        person=person,
        verdict=verdict,
        comment=comment,
        at_utc=at_utc,
    )


def end_review(change: Transaction, review: int, at_utc: str) -> None:
    """Note that a review is over."""
    change.insert("review_ends", review=review, at_utc=at_utc)


def reviews_of_bank(look: Transaction, bank: int) -> list[ReviewRow]:
    """Return a bank's reviews, in the order they were opened."""
    sql = f"{_REVIEW} WHERE bank = :bank ORDER BY reviews.id"
    return look.tuples(ReviewRow, sql, bank=bank)


def review_by_number(look: Transaction, review: int) -> ReviewRow | None:
    """Return a review, or None."""
    return look.one(ReviewRow, f"{_REVIEW} WHERE reviews.id = :review", review=review)


def reviews_of_person(look: Transaction, person: int) -> list[ReviewRow]:
    """Return the reviews somebody has a part in, the newest first."""
    return look.tuples(
        ReviewRow,
        f"{_REVIEW} WHERE reviews.id IN (SELECT review FROM reviewers WHERE person = :person) "
        "ORDER BY reviews.id DESC",
        person=person,
    )


def reviewers(look: Transaction, review: int) -> list[ReviewerRow]:
    """Return who judges, in order."""
    return look.tuples(
        ReviewerRow,
        "SELECT position, person, handle FROM reviewers JOIN people ON people.id = person "
        "WHERE review = :review ORDER BY position",
        review=review,
    )


def review_items(look: Transaction, review: int) -> list[ReviewedItem]:
    """Return the items under review, in order."""
    return look.tuples(
        ReviewedItem,
        "SELECT position, item, item_id, patient_id, task FROM review_items "
        "JOIN items ON items.id = item WHERE review = :review ORDER BY position",
        review=review,
    )


def verdicts(look: Transaction, review: int) -> list[VerdictRow]:
    """Return what each reviewer last said of each item."""
    return look.tuples(
        VerdictRow,
        "SELECT item, person, verdict, comment, at_utc FROM review_verdicts WHERE id IN "
        "(SELECT max(id) FROM review_verdicts WHERE review = :review GROUP BY item, person) "
        "ORDER BY id",
        review=review,
    )


def every_verdict(look: Transaction, review: int) -> list[dict[str, Any]]:
    """Return everything that reviewers said in a review, in the order they said it."""
    return look.rows(
        "SELECT * FROM review_verdicts WHERE review = :review ORDER BY id", review=review
    )


def every_review(look: Transaction) -> list[ReviewRow]:
    """Return every review of the store."""
    return look.tuples(ReviewRow, f"{_REVIEW} ORDER BY reviews.id")


def closed_reviews_about(look: Transaction, study: int) -> list[int]:
    """Return the closed reviews of items that a study has among its cases, of whatever bank."""
    return look.tuples(
        int,
        "WITH shown AS MATERIALIZED (SELECT id_key(item_id) AS id, text_key(question) AS asked "
        "FROM cases JOIN items ON items.id = item WHERE study = :study) "
        "SELECT DISTINCT review_ends.review FROM review_ends JOIN review_items USING (review) "
        "JOIN items AS judged ON judged.id = review_items.item "
        "JOIN shown ON shown.id = id_key(judged.item_id) "
        "AND shown.asked = text_key(judged.question) ORDER BY 1",
        study=study,
    )
