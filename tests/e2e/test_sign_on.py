"""Single sign-on with a provider on this machine, in a browser."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page

from study.lifecycle.deployments import init
from study.people import codes, persons
from study.people.persons import Newcomer
from study.people.roles import Role
from tests.conftest import ACTING, NOW, entropy_from
from tests.e2e.conftest import other_entropy
from tests.e2e.server import Server, free_port, tick

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

USERS = (
    {"sub": "carla", "email": "Carla@example.org", "email_verified": True},
    {"sub": "mallory", "email": "carla@example.org", "email_verified": False},
    {"sub": "stranger", "email": "stranger@example.org", "email_verified": True},
    {"sub": "gina", "email": "gina@example.org", "email_verified": True, "groups": ["research"]},
)

SECRETS = """
[auth]
redirect_uri = "{url}/oauth2callback"
cookie_secret = "for this test only, with more than 32 characters"

[auth.hospital]
client_id = "reading-room"
client_secret = "not asked for"
server_metadata_url = "{provider}/.well-known/openid-configuration"
client_kwargs = {{ timeout = 60 }}

[roles.hospital]
issuer = "{provider}"
groups = {{ research = "coordinator" }}
"""
"""Streamlit signs out without the provider if that takes longer than the timeout (default: 5 s)."""


@contextmanager
def _provider(log: Path) -> Iterator[str]:
    """Run a provider in a separate process and yield its address."""
    port = free_port()
    users = [part for user in USERS for part in ("--user-claims", json.dumps(user))]
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), *users]
    with log.open("wb") as log_file:
        process = subprocess.Popen(command, stdout=log_file, stderr=log_file)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{address}/.well-known/openid-configuration", timeout=1)
                break
            except OSError:
                assert process.poll() is None, log.read_text()
                tick()
        yield address
    finally:
        process.kill()
        process.wait(20)


@pytest.fixture
def hospital(tmp_path: Path, port: int) -> Iterator[Server]:
    """Return an app with a hospital's provider, whose coordinator is Carla."""
    store = init(tmp_path / "store.db", entropy=other_entropy(), now=NOW)
    persons.grant_role(
        store,
        Newcomer(handle="carla", role=Role.COORDINATOR, email="carla@example.org"),
        study="",
        code=codes.new_code(entropy_from(2)),
        acting=ACTING,
    )
    secrets = tmp_path / "secrets.toml"
    server = Server(store=store, codes={}, port=port, log=tmp_path / "app.log", secrets=secrets)
    with _provider(tmp_path / "provider.log") as address:
        secrets.write_text(SECRETS.format(url=server.url, provider=address))
        server.start()
        yield server
        server.kill()


def _sign_on(page: Page, server: Server, reader_id: str) -> None:
    page.goto(server.url)
    page.get_by_role("button", name="Sign in with hospital").click()
    page.get_by_role("button", name=reader_id, exact=True).click()


def test_only_a_registered_account_or_group_can_sign_in(
    hospital: Server, context: BrowserContext
) -> None:
    """Unverified and unknown addresses are refused. Signing out ends the provider's session too.

    A group gives the role of coordinator.
    """
    page = context.new_page()
    for account in ("mallory", "stranger"):
        context.clear_cookies()
        _sign_on(page, hospital, account)
        page.get_by_text("The account you signed in with is not registered here").wait_for()
        page.wait_for_selector("[name=access_code]")
        with hospital.store.look() as look:
            assert look.value("SELECT count(*) FROM identities") == 0
            assert look.value("SELECT count(*) FROM sign_ins") == 0
    context.clear_cookies()
    for _ in range(2):
        _sign_on(page, hospital, "carla")
        page.get_by_role("heading", name="Studies").wait_for()
        page.get_by_text("carla, coordinator").wait_for()
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url("**/oauth2/end_session**")
        assert {cookie["name"] for cookie in context.cookies(hospital.url)} & {
            "reading_room",
            "_streamlit_user",
        } == set()
    with hospital.store.look() as look:
        assert look.value("SELECT count(*) FROM identities") == 1
        assert look.value("SELECT count(*) FROM tickets") == 0
        trail = look.rows("SELECT kind, detail FROM events WHERE kind = 'identity bound'")
    assert len(trail) == 1
    assert "example.org" not in trail[0]["detail"]
    assert "example.org" not in hospital.log.read_text()

    context.clear_cookies()
    _sign_on_by_group(page, hospital)


def _sign_on_by_group(page: Page, hospital: Server) -> None:
    """Sign in as a person who was never invited; the short name contains no name."""
    _sign_on(page, hospital, "gina")
    page.get_by_role("heading", name="Studies").wait_for()
    page.get_by_text("coordinator-1, coordinator").wait_for()


def test_nobody_is_signed_out_when_the_cookie_secret_changes(
    hospital: Server, context: BrowserContext
) -> None:
    """The server restarts with another secret; signing out and in again works as before."""
    page = context.new_page()
    _sign_on(page, hospital, "carla")
    page.get_by_role("heading", name="Studies").wait_for()
    assert hospital.secrets
    secrets = hospital.secrets.read_text()
    hospital.kill()
    hospital.secrets.write_text(secrets.replace("for this test only", "another one of this test"))
    hospital.start()
    page.reload()
    page.get_by_text("carla, coordinator").wait_for()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_selector("[name=access_code]")
    assert "reading_room" not in {cookie["name"] for cookie in context.cookies(hospital.url)}
    _sign_on(page, hospital, "carla")
    page.get_by_text("carla, coordinator").wait_for()
