"""Imports question banks that are uploaded in the browser as ZIP files, or are on the server.

An archive is unpacked next to the store. It cannot write outside its folder or fill the disk, and
the files of a refused bank are removed. A folder in the banks' folder on the server is imported in
place.
"""

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from study.bank.importing import (
    DEFAULT_OPTIONS,
    SIMULATED_OPTIONS,
    FaultyBank,
    Imported,
    import_bank,
)
from study.bank.layout import (
    SeveralBanks,
    banks_folder,
    contains_dicom,
    find_bank,
    has_bank,
    unused_path,
)
from study.bank.reading import ImportOptions
from study.base.actor import Acting
from study.base.errors import BadFile, NotFound
from study.base.packed import unpack
from study.base.system import system_reason
from study.base.text import check_name, file_name, quoted, refuse_empty
from study.base.translation import t
from study.store import Store

_PART_BYTES = 1 << 20
_DEMO = Path(__file__).parents[2] / "data" / "demo"


def importable_folders(store: Store) -> list[str]:
    """Return the folders on the server that contain a bank file and can be imported in place."""
    home = banks_folder(store)
    entries = sorted(home.iterdir()) if home.is_dir() else []
    return [
        entry.name
        for entry in entries
        if entry.is_dir()
        and not entry.is_symlink()
        and not entry.name.startswith(".")
        and has_bank(entry)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedBank:
    """A folder with a bank.

    Attributes
    ----------
    place : Path
        The folder.
    is_temporary : bool
        Whether the folder was created for the import, and is removed if the bank is refused.
    archive : Path or None
        The uploaded file to unpack into the folder; it is the only file in its folder.
    """

    place: Path
    is_temporary: bool
    archive: Path | None = None

    @property
    def name(self) -> str:
        """Return the name for messages."""
        return (self.archive or self.place).name

    def unpack(self) -> None:
        """Unpack the archive into the folder, completely or not at all.

        Raises
        ------
        BadFile
            The archive is not a ZIP file, contains paths outside its folder, or exceeds the limits.
        """
        if self.archive is None:
            return
        try:
            folder = self.archive.with_name(f"{self.archive.name}.unpacked")
            unpack(self.archive, folder)
            folder.rename(self.place)
        except OSError as error:
            raise BadFile(
                t("The archive cannot be unpacked: {why}.", why=system_reason(error))
            ) from error

    def discard_archive(self) -> None:
        """Remove the uploaded file, and unpacked files that were not moved to the folder."""
        if self.archive is not None:
            shutil.rmtree(self.archive.parent, ignore_errors=True)

    def discard(self) -> None:
        """Remove the folder, if it was created for the import, and the uploaded file."""
        self.discard_archive()
        if self.is_temporary:
            shutil.rmtree(self.place, ignore_errors=True)


def folder_on_server(store: Store, folder: str) -> ReceivedBank:
    """Return a folder in `banks_folder` whose bank is imported in place.

    Raises
    ------
    NotFound
        There is no such folder.
    """
    if folder not in importable_folders(store):
        raise NotFound(t("There is no folder {name} containing a bank.", name=quoted(folder)))
    return ReceivedBank(place=banks_folder(store) / folder, is_temporary=False)


def import_demo(store: Store, *, acting: Acting) -> Imported:
    """Import the demo bank of the repository, marked as simulated."""
    bank = _DEMO / "bank.json"
    return import_bank(
        store, bank, name="Demo bank", images=_DEMO, acting=acting, options=SIMULATED_OPTIONS
    )


def receive_archive(store: Store, archive: IO[bytes], *, name: str) -> ReceivedBank:
    """Save an uploaded archive next to the store, for `import_received` to unpack.

    Raises
    ------
    BadFile
        The archive is empty or cannot be saved.
    """
    check_name(name, "bank")
    archive_name = file_name(getattr(archive, "name", ""))
    home = banks_folder(store)
    try:
        home.mkdir(exist_ok=True)
        refuse_empty(archive_name, archive.seek(0, os.SEEK_END))
        scratch = Path(tempfile.mkdtemp(dir=home, prefix=".incoming-"))
        file = scratch / archive_name
        archive.seek(0)
        with file.open("xb") as target:
            shutil.copyfileobj(archive, target, _PART_BYTES)
        place = unused_path(home, name)
        place.mkdir()  # reserves the name; an empty folder is replaced by the unpacked one
    except OSError as error:
        raise BadFile(t("The archive cannot be saved: {why}.", why=system_reason(error))) from error
    return ReceivedBank(place=place, is_temporary=True, archive=file)


def import_received(
    store: Store,
    upload: ReceivedBank,
    *,
    name: str,
    acting: Acting,
    chosen: Sequence[str] = (),
    options: ImportOptions = DEFAULT_OPTIONS,
) -> Imported:
    """Import the bank in a folder; an uploaded archive is unpacked first.

    A folder created for the import is removed unless the bank was imported.

    Parameters
    ----------
    chosen
        The splits of the release, or the bank file chosen after `SeveralBanks`.

    Raises
    ------
    BadFile
        The folder contains no bank file or several, or the bank has faults, which are listed.
    NotNow
        A different bank of that name exists, or another import is running.
    """
    imported, is_dicom = None, False
    try:
        upload.unpack()
        if is_dicom := contains_dicom(upload.place):
            from study.bank.dicom_bank import import_dicom  # takes a second

            imported = import_dicom(store, upload.place, name=name, acting=acting, options=options)
        else:
            parts, images = find_bank(upload.place, chosen, name=upload.name)
            imported = import_bank(
                store, parts, name=name, images=images, acting=acting, options=options
            )
        return imported
    except (FaultyBank, SeveralBanks):
        raise
    except BadFile as error:
        words = str(error).replace(f"{upload.place}/", "")
        if upload.archive is not None:
            words = words.replace(f"{upload.archive.parent}/", "")
        raise BadFile(words) from error
    finally:
        upload.discard_archive()
        if (
            imported is None or not imported.is_new or is_dicom
        ):  # DICOM files contain patients' names
            upload.discard()
