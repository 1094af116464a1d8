"""A packed and unpacked film equals the original."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from study.films import Grey, pack_film
from tests.film_decoder import unpacked


@st.composite
def films(draw: st.DrawFn) -> Grey:
    """Return a film of random size, depth, range and noise."""
    shape = draw(st.integers(1, 40)), draw(st.integers(1, 40))
    top = draw(st.sampled_from([1, 255, 256, 1023, 4095, 65_535]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    smooth = np.cumsum(rng.normal(0, 1, shape), axis=draw(st.integers(0, 1)))
    wild = rng.integers(0, top + 1, shape)
    film = (
        np.clip(smooth * draw(st.sampled_from([0, 0.01, 1, 30])) * top / 100 + top / 2, 0, top)
        if draw(st.booleans())
        else wild
    )
    factor = draw(st.sampled_from([1, 16])) if top <= 4095 else 1
    levels = np.rint(film) * factor
    return levels.astype(np.uint8) if top * factor < 256 else levels.astype(np.uint16)


@given(films())
def test_an_unpacked_film_equals_the_original(film: Grey) -> None:
    """Shape, type and samples are the same."""
    result = unpacked(pack_film(film))
    assert result.dtype == film.dtype
    assert np.array_equal(result, film)
