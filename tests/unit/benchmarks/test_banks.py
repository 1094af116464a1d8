"""The films of the benchmarks are reproducible, all different, and of the stated size."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchmarks.banks import as_levels, enlarge_film, film_bytes, with_noise, write_bank


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a bank of 18 cases with small films: two more cases than source films."""
    return write_bank(tmp_path_factory.mktemp("bank"), 18, bits=8, width=128, height=156)


def _films(bank: Path) -> list[Path]:
    records = json.loads(bank.read_text(encoding="utf-8"))
    return [bank.parent / film for each in records.values() for film in each["ImagePath"]]


def test_every_film_is_different(bank: Path) -> None:
    """Otherwise a cache could serve a film of another case."""
    contents = {path.read_bytes() for path in _films(bank)}
    assert len(contents) == 36


def test_successive_cases_look_different(bank: Path) -> None:
    """The check of the screen distinguishes successive cases by their films."""
    films = [np.asarray(Image.open(path)).astype(float) for path in _films(bank)]
    for before, after in zip(films, films[2:], strict=False):
        assert np.abs(before - after).mean() > 5


def test_banks_are_reproducible(bank: Path, tmp_path: Path) -> None:
    """Films depend only on their number."""
    second = write_bank(tmp_path, 18, bits=8, width=128, height=156)
    assert [path.read_bytes() for path in _films(second)] == [
        path.read_bytes() for path in _films(bank)
    ]
    assert film_bytes(second) == film_bytes(bank)


def test_16_bit_films_use_their_full_depth(tmp_path: Path) -> None:
    """The films have far more than 256 levels, up to the maximum."""
    path = _films(write_bank(tmp_path, 1, bits=16, width=128, height=156))[0]
    pixels = np.asarray(Image.open(path))
    assert pixels.dtype == np.uint16
    assert pixels.shape == (156, 128)
    assert len(np.unique(pixels)) > 2_000
    assert pixels.max() == 65_535


def test_noise_grows_with_the_square_root_of_the_signal() -> None:
    """Nine times the signal has three times the noise, apart from a constant minimum."""
    noise = np.random.default_rng(3).standard_normal((400, 400), dtype=np.float32)
    dark, bright = (
        with_noise(np.full((400, 400), level, np.float32), noise, share=0.01)
        for level in (0.05, 0.85)
    )
    assert bright.std() / dark.std() == pytest.approx(3, rel=0.02)


def test_enlarging_keeps_the_centre_and_the_range() -> None:
    """A wide film is cropped at its sides, not stretched, and spans 0 to 1."""
    pixels = np.zeros((100, 200), np.uint16)
    pixels[:, 60:140] = 50_000
    signal = enlarge_film(Image.fromarray(pixels), 160, 200)
    assert signal.shape == (200, 160)
    assert signal.min() > 0.99
    assert as_levels(np.array([[0, 0.5, 1]], np.float32), 8).tolist() == [[0, 128, 255]]
