"""Scoring answers in words: each is judged by two, and by a third where they differ.

A scorer sees the question, its images, the correct option and the words, and never whose they are;
of the others' scores nothing. A scoring belongs to a closed study, there is one of its answers and
one of its explanations, and what it comes to leaves with the study's bundle.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from study.base.actor import COMMAND_LINE, By
from study.base.canonical import sha256_of, shuffled, stamp
from study.base.errors import BadInput, NotFound, NotNow
from study.base.translation import later, t
from study.lifecycle.exposure import being_read
from study.lifecycle.judging import JUDGES, Judged, is_new, judges
from study.store import Store, Transaction, events, judgements, people, studies
from study.store.events import EventKind
from study.store.judgements import (
    ANSWER,
    EXPLANATION,
    OpenAnswer,
    ScoreRow,
    ScoringAnswer,
    ScoringRow,
)
from study.store.studies import StudyRow, study_row

KINDS = (ANSWER, EXPLANATION)


class Score(StrEnum):
    """How right words are, best first."""

    CORRECT = "correct"
    PARTLY = "partly correct"
    INCORRECT = "incorrect"


SCORES = {
    Score.CORRECT: later("Correct"),
    Score.PARTLY: later("Partly correct"),
    Score.INCORRECT: later("Incorrect"),
}
"""The scores, as people say them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredWords(Judged):
    """How far the scoring of some words is: of all answers to an item that say the same.

    Parameters
    ----------
    position
        By which they are known in the scoring.
    answers
        The answers that say so, in the order of their ids.
    """

    position: int
    answers: Sequence[OpenAnswer]
    given: Mapping[int, ScoreRow]

    @staticmethod
    def settled(scores: Sequence[str]) -> str | None:
        """Return what words are scored, or None while another has to judge them.

        The middle of three: what two of them say, and partly correct where all differ.

        >>> ScoredWords.settled(["correct", "correct"])
        'correct'
        >>> ScoredWords.settled(["correct", "incorrect"]) is None
        True
        >>> ScoredWords.settled(["correct", "incorrect", "incorrect"])
        'incorrect'
        >>> ScoredWords.settled(["incorrect", "partly correct", "correct"])
        'partly correct'
        """
        if len(scores) < JUDGES:
            return None
        if scores[0] == scores[1]:
            return scores[0]
        if len(scores) == JUDGES:
            return None
        return sorted(map(Score, scores), key=list(Score).index)[1].value


def open_scoring(
    store: Store,
    study: str,
    *,
    kind: str,
    scorers: Sequence[int],
    n_items: int | None = None,
    seed: int = 1,
    now: datetime,
    by: By = COMMAND_LINE,
) -> int:
    """Let people, by number, score a closed study's answers or explanations; return its number.

    Parameters
    ----------
    n_items
        Number of questions whose answers are scored, drawn at random; None for all.

    Raises
    ------
    NotFound
        No such study.
    NotNow
        It is not closed, has such a scoring already, or cases of its bank are being read.
    BadInput
        Fewer than two scorers, one who read in the study, or nothing to score.
    """
    persons = list(dict.fromkeys(scorers))
    if len(persons) < JUDGES:
        raise BadInput(t("Choose at least two scorers."))
    with store.change() as change:
        row = study_row(change, study)
        if row.state != "closed":
            raise NotNow(t("Close the study first: scorers see the correct answers."))
        if kind in {scoring.kind for scoring in judgements.scorings_of_study(change, row.id)}:
            raise NotNow(t("These answers have been given to scorers already."))
        if being_read(change, row.bank):
            raise NotNow(_being_read())
        _refuse_readers(change, row, persons)
        answers, drawn = _to_score(change, row, kind, n_items, seed)
        number = judgements.add_scoring(
            change, study=row.id, kind=kind, seed=seed, at_utc=stamp(now)
        )
        cases = {case.item_id: case.id for case in studies.cases(change, row.id)}
        judgements.add_cases(change, number, [cases[item_id] for item_id in drawn])
        judgements.add_answers(change, number, answers)
        judgements.add_scorers(change, number, persons)
        events.record(
            change,
            study,
            now,
            kind=EventKind.SCORING_OPENED,
            detail={
                "of": kind,
                "n": len(answers),
                "scorers": len(persons),
                **_facts(change, number),
            },
            by=by,
        )
    return number


def _to_score(
    look: Transaction, study: StudyRow, kind: str, n_items: int | None, seed: int
) -> tuple[list[ScoringAnswer], list[str]]:
    """Return the answers to score with their positions, and the items that were drawn if any."""
    of_kind = [
        answer for answer in judgements.open_answers_of_study(look, study.id) if answer.kind == kind
    ]
    answers = [answer for answer in of_kind if answer.words.strip()]
    if not answers:
        raise BadInput(t("There are no answers in words to score."))
    drawn: list[str] = []
    if n_items is not None:
        asked = {answer.item_id for answer in of_kind}
        if not 1 <= n_items <= len(asked):
            raise BadInput(t("Choose between 1 and {n} questions.", n=len(asked)))
        drawn = sorted(shuffled(asked, seed=seed, purpose="scoring")[:n_items])
        answers = [answer for answer in answers if answer.item_id in drawn]
    alike = {f"{answer.item_id}\n{plain_words(answer.words)}" for answer in answers}
    places = {key: i for i, key in enumerate(shuffled(alike, seed=seed, purpose="scoring"))}
    rows = [
        ScoringAnswer(places[f"{answer.item_id}\n{plain_words(answer.words)}"], answer.answer_id)
        for answer in answers
    ]
    return sorted(rows), drawn


def plain_words(words: str) -> str:
    """Return words without what makes no difference to how right they are.

    >>> plain_words("  Pleural  Effusion. ") == plain_words("pleural effusion")
    True
    """
    plain = unicodedata.normalize("NFKC", words).casefold()
    return re.sub(r"\s+", " ", plain).strip(" .")


def _refuse_readers(look: Transaction, study: StudyRow, persons: Sequence[int]) -> None:
    for person in persons:
        if any(role.reader and role.study == study.id for role in people.ever(look, person)):
            name = people.handle_of(look, person)
            raise BadInput(
                t("{name} read in this study and cannot score its answers.", name=repr(name))
            )


def words_of(look: Transaction, scoring: int) -> list[ScoredWords]:
    """Return how far the scoring of all words is, in order; of models that stand, and readers."""
    row = scoring_row(look, scoring)
    known = {
        answer.answer_id: answer for answer in judgements.open_answers_of_study(look, row.study)
    }
    by_answer: dict[int, list[OpenAnswer]] = {}
    for scored in judgements.scoring_answers(look, scoring):
        if scored.answer_id in known:
            by_answer.setdefault(scored.position, []).append(known[scored.answer_id])
    by_position: dict[int, dict[int, ScoreRow]] = {}
    for score in judgements.scores(look, scoring):
        by_position.setdefault(score.position, {})[score.scorer] = score
    n = len(judgements.scorers(look, scoring))
    return [
        ScoredWords(
            position=position,
            answers=answers,
            judges=tuple(judges(position, n)),
            given=by_position.get(position, {}),
        )
        for position, answers in by_answer.items()
    ]


def place_of(look: Transaction, scoring: int, person: int) -> int | None:
    """Return a person's position among the scorers, or None."""
    matches = (scorer for scorer in judgements.scorers(look, scoring) if scorer.person == person)
    return next((scorer.position for scorer in matches), None)


def order_of(row: ScoringRow, scorer: int, words: Sequence[ScoredWords]) -> list[ScoredWords]:
    """Return words in the order one scorer meets them: another one for each."""
    purpose = f"scoring, S{scorer + 1}"
    lots = shuffled([str(answer.position) for answer in words], seed=row.seed, purpose=purpose)
    places = {int(key): place for place, key in enumerate(lots)}
    return sorted(words, key=lambda answer: places[answer.position])


def refusal(look: Transaction, scoring: ScoringRow) -> str:
    """Return why nobody can score at present, or an empty text."""
    if scoring.ended_at_utc:
        return t("This scoring is closed.")
    if being_read(look, scoring.bank):
        return _being_read()
    return ""


def _being_read() -> str:
    return t("Closed for now: cases from this bank are being read in a study.")


def judge(
    change: Transaction,
    scoring: ScoringRow,
    position: int,
    *,
    scorer: int,
    score: Score,
    comment: str,
    now: datetime,
) -> None:
    """Keep how a scorer, by place, judges the words at a position; said again, the last counts.

    Raises
    ------
    NotAllowed
        The words are not theirs to judge.
    NotNow
        Nobody can judge at present.
    BadInput
        The comment is too long.
    """
    words = comment.strip()
    if why := refusal(change, scoring):
        raise NotNow(why)
    matches = (answer for answer in words_of(change, scoring.id) if answer.position == position)
    match = next(matches, None)
    if is_new(match, scorer, score, words) and match is not None:
        judgements.add_score(
            change,
            scoring.id,
            position=position,
            scorer=scorer,
            turn=match.judges.index(scorer) + 1,
            score=score,
            comment=words,
            at_utc=stamp(now),
        )


def close_scoring(store: Store, scoring: int, *, now: datetime, by: By = COMMAND_LINE) -> None:
    """End a scoring; nobody judges any more, and the scores leave with the study's bundle.

    The audit trail records the hash of every score.

    Raises
    ------
    NotFound
        There is no such scoring.
    NotNow
        It is over already.
    """
    with store.change() as change:
        row = scoring_row(change, scoring)
        if row.ended_at_utc:
            raise NotNow(t("This scoring is closed."))
        judgements.end_scoring(change, scoring, stamp(now))
        detail = {"of": row.kind, "scores_sha256": scores_hash(change, scoring)}
        events.record(
            change, row.study_name, now, kind=EventKind.SCORING_CLOSED, detail=detail, by=by
        )


def _facts(look: Transaction, scoring: int) -> dict[str, str]:
    return {"answers_sha256": answers_hash(look, scoring)}


def answers_hash(look: Transaction, scoring: int) -> str:
    """Return the hash of what is scored: the answers with their positions, and the items drawn."""
    answers = [list(answer) for answer in judgements.scoring_answers(look, scoring)]
    return sha256_of([answers, judgements.scoring_item_ids(look, scoring)])


def scores_hash(look: Transaction, scoring: int) -> str:
    """Return the hash of everything that scorers said."""
    return sha256_of(judgements.every_score(look, scoring))


TABLE = ("answer_id", "scorer", "turn", "score", "comment", "scored_at_utc")
"""Columns of `score_rows`."""


def score_rows(look: Transaction, study: int) -> Iterator[dict[str, Any]]:
    """Yield the scores of a study's closed scorings, one a scorer and answer, none by name."""
    for row in judgements.scorings_of_study(look, study):
        if row.ended_at_utc:
            yield from _rows(look, row.id)


def _rows(look: Transaction, scoring: int) -> Iterator[dict[str, Any]]:
    codes = {scorer.position: scorer.code for scorer in judgements.scorers(look, scoring)}
    for words in words_of(look, scoring):
        scores = sorted(words.given.values(), key=lambda score: score.turn)
        for answer in words.answers:
            for row in scores:
                yield {
                    "answer_id": answer.answer_id,
                    "scorer": codes[row.scorer],
                    "turn": row.turn,
                    "score": row.verdict,
                    "comment": row.comment or None,
                    "scored_at_utc": row.at_utc,
                }


def scored_items(look: Transaction, study: int) -> dict[str, list[str]]:
    """Return the items that were drawn to be scored, by kind; none of a kind scored whole."""
    return {
        row.kind: items
        for row in judgements.scorings_of_study(look, study)
        if row.ended_at_utc and (items := judgements.scoring_item_ids(look, row.id))
    }


def to_be_scored(look: Transaction, study: int) -> dict[str, int]:
    """Return how many answers in words a study has, by kind."""
    kinds = [
        answer.kind
        for answer in judgements.open_answers_of_study(look, study)
        if answer.words.strip()
    ]
    return {kind: kinds.count(kind) for kind in KINDS}


def scoring_row(look: Transaction, scoring: int) -> ScoringRow:
    """Return a scoring by its number.

    Raises
    ------
    NotFound
        There is none.
    """
    row = judgements.scoring_by_number(look, scoring)
    if row is None:
        raise NotFound(t("There is no such scoring."))
    return row
