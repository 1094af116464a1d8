"""Deviations in tables that are accepted, and those that are refused."""

import csv
import lzma
import zipfile
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest

from analysis import BundleError, bundle_from_tables, read_bundle
from analysis.bundle.source import read_files
from analysis.cli import main
from analysis.readings.clusters import cluster_codes

READINGS = pd.DataFrame({"rater_id": ["R"], "item_id": ["q"], "answer": ["A"]})


def _zip(folder: Path, archive: Path, prefix: str = "", method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(archive, "w", method) as target:
        for name in ("items.csv", "readings.csv"):
            target.writestr(prefix + name, (folder / name).read_bytes())
    return archive


def test_empty_columns_without_a_name_are_ignored(folder: Path) -> None:
    """Spreadsheet programs write such columns next to the table."""
    (folder / "items.csv").write_text(
        "item_id,truth,,n_options,,\nq1,A,,4,,\nq2,B, ,4,,\nq3,C,,4,,\n"
    )
    assert read_bundle(folder).items["n_options"].tolist() == [4, 4, 4]


def test_a_column_with_values_needs_a_name(folder: Path) -> None:
    """The meaning of a column without a name cannot be guessed."""
    (folder / "items.csv").write_text("item_id,truth,,\nq1,A,,\nq2,B,,x\nq3,C,,\n")
    with pytest.raises(BundleError, match="column 4 has no name but is not empty in row 3"):
        read_bundle(folder)


def test_headers_that_differ_only_in_spaces_are_refused(folder: Path) -> None:
    """The same rule applies to files and data frames."""
    (folder / "items.csv").write_text("item_id,truth, truth\nq1,A,B\n")
    with pytest.raises(BundleError, match="column “truth” occurs twice"):
        read_bundle(folder)
    items = pd.DataFrame([["q", "A", "B"]], columns=["item_id", "truth", "truth "])
    with pytest.raises(BundleError, match="column “truth” occurs twice"):
        bundle_from_tables(items, READINGS)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_zip_is_read_or_refused_with_a_message(
    folder: Path, tmp_path: Path, method: int
) -> None:
    """Exceptions of zlib, bz2 and lzma do not reach the user."""
    archive = _zip(folder, tmp_path / "bundle.zip", method=method)
    complete = archive.read_bytes()
    for place in range(len(complete)):
        archive.write_bytes(
            complete[:place] + bytes([complete[place] ^ 0xFF]) + complete[place + 1 :]
        )
        with suppress(BundleError):
            read_files(archive)


@pytest.mark.parametrize("error", [EOFError(), lzma.LZMAError("Corrupt input data")])
def test_errors_while_unpacking_are_reported_in_one_sentence(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
) -> None:
    """The command exits with status 1."""

    def fail(*_: object) -> bytes:
        raise error

    archive = _zip(folder, tmp_path / "bundle.zip")
    monkeypatch.setattr(zipfile.ZipFile, "read", fail)
    assert main(["tables", str(archive), "--out", str(tmp_path / "out")]) == 1
    errors = capsys.readouterr().err
    assert "cannot be read (" in errors
    assert "()" not in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize("prefix", ["", "./", "bundle/", "./bundle/", "bundle\\"])
def test_files_of_an_archive_are_recognized_in_any_folder(
    folder: Path, tmp_path: Path, prefix: str
) -> None:
    """The files are at the top or in a folder; paths may have `./` or backslashes."""
    assert len(read_bundle(_zip(folder, tmp_path / "bundle.zip", prefix)).items) == 3


def test_a_repeated_file_of_an_archive_is_refused(folder: Path, tmp_path: Path) -> None:
    """The archive does not tell which of the two files is intended."""
    archive = _zip(folder, tmp_path / "bundle.zip")
    with zipfile.ZipFile(archive, "a") as target:
        target.writestr("./readings.csv", "rater_id,item_id,answer\n")
    with pytest.raises(BundleError, match=r"contains readings\.csv twice"):
        read_bundle(archive)


def test_long_raw_answers_are_read(
    folder: Path,
) -> None:
    """The default limit of the csv module is 128 KiB; limits set by other code are kept."""
    long = "word " * 1_000_000
    (folder / "readings.csv").write_text(f"rater_id,item_id,answer,raw_answer\nR1,q1,A,{long}\n")
    assert read_bundle(folder).readings["raw_answer"].tolist() == [long]
    before = csv.field_size_limit(2**30)
    read_bundle(folder)
    assert csv.field_size_limit(before) == 2**30


@pytest.mark.parametrize("limit", [131072, 2**31 - 1])
def test_a_cell_beyond_the_limit_is_refused_with_a_message(folder: Path, limit: int) -> None:
    """An unclosed quotation mark can extend a cell to the end of the file."""
    csv.field_size_limit(limit)
    (folder / "items.csv").write_text("item_id\n" + "q" * (2**24 + 1) + "\n")
    with pytest.raises(BundleError, match="at most 16,777,216 characters per cell"):
        read_bundle(folder)


def test_spaces_around_names_are_removed() -> None:
    """Spaces around ids and groups do not count, and a patient of spaces only is missing."""
    items = pd.DataFrame(
        {
            "item_id": ["a", " b", "c ", "d"],
            "patient_id": ["p", "p ", " ", "\t"],
            "examination_id": ["", "", "  ", ""],
            "task": ["chest", " chest", "chest\u00a0", ""],
            "option_set": ["s ", "s", "s", "s"],
        }
    )
    readings = pd.DataFrame(
        {
            "rater_id": [" R", " R"],
            "item_id": ["b ", "c"],
            "answer": ["A", "B"],
            "condition": ["aided ", "aided"],
        }
    )
    raters = pd.DataFrame({"rater_id": ["R "], "rater_kind": ["reader"]})
    bundle = bundle_from_tables(items, readings, raters)
    assert bundle.items["task"].tolist() == ["chest", "chest", "chest", ""]
    assert set(bundle.items["option_set"]) == {"s"}
    assert cluster_codes(bundle.items).tolist() == [2, 2, 0, 1]
    assert bundle.readings[["rater_id", "item_id", "condition"]].values.tolist() == [
        ["R", "b", "aided"],
        ["R", "c", "aided"],
    ]


def test_ids_that_differ_only_in_spaces_are_refused() -> None:
    """The rule applies to items, raters, and readings without a table of raters."""
    items, raters = pd.DataFrame({"item_id": ["q"]}), {"rater_kind": "reader"}
    doubled = pd.DataFrame({"rater_id": ["R", "R "], "item_id": ["q", "q"], "answer": ["A", "A"]})
    for tables, words in (
        (
            (pd.DataFrame({"item_id": ["q", "q "]}), READINGS),
            "items.csv, row 3: item_id “q” is also",
        ),
        (
            (items, READINGS, pd.DataFrame({"rater_id": ["R", " R"], **raters})),
            "raters.csv, row 3: rater_id “R” is also",
        ),
        ((items, doubled), r"rater_id “R ” looks like “R” \(white space\)"),
    ):
        with pytest.raises(BundleError, match=words):
            bundle_from_tables(*tables)


def test_ids_of_spaces_only_are_empty_and_nul_is_refused() -> None:
    """Ids need visible characters; NUL is not allowed."""
    items = pd.DataFrame({"item_id": [" ", "q\0x", "q"], "patient_id": ["p", "p\0q", ""]})
    readings = READINGS.assign(rater_id="  ")
    with pytest.raises(BundleError) as refusal:
        bundle_from_tables(items, readings)
    for part in (
        "items.csv, row 2: item_id is empty",
        "items.csv, row 3: item_id “q\\x00x” contains a NUL",
        "items.csv, row 3: patient_id “p\\x00q” contains a NUL",
        "readings.csv, row 2: rater_id is empty",
    ):
        assert part in str(refusal.value)
