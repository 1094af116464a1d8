"""Takes one study out of a store as a store of its own, which `verify` can check.

The copy has the study's rows and its chain, and of its bank the drawn items alone. It has no
films, no names, no codes and no secret: nobody can sign in to it, and nobody can read in it.
"""

from datetime import datetime
from pathlib import Path

from study.base.actor import COMMAND_LINE, By
from study.base.canonical import sha256_of
from study.store import Store, Transaction, events, extract
from study.store.studies import study_row


def announce(store: Store, study: str, *, by: By = COMMAND_LINE, now: datetime) -> None:
    """Record that a study is copied, with the hash of what the copy will have of its bank.

    The bank's own hash covers items that are not in the copy; this one is what the copy's items
    and reference standard are checked against. It is said once: the material never changes.
    """
    with store.change() as change:
        found = study_row(change, study)
        detail = {"material_sha256": sha256_of(extract.material(change, found["id"]))}
        told = events.of_kind(change, events.study_chain(study), extract.COPIED)
        if told and told[-1]["material_sha256"] == detail["material_sha256"]:
            return
        events.record(change, study, now, kind=extract.COPIED, detail=detail, by=by)


def extracted(look: Transaction, study: int, path: Path) -> None:
    """Write a study as a store of its own to `path`, where nothing may lie yet."""
    Store.create(path, lambda change: extract.fill(look, change, study))
