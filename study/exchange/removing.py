"""Removes closed studies and predictions of withdrawn models, and certifies what was removed.

The rows are deleted with SQLite's secure_delete, which overwrites them in the file, and the journal
is emptied. The certificates are made from counts and hashes that the deployment's chain keeps.
Backups and exported files are not changed; a certificate lists the backups.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from study.base.actor import Acting
from study.base.errors import BadFile, BadInput, NotFound, NotNow, StudyError
from study.base.system import system_reason
from study.base.text import checked_reason
from study.base.translation import t
from study.models.models import predictions_hash
from study.people.signing_in import sign_in_mark
from study.people.single_sign_on import account_mark
from study.protocol.protocol import stored_protocol
from study.store import (
    Store,
    Transaction,
    deployment,
    events,
    judgements,
    models,
    people,
    removing,
    studies,
)
from study.store.events import EventKind, EventRow
from study.store.models import ModelRow
from study.store.studies import StudyRow, study_row
from study.trail import heads

_EXPORT_NAMES = frozenset({"bundle", "bundle.zip"})
_REMOVAL_KINDS = (EventKind.BANK_REMOVED, EventKind.MODEL_DATA_REMOVED, EventKind.STUDY_REMOVED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """The certificate of a removal, with its subject, time, actor and reason.

    Parameters
    ----------
    removed
        Names, counts and hashes, as the deployment's chain records them.
    event, event_hash
        Number and hash of the event that records the removal.
    overwritten
        Whether the journal is empty, so that the store's files no longer contain the rows.
    backups
        Backup files made before the removal, which may contain the rows.
    """

    what: str
    removed: dict[str, Any]
    at_utc: str
    by: str
    reason: str
    chain: str
    event: int
    event_hash: str
    overwritten: bool
    backups: tuple[str, ...]

    @property
    def as_json(self) -> str:
        """Return the certificate as JSON on a single line."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)

    @property
    def text(self) -> str:
        """Return the certificate as text, with a sentence on each line."""
        facts = [f"  {name}: {_value_text(value)}" for name, value in self.removed.items() if value]
        overwritten = (
            "The rows were overwritten in the store's file, and its write-ahead log is empty."
            if self.overwritten
            else "The write-ahead log may still contain the rows, because the store was in use. "
            "Print the certificate again when it is idle."
        )
        kept_parts = (
            f"Backups made before, which may contain it: {', '.join(self.backups)}."
            if self.backups
            else "No backup that the store knows of contains it."
        )
        return "\n".join(
            [
                f"Certificate of removal: {self.what}",
                f"Removed on {self.at_utc} by {self.by}.",
                *([f"Reason: {self.reason}"] if self.reason else []),
                *facts,
                overwritten,
                kept_parts,
                "Exported files and copies elsewhere were not changed.",
                f"Recorded as event {self.event} of the chain {self.chain}: {self.event_hash}",
            ]
        )


def refuse_existing(file: Path | None) -> None:
    """Raise `BadFile` if the file of a certificate exists or its folder does not."""
    if file and (file.exists() or not file.parent.is_dir()):
        raise BadFile(
            t("{file} cannot be created. Name a new file in an existing folder.", file=file)
        )


def remove_study(
    store: Store, study: str, *, typed: str, reason: str, acting: Acting
) -> Certificate:
    """Remove a closed study, and return the certificate.

    Its rows, the chains of its sites and the people without a role in another study are removed.
    The bank is kept.

    Raises
    ------
    NotFound
        The study does not exist.
    BadInput
        `typed` is not the study's name, or the reason is empty.
    NotNow
        The study is not closed, or no bundle or archive was written after it was closed.
    """
    words = checked_reason(reason)
    _check_confirmation(study, typed)
    record = store.read_witness()
    with store.change() as change:
        row = study_row(change, study)
        exports = _exports_since_closing(change, row)
        facts = _study_facts(change, row)
        marks = _account_marks(change, row.name)
        counts = removing.remove_study(change, row.id, row.name)
        heads.forget_deposits(change, row.id)
        detail = {**facts, **_marks_in_use(change, marks), "rows": counts, "exports": exports}
        detail["reason"] = words
        events.record(change, "", acting, kind=EventKind.STUDY_REMOVED, detail=detail)
    with _after_removal(t("The study was removed.")):
        chains = facts["chains"]
        heads_of = [head for head in record.heads if head.chain in chains] if record else []
        store.forget_heads(heads_of)
        archives = store.companion_path("archives") / str(row.id)
        shutil.rmtree(archives, ignore_errors=True)
        store.checkpoint()
        return certificates(store)[-1]


def remove_model(
    store: Store, *, study: str, model_id: str, typed: str, reason: str, acting: Acting
) -> Certificate:
    """Remove the predictions of a withdrawn model, and return the certificate.

    The model's row is kept, with its name and the hash of its file.

    Raises
    ------
    NotFound
        The study has no withdrawn model of this name with predictions.
    BadInput
        `typed` is not the model's name, or the reason is empty.
    NotNow
        The model was the aid of the study, or its answers were scored.
    """
    words = checked_reason(reason)
    _check_confirmation(model_id, typed)
    with store.change() as change:
        row = study_row(change, study)
        for model in _removable_editions(change, row, model_id):
            detail = {
                "study": study,
                "model_id": model_id,
                **models.edition_of(model),
                "predictions_sha256": predictions_hash(change, model.id),
                "rows": {"predictions": removing.remove_predictions(change, model.id)},
                "reason": words,
            }
            events.record(change, study, acting, kind=EventKind.MODEL_DATA_REMOVED, detail=detail)
    with _after_removal(t("The predictions were removed.")):
        store.checkpoint()
        return certificates(store, study)[-1]


@contextmanager
def _after_removal(sentence: str) -> Iterator[None]:
    """State in the message of an error in a later step that the removal is complete."""
    try:
        yield
    except (StudyError, OSError) as error:
        reason = str(error)
        if isinstance(error, OSError):
            reason = t("The certificate cannot be made: {why}.", why=system_reason(error))
        remedy = t("Print the certificate with: python -m study certificates")
        raise StudyError(f"{sentence} {reason} {remedy}") from error


def certificates(store: Store, study: str = "") -> list[Certificate]:
    """Return the certificates of all removals, or of those that a study's chain records.

    The journal is emptied unless another connection prevents it; the function does not wait.
    """
    with store.look() as look:
        chains = [events.study_chain(study)] if study else events.chains(look)
        backups_left = deployment.backups_kept(look)
        removals = sorted(
            (event for chain in chains for event in events.of_kinds(look, chain, _REMOVAL_KINDS)),
            key=lambda event: event.at_utc,
        )
    overwritten = bool(removals) and store.with_wait_limit(0).checkpoint()
    return [
        _certificate(
            event,
            overwritten,
            [row.file for row in backups_left if row.made_at_utc <= event.at_utc],
        )
        for event in removals
    ]


def _certificate(event: EventRow, overwritten: bool, files: list[str]) -> Certificate:
    detail = {
        key: value
        for key, value in event.detail.items()
        if key not in ("reason", "role", "place", "sign_ins", "accounts")
    }
    subject = next(detail[key] for key in ("model_id", "study", "bank") if key in detail)
    return Certificate(
        what=f"{event.kind}: {subject}",
        removed=detail,
        at_utc=event.at_utc,
        by=event.actor,
        reason=event.detail.get("reason", ""),
        chain=event.chain,
        event=event.number,
        event_hash=event.hash,
        overwritten=overwritten,
        backups=tuple(files),
    )


def _value_text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_value_text(part)}" for name, part in value.items())
    return ", ".join(map(_value_text, value)) if isinstance(value, list) else str(value)


def _check_confirmation(name: str, typed: str) -> None:
    if typed.strip() != name:
        raise BadInput(t("The name was not confirmed: it is {name}. Type it exactly.", name=name))


def _exports_since_closing(look: Transaction, study: StudyRow) -> list[dict[str, Any]]:
    """Return the exports of a study since it was closed, with their hashes if known."""
    if study.state != "closed":
        raise NotNow(t("Only a closed study can be removed. Close {name} first.", name=study.name))
    exports = [
        {
            "at_utc": event.at_utc,
            **{key: event.detail[key] for key in _CERTIFICATE_KEYS if key in event.detail},
        }
        for event in events.of_kinds(look, events.DEPLOYMENT, (EventKind.DOWNLOADED,))
        if event.detail.get("study") == study.name
        and event.at_utc >= str(study.closed_at_utc)
        and (
            event.detail.get("what") in _EXPORT_NAMES
            or "bundle.zip" in event.detail.get("files", ())
        )
    ]
    if not exports:
        raise NotNow(
            t(
                "No bundle of {name} was written after it was closed. Export it first: after the "
                "removal only the bundle contains the study.",
                name=study.name,
            )
        )
    return exports


_CERTIFICATE_KEYS = ("what", "sha256", "files")


def _study_facts(look: Transaction, study: StudyRow) -> dict[str, Any]:
    chains = removing.chains_of(look, study.name)
    return {
        "study": study.name,
        "bank": study.bank_name,
        "protocol_sha256": study.protocol_sha256,
        "closed_at_utc": study.closed_at_utc,
        "chains": {chain: events.head(look, chain)._asdict() for chain in chains},
    }


def _account_marks(look: Transaction, study_name: str) -> set[str]:
    """Return the marks of sign-ins and accounts that a study's chain records."""
    chain = events.study_chain(study_name)
    kinds = (EventKind.SIGNED_IN, EventKind.IDENTITY_BOUND)
    details = [event.detail for event in events.of_kinds(look, chain, kinds)]
    return {str(detail.get("sign_in") or detail.get("account")) for detail in details}


def _marks_in_use(look: Transaction, marks: set[str]) -> dict[str, list[str]]:
    """Return the marks whose sign-in or account still exists, so that `verify` recognises them."""
    sign_ins = {sign_in_mark(row.id, row.person) for row in people.sign_ins(look)}
    accounts = {
        account_mark(look, account.issuer, account.subject) for account in people.identities(look)
    }
    return {"sign_ins": sorted(sign_ins & marks), "accounts": sorted(accounts & marks)}


def _removable_editions(look: Transaction, study: StudyRow, model_id: str) -> list[ModelRow]:
    rows = [row for row in _withdrawn_models(look, study.id) if row.model_id == model_id]
    if not rows:
        raise NotFound(
            t(
                "{study} has no predictions of a withdrawn model {model}. Withdraw it first.",
                study=study.name,
                model=model_id,
            )
        )
    aided = stored_protocol(study).aid_model == model_id
    if aided or judgements.scorings_of_study(look, study.id):
        raise NotNow(
            t(
                "The answers of {model} were shown to readers or scored. They can only be removed "
                "with the study.",
                model=model_id,
            )
        )
    return rows


def removable(store: Store) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the closed studies, and the withdrawn models with predictions as (study, model)."""
    with store.look() as look:
        rows = studies.listed(look)
        models_of = [
            (row.name, model.model_id) for row in rows for model in _withdrawn_models(look, row.id)
        ]
    return [row.name for row in rows if row.state == "closed"], list(dict.fromkeys(models_of))


def _withdrawn_models(look: Transaction, study: int) -> list[ModelRow]:
    """Return the withdrawn models of a study whose predictions are stored."""
    return [
        row
        for row in models.ever_of_study(look, study)
        if row.withdrawn_at_utc and models.has_predictions(look, row.id)
    ]
