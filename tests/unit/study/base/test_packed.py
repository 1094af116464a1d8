"""ZIP archives that exceed the budget, overlap or declare a wrong size are refused."""

import io
import struct
import zipfile
from pathlib import Path

import pytest

from study.base.budget import Budget
from study.base.errors import BadFile
from study.base.packed import content_of, opened, unpack

_LOCAL, _CENTRAL = b"PK\x03\x04", b"PK\x01\x02"


def _zip(*files: tuple[str, bytes], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", packing) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return held.getvalue()


@pytest.mark.parametrize(
    ("budget", "says"),
    [
        (Budget(member_bytes=999), "'bank.json': unpacks to 5,000 bytes; the limit is 999"),
        (Budget(unpacked_bytes=5000), "unpacks to more than 5,000 bytes"),
        (Budget(members=1), "contains 2 files; the limit is 1"),
    ],
)
def test_an_archive_beyond_the_budget_is_refused(tmp_path: Path, budget: Budget, says: str) -> None:
    """The message has its name and the limit; nothing is unpacked."""
    path = tmp_path / "a.zip"
    path.write_bytes(_zip(("bank.json", b"0" * 5000), ("b", b"1")))
    with pytest.raises(BadFile, match=rf"a\.zip: Nothing was unpacked:\n.*{says}"):
        unpack(path, tmp_path / "bank", budget=budget)
    assert not (tmp_path / "bank").exists()


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("claimed", [0, 10, 4999])
def test_an_entry_is_not_read_beyond_its_declared_size(
    tmp_path: Path, packing: int, claimed: int
) -> None:
    """Its checksum is then wrong, so the archive is refused."""
    content = bytearray(_zip(("bank.json", b"0" * 5000), packing=packing))
    for mark, offset in ((_LOCAL, 22), (_CENTRAL, 24)):
        struct.pack_into("<I", content, content.index(mark) + offset, claimed)
    with pytest.raises(BadFile, match="not a valid ZIP"):
        unpack(io.BytesIO(bytes(content)), tmp_path / "bank")
    written = tmp_path / "bank" / "bank.json"
    assert not written.exists() or written.stat().st_size <= claimed


def test_entries_that_share_their_content_are_refused() -> None:
    """A small archive can contain the same bytes under a thousand names."""
    content = _zip(("kernel", bytes(100_000)))
    start, end = content.index(_CENTRAL), content.index(b"PK\x05\x06")
    entry = content[start:end]
    names = [f"{n:06d}".encode() for n in range(1000)]
    central = b"".join(entry.replace(b"kernel", name) for name in names)
    footer = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1000, 1000, len(central), start, 0)
    with (
        pytest.raises(BadFile, match="overlap"),
        opened(io.BytesIO(content[:start] + central + footer)),
    ):
        pass


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_an_archive_within_the_budget_is_unpacked(packing: int) -> None:
    """All compression methods are tried."""
    content = bytes(range(256)) * 1000
    with opened(io.BytesIO(_zip(("a/b", content), packing=packing))) as (archive, (entry,)):
        assert content_of(archive, entry) == content
