"""Stored aids: the model's answers as shown with aided cases, and readers' requests for them."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from study.store.connection import Transaction


class AidRow(NamedTuple):
    """The model's answer for a case as shown to readers; `boxes` and `map` are JSON lists.

    `planted` states that this answer replaced a correct one.
    """

    case_id: int
    answer: str | None
    confidence: float | None
    explanation: str
    boxes: str
    map: str
    planted: int


class DueAid(NamedTuple):
    """An aid that a reader may see now; `missing` is 1 if the model has no answer for the case."""

    missing: int
    answer: str | None
    confidence: float | None
    explanation: str | None
    boxes: str | None
    map: str | None


class AidRequest(NamedTuple):
    """A reader's request for the aid of a case, with the browser's and the server's time."""

    id: str
    assignment: str
    requested_at_utc: str | None
    received_at_utc: str


def add(change: Transaction, rows: Iterable[AidRow]) -> None:
    """Insert the aids of a study, which never change."""
    change.insert_many("aids", AidRow._fields, rows)


def of_study(look: Transaction, study: int) -> list[tuple[str, AidRow]]:
    """Return the aids of a study with their items, in order of case number."""
    return look.tuples(
        lambda item_id, *values: (item_id, AidRow(*values)),
        "SELECT item_id, aids.* FROM aids JOIN cases ON cases.id = case_id "
        "JOIN items ON items.id = item WHERE study = :study ORDER BY number",
        study=study,
    )


def due(look: Transaction, assignment: str) -> DueAid | None:
    """Return the aid of an assignment if it is due, otherwise None; `Store.desk` may read it."""
    return look.one(
        DueAid,
        "SELECT missing, answer, confidence, explanation, boxes, map FROM due_aids "
        "WHERE assignment = :assignment",
        assignment=assignment,
    )


def add_request(change: Transaction, row: AidRequest) -> None:
    """Insert a request."""
    change.insert("aid_requests", **row._asdict())


def request(look: Transaction, assignment: str) -> AidRequest | None:
    """Return the request for the aid of an assignment, or None."""
    return look.one(
        AidRequest,
        "SELECT * FROM aid_requests WHERE assignment = :assignment",
        assignment=assignment,
    )


def has_request_id(look: Transaction, request_id: str) -> bool:
    """Return whether a request for any case has this id."""
    return bool(
        look.value("SELECT EXISTS (SELECT 1 FROM aid_requests WHERE id = :id)", id=request_id)
    )


def requests_of_study(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return every request of a study as stored, for verification."""
    return look.rows(
        "SELECT aid_requests.* FROM aid_requests JOIN assignments ON assignments.id = assignment "
        "JOIN readers ON readers.id = reader WHERE study = :study ORDER BY aid_requests.rowid",
        study=study,
    )
