"""Write the results atomically: all files, or none.

All files are first written to a scratch folder on the same filesystem: in the output folder if it
exists, else in its nearest existing parent. Then the earlier files are moved away and the new ones
are moved in; if a step fails, all steps are undone.
"""

from __future__ import annotations

import io
import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, TextIO

import pandas as pd

from analysis.bundle.cells import guarded_table
from analysis.bundle.model import Bundle
from analysis.errors import OutputError
from analysis.options import Options
from analysis.parallel import alongside
from analysis.registry import analyse
from analysis.report.content import ReportContent, report_content
from analysis.report.figures import ReportFigure, report_figures
from analysis.report.formats.page import report_page
from analysis.report.formats.paper import PAPER_FILES, paper_files
from analysis.report.formats.pdf import report_pdf
from analysis.report.items import disagreement_lines
from analysis.report.methods.sources import CHECKLIST_SOURCES, SOURCES, provenance
from analysis.report.tables import overviews
from analysis.results import Results
from analysis.translation import ENGLISH, spoken


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputPart:
    """A file or folder that the report writes.

    Parameters
    ----------
    name : str
        File or folder name.
    holds : tuple of str
        Endings of the file names in a folder. A file with another ending than the first belongs to
        the report only if the file with the first ending exists too.
    names : tuple of str
        The file names in a folder, if they are known.
    """

    name: str
    holds: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def is_file(self) -> bool:
        """Whether it is a file."""
        return not self.holds and not self.names

    @property
    def alone(self) -> bool:
        """Whether only its name, not its contents, identifies it as written by a report."""
        return not self.holds

    def strange(self, names: Iterable[str]) -> list[str]:
        """Return the names in the folder that no report would have written.

        Examples
        --------
        >>> figures = OutputPart(name="figures", holds=(".json", ".svg"))
        >>> figures.strange(["a.json", "a.svg", "b.svg"])
        ['b.svg']
        """
        present = set(names)
        return sorted(name for name in present if not self._ours(name, present))

    def _ours(self, name: str, present: set[str]) -> bool:
        if self.names:
            return name in self.names
        endings = [ending for ending in self.holds if name.endswith(ending)]
        return bool(endings) and name.removesuffix(endings[0]) + self.holds[0] in present


@contextmanager
def fresh_folder(out: Path, parts: Sequence[OutputPart]) -> Iterator[Path]:
    """Yield an empty folder; after the block its entries replace `parts` in `out`.

    Parameters
    ----------
    out : pathlib.Path
        Destination of the entries; created with its parents if needed.
    parts : sequence of OutputPart
        The entries to replace; those without a new version are removed.

    Yields
    ------
    pathlib.Path
        The folder to fill.

    Raises
    ------
    OutputError
        A file of another program would be replaced, or a file cannot be written. `out` is then
        unchanged.
    """
    try:
        place = Path(os.path.realpath(out))  # a link may point to another filesystem
        refuse_what_is_in_the_way(place, parts)
        nearest = next(p for p in (place, *place.parents) if p.exists())
        scratch = Path(tempfile.mkdtemp(prefix=".analysis-", dir=nearest))
        try:
            fresh = scratch / "fresh"
            fresh.mkdir()
            yield fresh
            _swap(place, fresh, scratch / "aside", parts)
        finally:
            _clear(scratch)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"{out}: cannot be written ({reason}). Give another folder.") from error


def refuse_what_is_in_the_way(out: Path, parts: Sequence[OutputPart]) -> None:
    """Refuse to replace files that no report has written."""
    faults = [fault for part in parts for fault in _in_the_way(out / part.name, part)]
    if faults:
        raise OutputError(
            "\n".join(f"{fault} Move it, or give another folder." for fault in faults)
        )


def _in_the_way(place: Path, part: OutputPart) -> list[str]:
    if not os.path.lexists(place):
        return []
    if place.is_symlink():
        return [f"{place}: is a link, which would be replaced."]
    if part.is_file:
        return [] if place.is_file() else [f"{place}: is not a file."]
    if not place.is_dir():
        return [f"{place}: is not a folder."]
    entries = [entry for entry in place.iterdir() if not entry.name.startswith(".")]
    folders = [entry.name for entry in entries if entry.is_dir()]
    strange = sorted([*folders, *part.strange(e.name for e in entries if not e.is_dir())])
    return [f"{place}: contains {strange[0]!r}, which no report wrote."] if strange else []


def _swap(out: Path, fresh: Path, aside: Path, parts: Sequence[OutputPart]) -> None:
    if not out.exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        fresh.rename(out)
        return
    aside.mkdir()
    with ExitStack() as undo:
        for part in parts:
            if (out / part.name).exists():
                _move(out / part.name, aside / part.name, undo)
        for entry in sorted(fresh.iterdir()):
            _move(entry, out / entry.name, undo)
        undo.pop_all()
    shutil.rmtree(aside, ignore_errors=True)


def _move(source: Path, target: Path, undo: ExitStack) -> None:
    source.rename(target)
    undo.callback(target.rename, source)


def _clear(scratch: Path) -> None:
    """Remove the scratch folder, except files that could not be moved back."""
    shutil.rmtree(scratch / "fresh", ignore_errors=True)
    for folder in (scratch / "aside", scratch):
        with suppress(OSError):
            folder.rmdir()


TABLES = OutputPart(name="tables", holds=(".csv", ".jsonl"))
REPORT = (
    OutputPart(name="figures", holds=(".plotly.json", ".svg", ".png")),
    OutputPart(name="paper", names=PAPER_FILES),
    OutputPart(name="report.html"),
    OutputPart(name="report.pdf"),
    OutputPart(name="results.json"),
)
# First bytes of a report's results.json: a folder with such a file has a report to replace.
MARK = '{\n"provenance": '


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
    place = Path(out)
    with fresh_folder(place, (TABLES, *(REPORT if _holds_report(place) else ()))) as folder:
        results = analyse(bundle, options, in_parallel=True)
        _tables(results, folder)
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
    with spoken(language), _report_folder(Path(out)) as folder:
        with spoken(ENGLISH):
            results = analyse(bundle, options, in_parallel=True)
        _report(results, folder)
    return results


def write_results(results: Results, out: str | PathLike[str], *, language: str = ENGLISH) -> None:
    """Write the report of existing results, as `write_report` does.

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
    with spoken(language), _report_folder(Path(out)) as folder:
        _report(results, folder)


@contextmanager
def _report_folder(out: Path) -> Iterator[Path]:
    """Refuse to replace files of other programs before anything is computed."""
    with fresh_folder(out, (TABLES, *REPORT)) as folder:
        _refuse_another_report(out)
        yield folder


def _holds_report(out: Path) -> bool:
    try:
        with (out / "results.json").open(encoding="utf-8", errors="replace") as file:
            return file.read(len(MARK)) == MARK
    except OSError:
        return False


def _refuse_another_report(out: Path) -> None:
    """Refuse to replace a report.html or paper that an earlier report may not have written."""
    strange = [part.name for part in REPORT if part.alone and (out / part.name).exists()]
    if strange and not _holds_report(out):
        raise OutputError(
            f"{out / strange[0]}: was not written by an earlier report. Move it, or give another"
            " folder."
        )


def _report(results: Results, folder: Path) -> None:
    (folder / "figures").mkdir()
    figures = report_figures(results)
    first, second = figures[::2], figures[1::2]
    with alongside(lambda: _tables_and_figures(results, second, folder)) as drawn:
        content = report_content(results, figures)
        _draw(first, folder)
    for figure, svg in zip(second, drawn.result(), strict=True):
        figure.keep(svg)
    with alongside(lambda: _page_and_paper(results, content, figures, folder)):
        (folder / "report.pdf").write_bytes(report_pdf(content))
        _pictures(first, folder)


def _tables_and_figures(
    results: Results, figures: Sequence[ReportFigure], folder: Path
) -> list[bytes]:
    _tables(results, folder)
    with spoken(ENGLISH), (folder / "results.json").open("w", encoding="utf-8", newline="") as file:
        file.writelines(_json(results))
    _draw(figures, folder)
    _pictures(figures, folder)
    return [figure.svg for figure in figures]


def _draw(figures: Sequence[ReportFigure], folder: Path) -> None:
    for figure in figures:
        (folder / "figures" / f"{figure.name}.svg").write_bytes(figure.svg)


def _page_and_paper(
    results: Results, content: ReportContent, figures: Sequence[ReportFigure], folder: Path
) -> None:
    _write_text(folder / "report.html", report_page(content))
    for figure in figures:
        text = json.dumps(json.loads(figure.json), ensure_ascii=False, sort_keys=True)
        _write_text(folder / "figures" / f"{figure.name}.plotly.json", text + "\n")
    _paper(results, content, folder / "paper")


def _pictures(figures: Sequence[ReportFigure], folder: Path) -> None:
    for figure in figures:
        (folder / "figures" / f"{figure.name}.png").write_bytes(figure.png)


def _paper(results: Results, content: ReportContent, folder: Path) -> None:
    folder.mkdir()
    with spoken(ENGLISH):
        for name, file in paper_files(results, _in_english(results, content)).items():
            (folder / name).write_bytes(file)


def _in_english(results: Results, content: ReportContent) -> ReportContent:
    """Return the content for a paper, whose tables are in English."""
    return content if content.language == ENGLISH else replace(content, tables=overviews(results))


def _tables(results: Results, folder: Path) -> None:
    (folder / "tables").mkdir()
    for name, table in results.tables.items():
        # newline="" writes \n on every system, so that two runs give the same bytes.
        with (folder / "tables" / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            # The csv module quotes cells with a single \r only if its line ending contains \r.
            # Rows are written one by one: the pairs of 200 raters are 600 MB of text.
            guarded_table(table).to_csv(_Lines(file), index=False, lineterminator="\r\n")
    lines = "".join(f"{line}\n" for line in disagreement_lines(results))
    _write_text(folder / "tables" / "model_disagreements.jsonl", lines)


class _Lines(io.TextIOBase):
    """File wrapper that ends rows with a newline instead of the writer's line ending."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, row: str) -> int:
        return self._file.write(row.removesuffix("\r\n") + "\n")


def _json(results: Results) -> Iterator[str]:
    """Yield the text by column, because the pairs of 200 raters are half a million rows."""
    yield MARK + _dump(provenance(results))
    yield ',\n"sources": ' + _dump([source._asdict() for source in (*SOURCES, *CHECKLIST_SOURCES)])
    yield ',\n"tables": {'
    for i, (name, table) in enumerate(results.tables.items()):
        yield ("," if i else "") + f"\n{_dump(name)}: {{"
        for j, column in enumerate(table.columns):
            yield ("," if j else "") + f"\n{_dump(column)}: {_dump(_plain(table[column]))}"
        yield "}"
    yield "}\n}\n"


def _dump(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, allow_nan=False)


def _plain(column: pd.Series[Any]) -> list[Any]:
    """Return the cells as JSON values: null for an empty cell, text for an infinite number."""
    cells = column.astype(object).where(column.notna(), None).tolist()
    return [str(c) if isinstance(c, float) and math.isinf(c) else c for c in cells]


def _write_text(path: Path, text: str) -> None:
    # newline="" writes \n on every system, so that two runs give the same bytes.
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
