"""Two readers at one computer, one after the other."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import BrowserContext, Page

from study.base.canonical import stamp
from study.store import Store
from tests.e2e.conftest import Reader
from tests.e2e.server import Server

pytestmark = pytest.mark.browser
Serve = Callable[..., Server]


def test_the_next_reader_sees_no_data_of_the_previous_reader(
    serve: Serve, reader: Reader, context: BrowserContext
) -> None:
    """A sign-out empties the cache of films. Unsent answers wait under the seal of their reader."""
    server = serve(readers=("R1", "R2"), comments=True, back_navigation=True)
    page = reader.page
    comment = "first reader's own words"
    films: list[str] = []
    page.on("request", lambda each: films.append(each.url) if "/films/" in each.url else None)

    def secrets_seen() -> bool:
        markup = page.evaluate(
            "document.documentElement.outerHTML +"
            " [...document.querySelectorAll('textarea')].map(field => field.value).join()"
        )
        return comment in markup or "Reader R1" in markup

    reader.sign_in(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.wait_saved()
    page.route("**/desk/records", lambda route: route.abort())
    page.keyboard.press("c")
    page.keyboard.press("t")
    page.keyboard.type(comment)
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    reader.wait("ready", 2)
    page.keyboard.press("b")
    page.keyboard.press("t")
    page.keyboard.type(comment)
    page.keyboard.press("Escape")
    assert secrets_seen()
    fetched = "url => fetch(url).then(answer => answer.status)"
    assert page.evaluate(fetched, films[0]) == 200
    page.get_by_role("button", name="Sign out").click()
    page.locator(".rr-sheet").get_by_role("button", name="Sign out").click()
    page.wait_for_selector("[name=access_code]")
    assert page.evaluate(fetched, films[0]) == 401
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
        ("R1", "C", comment),
        ("R2", "D", ""),
    ]


def _leave_alone(store: Store, minutes: float) -> None:
    """Set the last activity of all sign-ins to a number of minutes ago."""
    at_utc = stamp(datetime.now(UTC) - timedelta(minutes=minutes))
    with store.change() as change:
        change.execute("UPDATE sign_ins SET active_at_utc = :at_utc", at_utc=at_utc)


_LOOK = "document.dispatchEvent(new Event('visibilitychange'))"


def _reload_after(page: Page, store: Store, minutes: float) -> None:
    """Reload the page with the last activity a number of minutes ago.

    Pending reports of activity are sent before, because an unloading page would repeat them.
    """
    page.wait_for_function(
        "performance.getEntriesByType('resource').some(entry => entry.name.endsWith('/here'))"
    )
    page.keyboard.press("Shift")
    with page.expect_response(
        lambda response: response.url.endswith("here") and response.request.method == "POST"
    ) as report:
        page.evaluate(_LOOK)
    report.value.finished()
    page.evaluate("new Promise(done => setTimeout(done))")
    _leave_alone(store, minutes)
    page.reload()


@pytest.mark.thorough
def test_an_inactive_person_is_warned_and_then_signed_out_without_a_loss(
    serve: Serve, reader: Reader
) -> None:
    """A key closes the warning. After the end, the film is covered and the answer is kept.

    The page checks by itself as well, without any key. A staff page warns and then shows nothing.
    """
    server = serve()
    _inactive_reader(server, reader)
    reader.page.context.clear_cookies()
    _inactive_coordinator(server, reader)


def _inactive_reader(server: Server, reader: Reader) -> None:
    page = reader.page
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    _reload_after(page, server.store, 117)
    reader.wait("ready", 1)
    warning = page.get_by_role("heading", name="Are you still there?")
    warning.wait_for()
    page.keyboard.press("c")
    warning.wait_for(state="hidden")
    assert page.locator("[aria-pressed=true]").count() == 0  # the key closed only the warning
    page.keyboard.press("c")
    _leave_alone(server.store, 121)
    page.keyboard.press("Enter")
    signed_out = page.get_by_role("heading", name="You have been signed out")
    signed_out.wait_for()
    page.get_by_text("1 answer is saved on this computer").wait_for()
    assert page.locator(".rr-main[data-covered]").count() == 1
    page.get_by_role("button", name="Sign in again").click()
    reader.sign_in(server.url, server.codes["R1"])
    reader.wait("ready", 2)
    reader.wait_saved()
    assert [row["answer"] for row in server.readings()] == ["C"]
    _reload_after(page, server.store, 117)
    warning.wait_for()
    _leave_alone(server.store, 121)
    page.evaluate(_LOOK)
    signed_out.wait_for()


def _inactive_coordinator(server: Server, reader: Reader) -> None:
    """Check that the page's own requests every ten seconds do not count as activity."""
    page = reader.page
    reader.enter(server.url, server.codes["coordinator"])
    page.get_by_role("heading", name="Progress").first.wait_for()
    _reload_after(page, server.store, 117)
    warning = page.get_by_role("alertdialog")
    warning.get_by_text("You will be signed out in five minutes").wait_for()
    warning.get_by_role("button", name="Stay signed in").click()
    warning.wait_for(state="hidden")
    _leave_alone(server.store, 117)
    page.reload()
    warning.wait_for()
    _leave_alone(server.store, 121)
    page.evaluate(_LOOK)
    page.locator("input[name=access_code]").wait_for()
    assert page.get_by_text("trial").count() == 0
