"""Write and load the data of a release: a store as SQL, its bundle and its protocol."""

import json
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from study.bank.importing import import_bank
from study.base.version import version
from study.exchange import bundle
from study.lifecycle import studies
from study.lifecycle.deployments import init
from study.models.models import add_model, withdraw_model
from study.protocol.protocol import Protocol, toml_of_study
from study.reading.simulation import simulate
from study.store import Store, schema
from tests.conftest import ACTING, NOW, bank_records, entropy_from, invite, write_bank

FOLDER = Path(__file__).parent
STUDY = "trial"
_IMAGES = "/reading-room/images"
_PROTOCOL = {
    "cases": 8,
    "one_question_per": "item",
    "conditions": ["unaided", "image-absent"],
    "confidence": 5,
    "hidden_repeats": 2,
    "option_order": "random",
    "context": ["age", "sex"],
}


def make(folder: Path = FOLDER) -> Path:
    """Write the data of the current version to a new folder, and return it."""
    place = folder / version()
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        store = _closed_study(Path(scratch))
        bundle.export(store, study=STUDY, out=place / "bundle")
        (place / "protocol.toml").write_text(toml_of_study(store, STUDY), "utf-8")
        (place / "store.sql").write_text(_dump(store, Path(scratch) / "bank"), "utf-8")
    return place


def load(release: Path, path: Path) -> Path:
    """Write the store of a release to a new file as that version left it; return the file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript((release / "store.sql").read_text("utf-8"))
        connection.execute("PRAGMA journal_mode = WAL")
    return path


def _closed_study(folder: Path) -> Store:
    store = init(folder / "store.db", entropy=entropy_from(1), now=NOW, witnessed=False)
    path = write_bank(folder / "bank")
    import_bank(store, path, name="bank", images=path.parent, acting=ACTING)
    protocol = Protocol.from_json(_PROTOCOL)
    studies.draw(store, bank="bank", study=STUDY, protocol=protocol, acting=ACTING)
    invite(store, "R1", "R2", "R3")
    studies.open_study(store, study=STUDY, acting=ACTING)
    for seed, reader in enumerate(("R1", "R2", "R3")):
        simulate(store, study=STUDY, reader_id=reader, seed=seed, accuracy=0.7, now=NOW)
    for model in ("M1", "M2"):
        file = folder / f"{model}.json"
        answers = enumerate(bank_records(12))
        file.write_text(
            json.dumps({item: {"model_prediction": "ABCD"[number % 3]} for number, item in answers})
        )
        add_model(store, file, study=STUDY, model_id=model, acting=ACTING)
    withdraw_model(store, study=STUDY, model_id="M2", reason="The wrong file", acting=ACTING)
    studies.close(store, study=STUDY, reason="Reading is over", acting=ACTING)
    return store


def _dump(store: Store, images: Path) -> str:
    """Return a store as SQL, without the path of its images on this computer."""
    with closing(sqlite3.connect(store.path)) as connection:
        lines = "\n".join(connection.iterdump()).replace(str(images.resolve()), _IMAGES)
        number = schema.version(connection)
    marks = f"PRAGMA user_version = {number};\nPRAGMA application_id = {schema.APPLICATION_ID};\n"
    return f"{lines}\n{marks}"
