"""Scoring of open answers in a browser by two scorers, and a third if they differ."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from study.exchange.bundle import export
from study.lifecycle import judging
from study.lifecycle.judging import Judged, Score
from study.lifecycle.studies import close
from study.people.codes import new_code
from study.store.judgements import SCORING
from study.trail.verification import verify
from tests import processes
from tests.conftest import ACTING, entropy_from
from tests.e2e.conftest import Profile, Reader
from tests.e2e.judges import judge_waiting
from tests.e2e.prepared import rest
from tests.e2e.server import Server
from tests.unit.study.lifecycle.test_reviewing import reviewers
from tests.unit.study.lifecycle.test_scoring import answer_all

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
Serve = Callable[..., Server]


def test_three_scorers_score_open_answers(serve: Serve, profile: Profile, tmp_path: Path) -> None:
    """The answers are blinded, and the report has the gap after closing and export.

    The first scorer works in the browser.
    """
    server = serve(readers=("R1", "R2"), cases=3, conditions=["open-ended", "unaided"])
    answer_all(server.store, "R1", lambda _: "Left effusion")
    answer_all(server.store, "R2", lambda _: "No finding")
    close(server.store, study="trial", reason="Done.", acting=ACTING)
    people = reviewers(server.store)
    coordinator = Reader(profile().new_page())
    coordinator.enter(server.url, server.codes["coordinator"])
    page = coordinator.page
    page.goto(f"{server.url}/archive")
    page.get_by_role("link", name="Have answers in words scored").click()
    rest(page)
    _chosen(page, [scorer.name for scorer in people])
    page.get_by_role("button", name="Start the scoring").click()
    page.get_by_text("0 of 6 different answers settled.").wait_for()

    scorer = Reader(profile().new_page())
    scorer.enter(server.url, new_code(entropy_from(50)).text)
    for _ in range(2):  # the second round has the answers on which two differed
        _score(scorer, _by_words)
        judge_waiting(server.store, SCORING, 1, lambda _: Score.PARTLY)
        judge_waiting(server.store, SCORING, 2, _by_answer)
    with server.store.look() as look:
        row = judging.judging_row(look, SCORING, 1)
        assert not any(words.waits_for for words in judging.everything_judged(look, row))
    _assert_scores_can_be_changed(scorer.page)

    page.reload()
    page.get_by_text("6 of 6 different answers settled.").wait_for()
    page.get_by_role("button", name="Close the scoring").click()
    page.get_by_role("button", name="Yes").click()
    page.get_by_text("The scoring is closed.").wait_for()
    assert verify(server.store) == []
    export(server.store, study="trial", out=tmp_path / "bundle")
    out = tmp_path / "out"
    result = processes.run("analysis", "report", str(tmp_path / "bundle"), "--out", str(out))
    assert result.returncode == 0, result.stderr
    report = (out / "report.html").read_text(encoding="utf-8")
    assert "Multiple choice minus open-ended, on the cases asked both ways" in report
    assert "Two blind scorers gave 6 answers the same score" in report
    assert (out / "tables" / "open_gap.csv").read_text("utf-8").count("half credit") >= 2


def _by_words(words: str) -> str:
    return "3" if "No" in words else "1"


def _by_answer(case: Judged) -> str:
    return Score.INCORRECT if "No" in case.answers[0].words else Score.CORRECT


def _chosen(page: Page, names: list[str]) -> None:
    chosen = page.get_by_role("combobox", name="Scorers")
    for name in names:
        chosen.click()
        chosen.fill(name)
        page.get_by_role("option", name=name).wait_for()
        page.keyboard.press("Enter")
    page.keyboard.press("Escape")  # while the list is open, other elements are not accessible


def _score(scorer: Reader, score_of: Callable[[str], str]) -> None:
    """Score all waiting answers by keyboard, until the previous page is shown again."""
    page = scorer.page
    page.goto(page.url.partition("/reviews")[0])
    if "waiting" not in page.get_by_text("You have judged").inner_text():
        return
    page.get_by_role("link", name="Start").or_(page.get_by_role("link", name="Continue")).click()
    scorer.wait("ready")
    position = int(scorer.state("position"))
    for at in range(position, int(scorer.state("total")) + 1):
        scorer.wait("ready", at)
        text = page.locator("[data-label=room]").inner_text()
        assert "Answer to score:" in text
        assert "R1" not in text
        assert "R2" not in text
        scorer.answer(score_of(text.partition("Answer to score:")[2].partition("\n")[0]))
    page.get_by_text("You have judged").wait_for()


def _assert_scores_can_be_changed(page: Page) -> None:
    """Check that a scorer's scores are listed with the texts and can be changed."""
    page.get_by_text("Your verdicts").click()
    page.get_by_text("Select a row to change a verdict.").wait_for()
