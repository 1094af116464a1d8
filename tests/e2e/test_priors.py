"""Films of an earlier examination next to the current ones, as a reader sees them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.conftest import write_bank_with_priors
from tests.e2e.conftest import Reader
from tests.e2e.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
Serve = Callable[..., Server]


def _plates(page: Page) -> list[str]:
    shown = page.locator(".rr-plate:visible .rr-plate-line:not(.rr-plate-foot)")
    return [" ".join(text.split()) for text in shown.all_inner_texts()]


def test_a_prior_film_is_shown_next_to_the_current_films(
    serve: Serve, reader: Reader, tmp_path: Path
) -> None:
    """The timer starts after all films are painted, and the prior film can be hidden and moved."""
    bank = write_bank_with_priors(tmp_path / "bank")
    server = serve(bank=bank, context=["age", "prior"], seed=4)
    routes_held: list[Route] = []
    reader.page.route("**/films/*/3/**", lambda route: routes_held.append(route))
    with reader.page.expect_request("**/films/*/3/**"):
        reader.enter(server.url, server.codes["R1"])
        reader.page.wait_for_selector("[data-step='begin']")
        reader.page.keyboard.press("Enter")
    expect(reader.page.locator(".reading-room")).to_have_attribute("data-state", "loading")
    expect(reader.page.locator(".rr-plate:visible")).to_have_count(0)
    with server.store.look() as look:
        assert look.rows("SELECT id FROM presentations") == []
    for route in routes_held:
        route.continue_()
    reader.page.unroute("**/films/*/3/**")
    reader.wait("ready", 1)
    page = reader.page
    assert _plates(page) == ["PA Current", "LATERAL Current", "AP Prior, 3 months earlier"]
    expect(page.locator(".rr-context")).not_to_contain_text("prior")
    boxes = [plate.bounding_box() for plate in page.locator(".rr-plate").all()]
    assert all(boxes)
    prior = boxes[2]
    assert prior is not None
    for current in boxes[:2]:
        assert current is not None
        assert current["x"] + current["width"] <= prior["x"]
    page.keyboard.press("Shift+V")
    expect(page.locator(".rr-plate:visible")).to_have_count(2)
    page.keyboard.press("Shift+V")
    expect(page.locator(".rr-plate:visible")).to_have_count(3)
    page.keyboard.press("x")
    reader.wait_picture()
    moved = page.locator(".rr-plate[data-prior]").bounding_box()
    assert moved is not None
    assert moved["x"] == 0
    for position in range(1, 7):
        reader.wait("ready", position)
        reader.answer("a")
    reader.wait("finished")
    reader.wait_saved()
    rows = server.readings()
    assert len(rows) == 6
    assert json.loads(rows[0]["behaviour"])["view_3_ms"] < rows[0]["response_ms"]
    with server.store.look() as look:
        with_prior = look.rows(
            "SELECT position FROM assignments JOIN cases ON cases.id = case_id "
            "WHERE item IN (SELECT item FROM item_priors)"
        )
    viewed = {row["position"] for row in rows if json.loads(row["behaviour"]).get("view_3_ms")}
    assert viewed == {row["position"] for row in with_prior}
    assert viewed
    assert all("view_not_shown" not in row["flags"] for row in rows)
