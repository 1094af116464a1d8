"""A reviewer's desk: the reading page over the items of an expert review that wait for somebody.

The case is the bank's question with its images; its options and its reference standard stand above
it, and what is chosen from are the verdicts. Only a reviewer of the review is ever handed it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from study.base.bank_model import LETTERS
from study.base.canonical import sha256_of
from study.base.errors import NotAllowed, StudyError
from study.base.translation import said, t
from study.lifecycle import reviewing
from study.lifecycle.reviewing import VERDICTS, ItemReview, Verdict
from study.people.signing_in import Person
from study.protocol.protocol import CONTEXTS, Condition, Protocol
from study.reading.desk import case_view, parsed, rules
from study.reading.outcomes import HANDED_OUT, NOT_YET, Taken
from study.reading.records import Presentation, Reading
from study.reading.views import CaseView, Desk, Receipt
from study.store import Store, Transaction, banks, reviews, teaching
from study.store.banks import FilmRow
from study.store.deployment import secret
from study.store.readings import WaitingCase
from study.store.reviews import ReviewRow

_PROTOCOL = Protocol(comments=True, context=CONTEXTS, smallest_window=())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sitting:
    """A reviewer in a review: what they judged, and what waits for them, in order."""

    person: Person
    review: ReviewRow
    given: Sequence[ItemReview]
    waiting: Sequence[ItemReview]


def desk(store: Store, person: Person, review: int) -> Desk:
    """Return a reviewer's desk, as the reading page takes it.

    Raises
    ------
    NotFound
        There is no such review.
    NotAllowed
        They have no part in it, or nobody can judge at present.
    """
    with store.look() as look:
        return _desk(look, _sitting(look, person, review))


def seal(store: Store, person: Person, review: int) -> str:
    """Return the mark that a page's outbox is sealed with."""
    with store.look() as look:
        return _seal(look, person, review)


def film(store: Store, person: Person, review: int, case: str, view: int) -> FilmRow | None:
    """Return the row of a film of an item that is a reviewer's to judge; or None."""
    with store.look() as look:
        sitting = _sitting(look, person, review)
        for one in (*sitting.waiting, *sitting.given):
            if _case(look, sitting, one) == case:
                return teaching.film(look, one.item.item, view, prior=True)
    return None


def take_records(
    store: Store, person: Person, review: int, records: Sequence[Any], *, now: datetime
) -> Receipt:
    """Store a reviewer's verdicts; the same one sent twice is stored once."""
    taken: list[Taken] = []
    with store.change() as change:
        for record in parsed(records):
            if not isinstance(record, Taken):
                refused = _refused(change, _sitting(change, person, review), record, now)
                record = Taken(id=record.id, case="", refused=refused)
            taken.append(record)
        return Receipt.of(taken, _desk(change, _sitting(change, person, review)))


def _refused(change: Transaction, sitting: _Sitting, record: Any, now: datetime) -> str:
    """Keep a verdict, or say why not; that an item was shown is of no interest here."""
    if isinstance(record, Presentation):
        return ""
    if not isinstance(record, Reading):
        return t("This study has no such step.")
    mine = (*sitting.waiting, *sitting.given)
    one = next((one for one in mine if _case(change, sitting, one) == record.case), None)
    verdicts = dict(zip(LETTERS, Verdict, strict=False))
    if one is None or record.option not in verdicts:
        return said(NOT_YET)
    try:
        reviewing.judge(
            change,
            sitting.review,
            one.item.item,
            person=sitting.person.id,
            verdict=verdicts[record.option],
            comment=record.comment,
            now=now,
        )
    except StudyError as error:
        return str(error)
    return ""


def _sitting(look: Transaction, person: Person, review: int) -> _Sitting:
    row = reviewing.review_row(look, review)
    if person.id not in {one.person for one in reviews.reviewers(look, review)}:
        raise NotAllowed(t("You are not a reviewer in this review."))
    if why := reviewing.refusal(look, row):
        raise NotAllowed(why)
    items = reviewing.item_reviews(look, review)
    return _Sitting(
        person=person,
        review=row,
        given=[one for one in items if person.id in one.given],
        waiting=[one for one in items if person.id in one.waits_for],
    )


def _seal(look: Transaction, person: Person, review: int) -> str:
    return sha256_of([secret(look), "review", person.id, review])[:32]


def _case(look: Transaction, sitting: _Sitting, one: ItemReview) -> str:
    what = [secret(look), "review", sitting.person.id, sitting.review.id, one.item.item]
    return sha256_of(what)[:32]


def _desk(look: Transaction, sitting: _Sitting) -> Desk:
    person, review = sitting.person, sitting.review
    n_given = len(sitting.given)
    return Desk(
        seal=_seal(look, person, review.id),
        study=review.name,
        reader=person.name,
        simulated_films=bool(banks.bank_row(look, review.bank_name).simulated),
        total=n_given + len(sitting.waiting),
        read=n_given,
        rules=rules(_PROTOCOL),
        cases=tuple(
            _view(look, sitting, one, n_given + place)
            for place, one in enumerate(sitting.waiting[:HANDED_OUT], start=1)
        ),
        stored=n_given,
    )


def _view(look: Transaction, sitting: _Sitting, one: ItemReview, position: int) -> CaseView:
    row = teaching.item(look, one.item.item)
    letters = LETTERS[: len(json.loads(row.options))]
    asked = case_view(
        look,
        WaitingCase(
            id=_case(look, sitting, one),
            position=position,
            condition=Condition.UNAIDED,
            shown_order=letters,
            presented=0,
            **row._asdict(),
        ),
        _PROTOCOL,
    )
    return replace(
        asked,
        question=_in_full(look, one.item.item, asked),
        options=tuple(
            (letter, said(VERDICTS[verdict]))
            for letter, verdict in zip(LETTERS, Verdict, strict=False)
        ),
    )


def _in_full(look: Transaction, item: int, asked: CaseView) -> str:
    """Return a question with its options, its reference standard and its explanation, as text."""
    truth, explanation = teaching.truth(look, item)
    lines = [asked.question, ""]
    for letter, text in asked.options:
        right = f"  ({t('reference standard')})" if letter == truth else ""
        lines.append(f"{letter}  {text}{right}")
    if explanation:
        lines += ["", t("Explanation: {words}", words=explanation)]
    return "\n".join(lines)
