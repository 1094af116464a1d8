"""The report is a single file without external requests, and shows names literally."""

import io
import re
from base64 import b64decode
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis import (
    Bundle,
    Options,
    accuracy,
    agreement_pairs,
    analyse,
    bundle_from_tables,
    write_report,
)
from analysis.figures.accuracy import accuracy_chart
from analysis.figures.agreement import kappa_matrix_chart
from analysis.figures.drawing.axes import RaterName
from analysis.figures.drawing.to_plotly import plotly_figure
from analysis.report.findings import findings
from tests.unit.analysis.conftest import MakeBundle

pytestmark = pytest.mark.usefixtures("without_printing")

HOSTILE = [
    "<script>alert(1)</script>",
    'a,"b"\'c',
    "</bdi><img src=x onerror=alert(1)>",
    "שלום",
    "😀👩‍⚕️",
    "$x^2$",
    "=cmd()",
    "line\nbreak",
    "NA",
]


def _without_plotly(page: str) -> str:
    start = page.index("<script>")
    return page[:start] + page[page.index("</script>", start) :]


def _page(bundle: Bundle, out: Path) -> str:
    write_report(bundle, out, Options(bootstrap=20))
    return (out / "report.html").read_text(encoding="utf-8")


def _hostile_bundle() -> Bundle:
    items = pd.DataFrame({"item_id": list("abc"), "truth": list("ABC"), "task": "<b>t</b>"})
    readings = pd.DataFrame(
        [
            {"rater_id": name, "item_id": item, "answer": "A", "timing_source": "simulated"}
            for name in HOSTILE
            for item in "abc"
        ]
    )
    return bundle_from_tables(items, readings)


@pytest.mark.thorough
def test_hostile_names_of_simulated_raters_are_shown_and_never_run(tmp_path: Path) -> None:
    """No name becomes an element, in the page or in a figure's data.

    Banner, tables and figures mark simulated raters, so that they cannot be mistaken for people.
    """
    page = _without_plotly(_page(_hostile_bundle(), tmp_path / "out"))
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "<b>t</b>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert 'class="banner"' in page
    assert page.count('class="mark">simulated') >= len(HOSTILE)
    assert "(simulated)" in page.split('id="figure-accuracy"')[1]


@pytest.mark.thorough
def test_the_page_makes_no_requests(tmp_path: Path, make_bundle: MakeBundle) -> None:
    """A policy forbids them, and only plotly contains addresses."""
    page = _page(make_bundle("AB", {"R": "AB", "S": "AA"}), tmp_path / "out")
    assert "default-src 'none'" in page
    assert page.count("<script>") >= 1
    rest = _without_plotly(page)
    for word in ("http://", "https://", "cdn.", "MathJax", "<link ", "src="):
        assert word not in rest


@pytest.mark.thorough
def test_every_figure_can_be_downloaded_from_the_page(
    tmp_path: Path, make_bundle: MakeBundle
) -> None:
    """Images are files next to the page, or data in the page."""
    out = tmp_path / "out"
    page = _page(make_bundle("ABAB", {"R": "ABBB", "S": "AAAB"}), out)
    links = re.findall(r'<a href="([^"]+)" download="([^"]+)">', page)
    pictures = [address for address, _ in links if not address.startswith("data:")]
    assert sorted(pictures) == sorted(
        f"figures/{file.name}" for file in (out / "figures").iterdir() if file.suffix != ".json"
    )
    downloads = {name: address for address, name in links if address.startswith("data:")}
    assert set(downloads) == {f"{Path(picture).stem}.csv" for picture in pictures}
    data = b64decode(downloads["kappa-letters.csv"].partition(",")[2])
    shown = pd.read_csv(io.BytesIO(data)).set_index(["row", "column"])["value"]
    pairs = pd.read_csv(out / "tables" / "agreement_pairs.csv")
    pairs = pairs.query("scope == 'all' and measure == 'kappa_letters'")
    assert shown["R (1)", "S (2)"] == pairs["estimate"].item()
    assert shown["S (2)", "Reference standard (3)"] == 0.5


@pytest.mark.thorough
@pytest.mark.parametrize("columns", [{"n_options": ""}, {"patient_id": "p"}], ids=str)
def test_a_bundle_with_a_constant_column_gives_a_report(
    tmp_path: Path, make_bundle: MakeBundle, columns: dict[str, object]
) -> None:
    """No undefined value is printed as a number."""
    out, bundle = tmp_path / "out", make_bundle("ABC", {"R": "ABC", "S": "ABA"}, **columns)
    results = write_report(bundle, out, Options(bootstrap=20))
    assert "Findings" in (out / "report.html").read_text(encoding="utf-8")
    assert not any(re.search(r"\bnan\b", str(finding)) for finding in findings(results))


def test_findings_claim_no_difference_without_a_test(make_bundle: MakeBundle) -> None:
    """Two percentages alone do not show a difference."""
    text = " ".join(map(str, findings(analyse(make_bundle("AAAA", {"R": "AAAA", "S": "BBBB"})))))
    for word in ("better", "worse", "outperform", "significant", "superior"):
        assert word not in text
    assert "paired comparison" in text


def test_an_undefined_pair_is_a_dash_in_the_matrix(make_bundle: MakeBundle) -> None:
    """The value of such a pair is not shown as zero."""
    table = agreement_pairs(make_bundle("AB", {"R": "AA", "S": "AA"}))
    figure = plotly_figure(kappa_matrix_chart(table, measure="kappa_letters"))
    assert np.isnan(figure.data[0].z).all()
    assert {note.text for note in figure.layout.annotations} == {"–"}


def test_raters_with_the_same_label_have_separate_lines(make_bundle: MakeBundle) -> None:
    """Lines are placed by the number of the rater, not by label."""
    table = accuracy(make_bundle("AB", {"R": "AB", "S": "AA"}))
    same = RaterName(label="Resident", simulated=False)
    figure = plotly_figure(accuracy_chart(table, names={"R": same, "S": same}))
    assert list(figure.layout.yaxis.ticktext) == ["Resident", "Resident"]
    lines, marks = figure.data
    assert sorted(lines.y[::3]) == sorted(marks.y) == [0, 1]
