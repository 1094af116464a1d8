"""A reviewer's desk: the reading page over the items of an expert review that wait for somebody.

The case is the bank's question with its images; its options and its reference standard stand above
it, and what is chosen from are the verdicts.
"""

from collections.abc import Sequence
from datetime import datetime

from study.base.errors import NotAllowed
from study.base.translation import said, t
from study.lifecycle import reviewing
from study.lifecycle.judging_desk import JudgingDesk, Sitting, in_full
from study.lifecycle.reviewing import VERDICTS, ItemReview, Verdict
from study.people.signing_in import Person
from study.reading.desk import CaseView
from study.store import Transaction, reviews, teaching


class _ReviewDesk(JudgingDesk[ItemReview]):
    of = "review"

    def sitting(self, look: Transaction, person: Person, number: int) -> Sitting[ItemReview]:
        row = reviewing.review_row(look, number)
        if person.id not in {one.person for one in reviews.reviewers(look, number)}:
            raise NotAllowed(t("You are not a reviewer in this review."))
        if why := reviewing.refusal(look, row):
            raise NotAllowed(why)
        items = reviewing.item_reviews(look, number)
        return Sitting(
            person=person,
            number=number,
            name=row.name,
            bank_name=row.bank_name,
            given=[one for one in items if person.id in one.given],
            waiting=[one for one in items if person.id in one.waits_for],
        )

    def key(self, one: ItemReview) -> int:
        return one.item.item

    def item(self, one: ItemReview) -> int:
        return one.item.item

    def question(self, look: Transaction, one: ItemReview, asked: CaseView) -> str:
        _, explanation = teaching.truth(look, one.item.item)
        told = ["", t("Explanation: {words}", words=explanation)] if explanation else []
        return "\n".join([*in_full(look, one.item.item, asked), *told])

    def verdicts(self) -> Sequence[tuple[str, str]]:
        return [(verdict, said(VERDICTS[verdict])) for verdict in Verdict]

    def judge(
        self,
        change: Transaction,
        at: Sitting[ItemReview],
        one: ItemReview,
        verdict: str,
        comment: str,
        now: datetime,
    ) -> None:
        reviewing.judge(
            change,
            reviewing.review_row(change, at.number),
            one.item.item,
            person=at.person.id,
            verdict=Verdict(verdict),
            comment=comment,
            now=now,
        )


reviewers_desk = _ReviewDesk()
