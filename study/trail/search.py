"""The trail: every act on a study or the deployment, by whom, when, from where, and why.

Readings are acts too, but of another kind: they are left out unless asked for. The trail is read
from the chain of events and nothing else.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from study.base.canonical import canonical_json, stamp
from study.base.text import csv_line
from study.store import Store, Transaction, events, people
from study.store import trail as stored
from study.store.events import EventKind, EventRow
from study.trail.study_trails import merged_chains

OF_READING = (
    EventKind.CASE_PRESENTED,
    EventKind.CASE_READ,
    EventKind.PRACTICE_CASE_READ,
    EventKind.PREPARATION_DONE,
)
"""What readers do at their page, a row a case: by far the most of any trail."""

_BATCH = 2000
_ELSEWHERE = ("old", "new", "changes", "reason", "role", "place", "sign_in")
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
    """What of a trail is looked for; empty is everything. `until` is not included.

    `named` are the kinds of event that the text stands for where people see it.
    """

    text: str = ""
    named: tuple[str, ...] = ()
    kind: str = ""
    actor: str = ""
    since: datetime | None = None
    until: datetime | None = None
    with_readings: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailRow:
    """One event: `place` is where from (an address where it is known), `about` what else it says.

    `site` is the deployment it happened in, empty for this one.
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
    """One page of what was found, the newest first, and how many rows were found in all."""

    rows: tuple[TrailRow, ...]
    n_found: int


def search(store: Store, study: str, wanted: Search, *, page: int, size: int) -> Page:
    """Return one page, from 0, of a study's trail, or where `study` is empty the deployment's."""
    with store.look() as look:
        condition = _condition(look, study, wanted)
        rows = stored.page(look, condition, limit=size, offset=page * size)
        places = people.places(look)
        return Page(
            rows=tuple(_trail_row(row, places) for row in rows),
            n_found=stored.count(look, condition),
        )


def kinds(store: Store, study: str) -> list[str]:
    """Return the kinds of acts a trail has, those of reading too."""
    return _told(store, study, "kind")


def actors(store: Store, study: str) -> list[str]:
    """Return whoever acts in a trail."""
    return _told(store, study, "actor")


def as_csv(store: Store, study: str, wanted: Search) -> Iterator[bytes]:
    """Yield a trail as CSV, oldest first: places as marks, names in none of it.

    It is read a batch at a time; `about` is what else an event says, as JSON.
    """
    yield _line(_COLUMNS)
    with store.look() as look:
        for row in stored.every(look, _condition(look, study, wanted), batch=_BATCH):
            one = _trail_row(row, {})
            told = {name: getattr(one, name) for name in _COLUMNS if name != "chain"}
            yield _line([row.chain, *map(str, told.values())])


def _told(store: Store, study: str, what: str) -> list[str]:
    with store.look() as look:
        return stored.told(look, what, _condition(look, study, Search(with_readings=True)))


def _condition(look: Transaction, study: str, wanted: Search) -> stored.Condition:
    chosen = wanted.kind in OF_READING
    return stored.condition(
        **_whose(look, study),
        leave_out=() if wanted.with_readings or chosen else OF_READING,
        kind=wanted.kind,
        actor=wanted.actor,
        text=" ".join(wanted.text.split()),
        named=wanted.named,
        from_utc=stamp(wanted.since) if wanted.since else "",
        before_utc=stamp(wanted.until) if wanted.until else "",
    )


def _whose(look: Transaction, study: str) -> dict[str, Any]:
    if not study:
        return {"chains": [events.DEPLOYMENT]}
    return {
        "chains": [events.study_chain(study), *merged_chains(look, study)],
        "deployment": events.DEPLOYMENT,
        "study": study,
    }


def _trail_row(row: EventRow, places: Mapping[str, str]) -> TrailRow:
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
        about=_about(detail),
        old=_side(detail, "old"),
        new=_side(detail, "new"),
        reason=str(detail.get("reason", "")),
        hash=row.hash,
    )


def _about(detail: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in detail.items() if key not in _ELSEWHERE}
    return canonical_json(rest) if rest else ""


def _side(detail: Mapping[str, Any], side: str) -> str:
    """Return the old or the new value of what was changed, each by name where there are several."""
    changes = detail.get("changes")
    if side in detail or not isinstance(changes, dict):
        return _shown(detail.get(side))
    return "; ".join(
        f"{key} = {_shown(change.get(side))}"
        for key, change in changes.items()
        if isinstance(change, dict)
    )


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else canonical_json(value)


def _line(cells: Sequence[str]) -> bytes:
    return csv_line(cells).encode("utf-8", "replace")
