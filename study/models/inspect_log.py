"""Reads the samples of an Inspect log, an `.eval` archive or JSON, within the upload limits."""

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

_LOG_START = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"')
_ZSTANDARD = 93
_NOT_A_LOG = "{} is not a valid Inspect log: {}; write it again with inspect log convert"


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectLog:
    """The samples of a log, each normally an object, and the status of its run."""

    samples: tuple[object, ...]
    status: str


def starts_like_log(content: bytes) -> bool:
    """Return whether a JSON file that begins with these bytes is an Inspect log."""
    return _LOG_START.match(content) is not None


def read_json_log(path: Path) -> InspectLog:
    """Read a log written as JSON.

    Raises
    ------
    BadFile
        The file is not JSON or not an Inspect log, has no samples, or exceeds the limits.
    """
    log = _parse_object(path, "the file", path.read_bytes())
    samples = log.get("samples")
    if samples is not None and not isinstance(samples, list):
        raise BadFile(_NOT_A_LOG.format(path, "`samples` is not a list"))
    return _collect_log(path, iter(samples or []), log.get("status"))


def read_packed_log(path: Path) -> InspectLog:
    """Read a log from an `.eval` archive.

    Raises
    ------
    BadFile
        As for `read_json_log`, or the archive or its compression is not supported.
    """
    with open_archive(path) as (archive, entries):
        entry_by_name = {entry.filename: entry for entry in entries}
        names = sorted(
            (
                name
                for name in entry_by_name
                if name.startswith("samples/") and name.endswith(".json")
            ),
            key=natural_key,
        )
        _check_archive(path, entry_by_name, names)
        header: dict[str, object] = {}
        if "header.json" in entry_by_name:
            header = _read_entry(path, archive, entry_by_name["header.json"])
        samples = (_read_entry(path, archive, entry_by_name[name]) for name in names)
        return _collect_log(path, samples, header.get("status", "started"))


def _check_archive(path: Path, entry_by_name: Mapping[str, ZipInfo], names: list[str]) -> None:
    if not names and not {"header.json", "_journal/start.json"} & entry_by_name.keys():
        raise BadFile(
            f"{path} is an archive, but neither an XLSX workbook nor an Inspect log; unpack it,"
            " and use the file it contains"
        )
    if any(entry_by_name[name].compress_type == _ZSTANDARD for name in names):
        raise BadFile(
            f"{path} is packed with Zstandard, which is not supported. Write it as JSON first: "
            f"inspect log convert {path.name} --to json --output-dir json"
        )


def _read_entry(path: Path, archive: ZipFile, entry: ZipInfo) -> dict[str, object]:
    try:
        content = entry_content(archive, entry)
    except NotImplementedError as error:
        raise BadFile(
            f"{path} is compressed by an unsupported method; write it again as JSON"
        ) from error
    return _parse_object(path, entry.filename, content)


def _parse_object(path: Path, part: str, content: bytes) -> dict[str, object]:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadFile(NOT_JSON.format(path, why_not_json(error))) from error
    if not isinstance(value, dict):
        raise BadFile(_NOT_A_LOG.format(path, f"{part} contains no object"))
    return value


def _collect_log(path: Path, samples: Iterator[object], status: object) -> InspectLog:
    kept: list[object] = []
    for n, sample in enumerate(samples, 1):
        BUDGET.check_rows(path, n)
        if isinstance(sample, dict):
            sample = {key: sample[key] for key in COLUMNS if key in sample}
        BUDGET.check_depth(path, sample)
        kept.append(sample)
    if not kept:
        raise BadFile(
            f"{path} is an Inspect log without samples; run the evaluation with log_samples"
        )
    return InspectLog(samples=tuple(kept), status=status if isinstance(status, str) else "")
