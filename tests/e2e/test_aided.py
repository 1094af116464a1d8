"""Aided reading in a browser: what readers see, and no part of an aid arrives before it is due.

All traffic to the reader's browser is recorded, except Streamlit's own files: responses of every
route, and the messages of the connection. Each answer of the model contains marks that occur
nowhere else.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Route, WebSocket, expect

from study.models.models import add_model
from study.store import Store, banks
from study.store.studies import study_row
from study.trail.verification import verify
from tests.conftest import ACTING
from tests.e2e.conftest import Profile, Reader
from tests.e2e.server import Server

pytestmark = pytest.mark.browser
Serve = Callable[..., Server]

EXPLAINED = {"aid_shows": ["answer", "confidence", "explanation", "boxes"]}
AID = "[data-label=aid]"
SHOWN = f"{AID}[data-state=shown]"
NOT_STREAMLITS = re.compile(r"^(?!http://[^/]+/static/)")


def _number(item_id: str) -> int:
    return int(item_id[1:])


def _marks(item_id: str) -> tuple[str, ...]:
    """Return the parts that only an item's aid contains: words, label, coordinate, confidence."""
    n = _number(item_id)
    return (f"WORDS-OF-{item_id}", f"BOX-OF-{item_id}", f"0.31{n:04d}7", f"0.72{n:04d}3")


def _add_model(store: Store, *, missing: int = 0, correct: bool = False) -> None:
    """Add a model that answers A, or correctly, with marks, and leaves some cases out."""
    with store.look() as look:
        rows = banks.items_of_study(look, study_row(look, "trial").id)
    answers = {}
    for row in rows[missing:]:
        words, label, x, confidence = _marks(row.item_id)
        answers[row.item_id] = {
            "model_prediction": row.truth if correct else "A",
            "confidence": float(confidence),
            "explanation": words,
            "boxes": [{"x": float(x), "y": 0.5, "width": 0.25, "height": 0.125, "label": label}],
        }
    path = store.path.with_name("predictions.json")
    path.write_text(json.dumps(answers))
    add_model(store, path, study="trial", model_id="m", acting=ACTING)


@dataclass
class Traffic:
    """What a browser sends to the server and receives from it, in order.

    Parameters
    ----------
    line
        "" while the connection works; "cut" if no message of the desk arrives at the server, and
        "lost" if the server stores the message and its response does not come back.
    """

    line: str = ""
    log: list[tuple[str, bytes]] = field(default_factory=list)

    def record(self, context: BrowserContext) -> None:
        """Record the traffic of all windows of a browser from now on."""
        context.route(NOT_STREAMLITS, self._pass)
        context.on("page", lambda page: page.on("websocket", self._listen))

    def _pass(self, route: Route) -> None:
        request = route.request
        of_desk = "/desk" in request.url
        if of_desk and self.line == "cut":
            route.abort()
            return
        if request.url.endswith("/desk/records"):
            self.log.append(("sent", request.post_data_buffer or b""))
        response = route.fetch(max_retries=3)  # the server closes connections idle for 5 s
        if of_desk and self.line == "lost":
            route.abort()
            return
        head = f"{request.url} {response.headers}\n".encode()
        self.log.append(("received", head + response.body()))
        if request.resource_type == "document":
            # Chromium does not let a page served by a test connect to this machine, so the browser
            # repeats the request.
            route.continue_()
        else:
            route.fulfill(response=response)

    def _listen(self, line: WebSocket) -> None:
        def note(payload: bytes | str) -> None:
            self.log.append(("received", payload.encode() if isinstance(payload, str) else payload))

        line.on("framereceived", note)

    def revealed(self) -> set[str]:
        """Return the items of which any mark arrived."""
        return {item for kind, data in self.log if kind == "received" for item in _items(data)}


def _items(data: bytes) -> Iterator[str]:
    for words, label, x, confidence in re.findall(
        rb"WORDS-OF-(q\d{4})|BOX-OF-(q\d{4})|0\.31(\d{4})7|0\.72(\d{4})3", data
    ):
        option_text = words or label
        yield option_text.decode() if option_text else f"q{(x or confidence).decode()}"


def _places(server: Server, reader: str) -> list[dict[str, Any]]:
    """Return the entries of a reader's list in their order, with their items."""
    with server.store.look() as look:
        return look.rows(
            "SELECT assignments.id AS id, item_id, condition, stage FROM assignments "
            "JOIN cases ON cases.id = case_id JOIN items ON items.id = cases.item "
            "JOIN readers ON readers.id = reader WHERE reader_id = :reader "
            "ORDER BY position, stage",
            reader=reader,
        )


def _too_early(traffic: Traffic, places: list[dict[str, Any]], when: str) -> list[str]:
    """Return the items of which a part of the aid arrived before it was due.

    An aid that was due before remains due, because the reader has seen it. A case that is not aided
    does not contain an aid.
    """
    read: set[str] = set()
    requested: set[str] = set()
    items_due: set[str] = set()
    early = []
    for kind, data in traffic.log:
        if kind == "sent":
            for record in json.loads(data)["records"]:
                if record["kind"] == "reading":
                    read.add(record["case"])
                elif record["kind"] == "aid request":
                    requested.add(record["case"])
            items_due |= _aids_due(places, read, requested, when)
            continue
        items_due |= _aids_due(places, read, requested, when)
        early += sorted(set(_items(data)) - items_due)
        early += _in_cases(data, {place["id"]: place for place in places}, items_due)
    return early


def _aids_due(
    places: list[dict[str, Any]], read: set[str], requested: set[str], when: str
) -> set[str]:
    if when == "on demand":
        return {place["item_id"] for place in places if place["id"] in requested}
    waiting = next((n for n, place in enumerate(places) if place["id"] not in read), len(places))
    return {place["item_id"] for place in places[: waiting + 1] if place["condition"] == "aided"}


def _in_cases(data: bytes, places: dict[str, dict[str, Any]], items_due: set[str]) -> Iterator[str]:
    """Yield the items of cases on a desk that have their content before it is due."""
    try:
        desk = json.loads(data.partition(b"\n")[2])
    except ValueError:
        return
    desk = desk.get("desk", desk) if isinstance(desk, dict) else {}
    for case in desk.get("cases", ()):
        place = places.get(case["case"])
        if place is None:
            assert case["practice"]
            assert "aid" not in case
        elif place["condition"] != "aided":
            if "aid" in case or set(_items(json.dumps(case).encode())):
                yield place["item_id"]
        elif case["aid"]["content"] is not None and place["item_id"] not in items_due:
            yield place["item_id"]


def _tops(page: Page) -> list[float]:
    """Return the positions and sizes of the options and the images."""
    boxes: list[float] = page.evaluate(
        "[...document.querySelectorAll('.rr-options [data-option], .rr-films')]"
        ".flatMap((each) => { const box = each.getBoundingClientRect();"
        " return [box.x, box.y, box.width, box.height]; })"
    )
    return boxes


def _press(reader: Reader, *keys: str) -> None:
    for key in keys:
        reader.page.keyboard.press(key)


def _revealed(reader: Reader, position: int) -> None:
    reader.page.wait_for_selector(f"[data-state=ready][data-position='{position}'] {SHOWN}")


COUNT_FRAMES = """
let frames = 0;
let arrived = null;
window.reveals = [];
const SHOWN = "[data-label=aid][data-state=shown]";
const isShown = () => [document, ...[...document.querySelectorAll("*")].map((e) => e.shadowRoot)]
  .some((root) => root?.querySelector(SHOWN));
const tick = () => {
  frames += 1;
  if (arrived !== null && isShown()) {
    window.reveals.push(frames - arrived);
    arrived = null;
  }
  requestAnimationFrame(tick);
};
requestAnimationFrame(tick);
const original = window.fetch;
window.fetch = async (...request) => {
  const response = await original(...request);
  response.clone().text().then((text) => { if (text.includes("BOX-OF-")) arrived = frames; });
  return response;
};
"""
"""Counts the frames from the arrival of an aid in the browser to the frame that shows it."""


@pytest.mark.thorough
def test_sequential_reading_reveals_the_aid_after_each_answer(
    serve: Serve, new_profile: Profile
) -> None:
    """Practice, interruptions, a double Enter and a reload of stage 2 do not reveal it early.

    It is painted within two frames of its arrival.
    """
    traffic = Traffic()
    context = new_profile()
    context.add_init_script(COUNT_FRAMES)
    traffic.record(context)
    server = serve(
        add_models=lambda store: _add_model(store, correct=True),
        cases=4,
        practice_cases=1,
        conditions=["unaided", "aided"],
        aid="after",
        aid_model="m",
        aid_errors=2,
        aid_shows=["answer", "confidence", "boxes"],
    )
    reader = Reader(context.new_page())
    page = reader.page
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 0)
    expect(page.locator(AID)).to_be_hidden()
    reader.answer("a")
    page.wait_for_selector("[data-feedback=true]")
    _press(reader, "Enter")
    page.wait_for_selector("[data-halt=begin]")
    _press(reader, "p")

    reader.wait("ready", 1)
    reader.wait_saved()
    before = _tops(page)
    traffic.line = "cut"
    reader.answer("b")
    expect(page.locator(".rr-hint")).to_contain_text("Waiting")
    expect(page.locator(".rr-question")).to_be_visible()
    expect(page.locator(SHOWN)).to_be_hidden()
    traffic.line = ""
    _revealed(reader, 1)
    assert _tops(page) == before
    expect(page.locator(AID)).to_contain_text("Output of an AI model")
    expect(page.locator(".rr-aid-mark")).to_have_count(1)
    expect(page.locator(".rr-box:not(.rr-below)")).to_have_count(1)
    pressed = page.locator("[data-option=B]")
    expect(pressed).to_have_attribute("aria-pressed", "true")
    _assert_painted_at_once(page, reveals=1)
    page.reload()
    _revealed(reader, 1)
    expect(pressed).to_have_attribute("aria-pressed", "true")
    page.wait_for_timeout(700)
    page.evaluate("window.reveals = []")
    _press(reader, "Enter")

    reader.wait("ready", 2)
    expect(page.locator(SHOWN)).to_be_hidden()
    traffic.line = "lost"
    _press(reader, "c", "Enter")
    expect(page.locator(".rr-hint")).to_contain_text("Waiting")
    traffic.line = ""
    _revealed(reader, 2)
    page.wait_for_timeout(700)
    reader.answer("d")

    reader.wait("ready", 3)
    _press(reader, "a", "Enter")
    _revealed(reader, 3)
    _assert_painted_at_once(page, reveals=2)
    _press(reader, "Enter")
    page.wait_for_timeout(700)
    assert reader.state("position") == "3"
    _press(reader, "Enter")
    reader.wait("ready", 4)
    page.go_back()
    page.go_forward()
    reader.wait("ready", 4)
    _press(reader, "a", "Enter")
    _revealed(reader, 4)
    _assert_painted_at_once(page, reveals=1)
    page.wait_for_timeout(700)
    _press(reader, "Enter")
    reader.wait("finished")
    expect(page.locator(".rr-curtain")).to_contain_text("deliberately replaced by wrong ones")

    rows = server.readings()
    assert [row["answer"] is not None for row in rows] == [True] * 8
    chosen = [row["shown_order"].index(row["answer"]) for row in rows]
    assert chosen == [1, 1, 2, 3, 0, 0, 0, 0]
    assert [row["aid_shown_ms"] is not None for row in rows[::2]] == [False] * 4
    assert all(row["aid_shown_ms"] > 0 for row in rows[3::2])
    places = _places(server, "R1")
    assert traffic.revealed() == {place["item_id"] for place in places}
    assert _too_early(traffic, places, "after") == []
    assert verify(server.store) == []


def _assert_painted_at_once(page: Page, reveals: int) -> None:
    """Check the frames from the arrival of each aid, which depends on server and network."""
    page.wait_for_function(f"window.reveals.length >= {reveals}")
    assert max(page.evaluate("window.reveals")) <= 2


DESIGNS: dict[str, dict[str, Any]] = {
    "crossover": {"cases": 3, "conditions": ["unaided", "aided"], "sessions": 2, "washout_days": 0},
    "on demand": {"cases": 5, "conditions": ["aided"], "aid": "on demand"},
}


def _reload(reader: Reader, traffic: Traffic) -> None:
    reader.page.reload()


def _cut(reader: Reader, traffic: Traffic) -> None:
    """Answer without a connection; the screen shows only data received earlier."""
    traffic.line = "cut"
    reader.answer("b")
    reader.page.wait_for_timeout(1500)
    traffic.line = ""


def _lose(reader: Reader, traffic: Traffic) -> None:
    """Answer while responses of the server are lost."""
    traffic.line = "lost"
    reader.answer("c")
    reader.page.wait_for_timeout(1500)
    traffic.line = ""


def _second_window(reader: Reader, traffic: Traffic) -> None:
    other = reader.page.context.new_page()
    other.goto(reader.page.url)
    expect(other.locator(".rr-sheet")).to_contain_text("Reading is open in another window")
    other.close()


def _go_back(reader: Reader, traffic: Traffic) -> None:
    reader.page.go_back()
    reader.page.go_forward()


Disturbance = Callable[[Reader, Traffic], None]
DISTURBANCES: tuple[Disturbance, ...] = (_reload, _cut, _lose, _second_window, _go_back)


def _wait_for_case(reader: Reader, position: int) -> None:
    """Wait for a case, and continue if the page announces another condition or session."""
    case = f"[data-state=ready][data-position='{position}']"
    reader.page.wait_for_selector(f"{case}, [data-state=paused]")
    if reader.state("state") == "paused":
        _press(reader, "p")
        reader.page.wait_for_selector(case)


@pytest.mark.thorough
@pytest.mark.parametrize("design", DESIGNS)
def test_no_part_of_an_aid_arrives_before_it_is_due(
    serve: Serve, new_profile: Profile, design: str
) -> None:
    """The study includes a reload, lost messages and responses, a second window and going back."""
    server = serve(add_models=_add_model, aid_model="m", **EXPLAINED, **DESIGNS[design])
    traffic = Traffic()
    context = new_profile()
    traffic.record(context)
    reader = Reader(context.new_page())
    reader.enter(server.url, server.codes["R1"])
    places = _places(server, "R1")
    requested = _reads(reader, traffic, places, cycle(DISTURBANCES), design)
    context.close()
    aided = {place["item_id"] for place in places if place["condition"] == "aided"}
    assert traffic.revealed() == (requested if design == "on demand" else aided)
    assert _too_early(traffic, places, DESIGNS[design].get("aid", "first")) == []
    assert len(server.readings()) == len(places)


def _reads(
    reader: Reader,
    traffic: Traffic,
    places: list[dict[str, Any]],
    disturbances: Iterator[Disturbance],
    design: str,
) -> set[str]:
    """Read all entries with a disturbance at each, and return the items whose aid was requested."""
    requested = set()
    for number, place in enumerate(places):
        position = number % DESIGNS[design]["cases"] + 1
        _wait_for_case(reader, position)
        if design == "on demand" and number % 2:
            _press(reader, "Shift+M")
            reader.page.wait_for_selector(SHOWN)
            requested.add(place["item_id"])
        disturb = next(disturbances)
        disturb(reader, traffic)
        if disturb not in (_cut, _lose):
            _wait_for_case(reader, position)
            reader.answer("a")
    reader.wait("finished")
    return requested
