"""Opens scorings of a closed study's free-text answers, and exports their scores.

Scorers see the question, its images, the correct option and the answer, but neither the rater nor
other scores. A study has at most one scoring of its answers and one scoring of its models'
explanations. The scores are exported with the study's bundle.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from study.base.actor import Acting
from study.base.canonical import sha256_of, shuffled, stamp
from study.base.errors import BadInput, NotNow
from study.base.text import quoted
from study.base.translation import t
from study.lifecycle.exposure import studies_reading
from study.lifecycle.judging import distinct_judges, everything_judged, paused_message
from study.store import Store, Transaction, events, judgements, people, studies
from study.store.events import EventKind
from study.store.judgements import ANSWER, EXPLANATION, JudgingRow, ScoringAnswer
from study.store.studies import StudyRow, study_row


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The number of questions drawn at random (None for all), and the seed of the draw."""

    n_items: int | None = None
    seed: int = 1


ALL_QUESTIONS = Sample()


def open_scoring(
    store: Store,
    study: str,
    *,
    kind: str,
    scorers: Sequence[int],
    sample: Sample = ALL_QUESTIONS,
    acting: Acting,
) -> int:
    """Open a scoring of a closed study's answers or explanations; return its number.

    Parameters
    ----------
    scorers
        The row numbers of the people who score.
    sample
        The questions whose answers are scored; by default, all questions.

    Raises
    ------
    NotFound
        The study does not exist.
    NotNow
        The study is not closed or already has such a scoring, or cases in its bank are being read.
    BadInput
        There are fewer than two scorers, a scorer was a reader of the study, or there is nothing to
        score.
    """
    persons = distinct_judges(kind, scorers)
    with store.change() as change:
        row = study_row(change, study)
        if row.state != "closed":
            raise NotNow(t("Close the study first: scorers see the correct answers."))
        if kind in {scoring.kind for scoring in judgements.scorings_of_study(change, row.id)}:
            raise NotNow(t("These answers have been given to scorers already."))
        if studies_reading(change, row.bank):
            raise NotNow(paused_message())
        _refuse_readers(change, row, persons)
        answers, drawn = _answers_to_score(change, row, kind, sample)
        cases = {case.item_id: case.id for case in studies.cases(change, row.id)}
        number = judgements.add_scoring(
            change,
            answers,
            persons,
            cases=[cases[item_id] for item_id in drawn],
            study=row.id,
            kind=kind,
            seed=sample.seed,
            opened_at_utc=stamp(acting.now),
        )
        detail = {
            "of": kind,
            "n": len(answers),
            "scorers": len(persons),
            "answers_sha256": answers_hash(change, number),
        }
        events.record(change, study, acting, kind=EventKind.SCORING_OPENED, detail=detail)
    return number


def _answers_to_score(
    look: Transaction, study: StudyRow, kind: str, sample: Sample
) -> tuple[list[ScoringAnswer], list[str]]:
    """Return the answers to score with their positions, and the drawn items if there is a draw."""
    answers_of_kind = [
        answer for answer in judgements.open_answers_of_study(look, study.id) if answer.kind == kind
    ]
    answers = [answer for answer in answers_of_kind if answer.words.strip()]
    if not answers:
        raise BadInput(t("There are no answers in words to score."))
    drawn: list[str] = []
    if sample.n_items is not None:
        item_ids = {answer.item_id for answer in answers_of_kind}
        if not 1 <= sample.n_items <= len(item_ids):
            raise BadInput(t("Choose between 1 and {n} questions.", n=len(item_ids)))
        drawn = sorted(shuffled(item_ids, seed=sample.seed, purpose="scoring")[: sample.n_items])
        answers = [answer for answer in answers if answer.item_id in drawn]
    keys = [f"{answer.item_id}\n{plain_words(answer.words)}" for answer in answers]
    order = enumerate(shuffled(set(keys), seed=sample.seed, purpose="scoring"))
    positions = {key: position for position, key in order}
    return sorted(
        ScoringAnswer(positions[key], answer.answer_id)
        for key, answer in zip(keys, answers, strict=True)
    ), drawn


def plain_words(words: str) -> str:
    """Return an answer without letter case, extra white space and final full stops.

    >>> plain_words("  Pleural  Effusion. ") == plain_words("pleural effusion")
    True
    """
    plain = unicodedata.normalize("NFKC", words).casefold()
    return re.sub(r"\s+", " ", plain).strip(" .")


def _refuse_readers(look: Transaction, study: StudyRow, persons: Sequence[int]) -> None:
    for person in persons:
        if any(
            role.reader and role.study == study.id for role in people.all_grants_of(look, person)
        ):
            name = people.handle_of(look, person)
            raise BadInput(
                t("{name} read in this study and cannot score its answers.", name=quoted(name))
            )


def answers_hash(look: Transaction, scoring: int) -> str:
    """Return the hash of the answers under scoring with their positions, and the items drawn."""
    answers = [list(answer) for answer in judgements.scoring_answers(look, scoring)]
    return sha256_of([answers, judgements.scoring_item_ids(look, scoring)])


SCORE_COLUMNS = ("answer_id", "scorer", "turn", "score", "comment", "scored_at_utc")
"""Columns of `score_rows`."""


def score_rows(look: Transaction, study: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each scorer and answer in a study's closed scorings; scorers have codes."""
    for row in _closed_scorings(look, study):
        codes = [scorer.code for scorer in judgements.judges(look, row)]
        for words in everything_judged(look, row):
            verdicts = [
                (turn, words.verdicts[judge])
                for turn, judge in enumerate(words.judges, start=1)
                if judge in words.verdicts
            ]
            for answer in words.answers:
                for turn, verdict in verdicts:
                    yield {
                        "answer_id": answer.answer_id,
                        "scorer": codes[verdict.judge],
                        "turn": turn,
                        "score": verdict.verdict,
                        "comment": verdict.comment or None,
                        "scored_at_utc": verdict.at_utc,
                    }


def scored_items(look: Transaction, study: int) -> dict[str, list[str]]:
    """Return the items drawn for scoring by kind, without kinds of which all items were scored."""
    return {
        row.kind: items
        for row in _closed_scorings(look, study)
        if (items := judgements.scoring_item_ids(look, row.id))
    }


def _closed_scorings(look: Transaction, study: int) -> list[JudgingRow]:
    return [row for row in judgements.scorings_of_study(look, study) if row.ended_at_utc]


def count_answers_to_score(look: Transaction, study: int) -> dict[str, int]:
    """Return the number of a study's free-text answers by kind."""
    kinds = [
        answer.kind
        for answer in judgements.open_answers_of_study(look, study)
        if answer.words.strip()
    ]
    return {kind: kinds.count(kind) for kind in (ANSWER, EXPLANATION)}
