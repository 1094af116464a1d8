"""Where the bundle's bytes come from: a folder, or a .zip that holds one."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from analysis.errors import BundleError, Fault

KNOWN_FILES = ("items.csv", "raters.csv", "readings.csv", "protocol.json", "datapackage.json")


def read_files(path: Path) -> Mapping[str, bytes]:
    """Read the files the analysis knows, by name.

    Parameters
    ----------
    path : pathlib.Path
        A folder, or a .zip with the files at its top or in its one folder.

    Returns
    -------
    mapping of str to bytes
        File name to contents; files that are not there are left out.

    Raises
    ------
    BundleError
        When there is nothing to read at `path`.
    """
    try:
        if path.is_dir():
            return _from_folder(path)
        if path.is_file():
            return _from_zip(path)
    except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise _refusal(path, f"cannot be read ({error})", "Export the bundle again") from error
    raise _refusal(path, "is not there", "Give the folder or the .zip of a bundle")


def _from_folder(path: Path) -> dict[str, bytes]:
    return {name: (path / name).read_bytes() for name in KNOWN_FILES if (path / name).is_file()}


def _from_zip(path: Path) -> dict[str, bytes]:
    if not zipfile.is_zipfile(path):
        raise _refusal(path, "is neither a folder nor a .zip", "Give the bundle's folder or .zip")
    with zipfile.ZipFile(path) as archive:
        top = _bundle_folder(path, archive.namelist())
        members = {str(top / name): name for name in KNOWN_FILES}
        return {
            members[member]: archive.read(member)
            for member in archive.namelist()
            if member in members
        }


def _bundle_folder(path: Path, names: list[str]) -> PurePosixPath:
    folders = {PurePosixPath(name).parent for name in names if name.endswith("items.csv")}
    holding = sorted(folder for folder in folders if str(folder / "items.csv") in names)
    if len(holding) > 1:
        raise _refusal(path, "holds more than one items.csv", "Give one bundle at a time")
    return holding[0] if holding else PurePosixPath(".")


def _refusal(path: Path, what: str, remedy: str) -> BundleError:
    return BundleError([Fault(file=str(path), row=None, what=what, remedy=remedy)])
