"""Reads a bundle from another deployment, and checks that it is consistent.

Every file must have the hash stated in ``datapackage.json``, every chain of events must be
unbroken, and the protocol must match its hash. After the rows have been stored, they are checked
against the chain.
"""

import csv
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from study.base.budget import BUDGET
from study.base.canonical import sha256_of
from study.base.errors import BadFile
from study.base.packed import entry_content, open_archive
from study.base.provenance import Provenance
from study.base.system import system_reason
from study.base.text import FORMER_GUARDED_CELLS, GUARDED_CELLS, PLAIN_CELLS, CellRules, quoted
from study.base.translation import tn
from study.exchange.bundle import (
    CELLS_ESCAPED,
    CELLS_GUARDED,
    RECORDS,
    RECORDS_FORMAT,
    SETS_BY_LOOK,
    STUDY_RECORD,
    StudyFacts,
    audit_file,
)
from study.store import Store, Transaction, archive, events
from study.store.events import EventKind, EventRow
from study.trail.verification import check_chain

PACKAGE = "datapackage.json"
REQUIRED_FILES = ("protocol.json", "items.csv", "raters.csv", "readings.csv", "audit.jsonl")
_MAX_SMALL_FILE = _MAX_PACKAGE = 10_000_000

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_DEPLOYMENT = re.compile(r"[0-9a-f]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleRecords:
    """The rows of ``records.jsonl``: the facts about the study, and all other rows by kind."""

    study: StudyFacts
    rows: Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedBundle:
    """A consistent bundle.

    Parameters
    ----------
    sha256
        Hash of ``datapackage.json``, which contains the hashes of all other files.
    chain
        The chain of the study.
    sites
        The chains of merged sites, by the ID of the deployment.
    """

    name: str
    sha256: str
    files: Mapping[str, bytes]
    locked: Mapping[str, Any]
    protocol_sha256: str
    blinded: bool
    rules: CellRules
    sets_by_look: bool
    items_salt: str
    provenance: Provenance
    items: Sequence[Mapping[str, str]]
    carried: BundleRecords
    chain: Sequence[EventRow]
    sites: Mapping[str, Sequence[EventRow]] = field(default_factory=dict)

    @property
    def study(self) -> str:
        """Return the study's name."""
        return str(self.carried.study.study)

    @property
    def deployment_id(self) -> str:
        """Return the deployment in which the study was read."""
        return str(self.carried.study.deployment_id)


def receive(store: Store, path: Path) -> ReceivedBundle:
    """Read and check a bundle in a folder or a ZIP file.

    Raises
    ------
    BadFile
        The file is not a bundle of Reading Room, or is inconsistent; all faults are listed.
    """
    try:
        files = _read_folder(path) if path.is_dir() else _read_zip(path)
    except BadFile as error:
        reason = str(error).rstrip(".")
        raise BadFile(f"{path.name} cannot be read as a bundle: {reason}.") from error
    except (OSError, ValueError) as error:
        reason = system_reason(error) if isinstance(error, OSError) else "it is damaged"
        raise BadFile(f"{path.name} cannot be read as a bundle: {reason}.") from error
    package, faults = _read_package(files)
    refuse(path.name, faults)
    if (package.get("reading_room") or {}).get("texts") is False:
        raise BadFile(
            f"{path.name} was exported without texts: it can be analysed, but not restored or "
            "merged. Export it again with them."
        )
    if RECORDS not in files:
        raise BadFile(
            f"{path.name} has no {RECORDS}: it was not exported by this version of Reading Room. "
            "Such a bundle can be analysed, but not restored or merged."
        )
    with store.look() as look:
        carried = _parse_records(look, path.name, files[RECORDS])
    facts = package.get("reading_room") or {}
    rules = _cell_rules(facts)
    protocol, chain, sites = _parse_parts(path.name, files, carried, facts)
    return ReceivedBundle(
        name=path.name,
        sha256=hashlib.sha256(files[PACKAGE]).hexdigest(),
        files=files,
        locked=protocol["locked"],
        protocol_sha256=protocol["sha256"],
        blinded=bool(facts.get("blinded")),
        rules=rules,
        sets_by_look=bool(facts.get(SETS_BY_LOOK)),
        items_salt=str(facts.get("items_salt", "")),
        provenance=_provenance(facts.get("bank")),
        items=_read_table(files["items.csv"], rules),
        carried=carried,
        chain=chain,
        sites=sites,
    )


def _provenance(value: Any) -> Provenance:
    texts = value if isinstance(value, dict) else {}
    return Provenance(**{name: str(texts.get(name, "")) for name in asdict(Provenance())})


def _cell_rules(facts: Mapping[str, Any]) -> CellRules:
    if facts.get(CELLS_ESCAPED):
        return GUARDED_CELLS
    return FORMER_GUARDED_CELLS if facts.get(CELLS_GUARDED) else PLAIN_CELLS


def _read_table(content: bytes, rules: CellRules) -> list[dict[str, str]]:
    rows = csv.DictReader(io.StringIO(content.decode(), newline=""))
    return [
        {key: rules.read(cell) if isinstance(cell, str) else cell for key, cell in row.items()}
        for row in rows
    ]


def _read_folder(path: Path) -> dict[str, bytes]:
    paths = [child for child in path.iterdir() if child.is_file() and _NAME.fullmatch(child.name)]
    BUDGET.check_unpacked(path.name, sum(child.stat().st_size for child in paths))
    return _read_contents({child.name: (child.stat().st_size, child.read_bytes) for child in paths})


def _read_zip(path: Path) -> dict[str, bytes]:
    with path.open("rb") as file, open_archive(file) as (archive, entries):
        by_path = {PurePosixPath(entry.filename): entry for entry in entries if not entry.is_dir()}
        tops = {place.parent for place in by_path if place.name == PACKAGE}
        if len(tops) > 1:
            raise ValueError("it contains more than one bundle")
        return _read_contents(
            {
                place.name: (entry.file_size, partial(entry_content, archive, entry))
                for place, entry in by_path.items()
                if place.parent in tops and _NAME.fullmatch(place.name)
            }
        )


def _read_contents(sources: Mapping[str, tuple[int, Callable[[], bytes]]]) -> dict[str, bytes]:
    """Return the contents of files from their sizes and functions that read them.

    Large files that ``datapackage.json`` does not list with the same size will be refused, so they
    are not read: their content is empty.
    """
    n_bytes, package = sources.get(PACKAGE, (0, bytes))
    if n_bytes > _MAX_PACKAGE:
        raise ValueError(f"its {PACKAGE} is too large")
    contents = {PACKAGE: package()} if PACKAGE in sources else {}
    try:
        sizes = {
            resource["path"]: resource["bytes"]
            for resource in json.loads(contents.get(PACKAGE, b""))["resources"]
        }
    except (ValueError, KeyError, TypeError, RecursionError):
        sizes = {}
    for name, (size, read) in sources.items():
        if name != PACKAGE:
            contents[name] = read() if size <= _MAX_SMALL_FILE or sizes.get(name) == size else b""
    return contents


def _read_package(files: Mapping[str, bytes]) -> tuple[dict[str, Any], list[str]]:
    """Return ``datapackage.json``, and a fault for each missing, altered or unlisted file."""
    if PACKAGE not in files:
        return {}, [f"{PACKAGE} is missing: this is not a bundle."]
    try:
        package = json.loads(files[PACKAGE])
        hashes = {str(resource["path"]): str(resource["hash"]) for resource in package["resources"]}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}, [f"{PACKAGE} cannot be read."]
    faults = [f"{name} is missing." for name in sorted({*REQUIRED_FILES, *hashes} - set(files))]
    for name, content in sorted(files.items()):
        if name in hashes and hashes[name] != f"sha256:{hashlib.sha256(content).hexdigest()}":
            faults.append(f"{name} was altered: its hash is not the one in {PACKAGE}.")
        elif name not in hashes and name != PACKAGE:
            faults.append(f"{name} is not listed in {PACKAGE}.")
    return package, faults


def _parse_parts(
    name: str, files: Mapping[str, bytes], carried: BundleRecords, facts: Mapping[str, Any]
) -> tuple[dict[str, Any], list[EventRow], dict[str, list[EventRow]]]:
    faults: list[str] = []

    def part(part_name: str, read: Callable[[bytes], Any]) -> Any:
        try:
            return read(files[part_name])
        except (ValueError, KeyError, TypeError, RecursionError, csv.Error):
            faults.append(f"{part_name} cannot be read.")
            return None

    protocol = part("protocol.json", _parse_protocol)
    part("items.csv", lambda content: _read_table(content, PLAIN_CELLS))
    chains: dict[str, list[EventRow]] = {
        file_name: part(file_name, _parse_chain)
        for file_name in files
        if file_name == "audit.jsonl" or re.fullmatch(r"audit-[0-9a-f]{1,64}\.jsonl", file_name)
    }
    refuse(name, faults)
    for file_name, lines in chains.items():
        broken = check_chain(lines)
        faults += [f"{file_name}: {broken}."] if broken else []
    own_chain = chains.pop("audit.jsonl")
    faults += _contradictions(carried.study, protocol, own_chain, facts)
    merges = [event.detail for event in own_chain if event.kind == EventKind.SITE_MERGED]
    by_file = {audit_file(event["deployment_id"]): event["deployment_id"] for event in merges}
    if set(by_file) != set(chains):
        faults.append("the chains of the merged sites are not those listed in audit.jsonl.")
    refuse(name, faults)
    return protocol, own_chain, {by_file[file_name]: lines for file_name, lines in chains.items()}


def _parse_protocol(content: bytes) -> dict[str, Any]:
    protocol = json.loads(content)
    if not isinstance(protocol["locked"]["cases"], list):
        raise TypeError
    return {"sha256": str(protocol["sha256"]), "locked": protocol["locked"]}


def _parse_chain(content: bytes) -> list[EventRow]:
    lines = [EventRow(**json.loads(line)) for line in content.decode().split("\n")[:-1]]
    for line in lines:
        texts = set(line._asdict()) - {"number", "detail"}
        if not isinstance(line.detail, dict):
            raise ValueError
        if not all(isinstance(getattr(line, key), str) for key in texts):
            raise ValueError
    if not lines:
        raise ValueError
    return lines


def _contradictions(
    study: StudyFacts,
    protocol: Mapping[str, Any],
    chain: Sequence[EventRow],
    facts: Mapping[str, Any],
) -> Iterator[str]:
    """Yield contradictions between the parts of a bundle."""
    if sha256_of(protocol["locked"]) != protocol["sha256"]:
        yield "protocol.json: the protocol does not have its hash."
    drawn = [
        event.detail.get("protocol_sha256")
        for event in chain
        if event.kind == EventKind.STUDY_DRAWN
    ]
    if drawn != [protocol["sha256"]]:
        yield "audit.jsonl refers to a different protocol from protocol.json."
    if {event.chain for event in chain} != {events.study_chain(str(study.study))}:
        yield "audit.jsonl is of a different study from records.jsonl."
    end = (chain[-1].number, chain[-1].hash)
    if (facts.get("last_event"), facts.get("last_event_hash")) != end:
        yield "audit.jsonl does not end at the event stated in datapackage.json."
    if not _DEPLOYMENT.fullmatch(str(study.deployment_id)):
        yield "records.jsonl does not say which deployment the study was read in."


def refuse(name: str, faults: Sequence[str]) -> None:
    """Raise `BadFile` with all faults, if there are any."""
    if faults:
        fault_list = "\n".join(f"  {fault}" for fault in faults)
        raise BadFile(
            tn(
                "{name}: {n} error; nothing was changed.\n{listed}",
                "{name}: {n} errors; nothing was changed.\n{listed}",
                len(faults),
                name=name,
                listed=fault_list,
            )
        )


def _parse_records(look: Transaction, name: str, content: bytes) -> BundleRecords:
    """Parse ``records.jsonl``; the store defines the columns of each kind of row.

    Raises
    ------
    BadFile
        Rows are invalid; all of them are listed.
    """
    faults: list[str] = []
    rows: dict[str, list[Mapping[str, Any]]] = {kind: [] for kind in archive.KINDS}
    columns = {kind: archive.columns(look, kind) for kind in archive.KINDS}
    study: StudyFacts | None = None
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        row = _parse_row(line)
        kind = str(row.pop("row", None))
        required, allowed = columns.get(kind, (set(), set()))
        if kind == STUDY_RECORD and number == 1 and set(row) == set(StudyFacts._fields):
            study = StudyFacts(**row)
        elif kind in rows and required <= set(row) <= allowed:
            rows[kind].append(row)
        else:
            faults.append(f"{RECORDS}, line {number}: not a row that this version knows.")
    if study is None:
        faults.append(f"{RECORDS} does not begin with the facts of its study.")
    elif study.format != RECORDS_FORMAT:
        known = f"this version reads format {RECORDS_FORMAT}."
        faults.append(f"{RECORDS} has format {quoted(study.format)}; {known}")
    refuse(name, faults)
    assert study is not None
    return BundleRecords(study=study, rows=rows)


def _parse_row(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}
