"""The picture in a browser: every grey level, the aspect ratio, and single pixels."""

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from playwright.sync_api import BrowserContext, Page

from tests.e2e.conftest import NO_WEBGL, Reader, in_the_render_worker
from tests.e2e.server import Server
from tests.e2e.test_tools import SPACED, SPACING_MM, change_desk, drag, lengths, plate, zoom

pytestmark = pytest.mark.browser
Grey = npt.NDArray[np.float64]
LOW, HIGH = 1_000, 61_000


def _film() -> npt.NDArray[np.uint16]:
    """Return a 16-bit film of 300 x 400 with a white frame by which it can be located."""
    rows, columns = np.mgrid[0:400, 0:300]
    film = LOW + (rows * 97 + columns * 131 + (rows * columns) % 23 * 400) % (HIGH - LOW - 3_000)
    film[:3], film[-3:], film[:, :3], film[:, -3:] = HIGH, HIGH, HIGH, HIGH
    return np.asarray(film, np.uint16)


def _expected(film: npt.NDArray[np.uint16]) -> Grey:
    """Return the grey levels of the film in its full window, computed by NumPy."""
    low, high = film.min(), film.max()
    return np.asarray((film.astype(float) - low) / (float(high) - low) * 255)


def _screenshot(reader: Reader) -> Grey:
    reader.wait_picture()
    shot = reader.page.locator(".rr-films").screenshot()
    return np.asarray(Image.open(io.BytesIO(shot)).convert("L")).astype(float)


def _box(white: npt.NDArray[np.bool_]) -> tuple[slice, slice]:
    """Return the rows and columns within the white frame of the film."""
    rows = np.flatnonzero(white.sum(axis=1) > white.shape[1] * 0.2)
    columns = np.flatnonzero(white.sum(axis=0) > white.shape[0] * 0.2)
    return slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)


def _large() -> npt.NDArray[np.uint16]:
    """Return a film of 1,500 x 1,800 without repeating patterns, for the magnifying glass."""
    return np.random.default_rng(5).integers(LOW, HIGH, (1_800, 1_500)).astype(np.uint16)


def _windowed(reader: Reader, film: npt.NDArray[np.uint16]) -> Grey:
    """Return the grey levels of the film in the displayed window, computed by NumPy."""
    match = re.search(r"W (\d+)\s+L (\d+)", _plate(reader))
    assert match is not None
    width, level = (float(number) for number in match.groups())
    return np.clip((film.astype(float) - (level - width / 2)) / width, 0, 1) * 255


def _plate(reader: Reader) -> str:
    return reader.page.locator(".rr-plate-state").first.inner_text()


def _press(reader: Reader, key: str, message: str) -> None:
    """Press a key and wait until a plate shows a text."""
    reader.page.keyboard.press(key)
    reader.page.locator(".rr-plate").get_by_text(message).filter(visible=True).first.wait_for()


@pytest.fixture(params=["webgl2", pytest.param("canvas2d", marks=pytest.mark.thorough)])
def either(request: pytest.FixtureRequest, reader: Reader) -> Reader:
    """Return a reader with each of the two renderers."""
    if request.param == "canvas2d":
        in_the_render_worker(reader.page, NO_WEBGL)
    return reader


@pytest.fixture
def at_film(serve: Callable[..., Server], tmp_path: Path) -> Callable[[Reader], None]:
    """Return a function that shows a reader a single film in its full window, and then a large one.

    A film of 16 bits opens in the window from the 1st to the 99th percentile.
    """
    films = {"q1": _large(), "q2": _film()}  # the default seed draws q2 first
    folder = tmp_path / "bank"
    (folder / "films").mkdir(parents=True)
    for name, film in films.items():
        Image.fromarray(film).save(folder / "films" / f"{name}.png")
    records = {
        name: {
            "question": "Which?",
            "options": ["A. this", "B. that"],
            "correct_answer": "A",
            "task_name": "Presence Assessment",
            "study_id": f"S{name}",
            "PatientID": f"P{name}",
            "ImagePath": [f"films/{name}.png"],
            "ImageViewPosition": ["PA"],
        }
        for name in films
    }
    (folder / "own.json").write_text(json.dumps(records))

    def come(reader: Reader) -> None:
        server = serve(
            bank=folder / "own.json",
            cases=len(films),
            case_order="fixed",
            stratify_by=[],
            smallest_window=[],
        )
        reader.enter(server.url, server.codes["R1"])
        _open(reader, 1)

    return come


def _open(reader: Reader, position: int) -> None:
    """Wait for a case and select the full window."""
    reader.wait("ready", position)
    reader.page.locator(".rr-plate-state", has_text="1–99 %").wait_for()
    _press(reader, "F2", "full")


def test_at_one_to_one_every_pixel_equals_the_computed_pixel(
    at_film: Callable[[Reader], None],
    either: Reader,
    request: pytest.FixtureRequest,
) -> None:
    """Each pixel differs by at most one grey level in all windows, inverted, mirrored and rotated.

    Before, the fitted film is complete, has the correct aspect ratio and fills the area. The
    magnifying glass shows the pixels of a larger film.
    """
    reader = either
    at_film(reader)
    canvas = request.node.callspec.params["either"] == "canvas2d"
    assert reader.page.get_by_text("Basic display in use").is_visible() == canvas
    _check_fitted(_screenshot(reader))
    _press(reader, "z", "100 %")
    screen = _screenshot(reader)
    box = _box(screen >= 254)
    film = _film()
    assert screen[box].shape == film.shape
    assert np.abs(screen[box] - _expected(film)).max() <= 1
    _check_turned(reader, film)
    _check_region(reader, film, box)
    for window in ("full", "1–99 %", "soft", "hard", "lungs", "bones"):
        if window != "full":
            _press(reader, "w", window)
        expected = _windowed(reader, film)
        assert np.abs(_screenshot(reader)[box] - expected).max() <= 1, window
        _press(reader, "i", "inverted")
        assert np.abs(_screenshot(reader)[box] - (255 - expected)).max() <= 1, window
        reader.page.keyboard.press("i")
        reader.page.locator(".rr-plate-state", has_text="inverted").wait_for(state="hidden")
    upright = _screenshot(reader)[box]
    _press(reader, "y", "MIRRORED")
    mirrored = _screenshot(reader)
    clear = slice(60, -60)  # without the mark and the plate, which cover the canvas
    rows = box[0]
    across = [np.flatnonzero(mirrored[rows][:, clear][10] > 0)[i] + 60 for i in (0, -1)]
    assert across[1] - across[0] < film.shape[1]
    flipped = mirrored[rows]
    assert any(
        np.array_equal(flipped[:, left : left + film.shape[1]], upright[:, ::-1])
        for left in range(across[0] - 8, across[0] + 1)
    )
    reader.answer("a")
    _open(reader, 2)
    _check_glass(reader, _large())


@pytest.mark.thorough
def test_at_one_to_one_on_a_dense_screen_film_pixels_are_device_pixels(
    at_film: Callable[[Reader], None], dense: BrowserContext
) -> None:
    """The screen has two device pixels per CSS pixel. Scale bar and lengths match the zoom."""
    reader = Reader(dense.new_page())
    at_film(reader)
    _press(reader, "z", "100 %")
    screen = _screenshot(reader)
    assert screen.shape[0] == 1400
    film = _film()
    box = _box(screen >= 254)
    assert screen[box].shape == film.shape
    assert np.abs(screen[box] - _expected(film)).max() <= 1
    _check_the_scale(reader.page)


def _check_the_scale(page: Page) -> None:
    """Check the scale bar at several zooms, and the length of a line."""
    change_desk(page, SPACED)
    page.reload()
    Reader(page).wait("ready", 1)
    name = plate(page, "PA")
    for key in ("0", "+", "z"):
        page.keyboard.press(key)
        page.wait_for_function("() => new Promise(requestAnimationFrame)")
        Reader(page).wait_picture()
        bar = name.locator(".rr-scale i").bounding_box()
        words = name.locator(".rr-scale-words").inner_text().split()
        assert bar is not None
        mm = float(words[0]) * {"mm": 1, "cm": 10}[words[1]]
        device_px = bar["width"] * 2
        assert device_px == pytest.approx(mm / SPACING_MM * zoom(page, "PA") / 100, rel=0.02)
    page.keyboard.press("0")
    per_px = SPACING_MM / (zoom(page, "PA") / 200)
    page.keyboard.press("j")
    drag(page, (0, 100), start=(150, 250))
    assert lengths(page) == [pytest.approx(100 * per_px, rel=0.02)]


def _check_turned(reader: Reader, film: npt.NDArray[np.uint16]) -> None:
    """Turn the film by quarters to the right until it is upright again."""
    for turns in (1, 2, 3):
        _press(reader, "Shift+Y", f"ROTATED {90 * turns}°")
        screen = _screenshot(reader)
        assert np.abs(screen[_box(screen >= 254)] - _expected(np.rot90(film, -turns))).max() <= 1
    reader.page.keyboard.press("Shift+Y")
    reader.page.locator(".rr-rotated").wait_for(state="hidden")


def _check_region(reader: Reader, film: npt.NDArray[np.uint16], box: tuple[slice, slice]) -> None:
    """Measure the largest ellipse in the film, and the grey value of a pixel under the pointer."""
    rows, columns = box
    _press(reader, "Shift+O", "measuring regions")
    mouse = reader.page.mouse
    left, top = int(columns.start), int(rows.start)
    mouse.move(left - 5, top - 5)
    mouse.down()
    mouse.move(int(columns.stop) + 5, int(rows.stop) + 5, steps=3)
    mouse.up()
    height, width = film.shape
    down, across = np.mgrid[0:height, 0:width]
    inside = film[
        ((down + 0.5) / height * 2 - 1) ** 2 + ((across + 0.5) / width * 2 - 1) ** 2 <= 1
    ].astype(float)
    words = f"mean {inside.mean():.1f}, SD {inside.std():.1f}"
    reader.page.locator(".rr-marks text", has_text=words).wait_for(state="attached")
    texts = reader.page.locator(".rr-marks text").all_text_contents()
    values = f"min {inside.min():.0f}, max {inside.max():.0f}"
    assert texts[1:] == [values, f"{inside.size:,} pixels"]
    mouse.move(left + 40.5, top + 30.5)
    _assert_grey(reader, film[30, 40])
    reader.page.keyboard.press("Escape")
    reader.page.locator(".rr-plate-state", has_text="measuring").wait_for(state="hidden")


def _assert_grey(reader: Reader, value: int) -> None:
    reader.page.locator(".rr-plate-state", has_text=f"grey value {value}").wait_for()


def _check_glass(reader: Reader, film: npt.NDArray[np.uint16]) -> None:
    """Check that the magnifying glass shows a reduced film at 1:1, even if mirrored."""
    films = reader.page.locator(".rr-films").bounding_box()
    assert films is not None
    reader.page.mouse.move(films["width"] / 2 - 40, films["height"] / 2 + 30)
    reader.page.keyboard.press("m")
    expected = _expected(film)
    screen = _under_glass(reader)
    assert screen.shape == (316, 316)
    top, left = _where(screen, expected)
    scale = films["height"] / film.shape[0]
    middle = (film.shape[0] / 2 + 30 / scale, film.shape[1] / 2 - 40 / scale)
    assert (top + 158, left + 158) == pytest.approx(middle, abs=3)
    _press(reader, "y", "MIRRORED")
    top, left = _where(_under_glass(reader), expected[:, ::-1])
    assert (top + 158, left + 158) == pytest.approx(middle, abs=3)
    reader.page.keyboard.press("m")
    reader.page.locator(".rr-glass").wait_for(state="hidden")


def _under_glass(reader: Reader) -> Grey:
    """Return the picture in the magnifying glass without its border."""
    reader.page.locator(".rr-glass").wait_for()
    box = reader.page.locator(".rr-glass").bounding_box()
    assert box is not None
    top, left, side = round(box["y"]), round(box["x"]), round(box["width"])
    return _screenshot(reader)[top + 2 : top + side - 2, left + 2 : left + side - 2]


def _where(part: Grey, picture: Grey) -> tuple[int, int]:
    """Return the only position in a picture at which a part equals it within a grey level."""
    height, width = part.shape
    first = np.abs(picture[: 1 - height, : 1 - width] - part[0, 0]) <= 1
    for way in ((7, 3), (100, 40), (-1, -1)):
        row, column = (at % length for at, length in zip(way, part.shape, strict=True))
        shifted = picture[row : row + first.shape[0], column : column + first.shape[1]]
        first &= np.abs(shifted - part[way]) <= 1
    positions = [
        (int(top), int(left))
        for top, left in np.argwhere(first)
        if np.abs(picture[top : top + height, left : left + width] - part).max() <= 1
    ]
    assert len(positions) == 1
    return positions[0]


def _check_fitted(screen: Grey) -> None:
    """Check that a film is shown completely, undistorted, and on a black background."""
    rows, columns = _box(screen >= 250)
    height, width = rows.stop - rows.start, columns.stop - columns.start
    assert width / height == pytest.approx(300 / 400, abs=0.005)
    assert height > screen.shape[0] * 0.95
    inside = screen[rows, columns][12:-12, 12:-12]
    assert inside.min() < 8
    assert 0.02 < (inside > 200).mean() < 0.5
    left_of_it = screen[rows, : max(columns.start - 4, 1)]
    assert np.median(left_of_it) == 0
