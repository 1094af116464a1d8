"""The report of every staff action is shown and focused near the button that was clicked."""

import json
import os
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

from study import demo
from study.people.roles import Role
from tests.conftest import NOW, entropy_from, write_bank
from tests.e2e.conftest import WITHIN_MS
from tests.e2e.prepared import prepare, rerun, rest, sign_in, upload
from tests.e2e.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

REPORT = "[class*='st-key-report-']"
NEAR_PX = 260
"""Maximum distance between a button and its report."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Return a server with content on every page."""
    folder = tmp_path_factory.mktemp("reports")
    write_bank(folder / "banks" / "chest")
    server = prepare(folder, entropy=entropy_from(1), now=NOW)
    server.start()
    yield server
    server.kill()


@dataclass
class Desk:
    """A staff member at a page."""

    page: Page
    server: Server

    def press(
        self, name: str, words: str, *, within: Locator | None = None, goes: bool = False
    ) -> Locator:
        """Press a button and return its report, which must be visible and focused.

        Parameters
        ----------
        goes
            The button disappears, and the report takes its place.
        """
        button = (within or self.page).get_by_role("button", name=name, exact=True)
        button = button.filter(visible=True).first
        button.scroll_into_view_if_needed()
        button.click()
        report = self.page.locator(REPORT).filter(has_text=words).filter(visible=True).first
        report.wait_for()
        rest(self.page)
        self._assert_visible(report, None if goes else button, words)
        if shots := os.environ.get("SHOTS"):
            name = re.sub(r"\W+", "-", f"{self.page.evaluate('innerWidth')} {name} {words}")
            self.page.screenshot(path=f"{shots}/{name}.png")
        return report

    def _assert_visible(self, report: Locator, button: Locator | None, words: str) -> None:
        # The script does not keep an element, because a second report with the same words replaces
        # it.
        self.page.wait_for_function(
            "([report, words]) => document.activeElement?.closest(report)"
            "?.textContent.toLowerCase().includes(words)",
            arg=[REPORT, words.lower()],
        )
        box, height = report.bounding_box(), self.page.evaluate("innerHeight")
        assert box, words
        assert 0 <= box["y"] < height, f"{words}: out of sight at {box}"
        assert box["y"] + min(box["height"], height / 2) <= height + 1, f"{words}: cut off at {box}"
        if button and button.count() and (at := button.bounding_box()):
            gap = max(box["y"] - at["y"] - at["height"], at["y"] - box["y"] - box["height"])
            assert gap <= NEAR_PX, f"{words}: {gap} px from its button"

    def open(self, path: str) -> None:
        """Open a page by its address."""
        self.page.goto(f"{self.server.url}/{path}")
        rest(self.page)

    def unfold(self, label: str) -> Locator:
        """Open an expander of the page and return it."""
        expander = self.page.get_by_test_id("stExpander").filter(has_text=label).first
        if expander.locator("details[open]").count() == 0:
            expander.locator("summary").click()
            rest(self.page)
        return expander

    def tab(self, label: str) -> None:
        """Select a tab of the page."""
        self.page.get_by_role("tab", name=label).click()
        rest(self.page)

    def fill(self, label: str, text: str, *, within: Locator | None = None) -> None:
        """Fill a text field and wait until the page has processed it."""
        field = (within or self.page).get_by_role("textbox", name=label).filter(visible=True)
        field.first.fill(text)
        field.first.press("Tab")
        rest(self.page)


@pytest.fixture(scope="module")
def desk(served: Server, browser: Browser) -> Iterator[Desk]:
    """Return an administrator at the demo study, in a small window that would cut off reports."""
    size: ViewportSize = {"width": 1180, "height": 820}
    context = browser.new_context(viewport=size, timezone_id="Europe/Berlin")
    context.set_default_timeout(WITHIN_MS)
    page = context.new_page()
    sign_in(page, served, Role.ADMINISTRATOR)
    yield Desk(page, served)
    context.close()


def test_messages_about_banks_appear_near_their_buttons(desk: Desk, tmp_path: Path) -> None:
    """Teaching, a refused import, imports from a file and a folder, and the demo bank are tried."""
    size = desk.page.evaluate("innerWidth")
    desk.open("banks")
    desk.press("Save", "Saved", within=desk.unfold("Teaching"))
    desk.press("Import", "Choose a ZIP file")
    faulty, sound = tmp_path / "faulty.zip", tmp_path / "sound.zip"
    _zipped(write_bank(tmp_path / "faulty"), faulty, spoil=True)
    _zipped(write_bank(tmp_path / "sound"), sound, spoil=False)
    upload(desk.page, faulty)
    desk.press("Import", "“Bank name” is empty")
    desk.fill("Bank name", f"Faulty {size}")
    desk.press("Import", "question has errors")
    upload(desk.page, sound)
    desk.fill("Bank name", f"Sound {size}")
    desk.press("Import", f"Imported Sound {size}")
    desk.tab("From the server")
    desk.fill("Bank name", "Chest")
    desk.press("Import", "Imported Chest")
    desk.tab("Demo bank")
    desk.press("Import the demo bank", "Demo bank")
    removal = desk.unfold("Remove a bank")
    desk.press("Remove", "This cannot be undone", within=removal)
    desk.press("No", "Nothing was changed")


def _zipped(bank: Path, archive: Path, *, spoil: bool) -> None:
    with zipfile.ZipFile(archive, "w") as archive_file:
        for path in bank.parent.rglob("*"):
            if path == bank and spoil:
                items = json.loads(path.read_text())
                first = next(iter(items.values())) if isinstance(items, dict) else items[0]
                first["options"] = []
                archive_file.writestr(path.name, json.dumps(items))
            elif path.is_file():
                archive_file.write(path, path.relative_to(bank.parent))


def test_messages_about_models_appear_near_their_buttons(desk: Desk, tmp_path: Path) -> None:
    """An invalid file is refused, and a table whose columns must be specified is saved."""
    size = desk.page.evaluate("innerWidth")
    desk.open("models")
    desk.press("Read the file", "Choose a file")
    garbage = tmp_path / "garb.json"
    garbage.write_text("no JSON")
    upload(desk.page, garbage)
    desk.press("Read the file", "“Model” is empty")
    desk.fill("Model", f"m{size}")
    desk.press("Read the file", "garb.json")
    with desk.server.store.look() as look:
        ids = [
            row["item_id"]
            for row in look.rows(
                "SELECT item_id FROM cases JOIN items ON items.id = item "
                "JOIN studies ON studies.id = study WHERE studies.name = :name",
                name=demo.DEMO_STUDY,
            )
        ]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(["Fall,Antwort", *(f"{item_id},A" for item_id in ids)]))
    upload(desk.page, table)
    desk.press("Read the file", "could not be recognised", goes=True)
    for label, column in (("Case ID", "Fall"), ("Answer or model output", "Antwort")):
        desk.page.get_by_role("combobox", name=re.compile(label)).click()
        desk.page.get_by_role("option", name=column).click()
        rest(desk.page)
    desk.press("Read the file", "Nothing has been saved yet", goes=True)
    desk.press("Save these predictions", f"m{size} was added", goes=True)
    card = desk.unfold("Model card")
    desk.press("Save the card", "is saved", within=card)
    withdrawal = desk.unfold("Withdraw a model")
    desk.press("Withdraw this model", "Give a reason", within=withdrawal)


def test_new_codes_are_shown_until_they_are_hidden(desk: Desk) -> None:
    """Each invitation adds its card, and other pages do not remove them."""
    size = desk.page.evaluate("innerWidth")
    page = desk.page
    desk.open("people")
    desk.press("Invite", "“Reader ID” is empty")
    desk.fill("Reader ID", f"A{size}")
    desk.press("Invite", "1 reader was invited")
    cards = page.locator(".cards li")
    expect(cards).to_have_count(1)
    desk.tab("Invite several readers")
    desk.press("Invite all", "Paste a list or choose a file")
    desk.fill("Paste the list", "Anna Miller\nBen Baker")
    desk.press("Invite all", "reader_id")
    desk.fill("Paste the list", f"reader_id\nB{size}\nC{size}")
    desk.press("Invite all", "2 readers were invited")
    expect(cards).to_have_count(3)
    expect(page.locator(".cards .until").first).to_contain_text("(Europe/Berlin)")
    page.get_by_role("link", name="Protocol", exact=True).click()
    rest(page)
    page.get_by_role("link", name="People", exact=True).click()
    rest(page)
    expect(cards).to_have_count(3)
    box = cards.first.bounding_box()
    assert box
    assert box["y"] < page.evaluate("innerHeight")
    team = desk.unfold("Assign a role in this study")
    desk.press("Assign role", "“Short name” is empty", within=team)
    desk.fill("Short name", f"s{size}", within=team)
    desk.press("Assign role", "has been given the role", within=team)
    expect(cards).to_have_count(4)
    row = page.locator(".st-key-rows-readers [data-testid=stHorizontalBlock]").filter(
        has_text=f"B{size}"
    )
    desk.press("New code", "any earlier one no longer works", within=row)
    expect(cards).to_have_count(4)
    with rerun(page):
        page.get_by_role("button", name="Hide the codes").click()
    expect(cards).to_have_count(0)


def test_messages_about_reviews_and_closing_appear_near_their_buttons(desk: Desk) -> None:
    """Reviewers get access codes, a review is started, and the study is closed."""
    size = desk.page.evaluate("innerWidth")
    page = desk.page
    desk.open("bank-review?bank=1")
    people = desk.unfold("Reviewers and their access codes")
    desk.press("Assign role", "“Short name” is empty", within=people)
    desk.fill("Short name", f"r{size}", within=people)
    desk.press("Assign role", "has been given the role", within=people)
    expect(page.locator(".cards li")).to_have_count(1)
    new = desk.unfold("New review")
    desk.press("Start the review", "“Name of the review” is empty", within=new)
    desk.fill("Name of the review", f"Review {size}", within=new)
    desk.press("Start the review", "reviewer", within=new)
    expect(page.locator(".cards li")).to_have_count(1)
    desk.open("archive")
    desk.press("Close the study permanently", "Give a reason")
    desk.fill("To confirm, type", demo.DEMO_STUDY)
    desk.press("Close the study permanently", "Give a reason")
    suffix = " again" if page.get_by_text("Create the files again").count() else ""
    desk.press(f"Create the files{suffix}", "The files have been created")
