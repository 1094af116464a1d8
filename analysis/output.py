"""Writing the results: all of it, or nothing."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.bundle.model import Bundle
from analysis.errors import OutputError
from analysis.options import Options
from analysis.provenance import provenance
from analysis.report.figures import report_figures
from analysis.report.page import report_page
from analysis.results import Results, analyse
from analysis.sources import SOURCES


def write_tables(
    bundle: Bundle, out: str | PathLike[str], options: Options | None = None
) -> Results:
    """Write the tables as CSV.

    Parameters
    ----------
    bundle : Bundle
        The checked tables.
    out : str or path
        Folder to write to; made if need be. Its `tables` is replaced.
    options : Options, optional
        Seed, number of resamples, alpha and margin.

    Returns
    -------
    Results
        What was written.

    Raises
    ------
    OutputError
        When it cannot be written; then nothing is.
    """
    results = analyse(bundle, options)
    _write(Path(out), lambda folder: _tables(results, folder))
    return results


def write_report(
    bundle: Bundle, out: str | PathLike[str], options: Options | None = None
) -> Results:
    """Write `report.html`, `results.json`, the figures and the tables.

    Parameters
    ----------
    bundle : Bundle
        The checked tables.
    out : str or path
        Folder to write to; made if need be. What an earlier report left there is replaced.
    options : Options, optional
        Seed, number of resamples, alpha and margin.

    Returns
    -------
    Results
        What was written.

    Raises
    ------
    OutputError
        When it cannot be written; then nothing is.
    """
    results = analyse(bundle, options)
    _write(Path(out), lambda folder: _report(results, folder))
    return results


def _report(results: Results, folder: Path) -> None:
    _tables(results, folder)
    figures = report_figures(results)
    (folder / "figures").mkdir()
    for figure in figures:
        text = json.dumps(json.loads(figure.figure.to_json()), ensure_ascii=False, sort_keys=True)
        (folder / "figures" / f"{figure.name}.plotly.json").write_text(text + "\n", "utf-8")
    _write_text(folder / "report.html", report_page(results, figures))
    with (folder / "results.json").open("w", encoding="utf-8", newline="") as file:
        file.writelines(_json(results))


def _tables(results: Results, folder: Path) -> None:
    (folder / "tables").mkdir()
    for name, table in results.tables.items():
        text = table.to_csv(index=False, lineterminator="\n")
        _write_text(folder / "tables" / f"{name}.csv", text)


def _json(results: Results) -> Iterator[str]:
    """Yield the text column by column: the pairs of 200 raters are half a million rows."""
    yield '{\n"provenance": ' + _dump(provenance(results))
    yield ',\n"sources": ' + _dump([asdict(source) for source in SOURCES])
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
    return column.astype(object).where(column.notna(), None).tolist()


def _write_text(path: Path, text: str) -> None:
    # newline="" keeps \n on every system, so that two runs compare as bytes.
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(text)


def _write(out: Path, fill: Callable[[Path], None]) -> None:
    """Fill a folder beside `out`, then move its entries into place."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as beside:
            fresh = Path(beside, "fresh")
            fresh.mkdir()
            fill(fresh)
            out.mkdir(exist_ok=True)
            for entry in sorted(fresh.iterdir()):
                _replace(out / entry.name, entry, Path(beside))
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"{out}: cannot be written ({reason}). Give another folder.") from error


def _replace(place: Path, entry: Path, beside: Path) -> None:
    if place.is_dir():
        old = beside / f"old-{entry.name}"
        shutil.move(place, old)
    entry.replace(place)
