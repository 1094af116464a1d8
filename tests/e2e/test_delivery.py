"""Answers on their way: when they leave, what holds them up, and what the reader is told."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Dialog, Route, expect
from playwright.sync_api import Error as PlaywrightError

from study.trail import heads
from study.trail.verification import verify
from tests.e2e.conftest import Reader
from tests.e2e.server import Server

pytestmark = pytest.mark.browser
Serve = Callable[..., Server]

REQUESTS_TIMED = """
const send = window.fetch;
window.sentAt = [];
window.fetch = (url, init) => {
  if (String(url).endsWith("/desk/records")) {
    window.sentAt.push([performance.now(), JSON.parse(init.body).records.map(one => one.kind)]);
  }
  return send(url, init);
};
window.readyAt = {};
new MutationObserver(() => {
  const room = document.querySelector("[data-state]")?.dataset;
  if (room?.state === "ready") window.readyAt[room.position] ??= performance.now();
}).observe(document, {childList: true, subtree: true, attributeFilter: ["data-state"]});
const pressed = event => { if (event.key === "Enter") window.pressedAt = event.timeStamp; };
addEventListener("keydown", pressed, true);
"""
WITH_THE_ANSWER = '([, kinds]) => kinds.includes("reading")'
NO_ROOM = """
Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError"); };
"""


def test_answers_leave_after_the_next_case_is_painted(serve: Serve, reader: Reader) -> None:
    """Sending does not compete with painting, and takes the next presentation along."""
    server = serve()
    reader.page.add_init_script(REQUESTS_TIMED)
    reader.enter(server.url, server.codes["R1"])
    for position in (1, 2, 3):
        reader.wait("ready", position)
        reader.wait_saved()
        reader.page.evaluate("window.sentAt = []")
        reader.answer("a")
        reader.wait("ready", position + 1)
        # The presentation of the case before may still leave by itself.
        reader.page.wait_for_function(f"window.sentAt.some({WITH_THE_ANSWER})")
        (sent_at, kinds), ready_at, pressed_at = reader.page.evaluate(
            f"position => [window.sentAt.find({WITH_THE_ANSWER}), window.readyAt[position],"
            " window.pressedAt]",
            position + 1,
        )
        assert "presentation" in kinds or sent_at < ready_at
        assert sent_at >= min(ready_at, pressed_at + 100)


def test_an_answer_kept_nowhere_holds_the_page_and_says_so(serve: Serve, reader: Reader) -> None:
    """No room in the browser and no line: the words ask to stay, and leaving asks back."""
    server = serve()
    reader.page.add_init_script(NO_ROOM)
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.wait_saved()
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    reader.page.on("dialog", stay)
    reader.page.route("**/desk/records", lambda route: route.abort())
    reader.answer("b")
    reader.wait("ready", 2)
    state = reader.page.locator(".rr-outbox")
    expect(state).to_have_text("Not sent: please keep this page open")
    expect(state).to_be_visible()
    with pytest.raises(PlaywrightError, match="ERR_ABORTED"):
        reader.page.goto("about:blank", timeout=5_000)
    assert asked == ["beforeunload"]
    reader.page.unroute("**/desk/records")
    reader.page.evaluate("window.dispatchEvent(new Event('online'))")
    reader.wait_saved()
    expect(state).to_have_text("Saved")
    assert [row["answer"] for row in server.readings()] == ["B"]
    reader.page.goto("about:blank")
    assert asked == ["beforeunload"]


def test_the_state_of_the_answers_is_in_sight_at_every_density(
    serve: Serve, reader: Reader
) -> None:
    """However much the question needs, the word stays inside the window and is not covered."""
    server = serve(confidence=5, comments=True, back_navigation=True)

    def lengthen(route: Route) -> None:
        answer = route.fetch()
        desk = answer.json()
        for case in desk["cases"]:
            words = 68 if case["position"] > 1 else 1
            case["question"] = "q" * 300
            case["options"] = [{"option": o, "text": o + " word" * words} for o in "ABCDEFGH"]
        route.fulfill(response=answer, json=desk)

    reader.page.route("**/desk", lengthen)
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.page.keyboard.press("a")
    reader.page.keyboard.press("Enter")
    reader.page.keyboard.press("3")
    reader.page.keyboard.press("Enter")
    reader.wait("ready", 2)
    reader.wait_saved()
    state = reader.page.locator(".rr-outbox")
    expect(state).to_have_text("Saved")
    on_top = """([x, y]) => Boolean(document.elementFromPoint(x, y).closest('.rr-outbox'))"""
    for width, height in ((1440, 900), (1024, 700), (1080, 1920), (800, 600)):
        reader.page.set_viewport_size({"width": width, "height": height})
        reader.wait_picture()  # the page has chosen a density for this size
        for density in range(7):
            reader.page.evaluate(
                "step => { document.querySelector('[data-state]').dataset.density = step; }",
                str(density),
            )
            box = state.bounding_box()
            assert box is not None
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= height
            assert reader.page.evaluate(on_top, [box["x"] + 20, box["y"] + box["height"] / 2])


def test_answers_refused_at_the_door_are_explained_and_kept(serve: Serve, reader: Reader) -> None:
    """A proxy that spoils the origin is no other reader: the case stays, words say why."""
    server = serve()
    refusal = {"why": "From the reading page only.", "reason": "wrong-origin"}
    reader.page.route("**/desk/records", lambda route: route.fulfill(status=403, json=refusal))
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.answer("a")
    reader.wait("ready", 2)
    expect(reader.page.locator(".rr-toast")).to_contain_text(
        "does not accept answers from this address"
    )
    assert reader.page.locator(".rr-sheet").is_hidden()
    assert reader.state("state") == "ready"
    reader.page.unroute("**/desk/records")
    reader.page.evaluate("window.dispatchEvent(new Event('online'))")
    reader.wait_saved()
    assert [row["answer"] for row in server.readings()] == ["A"]


def test_answers_that_a_store_lost_come_again_from_the_page(serve: Serve, reader: Reader) -> None:
    """The file is put back to after two of five; the sixth brings the lost ones along, in order.

    The reader notices nothing, and the receipt at the end is of the chain as it is then.
    """
    server = serve(cases=6)
    reader.enter(server.url, server.codes["R1"])
    _read(reader, 1, 2)
    server.kill()
    server.store.fold_in()
    before = server.store.path.read_bytes()
    server.start()
    _read(reader, 3, 5)
    server.kill()
    for end in ("-wal", "-shm"):
        server.store.path.with_name(f"{server.store.path.name}{end}").unlink(missing_ok=True)
    server.store.path.write_bytes(before)
    server.start()
    reader.wait("ready", 6)
    reader.answer("a")
    reader.wait("finished")
    flags = [row["flags"] for row in server.readings()]
    assert ["sent_again" in one for one in flags] == [False, False, True, True, True, False]
    (lost,) = [one for one in verify(server.store) if "study:" in one]
    assert "answers sent again since: 3" in lost
    slip = reader.page.locator(".rr-receipt output").inner_text()
    assert slip.startswith("R1 · 6 of 6 · ")
    assert [one.holds for one in heads.check_receipts(server.store, slip)] == [True]
    assert reader.page.evaluate("Object.keys(localStorage).filter(key => /:done:/.test(key))") == []


def _read(reader: Reader, first: int, last: int) -> None:
    for position in range(first, last + 1):
        reader.wait("ready", position)
        reader.answer("a")
    reader.wait("ready", last + 1)
    reader.wait_saved()
