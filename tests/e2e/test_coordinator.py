"""The coordinator's pages, and addresses that a user may not see, on a new server."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

import analysis
from study.reading.simulation import simulate
from tests.conftest import NOW
from tests.e2e.conftest import Profile, Reader
from tests.e2e.coordinator import wait_for_results
from tests.e2e.prepared import rest
from tests.e2e.server import Server, enter

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
Serve = Callable[..., Server]


def test_a_reader_signs_in_at_any_address_and_a_lost_server_is_reported(
    serve: Serve, reader: Reader, profile: Profile
) -> None:
    """The first request of a new server opens a staff page, and no result is shown."""
    server = serve()
    for path in ("overview", "read"):
        reader.page.context.clear_cookies()
        reader.sign_in(f"{server.url}/{path}", server.codes["R1"])
        reader.wait("ready", 1)
    for name in ("results", "read"):
        reader.page.goto(f"{server.url}/{name}")
        reader.wait("ready", 1)
        assert reader.page.get_by_test_id("stDialog").count() == 0
    assert reader.page.get_by_text("Results").count() == 0
    _lose_the_server(server, profile)


def _lose_the_server(server: Server, profile: Profile) -> None:
    """Check that it is reported until it is back. The dialog of Streamlit stays hidden."""
    page, signed_out = profile().new_page(), profile().new_page()
    enter(page, server.url, server.codes["coordinator"])
    signed_out.goto(server.url)
    messages = []
    for each in (page, signed_out):
        rest(each)
        messages.append((each.get_by_text("The connection to the server is lost"), each))
        expect(messages[-1][0]).to_be_hidden()
    server.kill()
    for lost, each in messages:
        expect(lost).to_be_visible()
        streamlits = each.get_by_test_id("stDialog")
        streamlits.wait_for(state="attached")
        assert not streamlits.is_visible()
    server.start()
    for lost, _ in messages:
        expect(lost).to_be_hidden()


def _look_at_a_case(page: Page) -> None:
    """Select a row of the cases and wait for films and reference standard."""
    page.get_by_role("radio", name="Cases").click()
    table = page.get_by_test_id("stDataFrame")
    table.wait_for()
    box = table.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 20, box["y"] + 55)
    page.get_by_text("reference standard", exact=True).wait_for()
    film = page.locator(".case img").first
    film.wait_for()
    page.wait_for_function("document.querySelector('.case img').naturalWidth > 0")


def _download_the_report(page: Page, folder: Path) -> None:
    """Download the archive of the report with pages, figures, tables and files for a paper."""
    with page.expect_download() as download:
        page.get_by_text("Everything: figures").click()
    archive = folder / "report.zip"
    download.value.save_as(archive)
    names = zipfile.ZipFile(archive).namelist()
    assert {"report.html", "report.pdf", "paper/tables.xlsx", "tables/accuracy.csv"} <= set(names)
    assert {Path(name).suffix for name in names} >= {".svg", ".png", ".bib", ".tex"}


def test_a_coordinator_follows_the_study_downloads_it_and_signs_out(
    serve: Serve, reader: Reader, context: BrowserContext, tmp_path: Path
) -> None:
    """After signing out in another tab, no page shows data."""
    server = serve(readers=("R1", "R2"), interim_results=True)
    for reader_id in ("R1", "R2"):
        simulate(server.store, study="trial", reader_id=reader_id, seed=1, accuracy=0.7, now=NOW)
    page = reader.page
    reader.sign_in(server.url, server.codes["coordinator"])
    page.get_by_text("12 of 12").wait_for()
    page.goto(f"{server.url}/overview")
    page.get_by_text("12 of 12").wait_for()
    assert page.get_by_test_id("stDialog").count() == 0
    with page.expect_download() as download:
        page.get_by_text("Download the bundle").click()
    archive = tmp_path / "bundle.zip"
    download.value.save_as(archive)
    assert "audit.jsonl" in zipfile.ZipFile(io.BytesIO(archive.read_bytes())).namelist()
    assert len(analysis.accuracy(analysis.read_bundle(archive))) > 0
    page.get_by_role("link", name="Results", exact=True).click()
    wait_for_results(page)
    page.get_by_role("radio", name="Agreement").click()
    page.locator(".js-plotly-plot").nth(1).wait_for()
    page.get_by_text("permuting the options").wait_for()
    _look_at_a_case(page)
    _download_the_report(page, tmp_path)
    # A page with its own requests, such as Results, would detect the sign-out before a click.
    page.get_by_role("link", name="People", exact=True).click()
    page.get_by_role("heading", name="People").wait_for()
    page.route("**/here", lambda route: route.abort())  # the request that would detect the sign-out
    other = context.new_page()
    other.goto(server.url)
    other.get_by_text("Sign out").click()
    other.wait_for_selector("[name=access_code]")
    page.get_by_role("link", name="Progress").click()
    page.get_by_text("Sign in to see this page.").or_(
        page.locator("[name=access_code]")
    ).first.wait_for()
    assert page.get_by_text("12 of 12").count() == 0
