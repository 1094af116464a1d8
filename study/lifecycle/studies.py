"""Draws, opens, closes and discards studies, and invites their readers.

Opening a study locks its protocol. The hash of the protocol also covers the bank's content and the
drawn cases, so that two deployments with the same protocol and bank have the same hash. All
assignments are stored before reading starts; a reader who is invited to an open study is assigned
cases with the invitation.

While a study is open, nobody can see accuracy, including coordinators, unless the protocol allows
it, because this knowledge could influence interventions. All code that shows results checks
`shows_accuracy`.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from study.base.actor import Acting
from study.base.canonical import canonical_json, sha256_of, stamp
from study.base.errors import BadFile, BrokenStore, NotNow, StudyError
from study.base.text import check_name, checked_reason, formula_fault, name_fault, quoted, text_key
from study.base.translation import t
from study.lifecycle import aids, exposure, placements
from study.monitoring.progress import Completeness, completeness_in
from study.people import persons
from study.people.codes import Code, issue_code
from study.people.invitations import Invitation, years_fault
from study.people.roles import Role
from study.protocol import sampling
from study.protocol.assignment import assign_reader
from study.protocol.protocol import Protocol, example_faults, refuse_example, stored_protocol
from study.protocol.sampling import Stratum
from study.store import (
    Store,
    Transaction,
    archive,
    banks,
    deployment,
    events,
    models,
    people,
    studies,
)
from study.store import aids as store_aids
from study.store.aids import AidRow
from study.store.banks import bank_row
from study.store.events import EventKind
from study.store.people import ReaderRow
from study.store.studies import PRACTICE, StudyRow, refuse_restored, study_row


def draw(
    store: Store, *, bank: str, study: str, protocol: Protocol, acting: Acting
) -> tuple[Stratum, ...]:
    """Draw a study's cases and store them with its protocol.

    Raises
    ------
    NotFound
        The bank does not exist.
    BadProtocol
        The consent text still contains the placeholder.
    NotNow
        The name is in use.
    BadInput
        The name is invalid, or the bank has too few suitable cases.
    """
    refuse_example(protocol)
    with store.change() as change:
        _, strata = draw_within(change, bank=bank, study=study, protocol=protocol, acting=acting)
    return strata


def draw_within(
    change: Transaction, *, bank: str, study: str, protocol: Protocol, acting: Acting
) -> tuple[int, tuple[Stratum, ...]]:
    """Draw a study within the caller's transaction; return its row ID and the strata."""
    drawable = drawable_bank(change, bank, study)
    drawn = sampling.compute_draw(change, int(drawable.id), protocol)
    locked = sampling.locked_values(protocol, study, drawable.content_sha256, drawn)
    row = studies.add(
        change,
        name=study,
        bank=int(drawable.id),
        state="drawn",
        protocol=canonical_json(locked),
        protocol_sha256=sha256_of(locked),
        drawn_at_utc=stamp(acting.now),
    )
    _add_drawn(change, row, int(drawable.id), drawn)
    events.record(
        change,
        study,
        acting,
        kind=EventKind.STUDY_DRAWN,
        detail={
            "bank": bank,
            "n_cases": len(drawn.cases),
            "protocol_sha256": sha256_of(locked),
            "cases_sha256": cases_hash(change, row),
            **({"practice_sha256": practice_cases_hash(change, row)} if drawn.practice else {}),
        },
    )
    return row, drawn.strata


def drawable_bank(look: Transaction, bank: str, study: str) -> banks.BankRow:
    """Return the bank from which a study with this name can be drawn.

    Raises
    ------
    NotFound
        The bank does not exist.
    NotNow
        The name of the study is in use, or the bank has no images.
    BadInput
        The name of the study is invalid.
    """
    check_name(study, "study")
    row = bank_row(look, bank)
    if studies.find(look, study):
        raise NotNow(t("A study named {study} already exists. Choose another name.", study=study))
    if row.format == banks.FROM_BUNDLE:
        raise NotNow(
            t(
                "The bank {bank} came with a restored study and has no images. Import it again.",
                bank=bank,
            )
        )
    return row


def _add_drawn(change: Transaction, study: int, bank: int, drawn: sampling.DrawResult) -> None:
    studies.add_cases(
        change,
        study,
        (
            (banks.item_number(change, bank, item_id), position, stratum)
            for position, (item_id, stratum) in enumerate(drawn.cases, start=1)
        ),
    )
    studies.add_practice_cases(
        change, study, (banks.item_number(change, bank, item_id) for item_id in drawn.practice)
    )
    if drawn.wrong_images:
        cases = {row.item_id: row.id for row in studies.cases(change, study)}
        studies.add_wrong_images(
            change,
            ((cases[item_id], cases[other]) for item_id, other in drawn.wrong_images.items()),
        )


def cases_hash(look: Transaction, study: int) -> str:
    """Return the hash of a study's cases with their numbers and strata."""
    return sha256_of([[row.number, row.item_id, row.stratum] for row in studies.cases(look, study)])


def practice_cases_hash(look: Transaction, study: int) -> str:
    """Return the hash of a study's practice cases with their numbers."""
    return sha256_of([[row.number, row.item_id] for row in studies.cases(look, study, PRACTICE)])


def item_hashes(look: Transaction, study: int, salt: str) -> dict[str, str]:
    """Return the hash of the displayed content of a study's items, and the hash of their truth.

    Parameters
    ----------
    salt
        Without a salt, the truth of a few items could be found from the hash by trying all answers.
    """
    rows = banks.items_of_study(look, study)
    displayed = [{**row._asdict(), "truth": None} for row in rows]
    return {
        "items_sha256": sha256_of([displayed, archive.case_rows(look, study)]),
        "truth_sha256": sha256_of([salt, [[row.item_id, row.truth] for row in rows]]),
    }


def invite(
    store: Store,
    *,
    study: str,
    invitations: Sequence[Invitation],
    codes: Sequence[Code],
    deliver: Callable[[tuple[str, ...]], None] = lambda known: None,
    acting: Acting,
) -> tuple[str, ...]:
    """Invite all readers or none; their codes are stored only as salted hashes.

    Parameters
    ----------
    deliver
        Delivers the codes; it is called with the result within the transaction. If it fails, nobody
        is invited, because a code that was not delivered cannot be shown again.

    Returns
    -------
    tuple of str
        The readers who keep their previous code, recognised by their e-mail address.

    Raises
    ------
    BadFile
        A reader is already in the study, is listed twice, or has a model's name.
    """
    with store.change() as change:
        row = study_row(change, study)
        if row.state == "closed":
            raise NotNow(
                t(
                    "The study {study} is closed; no more readers can be invited.",
                    study=quoted(study),
                )
            )
        refuse_restored(row)
        _refuse_known_readers(change, row.id, invitations)
        known_flags = [
            _add_invited_reader(change, row, invitation, code, acting)
            for invitation, code in zip(invitations, codes, strict=True)
        ]
        known = tuple(
            invitation.reader_id
            for invitation, is_known in zip(invitations, known_flags, strict=True)
            if is_known
        )
        deliver(known)
    return known


def open_study(
    store: Store,
    *,
    study: str,
    acting: Acting,
    name_readers: Callable[[Transaction], None] = lambda change: None,
) -> str:
    """Open a study: lock its protocol and store all assignments; return the protocol's hash.

    Parameters
    ----------
    name_readers
        Records who will receive the head of the chain; it is called within the transaction.

    Raises
    ------
    NotNow
        The study is already open or discarded, has no readers, has a consent text with the
        placeholder, has a design that is impossible with its readers or its model, or would show
        the accuracy of cases that are being read in a study that hides it.
    BrokenStore
        The study was opened before, and its state was altered.
    """
    with store.change() as change:
        row = study_row(change, study)
        others = _check_opening(change, row)
        name_readers(change)
        aid_rows = aids.planned_aids(change, row)
        open_within(change, study=study, acting=acting, others=others, shown=aid_rows)
        exposure.record_others(change, row, others, EventKind.OTHER_STUDY_OPENED, acting)
    return str(row.protocol_sha256)


def opening_obstacle(store: Store, study: str) -> str:
    """Return why `open_study` would refuse, or an empty string."""
    with store.look() as look:
        try:
            _check_opening(look, study_row(look, study))
        except StudyError as error:
            return str(error)
    return ""


def _check_opening(look: Transaction, study: StudyRow) -> list[str]:
    """Check that a study can be opened, and return the studies whose trails record the opening."""
    placements.refuse_impossible(stored_protocol(study), _check_drawn(look, study))
    aids.planned_aids(look, study)
    if example_faults(stored_protocol(study).consent):
        raise NotNow(
            t(
                "The study {study} cannot be opened: its consent text still contains the example "
                "placeholder. Return the study to a draft, insert the text approved by your "
                "ethics committee, and draw the sample again.",
                study=study.name,
            )
        )
    return _affected_studies(look, study)


def _check_drawn(look: Transaction, study: StudyRow) -> list[ReaderRow]:
    """Return the readers of a drawn study, or raise an error if it is not in that state."""
    if study.discarded_at_utc:
        raise NotNow(t("The study {study} was discarded. Draw a new one.", study=study.name))
    if study.state != "drawn":
        raise NotNow(
            t("The study {study} is already {state}.", study=study.name, state=study.state)
        )
    readers = people.readers(look, study.id)
    if not readers:
        raise NotNow(t("The study {study} has no readers. Invite them first.", study=study.name))
    return readers


def _affected_studies(look: Transaction, study: StudyRow) -> list[str]:
    """Return the studies with the same cases whose trails must record the opening, or refuse it.

    These studies reveal answers that this study hides, or hide answers that this study reveals.
    """
    reading = exposure.studies_reading(look, study.bank, excluding=study.id)
    if reading and stored_protocol(study).interim_results:
        raise NotNow(exposure.interim_refusal(reading))
    hiding = reading if exposure.reveals(study._replace(state="open")) else []
    revealing = exposure.revealing_studies(look, study.bank, excluding=study.id)
    return list(dict.fromkeys([*hiding, *revealing]))


def open_within(
    change: Transaction,
    *,
    study: str,
    acting: Acting,
    others: Sequence[str] = (),
    shown: Sequence[AidRow] = (),
) -> None:
    """Open a study within the caller's transaction, after the caller has made all other checks.

    Parameters
    ----------
    others
        Other studies with the same cases, which the trail records.
    shown
        The model's answers as the aid shows them.
    """
    row = study_row(change, study)
    readers = _check_drawn(change, row)
    _refuse_opened_before(change, row, readers)
    store_aids.add(change, shown)
    places = placements.place_all(change, stored_protocol(row), readers)
    salt = deployment.keyed_mark(change, f"items of {study}")
    studies.mark_open(change, row.id, stamp(acting.now), salt)
    events.record(
        change,
        study,
        acting,
        kind=EventKind.STUDY_OPENED,
        detail={
            "protocol_sha256": row.protocol_sha256,
            "readers": [reader.reader_id for reader in readers],
            **item_hashes(change, row.id, salt),
            **aids.opening_facts(change, row),
            **aids.sealed_hashes(change, row.id, salt),
            **({"lists": placements.count_lists(places.values())} if places else {}),
            **({"others": list(others)} if others else {}),
        },
    )
    for index, reader in enumerate(readers):
        assign_reader(change, row, reader, places.get(reader.id, index), acting)


def _refuse_opened_before(look: Transaction, study: StudyRow, readers: Iterable[ReaderRow]) -> None:
    trail = events.walk(look, events.study_chain(study.name))
    opened = any(event.kind == EventKind.STUDY_OPENED for event in trail)
    if opened or any(studies.assignments(look, reader.id) for reader in readers):
        raise BrokenStore(
            t(
                "The study {name} was opened before and its state was changed afterwards. Ask "
                "the server's administrator to verify the database (docs/commands.md); this lists "
                "what else was changed.",
                name=quoted(study.name),
            )
        )


def _refuse_known_readers(look: Transaction, study: int, invitations: Sequence[Invitation]) -> None:
    faults = []
    readers = {text_key(row.reader_id) for row in people.readers(look, study)}
    known_ids = {text_key(row.model_id) for row in models.ever_of_study(look, study)}
    readers_seen: set[str] = set()
    for invitation in invitations:
        reader_id, key = invitation.reader_id, text_key(invitation.reader_id)
        fault = name_fault(reader_id) or formula_fault(reader_id)
        if fault:
            faults.append(
                t(
                    "{who}: the name {fault}. Choose another reader ID.",
                    who=quoted(reader_id),
                    fault=fault,
                )
            )
        for column in ("level", "years", "site"):
            fault = formula_fault(getattr(invitation, column))
            if fault:
                faults.append(
                    t(
                        "{who}: {column} {fault}. Start it with a letter or a digit, or leave it "
                        "empty.",
                        who=reader_id,
                        column=column,
                        fault=fault,
                    )
                )
        if (fault := years_fault(invitation.years)) and not formula_fault(invitation.years):
            faults.append(f"{reader_id}: {fault}")
        if key in readers_seen:
            faults.append(t("{who}: listed twice. Remove one of them.", who=reader_id))
        readers_seen.add(key)
        if key in readers:
            faults.append(
                t(
                    "{who}: already invited. Enter another ID, or give this reader a new code.",
                    who=reader_id,
                )
            )
        if key in known_ids:
            faults.append(
                t("{who}: a model already has this name. Choose another reader ID.", who=reader_id)
            )
    if faults:
        raise BadFile(t("No one was invited:\n") + "\n".join(f"  {fault}" for fault in faults))


def reader_facts(row: ReaderRow) -> dict[str, str]:
    """Return the facts about a reader that the event of their invitation records."""
    return {key: getattr(row, key) for key in ("reader_id", "level", "years", "site")}


def _add_invited_reader(
    change: Transaction, study: StudyRow, invitation: Invitation, code: Code, acting: Acting
) -> bool:
    """Add an invited reader, and return whether they keep their previous code."""
    details = {
        "reader_id": invitation.reader_id,
        "level": invitation.level,
        "years": invitation.years.replace(",", "."),
        "site": invitation.site,
    }
    person, known = persons.person_for_reader(change, invitation.email, study.id, acting.now)
    number = people.add_reader(
        change, study=study.id, **details, simulated=0, invited_at_utc=stamp(acting.now)
    )
    people.grant(
        change,
        person=person,
        role=Role.READER,
        study=study.id,
        reader=number,
        given_at_utc=stamp(acting.now),
    )
    if not known:
        issue_code(change, code, person=person, now=acting.now)
        if invitation.name or invitation.email:
            persons.store_name(change, person, name=invitation.name, email=invitation.email)
    cases_seen = exposure.known_cases(change, person, study)
    exposure_detail = (
        {"may_know": [person.as_detail for person in cases_seen]} if cases_seen else {}
    )
    events.record(
        change,
        study.name,
        acting,
        kind=EventKind.READER_INVITED,
        detail={**details, **exposure_detail},
    )
    if study.state == "open":
        readers = people.readers(change, study.id)
        place = placements.place_late(change, study, readers)
        assign_reader(change, study, readers[-1], place, acting)
    return known


def shows_accuracy(study: StudyRow) -> bool:
    """Return whether accuracy may be seen: after closing, or earlier if the protocol allows it.

    A drawn study does not show accuracy, because its bank may be read in another study.
    """
    return study.state == "closed" or (
        study.state == "open" and stored_protocol(study).interim_results
    )


def accuracy_is_shown(store: Store, study: str) -> bool:
    """Return whether the accuracy of a study may be seen now."""
    with store.look() as look:
        return shows_accuracy(study_row(look, study))


def close(store: Store, *, study: str, reason: str, acting: Acting) -> Completeness:
    """Close a study permanently: no more readings are accepted, and accuracy may be shown.

    Returns
    -------
    Completeness
        The counts of the study at closing, which are recorded in the trail.

    Raises
    ------
    NotNow
        The study is not open.
    BadInput
        The reason is empty or too long.
    """
    words = checked_reason(reason)
    with store.change() as change:
        row = study_row(change, study)
        if row.state != "open":
            raise NotNow(_not_open(row))
        completeness = completeness_in(change, row)
        others = exposure.studies_reading(change, row.bank, excluding=row.id)
        studies.mark_closed(change, row.id, stamp(acting.now))
        events.record(
            change,
            study,
            acting,
            kind=EventKind.STUDY_CLOSED,
            detail={
                "old": "open",
                "new": "closed",
                "reason": words,
                "n_cases": completeness.n_cases,
                "n_readers": len(completeness.readers),
                "n_models": completeness.n_models,
                "readers": completeness.by_stage,
                "readings": {
                    **completeness.counts.as_dict,
                    "n_missing": completeness.counts.n_unread,
                },
                **({"others": others} if others else {}),
            },
        )
        exposure.record_others(change, row, others, EventKind.OTHER_STUDY_CLOSED, acting)
    return completeness


def _not_open(study: StudyRow) -> str:
    if study.state == "closed":
        return t(
            "The study {name} is already closed and cannot be reopened.", name=quoted(study.name)
        )
    return t("The study {name} was never opened, so it cannot be closed.", name=quoted(study.name))


def discard(store: Store, *, study: str, reason: str, acting: Acting) -> None:
    """Discard a study that has been drawn but not opened; its access codes stop working.

    Raises
    ------
    NotNow
        The study was opened or discarded.
    BadInput
        The reason is empty or too long.
    """
    detail = {"reason": checked_reason(reason)}
    with store.change() as change:
        row = set_aside(change, study, acting.now)
        kind = EventKind.STUDY_DISCARDED
        events.record(change, row.name, acting, kind=kind, detail=detail)


def set_aside(change: Transaction, study: str, now: datetime) -> StudyRow:
    """Mark a drawn study as discarded and return it; the caller records the event."""
    row = study_row(change, study)
    if row.state != "drawn":
        raise NotNow(
            t("The study {name} has already been opened; it can only be closed.", name=study)
        )
    if row.discarded_at_utc:
        raise NotNow(t("The study {name} was discarded.", name=study))
    studies.mark_discarded(change, row.id, stamp(now))
    return row
