"""The trail in the store: events searched and paged, never all in memory."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from study.store.connection import Transaction
from study.store.events import FIELDS, EventRow, event_of


class EventFilter(NamedTuple):
    """A condition over events, and the values it names."""

    where: str
    values: dict[str, Any]


def page(look: Transaction, wanted: EventFilter, *, limit: int, offset: int) -> list[EventRow]:
    """Return one page of the events that a condition holds for, the newest first."""
    rows = look.rows(
        f"SELECT {FIELDS} FROM events WHERE id IN (SELECT id FROM events WHERE {wanted.where} "
        "ORDER BY at_utc DESC, id DESC LIMIT :limit OFFSET :offset) "
        "ORDER BY at_utc DESC, id DESC",
        **wanted.values,
        limit=limit,
        offset=offset,
    )
    return [event_of(row) for row in rows]


def count(look: Transaction, wanted: EventFilter) -> int:
    """Return how many events a condition holds for."""
    return int(look.value(f"SELECT count(*) FROM events WHERE {wanted.where}", **wanted.values))


def every(look: Transaction, wanted: EventFilter, *, batch: int) -> Iterator[EventRow]:
    """Yield the events that a condition holds for, oldest first, a batch at a time."""
    last = 0
    while rows := look.rows(
        f"SELECT id, {FIELDS} FROM events WHERE {wanted.where} AND id > :last "
        "ORDER BY id LIMIT :batch",
        **wanted.values,
        last=last,
        batch=batch,
    ):
        last = rows[-1]["id"]
        yield from map(event_of, rows)


def told(look: Transaction, what: str, wanted: EventFilter) -> list[str]:
    """Return the different kinds, or actors, of the events that a condition holds for."""
    column = {"kind": "kind", "actor": "actor"}[what]
    rows = look.rows(
        f"SELECT DISTINCT {column} AS name FROM events WHERE {wanted.where} ORDER BY name",
        **wanted.values,
    )
    return [row["name"] for row in rows]


def condition(
    *,
    chains: Sequence[str],
    deployment: str = "",
    study: str = "",
    leave_out: Sequence[str] = (),
    kind: str = "",
    actor: str = "",
    text: str = "",
    named: Sequence[str] = (),
    from_utc: str = "",
    before_utc: str = "",
) -> EventFilter:
    """Return a condition over events.

    Parameters
    ----------
    chains
        Whose events.
    deployment, study
        Beside them the events of this chain that name this study.
    text
        Words that stand in the detail, kind or actor, or an event's hash; letters of either case.
    named
        Kinds that the words stand for as well.
    """
    values: dict[str, Any] = {f"chain{i}": chain for i, chain in enumerate(chains)}
    own = f"chain IN ({', '.join(f':{name}' for name in values)})"
    if deployment:
        own = f"({own} OR (chain = :deployment AND json_extract(detail, '$.study') = :study))"
        values |= {"deployment": deployment, "study": study}
    parts = [own]
    if leave_out:
        names = {f"left{i}": one for i, one in enumerate(leave_out)}
        parts.append(f"kind NOT IN ({', '.join(f':{name}' for name in names)})")
        values |= names
    for column, sign, value in (
        ("kind", "=", kind),
        ("actor", "=", actor),
        ("at_utc", ">=", from_utc),
        ("at_utc", "<", before_utc),
    ):
        if value:
            name = f"{column}_{'from' if sign == '>=' else 'to' if sign == '<' else 'is'}"
            parts.append(f"{column} {sign} :{name}")
            values[name] = value
    if text:
        parts.append(
            "(detail LIKE :words ESCAPE '\\' OR kind LIKE :words ESCAPE '\\' "
            "OR actor LIKE :words ESCAPE '\\' OR hash LIKE :begin ESCAPE '\\' "
            f"OR kind IN ({', '.join(f':named{i}' for i in range(len(named)))}))"
        )
        safe = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        values |= {"words": f"%{safe}%", "begin": f"{safe}%"}
        values |= {f"named{i}": one for i, one in enumerate(named)}
    return EventFilter(" AND ".join(parts), values)
