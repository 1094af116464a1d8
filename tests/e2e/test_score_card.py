"""The score card in a browser: shown after the closing, case by case, by keyboard."""

from collections.abc import Callable

import pytest

from study.reading import desk
from tests.conftest import NOW, SECRETS, person, reading
from tests.e2e.conftest import Reader
from tests.e2e.server import Server
from tests.unit.study.reading.test_score_card import close

pytestmark = pytest.mark.browser
Serve = Callable[..., Server]
LOADED = """() => { const films = [...document.querySelectorAll('.scored img')];
  return films.length && films.every((film) => film.naturalWidth); }"""


def _read_all(server: Server) -> None:
    who = person(server.store)
    while cases := desk.desk(server.store, who, now=NOW).cases:
        desk.take_records(server.store, who, [reading(cases[0].case)], now=NOW)


def test_a_reader_sees_the_score_card_after_the_closing(serve: Serve, reader: Reader) -> None:
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
