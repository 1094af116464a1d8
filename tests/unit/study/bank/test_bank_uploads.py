"""Banks brought by browser: nothing leaves its folder, and a refused one leaves nothing behind."""

import io
import stat
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from study.bank.importing import Imported
from study.bank.layout import SeveralBanks, banks_folder
from study.bank.uploads import arrived, folders, import_arrived, receive
from study.base.actor import By
from study.base.errors import BadFile, NotFound, NotNow
from study.base.packed import unpack
from study.store import Store, banks, events
from study.trail.verification import verify
from tests.conftest import NOW, write_bank

BY = By(name="ada", role="administrator")


def _zipped(folder: Path, *, below: str = "") -> io.BytesIO:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, below + str(path.relative_to(folder)))
    return held


def _archive(*names: str, mode: int = 0) -> io.BytesIO:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name in names:
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode << 16
            archive.writestr(entry, b"x")
    return held


def _bring(
    store: Store, archive: io.BytesIO, name: str = "Chest bank", chosen: Sequence[str] = ()
) -> Imported:
    brought = receive(store, archive, name=name)
    return import_arrived(store, brought, name=name, chosen=chosen, by=BY, now=NOW)


@pytest.mark.parametrize("below", ["", "my bank/"])
def test_a_zip_becomes_a_bank_beside_the_store(store: Store, tmp_path: Path, below: str) -> None:
    """Packed as it is or in a folder of its own; the event says who brought it."""
    write_bank(tmp_path / "source")
    done = _bring(store, _zipped(tmp_path / "source", below=below))
    assert done.n_items == 24
    with store.look() as look:
        (row,) = banks.listed(look)
        last = list(events.walk(look, events.DEPLOYMENT))[-1]
    assert Path(row.images_root).is_relative_to(banks_folder(store) / "chest-bank")
    assert (row.n_items, row.n_films) == (24, 24)
    assert (last.kind, last.actor) == ("bank imported", "ada")
    assert verify(store) == []


def test_a_bank_with_faults_leaves_nothing_behind(store: Store, tmp_path: Path) -> None:
    """A film is missing: the fault is named, and neither rows nor files stay."""
    write_bank(tmp_path / "source")
    (tmp_path / "source/films/3_pa.png").unlink()
    with pytest.raises(BadFile, match="3_pa"):
        _bring(store, _zipped(tmp_path / "source"))
    assert list(banks_folder(store).iterdir()) == []
    with store.look() as look:
        assert banks.names(look) == []


def test_a_name_that_is_taken_leaves_nothing_behind(store: Store, tmp_path: Path) -> None:
    """Another bank of that name is refused, the same again changes nothing; the films stay."""
    bank = write_bank(tmp_path / "source")
    assert _bring(store, _zipped(tmp_path / "source")).is_new
    assert not _bring(store, _zipped(tmp_path / "source")).is_new
    assert [path.name for path in banks_folder(store).iterdir()] == ["chest-bank"]
    bank.write_text(bank.read_text() + " ")
    with pytest.raises(NotNow, match="already there"):
        _bring(store, _zipped(tmp_path / "source"))
    assert [path.name for path in banks_folder(store).iterdir()] == ["chest-bank"]


@pytest.mark.parametrize(
    "name", ["../out.json", "/out.json", "a/../../out", "a\\..\\out", "C:/out", "a\nb", ".."]
)
def test_no_path_leads_out_of_the_archive(tmp_path: Path, name: str) -> None:
    """Each such entry is named, and nothing at all is unpacked."""
    with pytest.raises(BadFile, match="points outside"):
        unpack(_archive("fine.json", name), tmp_path / "bank")
    assert list(tmp_path.iterdir()) == []


def test_links_doubles_and_nonsense_are_refused(tmp_path: Path) -> None:
    """No symbolic link, no name twice in another case, nothing that is no zip."""
    with pytest.raises(BadFile, match="not a regular file"):
        unpack(_archive("link", mode=stat.S_IFLNK | 0o777), tmp_path / "a")
    with pytest.raises(BadFile, match="twice"):
        unpack(_archive("bank.json", "Bank.JSON"), tmp_path / "b")
    with pytest.raises(BadFile, match="not a valid ZIP"):
        unpack(io.BytesIO(b"PK nonsense"), tmp_path / "c")


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_archive_is_refused_however_it_is_packed(tmp_path: Path, packing: int) -> None:
    """A byte altered in what is packed: said in one sentence."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", packing) as archive:
        archive.writestr("bank.json", b"{}" * 500)
    damaged = bytearray(held.getvalue())
    damaged[50:60] = b"\xff" * 10
    with pytest.raises((BadFile, OSError)):  # `receive` says the other so as well
        unpack(io.BytesIO(bytes(damaged)), tmp_path / "bank")


def test_what_holds_no_bank_or_several_is_refused(store: Store, tmp_path: Path) -> None:
    """The files that could be meant are named, and one of them can be chosen."""
    with pytest.raises(BadFile, match="no bank file"):
        _bring(store, _archive("film.png"))
    source = tmp_path / "source"
    bank = write_bank(source)
    (source / "metadata").mkdir()
    for split in ("train", "test"):
        (source / f"metadata/{split}.json").write_bytes(bank.read_bytes())
    bank.unlink()
    with pytest.raises(SeveralBanks) as asked:
        _bring(store, _zipped(source))
    assert asked.value.names == ("metadata/test.json", "metadata/train.json")
    assert list(banks_folder(store).iterdir()) == []
    assert _bring(store, _zipped(source), chosen=("metadata/test.json",)).n_items == 24


def _release(root: Path, images: str, prefix: str) -> None:
    """Lay a bank out with its file in `metadata`, beside or above the images."""
    bank = write_bank(root / "written")
    (root / "zip/metadata").mkdir(parents=True)
    text = bank.read_text().replace("films/", prefix)
    (root / "zip/metadata/test_vqa_data.json").write_text(text)
    (root / "zip" / images).parent.mkdir(parents=True, exist_ok=True)
    (root / "written/films").rename(root / "zip" / images)
    (root / "zip/README.md").write_text("Read me.")
    (root / "zip/licence.json").write_text('{"name": "none"}')


@pytest.mark.parametrize("below", ["", "release/"])
@pytest.mark.parametrize(
    ("images", "prefix"),
    [
        ("deid_png", "../deid_png/"),
        ("images/deid_png", "../deid_png/"),
        ("films", "films/"),
        ("films", ""),
    ],
)
def test_a_bank_is_found_however_it_was_packed(
    store: Store, tmp_path: Path, images: str, prefix: str, below: str
) -> None:
    """The release's own layout, films in a folder of their own, other files beside them."""
    _release(tmp_path, images, prefix)
    assert _bring(store, _zipped(tmp_path / "zip", below=below)).n_items == 24


def test_a_zip_made_by_windows_is_taken(store: Store, tmp_path: Path) -> None:
    """Backslashes part the folders in the names of its entries."""
    write_bank(tmp_path / "source")
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for path in filter(Path.is_file, (tmp_path / "source").rglob("*")):
            name = str(path.relative_to(tmp_path / "source"))
            archive.writestr("bank\\" + name.replace("/", "\\"), path.read_bytes())
        archive.writestr("bank\\films\\Thumbs.db", b"x")
    assert _bring(store, held).n_items == 24


def test_litter_of_other_systems_is_passed_over(store: Store, tmp_path: Path) -> None:
    """What a Mac puts beside every file is neither unpacked nor taken for a bank."""
    write_bank(tmp_path / "source")
    (tmp_path / "source/__MACOSX").mkdir()
    (tmp_path / "source/__MACOSX/bank.json").write_text("{}")
    assert _bring(store, _zipped(tmp_path / "source")).n_items == 24


def test_a_folder_on_the_server_is_imported_where_it_lies(store: Store) -> None:
    """Only folders with a bank beneath the banks' folder are offered, and no other is taken."""
    write_bank(banks_folder(store) / "big")
    (banks_folder(store) / "empty").mkdir()
    assert folders(store) == ["big"]
    done = import_arrived(store, arrived(store, "big"), name="Big", by=BY, now=NOW)
    assert done.n_items == 24
    with pytest.raises(NotFound, match="no folder"):
        arrived(store, "../..")
