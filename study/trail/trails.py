"""Audit trails: the events of a study, searches and pages of them, and records of downloads.

The trail of a restored or merged study also records people, preparation and practice, which a
bundle does not contain, so that their rows are not in this store; such events are left out. The
chain of a merged site covers the merged data: the site's readers and their rows, and new models.

Downloads are recorded in the deployment's chain and not in the study's. Because a bundle contains
the study's chain, exporting a study twice thus gives the same bytes.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from study.base.actor import Acting
from study.base.canonical import canonical_json, stamp
from study.base.text import csv_line
from study.lifecycle import exposure
from study.store import Store, Transaction, banks, events, people
from study.store import events as stored
from study.store.events import EventKind, EventRow
from study.store.studies import StudyRow

_NOT_IN_BUNDLE = frozenset(
    {
        EventKind.PREPARATION_DONE,
        EventKind.PRACTICE_CASE_READ,
        EventKind.ROLE_GIVEN,
        EventKind.ROLE_REVOKED,
        EventKind.STUDY_COPIED,
    }
)


def own_trail(look: Transaction, study: str) -> list[EventRow]:
    """Return the events of a study's own chain that concern rows in this store."""
    trail = list(events.walk(look, events.study_chain(study)))
    restored = [event for event in trail if event.kind == EventKind.STUDY_RESTORED]
    if not restored:
        return list(trail)
    last = restored[-1]
    before = _events_of_bundle(trail[: last.number - 1])
    return [*(_with_bank_name(event, last.detail) for event in before), *trail[last.number - 1 :]]


def sites_trail(look: Transaction, study: str) -> list[EventRow]:
    """Return the events of all merged sites' chains that concern rows in this store."""
    return [
        event
        for chain, merged in merged_chains(look, study).items()
        for event in _events_of_site(_events_of_bundle(events.walk(look, chain)), merged)
    ]


def merged_chains(look: Transaction, study: str) -> dict[str, Mapping[str, Any]]:
    """Return the merge of each site, as recorded in the study's chain, by the name of its chain."""
    merges = events.of_kind(look, events.study_chain(study), EventKind.SITE_MERGED)
    return {events.merged_chain(study, merge["deployment_id"]): merge for merge in merges}


def site_breaches(look: Transaction, row: StudyRow, trail: Sequence[EventRow]) -> Iterator[str]:
    """Yield a line for each merged site whose chain was replaced or belongs to another study."""
    for chain, merge in merged_chains(look, row.name).items():
        place = f"study {row.name}: the site {merge['deployment_id']}"
        if events.head(look, chain) != (merge["last_event"], merge["last_event_hash"]):
            yield f"{place}: its chain was replaced."
            continue
        drawn = events.of_kind(look, chain, EventKind.STUDY_DRAWN)
        if [detail["protocol_sha256"] for detail in drawn] != [row.protocol_sha256]:
            yield f"{place}: it had another protocol."


def _events_of_bundle(trail: Iterable[EventRow]) -> Iterator[EventRow]:
    """Yield the events that concern rows contained in a bundle."""
    for event in trail:
        if event.kind not in _NOT_IN_BUNDLE:
            yield event._replace(
                detail={
                    key: value for key, value in event.detail.items() if key != "practice_sha256"
                }
            )


def _with_bank_name(event: EventRow, restored: Mapping[str, Any]) -> EventRow:
    """Return an event with the name of the study's bank in this store."""
    if event.kind != EventKind.STUDY_DRAWN:
        return event
    return event._replace(detail={**event.detail, "bank": restored["bank"]})


def _events_of_site(trail: Iterable[EventRow], merged: Mapping[str, Any]) -> Iterator[EventRow]:
    """Yield the events of a merged site's chain that concern rows in this store.

    Of the site's models, only those were merged that were in force and did not exist here.
    """
    site_events = list(trail)
    last = {
        event.detail["model_id"]: event.number
        for event in site_events
        if event.kind == EventKind.MODEL_ADDED and event.detail["model_id"] in merged["models"]
    }
    for event in site_events:
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


def record_download(store: Store, *, study: str, file: str, content: bytes, acting: Acting) -> None:
    """Record that a person downloaded data of a study."""
    details = {"n_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    record_export(store, study=study, file=file, acting=acting, **details)


def record_export(store: Store, *, study: str, file: str, acting: Acting, **details: Any) -> None:
    """Record a download that is generated while it is sent and therefore has no hash yet."""
    with store.change() as change:
        detail = {**({"study": study} if study else {}), "what": file, **details}
        events.record(change, "", acting, kind=EventKind.DOWNLOADED, detail=detail)


READING_KINDS = (
    EventKind.CASE_PRESENTED,
    EventKind.CASE_READ,
    EventKind.PRACTICE_CASE_READ,
    EventKind.PREPARATION_DONE,
)
"""The kinds of events from reading; most events in a trail are of these kinds."""

_BATCH = 2000
_SHOWN_SEPARATELY = ("old", "new", "changes", "reason", "role", "place", "sign_in")
_COLUMNS = (
    "chain",
    "number",
    "at_utc",
    "actor",
    "role",
    "place",
    "kind",
    "about",
    "old",
    "new",
    "reason",
    "hash",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A search in a trail; empty fields match everything. `until` is exclusive.

    `labelled_kinds` contains the kinds of event whose label contains the text.
    """

    text: str = ""
    labelled_kinds: tuple[str, ...] = ()
    kind: str = ""
    actor: str = ""
    since: datetime | None = None
    until: datetime | None = None
    with_readings: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailRow:
    """An event as the trail page shows it.

    `place` is the address of the actor if known, otherwise its mark; `about` contains the further
    details. `site` is the deployment in which the event happened; empty for this one.
    """

    site: str
    number: int
    at_utc: str
    actor: str
    role: str
    place: str
    kind: str
    about: str
    old: str
    new: str
    reason: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of a search result, the newest event first, and the total number of events."""

    rows: tuple[TrailRow, ...]
    n_found: int


def search(store: Store, study: str, query: Search, *, page: int, size: int) -> Page:
    """Return a page of a study's trail or, if `study` is empty, of the deployment's trail.

    Pages count from 0.
    """
    with store.look() as look:
        condition = _condition(look, study, query)
        rows = stored.page_of_events(look, condition, limit=size, offset=page * size)
        places, hidden = people.places(look), _HiddenReasons(look)
        return Page(
            rows=tuple(_trail_row(row, places, hidden) for row in rows),
            n_found=stored.n_matching(look, condition),
        )


def event_kinds(store: Store, study: str) -> list[str]:
    """Return the kinds of events in a trail, including those from reading."""
    return _values_of(store, study, "kind")


def actors(store: Store, study: str) -> list[str]:
    """Return the actors in a trail."""
    return _values_of(store, study, "actor")


def trail_csv(store: Store, study: str, query: Search) -> Iterator[bytes]:
    """Yield a trail as CSV, the oldest event first, with marks instead of addresses.

    The trail is read in batches. `about` contains further details as JSON.
    """
    yield _csv_line(_COLUMNS)
    with store.look() as look:
        hidden = _HiddenReasons(look)
        for row in stored.matching_events(look, _condition(look, study, query), batch=_BATCH):
            printed = _trail_row(row, {}, hidden)
            cells = {name: getattr(printed, name) for name in _COLUMNS if name != "chain"}
            yield _csv_line([row.chain, *map(str, cells.values())])


def _values_of(store: Store, study: str, field: str) -> list[str]:
    with store.look() as look:
        return stored.distinct_values(
            look, field, _condition(look, study, Search(with_readings=True))
        )


def _condition(look: Transaction, study: str, query: Search) -> stored.EventFilter:
    chosen = query.kind in READING_KINDS
    search = stored.EventSearch(
        **_chains_of(look, study),
        leave_out=() if query.with_readings or chosen else READING_KINDS,
        kind=query.kind,
        actor=query.actor,
        text=" ".join(query.text.split()),
        named=query.labelled_kinds,
        hidden=_HiddenReasons(look).banks() if query.text.strip() else (),
        from_utc=stamp(query.since) if query.since else "",
        before_utc=stamp(query.until) if query.until else "",
    )
    return stored.events_where(search)


def _chains_of(look: Transaction, study: str) -> dict[str, Any]:
    if not study:
        return {"chains": [events.DEPLOYMENT]}
    return {
        "chains": [events.study_chain(study), *merged_chains(look, study)],
        "deployment": events.DEPLOYMENT,
        "study": study,
    }


class _HiddenReasons:
    """The reasons for striking off items, which are hidden while they may reveal answers."""

    def __init__(self, look: Transaction) -> None:
        self._look = look
        self._hidden: dict[str, str] = {}

    def reason(self, row: EventRow) -> str:
        """Return an event's reason, or why it is hidden."""
        reason = str(row.detail.get("reason", ""))
        if row.kind not in (EventKind.ITEM_STRUCK, EventKind.ITEM_TAKEN_BACK):
            return reason
        return self._reason_of(str(row.detail.get("bank", ""))) or reason

    def banks(self) -> list[str]:
        """Return the banks whose reasons are hidden."""
        return [bank.name for bank in banks.listed(self._look) if self._reason_of(bank.name)]

    def _reason_of(self, name: str) -> str:
        if name not in self._hidden:
            bank = banks.find(self._look, name)
            self._hidden[name] = exposure.withheld_reason(self._look, bank.id) if bank else ""
        return self._hidden[name]


def _trail_row(row: EventRow, places: Mapping[str, str], hidden: _HiddenReasons) -> TrailRow:
    detail = row.detail
    mark = str(detail.get("place", ""))
    return TrailRow(
        site=row.chain.partition("#")[2] if row.chain != events.DEPLOYMENT else "",
        number=row.number,
        at_utc=row.at_utc,
        actor=row.actor,
        role=str(detail.get("role", "")),
        place=places.get(mark, mark),
        kind=row.kind,
        about=_other_details(detail),
        old=_changed_values(detail, "old"),
        new=_changed_values(detail, "new"),
        reason=hidden.reason(row),
        hash=row.hash,
    )


def _other_details(detail: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in detail.items() if key not in _SHOWN_SEPARATELY}
    return canonical_json(rest) if rest else ""


def _changed_values(detail: Mapping[str, Any], side: str) -> str:
    """Return the old or new value of a change; several values are listed with their names."""
    changes = detail.get("changes")
    if side in detail or not isinstance(changes, dict):
        return _cell_text(detail.get(side))
    return "; ".join(
        f"{key} = {_cell_text(change.get(side))}"
        for key, change in changes.items()
        if isinstance(change, dict)
    )


def _cell_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else canonical_json(value)


def _csv_line(cells: Sequence[str]) -> bytes:
    return csv_line(cells).encode("utf-8", "replace")
