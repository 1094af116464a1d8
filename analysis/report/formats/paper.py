"""The files for a paper: tables as LaTeX and Excel, methods, references, checklists."""

from __future__ import annotations

from analysis.report.checklists import Checklist
from analysis.report.content import ReportContent
from analysis.report.formats.workbook import workbook
from analysis.report.methods import Paragraph
from analysis.report.methods.references import bibtex, references
from analysis.report.methods.sources import CHECKLIST_SOURCES
from analysis.report.tables import ReportTable
from analysis.report.wording.latex import PREAMBLE, latex_table
from analysis.results import Results

PAPER_FILES = ("tables.xlsx", "tables.tex", "references.bib", "methods.md", "checklists.md")
MOST_LATEX_ROWS = 60


def paper_files(results: Results, content: ReportContent) -> dict[str, bytes]:
    """Make the files for a paper.

    Returns
    -------
    dict of str to bytes
        By name: those of `PAPER_FILES`.
    """
    texts = {
        "tables.tex": _tables(content.tables),
        "references.bib": bibtex(content.references),
        "methods.md": _methods(content.methods),
        "checklists.md": _checklists(content.checklists),
    }
    files = {name: text.encode() for name, text in texts.items()}
    return {"tables.xlsx": workbook(results.tables), **files}


def _tables(tables: list[ReportTable]) -> str:
    printed = [table.cut(MOST_LATEX_ROWS) for table in tables if table.in_paper]
    return PREAMBLE + "\n" + "\n".join(_latex(table) for table in printed)


def _latex(table: ReportTable) -> str:
    return latex_table(
        label=table.name,
        caption=table.title,
        header=table.header,
        rows=[(" and ".join(name.full for name in names), *cells) for names, cells in table.rows],
        note=table.remark,
    )


def _methods(paragraphs: list[Paragraph]) -> str:
    return (
        "# Methods\n\n"
        + "\n\n".join(
            f"## {part.title}\n\n{_markdown(part.text, cells=False)}" for part in paragraphs
        )
        + "\n"
    )


def _checklists(checklists: list[Checklist]) -> str:
    opening = (
        "# Reporting checklists\n\n"
        "What each item asks is told in our own words; the guidelines' wording stands in the"
        " publications.\n"
    )
    sources = {one.key: one.source for one in references(CHECKLIST_SOURCES)}
    parts = []
    for one in checklists:
        rows = "".join(
            "| "
            + " | ".join(
                _markdown(cell)
                for cell in (item.number, item.topic, item.state.value, item.answer, item.place)
            )
            + " |\n"
            for item in one.items
        )
        source = sources[one.key]
        note = f"{one.note} " if one.note else ""
        parts.append(
            f"\n## {one.title}\n\n{note}{source.text} doi:{source.doi}\n\n{one.summary}.\n\n"
            "| item | what it asks | state | answer | where |\n|---|---|---|---|---|\n" + rows
        )
    return opening + "".join(parts)


def _markdown(text: str, *, cells: bool = True) -> str:
    line = " ".join(text.split())
    for sign in ("\\", "|", "*", "_", "`", "<") if cells else ("\\", "*", "_", "`", "<"):
        line = line.replace(sign, f"\\{sign}")
    return line
