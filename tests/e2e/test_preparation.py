"""The steps before the first case, between cases and after the last one, in a browser."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Request, WebSocket

from study.trail.verification import verify
from tests.conftest import SECRETS
from tests.e2e.conftest import Profile, Reader
from tests.e2e.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
Serve = Callable[..., Server]

QUESTIONNAIRE = [
    {
        "id": "level",
        "question": "What are you?",
        "kind": "choice",
        "options": ["Resident", "Specialist", "Neither"],
    },
    {"id": "years", "question": "Years of reading chest films?", "kind": "number"},
    {"id": "site", "question": "Where do you work?", "kind": "text", "required": False},
]
EVERYTHING: dict[str, Any] = {
    "cases": 4,
    "consent": "# What happens here\n\nYou read **films**.",
    "instructions": "Read as you always do.",
    "questionnaire": QUESTIONNAIRE,
    "display_check": True,
    "practice_cases": 2,
    "cannot_answer": True,
    "break_every": 2,
}


def _step(reader: Reader, name: str, count: str = "") -> None:
    reader.page.wait_for_selector(f"[data-state='paused'][data-step='{name}']")
    if count:
        assert reader.page.locator(".rr-prelude-count").inner_text() == count


def _reload(reader: Reader, selector: str) -> None:
    reader.page.reload()
    reader.page.wait_for_selector(selector)


def _press(reader: Reader, *keys: str) -> None:
    for key in keys:
        reader.page.keyboard.press(key)


def _focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.innerText || document.activeElement.name"))


def _see_everything(page: Page) -> None:
    """Complete the display check as a reader who sees every shape, by reading its pixels."""
    while (key := page.wait_for_function(FOUND).json_value()) != "done":
        page.keyboard.press(key)


KEPT = "Object.keys(localStorage).filter(name => name.startsWith('reading-room'))"

FOUND = """() => {
  const field = document.querySelector('.rr-field');
  if (!field) return 'done';
  const pen = field.getContext('2d');
  const at = (x, y) => pen.getImageData(field.width * x, field.height * y, 1, 1).data[0];
  const ground = at(.5, .5);
  const places = [at(.5, .2), at(.8, .5), at(.5, .8), at(.2, .5)];
  const place = places.findIndex((grey) => grey !== ground);
  return place < 0 ? null : String(place + 1);
}"""


def _agree(reader: Reader) -> None:
    _step(reader, "consent")
    _press(reader, "1", "Enter")


def _rows(server: Server, query: str) -> list[dict[str, Any]]:
    with server.store.look() as look:
        return look.rows(query)


def _traffic(page: Page) -> list[bytes]:
    """Return a list to which all responses and messages to a page are added."""
    messages: list[bytes] = []

    def keep(request: Request) -> None:
        response = request.response()
        if response is not None and response.status not in (204, 303, 304):
            messages.append(response.body())

    def frames(socket: WebSocket) -> None:
        socket.on(
            "framereceived",
            lambda frame: messages.append(frame if isinstance(frame, bytes) else frame.encode()),
        )

    page.on("websocket", frames)
    page.on("requestfinished", keep)
    return messages


def test_a_study_can_be_reloaded_at_each_step_from_consent_to_the_end(
    serve: Serve, reader: Reader
) -> None:
    """Each step is shown and stored once. No traffic reveals the reference standard too early."""
    server = serve(**EVERYTHING)
    page = reader.page
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    reader.enter(server.url, server.codes["R1"])
    traffic = _traffic(page)
    _step(reader, "consent", "Step 1 of 4")
    assert page.locator(".rr-words strong").inner_text() == "films"
    _reload(reader, "[data-step='consent']")
    _press(reader, "Enter")
    assert "Press 1 to agree" in page.locator(".rr-prelude-hint").inner_text()
    _press(reader, "1", "Enter")

    _step(reader, "instructions", "Step 2 of 4")
    _reload(reader, "[data-step='instructions']")
    _step(reader, "instructions", "Step 2 of 4")
    _press(reader, "Enter")

    _step(reader, "questionnaire", "Step 3 of 4")
    _press(reader, "2", "Enter")
    page.keyboard.type("3,5")
    _reload(reader, "[data-step='questionnaire']")
    assert _focused(page) == "site", "the focus is on the first question without an answer"
    _press(reader, "Enter")

    _step(reader, "display", "Step 4 of 4")
    _reload(reader, "[data-step='display']")
    _see_everything(page)
    _press(reader, "Enter")

    _step(reader, "begin")
    assert "Practice first" in page.locator(".rr-curtain").inner_text()
    reader.wait("ready", 0)
    assert reader.state("practice") == "true"
    assert page.locator(".rr-position").inner_text() == "Practice 1 of 2"
    _reload(reader, "[data-state='ready'][data-position='0']")
    received = b"".join(traffic)
    assert b"Which finding is present" in received
    assert not [secret for secret in SECRETS if secret.encode() in received]
    assert b'"correct"' not in received
    reader.answer("a")
    page.wait_for_selector(".rr-feedback:not([hidden])")
    _reload(reader, "[data-feedback='true']")
    assert "reference answer" in page.locator(".rr-feedback").inner_text()
    assert SECRETS[2] in page.locator(".rr-feedback").inner_text()
    _press(reader, "Enter")
    reader.wait("ready", 0)
    assert page.locator(".rr-position").inner_text() == "Practice 2 of 2"
    _press(reader, "n", "2", "Enter")
    page.wait_for_selector("[data-feedback='true']")
    _press(reader, "Enter")

    page.wait_for_selector("[data-halt='begin']")
    assert reader.brightness() < 0.02
    _reload(reader, "[data-halt='begin']")
    traffic.clear()
    page.wait_for_timeout(700)  # longer than a double press
    _press(reader, "Enter")

    reader.wait("ready", 1)
    assert reader.state("practice") == "false"
    _reload(reader, "[data-state='ready'][data-position='1']")
    reader.answer("b")
    reader.wait("ready", 2)
    _press(reader, "n", "4")
    page.keyboard.type("the film is of a hand")
    _press(reader, "Enter")

    page.wait_for_selector("[data-halt='break']")
    assert "2 of 4 read" in page.locator(".rr-curtain").inner_text()
    assert reader.brightness() < 0.02
    _reload(reader, "[data-halt='break']")
    _press(reader, "p")
    reader.wait("ready", 3)
    _reload(reader, "[data-state='ready'][data-position='3']")
    reader.answer("c")
    reader.wait("ready", 4)
    reader.answer("d")
    reader.wait("finished")
    _reload(reader, "[data-state='finished']")
    assert not [secret for secret in SECRETS if secret.encode() in b"".join(traffic)]
    assert b'"correct"' not in b"".join(traffic)
    assert page.evaluate(KEPT) == []
    _press(reader, "Enter", "Enter", "Enter")
    assert (_focused(page), reader.state("state")) == ("Thank you", "finished")
    page.get_by_role("button", name="Sign out").last.click()
    page.wait_for_selector("input[name='access_code']")

    assert errors == []
    _assert_everything_is_stored(server)


def _assert_everything_is_stored(server: Server) -> None:
    steps = _rows(server, "SELECT step, detail FROM preparations ORDER BY received_at_utc")
    details = {row["step"]: json.loads(row["detail"]) for row in steps}
    assert [row["step"] for row in steps] == list(details)
    assert list(details) == ["consent", "instructions", "questionnaire", "display"]
    assert details["consent"] == {"agreed": True}
    assert details["questionnaire"] == {"answers": {"level": "Specialist", "years": 3.5}}
    display = details["display"]
    assert (display["dark_step"], display["bright_step"], display["presses"]) == (1, 1, 11)
    assert (display["viewport_width"], display["viewport_height"]) == (1024, 700)
    practice = _rows(server, "SELECT status, answer, reason FROM practice_readings")
    assert sorted((row["status"], row["reason"]) for row in practice) == [
        ("answered", ""),
        ("skipped", "Question unclear"),
    ]
    assert [(row["position"], row["status"], row["answer"]) for row in server.readings()] == [
        (1, "answered", "B"),
        (2, "skipped", None),
        (3, "answered", "C"),
        (4, "answered", "D"),
    ]
    reasons = _rows(server, "SELECT words FROM reasons")
    assert [row["words"] for row in reasons] == ["Something else: the film is of a hand"]
    assert verify(server.store) == []


def test_a_reader_declines_then_completes_the_steps_without_a_connection(
    serve: Serve, reader: Reader
) -> None:
    """Declining is not recorded; the button and Enter report each missing answer.

    The next step is shown at once, and the records survive a reload and arrive in order.
    """
    server = serve(consent="May we?", instructions="Read.", questionnaire=QUESTIONNAIRE)
    page = reader.page
    reader.enter(server.url, server.codes["R1"])
    _step(reader, "consent")
    _press(reader, "2", "Enter")
    _step(reader, "declined")
    assert "nothing about you is recorded" in page.locator(".rr-prelude").inner_text()
    _press(reader, "Escape")
    _step(reader, "consent")
    _press(reader, "2", "Enter")
    _step(reader, "declined")
    page.get_by_role("button", name="Sign out").last.click()
    page.wait_for_selector("input[name='access_code']")
    assert _rows(server, "SELECT * FROM preparations") == []

    reader.enter(server.url, server.codes["R1"])
    _step(reader, "consent")
    page.wait_for_load_state("networkidle")
    page.route("**/desk/records", lambda route: route.abort())
    _agree(reader)
    _step(reader, "instructions")
    _press(reader, "Enter")
    _step(reader, "questionnaire")
    assert _rows(server, "SELECT * FROM preparations") == []
    _reload(reader, "[data-step='questionnaire']")
    _complete_the_questionnaire(reader)
    page.unroute("**/desk/records")
    page.evaluate("dispatchEvent(new Event('online'))")
    reader.wait("ready", 1)
    steps = _rows(server, "SELECT step, detail FROM preparations ORDER BY rowid")
    assert [row["step"] for row in steps] == ["consent", "instructions", "questionnaire"]
    stored = json.loads(steps[-1]["detail"])
    assert stored == {"answers": {"level": "Specialist", "years": 12}}
    _press(reader, "n")  # this protocol does not let readers skip a case
    assert page.locator(".rr-give-up").is_hidden()
    assert page.locator("[data-option=A]").is_visible()


def _complete_the_questionnaire(reader: Reader) -> None:
    """Answer the questions, after each missing answer was reported."""
    page = reader.page
    missing, hint = page.locator(".rr-missing:visible"), page.locator(".rr-prelude-hint")
    _press(reader, "Enter", "Enter")
    assert missing.all_inner_texts() == ["Choose one of the options."]
    assert hint.inner_text() == "1 answer is missing."
    assert _focused(page) == "level"
    page.locator(".rr-primary").click()
    assert missing.all_inner_texts() == ["Choose one of the options.", "Enter a number."]
    assert hint.inner_text() == "2 answers are missing."
    assert _focused(page) == "level"
    _press(reader, "2")
    assert page.locator("[name=years]").input_value() == ""
    assert missing.all_inner_texts() == ["Enter a number."]
    assert hint.inner_text() == "1 answer is missing."
    _press(reader, "Enter")
    assert _focused(page) == "years"
    page.keyboard.type("many")
    _press(reader, "Enter")
    assert missing.all_inner_texts() == ["This is not a number. Use digits only."]
    assert _focused(page) == "years"
    _press(reader, "Control+a")
    page.keyboard.type("12")
    assert missing.count() == 0
    assert hint.inner_text() == ""
    _press(reader, "Enter", "Enter")


def test_a_display_check_can_fail_and_is_repeated_after_a_sign_in(
    serve: Serve, reader: Reader, context: BrowserContext
) -> None:
    """A reader who sees no shape gets advice, can repeat the check, and can continue.

    After another sign-in in a second tab, the open case is finished before the next check.
    """
    server = serve(cases=3, display_check=True)
    reader.page.set_viewport_size({"width": 1180, "height": 700})
    reader.enter(server.url, server.codes["R1"])
    _step(reader, "display")
    for times in (1, 2):
        while reader.page.wait_for_function(FOUND).json_value() != "done":
            _press(reader, " ")
        advice = " ".join(reader.page.locator(".rr-advice li").all_inner_texts())
        for words in (
            "not see any of the discs",
            "dim the room",
            "another screen",
            "tell your",
            "F11",
        ):
            assert words in advice
        if times == 1:
            reader.page.get_by_role("button", name="Check again").click()
    _press(reader, "Enter")
    reader.wait("ready", 1)
    reader.wait_saved()
    stored = json.loads(_rows(server, "SELECT detail FROM preparations")[0]["detail"])
    assert (stored["dark_step"], stored["bright_step"]) == ("none", "none")
    assert (stored["advice"], stored["times"]) == ("window nothing", 2)
    context.clear_cookies()
    other = Reader(context.new_page())
    other.enter(server.url, server.codes["R1"])
    other.page.wait_for_selector(".rr-sheet")  # the first window is open for reading
    other.page.close()
    reader.answer("b")
    reader.wait_saved()
    reader.wait("ready", 2)
    reader.answer("c")
    _step(reader, "display")
    _see_everything(reader.page)
    _press(reader, "Enter")
    reader.wait("ready", 3)
    assert [(row["position"], row["answer"]) for row in server.readings()] == [(1, "B"), (2, "C")]
    assert len(_rows(server, "SELECT * FROM preparations")) == 2


def test_a_study_can_be_read_by_pointer_on_a_tablet(serve: Serve, new_profile: Profile) -> None:
    """Steps, shapes, tools and reasons can be touched without keys."""
    server = serve(**{**EVERYTHING, "practice_cases": 0, "cases": 2, "break_every": 1})
    size = {"width": 1180, "height": 820}
    reader = Reader(new_profile(viewport=size, has_touch=True, is_mobile=True).new_page())
    page = reader.page
    reader.enter(server.url, server.codes["R1"])
    _step(reader, "consent")
    page.get_by_role("button", name="I agree").click()
    _step(reader, "instructions")
    page.get_by_role("button", name="Continue").click()
    _step(reader, "questionnaire")
    page.get_by_text("Neither").click()
    page.get_by_label("Years of reading chest films?").fill("7")
    page.get_by_role("button", name="Continue").click()
    _step(reader, "display")
    while (place := page.wait_for_function(FOUND).json_value()) != "done":
        page.locator(f"[data-place='{place}']").click()
    page.get_by_role("button", name="Go to the cases").click()
    reader.wait("ready", 1)
    _check_the_buttons_of_a_tablet(page)
    page.locator(".rr-give-up").click()
    page.locator("[data-reason='4']").click()
    page.locator(".rr-confirm").click(force=True)  # the button says that it is not ready
    assert "Please say briefly" in page.locator(".rr-hint").inner_text()
    page.locator(".rr-reason-text").fill("too small")
    page.locator(".rr-confirm").click()
    page.wait_for_selector("[data-halt='break']")
    page.get_by_role("button", name="Continue").click()
    reader.wait("ready", 2)
    page.locator(".rr-give-up").click()
    page.locator(".rr-give-up").click()
    page.locator("[data-option=A]").click()
    page.locator(".rr-confirm").click()
    reader.wait("finished")
    assert [(row["status"], row["answer"]) for row in server.readings()] == [
        ("skipped", None),
        ("answered", "A"),
    ]


def _check_the_buttons_of_a_tablet(page: Page) -> None:
    """Check that all tools are visible, at least 44 pixels high, and do not cover the answers."""
    buttons = page.locator(".rr-tools button:visible, .rr-option:visible, .rr-confirm:visible")
    assert buttons.count() == 16 + 4 + 1
    for button in buttons.all():
        box = button.bounding_box()
        assert box is not None
        assert box["height"] >= 44
        assert box["y"] + box["height"] <= 820
    page.get_by_role("button", name="Mirror").tap()
    page.locator(".rr-mirrored:visible").first.wait_for()
