"""Practice cases are not in the sample, precede the study, give feedback and do not count."""

import csv
import io
import json
from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from study.bank.importing import import_bank
from study.base.errors import BadInput, NotFound, NotNow
from study.exchange.bundle import bundle_files
from study.lifecycle import studies
from study.monitoring.progress import status
from study.protocol.protocol import Protocol
from study.reading import desk
from study.reading.simulation import simulate
from study.store import Store, readings
from study.store import studies as stored_studies
from study.store.banks import FilmRow
from study.store.studies import PRACTICE, study_row
from study.trail.verification import verify
from tests.conftest import (
    ACTING,
    NOW,
    SECRETS,
    invite,
    person,
    preparation,
    presentation,
    reading,
    write_bank,
)

Opened = Callable[..., Store]


def _take(store: Store, *records: Any, reader_id: str = "R1") -> desk.Acknowledgement:
    now = NOW + timedelta(seconds=2)
    return desk.take_records(store, person(store, reader_id), records, now=now)


def _cases(store: Store, reader_id: str = "R1") -> tuple[desk.CaseView, ...]:
    return desk.desk(store, person(store, reader_id), now=NOW).cases


def _practise(store: Store, reader_id: str = "R1") -> list[str]:
    readings = []
    while _cases(store, reader_id)[0].practice:
        case = _cases(store, reader_id)[0].case
        assert _take(store, presentation(case), reading(case), reader_id=reader_id).refused == ()
        readings.append(case)
    return readings


def _study_case(store: Store, position: int = 1) -> str:
    with store.look() as look:
        return str(
            look.value(
                "SELECT assignments.id FROM assignments JOIN readers ON readers.id = reader "
                "WHERE reader_id = 'R1' AND position = :position",
                position=position,
            )
        )


def _random_key(purpose: str, key: str) -> str:
    return sha256(f"20250604/{purpose}/{key}".encode()).hexdigest()


def test_practice_comes_before_the_study(opened: Opened) -> None:
    """Practice cases have separate positions and counts."""
    store = opened(practice_cases=4)
    page = desk.desk(store, person(store), now=NOW)
    assert [(case.practice, case.position) for case in page.cases] == [
        (True, 1),
        (True, 2),
        (True, 3),
    ]
    assert (page.practice_total, page.total, page.read) == (4, 8, 0)
    practised = _practise(store)
    after = desk.desk(store, person(store), now=NOW)
    assert len(set(practised)) == 4
    assert [(case.practice, case.position) for case in after.cases] == [
        (False, 1),
        (False, 2),
        (False, 3),
    ]
    assert (after.practice_total, after.read, after.finished) == (4, 0, False)


def test_practice_cases_are_drawn_by_the_documented_rule(opened: Opened) -> None:
    """Units outside the sample, and an item of each, are chosen at random; see docs/protocol.md."""
    store = opened(practice_cases=3)
    with store.look() as look:
        bank = look.rows("SELECT item_id, patient_id FROM items")
        sample = {row.item_id for row in stored_studies.cases(look, 1)}
        drawn = [row.item_id for row in stored_studies.cases(look, 1, PRACTICE)]
        locked = json.loads(look.value("SELECT protocol FROM studies"))
    patients = {row["patient_id"] for row in bank if row["item_id"] in sample}
    free: dict[str, list[str]] = {}
    for row in bank:
        if row["patient_id"] not in patients:
            free.setdefault(row["patient_id"], []).append(row["item_id"])
    units = sorted(free, key=lambda unit: _random_key("practice unit", unit))[:3]
    expected = [
        min(free[unit], key=lambda item: _random_key("practice item", item)) for unit in units
    ]
    assert drawn == expected == locked["practice_cases_drawn"]


def test_the_practice_order_of_a_reader_is_that_of_the_documented_rule(opened: Opened) -> None:
    """The order of the options is that of its documented rule too."""
    store = opened(practice_cases=3, option_order="random")
    with store.look() as look:
        drawn = [row.item_id for row in stored_studies.cases(look, 1, PRACTICE)]
        assignments = stored_studies.assignments(look, 2, PRACTICE)
    order = sorted(drawn, key=lambda item: _random_key("practice order/R2", item))
    assert [row["item_id"] for row in assignments] == order
    for row in assignments:
        purpose = f"option order/R2/{row['item_id']}/practice"
        assert row["shown_order"] == "".join(
            sorted("ABCD", key=lambda letter: _random_key(purpose, letter))
        )


def test_the_sample_is_the_same_with_practice_and_without(banked: Store) -> None:
    """A protocol without practice has the same hash as in earlier versions."""
    drawn = {}
    for name, n_practice in (("without", 0), ("with", 3)):
        protocol = Protocol.from_json(
            {"name": "p", "cases": 8, "one_question_per": "item", "practice_cases": n_practice}
        )
        studies.draw(banked, bank="bank", study=name, protocol=protocol, acting=ACTING)
        with banked.look() as look:
            row = study_row(look, name)
        drawn[name] = json.loads(row.protocol)
    assert drawn["with"]["cases"] == drawn["without"]["cases"]
    assert set(drawn["without"]) == {"protocol", "bank_sha256", "cases"}


@pytest.mark.parametrize(("cases", "practice_cases"), [(8, 12), (24, 1)])
def test_a_bank_too_small_for_practice_is_refused_with_the_numbers(
    banked: Store, cases: int, practice_cases: int
) -> None:
    """Practice uses one item per patient outside the sample; nothing is drawn."""
    protocol = Protocol.from_json(
        {"cases": cases, "one_question_per": "item", "practice_cases": practice_cases}
    )
    with pytest.raises(BadInput, match=r"the bank has \d+ such patients left, but practice"):
        studies.draw(banked, bank="bank", study="trial", protocol=protocol, acting=ACTING)
    with banked.look() as look, pytest.raises(NotFound):
        study_row(look, "trial")


def test_practice_shows_no_film_of_the_sample(store: Store, tmp_path: Path) -> None:
    """In a bank without patients and examinations, items with the same films belong together."""
    records = json.loads(write_bank(tmp_path / "bank", n_patients=6).read_text())
    for number, record in enumerate(records.values()):
        del record["PatientID"], record["study_id"]
        if number % 2:  # the same two films in the other order are another examination
            record["ImagePath"].reverse()
            record["ImageViewPosition"].reverse()
    path = tmp_path / "bank" / "nameless.json"
    path.write_text(json.dumps(records))
    import_bank(store, path, name="bank", images=path.parent, acting=ACTING)
    values = {"cases": 3, "one_question_per": "item", "practice_cases": 2, "stratify_by": []}
    shown = []
    for seed in range(8):
        protocol = Protocol.from_json({**values, "seed": seed})
        studies.draw(store, bank="bank", study=f"s{seed}", protocol=protocol, acting=ACTING)
        with store.look() as look:
            number = study_row(look, f"s{seed}").id
            films = {
                table: {
                    row["film"]
                    for row in look.rows(
                        f"SELECT film FROM {table} JOIN item_views USING (item) "
                        "WHERE study = :study",
                        study=number,
                    )
                }
                for table in ("cases", "practice_cases")
            }
        shown.append(films["cases"] & films["practice_cases"])
    assert shown == [set()] * 8


def test_ids_of_practice_cases_are_random(opened: Opened) -> None:
    """The IDs differ between readers and from those of the study's cases."""
    store = opened(practice_cases=3)
    ids = {case.case for reader_id in ("R1", "R2") for case in _cases(store, reader_id)}
    assert len(ids) == 6
    assert all(len(case_id) == 24 and int(case_id, 16) >= 0 for case_id in ids)
    with store.look() as look:
        assert not ids & {row["id"] for row in look.rows("SELECT id FROM assignments")}


def test_every_practice_reading_gets_feedback(opened: Opened) -> None:
    """A repeated record gets the same feedback; the study's cases follow the protocol."""
    store = opened(practice_cases=1)
    case = _cases(store)[0].case
    for _ in range(2):
        receipt = _take(store, reading(case, "A"))
        (feedback,) = receipt.feedback.values()
        assert feedback.correct == (feedback.option == "A")
        assert feedback.explanation == SECRETS[2]
    own = _cases(store)[0].case
    assert _take(store, presentation(own), reading(own)).feedback == {}


def test_feedback_names_the_option_as_shown(opened: Opened) -> None:
    """With shuffled options, the letter is the one on the screen."""
    store = opened(practice_cases=4, option_order="random")
    while (case := _cases(store)[0]).practice:
        with store.look() as look:
            row = look.row(
                "SELECT truth, shown_order FROM practice_assignments JOIN practice_cases "
                "ON practice_cases.id = practice_case JOIN reference_standard USING (item) "
                "WHERE practice_assignments.id = :case",
                case=case.case,
            )
        assert row is not None
        right = "ABCD"[row["shown_order"].index(row["truth"])]
        (feedback,) = _take(store, reading(case.case, right)).feedback.values()
        assert (feedback.option, feedback.correct) == (right, True)


def test_practice_cases_contain_no_secrets_before_the_answer(opened: Opened) -> None:
    """Practice cases are blinded like the study's cases."""
    store = opened(practice_cases=4)
    messages = []
    while (page := desk.desk(store, person(store), now=NOW)).cases[0].practice:
        messages.append(repr(page))
        case = page.cases[0].case
        refused = _take(store, presentation(case), reading(case, "H"))
        assert refused.feedback == {}
        messages.append(repr(refused))
        receipt = _take(store, presentation(case), reading(case))
        messages.append(repr(receipt.desk))
    assert len(messages) == 12
    assert not any(secret in "".join(messages) for secret in (*SECRETS, "q00", "truth"))


def test_cases_of_the_study_are_refused_before_practice_is_complete(opened: Opened) -> None:
    """Knowing the ID of a case does not help."""
    store = opened(practice_cases=2)
    own = _study_case(store)
    receipt = _take(store, presentation(own), reading(own))
    assert {reason for _, reason in receipt.refused} == {"This case is not available yet."}
    _practise(store)
    assert _take(store, presentation(own), reading(own)).refused == ()


def test_practice_is_refused_before_the_preparation_is_complete(opened: Opened) -> None:
    """Consent comes before the first film."""
    store = opened(practice_cases=1, consent="Agree?")
    with store.look() as look:
        case = look.value("SELECT id FROM practice_assignments WHERE reader = 1")
    receipt = _take(store, presentation(case), reading(case))
    assert {reason for _, reason in receipt.refused} == {"This case is not available yet."}
    assert _take(store, preparation("consent"), reading(case)).refused == ()


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"option": "E"}, "does not have this option"),
        ({"confidence": 3}, "not ask for a confidence rating"),
        ({"option": None, "status": "timed_out"}, "no time limit"),
        ({"option": None, "status": "skipped", "reason": "?"}, "Every case must be answered"),
        ({"supersedes": "read-something"}, "cannot be changed"),
    ],
)
def test_a_practice_reading_must_meet_the_rules_of_the_study(
    opened: Opened, changed: dict[str, Any], reason: str
) -> None:
    """Readers practise the rules of the study too."""
    store = opened(practice_cases=1)
    case = _cases(store)[0].case
    assert reason in _take(store, {**reading(case), **changed}).refused[0][1]


def test_a_second_practice_answer_is_refused(opened: Opened) -> None:
    """The second answer gets no feedback."""
    store = opened(practice_cases=2)
    first, second = (case.case for case in _cases(store))
    _take(store, reading(first, "A"))
    repeated = _take(store, reading(first, "B", id="from-another-tab"))
    reused = _take(store, reading(second, "B", id=f"read-{first}"))
    assert "already been read" in repeated.refused[0][1]
    assert reused.refused == ((f"read-{first}", "Another reading already has this ID."),)
    assert repeated.feedback == reused.feedback == {}


def test_a_presentation_with_a_readings_id_gets_no_feedback(opened: Opened) -> None:
    """Feedback would reveal the answer to the next practice case."""
    store = opened(practice_cases=2)
    first, second = (case.case for case in _cases(store))
    _take(store, reading(first))
    assert _take(store, {**presentation(second), "id": f"read-{first}"}).feedback == {}


def test_another_readers_practice_case_cannot_be_read(opened: Opened) -> None:
    """A case belongs to one reader."""
    store = opened(practice_cases=1)
    other = _cases(store, "R2")[0].case
    assert "not assigned to you" in _take(store, reading(other)).refused[0][1]


def test_practice_is_not_counted_and_not_exported(opened: Opened) -> None:
    """Only the locked protocol names the practice cases."""
    store = opened(practice_cases=3)
    _practise(store)
    (first, _) = status(store, "trial")["readers"]
    assert (first["n_assigned"], first["n_read"]) == (8, 0)
    files = bundle_files(store, "trial")
    locked = json.loads(files["protocol.json"])["locked"]
    drawn = locked["practice_cases_drawn"]
    items = list(csv.DictReader(io.StringIO(files["items.csv"].decode())))
    assert not {row["item_id"] for row in items} & set(drawn)
    assert files["readings.csv"].decode().count("\n") == 1
    assert not any(item in files["audit.jsonl"].decode() for item in drawn)
    assert verify(store) == []


def test_a_reader_invited_later_practises_too(opened: Opened) -> None:
    """The cases of later readers are assigned at the invitation."""
    store = opened(practice_cases=2)
    invite(store, "R3")
    assert desk.desk(store, person(store, "R3"), now=NOW).practice_total == 2
    assert verify(store) == []


def test_practice_films_are_prepared_before_those_of_the_study(opened: Opened) -> None:
    """The films are prepared in the order of reading."""
    store = opened(practice_cases=2)

    def films(cases: tuple[desk.CaseView, ...]) -> list[FilmRow | None]:
        names = [view.film.split("/") for case in cases for view in case.views]
        return [desk.film(store, person(store), case, int(view)) for case, view in names]

    practised = films(_cases(store))
    with store.look(sealed=True) as look:
        upcoming = readings.upcoming_films(look, person(store).reader, 5)
    _practise(store)
    assert upcoming == practised + films(_cases(store))


def test_practice_has_the_condition_of_the_first_block(opened: Opened) -> None:
    """For an image-absent block, practice has no films."""
    store = opened(practice_cases=1, conditions=["image-absent", "unaided"])
    assert (_cases(store)[0].condition, _cases(store)[0].views) == ("image-absent", ())
    assert _cases(store, "R2")[0].condition == "unaided"


def test_a_simulated_reader_needs_no_practice(opened: Opened) -> None:
    """A person who has practised cannot be simulated."""
    store = opened(practice_cases=2)
    result = simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    assert result.n_read == 8
    case = _cases(store, "R2")[0].case
    _take(store, reading(case), reader_id="R2")
    with pytest.raises(NotNow, match="a person"):
        simulate(store, study="trial", reader_id="R2", seed=1, accuracy=0.7, now=NOW)
    assert verify(store) == []


def test_going_back_is_possible_only_to_cases_of_the_study(opened: Opened) -> None:
    """A practice case ends with its feedback."""
    store = opened(practice_cases=1, back_navigation=True)
    _practise(store)
    with pytest.raises(NotFound):
        desk.case_at(store, person(store), 1, now=NOW)
