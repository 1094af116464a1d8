"""Two studies that combine several designs: set up in the browser, read, closed and reported.

The coordinator works on the staff pages only. Some readers read in a browser, the others are
simulated. Both studies share one server and the demo's question bank. `test_aided` reads crossover
studies in a browser.
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

from study.bank.importing import SIMULATED_OPTIONS, import_bank
from study.base.actor import COMMAND_LINE, Acting
from study.lifecycle.deployments import administrator_code, init
from study.reading.simulation import simulate
from study.store import people
from study.store.studies import study_row
from study.trail.verification import verify
from tests.conftest import ROOT, entropy_from
from tests.e2e.conftest import Profile, Reader, other_entropy
from tests.e2e.coordinator import Coordinator, wait_for_results
from tests.e2e.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

DEMO = ROOT / "data" / "demo"
MODEL = DEMO / "models" / "simulated-model-a.json"
AID = "[data-label=aid]"
SHOWN = f"{AID}[data-state=shown]"
AID_TIMED = r"Object.values(localStorage).some((kept) => /aidShown_ms[^,]*\d/.test(kept))"
"""The page has noted when the aid was painted, some frames after it was shown."""
Rows = list[dict[str, str]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, port: int) -> Iterator[Server]:
    """Return a served deployment with an administrator and the demo's bank."""
    folder = tmp_path_factory.mktemp("designs")
    now = datetime.now(UTC)
    store = init(folder / "store.db", entropy=other_entropy(), now=now)
    code = administrator_code(store, name="ada", entropy=entropy_from(2), now=now)
    import_bank(
        store,
        DEMO / "bank.json",
        name="Demo bank",
        images=DEMO,
        options=SIMULATED_OPTIONS,
        acting=Acting(by=COMMAND_LINE, now=now),
    )
    served = Server(store=store, codes={"ada": code}, port=port, log=folder / "app.log")
    served.start()
    yield served
    served.kill()


@pytest.fixture
def ada(server: Server, profile: Profile) -> Coordinator:
    """Return a coordinator at the page New study."""
    page = profile().new_page()
    page.set_viewport_size({"width": 1440, "height": 900})
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


def _open(ada: Coordinator, readers: str) -> list[str]:
    """Invite readers, add the model and open the study; return the readers' codes."""
    ada.click("Invite readers")
    codes = ada.invites(readers)
    ada.click("Next: open the study")
    ada.sees("has no such model")
    ada.click("Add the model")
    ada.adds_model(MODEL, "Model A")
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
    """Wait for a case, and continue if the page announces another condition."""
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
    wait_for_results(ada.page)
    with zipfile.ZipFile(io.BytesIO(content)) as bundle:
        names = {Path(name).name: name for name in bundle.namelist()}
        tables = [
            list(csv.DictReader(io.TextIOWrapper(bundle.open(names[name]), "utf-8")))
            for name in ("readings.csv", "raters.csv")
        ]
    readers = {row["rater_id"] for row in tables[1] if row["rater_kind"] == "reader"}
    assert verify(server.store) == []
    return [row for row in tables[0] if row["rater_id"] in readers], tables[1]


def _reads_in_stages(reader: Reader, n_cases: int) -> None:
    """Answer every case before and after the model's answer is shown."""
    for position in range(1, n_cases + 1):
        _case(reader, position)
        expect(reader.page.locator(SHOWN)).to_be_hidden()
        reader.answer("a")
        reader.page.wait_for_selector(f"[data-state=ready][data-position='{position}'] {SHOWN}")
        reader.page.wait_for_timeout(700)
        reader.page.keyboard.press("Enter")
    reader.wait("finished")


def test_sequential_reading_with_planted_errors_in_one_of_two_arms(
    server: Server, ada: Coordinator, profile: Profile
) -> None:
    """Readers are randomised at the opening; one arm sees the model's answers and is debriefed."""
    study = "Arms"
    _draft(ada, study, 4)
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
    _aid(ada, "After the reader's own answer")
    ada.fill("Planted errors", "1")
    _draw(ada)
    readers = "\n".join(f"R{n},resident" for n in range(1, 5))
    codes = _open(ada, f"reader_id,level\n{readers}")
    with server.store.look() as look:
        rows = people.readers(look, study_row(look, study).id)
    arm = {row.reader_id: row.arm for row in rows}
    assert sorted(arm.values()) == ["control", "control", "with AI", "with AI"]
    for reader_id, code in (("R1", codes[0]), ("R2", codes[1])):
        reader = _enter(profile, server, code)
        if arm[reader_id] == "with AI":
            _reads_in_stages(reader, 4)
        else:
            for position in range(1, 5):
                _case(reader, position)
                reader.answer("c")
            reader.wait("finished")
        text = reader.page.locator(".rr-curtain").inner_text()
        assert ("deliberately replaced by wrong" in text) == (arm[reader_id] == "with AI")
    _simulate(server, study, "R3", "R4")
    readings, raters = _report(ada, server, study)
    assert arm == {row["rater_id"]: row["arm"] for row in raters if row["rater_kind"] == "reader"}
    stages = {"control": {("unaided", ""): 4}, "with AI": {("unaided", "1"): 4, ("aided", "2"): 4}}
    for reader_id, own_arm in arm.items():
        own_rows = [row for row in readings if row["rater_id"] == reader_id]
        assert Counter((row["condition"], row["stage"]) for row in own_rows) == stages[own_arm]
        planted = {row["item_id"] for row in own_rows if row["aid_planted"] == "1"}
        assert len(planted) == (own_arm == "with AI")


def test_answers_on_demand_in_blocks_with_an_anchor_and_a_replaced_reader(
    server: Server, ada: Coordinator, profile: Profile
) -> None:
    """A late reader takes over the list of a reader who left; the time of a request is recorded."""
    study = "Blocks"
    _draft(ada, study, 6, "Aided", "Unaided")
    _aid(ada, "On request")
    ada.fill("Readers per case", "2")
    ada.fill("Cases read by everyone", "2")
    _draw(ada)
    readers = "\n".join(f"R{n},resident" for n in range(1, 5))
    codes = _open(ada, f"reader_id,level\n{readers}")
    _simulate(server, study, "R1", "R3", "R4")
    reader = _enter(profile, server, codes[1])
    reader.wait("ready", 1)
    reader.answer("a")
    reader.wait("ready", 2)
    reader.wait_saved()
    ada.turn_to("Progress")
    ada.choose("Intervene")
    ada.steps_in("Withdraw a reader", "Left the hospital.", "R2")
    ada.turn_to("People")
    ada.click("Hide the codes")
    (code,) = ada.invites("reader_id,level\nR5,resident")
    late = _enter(profile, server, code)
    for position in range(1, 5):
        _case(late, position)
        expect(late.page.locator(AID)).to_be_visible()
        if position % 2:
            late.page.keyboard.press("Shift+M")
            late.page.wait_for_selector(f"[data-position='{position}'] {SHOWN}")
            late.page.wait_for_function(AID_TIMED)
        late.answer("b")
    late.wait("finished")
    readings, _ = _report(ada, server, study)
    lists = {
        reader_id: {row["item_id"] for row in readings if row["rater_id"] == reader_id}
        for reader_id in ("R1", "R2", "R3", "R4", "R5")
    }
    assert lists["R2"] < lists["R5"]
    assert len(set.intersection(*(lists[f"R{n}"] for n in (1, 3, 4, 5)))) == 2
    shown = {
        row["position"]: row["aid_shown_ms"] != "" for row in readings if row["rater_id"] == "R5"
    }
    assert shown == {"1": True, "2": False, "3": True, "4": False}
