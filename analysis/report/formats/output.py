"""Write the tables, or the report with all its files, to a folder."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, TextIO

import pandas as pd

from analysis.bundle.cells import escape_table
from analysis.bundle.model import Bundle
from analysis.errors import OutputError
from analysis.options import Options
from analysis.parallel import in_two_processes
from analysis.registry import analyse
from analysis.report.content import ReportContent, report_content
from analysis.report.figures import ReportFigure, report_figures
from analysis.report.formats.folder import OutputPart, replacement_folder
from analysis.report.formats.page import report_page
from analysis.report.formats.paper import PAPER_FILES, paper_files
from analysis.report.formats.pdf import report_pdf
from analysis.report.items import disagreement_lines
from analysis.report.methods.sources import CHECKLIST_SOURCES, SOURCES, provenance
from analysis.report.tables import report_tables
from analysis.results import Results
from analysis.translation import ENGLISH, use_language

TABLES_PART = OutputPart(name="tables", endings=(".csv", ".jsonl"))
REPORT_PARTS = (
    OutputPart(name="figures", endings=(".plotly.json", ".svg", ".png")),
    OutputPart(name="paper", names=PAPER_FILES),
    OutputPart(name="report.html"),
    OutputPart(name="report.pdf"),
    OutputPart(name="results.json"),
)
# The results.json of a report starts with this text; a report in such a folder may be replaced.
RESULTS_PREFIX = '{\n"provenance": '


def write_tables(
    bundle: Bundle, out: str | PathLike[str], options: Options | None = None
) -> Results:
    """Write the tables as CSV.

    Parameters
    ----------
    bundle : Bundle
        The checked tables.
    out : str or path
        Folder to write to; created if needed. Its `tables` is replaced, and the report of an
        earlier run is removed, because it would contradict the tables.
    options : Options, optional
        Seed, number of resamples, alpha and margin.

    Returns
    -------
    Results
        The written results.

    Raises
    ------
    OutputError
        A file cannot be written; the folder is then unchanged.
    """
    folder_path = Path(out)
    with replacement_folder(
        folder_path, (TABLES_PART, *(REPORT_PARTS if _has_report(folder_path) else ()))
    ) as folder:
        results = analyse(bundle, options, in_parallel=True)
        _write_tables(results, folder)
    return results


def write_report(
    bundle: Bundle,
    out: str | PathLike[str],
    options: Options | None = None,
    *,
    language: str = ENGLISH,
) -> Results:
    """Write the report: HTML and PDF, `results.json`, figures, tables and files for a paper.

    Parameters
    ----------
    bundle : Bundle
        The checked tables.
    out : str or path
        Folder to write to; created if needed. The files of an earlier report are replaced.
    options : Options, optional
        Seed, number of resamples, alpha and margin.
    language : str, default "en"
        Language of the page, the PDF and the figures, one with a catalogue. Tables, `results.json`
        and the files for a paper are in English.

    Returns
    -------
    Results
        The written results.

    Raises
    ------
    OptionsError
        There is no catalogue for the language.
    OutputError
        A file cannot be written; the folder is then unchanged.
    """
    with use_language(language), _report_folder(Path(out)) as folder:
        with use_language(ENGLISH):
            results = analyse(bundle, options, in_parallel=True)
        _write_report_files(results, folder)
    return results


def write_results(results: Results, out: str | PathLike[str], *, language: str = ENGLISH) -> None:
    """Write the report of results that have been computed, as `write_report` does.

    Parameters
    ----------
    results : Results
        The results.
    out : str or path
        Folder to write to; created if needed. The files of an earlier report are replaced.
    language : str, default "en"
        Language of the page, the PDF and the figures.

    Raises
    ------
    OptionsError
        There is no catalogue for the language.
    OutputError
        A file cannot be written; the folder is then unchanged.
    """
    with use_language(language), _report_folder(Path(out)) as folder:
        _write_report_files(results, folder)


@contextmanager
def _report_folder(out: Path) -> Iterator[Path]:
    """Yield the folder to fill, after refusing to replace files of other programs."""
    with replacement_folder(out, (TABLES_PART, *REPORT_PARTS)) as folder:
        _refuse_another_report(out)
        yield folder


def _has_report(out: Path) -> bool:
    try:
        with (out / "results.json").open(encoding="utf-8", errors="replace") as file:
            return file.read(len(RESULTS_PREFIX)) == RESULTS_PREFIX
    except OSError:
        return False


def _refuse_another_report(out: Path) -> None:
    """Refuse to replace a report.html or paper that an earlier report may not have written."""
    unrelated = [
        part.name for part in REPORT_PARTS if part.is_known_by_name and (out / part.name).exists()
    ]
    if unrelated and not _has_report(out):
        raise OutputError(
            f"{out / unrelated[0]}: was not written by an earlier report. Move it, or give another"
            " folder."
        )


def _write_report_files(results: Results, folder: Path) -> None:
    (folder / "figures").mkdir()
    with in_two_processes(
        [partial(_write_tables, results, folder), partial(_write_results, results, folder)]
    ):
        figures = report_figures(results)
        content = report_content(results, figures)
    with in_two_processes(
        [partial(getattr, figure, "svgs") for figure in figures]
    ) as svgs_of_figures:
        pass
    for figure, svgs in zip(figures, svgs_of_figures, strict=True):
        figure.set_svgs(svgs)
    tasks: list[Callable[[], None]] = [
        partial(_write_pdf, content, folder),
        partial(_write_paper, results, content, folder / "paper"),
        partial(_write_page, content, figures, folder),
        *(partial(_write_pictures, figure, folder) for figure in figures),
    ]
    with in_two_processes(tasks):
        pass


def _write_results(results: Results, folder: Path) -> None:
    with (
        use_language(ENGLISH),
        (folder / "results.json").open("w", encoding="utf-8", newline="") as file,
    ):
        file.writelines(_json_lines(results))


def _write_pdf(content: ReportContent, folder: Path) -> None:
    (folder / "report.pdf").write_bytes(report_pdf(content))


def _write_page(content: ReportContent, figures: Sequence[ReportFigure], folder: Path) -> None:
    _write_text(folder / "report.html", report_page(content))
    for figure in figures:
        text = json.dumps(json.loads(figure.json), ensure_ascii=False, sort_keys=True)
        _write_text(folder / "figures" / f"{figure.name}.plotly.json", text + "\n")


def _write_pictures(figure: ReportFigure, folder: Path) -> None:
    for form, pictures in (("svg", figure.svgs), ("png", figure.pngs)):
        for name, picture in zip(figure.files(form), pictures, strict=True):
            (folder / "figures" / name).write_bytes(picture)


def _write_paper(results: Results, content: ReportContent, folder: Path) -> None:
    folder.mkdir()
    with use_language(ENGLISH):
        for name, file in paper_files(results, _content_in_english(results, content)).items():
            (folder / name).write_bytes(file)


def _content_in_english(results: Results, content: ReportContent) -> ReportContent:
    """Return the content for a paper, whose tables are in English."""
    return (
        content if content.language == ENGLISH else replace(content, tables=report_tables(results))
    )


def _write_tables(results: Results, folder: Path) -> None:
    (folder / "tables").mkdir()
    for name, table in results.tables.items():
        # newline="" writes \n on every system, so that output is reproducible.
        with (folder / "tables" / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            # The csv module quotes cells with a single \r only if its line ending contains \r.
            # Rows are written one by one, because the pairs of 200 raters are 600 MB of text.
            escape_table(table).to_csv(_NewlineWriter(file), index=False, lineterminator="\r\n")
    lines = "".join(f"{line}\n" for line in disagreement_lines(results))
    _write_text(folder / "tables" / "model_disagreements.jsonl", lines)


class _NewlineWriter(io.TextIOBase):
    """Wraps a file to end rows with a newline instead of the line ending of the CSV writer."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, row: str) -> int:
        return self._file.write(row.removesuffix("\r\n") + "\n")


def _json_lines(results: Results) -> Iterator[str]:
    """Yield `results.json` by column, because the pairs of 200 raters are half a million rows."""
    yield RESULTS_PREFIX + _json_text(provenance(results))
    yield ',\n"sources": ' + _json_text(
        [source._asdict() for source in (*SOURCES, *CHECKLIST_SOURCES)]
    )
    yield ',\n"tables": {'
    for i, (name, table) in enumerate(results.tables.items()):
        yield ("," if i else "") + f"\n{_json_text(name)}: {{"
        for j, column in enumerate(table.columns):
            yield (
                "," if j else ""
            ) + f"\n{_json_text(column)}: {_json_text(_json_values(table[column]))}"
        yield "}"
    yield "}\n}\n"


def _json_text(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, allow_nan=False)


def _json_values(column: pd.Series[Any]) -> list[Any]:
    """Return the cells as JSON values: null for an empty cell, a string for an infinite number."""
    cells = column.astype(object).where(column.notna(), None).tolist()
    return [str(c) if isinstance(c, float) and math.isinf(c) else c for c in cells]


def _write_text(path: Path, text: str) -> None:
    # newline="" writes \n on every system, so that output is reproducible.
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
