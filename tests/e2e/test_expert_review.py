"""An expert review of nine questions in a browser, and a study without the faulty ones."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from study.lifecycle import judging, reviewing, studies
from study.lifecycle.deployments import administrator_code
from study.lifecycle.judging import ItemVerdict, Judged
from study.lifecycle.studies import close
from study.protocol.protocol import Protocol
from study.store import bank_contents
from study.store import studies as studies_stored
from study.store.judgements import REVIEW
from study.store.studies import study_row
from study.trail.verification import verify
from tests.conftest import ACTING, NOW, entropy_from, write_bank
from tests.e2e.conftest import Profile, Reader
from tests.e2e.judges import judge_waiting
from tests.e2e.prepared import rest
from tests.e2e.server import Server, begin

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
Serve = Callable[..., Server]
REVIEWERS = ("Expert 1", "Expert 2", "Expert 3")


def test_three_experts_review_nine_questions(
    serve: Serve, profile: Profile, tmp_path: Path
) -> None:
    """Two people judge each question, and a third if they differ; faulty questions are struck off.

    The first expert works in the browser.
    """
    server = serve(bank=write_bank(tmp_path / "nine", 3, 3))
    close(server.store, study="trial", reason="Done.", acting=ACTING)
    code = administrator_code(server.store, name="admin", entropy=entropy_from(8), now=NOW)
    coordinator = Reader(profile().new_page())
    coordinator.enter(server.url, code)
    page = coordinator.page
    codes = _start_review(page, server)
    expert = Reader(profile().new_page())
    expert.enter(server.url, codes[0])
    for _ in range(2):  # the second round has the questions on which two differed
        _judge(expert, lambda n: "2" if n % 3 == 0 else "1")
        # The second expert reports a fault in every question, the others in every third.
        judge_waiting(server.store, REVIEW, 1, lambda _: ItemVerdict.AMBIGUOUS)
        judge_waiting(server.store, REVIEW, 2, _third_verdict)
    with server.store.look() as look:
        row = judging.judging_row(look, REVIEW, 1)
        assert not any(item.waits_for for item in judging.everything_judged(look, row))
    page.reload()
    page.get_by_text("9 of 9 questions settled.").wait_for()
    _confirmed(page, "Close the review", "The review is closed.")
    _confirmed(page, "Strike off the faulty questions", "faulty questions were struck off.")
    with server.store.look() as look:
        faulty = reviewing.faulty_items(look, 1)
        struck = bank_contents.listed(look, bank_contents.struck_items(look, 1))
        read = reviewing.faulty_cases(look, study_row(look, "trial").id)
    assert set(faulty.values()) == {ItemVerdict.AMBIGUOUS}
    assert {item.item_id for item in struck} == set(faulty)
    assert set(read) <= set(faulty)
    protocol = Protocol.from_json({"cases": 9 - len(faulty), "one_question_per": "item"})
    studies.draw(server.store, bank="bank", study="sound", protocol=protocol, acting=ACTING)
    with server.store.look() as look:
        drawn = {case.item_id for case in studies_stored.cases(look, study_row(look, "sound").id)}
    assert len(drawn) == 9 - len(faulty)
    assert not drawn & set(faulty)
    assert verify(server.store) == []


def _third_verdict(case: Judged) -> str:
    return ItemVerdict.AMBIGUOUS if case.position % 3 == 1 else ItemVerdict.SOUND


def _start_review(page: Page, server: Server) -> list[str]:
    """Give three experts access, start a review with them, and return their codes."""
    page.goto(f"{server.url}/banks")
    page.get_by_role("link", name="Expert review of bank").click()
    codes = []
    for name in REVIEWERS:
        rest(page)  # the code appears before the page has finished
        field = page.get_by_role("textbox", name="Short name")
        if not field.is_visible():
            page.get_by_text("Reviewers and their access codes").click()
        field.fill(name)
        field.press("Enter")  # the sheet of codes moves the elements below it
        page.locator(".cards li", has_text=name).wait_for()
        card = page.locator(".cards li", has_text=name)
        codes.append(card.locator(".code").inner_text())
    rest(page)
    page.get_by_role("textbox", name="Name of the review").fill("First look")
    chosen = page.get_by_role("combobox", name="Reviewers")
    for name in REVIEWERS:
        chosen.click()
        chosen.fill(name)
        page.get_by_role("option", name=name).wait_for()
        page.keyboard.press("Enter")
    page.keyboard.press("Escape")  # while the list is open, other elements are not accessible
    page.get_by_role("button", name="Start the review").click()
    page.get_by_role("heading", name="First look").wait_for()
    return codes


def _judge(expert: Reader, verdict_of: Callable[[int], str]) -> None:
    """Judge all waiting questions by keyboard, until the list of reviews is shown again."""
    page = expert.page
    page.goto(page.url.partition("/reviews")[0])
    if "waiting" not in page.get_by_text("You have judged").inner_text():
        return
    page.get_by_role("link", name="Start").or_(page.get_by_role("link", name="Continue")).click()
    _assert_wording_of_a_review(expert)
    begin(page)
    position = int(expert.state("position"))
    total = int(expert.state("total") or 0)
    for at in range(position, total + 1):
        expert.wait("ready", at)
        page.keyboard.press("t")
        page.keyboard.type("why")
        page.keyboard.press("Escape")
        expert.answer(verdict_of(at))
    page.get_by_text("You have judged").wait_for()


def _assert_wording_of_a_review(expert: Reader) -> None:
    """Check that verdicts have numbers and that no text mentions a reader or a timer."""
    page = expert.page
    page.wait_for_selector("[data-state='ready'], [data-step='begin']")
    words = page.locator(".reading-room").inner_text()
    begin(page)
    expert.wait("ready")
    assert page.locator("[data-option] kbd").all_inner_texts() == ["1", "2", "3", "4", "5"]
    page.keyboard.press("b")
    assert page.locator(".rr-option[aria-pressed=true]").count() == 0
    assert "Press 1 to 5" in page.locator(".rr-hint").inner_text()
    page.keyboard.press("?")
    words += page.locator(".reading-room").inner_text()
    page.keyboard.press("?")
    page.keyboard.press("p")
    words += page.locator(".reading-room").inner_text()
    page.keyboard.press("p")
    expert.wait("ready")
    words = words.lower().replace("reading room", "")
    assert "timer" not in words
    assert "reader" not in words


def _confirmed(page: Page, button: str, report: str) -> None:
    page.get_by_role("button", name=button).click()
    page.get_by_role("button", name="Yes").click()
    page.get_by_text(report).wait_for()
