"""The delivery of answers: its time, failures, and messages to the reader."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Dialog, expect
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
    const { records } = JSON.parse(init.body);
    window.sentAt.push([performance.now(), records.map(record => record.kind)]);
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


def test_sent_refused_and_unsaved_answers_are_shown(serve: Serve, reader: Reader) -> None:
    """Answers are sent after the next case is painted.

    The page states why an answer is not stored.
    """
    server = serve()
    reader.page.add_init_script(REQUESTS_TIMED)
    reader.enter(server.url, server.codes["R1"])
    _answer_and_time_the_requests(reader)
    _be_refused(reader)
    assert [row["answer"] for row in server.readings()] == ["A", "A", "A"]
    _answer_without_storage(reader)
    assert [row["answer"] for row in server.readings()] == ["A", "A", "A", "B"]


def _answer_and_time_the_requests(reader: Reader) -> None:
    """Check that sending does not compete with painting, and includes the next presentation."""
    for position in (1, 2):
        reader.wait("ready", position)
        reader.wait_saved()
        reader.page.evaluate("window.sentAt = []")
        reader.answer("a")
        reader.wait("ready", position + 1)
        # The presentation of the previous case may be sent separately.
        reader.page.wait_for_function(f"window.sentAt.some({WITH_THE_ANSWER})")
        (sent_at, kinds), ready_at, pressed_at = reader.page.evaluate(
            f"position => [window.sentAt.find({WITH_THE_ANSWER}), window.readyAt[position],"
            " window.pressedAt]",
            position + 1,
        )
        assert "presentation" in kinds or sent_at < ready_at
        assert sent_at >= min(ready_at, pressed_at + 100)


def _answer_without_storage(reader: Reader) -> None:
    """Answer without storage and connection: leaving the page needs a confirmation."""
    reader.page.add_init_script(NO_ROOM)
    reader.page.reload()
    reader.wait("ready", 4)
    reader.wait_saved()
    texts: list[str] = []

    def stay(dialog: Dialog) -> None:
        texts.append(dialog.type)
        dialog.dismiss()

    reader.page.on("dialog", stay)
    reader.page.route("**/desk/records", lambda route: route.abort())
    reader.answer("b")
    reader.wait("ready", 5)
    state = reader.page.locator(".rr-outbox")
    expect(state).to_have_text("Not sent: please keep this page open")
    expect(state).to_be_visible()
    with pytest.raises(PlaywrightError, match="ERR_ABORTED"):
        reader.page.goto("about:blank", timeout=5_000)
    assert texts == ["beforeunload"]
    reader.page.unroute("**/desk/records")
    reader.page.evaluate("window.dispatchEvent(new Event('online'))")
    reader.wait_saved()
    expect(state).to_have_text("Saved")
    reader.page.goto("about:blank")
    assert texts == ["beforeunload"]


def _be_refused(reader: Reader) -> None:
    """Answer through a proxy that changes the origin: the case stays, and a message says why."""
    refusal = {"why": "From the reading page only.", "reason": "wrong-origin"}
    reader.page.route("**/desk/records", lambda route: route.fulfill(status=403, json=refusal))
    reader.answer("a")
    reader.wait("ready", 4)
    expect(reader.page.locator(".rr-toast")).to_contain_text(
        "does not accept answers from this address"
    )
    assert reader.page.locator(".rr-sheet").is_hidden()
    assert reader.state("state") == "ready"
    reader.page.unroute("**/desk/records")
    reader.page.evaluate("window.dispatchEvent(new Event('online'))")
    reader.wait_saved()


def test_the_page_sends_lost_answers_again(serve: Serve, reader: Reader) -> None:
    """After two of five answers, the file is replaced by its earlier state.

    The page sends the lost answers with the sixth answer. The receipt matches the chain at the end.
    """
    server = serve(cases=6)
    reader.enter(server.url, server.codes["R1"])
    _read(reader, 1, 2)
    server.kill()
    server.store.checkpoint()
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
    assert ["sent_again" in flag for flag in flags] == [False, False, True, True, True, False]
    (lost,) = [breach for breach in verify(server.store) if "study:" in breach]
    assert "answers sent again since: 3" in lost
    receipt = reader.page.locator(".rr-receipt output").inner_text()
    assert receipt.startswith("R1 · 6 of 6 · ")
    assert [check.matches for check in heads.check_receipts(server.store, receipt)] == [True]
    assert reader.page.evaluate("Object.keys(localStorage).filter(key => /:done:/.test(key))") == []


def _read(reader: Reader, first: int, last: int) -> None:
    for position in range(first, last + 1):
        reader.wait("ready", position)
        reader.answer("a")
    reader.wait("ready", last + 1)
    reader.wait_saved()
