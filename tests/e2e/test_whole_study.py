"""A new coordinator's whole study in a real browser: from an empty deployment to files in hand.

Nothing is done behind the screens: the code of the first administrator is all there is. What is
clicked and typed is counted, so that it can be told how long a person needs.
"""

import hashlib
import io
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Download, Locator, Page, expect

from study.lifecycle.deployments import administrator_code, init
from study.trail.verification import verify
from tests.conftest import NOW, ROOT, entropy_from
from tests.e2e.conftest import Profile, Reader
from tests.e2e.prepared import still
from tests.e2e.server import Server, free_port

pytestmark = pytest.mark.browser

STUDY = "Chest trial"
N_CASES, N_READERS = 3, 3
CLICK_S, FIELD_S = 5, 20
MOST_MINUTES = 20
MODEL = ROOT / "data" / "demo" / "models" / "simulated-model-a.json"


@dataclass
class Coordinator:
    """Somebody at the screens: finds what is named on them, and counts what it takes."""

    page: Page
    clicks: int = 0
    fields: int = 0
    began_s: float = field(default_factory=time.monotonic)

    def click(self, what: Locator | str) -> None:
        """Click a button by its name, or what is given, once the page has come to rest."""
        still(self.page)
        found = (
            self.page.get_by_role("button", name=what, exact=True)
            if isinstance(what, str)
            else what
        )
        found.click()
        self.clicks += 1

    def turn_to(self, page: str) -> None:
        """Go to a page by the menu."""
        self.click(self.page.get_by_role("link", name=page, exact=True))

    def follow(self, link: str) -> None:
        """Follow a link on the page that leads on."""
        self.click(self.page.get_by_role("link", name=link, exact=True))

    def choose(self, option: str) -> None:
        """Choose one of several side by side."""
        self.click(self.page.get_by_role("radio", name=option, exact=True))

    def fill(self, label: str, text: str) -> None:
        """Type into a field, and leave it, once the page has come to rest."""
        still(self.page)
        found = self.page.get_by_role("textbox", name=label).or_(
            self.page.get_by_role("spinbutton", name=label)
        )
        found.fill(text)
        found.press("Tab")
        self.fields += 1

    def gives_reason(self, reason: str, act: str) -> None:
        """Type the reason into the form that has the act's button, do it, and say yes."""
        button = self.page.get_by_role("button", name=act, exact=True)
        form = self.page.get_by_test_id("stForm").filter(has=button)
        form.get_by_role("textbox", name="Reason").fill(reason)
        self.fields += 1
        self.click(form.get_by_role("button", name=act, exact=True))
        self.click("Yes")

    def sees(self, text: str) -> None:
        """Wait until something is told."""
        self.page.get_by_text(text).first.wait_for()

    def download(self, what: Locator) -> Download:
        """Click a download and return it."""
        with self.page.expect_download() as waiting:
            self.click(what)
        return waiting.value

    @property
    def minutes(self) -> float:
        """What a person needs for this, looking for each thing before doing it."""
        return (self.clicks * CLICK_S + self.fields * FIELD_S) / 60


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Server]:
    """Return a served deployment with an administrator and nothing else."""
    store = init(tmp_path / "store.db", entropy=entropy_from(1), now=NOW)
    code = administrator_code(store, name="ada", entropy=entropy_from(2), now=NOW)
    server = Server(store=store, codes={"ada": code}, port=free_port(), log=tmp_path / "app.log")
    server.start()
    yield server
    server.kill()


def _sets_up(ada: Coordinator) -> None:
    """Bring in a bank, write the draft step by step, preview it and come back to it."""
    ada.follow("Import a bank")
    ada.click(ada.page.get_by_role("tab", name="Demo bank"))
    ada.click("Import the demo bank")
    ada.sees("Imported Demo bank")
    ada.follow("Draft a study")
    ada.fill("Study name", STUDY)
    ada.click("Start")
    ada.sees("Expected sample")
    ada.fill("Cases", str(N_CASES))
    ada.sees(f"{N_CASES} cases")
    ada.click("Next: Design")
    ada.click("Next: Reading rules")
    ada.fill("Practice cases", "1")
    ada.sees("plus 1 practice case")
    ada.click("Next: Texts for readers")
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


def _opens(ada: Coordinator) -> list[str]:
    """Draw, invite three readers, and open; return the readers' codes as the sheet shows them."""
    ada.turn_to("Studies")
    ada.click("Continue")
    ada.click(ada.page.get_by_role("button", name="Review and draw"))
    ada.click(ada.page.get_by_role("button", name="Draw the sample"))
    ada.sees("Next: invite readers")
    ada.follow("Invite readers")
    ada.click(ada.page.get_by_role("tab", name="Invite several readers"))
    ada.fill("Paste the list", "reader_id,level\nR1,resident\nR2,resident\nR3,senior")
    ada.click("Invite all")
    cards = ada.page.locator(".cards .code")
    expect(cards).to_have_count(N_READERS)
    codes = cards.all_inner_texts()
    sheet = ada.download(ada.page.get_by_role("button", name="Save as CSV"))
    assert all(code in Path(sheet.path()).read_text("utf-8") for code in codes)
    ada.click("Next: open the study")
    ada.click(ada.page.get_by_text("I have read the protocol"))
    ada.click(ada.page.get_by_role("button", name="Open the study"))
    ada.sees("The protocol is locked")
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


def _steps_in(ada: Coordinator, what: str, reason: str) -> None:
    ada.choose(what)
    ada.gives_reason(reason, what)
    ada.sees(f"Done: {what} (the whole study).")


def _watches(ada: Coordinator, second: Reader) -> None:
    """See who has read how much, remind, pause and resume, and set one reading aside."""
    ada.follow("Follow progress")
    ada.sees(f"{N_CASES + 1} of {N_CASES * N_READERS}")
    ada.choose("Reminders")
    letter = ada.page.get_by_test_id("stCode")
    expect(letter).to_contain_text(f"You have read 1 of {N_CASES} cases")
    ada.choose("Intervene")
    _steps_in(ada, "Pause", "The network is down")
    second.page.reload()
    second.page.get_by_text("paused").first.wait_for()
    _steps_in(ada, "Resume", "It is back")
    second.page.reload()
    _reads(second, 2, N_CASES)
    ada.choose("Readings")
    ada.gives_reason("Answered by a visitor", "Exclude this reading")
    ada.sees("R1, position 1, is excluded.")


def _amends(ada: Coordinator) -> None:
    """Change what may be changed, with a reason, and add a model."""
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
    ada.page.locator("input[type=file]").set_input_files(MODEL)
    ada.clicks += 3  # the button, the file, the dialogue's own button
    ada.fill("Model", "Model A")
    ada.fill("Version", "1")
    ada.click("Read the file")
    ada.click("Save these predictions")
    ada.sees("Model A was added")


def _sees_no_accuracy(ada: Coordinator) -> None:
    ada.turn_to("Results")
    ada.sees("Accuracy is shown once the study is closed")
    expect(ada.page.get_by_role("radio", name="Accuracy")).to_have_count(0)


def _closes(ada: Coordinator) -> bytes:
    """Close the study for good, see the results, and return the bundle."""
    ada.turn_to("Close and export")
    ada.fill("Why is the study being closed?", "Every case is read.")
    ada.fill("To confirm, type", STUDY)
    ada.click("Close the study permanently")
    ada.sees("by ada: Every case is read.")
    ada.click("Create the files")
    row = ada.page.get_by_role("row").filter(has_text="bundle.zip")
    content = Path(ada.download(row.get_by_role("link")).path()).read_bytes()
    expect(row).to_contain_text(hashlib.sha256(content).hexdigest())
    ada.turn_to("Results")
    ada.sees("What was studied")
    expect(ada.page.get_by_role("radio", name="Accuracy")).to_be_visible()
    return content


def _leaves_it_safe(ada: Coordinator) -> None:
    """Find the acts in the trail, verify it, and make a backup."""
    ada.turn_to("Audit trail")
    ada.sees("events found")
    ada.click("Verify now")
    ada.page.get_by_test_id("stAlertContentSuccess").wait_for()
    ada.turn_to("Administration")
    ada.click("Make a backup now")
    ada.sees("Backup made; verification passed.")


def test_from_an_empty_deployment_to_a_closed_study_with_its_files(
    empty: Server, profile: Profile, reader: Reader, record_property: Callable[[str, object], None]
) -> None:
    """Three readers read, one reading is excluded, the protocol amended; all in the browser."""
    ada = Coordinator(reader.page)
    reader.sign_in(empty.url, empty.codes["ada"])
    ada.fields += 1
    _sets_up(ada)
    codes = _opens(ada)
    readers = [Reader(profile().new_page()) for _ in codes]
    for one, code in zip(readers, codes, strict=True):
        _begins(one, empty, code)
    _reads(readers[0], 1, N_CASES)
    _reads(readers[1], 1, 1)
    _watches(ada, readers[1])
    _reads(readers[2], 1, N_CASES)
    _amends(ada)
    _sees_no_accuracy(ada)
    bundle = _closes(ada)
    _leaves_it_safe(ada)
    with zipfile.ZipFile(io.BytesIO(bundle)) as inside:
        names = {Path(name).name for name in inside.namelist()}
    assert {"items.csv", "readings.csv", "raters.csv"} <= names
    assert len(empty.readings()) == N_CASES * N_READERS
    assert verify(empty.store) == []
    took_s = time.monotonic() - ada.began_s
    told = f"{ada.clicks} clicks, {ada.fields} fields: {ada.minutes:.1f} min; ran {took_s:.0f} s"
    record_property("whole_study", told)
    print(told)
    assert ada.minutes < MOST_MINUTES
