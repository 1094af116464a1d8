"""Makes, lists and restores backups, which are consistent, verified copies of a store in use.

Backups are kept in a folder next to the store. A copy gets the name of a backup only after SQLite
has checked the file and its chains have been verified. Films are not included; they remain in the
folders from which the banks were imported.
"""

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from glob import escape
from pathlib import Path
from typing import Any, Literal

from study.base.actor import SCHEDULE, Acting
from study.base.canonical import moment, stamp
from study.base.errors import BadFile, BadInput, NotFound, NotNow, StudyError
from study.base.system import system_reason
from study.base.translation import t
from study.exchange.bundle import sha256_of_file
from study.exchange.moving import copy_store
from study.store import Store, Transaction, deployment, events, is_server
from study.store.deployment import BackupRow
from study.store.events import EventKind
from study.store.leases import lease
from study.trail import losses
from study.trail.losses import Loss
from study.trail.verification import verify

DEFAULT_INTERVAL_HOURS = 24
DEFAULT_KEPT = 14
MAX_HOURS, MAX_KEEP = 24 * 90, 1000
RETRY_INTERVAL = timedelta(hours=1)
"""Time after a failure until the next automatic backup is attempted."""

_SCRATCH_PREFIX = ".making-"
_TIME_FORMAT = "%Y%m%dT%H%M%SZ"
_FILE_NAME = re.compile(r"(\d{8}T\d{6}Z)(-\d+)?\.db")
"""The part of a backup's file name that follows the name of the store."""
_LEASE_NAME = "backup"
_FAILED_KEY = "backup_failed_at_utc"


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """The interval of automatic backups in hours (0: never), and the number of backups kept."""

    every_hours: int
    keep: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A backup: its file, when and by whom it was made, and the result of its verification.

    `there` states whether the file still exists.
    """

    file: Path
    made_at_utc: str
    trigger: str
    actor: str
    n_bytes: int
    sha256: str
    finding: str
    there: bool


def backup_folder(store: Store) -> Path:
    """Return the folder of a store's backups."""
    return store.companion_path("backups")


def current_schedule(look: Transaction) -> Schedule:
    """Return the current schedule."""
    return Schedule(
        every_hours=_integer(look, "backup_every_hours", DEFAULT_INTERVAL_HOURS),
        keep=_integer(look, "backup_keep", DEFAULT_KEPT),
    )


def set_schedule(store: Store, new: Schedule, *, acting: Acting) -> None:
    """Change the interval of backups and the number kept.

    Raises
    ------
    BadInput
        A number is out of range.
    """
    if not 0 <= new.every_hours <= MAX_HOURS or not 1 <= new.keep <= MAX_KEEP:
        raise BadInput(
            t(
                "Backups can be made every 1 to {max_hours} hours, or never (0); 1 to {max_keep} "
                "of them can be kept.",
                max_hours=MAX_HOURS,
                max_keep=MAX_KEEP,
            )
        )
    with store.change() as change:
        old = current_schedule(change)
        deployment.set_value(change, "backup_every_hours", str(new.every_hours))
        deployment.set_value(change, "backup_keep", str(new.keep))
        if old != new:
            detail = {"old": _schedule_text(old), "new": _schedule_text(new)}
            events.record(change, "", acting, kind=EventKind.BACKUPS_SCHEDULED, detail=detail)


def list_backups(store: Store) -> list[Backup]:
    """Return the backups that have not been removed, the newest first."""
    with store.look() as look:
        return [_backup(store, row) for row in deployment.backups_kept(look)]


def make_backup(
    store: Store,
    *,
    acting: Acting,
    trigger: Literal["schedule", "hand"] = "hand",
    out: Path | None = None,
) -> Backup:
    """Make a backup and verify it; remove the oldest backups beyond the number kept.

    Parameters
    ----------
    out
        A new file; by default, the backup is written to the folder next to the store.

    Raises
    ------
    NotNow
        A backup is in progress.
    BadFile
        `out` already exists or cannot be written.
    """
    with lease(store, _LEASE_NAME) as is_ours:
        if not is_ours():
            raise NotNow(t("A backup is already in progress. Wait until it has finished."))
        backup = _new_backup(store, out, trigger, acting)
        _prune(store, acting)
    return backup


def make_backup_if_due(store: Store, *, now: datetime) -> Backup | None:
    """Make a backup if one is due and none is in progress.

    Raises
    ------
    StudyError
        The backup failed. The reason is recorded in the trail, and the next attempt follows after
        an hour.
    """
    acting = Acting(by=SCHEDULE, now=now)
    with store.look() as look:
        if not _is_due(look, now):
            return None
    with lease(store, _LEASE_NAME) as is_ours:
        if not is_ours():
            return None
        with store.look() as look:  # another server may have made the backup in the meantime
            if not _is_due(look, now):
                return None
        try:
            backup = _new_backup(store, None, "schedule", acting)
        except StudyError as error:
            with suppress(StudyError):
                if is_ours():  # otherwise another server makes the backup
                    _record_failure(store, error, acting)
            raise
        _prune(store, acting)
    return backup


def _record_failure(store: Store, error: StudyError, acting: Acting) -> None:
    with store.change() as change:
        deployment.set_value(change, _FAILED_KEY, stamp(acting.now))
        kind, detail = EventKind.BACKUP_FAILED, {"reason": str(error)}
        events.record(change, "", acting, kind=kind, detail=detail)


_SQLITE_SIGNATURE = b"SQLite format 3\0"


def restore_backup(file: Path, db: Path | str) -> Store:
    """Restore a backup as a new store: a SQLite file, or an empty PostgreSQL database.

    Raises
    ------
    NotFound
        The backup or the folder of the new store does not exist.
    BadFile
        `db` already exists, or the verification of the backup failed; all breaches are listed.
    """
    if not file.is_file():
        raise NotFound(t("There is no backup at {file}.", file=file))
    if isinstance(db, str):
        with tempfile.TemporaryDirectory(prefix=_SCRATCH_PREFIX) as scratch:
            return copy_store(_copy_and_verify(file, Path(scratch)), db, lambda _: None)[0]
    for there in (db, Path(f"{db}-wal"), Path(f"{db}-shm")):
        if there.exists():
            raise BadFile(t("{db} already exists and was not changed. Name a new file.", db=there))
    if not db.parent.is_dir():
        raise NotFound(t("The folder {parent} does not exist. Create it first.", parent=db.parent))
    try:
        with tempfile.TemporaryDirectory(dir=db.parent, prefix=_SCRATCH_PREFIX) as scratch:
            store = _copy_and_verify(file, Path(scratch))
            store.enable_journal()
            store.rename_to(db)
    except OSError as error:
        raise BadFile(
            t("{db} cannot be created: {strerror}.", db=db, strerror=system_reason(error))
        ) from error
    return Store(db)


def _copy_and_verify(file: Path, scratch: Path) -> Store:
    """Copy, open and verify a backup; error messages name the backup, not the copy."""
    copy = scratch / "store.db"
    shutil.copyfile(file, copy)
    copy.chmod(0o600)
    with copy.open("rb") as opened:
        if opened.read(len(_SQLITE_SIGNATURE)) != _SQLITE_SIGNATURE:
            raise BadFile(
                t("{file} is not a backup: it is not a SQLite file. Name another.", file=file)
            )
    try:
        store = Store(copy)
        breaches = verify(store, films=False)
    except StudyError as error:
        raise BadFile(f"{file}: {error}") from error
    if breaches:
        breach_list = "\n".join(f"  {breach}" for breach in breaches)
        raise BadFile(t("{file} failed verification:\n", file=file) + breach_list)
    return store


def record_restored(store: Store, file: Path, *, acting: Acting) -> list[Loss]:
    """Record that a store was restored from a backup.

    If the witness file of an earlier store of the same name exists, the acknowledged records that
    are missing from the backup are accepted as lost, and these losses are returned.
    """
    digest = sha256_of_file(file)
    with store.change() as change:
        detail = {"file": file.name, "sha256": digest}
        events.record(change, "", acting, kind=EventKind.BACKUP_RESTORED, detail=detail)
    if not losses.record_losses(store, now=acting.now):
        return []
    reason = f"The backup {file.name} was restored."
    return losses.accept_losses(store, reason=reason, acting=acting)


def free_bytes(store: Store) -> int:
    """Return the free space in bytes on the disk that contains the backups."""
    return shutil.disk_usage(store.folder).free


def _integer(look: Transaction, name: str, otherwise: int) -> int:
    value = deployment.value(look, name)
    return int(value) if value.isdecimal() else otherwise


def _schedule_text(schedule: Schedule) -> str:
    interval = f"every {schedule.every_hours} h" if schedule.every_hours else "never"
    return f"{interval}, {schedule.keep} kept"


def _is_due(look: Transaction, now: datetime) -> bool:
    every_hours, earlier = current_schedule(look).every_hours, deployment.every_backup(look)
    failed_at_utc = deployment.value(look, _FAILED_KEY)
    if not every_hours or (
        failed_at_utc and moment(failed_at_utc) <= now < moment(failed_at_utc) + RETRY_INTERVAL
    ):
        return False
    return not earlier or moment(earlier[-1].made_at_utc) + timedelta(hours=every_hours) <= now


def _new_backup(store: Store, out: Path | None, trigger: str, acting: Acting) -> Backup:
    folder = out.parent if out else backup_folder(store)
    try:
        if out is None:
            folder.mkdir(mode=0o700, exist_ok=True)
            for leftover in folder.glob(f"{_SCRATCH_PREFIX}*"):  # left by an interrupted backup
                shutil.rmtree(leftover, ignore_errors=True)
            _list_unlisted(store, acting)
        with tempfile.TemporaryDirectory(dir=folder, prefix=_SCRATCH_PREFIX) as scratch:
            copy = Path(scratch) / "store.db"
            if is_server(store.address):
                rows, _ = copy_store(store, copy.with_name("rows.db"), lambda _: None)
                rows.copy_to(copy)
            else:
                store.copy_to(copy)
            finding = " ".join(verify(Store(copy), films=False))
            file = out or _free_path(folder, store.stem, acting.now)
            _refuse_existing(file)
            facts = {
                "file": str(out.resolve()) if out else file.name,
                "n_bytes": copy.stat().st_size,
                "sha256": _flush_and_hash(copy),
                "finding": finding,
            }
            return _record_backup(
                store, facts, trigger, acting, place=partial(_move_copy, copy, file)
            )
    except OSError as error:
        raise BadFile(
            t(
                "The backup cannot be written to {folder}: {strerror}. Choose another folder.",
                folder=folder,
                strerror=system_reason(error),
            )
        ) from error


def _record_backup(
    store: Store,
    facts: dict[str, Any],
    trigger: str,
    acting: Acting,
    place: Callable[[], None] = lambda: None,
    made: datetime | None = None,
) -> Backup:
    """List a verified backup, record it in the trail and `place` its file, or do none of these.

    `made` is the time in the name of the file; by default, it is the current time.
    """
    at = stamp(acting.now)
    with store.change() as change:
        deployment.add_backup(
            change,
            **facts,
            made_at_utc=stamp(made or acting.now),
            trigger=trigger,
            actor=acting.by.name,
            verified_at_utc=at,
        )
        events.record(change, "", acting, kind=EventKind.BACKUP_MADE, detail=facts)
        place()
        return _backup(store, deployment.every_backup(change)[-1])


def _list_unlisted(store: Store, acting: Acting) -> None:
    """Verify and list backup files that are not listed, so that old files are removed later.

    An upgrade cannot list the copy that it makes, because the store cannot be written at that time.
    A backup is also unlisted if its transaction failed, or if an earlier backup was restored.
    """
    with store.look() as look:
        known = {row.file for row in deployment.every_backup(look)}
    for file in sorted(backup_folder(store).glob(f"{escape(store.stem)}-*.db")):
        name = file.name.removeprefix(f"{store.stem}-")
        made = _time_in(name)
        if file.name in known or not (made or name.startswith("before-upgrade-")):
            continue
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=_SCRATCH_PREFIX) as scratch:
            copy = Path(scratch, "store.db")
            shutil.copyfile(file, copy)  # opening it upgrades it
            try:
                finding = " ".join(verify(Store(copy), films=False))
            except StudyError as error:
                finding = str(error)
        facts = {
            "file": file.name,
            "n_bytes": file.stat().st_size,
            "sha256": sha256_of_file(file),
            "finding": finding,
        }
        _record_backup(store, facts, "schedule", acting, made=made)


def _time_in(name: str) -> datetime | None:
    """Return the time in a backup's file name, or None for other names.

    >>> _time_in("20251103T140000Z-2.db")
    datetime.datetime(2025, 11, 3, 14, 0, tzinfo=datetime.timezone.utc)
    >>> _time_in("20251303T140000Z.db"), _time_in("copy.db")
    (None, None)
    """
    named = _FILE_NAME.fullmatch(name)
    with suppress(ValueError):
        return datetime.strptime(named[1], _TIME_FORMAT).replace(tzinfo=UTC) if named else None
    return None


def _flush_and_hash(path: Path) -> str:
    """Flush a file to disk, and return its hash."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())
        return hashlib.file_digest(file, "sha256").hexdigest()


def _free_path(folder: Path, stem: str, now: datetime) -> Path:
    base = f"{stem}-{now.strftime(_TIME_FORMAT)}"
    names = (base, *(f"{base}-{number}" for number in range(2, 1000)))
    return next(path for name in names if not (path := folder / f"{name}.db").exists())


def _refuse_existing(file: Path) -> None:
    if file.exists():
        raise BadFile(t("{file} already exists and was not changed. Name a new file.", file=file))


def _move_copy(copy: Path, file: Path) -> None:
    try:
        os.link(copy, file)
    except OSError:  # a file system without links
        _refuse_existing(file)
        copy.replace(file)


def _prune(store: Store, acting: Acting) -> None:
    """Remove the oldest backups beyond the number kept, but never the last valid backup."""
    with store.look() as look:
        keep, rows = current_schedule(look).keep, deployment.backups_kept(look)
    in_folder = [row for row in rows if "/" not in row.file and "\\" not in row.file]
    last_valid = next((row.id for row in in_folder if not row.finding), None)
    for row in in_folder[keep:]:
        if row.id == last_valid:
            continue
        with suppress(OSError):
            (backup_folder(store) / row.file).unlink(missing_ok=True)
        with store.change() as change:
            deployment.mark_backup_removed(change, row.id, stamp(acting.now))
            detail = {"file": row.file, "sha256": row.sha256}
            events.record(change, "", acting, kind=EventKind.BACKUP_REMOVED, detail=detail)


def _backup(store: Store, row: BackupRow) -> Backup:
    file = backup_folder(store) / row.file  # `row.file` may be an absolute path
    return Backup(
        file=file,
        there=file.is_file(),
        made_at_utc=row.made_at_utc,
        trigger=row.trigger,
        actor=row.actor,
        n_bytes=row.n_bytes,
        sha256=row.sha256,
        finding=row.finding,
    )
