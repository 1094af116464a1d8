"""The content of the report, from which the HTML and the PDF are written.

Text between backticks is shown as code; the PDF omits the backticks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from analysis.bundle.model import RaterKind
from analysis.bundle.protocol import declared_hypothesis, n_amendments, protocol_value
from analysis.figures.drawing.axes import RaterName, condition_name, rater_names
from analysis.presentation.wording import (
    case_count,
    has_several_conditions,
    model_count,
    reader_count,
)
from analysis.readings.confidence import confidence_of, meaning_words
from analysis.report.checklists import Checklist, checklists
from analysis.report.figures import OVERVIEW, ReportFigure
from analysis.report.findings import findings
from analysis.report.headline import Headline, headline
from analysis.report.items import ItemList, item_lists
from analysis.report.methods import Paragraph, cited_references, methods
from analysis.report.methods.sources import Reference, provenance
from analysis.report.tables import ReportTable, report_tables
from analysis.results import Results
from analysis.translation import (
    ENGLISH,
    current_language,
    later,
    localised,
    t,
    tn,
    translated,
    use_language,
)

# Titles of the sections with figures, in the order of the report.
SECTION_TITLES = {
    "accuracy": later("Accuracy"),
    "comparison": later("Models against readers"),
    "agreement": later("Agreement"),
    "tasks": later("Tasks"),
    "items": later("Hard cases"),
    "leaderboard": later("Ranking"),
    "robustness": later("Robustness"),
    "time": later("Time"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureSection:
    """The figures of a section.

    Parameters
    ----------
    name, title : str
        Name for ids, and title to display.
    conditions : list of (str, list of ReportFigure)
        The figures by condition, whose name is empty if the run has only one.
    """

    name: str
    title: str
    conditions: list[tuple[str, list[ReportFigure]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportContent:
    """The content of the report.

    Parameters
    ----------
    name : str
        The study's name.
    facts : list of (str, str)
        Numbers, each with its noun.
    simulated : list of RaterName
        The raters whose answers are simulated.
    all_simulated : bool
        Whether the answers of all raters are simulated.
    headline : Headline
        The first part: verdicts, raters, agreement.
    overview : ReportFigure or None
        The figure of the first part.
    findings : list of (str, list of str)
        Sentences by theme.
    sections : list of FigureSection
        The sections with the other figures.
    tables : list of ReportTable
        The tables.
    item_lists : list of ItemList
        Lists of items to look at.
    methods : list of Paragraph
        The methods, with citation keys.
    references : list of Reference
        The cited sources, in the order of their numbers.
    checklists : list of Checklist
        The reporting checklists.
    provenance : list of (str, str)
        Inputs and versions.
    language : str
        The language of the report.
    """

    name: str
    facts: list[tuple[str, str]]
    simulated: list[RaterName]
    all_simulated: bool
    headline: Headline
    overview: ReportFigure | None
    findings: list[tuple[str, list[str]]]
    sections: list[FigureSection]
    tables: list[ReportTable]
    item_lists: list[ItemList]
    methods: list[Paragraph]
    references: list[Reference]
    checklists: list[Checklist]
    provenance: list[tuple[str, str]]
    language: str = ENGLISH


def report_content(results: Results, figures: Sequence[ReportFigure]) -> ReportContent:
    """Collect the content of the report."""
    bundle = results.bundle
    names, simulated = rater_names(bundle), sorted(bundle.simulated)
    # Text for a paper is in English, regardless of the language of the report.
    with use_language(ENGLISH):
        paragraphs, lists = methods(results), checklists(results)
    return ReportContent(
        name=str(protocol_value(bundle.protocol, "name") or t("Reader study")),
        facts=_facts(results),
        simulated=[names[rater] for rater in simulated],
        all_simulated=bool(simulated) and len(simulated) == len(bundle.raters),
        headline=headline(results),
        overview=next((figure for figure in figures if figure.section == OVERVIEW), None),
        findings=_findings_by_theme(results),
        sections=_sections(
            [figure for figure in figures if figure.section != OVERVIEW],
            has_names=has_several_conditions(results),
        ),
        tables=report_tables(results),
        item_lists=item_lists(results),
        methods=paragraphs,
        references=cited_references(paragraphs),
        checklists=lists,
        provenance=_provenance_rows(results),
        language=current_language(),
    )


def _facts(results: Results) -> list[tuple[str, str]]:
    kinds = results.tables["accuracy"].groupby("rater_kind")["rater_id"].nunique()
    n_readings = len(results.bundle.readings)
    counts = (
        reader_count(int(kinds.get(RaterKind.READER, 0))),
        model_count(int(kinds.get(RaterKind.MODEL, 0))),
        case_count(len(results.bundle.items)),
        tn("{n} reading", "{n} readings", n_readings),
    )
    return [(number, word) for number, _, word in (text.partition(" ") for text in counts)]


def _findings_by_theme(results: Results) -> list[tuple[str, list[str]]]:
    return [
        (translated(theme.value), [finding.text.replace(" %", "\u00a0%") for finding in part])
        for theme, part in groupby(findings(results), key=lambda finding: finding.theme)
    ]


def _sections(figures: Sequence[ReportFigure], *, has_names: bool) -> list[FigureSection]:
    names = [*SECTION_TITLES, *sorted({figure.section for figure in figures} - set(SECTION_TITLES))]
    return [
        FigureSection(
            name=name,
            title=translated(SECTION_TITLES.get(name, name.capitalize())),
            conditions=[
                (condition_name(condition) if has_names else "", list(part))
                for condition, part in groupby(
                    (figure for figure in figures if figure.section == name),
                    key=lambda figure: figure.condition,
                )
            ],
        )
        for name in names
        if any(figure.section == name for figure in figures)
    ]


def _provenance_rows(results: Results) -> list[tuple[str, str]]:
    known: dict[str, Any] = provenance(results)
    options = results.options
    margin = known["options"]["margin"]
    return [
        (t("Protocol hash"), known["protocol_hash"] or t("none stated in the input")),
        (t("Amendments after opening"), _amendments_text(results)),
        (
            t("Declared beforehand"),
            declared_hypothesis(results.bundle.protocol) or t("no endpoint"),
        ),
        (t("Bundle hash"), f"sha256 {known['input']['bundle_sha256']}"),
        *((file, f"sha256 {digest}") for file, digest in known["input"]["sha256"].items()),
        (t("Seed of the resamples"), str(options.seed)),
        (t("Resamples"), localised(f"{options.bootstrap:,}")),
        (t("Alpha"), localised(f"{options.alpha:g}")),
        (t("Non-inferiority margin"), _margin_text(margin, known["options"]["margin_is"])),
        (t("Confidence taken as"), meaning_words(confidence_of(options, results.bundle))),
        (
            t("Versions"),
            ", ".join(f"{name} {number}" for name, number in known["versions"].items()),
        ),
    ]


def _margin_text(margin: float | None, origin: str) -> str:
    if margin is None:
        return t("none")
    size = localised(f"{margin:g}")
    return t("{margin} ({origin})", margin=size, origin=origin) if origin else size


def _amendments_text(results: Results) -> str:
    n = n_amendments(results.bundle.protocol)
    return t("not stated in the input") if n is None else str(n) if n else t("none")


def labels(content: ReportContent) -> dict[str, str]:
    """Return the labels of the report by name, in the language in use."""
    return {
        "title": t("{name}: report", name=content.name),
        "report": t("Reading Room · report"),
        "stop": t("."),
        "contents": t("Contents"),
        "summary": t("Summary"),
        "findings": t("Findings"),
        "look_at": t("Items to look at"),
        "tables": t("Tables"),
        "methods": t("Methods"),
        "checklists": t("Checklists"),
        "reporting_checklists": t("Reporting checklists"),
        "supplement": t("Supplement"),
        "provenance": t("Provenance"),
        "references": t("References"),
        "footer": t("For research. Not a medical device."),
        "mark": t("simulated"),
        "simulated": t("Simulated."),
        "simulated_text": _simulated_text(content),
        "and": t("and"),
        "condition": t("Condition:"),
        "measure": t("Measure of agreement"),
        "item": t("Item"),
        "question": t("Question"),
        "truth": t("Correct answer"),
        "readers_correct": t("Readers correct"),
        "models_correct": t("Models correct"),
        "asks": t("What it asks"),
        "state": t("State"),
        "answer": t("Answer"),
        "where": t("Where"),
        "file": t("File: `{file}`."),
        "more_items": t("{n} more in `{file}`."),
        "figures_note": t(
            "Figures as SVG and PNG are in the folder `figures/` next to this page; their data"
            " are in the page itself."
        ),
        "tables_note": t(
            "Numbers are rounded for reading. The folder `tables/` has CSV files with full"
            " precision; `paper/` has Excel and LaTeX files for a paper."
        ),
        "methods_note": t(
            "Text ready for a paper, with citation keys, is in `paper/methods.md`; the references"
            " in BibTeX are in `paper/references.bib`."
        ),
        "checklists_note": t(
            "Items are paraphrased; the guidelines themselves are cited above. An item is answered"
            " if the data contain the answer, and open if only the authors know it. The checklists"
            " are also in `paper/checklists.md`."
        ),
        "checklists_print": t(
            "Items are paraphrased; the guidelines are cited above. An item is answered if the data"
            " contain the answer, and open if only the authors know it."
        ),
    }


def _simulated_text(content: ReportContent) -> str:
    if not content.simulated:
        return ""
    if content.all_simulated:
        return t(
            "Every rater in this report is simulated: it shows how a report looks and says nothing"
            " about people or models."
        )
    return t(
        "The answers of {n} of the raters are simulated, and marked as such wherever they appear.",
        n=str(len(content.simulated)),
    )
