"""Studies: who is invited when, what names may be, what an import left out; closing for good."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from study.bank.importing import import_bank
from study.base.actor import By
from study.base.errors import BadFile, BadInput, NotNow
from study.base.text import LONGEST
from study.lifecycle import studies
from study.lifecycle.studies import accuracy_is_shown
from study.models.models import add_model
from study.monitoring.progress import completeness_in
from study.protocol.protocol import Protocol
from study.reading import desk
from study.reading.simulation import simulate
from study.store import Store, events
from study.store.studies import study_row
from study.trail.verification import verify
from tests.conftest import NOW, bank_records, invite, person, tamper, write_bank

Opened = Callable[..., Store]
ODD_NAMES = ("", " ", " R1", "R1 ", "R\n1", "R\u200b1", "R\ud800", "R\x00", "R" * (LONGEST + 1))


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """Return a file of predictions for every item of the bank."""
    file = tmp_path / "model.json"
    file.write_text(json.dumps({item: {"model_prediction": "A"} for item in bank_records(12)}))
    return file


def _add(store: Store, file: Path, model_id: str, version: str = "") -> None:
    add_model(store, file, study="trial", model_id=model_id, model_version=version, now=NOW)


def test_a_reader_invited_after_opening_is_assigned_at_once(opened: Opened) -> None:
    """They find the same cases as the others, in an order of their own."""
    store = opened()
    invite(store, "R3")
    with store.look() as look:
        lists = [
            look.rows(
                "SELECT case_id, position FROM assignments JOIN readers ON readers.id = reader "
                "WHERE reader_id = :who ORDER BY position",
                who=who,
            )
            for who in ("R1", "R3")
        ]
    first, late = ([row["case_id"] for row in rows] for rows in lists)
    assert sorted(late) == sorted(first)
    assert late != first
    assert desk.desk(store, person(store, "R3"), now=NOW).total == 8


def test_a_reader_invited_before_opening_waits_for_it(banked: Store) -> None:
    """Every list is written at the opening."""
    protocol = Protocol.from_json({"cases": 8, "one_question_per": "item"})
    studies.draw(banked, bank="bank", study="trial", protocol=protocol, now=NOW)
    invite(banked, "R1")
    with banked.look() as look:
        assert look.rows("SELECT * FROM assignments") == []


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_are_refused_wherever_something_is_named(
    opened: Opened, answers: Path, tmp_path: Path, name: str
) -> None:
    """Banks, studies, models, readers: one rule, one sentence, nothing stored."""
    store = opened()
    path = write_bank(tmp_path / "second")
    with pytest.raises(BadInput, match="name of a bank"):
        import_bank(store, path, name=name, images=path.parent, now=NOW)
    with pytest.raises(BadInput, match="name of a study"):
        studies.draw(store, bank="bank", study=name, protocol=Protocol(), now=NOW)
    with pytest.raises(BadInput, match="name of a model"):
        _add(store, answers, name)
    with pytest.raises(BadFile, match="Choose another reader ID"):
        invite(store, name)
    with store.look() as look:
        for table, n in (("banks", 1), ("studies", 1), ("models", 0), ("readers", 2)):
            assert look.value(f"SELECT count(*) FROM {table}") == n


def test_a_name_may_have_any_letters_and_a_hundred_of_them(opened: Opened, answers: Path) -> None:
    """Whatever can be printed."""
    store = opened()
    invite(store, "Gutachter Ü (Zürich)")
    _add(store, answers, "模型" + "x" * (LONGEST - 2))


@pytest.mark.parametrize("taken", ["R1", "r1", "Ｒ1"])
def test_a_model_may_not_take_a_readers_name(opened: Opened, answers: Path, taken: str) -> None:
    """Nor one that people would take for it."""
    with pytest.raises(NotNow, match="'R1' is a reader in 'trial'"):
        _add(opened(), answers, taken)


@pytest.mark.parametrize("taken", ["GPT-X", "gpt-x"])
def test_a_reader_or_model_may_not_take_a_models_name(
    opened: Opened, answers: Path, taken: str
) -> None:
    """Whatever the case of its letters."""
    store = opened()
    _add(store, answers, "GPT-X")
    with pytest.raises(NotNow, match="'GPT-X' is already a model"):
        _add(store, answers, taken)
    with pytest.raises(BadFile, match="a model already has this name"):
        invite(store, taken)


def test_two_readers_may_not_be_taken_for_one(opened: Opened) -> None:
    """Neither within one list nor over two."""
    store = opened()
    with pytest.raises(BadFile, match="R5: listed twice") as refused:
        invite(store, "r5", "R5", "r2")
    assert "r2: already invited" in str(refused.value)


def test_a_models_version_can_be_printed(opened: Opened, answers: Path) -> None:
    """It stands in tables and figures."""
    with pytest.raises(BadInput, match="model's version"):
        _add(opened(), answers, "M", version="1\ud800")


def test_an_import_counts_the_items_it_left_out(store: Store, tmp_path: Path) -> None:
    """Items, not faults: one item may have several."""
    path = write_bank(tmp_path / "bank")
    records = json.loads(path.read_text())
    records["q0000"] |= {"question": "", "correct_answer": "E", "ImagePath": ["nowhere.png"]}
    path.write_text(json.dumps(records))
    done = import_bank(
        store, path, name="bank", images=path.parent, skip_faulty=True, simulated=True, now=NOW
    )
    assert (done.n_items, done.n_left_out) == (23, 1)
    assert len(done.left_out) > 1
    with store.look() as look:
        told = json.loads(look.value("SELECT detail FROM events WHERE kind = 'bank imported'"))
    assert (told["n_items"], told["n_left_out"], told["simulated"]) == (23, 1, True)


def test_the_trail_says_who_had_the_lists_written(banked: Store) -> None:
    """Whoever opens the study, from a page as well, stands beside every assignment."""
    protocol = Protocol.from_json({"cases": 8, "one_question_per": "item"})
    studies.draw(banked, bank="bank", study="trial", protocol=protocol, now=NOW)
    invite(banked, "R1")
    studies.open_study(banked, study="trial", by=By(name="anna", role="coordinator"), now=NOW)
    with banked.look() as look:
        trail = list(events.walk(look, events.study_chain("trial")))
    actors = {event.kind: event.actor for event in trail}
    assert actors["reader assigned"] == actors["study opened"] == "anna"


BY = By(name="c", role="coordinator", place="0123456789ab")


def _close(store: Store, reason: str = "Every case is read.") -> None:
    studies.close(store, study="trial", reason=reason, by=BY, now=NOW)


def _events(store: Store, kind: str) -> list[events.EventRow]:
    with store.look() as look:
        return [one for one in events.walk(look, "study:trial") if one.kind == kind]


def test_a_closed_study_says_who_closed_it_why_and_what_was_missing(opened: Opened) -> None:
    """The event has name, role, place, reason and every count; the store still verifies."""
    store = opened(readers=("R1", "R2"))
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    _close(store, "  Funds \n ran out. ")
    (event,) = _events(store, "study closed")
    detail = event.detail
    assert event.actor == "c"
    assert isinstance(detail, dict)
    assert (detail["role"], detail["place"]) == ("coordinator", "0123456789ab")
    assert detail["reason"] == "Funds ran out."
    assert detail["readings"]["n_missing"] == 8
    assert detail["readers"] == {"finished": 1, "reading": 0, "not begun": 1, "withdrawn": 0}
    assert verify(store) == []


def test_closing_needs_a_reason_and_an_open_study_and_happens_once(
    banked: Store, opened: Opened
) -> None:
    """Never opened, without a reason, too long a reason, twice: refused, and nothing is written."""
    protocol = Protocol.from_json({"cases": 8, "one_question_per": "item"})
    studies.draw(banked, bank="bank", study="drawn", protocol=protocol, now=NOW)
    with pytest.raises(NotNow, match="never opened"):
        studies.close(banked, study="drawn", reason="x", now=NOW)
    store = opened()
    for reason in ("", " \n", "x" * 2001):
        with pytest.raises(BadInput, match="reason"):
            _close(store, reason)
    _close(store)
    with pytest.raises(NotNow, match="already closed"):
        _close(store)
    assert len(_events(store, "study closed")) == 1


def test_nobody_reads_and_nobody_is_invited_after_the_closing(opened: Opened) -> None:
    """An answer that comes late is refused in words."""
    store = opened()
    _close(store)
    with pytest.raises(NotNow, match="answers are no longer accepted"):
        desk.take_records(store, person(store), [{"kind": "reading"}], now=NOW)
    with pytest.raises(NotNow, match="closed"):
        invite(store, "R3")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE studies SET state = 'open'",
        "UPDATE studies SET closed_at_utc = 'x'",
        "UPDATE studies SET closed_at_utc = NULL",
    ],
)
def test_a_closed_study_cannot_be_opened_behind_the_programs_back(
    opened: Opened, statement: str
) -> None:
    """State and moment of the closing are vouched for by the trail."""
    store = opened()
    _close(store)
    tamper(store, statement)
    assert "altered" in verify(store)[0]


def test_a_study_set_to_closed_without_an_event_is_found(opened: Opened) -> None:
    """Whoever wants accuracy early cannot just write the state."""
    store = opened()
    tamper(store, f"UPDATE studies SET state = 'closed', closed_at_utc = '{NOW.isoformat()}'")
    assert verify(store) == ["study trial: state, closed_at_utc altered."]


@pytest.mark.parametrize("interim", [False, True])
def test_accuracy_opens_at_the_closing_unless_the_protocol_says_earlier(
    opened: Opened, interim: bool
) -> None:
    """One function decides, of the protocol in force."""
    store = opened(interim_results=interim)
    assert accuracy_is_shown(store, "trial") is interim
    _close(store)
    assert accuracy_is_shown(store, "trial")


def test_what_is_missing_is_counted_per_reader_session_and_condition(opened: Opened) -> None:
    """Denominators are the cases assigned; a simulated reader that finished lacks nothing."""
    store = opened(conditions=["unaided", "image-absent"])
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    with store.look() as look:
        found = completeness_in(look, study_row(look, "trial"))
    assert [one.stage for one in found.readers] == ["finished", "not begun"]
    assert {one.condition for one in found.sessions} == {"unaided", "image-absent"}
    assert found.counts.n_assigned == 2 * found.counts.n_unread == 32
