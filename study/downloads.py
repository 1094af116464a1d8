"""Downloads in the trail: what of a study was taken out, by whom, and the hash of what they got.

They stand in the deployment's chain, not the study's: a bundle holds the study's chain, and the
same study gives the same bytes however often it is exported.
"""

import hashlib
from datetime import datetime

from study.acts import By
from study.store import Store, events

KIND = "downloaded"


def record_download(
    store: Store, *, study: str, what: str, content: bytes, by: By, now: datetime
) -> None:
    """Record that somebody took something of a study out of the deployment."""
    detail = {
        "study": study,
        "what": what,
        "n_bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    with store.change() as change:
        events.record(change, "", now, kind=KIND, detail=detail, by=by)
