"""The PDF: findings on one page, text that is never markup, the same bytes every time."""

from dataclasses import replace
from pathlib import Path

import pytest
import typst

from analysis import Bundle, Options
from analysis.report.content import report_content
from analysis.report.formats.pdf import FONTS, prepared, report_pdf
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


def _hostile(bundle: Bundle) -> Bundle:
    labels = [HOSTILE[i % len(HOSTILE)] for i in range(len(bundle.raters))]
    questions = [HOSTILE[i % len(HOSTILE)] for i in range(len(bundle.items))]
    return replace(
        bundle,
        raters=bundle.raters.assign(label=labels, simulated=[True] + [False] * (len(labels) - 1)),
        items=bundle.items.assign(question=questions, task=questions),
        protocol={"name": HOSTILE[0] + HOSTILE[4]},
    )


def _second_page(results: Results, place: Path) -> str:
    template = prepared(report_content(results, []), place)
    found = typst.query(
        str(template),
        "<after-findings>",
        field="value",
        one=True,
        root=str(place),
        font_paths=[FONTS],
        ignore_system_fonts=True,
    )
    return str(found)


@pytest.mark.parametrize(
    ("readers", "models", "conditions"), [(1, 0, ("",)), (3, 8, ("",)), (20, 30, ("a", "b"))]
)
def test_findings_keep_to_one_page(
    tmp_path: Path, readers: int, models: int, conditions: tuple[str, ...]
) -> None:
    """However many models and conditions there are."""
    bundle = study(readers, models, 40, conditions=conditions)
    assert _second_page(full_run(bundle), tmp_path) == "2"


def test_hostile_names_are_shown_and_keep_to_one_page(tmp_path: Path) -> None:
    """Nothing of them is a command, and no word is too long."""
    results = full_run(_hostile(study(6, 6, 40, conditions=("a #$", "b"))))
    assert _second_page(results, tmp_path) == "2"
    assert report_pdf(report_content(results, [])).startswith(b"%PDF-")


def test_the_same_content_gives_the_same_bytes() -> None:
    """Tagged, and without a date."""
    content = report_content(full_run(study(), Options(bootstrap=5)), [])
    first = report_pdf(content)
    assert first == report_pdf(content)
    assert b"/StructTreeRoot" in first
    assert b"/CreationDate" not in first
