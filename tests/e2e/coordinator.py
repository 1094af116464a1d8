"""A coordinator who uses the staff pages, for long journeys."""

import hashlib
import re
import time
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Download, Locator, Page, expect

from tests.e2e.prepared import still, upload

CLICK_S, FIELD_S = 5, 20
"""Time a person needs for a click and for a field, including finding it."""

RESULTS_MS = 300_000
"""How long to wait for results: the analysis runs at low priority alongside other processes."""


def wait_for_results(page: Page) -> None:
    """Wait until the page Results shows the findings."""
    page.get_by_text("What was studied").first.wait_for(timeout=RESULTS_MS)


@dataclass
class Coordinator:
    """A coordinator at a page; clicks and fields are counted."""

    page: Page
    clicks: int = 0
    fields: int = 0
    began_s: float = field(default_factory=time.monotonic)

    def click(self, target: Locator | str) -> None:
        """Click an element, or the button with a name, when the page has finished."""
        still(self.page)
        if isinstance(target, str):
            target = self.page.get_by_role("button", name=target, exact=True)
        target.click()
        self.clicks += 1

    def turn_to(self, page: str) -> None:
        """Open a page from the menu."""
        self.click(self.page.get_by_role("link", name=page, exact=True))

    def follow(self, link: str) -> None:
        """Follow a link of the page."""
        self.click(self.page.get_by_role("link", name=link, exact=True))

    def choose(self, option: str) -> None:
        """Choose one of several adjacent options."""
        self.click(self.page.get_by_role("radio", name=option, exact=True))

    def tick(self, label: str) -> None:
        """Tick or untick a box by the beginning of its label."""
        beginning = re.compile(f"^{re.escape(label)}")
        self.click(self.page.get_by_test_id("stCheckbox").filter(has_text=beginning))

    def fill(self, label: str, text: str, *, exact: bool = False) -> None:
        """Type into a field and leave it, when the page has finished."""
        still(self.page)
        box = self.page.get_by_role("textbox", name=label, exact=exact).or_(
            self.page.get_by_role("spinbutton", name=label, exact=exact)
        )
        box.fill(text)
        box.press("Tab")
        self.fields += 1

    def gives_reason(self, reason: str, act: str) -> None:
        """Type the reason into the form with the button of an act, press it and confirm."""
        button = self.page.get_by_role("button", name=act, exact=True)
        form = self.page.get_by_test_id("stForm").filter(has=button)
        form.get_by_role("textbox", name="Reason").fill(reason)
        self.fields += 1
        self.click(form.get_by_role("button", name=act, exact=True))
        still(self.page)
        # A double click confirms once.
        self.page.get_by_role("button", name="Yes", exact=True).dblclick()
        self.clicks += 1

    def sees(self, text: str) -> None:
        """Wait until the page shows a text."""
        self.page.get_by_text(text).first.wait_for()

    def download(self, link: Locator) -> Download:
        """Click a download and return it."""
        with self.page.expect_download() as waiting:
            self.click(link)
        return waiting.value

    def starts(self, name: str, n_cases: int) -> None:
        """Start a draft on the page New study, up to its number of cases."""
        self.fill("Study name", name)
        self.click("Start")
        self.sees("Expected sample")
        self.fill("Cases", str(n_cases))
        self.sees(f"{n_cases} cases")

    def invites(self, table: str) -> list[str]:
        """Invite readers on the page People by a list, and return their access codes."""
        self.click(self.page.get_by_role("tab", name="Invite several readers"))
        self.fill("Paste the list", table)
        self.click("Invite all")
        cards = self.page.locator(".cards .code")
        expect(cards).to_have_count(len(table.split("\n")) - 1)
        return cards.all_inner_texts()

    def opens(self) -> None:
        """Open the study on the page Protocol."""
        self.click(self.page.get_by_text("I have read the protocol"))
        self.click(self.page.get_by_role("button", name="Open the study"))
        self.sees("The protocol is locked")

    def adds_model(self, path: Path, model: str) -> None:
        """Upload predictions on the page Models."""
        upload(self.page, path)
        self.clicks += 3  # the button, the file, the button of the dialogue
        self.fill("Model", model)
        self.fill("Version", "1")
        self.click("Read the file")
        self.click("Save these predictions")
        self.sees(f"{model} was added")

    def steps_in(self, act: str, reason: str, reader: str = "") -> None:
        """Intervene for a reader or the whole study, on the part Intervene of the page Progress."""
        self.choose(act)
        # The list of readers is replaced before the button appears; an open list would be closed.
        self.page.get_by_role("button", name=act, exact=True).wait_for()
        if reader:
            self.click(self.page.get_by_role("combobox", name="Who"))
            self.click(self.page.get_by_role("option", name=reader))
        self.gives_reason(reason, act)
        self.sees(f"Done: {act} ({reader or 'the whole study'}).")

    def closes(self, study: str) -> bytes:
        """Close the study and return its bundle."""
        self.turn_to("Close and export")
        self.fill("Why is the study being closed?", "Every case is read.")
        self.fill("To confirm, type", study)
        self.click("Close the study permanently")
        self.sees("by ada: Every case is read.")
        self.click("Create the files")
        row = self.page.get_by_role("row").filter(has_text="bundle.zip")
        content = Path(self.download(row.get_by_role("link")).path()).read_bytes()
        expect(row).to_contain_text(hashlib.sha256(content).hexdigest())
        return content

    @property
    def minutes(self) -> float:
        """Time a person needs for the clicks and fields so far."""
        return (self.clicks * CLICK_S + self.fields * FIELD_S) / 60
