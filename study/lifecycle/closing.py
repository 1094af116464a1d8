"""Closes a study for good, discards one nobody has read, and says when accuracy may be seen.

While a study is open nobody sees how right anybody is, coordinators included, unless the protocol
says so: whoever knows may step in, and the study is no longer the one that was planned. Every
place that shows results asks `shows_accuracy`.
"""

from datetime import datetime

from study.base.actor import COMMAND_LINE, By
from study.base.canonical import stamp
from study.base.errors import NotNow
from study.base.text import checked_reason
from study.base.translation import t
from study.lifecycle import exposure
from study.monitoring.progress import Completeness, completeness_in
from study.protocol.protocol import stored_protocol
from study.store import Store, events, studies
from study.store.events import EventKind
from study.store.studies import StudyRow, study_row


def shows_accuracy(study: StudyRow) -> bool:
    """Return whether accuracy may be seen: the study is closed, or open and its protocol lets it.

    A study that is only drawn shows nothing: its bank may be read in another one.

    Parameters
    ----------
    study
        The study's row, as `studies.find` gives it.
    """
    return study.state == "closed" or (
        study.state == "open" and stored_protocol(study).interim_results
    )


def accuracy_is_shown(store: Store, study: str) -> bool:
    """Return whether accuracy of a study may be seen as it stands."""
    with store.look() as look:
        return shows_accuracy(study_row(look, study))


def close(
    store: Store, *, study: str, reason: str, by: By = COMMAND_LINE, now: datetime
) -> Completeness:
    """Close a study for good: no reading is taken any more, and accuracy may be seen.

    Returns
    -------
    Completeness
        What the study had and lacked when it was closed; the trail keeps its numbers.

    Raises
    ------
    NotNow
        The study is not open.
    BadInput
        The reason is none or too long.
    """
    words = checked_reason(reason)
    with store.change() as change:
        found = study_row(change, study)
        if found.state != "open":
            raise NotNow(_not_open(found))
        standing = completeness_in(change, found)
        others = exposure.being_read(change, found.bank, but=found.id)
        studies.mark_closed(change, found.id, stamp(now))
        events.record(
            change,
            study,
            now,
            kind=EventKind.STUDY_CLOSED,
            detail={
                "old": "open",
                "new": "closed",
                "reason": words,
                "n_cases": standing.n_cases,
                "n_readers": len(standing.readers),
                "n_models": standing.n_models,
                "readers": standing.by_stage,
                "readings": {**standing.counts.told, "n_missing": standing.counts.n_unread},
                **({"others": others} if others else {}),
            },
            by=by,
        )
        exposure.record_others(change, found, others, EventKind.OTHER_STUDY_CLOSED, by, now)
    return standing


def _not_open(study: StudyRow) -> str:
    if study.state == "closed":
        return t(
            "The study {name} is already closed and cannot be reopened.", name=repr(study.name)
        )
    return t("The study {name} was never opened, so it cannot be closed.", name=repr(study.name))


def discard(store: Store, *, study: str, reason: str, by: By, now: datetime) -> None:
    """Discard a study that is drawn and not open; its codes let nobody in any more.

    Raises
    ------
    NotNow
        The study was opened or discarded.
    BadInput
        The reason is none or too long.
    """
    why = checked_reason(reason)
    with store.change() as change:
        row = study_row(change, study)
        if row.state != "drawn":
            raise NotNow(
                t(
                    "The study {name} has already been opened; it can only be closed.",
                    name=repr(study),
                )
            )
        if row.discarded_at_utc:
            raise NotNow(t("The study {name} was discarded.", name=repr(study)))
        studies.mark_discarded(change, row.id, stamp(now))
        events.record(
            change, study, now, kind=EventKind.STUDY_DISCARDED, detail={"reason": why}, by=by
        )
