"""Five studies of different designs, set up in the browser, read, closed and reported.

The coordinator works on the staff pages only. One reader of each study reads in a browser, the
others are simulated. All studies share one server and the demo's question bank.
"""

import csv
import io
import zipfile
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import expect

from study.bank.importing import import_bank
from study.lifecycle.deployments import administrator_code, init
from study.reading.simulation import simulate
from study.trail.verification import verify
from tests.conftest import ROOT, entropy_from
from tests.e2e.conftest import Profile, Reader
from tests.e2e.coordinator import Coordinator
from tests.e2e.server import Server, free_port

pytestmark = pytest.mark.browser

DEMO = ROOT / "data" / "demo"
MODEL = DEMO / "models" / "simulated-model-a.json"
AID = "[data-label=aid]"
SHOWN = f"{AID}[data-state=shown]"
Rows = list[dict[str, str]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Return a served deployment with an administrator and the demo's bank."""
    folder = tmp_path_factory.mktemp("designs")
    now = datetime.now(UTC)
    store = init(folder / "store.db", entropy=entropy_from(1), now=now)
    code = administrator_code(store, name="ada", entropy=entropy_from(2), now=now)
    import_bank(store, DEMO / "bank.json", name="Demo bank", images=DEMO, simulated=True, now=now)
    served = Server(store=store, codes={"ada": code}, port=free_port(), log=folder / "app.log")
    served.start()
    yield served
    served.kill()


@pytest.fixture
def ada(server: Server, profile: Profile) -> Coordinator:
    """Return a coordinator at the page New study."""
    page = profile(viewport={"width": 1440, "height": 900}).new_page()
    Reader(page).enter(f"{server.url}", server.codes["ada"])
    page.goto(f"{server.url}/new-study")
    return Coordinator(page)


def _draft(ada: Coordinator, name: str, n_cases: int, *conditions: str) -> None:
    """Start a draft and choose its conditions on the step Design."""
    ada.starts(name, n_cases)
    ada.click("Next: Design")
    for label in conditions:
        ada.tick(label)


def _aid(ada: Coordinator, when: str) -> None:
    ada.page.get_by_role("heading", name="The model's answers", exact=True).wait_for()
    ada.choose(when)
    ada.fill("Model whose answers are shown", "Model A")


def _draw(ada: Coordinator) -> None:
    """Go through the remaining steps of a draft and draw."""
    for step in ("Reading rules", "Texts for readers", "Endpoint", "Review and draw"):
        ada.click(f"Next: {step}")
    ada.click("Draw the sample")
    ada.sees("Next: invite readers")


def _open(ada: Coordinator, readers: str, *, model: Path | None = MODEL) -> list[str]:
    """Invite readers, add the model and open the study; return the readers' codes."""
    ada.follow("Invite readers")
    codes = ada.invites(readers)
    ada.click("Next: open the study")
    if model:
        ada.sees("has no such model")
        ada.follow("Add the model")
        ada.adds_model(model, "Model A")
        ada.turn_to("Protocol")
    ada.opens()
    return codes


def _simulate(server: Server, study: str, *readers: str) -> None:
    for seed, reader in enumerate(readers):
        simulate(
            server.store,
            study=study,
            reader_id=reader,
            seed=seed,
            accuracy=0.7,
            follow=0.5,
            now=datetime.now(UTC),
        )


def _enter(profile: Profile, server: Server, code: str) -> Reader:
    reader = Reader(profile().new_page())
    reader.enter(server.url, code)
    return reader


def _case(reader: Reader, position: int) -> None:
    """Wait for a case, and resume on the way where the page announces another condition."""
    case = f"[data-state=ready][data-position='{position}']"
    paused = "[data-state=paused]"
    reader.page.wait_for_selector(f"{case}, {paused}")
    if reader.page.locator(paused).count():
        reader.page.keyboard.press("p")
        reader.page.wait_for_selector(case)


def _report(ada: Coordinator, server: Server, study: str) -> tuple[Rows, Rows]:
    """Close the study, see its results, and return the readings and raters of its bundle."""
    content = ada.closes(study)
    ada.turn_to("Results")
    ada.sees("What was studied")
    with zipfile.ZipFile(io.BytesIO(content)) as bundle:
        names = {Path(name).name: name for name in bundle.namelist()}
        tables = [
            list(csv.DictReader(io.TextIOWrapper(bundle.open(names[name]), "utf-8")))
            for name in ("readings.csv", "raters.csv")
        ]
    readers = {row["rater_id"] for row in tables[1] if row["rater_kind"] == "reader"}
    assert verify(server.store) == []
    return [row for row in tables[0] if row["rater_id"] in readers], tables[1]


def test_crossover_with_the_answer_of_the_model_first(
    server: Server, ada: Coordinator, profile: Profile
) -> None:
    """Two sessions; each reader reads every case once unaided and once aided."""
    study = "Crossover"
    _draft(ada, study, 4, "Aided")
    _aid(ada, "With the question")
    ada.fill("Sessions", "2", exact=True)
    ada.fill("Wash-out period", "0")
    cell = ada.page.get_by_role("gridcell", name="Unaided: 2, Aided: 2", include_hidden=True)
    cell.first.wait_for(state="attached")
    _draw(ada)
    codes = _open(ada, "reader_id,level\nR1,resident\nR2,resident\nR3,resident")
    reader = _enter(profile, server, codes[0])
    for position in (1, 2, 3, 4) * 2:  # in each session
        _case(reader, position)
        reader.answer("a")
    reader.wait("finished")
    _simulate(server, study, "R2", "R3")
    readings, _ = _report(ada, server, study)
    assert Counter((row["rater_id"], row["condition"]) for row in readings) == {
        (reader_id, condition): 4
        for reader_id in ("R1", "R2", "R3")
        for condition in ("unaided", "aided")
    }
    assert all((row["aid_answer"] != "") == (row["condition"] == "aided") for row in readings)
    assert all((row["aid_shown_ms"] != "") == (row["condition"] == "aided") for row in readings)


def test_sequential_reading_with_planted_errors(
    server: Server, ada: Coordinator, profile: Profile
) -> None:
    """Every case is answered twice, and readers learn of the planted errors at the end."""
    study = "Sequential"
    _draft(ada, study, 4, "Aided")
    _aid(ada, "After the reader's own answer")
    ada.fill("Planted errors", "1")
    _draw(ada)
    codes = _open(ada, "reader_id,level\nR1,resident\nR2,resident")
    reader = _enter(profile, server, codes[0])
    for position in range(1, 5):
        _case(reader, position)
        expect(reader.page.locator(SHOWN)).to_be_hidden()
        reader.answer("a")
        reader.page.wait_for_selector(f"[data-state=ready][data-position='{position}'] {SHOWN}")
        reader.page.wait_for_timeout(700)
        reader.page.keyboard.press("Enter")
    reader.wait("finished")
    expect(reader.page.locator(".rr-curtain")).to_contain_text("deliberately replaced by wrong")
    _simulate(server, study, "R2")
    readings, _ = _report(ada, server, study)
    assert Counter((row["rater_id"], row["stage"]) for row in readings) == {
        (reader_id, stage): 4 for reader_id in ("R1", "R2") for stage in ("1", "2")
    }
    assert {
        reader_id: len({row["item_id"] for row in readings if row["aid_planted"] == "1"})
        for reader_id in ("R1", "R2")
    } == {"R1": 1, "R2": 1}


def test_answer_of_the_model_on_demand(server: Server, ada: Coordinator, profile: Profile) -> None:
    """The time of the request is recorded; a case without a request has none."""
    study = "On demand"
    _draft(ada, study, 4, "Aided", "Unaided")
    _aid(ada, "On request")
    _draw(ada)
    codes = _open(ada, "reader_id,level\nR1,resident\nR2,resident")
    reader = _enter(profile, server, codes[0])
    for position in range(1, 5):
        _case(reader, position)
        expect(reader.page.locator(AID)).to_be_visible()
        if position % 2:
            reader.page.keyboard.press("Shift+M")
            reader.page.wait_for_selector(f"[data-position='{position}'] {SHOWN}")
            reader.wait_picture()
        reader.answer("b")
    reader.wait("finished")
    _simulate(server, study, "R2")
    readings, _ = _report(ada, server, study)
    shown = {
        row["position"]: row["aid_shown_ms"] != "" for row in readings if row["rater_id"] == "R1"
    }
    assert shown == {"1": True, "2": False, "3": True, "4": False}


def test_two_parallel_arms(server: Server, ada: Coordinator, profile: Profile) -> None:
    """Readers are randomised at the opening; only one arm sees the model's answers."""
    study = "Arms"
    _draft(ada, study, 3)
    ada.fill("Number of arms", "2")
    for place, (name, condition) in enumerate((("control", "Unaided"), ("with AI", "Aided"))):
        field = ada.page.get_by_role("textbox", name="Name of the arm").nth(place)
        field.fill(name)
        field.press("Tab")
        ada.fields += 1
        chosen = ada.page.get_by_role("combobox", name="Conditions").nth(place)
        ada.click(chosen)
        ada.click(ada.page.get_by_role("option", name=condition, exact=True))
        ada.page.keyboard.press("Escape")  # close the list of conditions
    _aid(ada, "With the question")
    _draw(ada)
    readers = "\n".join(f"R{n},resident" for n in range(1, 5))
    codes = _open(ada, f"reader_id,level\n{readers}")
    for code in codes[:2]:
        reader = _enter(profile, server, code)
        for position in range(1, 4):
            _case(reader, position)
            reader.answer("c")
        reader.wait("finished")
    _simulate(server, study, "R3", "R4")
    readings, raters = _report(ada, server, study)
    arm = {row["rater_id"]: row["arm"] for row in raters if row["rater_kind"] == "reader"}
    assert sorted(arm.values()) == ["control", "control", "with AI", "with AI"]
    shown = {"control": "unaided", "with AI": "aided"}
    assert all(row["condition"] == shown[arm[row["rater_id"]]] for row in readings)


def test_blocks_with_an_anchor_and_a_replaced_reader(
    server: Server, ada: Coordinator, profile: Profile
) -> None:
    """A late reader takes over the list of a reader who was withdrawn."""
    study = "Blocks"
    _draft(ada, study, 6)
    ada.fill("Readers per case", "2")
    ada.fill("Cases read by everyone", "2")
    _draw(ada)
    readers = "\n".join(f"R{n},resident" for n in range(1, 5))
    codes = _open(ada, f"reader_id,level\n{readers}", model=None)
    _simulate(server, study, "R1", "R3", "R4")
    reader = _enter(profile, server, codes[1])
    reader.wait("ready", 1)
    reader.answer("a")
    reader.wait("ready", 2)
    reader.wait_saved()
    ada.turn_to("Progress")
    ada.choose("Intervene")
    ada.choose("Withdraw a reader")
    ada.click(ada.page.get_by_role("combobox", name="Who"))
    ada.click(ada.page.get_by_role("option", name="R2"))
    ada.gives_reason("Left the hospital.", "Withdraw a reader")
    ada.sees("Done: Withdraw a reader (R2)")
    ada.turn_to("People")
    ada.click("Hide the codes")
    (code,) = ada.invites("reader_id,level\nR5,resident")
    late = _enter(profile, server, code)
    for position in range(1, 5):
        _case(late, position)
        late.answer("b")
    late.wait("finished")
    readings, _ = _report(ada, server, study)
    lists = {
        reader_id: {row["item_id"] for row in readings if row["rater_id"] == reader_id}
        for reader_id in ("R1", "R2", "R3", "R4", "R5")
    }
    assert lists["R2"] < lists["R5"]
    assert len(set.intersection(*(lists[f"R{n}"] for n in (1, 3, 4, 5)))) == 2
