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


def test_a_study_by_keyboard_alone_with_a_reload_in_the_middle(
    serve: Serve, reader: Reader
) -> None:
    """Letters and digits answer, Enter confirms, a reload resumes, the end says so."""
    server = serve()
    errors: list[str] = []
    reader.page.on("pageerror", lambda error: errors.append(str(error)))
    reader.sign_in(server.url, server.codes["R1"])
    for position, key in enumerate(["b", "2", "C", "4", "a", "1"], start=1):
        reader.wait("ready", position)
        assert reader.state("total") == "6"
        if position == 4:
            reader.page.reload()
            reader.wait("ready", position)
        reader.answer(key)
    reader.wait("finished")
    assert reader.state("outbox") == "0"
    rows = server.readings()
    assert [row["answer"] for row in rows] == ["B", "B", "C", "D", "A", "A"]
    for row in rows:
        assert 0 < row["response_ms"] <= row["elapsed_ms"] < 120_000
        assert 0 < row["first_selection_ms"] <= row["response_ms"]
        assert row["response_ms"] + row["hidden_ms"] + row["paused_ms"] == pytest.approx(
            row["elapsed_ms"], abs=1
        )
    assert errors == []
    assert verify(server.store) == []


def test_double_press_and_double_click_make_one_reading(serve: Serve, reader: Reader) -> None:
    """However often Enter is hit or the button clicked, a case is read once."""
    server = serve()
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.page.keyboard.press("a")
    for _ in range(3):
        reader.page.keyboard.press("Enter")
    reader.wait("ready", 2)
    reader.page.locator("[data-option=B]").dblclick()
    reader.page.get_by_role("button", name="Confirm").dblclick()
    reader.wait("ready", 3)
    reader.wait_saved()
    assert [(row["position"], row["answer"]) for row in server.readings()] == [(1, "A"), (2, "B")]


def test_a_second_sign_in_resumes_where_the_reader_was(
    serve: Serve, reader: Reader, browser: object, context: BrowserContext
) -> None:
    """Signing out and in again, nothing is asked twice."""
    server = serve()
    reader.enter(server.url, server.codes["R1"])
    for position in (1, 2):
        reader.wait("ready", position)
        reader.answer("a")
    reader.wait("ready", 3)
    reader.wait_saved()
    context.clear_cookies()
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 3)


def test_answers_survive_a_cut_line_and_a_reload(
    serve: Serve, reader: Reader, context: BrowserContext
) -> None:
    """What is answered without a network is kept, said to be kept, and sent once it is back."""
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


def test_answers_survive_a_killed_server(serve: Serve, reader: Reader) -> None:
    """The server dies in mid-study; the page goes on and delivers when it is back."""
    server = serve()
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.page.wait_for_load_state("networkidle")
    server.kill()
    reader.answer("c")
    reader.wait("ready", 2)
    reader.answer("d")
    assert reader.state("outbox") == "2"
    server.start()
    reader.wait_saved()
    for position in range(3, 7):
        reader.wait("ready", position)
        reader.answer("a")
    reader.wait("finished")
    assert [row["answer"] for row in server.readings()] == ["C", "D", "A", "A", "A", "A"]
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


def test_nothing_secret_reaches_the_browser(serve: Serve, reader: Reader) -> None:
    """All traffic of a session, HTTP and websocket, from sign-in to the end, is looked through."""
    server = serve()
    seen: list[bytes] = []
    hosts: set[str] = set()

    def keep(request: Request) -> None:
        response = request.response()
        if response is not None and response.status not in (204, 303, 304):
            seen.append(response.body())

    def frames(socket: WebSocket) -> None:
        socket.on(
            "framereceived",
            lambda frame: seen.append(frame if isinstance(frame, bytes) else frame.encode()),
        )

    reader.page.on("websocket", frames)
    reader.page.on("requestfinished", lambda request: hosts.add(request.url.split("/")[2]))
    reader.enter(server.url, server.codes["R1"])
    reader.page.on("requestfinished", keep)
    for position in range(1, 7):
        reader.wait("ready", position)
        reader.answer("a")
    reader.wait("finished")
    everything = b"".join(seen)
    assert len(everything) > 10_000
    assert b"Which finding is present" in everything
    for secret in (*SECRETS, "correct_answer", "reference_standard", "_pa.png"):
        assert secret.encode() not in everything
    assert hosts == {server.url.removeprefix("http://")}


def test_shuffled_options_are_stored_canonically(serve: Serve, reader: Reader) -> None:
    """The text at letter A on the screen is the option stored."""
    server = serve(option_order="random")
    reader.enter(server.url, server.codes["R1"])
    texts = []
    for position in range(1, 7):
        reader.wait("ready", position)
        texts.append(reader.page.locator("[data-option=A]").inner_text())
        reader.answer("a")
    reader.wait("finished")
    rows = server.readings()
    assert len({row["shown_order"] for row in rows}) > 1
    for row, text in zip(rows, texts, strict=True):
        assert row["answer"] == row["shown_order"][0]
        assert f"Finding {row['answer']}" in text


def test_back_navigation_keeps_both_answers(serve: Serve, reader: Reader) -> None:
    """Where allowed, a changed answer is a new reading that supersedes the old one."""
    server = serve(back_navigation=True)
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.answer("a")
    reader.wait("ready", 2)
    reader.wait_saved()
    reader.page.keyboard.press("Backspace")
    reader.wait("ready", 1)
    reader.answer("d")
    reader.wait("ready", 2)
    reader.wait_saved()
    rows = server.readings()
    assert [(row["position"], row["answer"]) for row in rows] == [(1, "A"), (1, "D")]
    assert rows[1]["supersedes"] == rows[0]["id"]


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
    answers = [(row["position"], row["answer"]) for row in server.readings()]
    assert answers == [(1, "A"), (2, "B"), (2, "C")]


def test_confidence_is_asked_for_and_stored(serve: Serve, reader: Reader) -> None:
    """A letter, a digit and Enter are a whole answer; a digit before the letter is none."""
    server = serve(confidence=5)
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.page.keyboard.press("4")
    expect(reader.page.locator(".rr-hint")).to_contain_text("press a letter")
    for key in ("b", "4", "Enter"):
        reader.page.keyboard.press(key)
    reader.wait("ready", 2)
    reader.wait_saved()
    assert [(row["answer"], row["confidence"]) for row in server.readings()] == [("B", 4)]


def test_feedback_after_a_case_is_shown_before_the_next(serve: Serve, reader: Reader) -> None:
    """Right or wrong is told after the answer is stored; Enter goes on."""
    server = serve(feedback="after case")
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.answer("b")
    reader.wait_saved()
    reader.page.wait_for_selector(".rr-feedback:not([hidden])")
    assert reader.state("position") == "1"
    reader.page.keyboard.press("Enter")
    reader.wait("ready", 2)


def test_a_time_limit_commits_what_was_not_answered(serve: Serve, reader: Reader) -> None:
    """At zero a case is over, stored as timed out, and the next comes; an empty desk waits.

    After three cases in a row that nobody touched the page asks whether somebody is there.
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


def test_image_absent_shows_the_question_and_no_film(serve: Serve, reader: Reader) -> None:
    """The condition leaves the question to be read, and times it."""
    server = serve(conditions=["image-absent"])
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    assert reader.brightness() < 0.02
    reader.answer("a")
    reader.wait("ready", 2)


def test_simulated_films_are_said_to_be_so(serve: Serve, reader: Reader) -> None:
    """The words stand on the reading page."""
    server = serve()
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.page.get_by_text("Simulated radiographs").wait_for()


def test_the_circumstances_of_a_presentation_are_kept(serve: Serve, reader: Reader) -> None:
    """Window, pixel ratio and renderer stand beside each presentation."""
    server = serve()
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.answer("a")
    reader.wait_saved()
    with server.store.look() as look:
        kept = json.loads(look.value("SELECT circumstances FROM presentations"))
    assert kept["viewport"] == [1024, 700]
    assert kept["renderer"] in ("webgl2", "canvas2d")


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
