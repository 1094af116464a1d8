"""Practice cases: outside the sample, first, with feedback, and in nothing the study counts."""

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


def _take(store: Store, *records: Any, who: str = "R1") -> desk.Acknowledgement:
    now = NOW + timedelta(seconds=2)
    return desk.take_records(store, person(store, who), records, now=now)


def _cases(store: Store, who: str = "R1") -> tuple[desk.CaseView, ...]:
    return desk.desk(store, person(store, who), now=NOW).cases


def _practise(store: Store, who: str = "R1") -> list[str]:
    done = []
    while _cases(store, who)[0].practice:
        case = _cases(store, who)[0].case
        assert _take(store, presentation(case), reading(case), who=who).refused == ()
        done.append(case)
    return done


def _study_case(store: Store, position: int = 1) -> str:
    with store.look() as look:
        return str(
            look.value(
                "SELECT assignments.id FROM assignments JOIN readers ON readers.id = reader "
                "WHERE reader_id = 'R1' AND position = :position",
                position=position,
            )
        )


def _lot(purpose: str, key: str) -> str:
    return sha256(f"20250604/{purpose}/{key}".encode()).hexdigest()


def test_practice_comes_first_and_then_the_study(opened: Opened) -> None:
    """Positions count among themselves; the study's own total and count know nothing of them."""
    store = opened(practice_cases=4)
    found = desk.desk(store, person(store), now=NOW)
    assert [(case.practice, case.position) for case in found.cases] == [
        (True, 1),
        (True, 2),
        (True, 3),
    ]
    assert (found.practice_total, found.total, found.read) == (4, 8, 0)
    practised = _practise(store)
    after = desk.desk(store, person(store), now=NOW)
    assert len(set(practised)) == 4
    assert [(case.practice, case.position) for case in after.cases] == [
        (False, 1),
        (False, 2),
        (False, 3),
    ]
    assert (after.practice_total, after.read, after.finished) == (4, 0, False)


def test_the_draw_can_be_recomputed_by_hand(opened: Opened) -> None:
    """Units outside the sample by lot, of each the first item by lot, as docs/protocol.md says."""
    store = opened(practice_cases=3)
    with store.look() as look:
        bank = look.rows("SELECT item_id, patient_id FROM items")
        sample = {row.item_id for row in stored_studies.cases(look, 1)}
        drawn = [row.item_id for row in stored_studies.cases(look, 1, PRACTICE)]
        locked = json.loads(look.value("SELECT protocol FROM studies"))
    taken = {row["patient_id"] for row in bank if row["item_id"] in sample}
    free: dict[str, list[str]] = {}
    for row in bank:
        if row["patient_id"] not in taken:
            free.setdefault(row["patient_id"], []).append(row["item_id"])
    units = sorted(free, key=lambda unit: _lot("practice unit", unit))[:3]
    expected = [min(free[unit], key=lambda item: _lot("practice item", item)) for unit in units]
    assert drawn == expected == locked["practice_cases_drawn"]


def test_a_readers_order_and_options_can_be_recomputed_by_hand(opened: Opened) -> None:
    """By the reader's own lots, as the study's cases are."""
    store = opened(practice_cases=3, option_order="random")
    with store.look() as look:
        drawn = [row.item_id for row in stored_studies.cases(look, 1, PRACTICE)]
        listed = stored_studies.assignments(look, 2, PRACTICE)
    order = sorted(drawn, key=lambda item: _lot("practice order/R2", item))
    assert [row["item_id"] for row in listed] == order
    for row in listed:
        purpose = f"option order/R2/{row['item_id']}/practice"
        assert row["shown_order"] == "".join(
            sorted("ABCD", key=lambda letter: _lot(purpose, letter))
        )


def test_the_sample_is_the_same_with_practice_and_without(banked: Store) -> None:
    """And a protocol without practice has the hash it always had."""
    drawn = {}
    for name, n_practice in (("without", 0), ("with", 3)):
        protocol = Protocol.from_json(
            {"name": "p", "cases": 8, "one_question_per": "item", "practice_cases": n_practice}
        )
        studies.draw(banked, bank="bank", study=name, protocol=protocol, now=NOW)
        with banked.look() as look:
            row = study_row(look, name)
        drawn[name] = json.loads(row.protocol)
    assert drawn["with"]["cases"] == drawn["without"]["cases"]
    assert set(drawn["without"]) == {"protocol", "bank_sha256", "cases"}


@pytest.mark.parametrize(("cases", "practice_cases"), [(8, 12), (24, 1)])
def test_a_bank_too_small_for_practice_is_refused_with_the_numbers(
    banked: Store, cases: int, practice_cases: int
) -> None:
    """One a patient, none of a patient in the sample; nothing is drawn."""
    protocol = Protocol.from_json(
        {"cases": cases, "one_question_per": "item", "practice_cases": practice_cases}
    )
    with pytest.raises(BadInput, match=r"the bank has \d+ such patients left, but practice"):
        studies.draw(banked, bank="bank", study="trial", protocol=protocol, now=NOW)
    with banked.look() as look, pytest.raises(NotFound):
        study_row(look, "trial")


def test_no_film_of_the_sample_is_practised_on(store: Store, tmp_path: Path) -> None:
    """Where a bank names no patient and no examination, films are all there is to tell by."""
    records = json.loads(write_bank(tmp_path / "bank", n_patients=6).read_text())
    for number, record in enumerate(records.values()):
        del record["PatientID"], record["study_id"]
        if number % 2:  # the same two films, the other one first: another examination
            record["ImagePath"].reverse()
            record["ImageViewPosition"].reverse()
    path = tmp_path / "bank" / "nameless.json"
    path.write_text(json.dumps(records))
    import_bank(store, path, name="bank", images=path.parent, now=NOW)
    values = {"cases": 3, "one_question_per": "item", "practice_cases": 2, "stratify_by": []}
    shown = []
    for seed in range(8):
        protocol = Protocol.from_json({**values, "seed": seed})
        studies.draw(store, bank="bank", study=f"s{seed}", protocol=protocol, now=NOW)
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


def test_ids_of_practice_cases_tell_nothing(opened: Opened) -> None:
    """Opaque, different for every reader, and none of a study's case."""
    store = opened(practice_cases=3)
    ids = {case.case for who in ("R1", "R2") for case in _cases(store, who)}
    assert len(ids) == 6
    assert all(len(one) == 24 and int(one, 16) >= 0 for one in ids)
    with store.look() as look:
        assert not ids & {row["id"] for row in look.rows("SELECT id FROM assignments")}


def test_feedback_comes_with_every_practice_reading_and_none_of_the_study(opened: Opened) -> None:
    """Once stored, each time it is sent; the study's cases keep to the protocol."""
    store = opened(practice_cases=1)
    case = _cases(store)[0].case
    for _ in range(2):
        receipt = _take(store, reading(case, "A"))
        (told,) = receipt.feedback.values()
        assert told.correct == (told.option == "A")
        assert told.explanation == SECRETS[2]
    own = _cases(store)[0].case
    assert _take(store, presentation(own), reading(own)).feedback == {}


def test_feedback_names_the_option_as_shown(opened: Opened) -> None:
    """Under shuffled options the letter is the one on the screen."""
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
        (told,) = _take(store, reading(case.case, right)).feedback.values()
        assert (told.option, told.correct) == (right, True)


def test_nothing_secret_is_shown_before_a_practice_case_is_answered(opened: Opened) -> None:
    """The views of practice cases are made as blind as the study's."""
    store = opened(practice_cases=4)
    seen = []
    while (found := desk.desk(store, person(store), now=NOW)).cases[0].practice:
        seen.append(repr(found))
        case = found.cases[0].case
        refused = _take(store, presentation(case), reading(case, "H"))
        assert refused.feedback == {}
        seen.append(repr(refused))
        receipt = _take(store, presentation(case), reading(case))
        seen.append(repr(receipt.desk))
    assert len(seen) == 12
    assert not any(secret in "".join(seen) for secret in (*SECRETS, "q00", "truth"))


def test_no_case_of_the_study_is_read_before_practice_is_done(opened: Opened) -> None:
    """Neither shown nor answered, whoever knows its id."""
    store = opened(practice_cases=2)
    own = _study_case(store)
    receipt = _take(store, presentation(own), reading(own))
    assert {why for _, why in receipt.refused} == {"This case is not available yet."}
    _practise(store)
    assert _take(store, presentation(own), reading(own)).refused == ()


def test_no_practice_before_everything_is_prepared(opened: Opened) -> None:
    """Consent comes before the first film."""
    store = opened(practice_cases=1, consent="Agree?")
    with store.look() as look:
        case = look.value("SELECT id FROM practice_assignments WHERE reader = 1")
    receipt = _take(store, presentation(case), reading(case))
    assert {why for _, why in receipt.refused} == {"This case is not available yet."}
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
def test_a_practice_reading_keeps_to_the_studys_rules(
    opened: Opened, changed: dict[str, Any], reason: str
) -> None:
    """They are practised too."""
    store = opened(practice_cases=1)
    case = _cases(store)[0].case
    assert reason in _take(store, {**reading(case), **changed}).refused[0][1]


def test_the_first_practice_answer_stands(opened: Opened) -> None:
    """Another one, under another id, is refused and told nothing."""
    store = opened(practice_cases=2)
    first, second = (case.case for case in _cases(store))
    _take(store, reading(first, "A"))
    again = _take(store, reading(first, "B", id="from-another-tab"))
    stolen = _take(store, reading(second, "B", id=f"read-{first}"))
    assert "already been read" in again.refused[0][1]
    assert stolen.refused == ((f"read-{first}", "Another reading already has this ID."),)
    assert again.feedback == stolen.feedback == {}


def test_a_presentation_under_a_readings_id_is_told_nothing(opened: Opened) -> None:
    """The next practice case is not told of by the id of the last one's reading."""
    store = opened(practice_cases=2)
    first, second = (case.case for case in _cases(store))
    _take(store, reading(first))
    assert _take(store, {**presentation(second), "id": f"read-{first}"}).feedback == {}


def test_another_readers_practice_case_is_nobody_elses(opened: Opened) -> None:
    """Handed out to one reader each."""
    store = opened(practice_cases=1)
    other = _cases(store, "R2")[0].case
    assert "not assigned to you" in _take(store, reading(other)).refused[0][1]


def test_practice_is_in_no_count_and_in_no_table_of_the_bundle(opened: Opened) -> None:
    """Not in progress, items, readings or raters; the locked protocol names what was drawn."""
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
    """Their list is written at the invitation."""
    store = opened(practice_cases=2)
    invite(store, "R3")
    assert desk.desk(store, person(store, "R3"), now=NOW).practice_total == 2
    assert verify(store) == []


def test_the_films_of_practice_are_needed_before_the_studys(opened: Opened) -> None:
    """They are prepared ahead first, and the study's after them."""
    store = opened(practice_cases=2)

    def films(cases: tuple[desk.CaseView, ...]) -> list[FilmRow | None]:
        named = [view.film.split("/") for case in cases for view in case.views]
        return [desk.film(store, person(store), case, int(view)) for case, view in named]

    practised = films(_cases(store))
    with store.look(sealed=True) as look:
        ahead = readings.upcoming_films(look, person(store).reader, 5)
    _practise(store)
    assert ahead == practised + films(_cases(store))


def test_practice_is_in_the_condition_of_the_first_block(opened: Opened) -> None:
    """An image-absent block is practised without films."""
    store = opened(practice_cases=1, conditions=["image-absent", "unaided"])
    assert (_cases(store)[0].condition, _cases(store)[0].views) == ("image-absent", ())
    assert _cases(store, "R2")[0].condition == "unaided"


def test_a_simulated_reader_needs_no_practice(opened: Opened) -> None:
    """They read the study; a person who has practised is not simulated."""
    store = opened(practice_cases=2)
    done = simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    assert done.n_read == 8
    case = _cases(store, "R2")[0].case
    _take(store, reading(case), who="R2")
    with pytest.raises(NotNow, match="a person"):
        simulate(store, study="trial", reader_id="R2", seed=1, accuracy=0.7, now=NOW)
    assert verify(store) == []


def test_going_back_leads_to_the_studys_cases_only(opened: Opened) -> None:
    """A practice case is over when its answer was told."""
    store = opened(practice_cases=1, back_navigation=True)
    _practise(store)
    with pytest.raises(NotFound):
        desk.case_at(store, person(store), 1, now=NOW)
