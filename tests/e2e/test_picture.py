"""The picture in a real browser: every grey level, true aspect ratio, pixel for pixel."""

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from playwright.sync_api import BrowserContext

from tests.e2e.conftest import NO_WEBGL, Profile, Reader, in_the_render_worker
from tests.e2e.server import Server

pytestmark = pytest.mark.browser
Grey = npt.NDArray[np.float64]
LOW, HIGH = 1_000, 61_000


def _film() -> npt.NDArray[np.uint16]:
    """Return a 16-bit film, 400 high and 300 wide, with a white frame to find it by."""
    rows, columns = np.mgrid[0:400, 0:300]
    film = LOW + (rows * 97 + columns * 131 + (rows * columns) % 23 * 400) % (HIGH - LOW - 3_000)
    film[:3], film[-3:], film[:, :3], film[:, -3:] = HIGH, HIGH, HIGH, HIGH
    return np.asarray(film, np.uint16)


def _expected(film: npt.NDArray[np.uint16]) -> Grey:
    """Return the film through its full window, as NumPy computes it."""
    low, high = film.min(), film.max()
    return np.asarray((film.astype(float) - low) / (float(high) - low) * 255)


def _seen(reader: Reader) -> Grey:
    reader.wait_picture()
    shot = reader.page.locator(".rr-films").screenshot()
    return np.asarray(Image.open(io.BytesIO(shot)).convert("L")).astype(float)


def _box(white: npt.NDArray[np.bool_]) -> tuple[slice, slice]:
    """Return where the white frame is: rows and columns that are white over most of the film."""
    rows = np.flatnonzero(white.sum(axis=1) > white.shape[1] * 0.2)
    columns = np.flatnonzero(white.sum(axis=0) > white.shape[0] * 0.2)
    return slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)


def _large() -> npt.NDArray[np.uint16]:
    """Return a film of 1,800 x 1,500 that is nowhere like anywhere else, for the glass."""
    return np.random.default_rng(5).integers(LOW, HIGH, (1_800, 1_500)).astype(np.uint16)


def _windowed(reader: Reader, film: npt.NDArray[np.uint16]) -> Grey:
    """Return the film through the window that the plate tells, as NumPy computes it."""
    told = re.search(r"W (\d+)\s+L (\d+)", _plate(reader))
    assert told is not None
    width, level = (float(number) for number in told.groups())
    return np.clip((film.astype(float) - (level - width / 2)) / width, 0, 1) * 255


def _plate(reader: Reader) -> str:
    return reader.page.locator(".rr-plate-state").first.inner_text()


def _press(reader: Reader, key: str, says: str) -> None:
    """Press a key and wait until the plate says so."""
    reader.page.keyboard.press(key)
    reader.page.locator(".rr-plate", has_text=says).first.wait_for()


@pytest.fixture(params=["webgl2", "canvas2d"])
def either(request: pytest.FixtureRequest, profile: Profile) -> BrowserContext:
    """Return a browser profile for each of the two renderers."""
    made = profile()
    if request.param == "canvas2d":
        in_the_render_worker(made, NO_WEBGL)
    return made


@pytest.fixture
def at_film(serve: Callable[..., Server], tmp_path: Path) -> Callable[..., Reader]:
    """Return a function that brings a reader before the film, one view alone, at its full window.

    16 bits open at the 1st to the 99th percentile.
    """
    folder = tmp_path / "bank"
    (folder / "films").mkdir(parents=True)
    record = {
        "question": "Which?",
        "options": ["A. this", "B. that"],
        "correct_answer": "A",
        "task_name": "Presence Assessment",
        "study_id": "S1",
        "PatientID": "P1",
        "ImagePath": ["films/one.png"],
        "ImageViewPosition": ["PA"],
    }
    (folder / "own.json").write_text(json.dumps({"q1": record}))

    def come(context: BrowserContext, film: npt.NDArray[np.uint16] | None = None) -> Reader:
        Image.fromarray(_film() if film is None else film).save(folder / "films" / "one.png")
        server = serve(bank=folder / "own.json", cases=1, smallest_window=[])
        reader = Reader(context.new_page())
        reader.enter(server.url, server.codes["R1"])
        reader.wait("ready", 1)
        reader.page.locator(".rr-plate-state", has_text="1–99 %").wait_for()
        _press(reader, "F2", "full")
        return reader

    return come


def test_at_one_to_one_every_pixel_equals_numpys_in_three_windows(
    at_film: Callable[..., Reader], either: BrowserContext, request: pytest.FixtureRequest
) -> None:
    """Key Z: film pixels are screen pixels; full, automatic and hard window, inverted and flipped.

    Each is exact to one grey level at every pixel, on the card and on the 2D canvas.
    """
    reader = at_film(either)
    canvas = request.node.callspec.params["either"] == "canvas2d"
    assert reader.page.get_by_text("Basic display in use").is_visible() == canvas
    _press(reader, "z", "100 %")
    seen = _seen(reader)
    box = _box(seen >= 254)
    film = _film()
    assert seen[box].shape == film.shape
    assert np.abs(seen[box] - _expected(film)).max() <= 1
    for window in ("full", "1–99 %", "soft", "hard", "lungs", "bones"):
        if window != "full":
            _press(reader, "w", window)
        expected = _windowed(reader, film)
        assert np.abs(_seen(reader)[box] - expected).max() <= 1, window
        _press(reader, "i", "inverted")
        assert np.abs(_seen(reader)[box] - (255 - expected)).max() <= 1, window
        reader.page.keyboard.press("i")
        reader.page.locator(".rr-plate-state", has_text="inverted").wait_for(state="hidden")
    upright = _seen(reader)[box]
    _press(reader, "y", "MIRRORED")
    mirrored = _seen(reader)
    clear = slice(60, -60)  # of the mark and the plate, which lie over the canvas
    rows = box[0]
    across = [np.flatnonzero(mirrored[rows][:, clear][10] > 0)[i] + 60 for i in (0, -1)]
    assert across[1] - across[0] < film.shape[1]
    flipped = mirrored[rows]
    assert any(
        np.array_equal(flipped[:, left : left + film.shape[1]], upright[:, ::-1])
        for left in range(across[0] - 8, across[0] + 1)
    )


def test_at_one_to_one_on_a_dense_screen_film_pixels_are_device_pixels(
    at_film: Callable[..., Reader], dense: BrowserContext
) -> None:
    """With two device pixels per CSS pixel, 1:1 is still one film pixel per device pixel."""
    reader = at_film(dense)
    _press(reader, "z", "100 %")
    seen = _seen(reader)
    assert seen.shape[0] == 1400
    film = _film()
    box = _box(seen >= 254)
    assert seen[box].shape == film.shape
    assert np.abs(seen[box] - _expected(film)).max() <= 1


def test_under_the_glass_are_the_films_own_pixels(
    at_film: Callable[..., Reader], either: BrowserContext
) -> None:
    """Of a film shown smaller than it is, the glass at the pointer shows it 1:1, mirrored too."""
    film = _large()
    reader = at_film(either, film)
    films = reader.page.locator(".rr-films").bounding_box()
    assert films is not None
    reader.page.mouse.move(films["width"] / 2 - 40, films["height"] / 2 + 30)
    reader.page.keyboard.press("m")
    expected = _expected(film)
    seen = _under_glass(reader)
    assert seen.shape == (316, 316)
    top, left = _where(seen, expected)
    scale = films["height"] / film.shape[0]
    middle = (film.shape[0] / 2 + 30 / scale, film.shape[1] / 2 - 40 / scale)
    assert (top + 158, left + 158) == pytest.approx(middle, abs=3)
    _press(reader, "y", "MIRRORED")
    top, left = _where(_under_glass(reader), expected[:, ::-1])
    assert (top + 158, left + 158) == pytest.approx(middle, abs=3)
    reader.page.keyboard.press("m")
    reader.page.locator(".rr-glass").wait_for(state="hidden")


def _under_glass(reader: Reader) -> Grey:
    """Return what is seen in the glass, less its border."""
    reader.page.locator(".rr-glass").wait_for()
    box = reader.page.locator(".rr-glass").bounding_box()
    assert box is not None
    top, left, side = round(box["y"]), round(box["x"]), round(box["width"])
    return _seen(reader)[top + 2 : top + side - 2, left + 2 : left + side - 2]


def _where(part: Grey, whole: Grey) -> tuple[int, int]:
    """Return the one place in a picture that a part of it equals within a grey level."""
    height, width = part.shape
    first = np.abs(whole[: 1 - height, : 1 - width] - part[0, 0]) <= 1
    for way in ((7, 3), (100, 40), (-1, -1)):
        row, column = (at % length for at, length in zip(way, part.shape, strict=True))
        there = whole[row : row + first.shape[0], column : column + first.shape[1]]
        first &= np.abs(there - part[way]) <= 1
    found = [
        (int(top), int(left))
        for top, left in np.argwhere(first)
        if np.abs(whole[top : top + height, left : left + width] - part).max() <= 1
    ]
    assert len(found) == 1
    return found[0]


def test_fitted_the_aspect_ratio_is_true_and_nothing_is_clipped(
    at_film: Callable[..., Reader], context: BrowserContext
) -> None:
    """The whole film is seen, as large as it goes, black around it, darkest to brightest."""
    reader = at_film(context)
    seen = _seen(reader)
    rows, columns = _box(seen >= 250)
    height, width = rows.stop - rows.start, columns.stop - columns.start
    assert width / height == pytest.approx(300 / 400, abs=0.005)
    assert height > seen.shape[0] * 0.95
    inside = seen[rows, columns][12:-12, 12:-12]
    assert inside.min() < 8
    assert 0.02 < (inside > 200).mean() < 0.5
    left_of_it = seen[rows, : max(columns.start - 4, 1)]
    assert np.median(left_of_it) == 0
