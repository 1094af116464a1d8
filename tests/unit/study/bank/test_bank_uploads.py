"""Uploaded banks: archives are unpacked safely, and a refused bank leaves no files."""

import io
import stat
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from study.bank.importing import Imported
from study.bank.layout import SeveralBanks, banks_folder
from study.bank.uploads import (
    folder_on_server,
    import_received,
    importable_folders,
    receive_archive,
)
from study.base.actor import Acting, By
from study.base.errors import BadFile, NotFound, NotNow
from study.base.packed import unpack
from study.store import Store, banks, events
from study.trail.verification import verify
from tests.conftest import NOW, write_bank

BY = By(name="ada", role="administrator")
ACTING = Acting(by=BY, now=NOW)


def _zipped(folder: Path, *, subfolder: str = "") -> io.BytesIO:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, subfolder + str(path.relative_to(folder)))
    return buffer


def _archive(*names: str, mode: int = 0) -> io.BytesIO:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode << 16
            archive.writestr(entry, b"x")
    return buffer


def _upload_and_import(
    store: Store, archive: io.BytesIO, name: str = "Chest bank", chosen: Sequence[str] = ()
) -> Imported:
    result = receive_archive(store, archive, name=name)
    return import_received(store, result, name=name, chosen=chosen, acting=ACTING)


@pytest.mark.parametrize("subfolder", ["", "my bank/"])
def test_a_bank_from_a_zip_is_stored_next_to_the_store(
    store: Store, tmp_path: Path, subfolder: str
) -> None:
    """The files may be in a folder of the archive; the event names the person who uploaded it."""
    write_bank(tmp_path / "source")
    result = _upload_and_import(store, _zipped(tmp_path / "source", subfolder=subfolder))
    assert result.n_items == 24
    with store.look() as look:
        (row,) = banks.listed(look)
        last = list(events.walk(look, events.DEPLOYMENT))[-1]
    assert Path(row.images_root).is_relative_to(banks_folder(store) / "chest-bank")
    assert (row.n_items, row.n_films) == (24, 24)
    assert (last.kind, last.actor) == ("bank imported", "ada")
    assert verify(store) == []


def test_a_bank_with_errors_leaves_no_rows_and_no_files(store: Store, tmp_path: Path) -> None:
    """The error names the missing film."""
    write_bank(tmp_path / "source")
    (tmp_path / "source/films/3_pa.png").unlink()
    with pytest.raises(BadFile, match="3_pa"):
        _upload_and_import(store, _zipped(tmp_path / "source"))
    assert list(banks_folder(store).iterdir()) == []
    with store.look() as look:
        assert banks.names(look) == []


def test_a_second_bank_of_the_same_name_leaves_no_files(store: Store, tmp_path: Path) -> None:
    """Importing the same bank again has no effect; another bank is refused, and films are kept."""
    bank = write_bank(tmp_path / "source")
    assert _upload_and_import(store, _zipped(tmp_path / "source")).is_new
    assert not _upload_and_import(store, _zipped(tmp_path / "source")).is_new
    assert [path.name for path in banks_folder(store).iterdir()] == ["chest-bank"]
    bank.write_text(bank.read_text() + " ")
    with pytest.raises(NotNow, match="already exists"):
        _upload_and_import(store, _zipped(tmp_path / "source"))
    assert [path.name for path in banks_folder(store).iterdir()] == ["chest-bank"]


def test_an_empty_upload_is_reported_as_empty(store: Store) -> None:
    """No part of the upload is kept."""
    empty = io.BytesIO()
    empty.name = "bank.zip"
    with pytest.raises(BadFile, match=r"^bank\.zip is empty"):
        receive_archive(store, empty, name="Chest bank")
    assert list(banks_folder(store).iterdir()) == []


@pytest.mark.parametrize(
    "name", ["../out.json", "/out.json", "a/../../out", "a\\..\\out", "C:/out", "a\nb", ".."]
)
def test_an_archive_with_paths_outside_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    """The error names each such entry, and nothing is unpacked."""
    with pytest.raises(BadFile, match="points outside"):
        unpack(_archive("fine.json", name), tmp_path / "bank")
    assert list(tmp_path.iterdir()) == []


def test_archives_with_links_or_duplicate_names_are_refused(tmp_path: Path) -> None:
    """A file that is not a ZIP is refused too."""
    with pytest.raises(BadFile, match="not a regular file"):
        unpack(_archive("link", mode=stat.S_IFLNK | 0o777), tmp_path / "a")
    with pytest.raises(BadFile, match="twice"):
        unpack(_archive("bank.json", "Bank.JSON"), tmp_path / "b")
    with pytest.raises(BadFile, match="not a valid ZIP"):
        unpack(io.BytesIO(b"PK nonsense"), tmp_path / "c")


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_archive_is_refused(tmp_path: Path, compression: int) -> None:
    """The compression method does not matter."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        archive.writestr("bank.json", b"{}" * 500)
    damaged = bytearray(buffer.getvalue())
    damaged[50:60] = b"\xff" * 10
    with pytest.raises((BadFile, OSError)):  # `receive_archive` handles either error
        unpack(io.BytesIO(bytes(damaged)), tmp_path / "bank")


def test_an_archive_without_a_single_bank_file_is_refused(store: Store, tmp_path: Path) -> None:
    """The error lists the possible bank files, one of which can be chosen."""
    archive = _archive("film.png")
    archive.name = "films of May.zip"
    with pytest.raises(BadFile, match=r"^films of May\.zip contains no bank file"):
        _upload_and_import(store, archive)
    source = tmp_path / "source"
    bank = write_bank(source)
    (source / "metadata").mkdir()
    for split in ("train", "test"):
        (source / f"metadata/{split}.json").write_bytes(bank.read_bytes())
    bank.unlink()
    with pytest.raises(SeveralBanks) as raised:
        _upload_and_import(store, _zipped(source))
    assert raised.value.names == ("metadata/test.json", "metadata/train.json")
    assert list(banks_folder(store).iterdir()) == []
    assert _upload_and_import(store, _zipped(source), chosen=("metadata/test.json",)).n_items == 24


def _release(root: Path, images: str, prefix: str) -> None:
    """Write a bank with its file in `metadata` and the images in another folder."""
    bank = write_bank(root / "written")
    (root / "zip/metadata").mkdir(parents=True)
    text = bank.read_text().replace("films/", prefix)
    (root / "zip/metadata/test_vqa_data.json").write_text(text)
    (root / "zip" / images).parent.mkdir(parents=True, exist_ok=True)
    (root / "written/films").rename(root / "zip" / images)
    (root / "zip/README.md").write_text("Read me.")
    (root / "zip/licence.json").write_text('{"name": "none"}')


@pytest.mark.parametrize("subfolder", ["", "release/"])
@pytest.mark.parametrize(
    ("images", "prefix"),
    [
        ("deid_png", "../deid_png/"),
        ("images/deid_png", "../deid_png/"),
        ("films", "films/"),
        ("films", ""),
    ],
)
def test_a_bank_is_found_in_every_usual_folder_structure(
    store: Store, tmp_path: Path, images: str, prefix: str, subfolder: str
) -> None:
    """Other files in the archive do not matter."""
    _release(tmp_path, images, prefix)
    assert _upload_and_import(store, _zipped(tmp_path / "zip", subfolder=subfolder)).n_items == 24


def test_a_zip_made_by_windows_is_accepted(store: Store, tmp_path: Path) -> None:
    """The paths in such archives have backslashes."""
    write_bank(tmp_path / "source")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in filter(Path.is_file, (tmp_path / "source").rglob("*")):
            name = str(path.relative_to(tmp_path / "source"))
            archive.writestr("bank\\" + name.replace("/", "\\"), path.read_bytes())
        archive.writestr("bank\\films\\Thumbs.db", b"x")
    assert _upload_and_import(store, buffer).n_items == 24


def test_files_added_by_macos_are_ignored(store: Store, tmp_path: Path) -> None:
    """Such files are not unpacked and not considered as bank files."""
    write_bank(tmp_path / "source")
    (tmp_path / "source/__MACOSX").mkdir()
    (tmp_path / "source/__MACOSX/bank.json").write_text("{}")
    assert _upload_and_import(store, _zipped(tmp_path / "source")).n_items == 24


def test_a_folder_on_the_server_is_imported_in_place(store: Store) -> None:
    """Only folders in the banks' folder that contain a bank are offered and accepted."""
    write_bank(banks_folder(store) / "big")
    (banks_folder(store) / "empty").mkdir()
    assert importable_folders(store) == ["big"]
    result = import_received(store, folder_on_server(store, "big"), name="Big", acting=ACTING)
    assert result.n_items == 24
    with pytest.raises(NotFound, match="no folder"):
        folder_on_server(store, "../..")
