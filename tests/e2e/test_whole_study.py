"""A coordinator runs a study in a browser, from an empty deployment to the exported files.

All steps use the pages, starting with the code of the first administrator. Clicks and fields are
counted to estimate the time that a person needs.
"""

import io
import re
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from study.lifecycle.deployments import administrator_code, init
from study.trail.verification import verify
from tests.conftest import NOW, ROOT, entropy_from
from tests.e2e.conftest import Profile, Reader, other_entropy
from tests.e2e.coordinator import Coordinator, wait_for_results
from tests.e2e.server import Server

pytestmark = pytest.mark.browser

STUDY = "Chest trial"
N_CASES, N_READERS = 3, 3
MOST_MINUTES = 20
MODEL = ROOT / "data" / "demo" / "models" / "simulated-model-a.json"


@pytest.fixture
def empty(tmp_path: Path, port: int) -> Iterator[Server]:
    """Return a served deployment with an administrator only."""
    store = init(tmp_path / "store.db", entropy=other_entropy(), now=NOW)
    code = administrator_code(store, name="ada", entropy=entropy_from(2), now=NOW)
    server = Server(store=store, codes={"ada": code}, port=port, log=tmp_path / "app.log")
    server.start()
    yield server
    server.kill()


def _sets_up(ada: Coordinator) -> None:
    """Import a bank, complete the steps of a draft, and preview it."""
    ada.follow("Import a bank")
    ada.click(ada.page.get_by_role("tab", name="Demo bank"))
    ada.click("Import the demo bank")
    ada.sees("Imported Demo bank")
    ada.follow("Draft a study")
    ada.starts(STUDY, N_CASES)
    ada.page.get_by_role("button", name="Next: Design").dblclick()  # one step only
    ada.clicks += 1
    ada.click("Next: Reading rules")
    # The value that was typed is saved before the next step opens, and survives a reload.
    ada.page.get_by_label("Practice cases", exact=True).fill("1")
    ada.fields += 1
    ada.click("Next: Texts for readers")
    ada.page.get_by_role("heading", name="Texts for readers").wait_for()
    ada.page.reload()
    ada.sees("plus 1 practice case")
    ada.click("Start from an example")
    ada.sees("Before you take part")
    ada.fill("Text (Markdown)", "# Consent\n\nApproved by the committee, number 7.")
    ada.sees("Approved by the committee, number 7.")
    ada.click("Next: Endpoint")
    ada.choose("Accuracy")
    ada.sees("The proportion of cases answered in agreement with the reference standard.")
    ada.click("Next: Review and draw")
    ada.follow("Preview as a reader")
    ada.page.wait_for_selector("[data-step='consent']")
    ada.click(ada.page.locator(".rr-banner").get_by_role("button", name="End preview"))
    ada.page.get_by_role("heading", name="Review and draw").wait_for()
    assert re.search(r"draft=\d", ada.page.url)
    ada.click(ada.page.get_by_role("button", name="Bank and sample"))
    ada.page.get_by_role("heading", name="Bank and sample").wait_for()
    rail = ada.page.locator(".st-key-rail button")
    for place, finished in enumerate((False, True, True, True, True, False)):
        step = expect(rail.nth(place))
        (step.to_contain_text if finished else step.not_to_contain_text)("check_circle")


def _opens(ada: Coordinator) -> list[str]:
    """Draw, invite three readers, and open the study; return the displayed access codes."""
    ada.turn_to("Studies")
    ada.click("Continue")
    ada.click(ada.page.get_by_role("button", name="Review and draw"))
    ada.click(ada.page.get_by_role("button", name="Draw the sample"))
    ada.sees("Next: invite readers")
    ada.click("Invite readers")
    codes = ada.invites("reader_id,level\nR1,resident\nR2,resident\nR3,senior")
    sheet = ada.download(ada.page.get_by_role("button", name="Save as CSV"))
    assert all(code in Path(sheet.path()).read_text("utf-8") for code in codes)
    ada.click("Next: open the study")
    ada.opens()
    return codes


def _begins(reader: Reader, server: Server, code: str) -> None:
    """Sign in with a code from the sheet, agree, and read the practice case."""
    reader.sign_in(server.url, code)
    reader.page.wait_for_selector("[data-step='consent']")
    reader.answer("1")
    reader.wait("ready", 0)
    reader.answer("a")
    reader.page.wait_for_selector("[data-feedback='true']")
    reader.page.keyboard.press("Enter")
    reader.page.wait_for_selector("[data-halt='begin']")
    reader.page.keyboard.press("p")


def _reads(reader: Reader, first: int, last: int) -> None:
    for position in range(first, last + 1):
        reader.wait("ready", position)
        reader.answer("abcd"[position % 4])
    reader.wait_saved()


def _watches(ada: Coordinator, second: Reader) -> None:
    """Check the progress, compose a reminder, pause and resume, and exclude a reading."""
    ada.follow("Follow progress")
    ada.sees(f"{N_CASES + 1} of {N_CASES * N_READERS}")
    ada.choose("Reminders")
    letter = ada.page.get_by_test_id("stCode")
    expect(letter).to_contain_text(f"You have read 1 of {N_CASES} cases")
    ada.choose("Intervene")
    ada.steps_in("Pause", "The network is down")
    second.page.reload()
    second.page.get_by_text("paused").first.wait_for()
    ada.steps_in("Resume", "It is back")
    second.page.reload()
    _reads(second, 2, N_CASES)
    ada.choose("Readings")
    ada.gives_reason("Answered by a visitor", "Exclude this reading")
    ada.sees("R1, position 1, is excluded.")


def _amends(ada: Coordinator) -> None:
    """Amend the protocol with a reason, and add a model."""
    ada.turn_to("Protocol")
    ada.click(ada.page.locator("summary", has_text="Amend the protocol"))
    changed = ada.page.get_by_role("combobox", name="What to change")
    ada.click(changed)
    changed.press_sequentially("wash")
    expect(ada.page.get_by_role("option")).to_have_count(1)
    changed.press("Enter")
    expect(ada.page.get_by_role("spinbutton", name="New value")).to_have_value("28")
    ada.fill("New value", "30")
    ada.fill("Reason", "The committee asked for it.")
    ada.click("Amend the protocol")
    ada.sees("Amended 1 time.")
    ada.turn_to("Models")
    ada.adds_model(MODEL, "Model A")


def _checks_that_accuracy_is_hidden(ada: Coordinator) -> None:
    ada.turn_to("Results")
    ada.sees("Accuracy is shown once the study is closed")
    expect(ada.page.get_by_role("radio", name="Accuracy")).to_have_count(0)


def _closes(ada: Coordinator) -> bytes:
    """Close the study permanently, check the results, and return the bundle."""
    content = ada.closes(STUDY)
    ada.turn_to("Results")
    wait_for_results(ada.page)
    expect(ada.page.get_by_role("radio", name="Accuracy")).to_be_visible()
    return content


def _verifies_and_backs_up(ada: Coordinator) -> None:
    """Search the audit trail, verify it, and make a backup."""
    ada.turn_to("Audit trail")
    ada.sees("events found")
    ada.click("Verify now")
    ada.page.get_by_test_id("stAlertContentSuccess").wait_for()
    ada.turn_to("Administration")
    ada.click("Make a backup now")
    ada.sees("Backup made; verification passed.")


def test_a_study_is_run_from_an_empty_deployment_to_its_export_files(
    empty: Server, profile: Profile, reader: Reader, record_property: Callable[[str, object], None]
) -> None:
    """Three readers read, one reading is excluded, and the protocol is amended, in the browser."""
    ada = Coordinator(reader.page)
    reader.sign_in(empty.url, empty.codes["ada"])
    ada.fields += 1
    _sets_up(ada)
    codes = _opens(ada)
    readers = [Reader(profile().new_page()) for _ in codes]
    for invited, code in zip(readers, codes, strict=True):
        _begins(invited, empty, code)
    _reads(readers[0], 1, N_CASES)
    _reads(readers[1], 1, 1)
    _watches(ada, readers[1])
    _reads(readers[2], 1, N_CASES)
    _amends(ada)
    _checks_that_accuracy_is_hidden(ada)
    bundle = _closes(ada)
    _verifies_and_backs_up(ada)
    with zipfile.ZipFile(io.BytesIO(bundle)) as inside:
        names = {Path(name).name for name in inside.namelist()}
    assert {"items.csv", "readings.csv", "raters.csv"} <= names
    assert len(empty.readings()) == N_CASES * N_READERS
    assert verify(empty.store) == []
    took_s = time.monotonic() - ada.began_s
    summary = f"{ada.clicks} clicks, {ada.fields} fields: {ada.minutes:.1f} min; ran {took_s:.0f} s"
    record_property("whole_study", summary)
    print(summary)
    assert ada.minutes < MOST_MINUTES
