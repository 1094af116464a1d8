"""Studies: invitations, names, errors of an import, and closing."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from study.bank.importing import import_bank
from study.bank.reading import ImportOptions
from study.base.actor import Acting, By
from study.base.errors import BadFile, BadInput, NotNow
from study.base.text import LONGEST_NAME
from study.lifecycle import studies
from study.lifecycle.studies import accuracy_is_shown
from study.models.models import add_model
from study.monitoring.progress import completeness_in
from study.people.codes import new_code
from study.people.invitations import Invitation
from study.protocol.protocol import Protocol
from study.reading import desk
from study.reading.simulation import simulate
from study.store import Store, events, people
from study.store.studies import study_row
from study.trail.verification import verify
from tests.conftest import (
    ACTING,
    NOW,
    bank_records,
    draw_trial,
    entropy_from,
    invite,
    person,
    tamper,
    write_bank,
)

Opened = Callable[..., Store]
INVALID_NAMES = (
    "",
    " ",
    " R1",
    "R1 ",
    "R\n1",
    "R\u200b1",
    "R\ud800",
    "R\x00",
    "R" * (LONGEST_NAME + 1),
)


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """Return a file of predictions for every item in the bank."""
    file = tmp_path / "model.json"
    file.write_text(json.dumps({item: {"model_prediction": "A"} for item in bank_records(12)}))
    return file


def _add(store: Store, file: Path, model_id: str, version: str = "") -> None:
    add_model(store, file, study="trial", model_id=model_id, model_version=version, acting=ACTING)


def test_a_reader_invited_after_opening_is_assigned_at_once(opened: Opened) -> None:
    """The reader has the same cases as the others, in a different order."""
    store = opened()
    invite(store, "R3")
    with store.look() as look:
        lists = [
            look.rows(
                "SELECT case_id, position FROM assignments JOIN readers ON readers.id = reader "
                "WHERE reader_id = :who ORDER BY position",
                who=reader_id,
            )
            for reader_id in ("R1", "R3")
        ]
    first, late = ([row["case_id"] for row in rows] for rows in lists)
    assert sorted(late) == sorted(first)
    assert late != first
    assert desk.desk(store, person(store, "R3"), now=NOW).total == 8


def test_assignments_are_made_when_the_study_is_opened(banked: Store) -> None:
    """A reader has no assignments before the study is opened."""
    draw_trial(banked, {"cases": 8, "one_question_per": "item"})
    invite(banked, "R1")
    with banked.look() as look:
        assert look.rows("SELECT * FROM assignments") == []


@pytest.mark.parametrize("name", INVALID_NAMES)
def test_invalid_names_of_banks_studies_models_and_readers_are_refused(
    opened: Opened, answers: Path, tmp_path: Path, name: str
) -> None:
    """The rule and the message are the same for all kinds, and nothing is stored."""
    store = opened()
    path = write_bank(tmp_path / "second")
    with pytest.raises(BadInput, match="name of a bank"):
        import_bank(store, path, name=name, images=path.parent, acting=ACTING)
    with pytest.raises(BadInput, match="name of a study"):
        studies.draw(store, bank="bank", study=name, protocol=Protocol(), acting=ACTING)
    with pytest.raises(BadInput, match="name of a model"):
        _add(store, answers, name)
    with pytest.raises(BadFile, match="Choose another reader ID"):
        invite(store, name)
    with store.look() as look:
        for table, n in (("banks", 1), ("studies", 1), ("models", 0), ("readers", 2)):
            assert look.value(f"SELECT count(*) FROM {table}") == n


def test_a_name_may_have_a_hundred_printable_characters(opened: Opened, answers: Path) -> None:
    """Any script is accepted."""
    store = opened()
    invite(store, "Gutachter Ü (Zürich)")
    _add(store, answers, "模型" + "x" * (LONGEST_NAME - 2))


@pytest.mark.parametrize("existing_name", ["R1", "r1", "Ｒ1"])
def test_a_model_may_not_take_a_readers_name(
    opened: Opened, answers: Path, existing_name: str
) -> None:
    """Names that look like a reader's name are refused too."""
    with pytest.raises(NotNow, match="“R1” is a reader in “trial”"):
        _add(opened(), answers, existing_name)


@pytest.mark.parametrize("existing_name", ["GPT-X", "gpt-x"])
def test_a_reader_or_model_may_not_take_a_models_name(
    opened: Opened, answers: Path, existing_name: str
) -> None:
    """Upper and lower case do not matter."""
    store = opened()
    _add(store, answers, "GPT-X")
    with pytest.raises(NotNow, match="“GPT-X” is already a model"):
        _add(store, answers, existing_name)
    with pytest.raises(BadFile, match="a model already has this name"):
        invite(store, existing_name)


def test_reader_ids_that_look_alike_are_refused(opened: Opened) -> None:
    """The IDs are compared within a list and with earlier invitations."""
    store = opened()
    with pytest.raises(BadFile, match="R5: listed twice") as refused:
        invite(store, "r5", "R5", "r2")
    assert "r2: already invited" in str(refused.value)


@pytest.mark.parametrize("years", ["many", "5 years", "3-5", "10+", "１０"])
def test_years_of_experience_are_a_number(opened: Opened, years: str) -> None:
    """The analysis groups readers by years, and would silently leave out text."""
    with pytest.raises(BadFile, match=f"R5: years must be a number.*not “{re.escape(years)}”"):
        _invite_with_years(opened(), years)


@pytest.mark.parametrize(
    ("years", "stored"), [("", ""), ("7", "7"), ("2.5", "2.5"), ("2,5", "2.5")]
)
def test_years_of_experience_may_have_a_decimal_comma(
    opened: Opened, years: str, stored: str
) -> None:
    """The number is stored with a point, as in a list with semicolons."""
    store = opened()
    _invite_with_years(store, years)
    with store.look() as look:
        readers = people.readers(look, study_row(look, "trial").id)
    assert {reader.reader_id: reader.years for reader in readers}["R5"] == stored


def _invite_with_years(store: Store, years: str) -> None:
    invitation = Invitation(reader_id="R5", years=years)
    code = new_code(entropy_from(9))
    studies.invite(store, study="trial", invitations=[invitation], codes=[code], acting=ACTING)


def test_the_version_of_a_model_must_be_printable(opened: Opened, answers: Path) -> None:
    """The version is shown in tables and figures."""
    with pytest.raises(BadInput, match="model's version"):
        _add(opened(), answers, "M", version="1\ud800")


def test_an_import_counts_the_items_it_left_out(store: Store, tmp_path: Path) -> None:
    """Items are counted, not errors: an item may have several errors."""
    path = write_bank(tmp_path / "bank")
    records = json.loads(path.read_text())
    records["q0000"] |= {"question": "", "correct_answer": "E", "ImagePath": ["nowhere.png"]}
    path.write_text(json.dumps(records))
    result = import_bank(
        store,
        path,
        name="bank",
        images=path.parent,
        options=ImportOptions(skip_faulty=True, simulated=True),
        acting=ACTING,
    )
    assert (result.n_items, result.n_left_out) == (23, 1)
    assert len(result.left_out) > 1
    with store.look() as look:
        detail = json.loads(look.value("SELECT detail FROM events WHERE kind = 'bank imported'"))
    assert (detail["n_items"], detail["n_left_out"], detail["simulated"]) == (23, 1, True)


def test_the_trail_records_who_opened_the_study(banked: Store) -> None:
    """The event of each assignment has the same name."""
    draw_trial(banked, {"cases": 8, "one_question_per": "item"})
    invite(banked, "R1")
    studies.open_study(
        banked, study="trial", acting=Acting(by=By(name="anna", role="coordinator"), now=NOW)
    )
    with banked.look() as look:
        trail = list(events.walk(look, events.study_chain("trial")))
    actors = {event.kind: event.actor for event in trail}
    assert actors["reader assigned"] == actors["study opened"] == "anna"


BY = By(name="c", role="coordinator", place="0123456789ab")


def _close(store: Store, reason: str = "Every case is read.") -> None:
    studies.close(store, study="trial", reason=reason, acting=Acting(by=BY, now=NOW))


def _events(store: Store, kind: str) -> list[events.EventRow]:
    with store.look() as look:
        return [event for event in events.walk(look, "study:trial") if event.kind == kind]


def test_the_event_of_closing_a_study_has_person_reason_and_counts(opened: Opened) -> None:
    """The verification finds no breach."""
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


def test_closing_needs_a_reason_and_an_open_study(banked: Store, opened: Opened) -> None:
    """Otherwise closing is refused, and no event is added."""
    protocol = Protocol.from_json({"cases": 8, "one_question_per": "item"})
    studies.draw(banked, bank="bank", study="drawn", protocol=protocol, acting=ACTING)
    with pytest.raises(NotNow, match="never opened"):
        studies.close(banked, study="drawn", reason="x", acting=ACTING)
    store = opened()
    for reason in ("", " \n", "x" * 2001):
        with pytest.raises(BadInput, match="reason"):
            _close(store, reason)
    _close(store)
    with pytest.raises(NotNow, match="already closed"):
        _close(store)
    assert len(_events(store, "study closed")) == 1


def test_a_closed_study_accepts_no_answers_and_no_readers(opened: Opened) -> None:
    """The message states that the study is closed."""
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
def test_verification_reports_a_closed_study_altered_to_open(
    opened: Opened, statement: str
) -> None:
    """The audit trail has the state and the time of the closing."""
    store = opened()
    _close(store)
    tamper(store, statement)
    assert "altered" in verify(store)[0]


def test_verification_reports_a_study_closed_without_an_event(opened: Opened) -> None:
    """Setting the state in the database does not reveal the accuracy early."""
    store = opened()
    tamper(store, f"UPDATE studies SET state = 'closed', closed_at_utc = '{NOW.isoformat()}'")
    assert verify(store) == ["study trial: state, closed_at_utc altered."]


@pytest.mark.parametrize("interim", [False, True])
def test_accuracy_is_shown_only_after_closing_unless_the_protocol_allows_it_earlier(
    opened: Opened, interim: bool
) -> None:
    """The amended protocol decides, if there is one."""
    store = opened(interim_results=interim)
    assert accuracy_is_shown(store, "trial") is interim
    _close(store)
    assert accuracy_is_shown(store, "trial")


def test_missing_readings_are_counted_by_reader_session_and_condition(opened: Opened) -> None:
    """The denominators are the numbers of assigned cases."""
    store = opened(conditions=["unaided", "image-absent"])
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    with store.look() as look:
        completeness = completeness_in(look, study_row(look, "trial"))
    assert [row.stage for row in completeness.readers] == ["finished", "not begun"]
    assert {row.condition for row in completeness.sessions} == {"unaided", "image-absent"}
    assert completeness.counts.n_assigned == 2 * completeness.counts.n_unread == 32
