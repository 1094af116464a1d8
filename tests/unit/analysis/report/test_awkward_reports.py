"""Complete reports of bundles that are small, empty, hostile or unbalanced."""

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from analysis import Options, analyse, read_bundle
from analysis.cli import main
from analysis.report.content import report_content
from analysis.report.formats.paper import PAPER_FILES
from tests.unit.analysis.report.awkward import write_bundle
from tests.unit.analysis.report.latex_grammar import latex_errors

AWKWARD_BUNDLES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "hostile names, two options, read twice": (
        {"hostile": True, "readers": 2, "models": 1, "letters": "AB", "repeats": True},
        [],
    ),
    "models only": ({"readers": 0, "models": 3}, ["--alpha", "0.1"]),
    "one reader, one item": ({"readers": 1, "models": 1, "items": 1}, ["--margin", "0"]),
    "no truth, no model": ({"truth": False, "models": 0}, []),
    "nothing answered": ({"answered": False}, ["--margin", "0.05"]),
    "the least columns, one letter only": ({"least": True, "constant": True}, []),
}


def _text_of(page: str) -> str:
    """Return the visible text of a page, without scripts, styles and tags."""
    page = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return re.sub(r"<[^>]+>", " ", page)


@pytest.mark.thorough
@pytest.mark.parametrize("case", AWKWARD_BUNDLES)
def test_the_report_of_an_awkward_bundle_has_all_files(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    case: str,
) -> None:
    """Undefined values are not printed as numbers; LaTeX, Excel and JSON files are valid."""
    columns, options = AWKWARD_BUNDLES[case]
    if "hostile" not in columns:  # the PNG shows the same figure as the SVG
        monkeypatch.setattr("analysis.figures.drawing.to_print.png", lambda _: b"\x89PNG")
    out = tmp_path / "out"
    bundle = write_bundle(tmp_path / "bundle", **columns)
    assert main(["report", str(bundle), "--out", str(out), "--bootstrap", "20", *options]) == 0
    assert capsys.readouterr().err == ""
    assert {path.name for path in (out / "paper").iterdir()} == set(PAPER_FILES)
    assert (out / "report.pdf").read_bytes().startswith(b"%PDF-")
    page = (out / "report.html").read_text("utf-8")
    assert not re.search(r"\b(nan|NaN|None|inf)\b", _text_of(page))
    assert latex_errors((out / "paper" / "tables.tex").read_text("utf-8")) == []
    json.loads((out / "results.json").read_text("utf-8"))
    with zipfile.ZipFile(io.BytesIO((out / "paper" / "tables.xlsx").read_bytes())) as book:
        assert book.testzip() is None


@pytest.mark.thorough
def test_two_conditions_with_ratings_are_named_in_every_table(tmp_path: Path) -> None:
    """The study has five readers, two options, and the metrics accuracy and AUC."""
    place = write_bundle(
        tmp_path / "bundle",
        readers=5,
        models=1,
        items=24,
        letters="AB",
        conditions=("aided", "unaided"),
        repeats=True,
    )
    content = report_content(analyse(read_bundle(place), Options(bootstrap=20)), [])
    tables = {table.name: table for table in content.tables}
    assert {"reader-conditions", "variance-components-conditions", "intra-reader"} <= set(tables)
    assert tables["variance-components-conditions"].header[:2] == ("Conditions", "Metric")
    assert {"Condition", "SE", "df"} <= set(tables["reader-panel"].header)
    assert {cells[0] for _, cells in tables["reader-conditions"].rows} == {"accuracy, %", "AUC"}
    findings = dict(content.findings)["Readers under two conditions"]
    assert len(findings) == 2
    assert all("under \u2068aided\u2069" in entry for entry in findings)


def test_the_grammar_detects_errors() -> None:
    """A valid table has no errors."""
    table = "\\begin{longtable}{@{}lr@{}}\n\\toprule\na & b \\\\\n@\n\\end{longtable}\n"
    assert latex_errors(table.replace("@\n", "x \\& y & 50 \\% \\\\\n")) == []
    for row in ("x", "x & 5 %", "x_1 & 2", "{x & 2", "x} & 2", "x & $2", "x & 😀", "x & y & z"):
        assert latex_errors(table.replace("@\n", f"{row} \\\\\n")), row
