"""Downloads in the trail: what of a study was taken out, by whom, and the hash of what they got.

They stand in the deployment's chain, not the study's: a bundle holds the study's chain, and the
same study gives the same bytes however often it is exported.
"""

import hashlib
from datetime import datetime
from typing import Any

from study.base.actor import By
from study.store import Store, events
from study.store.events import EventKind


def record_download(
    store: Store, *, study: str, what: str, content: bytes, by: By, now: datetime
) -> None:
    """Record that somebody took something of a study out of the deployment."""
    about = {"n_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    record_taking(store, study=study, what=what, by=by, now=now, **about)


def record_taking(
    store: Store, *, study: str, what: str, by: By, now: datetime, **about: Any
) -> None:
    """Record that somebody takes something made while it is sent, which has no hash yet."""
    with store.change() as change:
        detail = {**({"study": study} if study else {}), "what": what, **about}
        events.record(change, "", now, kind=EventKind.DOWNLOADED, detail=detail, by=by)
