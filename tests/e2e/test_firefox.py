"""The reading page in Firefox, with and without WebGL2: a study, the picture, the keys."""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from study.trail.verification import verify
from tests.conftest import bank_records
from tests.e2e.firefox import Firefox, Tab, started, until
from tests.e2e.server import Server
from tests.e2e.test_picture import _box, _expected, _film

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
Serve = Callable[..., Server]
Come = Callable[[Server], Tab]
FIELD = """
(document.activeElement?.shadowRoot?.activeElement ?? document.activeElement)?.name
  === "access_code"
"""
NOTE = "document.querySelector('.rr-canvas-note').textContent"
PLATE = "document.querySelector('.rr-plate:not([hidden]) .rr-plate-state').textContent"


@pytest.fixture(scope="module")
def program() -> str:
    """Return the path of Debian's Firefox, or skip the tests and say how to install it."""
    path = shutil.which("firefox-esr") or shutil.which("firefox")
    if path is None:
        pytest.skip("Firefox is missing; install it with: apt-get install firefox-esr")
    return path


@pytest.fixture(scope="module")
def display(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return a virtual display. Without a display, Firefox has no WebGL (bugzilla 1375585)."""
    path = shutil.which("Xvfb")
    if path is None:
        pytest.skip(
            "Xvfb is missing, so Firefox has no WebGL; install it with: apt-get install xvfb"
        )
    number = tmp_path_factory.mktemp("display") / "number"
    with number.open("wb") as output:
        process = subprocess.Popen(
            [path, "-displayfd", "1", "-screen", "0", "1600x1200x24", "-nolisten", "tcp"],
            stdout=output,
            stderr=subprocess.DEVNULL,
        )
    until(lambda: number.read_text().endswith("\n"), "Xvfb prints its number")
    yield f":{number.read_text().strip()}"
    process.kill()
    process.wait(20)


ZOOMS = r"""
Array.from(document.querySelectorAll(".rr-plate-state"),
  ({ textContent }) => parseInt(textContent.match(/(?<!–)\b(\d+) %/)[1]))
"""
CHOSEN = """
Array.from(document.querySelectorAll("[data-option][aria-pressed=true]"),
  ({ dataset }) => dataset.option)
"""
LISTEN = """
window.heard = [];
document.addEventListener("keydown", ({ key }) => heard.push(key));
new MutationObserver(() => heard.push("rerun"))
  .observe(document.querySelector("[data-test-script-state]"), { attributes: true });
"""
# Character, key on a US keyboard, chosen option: French A, 2 and 4, Russian C, French Q (not A).
FOREIGN = [
    ("a", "KeyQ", "A"),
    ("é", "Digit2", "B"),
    ("с", "KeyC", "C"),
    ("'", "Digit4", "D"),
    ("q", "KeyA", "D"),
]
GERMAN_Z = ("z", "KeyY")
RENDERERS = {"webgl2": "", "canvas2d": "Basic display in use (no WebGL)"}
WITH_CARD = pytest.mark.parametrize("firefox", ["webgl2"], indirect=True)
ONE_IS_ENOUGH = pytest.mark.parametrize("firefox", ["canvas2d"], indirect=True)


@pytest.fixture(scope="module", params=list(RENDERERS))
def firefox(
    program: str, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Firefox]:
    """Return Firefox with WebGL2 in software, and then without."""
    with_card = request.param == "webgl2"
    prefs = {"webgl.disabled": not with_card}
    on = request.getfixturevalue("display") if with_card else None
    with started(program, tmp_path_factory.mktemp("firefox") / "profile", prefs, on) as running:
        yield running


def _ready(tab: Tab, position: int, state: str = "ready") -> None:
    tab.wait(f"""document.querySelector("[data-state={state}][data-position='{position}']")""")


def _saved(tab: Tab) -> None:
    tab.wait("""document.querySelector("[data-outbox='0']")""")


def _brightness(tab: Tab) -> float:
    return float((tab.grey(".rr-films") > 127).mean())


@pytest.fixture
def at_case_1(firefox: Firefox) -> Come:
    """Return a function that signs in a reader by keyboard in a new tab."""

    def come(server: Server) -> Tab:
        tab = firefox.new_tab()
        tab.go(server.url)
        tab.wait(FIELD)
        tab.press(*server.codes["R1"], "Enter")
        tab.wait("""document.querySelector("[data-state=paused][data-step=begin]")""")
        tab.press("Enter")
        _ready(tab, 1)
        return tab

    return come


@WITH_CARD
def test_a_study_is_read_by_keyboard_with_a_reload(
    serve: Serve, at_case_1: Come, deep_and_flat: Path
) -> None:
    """Letters and digits answer, times are plausible, and every pixel is correct."""
    server = serve(bank=deep_and_flat)
    tab = at_case_1(server)
    seen_ms = {}
    for position, key in enumerate(["b", "2", "C", "4", "a", "1"], start=1):
        _ready(tab, position)
        if position == 4:
            tab.reload()
            _ready(tab, position)
        from_ms = tab.look("performance.now()")
        assert _brightness(tab) > 0.1
        if position == 6:
            _check_every_pixel(tab, "webgl2")
        tab.press(key)
        seen_ms[position] = tab.look("performance.now()") - from_ms
        tab.press("Enter")
    tab.wait("""document.querySelector("[data-state=finished]")""")
    _saved(tab)
    rows = server.readings()
    assert [row["answer"] for row in rows] == ["B", "B", "C", "D", "A", "A"]
    for row in rows:
        assert 0 < row["first_selection_ms"] <= row["response_ms"] <= row["elapsed_ms"] < 120_000
        assert (
            row["response_ms"] >= seen_ms[row["position"]] - 2
        )  # the clock of Firefox has steps of 1 ms
        assert row["response_ms"] + row["hidden_ms"] + row["paused_ms"] == pytest.approx(
            row["elapsed_ms"], abs=1
        )
    assert ["resumed" in row["flags"] for row in rows] == [n == 4 for n in range(1, 7)]
    assert tab.firefox.errors == []
    assert verify(server.store) == []


@pytest.fixture
def deep_and_flat(tmp_path: Path) -> Path:
    """Return a bank of six questions with the same film in 16 and 8 bits."""
    films = {"ImagePath": ["deep.png", "flat.png"]}
    records = {name: record | films for name, record in bank_records(6, 1).items()}
    bank = tmp_path / "own" / "own.json"
    bank.parent.mkdir()
    bank.write_text(json.dumps(records))
    Image.fromarray(_film()).save(bank.parent / "deep.png")
    Image.fromarray(_flat()).save(bank.parent / "flat.png")
    return bank


def _flat() -> npt.NDArray[np.uint8]:
    return (_film().T >> 8).astype(np.uint8)


def _at_one_to_one(tab: Tab, shape: tuple[int, ...], white: float) -> npt.NDArray[np.float64]:
    """Return the screenshot of a single film at one screen pixel per film pixel."""
    tab.press("z")
    tab.wait(f"{PLATE}.includes('100 %')")
    screens: list[npt.NDArray[np.float64]] = []

    def framed() -> bool:
        shot = tab.grey(".rr-films")
        if not ((shot >= white).sum(axis=1) > shot.shape[1] * 0.2).any():
            return False
        screens.append(shot[_box(shot >= white)])
        return screens[-1].shape == shape

    until(framed, "the frame is as large as the film")
    return screens[-1]


def _check_every_pixel(tab: Tab, renderer: str) -> None:
    """Check that every pixel equals the computed one at 1:1.

    16 bits differ by one grey level at most, 8 bits are exact; the page names the renderer.
    """
    assert tab.look(NOTE) == RENDERERS[renderer]
    deep, flat = _film(), _flat()
    tab.press("F2", "v")
    screen = _at_one_to_one(tab, deep.shape, white=254)
    assert np.abs(screen - _expected(deep)).max() <= 1
    tab.press("v")
    screen = _at_one_to_one(tab, flat.shape, white=flat.max())
    assert np.array_equal(screen, flat)


@ONE_IS_ENOUGH
def test_pausing_the_wheel_and_keys_of_other_keyboard_layouts_work(
    serve: Serve, at_case_1: Come, deep_and_flat: Path
) -> None:
    """A pause hides the film, the wheel zooms, and Streamlit does not receive the page's keys.

    Letters are read by their character and digits by their position.
    """
    server = serve(bank=deep_and_flat)
    tab = at_case_1(server)
    tab.press("p")
    _ready(tab, 1, "paused")
    assert _brightness(tab) < 0.02
    tab.press("p")
    _ready(tab, 1)
    assert _brightness(tab) > 0.1
    before = tab.look(ZOOMS)
    tab.wheel(200, 450, down=-300)
    tab.wait(f"{ZOOMS}[0] > {before[0]} * 1.3")
    assert tab.look(ZOOMS)[1] == before[1]
    tab.press("a", "Enter")
    _ready(tab, 2)
    _saved(tab)
    (row,) = server.readings()
    assert row["paused_ms"] > 0
    assert json.loads(row["behaviour"])["zoom"] == 1
    tab.do(LISTEN)
    tab.press("r", "c", "b")
    assert tab.look(CHOSEN) == ["B"]
    for key, code, option in FOREIGN:
        _strike(tab, key, code)
        assert tab.look(CHOSEN) == [option]
    _strike(tab, "q", "KeyA")  # Q again shows the question
    _strike(tab, *GERMAN_Z)
    tab.wait(f"{PLATE}.includes('100 %')")
    tab.press("Home")
    assert tab.look("heard") == ["Home"]
    assert tab.look("document.querySelectorAll('[role=dialog]:not([hidden])').length") == 0
    tab.press("Enter")
    _ready(tab, 3)
    _saved(tab)
    assert [row["answer"] for row in server.readings()] == ["A", FOREIGN[-1][2]]
    _check_every_pixel(tab, "canvas2d")


def _strike(tab: Tab, key: str, code: str) -> None:
    """Press a key of a keyboard of another country. The protocol supports US keyboards only."""
    event = {"key": key, "code": code, "bubbles": True, "cancelable": True, "composed": True}
    tab.do(
        f"document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {json.dumps(event)}))"
    )
