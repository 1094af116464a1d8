"""Makes everything a study is handed on in, from one moment of it, with the hashes of all.

The files say the same thing, since they are made from the same snapshot; what was handed out, by
whom and with which hash, stands in the deployment's trail, see `study.trail.trails`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from study.base.actor import COMMAND_LINE, By
from study.base.canonical import sha256_of
from study.base.errors import BadFile
from study.base.provenance import Provenance
from study.base.translation import t
from study.exchange.bundle import files_of, placed, sha256_of_file, sums_of, tables_of, zipped
from study.exchange.closing_report import report_in
from study.exchange.formats.imrmc import imrmc_files
from study.exchange.formats.tables import parquet_files, workbook
from study.lifecycle.studies import shows_accuracy
from study.protocol.protocol import stored_protocol
from study.store import Store, Transaction, banks, events, extract
from study.store.events import EventKind
from study.store.studies import StudyRow, study_row
from study.trail.trails import record_taking

SUMS = "SHA256SUMS"
BUNDLE, PARQUET, EXCEL, IMRMC, COPY = (
    "bundle.zip",
    "parquet.zip",
    "study.xlsx",
    "imrmc.zip",
    "study.db",
)
REPORT, MISSING = "closing-report.html", "missing.csv"
FILES = (BUNDLE, PARQUET, EXCEL, IMRMC, COPY, REPORT, MISSING)
"""Every file an archive may have, in the order they are shown."""

BLINDED = "It holds the reference standard, and is made once the study is closed."
"""Why a file is not made while accuracy may not be seen."""

HAS_TEXTS = "It holds the texts of questions and options."
"""Why a file is not made without them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """What was made of a study.

    Parameters
    ----------
    sha256, n_bytes
        Of each file made, by name.
    left_out
        Why a file was not made, by name.
    blinded
        Whether the reference standard was left out.
    last_event
        The number of the last event of the trail they were made from.
    texts
        Whether questions, options and models' own words are in it.
    """

    sha256: Mapping[str, str]
    n_bytes: Mapping[str, int]
    left_out: Mapping[str, str]
    blinded: bool
    last_event: int
    texts: bool = True


def archive(
    store: Store,
    folder: Path,
    *,
    study: str,
    whole: bool = False,
    texts: bool = True,
    by: By = COMMAND_LINE,
    now: datetime,
) -> Archive:
    """Make every file of a study into a new folder, and record their hashes.

    Parameters
    ----------
    folder
        A new folder, or one that is empty.
    whole
        With the reference standard although the study is open: for whoever has the store's file.
    texts
        With the texts of questions and options, see `study.exchange.bundle.tables_of`.

    Raises
    ------
    BadFile
        Something lies at `folder` already, or it cannot be written; nothing half-done is left.
    """
    with store.look() as look:
        blinded = not (whole or shows_accuracy(study_row(look, study)))
    there = t("{folder} already exists. Name a new folder, or empty this one.", folder=folder)
    with placed(folder, as_zip=False, there=there) as place:
        if texts and not blinded:
            _announce(store, study, by=by, now=now)
        made = _make(store, place, study, blinded, texts)
    record_taking(
        store,
        study=study,
        what="archive",
        by=by,
        now=now,
        files=dict(made.sha256),
        blinded=made.blinded,
        last_event=made.last_event,
    )
    return made


def _make(store: Store, folder: Path, study: str, blinded: bool, texts: bool) -> Archive:
    folder.mkdir()
    left_out: dict[str, str] = {}
    with store.look() as look:
        found = study_row(look, study)
        for name, write in _writers(look, found, blinded, texts).items():
            try:
                write(folder / name)
            except BadFile as error:
                left_out[name] = str(error)
        head = events.head(look, events.study_chain(study))
        for name, content in report_in(look, found).items():
            (folder / name).write_bytes(content)
    if blinded:
        left_out |= dict.fromkeys((IMRMC, COPY), BLINDED)
    elif not texts:
        left_out[COPY] = HAS_TEXTS
    there = [name for name in FILES if (folder / name).is_file()]
    digests = {name: sha256_of_file(folder / name) for name in there}
    (folder / SUMS).write_text(sums_of(digests), encoding="utf-8")
    return Archive(
        sha256=digests,
        n_bytes={name: (folder / name).stat().st_size for name in there},
        left_out=left_out,
        blinded=blinded,
        last_event=head.number,
        texts=texts,
    )


def _writers(
    look: Transaction, found: StudyRow, blinded: bool, texts: bool
) -> dict[str, Callable[[Path], object]]:
    tables = tables_of(look, found, blinded=blinded, texts=texts)
    about = _about(found, banks.bank_row(look, found.bank_name).provenance, blinded)
    writers: dict[str, Callable[[Path], object]] = {
        BUNDLE: lambda path: path.write_bytes(
            zipped(files_of(look, found.name, tables=tables, blinded=blinded, texts=texts))
        ),
        PARQUET: lambda path: path.write_bytes(_parquet(tables, about)),
        EXCEL: lambda path: path.write_bytes(workbook(tables, about)),
    }
    if not blinded:
        title = f"{found.name}, protocol {found.protocol_sha256}"
        protocol = stored_protocol(found)
        conditions = [str(condition) for condition in protocol.all_conditions]
        writers[IMRMC] = lambda path: path.write_bytes(
            zipped(imrmc_files(title, tables, conditions, incomplete=protocol.is_incomplete))
        )
        if texts:
            writers[COPY] = lambda path: _extracted(look, found.id, path)
    return writers


def _parquet(tables: Mapping[str, list[dict[str, Any]]], about: Mapping[str, str]) -> bytes:
    files = parquet_files(tables, about)
    sums = sums_of({name: sha256(content).hexdigest() for name, content in files.items()})
    return zipped({**files, SUMS: sums.encode()})


def _about(found: StudyRow, provenance: Provenance, blinded: bool) -> dict[str, str]:
    of_bank = {f"bank's {name.replace('_', ' ')}": text for name, text in provenance.told().items()}
    return {
        "study": found.name,
        "state": found.state,
        "protocol_sha256": found.protocol_sha256,
        "bank": found.bank_name,
        **of_bank,
        **({"terms": provenance.warning} if provenance.warning else {}),
        "simulated_films": "yes" if found.simulated_films else "no",
        "blinded": "yes: the reference standard is left out" if blinded else "no",
    }


def _announce(store: Store, study: str, *, by: By = COMMAND_LINE, now: datetime) -> None:
    """Record that a study is copied, with the hash of what the copy will have of its bank.

    The bank's own hash covers items that are not in the copy; this one is what the copy's items
    and reference standard are checked against. It is said once: the material never changes.
    """
    with store.change() as change:
        found = study_row(change, study)
        detail = {"material_sha256": sha256_of(extract.material(change, found.id))}
        told = events.of_kind(change, events.study_chain(study), EventKind.STUDY_COPIED)
        if told and told[-1]["material_sha256"] == detail["material_sha256"]:
            return
        events.record(change, study, now, kind=EventKind.STUDY_COPIED, detail=detail, by=by)


def _extracted(look: Transaction, study: int, path: Path) -> None:
    """Write a study as a store of its own, which `verify` can check, where nothing may lie yet.

    It has the study's rows and its chain, and of its bank the drawn items alone: no films, no
    names, no codes and no secret. Nobody can sign in to it, and nobody can read in it.
    """
    Store.create(path, lambda change: extract.fill(look, change, study))
