"""Opens expert reviews of a bank's questions, and uses their results.

Reviewers see the question, its images and its reference standard, but no other verdict. Faulty
items can be struck off before a draw; in a study that has already been read, a sensitivity analysis
leaves them out. Reviews are not accessible while cases in the bank are being read in an open study
that hides its reference standard.
"""

from collections.abc import Sequence

from study.bank.managing import item_of, items_of, strike_within
from study.base.actor import Acting
from study.base.canonical import shuffled, stamp
from study.base.errors import BadInput, NotNow
from study.base.text import check_name, id_key, quoted
from study.base.translation import t, translated
from study.lifecycle.exposure import refuse_withheld, studies_reading
from study.lifecycle.judging import (
    LABELS,
    ItemVerdict,
    distinct_judges,
    everything_judged,
    judging_row,
)
from study.store import Store, Transaction, banks, draws, events, judgements, studies
from study.store.events import EventKind
from study.store.judgements import REVIEW


def open_review(
    store: Store,
    bank: str,
    *,
    name: str,
    item_ids: Sequence[str],
    reviewers: Sequence[int],
    acting: Acting,
) -> int:
    """Open a review of items in a bank by these people; return the review's number.

    Raises
    ------
    NotFound
        The bank does not exist or does not contain an item.
    NotNow
        The bank has a review of the same name, or its cases are being read.
    BadInput
        There are fewer than two reviewers or no items, or an item is listed twice.
    """
    check_name(name, "review")
    persons = distinct_judges(REVIEW, reviewers)
    if not item_ids or len(set(map(id_key, item_ids))) < len(item_ids):
        raise BadInput(t("List the questions to review, each once."))
    with store.change() as change:
        row = banks.bank_row(change, bank)
        if name in {other.name for other in judgements.reviews_of_bank(change, row.id)}:
            raise NotNow(t("This bank already has a review named {name}.", name=quoted(name)))
        if studies_reading(change, row.id):
            raise NotNow(
                t(
                    "Cases from this bank are being read in a study. It can be reviewed once that "
                    "study is closed."
                )
            )
        items = [item.id for item in items_of(change, bank, item_ids)]
        number = judgements.add_review(
            change, items, persons, bank=row.id, name=name, at_utc=stamp(acting.now)
        )
        detail = {"bank": bank, "review": name, "n": len(items)}
        events.record(change, "", acting, kind=EventKind.REVIEW_OPENED, detail=detail)
    return number


def sample_items(look: Transaction, bank: str, n: int, *, seed: int) -> list[str]:
    """Return the item_ids of `n` random items in a bank that have not been struck off.

    Raises
    ------
    NotFound
        The bank does not exist.
    BadInput
        The bank has fewer items, or `n` is less than 1.
    """
    row = banks.bank_row(look, bank)
    items = [item for item, _ in draws.drawable_items(look, row.id, "item", (), draws.Conditions())]
    if not 1 <= n <= len(items):
        raise BadInput(t("Choose between 1 and {n} questions.", n=len(items)))
    return shuffled(items, seed=seed, purpose="review")[:n]


def faulty_items(look: Transaction, review: int) -> dict[str, str]:
    """Return the faults that a closed review reported, by item_id.

    Raises
    ------
    NotFound
        The review does not exist.
    NotNow
        The review is still open, or cases in the bank are being read.
    """
    refuse_withheld(look, judging_row(look, REVIEW, review).bank)
    return _faults_by_item(look, review)


def _faults_by_item(look: Transaction, review: int) -> dict[str, str]:
    row = judging_row(look, REVIEW, review)
    if not row.ended_at_utc:
        raise NotNow(t("Close the review first: until then its verdicts may change."))
    return {
        case.item_id: case.result
        for case in everything_judged(look, row)
        if case.result not in (None, ItemVerdict.SOUND)
    }


def faulty_cases(look: Transaction, study: int) -> list[str]:
    """Return the item_ids of a study's cases that a closed review found faulty."""
    items = {
        id_key(item_id)
        for review in judgements.closed_reviews_about(look, study)
        for item_id in _faults_by_item(look, review)
    }
    cases = studies.cases(look, study)
    return sorted(case.item_id for case in cases if id_key(case.item_id) in items)


def strike_faulty(store: Store, review: int, *, acting: Acting) -> int:
    """Strike off the items that a closed review found faulty; return their number.

    They can no longer be drawn for a study.

    Raises
    ------
    NotFound, NotNow
        As for `faulty_items`.
    """
    n = 0
    with store.change() as change:
        row = judging_row(change, REVIEW, review)
        for item_id, verdict in faulty_items(change, review).items():
            item = item_of(change, row.bank_name, item_id)
            if item.struck is None:
                reason = t(
                    "Expert review {review}: {verdict}",
                    review=row.name,
                    verdict=translated(LABELS[verdict]),
                )
                strike_within(change, row.bank_name, item, reason=reason, acting=acting)
                n += 1
    return n


VERDICT_COLUMNS = (
    "item_id",
    "patient_id",
    "task",
    "reviewer",
    "place",
    "verdict",
    "comment",
    "at_utc",
)
"""Columns of `verdict_table`."""


def verdict_table(look: Transaction, review: int) -> list[tuple[str | int, ...]]:
    """Return a row for the latest verdict of each reviewer on each item; see `VERDICT_COLUMNS`.

    `place` is 1 or 2 for the first two reviewers, and 3 for the third.

    Raises
    ------
    NotFound
        The review does not exist.
    NotNow
        Cases of the bank are being read.
    """
    row = judging_row(look, REVIEW, review)
    refuse_withheld(look, row.bank)
    reviewers = judgements.judges(look, row)
    items = judgements.review_items(look, review)
    return [
        (
            item.item_id,
            item.patient_id,
            item.task,
            reviewers[judge].handle,
            place,
            verdict.verdict,
            verdict.comment,
            verdict.at_utc,
        )
        for item, case in zip(items, everything_judged(look, row), strict=True)
        for place, judge in enumerate(case.judges, start=1)
        if (verdict := case.verdicts.get(judge))
    ]
