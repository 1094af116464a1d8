"""The report in another language: all text is translated, and values are unchanged."""

import re
from collections.abc import Iterator
from gettext import NullTranslations
from pathlib import Path

import pytest

from analysis import translation
from analysis.cli import main
from analysis.errors import OptionsError
from analysis.report.content import labels, report_content
from analysis.report.figures import report_figures
from analysis.report.findings import findings
from analysis.report.formats.output import write_results
from analysis.report.formats.page import report_page
from analysis.results import Results
from analysis.translation import localised, t, tn, translate_pieces, use_language
from study.base import translation as pages
from tests.unit.analysis.report.full_run import TASKS, full_run, study

UNTRANSLATED_DATA = (
    *TASKS,
    r"Resident \d",
    r"Model-\d_x",
    r"q\d{4}",
    "Which finding is present on film .*",
    "Effusion|Pneumothorax & more|50 % of #_\\$|None",
    # Names in this run that no table contains.
    "wrong answers|each further 10 items",
    r"tables/\w+\.csv",
    r"MSR|Var|Cov2|var_\w+|Cov1|Cov3|MSTR?|AUC|SE|df",
    # Methods and hashes in this run.
    "Gwet|Tango|Obuchowski-Rockette|bootstrap over patients|sha256 .*|[a-z_-]+ [0-9.]+",
)
"""Names of the run: raters, conditions, tasks, files; symbols of statistics."""


class _Brackets(NullTranslations):
    def gettext(self, message: str) -> str:
        return f"⟦{message}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return f"⟦{msgid1 if n == 1 else msgid2}⟧"


@pytest.fixture(scope="module")
def run() -> Results:
    """Return a run with two conditions."""
    return full_run(study(n_items=24, n_models=2, conditions=("unaided", "aided")))


@pytest.fixture
def brackets(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use a language in which every translated message is in brackets."""
    monkeypatch.setattr(translation, "_catalogue", lambda name: _Brackets())
    monkeypatch.setattr(translation, "current_language", lambda: "xx")
    token = translation._language.set("xx")
    monkeypatch.setattr(translation, "languages", lambda: ("en", "xx"))
    yield
    translation._language.reset(token)


def _untranslated(texts: list[str]) -> list[str]:
    """Return the strings with letters outside brackets, except for names in the run."""
    text_outside = "\n".join(texts)
    while (less := re.sub("⟦[^⟦⟧]*⟧", "", text_outside)) != text_outside:
        text_outside = less
    text_outside = re.sub("|".join(UNTRANSLATED_DATA), "", text_outside)
    return [line for line in text_outside.splitlines() if re.search(r"[^\W\d_]{2,}", line)]


@pytest.mark.thorough
def test_findings_headline_and_tables_are_translated(run: Results, brackets: None) -> None:
    """Headings, notes, titles and words in cells are included."""
    content = report_content(run, [])
    texts = [finding.text for finding in findings(run)]
    texts += [theme for theme, _ in content.findings]
    texts += [text for line in content.headline.verdicts for text in (line.word, line.text)]
    texts += content.headline.agreement
    for table in (content.headline.raters, *content.tables):
        texts += [table.title, table.remark, *table.header]
        texts += [name.full for names, _ in table.rows for name in names]
        texts += [cell for _, cells in table.rows for cell in cells]
    texts += [entry.title for entry in content.item_lists]
    texts += [name for name, _ in content.provenance if not name.endswith((".csv", ".json"))]
    texts += labels(content).values()
    assert _untranslated(texts) == []


def test_figures_are_translated(run: Results, brackets: None) -> None:
    """Titles, captions, axes, legends, panels and labels of marks are included."""
    text = []
    for figure in report_figures(run):
        text += [figure.title, figure.caption, *(key.label for key in figure.chart.key)]
        for panel in (entry for row in figure.chart.rows for entry in row):
            text += [panel.title, panel.subtitle, panel.x.title, panel.y.title]
            text += [tick.label.text for tick in (*panel.x.ticks, *panel.y.ticks)]
            for layer in panel.layers:
                text += [str(entry) for entry in getattr(layer, "hover", ())]
    assert _untranslated(text) == []


@pytest.fixture(scope="module")
def small_run() -> Results:
    """Return a small run."""
    return full_run(study(n_readers=2, n_models=1, n_items=8))


@pytest.mark.thorough
def test_only_page_pdf_and_figures_are_translated(
    small_run: Results, without_printing: None, tmp_path: Path
) -> None:
    """Tables, `results.json` and the files for a paper equal those of the English report."""
    english = tmp_path / "en"
    write_results(small_run, english, language="en")
    for language in ("de", "zh-Hans"):
        write_results(small_run, tmp_path / language, language=language)
        for path in sorted(english.rglob("*")):
            part = path.relative_to(english)
            if path.is_file() and part.parts[0] in ("tables", "paper", "results.json"):
                assert (tmp_path / language / part).read_bytes() == path.read_bytes(), part
        page = (tmp_path / language / "report.html").read_text("utf-8")
        assert f'<html lang="{language}">' in page
        with use_language(language):
            assert f"<h2>{t('Findings')}</h2>" in page != t("Findings") != "Findings"
        assert (tmp_path / language / "report.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.thorough
def test_a_language_applies_only_within_its_block(run: Results) -> None:
    """Afterwards the report is in English again."""
    before = report_page(report_content(run, []))
    with use_language("de"):
        german = report_page(report_content(run, []))
    assert german != before == report_page(report_content(run, []))


def test_numbers_are_formatted_for_the_language() -> None:
    """Integers in messages have the separators of the language too."""
    assert localised("1,234.5") == "1,234.5"
    with use_language("de"):
        assert localised("1,234.5") == "1.234,5"
        assert tn("{n} case", "{n} cases", 1234) == "1.234 Fälle"
    with use_language("zh-Hans"):
        assert localised("1,234.5") == "1,234.5"
        assert tn("{n} case", "{n} cases", 1) == "1 例病例"


def test_reasons_are_translated_in_parts() -> None:
    """Reasons may contain numbers; unknown parts are not changed."""
    with use_language("de"):
        assert (
            translate_pieces("no item was answered")
            == t("no item was answered")
            != "no item was answered"
        )
        assert translate_pieces("interval: fewer than 8 items") == "interval: weniger als 8 Items"
        assert translate_pieces("something new: fewer than 8 of 9 items") == (
            "something new: fewer than 8 of 9 items"
        )
    assert translate_pieces("interval: fewer than 8 items") == "interval: fewer than 8 items"


def test_the_analysis_and_the_pages_use_the_same_catalogues() -> None:
    """The analysis has a separate function for this because it does not import the pages."""
    assert translation.catalogue_folder() == pages.folder()
    assert translation.languages() == pages.languages()
    for name in translation.languages():
        with translation.use_language(name), pages.in_language(name):
            for message in ("Findings", "Accuracy", "Readers"):
                assert translation.t(message) == pages.t(message)


def test_a_language_without_a_catalogue_is_refused(
    folder: Path, tmp_path: Path, run: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message lists the available languages, and nothing is written."""
    with pytest.raises(OptionsError, match="no catalogue; give one of en, de, zh-Hans"):
        write_results(run, tmp_path / "out", language="fr")
    out = tmp_path / "out"
    assert main(["report", str(folder), "--out", str(out), "--language", "fr"]) == 2
    assert "'de'" in capsys.readouterr().err
    assert not out.exists()
