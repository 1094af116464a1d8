"""A required second factor is added with an app, and requested at the next sign-in."""

import time
from pathlib import Path

import pyotp
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from study.lifecycle.deployments import administrator_code, init
from study.people import second_factor
from tests.conftest import ACTING, NOW, entropy_from
from tests.e2e.conftest import other_entropy
from tests.e2e.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.thorough]


def _sign_in(page: Page, server: Server, code: str) -> None:
    page.goto(server.url)
    page.locator("[name=access_code]").fill(code)
    page.keyboard.press("Enter")


def _next_code(secret: str) -> str:
    """Return a code that was not used yet: that of the next step, which is accepted early."""
    return pyotp.TOTP(secret).at(int(time.time()) + second_factor.STEP_S)


def test_a_required_second_factor_is_added_and_requested(
    tmp_path: Path, context: BrowserContext, port: int
) -> None:
    """Until it is added, no other page opens; afterwards the access code alone is not enough."""
    store = init(tmp_path / "store.db", entropy=other_entropy(), now=NOW)
    codes: list[str] = []
    administrator_code(store, name="admin", entropy=entropy_from(3), now=NOW, deliver=codes.append)
    second_factor.set_policy(store, second_factor.Policy.ALWAYS, acting=ACTING)
    server = Server(store=store, codes={}, port=port, log=tmp_path / "app.log")
    server.start()
    try:
        page = context.new_page()
        _sign_in(page, server, codes[0])
        page.get_by_text("This server requires a second factor").wait_for()
        page.goto(f"{server.url}/deployment")
        page.get_by_text("This server requires a second factor").wait_for()
        expect(page.get_by_role("heading", name="Administration")).to_have_count(0)
        secret = page.locator("[data-testid=stCode]").inner_text().replace(" ", "").strip()
        page.get_by_label("Six-digit code").fill(pyotp.TOTP(secret).now())
        page.get_by_role("button", name="Add the second factor").click()
        page.get_by_text("Keep these recovery codes").wait_for()
        recovery = page.locator("[data-testid=stCode]").inner_text().split()
        assert len(recovery) == second_factor.N_RECOVERY_CODES
        page.get_by_role("button", name="Hide the recovery codes").click()
        page.get_by_text("10 recovery codes are left").wait_for()
        page.get_by_role("button", name="Sign out").click()

        _sign_in(page, server, codes[0])
        field = page.get_by_label("Code of your authenticator app")
        expect(field).to_be_focused()
        field.fill("000000")
        page.keyboard.press("Enter")
        page.get_by_text("This code is not correct or was already used").wait_for()
        field.fill(_next_code(secret))
        page.keyboard.press("Enter")
        page.get_by_text("admin, administrator").wait_for()
        assert {cookie["name"] for cookie in context.cookies(server.url)} >= {"reading_room"}
        assert "reading_room_pending" not in {c["name"] for c in context.cookies(server.url)}

        page.get_by_role("button", name="Sign out").click()
        _sign_in(page, server, codes[0])
        field.fill(recovery[0].lower())
        page.keyboard.press("Enter")
        page.get_by_text("admin, administrator").wait_for()
        page.get_by_role("link", name="Second factor").click()
        page.get_by_text("9 recovery codes are left").wait_for()
        assert secret not in server.log.read_text()
    finally:
        server.kill()
