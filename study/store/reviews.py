"""Experts' reviews of a bank's items in the store: which items, by whom, what each judged."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from study.store.connection import Transaction


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


def add(change: Transaction, *, bank: int, name: str, at_utc: str) -> int:
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


def end(change: Transaction, review: int, at_utc: str) -> None:
    """Note that a review is over."""
    change.insert("review_ends", review=review, at_utc=at_utc)


def of_bank(look: Transaction, bank: int) -> list[ReviewRow]:
    """Return a bank's reviews, in the order they were opened."""
    sql = f"{_REVIEW} WHERE bank = :bank ORDER BY reviews.id"
    return look.tuples(ReviewRow, sql, bank=bank)


def by_number(look: Transaction, review: int) -> ReviewRow | None:
    """Return a review, or None."""
    found = look.tuples(ReviewRow, f"{_REVIEW} WHERE reviews.id = :review", review=review)
    return found[0] if found else None


def of_person(look: Transaction, person: int) -> list[ReviewRow]:
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


def items(look: Transaction, review: int) -> list[ReviewedItem]:
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


def every(look: Transaction) -> list[ReviewRow]:
    """Return every review of the store."""
    return look.tuples(ReviewRow, f"{_REVIEW} ORDER BY reviews.id")


def closed_about(look: Transaction, study: int) -> list[int]:
    """Return the closed reviews of items that a study has among its cases, of whatever bank."""
    return look.tuples(
        int,
        "SELECT DISTINCT review_ends.review FROM review_ends JOIN review_items USING (review) "
        "JOIN items AS judged ON judged.id = review_items.item "
        "JOIN items AS shown ON shown.item_id = judged.item_id "
        "AND shown.question = judged.question "
        "JOIN cases ON cases.item = shown.id WHERE cases.study = :study ORDER BY 1",
        study=study,
    )
