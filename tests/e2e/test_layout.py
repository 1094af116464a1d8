"""Nothing on the reading page moves while a case is open."""

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, ViewportSize, expect

from tests.conftest import write_bank
from tests.e2e.conftest import Reader
from tests.e2e.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
Serve = Callable[..., Server]

SIZES = ((1440, 900), (1920, 1080), (1180, 820), (1024, 700))
EXPLANATION = "The right lower zone is opaque with air bronchograms, the heart normal in size. " * 4
MESSAGE = "An answer was not accepted: the server has no room for it. Tell your coordinator. " * 2
BOXES = """() => Object.fromEntries([...document.querySelectorAll(`.rr-films, .rr-panel, .rr-plate,
  .rr-question, .rr-option, .rr-steps button, .rr-comment, .rr-faulty, .rr-give-up, .rr-back,
  .rr-confirm, .rr-tools button, .rr-outbox, .rr-about`)].map((each, i) => {
    const { x, y, width, height } = each.getBoundingClientRect();
    return [`${i} ${each.className} ${each.dataset.command ?? ""}`, [x, y, width, height].join()];
  }))"""


def _bank(folder: Path) -> Path:
    """Write a bank with texts of usual length; a third each have one, two and three views."""
    path = write_bank(folder, 12, 1)
    records = json.loads(path.read_text())
    for number, record in enumerate(records.values()):
        films = record["ImagePath"]
        third = films[0].replace("_pa", "_ap")
        shutil.copy(path.parent / films[0], path.parent / third)
        record["question"] += " Choose the one that fever and a cough of three days support best."
        record["options"] = [f"{option} of the right lower lobe" for option in record["options"]]
        record["correct_answer_explanation"] = EXPLANATION
        record["ImagePath"] = [*films, third][: 1 + number % 3]
        record["ImageViewPosition"] = ["PA", "LATERAL", "AP"][: 1 + number % 3]
    path.write_text(json.dumps(records))
    return path


def test_nothing_moves_from_the_opening_of_a_case_to_its_feedback(
    serve: Serve, reader: Reader, context: BrowserContext, tmp_path: Path
) -> None:
    """Hints, answers, a message, a lost connection and feedback do not change the layout.

    Cases with one, two and three views are each opened in windows of all sizes, those with one
    view by a reload.
    """
    server = serve(
        bank=_bank(tmp_path / "long"),
        cases=12,
        feedback="after case",
        confidence=5,
        comments=True,
        cannot_answer=True,
        fault_marks=True,
    )
    page, keyboard = reader.page, reader.page.keyboard
    opened_with: Counter[int] = Counter()
    for position, views in enumerate(_views(server), start=1):
        width, height = SIZES[opened_with[views]]
        opened_with[views] += 1
        page.set_viewport_size({"width": width, "height": height})
        if position == 1:
            reader.enter(server.url, server.codes["R1"])
        else:
            keyboard.press("Enter")
        reader.wait("ready", position)
        if views == 1:
            page.reload()
            reader.wait("ready", position)
        assert page.locator(".rr-plate:visible").count() == views
        _check_layout(reader, context)
    assert opened_with == {1: 4, 2: 4, 3: 4}


def _views(server: Server) -> list[int]:
    """Return the number of views of each case, in order."""
    with server.store.look() as look:
        rows = look.rows(
            "SELECT item_id FROM assignments JOIN cases ON cases.id = case_id "
            "JOIN items ON items.id = cases.item ORDER BY position"
        )
    return [1 + int(row["item_id"][1:]) % 3 for row in rows]


def _check_layout(reader: Reader, context: BrowserContext) -> None:
    """Answer a case and compare its layout after each step with that at its opening."""
    page, keyboard = reader.page, reader.page.keyboard
    reader.wait_picture()
    opened = page.evaluate(BOXES)
    assert len(opened) > 20
    for keys in (["Enter"], ["2"], ["b"], ["n"], ["Escape"], ["3"], ["t", "x", "Enter", "y"]):
        for key in keys:
            keyboard.press(key)
        if keys != ["n"]:
            assert page.evaluate(BOXES) == opened, (page.viewport_size, keys)
    keyboard.press("Escape")
    _toast(page, MESSAGE)
    assert page.evaluate(BOXES) == opened, (page.viewport_size, "message")
    _toast(page, "")
    context.set_offline(True)
    keyboard.press("Enter")
    expect(page.locator(".rr-outbox")).to_contain_text("Saved on this computer")
    assert page.evaluate(BOXES) == opened, (page.viewport_size, "offline")
    context.set_offline(False)
    page.wait_for_selector("[data-feedback='true']")
    expect(page.locator(".rr-feedback")).to_be_in_viewport()
    expect(page.locator(".rr-outbox")).to_have_text("Saved")
    reader.wait_picture()
    assert page.evaluate(BOXES) == opened, (page.viewport_size, "feedback")


def _toast(page: Page, message: str) -> None:
    page.evaluate("text => { document.querySelector('.rr-toast').textContent = text; }", message)


def test_films_and_text_keep_their_layout_in_a_resized_window(serve: Serve, reader: Reader) -> None:
    """It changes with the next case or a reset.

    The view without the question has a separate layout.
    """
    server = serve()
    page, keyboard = reader.page, reader.page.keyboard
    wide: ViewportSize = {"width": 1440, "height": 900}
    narrow: ViewportSize = {"width": 1024, "height": 1000}
    page.set_viewport_size(wide)
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    density = reader.state("density")
    assert _arrangement(page, wide) == "side by side"
    page.set_viewport_size(narrow)
    assert _arrangement(page, narrow) == "side by side"
    assert reader.state("density") == density
    keyboard.press("r")
    assert _arrangement(page, narrow) == "one above the other"
    page.set_viewport_size(wide)
    assert _arrangement(page, wide) == "one above the other"
    reader.answer("a")
    reader.wait("ready", 2)
    assert _arrangement(page, wide) == "side by side"
    page.set_viewport_size(narrow)
    reader.answer("a")
    reader.wait("ready", 3)
    assert _arrangement(page, narrow) == "one above the other"
    keyboard.press("q")
    assert _arrangement(page, narrow) == "side by side"
    keyboard.press("q")
    assert _arrangement(page, narrow) == "one above the other"


def _arrangement(page: Page, size: ViewportSize) -> str:
    """Return the arrangement of the two films, once they fill their area of a resized window."""
    page.wait_for_function(
        """({width, height}) => {
          const room = document.querySelector('.rr-films').getBoundingClientRect();
          const plates = [...document.querySelectorAll('.rr-plate')];
          const ends = plates.map((each) => each.getBoundingClientRect());
          const near = (a, b) => Math.abs(a - b) < 3;
          return near(innerWidth, width) && near(innerHeight, height)
            && near(Math.max(...ends.map((each) => each.right)), room.right)
            && near(Math.max(...ends.map((each) => each.bottom)), room.bottom);
        }""",
        arg=size,
    )
    heights = page.locator(".rr-plate").evaluate_all(
        "plates => plates.map((each) => each.getBoundingClientRect().y)"
    )
    return "side by side" if len(set(heights)) == 1 else "one above the other"
