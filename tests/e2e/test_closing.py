"""A study is closed in a browser, with its files, and the results become visible."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from study.reading.simulation import simulate
from study.trail.verification import verify
from tests.conftest import NOW
from tests.e2e.conftest import Reader
from tests.e2e.coordinator import wait_for_results
from tests.e2e.server import Server

pytestmark = pytest.mark.browser
Serve = Callable[..., Server]


def test_a_coordinator_closes_a_study_and_accuracy_is_shown(
    serve: Serve, reader: Reader, tmp_path: Path
) -> None:
    """The files are blinded before. The coordinator types the name to close the study."""
    server = serve(readers=("R1", "R2"))
    for who in ("R1", "R2"):
        simulate(server.store, study="trial", reader_id=who, seed=1, accuracy=0.7, now=NOW)
    page = reader.page
    reader.enter(server.url, server.codes["coordinator"])
    page.get_by_role("link", name="Results", exact=True).click()
    page.get_by_text("Accuracy is shown once the study is closed").wait_for()
    expect(page.get_by_role("radio", name="Agreement")).to_be_visible()
    expect(page.get_by_role("radio", name="Accuracy")).to_have_count(0)
    page.get_by_role("link", name="Close and export").click()
    page.get_by_role("button", name="Create the files").click()
    page.get_by_text("Not created: study.db").wait_for()
    page.get_by_label("Why is the study being closed?").fill("Every case is read.")
    page.get_by_label("To confirm, type").fill("trail")
    page.get_by_role("button", name="Close the study permanently").click()
    page.get_by_text("This is not the study's name").wait_for()
    page.get_by_label("To confirm, type").fill("trial")
    page.get_by_role("button", name="Close the study permanently").click()
    page.get_by_text("by c: Every case is read").wait_for()
    expect(page.get_by_role("button", name="Close the study permanently")).to_have_count(0)
    page.get_by_role("button", name="Create the files again").click()
    row = page.get_by_role("row").filter(has_text="study.db")
    row.wait_for()
    with page.expect_download() as download:
        row.get_by_role("link").click()
    download.value.save_as(tmp_path / "copy.db")
    digest = hashlib.sha256((tmp_path / "copy.db").read_bytes()).hexdigest()
    expect(row).to_contain_text(digest)
    page.get_by_role("link", name="Results", exact=True).click()
    wait_for_results(page)
    expect(page.get_by_role("radio", name="Accuracy")).to_be_visible()
    assert verify(server.store) == []
