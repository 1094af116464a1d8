"""Creates previews of a study as its readers will see it, in a temporary copy.

The copy is a separate store next to the deployment's store, with the study and a single reader.
The reader's desk uses it like any store, so a preview shows what readers see. In the study, only
an event records that a preview was opened.

While cases in the bank are being read in an open study whose accuracy is hidden, the copy contains
an invented reference standard, and each explanation is replaced by a note about this.
"""

import json
import re
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from study.base.actor import COMMAND_LINE, Acting
from study.base.bank_model import LETTERS
from study.base.canonical import sha256_of
from study.base.errors import BadInput, NotAllowed, NotFound, NotNow
from study.base.translation import t
from study.lifecycle import aids
from study.lifecycle import studies as life
from study.lifecycle.exposure import studies_reading
from study.people.codes import Entropy, new_code
from study.people.invitations import Invitation
from study.people.roles import Act, Role
from study.people.signing_in import MAX_DURATION, Person
from study.protocol.protocol import Protocol, stored_protocol
from study.store import Store, Transaction, banks, deployment, events, extract, people, studies
from study.store.deployment import secret
from study.store.events import EventKind
from study.store.studies import DraftRow, StudyRow

READER = "preview"
MAX_PREVIEWS = 20
"""Maximum number of previews per store; a new preview replaces the least recently used one."""

_MARK = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A preview of a study.

    Parameters
    ----------
    store
        The copy, which the reader's desk uses.
    reader
        The only reader in the copy.
    arm
        The reader's arm; empty in a study without arms.
    """

    mark: str
    arm: str
    store: Store
    reader: Person

    def discard(self) -> None:
        """Delete the copy, so that the next preview starts at the first case."""
        _remove(Path(self.store.address))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """The study or draft to preview, and whether its reference standard must be invented."""

    row: StudyRow | DraftRow
    arm: str
    mark: str
    made_up: bool


def preview(
    store: Store,
    person: Person,
    *,
    entropy: Entropy,
    now: datetime,
    draft: int | None = None,
    arm: str = "",
) -> Preview:
    """Return a person's preview of their study or of a draft; create it if there is none.

    A preview belongs to a sign-in and a version of the protocol; after a change of the protocol, a
    new preview starts at the first case.

    Parameters
    ----------
    draft
        Number of a draft; None for the person's study.
    arm
        Arm of the reader in a study with arms; empty for the first arm.

    Raises
    ------
    NotAllowed
        The person may not set up the study.
    NotFound
        The study, the draft or the arm does not exist.
    NotNow
        The study is closed, or the draft cannot be drawn yet.
    BadProtocol
        The draft's protocol has faults.
    """
    with store.look() as look:
        source = (
            _study_source(look, person, arm)
            if draft is None
            else _draft_source(look, person, draft, arm)
        )
    path = _path(store, source.mark)
    if not path.is_file():
        _create_copy(store, source, person, path, entropy, now)
        with store.change() as change:
            is_draft = isinstance(source.row, DraftRow)
            detail = {"draft": source.row.name} if is_draft else {}
            detail |= {"reference_standard": "made up"} if source.made_up else {}
            study_name = "" if is_draft else source.row.name
            events.record(
                change,
                study_name,
                Acting(by=person.by, now=now),
                kind=EventKind.PREVIEW_OPENED,
                detail=detail,
            )
    return find(store, person, source.mark)


def find(store: Store, person: Person, mark: str) -> Preview:
    """Return a current preview.

    Raises
    ------
    NotFound
        The preview has ended. A preview with the true reference standard ends when reading of its
        cases begins in a study.
    NotAllowed
        The preview belongs to another person, or to a study that the person may not set up.
    """
    path = _path(store, mark)
    if not _MARK.fullmatch(mark) or not path.is_file():
        raise NotFound(_ended_message())
    with suppress(OSError):
        path.touch()  # it is in use
    copy = Store(path, witnessed=False)
    with copy.look() as look:
        study = deployment.value(look, "preview_study")
        owner = deployment.value(look, "preview_owner")
        (row,) = studies.listed(look)
        (reader,) = people.readers(look, row.id)
        made_up = deployment.value(look, "preview_made_up")
    may_preview = person.may(Act.MAKE_STUDY) if not study else _sets_up(person, int(study))
    if not may_preview or owner != _owner(person):
        raise NotAllowed(t("This preview belongs to someone else. Open your own."))
    if not made_up:
        with store.look() as look:
            if studies_reading(look, row.bank):
                raise NotFound(_ended_message())
    reading = Person(
        role=Role.READER,
        study=row.id,
        study_name=row.name,
        reader=reader.id,
        name=READER,
        sign_in=mark,
    )
    return Preview(mark=mark, arm=reader.arm, store=copy, reader=reading)


def _ended_message() -> str:
    return t("This preview has ended. Open it again from the study's page.")


def _study_source(look: Transaction, person: Person, arm: str) -> _Source:
    row = studies.find(look, person.study_name)
    if row is None:
        raise NotFound(t("This study no longer exists."))
    if not _sets_up(person, row.id):
        raise NotAllowed(t("Only people who can set up this study can preview it."))
    if row.state == "closed":
        raise NotNow(t("The study is closed and can no longer be previewed."))
    made_up = bool(studies_reading(look, row.bank))
    own_arm = _checked_arm(stored_protocol(row), arm)
    fingerprint = ["study", row.id, row.protocol_sha256, row.amendments, made_up, own_arm]
    return _Source(
        row=row, arm=own_arm, mark=_preview_mark(look, person, fingerprint), made_up=made_up
    )


def _draft_source(look: Transaction, person: Person, number: int, arm: str) -> _Source:
    if not person.may(Act.MAKE_STUDY):
        raise NotAllowed(t("Only people who can set up studies can preview a draft."))
    row = studies.find_draft(look, number)
    if row is None:
        raise NotFound(t("This draft no longer exists."))
    if row.made_by != person.id and person.deployment is not Role.ADMINISTRATOR:
        raise NotAllowed(t("This draft belongs to someone else."))
    if row.bank is None:
        raise BadInput(t("Choose a question bank first: without one there are no cases to show."))
    made_up = bool(studies_reading(look, row.bank))
    own_arm = _checked_arm(_protocol(row), arm)
    fingerprint = ["draft", row.id, row.name, row.bank, row.protocol, made_up, own_arm]
    return _Source(
        row=row, arm=own_arm, mark=_preview_mark(look, person, fingerprint), made_up=made_up
    )


def _checked_arm(protocol: Protocol, arm: str) -> str:
    """Return the arm to preview; empty in a study without arms."""
    names = [each.name for each in protocol.arms]
    if arm and arm not in names:
        raise NotFound(t("This study has no arm {arm}.", arm=arm))
    return arm or next(iter(names), "")


def _protocol(draft: DraftRow) -> Protocol:
    return Protocol.from_json(json.loads(draft.protocol))


def _sets_up(person: Person, study: int) -> bool:
    return person.study == study and person.may(Act.SET_UP)


def _preview_mark(look: Transaction, person: Person, fingerprint: list[Any]) -> str:
    return sha256_of([secret(look), "preview", _owner(person), fingerprint])[:32]


def _owner(person: Person) -> str:
    return f"{person.id}/{person.sign_in}"


def _create_copy(
    store: Store, source: _Source, person: Person, path: Path, entropy: Entropy, now: datetime
) -> None:
    """Create the copy with a single reader under a temporary name, and rename it."""

    def fill(change: Transaction) -> None:
        deployment.set_once(
            change, "secret", entropy(32).hex()
        )  # different entropy gives different seals
        deployment.set_once(change, "preview_owner", _owner(person))
        deployment.set_once(change, "preview_made_up", "yes" if source.made_up else "")
        truth = _invented_truth() if source.made_up else None
        with store.look() as look:
            if isinstance(source.row, StudyRow):
                deployment.set_once(change, "preview_study", str(source.row.id))
                extract.copy_drawn_study(look, change, source.row.id, truth)
            elif source.row.bank is not None:
                extract.copy_bank(look, change, source.row.bank, truth)

    acting = Acting(by=COMMAND_LINE, now=now)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    _make_room(path.parent, now)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".new-") as scratch:
        copy = Store.create(Path(scratch) / "preview.db", fill, witnessed=False)
        if isinstance(source.row, DraftRow):
            _draw_draft(copy, source.row, acting)
        reader = [Invitation(reader_id=READER)]
        code = new_code(entropy)
        life.invite(copy, study=source.row.name, invitations=reader, codes=[code], acting=acting)
        with copy.change() as change:
            row = studies.study_row(change, source.row.name)
            shown = aids.example_aids(change, row)
            if source.arm:
                (only,) = people.readers(change, row.id)
                people.assign_list(change, only.id, source.arm, 1)
            life.open_within(change, study=source.row.name, acting=acting, shown=shown)
        copy.rename_to(path)


def _invented_truth() -> extract.FictitiousAnswers:
    return extract.FictitiousAnswers(
        truth=lambda item_id, n: LETTERS[int(sha256_of(["made up", item_id]), 16) % n],
        words=t(
            "This is not the real answer: cases from this bank are being read in an open study."
        ),
    )


def _draw_draft(copy: Store, draft: DraftRow, acting: Acting) -> None:
    protocol = _protocol(draft)
    with copy.change() as change:
        (bank,) = banks.names(change)
        life.draw_within(change, bank=bank, study=draft.name, protocol=protocol, acting=acting)


def _path(store: Store, mark: str) -> Path:
    return store.companion_path("previews") / f"{mark}.db"


def _make_room(folder: Path, now: datetime) -> None:
    """Delete unused previews, and make room for a new one."""
    oldest = now.timestamp() - MAX_DURATION.total_seconds()
    stores = sorted(((_used_s(path), path) for path in folder.glob("*.db")), reverse=True)
    for number, (used_s, path) in enumerate(stores, start=1):
        if number >= MAX_PREVIEWS or used_s < oldest:
            _remove(path)
    for path in folder.glob(".new-*"):  # left by a process that was killed
        if _used_s(path) < oldest:
            shutil.rmtree(path, ignore_errors=True)


def _used_s(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # another process removed it
        return 0.0


def _remove(path: Path) -> None:
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        path.with_name(name).unlink(missing_ok=True)
