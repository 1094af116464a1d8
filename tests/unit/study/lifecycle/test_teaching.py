"""Teaching: access to a bank, feedback, repetition, and separation from the studies."""

import json
import random
from dataclasses import replace
from typing import Any

import pytest

from study.bank.managing import remove_bank
from study.base.errors import BadInput, NotAllowed, NotFound, NotNow, StudyError
from study.lifecycle import exposure, studies, teaching
from study.lifecycle.deployments import coordinator_code
from study.lifecycle.exposure import known_cases
from study.lifecycle.studies import close
from study.lifecycle.teaching import (
    CASES_PER_ROUND,
    REPETITION_GAPS,
    Answer,
    repetitions_due,
    schedule_items,
)
from study.people.signing_in import Person, sign_in
from study.protocol.protocol import Protocol
from study.reading.desk import Acknowledgement, Desk
from study.reading.records import N_CASES_SENT
from study.reading.score_card import sum_counts
from study.store import Store, banks, people
from study.store import studies as studies_stored
from study.store.studies import study_row
from study.trail.verification import verify
from tests.conftest import ACTING, NOW, entropy_from, invite, person, presentation, reading
from ui.app.menu import every_page

BANK = 1


@pytest.fixture
def teaching_store(banked: Store) -> Store:
    """Return a store whose bank is open for teaching."""
    teaching.set_availability(banked, "bank", taught=True, acting=ACTING)
    return banked


def _learner(store: Store, study: str = "elsewhere") -> Person:
    """Return the coordinator of a study that is drawn but not open."""
    with store.look() as look:
        row = studies_stored.find(look, study)
    if row is None:
        _draw(store, study)
    code = coordinator_code(store, study=study, name="c", entropy=entropy_from(3), now=NOW)
    return sign_in(store, code, entropy=entropy_from(4), now=NOW).person


def _reader(store: Store) -> Person:
    """Return R1 of ``trial`` as if signed in."""
    reader = person(store, "R1")
    with store.look() as look:
        return replace(reader, id=people.person_of_reader(look, reader.reader or 0) or 0)


def _draw(store: Store, study: str, **values: Any) -> None:
    protocol = Protocol.from_json({"cases": 4, "one_question_per": "item", **values})
    studies.draw(store, bank="bank", study=study, protocol=protocol, acting=ACTING)


def _answers(store: Store, person: Person, page: Desk, *, is_correct: bool) -> Acknowledgement:
    """Answer the next case correctly or incorrectly."""
    case = page.cases[0]
    letter = _correct_letter(store, case.question, case.options)
    others = [option for option, _ in case.options if option != letter]
    record = reading(case.case, letter if is_correct else others[0])
    records = [presentation(case.case), record]
    return teaching.take_records(store, person, BANK, 1, records, now=NOW)


def _correct_letter(store: Store, question: str, options: tuple[tuple[str, str], ...]) -> str:
    """Return the letter under which the correct option of a question is shown."""
    with store.look() as look:
        row = look.row(
            "SELECT options, truth FROM items JOIN reference_standard ON item = items.id "
            "WHERE question = :question",
            question=question,
        )
    assert row is not None
    text = json.loads(row["options"])["ABCDEFGH".index(row["truth"])]
    (letter,) = [letter for letter, shown in options if shown == text]
    return letter


def test_each_answer_gets_feedback_and_missed_cases_are_repeated(
    teaching_store: Store,
) -> None:
    person = _learner(teaching_store)
    page = teaching.desk(teaching_store, person, BANK, 1)
    assert (page.read, page.total, len(page.cases)) == (0, CASES_PER_ROUND, 3)
    missed = page.cases[0].question
    messages = []
    for n in range(CASES_PER_ROUND):
        messages.append(page.cases[0].question)
        assert page.cases[0].position == n + 1
        receipt = _answers(teaching_store, person, page, is_correct=n > 0)
        (feedback,) = receipt.feedback.values()
        assert feedback.correct == (n > 0)
        assert feedback.option == _correct_letter(
            teaching_store, page.cases[0].question, page.cases[0].options
        )
        assert [case.case for case in receipt.desk.cases[:2]] == [
            case.case for case in page.cases[1:]
        ]
        page = receipt.desk
    assert [n for n, question in enumerate(messages, start=1) if question == missed] == [1, 4, 14]
    assert page.finished
    (lesson,) = teaching.list_lessons(teaching_store, person)
    assert (lesson.round, lesson.n_coming_back) == (2, 0)
    assert (sum_counts(lesson.first).n, sum_counts(lesson.first).n_correct) == (18, 17)
    assert teaching.desk(teaching_store, person, BANK, 2).read == 0
    assert verify(teaching_store) == []


def test_an_answer_sent_again_is_stored_once(teaching_store: Store) -> None:
    """The learner gets the same feedback; another record cannot replace the answer."""
    person = _learner(teaching_store)
    page = teaching.desk(teaching_store, person, BANK, 1)
    first = _answers(teaching_store, person, page, is_correct=False)
    repeated = _answers(teaching_store, person, page, is_correct=False)
    assert repeated.stored == first.stored
    assert repeated.feedback == first.feedback
    assert repeated.desk.read == 1
    other = {**reading(page.cases[0].case, "A"), "id": "another-record"}
    receipt = teaching.take_records(teaching_store, person, BANK, 1, [other], now=NOW)
    assert receipt.stored == ()
    assert not receipt.feedback
    early = reading(page.cases[2].case, "A")
    receipt = teaching.take_records(teaching_store, person, BANK, 1, [early], now=NOW)
    assert [record for record, _ in receipt.refused] == [early["id"]]


def test_only_films_of_the_current_cases_are_served(teaching_store: Store) -> None:
    person = _learner(teaching_store)
    page = teaching.desk(teaching_store, person, BANK, 1)
    case = page.cases[0].case
    assert teaching.film(teaching_store, person, BANK, 1, case, 1) is not None
    _answers(teaching_store, person, page, is_correct=True)
    assert (
        teaching.film(teaching_store, person, BANK, 1, case, 1) is not None
    )  # the feedback is visible
    assert teaching.film(teaching_store, person, BANK, 1, "0" * 32, 1) is None
    assert teaching.film(teaching_store, person, BANK, 1, case, 99) is None


def test_pages_contain_no_report_text_and_no_explanation(
    teaching_store: Store,
) -> None:
    person = _learner(teaching_store)
    page = teaching.desk(teaching_store, person, BANK, 1)
    with teaching_store.look() as look:
        words = [
            row["words"]
            for table in ("report_texts", "explanations")
            for row in look.rows(f"SELECT words FROM {table}")
        ]
    assert words
    assert not any(text in repr(page) for text in words)


def test_a_bank_is_closed_for_teaching_while_a_study_reads_it(teaching_store: Store) -> None:
    _draw(teaching_store, "trial")
    invite(teaching_store, "R1")
    studies.open_study(teaching_store, study="trial", acting=ACTING)
    person = _learner(teaching_store)
    with pytest.raises(NotAllowed, match="Closed for now"):
        teaching.desk(teaching_store, person, BANK, 1)
    close(teaching_store, study="trial", reason="Done.", acting=ACTING)
    assert teaching.desk(teaching_store, person, BANK, 1).cases
    assert teaching.desk(teaching_store, _reader(teaching_store), BANK, 1).cases


def test_a_reader_cannot_learn_before_their_study_is_closed(teaching_store: Store) -> None:
    """Other people can learn if the study shows interim accuracy."""
    _draw(teaching_store, "trial", interim_results=True)
    invite(teaching_store, "R1")
    reader = _reader(teaching_store)
    with pytest.raises(NotAllowed, match="once that study is closed"):
        teaching.desk(teaching_store, reader, BANK, 1)
    studies.open_study(teaching_store, study="trial", acting=ACTING)
    with pytest.raises(NotAllowed, match="once that study is closed"):
        teaching.desk(teaching_store, reader, BANK, 1)
    assert teaching.desk(teaching_store, _learner(teaching_store), BANK, 1).cases
    (lesson,) = teaching.list_lessons(teaching_store, reader)
    assert "“trial”" in lesson.refused


def test_a_warning_counts_the_readers_who_learnt_with_the_cases(teaching_store: Store) -> None:
    _draw(teaching_store, "trial")
    invite(teaching_store, "R1")
    studies.open_study(teaching_store, study="trial", acting=ACTING)
    close(teaching_store, study="trial", reason="Done.", acting=ACTING)
    person = _reader(teaching_store)
    _answers(
        teaching_store, person, teaching.desk(teaching_store, person, BANK, 1), is_correct=True
    )
    _draw(teaching_store, "second")
    with teaching_store.look() as look:
        (other_cases,) = known_cases(look, person.id, study_row(look, "second"))
    assert (other_cases.study, other_cases.role) == ("bank", None)
    assert any(
        "1 person has practised" in caution
        for caution in exposure.opening_warnings(teaching_store, "second")
    )


def test_the_trail_records_teaching_which_ends_with_the_bank(teaching_store: Store) -> None:
    with pytest.raises(NotNow, match="already"):
        teaching.set_availability(teaching_store, "bank", taught=True, acting=ACTING)
    teaching.set_availability(teaching_store, "bank", taught=False, acting=ACTING)
    with pytest.raises(NotNow, match="not open"):
        teaching.set_availability(teaching_store, "bank", taught=False, acting=ACTING)
    coordinator = Person(name="c", id=1)
    with pytest.raises(NotFound, match=r"not open for teaching\. Choose .* Teaching page"):
        teaching.desk(teaching_store, coordinator, BANK, 1)
    with teaching_store.look() as look:
        kinds = [row["kind"] for row in look.rows("SELECT kind FROM events ORDER BY id")]
    assert kinds[-2:] == ["teaching opened", "teaching ended"]
    remove_bank(teaching_store, "bank", acting=ACTING)
    with teaching_store.look() as look:
        assert not banks.names(look)
        assert not look.value("SELECT count(*) FROM teaching_marks")


@pytest.mark.parametrize("round_", [0, 2, 10**12])
def test_a_round_that_has_not_been_reached_is_refused(teaching_store: Store, round_: int) -> None:
    with pytest.raises(NotFound, match=r"not reached .* Continue on the Teaching page"):
        teaching.desk(teaching_store, _learner(teaching_store), BANK, round_)


def test_messages_name_the_teaching_page_as_the_menu_does() -> None:
    """Refused learners are sent back to this page."""
    assert next(entry.title for entry in every_page() if entry.path == "teaching") == "Teaching"


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"kind": "finish", "id": "finish-it-now"}, "no such step"),
        ({"kind": "reading"}, "Invalid record"),
    ],
)
def test_an_invalid_record_is_refused_and_changes_nothing(
    teaching_store: Store, record: dict[str, Any], words: str
) -> None:
    person = _learner(teaching_store)
    receipt = teaching.take_records(teaching_store, person, BANK, 1, [record], now=NOW)
    assert words in receipt.refused[0][1]
    assert receipt.desk.read == 0
    case = receipt.desk.cases[0].case
    receipt = teaching.take_records(teaching_store, person, BANK, 1, [reading(case, "H")], now=NOW)
    assert "no option H" in receipt.refused[0][1]
    with pytest.raises(StudyError, match="At most"):
        teaching.take_records(teaching_store, person, BANK, 1, [record] * 501, now=NOW)


def test_a_bank_without_images_cannot_be_used_for_teaching(banked: Store) -> None:
    with banked.change() as change:
        bank = banks.add(
            change,
            name="bare",
            format="bundle",
            source_name="b",
            source_sha256="",
            content_sha256="",
            images_root="",
            simulated=0,
            imported_at_utc="2026-01-01T00:00:00Z",
        )
    assert bank
    with pytest.raises(BadInput, match="cannot be used for teaching"):
        teaching.set_availability(banked, "bare", taught=True, acting=ACTING)


BANK_REPETITION = range(30)


def _next_new_item(number: int, excluded: tuple[int, ...]) -> int | None:
    """Return an item that is not excluded, chosen by the number."""
    left = [item for item in BANK_REPETITION if item not in excluded]
    return left[number % len(left)] if left else None


def test_a_missed_case_is_repeated_after_three_cases_and_again_after_ten() -> None:
    answers: list[Answer] = []
    met: list[int] = []
    missed = schedule_items(answers, _next_new_item)[0]
    for number in range(1, 2 + sum(REPETITION_GAPS) + len(REPETITION_GAPS)):
        item = schedule_items(answers, _next_new_item)[0]
        if item == missed:
            met.append(number)
        answers.append((item, number > 1))
    assert met == [1, 1 + REPETITION_GAPS[0], 1 + REPETITION_GAPS[0] + REPETITION_GAPS[1]]
    assert repetitions_due(answers) == {}


@pytest.mark.parametrize("seed", range(60))
def test_announced_cases_do_not_change_and_all_items_are_learnt_eventually(seed: int) -> None:
    """A page may show the next cases before the server has the answer."""
    chance = random.Random(seed)
    answers: list[Answer] = []
    handed: list[int] = []
    while window := schedule_items(answers, _next_new_item):
        assert len(set(window)) == len(window) <= N_CASES_SENT
        assert window[: len(handed)] == handed
        item, *handed = window
        assert (
            item not in [answered for answered, _ in answers[-1:]]
            or len(repetitions_due(answers)) == 1
        )
        answers.append((item, chance.random() < 0.7))
        assert len(answers) < 2000
    assert {item for item, _ in answers} == set(BANK_REPETITION)
    last = dict(answers)
    assert all(last.values())
