"""Every release's store, bundle and protocol can be opened, and give the same results."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import analysis
from study.base.errors import BrokenStore
from study.base.version import version
from study.exchange import bundle, restoring
from study.exchange.backups import restore_backup
from study.lifecycle.deployments import init
from study.protocol.protocol import read_protocol
from study.store import Store, schema
from study.trail.verification import verify
from tests.conftest import ACTING, NOW, entropy_from
from tests.releases.making import FOLDER, STUDY, load

RELEASES = sorted(path.parent for path in FOLDER.glob("*/store.sql"))
every_release = pytest.mark.parametrize("release", RELEASES, ids=lambda path: path.name)


def _add_rooms(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE rooms (id INTEGER PRIMARY KEY) STRICT")


def _comparable(folder: Path) -> dict[str, object]:
    """Return the files of a bundle without the program's version and the texts about columns."""
    files: dict[str, object] = {path.name: path.read_bytes() for path in folder.iterdir()}
    package = json.loads((folder / "datapackage.json").read_text("utf-8"))
    del package["reading_room"]["version"]
    for resource in package["resources"]:
        for column in resource.get("schema", {}).get("fields", ()):
            column.pop("description", None)
    return {**files, "datapackage.json": package}


def test_the_data_of_the_current_version_exist() -> None:
    """Before a release: `python -m tests.releases`."""
    assert version() in [release.name for release in RELEASES]


@every_release
def test_the_store_is_opened_without_a_breach(release: Path, tmp_path: Path) -> None:
    """It is migrated to the current version of stores."""
    store = Store(load(release, tmp_path / "store.db"))
    assert verify(store, films=False) == []
    with closing(sqlite3.connect(store.path)) as connection:
        assert schema.version(connection) == schema.newest()


@every_release
def test_the_store_gives_the_same_bundle(release: Path, tmp_path: Path) -> None:
    """All tables are equal byte by byte; the package states the same columns and hashes."""
    store = Store(load(release, tmp_path / "store.db"))
    bundle.export(store, study=STUDY, out=tmp_path / "bundle")
    assert _comparable(tmp_path / "bundle") == _comparable(release / "bundle")


@every_release
def test_the_bundle_can_be_restored(release: Path, tmp_path: Path) -> None:
    """The restored study has no breach."""
    store = init(tmp_path / "new.db", entropy=entropy_from(2), now=NOW)
    restoring.restore(store, release / "bundle", acting=ACTING)
    assert verify(store) == []


@every_release
def test_the_bundle_can_be_analysed(release: Path) -> None:
    """Every reader and model has an accuracy."""
    table = analysis.accuracy(analysis.read_bundle(release / "bundle"))
    assert set(table["rater_id"]) >= {"R1", "R2", "R3", "M1"}
    assert not table["accuracy"].isna().all()


@pytest.mark.thorough
@every_release
def test_the_bundle_gives_a_report(release: Path, tmp_path: Path) -> None:
    """The report names the version of the program."""
    options = analysis.Options(bootstrap=20)
    analysis.write_report(analysis.read_bundle(release / "bundle"), tmp_path / "out", options)
    assert f"Reading Room {version()}" in (tmp_path / "out/report.html").read_text("utf-8")


@every_release
def test_the_protocol_can_be_read(release: Path) -> None:
    """It gives the values of the protocol in the bundle."""
    protocol = read_protocol(release / "protocol.toml")
    kept = json.loads((release / "bundle/protocol.json").read_text("utf-8"))
    assert protocol.cases == kept["locked"]["protocol"]["cases"]


@every_release
def test_an_upgrade_can_be_rolled_back(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old program refuses the migrated store, and opens the backup from before."""
    path = load(release, tmp_path / "store.db")
    with monkeypatch.context() as newer:
        newer.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, _add_rooms))
        Store(path)
    with pytest.raises(BrokenStore, match="newer version"):
        Store(path)
    backup = schema.upgrade_backup(path, schema.newest())
    with closing(sqlite3.connect(backup)) as connection:
        assert schema.version(connection) == schema.newest()
    restored = restore_backup(Path(shutil.copy(backup, tmp_path / "kept.db")), tmp_path / "old.db")
    assert verify(restored, films=False) == []
