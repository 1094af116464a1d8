"""What the page of banks does: lists them, and brings one in three ways."""

from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from study.bank import uploads as bank_uploads
from study.bank.importing import Imported
from study.people.access import Person
from study.store import banks
from ui.server.deployment import store

DEMO = "Demo bank"
_DEMO_FOLDER = Path(__file__).parents[2] / "data" / "demo"


def listed() -> list[dict[str, Any]]:
    """Return the banks there are, the newest first."""
    with store().look() as look:
        return banks.listed(look)


def folders() -> list[str]:
    """Return the folders on the server that hold a bank."""
    return bank_uploads.folders(store())


def bring_zip(
    person: Person, archive: IO[bytes], *, name: str, skip: bool, simulated: bool
) -> Imported:
    """Import a bank from an archive that was uploaded."""
    return bank_uploads.import_zip(
        store(),
        archive,
        name=name.strip(),
        skip_faulty=skip,
        simulated=simulated,
        by=person.by,
        now=datetime.now(UTC),
    )


def bring_folder(person: Person, folder: str, *, name: str, skip: bool) -> Imported:
    """Import a bank from a folder on the server."""
    return bank_uploads.import_folder(
        store(),
        folder,
        name=name.strip(),
        skip_faulty=skip,
        by=person.by,
        now=datetime.now(UTC),
    )


def bring_demo(person: Person, *, name: str) -> Imported:
    """Import the demo bank."""
    return bank_uploads.import_demo(
        store(), _DEMO_FOLDER, name=name, by=person.by, now=datetime.now(UTC)
    )
