"""Open-ended cases: no options, the answer in the reader's own words, kept as they were typed."""

import csv
import io
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from study.bank.importing import import_bank
from study.base.actor import By
from study.base.errors import BadProtocol
from study.base.text import unguarded
from study.exchange.bundle import bundle_files, tables_of, zipped
from study.exchange.formats.imrmc import imrmc_files
from study.exchange.formats.tables import parquet_files, workbook
from study.exchange.restoring import merge, restore
from study.lifecycle import studies
from study.monitoring.interventions import exclude
from study.monitoring.quality import FactKind, facts
from study.protocol.protocol import Protocol
from study.reading import desk, score_card
from study.reading.records import MAX_WORDS
from study.reading.simulation import simulate
from study.store import Store, judgements
from study.store.studies import study_row
from study.trail.verification import verify, verify_study
from tests.conftest import NOW, invite, person, presentation, reading, write_bank
from tests.sites import bundle_of, empty
from tests.sites import close as close_study
from tests.unit.study.reading.test_score_card import close

Opened = Callable[..., Store]
OPEN = "open-ended"
BY = By(name="c", role="administrator", place="abc")
TYPED = [
    '=1+1 "effusion", left;\nsecond line',
    "نعم، انصباب",
    "🫁 pneumothorax\t\n",
    "A",
    "'=already guarded",
    " two  spaces ",
]


def words(case: str, text: str | None, **changed: Any) -> dict[str, Any]:
    """Return a reading record of an open-ended case as the page sends it."""
    status = "answered" if text else "timed_out"
    return {**reading(case, None), "status": status, "words": text, **changed}


def _cases(store: Store, who: str = "R1") -> tuple[desk.CaseView, ...]:
    return desk.desk(store, person(store, who), now=NOW).cases


def _take(store: Store, *records: Any, who: str = "R1") -> desk.Acknowledgement:
    return desk.take_records(store, person(store, who), records, now=NOW + timedelta(seconds=2))


def _read(store: Store, *texts: str | None, who: str = "R1") -> None:
    for text in texts:
        case = _cases(store, who)[0].case
        assert _take(store, presentation(case), words(case, text), who=who).refused == ()


def _listed(store: Store, study: str = "trial") -> list[judgements.OpenAnswer]:
    with store.look() as look:
        return judgements.open_answers_of_study(look, study_row(look, study).id)


def _table(files: dict[str, bytes], name: str) -> list[dict[str, str]]:
    rows = csv.DictReader(io.StringIO(files[name].decode(), newline=""))
    return [{key: unguarded(cell) for key, cell in row.items()} for row in rows]


# What the reader is shown, and what is taken of them


def test_it_has_its_films_and_question_and_no_option(opened: Opened) -> None:
    """Not even the text of an option is handed out."""
    case = _cases(opened(conditions=[OPEN]))[0]
    assert (case.condition, case.options, len(case.views)) == (OPEN, (), 2)


def test_words_are_stored_as_they_were_typed_and_once(opened: Opened) -> None:
    """A record sent again is acknowledged and changes nothing; the chain vouches for the words."""
    store = opened(conditions=[OPEN])
    _read(store, *TYPED)
    first = _listed(store)[0]
    with store.look() as look:
        case = look.value("SELECT assignment FROM readings WHERE id = :id", id=first.answer_id)
    again = _take(store, words(case, "something else", id=first.answer_id))
    assert again.stored == (first.answer_id,)
    assert [one.words for one in _listed(store)] == TYPED
    assert {one.status for one in _listed(store)} == {"answered"}
    assert verify(store) == []


def test_an_option_is_no_answer_to_it_and_words_none_to_another(opened: Opened) -> None:
    """Each kind of case takes its own kind of answer; blank words are none."""
    store = opened(conditions=[OPEN, "unaided"])
    case = _cases(store)[0].case
    _take(store, presentation(case))
    for wrong, why in (
        (reading(case), "in your own words"),
        (words(case, " \n ", status="answered"), "Invalid record"),
        ({**words(case, "words"), "option": "A"}, "Invalid record"),
        ({**words(case, "words"), "status": "timed_out"}, "Invalid record"),
    ):
        assert why in _take(store, wrong).refused[0][1]
    _read(store, *["words"] * 8)
    case = _cases(store)[0].case
    refused = _take(store, presentation(case), words(case, "words")).refused
    assert "one of its options" in refused[0][1]


def test_what_is_too_long_is_cut_and_flagged(opened: Opened) -> None:
    """The answer is kept for what fits; a sign that no file can hold is taken out."""
    store = opened(conditions=[OPEN])
    _read(store, "x" * (MAX_WORDS + 1), "nul\0 \ud800")
    assert [one.words for one in _listed(store)] == ["x" * MAX_WORDS, "nul \ufffd"]
    rows = _table(bundle_files(store, "trial"), "open_answers.csv")
    assert {row["flags"] for row in rows} == {"words_cut"}


def test_a_corrected_answer_is_a_new_reading_and_the_old_one_stays(opened: Opened) -> None:
    """Going back shows the words as they stand, and superseded ones are in no list."""
    store = opened(conditions=[OPEN], back_navigation=True)
    case = _cases(store)[0].case
    _read(store, "effusion")
    own = desk.case_at(store, person(store), 1, now=NOW).reading
    assert own is not None
    assert (own.words, own.option) == ("effusion", None)
    changed = words(case, "left effusion", id="changed-it", supersedes=own.id)
    assert _take(store, changed).refused == ()
    assert [one.words for one in _listed(store)] == ["left effusion"]
    with store.look() as look:
        assert look.value("SELECT count(*) FROM readings") == 2
    assert verify(store) == []


def test_giving_up_and_running_out_of_time_are_as_elsewhere(opened: Opened) -> None:
    """No words, and the reason or the status says why."""
    store = opened(conditions=[OPEN], cannot_answer=True, time_limit_s=60, confidence=5)
    case = _cases(store)[0].case
    skipped = words(case, None, status="skipped", reason="Film quality")
    assert _take(store, presentation(case), skipped).refused == ()
    _read(store, None)
    case = _cases(store)[0].case
    assert "confidence" in _take(store, presentation(case), words(case, "yes")).refused[0][1]
    assert _take(store, words(case, "yes", confidence=3)).refused == ()
    assert [(one.status, one.words) for one in _listed(store)] == [
        ("skipped", ""),
        ("timed_out", ""),
        ("answered", "yes"),
    ]


def test_practice_tells_the_reference_answer_in_words_and_no_verdict(opened: Opened) -> None:
    """Practice is open-ended where the first block is; nobody calls unscored words wrong."""
    store = opened(conditions=["unaided", OPEN], practice_cases=1)
    case = _cases(store)[0]
    assert (case.practice, case.condition, case.options) == (True, OPEN, ())
    told = _take(store, words(case.case, "effusion")).feedback[f"read-{case.case}"]
    assert told.correct is None
    with store.look() as look:
        options = look.value(
            "SELECT options FROM practice_cases JOIN items ON items.id = item LIMIT 1"
        )
    assert told.option in options
    assert len(told.option) > 1


# The order of conditions


def test_open_ended_cases_come_before_any_option_for_every_reader(opened: Opened) -> None:
    """And no case with options is on the desk before the last open-ended one is read."""
    store = opened(conditions=["unaided", OPEN], readers=("R1", "R2", "R3"))
    for who in ("R1", "R2", "R3"):
        for _ in range(8):
            assert {one.condition for one in _cases(store, who)} == {OPEN}
            _read(store, "words", who=who)
        assert {one.condition for one in _cases(store, who)} == {"unaided"}


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"conditions": [OPEN, "unaided"], "back_navigation": True}, "own words after seeing"),
        ({"conditions": [OPEN], "endpoint": "accuracy"}, "the only condition is open-ended"),
        ({"conditions": [OPEN, "unaided"], "feedback": "after case"}, "shown again|again after"),
    ],
)
def test_contradictions_are_refused(values: dict[str, Any], why: str) -> None:
    """Going back after the options, an endpoint without options, an answer told beforehand."""
    with pytest.raises(BadProtocol, match=why):
        Protocol.from_json(values)


def test_going_back_is_possible_within_an_open_ended_session() -> None:
    """With a session a condition nobody can return to the words once options were seen."""
    Protocol.from_json({"conditions": [OPEN, "unaided"], "back_navigation": True, "sessions": 2})
    Protocol.from_json({"conditions": [OPEN], "feedback": "after case"})


# Afterwards


def test_a_simulated_reader_answers_in_words(opened: Opened) -> None:
    """With the text of an option, and with letters where there are options."""
    store = opened(conditions=[OPEN, "unaided"], readers=("S1",))
    with store.change() as change:
        change.execute("UPDATE readers SET simulated = 1")
    done = simulate(store, study="trial", reader_id="S1", seed=1, accuracy=0.8, now=NOW)
    assert done.n_read == 16
    said = _listed(store)
    assert len(said) == 8
    assert all(one.words.startswith("Finding ") for one in said)
    rows = _table(bundle_files(store, "trial"), "readings.csv")
    assert [row["condition"] for row in rows] == ["unaided"] * 8
    assert {row["answer"] for row in rows} <= set("ABCD")


def test_no_run_of_one_key_is_told_of_words(opened: Opened) -> None:
    """The same words again and again are no letter; other facts count as elsewhere."""
    store = opened(conditions=[OPEN], cases=12)
    _read(store, *["A"] * 12)
    assert FactKind.ONE_KEY not in {fact.kind for fact in facts(store, "trial")}


def test_the_score_card_calls_no_words_wrong(opened: Opened) -> None:
    """They stand beside the reference answer, count nowhere, and `A` is not the letter A."""
    store = opened(conditions=[OPEN, "unaided"], feedback="after study", score_card="peers")
    _read(store, *["A"] * 8)
    for _ in range(8):
        case = _cases(store)[0].case
        assert _take(store, presentation(case), reading(case)).refused == ()
    close(store)
    card = score_card.score_card(store, person(store))
    in_words, letters = card.cases[:8], card.cases[8:]
    assert {(one.own, one.correct, one.options) for one in in_words} == {("A", None, ())}
    assert all(one.right and one.right.startswith("Finding") for one in in_words)
    assert card.total.n == len(letters) == 8
    assert sum(one.n for one in card.by_task.values()) == 8
    assert card.comparison is not None
    assert sum(one.n for one in card.comparison.own.values()) == 8


def test_words_leave_in_a_table_of_their_own(opened: Opened) -> None:
    """Not among the readings, whose answers are letters; a program reads back what was typed."""
    store = opened(conditions=[OPEN], hidden_repeats=1, cases=5)
    _read(store, *TYPED)
    files = bundle_files(store, "trial")
    rows = _table(files, "open_answers.csv")
    assert [row["words"] for row in rows] == TYPED
    assert {(row["kind"], row["rater_id"], row["rater_kind"]) for row in rows} == {
        ("answer", "R1", "reader")
    }
    assert sorted(row["run"] for row in rows) == ["", "", "", "", "", "2"]
    assert {row["response_ms"] for row in rows} == {"1234.5"}
    assert _table(files, "readings.csv") == []
    with store.look() as look:
        tables = tables_of(look, study_row(look, "trial"), blinded=False, texts=False)
    assert {row["words"] for row in tables["open_answers.csv"]} == {None}


def test_other_studies_have_no_such_table(opened: Opened) -> None:
    """Nothing is in their bundles that was not there before."""
    store = opened()
    case = _cases(store)[0].case
    _take(store, presentation(case), reading(case))
    assert "open_answers.csv" not in bundle_files(store, "trial")


def test_input_for_imrmc_is_of_the_cases_with_options(opened: Opened) -> None:
    """Words have no percent correct."""
    store = opened(conditions=[OPEN, "unaided"], readers=("S1",))
    with store.change() as change:
        change.execute("UPDATE readers SET simulated = 1")
    simulate(store, study="trial", reader_id="S1", seed=1, accuracy=0.8, now=NOW)
    with store.look() as look:
        tables = tables_of(look, study_row(look, "trial"), blinded=False)
    files = imrmc_files("trial", tables, [OPEN, "unaided"])
    assert OPEN.encode() not in files["percent-correct.imrmc"]


def test_a_restored_study_has_the_words_and_their_ids(opened: Opened, tmp_path: Path) -> None:
    """To the byte, and it verifies; words altered on the way are refused by name."""
    store = opened(conditions=[OPEN, "unaided"])
    _read(store, *TYPED)
    files = bundle_files(store, "trial")
    (tmp_path / "bundle.zip").write_bytes(zipped(files))
    target = empty(tmp_path / "target", 2)
    restore(target, tmp_path / "bundle.zip", by=BY, now=NOW + timedelta(days=1))
    again = bundle_files(target, "trial")
    assert again["open_answers.csv"] == files["open_answers.csv"]
    assert again["records.jsonl"] == files["records.jsonl"]
    assert [one.answer_id for one in _listed(target)] == [one.answer_id for one in _listed(store)]
    assert not verify_study(target, "trial").breaches


def test_two_sites_words_stand_side_by_side(tmp_path: Path) -> None:
    """Merged, each reader's words are there under the ids they had at home, and all verifies."""
    stores = []
    for number in (1, 2):
        store = empty(tmp_path / str(number), number)
        path = write_bank(tmp_path / str(number) / "bank")
        import_bank(store, path, name="bank", images=path.parent, now=NOW)
        protocol = Protocol.from_json({"cases": 3, "conditions": [OPEN]})
        studies.draw(store, bank="bank", study="trial", protocol=protocol, now=NOW)
        invite(store, f"P{number}")
        studies.open_study(store, study="trial", now=NOW)
        _read(store, *TYPED[:3], who=f"P{number}")
        close_study(store)
        stores.append(store)
    home, other = stores
    merge(home, bundle_of(other), study="trial", by=BY, now=NOW + timedelta(days=1))
    there = [one for store in stores for one in _listed(store) if one.rater_id == "P2"]
    assert [one.words for one in there] == TYPED[:3] * 2
    ids = [one.answer_id for one in there]
    assert ids[:3] == ids[3:]
    assert {one.rater_id for one in _listed(home)} == {"P1", "P2"}
    assert verify(home) == []


def test_parquet_and_excel_hold_the_words_as_text(opened: Opened) -> None:
    """A formula stays text, a line break and other tongues stay what they are."""
    store = opened(conditions=[OPEN], cases=6)
    _read(store, *TYPED)
    with store.look() as look:
        tables = tables_of(look, study_row(look, "trial"), blinded=False)
    frame = pd.read_parquet(io.BytesIO(parquet_files(tables, {})["open_answers.parquet"]))
    assert list(frame["words"]) == TYPED
    sheet = pd.read_excel(io.BytesIO(workbook(tables, {})), sheet_name="open_answers", dtype=str)
    assert list(sheet["words"]) == TYPED


def test_an_answer_set_aside_says_why_and_stays(opened: Opened) -> None:
    """As any reading: no row is left out."""
    store = opened(conditions=[OPEN])
    _read(store, "effusion", "no change")
    first = _listed(store)[0].answer_id
    exclude(store, study="trial", reading=first, reason="Wrong film", now=NOW)
    rows = _table(bundle_files(store, "trial"), "open_answers.csv")
    assert [(row["words"], row["excluded"]) for row in rows] == [
        ("effusion", "Wrong film"),
        ("no change", ""),
    ]
