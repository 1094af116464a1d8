"""Films for models: the window and the greys of the reading page, and nothing but pixels."""

import io
import json
import shutil
import subprocess

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from study.films import grey, window
from study.films.decoding import WINDOW, Grey
from study.models.rendering import opening_window, rendered, sixteen_bit
from tests.conftest import ROOT

NODE = shutil.which("node")
_PAGE = """
import { quantileWindow } from "./ui/viewer/js/film/film-samples.js";
import { openingPreset, preset, PRESETS, shade } from "./ui/viewer/js/film/picture.js";
import { fullWindow } from "./ui/viewer/js/viewer/pane.js";
let text = ""; for await (const part of process.stdin) text += part;
const { bits, samples, own } = JSON.parse(text);
const film = bits > 8 ? Uint16Array.from(samples) : Uint8Array.from(samples);
const full = fullWindow({ low: Math.min(...film), high: Math.max(...film) });
const opened = preset(PRESETS[openingPreset(bits)], full, own ?? quantileWindow(film, 0.01, 0.99));
console.log(JSON.stringify([...film].map((grey) => shade(grey, opened, false))));
"""


def _film(pixels: Grey, own: str = "") -> bytes:
    info = PngInfo()
    info.add_text("Comment", "THE ANSWER IS B")
    if own:
        info.add_text(WINDOW, own)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, format="PNG", pnginfo=info, dpi=(72, 72))
    return out.getvalue()


def _pixels(bits: int) -> Grey:
    drawn: Grey = (
        np.random.default_rng(bits).binomial(2**bits - 1, 0.3, (37, 23)).astype(f"u{bits // 8}")
    )
    return drawn


@pytest.mark.skipif(NODE is None, reason="no Node here; install it with: apt-get install nodejs")
@pytest.mark.parametrize(("bits", "own"), [(8, ""), (16, ""), (16, "900.5 40000.25")])
def test_every_grey_is_the_one_of_the_reading_page(bits: int, own: str) -> None:
    """The page's own modules, run in Node on the same samples, give the same 256 steps."""
    film = _film(_pixels(bits), own)
    about = {"bits": bits, "samples": grey(film).ravel().tolist(), "own": None}
    if own:
        low, high = map(float, own.split())
        about["own"] = {"low": low, "high": high}
    ran = subprocess.run(
        [str(NODE), "--input-type=module", "--eval", _PAGE],
        cwd=ROOT,
        input=json.dumps(about),
        capture_output=True,
        text=True,
        check=True,
    )
    shown = np.asarray(Image.open(io.BytesIO(rendered(film))))
    assert shown.ravel().tolist() == json.loads(ran.stdout)


def test_only_pixels_come_through() -> None:
    """A PNG of ours has no chunk but header, data and end, whatever the film's file said."""
    film = _film(_pixels(16), "5 600")
    for png in (rendered(film), rendered(film, "quarter"), sixteen_bit(film)):
        assert png is not None
        assert b"ANSWER" not in png
        assert {png[at - 4 : at] for at in _chunks(png)} == {b"IHDR", b"IDAT", b"IEND"}
        assert Image.open(io.BytesIO(png)).info == {}


def _chunks(png: bytes) -> list[int]:
    found, at = [], 8
    while at < len(png):
        found.append(at + 8)
        at += 12 + int.from_bytes(png[at : at + 4], "big")
    return found


def test_the_original_beside_it_has_the_very_samples() -> None:
    """Of 16 bits; a film of 8 bits has no more to give."""
    pixels = _pixels(16)
    kept = sixteen_bit(_film(pixels))
    assert kept is not None
    assert np.array_equal(grey(kept), pixels)
    assert sixteen_bit(_film(_pixels(8))) is None


def test_a_smaller_film_is_averaged_before_it_is_windowed() -> None:
    """A quarter of each side; a width is never more than there is."""
    pixels = np.zeros((40, 80), dtype=np.uint16)
    pixels[:, 1::2] = 60_000
    film = _film(pixels, "0 60000")
    small = np.asarray(Image.open(io.BytesIO(rendered(film, "quarter"))))
    assert small.shape == (10, 20)
    assert set(small.ravel()) == {128}
    sizes = [Image.open(io.BytesIO(rendered(film, across))).size for across in (16, 800)]
    assert sizes == [(16, 8), (80, 40)]


def test_a_plain_film_is_drawn_too() -> None:
    """One grey alone has a window one step wide, as on the page."""
    plain = np.full((4, 4), 7, dtype=np.uint16)
    assert opening_window(plain, window(_film(plain))) == (7, 8)
