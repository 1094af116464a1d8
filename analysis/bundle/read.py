"""Read and check a bundle from a folder, a .zip or data frames."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.bundle.cells import unescape_cell, unescape_former_cell, unescape_table
from analysis.bundle.items import check_items
from analysis.bundle.model import ITEM_COLUMNS, RATER_COLUMNS, RULE_SETS, Bundle
from analysis.bundle.open_answers import (
    ANSWERS_FILE,
    SCORES_FILE,
    check_open_answers,
    check_open_scores,
)
from analysis.bundle.parse import parse_csv
from analysis.bundle.primary import split_primary
from analysis.bundle.protocol import protocol_value
from analysis.bundle.raters import check_raters, mark_simulated, raters_of
from analysis.bundle.readings import check_readings
from analysis.bundle.rules import FILE as BY_RULES
from analysis.bundle.rules import join_rules
from analysis.bundle.source import read_files
from analysis.errors import BundleError, Fault, quoted
from analysis.options import CONFIDENCE_MEANINGS

# Keys under `reading_room` in datapackage.json that state the escaping of `analysis.bundle.cells`,
# of earlier versions and of this one.
FORMER_ESCAPED_KEY, ESCAPED_KEY = "cells_guarded", "cells_escaped"
REQUIRED_COLUMNS = {
    "items.csv": ("item_id",),
    "raters.csv": ("rater_id", "rater_kind"),
    "readings.csv": ("rater_id", "item_id", "answer"),
    BY_RULES: ("rater_id", "item_id", *RULE_SETS),
    ANSWERS_FILE: ("answer_id", "kind", "rater_id", "item_id", "words"),
    SCORES_FILE: ("answer_id", "scorer", "turn", "score"),
}
_EMPTY_TABLE = pd.DataFrame({"row": []})


def read_bundle(path: str | PathLike[str]) -> Bundle:
    r"""Read and check a bundle.

    Parameters
    ----------
    path : str or path
        A bundle's folder or .zip, or any folder with `items.csv` and `readings.csv`. Without
        `raters.csv` every rater is a reader.

    Returns
    -------
    Bundle
        The checked tables, the protocol if there is one, and the files' hashes.

    Raises
    ------
    BundleError
        The input cannot be used; the error lists all faults.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "items.csv").write_text("item_id,truth\nq1,A\n")
    ...     _ = Path(folder, "readings.csv").write_text("rater_id,item_id,answer\nR1,q1,b\n")
    ...     bundle = read_bundle(folder)
    >>> bundle.readings["answer"].tolist(), bundle.raters["rater_kind"].tolist()
    (['B'], ['reader'])
    """
    folder = Path(path)
    files = read_files(folder)
    metadata = _read_metadata(files.get("datapackage.json"))
    tables, faults = _parse_tables(folder, files, _cell_reader(metadata))
    protocol, protocol_faults = _read_protocol(files.get("protocol.json"))
    faults += protocol_faults
    if faults:
        raise BundleError(faults)
    sha256 = {name: hashlib.sha256(files[name]).hexdigest() for name in sorted(files)}
    means = _confidence_means(protocol, metadata)
    return replace(_check_tables(tables, protocol, sha256, metadata), confidence_means=means)


def bundle_from_tables(
    items: pd.DataFrame,
    readings: pd.DataFrame,
    raters: pd.DataFrame | None = None,
    *,
    open_answers: pd.DataFrame | None = None,
    open_scores: pd.DataFrame | None = None,
) -> Bundle:
    """Check data frames by the same rules as the files of a folder.

    Parameters
    ----------
    items, readings : pandas.DataFrame
        Tables with the columns of `items.csv` and `readings.csv`; missing values count as empty.
    raters : pandas.DataFrame, optional
        A table with the columns of `raters.csv`; without it every rater is a reader.
    open_answers, open_scores : pandas.DataFrame, optional
        Tables with the columns of `open_answers.csv` and `open_scores.csv`.

    Returns
    -------
    Bundle
        The checked tables.

    Raises
    ------
    BundleError
        The tables cannot be used; the error lists all faults.

    Examples
    --------
    >>> bundle = bundle_from_tables(
    ...     pd.DataFrame({"item_id": ["q1"], "n_options": [4]}),
    ...     pd.DataFrame({"rater_id": ["R1"], "item_id": ["q1"], "answer": ["C"]}),
    ... )
    >>> bundle.items["n_options"].tolist(), bundle.readings["status"].tolist()
    ([4], ['answered'])
    """
    optional = {"raters.csv": raters, ANSWERS_FILE: open_answers, SCORES_FILE: open_scores}
    present = {"items.csv": items, "readings.csv": readings}
    present |= {name: table for name, table in optional.items() if table is not None}
    faults = [
        Fault(file=name, row=1, what=f"lacks the column {column}", remedy="Add it")
        for name, table in present.items()
        for column in REQUIRED_COLUMNS[name]
        if column not in _column_names(table)
    ]
    faults += [
        Fault(
            file=name,
            row=1,
            what=f"column {quoted(column)} occurs twice",
            remedy="Keep one of them",
        )
        for name, table in present.items()
        for column in sorted(_column_names(table)[_column_names(table).duplicated()].unique())
    ]
    if faults:
        raise BundleError(faults)
    return _check_tables({name: _as_text(table) for name, table in present.items()}, {}, {}, {})


def _read_metadata(content: bytes | None) -> dict[str, Any]:
    """Return the entry `reading_room` of `datapackage.json`; empty if there is none."""
    try:
        package = json.loads((content or b"").decode("utf-8-sig"))
        metadata = package["reading_room"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return {}
    return metadata if isinstance(metadata, dict) else {}


def _cell_reader(metadata: Mapping[str, Any]) -> Callable[[str], str]:
    if metadata.get(ESCAPED_KEY) is True:
        return unescape_cell
    return unescape_former_cell if metadata.get(FORMER_ESCAPED_KEY) is True else str


def _parse_tables(
    folder: Path, files: Mapping[str, bytes], read_cell: Callable[[str], str]
) -> tuple[dict[str, pd.DataFrame], list[Fault]]:
    faults = [
        Fault(
            file=str(folder),
            row=None,
            what=f"contains no {name}",
            remedy="Give the folder to which the study was exported",
        )
        for name in ("items.csv", "readings.csv")
        if name not in files
    ]
    tables: dict[str, pd.DataFrame] = {}
    for name, required in REQUIRED_COLUMNS.items():
        if name in files:
            tables[name], table_faults = parse_csv(name, files[name], required)
            faults += table_faults
            tables[name] = unescape_table(tables[name], read_cell)
    return tables, faults


def _read_protocol(content: bytes | None) -> tuple[dict[str, Any], list[Fault]]:
    if content is None:
        return {}, []
    remedy = "Export the study again, or remove the file"
    try:
        protocol = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        fault = "is not JSON"
        return {}, [Fault(file="protocol.json", row=None, what=fault, remedy=remedy)]
    if not isinstance(protocol, dict):
        fault = "is not a JSON object"
        return {}, [Fault(file="protocol.json", row=None, what=fault, remedy=remedy)]
    return protocol, []


def _confidence_means(protocol: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    """Return the meaning of confidence that the input states.

    Reading Room asks how sure the reader is of the answer; its first bundles did not state this.
    """
    meaning = protocol_value(protocol, "confidence_means") or metadata.get("confidence_means")
    if meaning in CONFIDENCE_MEANINGS:
        return str(meaning)
    return "answer" if "locked" in protocol else ""


def _check_tables(
    tables: Mapping[str, pd.DataFrame],
    protocol: Mapping[str, Any],
    sha256: Mapping[str, str],
    metadata: Mapping[str, Any],
) -> Bundle:
    items, faults = check_items(tables["items.csv"])
    raters = None
    if "raters.csv" in tables:
        raters, more_faults = check_raters(tables["raters.csv"])
        faults += more_faults
    readings, more_faults = check_readings(tables["readings.csv"], items, raters)
    faults += more_faults
    if BY_RULES in tables and not faults:
        readings, faults = join_rules(tables[BY_RULES], readings)
    if faults:
        raise BundleError(faults)
    everyone = raters_of(readings) if raters is None else raters
    open_answers, open_scores = _check_open_tables(tables, items, everyone)
    primary, secondary = split_primary(readings, everyone)
    return Bundle(
        items=items,
        raters=mark_simulated(everyone, readings),
        readings=primary,
        aside=secondary,
        open_answers=open_answers,
        open_scores=open_scores,
        protocol=protocol,
        sha256=sha256,
        about=metadata,
    )


def _check_open_tables(
    tables: Mapping[str, pd.DataFrame], items: pd.DataFrame, raters: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the checked free-text answers and their scores; empty if there are none."""
    if SCORES_FILE in tables and ANSWERS_FILE not in tables:
        fault, remedy = (
            f"needs {ANSWERS_FILE}, which is missing",
            "Add that file or remove this one",
        )
        raise BundleError([Fault(file=SCORES_FILE, row=None, what=fault, remedy=remedy)])
    if ANSWERS_FILE not in tables:
        return _no_open_answers()
    answers, faults = check_open_answers(tables[ANSWERS_FILE], items, raters)
    if not faults:
        scores, faults = check_open_scores(tables.get(SCORES_FILE, _EMPTY_TABLE), answers)
    if faults:
        raise BundleError(faults)
    return answers, scores


@cache
def _no_open_answers() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return empty tables of free-text answers and scores, for the many bundles without them."""
    items, raters = (
        pd.DataFrame("", index=[0], columns=[*columns], dtype=str)
        for columns in (ITEM_COLUMNS, RATER_COLUMNS)
    )
    answers, _ = check_open_answers(_EMPTY_TABLE, items, raters)
    return answers, check_open_scores(_EMPTY_TABLE, answers)[0]


def _as_text(table: pd.DataFrame) -> pd.DataFrame:
    cells: dict[str, Any] = {
        name: np.array(
            ["" if empty else str(cell) for cell, empty in zip(column, column.isna(), strict=True)],
            dtype=object,
        )
        for name, (_, column) in zip(_column_names(table), table.items(), strict=True)
    }
    cells["row"] = range(2, len(table) + 2)
    return pd.DataFrame(cells).set_axis(pd.Index([*cells], dtype=object), axis=1)


def _column_names(table: pd.DataFrame) -> pd.Index[str]:
    return pd.Index([str(column).strip() for column in table.columns], dtype=object)
