"""Reads uploaded ZIP archives within the budget, and never writes outside the target folder.

The list of entries is checked before anything is unpacked. The sizes it states are not trusted.
"""

import lzma
import shutil
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from study.base.budget import BUDGET, Budget
from study.base.errors import BadFile
from study.base.system import system_reason
from study.base.text import quoted
from study.base.translation import t

_BLOCK = 1 << 16
"""Number of bytes read at once; small enough that their unpacked content fits into memory."""

_LONGEST_NAME, _LONGEST_PATH = 255, 2_000
"""Maximum number of bytes of a name and of a path on disk."""

_ARCHIVE_ERRORS = (
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
def open_archive(
    file: Path | IO[bytes], *, on_disk: bool = False, budget: Budget = BUDGET
) -> Iterator[tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]]:
    """Open an archive and yield it with its entries, without files that some systems add.

    Names contain forward slashes. `zipfile` never reads more than the `file_size` of an entry, so
    reading does not exceed the budget.

    Parameters
    ----------
    on_disk
        Whether the entries will be written to disk and therefore need valid names and types.

    Raises
    ------
    BadFile
        The file is not a valid ZIP archive, exceeds the budget, or has invalid entries, which are
        listed.
    """
    prefix = f"{file}: " if isinstance(file, Path) else ""
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            for entry in entries:
                entry.filename = entry.filename.replace("\\", "/")  # ZIP files made on Windows
            entries = [entry for entry in entries if not _is_system_file(entry)]
            faults = [*_excesses(entries, _size_of(archive), budget)]
            if faults := faults or [*_faults(entries, on_disk=on_disk)]:
                fault_list = "\n".join(f"  {fault}" for fault in faults[:200])
                raise BadFile(prefix + t("Nothing was unpacked:") + "\n" + fault_list)
            yield archive, entries
    except _ARCHIVE_ERRORS as error:
        sentence = t(
            "This file is not a valid ZIP archive, or it is damaged. Create or download it again."
        )
        raise BadFile(prefix + sentence) from error


def unpack(file: Path | IO[bytes], folder: Path, *, budget: Budget = BUDGET) -> None:
    """Unpack an archive into a new folder, completely or not at all.

    Raises
    ------
    BadFile
        As for `open_archive`; or an entry is larger than the archive states, or cannot be written.
    """
    with open_archive(file, on_disk=True, budget=budget) as (archive, entries):
        try:
            folder.mkdir()
            try:
                for entry in entries:
                    _extract(archive, entry, folder)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
        except OSError as error:
            reason = system_reason(error)
            raise BadFile(t("The archive cannot be unpacked: {why}.", why=reason)) from error


def _extract(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, folder: Path) -> None:
    """Write an entry; `open_archive` has checked its size, which `zipfile` does not exceed."""
    path = folder.joinpath(*PurePosixPath(entry.filename).parts)
    if entry.is_dir():
        path.mkdir(parents=True, exist_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as target:
        target.writelines(_blocks(archive, entry))


def entry_content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Return the content of an entry of an archive that `open_archive` has checked."""
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
    """Yield each reason why an archive exceeds the budget or contradicts its size."""
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
                name=quoted(entry.filename[:200]),
                n=f"{entry.file_size:,}",
                most=f"{budget.member_bytes:,}",
            )


def _is_system_file(entry: zipfile.ZipInfo) -> bool:
    """Return whether an entry is a file that some systems add to every archive."""
    parts = PurePosixPath(entry.filename).parts
    return bool(parts) and (
        "__MACOSX" in parts
        or parts[-1].startswith("._")
        or parts[-1].lower() in (".ds_store", "thumbs.db", "desktop.ini")
    )


def _faults(entries: Sequence[zipfile.ZipInfo], *, on_disk: bool) -> Iterator[str]:
    names_seen: dict[str, str] = {}
    for entry in entries:
        name, place = entry.filename, PurePosixPath(entry.filename)
        known = _name_key(place) if on_disk else str(place)
        if on_disk and (fault := _fault_on_disk(entry)):
            yield fault
        elif entry.flag_bits & 1:
            yield t("{name}: is encrypted. Pack it without a password.", name=quoted(name))
        elif known in names_seen:
            yield _name_conflict(name, names_seen[known])
        names_seen.setdefault(known, name)
    if on_disk:
        yield from _file_folder_conflicts(entries)


def _name_key(place: PurePosixPath) -> str:
    """Return the form in which many file systems compare names: lower case, composed characters."""
    return unicodedata.normalize("NFC", str(place)).casefold()


def _name_conflict(name: str, first: str) -> str:
    if name == first:
        return t("{name}: appears twice.", name=quoted(name))
    return t("{name}: appears twice, also as {first}.", name=quoted(name), first=quoted(first))


def _fault_on_disk(entry: zipfile.ZipInfo) -> str:
    """Return why an entry cannot be written to disk; empty if it can."""
    name, place = entry.filename, PurePosixPath(entry.filename)
    is_outside = not place.parts or place.is_absolute() or ".." in place.parts
    if is_outside or ":" in name or not all(map(_is_allowed_in_names, name)):
        return t(
            "{name}: points outside the archive, or is not a valid file name.", name=quoted(name)
        )
    lengths = [len(part.encode("utf-8", "surrogatepass")) for part in place.parts]
    if max(lengths) > _LONGEST_NAME or sum(lengths) > _LONGEST_PATH:
        return t(
            "{name}: has a name of more than {most} bytes. Shorten it.",
            name=quoted(name[:80]),
            most=_LONGEST_NAME if max(lengths) > _LONGEST_NAME else _LONGEST_PATH,
        )
    return "" if _is_regular(entry) else t("{name}: is not a regular file.", name=quoted(name))


def _is_allowed_in_names(char: str) -> bool:
    return char.isprintable() or char in "\u200c\u200d" or unicodedata.category(char) == "Zs"


def _file_folder_conflicts(entries: Sequence[zipfile.ZipInfo]) -> Iterator[str]:
    """Yield a fault for each file whose name is also a folder of other entries."""
    places = [(PurePosixPath(entry.filename), entry) for entry in entries]
    files = {_name_key(place): entry.filename for place, entry in places if not entry.is_dir()}
    folders = dict.fromkeys(folder for place, _ in places for folder in place.parents)
    for key in dict.fromkeys(map(_name_key, folders)):
        if key in files:
            yield t("{name}: is a file and a folder.", name=quoted(files[key]))


def _is_regular(entry: zipfile.ZipInfo) -> bool:
    return stat.S_IFMT(entry.external_attr >> 16) in (0, stat.S_IFREG, stat.S_IFDIR)
