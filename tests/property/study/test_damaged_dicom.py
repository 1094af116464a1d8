"""A damaged DICOM file is shown or rejected, without any other error."""

import contextlib

from hypothesis import given
from hypothesis import strategies as st

from study.films import BadFilm
from study.films.dicom import read
from tests.unit.study.films.test_dicom import BUNDLED, RAMP, dicom_bytes

NAMES = ("CT_small", "MR_small_RLE", "MR_small_bigendian", "JPEGLSNearLossless_08", "liver_1frame")
TAGS = {"WindowCenter": 700, "WindowWidth": 900, "RescaleSlope": 2, "ImagerPixelSpacing": [1, 1]}
FILES = (dicom_bytes(RAMP, **TAGS), *((BUNDLED / f"{name}.dcm").read_bytes() for name in NAMES))
HEAD = 2_000


@given(
    data=st.sampled_from(FILES),
    changes=st.lists(st.tuples(st.integers(132, HEAD), st.integers(0, 255)), max_size=8),
    end=st.one_of(st.none(), st.integers(0, HEAD)),
)
def test_a_damaged_file_is_shown_or_rejected(
    data: bytes, changes: list[tuple[int, int]], end: int | None
) -> None:
    """Bytes of its attributes are changed, or its end is missing."""
    damaged = bytearray(data)
    for place, value in changes:
        if place < len(damaged):
            damaged[place] = value
    with contextlib.suppress(BadFilm):
        read(bytes(damaged[:end]))
