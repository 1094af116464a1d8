"""Makes a deployment's store, and gives coordinators their access."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from study.access import Entropy, give, new_code
from study.errors import NotFound
from study.moments import stamp
from study.names import check_name
from study.store import Store, Transaction, deployment, events, people
from study.studies import study_row


def init(path: Path, *, entropy: Entropy, now: datetime) -> Store:
    """Make an empty store with its own secret, or open the one that is there."""

    def fill(change: Transaction) -> None:
        deployment.set_once(change, "secret", entropy(32).hex())
        deployment.set_once(change, "deployment_id", entropy(8).hex())
        events.append(
            change,
            chain=events.DEPLOYMENT,
            at_utc=stamp(now),
            actor="coordinator",
            kind="deployment made",
            detail={"deployment_id": deployment.value(change, "deployment_id")},
        )

    return Store.create(path, fill)


def coordinator_code(
    store: Store,
    *,
    study: str,
    name: str,
    entropy: Entropy,
    now: datetime,
    deliver: Callable[[str], None] = lambda code: None,
) -> str:
    """Give a coordinator of a study an access code; an earlier code of theirs stops working.

    Parameters
    ----------
    deliver
        Hands the code out within the transaction; where that fails nothing has changed.
    """
    check_name(name, "coordinator")
    code = new_code(entropy)
    with store.change() as change:
        found = study_row(change, study)
        give(
            change,
            code,
            role="coordinator",
            study=found["id"],
            reader=None,
            name=name,
            now=now,
        )
        events.record(change, study, now, kind="coordinator given access", detail={"name": name})
        deliver(code.text)
    return code.text


def reader_code(
    store: Store,
    *,
    study: str,
    reader_id: str,
    entropy: Entropy,
    now: datetime,
    deliver: Callable[[str], None] = lambda code: None,
) -> str:
    """Give a reader a new access code in place of a lost one, which stops working.

    Raises
    ------
    NotFound
        No such study or reader.
    """
    code = new_code(entropy)
    with store.change() as change:
        found = study_row(change, study)
        reader = people.reader(change, found["id"], reader_id)
        if reader is None:
            raise NotFound(f"No reader {reader_id!r} in {study!r}.")
        give(change, code, role="reader", study=found["id"], reader=reader["id"], name="", now=now)
        events.record(
            change, study, now, kind="reader given new code", detail={"reader_id": reader_id}
        )
        deliver(code.text)
    return code.text
