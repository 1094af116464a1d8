"""Files for a paper have no active content, and an entry for every citation."""

import io
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest

from analysis.registry import STATISTICS
from analysis.report.checklists import ChecklistItem, ChecklistState, checklists
from analysis.report.content import report_content
from analysis.report.formats.latex import latex_table, latex_text
from analysis.report.formats.paper import PAPER_FILES, paper_files, workbook
from analysis.report.methods import method_references, methods
from analysis.report.methods.sources import SOURCES, bibtex, cited_keys, references
from analysis.results import Results
from analysis.statistics.statistic import Source
from tests.unit.analysis.report.full_run import full_run, study

SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


@pytest.fixture(scope="module")
def run() -> Results:
    """Return a run with every table."""
    return full_run(study())


@pytest.fixture(scope="module")
def files(run: Results) -> dict[str, bytes]:
    """Return the files of the paper."""
    return paper_files(run, report_content(run, []))


def _part(book: bytes, name: str) -> str:
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        return archive.read(name).decode("utf-8")


def test_the_list_of_written_files_equals_that_of_replaced_files(files: dict[str, bytes]) -> None:
    """An earlier report's files are all replaced or removed."""
    assert tuple(files) == PAPER_FILES or set(files) == set(PAPER_FILES)


def test_cells_of_the_workbook_are_never_formulas_or_links() -> None:
    """Labels can be any text; undefined values are empty cells."""
    table = pd.DataFrame({"label": ["=1+1", "https://x.org", "@a", "12"], "n": [1.5, None, 2, 3]})
    book = workbook({"accuracy": table})
    sheet = ElementTree.fromstring(_part(book, "xl/worksheets/sheet2.xml"))
    assert not list(sheet.iter(f"{SHEET}f"))
    assert "hyperlink" not in _part(book, "xl/worksheets/sheet2.xml")
    words = re.findall(r"<t[^>]*>([^<]*)</t>", _part(book, "xl/sharedStrings.xml"))
    assert {"=1+1", "https://x.org", "@a", "12"} <= set(words)
    numbers = [cell.get("r") for cell in sheet.iter(f"{SHEET}c") if cell.get("t") is None]
    assert numbers == ["B2", "B4", "B5"]


def test_a_sheet_states_the_number_of_omitted_rows() -> None:
    """The number is in the last row and on the first sheet."""
    table = pd.DataFrame({"n": range(12)})
    book = workbook({"agreement_pairs": table}, max_rows=5)
    assert "7 more rows are not in this sheet: see tables/agreement_pairs.csv" in _part(
        book, "xl/sharedStrings.xml"
    )
    sheet = ElementTree.fromstring(_part(book, "xl/worksheets/sheet2.xml"))
    assert len(list(sheet.iter(f"{SHEET}row"))) == 7


def test_the_workbook_is_reproducible() -> None:
    """The workbook contains no creation time."""
    table = pd.DataFrame({"n": [1]})
    assert workbook({"a": table}) == workbook({"a": table})


def test_every_measure_of_agreement_has_a_separate_matrix(
    run: Results, files: dict[str, bytes]
) -> None:
    """The matrices, with kappa first, have the values of the table, in LaTeX and as sheets."""
    tables = [table for table in report_content(run, []).tables if table.name.startswith("matrix-")]
    measures = ("kappa_letters", "brennan_prediger", "error_consistency", "raw")
    assert [entry.name for entry in tables] == [f"matrix-{m.replace('_', '-')}" for m in measures]
    pairs = run.tables["agreement_pairs"].query("scope == 'all'")
    about_sheet = _part(files["tables.xlsx"], "xl/workbook.xml")
    for table, measure in zip(tables, measures, strict=True):
        assert f"tab:{table.name}" in files["tables.tex"].decode()
        assert f'name="{table.name}"' in about_sheet
        place = {names[0].rater_id: i for i, (names, _) in enumerate(table.rows)}
        for row in pairs.loc[pairs["measure"] == measure].to_dict("records"):
            first, second = sorted(place[row[key]] for key in ("rater_a", "rater_b"))
            below, above = table.rows[second][1][first], table.rows[first][1][second]
            expected = [row["estimate"], row["ci_low"], row["ci_high"]]
            shown = [float(x.replace("\u2212", "-")) for x in (below, *above.split(" to "))]
            assert shown == pytest.approx(expected, abs=0.0051)


def test_latex_is_escaped() -> None:
    """Brackets at the start of a row and characters missing from pdfLaTeX are included."""
    escaped = latex_text("a_b % & # $x$ ~ ^ \\ {y} [z] <b> 😀 שלום – −1")
    assert escaped.isascii()
    bare = re.sub(r"\\[%&#$_{}]|\\[a-zA-Z]+\{[^}]*\}|\{[\[\]]\}|\$-\$", "", escaped)
    assert not set("%&#$_^~\\{}[]") & set(bare)
    table = latex_table(label="t", caption="c", header=("a", "b"), rows=[("[x", "1"), ("y", "2")])
    assert "\n{[}x & 1 \\\\" in table
    assert table.count(r"\begin{longtable}") == table.count(r"\end{longtable}") == 1


def test_latex_tables_have_as_many_cells_as_columns(files: dict[str, bytes]) -> None:
    """Every row is checked."""
    for table in files["tables.tex"].decode().split(r"\begin{longtable}")[1:]:
        columns = re.match(r"\{@\{\}(l+r*)@\{\}\}", table)
        assert columns
        body = table.split(r"\endlastfoot")[1].split(r"\end{longtable}")[0]
        for row in body.strip().splitlines():
            assert len(re.findall(r"(?<!\\)&", row)) == len(columns[1]) - 1


def test_every_citation_in_the_methods_has_an_entry(run: Results, files: dict[str, bytes]) -> None:
    """The bibliography has no other entries."""
    cited = set(cited_keys([files["methods.md"].decode()]))
    entries = set(re.findall(r"^@\w+\{(\w+),", files["references.bib"].decode(), re.M))
    assert cited == entries
    assert "wilson1927" in entries


def test_a_complete_report_cites_all_sources(run: Results) -> None:
    """A report with every table describes all methods, each with its sources."""
    panel = run.tables["reader_panel"]
    with_area = pd.concat([panel, panel.assign(metric="auc")])
    accuracy = run.tables["accuracy"]
    others = {s.name: accuracy for s in STATISTICS if s.sources and s.name not in run.tables}
    others["agreement_indices"] = accuracy
    everything = replace(run, tables={**run.tables, **others, "reader_panel": with_area})
    # The first is used for independent items, the second only by tests, the third for scored texts.
    other_sources = {"hillis2005", "gallas2009", "cohen1968"}
    keys = set(cited_keys(part.text for part in methods(everything)))
    own_keys = {reference.key for reference in method_references() if reference.source in SOURCES}
    assert own_keys - other_sources <= keys


def test_only_computed_tables_are_described() -> None:
    """The methods of missing tables are omitted."""
    plain = full_run(study())
    tables = {name: plain.tables[name] for name in ("accuracy", "agreement_pairs", "missing")}
    text = " ".join(part.text for part in methods(replace(plain, tables=tables)))
    for word in ("Obuchowski", "Tango", "McNemar", "estimating equations", "Holm"):
        assert word not in text


def test_bibtex_entries_are_complete() -> None:
    """Each entry has author, title, year and doi, parsed from the line of the source."""
    entries = bibtex(method_references()).split("\n\n")
    assert len(entries) == len(method_references())
    for entry in entries:
        for field in ("author", "title", "year", "doi"):
            assert f"  {field} = {{" in entry, entry
        assert entry.count("{") == entry.count("}")


def test_keys_with_the_same_author_and_year_get_a_letter() -> None:
    """A publication cited for two methods has a single entry."""
    texts = ("Gwet KL. One. J 2008;1:1.", "Gwet KL. Two. J 2008;2:2.", "Gwet KL. One. J 2008;1:1.")
    sources = [Source(method=str(i), text=t, doi=t) for i, t in enumerate(texts)]
    assert [reference.key for reference in references(sources)] == ["gwet2008a", "gwet2008b"]


@pytest.mark.parametrize(("place", "n"), [(0, 15), (2, 44)])
def test_checklists_have_all_items(run: Results, place: int, n: int) -> None:
    """Items are numbered as in the publications, without repetition."""
    numbers = [item.number for item in checklists(run)[place].items]
    assert numbers == [str(i) for i in range(1, n + 1)]


def test_the_stard_checklist_has_thirty_items_with_their_parts(run: Results) -> None:
    """The checklist has the additional items for AI."""
    numbers = [item.number for item in checklists(run)[1].items if "AI" not in item.number]
    assert len(numbers) == 34
    assert {int(re.sub("[ab]", "", number)) for number in numbers} == set(range(1, 31))


def test_the_decide_ai_checklist_has_its_specific_and_generic_items(run: Results) -> None:
    """There are 28 specific items with 17 numbers, and ten generic items."""
    numbers = [item.number for item in checklists(run)[3].items]
    specific = [number for number in numbers if number[0].isdigit()]
    assert len(specific) == len(set(specific)) == 28
    assert {int(number.rstrip("abc")) for number in specific} == set(range(1, 18))
    generic = [number for number in numbers if number not in specific]
    assert generic == ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X"]


def test_the_items_on_human_baselines_are_complete_and_in_order(run: Results) -> None:
    """The items about the five stages and the evaluation are included."""
    numbers = [item.number for item in checklists(run)[4].items]
    keys = [tuple(map(int, number.split("."))) for number in numbers]
    assert keys == sorted(set(keys))
    stages = [(stage, sum(key[:1] == (stage,) for key in keys)) for stage in range(6)]
    assert stages == [(0, 6), (1, 12), (2, 18), (3, 13), (4, 8), (5, 10)]


def test_checklist_items_with_unknown_values_are_left_open(run: Results) -> None:
    """Funding is never guessed, and a missing protocol is not named."""
    items = {item.number: item for item in checklists(run)[2].items}
    assert items["44"].state is ChecklistState.OPEN
    assert items["42"].state is ChecklistState.OPEN
    assert items["12"].state is ChecklistState.ANSWERED
    locked = replace(run.bundle, protocol={"sha256": "ab12", "locked": {"protocol": {"cases": 60}}})
    filled = {item.number: item for item in checklists(replace(run, bundle=locked))[2].items}
    assert "ab12" in filled["42"].answer
    assert filled["21"].state is ChecklistState.PARTLY


def test_feedback_between_sessions_is_part_of_the_item_on_readers_knowledge(run: Results) -> None:
    """Feedback is mentioned only if the protocol has it."""
    for values, is_named in (({"session_feedback": True}, True), ({}, False)):
        protocol = {"sha256": "ab12", "locked": {"protocol": {"cases": 60, **values}}}
        results = replace(run, bundle=replace(run.bundle, protocol=protocol))
        stard = {item.number: item for item in checklists(results)[1].items}
        assert ("are shown between sessions" in stard["13a"].answer) == is_named


def test_metadata_in_the_protocol_complete_checklist_items(run: Results) -> None:
    """Text that an amendment removed is not used."""

    def rows(place: int, protocol: dict[str, Any]) -> dict[str, ChecklistItem]:
        bundle = replace(run.bundle, protocol=protocol)
        return {row.number: row for row in checklists(replace(run, bundle=bundle))[place].items}

    texts = {
        "reference_source": "Three radiologists",
        "reference_method": "Consensus",
        "eligibility": "Adults",
        "setting": "Two hospitals,\n2024",
        "ethics_approval": "Committee, number 7",
        "registration": "NCT01",
        "funding": "None.",
        "conflicts_of_interest": "None",
        "subgroups": "sex",
    }
    locked = {"protocol": {"metadata": texts}}
    grras, stard, claim, decide, human = (rows(place, {"locked": locked}) for place in range(5))
    answered = [claim[n] for n in ("8", "14", "16", "17", "34", "44")]
    answered += [stard[n] for n in ("6", "10b", "17", "28", "30", "AI g")] + [grras["3"]]
    answered += [decide["III"], decide["3a"], human["1.9"], human["1.10"]]
    assert decide["III"].answer == "registration: NCT01; ethics approval: Committee, number 7"
    assert [row.number for row in answered if row.state is not ChecklistState.ANSWERED] == []
    assert claim["44"].answer == "None"
    assert "source: Three radiologists; method: Consensus" in claim["14"].answer
    assert "Two hospitals, 2024" in stard["8"].answer
    assert stard["AI j"].state is ChecklistState.PARTLY
    removed = rows(2, {"locked": locked, "in_force": {"cases": 60}})
    assert removed["44"].state is ChecklistState.OPEN


def test_markdown_tables_keep_their_columns(files: dict[str, bytes], tmp_path: Path) -> None:
    """Text in cells cannot break the columns."""
    for line in files["checklists.md"].decode().splitlines():
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) == 6
