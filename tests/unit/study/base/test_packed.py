"""ZIP archives that exceed the budget, overlap or declare a wrong size are refused."""

import io
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from study.base.budget import Budget
from study.base.errors import BadFile
from study.base.packed import entry_content, open_archive, unpack

_LOCAL_HEADER, _CENTRAL_HEADER = b"PK\x03\x04", b"PK\x01\x02"


def _zip(*files: tuple[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        (Budget(member_bytes=999), "“bank.json”: unpacks to 5,000 bytes; the limit is 999"),
        (Budget(unpacked_bytes=5000), "unpacks to more than 5,000 bytes"),
        (Budget(members=1), "contains 2 files; the limit is 1"),
    ],
)
def test_an_archive_beyond_the_budget_is_refused(
    tmp_path: Path, budget: Budget, message: str
) -> None:
    """The message has the name of the archive and the limit; nothing is unpacked."""
    path = tmp_path / "a.zip"
    path.write_bytes(_zip(("bank.json", b"0" * 5000), ("b", b"1")))
    with pytest.raises(BadFile, match=rf"a\.zip: Nothing was unpacked:\n.*{message}"):
        unpack(path, tmp_path / "bank", budget=budget)
    assert not (tmp_path / "bank").exists()


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("declared_size", [0, 10, 4999])
def test_an_entry_is_not_read_beyond_its_declared_size(
    tmp_path: Path, compression: int, declared_size: int
) -> None:
    """The checksum is then wrong, so the archive is refused."""
    content = bytearray(_zip(("bank.json", b"0" * 5000), compression=compression))
    for mark, offset in ((_LOCAL_HEADER, 22), (_CENTRAL_HEADER, 24)):
        struct.pack_into("<I", content, content.index(mark) + offset, declared_size)
    with pytest.raises(BadFile, match="not a valid ZIP"):
        unpack(io.BytesIO(bytes(content)), tmp_path / "bank")
    written = tmp_path / "bank" / "bank.json"
    assert not written.exists() or written.stat().st_size <= declared_size


def test_entries_that_share_the_same_bytes_are_refused() -> None:
    """A small archive can contain the same bytes under a thousand names."""
    content = _zip(("kernel", bytes(100_000)))
    start, end = content.index(_CENTRAL_HEADER), content.index(b"PK\x05\x06")
    entry = content[start:end]
    names = [f"{n:06d}".encode() for n in range(1000)]
    central = b"".join(entry.replace(b"kernel", name) for name in names)
    footer = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1000, 1000, len(central), start, 0)
    with (
        pytest.raises(BadFile, match="overlap"),
        open_archive(io.BytesIO(content[:start] + central + footer)),
    ):
        pass


@pytest.mark.parametrize(
    "compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA]
)
def test_an_archive_within_the_budget_is_unpacked(compression: int) -> None:
    """All compression methods are tested."""
    content = bytes(range(256)) * 1000
    with open_archive(io.BytesIO(_zip(("a/b", content), compression=compression))) as (
        archive,
        (entry,),
    ):
        assert entry_content(archive, entry) == content


_INVALID_NAMES = {
    "is a file and a folder": [
        ["a", "a/b"],
        ["a/b/c", "a/b"],
        ["A", "a/b"],
        ["\u00fc", "u\u0308/b"],
    ],
    "a”: appears twice": [["a", "a"], ["a/", "a"], ["./a", "a"]],
    "appears twice, also as “a/": [["a/b.png", "a/B.PNG"], ["a/\u00fc", "a/u\u0308"]],
    "more than 255 bytes": [["n" * 300], ["n" * 300 + "/b"], ["\u00fc" * 150]],
    "more than 2,000 bytes": [["/".join(["n" * 100] * 30)]],
    "points outside the archive": [
        ["../a"],
        ["a/../b"],
        ["/etc/a"],
        ["C:\\a"],
        ["..\\a"],
        ["."],
        ["a\nb"],
        ["a\u202eb"],
        ["a\u200bb"],
    ],
}


@pytest.mark.parametrize(
    ("message", "names"),
    [(message, names) for message, cases in _INVALID_NAMES.items() for names in cases],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_that_cannot_be_written_are_refused(
    tmp_path: Path, message: str, names: list[str]
) -> None:
    """The error names the archive and the entry, and nothing is written."""
    path = tmp_path / "a.zip"
    path.write_bytes(_zip(*((name, b"") for name in names)))
    with pytest.raises(BadFile, match=rf"a\.zip: Nothing was unpacked:\n.*“.*{message}"):
        unpack(path, tmp_path / "bank")
    assert not (tmp_path / "bank").exists()


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFBLK, stat.S_IFSOCK])
def test_entries_that_are_not_regular_files_are_refused(tmp_path: Path, kind: int) -> None:
    entry = zipfile.ZipInfo("a")
    entry.external_attr = (kind | 0o644) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(entry, "/etc/passwd")
    with pytest.raises(BadFile, match="“a”: is not a regular file"):
        unpack(tmp_path / "a.zip", tmp_path / "bank")


def test_names_with_special_spaces_are_written(tmp_path: Path) -> None:
    """Names of macOS screenshots contain U+202F, and Persian words U+200C."""
    names = ["9.41\u202fAM.png", "\u753b\u50cf\u30001.png", "\u0645\u06cc\u200c\u0634.png"]
    unpack(io.BytesIO(_zip(*((name, b"1") for name in names))), tmp_path / "bank")
    assert {path.name for path in (tmp_path / "bank").iterdir()} == set(names)


def _damaged(content: bytes, mark: bytes, offset: int, value: int) -> bytes:
    changed = bytearray(content)
    changed[content.index(mark) + offset] ^= value
    return bytes(changed)


_VALID_ARCHIVE = _zip(("a", b"0" * 99), ("b", b"1" * 99), compression=zipfile.ZIP_STORED)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x1f\x8b" + bytes(60),
        _VALID_ARCHIVE[:-5],
        _VALID_ARCHIVE[: len(_VALID_ARCHIVE) // 2],
        _damaged(_VALID_ARCHIVE, b"1" * 99, 50, 1),
        _damaged(_VALID_ARCHIVE, _CENTRAL_HEADER, 10, 99),
        _damaged(_VALID_ARCHIVE, _CENTRAL_HEADER, 42, 255),
        _damaged(_VALID_ARCHIVE, b"b" + b"1" * 99, 0, 1),
    ],
    ids=["empty", "gzip", "cut", "half", "checksum", "method", "offset", "name"],
)
def test_nothing_remains_of_a_damaged_archive(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(BadFile, match="not a valid ZIP archive"):
        unpack(io.BytesIO(content), tmp_path / "bank")
    assert not (tmp_path / "bank").exists()


def test_an_archive_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="cannot be unpacked: there is no file"):
        unpack(io.BytesIO(_VALID_ARCHIVE), tmp_path / "missing" / "bank")


def test_an_existing_folder_is_refused_and_unchanged(tmp_path: Path) -> None:
    """After an error, only a folder that was created for the archive is removed."""
    file = tmp_path / "kept.txt"
    file.write_text("kept")
    with pytest.raises(BadFile, match="cannot be unpacked: a file or folder of this name exists"):
        unpack(io.BytesIO(_VALID_ARCHIVE), tmp_path)
    assert file.read_text() == "kept"
