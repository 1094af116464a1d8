"""Bundles with edited tables and matching hashes are refused by restore and by merge."""

import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from study.base.actor import Acting, By
from study.base.canonical import canonical_json
from study.base.errors import BadFile
from study.exchange.bundle import bundle_files
from study.exchange.restoring import merge, restore
from study.exchange.schemas import FILES
from study.store import Store
from study.store import studies as stored_studies
from study.store.studies import study_row
from study.trail.verification import remarks, verify
from tests import templates
from tests.conftest import NOW, tamper
from tests.sites import close_trial, create_empty, create_site

BY = By(name="c", role="administrator")
LATER = NOW + timedelta(days=30)
ACTING = Acting(by=BY, now=LATER)
TABLES = {
    name: [column.name for column in FILES[name]]
    for name in ("items.csv", "raters.csv", "readings.csv")
}


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two closed sites of one study."""
    folder = tmp_path_factory.mktemp("edited")
    for number in (1, 2):
        close_trial(
            create_site(
                folder / f"{number}", number, person_id=f"P{number}", simulated=f"S{number}"
            )
        )
    return folder


@pytest.fixture(scope="module")
def bundle(stores: Path) -> dict[str, bytes]:
    """Return the bundle of the second site."""
    return bundle_files(Store(stores / "2" / "store.db"), "trial")


@pytest.fixture
def home(stores: Path, tmp_path: Path) -> Iterator[Store]:
    """Return the first site's store."""
    store = Store(templates.copy_store(stores / "1" / "store.db", tmp_path / "store.db"))
    with store.kept_open():
        yield store


def _edit_table(content: bytes, column: str) -> bytes:
    """Return a table with another value in a column of the first row; add a missing column."""
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


def _write_bundle(
    folder: Path, files: dict[str, bytes], change: Callable[[Any], None] | None
) -> Path:
    """Write a bundle whose hashes match its changed files."""
    package = json.loads(files["datapackage.json"])
    for resource in package["resources"]:
        content = files[resource["path"]]
        resource |= {"hash": f"sha256:{hashlib.sha256(content).hexdigest()}", "bytes": len(content)}
    if change:
        change(package)
    folder.mkdir()
    for name, content in {**files, "datapackage.json": json.dumps(package).encode()}.items():
        (folder / name).write_bytes(content)
    return folder


def _refusals(
    store: Store, folder: Path, files: dict[str, bytes], change: Callable[[Any], None] | None = None
) -> tuple[str, str]:
    """Return the messages when an edited bundle is restored elsewhere and merged."""
    path = _write_bundle(folder / "bundle", files, change)
    other_store, before = create_empty(folder / "elsewhere", 9), bundle_files(store, "trial")
    with pytest.raises(BadFile) as not_restored:
        restore(other_store, path, acting=ACTING)
    with pytest.raises(BadFile) as not_merged:
        merge(store, path, study="trial", acting=ACTING)
    with other_store.look() as look:
        assert stored_studies.find(look, "trial") is None
    assert bundle_files(store, "trial") == before
    return str(not_restored.value), str(not_merged.value)


@pytest.mark.parametrize(
    ("table", "column"), [(table, column) for table in TABLES for column in TABLES[table]]
)
def test_restore_and_merge_refuse_an_edited_column(
    home: Store, bundle: dict[str, bytes], tmp_path: Path, table: str, column: str
) -> None:
    """The hashes in datapackage.json match the edited file."""
    files = {**bundle, table: _edit_table(bundle[table], column)}
    restored, merged = _refusals(home, tmp_path, files)
    if table == "items.csv":
        assert f"items.csv: {column} differs" in merged or "items.csv: its items" in merged
    else:
        assert table in restored
        assert table in merged


@pytest.mark.parametrize("column", ["age", "sex", "origin", "stratum", "indication", "prior_days"])
def test_an_edited_record_of_a_case_is_refused(
    home: Store, bundle: dict[str, bytes], tmp_path: Path, column: str
) -> None:
    """The context shown to readers is in no table, so only the hash covers it."""
    lines = [json.loads(line) for line in bundle["records.jsonl"].splitlines()]
    case = next(line for line in lines if line["row"] == "case")
    case[column] = "7" if column == "prior_days" else f"{case.get(column, '')}x"
    text = "".join(canonical_json(line) + "\n" for line in lines)
    restored, _ = _refusals(home, tmp_path, {**bundle, "records.jsonl": text.encode()})
    assert "opened with" in restored or "drawn" in restored or "exported again" in restored


@pytest.mark.parametrize("salt", [None, "", "0" * 32])
def test_an_edited_correct_answer_is_refused_with_any_salt(
    home: Store, bundle: dict[str, bytes], tmp_path: Path, salt: str | None
) -> None:
    """The salt is missing, empty or replaced."""

    def change(package: Any) -> None:
        package["reading_room"].pop("items_salt")
        if salt is not None:
            package["reading_room"]["items_salt"] = salt

    files = {**bundle, "items.csv": _edit_table(bundle["items.csv"], "truth")}
    _refusals(home, tmp_path, files, change)


def test_an_unedited_bundle_is_restored_and_merged(
    home: Store, bundle: dict[str, bytes], tmp_path: Path
) -> None:
    path = _write_bundle(tmp_path / "bundle", bundle, None)
    target = create_empty(tmp_path / "elsewhere", 9)
    result = restore(target, path, acting=ACTING)
    assert result.note == ""
    assert verify(target) == []
    assert remarks(target) == []
    merge(home, path, study="trial", acting=ACTING)
    assert verify(home) == []


def test_verification_reports_altered_items_of_a_study(home: Store) -> None:
    """The check does not depend on the hash of the bank."""
    for statement in (
        "UPDATE items SET question = question || '?' WHERE id = (SELECT item FROM cases LIMIT 1)",
        "UPDATE reference_standard SET truth = iif(truth = 'A', 'B', 'A') "
        "WHERE item = (SELECT item FROM cases LIMIT 1)",
    ):
        tamper(home, statement)
    breaches = [breach for breach in verify(home) if breach.startswith("study trial")]
    assert any("its items are not those it was opened with" in breach for breach in breaches)
    assert any(
        "the reference standard is not the one it was opened with" in breach for breach in breaches
    )


def test_the_trail_of_an_open_study_does_not_reveal_the_correct_answers(tmp_path: Path) -> None:
    """Blinded bundles omit the salt, without which the hash cannot be tested against guesses."""
    store = create_site(tmp_path / "site", 3)
    with store.look() as look:
        salt = study_row(look, "trial").items_salt
    assert len(salt) == 32
    files = bundle_files(store, "trial", blinded=True)
    assert not any(salt.encode() in content for content in files.values())


def test_studies_without_a_hash_of_their_items_are_restored_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a study of an earlier version an edited correct answer cannot be detected."""
    with monkeypatch.context() as earlier:
        earlier.setattr("study.lifecycle.studies.item_hashes", lambda *_: {})
        store = create_site(tmp_path / "old", 4, person_id="P4", simulated="S4")
    assert verify(store) == []
    (remark,) = [line for line in remarks(store) if "no hash of its items" in line]
    assert remark.startswith("study trial")
    target = create_empty(tmp_path / "elsewhere", 9)
    path = _write_bundle(tmp_path / "bundle", bundle_files(store, "trial"), None)
    assert "no hash of its items" in restore(target, path, acting=ACTING).note
    assert verify(target) == []


def test_the_hash_covers_the_context_shown_to_readers(tmp_path: Path) -> None:
    """A study with context is restored to the same hash."""
    store = create_site(tmp_path / "site", 5, context=["age", "sex", "indication"])
    target = create_empty(tmp_path / "elsewhere", 9)
    path = _write_bundle(tmp_path / "bundle", bundle_files(store, "trial"), None)
    restore(target, path, acting=ACTING)
    assert verify(target) == []
