"""The shelf of prepared films has complete, verified files and a maximum size."""

import os
import stat
from pathlib import Path

import pytest

from study.films.shelf import Shelf

FIRST_NAME, SECOND_NAME, THIRD_NAME = ("1" * 64, "2" * 64, "3" * 64)


def shelf(folder: Path, max_bytes: int = 10_000) -> Shelf:
    """Return a shelf that may fill the disk."""
    return Shelf(folder / "films", max_bytes=max_bytes, keep_free_bytes=0)


def test_a_stored_film_is_available_to_other_processes(tmp_path: Path) -> None:
    """An incomplete film is not available; only the owner can read the files."""
    assert shelf(tmp_path).get(FIRST_NAME) is None
    shelf(tmp_path).put(FIRST_NAME, b"film")
    assert shelf(tmp_path).get(FIRST_NAME) == b"film"
    folder = tmp_path / "films"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()] == [0o600]


@pytest.mark.parametrize("position", [0, 20, 33, -1])
def test_a_damaged_film_is_deleted(tmp_path: Path, position: int) -> None:
    """A single changed byte is detected."""
    shelf(tmp_path).put(FIRST_NAME, b"film")
    (path,) = (tmp_path / "films").iterdir()
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(bytes(content))
    assert shelf(tmp_path).get(FIRST_NAME) is None
    assert not path.exists()


def test_an_empty_or_truncated_file_is_ignored(tmp_path: Path) -> None:
    """A crash of the machine can leave such a file."""
    shelf(tmp_path).put(FIRST_NAME, b"film")
    (path,) = (tmp_path / "films").iterdir()
    for content in (b"", b"x" * 10):
        path.write_bytes(content)
        assert shelf(tmp_path).get(FIRST_NAME) is None


def test_the_least_recently_used_film_is_deleted_first(tmp_path: Path) -> None:
    """Reading a film counts as use."""
    film_shelf = shelf(tmp_path, max_bytes=3 * 132)
    for age, name in ((30, FIRST_NAME), (20, SECOND_NAME), (10, THIRD_NAME)):
        film_shelf.put(name, bytes(100))
        newest = max((tmp_path / "films").iterdir(), key=lambda path: path.stat().st_mtime)
        os.utime(newest, (1_000_000 - age, 1_000_000 - age))
    assert film_shelf.get(FIRST_NAME) is not None
    film_shelf.put("4" * 64, bytes(100))
    assert film_shelf.get(SECOND_NAME) is None
    assert None not in [film_shelf.get(name) for name in (FIRST_NAME, THIRD_NAME, "4" * 64)]


def test_a_film_larger_than_the_shelf_is_not_kept(tmp_path: Path) -> None:
    """The film is not stored in part, and other films are kept."""
    shelf(tmp_path).put(FIRST_NAME, bytes(20_000))
    assert list((tmp_path / "films").iterdir()) == []
    shelf(tmp_path).put(SECOND_NAME, b"film")
    shelf(tmp_path).put(FIRST_NAME, bytes(20_000))
    assert shelf(tmp_path).get(SECOND_NAME) == b"film"


def test_a_film_with_the_name_of_another_film_is_not_used(tmp_path: Path) -> None:
    """A renamed or copied file is complete, but contains another film."""
    shelf(tmp_path).put(FIRST_NAME, b"film")
    (path,) = (tmp_path / "films").iterdir()
    path.rename(path.with_name(path.name.replace(FIRST_NAME, SECOND_NAME)))
    assert shelf(tmp_path).get(SECOND_NAME) is None


def test_the_remaining_disk_space_is_reserved_for_readings(tmp_path: Path) -> None:
    """No film is stored on a disk that is nearly full."""
    film_shelf = Shelf(tmp_path / "films", max_bytes=10_000, keep_free_bytes=1 << 60)
    film_shelf.put(FIRST_NAME, b"film")
    assert film_shelf.get(FIRST_NAME) is None


def test_a_missing_or_invalid_folder_is_tolerated(tmp_path: Path) -> None:
    """The folder is a file, or was deleted in the meantime."""
    (tmp_path / "films").write_text("in the way")
    film_shelf = shelf(tmp_path)
    film_shelf.put(FIRST_NAME, b"film")
    assert film_shelf.get(FIRST_NAME) is None
    (tmp_path / "films").unlink()
    film_shelf.put(FIRST_NAME, b"film")
    assert film_shelf.get(FIRST_NAME) == b"film"
