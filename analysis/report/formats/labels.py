"""The words around the report's content: headings, heads and notes; page and PDF say the same.

What stands between backticks is code: the page sets it so, the PDF leaves the ticks out.
"""

from __future__ import annotations

from analysis.report.content import ReportContent
from analysis.translation import t


def labels(content: ReportContent) -> dict[str, str]:
    """Return the words by name, in the language in use."""
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
        "provenance": t("Provenance"),
        "references": t("References"),
        "footer": t("For research. Not a medical device."),
        "mark": t("simulated"),
        "simulated": t("Simulated."),
        "simulated_text": _simulated(content),
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
            "Figures as SVG and PNG are in the folder `figures/` beside this page; their data are"
            " in the page itself."
        ),
        "tables_note": t(
            "Rounded for reading. With full precision as CSV in `tables/`; for a paper as Excel and"
            " LaTeX in `paper/`."
        ),
        "methods_note": t(
            "Ready for a paper, with citation keys, in `paper/methods.md`; the references as BibTeX"
            " in `paper/references.bib`."
        ),
        "checklists_note": t(
            "Items are paraphrased; the guidelines themselves are cited above. Answered where the"
            " data hold the answer, open where only the authors know it. Also in"
            " `paper/checklists.md`."
        ),
        "checklists_print": t(
            "Items are paraphrased; the guidelines are cited above. Answered where the data hold"
            " the answer, open where only the authors know it."
        ),
    }


def _simulated(content: ReportContent) -> str:
    if not content.simulated:
        return ""
    if content.all_simulated:
        return t(
            "Every rater in this report is simulated: it shows how a report looks and says nothing"
            " about people or models."
        )
    return t(
        "The answers of {n} of the raters are simulated, and marked so wherever they appear.",
        n=str(len(content.simulated)),
    )
