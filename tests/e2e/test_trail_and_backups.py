"""Audit trail and administration in a browser: search, verification, backup, restoring."""

from collections.abc import Callable
from pathlib import Path

import pytest

from study.exchange.backups import restore_backup
from study.exchange.bundle import export
from study.lifecycle.deployments import administrator_code
from study.trail.verification import verify
from tests.conftest import NOW, entropy_from
from tests.e2e.conftest import Reader
from tests.e2e.prepared import upload
from tests.e2e.server import Server
from tests.sites import site

pytestmark = pytest.mark.browser
Serve = Callable[..., Server]


def test_the_trail_is_searched_and_a_backup_restored(
    serve: Serve, reader: Reader, tmp_path: Path
) -> None:
    """The exported events have no address. The backup is valid, and a known study is refused."""
    server = serve()
    code = administrator_code(server.store, name="a", entropy=entropy_from(8), now=NOW)
    page = reader.page
    reader.enter(server.url, server.codes["coordinator"])
    page.get_by_role("link", name="Audit trail").click()
    page.get_by_role("button", name="Verify now").click()
    page.get_by_text("Verified:").wait_for()
    page.get_by_label("Search text").fill("signed in")
    page.keyboard.press("Enter")
    page.get_by_text("1 event found.").wait_for()
    with page.expect_download() as download:
        page.get_by_text("Download search results (CSV)").click()
    download.value.save_as(tmp_path / "trail.csv")
    text = (tmp_path / "trail.csv").read_text()
    assert "signed in" in text
    assert "127.0.0.1" not in text
    page.context.clear_cookies()
    reader.enter(server.url, code)
    page.get_by_role("link", name="Administration").click()
    page.get_by_role("button", name="Make a backup now").click()
    page.get_by_text("Backup made; verification passed").wait_for()
    made = next((tmp_path / "store.db-backups").glob("*.db"))
    assert verify(restore_backup(made, tmp_path / "restored.db"), films=False) == []
    export(site(tmp_path / "elsewhere", 5), study="trial", out=tmp_path / "bundle.zip")
    upload(page, tmp_path / "bundle.zip")
    page.get_by_role("button", name="Restore the study").click()
    page.get_by_text("already exists; it was not changed").wait_for()
    assert verify(server.store) == []
