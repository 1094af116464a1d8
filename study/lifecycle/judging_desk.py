"""Desks of judges: the reading page with the cases that wait for a judge in a review or scoring.

What is chosen from are the verdicts, by number: the letters are those of the question's options,
which the question shows with it. Only those who
were asked to judge are ever handed any of it. A reviewer sees the bank's question with its images,
its options and its reference standard; a scorer the correct option and the words, and never whose
they are.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Generic, TypeVar

from study.base.bank_model import LETTERS
from study.base.canonical import sha256_of
from study.base.errors import NotAllowed, StudyError
from study.base.translation import said, t
from study.lifecycle import reviewing, scoring
from study.lifecycle.judging import Judged
from study.lifecycle.reviewing import VERDICTS, ItemReview, ItemVerdict
from study.lifecycle.scoring import SCORES, Score, ScoredWords
from study.people.signing_in import Person
from study.protocol.protocol import CONTEXTS, Condition, Protocol
from study.reading.desk import Acknowledgement, CaseView, Desk, case_view, parsed, rules
from study.reading.records import HANDED_OUT, NOT_YET, Presentation, Reading, Taken
from study.store import Store, Transaction, banks, judgements, teaching
from study.store.banks import FilmRow
from study.store.deployment import secret
from study.store.judgements import EXPLANATION
from study.store.readings import WaitingCase

_PROTOCOL = Protocol(comments=True, context=CONTEXTS, smallest_window=())

_One = TypeVar("_One", bound=Judged)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting(Generic[_One]):
    """A judge's work: what was judged and what is waiting, in order."""

    person: Person
    number: int
    name: str
    bank_name: str
    given: Sequence[_One]
    waiting: Sequence[_One]


class JudgingDesk(ABC, Generic[_One]):
    """The desks of one kind of judging, named by `of`; each by its number."""

    of: str

    @abstractmethod
    def sitting(self, look: Transaction, person: Person, number: int) -> Sitting[_One]:
        """Return a person's work, or refuse: the person has no part, or judging is paused."""

    @abstractmethod
    def key(self, unit: _One) -> int:
        """Return the number by which something is known among what is judged."""

    @abstractmethod
    def item(self, unit: _One) -> int:
        """Return the item whose question and films are shown."""

    @abstractmethod
    def question(self, look: Transaction, unit: _One, asked: CaseView) -> str:
        """Return what is judged, as text, from the item's question and options."""

    @abstractmethod
    def verdicts(self) -> Sequence[tuple[str, str]]:
        """Return the verdicts that are chosen from, each with the words for it."""

    @abstractmethod
    def judge(
        self,
        change: Transaction,
        at: Sitting[_One],
        unit: _One,
        verdict: str,
        comment: str,
        now: datetime,
    ) -> None:
        """Keep a verdict."""

    def desk(self, store: Store, person: Person, number: int) -> Desk:
        """Return a judge's desk, as the reading page takes it.

        Raises
        ------
        NotFound
            There is no such review or scoring.
        NotAllowed
            They have no part in it, or nobody can judge at present.
        """
        with store.look() as look:
            return self._desk(look, self.sitting(look, person, number))

    def seal(self, store: Store, person: Person, number: int) -> str:
        """Return the mark that a page's outbox is sealed with."""
        with store.look() as look:
            return self._seal(look, person, number)

    def film(
        self, store: Store, person: Person, number: int, case: str, view: int
    ) -> FilmRow | None:
        """Return the row of an image of a case assigned to the judge, or None."""
        with store.look() as look:
            at = self.sitting(look, person, number)
            for unit in (*at.waiting, *at.given):
                if self._case(look, at, unit) == case:
                    return teaching.film(look, self.item(unit), view, prior=True)
        return None

    def take_records(
        self, store: Store, person: Person, number: int, records: Sequence[Any], *, now: datetime
    ) -> Acknowledgement:
        """Store a judge's verdicts; a verdict sent twice is stored once."""
        taken: list[Taken] = []
        with store.change() as change:
            for record in parsed(records):
                if not isinstance(record, Taken):
                    at = self.sitting(change, person, number)
                    refused = self._refused(change, at, record, now)
                    record = Taken(id=record.id, case="", refused=refused)
                taken.append(record)
            return Acknowledgement.of(
                taken, self._desk(change, self.sitting(change, person, number))
            )

    def _refused(self, change: Transaction, at: Sitting[_One], record: Any, now: datetime) -> str:
        """Keep a verdict, or say why not; that something was shown is of no interest here."""
        if isinstance(record, Presentation):
            return ""
        if not isinstance(record, Reading):
            return t("This study has no such step.")
        mine = (*at.waiting, *at.given)
        unit_judged = next(
            (unit for unit in mine if self._case(change, at, unit) == record.case), None
        )
        verdicts = {letter: verdict for letter, verdict, _ in self._letters()}
        if unit_judged is None or record.option not in verdicts:
            return said(NOT_YET)
        try:
            self.judge(change, at, unit_judged, verdicts[record.option], record.comment, now)
        except StudyError as error:
            return str(error)
        return ""

    def _letters(self) -> list[tuple[str, str, str]]:
        return [
            (letter, *verdict) for letter, verdict in zip(LETTERS, self.verdicts(), strict=False)
        ]

    def _seal(self, look: Transaction, person: Person, number: int) -> str:
        return sha256_of([secret(look), self.of, person.id, number])[:32]

    def _case(self, look: Transaction, at: Sitting[_One], unit: _One) -> str:
        what = [secret(look), self.of, at.person.id, at.number, self.key(unit)]
        return sha256_of(what)[:32]

    def _desk(self, look: Transaction, at: Sitting[_One]) -> Desk:
        n_given = len(at.given)
        return Desk(
            seal=self._seal(look, at.person, at.number),
            study=at.name,
            reader=at.person.name,
            simulated_films=bool(banks.bank_row(look, at.bank_name).simulated),
            total=n_given + len(at.waiting),
            read=n_given,
            rules={**rules(_PROTOCOL), "numbered": True},
            cases=tuple(
                self._view(look, at, unit, n_given + place)
                for place, unit in enumerate(at.waiting[:HANDED_OUT], start=1)
            ),
            stored=n_given,
        )

    def _view(self, look: Transaction, at: Sitting[_One], unit: _One, position: int) -> CaseView:
        row = teaching.item(look, self.item(unit))
        asked = case_view(
            look,
            WaitingCase(
                id=self._case(look, at, unit),
                position=position,
                condition=Condition.UNAIDED,
                shown_order=LETTERS[: len(json.loads(row.options))],
                presented=0,
                **row._asdict(),
            ),
            _PROTOCOL,
        )
        return replace(
            asked,
            question=self.question(look, unit, asked),
            options=tuple((letter, words) for letter, _, words in self._letters()),
        )


def in_full(look: Transaction, item: int, asked: CaseView) -> list[str]:
    """Return a question with its options and its reference standard, a line each."""
    truth, _ = teaching.truth(look, item)
    lines = [asked.question, ""]
    for letter, text in asked.options:
        right = f"  ({t('reference standard')})" if letter == truth else ""
        lines.append(f"{letter}  {text}{right}")
    return lines


class _ReviewDesk(JudgingDesk[ItemReview]):
    of = "review"

    def sitting(self, look: Transaction, person: Person, number: int) -> Sitting[ItemReview]:
        row = reviewing.review_row(look, number)
        if person.id not in {reviewer.person for reviewer in judgements.reviewers(look, number)}:
            raise NotAllowed(t("You are not a reviewer in this review."))
        if why := reviewing.refusal(look, row):
            raise NotAllowed(why)
        items = reviewing.item_reviews(look, number)
        return Sitting(
            person=person,
            number=number,
            name=row.name,
            bank_name=row.bank_name,
            given=[item for item in items if person.id in item.given],
            waiting=[item for item in items if person.id in item.waits_for],
        )

    def key(self, unit: ItemReview) -> int:
        return unit.item.item

    def item(self, unit: ItemReview) -> int:
        return unit.item.item

    def question(self, look: Transaction, unit: ItemReview, asked: CaseView) -> str:
        _, explanation = teaching.truth(look, unit.item.item)
        lines = ["", t("Explanation: {words}", words=explanation)] if explanation else []
        return "\n".join([*in_full(look, unit.item.item, asked), *lines])

    def verdicts(self) -> Sequence[tuple[str, str]]:
        return [(verdict, said(VERDICTS[verdict])) for verdict in ItemVerdict]

    def judge(
        self,
        change: Transaction,
        at: Sitting[ItemReview],
        unit: ItemReview,
        verdict: str,
        comment: str,
        now: datetime,
    ) -> None:
        reviewing.judge(
            change,
            reviewing.review_row(change, at.number),
            unit.item.item,
            person=at.person.id,
            verdict=ItemVerdict(verdict),
            comment=comment,
            now=now,
        )


reviewers_desk = _ReviewDesk()


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
            given=[answer for answer in words if place in answer.given],
            waiting=[answer for answer in words if place in answer.waits_for],
        )

    def key(self, unit: ScoredWords) -> int:
        return unit.position

    def item(self, unit: ScoredWords) -> int:
        return unit.answers[0].item

    def question(self, look: Transaction, unit: ScoredWords, asked: CaseView) -> str:
        answer = unit.answers[0]
        if answer.kind == EXPLANATION:
            line = t("Explanation to score: {words}", words=answer.words)
            return "\n".join([*in_full(look, answer.item, asked), "", line])
        truth, _ = teaching.truth(look, answer.item)
        right = dict(asked.options)[truth]
        line = t("Answer to score: {words}", words=answer.words)
        return "\n".join([asked.question, "", t("Correct: {answer}", answer=right), "", line])

    def verdicts(self) -> Sequence[tuple[str, str]]:
        return [(score, said(SCORES[score])) for score in Score]

    def judge(
        self,
        change: Transaction,
        at: Sitting[ScoredWords],
        unit: ScoredWords,
        verdict: str,
        comment: str,
        now: datetime,
    ) -> None:
        place = scoring.place_of(change, at.number, at.person.id)
        assert place is not None  # or there were no sitting
        scoring.judge(
            change,
            scoring.scoring_row(change, at.number),
            unit.position,
            scorer=place,
            score=Score(verdict),
            comment=comment,
            now=now,
        )


scorers_desk = _ScoringDesk()
