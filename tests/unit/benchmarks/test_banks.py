"""Films of the benchmarks: the same for the same seed, all different, as heavy as said."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchmarks.banks import as_levels, enlarged, film_bytes, with_noise, write_bank


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a bank of 18 cases with small films: two more cases than source films."""
    return write_bank(tmp_path_factory.mktemp("bank"), 18, bits=8, width=128, height=156)


def _films(bank: Path) -> list[Path]:
    records = json.loads(bank.read_text(encoding="utf-8"))
    return [bank.parent / film for each in records.values() for film in each["ImagePath"]]


def test_every_film_is_different(bank: Path) -> None:
    """No cache, of the browser or of the server, can serve one case with another's film."""
    contents = {path.read_bytes() for path in _films(bank)}
    assert len(contents) == 36


def test_neighbouring_cases_look_different(bank: Path) -> None:
    """The screen check tells a case from the one before by its films."""
    films = [np.asarray(Image.open(path)).astype(float) for path in _films(bank)]
    for before, after in zip(films, films[2:], strict=False):
        assert np.abs(before - after).mean() > 5


def test_the_same_bank_twice_is_the_same(bank: Path, tmp_path: Path) -> None:
    """Films depend on their number and on nothing else."""
    again = write_bank(tmp_path, 18, bits=8, width=128, height=156)
    assert [path.read_bytes() for path in _films(again)] == [
        path.read_bytes() for path in _films(bank)
    ]
    assert film_bytes(again) == film_bytes(bank)


def test_deep_films_use_their_depth(tmp_path: Path) -> None:
    """A 16-bit film holds far more levels than 256, up to the top."""
    path = _films(write_bank(tmp_path, 1, bits=16, width=128, height=156))[0]
    pixels = np.asarray(Image.open(path))
    assert pixels.dtype == np.uint16
    assert pixels.shape == (156, 128)
    assert len(np.unique(pixels)) > 2_000
    assert pixels.max() == 65_535


def test_noise_grows_with_the_root_of_the_signal() -> None:
    """Nine times the signal has three times the noise, but for the floor under both."""
    noise = np.random.default_rng(3).standard_normal((400, 400), dtype=np.float32)
    dark, bright = (
        with_noise(np.full((400, 400), level, np.float32), noise, share=0.01)
        for level in (0.05, 0.85)
    )
    assert bright.std() / dark.std() == pytest.approx(3, rel=0.02)


def test_enlarging_keeps_the_middle_and_the_range() -> None:
    """A wide film is cut at its sides, never stretched, and spans 0 to 1."""
    pixels = np.zeros((100, 200), np.uint16)
    pixels[:, 60:140] = 50_000
    signal = enlarged(Image.fromarray(pixels), 160, 200)
    assert signal.shape == (200, 160)
    assert signal.min() > 0.99
    assert as_levels(np.array([[0, 0.5, 1]], np.float32), 8).tolist() == [[0, 128, 255]]
