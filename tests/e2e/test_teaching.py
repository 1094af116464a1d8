"""Teaching in a browser: a round of cases by keyboard, and its result."""

from collections.abc import Callable

import pytest

from study.lifecycle import teaching
from study.lifecycle.studies import close
from tests.conftest import ACTING
from tests.e2e.conftest import Reader
from tests.e2e.server import Server, begin

pytestmark = pytest.mark.browser
Serve = Callable[..., Server]


def test_a_reader_completes_a_round_after_the_closing(serve: Serve, reader: Reader) -> None:
    """The reference answer follows each answer, a reload loses nothing, and the result is shown."""
    server, page = serve(), reader.page
    close(server.store, study="trial", reason="Done.", acting=ACTING)
    teaching.mark(server.store, "bank", taught=True, acting=ACTING)
    reader.enter(server.url, server.codes["R1"])
    page.get_by_role("link", name="Practise with teaching cases").click()
    page.get_by_role("link", name="Start a round of 20 cases").click()
    begin(page)
    feedback = page.locator(".rr-feedback:not([hidden])")
    for position in range(1, teaching.ROUND + 1):
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
        assert look.value("SELECT count(*) FROM teaching_answers") == teaching.ROUND
        assert look.value("SELECT count(*) FROM readings") == 0
