"""Stored judgements: reviews of a bank's items and scorings of a study's answers in words.

Both are stored in the same way: the judges in order, the subjects by position, all verdicts, and
the closing. Answers in words are readings and predictions of open-ended cases, and models'
explanations.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from study.base.canonical import sha256_of
from study.store import models, studies
from study.store.connection import Transaction

OPEN_ENDED = "open-ended"
"""The condition under which a case is answered in words: `answer` contains text, not a letter."""

REVIEW = "review"
ANSWER = "answer"
EXPLANATION = "explanation"
SCORING = "scoring"
"""The kinds of judging are `REVIEW`, and the scoring of `ANSWER` or `EXPLANATION`.

`SCORING` is the noun in the names of the tables of both scorings.
"""


class OpenAnswer(NamedTuple):
    """A rater's words about an item, to be judged by people who need not know the rater.

    Attributes
    ----------
    answer_id
        The reading's id; for a model, a hash of model, item, condition and run. It is the same in a
        restored study. It identifies no person, but is not shown to scorers, because its form may
        distinguish readers from models.
    kind
        ``answer`` (to an open-ended case), or ``explanation`` (a model's reason for an answer, in
        any condition).
    run
        The name of a model's run; for a reader, the number of the repeat, from the second on.
    words
        The text as it was typed or generated; empty if there is no answer, see `status`.
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

    Superseded readings and withdrawn models are left out.
    """
    return [*_answers_of_readers(look, study), *_answers_of_models(look, study)]


def _answers_of_readers(look: Transaction, study: int) -> Iterator[OpenAnswer]:
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


def _answers_of_models(look: Transaction, study: int) -> Iterator[OpenAnswer]:
    name = look.value("SELECT name FROM studies WHERE id = :study", study=study)
    items = {row.item_id: row.item for row in studies.cases(look, study)}
    for model in models.of_study(look, study):
        for row in models.predictions(look, model.id):
            details: dict[str, Any] = {
                "rater_id": model.model_id,
                "rater_kind": "model",
                "item": items[row.item_id],
                "item_id": row.item_id,
                "condition": row.condition,
                "run": row.run,
                "status": row.status,
                "response_ms": None,
            }
            prediction = [name, *model.key, row.item_id, row.condition, row.repeat]
            if row.condition == OPEN_ENDED:
                answer_id = _answer_id(ANSWER, prediction)
                yield OpenAnswer(answer_id, ANSWER, words=row.answer or "", **details)
            explanation = json.loads(row.detail).get("explanation")
            if explanation:
                answer_id = _answer_id(EXPLANATION, prediction)
                yield OpenAnswer(answer_id, EXPLANATION, words=explanation, **details)


def _answer_id(kind: str, prediction: list[Any]) -> str:
    return sha256_of([kind, *prediction])[:32]


class JudgingRow(NamedTuple):
    """A review or scoring; `ended_at_utc` is empty while it is open.

    A review belongs to a bank and has a name; a scoring belongs to a study and is named after it.
    """

    id: int
    kind: str
    name: str
    bank: int
    bank_name: str
    study: int | None
    seed: int
    opened_at_utc: str
    ended_at_utc: str

    @property
    def table(self) -> str:
        """Return the noun in the names of its tables: `REVIEW` or `SCORING`."""
        return REVIEW if self.kind == REVIEW else SCORING


class JudgeRow(NamedTuple):
    """A reviewer or scorer; scorers restored from a bundle have no person and no handle."""

    position: int
    person: int | None
    handle: str

    @property
    def code(self) -> str:
        """Return the code of a scorer in exports."""
        return f"S{self.position + 1}"


class ReviewedItem(NamedTuple):
    """An item under review, by position."""

    position: int
    item: int
    item_id: str
    patient_id: str
    task: str


class ScoringAnswer(NamedTuple):
    """An answer under scoring; answers at one position have the same words and one verdict."""

    position: int
    answer_id: str


class VerdictRow(NamedTuple):
    """The latest verdict of a judge on the subject at a position."""

    position: int
    judge: int
    verdict: str
    comment: str
    at_utc: str


_JUDGES = {REVIEW: "reviewers", SCORING: "scorers"}
_JUDGINGS = (
    "SELECT * FROM (SELECT reviews.id, 'review' AS kind, reviews.name, bank, "
    "banks.name AS bank_name, NULL AS study, 0 AS seed, opened_at_utc, "
    "coalesce(at_utc, '') AS ended_at_utc FROM reviews JOIN banks ON banks.id = bank "
    "LEFT JOIN review_ends ON review = reviews.id "
    "UNION ALL SELECT scorings.id, kind, studies.name, bank, banks.name, study, seed, "
    "scorings.opened_at_utc, coalesce(at_utc, '') FROM scorings "
    "JOIN studies ON studies.id = study JOIN banks ON banks.id = bank "
    "LEFT JOIN scoring_ends ON scoring = scorings.id) "
)


def add_review(
    change: Transaction,
    items: Sequence[int],
    judges: Sequence[int],
    *,
    bank: int,
    name: str,
    at_utc: str,
) -> int:
    """Insert a review of items by people, both in order, and return its number."""
    review = change.insert("reviews", bank=bank, name=name, opened_at_utc=at_utc)
    for position, item in enumerate(items):
        change.insert("review_items", review=review, position=position, item=item)
    _add_judges(change, REVIEW, review, judges)
    return review


def add_scoring(
    change: Transaction,
    answers: Sequence[ScoringAnswer],
    judges: Sequence[int],
    *,
    cases: Sequence[int] = (),
    **columns: int | str,
) -> int:
    """Insert a scoring of answers by people, in order; `cases` are the drawn ones, if not all."""
    scoring = change.insert("scorings", **columns)
    for case in cases:
        change.insert("scoring_cases", scoring=scoring, case_id=case)
    for answer in answers:
        change.insert("scoring_answers", scoring=scoring, **answer._asdict())
    _add_judges(change, SCORING, scoring, judges)
    return scoring


def _add_judges(change: Transaction, table: str, judging: int, persons: Sequence[int]) -> None:
    for position, person in enumerate(persons):
        change.insert(_JUDGES[table], **{table: judging}, position=position, person=person)


def add_verdict(change: Transaction, judging: JudgingRow, verdict: VerdictRow, turn: int) -> None:
    """Insert a verdict; only the latest one of each judge counts."""
    if judging.table == SCORING:
        columns = verdict._asdict()
        scorer, score = columns.pop("judge"), columns.pop("verdict")
        change.insert(
            "scores", scoring=judging.id, scorer=scorer, turn=turn, score=score, **columns
        )
        return
    change.execute(
        "INSERT INTO review_verdicts (review, item, person, verdict, comment, at_utc) "
        "SELECT review, item, person, :verdict, :comment, :at_utc "
        "FROM review_items JOIN reviewers USING (review) WHERE review = :review "
        "AND review_items.position = :position AND reviewers.position = :judge",
        review=judging.id,
        **verdict._asdict(),
    )


def end(change: Transaction, judging: JudgingRow, at_utc: str) -> None:
    """Record that a review or scoring is closed."""
    change.insert(f"{judging.table}_ends", **{judging.table: judging.id}, at_utc=at_utc)


def reviews_of_bank(look: Transaction, bank: int) -> list[JudgingRow]:
    """Return a bank's reviews, in the order they were opened."""
    sql = f"{_JUDGINGS} WHERE kind = 'review' AND bank = :bank ORDER BY id"
    return look.tuples(JudgingRow, sql, bank=bank)


def every_review(look: Transaction) -> list[JudgingRow]:
    """Return every review of the store."""
    return look.tuples(JudgingRow, f"{_JUDGINGS} WHERE kind = 'review' ORDER BY id")


def scorings_of_study(look: Transaction, study: int) -> list[JudgingRow]:
    """Return a study's scorings, in the order they were opened."""
    return look.tuples(JudgingRow, f"{_JUDGINGS} WHERE study = :study ORDER BY id", study=study)


def judging(look: Transaction, table: str, number: int) -> JudgingRow | None:
    """Return a review or scoring by number, or None."""
    sql = f"{_JUDGINGS} WHERE (kind = 'review') = (:reviews = 1) AND id = :number"
    return look.one(JudgingRow, sql, reviews=table == REVIEW, number=number)


def judgings_of_person(look: Transaction, person: int) -> list[JudgingRow]:
    """Return the reviews and scorings in which a person judges, the newest first."""
    return look.tuples(
        JudgingRow,
        f"{_JUDGINGS} WHERE CASE kind WHEN 'review' "
        "THEN id IN (SELECT review FROM reviewers WHERE person = :person) "
        "ELSE id IN (SELECT scoring FROM scorers WHERE person = :person) END ORDER BY id DESC",
        person=person,
    )


def judges(look: Transaction, judging: JudgingRow) -> list[JudgeRow]:
    """Return the judges of a review or scoring, in order."""
    return look.tuples(
        JudgeRow,
        f"SELECT position, person, coalesce(handle, '') FROM {_JUDGES[judging.table]} "
        f"LEFT JOIN people ON people.id = person WHERE {judging.table} = :id ORDER BY position",
        id=judging.id,
    )


def review_items(look: Transaction, review: int) -> list[ReviewedItem]:
    """Return the items under review, in order."""
    return look.tuples(
        ReviewedItem,
        "SELECT position, item, item_id, patient_id, task FROM review_items "
        "JOIN items ON items.id = item WHERE review = :review ORDER BY position",
        review=review,
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
    """Return the items drawn for scoring; an empty list if all answers are scored."""
    return look.tuples(
        str,
        "SELECT item_id FROM scoring_cases JOIN cases ON cases.id = case_id "
        "JOIN items ON items.id = cases.item WHERE scoring = :scoring ORDER BY item_id",
        scoring=scoring,
    )


def verdicts(look: Transaction, judging: JudgingRow) -> list[VerdictRow]:
    """Return the latest verdict of each judge at each position, in the order they were given."""
    queries = {
        REVIEW: "SELECT review_items.position, reviewers.position, verdict, comment, at_utc "
        "FROM review_verdicts JOIN review_items USING (review, item) "
        "JOIN reviewers USING (review, person) WHERE review_verdicts.id IN (SELECT max(id) "
        "FROM review_verdicts WHERE review = :id GROUP BY item, person) "
        "ORDER BY review_verdicts.id",
        SCORING: "SELECT position, scorer, score, comment, at_utc FROM scores WHERE id IN "
        "(SELECT max(id) FROM scores WHERE scoring = :id GROUP BY position, scorer) ORDER BY id",
    }
    return look.tuples(VerdictRow, queries[judging.table], id=judging.id)


def every_verdict(look: Transaction, judging: JudgingRow) -> list[dict[str, Any]]:
    """Return all verdicts, including superseded ones, in the order they were given, for hashing."""
    queries = {
        REVIEW: "SELECT * FROM review_verdicts WHERE review = :id ORDER BY id",
        SCORING: "SELECT position, scorer, turn, score, comment, at_utc FROM scores "
        "WHERE scoring = :id ORDER BY id",
    }
    return look.rows(queries[judging.table], id=judging.id)


def closed_reviews_about(look: Transaction, study: int) -> list[int]:
    """Return the closed reviews, in any bank, of items that are cases of a study."""
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
