"""A study of 15 cases is read by keyboard, with reloads, interruptions and a killed server."""

import json
import time
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Page, Request, expect

from study.base.canonical import moment
from study.trail.verification import verify
from tests.conftest import write_bank
from tests.e2e.conftest import Reader
from tests.e2e.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
CASES = 15
RELOAD_AT = (2, 9, 15)
HIDDEN_AT = 3
CUT_EVERY = 6
CUT_FOR = 2
"""Number of further cases that the page has loaded without a connection."""

UNSENT_AT = CUT_EVERY + 1
"""A case at which the page is reloaded before the previous answer is sent."""

KILL_AT = 9
SLACK_MS = 5.0
"""Tolerance for two clocks, one of which is rounded."""


class Films:
    """The films that a page has received."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._come: set[str] = set()
        page.on("requestfinished", self._note)

    def _note(self, request: Request) -> None:
        path = request.url.split("/films/")
        if len(path) == 2:
            self._come.add("/".join(path[1].split("/")[:2]))

    def wait_at_hand(self, position: int) -> None:
        """Wait until both views of this case and of the next two are loaded."""
        while len(self._come) < 2 * min(position + CUT_FOR, CASES):
            self._page.wait_for_event("requestfinished")


def test_every_case_is_stored_once_and_completely(
    serve: Callable[..., Server], reader: Reader, context: BrowserContext, tmp_path: Path
) -> None:
    """Each answer is the pressed key, with times that agree with the clock of the test.

    Hidden and paused time is not response time. Unsent answers survive a reload.
    """
    bank = write_bank(tmp_path / "bank", n_patients=CASES, per_patient=1)
    server = serve(cases=CASES, bank=bank)
    page = reader.page
    films = Films(page)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    keys = [int(key) for key in np.random.default_rng(15).integers(4, size=CASES)]
    most_ms: list[float] = []
    begun_at = confirming_at = time.monotonic()
    reader.sign_in(server.url, server.codes["R1"])
    for position, key in enumerate(keys, start=1):
        reader.wait("ready", position)
        if position in RELOAD_AT:
            page.reload()
            reader.wait("ready", position)
        if position % CUT_EVERY == 0:
            reader.wait_saved()
            films.wait_at_hand(position)
            context.set_offline(True)
        if position == KILL_AT:
            reader.wait_saved()
            films.wait_at_hand(position)
            server.kill()
        if position == UNSENT_AT:
            _reload_with_an_unsent_answer(reader, context)
        if position == HIDDEN_AT:
            _look_hide_and_pause(reader)
        page.keyboard.press("abcd"[key] if position % 2 else "1234"[key])
        before_at, confirming_at = confirming_at, time.monotonic()
        page.keyboard.press("Enter")
        most_ms.append((time.monotonic() - before_at) * 1000)
        if position % CUT_EVERY == CUT_FOR and position > UNSENT_AT + 1:
            assert reader.state("outbox") == str(CUT_FOR + 1)
            context.set_offline(False)
        if position == KILL_AT + CUT_FOR:
            assert reader.state("outbox") == str(CUT_FOR + 1)
            server.start()
    reader.wait("finished")
    reader.wait_saved()
    expect(page.locator(".rr-curtain")).to_contain_text(f"{CASES} cases have been saved")
    assert errors == []
    rows = server.readings()
    assert [row["position"] for row in rows] == list(range(1, CASES + 1))
    assert len({row["assignment"] for row in rows}) == CASES
    assert [row["answer"] for row in rows] == ["ABCD"[key] for key in keys]
    hidden = rows[HIDDEN_AT - 1]
    assert 700 <= hidden["hidden_ms"] < 5_000
    assert 500 <= hidden["paused_ms"] < 5_000
    assert hidden["response_ms"] >= 400
    reloaded = {*RELOAD_AT, UNSENT_AT}
    for row, limit in zip(rows, most_ms, strict=True):
        assert 0 < row["response_ms"] <= row["elapsed_ms"] <= limit + SLACK_MS, row["position"]
        assert 0 < row["first_selection_ms"] <= row["response_ms"]
        total = row["response_ms"] + row["hidden_ms"] + row["paused_ms"]
        assert row["elapsed_ms"] == pytest.approx(total, abs=0.01)
        assert ("resumed" in row["flags"]) == (row["position"] in reloaded)
        assert not {"presentation_lost", "clock_disagreement"} & set(json.loads(row["flags"]))
    committed = [moment(row["committed_at_utc"]) for row in rows]
    assert all(earlier < later for earlier, later in pairwise(committed))
    assert committed[-1] - committed[0] < timedelta(seconds=time.monotonic() - begun_at)
    assert verify(server.store) == []


def _reload_with_an_unsent_answer(reader: Reader, context: BrowserContext) -> None:
    """Restore the connection only after the reload."""
    page = reader.page
    page.route("**/desk/records", lambda route: route.abort())
    context.set_offline(False)
    page.reload()
    reader.wait("ready", UNSENT_AT)
    page.wait_for_selector("[data-outbox='1']")
    page.unroute("**/desk/records")
    page.evaluate("dispatchEvent(new Event('online'))")
    reader.wait_saved()


def _look_hide_and_pause(reader: Reader) -> None:
    """Hide the page, pause, and look at the film without input, which is reading."""
    assert reader.brightness() > 0.1
    _hide(reader.page, True)
    reader.page.wait_for_timeout(700)
    _hide(reader.page, False)
    reader.page.keyboard.press("p")
    reader.wait("paused")
    assert reader.brightness() < 0.02
    reader.page.wait_for_timeout(500)
    reader.page.keyboard.press("p")
    reader.wait("ready", HIDDEN_AT)
    reader.page.wait_for_timeout(400)


def _hide(page: Page, hidden: bool) -> None:
    page.evaluate(
        "hidden => { Object.defineProperty(document, 'hidden',"
        " {value: hidden, configurable: true});"
        " document.dispatchEvent(new Event('visibilitychange')); }",
        hidden,
    )
