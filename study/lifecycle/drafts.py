"""Manages drafts of studies, which are written and saved step by step and drawn when valid.

A draft's protocol is a mapping with the keys of the protocol file; it may be incomplete or
inconsistent until the draw. If two tabs edit a draft, the second tab that saves it gets an error.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypedDict, Unpack

from study.base.actor import Acting
from study.base.canonical import canonical_json, moment, stamp
from study.base.errors import BadInput, BadProtocol, NotFound, NotNow, StudyError
from study.base.text import LONGEST_NAME, check_name, checked_reason, name_fault
from study.base.translation import t
from study.lifecycle.studies import draw_within, drawable_bank, set_aside
from study.people.persons import add_role
from study.people.roles import Role
from study.protocol import sampling
from study.protocol.protocol import (
    Protocol,
    example_faults,
    faults_of,
    stored_protocol,
)
from study.protocol.sampling import Stratum
from study.store import Store, Transaction, bank_contents, events, people, studies
from study.store import studies as stored
from study.store.banks import bank_row
from study.store.events import EventKind
from study.store.studies import DraftRow, study_row

CASES_TO_BEGIN_WITH = (200, 150, 100, 75, 50, 40, 30, 25, 20, 15, 10, 5, 2, 1)
"""Numbers of cases tried for a new draft; the first number that its bank can provide is used."""


class SavedElsewhere(NotNow):
    """A draft was saved by another person or tab since it was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyDraft:
    """A study that is being written; `bank` is empty until one is chosen.

    `reached` is the number of completed steps.
    """

    id: int
    name: str
    bank: str
    values: Mapping[str, Any] = field(default_factory=dict)
    made_by: str
    saved_at_utc: str
    reached: int = 0

    @property
    def protocol_values(self) -> dict[str, Any]:
        """Return the keys and values of the draft's protocol, valid or not.

        The study and its protocol have the same name, so that a study drawn from a protocol file
        has the same hash.
        """
        return {**Protocol().in_full(), **self.values, "name": self.name}


def begin(
    store: Store,
    *,
    name: str,
    maker: int,
    bank: str,
    acting: Acting,
    values: Mapping[str, Any] | None = None,
) -> int:
    """Create a draft and return its ID.

    Parameters
    ----------
    maker
        The person who creates the draft.
    values
        The initial protocol; by default, a new protocol with shuffled options and the first
        number in `CASES_TO_BEGIN_WITH` that the bank can provide.

    Raises
    ------
    BadInput
        The name is invalid.
    NotNow
        The name is in use.
    NotFound
        The bank does not exist.
    """
    with store.change() as change:
        _refuse_used_name(change, name, None)
        number = bank_row(change, bank).id
        initial_values = (
            dict(values) if values is not None else _initial_values(change, number, acting.now)
        )
        draft = stored.add_draft(
            change,
            name=name,
            made_by=maker,
            bank=number,
            protocol=canonical_json(initial_values),
            saved_at_utc=stamp(acting.now),
        )
        events.record(
            change, "", acting, kind=EventKind.DRAFT_BEGUN, detail={"draft": name, "bank": bank}
        )
    return draft


def rules_of(store: Store, study: str) -> dict[str, Any]:
    """Return the current protocol of a study as the initial values of a draft."""
    with store.look() as look:
        return stored_protocol(study_row(look, study)).in_full()


def find(store: Store, number: int) -> StudyDraft:
    """Return a draft.

    Raises
    ------
    NotFound
        The draft was drawn or deleted.
    """
    with store.look() as look:
        return _draft(_row(look, number))


def list_drafts(store: Store) -> list[StudyDraft]:
    """Return all drafts, the last saved first."""
    with store.look() as look:
        return [_draft(row) for row in stored.listed_drafts(look)]


class Content(TypedDict):
    """The saved part of a draft: its name, bank (empty for none) and protocol values."""

    name: str
    bank: str
    values: Mapping[str, Any]


def save(
    store: Store,
    number: int,
    *,
    seen_saved_at_utc: str,
    now: datetime,
    **content: Unpack[Content],
) -> str:
    """Save a draft and return the time of saving.

    Parameters
    ----------
    seen_saved_at_utc
        The time at which the draft had last been saved when it was read.

    Raises
    ------
    SavedElsewhere
        The draft has since been saved by another person or tab; nothing was stored.
    BadInput
        The name is invalid.
    NotNow
        The name is in use.
    NotFound
        The draft was drawn or deleted, or the bank does not exist.
    """
    with store.change() as change:
        row = _row(change, number)
        _refuse_overwriting(row, seen_saved_at_utc)
        _refuse_used_name(change, content["name"], number)
        # Two saves within a millisecond must have different times.
        at = max(stamp(now), stamp(moment(row.saved_at_utc) + timedelta(milliseconds=1)))
        stored.save_draft(
            change,
            number,
            name=content["name"],
            bank=bank_row(change, content["bank"]).id if content["bank"] else None,
            protocol=canonical_json(dict(content["values"])),
            saved_at_utc=at,
        )
    return at


def record_completed_steps(store: Store, number: int, steps: int) -> None:
    """Record the number of completed steps of a draft; its values do not change."""
    with store.change() as change:
        stored.reach_draft(change, number, steps)


def remove(store: Store, number: int, *, acting: Acting) -> None:
    """Delete a draft."""
    with store.change() as change:
        row = _row(change, number)
        stored.remove_draft(change, number)
        events.record(
            change, "", acting, kind=EventKind.DRAFT_THROWN_AWAY, detail={"draft": row.name}
        )


def draw(
    store: Store, number: int, *, seen_saved_at_utc: str, maker: int, acting: Acting
) -> tuple[str, tuple[Stratum, ...]]:
    """Draw the study of a draft, whose maker becomes its coordinator; return its name and strata.

    An administrator of the deployment already runs all studies and does not get a role in this one.

    Raises
    ------
    BadProtocol
        The protocol has faults, which are all listed.
    NotNow
        The draft has since been saved again, or the bank has too few cases.
    """
    with store.change() as change:
        row = _row(change, number)
        _refuse_overwriting(row, seen_saved_at_utc)
        draft = _draft(row)
        problems = faults(draft)
        if problems:
            fault_list = "\n".join(f"  {fault}" for fault in problems)
            raise BadProtocol(t("The sample was not drawn:") + f"\n{fault_list}")
        protocol = Protocol.from_json(draft.protocol_values)
        _, strata = draw_within(
            change, bank=draft.bank, study=draft.name, protocol=protocol, acting=acting
        )
        _make_coordinator(change, maker, draft.name, acting)
        stored.remove_draft(change, number)
    return draft.name, strata


def faults(draft: StudyDraft) -> list[str]:
    """Return the faults of a draft that can be found without the bank."""
    fault = name_fault(draft.name)
    name_faults = [t("name: {fault}.", fault=fault)] if fault else []
    bank_faults = [] if draft.bank else [t("bank: none has been chosen.")]
    values = draft.protocol_values
    return [*name_faults, *bank_faults, *faults_of(values), *example_faults(values["consent"])]


def draw_faults(
    store: Store,
    draft: StudyDraft,
    try_draw: Callable[[str, Mapping[str, Any]], object],
) -> list[str]:
    """Return why `draw` would refuse: the faults of the draft or, if it has none, of the draw.

    Parameters
    ----------
    try_draw
        Computes the draw from a named bank with the values of a protocol, and raises the same
        errors as `study.protocol.sampling.compute_draw`.
    """
    problems = faults(draft)
    if problems:
        return problems
    try:
        with store.look() as look:
            drawable_bank(look, draft.bank, draft.name)
        try_draw(draft.bank, draft.protocol_values)
    except StudyError as error:
        return [str(error)]
    return []


def return_to_draft(
    store: Store, *, study: str, reason: str, acting: Acting, maker: int | None = None
) -> int:
    """Discard a drawn study and create a draft with its bank and protocol; return the draft's ID.

    The study keeps its name and audit trail, so the draft gets another name.

    Parameters
    ----------
    maker
        The owner of the draft; by default, a coordinator of the study or an administrator.

    Raises
    ------
    NotNow
        The study was opened or discarded.
    BadInput
        The reason is empty or too long.
    NotFound
        There is neither a coordinator nor an administrator.
    """
    why = checked_reason(reason)
    with store.change() as change:
        row = set_aside(change, study, acting.now)
        name = _unused_name(change, study)
        values = stored_protocol(row).in_full()
        draft = stored.add_draft(
            change,
            name=name,
            made_by=_draft_owner(change, row.id) if maker is None else maker,
            bank=row.bank,
            protocol=canonical_json(values),
            saved_at_utc=stamp(acting.now),
        )
        detail = {"reason": why, "draft": name}
        kind = EventKind.STUDY_RETURNED_TO_DRAFT
        events.record(change, study, acting, kind=kind, detail=detail)
        draft_detail = {"draft": name, "bank": row.bank_name, "study": study}
        events.record(change, "", acting, kind=EventKind.DRAFT_BEGUN, detail=draft_detail)
    return draft


def _draft_owner(look: Transaction, study: int) -> int:
    """Return a coordinator or administrator who can own a draft."""
    grants = [
        *(row for row in people.grants_of_study(look, study) if row.role == Role.COORDINATOR),
        *(row for row in people.grants_of_deployment(look) if row.role == Role.ADMINISTRATOR),
    ]
    for row in grants:
        if not row.revoked_at_utc:
            return row.person
    raise NotFound(
        t("There is no coordinator or administrator to own the draft. Add an administrator first.")
    )


def unused_name(store: Store, wish: str) -> str:
    """Return a name similar to `wish` that no study or draft has."""
    with store.look() as look:
        return _unused_name(look, wish)


def _unused_name(look: Transaction, wish: str) -> str:
    used_names = {*studies.names(look), *(row.name for row in stored.listed_drafts(look))}
    if wish not in used_names:
        return wish
    tries = (f"{wish[: LONGEST_NAME - 6].rstrip()} ({n})" for n in range(2, len(used_names) + 3))
    return next(name for name in tries if name not in used_names)


def _initial_values(look: Transaction, bank: int, now: datetime) -> dict[str, Any]:
    values = {**Protocol().in_full(), "seed": int(f"{now:%Y%m%d}"), "option_order": "random"}
    tasks = bank_contents.counts(look, bank, "task")
    if len(tasks) < 2:
        values["stratify_by"] = []
    for cases in CASES_TO_BEGIN_WITH:
        candidate = {**values, "cases": cases}
        try:
            sampling.compute_draw(look, bank, Protocol.from_json(candidate))
        except BadInput:
            continue
        return candidate
    return values


def _make_coordinator(change: Transaction, maker: int, study: str, acting: Acting) -> None:
    roles = people.current_grants(change, maker)
    if any(row.role == Role.ADMINISTRATOR and row.study is None for row in roles):
        return
    add_role(change, maker, Role.COORDINATOR, study=study, acting=acting)


def _row(look: Transaction, number: int) -> DraftRow:
    row = stored.find_draft(look, number)
    if row is None:
        raise NotFound(t("This draft no longer exists: its sample was drawn or it was deleted."))
    return row


def _draft(row: DraftRow) -> StudyDraft:
    return StudyDraft(
        id=row.id,
        name=row.name,
        bank=row.bank_name or "",
        values=json.loads(row.protocol),
        made_by=row.handle,
        saved_at_utc=row.saved_at_utc,
        reached=row.reached,
    )


def _refuse_overwriting(row: DraftRow, seen_saved_at_utc: str) -> None:
    if row.saved_at_utc != seen_saved_at_utc:
        raise SavedElsewhere(
            t("This draft has since been saved in another window. Reload it before you continue.")
        )


def _refuse_used_name(look: Transaction, name: str, number: int | None) -> None:
    check_name(name, "study")
    others = {row.name for row in stored.listed_drafts(look) if row.id != number}
    if name in others or name in studies.names(look):
        raise NotNow(
            t("A study or draft named {name} already exists. Choose another name.", name=name)
        )
