"""After closing, in a browser: the score card by keyboard, and a round of teaching cases."""

from collections.abc import Callable

import pytest

from study.lifecycle import teaching
from study.reading import desk
from tests.conftest import ACTING, NOW, SECRETS, person, reading
from tests.e2e.conftest import Reader
from tests.e2e.server import Server, begin
from tests.unit.study.reading.test_score_card import close

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
Serve = Callable[..., Server]
LOADED = """() => { const films = [...document.querySelectorAll('.scored img')];
  return films.length && films.every((film) => film.naturalWidth); }"""


def _read_all(server: Server) -> None:
    reader = person(server.store)
    while cases := desk.desk(server.store, reader, now=NOW).cases:
        desk.take_records(server.store, reader, [reading(cases[0].case)], now=NOW)


def test_a_reader_sees_the_score_card_and_practises_after_closing(
    serve: Serve, reader: Reader
) -> None:
    """The last page announces it, and arrow keys move between the cases."""
    server = serve(feedback="after study")
    _read_all(server)
    page = reader.page
    reader.enter(server.url, server.codes["R1"])
    reader.wait("finished")
    text = page.locator(".rr-curtain").inner_text()
    assert "Once the study is closed" in text
    assert "match" not in text
    close(server.store)
    page.reload()
    page.get_by_text("Your score card").wait_for()
    assert page.url.endswith("/score-card")
    page.wait_for_function(LOADED)
    page.wait_for_selector("[data-test-script-state='notRunning']")
    assert page.locator(".scored .films img").count() == 2
    assert SECRETS[2] in page.locator(".scored .why").inner_text()
    assert page.locator(".scored .verdict").inner_text()[0] in "✓✗"
    first = page.locator(".scored img").first.get_attribute("src")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "(first) => document.querySelector('.scored img')?.getAttribute('src') !== first",
        arg=first,
    )
    page.wait_for_function(LOADED)
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(
        "(first) => document.querySelector('.scored img')?.getAttribute('src') === first",
        arg=first,
    )
    page.get_by_text("Only cases that do not match").click()
    page.wait_for_function("document.querySelector('.scored .verdict')?.innerText.startsWith('✗')")
    _practise(server, reader)


def _practise(server: Server, reader: Reader) -> None:
    """Complete a round with a reload: the reference answer follows each answer."""
    teaching.set_availability(server.store, "bank", taught=True, acting=ACTING)
    page = reader.page
    page.goto(server.url)
    page.get_by_role("link", name="Practise with teaching cases").click()
    page.get_by_role("link", name="Start a round of 20 cases").click()
    begin(page)
    feedback = page.locator(".rr-feedback:not([hidden])")
    for position in range(1, teaching.CASES_PER_ROUND + 1):
        page.wait_for_selector(f"[data-state='ready'][data-position='{position}']")
        page.keyboard.press("a")
        page.keyboard.press("Enter")
        feedback.wait_for()
        if position == 2:
            page.reload()
            feedback.wait_for()
        page.keyboard.press("Enter")
    page.wait_for_url("**/teaching")
    page.get_by_text("Right first time").wait_for()
    page.get_by_role("link", name="Start a round of 20 cases").wait_for()
    with server.store.look() as look:
        assert look.value("SELECT count(*) FROM teaching_answers") == teaching.CASES_PER_ROUND
        assert look.value("SELECT count(*) FROM readings") == 6
