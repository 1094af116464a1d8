"""Reads the samples of an Inspect log, packed as `.eval` or as JSON, within the limits."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile, ZipInfo

from study.base.budget import BUDGET
from study.base.errors import BadFile
from study.base.packed import entry_content, open_archive
from study.base.text import natural_key
from study.tables.source import NOT_JSON, why_not_json

COLUMNS = ("id", "epoch", "metadata", "output", "error", "limit")
"""The fields of a sample that are read."""

_BEGINS = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"')
_ZSTANDARD = 93
_ODD = "{} is not a valid log of Inspect: {}; write it again with inspect log convert"


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectLog:
    """The samples of a log, normally objects, and the status of its run."""

    samples: tuple[object, ...]
    status: str


def begins_as_log(content: bytes) -> bool:
    """Return whether a JSON file that begins with these bytes is a log of Inspect."""
    return _BEGINS.match(content) is not None


def read_json_log(path: Path) -> InspectLog:
    """Read a log written as JSON.

    Raises
    ------
    BadFile
        It is not JSON, has no samples, has another form, or exceeds the limits.
    """
    log = _object(path, "the file", path.read_bytes())
    samples = log.get("samples")
    if samples is not None and not isinstance(samples, list):
        raise BadFile(_ODD.format(path, "`samples` is not a list"))
    return _log(path, iter(samples or []), log.get("status"))


def read_packed_log(path: Path) -> InspectLog:
    """Read a packed log.

    Raises
    ------
    BadFile
        As for `read_json_log`; or the archive or its compression is not supported.
    """
    with open_archive(path) as (archive, entries):
        inside = {entry.filename: entry for entry in entries}
        names = sorted(
            (name for name in inside if name.startswith("samples/") and name.endswith(".json")),
            key=natural_key,
        )
        _check_kind(path, inside, names)
        header: dict[str, object] = {}
        if "header.json" in inside:
            header = _entry(path, archive, inside["header.json"])
        samples = (_entry(path, archive, inside[name]) for name in names)
        return _log(path, samples, header.get("status", "started"))


def _check_kind(path: Path, inside: Mapping[str, ZipInfo], names: list[str]) -> None:
    if not names and not {"header.json", "_journal/start.json"} & inside.keys():
        raise BadFile(
            f"{path} is an archive, and neither an XLSX workbook nor a log of Inspect; unpack it,"
            " and give the file in it"
        )
    if any(inside[name].compress_type == _ZSTANDARD for name in names):
        raise BadFile(
            f"{path} is packed with Zstandard, which is not supported. Write it as JSON first: "
            f"inspect log convert {path.name} --to json --output-dir json"
        )


def _entry(path: Path, archive: ZipFile, entry: ZipInfo) -> dict[str, object]:
    try:
        content = entry_content(archive, entry)
    except NotImplementedError as error:
        raise BadFile(
            f"{path} is compressed by an unsupported method; write it again as JSON"
        ) from error
    return _object(path, entry.filename, content)


def _object(path: Path, noun: str, content: bytes) -> dict[str, object]:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadFile(NOT_JSON.format(path, why_not_json(error))) from error
    if not isinstance(value, dict):
        raise BadFile(_ODD.format(path, f"{noun} contains no object"))
    return value


def _log(path: Path, samples: Iterator[object], status: object) -> InspectLog:
    kept: list[object] = []
    for n, sample in enumerate(samples, 1):
        BUDGET.check_rows(path, n)
        if isinstance(sample, dict):
            sample = {key: sample[key] for key in COLUMNS if key in sample}
        BUDGET.check_depth(path, sample)
        kept.append(sample)
    if not kept:
        raise BadFile(f"{path} is a log of Inspect without samples; run it with log_samples")
    return InspectLog(samples=tuple(kept), status=status if isinstance(status, str) else "")
