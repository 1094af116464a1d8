"""Sets a drawn study aside before anyone has read: hidden for good, and the trail says why."""

from datetime import datetime

from study.base.actor import By
from study.base.errors import NotNow
from study.base.reasons import checked_reason
from study.base.timestamps import stamp
from study.base.translation import t
from study.store import Store, events, studies
from study.store.studies import study_row


def discard(store: Store, *, study: str, reason: str, by: By, now: datetime) -> None:
    """Discard a study that is drawn and not open; its codes let nobody in any more.

    Raises
    ------
    NotNow
        The study was opened or discarded, or the reason is none or too long.
    """
    why = checked_reason(reason)
    with store.change() as change:
        row = study_row(change, study)
        if row["state"] != "drawn":
            raise NotNow(t("The study {name} was opened. It can be closed.", name=repr(study)))
        if row["discarded_at_utc"]:
            raise NotNow(t("The study {name} was discarded.", name=repr(study)))
        studies.mark_discarded(change, row["id"], stamp(now))
        events.record(change, study, now, kind="study discarded", detail={"reason": why}, by=by)
