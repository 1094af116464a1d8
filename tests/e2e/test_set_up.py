"""From an empty deployment to an open study in a browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from study.base.actor import COMMAND_LINE, Acting
from study.lifecycle import studies
from study.lifecycle.deployments import administrator_code, init
from study.lifecycle.drafts import listed
from study.people.codes import new_code
from study.people.invitations import Invitation
from study.protocol.protocol import read_protocol
from study.store.studies import study_row
from study.trail.verification import verify
from tests.conftest import NOW, entropy_from, write_bank
from tests.e2e.conftest import Reader
from tests.e2e.server import Server, free_port

pytestmark = pytest.mark.browser


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Server]:
    """Return a served deployment with an administrator only."""
    store = init(tmp_path / "store.db", entropy=entropy_from(1), now=NOW)
    code = administrator_code(store, name="ada", entropy=entropy_from(2), now=NOW)
    write_bank(tmp_path / "banks" / "chest")
    server = Server(store=store, codes={"ada": code}, port=free_port(), log=tmp_path / "app.log")
    server.start()
    yield server
    server.kill()


def _import(page: Page) -> None:
    page.get_by_role("link", name="Question banks").click()
    page.get_by_role("tab", name="From the server").click()
    page.get_by_label("Bank name").last.fill("Chest bank")
    page.get_by_role("button", name="Import", exact=True).last.click()
    page.get_by_text("24 questions").wait_for()


def _write(page: Page) -> None:
    """Start a draft and complete its steps, with a reload in the middle."""
    page.get_by_role("link", name="Draft a study").click()
    page.get_by_label("Study name", exact=True).fill("Residents")
    page.get_by_role("button", name="Start").click()
    page.get_by_text("Expected sample").wait_for()
    page.get_by_role("button", name="Next: Design").dblclick()  # one step only
    repeats = page.get_by_label("Hidden repeats", exact=True)
    repeats.fill("2")
    # The value that was typed is saved before the next step opens.
    page.get_by_role("button", name="Next: Reading rules").click()
    page.get_by_role("heading", name="Answering").wait_for()
    page.get_by_text("12 readings").or_(page.get_by_text("2 hidden repeats")).first.wait_for()
    page.reload()
    page.get_by_role("heading", name="Answering").wait_for()
    page.get_by_text("2 hidden repeats").wait_for()
    page.get_by_role("radio", name="After each case").click()
    page.get_by_text("would show a case").wait_for()
    page.get_by_role("radio", name="Never").click()
    page.get_by_text("Ready to draw").wait_for()
    for step in ("Texts for readers", "Endpoint", "Review and draw"):
        page.get_by_role("button", name=f"Next: {step}").click()
        page.get_by_role("heading", name=step).wait_for()


def test_a_study_is_set_up_in_an_empty_deployment(
    empty: Server, reader: Reader, tmp_path: Path
) -> None:
    """Bank, draft, protocol file, draw and opening need clicks only, and no breach is found."""
    page = reader.page
    reader.sign_in(empty.url, empty.codes["ada"])
    _import(page)
    _write(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the protocol").click()
    file = tmp_path / "protocol.toml"
    download.value.save_as(file)
    (draft,) = listed(empty.store)
    assert read_protocol(file).in_full() == draft.protocol_values
    page.get_by_role("button", name="Draw the sample").click()
    page.get_by_text("No readers have been invited yet").wait_for()
    studies.invite(
        empty.store,
        study="Residents",
        invitations=[Invitation(reader_id="R1")],
        codes=[new_code(entropy_from(5))],
        acting=Acting(by=COMMAND_LINE, now=NOW),
    )
    page.reload()
    opening = page.get_by_role("button", name="Open the study")
    opening.wait_for()
    opening.click()
    expect(page.get_by_text("Tick “I have read the protocol")).to_be_visible()
    page.get_by_test_id("stCheckbox").filter(has_text="I have read the protocol").click()
    opening.click()
    page.get_by_text("The protocol is locked").wait_for()
    with empty.store.look() as look:
        assert study_row(look, "Residents").state == "open"
    assert verify(empty.store) == []
