"""Sets up the demo deployment: the included bank, two studies, simulated readers and models.

Readers of the first study, which is half completed by simulated readers, start with the cases. The
second study, for a new reader, has all preparation steps: consent, instructions, questionnaire and
practice.

Films, readers and models are simulated and marked as such everywhere. The demo can be set up only
in a new store.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from study.bank.importing import SIMULATED_OPTIONS, import_bank
from study.base.actor import COMMAND_LINE, Acting
from study.base.errors import NotFound, StudyError
from study.lifecycle import studies
from study.lifecycle.deployments import administrator_code, coordinator_code, init, reader_code
from study.models.models import add_model
from study.people.codes import Entropy, new_code
from study.people.invitations import Invitation
from study.protocol.protocol import read_protocol
from study.reading.simulation import simulate
from study.store import Store
from study.store import studies as stored_studies

DEMO_STUDY = "Demo study"
READER = "guest"
NEWCOMERS_STUDY = "Demo study, from the start"
NEWCOMER = "newcomer"
ADMINISTRATOR = "demo administrator"
_SIMULATED_READERS = {"sim-reader-1": 0.82, "sim-reader-2": 0.74, "sim-reader-3": 0.68}
_SEED = 20250604


@dataclass(frozen=True, slots=True, kw_only=True)
class Codes:
    """New access codes for the demo.

    `newcomer` is None in a demo by an earlier version, which lacks the second study.
    """

    reader: str
    coordinator: str
    newcomer: str | None
    administrator: str


def set_up(address: Path | str, data: Path, *, entropy: Entropy, now: datetime) -> Store:
    """Create a store with the demo.

    A SQLite file is created completely or not at all, even if two processes create it at once.

    Raises
    ------
    NotFound
        The folder ``demo`` in `data` lacks the demo bank.
    """
    if not (data / "demo" / "bank.json").is_file():
        raise NotFound(f"No demo bank in {data / 'demo'}. Restore it from the repository.")
    if isinstance(address, str):
        store = init(address, entropy=entropy, now=now)
        with store.kept_open():
            _fill(store, data, entropy, now)
        return store
    path = address
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".demo-") as scratch:
            new = Path(scratch) / "demo.db"
            store = init(new, entropy=entropy, now=now, witnessed=False)
            with store.kept_open():
                _fill(store, data, entropy, now)
            store.rename_to(path)
    except OSError as error:
        raise StudyError(f"{path} cannot be created: {error.strerror}.") from error
    return Store(path)


def new_codes(store: Store, *, entropy: Entropy, now: datetime) -> Codes | None:
    """Return new codes for the demo's people, or None if there is no demo."""
    with store.look() as look:
        names = stored_studies.names(look)
    if DEMO_STUDY not in names:
        return None
    reader = reader_code(store, study=DEMO_STUDY, reader_id=READER, entropy=entropy, now=now)
    coordinator = coordinator_code(
        store, study=DEMO_STUDY, name="demo coordinator", entropy=entropy, now=now
    )
    newcomer = (
        reader_code(store, study=NEWCOMERS_STUDY, reader_id=NEWCOMER, entropy=entropy, now=now)
        if NEWCOMERS_STUDY in names
        else None
    )
    administrator = administrator_code(store, name=ADMINISTRATOR, entropy=entropy, now=now)
    return Codes(
        reader=reader, coordinator=coordinator, newcomer=newcomer, administrator=administrator
    )


def _fill(store: Store, data: Path, entropy: Entropy, now: datetime) -> None:
    folder, acting = data / "demo", Acting(by=COMMAND_LINE, now=now)
    import_bank(
        store,
        folder / "bank.json",
        name="Demo bank",
        images=folder,
        acting=acting,
        options=SIMULATED_OPTIONS,
    )
    invitations = [
        Invitation(reader_id=READER, level="you"),
        *(Invitation(reader_id=name, level="simulated") for name in _SIMULATED_READERS),
    ]
    _open_study(store, DEMO_STUDY, data / "demo-study.toml", invitations, entropy, acting)
    for file in sorted((folder / "models").glob("*.json")):
        add_model(
            store,
            file,
            study=DEMO_STUDY,
            model_id=file.stem,
            model_version="simulated",
            simulated=True,
            acting=acting,
        )
    for name, accuracy in _SIMULATED_READERS.items():
        simulate(store, study=DEMO_STUDY, reader_id=name, seed=_SEED, accuracy=accuracy, now=now)
    newcomers = [Invitation(reader_id=NEWCOMER, level="you")]
    _open_study(store, NEWCOMERS_STUDY, data / "demo-newcomer.toml", newcomers, entropy, acting)


def _open_study(
    store: Store,
    study: str,
    protocol: Path,
    invitations: Sequence[Invitation],
    entropy: Entropy,
    acting: Acting,
) -> None:
    studies.draw(
        store, bank="Demo bank", study=study, protocol=read_protocol(protocol), acting=acting
    )
    codes = [new_code(entropy) for _ in invitations]
    studies.invite(store, study=study, invitations=invitations, codes=codes, acting=acting)
    studies.open_study(store, study=study, acting=acting)
