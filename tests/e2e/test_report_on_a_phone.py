"""The report of many models on the screen of a phone."""

from dataclasses import replace
from pathlib import Path

import pytest

from analysis import Options, analyse
from analysis.report.content import report_content
from analysis.report.formats.page import report_page
from tests.e2e.conftest import Profile
from tests.unit.analysis.report.full_run import study

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

PHONE = {"width": 390, "height": 844}


def test_with_many_models_the_table_stays_on_the_first_screen_of_a_phone(
    new_profile: Profile, tmp_path: Path
) -> None:
    """The page is as wide as the screen, and the first raters are visible without scrolling."""
    declared = {
        "endpoint": "accuracy",
        "hypothesis": "non-inferiority",
        "margin": 0.05,
        "claim_about": "readers like these",
    }
    bundle = replace(study(4, 20), protocol=declared)
    file = tmp_path / "report.html"
    file.write_text(report_page(report_content(analyse(bundle, Options(bootstrap=20)), [])))
    page = new_profile(viewport=PHONE).new_page()
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    third = page.locator("#headline tbody tr").nth(2).bounding_box()
    assert third
    assert third["y"] + third["height"] < PHONE["height"], third
