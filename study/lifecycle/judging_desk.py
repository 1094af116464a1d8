"""Provides the desks of judges, who use the reading page for reviews and scorings.

The options on the page are the verdicts, which are chosen by number because the letters belong to
the question's options. Reviewers see the bank's question with images, options and reference
standard; scorers see the correct option and the answer, but not the rater. Only the judges in a
review or scoring have access.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from study.base.bank_model import LETTERS
from study.base.canonical import sha256_of
from study.base.errors import NotAllowed, StudyError
from study.base.translation import t, translated
from study.lifecycle import judging
from study.lifecycle.judging import KINDS, LABELS, Assignment, Judged
from study.people.signing_in import Person
from study.protocol.protocol import CONTEXTS, Condition, Protocol
from study.reading.desk import Acknowledgement, CaseView, Desk, case_view, parse_records, rules
from study.reading.records import N_CASES_SENT, NOT_YET, Presentation, Reading, RecordOutcome
from study.store import Store, Transaction, banks, teaching
from study.store.banks import FilmRow
from study.store.deployment import secret
from study.store.judgements import EXPLANATION, REVIEW, SCORING, JudgingRow
from study.store.readings import WaitingCase

_PROTOCOL = Protocol(comments=True, context=CONTEXTS, smallest_window=())


@dataclass(frozen=True, slots=True)
class JudgingDesk:
    """The desks of all reviews or all scorings, by number."""

    table: str

    def desk(self, store: Store, person: Person, number: int) -> Desk:
        """Return a judge's desk for the reading page.

        Raises
        ------
        NotFound
            The review or scoring does not exist.
        NotAllowed
            The person is not a judge, or the review or scoring is not accessible now.
        """
        with store.look() as look:
            return self._desk(look, person, number)

    def seal(self, store: Store, person: Person, number: int) -> str:
        """Return the seal of a page's outbox."""
        with store.look() as look:
            return self._id(look, person, number)

    def film(
        self, store: Store, person: Person, number: int, case: str, view: int
    ) -> FilmRow | None:
        """Return the row of an image of a case assigned to the judge, or None."""
        with store.look() as look:
            part = self._part(look, person, number)
            judged = self._find(look, person, part, case)
            if judged is None:
                return None
            return teaching.film(look, judged.item, view, prior=True)

    def take_records(
        self, store: Store, person: Person, number: int, records: Sequence[Any], *, now: datetime
    ) -> Acknowledgement:
        """Store a judge's verdicts; a verdict that is sent twice is stored once."""
        outcomes: list[RecordOutcome] = []
        with store.change() as change:
            for record in parse_records(records):
                if not isinstance(record, RecordOutcome):
                    part = self._part(change, person, number)
                    refused = self._refused(change, person, part, record, now)
                    record = RecordOutcome(id=record.id, case="", refused=refused)
                outcomes.append(record)
            return Acknowledgement.of(outcomes, self._desk(change, person, number))

    def _refused(
        self, change: Transaction, person: Person, part: Assignment, record: Any, now: datetime
    ) -> str:
        """Store a verdict, or return why it is refused; presentations are not stored."""
        if isinstance(record, Presentation):
            return ""
        if not isinstance(record, Reading):
            return t("This study has no such step.")
        judged_case = self._find(change, person, part, record.case)
        verdicts = dict(zip(LETTERS, KINDS[part.row.kind].options, strict=False))
        if judged_case is None or record.option not in verdicts:
            return translated(NOT_YET)
        try:
            judging.judge(
                change,
                part.row,
                judging.Judgement(
                    position=judged_case.position,
                    person=person.id,
                    verdict=verdicts[record.option],
                    comment=record.comment,
                ),
                now=now,
            )
        except StudyError as error:
            return str(error)
        return ""

    def _part(self, look: Transaction, person: Person, number: int) -> Assignment:
        row = judging.judging_row(look, self.table, number)
        part = judging.assignment(look, row, person.id)
        if reason := judging.refusal(look, row):
            raise NotAllowed(reason)
        return part

    def _find(
        self, look: Transaction, person: Person, part: Assignment, case: str
    ) -> Judged | None:
        """Return the judge's subject that has this case ID, or None."""
        matches = (
            judged_case
            for judged_case in (*part.waiting, *part.judged)
            if self._case(look, person, part.row, judged_case) == case
        )
        return next(matches, None)

    def _case(self, look: Transaction, person: Person, row: JudgingRow, judged_case: Judged) -> str:
        key = judged_case.item if self.table == REVIEW else judged_case.position
        return self._id(look, person, row.id, key)

    def _id(self, look: Transaction, person: Person, *numbers: int) -> str:
        return sha256_of([secret(look), self.table, person.id, *numbers])[:32]

    def _desk(self, look: Transaction, person: Person, number: int) -> Desk:
        part = self._part(look, person, number)
        waiting, n_judged = part.waiting, len(part.judged)
        return Desk(
            seal=self._id(look, person, number),
            study=part.row.name,
            reader=person.name,
            simulated_films=bool(banks.bank_row(look, part.row.bank_name).simulated),
            total=n_judged + len(waiting),
            read=n_judged,
            rules={**rules(_PROTOCOL), "numbered": True},
            cases=tuple(
                _view(look, judged_case, self._case(look, person, part.row, judged_case), position)
                for position, judged_case in enumerate(waiting[:N_CASES_SENT], start=n_judged + 1)
            ),
            stored=n_judged,
        )


reviewers_desk = JudgingDesk(REVIEW)
scorers_desk = JudgingDesk(SCORING)


def _view(look: Transaction, judged_case: Judged, case: str, position: int) -> CaseView:
    row = teaching.item(look, judged_case.item)
    asked = case_view(
        look,
        WaitingCase(
            id=case,
            position=position,
            condition=Condition.UNAIDED,
            shown_order=LETTERS[: len(json.loads(row.options))],
            presented=0,
            images=row.item,
            **row._asdict(),
        ),
        _PROTOCOL,
    )
    labels = [translated(LABELS[verdict]) for verdict in KINDS[judged_case.kind].options]
    return replace(
        asked,
        question="\n".join(_question(look, judged_case, asked)),
        options=tuple(zip(LETTERS, labels, strict=False)),
    )


def _question(look: Transaction, judged_case: Judged, case: CaseView) -> Iterator[str]:
    """Yield the lines of the text to judge: the item's question and options, and the answer."""
    truth, explanation = teaching.truth(look, judged_case.item)
    yield case.question
    yield ""
    if judged_case.kind in (REVIEW, EXPLANATION):
        for letter, text in case.options:
            note = f"  ({t('reference standard')})" if letter == truth else ""
            yield f"{letter}  {text}{note}"
    else:
        yield t("Correct: {answer}", answer=dict(case.options)[truth])
    if judged_case.kind == REVIEW:
        if explanation:
            yield ""
            yield t("Explanation: {words}", words=explanation)
        return
    yield ""
    words = judged_case.answers[0].words
    explains = judged_case.kind == EXPLANATION
    yield (
        t("Explanation to score: {words}", words=words)
        if explains
        else t("Answer to score: {words}", words=words)
    )
