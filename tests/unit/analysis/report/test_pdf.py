"""The PDF has summary and findings on a page each, literal text, and reproducible bytes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import typst

from analysis import Bundle, Options
from analysis.figures.drawing.fonts import FONT_FOLDERS
from analysis.figures.drawing.to_print import smallest_text_pt
from analysis.report.content import ReportContent, report_content
from analysis.report.figures import overview_figure, report_figures
from analysis.report.formats.pdf import prepare_template, report_pdf
from analysis.results import Results
from tests.unit.analysis.report.full_run import full_run, study

HOSTILE = (
    "#let x = 1 $x^2$ *b* _u_ @ref <label> `raw`",
    "שלום עולם",
    "مرحبا بالعالم",
    "😀👩‍⚕️ // comment /* more",
    "W" * 300,
    "line\nbreak\x00\x07 \\ { } [ ]",
    "\u202eturned",
)


def _with_hostile_names(bundle: Bundle) -> Bundle:
    labels = [HOSTILE[i % len(HOSTILE)] for i in range(len(bundle.raters))]
    questions = [HOSTILE[i % len(HOSTILE)] for i in range(len(bundle.items))]
    return replace(
        bundle,
        raters=bundle.raters.assign(label=labels, simulated=[True] + [False] * (len(labels) - 1)),
        items=bundle.items.assign(question=questions, task=questions),
        protocol={"name": HOSTILE[0] + HOSTILE[4]},
    )


def _pages_after(results: Results, place: Path) -> list[int]:
    """Return the page after the summary, and the page after the findings."""
    content = report_content(results, overview_figure(results))
    return _pages(content, place, "selector.or(<after-summary>, <after-findings>)")


def _pages(content: ReportContent, place: Path, marks: str) -> list[int]:
    result = typst.query(
        str(prepare_template(content, place)),
        marks,
        field="value",
        root=str(place),
        font_paths=FONT_FOLDERS,
        ignore_system_fonts=True,
    )
    pages: list[int] = json.loads(result)
    return pages


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("readers", "models", "conditions"), [(1, 0, ("",)), (3, 8, ("",)), (20, 30, ("a", "b"))]
)
def test_summary_and_findings_each_fill_one_page(
    tmp_path: Path, readers: int, models: int, conditions: tuple[str, ...]
) -> None:
    """They fit for any number of models and conditions."""
    bundle = study(readers, models, 40, conditions=conditions)
    assert _pages_after(full_run(bundle), tmp_path) == [2, 3]


@pytest.mark.thorough
@pytest.mark.parametrize("readers", [3, 24, 40, 130])
def test_the_first_figure_is_legible_for_any_number_of_raters(tmp_path: Path, readers: int) -> None:
    """The figure is on page 1, or on a separate page if the table of raters leaves no space."""
    results = full_run(study(readers, 0, 12), Options(bootstrap=1))
    content = report_content(results, overview_figure(results))
    (scale,) = _pages(content, tmp_path, "<overview-scale>")
    assert content.overview is not None
    assert scale * smallest_text_pt(content.overview.svgs[0]) > 5.9
    assert _pages(content, tmp_path, "selector.or(<after-summary>, <after-findings>)") == [2, 3]


@pytest.mark.thorough
def test_the_report_has_at_most_12_pages_before_its_supplement(tmp_path: Path) -> None:
    """These pages have one figure for each section and the methods."""
    results = full_run(study(3, 8, 40, conditions=("a", "b")))
    content = report_content(results, report_figures(results))
    assert len(content.sections) >= 6
    (first,) = _pages(content, tmp_path, "<supplement>")
    assert first <= 13


@pytest.mark.thorough
def test_hostile_names_are_shown_literally(tmp_path: Path) -> None:
    """Commands in names are not run, and long words fit on the page."""
    results = full_run(_with_hostile_names(study(6, 6, 40, conditions=("a #$", "b"))))
    assert _pages_after(results, tmp_path) == [2, 3]
    assert report_pdf(report_content(results, [])).startswith(b"%PDF-")


@pytest.mark.thorough
def test_the_pdf_is_reproducible() -> None:
    """The PDF is tagged and contains no date."""
    content = report_content(full_run(study(), Options(bootstrap=5)), [])
    first = report_pdf(content)
    assert first == report_pdf(content)
    assert b"/StructTreeRoot" in first
    assert b"/CreationDate" not in first


@pytest.mark.thorough
def test_characters_without_a_glyph_are_named(tmp_path: Path) -> None:
    """The first page names them if a character cannot be printed."""
    bundle = study(2, 1, 12)
    for label, text in (("住院医师 ليلى", ""), ("\U00012000", "U+12000 (CUNEIFORM SIGN A)")):
        raters = bundle.raters.assign(label=[label, "R2", "M1"])
        content = report_content(full_run(replace(bundle, raters=raters)), [])
        prepare_template(content, tmp_path)
        missing = json.loads((tmp_path / "data.json").read_text("utf-8"))["lacking"]
        assert missing == (f"No installed font has a glyph for {text}." if text else "")
