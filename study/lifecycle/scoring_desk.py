"""A scorer's desk: the reading page over the answers in words that wait for somebody.

The case is the question with its images; the correct option and the words stand below it, and what
is chosen from are the scores. Whose words they are is nowhere in it.
"""

from collections.abc import Sequence
from datetime import datetime

from study.base.errors import NotAllowed
from study.base.translation import said, t
from study.lifecycle import scoring
from study.lifecycle.judging_desk import JudgingDesk, Sitting, in_full
from study.lifecycle.scoring import SCORES, Score, ScoredWords
from study.people.signing_in import Person
from study.reading.desk import CaseView
from study.store import Transaction, teaching
from study.store.open_answers import EXPLANATION


class _ScoringDesk(JudgingDesk[ScoredWords]):
    of = "scoring"

    def sitting(self, look: Transaction, person: Person, number: int) -> Sitting[ScoredWords]:
        row = scoring.scoring_row(look, number)
        place = scoring.place_of(look, number, person.id)
        if place is None:
            raise NotAllowed(t("You are not a scorer of these answers."))
        if why := scoring.refusal(look, row):
            raise NotAllowed(why)
        words = scoring.order_of(row, place, scoring.words_of(look, number))
        return Sitting(
            person=person,
            number=number,
            name=row.study_name,
            bank_name=row.bank_name,
            given=[one for one in words if place in one.given],
            waiting=[one for one in words if place in one.waits_for],
        )

    def key(self, one: ScoredWords) -> int:
        return one.position

    def item(self, one: ScoredWords) -> int:
        return one.answers[0].item

    def question(self, look: Transaction, one: ScoredWords, asked: CaseView) -> str:
        answer = one.answers[0]
        if answer.kind == EXPLANATION:
            told = t("Explanation to score: {words}", words=answer.words)
            return "\n".join([*in_full(look, answer.item, asked), "", told])
        truth, _ = teaching.truth(look, answer.item)
        right = dict(asked.options)[truth]
        told = t("Answer to score: {words}", words=answer.words)
        return "\n".join([asked.question, "", t("Correct: {answer}", answer=right), "", told])

    def verdicts(self) -> Sequence[tuple[str, str]]:
        return [(score, said(SCORES[score])) for score in Score]

    def judge(
        self,
        change: Transaction,
        at: Sitting[ScoredWords],
        one: ScoredWords,
        verdict: str,
        comment: str,
        now: datetime,
    ) -> None:
        place = scoring.place_of(change, at.number, at.person.id)
        assert place is not None  # or there were no sitting
        scoring.judge(
            change,
            scoring.scoring_row(change, at.number),
            one.position,
            scorer=place,
            score=Score(verdict),
            comment=comment,
            now=now,
        )


scorers_desk = _ScoringDesk()
