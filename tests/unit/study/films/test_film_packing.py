"""Packed films are unpacked without loss and have the bytes of the documented format."""

import gzip
import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from study.films import Grey, pack_film
from study.films.packing import ESCAPE, MAX_WEIGHT, fit_predictor, gzip_parts
from tests.film_decoder import unpacked


def split_body(body: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the header of a packed film, and the rest."""
    plain = gzip.decompress(body)
    end = 4 + int.from_bytes(plain[:4], "little")
    return json.loads(plain[4:end]), plain[end:]


def radiograph(top: int, shape: tuple[int, int] = (300, 280), noise: float = 0.005) -> Grey:
    """Return a smooth film with an edge and noise."""
    rows, columns = np.mgrid[0 : shape[0], 0 : shape[1]] / shape[0]
    shadow = 0.5 + 0.3 * np.sin(5 * rows) * np.cos(4 * columns) + 0.1 * (columns > 0.4)
    noisy = shadow + np.random.default_rng(3).normal(0, noise, shape)
    levels: NDArray[np.float64] = np.rint(np.clip(noisy, 0, 1) * top)
    return levels.astype(np.uint8) if top < 256 else levels.astype(np.uint16)


@pytest.mark.parametrize("top", [255, 1023, 4095, 16_383, 65_535])
def test_films_of_all_depths_are_unpacked_without_loss(top: int) -> None:
    """Samples and their type are the same."""
    film = radiograph(top)
    result = unpacked(pack_film(film))
    assert result.dtype == film.dtype
    assert np.array_equal(result, film)


@pytest.mark.parametrize(
    "film",
    [
        np.zeros((1, 1), np.uint8),
        np.full((1, 1), 65_535, np.uint16),
        np.arange(9, dtype=np.uint8).reshape(1, 9),
        np.arange(9, dtype=np.uint8).reshape(9, 1),
        np.array([[0, 65_535], [65_535, 0]], np.uint16),
        np.full((40, 30), 7, np.uint8),
        np.indices((40, 30)).sum(0).astype(np.uint8) % 2 * 255,
        np.random.default_rng(1).integers(0, 65_536, (50, 40), np.uint16),
        np.random.default_rng(1).integers(0, 256, (50, 40), np.uint8),
        np.random.default_rng(1).integers(0, 2, (50, 40)).astype(np.uint16) * 65_535,
    ],
    ids=lambda film: f"{film.shape}-{film.dtype}",
)
def test_extreme_films_are_unpacked_without_loss(film: Grey) -> None:
    """The films are tiny, uniform or random."""
    assert np.array_equal(unpacked(pack_film(film)), film)


def test_a_film_of_several_bands_is_unpacked_without_loss() -> None:
    """Bands of rows are predicted separately."""
    film = radiograph(4095, (600, 7))
    assert np.array_equal(unpacked(pack_film(film)), film)


def test_packing_the_same_film_gives_the_same_bytes() -> None:
    """The bytes do not depend on time or chance."""
    assert pack_film(radiograph(4095)) == pack_film(radiograph(4095))


def test_a_packed_film_equals_a_manual_computation() -> None:
    """Two rows of two samples are too few for a fit, so each is predicted from a neighbour.

    5 is guessed 0 at the film's beginning; 3 is guessed 5; 260 is guessed 5, the sample above; 0 is
    guessed 260. The differences 5, -2, 255, -260 fold to 10, 3, 510, 519.
    """
    header, rest = split_body(pack_film(np.array([[5, 3], [260, 0]], np.uint16)))
    assert header["levels"] == [0, 3, 2, 255]
    header, rest = split_body(pack_film(np.array([[5, 3], [4, 0]], np.uint8)))
    assert (header["width"], header["height"], header["bits"], header["top"]) == (2, 2, 8, 5)
    assert (header["split"], header["escapes"], header["levels"]) == (0, 0, [])
    assert (header["steps"], header["weights"]) == ([], [[4096, 0, 0, 0, 0, 0]])
    assert rest == bytes([2 * 5, 2 * 2 - 1, 2 * 1 - 1, 2 * 4 - 1])


def test_twelve_bits_scaled_to_sixteen_are_packed_as_twelve() -> None:
    """A film of 12 bits times 16 is sent as 12 bits and a list of levels."""
    film = radiograph(1023)
    assert len(pack_film(film * 64)) < len(pack_film(film)) * 1.01
    header, _ = split_body(pack_film(film * 64))
    assert set(header["levels"][1:]) <= {64 * n for n in range(1, 9)}


def test_large_differences_are_stored_as_exceptions() -> None:
    """A bright marker on a dark film is stored separately, and restored."""
    film = radiograph(255, noise=0.0)
    film[50:60, 50:60] = 255
    film[70:80, 50:60] = 0
    header, rest = split_body(pack_film(film))
    high = np.frombuffer(rest, np.uint8, count=film.size)
    assert header["escapes"] == int((high == ESCAPE).sum())
    assert np.array_equal(unpacked(pack_film(film)), film)


@pytest.mark.parametrize("top", [255, 4095, 65_535])
def test_weights_do_not_exceed_the_32_bits_of_the_browser(top: int) -> None:
    """Computations with the weights of extreme films do not overflow."""
    rng = np.random.default_rng(2)
    films: list[NDArray[np.int32]] = [
        rng.integers(0, top + 1, (60, 50)).astype(np.int32),
        (np.indices((60, 50)).sum(0) % 2 * top).astype(np.int32),
        np.cumsum(np.ones((60, 50), np.int32), axis=1) * (top // 50),
    ]
    for film in films:
        predictor = fit_predictor(film)
        assert len(predictor.weights) == len(predictor.steps) + 1
        for weights in predictor.weights:
            assert sum(map(abs, weights)) <= MAX_WEIGHT


def test_a_noisy_film_is_smaller_than_its_png() -> None:
    """A weighted prediction is less affected by noise than the value of a neighbour."""
    import io

    from PIL import Image

    film = radiograph(255, (500, 400))
    out = io.BytesIO()
    Image.fromarray(film).save(out, "PNG", compress_level=9)
    assert len(pack_film(film)) < 0.93 * len(out.getvalue())


def test_other_programs_can_unpack_gzip_of_mixed_content() -> None:
    """The file has noise, a run, text and an empty part."""
    noise = np.random.default_rng(1).bytes(600_000)
    parts = [noise, b"", bytes(600_000), b"ab" * 200_000, b"x"]
    body = gzip_parts(parts)
    assert gzip.decompress(body) == b"".join(parts)
    assert len(body) < len(noise) * 1.01
    assert gzip.decompress(gzip_parts([])) == b""
