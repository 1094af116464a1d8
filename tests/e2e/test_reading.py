"""A reader at a real browser: keyboard alone, reloads, cut lines, killed servers."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, Request, WebSocket, expect

from study.trail.verification import verify
from tests.conftest import SECRETS
from tests.e2e.conftest import Reader
from tests.e2e.server import Server

pytestmark = pytest.mark.browser
Serve = Callable[..., Server]


def _hide(page: Page, hidden: bool) -> None:
    page.evaluate(
        "hidden => { Object.defineProperty(document, 'hidden',"
        " {value: hidden, configurable: true});"
        " document.dispatchEvent(new Event('visibilitychange')); }",
        hidden,
    )


class Traffic:
    """What a page receives by websocket and, once signed in, by HTTP; and the hosts it is from."""

    def __init__(self, page: Page) -> None:
        self.seen: list[bytes] = []
        self.hosts: set[str] = set()
        self._page = page
        page.on("websocket", self._frames)
        page.on("requestfinished", lambda request: self.hosts.add(request.url.split("/")[2]))

    def read_bodies(self) -> None:
        """Keep the bodies of responses from now on."""
        self._page.on("requestfinished", self._keep)

    def _keep(self, request: Request) -> None:
        response = request.response()
        if response is not None and response.status not in (204, 303, 304):
            self.seen.append(response.body())

    def _frames(self, socket: WebSocket) -> None:
        socket.on(
            "framereceived",
            lambda frame: self.seen.append(frame if isinstance(frame, bytes) else frame.encode()),
        )


def test_a_study_by_keyboard_alone(serve: Serve, reader: Reader) -> None:
    """Letters and digits answer shuffled options; no secret is sent; circumstances are kept."""
    server = serve(option_order="random")
    page, texts = reader.page, []
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    traffic = Traffic(page)
    reader.enter(server.url, server.codes["R1"])
    traffic.read_bodies()
    keys = ["b", "2", "C", "4", "a", "1"]
    for position, key in enumerate(keys, start=1):
        reader.wait("ready", position)
        assert reader.state("total") == "6"
        page.get_by_text("Simulated radiographs").wait_for()
        letter = "ABCD"["1234".index(key)] if key.isdigit() else key.upper()
        texts.append(page.locator(f"[data-option={letter}]").inner_text())
        reader.answer(key)
    reader.wait("finished")
    assert reader.state("outbox") == "0"
    assert errors == []
    rows = server.readings()
    assert len({row["shown_order"] for row in rows}) > 1
    for row, number, text in zip(rows, (1, 1, 2, 3, 0, 0), texts, strict=True):
        assert row["answer"] == row["shown_order"][number], "the option at the letter pressed"
        assert f"Finding {row['answer']}" in text
        assert 0 < row["response_ms"] <= row["elapsed_ms"] < 120_000
        assert 0 < row["first_selection_ms"] <= row["response_ms"]
        assert row["response_ms"] + row["hidden_ms"] + row["paused_ms"] == pytest.approx(
            row["elapsed_ms"], abs=1
        )
    with server.store.look() as look:
        kept = json.loads(look.value("SELECT circumstances FROM presentations"))
    assert kept["viewport"] == [1024, 700]
    assert kept["renderer"] in ("webgl2", "canvas2d")
    everything = b"".join(traffic.seen)
    assert len(everything) > 10_000
    assert b"Which finding is present" in everything
    for secret in (*SECRETS, "correct_answer", "reference_standard", "_pa.png"):
        assert secret.encode() not in everything
    assert traffic.hosts == {server.url.removeprefix("http://")}
    assert verify(server.store) == []


def test_a_double_press_makes_one_reading_and_the_confidence_comes_after_the_letter(
    serve: Serve, reader: Reader
) -> None:
    """Without an image: each case is read once however often Enter or the button is pressed."""
    server = serve(confidence=5, conditions=["image-absent"])
    page = reader.page
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    assert reader.brightness() < 0.02
    page.keyboard.press("4")
    expect(page.locator(".rr-hint")).to_contain_text("press a letter")
    for key in ("a", "4", "Enter", "Enter", "Enter"):
        page.keyboard.press(key)
    reader.wait("ready", 2)
    page.locator("[data-option=B]").dblclick()
    page.keyboard.press("2")
    page.get_by_role("button", name="Confirm").dblclick()
    reader.wait("ready", 3)
    reader.wait_saved()
    rows = [(row["position"], row["answer"], row["confidence"]) for row in server.readings()]
    assert rows == [(1, "A", 4), (2, "B", 2)]


def test_answers_survive_a_cut_line_a_reload_and_a_killed_server(
    serve: Serve, reader: Reader, context: BrowserContext
) -> None:
    """Answers without a connection are kept, counted as unsent, and sent when it is back."""
    server = serve()
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.page.wait_for_load_state("networkidle")
    context.set_offline(True)
    reader.answer("a")
    reader.wait("ready", 2)
    reader.answer("b")
    assert reader.state("outbox") == "2"
    assert server.readings() == []
    context.set_offline(False)
    reader.page.reload()
    reader.wait("ready", 3)
    reader.wait_saved()
    assert [row["answer"] for row in server.readings()] == ["A", "B"]

    reader.page.wait_for_load_state("networkidle")
    server.kill()
    reader.answer("c")
    reader.wait("ready", 4)
    reader.answer("d")
    assert reader.state("outbox") == "2"
    server.start()
    reader.wait_saved()
    for position in (5, 6):
        reader.wait("ready", position)
        reader.answer("a")
    reader.wait("finished")
    assert [row["answer"] for row in server.readings()] == ["A", "B", "C", "D", "A", "A"]
    assert verify(server.store) == []


def test_hidden_and_paused_time_is_not_charged(serve: Serve, reader: Reader) -> None:
    """Time with the page hidden or paused is stored apart; idle looking is reading."""
    server = serve()
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    assert reader.brightness() > 0.1
    _hide(reader.page, True)
    reader.page.wait_for_timeout(700)
    _hide(reader.page, False)
    reader.page.keyboard.press("p")
    reader.wait("paused")
    assert reader.brightness() < 0.02
    reader.page.wait_for_timeout(500)
    reader.page.keyboard.press("p")
    reader.wait("ready", 1)
    reader.page.wait_for_timeout(400)
    reader.answer("a")
    reader.wait("ready", 2)
    reader.wait_saved()
    row = server.readings()[0]
    assert 700 <= row["hidden_ms"] < 5_000
    assert 500 <= row["paused_ms"] < 5_000
    assert row["response_ms"] >= 400
    assert row["elapsed_ms"] == pytest.approx(
        row["response_ms"] + row["hidden_ms"] + row["paused_ms"], abs=1
    )


def test_going_back_needs_no_line(serve: Serve, reader: Reader, context: BrowserContext) -> None:
    """The case before is still at hand with its answer; a change made there arrives later."""
    server = serve(back_navigation=True)
    reader.enter(server.url, server.codes["R1"])
    for position, key in ((1, "a"), (2, "b")):
        reader.wait("ready", position)
        reader.answer(key)
    reader.wait("ready", 3)
    reader.wait_saved()
    context.set_offline(True)
    reader.page.keyboard.press("Backspace")
    reader.wait("ready", 2)
    assert reader.brightness() > 0.1
    assert reader.page.locator("[data-option=B]").get_attribute("aria-pressed") == "true"
    reader.answer("c")
    reader.wait("ready", 3)
    context.set_offline(False)
    reader.wait_saved()
    rows = server.readings()
    assert [(row["position"], row["answer"]) for row in rows] == [(1, "A"), (2, "B"), (2, "C")]
    assert rows[2]["supersedes"] == rows[1]["id"]


def test_a_time_limit_commits_what_was_not_answered(serve: Serve, reader: Reader) -> None:
    """At zero a case ends, is stored as timed out, and the next is shown without the list of keys.

    After three cases in a row without a key or a click the page pauses.
    """
    server = serve(time_limit_s=2)
    reader.enter(server.url, server.codes["R1"])
    for position in (1, 2, 3):
        reader.wait("ready", position)
    reader.wait("paused")
    reader.wait_saved()
    rows = server.readings()
    assert [(row["status"], row["answer"]) for row in rows] == [("timed_out", None)] * 3
    for row in rows:
        assert row["response_ms"] == pytest.approx(2000, abs=400)
    reader.page.keyboard.press("p")
    reader.wait("ready", 4)
    reader.page.keyboard.press("?")
    expect(reader.page.locator(".rr-sheet")).to_be_visible()
    reader.wait("ready", 5)
    expect(reader.page.locator(".rr-sheet")).to_be_hidden()


def test_a_question_is_marked_as_faulty_and_answered_all_the_same(
    serve: Serve, reader: Reader
) -> None:
    """By key and by hand; a reload keeps it, going back takes it off."""
    server = serve(comments=True, fault_marks=True, back_navigation=True)
    page = reader.page
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    mark = page.get_by_role("checkbox", name="This question is faulty")
    page.keyboard.press("a")
    page.keyboard.press("Shift+T")
    expect(mark).to_be_checked()
    page.reload()
    reader.wait("ready", 1)
    expect(mark).to_be_checked()
    page.keyboard.press("Enter")
    reader.wait("ready", 2)
    expect(mark).not_to_be_checked()
    mark.check()
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    reader.wait("ready", 3)
    page.keyboard.press("Backspace")
    reader.wait("ready", 2)
    expect(mark).to_be_checked()
    mark.uncheck()
    page.keyboard.press("Enter")
    reader.wait("ready", 3)
    reader.wait_saved()
    with server.store.look() as look:
        rows = look.rows("SELECT answer, flags, supersedes FROM readings ORDER BY rowid")
    marked = ["question_faulty" in json.loads(row["flags"]) for row in rows]
    assert marked == [True, True, False]
    assert rows[2]["supersedes"]
    assert all(row["answer"] for row in rows)
