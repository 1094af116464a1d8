"""Makes a deployment's store, and gives coordinators their access."""

from datetime import datetime
from pathlib import Path

from study.access import Entropy, give, new_code
from study.errors import NotNow
from study.moments import stamp
from study.store import Store, deployment, events
from study.studies import record, study_row


def init(path: Path, *, entropy: Entropy, now: datetime) -> Store:
    """Make an empty store with its own secret, or open the one that is there."""
    store = Store.create(path)
    with store.change() as change:
        if deployment.value(change, "secret"):
            return store
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
    return store


def coordinator_code(
    store: Store, *, study: str, name: str, entropy: Entropy, now: datetime
) -> str:
    """Give a coordinator of a study an access code; an earlier code of theirs stops working."""
    if not name.strip():
        raise NotNow("A coordinator needs a name.")
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
        record(change, study, now, kind="coordinator given access", detail={"name": name})
    return code.text
