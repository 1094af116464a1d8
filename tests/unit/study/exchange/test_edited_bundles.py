"""Bundles with edited tables and corrected hashes: refused by restore and by merge."""

import csv
import hashlib
import io
import json
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from study.base.actor import By
from study.base.canonical import canonical_json
from study.base.errors import BadFile
from study.exchange.bundle import bundle_files
from study.exchange.restoring import merge, restore
from study.exchange.schemas import FILES
from study.store import Store
from study.store.studies import study_row
from study.trail.verification import remarks, verify
from tests.conftest import NOW, tamper
from tests.sites import close, empty, site

BY = By(name="c", role="administrator")
LATER = NOW + timedelta(days=30)
TABLES = {
    name: [column.name for column in FILES[name]]
    for name in ("items.csv", "raters.csv", "readings.csv")
}


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two closed sites of one study."""
    folder = tmp_path_factory.mktemp("edited")
    for number in (1, 2):
        close(site(folder / f"{number}", number, person_id=f"P{number}", simulated=f"S{number}"))
    return folder


@pytest.fixture(scope="module")
def bundle(stores: Path) -> dict[str, bytes]:
    """Return the bundle of the second site."""
    return bundle_files(Store(stores / "2" / "store.db"), "trial")


@pytest.fixture
def home(stores: Path, tmp_path: Path) -> Store:
    """Return the first site's store."""
    return Store(Path(shutil.copy(stores / "1" / "store.db", tmp_path / "store.db")))


def _edited(content: bytes, column: str) -> bytes:
    """Return a table with another value in a column of its first row, added if it is not there."""
    rows = list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    before = rows[0].get(column) or ""
    names = list(rows[0])
    if column == "truth":
        after = "A" if before != "A" else "B"
    elif column == "options":
        after = canonical_json(list(reversed(json.loads(before))))
    else:
        after = f"{before}1" if before.isdigit() else f"{before} x"
    rows[0][column] = after
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, [*names, *({column} - set(names))], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _written(folder: Path, files: dict[str, bytes], change: Callable[[Any], None] | None) -> Path:
    """Write a bundle with hashes that fit its files."""
    package = json.loads(files["datapackage.json"])
    for one in package["resources"]:
        content = files[one["path"]]
        one |= {"hash": f"sha256:{hashlib.sha256(content).hexdigest()}", "bytes": len(content)}
    if change:
        change(package)
    folder.mkdir()
    for name, content in {**files, "datapackage.json": json.dumps(package).encode()}.items():
        (folder / name).write_bytes(content)
    return folder


def _refused(
    store: Store, folder: Path, files: dict[str, bytes], change: Callable[[Any], None] | None = None
) -> tuple[str, str]:
    """Return why an edited bundle is not restored in another store, and not merged into this."""
    path = _written(folder / "bundle", files, change)
    found = []
    for act in (
        lambda: restore(empty(folder / "elsewhere", 9), path, by=BY, now=LATER),
        lambda: merge(store, path, study="trial", by=BY, now=LATER),
    ):
        before = bundle_files(store, "trial")
        with pytest.raises(BadFile) as refused:
            act()
        found.append(str(refused.value))
        assert bundle_files(store, "trial") == before
    return found[0], found[1]


@pytest.mark.parametrize(
    ("table", "column"), [(table, column) for table in TABLES for column in TABLES[table]]
)
def test_an_edited_column_is_found_by_restore_and_merge(
    home: Store, bundle: dict[str, bytes], tmp_path: Path, table: str, column: str
) -> None:
    """Every column of every table, with hashes in datapackage.json that fit."""
    files = {**bundle, table: _edited(bundle[table], column)}
    restored, merged = _refused(home, tmp_path, files)
    if table == "items.csv":
        assert f"items.csv: {column} differs" in merged or "items.csv: its items" in merged
    else:
        assert table in restored
        assert table in merged


@pytest.mark.parametrize("column", ["age", "sex", "origin", "stratum", "indication", "prior_days"])
def test_an_edited_record_of_a_case_is_found(
    home: Store, bundle: dict[str, bytes], tmp_path: Path, column: str
) -> None:
    """What readers are shown beside the question is in no table."""
    lines = [json.loads(line) for line in bundle["records.jsonl"].splitlines()]
    case = next(line for line in lines if line["row"] == "case")
    case[column] = "7" if column == "prior_days" else f"{case.get(column, '')}x"
    text = "".join(canonical_json(line) + "\n" for line in lines)
    restored, _ = _refused(home, tmp_path, {**bundle, "records.jsonl": text.encode()})
    assert "opened with" in restored or "drawn" in restored or "exported again" in restored


@pytest.mark.parametrize("salt", [None, "", "0" * 32])
def test_truth_cannot_be_edited_with_another_salt(
    home: Store, bundle: dict[str, bytes], tmp_path: Path, salt: str | None
) -> None:
    """Left out, emptied or replaced."""

    def change(package: Any) -> None:
        package["reading_room"].pop("items_salt")
        if salt is not None:
            package["reading_room"]["items_salt"] = salt

    files = {**bundle, "items.csv": _edited(bundle["items.csv"], "truth")}
    _refused(home, tmp_path, files, change)


def test_a_bundle_as_it_was_exported_is_restored_and_merged(
    home: Store, bundle: dict[str, bytes], tmp_path: Path
) -> None:
    path = _written(tmp_path / "bundle", bundle, None)
    target = empty(tmp_path / "elsewhere", 9)
    done = restore(target, path, by=BY, now=LATER)
    assert done.note == ""
    assert verify(target) == []
    assert remarks(target) == []
    merge(home, path, study="trial", by=BY, now=LATER)
    assert verify(home) == []


def test_items_altered_in_a_store_are_found_by_verify(home: Store) -> None:
    """Of the study, beside what the bank's own hash says."""
    for statement in (
        "UPDATE items SET question = question || '?' WHERE id = (SELECT item FROM cases LIMIT 1)",
        "UPDATE reference_standard SET truth = iif(truth = 'A', 'B', 'A') "
        "WHERE item = (SELECT item FROM cases LIMIT 1)",
    ):
        tamper(home, statement)
    found = [one for one in verify(home) if one.startswith("study trial")]
    assert any("its items are not those it was opened with" in one for one in found)
    assert any("the reference standard is not the one it was opened with" in one for one in found)


def test_the_trail_of_an_open_study_does_not_tell_the_truth(tmp_path: Path) -> None:
    """Without the salt nobody can try out all answers; blinded bundles leave it out."""
    store = site(tmp_path / "site", 3)
    with store.look() as look:
        salt = study_row(look, "trial").items_salt
    assert len(salt) == 32
    files = bundle_files(store, "trial", blinded=True)
    assert not any(salt.encode() in content for content in files.values())


def test_studies_opened_before_items_were_hashed_still_open_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their chain tells of no hash: as before, an edited truth cannot be found, which is said."""
    with monkeypatch.context() as earlier:
        earlier.setattr("study.lifecycle.studies.item_hashes", lambda *_: {})
        store = site(tmp_path / "old", 4, person_id="P4", simulated="S4")
    assert verify(store) == []
    (remark,) = [one for one in remarks(store) if "no hash of its items" in one]
    assert remark.startswith("study trial")
    target = empty(tmp_path / "elsewhere", 9)
    path = _written(tmp_path / "bundle", bundle_files(store, "trial"), None)
    assert "no hash of its items" in restore(target, path, by=BY, now=LATER).note
    assert verify(target) == []


def test_context_is_hashed_as_it_is_shown(tmp_path: Path) -> None:
    """A study that shows it is restored to the same hash."""
    store = site(tmp_path / "site", 5, context=["age", "sex", "indication"])
    target = empty(tmp_path / "elsewhere", 9)
    path = _written(tmp_path / "bundle", bundle_files(store, "trial"), None)
    restore(target, path, by=BY, now=LATER)
    assert verify(target) == []
