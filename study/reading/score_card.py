"""A reader's results: the record of reading, and the score card after closing.

A reader has a score card once the study is closed, if the protocol has feedback. Until then, not
even the number of correct answers is shown. If the protocol's `score_card` is "peers", readers who
have read every case see their rank among anonymous readers and the models: only sums over all other
readers are shown, and only if there are enough of them. The record can be printed once every case
has been read or the study is closed. It contains the cases, days and time; the number of matching
answers is included only if the score card shows it.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from study.bank.terms import view_label
from study.base.bank_model import LETTERS
from study.base.errors import NotAllowed, NotFound, NotNow
from study.base.text import FirstSpelling, text_key
from study.base.translation import t
from study.people.signing_in import Person
from study.protocol.protocol import Condition, Feedback, stored_protocol
from study.reading.desk import receipt
from study.reading.records import shown_letter
from study.store import Store, Transaction, progress, readings, studies
from study.store.banks import FilmRow
from study.store.readings import ScoredRow, ViewRow
from study.store.studies import StudyRow

MIN_PEERS = 3
"""Minimum number of other readers who have read every case, so that no one can be identified."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """Number of answers that match the reference standard, out of `n`."""

    n_correct: int
    n: int

    def __add__(self, other: "Count") -> "Count":
        """Return both counts together."""
        return Count(n_correct=self.n_correct + other.n_correct, n=self.n + other.n)


NO_ANSWERS = Count(n_correct=0, n=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Others:
    """Numbers of other readers (0 of 0 if there are too few) and models with a correct answer."""

    readers: Count
    models: Count

    @property
    def most_were_right(self) -> bool:
        """Whether more than half of the other readers were correct."""
        return 2 * self.readers.n_correct > self.readers.n


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Compares a reader with others in the first readings of all cases with a reference standard.

    `place` counts from 1 and is shared with `n_sharing` other readers. `peers` contains the summed
    counts of the other readers by task. If fewer than `MIN_PEERS` of them have finished, `place` is
    None and `peers` is empty. `models` contains the counts of each model by name and task.
    """

    place: int | None
    n_sharing: int
    n_peers: int
    own: Mapping[str, Count]
    peers: Mapping[str, Count]
    models: Mapping[str, Mapping[str, Count]]
    peers_by_case: Mapping[tuple[int, str], Count]
    models_by_item: Mapping[int, Count]

    def others(self, item: int, condition: str) -> Others:
        """Return how many other readers and models answered a case correctly."""
        return Others(
            readers=self.peers_by_case.get((item, condition), NO_ANSWERS),
            models=self.models_by_item.get(item, NO_ANSWERS),
        )


def sum_counts(by_task: Mapping[str, Count]) -> Count:
    """Return the counts of all tasks together."""
    return sum(by_task.values(), NO_ANSWERS)


def compare(look: Transaction, study: int, reader: int) -> Comparison | None:
    """Compare a reader with the others; None if the reader has not read every case."""
    task = FirstSpelling(text_key)
    readers = _counts_by_rater(progress.matches_of_readers(look, study), "reader", task)
    own_row = readers.pop(reader, None)
    if own_row is None:
        return None
    are_shown = len(readers) >= MIN_PEERS
    numbers_correct = (
        [sum_counts(counts).n_correct for counts in readers.values()] if are_shown else []
    )
    n_own_correct = sum_counts(own_row).n_correct
    return Comparison(
        place=1 + sum(other > n_own_correct for other in numbers_correct) if are_shown else None,
        n_sharing=numbers_correct.count(n_own_correct),
        n_peers=len(readers),
        own=own_row,
        peers={
            name: sum((counts[name] for counts in readers.values()), NO_ANSWERS) for name in own_row
        }
        if are_shown
        else {},
        models=_counts_by_rater(progress.matches_of_models(look, study), "model_id", task),
        peers_by_case={
            (row["item"], row["condition"]): _row_count(row)
            for row in (progress.matches_of_cases(look, study, reader) if are_shown else [])
        },
        models_by_item={
            row["item"]: _row_count(row) for row in progress.matches_by_models(look, study)
        },
    )


def _counts_by_rater(
    rows: Iterable[Mapping[str, Any]], key: str, task: FirstSpelling
) -> dict[Any, dict[str, Count]]:
    """Return counts by rater and by task; tasks are named by their first spelling."""
    by_rater: defaultdict[Any, defaultdict[str, Count]] = defaultdict(
        lambda: defaultdict(lambda: NO_ANSWERS)
    )
    for row in rows:
        by_rater[row[key]][task[row["task"]]] += _row_count(row)
    return {rater: dict(counts) for rater, counts in by_rater.items()}


def _row_count(row: Mapping[str, Any]) -> Count:
    return Count(n_correct=row["n_correct"], n=row["n"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredFilm:
    """A film of a case, and its size in pixels."""

    label: str
    width: int
    height: int
    prior: bool
    days: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredCase:
    """A case as a reader saw it, with the correct answer.

    Letters are as shown to this reader. `own` is the reader's answer, or None; `right` is the
    correct answer. `right` and `correct` are None without a reference standard. For an open-ended
    case, `own` is the reader's text, `right` is the text of the reference answer, and `correct` is
    None because the answer has not been judged.
    """

    position: int
    condition: str
    task: str
    question: str
    options: tuple[tuple[str, str], ...]
    own: str | None
    status: str
    confidence: int | None
    right: str | None
    correct: bool | None
    explanation: str
    films: tuple[ScoredFilm, ...]
    others: Others | None = None
    open_ended: bool = False

    @property
    def worth_another_look(self) -> bool:
        """Whether this reader was wrong and most other readers were correct."""
        return self.correct is False and self.others is not None and self.others.most_were_right


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreCard:
    """A reader's results.

    `comparison` is None if the protocol does not show other readers (`with_peers` is False), or if
    the reader has not read every case.
    """

    study: str
    reader: str
    n_assigned: int
    cases: tuple[ScoredCase, ...]
    with_peers: bool
    comparison: Comparison | None

    @property
    def total(self) -> Count:
        """The counts over all cases read that have a reference standard."""
        return _count(self.cases)

    @property
    def by_task(self) -> dict[str, Count]:
        """The counts by task, in alphabetical order; a case without an answer is not correct.

        Open-ended cases are left out, because their answers have not been judged.
        """
        first = FirstSpelling(text_key)
        tasks = sorted({first[case.task] for case in self.cases if not case.open_ended})
        return {
            task: _count(case for case in self.cases if first[case.task] == task) for task in tasks
        }


def is_closed(store: Store, person: Person) -> bool:
    """Return whether the person's study has been closed."""
    with store.look() as look:
        study = studies.find(look, person.study_name)
    return study is not None and study.state == "closed"


def score_card(store: Store, person: Person) -> ScoreCard:
    """Return a reader's score card.

    Raises
    ------
    NotAllowed
        The person is not a reader, or the protocol has no feedback.
    NotNow
        The study is not closed.
    NotFound
        The study does not exist.
    """
    with store.look() as look:
        study = _closed_study(look, person)
        rows = readings.scored(look, person.reader or 0)
        sessions = readings.sessions_of_reader(look, person.reader or 0)
        n_assigned = sum(session.n_cases for session in sessions)
        with_peers = stored_protocol(study).score_card == "peers"
        peers = compare(look, study.id, person.reader or 0) if with_peers else None
        prior = "prior" in stored_protocol(study).context
        cases = tuple(_case(look, row, peers, prior=prior) for row in rows)
    return ScoreCard(
        study=study.name,
        reader=person.name,
        n_assigned=n_assigned,
        cases=cases,
        with_peers=with_peers,
        comparison=peers,
    )


def film(store: Store, person: Person, position: int, number: int) -> FilmRow | None:
    """Return the row of a film of a case on the score card, or None.

    Raises the same errors as `score_card`.

    Parameters
    ----------
    number
        Number of the film in the case, from 0.
    """
    with store.look() as look:
        protocol = stored_protocol(_closed_study(look, person))
        row = readings.scored_at(look, person.reader or 0, position)
        if row is None or row.images is None:
            return None
        films = readings.films_shown(look, row.images, prior="prior" in protocol.context)
        return films[number] if 0 <= number < len(films) else None


def _closed_study(look: Transaction, person: Person) -> StudyRow:
    if person.reader is None:
        raise NotAllowed(t("Only readers of this study have a score card."))
    study = studies.find(look, person.study_name)
    if study is None:
        raise NotFound(t("This study no longer exists."))
    if study.state != "closed":
        raise NotNow(_not_yet(study))
    if stored_protocol(study).feedback is Feedback.NEVER:
        raise NotAllowed(t("This study does not show readers their scores."))
    return study


def _not_yet(study: StudyRow) -> str:
    when = t("The score card is available once the study is closed.")
    if stored_protocol(study).score_card == "own":
        return when
    return f"{when} {t('Your place among other readers appears when the study is closed.')}"


def _case(
    look: Transaction, row: ScoredRow, peers: Comparison | None, *, prior: bool
) -> ScoredCase:
    texts, order, truth = json.loads(row.options), row.shown_order, row.truth
    shown_items = [] if row.images is None else [row.images]
    films = readings.views(look, shown_items, prior=prior).get(row.images or 0, [])
    in_words = row.condition == Condition.OPEN_ENDED
    right = None if truth is None else shown_letter(truth, order)
    if truth is not None and in_words:
        right = texts[LETTERS.index(truth)]
    return ScoredCase(
        position=row.position,
        condition=row.condition,
        task=row.task,
        question=row.question,
        options=tuple(
            (LETTERS[place], texts[LETTERS.index(letter)])
            for place, letter in enumerate("" if in_words else order)
        ),
        own=row.answer if row.answer is None or in_words else shown_letter(row.answer, order),
        status=row.status,
        confidence=row.confidence,
        right=right,
        correct=None if truth is None or in_words else row.answer == truth,
        explanation=row.explanation,
        films=tuple(map(_film, films)),
        others=None if peers is None or in_words else peers.others(row.item, row.condition),
        open_ended=in_words,
    )


def _film(row: ViewRow) -> ScoredFilm:
    return ScoredFilm(
        label=view_label(row.label)[0],
        width=row.width,
        height=row.height,
        prior=bool(row.prior),
        days=row.days,
    )


def _count(cases: Iterable[ScoredCase]) -> Count:
    results = [case.correct for case in cases if case.correct is not None]
    return Count(n_correct=sum(results), n=len(results))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingRecord:
    """A reader's record of reading in a study.

    Times are in UTC, and None if nothing was read. `reading_ms` is the total response time of the
    `n_timed` readings whose time was measured. `card` is the score card, or None if the reader has
    none.
    """

    study: str
    reader: str
    n_assigned: int
    n_read: int
    first_at_utc: str | None
    last_at_utc: str | None
    reading_ms: float
    n_timed: int
    receipt: str
    card: ScoreCard | None

    @property
    def score(self) -> Count | None:
        """The number of matching answers, if the score card shows it."""
        return self.card.total if self.card and self.card.total.n else None


def reading_record(store: Store, person: Person) -> ReadingRecord:
    """Return the reader's record of reading.

    Raises
    ------
    NotAllowed
        The person is not a reader.
    NotNow
        Some cases are unread, and the study is not closed.
    NotFound
        The study does not exist.
    """
    if person.reader is None:
        raise NotAllowed(t("Only readers of this study have a reading record."))
    with store.look(sealed=True) as look:
        study = studies.find(look, person.study_name)
        if study is None:
            raise NotFound(t("This study no longer exists."))
        time_spent = readings.reading_time(look, person.reader)
        if study.state != "closed" and time_spent["n_read"] < max(1, time_spent["n_assigned"]):
            raise NotNow(t("The reading record is available once you have read every case."))
        signs = receipt(look, study, person.reader, person.name)
    return ReadingRecord(
        study=study.name,
        reader=person.name,
        receipt=signs,
        card=_score_card_or_none(store, person),
        **time_spent,
    )


def _score_card_or_none(store: Store, person: Person) -> ScoreCard | None:
    try:
        return score_card(store, person)
    except (NotAllowed, NotNow):
        return None
