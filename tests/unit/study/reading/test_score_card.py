"""The score card and the reading record of a reader."""

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from study.base.errors import NotAllowed, NotFound, NotNow
from study.models import models
from study.people.roles import Role
from study.people.signing_in import Person
from study.reading import desk, score_card
from study.reading.score_card import Count, ReadingRecord, ScoreCard, reading_record, sum_counts
from study.store import Store, studies
from tests.conftest import ACTING, NOW, SECRETS, person, reading
from ui.reading.score_card import record_page, record_pdf

Opened = Callable[..., Store]


def close(store: Store, study: str = "trial") -> None:
    """Mark a study as closed."""
    with store.change() as change:
        row = studies.find(change, study)
        assert row is not None
        studies.mark_closed(change, row.id, "2025-06-05T12:00:00.000Z")


def _read(store: Store, n: int, option: str | None = "A") -> None:
    reader = person(store)
    for _ in range(n):
        case = desk.desk(store, reader, now=NOW).cases[0].case
        assert desk.take_records(store, reader, [reading(case, option)], now=NOW).refused == ()


def test_the_card_shows_each_answer_with_the_reference_standard(opened: Opened) -> None:
    """The letters are those that this reader saw; the totals cover the cases read."""
    store = opened(feedback="after study", option_order="random")
    _read(store, 6)
    close(store)
    card = score_card.score_card(store, person(store))
    assert (card.reader, card.n_assigned, len(card.cases)) == ("R1", 8, 6)
    assert [case.position for case in card.cases] == [1, 2, 3, 4, 5, 6]
    with store.look() as look:
        shown = look.rows(
            "SELECT position, truth, options, shown_order FROM assignments "
            "JOIN cases ON cases.id = case_id JOIN items ON items.id = cases.item "
            "JOIN reference_standard ON reference_standard.item = items.id "
            "JOIN readers ON readers.id = reader WHERE reader_id = 'R1' ORDER BY position"
        )
    for case, row in zip(card.cases, shown, strict=False):
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
    """The case still counts in the denominator."""
    store = opened(feedback="after case", time_limit_s=60)
    _read(store, 2, None)
    close(store)
    card = score_card.score_card(store, person(store))
    assert [(case.own, case.status, case.correct) for case in card.cases] == [
        (None, "timed_out", False)
    ] * 2
    assert (card.total.n_correct, card.total.n) == (0, 2)


def test_the_last_answer_to_a_case_counts(opened: Opened) -> None:
    """Each case is listed once."""
    store = opened(feedback="after study", back_navigation=True)
    first = desk.desk(store, person(store), now=NOW).cases[0].case
    _read(store, 1)
    changed = reading(first, "B", id="changed-it", supersedes=f"read-{first}")
    assert desk.take_records(store, person(store), [changed], now=NOW).refused == ()
    close(store)
    (case,) = score_card.score_card(store, person(store)).cases
    assert case.own == "B"


def test_an_open_study_has_no_score_card(opened: Opened) -> None:
    """The card and its films are not available."""
    store = opened(feedback="after study")
    _read(store, 8)
    with pytest.raises(NotNow, match="once the study is closed"):
        score_card.score_card(store, person(store))
    with pytest.raises(NotNow):
        score_card.film(store, person(store), 1, 0)
    assert not score_card.is_closed(store, person(store))


def test_a_study_without_feedback_has_no_score_card(opened: Opened) -> None:
    """Closing the study does not make a card available."""
    store = opened()
    _read(store, 1)
    close(store)
    assert score_card.is_closed(store, person(store))
    with pytest.raises(NotAllowed, match="does not show readers their scores"):
        score_card.score_card(store, person(store))
    with pytest.raises(NotAllowed):
        score_card.film(store, person(store), 1, 0)


def test_a_score_card_belongs_to_its_reader(opened: Opened) -> None:
    """Other roles have no card, and films of unread cases are not served."""
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
    other = Person(role=Role.COORDINATOR, study=study, study_name="trial", name="c")
    with pytest.raises(NotAllowed, match="Only readers"):
        score_card.score_card(store, other)
    stranger = Person(role=Role.READER, study=99, study_name="gone", reader=99, name="R1")
    with pytest.raises(NotFound):
        score_card.score_card(store, stranger)


def test_a_case_read_without_a_film_has_none_on_the_card(opened: Opened) -> None:
    """The card shows what the reader saw."""
    store = opened(feedback="after study", conditions=["image-absent"])
    _read(store, 1)
    close(store)
    (case,) = score_card.score_card(store, person(store)).cases
    assert case.films == ()
    assert score_card.film(store, person(store), 1, 0) is None


def _read_record(store: Store, n: int) -> None:
    """Read cases a day apart, for half an hour each, the last of them for an unknown time."""
    for day in range(n):
        at = NOW + timedelta(days=day)
        case = desk.desk(store, person(store), now=at).cases[0].case
        took = None if day == n - 1 else 30 * 60_000.0
        times = {**reading(case)["times"], "response_ms": took, "elapsed_ms": took}
        record = reading(case, times=times)
        assert desk.take_records(store, person(store), [record], now=at).refused == ()


def _record(store: Store) -> ReadingRecord:
    return reading_record(store, person(store))


def _pdf_text(record: ReadingRecord) -> str:
    """Return the text of the PDF on one line."""
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is missing; install it with: apt-get install poppler-utils")
    command = ["pdftotext", "-layout", "-", "-"]
    result = subprocess.run(command, input=record_pdf(record), capture_output=True, check=True)
    return " ".join(result.stdout.decode().split())


def test_the_record_is_available_after_the_last_case_without_a_score(
    opened: Opened,
) -> None:
    """The record has days, cases and measured time; the score is added after closing."""
    store = opened(feedback="after study")
    _read_record(store, 7)
    with pytest.raises(NotNow, match="once you have read every case"):
        _record(store)
    case = desk.desk(store, person(store), now=NOW).cases[0].case
    desk.take_records(store, person(store), [reading(case)], now=NOW + timedelta(days=7))
    record = _record(store)
    assert (record.n_read, record.n_assigned, record.n_timed, record.score) == (8, 8, 7, None)
    assert record.last_at_utc is not None
    assert record.last_at_utc.startswith("2025-06-11")
    assert record.receipt.startswith("R1 · 8 of 8 · ")
    shown = record_page(record)
    assert "4 Jun 2025 to 11 Jun 2025" in shown
    assert "(7 cases timed)" in shown
    assert "3 h 0 min" in shown
    assert "reference standard" not in shown
    close(store)
    score = _record(store).score
    assert isinstance(score, Count)
    assert f"{score.n_correct} of 8" in record_page(_record(store))
    assert f"{score.n_correct} of 8" in _pdf_text(_record(store))
    assert "place" not in _pdf_text(_record(store)).casefold()


def test_the_pdf_of_the_record_has_the_rank_after_closing(opened: Opened) -> None:
    """The record does not name other readers."""
    store = opened(readers=FIVE_READERS, **PEER_PROTOCOL)
    for reader, n_right in zip(FIVE_READERS, (5, 7, 5, 2, 6), strict=True):
        read_with_score(store, reader, n_right)
    assert "place" not in _pdf_text(_record(store)).casefold()
    close(store)
    shown = _pdf_text(_record(store))
    assert "Your place: 3 (shared) of 5 readers" in shown
    assert not any(other in shown for other in FIVE_READERS if other != "R1")


def test_the_pdf_of_the_record_supports_any_script_and_no_markup(
    opened: Opened,
) -> None:
    """Without feedback the PDF has hours and cases only."""
    store = opened(feedback="never")
    _read_record(store, 8)
    close(store)
    record = replace(_record(store), study="胸片 かな 한글 Ω", reader="R1 #[*b*]")
    shown = _pdf_text(record)
    assert record.card is None
    assert "R1 #[*b*]" in shown
    assert "胸片 かな 한글 Ω" in shown
    assert "8 of 8" in shown
    assert "3 h 30 min" in shown
    assert "reference standard" not in shown
    assert "Optional" not in shown


def test_without_feedback_the_record_has_no_score(opened: Opened) -> None:
    """After closing, readers with unread cases get a record too; names are escaped."""
    store = opened(readers=("<b>R1",))
    close(store)
    record = reading_record(store, person(store, "<b>R1"))
    assert (record.score, record.n_read, record.receipt) == (None, 0, "")
    shown = record_page(record)
    assert "&lt;b&gt;R1" in shown
    assert "<b>R1" not in shown
    assert "Period" not in shown


FIVE_READERS = ("R1", "R2", "R3", "R4", "R5")
PEER_PROTOCOL: dict[str, Any] = {"feedback": "after study", "score_card": "peers"}


def correct_answers(store: Store) -> dict[str, str]:
    """Return the reference standard by item."""
    with store.look() as look:
        rows = look.rows(
            "SELECT item_id, truth FROM cases JOIN items ON items.id = cases.item "
            "JOIN reference_standard ON reference_standard.item = items.id ORDER BY number"
        )
    return {row["item_id"]: row["truth"] for row in rows}


def read_with_score(store: Store, reader: str, n_right: int, n: int = 8) -> None:
    """Read `n` cases, with correct answers to the first `n_right` items only."""
    true = correct_answers(store)
    right = list(true)[:n_right]
    with store.look() as look:
        items = {
            row["id"]: row["item_id"]
            for row in look.rows(
                "SELECT assignments.id, item_id FROM assignments JOIN cases ON cases.id = case_id "
                "JOIN items ON items.id = cases.item"
            )
        }
    account = person(store, reader)
    for _ in range(n):
        case = desk.desk(store, account, now=NOW).cases[0].case
        truth = true[items[case]]
        option = truth if items[case] in right else "ABCD"[(ord(truth) - 64) % 4]
        assert desk.take_records(store, account, [reading(case, option)], now=NOW).refused == ()


def card_of(store: Store, reader: str = "R1") -> ScoreCard:
    """Return a reader's card."""
    return score_card.score_card(store, person(store, reader))


def test_the_card_compares_the_reader_with_others_and_each_model(
    opened: Opened, tmp_path: Path
) -> None:
    """Ties share a rank, tasks add up, and each case has the number of correct others."""
    store = opened(readers=FIVE_READERS, **PEER_PROTOCOL)
    for reader, n_right in zip(FIVE_READERS, (5, 7, 5, 2, 6), strict=True):
        read_with_score(store, reader, n_right)
    file = tmp_path / "predictions.json"
    file.write_text(
        json.dumps({item: {"model_prediction": "A"} for item in correct_answers(store)})
    )
    models.add_model(store, file, study="trial", model_id="always-a", acting=ACTING)
    close(store)
    card = card_of(store)
    comparison = card.comparison
    assert comparison is not None
    assert (comparison.place, comparison.n_sharing, comparison.n_peers) == (3, 1, 4)
    assert sum_counts(comparison.own) == Count(n_correct=5, n=8)
    assert sum_counts(comparison.peers) == Count(n_correct=20, n=32)
    n_a = sum(truth == "A" for truth in correct_answers(store).values())
    assert sum_counts(comparison.models["always-a"]) == Count(n_correct=n_a, n=8)
    assert (
        set(comparison.own)
        == set(comparison.peers)
        == set(comparison.models["always-a"])
        == set(card.by_task)
    )
    assert comparison.own == card.by_task
    others = [case.others.readers for case in card.cases if case.others]
    assert all(count.n == 4 for count in others)
    assert sorted(count.n_correct for count in others) == [0, 1, 2, 3, 3, 3, 4, 4]
    assert sum(case.others.models.n_correct for case in card.cases if case.others) == n_a
    assert not any(case.worth_another_look for case in card.cases)
    worth_review = [case for case in card_of(store, "R4").cases if case.worth_another_look]
    assert [case.others.readers.n_correct for case in worth_review if case.others] == [4, 4, 4]


def test_with_only_two_other_readers_there_is_no_rank(opened: Opened) -> None:
    """Unfinished, simulated and withdrawn readers do not count; models are still shown."""
    store = opened(readers=FIVE_READERS, **PEER_PROTOCOL)
    for reader in FIVE_READERS[:4]:
        read_with_score(store, reader, 4)
    read_with_score(store, "R5", 4, n=7)
    with store.change() as change:
        change.insert(
            "interventions",
            study=person(store).study,
            reader=person(store, "R4").reader,
            kind="withdraw",
            session=None,
            days=None,
            reason="moved away",
            actor="c",
            at_utc="2025-06-04T12:00:00.000Z",
        )
    close(store)
    card = card_of(store)
    comparison = card.comparison
    assert comparison is not None
    assert (comparison.place, comparison.n_sharing, comparison.n_peers) == (None, 0, 2)
    assert not comparison.peers
    assert all(case.others is not None and case.others.readers.n == 0 for case in card.cases)
    assert card_of(store, "R5").comparison is None


def test_by_default_the_card_has_no_comparison(opened: Opened) -> None:
    """The message before closing does not mention a rank either."""
    store = opened(readers=FIVE_READERS, feedback="after study")
    for reader in FIVE_READERS:
        read_with_score(store, reader, 4)
    with pytest.raises(NotNow) as refused:
        card_of(store)
    assert "place" not in str(refused.value)
    close(store)
    card = card_of(store)
    assert (card.with_peers, card.comparison) == (False, None)
    assert all(case.others is None for case in card.cases)


def test_before_closing_the_message_states_when_the_rank_appears(opened: Opened) -> None:
    """The message does not depend on the number of finished readers."""
    store = opened(readers=FIVE_READERS, **PEER_PROTOCOL)
    for reader in FIVE_READERS:
        read_with_score(store, reader, 4)
    with pytest.raises(NotNow, match="place among other readers appears when the study is closed"):
        card_of(store)
