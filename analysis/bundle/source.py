"""Read the files of a bundle from a folder or a .zip."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from analysis.errors import BundleError, Fault

KNOWN_FILES = (
    *("items.csv", "raters.csv", "readings.csv", "answers_by_rules.csv"),
    *("open_answers.csv", "open_scores.csv"),
    *("protocol.json", "datapackage.json"),
)
# Exceptions that zipfile raises for damaged or encrypted archives and unknown compression methods.
READ_ERRORS = (
    OSError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    RuntimeError,
    ValueError,
    IndexError,
)


def read_files(path: Path) -> Mapping[str, bytes]:
    """Read the files of a bundle.

    Parameters
    ----------
    path : pathlib.Path
        A folder, or a .zip with the files at its top level or in its only folder.

    Returns
    -------
    mapping of str to bytes
        Contents by file name; files that do not exist are omitted.

    Raises
    ------
    BundleError
        `path` does not exist, cannot be read, or is no bundle.
    """
    try:
        if path.is_dir():
            return _from_folder(path)
        if path.is_file():
            return _from_zip(path)
    except READ_ERRORS as error:
        reason = str(error) or type(error).__name__
        raise _refusal(path, f"cannot be read ({reason})", "Export the bundle again") from error
    raise _refusal(path, "does not exist", "Give the folder or the .zip of a bundle")


def _from_folder(path: Path) -> dict[str, bytes]:
    return {name: (path / name).read_bytes() for name in KNOWN_FILES if (path / name).is_file()}


def _from_zip(path: Path) -> dict[str, bytes]:
    if not zipfile.is_zipfile(path):
        raise _refusal(path, "is neither a folder nor a .zip", "Give the bundle's folder or .zip")
    with zipfile.ZipFile(path) as archive:
        members = [
            (_plain_name(member.filename), member)
            for member in archive.infolist()
            if not member.is_dir()
        ]
        top = _bundle_folder(path, [place for place, _ in members])
        names = {top / name: name for name in KNOWN_FILES}
        return {names[place]: archive.read(info) for place, info in members if place in names}


def _plain_name(name: str) -> PurePosixPath:
    """Normalise names such as `./a`, and the backslashes that some Windows programs write."""
    return PurePosixPath(name.replace("\\", "/"))


def _bundle_folder(path: Path, places: list[PurePosixPath]) -> PurePosixPath:
    folders = [place.parent for place in places if place.name == "items.csv"]
    if len(folders) > 1:
        raise _refusal(path, "contains more than one items.csv", "Give one bundle at a time")
    top = folders[0] if folders else PurePosixPath(".")
    doubles = [
        place.name
        for place, count in Counter(places).items()
        if count > 1 and place.parent == top and place.name in KNOWN_FILES
    ]
    if doubles:
        raise _refusal(path, f"contains {doubles[0]} twice", "Export the bundle again")
    return top


def _refusal(path: Path, fault: str, remedy: str) -> BundleError:
    return BundleError([Fault(file=str(path), row=None, what=fault, remedy=remedy)])
