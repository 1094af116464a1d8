"""The trails of a study, restored or merged too, as far as what they tell of is in this store.

A bundle carries neither people nor what readers prepared or practised: of a study restored from one
the trail tells of more than is here. Of a merged site the chain vouches for what came with it: its
readers and their rows, and the models that were not here already.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from study.store import Transaction, events
from study.store.events import EventKind, EventRow
from study.store.studies import StudyRow

_LEFT_BEHIND = frozenset(
    {
        EventKind.PREPARATION_DONE,
        EventKind.PRACTICE_CASE_READ,
        EventKind.ROLE_GIVEN,
        EventKind.ROLE_REVOKED,
        EventKind.STUDY_COPIED,
    }
)


def own_trail(look: Transaction, study: str) -> list[EventRow]:
    """Return the events of a study's own chain, as far as what they tell of is in this store."""
    trail = list(events.walk(look, events.study_chain(study)))
    restored = [event for event in trail if event.kind == EventKind.STUDY_RESTORED]
    if not restored:
        return list(trail)
    last = restored[-1]
    before = _carried(trail[: last.number - 1])
    return [*(_hung(event, last.detail) for event in before), *trail[last.number - 1 :]]


def sites_trail(look: Transaction, study: str) -> list[EventRow]:
    """Return the events of all merged sites' chains, as far as what they tell of is here."""
    return [
        event
        for chain, merged in merged_chains(look, study).items()
        for event in _joined(_carried(events.walk(look, chain)), merged)
    ]


def merged_chains(look: Transaction, study: str) -> dict[str, Mapping[str, Any]]:
    """Return what the study's own chain says of each merged site, by the name of its chain."""
    told = events.of_kind(look, events.study_chain(study), EventKind.SITE_MERGED)
    return {events.merged_chain(study, one["deployment_id"]): one for one in told}


def site_breaches(look: Transaction, row: StudyRow, trail: Sequence[EventRow]) -> Iterator[str]:
    """Yield each merged site whose chain is not the one that was merged, or of another study."""
    for chain, told in merged_chains(look, row.name).items():
        where = f"study {row.name}: the site {told['deployment_id']}"
        if events.head(look, chain) != (told["last_event"], told["last_event_hash"]):
            yield f"{where}: its chain was exchanged."
            continue
        drawn = events.of_kind(look, chain, EventKind.STUDY_DRAWN)
        if [one["protocol_sha256"] for one in drawn] != [row.protocol_sha256]:
            yield f"{where}: it had another protocol."


def _carried(trail: Iterable[EventRow]) -> Iterator[EventRow]:
    """Yield events without what a bundle leaves behind."""
    for event in trail:
        if event.kind not in _LEFT_BEHIND:
            yield event._replace(
                detail={
                    key: value for key, value in event.detail.items() if key != "practice_sha256"
                }
            )


def _hung(event: EventRow, restored: Mapping[str, Any]) -> EventRow:
    """Return an event with the bank the study hangs on here."""
    if event.kind != EventKind.STUDY_DRAWN:
        return event
    return event._replace(detail={**event.detail, "bank": restored["bank"]})


def _joined(trail: Iterable[EventRow], merged: Mapping[str, Any]) -> Iterator[EventRow]:
    """Yield what a merged site's chain vouches for here.

    Of its models those came along that were not here and counted there: the last of their name.
    """
    told = list(trail)
    last = {
        event.detail["model_id"]: event.number
        for event in told
        if event.kind == EventKind.MODEL_ADDED and event.detail["model_id"] in merged["models"]
    }
    for event in told:
        kind, detail = event.kind, event.detail
        if kind == EventKind.MODEL_WITHDRAWN:
            continue
        if kind == EventKind.MODEL_ADDED:
            name = detail["model_id"]
            if last.get(name) != event.number:
                continue
            detail = {**detail, "edition": merged.get("editions", {}).get(name, 1)}
        if kind == EventKind.READER_INVITED:
            detail = {**detail, "site": detail["site"] or merged["site"]}
        yield event._replace(detail=detail)
