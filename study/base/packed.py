"""ZIP archives from elsewhere: looked through before anything of them is read, and never believed.

Nothing in one can reach outside of its folder or fill the disk.
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

from study.base.errors import BadFile
from study.base.translation import t

MOST_FILES = 200_000
MOST_BYTES = 20_000_000_000
MOST_BYTES_A_FILE = 500_000_000
_BLOCK = 1 << 20
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
"""What reading a damaged archive ends in, by its compression and by where it is damaged."""


@contextmanager
def opened(
    file: Path | IO[bytes], *, on_disk: bool = False
) -> Iterator[tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]]:
    """Open an archive and give its entries, without what some systems put into every archive.

    Names have slashes, however they were packed. What zipfile reads of an entry is no more than
    `file_size` says.

    Parameters
    ----------
    on_disk
        Whether the entries will be files on a disk, and need names and kinds that can be.

    Raises
    ------
    BadFile
        It is no sound zip, or holds what cannot be taken: every such entry is listed.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            for entry in entries:
                entry.filename = entry.filename.replace("\\", "/")  # as Windows packs them
            entries = [one for one in entries if not _is_litter(one)]
            if faults := list(_faults(entries, on_disk=on_disk)):
                listed = "\n".join(f"  {fault}" for fault in faults[:200])
                raise BadFile(t("Nothing was unpacked:") + "\n" + listed)
            yield archive, entries
    except _UNSOUND as error:
        where = f"{file}: " if isinstance(file, Path) else ""
        why = t(
            "This file is not a valid ZIP archive: {why}.", why=str(error) or type(error).__name__
        )
        raise BadFile(where + why) from error


def unpack(file: IO[bytes], folder: Path) -> None:
    """Unpack an archive into a new folder.

    Raises
    ------
    BadFile
        As for `opened`; or an entry is larger than the archive says.
    """
    with opened(file, on_disk=True) as (archive, entries):
        folder.mkdir()
        left = MOST_BYTES
        for entry in entries:
            left -= _extract(archive, entry, folder, left)


def _extract(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, folder: Path, left: int) -> int:
    """Write one entry and return its true size; what the archive says of it is not believed."""
    path = folder.joinpath(*PurePosixPath(entry.filename).parts)
    if entry.is_dir():
        path.mkdir(parents=True, exist_ok=True)
        return 0
    path.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with archive.open(entry) as source, path.open("xb") as target:
        while block := source.read(_BLOCK):
            written += len(block)
            if written > min(left, MOST_BYTES_A_FILE):
                raise BadFile(t("{name} is too large.", name=entry.filename))
            target.write(block)
    return written


def _is_litter(entry: zipfile.ZipInfo) -> bool:
    """Return whether an entry is what some systems put into every archive."""
    parts = PurePosixPath(entry.filename).parts
    return bool(parts) and (
        "__MACOSX" in parts
        or parts[-1].startswith("._")
        or parts[-1].lower() in (".ds_store", "thumbs.db", "desktop.ini")
    )


def _faults(entries: Sequence[zipfile.ZipInfo], *, on_disk: bool) -> Iterator[str]:
    if len(entries) > MOST_FILES:
        yield t("It contains {n} files; the limit is {most}.", n=len(entries), most=MOST_FILES)
    if sum(entry.file_size for entry in entries) > MOST_BYTES:
        yield t("The unpacked files would be too large.")
    seen: set[str] = set()
    for entry in entries:
        name = entry.filename
        place = PurePosixPath(name)
        odd = "\0" in name or ":" in name or not name.isprintable()
        outside = not place.parts or odd or place.is_absolute() or ".." in place.parts
        # Two names that differ in case alone are one file on many disks.
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
