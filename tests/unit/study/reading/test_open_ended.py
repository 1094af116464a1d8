"""Open-ended cases: no options, and the answer as the reader typed it."""

import csv
import io
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from study.bank.importing import import_bank
from study.base.actor import Acting, By
from study.base.errors import BadProtocol
from study.base.text import unguard_cell
from study.exchange.bundle import Content, bundle_files, tables_of, zip_files
from study.exchange.formats.imrmc import imrmc_files
from study.exchange.formats.tables import parquet_files, workbook
from study.exchange.restoring import merge, restore
from study.monitoring.interventions import exclude
from study.monitoring.quality import FactKind, find_quality_facts
from study.protocol.protocol import Protocol
from study.reading import desk, score_card
from study.reading.records import MAX_WORDS
from study.reading.simulation import simulate
from study.store import Store, judgements
from study.store.studies import study_row
from study.trail.verification import verify, verify_study
from tests.conftest import ACTING, NOW, open_trial, person, presentation, reading, write_bank
from tests.sites import close_trial, create_empty, export_bundle

Opened = Callable[..., Store]
OPEN = "open-ended"
BY = By(name="c", role="administrator", place="abc")
TYPED_ANSWERS = [
    '=1+1 "effusion", left;\nsecond line',
    "نعم، انصباب",
    "🫁 pneumothorax\t\n",
    "A",
    "'=already guarded",
    " two  spaces ",
]


def text_reading(case: str, text: str | None, **changed: Any) -> dict[str, Any]:
    """Return a reading record of an open-ended case as the page sends it."""
    status = "answered" if text else "timed_out"
    return {**reading(case, None), "status": status, "words": text, **changed}


def _cases(store: Store, reader_id: str = "R1") -> tuple[desk.CaseView, ...]:
    return desk.desk(store, person(store, reader_id), now=NOW).cases


def _take(store: Store, *records: Any, reader_id: str = "R1") -> desk.Acknowledgement:
    return desk.take_records(
        store, person(store, reader_id), records, now=NOW + timedelta(seconds=2)
    )


def _read(store: Store, *texts: str | None, reader_id: str = "R1") -> None:
    for text in texts:
        case = _cases(store, reader_id)[0].case
        assert (
            _take(store, presentation(case), text_reading(case, text), reader_id=reader_id).refused
            == ()
        )


def _open_answers(store: Store, study: str = "trial") -> list[judgements.OpenAnswer]:
    with store.look() as look:
        return judgements.open_answers_of_study(look, study_row(look, study).id)


def _table(files: dict[str, bytes], name: str) -> list[dict[str, str]]:
    rows = csv.DictReader(io.StringIO(files[name].decode(), newline=""))
    return [{key: unguard_cell(cell) for key, cell in row.items()} for row in rows]


# The case and the answers it accepts


def test_an_open_ended_case_has_films_and_question_but_no_options(opened: Opened) -> None:
    """Not even the text of an option is sent."""
    case = _cases(opened(conditions=[OPEN]))[0]
    assert (case.condition, case.options, len(case.views)) == (OPEN, (), 2)


def test_text_is_stored_once_and_as_typed(opened: Opened) -> None:
    """A record sent again has no effect, and the verification covers the text."""
    store = opened(conditions=[OPEN])
    _read(store, *TYPED_ANSWERS)
    first = _open_answers(store)[0]
    with store.look() as look:
        case = look.value("SELECT assignment FROM readings WHERE id = :id", id=first.answer_id)
    repeated = _take(store, text_reading(case, "something else", id=first.answer_id))
    assert repeated.stored == (first.answer_id,)
    assert [answer.words for answer in _open_answers(store)] == TYPED_ANSWERS
    assert {answer.status for answer in _open_answers(store)} == {"answered"}
    assert verify(store) == []


def test_a_case_accepts_only_the_kind_of_answer_it_asks_for(opened: Opened) -> None:
    """Text of spaces only is not an answer."""
    store = opened(conditions=[OPEN, "unaided"])
    case = _cases(store)[0].case
    _take(store, presentation(case))
    for wrong, reason in (
        (reading(case), "in your own words"),
        (text_reading(case, " \n ", status="answered"), "Invalid record"),
        ({**text_reading(case, "words"), "option": "A"}, "Invalid record"),
        ({**text_reading(case, "words"), "status": "timed_out"}, "Invalid record"),
    ):
        assert reason in _take(store, wrong).refused[0][1]
    _read(store, *["words"] * 8)
    case = _cases(store)[0].case
    refused = _take(store, presentation(case), text_reading(case, "words")).refused
    assert "one of its options" in refused[0][1]


def test_a_long_or_invalid_text_is_changed_and_flagged(opened: Opened) -> None:
    """The text is shortened, and characters that no file supports are removed."""
    store = opened(conditions=[OPEN])
    _read(store, "x" * (MAX_WORDS + 1), "nul\0 \ud800")
    assert [answer.words for answer in _open_answers(store)] == ["x" * MAX_WORDS, "nul \ufffd"]
    rows = _table(bundle_files(store, "trial"), "open_answers.csv")
    assert {row["flags"] for row in rows} == {"words_cut"}


def test_a_corrected_text_is_a_new_reading(opened: Opened) -> None:
    """On going back, the current text is shown; superseded texts are not listed."""
    store = opened(conditions=[OPEN], back_navigation=True)
    case = _cases(store)[0].case
    _read(store, "effusion")
    own = desk.case_at(store, person(store), 1, now=NOW).reading
    assert own is not None
    assert (own.words, own.option) == ("effusion", None)
    changed = text_reading(case, "left effusion", id="changed-it", supersedes=own.id)
    assert _take(store, changed).refused == ()
    assert [answer.words for answer in _open_answers(store)] == ["left effusion"]
    with store.look() as look:
        assert look.value("SELECT count(*) FROM readings") == 2
    assert verify(store) == []


def test_an_open_ended_case_can_be_skipped_or_time_out(opened: Opened) -> None:
    """The reading has no text; the reason or the status explains this."""
    store = opened(conditions=[OPEN], cannot_answer=True, time_limit_s=60, confidence=5)
    case = _cases(store)[0].case
    skipped = text_reading(case, None, status="skipped", reason="Film quality")
    assert _take(store, presentation(case), skipped).refused == ()
    _read(store, None)
    case = _cases(store)[0].case
    assert "confidence" in _take(store, presentation(case), text_reading(case, "yes")).refused[0][1]
    assert _take(store, text_reading(case, "yes", confidence=3)).refused == ()
    assert [(answer.status, answer.words) for answer in _open_answers(store)] == [
        ("skipped", ""),
        ("timed_out", ""),
        ("answered", "yes"),
    ]


def test_practice_feedback_has_the_reference_answer_but_no_verdict(opened: Opened) -> None:
    """Practice is open-ended if the first block of the study is."""
    store = opened(conditions=["unaided", OPEN], practice_cases=1)
    case = _cases(store)[0]
    assert (case.practice, case.condition, case.options) == (True, OPEN, ())
    feedback = _take(store, text_reading(case.case, "effusion")).feedback[f"read-{case.case}"]
    assert feedback.correct is None
    with store.look() as look:
        options = look.value(
            "SELECT options FROM practice_cases JOIN items ON items.id = item LIMIT 1"
        )
    assert feedback.option in options
    assert len(feedback.option) > 1


# The order of conditions


def test_open_ended_cases_come_before_cases_with_options(opened: Opened) -> None:
    """No option is sent before the last open-ended case is read."""
    store = opened(conditions=["unaided", OPEN], readers=("R1", "R2", "R3"))
    for reader_id in ("R1", "R2", "R3"):
        for _ in range(8):
            assert {case.condition for case in _cases(store, reader_id)} == {OPEN}
            _read(store, "words", reader_id=reader_id)
        assert {case.condition for case in _cases(store, reader_id)} == {"unaided"}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"conditions": [OPEN, "unaided"], "back_navigation": True}, "own words after seeing"),
        ({"conditions": [OPEN], "endpoint": "accuracy"}, "the only condition is open-ended"),
        ({"conditions": [OPEN, "unaided"], "feedback": "after case"}, "shown again|again after"),
    ],
)
def test_contradictory_protocols_are_refused(values: dict[str, Any], message: str) -> None:
    """The options are shown before the answer is final, or no condition has options."""
    with pytest.raises(BadProtocol, match=message):
        Protocol.from_json(values)


def test_going_back_is_possible_within_an_open_ended_session() -> None:
    """With one condition per session, text can no longer be changed once options are shown."""
    Protocol.from_json({"conditions": [OPEN, "unaided"], "back_navigation": True, "sessions": 2})
    Protocol.from_json({"conditions": [OPEN], "feedback": "after case"})


# After the reading


def test_a_simulated_reader_answers_with_text(opened: Opened) -> None:
    """The text is that of an option."""
    store = opened(conditions=[OPEN, "unaided"], readers=("S1",))
    with store.change() as change:
        change.execute("UPDATE readers SET simulated = 1")
    result = simulate(store, study="trial", reader_id="S1", seed=1, accuracy=0.8, now=NOW)
    assert result.n_read == 16
    answers = _open_answers(store)
    assert len(answers) == 8
    assert all(answer.words.startswith("Finding ") for answer in answers)
    rows = _table(bundle_files(store, "trial"), "readings.csv")
    assert [row["condition"] for row in rows] == ["unaided"] * 8
    assert {row["answer"] for row in rows} <= set("ABCD")


def test_repeated_text_is_not_a_run_of_one_key(opened: Opened) -> None:
    """Other facts about data quality are still reported."""
    store = opened(conditions=[OPEN], cases=12)
    _read(store, *["A"] * 12)
    assert FactKind.ONE_KEY not in {fact.kind for fact in find_quality_facts(store, "trial")}


def test_the_score_card_shows_text_without_a_score(opened: Opened) -> None:
    """The card shows the reference answer; text answers do not count in totals."""
    store = opened(conditions=[OPEN, "unaided"], feedback="after study", score_card="peers")
    _read(store, *["A"] * 8)
    for _ in range(8):
        case = _cases(store)[0].case
        assert _take(store, presentation(case), reading(case)).refused == ()
    close_trial(store)
    card = score_card.score_card(store, person(store))
    in_words, letters = card.cases[:8], card.cases[8:]
    assert {(row.own, row.correct, row.options) for row in in_words} == {("A", None, ())}
    assert all(row.right and row.right.startswith("Finding") for row in in_words)
    assert card.total.n == len(letters) == 8
    assert sum(row.n for row in card.by_task.values()) == 8
    assert card.comparison is not None
    assert sum(row.n for row in card.comparison.own.values()) == 8


def test_the_bundle_has_text_in_a_separate_table(opened: Opened) -> None:
    """The text is read back as typed, and is not part of the readings."""
    store = opened(conditions=[OPEN], hidden_repeats=1, cases=5)
    _read(store, *TYPED_ANSWERS)
    files = bundle_files(store, "trial")
    rows = _table(files, "open_answers.csv")
    assert [row["words"] for row in rows] == TYPED_ANSWERS
    assert {(row["kind"], row["rater_id"], row["rater_kind"]) for row in rows} == {
        ("answer", "R1", "reader")
    }
    assert sorted(row["run"] for row in rows) == ["", "", "", "", "", "2"]
    assert {row["response_ms"] for row in rows} == {"1234.5"}
    assert _table(files, "readings.csv") == []
    with store.look() as look:
        tables = tables_of(look, study_row(look, "trial"), Content(texts=False))
    assert {row["words"] for row in tables["open_answers.csv"]} == {None}


def test_studies_without_open_ended_cases_have_no_table_of_text(opened: Opened) -> None:
    """The bundles of such studies are those of earlier versions."""
    store = opened()
    case = _cases(store)[0].case
    _take(store, presentation(case), reading(case))
    assert "open_answers.csv" not in bundle_files(store, "trial")


def test_the_imrmc_file_has_the_cases_with_options_only(opened: Opened) -> None:
    """For text no percentage of correct answers exists."""
    store = opened(conditions=[OPEN, "unaided"], readers=("S1",))
    with store.change() as change:
        change.execute("UPDATE readers SET simulated = 1")
    simulate(store, study="trial", reader_id="S1", seed=1, accuracy=0.8, now=NOW)
    with store.look() as look:
        tables = tables_of(look, study_row(look, "trial"))
    files = imrmc_files("trial", tables, [OPEN, "unaided"])
    assert OPEN.encode() not in files["percent-correct.imrmc"]


def test_a_restored_study_has_identical_text_and_ids(opened: Opened, tmp_path: Path) -> None:
    """The verification finds no breach."""
    store = opened(conditions=[OPEN, "unaided"])
    _read(store, *TYPED_ANSWERS)
    files = bundle_files(store, "trial")
    (tmp_path / "bundle.zip").write_bytes(zip_files(files))
    target = create_empty(tmp_path / "target", 2)
    restore(target, tmp_path / "bundle.zip", acting=Acting(by=BY, now=NOW + timedelta(days=1)))
    restored = bundle_files(target, "trial")
    assert restored["open_answers.csv"] == files["open_answers.csv"]
    assert restored["records.jsonl"] == files["records.jsonl"]
    assert [answer.answer_id for answer in _open_answers(target)] == [
        answer.answer_id for answer in _open_answers(store)
    ]
    assert not verify_study(target, "trial").breaches


def test_a_merged_study_has_the_text_of_both_sites(tmp_path: Path) -> None:
    """The IDs are unchanged, and the verification finds no breach."""
    stores = []
    for number in (1, 2):
        store = create_empty(tmp_path / str(number), number)
        path = write_bank(tmp_path / str(number) / "bank")
        import_bank(store, path, name="bank", images=path.parent, acting=ACTING)
        open_trial(store, {"cases": 3, "conditions": [OPEN]}, f"P{number}")
        _read(store, *TYPED_ANSWERS[:3], reader_id=f"P{number}")
        close_trial(store)
        stores.append(store)
    home, other = stores
    merge(
        home, export_bundle(other), study="trial", acting=Acting(by=BY, now=NOW + timedelta(days=1))
    )
    of_p2 = [
        answer for store in stores for answer in _open_answers(store) if answer.rater_id == "P2"
    ]
    assert [answer.words for answer in of_p2] == TYPED_ANSWERS[:3] * 2
    ids = [answer.answer_id for answer in of_p2]
    assert ids[:3] == ids[3:]
    assert {answer.rater_id for answer in _open_answers(home)} == {"P1", "P2"}
    assert verify(home) == []


def test_parquet_and_excel_files_contain_the_text_unchanged(opened: Opened) -> None:
    """Formulas, line breaks and other scripts are preserved."""
    store = opened(conditions=[OPEN], cases=6)
    _read(store, *TYPED_ANSWERS)
    with store.look() as look:
        tables = tables_of(look, study_row(look, "trial"))
    frame = pd.read_parquet(io.BytesIO(parquet_files(tables, {})["open_answers.parquet"]))
    assert list(frame["words"]) == TYPED_ANSWERS
    sheet = pd.read_excel(io.BytesIO(workbook(tables, {})), sheet_name="open_answers", dtype=str)
    assert list(sheet["words"]) == TYPED_ANSWERS


def test_an_excluded_text_is_kept_in_the_table_with_its_reason(opened: Opened) -> None:
    """The row is kept, like the row of any excluded reading."""
    store = opened(conditions=[OPEN])
    _read(store, "effusion", "no change")
    first = _open_answers(store)[0].answer_id
    exclude(store, study="trial", reading=first, reason="Wrong film", acting=ACTING)
    rows = _table(bundle_files(store, "trial"), "open_answers.csv")
    assert [(row["words"], row["excluded"]) for row in rows] == [
        ("effusion", "Wrong film"),
        ("no change", ""),
    ]
