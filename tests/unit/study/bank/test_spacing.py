"""Pixel spacing in every notation, and contradictions that make it unknown."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.unit.study.bank.conftest import BankFile

Read = Callable[..., BankFile]
ItemDict = dict[str, Any]
PA, LATERAL = "deid_png/P1/A1/pa.png", "deid_png/P1/A1/lat.png"


def spacings(file: BankFile) -> list[float | None]:
    """Return the spacings of the two films of an item without errors."""
    assert file.faults == ()
    return [file.films[path].spacing_mm for path in (PA, LATERAL)]


@pytest.mark.parametrize(
    "key",
    [
        *("pixel_spacing", "PixelSpacing", "ImagerPixelSpacing", "imager_pixel_spacing"),
        *("image_pixel_spacing", "Pixel Spacing mm", "spacing_mm"),
    ],
)
def test_every_name_of_the_key_is_accepted(bank: Read, item: ItemDict, key: str) -> None:
    """The file has a spacing per image, in their order."""
    file = bank({"q1": item | {key: [0.143, 0.2]}})
    assert (spacings(file), file.notes) == ([0.143, 0.2], ())


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
def test_a_spacing_is_read_in_every_notation(
    bank: Read, item: ItemDict, written: object, expected: list[float | None]
) -> None:
    """Numbers, texts, pairs and lists are accepted; a missing value is unknown without a note."""
    file = bank({"q1": item | {"pixel_spacing": written}})
    assert (spacings(file), file.notes) == (expected, ())


@pytest.mark.parametrize("written", [[0.143, 0.144], "[0.143, 0.144]", ["0.143\\0.144"]])
def test_two_numbers_for_one_image_are_a_pair(bank: Read, item: ItemDict, written: object) -> None:
    """Rows and columns within 1 % are square, and their mean is used."""
    item |= {"ImagePath": [f"../{PA}"], "ImageViewPosition": ["PA"], "PixelSpacing": written}
    file = bank({"q1": item})
    assert file.films[PA].spacing_mm == pytest.approx(0.1435)
    assert file.notes == ()


def test_two_numbers_for_three_images_are_a_pair_for_all(bank: Read, item: ItemDict) -> None:
    """Two different spacings for three images are not usable."""
    third = "deid_png/P2/A2/pa.png"
    item |= {"ImagePath": [f"../{path}" for path in (PA, LATERAL, third)]}
    item |= {"ImageViewPosition": ["PA", "LL", "PA"]}
    file = bank({"q1": item | {"PixelSpacing": [0.2, 0.2]}})
    assert {film.spacing_mm for film in file.films.values()} == {0.2}
    file = bank({"q1": item | {"PixelSpacing": [0.2, 0.3]}})
    assert {film.spacing_mm for film in file.films.values()} == {None}
    assert len(file.notes) == 1


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
        ([1, 2, 3], "not one per image"),
        ("0.1|0.1|0.1", "not one per image"),
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
def test_an_invalid_spacing_is_unknown_with_a_note(
    bank: Read, item: ItemDict, written: object, says: str
) -> None:
    """It is not an error: a film can be read without a scale, but not with a wrong one."""
    file = bank({"q1": item | {"pixel_spacing": written}})
    assert spacings(file) == [None, None]
    assert len(file.notes) == 1
    assert says in file.notes[0]
    assert "(1 item, first q1)" in file.notes[0]


def test_an_invalid_spacing_does_not_affect_other_images(bank: Read, item: ItemDict) -> None:
    """Each image has its own spacing."""
    file = bank({"q1": item | {"pixel_spacing": [0.143, 9]}})
    assert spacings(file) == [0.143, None]
    assert "not within" in file.notes[0]


def test_the_spacing_of_the_detector_precedes_a_calibrated_one(bank: Read, item: ItemDict) -> None:
    """A note reports the difference."""
    both = item | {"PixelSpacing": 0.13, "ImagerPixelSpacing": [0.143, 0.143]}
    file = bank({"q1": both})
    assert spacings(file) == [0.143, 0.143]
    assert "ImagerPixelSpacing is used" in file.notes[0]
    assert bank({"q1": both | {"PixelSpacing": "0.143\\0.143"}}).notes == ()


def test_contradictory_spacings_of_a_film_make_it_unknown(bank: Read, item: ItemDict) -> None:
    """A note names the film; other films keep their spacing."""
    other = item | {"pixel_spacing": [0.2, 0.143]}
    file = bank({"q1": item | {"pixel_spacing": [0.143, 0.143]}, "q2": other, "q3": item})
    assert spacings(file) == [None, 0.143]
    assert file.notes == (f"pixel spacings of image {PA} differ, left unknown (1 item, first q1)",)


def test_an_item_without_spacing_does_not_contradict_others(bank: Read, item: ItemDict) -> None:
    """Values within 1 % agree."""
    spaced = item | {"pixel_spacing": 0.143}
    file = bank({"q1": item, "q2": spaced, "q3": item | {"pixel_spacing": 0.1431}})
    assert (spacings(file), file.notes) == ([0.143, 0.143], ())


def test_the_spacing_of_an_invalid_item_is_ignored(bank: Read, item: ItemDict) -> None:
    """Only imported items count."""
    bad = item | {"question": "", "pixel_spacing": 0.9}
    file = bank({"q1": item | {"pixel_spacing": 0.143}, "q2": bad})
    assert {film.spacing_mm for film in file.films.values()} == {0.143}


def test_an_image_listed_twice_with_two_spacings_has_none(bank: Read, item: ItemDict) -> None:
    """Such an image is shown once, without spacing."""
    item |= {"ImagePath": [f"../{PA}"] * 2, "pixel_spacing": [0.143, 0.2]}
    file = bank({"q1": item})
    assert file.films[PA].spacing_mm is None
    assert any("differ" in note for note in file.notes)


def test_a_csv_column_may_contain_spacings(bank: Read) -> None:
    """Spacings are separated like the images, or form a JSON list; an empty cell is unknown."""
    rows = [
        f"q1,Effusion?,Yes,No,A,{PA}|{LATERAL},0.143|0.139",
        'q2,Effusion?,Yes,No,A,deid_png/P2/A2/pa.png,"[0.2, 0.2]"',
        f"q3,Effusion?,Yes,No,A,{PA},",
    ]
    header = "item_id,question,option_a,option_b,truth,images,pixel_spacing"
    file = bank("\n".join([header, *rows]), "bank.csv")
    assert spacings(file) == [0.143, 0.139]
    assert file.films["deid_png/P2/A2/pa.png"].spacing_mm == 0.2
    assert file.notes == ()
