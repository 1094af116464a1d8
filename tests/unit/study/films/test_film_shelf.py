"""The shelf of prepared films: whole or not at all, bounded, and never trusted blindly."""

import os
import stat
from pathlib import Path

import pytest

from study.films.shelf import Shelf

ONE, TWO, THREE = ("1" * 64, "2" * 64, "3" * 64)


def shelf(folder: Path, max_bytes: int = 10_000) -> Shelf:
    """Return a shelf that may fill the disk."""
    return Shelf(folder / "films", max_bytes=max_bytes, keep_free_bytes=0)


def test_what_is_put_there_is_found_by_another_process(tmp_path: Path) -> None:
    """And nothing before; files are for their owner only."""
    assert shelf(tmp_path).get(ONE) is None
    shelf(tmp_path).put(ONE, b"film")
    assert shelf(tmp_path).get(ONE) == b"film"
    folder = tmp_path / "films"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()] == [0o600]


@pytest.mark.parametrize("at", [0, 20, 33, -1])
def test_a_damaged_film_is_thrown_out(tmp_path: Path, at: int) -> None:
    """A single altered byte anywhere in the file is noticed."""
    shelf(tmp_path).put(ONE, b"film")
    (path,) = (tmp_path / "films").iterdir()
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(bytes(content))
    assert shelf(tmp_path).get(ONE) is None
    assert not path.exists()


def test_an_empty_or_cut_file_is_no_film(tmp_path: Path) -> None:
    """As a crash of the whole machine may leave it."""
    shelf(tmp_path).put(ONE, b"film")
    (path,) = (tmp_path / "films").iterdir()
    for content in (b"", b"x" * 10):
        path.write_bytes(content)
        assert shelf(tmp_path).get(ONE) is None


def test_the_longest_unused_film_makes_room(tmp_path: Path) -> None:
    """Looking at a film counts as using it."""
    kept = shelf(tmp_path, max_bytes=3 * 132)
    for age, name in ((30, ONE), (20, TWO), (10, THREE)):
        kept.put(name, bytes(100))
        newest = max((tmp_path / "films").iterdir(), key=lambda path: path.stat().st_mtime)
        os.utime(newest, (1_000_000 - age, 1_000_000 - age))
    assert kept.get(ONE) is not None
    kept.put("4" * 64, bytes(100))
    assert kept.get(TWO) is None
    assert None not in [kept.get(name) for name in (ONE, THREE, "4" * 64)]


def test_a_film_larger_than_the_shelf_is_not_kept(tmp_path: Path) -> None:
    """Nor does it stay behind as a part, or throw out the others."""
    shelf(tmp_path).put(ONE, bytes(20_000))
    assert list((tmp_path / "films").iterdir()) == []
    shelf(tmp_path).put(TWO, b"film")
    shelf(tmp_path).put(ONE, bytes(20_000))
    assert shelf(tmp_path).get(TWO) == b"film"


def test_a_film_under_another_films_name_is_not_taken_for_it(tmp_path: Path) -> None:
    """A file that was renamed or copied over another is whole, and the wrong one."""
    shelf(tmp_path).put(ONE, b"film")
    (path,) = (tmp_path / "films").iterdir()
    path.rename(path.with_name(path.name.replace(ONE, TWO)))
    assert shelf(tmp_path).get(TWO) is None


def test_the_disks_last_room_is_left_to_the_readings(tmp_path: Path) -> None:
    """A disk that is nearly full takes no films."""
    kept = Shelf(tmp_path / "films", max_bytes=10_000, keep_free_bytes=1 << 60)
    kept.put(ONE, b"film")
    assert kept.get(ONE) is None


def test_trouble_with_the_folder_is_no_trouble(tmp_path: Path) -> None:
    """A file in its place, or a folder that was deleted in between."""
    (tmp_path / "films").write_text("in the way")
    kept = shelf(tmp_path)
    kept.put(ONE, b"film")
    assert kept.get(ONE) is None
    (tmp_path / "films").unlink()
    kept.put(ONE, b"film")
    assert kept.get(ONE) == b"film"
