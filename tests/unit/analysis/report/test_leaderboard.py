"""The leaderboard as static files: order, public columns, and complete data."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis import Bundle
from analysis.cli import main
from analysis.errors import AnalysisError, OutputError
from analysis.options import Options
from analysis.report.leaderboard import read_cards, write_leaderboard

pytestmark = pytest.mark.usefixtures("without_printing")
MakeBundle = Callable[..., Bundle]
FAST_OPTIONS = Options(bootstrap=50)
TASKS = ["x", "x", "x", "y"]


@pytest.fixture
def bundle(make_bundle: MakeBundle) -> Bundle:
    """Return a reader and two models whose rank by tasks differs from that by questions."""
    answers = {"R1": "AABB", "<b>wide</b>": "AAAB", "even": "ABBA"}
    models = ("<b>wide</b>", "even")
    return make_bundle("AAAA", answers, models=models, task=TASKS)


def _table_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_models_are_sorted_by_the_mean_of_tasks(bundle: Bundle, tmp_path: Path) -> None:
    """As on ReXVQA's leaderboard, the number of questions in a task does not matter."""
    cards = tmp_path / "cards.csv"
    cards.write_text("model,name,institution\neven,Even-7B,A hospital\n", encoding="utf-8")
    write_leaderboard({"One": bundle}, tmp_path / "out", FAST_OPTIONS, read_cards(cards))
    first, second = _table_rows(tmp_path / "out" / "models.csv")
    assert list(first)[:8] == [
        *("Rank", "Date", "Model Name", "Institution", "Model URL", "Overall Accuracy"),
        *("x", "y"),
    ]
    assert (first["Rank"], first["Model Name"], first["Institution"]) == (
        *("1", "Even-7B"),
        "A hospital",
    )
    assert float(first["Overall Accuracy"]) == pytest.approx((1 / 3 + 1) / 2)
    assert (second["Model Name"], float(second["x"]), float(second["y"])) == ("<b>wide</b>", 1, 0)


def test_the_page_names_all_raters_and_has_no_scripts(bundle: Bundle, tmp_path: Path) -> None:
    write_leaderboard({"One": bundle, "<i>Two</i>": bundle}, tmp_path, FAST_OPTIONS)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;wide&lt;/b&gt;" in page
    assert "&lt;i&gt;Two&lt;/i&gt;" in page
    assert "<b>wide" not in page
    assert "<script" not in page
    assert page.count('class="reader"') == 6  # the row of the reader, with six cells
    file = _table_rows(tmp_path / "leaderboard.csv")
    assert {row["study"] for row in file} == {"One", "<i>Two</i>"}
    assert len(file) == 2 * 3 * 4  # studies, raters, micro and macro and two tasks


def test_a_study_without_tasks_ranks_by_questions(make_bundle: MakeBundle, tmp_path: Path) -> None:
    bundle = make_bundle("AAAA", {"R1": "AABB", "m": "AAAB"}, models=("m",))
    write_leaderboard({"One": bundle}, tmp_path, FAST_OPTIONS)
    assert "75.0" in (tmp_path / "index.html").read_text(encoding="utf-8")
    (row,) = _table_rows(tmp_path / "models.csv")
    assert row["Overall Accuracy"] == ""


def test_the_command_reads_several_folders_and_writes_reproducible_files(
    folder: Path, tmp_path: Path
) -> None:
    for _ in range(2):
        assert main(["leaderboard", str(folder), str(folder), "--out", str(tmp_path / "out")]) == 0
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"index.html", "leaderboard.csv", "models.csv"}
    assert {row["study"] for row in _table_rows(tmp_path / "out" / "leaderboard.csv")} == {
        "bundle",
        "bundle (2)",
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name\nx\n", "no column “model”"),
        ("model,colour\nx,red\n", "a column “colour”"),
        ("model,name\nx,a\nx,b\n", "row 3"),
        ("", "cannot be read"),
    ],
)
def test_model_cards_that_cannot_be_read_are_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "cards.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AnalysisError, match=words):
        read_cards(path)


def test_a_page_of_another_program_is_not_overwritten(bundle: Bundle, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<h1>Mine</h1>", encoding="utf-8")
    with pytest.raises(OutputError, match="was not written by an earlier leaderboard"):
        write_leaderboard({"One": bundle}, tmp_path, FAST_OPTIONS)
    assert (tmp_path / "index.html").read_text(encoding="utf-8") == "<h1>Mine</h1>"
