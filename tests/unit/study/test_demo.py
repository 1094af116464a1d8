"""The demo deployment is complete or absent, marked as simulated, and has new codes."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from study import demo
from study.base.canonical import sha256_of
from study.base.errors import NotAllowed, NotFound
from study.exchange.bundle import bundle_files
from study.monitoring.progress import status
from study.people import signing_in
from study.reading.desk import desk
from study.store import Store
from study.store.studies import study_row
from study.trail.verification import verify
from tests.conftest import NOW, ROOT, entropy_from

DATA = ROOT / "data"


@pytest.fixture(scope="module")
def demo_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Return the store of the demo."""
    path = tmp_path_factory.mktemp("demo") / "deeper" / "demo.db"
    return demo.set_up(path, DATA, entropy=entropy_from(4), now=NOW)


def _person(store: Store, code: str) -> signing_in.Person:
    return signing_in.sign_in(
        store, code, entropy=entropy_from(sum(map(ord, code))), now=NOW
    ).person


def test_simulated_readers_and_models_have_read_all_cases(demo_store: Store) -> None:
    """The guest has not read any case; all others are simulated and complete."""
    progress = status(demo_store, demo.DEMO_STUDY)
    by_name = {row["reader_id"]: row for row in progress["readers"]}
    guest = by_name.pop(demo.READER)
    assert (guest["simulated"], guest["n_read"]) == (False, 0)
    assert len(by_name) == 3
    assert all(row["simulated"] and row["n_read"] == 25 for row in by_name.values())
    assert len(progress["models"]) == 3
    assert all(row["simulated"] for row in progress["models"])
    assert progress["simulated_films"]
    assert verify(demo_store) == []


def test_every_simulated_rater_is_labelled_in_the_bundle(demo_store: Store) -> None:
    """Each rater and each reading is marked."""
    files = bundle_files(demo_store, demo.DEMO_STUDY)
    labels = [line.split(",")[2] for line in files["raters.csv"].decode().splitlines()[1:]]
    assert sum("(simulated)" in label for label in labels) == 6
    assert json.loads(files["datapackage.json"])["reading_room"]["simulated_films"]
    readings = files["readings.csv"].decode().splitlines()[1:]
    assert all(",simulated," in line for line in readings)


def test_each_call_replaces_the_codes(demo_store: Store) -> None:
    """The reader remains the same person and has a new code."""
    first = demo.new_codes(demo_store, entropy=entropy_from(5), now=NOW)
    second = demo.new_codes(demo_store, entropy=entropy_from(6), now=NOW)
    assert first is not None
    assert second is not None
    person = _person(demo_store, second.reader)
    assert (person.name, person.role) == (demo.READER, "reader")
    assert _person(demo_store, second.coordinator).role == "coordinator"
    for old in (first.reader, first.coordinator):
        with pytest.raises(NotAllowed):
            _person(demo_store, old)


def test_cases_of_the_guest_have_two_films(demo_store: Store) -> None:
    """The first cases have a PA and a lateral view."""
    codes = demo.new_codes(demo_store, entropy=entropy_from(8), now=NOW)
    assert codes is not None
    cases = desk(demo_store, _person(demo_store, codes.reader), now=NOW).cases
    assert [[view.label for view in case.views] for case in cases] == [["PA", "LATERAL"]] * 3


def test_the_first_demo_study_is_unchanged(demo_store: Store) -> None:
    """Protocol and cases equal those of the first version; films have spacings."""
    with demo_store.look() as look:
        locked = json.loads(study_row(look, demo.DEMO_STUDY).protocol)
    assert set(locked) == {"protocol", "bank_sha256", "cases"}
    assert locked["protocol"].pop("interim_results") is True
    assert sha256_of(locked["protocol"]).startswith("6d622925014b62ea")
    assert sha256_of(locked["cases"]).startswith("b23466d02c157beb")


def test_the_newcomer_has_every_step_that_precedes_the_cases(demo_store: Store) -> None:
    """The steps are consent, instructions, two questions, the display and two practice cases."""
    codes = demo.new_codes(demo_store, entropy=entropy_from(9), now=NOW)
    assert codes is not None
    assert codes.newcomer is not None
    person = _person(demo_store, codes.newcomer)
    opened = desk(demo_store, person, now=NOW)
    steps = [step.step for step in opened.preparation]
    assert (person.name, person.study_name) == (demo.NEWCOMER, demo.NEWCOMERS_STUDY)
    assert steps == ["consent", "instructions", "questionnaire", "display"]
    assert len(opened.preparation[2].questions) == 2
    assert (opened.practice_total, opened.total, opened.simulated_films) == (2, 10, True)
    assert dict(opened.rules) == {
        "confidence_steps": 5,
        "comments": False,
        "fault_marks": False,
        "back_navigation": True,
        "time_limit_s": 0,
        "feedback": "never",
        "score_card": "own",
        "cannot_answer": True,
        "break_every": 5,
        "smallest_window": [1024, 700],
    }


def test_a_demo_of_an_earlier_release_has_codes_and_no_newcomer(
    demo_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A study is never added to an existing store."""
    monkeypatch.setattr(demo, "NEWCOMERS_STUDY", "missing")
    codes = demo.new_codes(demo_store, entropy=entropy_from(10), now=NOW)
    assert codes is not None
    assert codes.newcomer is None


def test_other_stores_never_show_the_demo(store: Store) -> None:
    """Other stores do not have the study or its codes."""
    assert demo.new_codes(store, entropy=entropy_from(1), now=NOW) is None


@pytest.mark.thorough
def test_simultaneous_set_ups_create_one_demo(tmp_path: Path) -> None:
    """The first call creates the demo, and the second uses it."""
    path = tmp_path / "demo.db"

    def make(seed: int) -> Store:
        return demo.set_up(path, DATA, entropy=entropy_from(seed), now=NOW)

    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(make, (1, 2)))
    assert verify(made[0]) == []
    assert [entry.name for entry in tmp_path.iterdir() if entry.name[0] == "."] == []


def test_a_demo_that_cannot_be_set_up_leaves_nothing(tmp_path: Path) -> None:
    """Without the bank, one sentence is printed and no store is created."""
    with pytest.raises(NotFound, match="No demo bank"):
        demo.set_up(tmp_path / "x.db", tmp_path, entropy=entropy_from(1), now=NOW)
    assert list(tmp_path.iterdir()) == []
