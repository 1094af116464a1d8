"""Open-ended cases in a browser: typing, a reload in the middle of a text, then options."""

import csv
import io
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from study.base.text import unguard_cell
from study.exchange.bundle import bundle_files
from study.store import Store
from study.trail.verification import verify
from tests.e2e.conftest import Reader
from tests.e2e.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
Serve = Callable[..., Server]

TYPED = ('=1+1 "quoted", p?\nsecond line', "نعم انصباب 🫁", "no change")


def _field(reader: Reader) -> Locator:
    return reader.page.locator(".rr-answer textarea")


def _rows(store: Store, name: str) -> list[dict[str, str]]:
    text = bundle_files(store, "trial")[name].decode()
    rows = csv.DictReader(io.StringIO(text, newline=""))
    return [{key: unguard_cell(cell) for key, cell in row.items()} for row in rows]


def test_open_ended_cases_are_answered_before_cases_with_options(
    serve: Serve, reader: Reader
) -> None:
    """The keyboard is enough, and the bundle has the text as typed."""
    server = serve(cases=3, conditions=["unaided", "open-ended"])
    page, keyboard, field = reader.page, reader.page.keyboard, _field(reader)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    assert page.locator("[data-option]").count() == 0
    for name, value in {
        "spellcheck": "false",
        "autocorrect": "off",
        "autocapitalize": "off",
    }.items():
        assert field.get_attribute(name) == value
    keyboard.press("b")
    expect(field).to_be_focused()
    keyboard.type('=1+1 "quoted", p?')  # these characters are not commands in the field
    keyboard.press("Shift+Enter")
    keyboard.type("second line")
    assert reader.state("state") == "ready"
    keyboard.press("Enter")

    reader.wait("ready", 2)
    expect(field).to_have_value("")
    expect(field).not_to_be_focused()
    keyboard.press("a")
    keyboard.insert_text("نعم ان")
    page.reload()
    reader.wait("ready", 2)
    expect(field).to_have_value("نعم ان")
    keyboard.press("a")
    keyboard.press("Control+End")
    keyboard.insert_text("صباب 🫁")
    keyboard.press("Escape")  # keys control the viewer again
    expect(field).not_to_be_focused()
    keyboard.press("p")
    reader.wait("paused")
    keyboard.press("p")
    reader.wait("ready", 2)
    keyboard.press("h")
    keyboard.press("Control+Enter")

    reader.wait("ready", 3)
    keyboard.press("a")
    keyboard.type("no change")
    page.locator(".rr-confirm").click()
    page.get_by_text("choose one of the options").wait_for()
    keyboard.press("p")
    for position, key in ((4, "a"), (5, "2"), (6, "c")):
        reader.wait("ready", position)
        expect(field).to_be_hidden()
        reader.answer(key)
    reader.wait("finished")
    assert errors == []

    words = _rows(server.store, "open_answers.csv")
    assert tuple(row["words"] for row in words) == TYPED
    assert ["resumed" in row["flags"].split() for row in words] == [False, True, False]
    letters = _rows(server.store, "readings.csv")
    assert [row["raw_answer"] for row in letters] == ["A", "B", "C"]
    assert sorted(row["item_id"] for row in letters) == sorted(row["item_id"] for row in words)
    assert verify(server.store) == []


def test_confidence_and_going_back_in_open_ended_cases(serve: Serve, reader: Reader) -> None:
    """Enter leaves the field for the digits; an earlier case has its text, which can be changed.

    A session with options, but without images follows: a double press gives one reading.
    """
    server = serve(
        cases=2,
        conditions=["open-ended", "image-absent"],
        sessions=2,
        washout_days=0,
        confidence=5,
        comments=True,
        cannot_answer=True,
        back_navigation=True,
    )
    keyboard, field = reader.page.keyboard, _field(reader)
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    keyboard.press("a")
    keyboard.type("effusion 3")
    keyboard.press("Enter")
    reader.page.get_by_text("How confident are you? Press 1 to 5").wait_for()
    expect(field).not_to_be_focused()
    keyboard.press("4")
    keyboard.press("Enter")
    reader.wait("ready", 2)
    keyboard.press("Backspace")
    reader.wait("ready", 1)
    expect(field).to_have_value("effusion 3")
    keyboard.press("a")
    keyboard.press("Control+End")
    keyboard.type(" cm")
    keyboard.press("Enter")
    reader.wait("ready", 2)
    keyboard.press("n")
    keyboard.press("3")  # without options there are three reasons
    expect(reader.page.locator(".rr-reason-text")).to_be_focused()
    keyboard.type("too dark")
    keyboard.press("Enter")
    reader.page.wait_for_selector("[data-halt='begin']")
    keyboard.press("p")
    reader.wait("ready", 1)
    _press_twice(reader)
    reader.wait_saved()
    rows = server.readings()
    assert [(row["answer"], row["confidence"]) for row in rows] == [
        ("effusion 3", 4),
        ("effusion 3 cm", 4),
        (None, None),
        ("A", 4),
        ("B", 2),
    ]
    with server.store.look() as look:
        assert look.value("SELECT words FROM reasons") == "Something else: too dark"


def _press_twice(reader: Reader) -> None:
    """Answer both cases with double presses of keys and buttons; the confidence comes last."""
    page = reader.page
    assert reader.brightness() < 0.02
    page.keyboard.press("4")
    expect(page.locator(".rr-hint")).to_contain_text("press a letter")
    for key in ("a", "4", "Enter", "Enter", "Enter"):
        page.keyboard.press(key)
    reader.wait("ready", 2)
    page.locator("[data-option=B]").dblclick()
    page.keyboard.press("2")
    page.get_by_role("button", name="Confirm").dblclick()
    page.wait_for_selector("[data-step='review']")
