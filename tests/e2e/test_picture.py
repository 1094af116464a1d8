"""The picture in a real browser: every grey level, true aspect ratio, pixel for pixel."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from playwright.sync_api import BrowserContext

from tests.e2e.conftest import Reader
from tests.e2e.server import Server

pytestmark = pytest.mark.browser
Grey = npt.NDArray[np.float64]
LOW, HIGH = 1_000, 61_000


def _film() -> npt.NDArray[np.uint16]:
    """Return a 16-bit film, 400 high and 300 wide, with a white frame to find it by."""
    rows, columns = np.mgrid[0:400, 0:300]
    film = LOW + (rows * 97 + columns * 131 + (rows * columns) % 23 * 400) % (HIGH - LOW - 3_000)
    film[:3], film[-3:], film[:, :3], film[:, -3:] = HIGH, HIGH, HIGH, HIGH
    return film.astype(np.uint16)


def _expected(film: npt.NDArray[np.uint16]) -> Grey:
    """Return the film through its full window, as NumPy computes it."""
    low, high = film.min(), film.max()
    return (film.astype(float) - low) / (float(high) - low) * 255


def _seen(reader: Reader) -> Grey:
    shot = reader.page.locator(".rr-films").screenshot()
    return np.asarray(Image.open(io.BytesIO(shot)).convert("L")).astype(float)


def _box(white: Grey) -> tuple[slice, slice]:
    """Return where the white frame is: rows and columns that are white over most of the film."""
    rows = np.flatnonzero(white.sum(axis=1) > white.shape[1] * 0.2)
    columns = np.flatnonzero(white.sum(axis=0) > white.shape[0] * 0.2)
    return slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)


@pytest.fixture
def at_film(
    serve: Callable[..., Server], context: BrowserContext, tmp_path: Path
) -> Callable[[], Reader]:
    """Return a function that brings a reader before the film, one view alone."""
    folder = tmp_path / "bank"
    (folder / "films").mkdir(parents=True)
    Image.fromarray(_film()).save(folder / "films" / "one.png")
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

    def come() -> Reader:
        server = serve(bank=folder / "own.json", cases=1)
        reader = Reader(context.new_page())
        reader.sign_in(server.url, server.codes["R1"])
        reader.wait("ready", 1)
        return reader

    return come


def test_at_one_to_one_every_pixel_equals_numpys(at_film: Callable[[], Reader]) -> None:
    """Key Z: film pixels are screen pixels, and the window is exact to one grey level."""
    reader = at_film()
    reader.page.keyboard.press("z")
    reader.page.wait_for_function("document.querySelector('.rr-films').innerText.includes('100')")
    seen = _seen(reader)
    box = _box(seen >= 254)
    film = _film()
    assert seen[box].shape == film.shape
    assert np.abs(seen[box] - _expected(film)).max() <= 1
    reader.page.keyboard.press("i")
    reader.page.get_by_text("inverted").first.wait_for()
    assert np.abs(_seen(reader)[box] - (255 - _expected(film))).max() <= 1


def test_fitted_the_aspect_ratio_is_true_and_nothing_is_clipped(
    at_film: Callable[[], Reader],
) -> None:
    """The whole film is seen, as large as it goes, black around it, darkest to brightest."""
    reader = at_film()
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
