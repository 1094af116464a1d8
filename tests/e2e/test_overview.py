"""The overview in a browser: excluding a reading, pausing a study, adding a model."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from study.models.models import withdrawn
from study.monitoring import interventions
from study.monitoring.interventions import history
from study.reading.simulation import simulate
from study.store import Store, models
from study.trail.verification import verify
from tests.conftest import NOW
from tests.e2e.conftest import Reader
from tests.e2e.prepared import rest, upload
from tests.e2e.server import Server

pytestmark = pytest.mark.browser
Serve = Callable[..., Server]


@pytest.fixture
def served(serve: Serve, reader: Reader) -> Server:
    """Return a served study that a simulated reader has read, its coordinator signed in."""
    server = serve(readers=("R1", "R2"))
    simulate(server.store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    reader.enter(server.url, server.codes["coordinator"])
    reader.page.get_by_text("6 of 12").first.wait_for()
    return server


def _part(page: Page, name: str) -> None:
    page.get_by_role("radio", name=name, exact=True).click()


def _give_reason(page: Page, words: str, button: str) -> None:
    """Type a reason, press the button, and confirm with a double click."""
    asking = page.get_by_role("button", name=button, exact=True)
    rest(page)
    form = page.get_by_test_id("stForm").filter(has=asking)
    form.get_by_label("Reason", exact=True).fill(words)
    form.get_by_role("button", name=button, exact=True).click()
    page.get_by_role("button", name="Yes", exact=True).dblclick()


def _models(store: Store) -> list[str]:
    with store.look() as look:
        return [row.model_id for row in models.of_study(look, 1)]


def test_a_reading_is_excluded_and_a_study_paused_once(served: Server, reader: Reader) -> None:
    """Both need a confirmation, happen once despite a double click, and survive a reload."""
    page = reader.page
    _part(page, "Readings")
    _give_reason(page, "fire alarm", "Exclude this reading")
    page.get_by_text("R1, position 1, is excluded.").wait_for()
    assert [row.reason for row in history(served.store, "trial")] == ["fire alarm"]
    _part(page, "Intervene")
    _give_reason(page, "scanner down", "Pause")
    page.get_by_text("Done: Pause (the whole study).").wait_for()
    assert [row.kind for row in interventions.listed(served.store, "trial")] == ["pause"]
    page.reload()
    _part(page, "Readings")
    page.get_by_text("1 of 6 readings is excluded.").wait_for()
    page.get_by_text("fire alarm").first.wait_for()
    assert verify(served.store) == []


def test_a_model_is_added_replaced_and_withdrawn_on_the_page(
    served: Server, reader: Reader, tmp_path: Path
) -> None:
    """A file with errors is refused with all of them; a valid one is shown before it is saved."""
    page, bad, good = reader.page, tmp_path / "bad.csv", tmp_path / "good.json"
    bad.write_text("item_id,answer\nq0001,A\nq0001,B\n,C\n")
    good.write_text(json.dumps({f"q{i:04d}": {"model_prediction": "A"} for i in range(24)}))
    page.get_by_role("link", name="Models").click()
    _upload(page, bad, "")
    page.get_by_text("“Model” is empty").wait_for()
    _read(page, "M1")
    page.get_by_text("given again at line 3").wait_for()
    page.get_by_text("line 4: no item id").wait_for()
    _upload(page, good, "M1")
    page.get_by_role("button", name="Save these predictions").wait_for()
    assert _models(served.store) == []
    page.get_by_role("button", name="Save these predictions").click()
    page.get_by_text("M1 was added. Of 6 cases: 6 answered").wait_for()
    assert _models(served.store) == ["M1"]
    expect(page.get_by_label("Model", exact=True).first).to_have_value("")
    expect(page.get_by_text("good.json")).to_have_count(0)
    good.write_text(json.dumps({f"q{i:04d}": {"model_prediction": "?"} for i in range(24)}))
    _upload(page, good, "M1")
    page.get_by_text("6 of 6 cases have no answer in this file.").wait_for()
    page.get_by_role("textbox", name="Reason for replacing them").fill("Another release of it")
    page.get_by_role("button", name="Replace the predictions").click()
    page.get_by_text("M1 was added. Of 6 cases: 0 answered, 6 unparsed").wait_for()
    page.get_by_text("Withdraw a model").click()
    _give_reason(page, "The wrong file", "Withdraw this model")
    page.get_by_text("M1 was withdrawn.").wait_for()
    assert _models(served.store) == []
    assert [model.reason for model in withdrawn(served.store, "trial")] == [
        "Another release of it",
        "The wrong file",
    ]
    assert verify(served.store) == []


def _upload(page: Page, file: Path, name: str) -> None:
    upload(page, file)
    _read(page, name)


def _read(page: Page, name: str) -> None:
    """Name the model of the uploaded file and have it read."""
    page.get_by_label("Model", exact=True).first.fill(name)
    page.get_by_role("button", name="Read the file").click()
