"""Exports the protocol of a study for OSF or Zenodo, before the first reading.

The deposit can later prove that the protocol was not changed after reading began. It does not
contain the drawn cases, which readers could look up; the hash covers them.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from html import escape
from typing import Any

from study.base.errors import BadInput, NotNow
from study.base.translation import t
from study.exchange.bundle import checksum_lines
from study.monitoring.progress import completeness_in
from study.protocol.metadata import METADATA_KEYS
from study.protocol.protocol import as_toml, stored_protocol
from study.store import Store, Transaction
from study.store.studies import StudyRow, study_row
from study.trail.heads import current_head_line

SUMS = "SHA256SUMS"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Deposit:
    """The facts about a study that the files of the deposit contain."""

    study: StudyRow
    creators: tuple[str, ...]
    head: str
    texts: dict[str, str]
    now: datetime

    @property
    def title(self) -> str:
        """Return the title of the record."""
        return f"Protocol of the reader study: {self.study.name}"


def deposit_files(
    store: Store, study: str, *, creators: Sequence[str], now: datetime
) -> dict[str, bytes]:
    """Return the files of a deposit by name.

    The files are ``protocol.toml``, ``head.txt`` (the end of the audit trail), ``zenodo.json`` (the
    body for Zenodo's ``POST /api/deposit/depositions``, https://developers.zenodo.org),
    ``osf.json`` (the body for OSF's ``POST /v2/nodes/``, https://developer.osf.io) and
    ``SHA256SUMS``.

    Parameters
    ----------
    creators
        Authors of the record, as ``Family, Given``; Zenodo requires at least one.

    Raises
    ------
    NotFound
        The study does not exist.
    NotNow
        A case has already been read.
    BadInput
        No author is named.
    """
    creator_names = tuple(name.strip() for name in creators if name.strip())
    if not creator_names:
        raise BadInput(t("Name at least one author of the deposit, as Family, Given."))
    with store.look() as look:
        row = study_row(look, study)
        _refuse_late(look, row)
        protocol = stored_protocol(row)
        deposit = _Deposit(
            study=row,
            creators=creator_names,
            head=current_head_line(look, study, now=now),
            texts=protocol.metadata.as_json(),
            now=now,
        )
    files = {
        "protocol.toml": as_toml(protocol).encode(),
        "head.txt": f"{deposit.head}\n".encode(),
        "zenodo.json": _json(_zenodo(deposit)),
        "osf.json": _json(_osf(deposit)),
    }
    digests = {name: sha256(content).hexdigest() for name, content in files.items()}
    return {**files, SUMS: checksum_lines(digests).encode()}


def may_deposit(store: Store, study: str) -> bool:
    """Return whether no case of a study has been read."""
    with store.look() as look:
        return not completeness_in(look, study_row(look, study)).counts.n_read


def _refuse_late(look: Transaction, study: StudyRow) -> None:
    n_read = completeness_in(look, study).counts.n_read
    if n_read:
        raise NotNow(
            t(
                "A deposit is made before the first reading, but {study} has {n} readings. Deposit "
                "the bundle instead.",
                study=study.name,
                n=n_read,
            )
        )


def _zenodo(deposit: _Deposit) -> dict[str, Any]:
    return {
        "metadata": {
            "upload_type": "publication",
            "publication_type": "other",
            "title": deposit.title,
            "creators": [{"name": name} for name in deposit.creators],
            "description": "".join(
                f"<p>{escape(line)}</p>" for line in _description_lines(deposit)
            ),
            "publication_date": deposit.now.astimezone(UTC).date().isoformat(),
            "access_right": "open",
            "license": "cc-by-4.0",
            "keywords": ["reader study", "protocol"],
        }
    }


def _osf(deposit: _Deposit) -> dict[str, Any]:
    authors = f"Authors: {'; '.join(deposit.creators)}."
    return {
        "data": {
            "type": "nodes",
            "attributes": {
                "title": deposit.title,
                "category": "project",
                "description": "\n".join([authors, *_description_lines(deposit)]),
                "tags": ["reader study", "protocol"],
                "public": False,
            },
        }
    }


def _description_lines(deposit: _Deposit) -> list[str]:
    """Return the lines of the record's description: the hash, the head and the metadata."""
    row = deposit.study
    return [
        f"Protocol of a reader study, deposited before the first reading (state: {row.state}).",
        f"SHA-256 of the protocol, the bank and the drawn cases: {row.protocol_sha256}",
        f"End of the audit trail: {deposit.head}",
        *(
            f"{key.replace('_', ' ').capitalize()}: {deposit.texts[key]}"
            for key in METADATA_KEYS
            if key in deposit.texts
        ),
    ]


def _json(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()
