"""Pixel spacing in every spelling, and every doubt that leaves it unknown."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.unit.study.bank.conftest import BankFile

Read = Callable[..., BankFile]
ItemDict = dict[str, Any]
PA, LATERAL = "deid_png/P1/A1/pa.png", "deid_png/P1/A1/lat.png"


def spacings(found: BankFile) -> list[float | None]:
    """Return the spacing of the two films of an item without faults."""
    assert found.faults == ()
    return [found.films[path].spacing_mm for path in (PA, LATERAL)]


@pytest.mark.parametrize(
    "key",
    [
        *("pixel_spacing", "PixelSpacing", "ImagerPixelSpacing", "imager_pixel_spacing"),
        *("image_pixel_spacing", "Pixel Spacing mm", "spacing_mm"),
    ],
)
def test_every_spelling_is_understood(bank: Read, item: ItemDict, key: str) -> None:
    """No note, and one spacing per image in the images' order."""
    found = bank({"q1": item | {key: [0.143, 0.2]}})
    assert (spacings(found), found.notes) == ([0.143, 0.2], ())


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (0.143, [0.143, 0.143]),
        ("0.143", [0.143, 0.143]),
        (1, [1.0, 1.0]),
        ([0.143], [0.143, 0.143]),
        ("0.143\\0.143", [0.143, 0.143]),
        ([[0.143, 0.143]], [0.143, 0.143]),
        ([0.143, 0.139], [0.143, 0.139]),
        (["0.143", "0.139"], [0.143, 0.139]),
        ("['0.143', '0.139']", [0.143, 0.139]),
        ("0.143|0.139", [0.143, 0.139]),
        ("0.143;0.139", [0.143, 0.139]),
        ([[0.143, 0.143], [0.2, 0.2]], [0.143, 0.2]),
        (["0.143\\0.143", "0.2\\0.2"], [0.143, 0.2]),
        ("0.143\\0.143|0.2\\0.2", [0.143, 0.2]),
        ([0.143, [0.2, 0.2]], [0.143, 0.2]),
        ([None, 0.2], [None, 0.2]),
        (["", "0.2"], [None, 0.2]),
        ([], [None, None]),
        (None, [None, None]),
        ([0.01, 5], [0.01, 5.0]),
        (float("nan"), [None, None]),
    ],
)
def test_spacing_in_every_usual_form(
    bank: Read, item: ItemDict, written: object, expected: list[float | None]
) -> None:
    """Numbers, texts, pairs and lists of them; what is not given is unknown without a note."""
    found = bank({"q1": item | {"pixel_spacing": written}})
    assert (spacings(found), found.notes) == (expected, ())


@pytest.mark.parametrize("written", [[0.143, 0.144], "[0.143, 0.144]", ["0.143\\0.144"]])
def test_two_numbers_for_one_image_are_a_pair(bank: Read, item: ItemDict, written: object) -> None:
    """Rows and columns within 1 % are square; their mean counts."""
    item |= {"ImagePath": [f"../{PA}"], "ImageViewPosition": ["PA"], "PixelSpacing": written}
    found = bank({"q1": item})
    assert found.films[PA].spacing_mm == pytest.approx(0.1435)
    assert found.notes == ()


def test_two_numbers_for_three_images_are_a_pair_for_all(bank: Read, item: ItemDict) -> None:
    """A pair is one value; two different spacings for three images are none."""
    third = "deid_png/P2/A2/pa.png"
    item |= {"ImagePath": [f"../{path}" for path in (PA, LATERAL, third)]}
    item |= {"ImageViewPosition": ["PA", "LL", "PA"]}
    found = bank({"q1": item | {"PixelSpacing": [0.2, 0.2]}})
    assert {film.spacing_mm for film in found.films.values()} == {0.2}
    found = bank({"q1": item | {"PixelSpacing": [0.2, 0.3]}})
    assert {film.spacing_mm for film in found.films.values()} == {None}
    assert len(found.notes) == 1


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("0.143\\0.15", "not square"),
        ([[0.1, 0.102], [0.1, 0.102]], "not square"),
        (0.009, "not within 0.01 to 5 mm"),
        (5.1, "not within"),
        (0, "not within"),
        (-0.143, "not within"),
        ("inf", "not within"),
        ([1, 2, 3], "not as many as images"),
        ("0.1|0.1|0.1", "not as many as images"),
        (["a", "b"], "not understood"),
        ("0.143 mm", "not understood"),
        ("0.1\\0.1\\0.1", "not understood"),
        ("nan", "not understood"),
        (True, "not understood"),
        (10**400, "not understood"),
        ({"row": 0.1}, "not understood"),
        ([[[0.1]], [[0.1]]], "not understood"),
        ("\ud800", "not understood"),
        ("a\0", "not understood"),
    ],
)
def test_a_doubtful_spacing_is_noted_and_unknown(
    bank: Read, item: ItemDict, written: object, says: str
) -> None:
    """Never a fault: a film can be read without a scale, and must not be read with a wrong one."""
    found = bank({"q1": item | {"pixel_spacing": written}})
    assert spacings(found) == [None, None]
    assert len(found.notes) == 1
    assert says in found.notes[0]
    assert "(1 item, first q1)" in found.notes[0]


def test_one_doubtful_value_leaves_the_other_images_alone(bank: Read, item: ItemDict) -> None:
    """Each image has its own."""
    found = bank({"q1": item | {"pixel_spacing": [0.143, 9]}})
    assert spacings(found) == [0.143, None]
    assert "not within" in found.notes[0]


def test_the_detectors_own_spacing_comes_before_a_calibrated_one(
    bank: Read, item: ItemDict
) -> None:
    """Both are given where somebody calibrated; the difference is noted."""
    both = item | {"PixelSpacing": 0.13, "ImagerPixelSpacing": [0.143, 0.143]}
    found = bank({"q1": both})
    assert spacings(found) == [0.143, 0.143]
    assert "ImagerPixelSpacing is taken" in found.notes[0]
    assert bank({"q1": both | {"PixelSpacing": "0.143\\0.143"}}).notes == ()


def test_items_that_differ_on_a_film_leave_its_spacing_unknown(bank: Read, item: ItemDict) -> None:
    """A note says which film; the other film, on which they agree, keeps its spacing."""
    other = item | {"pixel_spacing": [0.2, 0.143]}
    found = bank({"q1": item | {"pixel_spacing": [0.143, 0.143]}, "q2": other, "q3": item})
    assert spacings(found) == [None, 0.143]
    assert found.notes == (f"pixel spacings of image {PA} differ, left unknown (1 item, first q1)",)


def test_a_film_without_a_spacing_in_one_item_takes_the_others(bank: Read, item: ItemDict) -> None:
    """Silence contradicts nobody, and statements within 1 % are one."""
    given = item | {"pixel_spacing": 0.143}
    found = bank({"q1": item, "q2": given, "q3": item | {"pixel_spacing": 0.1431}})
    assert (spacings(found), found.notes) == ([0.143, 0.143], ())


def test_a_faulty_item_has_no_say(bank: Read, item: ItemDict) -> None:
    """What is not imported contradicts nothing."""
    bad = item | {"question": "", "pixel_spacing": 0.9}
    found = bank({"q1": item | {"pixel_spacing": 0.143}, "q2": bad})
    assert {film.spacing_mm for film in found.films.values()} == {0.143}


def test_an_image_listed_twice_with_two_spacings_has_none(bank: Read, item: ItemDict) -> None:
    """Shown once, and of two minds about its size."""
    item |= {"ImagePath": [f"../{PA}"] * 2, "pixel_spacing": [0.143, 0.2]}
    found = bank({"q1": item})
    assert found.films[PA].spacing_mm is None
    assert any("differ" in note for note in found.notes)


def test_a_csv_column_holds_spacings(bank: Read) -> None:
    """Separated as the images are, or a JSON list; an empty cell is unknown."""
    rows = [
        f"q1,Effusion?,Yes,No,A,{PA}|{LATERAL},0.143|0.139",
        'q2,Effusion?,Yes,No,A,deid_png/P2/A2/pa.png,"[0.2, 0.2]"',
        f"q3,Effusion?,Yes,No,A,{PA},",
    ]
    header = "item_id,question,option_a,option_b,truth,images,pixel_spacing"
    found = bank("\n".join([header, *rows]), "bank.csv")
    assert spacings(found) == [0.143, 0.139]
    assert found.films["deid_png/P2/A2/pa.png"].spacing_mm == 0.2
    assert found.notes == ()
