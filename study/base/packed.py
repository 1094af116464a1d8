"""Reads uploaded ZIP archives within the budget, and never writes outside their folder.

The list of entries is checked before anything is unpacked, and its sizes are not trusted.
"""

import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from study.base.budget import BUDGET, Budget
from study.base.errors import BadFile
from study.base.translation import t

_BLOCK = 1 << 16
"""Number of bytes read at once, so that their unpacked content fits into memory."""

_UNSOUND = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    RuntimeError,
    ValueError,
    IndexError,
)
"""The errors that reading a damaged archive may raise."""


@contextmanager
def opened(
    file: Path | IO[bytes], *, on_disk: bool = False, budget: Budget = BUDGET
) -> Iterator[tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]]:
    """Open an archive and yield its entries, without files that some systems add to archives.

    Names contain forward slashes. `zipfile` reads at most the `file_size` of an entry, so reading
    stays within the budget.

    Parameters
    ----------
    on_disk
        Whether the entries will be written to disk, and so need valid names and types.

    Raises
    ------
    BadFile
        It is not a valid ZIP archive, exceeds the budget, or has invalid entries, which are listed.
    """
    where = f"{file}: " if isinstance(file, Path) else ""
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            for entry in entries:
                entry.filename = entry.filename.replace("\\", "/")  # ZIP files made on Windows
            entries = [entry for entry in entries if not _is_litter(entry)]
            faults = [*_excesses(entries, _size_of(archive), budget)]
            if faults := faults or [*_faults(entries, on_disk=on_disk)]:
                listed = "\n".join(f"  {fault}" for fault in faults[:200])
                raise BadFile(where + t("Nothing was unpacked:") + "\n" + listed)
            yield archive, entries
    except _UNSOUND as error:
        why = t(
            "This file is not a valid ZIP archive: {why}.", why=str(error) or type(error).__name__
        )
        raise BadFile(where + why) from error


def unpack(file: Path | IO[bytes], folder: Path, *, budget: Budget = BUDGET) -> None:
    """Unpack an archive into a new folder.

    Raises
    ------
    BadFile
        As for `opened`; or an entry is larger than stated in the archive.
    """
    with opened(file, on_disk=True, budget=budget) as (archive, entries):
        folder.mkdir()
        for entry in entries:
            _extract(archive, entry, folder)


def _extract(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, folder: Path) -> None:
    """Write an entry; `opened` has checked its size, and `zipfile` reads no more than that."""
    path = folder.joinpath(*PurePosixPath(entry.filename).parts)
    if entry.is_dir():
        path.mkdir(parents=True, exist_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as target:
        target.writelines(_blocks(archive, entry))


def content_of(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Return the content of an entry of an archive that `opened` has checked."""
    return b"".join(_blocks(archive, entry))


def _blocks(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    with archive.open(entry) as source:
        while block := source.read(_BLOCK):
            yield block


def _size_of(archive: zipfile.ZipFile) -> int:
    assert archive.fp is not None
    archive.fp.seek(0, 2)
    return archive.fp.tell()


def _excesses(entries: Sequence[zipfile.ZipInfo], n_bytes: int, budget: Budget) -> Iterator[str]:
    """Yield where an archive exceeds the budget, or is inconsistent with its own size."""
    if len(entries) > budget.members:
        yield t("It contains {n} files; the limit is {most}.", n=len(entries), most=budget.members)
    if sum(entry.file_size for entry in entries) > budget.unpacked_bytes:
        yield t(
            "It unpacks to more than {most} bytes. Split it into several archives.",
            most=f"{budget.unpacked_bytes:,}",
        )
    if sum(entry.compress_size for entry in entries) > n_bytes:
        yield t("Its entries overlap or are not complete. Pack it again.")
    for entry in entries:
        if entry.file_size > budget.member_bytes:
            yield t(
                "{name}: unpacks to {n} bytes; the limit is {most}.",
                name=repr(entry.filename[:200]),
                n=f"{entry.file_size:,}",
                most=f"{budget.member_bytes:,}",
            )


def _is_litter(entry: zipfile.ZipInfo) -> bool:
    """Return whether an entry is a file that some systems add to every archive."""
    parts = PurePosixPath(entry.filename).parts
    return bool(parts) and (
        "__MACOSX" in parts
        or parts[-1].startswith("._")
        or parts[-1].lower() in (".ds_store", "thumbs.db", "desktop.ini")
    )


def _faults(entries: Sequence[zipfile.ZipInfo], *, on_disk: bool) -> Iterator[str]:
    seen: set[str] = set()
    for entry in entries:
        name = entry.filename
        place = PurePosixPath(name)
        is_invalid = "\0" in name or ":" in name or not name.isprintable()
        outside = not place.parts or is_invalid or place.is_absolute() or ".." in place.parts
        # On many disks, names that differ only in case are the same file.
        known = str(place).casefold() if on_disk else str(place)
        if on_disk and outside:
            yield t(
                "{name}: points outside the archive, or is not a valid file name.", name=repr(name)
            )
        elif on_disk and not _is_regular(entry):
            yield t("{name}: is not a regular file.", name=repr(name))
        elif entry.flag_bits & 1:
            yield t("{name}: is encrypted.", name=repr(name))
        elif known in seen:
            yield t("{name}: appears twice.", name=repr(name))
        seen.add(known)


def _is_regular(entry: zipfile.ZipInfo) -> bool:
    return stat.S_IFMT(entry.external_attr >> 16) in (0, stat.S_IFREG, stat.S_IFDIR)
