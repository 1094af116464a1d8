"""The command line of the analysis."""

import json
import re
from pathlib import Path

import pytest

from analysis import analyse, read_bundle, write_results
from analysis.cli import main

pytestmark = pytest.mark.usefixtures("without_printing")


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _tables(folder: Path) -> set[str]:
    names = set(analyse(read_bundle(folder)).tables)
    assert {"accuracy", "agreement_pairs", "missing"} <= names
    return names


def test_the_command_tables_writes_only_tables(folder: Path, tmp_path: Path) -> None:
    """Items on which models and readers differ are also written as JSON lines."""
    assert main(["tables", str(folder), "--out", str(tmp_path / "out")]) == 0
    expected = {f"tables/{name}.csv" for name in _tables(folder)}
    assert set(_files(tmp_path / "out")) == expected | {"tables/model_disagreements.jsonl"}


def test_ctrl_c_ends_a_command_without_a_traceback(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The exit status is 130, as usual after Ctrl+C."""

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("analysis.cli.write_tables", stopped)
    assert main(["tables", str(folder), "--out", str(tmp_path / "out")]) == 130
    assert capsys.readouterr().err.strip() == "Stopped."


@pytest.mark.thorough
def test_outputs_of_the_same_bundle_and_seed_are_equal(folder: Path, tmp_path: Path) -> None:
    """The files contain no time of creation."""
    items = (folder / "items.csv").read_text().replace("task", "patient_id")
    (folder / "items.csv").write_text(items)
    for out in ("one", "two"):
        arguments = ["report", str(folder), "--out", str(tmp_path / out), "--bootstrap", "50"]
        assert main(arguments) == 0
    assert _files(tmp_path / "one") == _files(tmp_path / "two")
    assert {"report.html", "results.json"} <= set(_files(tmp_path / "one"))


@pytest.mark.thorough
def test_results_json_has_the_values_of_the_tables(folder: Path, tmp_path: Path) -> None:
    """The file also has the seed, hashes and versions."""
    main(["report", str(folder), "--out", str(tmp_path / "out"), "--seed", "7", "--margin", "0.1"])
    content = json.loads((tmp_path / "out/results.json").read_text())
    assert content["tables"]["accuracy"]["accuracy"][0] == 2 / 3
    assert content["provenance"]["options"]["seed"] == 7
    assert content["provenance"]["options"]["margin"] == 0.1
    assert set(content["provenance"]["input"]["sha256"]) == {"items.csv", "readings.csv"}


def test_a_refused_bundle_exits_with_1_and_writes_nothing(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The errors are printed to stderr."""
    (folder / "items.csv").write_text("item_id,truth\nq1,??\n")
    assert main(["report", str(folder), "--out", str(tmp_path / "out")]) == 1
    captured = capsys.readouterr()
    assert "truth “??” is not a letter" in captured.err
    assert captured.out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bundle"]


@pytest.mark.parametrize("name", ["tables", "report"])
@pytest.mark.parametrize("file", ["missing.csv", "folder", "empty.csv", "other.csv", "bytes.csv"])
def test_an_invalid_list_of_faulty_items_is_refused(
    folder: Path, tmp_path: Path, name: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error names the file, and nothing is written."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.csv").touch()
    (tmp_path / "other.csv").write_text("reader\nR1\n", encoding="utf-8")
    (tmp_path / "bytes.csv").write_bytes(b"item_id\n\xff\x00\n")
    out = tmp_path / "out"
    assert main([name, str(folder), "--out", str(out), "--faulty", str(tmp_path / file)]) == 1
    assert file in capsys.readouterr().err
    assert not out.exists()


def test_an_output_that_cannot_be_written_is_reported_in_one_sentence(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file already has the name of the folder."""
    (tmp_path / "out").write_text("mine")
    assert main(["tables", str(folder), "--out", str(tmp_path / "out")]) == 1
    assert "cannot be written" in capsys.readouterr().err
    assert (tmp_path / "out").read_text() == "mine"


def test_a_second_report_replaces_only_the_first_report(folder: Path, tmp_path: Path) -> None:
    """Other files in the folder are kept."""
    out = tmp_path / "out"
    for _ in range(2):
        assert main(["tables", str(folder), "--out", str(out)]) == 0
        (out / "note.txt").write_text("mine")
    assert (out / "note.txt").read_text() == "mine"
    assert {path.stem for path in (out / "tables").iterdir()} == _tables(folder)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["report"],
        ["report", "x"],
        ["explain", "x", "--out", "y"],
        ["tables", "x", "--out", "y", "--alpha", "2"],
        ["tables", "x", "--out", "y", "--bootstrap", "0"],
        ["tables", "x", "--out", "y", "--seed", "-1"],
        ["tables", "x", "--out", "y", "--margin", "five"],
    ],
)
def test_wrong_usage_exits_with_2(arguments: list[str]) -> None:
    """Commands, options and values are checked."""
    assert main(arguments) == 2


@pytest.mark.parametrize("command", [["--help"], ["report", "--help"], ["tables", "--help"]])
def test_the_help_describes_every_option(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The option --help exits with 0."""
    assert main(command) == 0
    output = capsys.readouterr().out
    if len(command) > 1:
        for option in ("--out", "--seed", "--bootstrap", "--margin", "--alpha"):
            assert re.search(rf"{option}\b", output)


@pytest.mark.parametrize("margin", [-0.05, 5])
def test_an_invalid_margin_of_the_protocol_is_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], margin: float
) -> None:
    """One sentence is printed and nothing is written; an option replaces the margin."""
    (folder / "protocol.json").write_text(json.dumps({"locked": {"protocol": {"margin": margin}}}))
    out = str(tmp_path / "out")
    assert main(["tables", str(folder), "--out", out]) == 1
    assert f"protocol.json: margin is {margin}" in capsys.readouterr().err
    assert not Path(out).exists()
    assert main(["tables", str(folder), "--out", out, "--margin", "0.05"]) == 0


@pytest.mark.thorough
def test_a_report_of_existing_results_has_the_same_files_as_that_of_the_command(
    folder: Path, tmp_path: Path
) -> None:
    """The report on the results page equals that of the command line."""
    assert main(["report", str(folder), "--out", str(tmp_path / "one")]) == 0
    write_results(analyse(read_bundle(folder)), tmp_path / "two")
    assert _files(tmp_path / "one") == _files(tmp_path / "two")


def test_the_option_for_the_meaning_of_confidence_has_two_values(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A third value is wrong usage."""
    for word, code in (("finding", 0), ("answer", 0)):
        arguments = ["tables", str(folder), "--out", str(tmp_path / word), "--confidence", word]
        assert main(arguments) == code
    arguments = ["tables", str(folder), "--out", str(tmp_path / "x"), "--confidence", "maybe"]
    assert main(arguments) == 2
    assert "finding" in capsys.readouterr().err
