"""Exports a study in all file formats from one snapshot, with the hashes of all files.

The deployment's trail records who exported the files and when, and the hashes of the files; see
`study.trail.trails`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from study.base.actor import Acting
from study.base.canonical import sha256_of
from study.base.errors import BadFile
from study.base.provenance import Provenance
from study.base.translation import t
from study.exchange.bundle import (
    Content,
    checksum_lines,
    files_of,
    sha256_of_file,
    tables_of,
    write_in_place,
    zip_files,
)
from study.exchange.closing_report import report_in
from study.exchange.formats.imrmc import imrmc_files
from study.exchange.formats.tables import parquet_files, workbook
from study.lifecycle.studies import shows_accuracy
from study.protocol.protocol import stored_protocol
from study.store import Store, Transaction, banks, events, extract
from study.store.events import EventKind
from study.store.studies import StudyRow, study_row
from study.trail.trails import record_export

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
"""All files of an archive, in the order in which they are shown."""

BLINDED_REASON = "It contains the reference standard, and is included once the study is closed."
"""Why a file is left out while accuracy may not be seen."""

HAS_TEXTS_REASON = "It contains the texts of questions and options."
"""Why a file is left out of an export without texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """The exported files of a study.

    Parameters
    ----------
    sha256, n_bytes
        Hash and size of each file by name.
    left_out
        The reason why each file was left out, by file name.
    blinded
        Whether the reference standard was left out.
    last_event
        The number of the last event in the trail at the time of the snapshot.
    texts
        Whether questions, options and models' outputs are included.
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
    with_truth: bool = False,
    texts: bool = True,
    acting: Acting,
) -> Archive:
    """Export all files of a study to a new folder, and record their hashes.

    Parameters
    ----------
    folder
        A new or empty folder.
    with_truth
        Whether to include the reference standard even if the study is open, for users with shell
        access.
    texts
        Whether to include the text of questions and options; see `study.exchange.bundle.Content`.

    Raises
    ------
    BadFile
        `folder` already exists and is not empty, or it cannot be written; no partial export
        remains.
    """
    with store.look() as look:
        blinded = not (with_truth or shows_accuracy(study_row(look, study)))
    exists_message = t(
        "{folder} already exists. Name a new folder, or empty this one.", folder=folder
    )
    with write_in_place(folder, as_zip=False, exists_message=exists_message) as place:
        if texts and not blinded:
            _record_copy(store, study, acting=acting)
        exported = _write_files(store, place, study, blinded, texts)
        record_export(
            store,
            study=study,
            file="archive",
            acting=acting,
            files=dict(exported.sha256),
            blinded=exported.blinded,
            last_event=exported.last_event,
        )
    return exported


def _write_files(store: Store, folder: Path, study: str, blinded: bool, texts: bool) -> Archive:
    folder.mkdir()
    left_out: dict[str, str] = {}
    with store.look() as look:
        study_found = study_row(look, study)
        for name, write in _writers(look, study_found, blinded, texts).items():
            try:
                write(folder / name)
            except BadFile as error:
                left_out[name] = str(error)
        head = events.head(look, events.study_chain(study))
        for name, content in report_in(look, study_found).items():
            (folder / name).write_bytes(content)
    if blinded:
        left_out |= dict.fromkeys((IMRMC, COPY), BLINDED_REASON)
    elif not texts:
        left_out[COPY] = HAS_TEXTS_REASON
    names = [name for name in FILES if (folder / name).is_file()]
    digests = {name: sha256_of_file(folder / name) for name in names}
    (folder / SUMS).write_text(checksum_lines(digests), encoding="utf-8")
    return Archive(
        sha256=digests,
        n_bytes={name: (folder / name).stat().st_size for name in names},
        left_out=left_out,
        blinded=blinded,
        last_event=head.number,
        texts=texts,
    )


def _writers(
    look: Transaction, study: StudyRow, blinded: bool, texts: bool
) -> dict[str, Callable[[Path], object]]:
    content = Content(blinded=blinded, texts=texts)
    tables = tables_of(look, study, content)
    metadata = _metadata(study, banks.bank_row(look, study.bank_name).provenance, blinded)
    writers: dict[str, Callable[[Path], object]] = {
        BUNDLE: lambda path: path.write_bytes(
            zip_files(files_of(look, study.name, content, tables=tables))
        ),
        PARQUET: lambda path: path.write_bytes(_parquet(tables, metadata)),
        EXCEL: lambda path: path.write_bytes(workbook(tables, metadata)),
    }
    if not blinded:
        title = f"{study.name}, protocol {study.protocol_sha256}"
        protocol = stored_protocol(study)
        conditions = [str(condition) for condition in protocol.all_conditions]
        writers[IMRMC] = lambda path: path.write_bytes(
            zip_files(imrmc_files(title, tables, conditions, incomplete=protocol.is_incomplete))
        )
        if texts:
            writers[COPY] = lambda path: _write_copy(look, study.id, path)
    return writers


def _parquet(tables: Mapping[str, list[dict[str, Any]]], metadata: Mapping[str, str]) -> bytes:
    files = parquet_files(tables, metadata)
    sums = checksum_lines({name: sha256(content).hexdigest() for name, content in files.items()})
    return zip_files({**files, SUMS: sums.encode()})


def _metadata(study: StudyRow, provenance: Provenance, blinded: bool) -> dict[str, str]:
    bank_facts = {
        f"bank's {name.replace('_', ' ')}": text for name, text in provenance.as_dict().items()
    }
    return {
        "study": study.name,
        "state": study.state,
        "protocol_sha256": study.protocol_sha256,
        "bank": study.bank_name,
        **bank_facts,
        **({"terms": provenance.warning} if provenance.warning else {}),
        "simulated_films": "yes" if study.simulated_films else "no",
        "blinded": "yes: the reference standard is left out" if blinded else "no",
    }


def _record_copy(store: Store, study: str, *, acting: Acting) -> None:
    """Record that a study is copied, with the hash of its items and reference standard.

    The copy is checked against this hash, because the bank's hash covers items that are not in the
    copy. The hash is recorded only once, because the items never change.
    """
    with store.change() as change:
        study_found = study_row(change, study)
        detail = {"material_sha256": sha256_of(extract.hashed_rows(change, study_found.id))}
        earlier = events.of_kind(change, events.study_chain(study), EventKind.STUDY_COPIED)
        if earlier and earlier[-1]["material_sha256"] == detail["material_sha256"]:
            return
        events.record(change, study, acting, kind=EventKind.STUDY_COPIED, detail=detail)


def _write_copy(look: Transaction, study: int, path: Path) -> None:
    """Write a study to a new store that `verify` can check.

    The store contains the study's rows, its chain and the drawn items in its bank, but no films,
    names, access codes or secrets. Nobody can sign in to it or read in it.
    """
    Store.create(path, lambda change: extract.copy_study(look, change, study))
