"""Text in other encodings, and cells of CSV files that look like formulas."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pandas as pd
import pytest

import analysis
from analysis import read_bundle
from analysis.options import Options
from study.bank.importing import import_bank
from study.base.actor import Acting, By
from study.base.errors import BadFile, BadInput
from study.base.text import FORMER_GUARDED_CELLS, PLAIN_CELLS, CellRules, decode_utf8
from study.exchange import archives
from study.exchange.bundle import bundle_files, export, files_of, zip_files
from study.exchange.restoring import IDENTICAL_FILES, restore
from study.lifecycle import studies
from study.lifecycle.deployments import coordinator_code, init
from study.lifecycle.studies import close
from study.models.models import add_model
from study.monitoring import interventions
from study.people.codes import Code, new_code
from study.people.invitations import Invitation, parse_invitations
from study.protocol.protocol import Protocol
from study.reading import desk
from study.reading.simulation import simulate
from study.store import Store
from study.trail.verification import verify
from tests.conftest import (
    ACTING,
    NOW,
    ROOT,
    bank_records,
    entropy_from,
    invite,
    person,
    presentation,
    write_bank,
)
from tests.conftest import reading as answered
from tests.sites import create_empty
from ui.parts.theme import grid


def test_a_file_in_another_encoding_is_refused() -> None:
    """Spreadsheet programs use such encodings unless UTF-8 is selected."""
    assert decode_utf8("\ufeffreader_id,name\nR1,Müller".encode(), source="readers.csv").startswith(
        "r"
    )
    with pytest.raises(BadFile, match=r"readers\.csv is not encoded in UTF-8"):
        decode_utf8("reader_id,name\nR1,Müller".encode("cp1252"), source="readers.csv")


BY = By(name="c", role="administrator")
FORMULA = '=HYPERLINK("http://evil.example","x")'
FORMULA_START = re.compile(r"[=+\-@\t\r]")
NUMBER = re.compile(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?")


@pytest.fixture
def hostile(tmp_path: Path) -> Store:
    """Return a study with text that looks like formulas, read by a person and a simulation."""
    store = init(tmp_path / "store.db", entropy=entropy_from(1), now=NOW)
    import_bank(
        store, _bank(tmp_path / "bank"), name="=bank", images=tmp_path / "bank", acting=ACTING
    )
    values = {"cases": 4, "one_question_per": "item", "cannot_answer": True, "comments": True}
    protocol = Protocol.from_json(values)
    studies.draw(store, bank="=bank", study="trial", protocol=protocol, acting=ACTING)
    invite(store, "R1", "R2")
    studies.open_study(store, study="trial", acting=ACTING)
    simulate(store, study="trial", reader_id="R2", seed=1, accuracy=0.5, now=NOW)
    case = desk.desk(store, person(store), now=NOW).cases[0].case
    given_up = answered(case, None, status="skipped", reason=FORMULA, comment="@SUM(1)")
    desk.take_records(store, person(store), [presentation(case), given_up], now=NOW)
    interventions.exclude(
        store, study="trial", reading=f"read-{case}", reason="+1+2", acting=ACTING
    )
    file = tmp_path / "model.json"
    file.write_text(json.dumps(dict.fromkeys(_records(), "-2+3 or '=4")))
    add_model(store, file, study="trial", model_id="@model", model_version="'=1", acting=ACTING)
    close(store, study="trial", reason="=1", acting=Acting(by=BY, now=NOW))
    return store


def _records() -> dict[str, dict[str, object]]:
    texts = ("question", "task_name", "category", "subcategory", "PatientID", "StudyInstanceUid")
    return {
        f"-{key}": {**record, **{name: f"={record.get(name, name)}" for name in texts}}
        for key, record in bank_records(4).items()
    }


def _bank(folder: Path) -> Path:
    path = write_bank(folder, n_patients=4)
    path.write_text(json.dumps(_records()))
    return path


def _rows(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def _formulas(files: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    for name, content in files.items():
        for row in _rows(content) if name.endswith(".csv") else ():
            for cell in row:
                if FORMULA_START.match(cell) and not NUMBER.fullmatch(cell):
                    yield name, cell


def test_no_cell_of_a_bundle_is_a_formula_and_the_original_text_is_restored(
    hostile: Store, tmp_path: Path
) -> None:
    """Writing adds an apostrophe, and reading removes it."""
    files = bundle_files(hostile, "trial")
    assert list(_formulas(files)) == []
    export(hostile, study="trial", out=tmp_path / "bundle")
    bundle = read_bundle(tmp_path / "bundle")
    assert set(bundle.items["item_id"]) < set(_records())
    assert all(text.startswith("=") for text in bundle.items["question"])
    assert set(bundle.raters["rater_id"]) == {"R1", "R2", "@model"}
    assert set(bundle.raters["model_version"]) == {"", "'=1"}
    words = set(bundle.readings["raw_answer"])
    assert {FORMULA, "-2+3 or '=4"} <= words
    assert "+1+2 (decided after closing)" in set(bundle.readings["excluded"])


def test_a_bundle_with_formulas_is_restored_identically(hostile: Store, tmp_path: Path) -> None:
    """The bank is missing, so items and texts are restored from the escaped cells."""
    files = bundle_files(hostile, "trial")
    (tmp_path / "bundle.zip").write_bytes(zip_files(files))
    target = create_empty(tmp_path / "target", 5)
    restore(target, tmp_path / "bundle.zip", acting=Acting(by=BY, now=NOW))
    second = bundle_files(target, "trial")
    assert {name: second[name] for name in IDENTICAL_FILES} == {
        name: files[name] for name in IDENTICAL_FILES
    }
    assert verify(target) == []


@pytest.mark.parametrize(
    ("rules", "omitted_key"),
    [
        (PLAIN_CELLS, ("cells_guarded", "cells_escaped", "withdrawn_models")),
        (FORMER_GUARDED_CELLS, ("cells_escaped",)),
    ],
    ids=["plain", "guarded"],
)
def test_a_bundle_of_an_earlier_version_is_restored(
    hostile: Store, tmp_path: Path, rules: CellRules, omitted_key: tuple[str, ...]
) -> None:
    """The metadata states how cells were escaped; without it, cells are read literally."""
    with hostile.look() as look:
        files = files_of(look, "trial", rules=rules)
    package = json.loads(files["datapackage.json"])
    for key in omitted_key:
        del package["reading_room"][key]
    older = {**files, "datapackage.json": json.dumps(package).encode()}
    assert bool(list(_formulas(older))) == (rules is PLAIN_CELLS)
    (tmp_path / "older.zip").write_bytes(zip_files(older))
    target = create_empty(tmp_path / "target", 5)
    restore(target, tmp_path / "older.zip", acting=Acting(by=BY, now=NOW))
    assert verify(target) == []
    with target.look() as look:
        assert files_of(look, "trial", rules=rules)["readings.csv"] == files["readings.csv"]
    assert set(read_bundle(tmp_path / "older.zip").readings["raw_answer"]) >= {FORMULA}


@pytest.mark.thorough
@pytest.mark.usefixtures("without_printing")
def test_no_file_of_the_archive_or_the_report_has_a_formula(hostile: Store, tmp_path: Path) -> None:
    """Files in ZIP archives, tables of the analysis, and workbooks are included."""
    archives.archive(hostile, tmp_path / "archive", study="trial", acting=ACTING)
    analysis.write_report(
        read_bundle(tmp_path / "archive" / archives.BUNDLE),
        tmp_path / "report",
        Options(bootstrap=20),
    )
    files = {str(path): path.read_bytes() for path in tmp_path.glob("*/**/*.csv")}
    for place in (tmp_path / "archive").glob("*.zip"):
        with zipfile.ZipFile(place) as inside:
            files |= {f"{place}/{name}": inside.read(name) for name in inside.namelist()}
    assert {Path(name).name for name in files} >= {"missing.csv", "key.csv", "accuracy.csv"}
    assert list(_formulas(files)) == []
    accuracy = pd.read_csv(tmp_path / "report" / "tables" / "accuracy.csv")
    assert "'@model" in set(accuracy["rater_id"])
    for book in tmp_path.glob("*/**/*.xlsx"):
        with zipfile.ZipFile(book) as inside:
            text = b"".join(inside.read(name) for name in inside.namelist() if "sheet" in name)
        assert b"<f>" not in text


@pytest.mark.parametrize("column", ["reader_id", "level", "years", "site"])
def test_a_reader_id_that_looks_like_a_formula_is_refused(banked: Store, column: str) -> None:
    """The message states what to do."""
    studies.draw(
        banked, bank="bank", study="trial", protocol=Protocol.from_json({"cases": 4}), acting=ACTING
    )
    invitation = Invitation(**{"reader_id": "R1", column: "@SUM(1)"})
    with pytest.raises(BadFile, match="begins with @, like a spreadsheet formula"):
        studies.invite(
            banked, study="trial", invitations=[invitation], codes=[_code()], acting=ACTING
        )
    with pytest.raises(BadInput, match="begins with ="):
        coordinator_code(banked, study="trial", name="=1+1", entropy=entropy_from(3), now=NOW)


def _code() -> Code:
    return new_code(entropy_from(4))


def test_names_and_addresses_of_readers_are_stored_separately(opened: Callable[..., Store]) -> None:
    """Names and addresses are not in the bundle or in the trail."""
    list_text = "reader_id,level,name,email\nR7,resident,Anna Smith,anna@example.org\n"
    store = opened()
    invitations = parse_invitations(list_text, source="list")
    studies.invite(store, study="trial", invitations=invitations, codes=[_code()], acting=ACTING)
    with store.look() as look:
        assert [row["name"] for row in look.rows("SELECT * FROM names")] == ["Anna Smith"]
    content = b"".join(bundle_files(store, "trial").values())
    assert b"R7" in content
    assert b"Smith" not in content
    assert b"example.org" not in content


def test_tables_saved_from_a_page_have_no_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser saves a table as displayed."""
    shown: list[pd.DataFrame] = []
    monkeypatch.setattr("ui.parts.theme.st.dataframe", lambda frame, **options: shown.append(frame))
    grid(pd.DataFrame({"Reason": [FORMULA, "dark", None], "n": [-1.5, 2, 3]}))
    assert shown[0]["Reason"].tolist()[:2] == [f"'{FORMULA}", "dark"]
    assert shown[0]["n"].tolist() == [-1.5, 2, 3]


def test_all_pages_use_the_safe_table() -> None:
    """No page calls Streamlit's function directly."""
    places = [path for folder in ("ui", "pages") for path in (ROOT / folder).rglob("*.py")]
    assert [path.name for path in places if "st.dataframe(" in path.read_text()] == ["theme.py"]
