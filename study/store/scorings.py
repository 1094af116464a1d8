"""The scoring of a study's answers in words, in the store: which, by whom, what each judged."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from study.store.connection import Transaction


class ScoringRow(NamedTuple):
    """A scoring of a study's answers or explanations; `ended_at_utc` is empty while it goes on."""

    id: int
    study: int
    study_name: str
    bank: int
    bank_name: str
    kind: str
    seed: int
    opened_at_utc: str
    ended_at_utc: str


class ScorerRow(NamedTuple):
    """Who scores, by their place among the scorers; one who came with a bundle is nobody here."""

    position: int
    person: int | None
    handle: str

    @property
    def code(self) -> str:
        """Return what a scorer is called outside."""
        return f"S{self.position + 1}"


class ScoringAnswer(NamedTuple):
    """An answer under scoring; those of one position say the same, and are judged as one."""

    position: int
    answer_id: str


class ScoreRow(NamedTuple):
    """What a scorer last said of the words at a position, and in which turn."""

    position: int
    scorer: int
    turn: int
    verdict: str
    comment: str
    at_utc: str


_SCORING = (
    "SELECT scorings.id, study, studies.name AS study_name, bank, banks.name AS bank_name, kind, "
    "seed, scorings.opened_at_utc, coalesce(at_utc, '') AS ended_at_utc FROM scorings "
    "JOIN studies ON studies.id = study JOIN banks ON banks.id = bank "
    "LEFT JOIN scoring_ends ON scoring = scorings.id "
)


def add(change: Transaction, *, study: int, kind: str, seed: int, at_utc: str) -> int:
    """Insert a scoring; return its number."""
    return change.insert("scorings", study=study, kind=kind, seed=seed, opened_at_utc=at_utc)


def add_cases(change: Transaction, scoring: int, cases: Sequence[int]) -> None:
    """Insert the cases that were drawn to be scored; none where all are."""
    for case in cases:
        change.insert("scoring_cases", scoring=scoring, case_id=case)


def add_answers(change: Transaction, scoring: int, answers: Sequence[ScoringAnswer]) -> None:
    """Insert the answers under scoring, each with its position."""
    for one in answers:
        change.insert("scoring_answers", scoring=scoring, **one._asdict())


def add_scorers(change: Transaction, scoring: int, persons: Sequence[int]) -> None:
    """Insert who scores, in order."""
    for position, person in enumerate(persons):
        change.insert("scorers", scoring=scoring, position=position, person=person)


def add_score(change: Transaction, scoring: int, **columns: Any) -> None:
    """Insert what somebody says of the words at a position; the last they said counts."""
    change.insert("scores", scoring=scoring, **columns)


def end(change: Transaction, scoring: int, at_utc: str) -> None:
    """Note that a scoring is over."""
    change.insert("scoring_ends", scoring=scoring, at_utc=at_utc)


def of_study(look: Transaction, study: int) -> list[ScoringRow]:
    """Return a study's scorings, in the order they were opened."""
    sql = f"{_SCORING} WHERE study = :study ORDER BY scorings.id"
    return look.tuples(ScoringRow, sql, study=study)


def by_number(look: Transaction, scoring: int) -> ScoringRow | None:
    """Return a scoring, or None."""
    found = look.tuples(ScoringRow, f"{_SCORING} WHERE scorings.id = :scoring", scoring=scoring)
    return found[0] if found else None


def of_person(look: Transaction, person: int) -> list[ScoringRow]:
    """Return the scorings somebody has a part in, the newest first."""
    return look.tuples(
        ScoringRow,
        f"{_SCORING} WHERE scorings.id IN (SELECT scoring FROM scorers WHERE person = :person) "
        "ORDER BY scorings.id DESC",
        person=person,
    )


def scorers(look: Transaction, scoring: int) -> list[ScorerRow]:
    """Return who scores, in order."""
    return look.tuples(
        ScorerRow,
        "SELECT position, person, coalesce(handle, '') AS handle FROM scorers "
        "LEFT JOIN people ON people.id = person WHERE scoring = :scoring ORDER BY position",
        scoring=scoring,
    )


def answers(look: Transaction, scoring: int) -> list[ScoringAnswer]:
    """Return the answers under scoring, by position."""
    return look.tuples(
        ScoringAnswer,
        "SELECT position, answer_id FROM scoring_answers WHERE scoring = :scoring "
        "ORDER BY position, answer_id",
        scoring=scoring,
    )


def item_ids(look: Transaction, scoring: int) -> list[str]:
    """Return the items that were drawn to be scored; none where all are."""
    return look.tuples(
        str,
        "SELECT item_id FROM scoring_cases JOIN cases ON cases.id = case_id "
        "JOIN items ON items.id = cases.item WHERE scoring = :scoring ORDER BY item_id",
        scoring=scoring,
    )


def scores(look: Transaction, scoring: int) -> list[ScoreRow]:
    """Return what each scorer last said of the words at each position."""
    return look.tuples(
        ScoreRow,
        "SELECT position, scorer, turn, score AS verdict, comment, at_utc FROM scores WHERE id IN "
        "(SELECT max(id) FROM scores WHERE scoring = :scoring GROUP BY position, scorer) "
        "ORDER BY id",
        scoring=scoring,
    )


def every_score(look: Transaction, scoring: int) -> list[dict[str, Any]]:
    """Return everything that scorers said, in the order they said it, as it can be restored."""
    return look.rows(
        "SELECT position, scorer, turn, score, comment, at_utc FROM scores "
        "WHERE scoring = :scoring ORDER BY id",
        scoring=scoring,
    )
