"""Imports question banks from a browser: a ZIP file is unpacked beside the store, then imported.

Nothing in an archive can reach outside of its folder or fill the disk, and a bank that is refused
leaves nothing behind. A folder that was placed in the banks' folder on the server is imported from
there.
"""

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Unpack

from study.bank.importing import FaultyBank, Imported, ImportOptions, import_bank
from study.bank.layout import (
    SeveralBanks,
    banks_folder,
    find_bank,
    free_place,
    has_bank,
    holds_dicom,
)
from study.base.actor import By
from study.base.errors import BadFile, NotFound
from study.base.packed import unpack
from study.base.text import check_name, file_name
from study.base.translation import t
from study.store import Store

_PART_BYTES = 1 << 20
_DEMO = Path(__file__).parents[2] / "data" / "demo"


def folders(store: Store) -> list[str]:
    """Return the folders on the server that hold a bank file, to be imported where they lie."""
    there = banks_folder(store)
    found = sorted(there.iterdir()) if there.is_dir() else []
    return [
        one.name
        for one in found
        if one.is_dir() and not one.is_symlink() and not one.name.startswith(".") and has_bank(one)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """A folder with a bank.

    Attributes
    ----------
    place : Path
        The folder.
    is_ours : bool
        Whether it was made for the import, and is removed where the bank is refused.
    archive : Path or None
        The uploaded file that is yet to be unpacked into the folder; alone in one of its own.
    """

    place: Path
    is_ours: bool
    archive: Path | None = None

    @property
    def name(self) -> str:
        """Return what messages call it."""
        return (self.archive or self.place).name

    def unpack(self) -> None:
        """Unpack the archive into the folder, all of it or nothing.

        Raises
        ------
        BadFile
            It is no ZIP archive, would reach outside of its folder or is beyond the budget.
        """
        if self.archive is None:
            return
        try:
            folder = self.archive.with_name(f"{self.archive.name}.unpacked")
            unpack(self.archive, folder)
            folder.rename(self.place)
        except OSError as error:
            raise BadFile(
                t("The archive cannot be unpacked: {why}.", why=error.strerror or str(error))
            ) from error

    def discard_archive(self) -> None:
        """Remove the uploaded file, and what was unpacked and not put in place."""
        if self.archive is not None:
            shutil.rmtree(self.archive.parent, ignore_errors=True)

    def discard(self) -> None:
        """Remove the folder if it was made for the import, and the uploaded file."""
        self.discard_archive()
        if self.is_ours:
            shutil.rmtree(self.place, ignore_errors=True)


def arrived(store: Store, folder: str) -> Arrived:
    """Return a folder beneath `banks_folder`, whose bank is imported where it lies.

    Raises
    ------
    NotFound
        There is no such folder.
    """
    if folder not in folders(store):
        raise NotFound(t("There is no folder {name} containing a bank.", name=repr(folder)))
    return Arrived(place=banks_folder(store) / folder, is_ours=False)


def import_demo(store: Store, *, by: By, now: datetime) -> Imported:
    """Import the demo bank of the repository, marked as simulated."""
    bank = _DEMO / "bank.json"
    return import_bank(store, bank, name="Demo bank", images=_DEMO, simulated=True, by=by, now=now)


def receive(store: Store, archive: IO[bytes], *, name: str) -> Arrived:
    """Keep an uploaded archive beside the store, for `import_arrived` to unpack.

    Raises
    ------
    BadFile
        It cannot be written.
    """
    check_name(name, "bank")
    home = banks_folder(store)
    try:
        home.mkdir(exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=home, prefix=".incoming-"))
        file = scratch / file_name(getattr(archive, "name", ""))
        archive.seek(0)
        with file.open("xb") as kept:
            shutil.copyfileobj(archive, kept, _PART_BYTES)
        place = free_place(home, name)
        place.mkdir()  # taken from now on; an empty folder is replaced by the unpacked one
    except OSError as error:
        raise BadFile(
            t("The archive cannot be saved: {why}.", why=error.strerror or str(error))
        ) from error
    return Arrived(place=place, is_ours=True, archive=file)


def import_arrived(
    store: Store,
    arrived: Arrived,
    *,
    name: str,
    now: datetime,
    chosen: Sequence[str] = (),
    allow_possible_identifiers: bool = False,
    **options: Unpack[ImportOptions],
) -> Imported:
    """Import the bank in a folder, which is unpacked first where it came as an archive.

    A folder that was made for it is removed unless all of the bank was imported.

    Parameters
    ----------
    chosen
        The splits of the release that are wanted; or which file is the bank, where `SeveralBanks`
        asked.
    allow_possible_identifiers
        Of a DICOM folder: as `study.bank.dicom_bank.import_dicom`.
    options
        As `study.bank.importing.import_bank`.

    Raises
    ------
    BadFile
        It holds no bank file or several, or the bank has faults; these are listed.
    NotNow
        Another bank of that name is there, or another import is under way.
    """
    done, is_dicom = None, False
    try:
        arrived.unpack()
        if is_dicom := holds_dicom(arrived.place):
            from study.bank.dicom_bank import import_dicom  # a second to load

            done = import_dicom(
                store,
                arrived.place,
                name=name,
                now=now,
                allow_possible_identifiers=allow_possible_identifiers,
                **options,
            )
        else:
            parts, images = find_bank(arrived.place, chosen)
            done = import_bank(
                store,
                parts,
                name=name,
                images=images,
                now=now,
                **options,
            )
        return done
    except (FaultyBank, SeveralBanks):
        raise
    except BadFile as error:
        words = str(error).replace(f"{arrived.place}/", "")
        if arrived.archive is not None:
            words = words.replace(f"{arrived.archive.parent}/", "")
        raise BadFile(words) from error
    finally:
        arrived.discard_archive()
        if done is None or not done.is_new or is_dicom:  # DICOM names patients: it never stays
            arrived.discard()
