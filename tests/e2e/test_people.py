"""Invitation and revocation of a reader by a coordinator, in a browser."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Page

from study.lifecycle.deployments import administrator_code
from tests.conftest import entropy_from
from tests.e2e.conftest import Profile, Reader
from tests.e2e.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
Serve = Callable[..., Server]


def test_a_reader_is_invited_by_a_link_and_revoked_at_once(
    serve: Serve, reader: Reader, profile: Profile, tmp_path: Path
) -> None:
    """A double click invites once, and only the codes are printed."""
    server = serve()
    page = reader.page
    reader.sign_in(server.url, server.codes["coordinator"])
    page.get_by_role("link", name="People").click()
    page.get_by_role("textbox", name="Reader ID").fill("R7")
    page.get_by_role("button", name="Invite", exact=True).dblclick()
    page.get_by_role("button", name="Print the sheet").wait_for()
    assert page.locator(".cards li").count() == 1
    assert page.get_by_text("already invited").count() == 0
    _keep_codes_until_hidden(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as CSV").click()
    file = tmp_path / "codes.csv"
    download.value.save_as(file)
    link = file.read_text(encoding="utf-8-sig").splitlines()[1].split(",")[2].strip('"')
    page.emulate_media(media="print")
    page.locator(".cards svg").wait_for()
    assert not page.get_by_role("heading", name="Readers").is_visible()
    assert not page.get_by_role("button", name="Print the sheet").is_visible()
    page.emulate_media(media="screen")
    guest = Reader(profile().new_page())
    guest.page.goto(link)
    guest.page.wait_for_function("location.hash === ''")
    guest.page.wait_for_function(
        "document.activeElement?.shadowRoot?.activeElement?.value.length === 19"
    )
    guest.page.keyboard.press("Enter")
    guest.wait("ready", 1)
    guest.page.get_by_text("Reader R7").wait_for()
    assert link.partition("#code=")[2] not in server.log.read_text()
    page.get_by_role("button", name="More").nth(1).click()
    page.get_by_role("textbox", name="Reason").fill("left the hospital")
    page.get_by_role("button", name="Revoke now").click()
    page.get_by_text("revoked").wait_for()
    guest.page.goto(server.url)
    guest.page.wait_for_selector("[name=access_code]")
    assert guest.page.evaluate("fetch('desk').then(answer => answer.status)") == 401
    _use_a_readers_link_as_administrator(server, guest)


def _keep_codes_until_hidden(page: Page) -> None:
    """Check that codes outlive a reload, and that the page asks before a sign-out loses them."""
    code = page.locator(".cards li").inner_text()
    page.reload()
    assert page.locator(".cards li").inner_text() == code
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.get_by_role("button", name="Sign out").click()
    assert page.locator(".cards li").inner_text() == code


def _use_a_readers_link_as_administrator(server: Server, guest: Reader) -> None:
    """Check that a reader's link asks a signed-in administrator to sign out first.

    The code is removed from the address.
    """
    now = datetime.now(UTC)
    code = administrator_code(server.store, name="A", entropy=entropy_from(5), now=now)
    page = guest.page
    guest.sign_in(server.url, code)
    page.get_by_role("button", name="Enter trial").click()
    page.get_by_role("heading", name="Progress").first.wait_for()
    page.goto("about:blank")
    page.goto(f"{server.url}/#code={server.codes['R1']}")
    page.get_by_text("Sign out first").wait_for()
    assert "code" not in page.url
