"""Experts' review of a bank's questions: each is judged by two, and by a third where they differ.

A reviewer sees the question, its images and its reference standard, and of the others' verdicts
nothing. What they find is used twice: items found faulty are struck off before a draw, and in a
study already read they are left out of a sensitivity analysis. Nobody reviews while cases of the
bank are read in an open study that keeps its reference standard to itself.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from study.bank.managing import item_of, strike_within
from study.base.actor import COMMAND_LINE, By
from study.base.canonical import sha256_of, shuffled, stamp
from study.base.errors import BadInput, NotFound, NotNow
from study.base.text import check_name, id_key
from study.base.translation import later, said, t
from study.lifecycle.exposure import being_read, refuse_withheld
from study.lifecycle.judging import JUDGES, Judged, is_new, judges
from study.store import Store, Transaction, banks, draws, events, judgements, studies
from study.store.events import EventKind
from study.store.judgements import ReviewedItem, ReviewRow, VerdictRow


class ItemVerdict(StrEnum):
    """What a reviewer finds of a question."""

    SOUND = "sound"
    AMBIGUOUS = "ambiguous"
    WRONG_STANDARD = "wrong reference standard"
    HALLUCINATED = "hallucinated finding"
    NOT_ANSWERABLE = "not answerable from the image"


MIXED = "several faults"
"""Of an item that most reviewers find faulty, each in another way."""

VERDICTS = {
    ItemVerdict.SOUND: later("Sound"),
    ItemVerdict.AMBIGUOUS: later("Ambiguous"),
    ItemVerdict.WRONG_STANDARD: later("Wrong reference standard"),
    ItemVerdict.HALLUCINATED: later("Asks about a finding that is not there"),
    ItemVerdict.NOT_ANSWERABLE: later("Cannot be answered from the image"),
    MIXED: later("Several faults"),
}
"""What is found of a question, as people say it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemReview(Judged):
    """How far an item's review is."""

    item: ReviewedItem
    given: Mapping[int, VerdictRow]

    @staticmethod
    def settled(verdicts: Sequence[str]) -> str | None:
        """Return what an item is found to be, or None while another has to judge it.

        Parameters
        ----------
        given
            Verdicts in the order their reviewers judge in.

        >>> ItemReview.settled(["sound", "sound"]), ItemReview.settled(["sound", "ambiguous"])
        ('sound', None)
        >>> ItemReview.settled(["sound", "ambiguous", "hallucinated finding"])
        'several faults'
        """
        if len(verdicts) < JUDGES:
            return None
        (most, n), *_ = Counter(verdicts).most_common(1)
        if n >= JUDGES:
            return most
        return MIXED if len(verdicts) > JUDGES else None


def open_review(
    store: Store,
    bank: str,
    *,
    name: str,
    item_ids: Sequence[str],
    reviewers: Sequence[int],
    now: datetime,
    by: By = COMMAND_LINE,
) -> int:
    """Let people, by number, judge items of a bank; return the review's number.

    Raises
    ------
    NotFound
        There is no such bank, or an item is not in it.
    NotNow
        The bank has a review of that name, or cases of it are being read.
    BadInput
        Fewer than two reviewers, no items, or an item twice.
    """
    check_name(name, "review")
    if len(set(reviewers)) < JUDGES:
        raise BadInput(t("Choose at least two reviewers."))
    if not item_ids or len(set(map(id_key, item_ids))) < len(item_ids):
        raise BadInput(t("List the questions to review, each once."))
    with store.change() as change:
        row = banks.bank_row(change, bank)
        if name in {other.name for other in judgements.reviews_of_bank(change, row.id)}:
            raise NotNow(t("This bank already has a review named {name}.", name=repr(name)))
        _refuse_while_read(change, row.id)
        items = [item_of(change, bank, item_id).id for item_id in item_ids]
        number = judgements.add_review(change, bank=row.id, name=name, at_utc=stamp(now))
        judgements.add_items(change, number, items)
        judgements.add_reviewers(change, number, list(dict.fromkeys(reviewers)))
        detail = {"bank": bank, "review": name, "n": len(items)}
        events.record(change, "", now, kind=EventKind.REVIEW_OPENED, detail=detail, by=by)
    return number


def sampled(look: Transaction, bank: str, n: int, *, seed: int) -> list[str]:
    """Return the item_id of `n` items of a bank, at random, of those that are not struck off.

    Raises
    ------
    NotFound
        There is no such bank.
    BadInput
        The bank has fewer, or `n` is none.
    """
    row = banks.bank_row(look, bank)
    there = [item for item, _ in draws.to_draw(look, row.id, "item", (), draws.Conditions())]
    if not 1 <= n <= len(there):
        raise BadInput(t("Choose between 1 and {n} questions.", n=len(there)))
    return shuffled(there, seed=seed, purpose="review")[:n]


def item_reviews(look: Transaction, review: int) -> list[ItemReview]:
    """Return how far the review of each item is, in order."""
    people = [reviewer.person for reviewer in judgements.reviewers(look, review)]
    by_item: dict[int, dict[int, VerdictRow]] = {}
    for row in judgements.verdicts(look, review):
        by_item.setdefault(row.item, {})[row.person] = row
    return [
        ItemReview(
            item=item,
            judges=tuple(people[number] for number in judges(item.position, len(people))),
            given=by_item.get(item.item, {}),
        )
        for item in judgements.review_items(look, review)
    ]


def waiting(look: Transaction, review: int, person: int) -> list[ReviewedItem]:
    """Return the items a person has to judge now, in order."""
    return [
        reviewed.item for reviewed in item_reviews(look, review) if person in reviewed.waits_for
    ]


def refusal(look: Transaction, review: ReviewRow) -> str:
    """Return why nobody can judge in a review at present, or an empty text."""
    if review.ended_at_utc:
        return t("This review is closed.")
    if being_read(look, review.bank):
        return t("Closed for now: cases from this bank are being read in a study.")
    return ""


def judge(
    change: Transaction,
    review: ReviewRow,
    item: int,
    *,
    person: int,
    verdict: ItemVerdict,
    comment: str,
    now: datetime,
) -> None:
    """Keep what a reviewer finds of an item; said again, the last counts.

    Raises
    ------
    NotAllowed
        The item is not theirs to judge.
    NotNow
        Nobody can judge at present.
    BadInput
        The comment is too long.
    """
    words = comment.strip()
    if why := refusal(change, review):
        raise NotNow(why)
    matches = (
        reviewed for reviewed in item_reviews(change, review.id) if reviewed.item.item == item
    )
    if is_new(next(matches, None), person, verdict, words):
        judgements.add_verdict(
            change,
            review.id,
            item=item,
            person=person,
            verdict=verdict,
            comment=words,
            at_utc=stamp(now),
        )


def close_review(store: Store, review: int, *, now: datetime, by: By = COMMAND_LINE) -> None:
    """End a review; nobody judges any more, and what was found may be used.

    The audit trail records the hash of every verdict.

    Raises
    ------
    NotFound
        There is no such review.
    NotNow
        It is over already.
    """
    with store.change() as change:
        row = review_row(change, review)
        if row.ended_at_utc:
            raise NotNow(t("This review is closed."))
        judgements.end_review(change, review, stamp(now))
        detail = {
            "bank": row.bank_name,
            "review": row.name,
            "verdicts_sha256": sha256_of(judgements.every_verdict(change, review)),
        }
        events.record(change, "", now, kind=EventKind.REVIEW_CLOSED, detail=detail, by=by)


def faulty(look: Transaction, review: int) -> dict[str, str]:
    """Return what is wrong with each item that a closed review found faulty, by its item_id.

    Raises
    ------
    NotFound
        There is no such review.
    NotNow
        The review is still open, or cases of the bank are being read.
    """
    refuse_withheld(look, review_row(look, review).bank)
    return _faulty(look, review)


def _faulty(look: Transaction, review: int) -> dict[str, str]:
    if not review_row(look, review).ended_at_utc:
        raise NotNow(t("Close the review first: until then its verdicts may change."))
    return {
        reviewed.item.item_id: reviewed.result
        for reviewed in item_reviews(look, review)
        if reviewed.result not in (None, ItemVerdict.SOUND)
    }


def faulty_cases(look: Transaction, study: int) -> list[str]:
    """Return the item_id of every case of a study that a closed review found faulty."""
    faulty = {
        id_key(item_id)
        for review in judgements.closed_reviews_about(look, study)
        for item_id in _faulty(look, review)
    }
    cases = studies.cases(look, study)
    return sorted(case.item_id for case in cases if id_key(case.item_id) in faulty)


def strike_faulty(store: Store, review: int, *, now: datetime, by: By = COMMAND_LINE) -> int:
    """Strike off what a closed review found faulty, so that no study draws it; return how many.

    Raises
    ------
    NotFound, NotNow
        As `faulty` does.
    """
    n = 0
    with store.change() as change:
        row = review_row(change, review)
        for item_id, verdict in faulty(change, review).items():
            item = item_of(change, row.bank_name, item_id)
            if item.struck is None:
                reason = t(
                    "Expert review {review}: {verdict}",
                    review=row.name,
                    verdict=said(VERDICTS[verdict]),
                )
                strike_within(change, row.bank_name, item, reason=reason, now=now, by=by)
                n += 1
    return n


TABLE = ("item_id", "patient_id", "task", "reviewer", "place", "verdict", "comment", "at_utc")
"""Columns of `verdict_table`."""


def verdict_table(look: Transaction, review: int) -> list[tuple[str | int, ...]]:
    """Return a row for every reviewer's last verdict on an item; see `TABLE`.

    `place` is 1 or 2 of those who judge first and blind to each other, 3 or more of others.

    Raises
    ------
    NotFound
        There is no such review.
    NotNow
        Cases of the bank are being read.
    """
    refuse_withheld(look, review_row(look, review).bank)
    handles = {reviewer.person: reviewer.handle for reviewer in judgements.reviewers(look, review)}
    return [
        (
            reviewed.item.item_id,
            reviewed.item.patient_id,
            reviewed.item.task,
            handles[person],
            place,
            reviewed.given[person].verdict,
            reviewed.given[person].comment,
            reviewed.given[person].at_utc,
        )
        for reviewed in item_reviews(look, review)
        for place, person in enumerate(reviewed.judges, start=1)
        if person in reviewed.given
    ]


def review_row(look: Transaction, review: int) -> ReviewRow:
    """Return a review by its number.

    Raises
    ------
    NotFound
        There is none.
    """
    row = judgements.review_by_number(look, review)
    if row is None:
        raise NotFound(t("There is no such review."))
    return row


def _refuse_while_read(look: Transaction, bank: int) -> None:
    if being_read(look, bank):
        raise NotNow(
            t(
                "Cases from this bank are being read in a study. It can be reviewed once that "
                "study is closed."
            )
        )
