"""The score card: one's own answers beside the reference standard, and only once all is closed."""

from collections.abc import Callable

import pytest

from study.base.errors import NotAllowed, NotFound, NotNow
from study.people.roles import Role
from study.people.signing_in import Person
from study.reading import desk, score_card
from study.store import Store, studies
from tests.conftest import NOW, SECRETS, person, reading

Opened = Callable[..., Store]


def close(store: Store, study: str = "trial") -> None:
    """Close a study as the store has it."""
    with store.change() as change:
        row = studies.find(change, study)
        assert row is not None
        studies.mark_closed(change, row.id, "2025-06-05T12:00:00.000Z")


def _read(store: Store, n: int, option: str | None = "A") -> None:
    who = person(store)
    for _ in range(n):
        case = desk.desk(store, who, now=NOW).cases[0].case
        assert desk.take_records(store, who, [reading(case, option)], now=NOW).refused == ()


def test_it_sets_each_answer_beside_the_reference_standard(opened: Opened) -> None:
    """Letters are as this reader saw them, the count is over the cases read."""
    store = opened(feedback="after study", option_order="random")
    _read(store, 6)
    close(store)
    card = score_card.score_card(store, person(store))
    assert (card.reader, card.n_assigned, len(card.cases)) == ("R1", 8, 6)
    assert [case.position for case in card.cases] == [1, 2, 3, 4, 5, 6]
    with store.look() as look:
        truths = look.rows(
            "SELECT position, truth, options, shown_order FROM assignments "
            "JOIN cases ON cases.id = case_id JOIN items ON items.id = cases.item "
            "JOIN reference_standard ON reference_standard.item = items.id "
            "JOIN readers ON readers.id = reader WHERE reader_id = 'R1' ORDER BY position"
        )
    for case, row in zip(card.cases, truths, strict=False):
        assert case.own == "A"
        assert case.right is not None
        assert row["shown_order"]["ABCD".index(case.right)] == row["truth"]
        assert case.correct == (case.right == "A")
        assert case.explanation == SECRETS[2]
        assert [(film.label, film.width) for film in case.films] == [("PA", 80), ("LATERAL", 80)]
    assert card.total.n == 6
    assert card.total.n_correct == sum(case.right == "A" for case in card.cases)
    assert sum(count.n for count in card.by_task.values()) == 6


def test_a_case_without_an_answer_is_not_correct(opened: Opened) -> None:
    """It stays in the denominator."""
    store = opened(feedback="after case", time_limit_s=60)
    _read(store, 2, None)
    close(store)
    card = score_card.score_card(store, person(store))
    assert [(case.own, case.status, case.correct) for case in card.cases] == [
        (None, "timed_out", False)
    ] * 2
    assert (card.total.n_correct, card.total.n) == (0, 2)


def test_a_changed_answer_counts_as_it_stands(opened: Opened) -> None:
    """Each case is there once, with the answer that no other supersedes."""
    store = opened(feedback="after study", back_navigation=True)
    first = desk.desk(store, person(store), now=NOW).cases[0].case
    _read(store, 1)
    changed = reading(first, "B", id="changed-it", supersedes=f"read-{first}")
    assert desk.take_records(store, person(store), [changed], now=NOW).refused == ()
    close(store)
    (case,) = score_card.score_card(store, person(store)).cases
    assert case.own == "B"


def test_while_the_study_is_open_there_is_none(opened: Opened) -> None:
    """Neither the card nor a film of it, however much was read."""
    store = opened(feedback="after study")
    _read(store, 8)
    with pytest.raises(NotNow, match="once the study is closed"):
        score_card.score_card(store, person(store))
    with pytest.raises(NotNow):
        score_card.film(store, person(store), 1, 0)
    assert not score_card.is_closed(store, person(store))


def test_without_feedback_there_is_none(opened: Opened) -> None:
    """A closed study that tells nothing goes on telling nothing."""
    store = opened()
    _read(store, 1)
    close(store)
    assert score_card.is_closed(store, person(store))
    with pytest.raises(NotAllowed, match="does not show readers their scores"):
        score_card.score_card(store, person(store))
    with pytest.raises(NotAllowed):
        score_card.film(store, person(store), 1, 0)


def test_it_is_nobody_elses(opened: Opened) -> None:
    """Another reader sees their own, a coordinator none, and no film is found of a case unread."""
    store = opened(feedback="after study")
    _read(store, 2)
    close(store)
    assert score_card.score_card(store, person(store, "R2")).cases == ()
    assert score_card.film(store, person(store, "R2"), 1, 0) is None
    mine = score_card.film(store, person(store), 1, 0)
    assert mine is not None
    assert mine.label == "PA"
    for position, number in ((3, 0), (0, 0), (1, 2), (1, -1)):
        assert score_card.film(store, person(store), position, number) is None
    study = person(store).study
    other = Person(role=Role.COORDINATOR, study=study, study_name="trial", reader=None, name="c")
    with pytest.raises(NotAllowed, match="Only readers"):
        score_card.score_card(store, other)
    gone = Person(role=Role.READER, study=99, study_name="gone", reader=99, name="R1")
    with pytest.raises(NotFound):
        score_card.score_card(store, gone)


def test_a_case_read_without_film_has_none_on_the_card(opened: Opened) -> None:
    """What the reader did not see is not shown beside their answer."""
    store = opened(feedback="after study", conditions=["image-absent"])
    _read(store, 1)
    close(store)
    (case,) = score_card.score_card(store, person(store)).cases
    assert case.films == ()
    assert score_card.film(store, person(store), 1, 0) is None
