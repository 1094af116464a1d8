"""Organises judging by two people who do not see each other's verdict, and a third if they differ.

There are three kinds of judging: expert reviews of a bank's questions, and scorings of a closed
study's free-text answers or of its models' explanations. A kind defines the verdicts and the rule
for three verdicts. `reviewing` and `scoring` open them and use their results.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from study.base.actor import Acting
from study.base.canonical import sha256_of, shuffled, stamp
from study.base.errors import BadInput, NotAllowed, NotFound, NotNow
from study.base.translation import later, t, translated
from study.lifecycle.exposure import studies_reading
from study.store import Store, Transaction, events, judgements
from study.store.events import EventKind
from study.store.judgements import (
    ANSWER,
    EXPLANATION,
    REVIEW,
    SCORING,
    JudgingRow,
    OpenAnswer,
    VerdictRow,
)

MAX_COMMENT_LENGTH = 2000
N_FIRST_JUDGES = 2
"""Number of judges of each subject, before a third judge is asked."""


class ItemVerdict(StrEnum):
    """A reviewer's verdict on a question."""

    SOUND = "sound"
    AMBIGUOUS = "ambiguous"
    WRONG_STANDARD = "wrong reference standard"
    HALLUCINATED = "hallucinated finding"
    NOT_ANSWERABLE = "not answerable from the image"


MIXED = "several faults"
"""The result for an item in which three reviewers give three different verdicts."""


class Score(StrEnum):
    """A scorer's verdict on a free-text answer; the best comes first."""

    CORRECT = "correct"
    PARTLY = "partly correct"
    INCORRECT = "incorrect"


LABELS: Mapping[str, str] = {
    ItemVerdict.SOUND: later("Sound"),
    ItemVerdict.AMBIGUOUS: later("Ambiguous"),
    ItemVerdict.WRONG_STANDARD: later("Wrong reference standard"),
    ItemVerdict.HALLUCINATED: later("Asks about an absent finding"),
    ItemVerdict.NOT_ANSWERABLE: later("Cannot be answered from the image"),
    MIXED: later("Several faults"),
    Score.CORRECT: later("Correct"),
    Score.PARTLY: later("Partly correct"),
    Score.INCORRECT: later("Incorrect"),
}
"""Labels of verdicts and results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """The properties of a kind of judging.

    Parameters
    ----------
    options
        The verdicts in the order of display.
    decide
        Returns the result of three verdicts, the first two of which differ.
    event
        The kind of event that records the end.
    hashed
        The key of this event that contains the hash of all verdicts.
    too_few, missing, stranger, closed
        Messages: there are fewer than two judges; the review or scoring does not exist; the person
        is not a judge; the review or scoring is already closed.
    """

    options: type[StrEnum]
    decide: Callable[[Sequence[str]], str]
    event: EventKind
    hashed: str
    too_few: str
    missing: str
    stranger: str
    closed: str


def _majority(verdicts: Sequence[str]) -> str:
    (verdict, n), *_ = Counter(verdicts).most_common(1)
    return verdict if n >= N_FIRST_JUDGES else MIXED


def _median(verdicts: Sequence[str]) -> str:
    return sorted(map(Score, verdicts), key=list(Score).index)[1].value


_REVIEW = Kind(
    options=ItemVerdict,
    decide=_majority,
    event=EventKind.REVIEW_CLOSED,
    hashed="verdicts_sha256",
    too_few=later("Choose at least two reviewers."),
    missing=later("There is no such review."),
    stranger=later("You are not a reviewer in this review."),
    closed=later("This review is closed."),
)
_SCORING = Kind(
    options=Score,
    decide=_median,
    event=EventKind.SCORING_CLOSED,
    hashed="scores_sha256",
    too_few=later("Choose at least two scorers."),
    missing=later("There is no such scoring."),
    stranger=later("You are not a scorer of these answers."),
    closed=later("This scoring is closed."),
)
KINDS = {REVIEW: _REVIEW, ANSWER: _SCORING, EXPLANATION: _SCORING}
_KIND_OF_TABLE = {REVIEW: _REVIEW, SCORING: _SCORING}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A subject of judging: an item, or all answers to an item with the same words.

    Parameters
    ----------
    judges
        Positions of the judges, in order; the third is only asked if the first two differ.
    verdicts
        The latest verdict of each judge, by the judge's position.
    answers
        The answers with the same words; empty in a review.
    is_closed
        Whether the review or scoring is closed, so that no more verdicts are needed.
    """

    kind: str
    position: int
    item: int
    item_id: str
    judges: tuple[int, ...]
    verdicts: Mapping[int, VerdictRow]
    answers: Sequence[OpenAnswer] = ()
    is_closed: bool = False

    @property
    def result(self) -> str | None:
        """Return the result, or None if verdicts are missing."""
        return settled_verdict(
            self.kind,
            [self.verdicts[judge].verdict for judge in self.judges if judge in self.verdicts],
        )

    @property
    def waits_for(self) -> tuple[int, ...]:
        """Return the judges whose verdicts are needed now."""
        if self.is_closed:
            return ()
        waiting = tuple(
            judge for judge in self.judges[:N_FIRST_JUDGES] if judge not in self.verdicts
        )
        if waiting or self.result:
            return waiting
        return tuple(
            judge for judge in self.judges[N_FIRST_JUDGES:][:1] if judge not in self.verdicts
        )


def settled_verdict(kind: str, verdicts: Sequence[str]) -> str | None:
    """Return the result of verdicts in the order of the judges, or None if another is needed.

    If there are three verdicts, the majority decides in a review, and the median in a scoring.

    >>> settled_verdict("review", ["sound", "sound"])
    'sound'
    >>> settled_verdict("review", ["sound", "ambiguous"]) is None
    True
    >>> settled_verdict("review", ["sound", "ambiguous", "hallucinated finding"])
    'several faults'
    >>> settled_verdict("answer", ["correct", "incorrect", "incorrect"])
    'incorrect'
    >>> settled_verdict("answer", ["incorrect", "partly correct", "correct"])
    'partly correct'
    """
    if len(verdicts) < N_FIRST_JUDGES:
        return None
    if verdicts[0] == verdicts[1]:
        return verdicts[0]
    return KINDS[kind].decide(verdicts) if len(verdicts) > N_FIRST_JUDGES else None


def judging_order(position: int, n: int) -> tuple[int, ...]:
    """Return the order of the `n` judges for the subject at a position.

    In n (n - 1) consecutive positions, every ordered pair of judges comes first exactly once.

    >>> [judging_order(position, 3) for position in range(4)]
    [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1)]
    """
    first = position % n
    second = (first + 1 + position // n % (n - 1)) % n
    return (first, second, *(number for number in range(n) if number not in (first, second)))


def distinct_judges(kind: str, persons: Sequence[int]) -> list[int]:
    """Return the judges without duplicates.

    Raises
    ------
    BadInput
        There are too few judges.
    """
    persons = list(dict.fromkeys(persons))
    if len(persons) < N_FIRST_JUDGES:
        raise BadInput(translated(KINDS[kind].too_few))
    return persons


def judging_row(look: Transaction, table: str, number: int) -> JudgingRow:
    """Return a review or scoring by number.

    Raises
    ------
    NotFound
        There is no review or scoring with this number.
    """
    row = judgements.judging(look, table, number)
    if row is None:
        raise NotFound(translated(_KIND_OF_TABLE[table].missing))
    return row


def everything_judged(look: Transaction, row: JudgingRow) -> list[Judged]:
    """Return the subjects of a review or scoring in order, without withdrawn models' answers."""
    verdicts: dict[int, dict[int, VerdictRow]] = {}
    for verdict in judgements.verdicts(look, row):
        verdicts.setdefault(verdict.position, {})[verdict.judge] = verdict
    n = len(judgements.judges(look, row))
    return [
        Judged(
            kind=row.kind,
            position=position,
            item=item,
            item_id=item_id,
            judges=judging_order(position, n),
            verdicts=verdicts.get(position, {}),
            answers=answers,
            is_closed=bool(row.ended_at_utc),
        )
        for position, item, item_id, answers in _contents(look, row)
    ]


def _contents(
    look: Transaction, row: JudgingRow
) -> Iterator[tuple[int, int, str, Sequence[OpenAnswer]]]:
    """Yield the position, item and answers of each subject."""
    if row.kind == REVIEW:
        for item in judgements.review_items(look, row.id):
            yield item.position, item.item, item.item_id, ()
        return
    assert row.study is not None  # a scoring always belongs to a study
    known = {
        answer.answer_id: answer for answer in judgements.open_answers_of_study(look, row.study)
    }
    by_position: dict[int, list[OpenAnswer]] = {}
    for scored in judgements.scoring_answers(look, row.id):
        if scored.answer_id in known:
            by_position.setdefault(scored.position, []).append(known[scored.answer_id])
    for position, answers in by_position.items():
        yield position, answers[0].item, answers[0].item_id, answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The subjects of a review or scoring in a judge's order.

    `judge` is the judge's position among the judges. Each scorer has a different random order.
    """

    row: JudgingRow
    judge: int
    everything: Sequence[Judged]

    @property
    def judged(self) -> list[Judged]:
        """Return the subjects that the judge has judged."""
        return [case for case in self.everything if self.judge in case.verdicts]

    @property
    def waiting(self) -> list[Judged]:
        """Return the subjects that the judge can judge now."""
        return [case for case in self.everything if self.judge in case.waits_for]


def assignment(look: Transaction, row: JudgingRow, person: int) -> Assignment:
    """Return a person's assignment in a review or scoring.

    Raises
    ------
    NotAllowed
        The person is not a judge.
    """
    judges = {judge.person: judge.position for judge in judgements.judges(look, row)}
    if person not in judges:
        raise NotAllowed(translated(KINDS[row.kind].stranger))
    everything = everything_judged(look, row)
    if row.kind != REVIEW:
        purpose = f"scoring, S{judges[person] + 1}"
        positions = [str(answer.position) for answer in everything]
        order = shuffled(positions, seed=row.seed, purpose=purpose)
        everything = sorted(everything, key=lambda answer: order.index(str(answer.position)))
    return Assignment(row=row, judge=judges[person], everything=everything)


def refusal(look: Transaction, row: JudgingRow) -> str:
    """Return why a review or scoring is not accessible now, or an empty string."""
    if row.ended_at_utc:
        return translated(KINDS[row.kind].closed)
    if studies_reading(look, row.bank):
        return paused_message()
    return ""


def paused_message() -> str:
    """Return the message that judging is paused while cases in the bank are being read."""
    return t("Closed for now: cases from this bank are being read in a study.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A person's verdict on the subject at a position, with a comment."""

    position: int
    person: int
    verdict: str
    comment: str = ""


def judge(
    change: Transaction,
    row: JudgingRow,
    judgement: Judgement,
    *,
    now: datetime,
) -> None:
    """Store a judge's verdict; the latest verdict counts.

    Raises
    ------
    NotAllowed
        The subject is not assigned to the judge now.
    NotNow
        The review or scoring is not accessible now.
    BadInput
        The comment is too long.
    """
    comment = judgement.comment.strip()
    if reason := refusal(change, row):
        raise NotNow(reason)
    if len(comment) > MAX_COMMENT_LENGTH:
        raise BadInput(t("Shorten the comment to {n} characters.", n=MAX_COMMENT_LENGTH))
    part = assignment(change, row, judgement.person)
    matches = [
        case for case in (*part.waiting, *part.judged) if case.position == judgement.position
    ]
    if not matches:
        raise NotAllowed(t("This question is not yours to review."))
    latest = matches[0].verdicts.get(part.judge)
    verdict = KINDS[row.kind].options(judgement.verdict).value
    if latest is None or (latest.verdict, latest.comment) != (verdict, comment):
        new = VerdictRow(judgement.position, part.judge, verdict, comment, stamp(now))
        turn = matches[0].judges.index(part.judge) + 1
        judgements.add_verdict(change, row, new, turn)


def close(store: Store, table: str, number: int, *, acting: Acting) -> None:
    """Close a review or scoring: no more verdicts are accepted, and its results can be used.

    The audit trail records the hash of all verdicts.

    Raises
    ------
    NotFound
        The review or scoring does not exist.
    NotNow
        The review or scoring is already closed.
    """
    with store.change() as change:
        row = judging_row(change, table, number)
        kind = KINDS[row.kind]
        if row.ended_at_utc:
            raise NotNow(translated(kind.closed))
        judgements.end(change, row, stamp(acting.now))
        chain, subject = (
            ("", {"bank": row.bank_name, "review": row.name})
            if row.kind == REVIEW
            else (row.name, {"of": row.kind})
        )
        detail = {**subject, kind.hashed: verdicts_hash(change, row)}
        events.record(change, chain, acting, kind=kind.event, detail=detail)


def verdicts_hash(look: Transaction, row: JudgingRow) -> str:
    """Return the hash of all verdicts in a review or scoring."""
    return sha256_of(judgements.every_verdict(look, row))
