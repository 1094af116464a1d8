"""Two readers at one computer, one after the other."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext

from tests.e2e.conftest import Reader
from tests.e2e.server import Server

pytestmark = pytest.mark.browser
Serve = Callable[..., Server]


def test_the_next_reader_sees_nothing_of_the_last(
    serve: Serve, reader: Reader, context: BrowserContext
) -> None:
    """Not after a sign-out nor a mere second sign-in; unsent answers wait under their seal."""
    server = serve(readers=("R1", "R2"), comments=True, back_navigation=True)
    page = reader.page
    said = "first reader's own words"

    def secrets_seen() -> bool:
        markup = page.evaluate(
            "document.documentElement.outerHTML +"
            " [...document.querySelectorAll('textarea')].map(one => one.value).join()"
        )
        return said in markup or "Reader R1" in markup

    reader.sign_in(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.wait_saved()
    page.route("**/desk/records", lambda route: route.abort())
    page.keyboard.press("c")
    page.keyboard.press("t")
    page.keyboard.type(said)
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    reader.wait("ready", 2)
    page.keyboard.press("b")
    page.keyboard.press("t")
    page.keyboard.type(said)
    page.keyboard.press("Escape")
    assert secrets_seen()
    page.get_by_role("button", name="Sign out").click()
    page.locator(".rr-sheet").get_by_role("button", name="Sign out").click()
    reader.sign_in(server.url, server.codes["R2"])
    reader.wait("ready", 1)
    page.get_by_text("Reader R2").wait_for()
    assert page.locator("[aria-pressed=true]").count() == 0
    assert reader.state("outbox") == "0"
    assert not secrets_seen()
    page.unroute("**/desk/records")
    page.evaluate("window.dispatchEvent(new Event('online'))")
    reader.answer("d")
    reader.wait("ready", 2)
    reader.wait_saved()
    page.keyboard.press("Backspace")
    reader.wait("ready", 1)
    assert page.locator("[data-option=D]").get_attribute("aria-pressed") == "true"
    assert not secrets_seen()
    assert [(row["reader_id"], row["answer"]) for row in server.readings()] == [("R2", "D")]
    context.clear_cookies()
    reader.sign_in(server.url, server.codes["R1"])
    reader.wait("ready", 2)
    reader.wait_saved()
    assert page.locator("[data-option=B]").get_attribute("aria-pressed") == "true"
    rows = server.readings()
    assert [(row["reader_id"], row["answer"], row["comment"]) for row in rows] == [
        ("R1", "C", said),
        ("R2", "D", ""),
    ]


def test_signing_out_empties_the_cache_and_keeps_unsent_answers(
    serve: Serve, reader: Reader
) -> None:
    """A film's address is answered by the server again, which refuses it; the outbox is there."""
    server = serve()
    page = reader.page
    films: list[str] = []
    page.on("request", lambda each: films.append(each.url) if "/films/" in each.url else None)
    reader.sign_in(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.wait_saved()
    page.route("**/desk/records", lambda route: route.abort())
    reader.answer("c")
    reader.wait("ready", 2)
    fetched = "url => fetch(url).then(answer => answer.status)"
    assert page.evaluate(fetched, films[0]) == 200
    page.get_by_role("button", name="Sign out").click()
    page.locator(".rr-sheet").get_by_role("button", name="Sign out").click()
    page.wait_for_selector("[name=access_code]")
    assert page.evaluate(fetched, films[0]) == 401
    kept = "Object.keys(localStorage).filter(key => key.includes(':record:')).length"
    assert page.evaluate(kept) >= 1
