"""The beginning and the end of a study, which require a deliberate action."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.e2e.conftest import Profile, Reader
from tests.e2e.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
Serve = Callable[..., Server]

BEGIN = "[data-state='paused'][data-step='begin']"
REVIEW = "[data-state='paused'][data-step='review']"
WINDOW = "[data-state='paused'][data-step='window']"
PHONE: ViewportSize = {"width": 390, "height": 844}


def _press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def _presented(server: Server) -> int:
    with server.store.look() as look:
        return int(look.value("SELECT count(*) FROM presentations"))


def _answers(server: Server) -> list[tuple[int, str]]:
    return [(row["position"], row["answer"]) for row in server.readings()]


def test_a_study_waits_to_begin_can_be_paused_and_ends_with_enter(
    serve: Serve, reader: Reader
) -> None:
    """Nothing is presented before the reader begins, in either window; a pause hides the film."""
    server = serve(cases=2)
    reader.enter(server.url, server.codes["R1"])
    _wait_to_begin(server, reader)
    _begin_in_a_second_window(server, reader)
    _pause_at_the_first_case(reader)
    reader.answer("b")
    reader.page.wait_for_selector("[data-state='ready'][data-position='2']")
    reader.wait_saved()
    assert _answers(server) == [(1, "B")]
    reader.page.context.clear_cookies()
    reader.enter(server.url, server.codes["R1"])
    reader.page.wait_for_selector("[data-state='ready'][data-position='2']")
    _end(reader)
    assert _answers(server) == [(1, "B"), (2, "A")]


def _wait_to_begin(server: Server, reader: Reader) -> None:
    """Check that the study waits with its film hidden, even after a reload."""
    page = reader.page
    page.wait_for_selector(BEGIN)
    assert reader.brightness() < 0.02
    assert page.locator(".rr-curtain").get_by_role("button", name="Start").is_visible()
    expect(page.locator(".rr-curtain kbd")).to_have_text("Enter ↵")
    _press(page, "a")
    page.reload()
    page.wait_for_selector(BEGIN)
    page.wait_for_load_state("networkidle")
    assert (_presented(server), server.readings()) == (0, [])


def _begin_in_a_second_window(server: Server, reader: Reader) -> None:
    """Begin in a window that takes over after the first window has begun."""
    second = Reader(reader.page.context.new_page())
    second.page.goto(server.url)
    second.page.get_by_role("button", name="Continue here").wait_for()
    second.page.wait_for_timeout(700)  # longer than a double press
    _press(second.page, "Enter")
    second.page.wait_for_selector(BEGIN)
    assert _presented(server) == 0
    second.page.wait_for_timeout(700)  # longer than a double press
    _press(second.page, "Enter")
    second.page.wait_for_selector("[data-state='ready'][data-position='1']")
    assert second.state("step") == ""
    reader.page.get_by_role("button", name="Continue here").wait_for()
    reader.page.wait_for_timeout(700)  # longer than a double press
    reader.page.get_by_role("button", name="Continue here").click()
    reader.page.wait_for_selector("[data-state='ready'][data-position='1']")
    assert _presented(server) == 1
    second.page.close()


def _pause_at_the_first_case(reader: Reader) -> None:
    """End pauses by several keys, even after a reload: the button has the focus."""
    page = reader.page
    page.reload()
    page.wait_for_selector("[data-state='ready'][data-position='1']")
    for end in ("Enter", "Space", "p"):
        _press(page, "p")
        reader.wait("paused", 1)
        expect(page.locator(".rr-curtain button")).to_have_text("Continue")
        expect(page.locator(".rr-curtain button")).to_be_focused()
        _press(page, end)
        page.wait_for_selector("[data-state='ready'][data-position='1']")
    _press(page, "p")
    reader.wait("paused", 1)
    page.reload()
    reader.wait("paused", 1)
    _press(page, "Enter")
    page.wait_for_selector("[data-state='ready'][data-position='1']")


def _end(reader: Reader) -> None:
    """Answer the last case; Enter does nothing at the end and does not sign out."""
    page = reader.page
    _press(page, "a", "Enter", "Enter", "Enter")
    reader.wait("finished")
    page.wait_for_timeout(700)  # longer than a double press
    _press(page, "Enter", " ", "Enter")
    expect(page.locator(".rr-curtain h2")).to_have_text("Thank you")
    assert reader.state("state") == "finished"
    _mail_the_receipt(page)
    page.reload()
    reader.wait("finished")
    _press(page, "Enter")
    page.get_by_role("button", name="Sign out").last.click()
    page.wait_for_selector("input[name='access_code']")


def _mail_the_receipt(page: Page) -> None:
    """Follow the link with Enter."""
    page.evaluate(
        """document.querySelector(".rr-receipt a").addEventListener("click", (event) => {
          event.preventDefault();
          event.target.dataset.followed = event.target.protocol;
        })"""
    )
    page.locator(".rr-receipt a").press("Enter")
    page.wait_for_selector(".rr-receipt a[data-followed='mailto:']", timeout=10_000)


def test_the_reader_ends_a_study_in_which_going_back_is_allowed(
    serve: Serve, reader: Reader, profile: Profile
) -> None:
    """Enter does not end it. The last case can be changed. The end applies to every computer."""
    server = serve(cases=3, back_navigation=True, display_check=True)
    page = reader.page
    reader.enter(server.url, server.codes["R1"])
    page.wait_for_selector("[data-step='display']")
    while page.locator(".rr-advice").count() == 0:
        _press(page, " ")
    _press(page, "Enter")
    for position, key in enumerate("abc", start=1):
        reader.wait("ready", position)
        reader.answer(key)
    page.wait_for_selector(REVIEW)
    assert "all 3 cases" in page.locator(".rr-prelude").inner_text()
    _press(page, "Enter", "Enter", "p", "a", "Escape")
    assert "Press 1 to review or 2 to finish" in page.locator(".rr-prelude-hint").inner_text()
    page.reload()
    page.wait_for_selector(REVIEW)

    _press(page, "Backspace")
    reader.wait("ready", 3)
    expect(page.locator("[data-option='C']")).to_have_attribute("aria-pressed", "true")
    _press(page, "Backspace")
    reader.wait("ready", 2)
    reader.answer("d")
    reader.wait("ready", 3)
    _press(page, "Enter")
    page.wait_for_selector(REVIEW)
    _press(page, "1", "Enter")
    reader.wait("ready", 3)
    _press(page, "Enter")
    page.wait_for_selector(REVIEW)
    _press(page, "2", "Enter", "Enter", "Enter")
    reader.wait("finished")
    assert _answers(server) == [(1, "A"), (2, "B"), (2, "D"), (3, "C")]

    other = Reader(profile().new_page())
    other.enter(server.url, server.codes["R1"])
    other.wait("finished")
    assert other.state("step") == "", "the display is not checked after the end"


def test_a_small_window_is_refused_before_the_consent(
    serve: Serve, profile: Profile, new_profile: Profile
) -> None:
    """The page states both sizes and continues in either orientation. A preview is not refused."""
    server = serve(cases=2, consent="May we?")
    reader = Reader(new_profile(viewport=PHONE, has_touch=True, is_mobile=True).new_page())
    page = reader.page
    reader.enter(server.url, server.codes["R1"])
    page.wait_for_selector(WINDOW)
    sheet = page.locator(".rr-prelude")
    expect(sheet).to_contain_text("It is currently 390 × 844 pixels")
    expect(sheet).to_contain_text("at least 1024 × 700")
    _press(page, "Enter", "p", "Escape", "1", "Enter")
    page.set_viewport_size({"width": 1000, "height": 900})
    expect(sheet).to_contain_text("It is currently 1000 × 900 pixels")
    page.reload()
    page.wait_for_selector(WINDOW)
    page.set_viewport_size({"width": 700, "height": 1024})
    page.wait_for_selector("[data-step='consent']")
    with server.store.look() as look:
        assert look.rows("SELECT * FROM preparations") == []
    _press(page, "1", "Enter")
    reader.wait("ready", 1)
    page.set_viewport_size({"width": 700, "height": 800})
    page.wait_for_timeout(1200)  # the window is checked twice a second
    reader.answer("a")
    reader.wait("ready", 2)
    reader.wait_saved()
    (row,) = server.readings()
    assert "window_too_small" in row["flags"]
    page.reload()
    page.wait_for_selector(WINDOW)
    coordinator = Reader(profile().new_page())
    coordinator.page.set_viewport_size(PHONE)
    coordinator.enter(server.url, server.codes["coordinator"])
    coordinator.page.goto(f"{server.url}/preview")
    coordinator.page.wait_for_selector(WINDOW)
    coordinator.page.get_by_role("button", name="Continue anyway").click()
    coordinator.page.wait_for_selector("[data-step='consent']")
