"""Reading in a browser: by keyboard, going back, and against a time limit."""

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


class Traffic:
    """The messages and responses that a page receives, and the hosts they come from."""

    def __init__(self, page: Page) -> None:
        self.seen: list[bytes] = []
        self.hosts: set[str] = set()
        self._page = page
        page.on("websocket", self._frames)
        page.on("requestfinished", lambda request: self.hosts.add(request.url.split("/")[2]))

    def read_bodies(self) -> None:
        """Record the bodies of responses from now on."""
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


def test_a_study_is_read_by_keyboard(serve: Serve, reader: Reader) -> None:
    """Letters and digits select shuffled options.

    No secret is sent, and circumstances are stored.
    """
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
        assert row["answer"] == row["shown_order"][number], "the option of the pressed letter"
        assert f"Finding {row['answer']}" in text
        assert 0 < row["response_ms"] <= row["elapsed_ms"] < 120_000
        assert 0 < row["first_selection_ms"] <= row["response_ms"]
        assert row["response_ms"] + row["hidden_ms"] + row["paused_ms"] == pytest.approx(
            row["elapsed_ms"], abs=1
        )
    with server.store.look() as look:
        circumstances = json.loads(look.value("SELECT circumstances FROM presentations"))
    assert circumstances["viewport"] == [1024, 700]
    assert circumstances["renderer"] in ("webgl2", "canvas2d")
    everything = b"".join(traffic.seen)
    assert len(everything) > 10_000
    assert b"Which finding is present" in everything
    for secret in (*SECRETS, "correct_answer", "reference_standard", "_pa.png"):
        assert secret.encode() not in everything
    assert traffic.hosts == {server.url.removeprefix("http://")}
    assert verify(server.store) == []


def test_going_back_works_offline_and_keeps_marks_and_skipped_cases(
    serve: Serve, reader: Reader, context: BrowserContext
) -> None:
    """An earlier case has its answer and its mark. Both can be changed, and arrive later.

    A question is marked as faulty by key or pointer, and the mark survives a reload. A skipped case
    can be answered later and vice versa.
    """
    server = serve(comments=True, fault_marks=True, cannot_answer=True, back_navigation=True)
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
    reader.wait_saved()
    context.set_offline(True)
    page.keyboard.press("Backspace")
    reader.wait("ready", 2)
    assert reader.brightness() > 0.1
    assert page.locator("[data-option=B]").get_attribute("aria-pressed") == "true"
    expect(mark).to_be_checked()
    mark.uncheck()
    reader.answer("c")
    reader.wait("ready", 3)
    context.set_offline(False)
    reader.wait_saved()
    rows = server.readings()
    assert [(row["position"], row["answer"]) for row in rows] == [(1, "A"), (2, "B"), (2, "C")]
    assert rows[2]["supersedes"] == rows[1]["id"]
    marked = ["question_faulty" in json.loads(row["flags"]) for row in rows]
    assert marked == [True, True, False]
    _skip_and_answer(server, reader)
    assert verify(server.store) == []


def _skip_and_answer(server: Server, reader: Reader) -> None:
    """Skip case 3, answer case 4, and change both later; Esc cancels."""
    page = reader.page
    _press(page, "b", "n", "a", "Enter")
    assert "Choose a reason" in page.locator(".rr-hint").inner_text()
    assert not page.locator("[data-option=A]").is_visible()
    assert reader.brightness() > 0.1, "the film stays in sight"
    _press(page, "1", "Escape")
    assert page.locator("[data-option=B]").get_attribute("aria-pressed") == "true"
    _press(page, "n", "1", "Enter")
    reader.wait("ready", 4)
    reader.answer("a")
    reader.wait("ready", 5)
    reader.wait_saved()
    _press(page, "Backspace")
    reader.wait("ready", 4)
    _press(page, "n", "3", "Enter")
    reader.wait("ready", 5)
    for position in (4, 3):
        _press(page, "Backspace")
        reader.wait("ready", position)
        assert page.locator(".rr-revisited").inner_text() == "already read: cannot answer"
    reader.answer("d")
    reader.wait("ready", 4)
    _press(page, "Enter")
    reader.wait("ready", 5)
    reader.wait_saved()
    rows = server.readings()[3:]
    assert [(row["position"], row["status"], row["answer"]) for row in rows] == [
        (3, "skipped", None),
        (3, "answered", "D"),
        (4, "answered", "A"),
        (4, "skipped", None),
    ]
    assert [row["supersedes"] for row in rows] == [None, rows[0]["id"], None, rows[2]["id"]]


def _press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_a_time_limit_ends_a_case_without_an_answer(serve: Serve, reader: Reader) -> None:
    """The case is stored as timed out, and the next one is shown without the list of shortcuts.

    After three consecutive cases without input, the page pauses.
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
