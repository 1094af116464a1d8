"""Moves a deployment to another store, from SQLite to PostgreSQL or back, and verifies the result.

All rows are written in a single transaction. The original is not changed. Until both stores have
been verified, the copy of the witness has another name. Therefore the next move can recognise that
a move was killed, and complete it if its store exists, or else delete its files.
"""

import fcntl
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from study.base.errors import BadFile, NotFound, NotNow, StudyError
from study.base.translation import t
from study.store import Store, Transaction, companion_path, is_server
from study.store.moving import Content, contents, copy_rows
from study.trail.verification import verify

FILES = ("heads.log", "backups", "runs", "archives")
"""The files next to a store that are copied; prepared images and previews can be created again."""

_WITNESS, *_FOLDERS = FILES
_LOCK = "move-lock"
_MOVING = "moving"
"""The name of the new store's witness until the move is complete; the file may be empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A deployment that was moved.

    Attributes
    ----------
    contents
        The content of every table, which is the same in both stores.
    files
        The files and folders that were copied.
    before, after
        The breaches that the verification finds in the original and in the new store.
    """

    contents: Mapping[str, Content]
    files: tuple[Path, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]


def move(source: Store, to: Path | str) -> Moved:
    """Copy a deployment into a new store with all its rows and files, and verify both.

    Parameters
    ----------
    to
        A new SQLite file, or the address of an empty PostgreSQL database.

    Raises
    ------
    NotNow
        The store is in use or was changed during the move, or another move to `to` is running.
        Nothing was created.
    BadFile
        There is already a store, or a file of a store, at `to`. It was not changed.
    """
    if source.is_in_use():
        raise NotNow(
            t(
                "{db} is in use by a server or another command. Stop it first: answers given "
                "during the move would be missing.",
                db=source.address,
            )
        )
    with _single_move(to):
        store, copied = _finish_move(source, to) or _copy_to_new_store(source, to)
        _name_witness(to)
        moved = Moved(
            contents=copied,
            files=tuple(
                file for suffix in FILES if (file := store.companion_path(suffix)).exists()
            ),
            before=tuple(verify(source, films=False)),
            after=tuple(verify(store, films=False)),
        )
    companion_path(to, _MOVING).unlink()
    return moved


@contextmanager
def _single_move(to: Path | str) -> Iterator[None]:
    """Refuse a move to a place to which another move is running."""
    path = companion_path(to, _LOCK)
    if is_server(to):
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        file = path.open("w")
    except OSError:
        yield  # nothing can be written there; the move raises an error that explains it
        return
    with file:
        if not _lock_file(file):
            raise NotNow(t("Another move to {to} is under way. Wait until it ends.", to=to))
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _lock_file(file: IO[str]) -> bool:
    """Lock a file until it is closed; return False if another process has locked it.

    Some network disks do not support locks; the lock then counts as obtained.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _finish_move(source: Store, to: Path | str) -> tuple[Store, Mapping[str, Content]] | None:
    """Finish a move that was killed after its transaction."""
    store = _incomplete_store(to)
    if store is None:
        return None
    with source.look() as look, store.look() as copy:
        copied = contents(copy)
        if copied != contents(look):
            raise _already_exists_error(to)
    return store, copied


def _incomplete_store(to: Path | str) -> Store | None:
    """Return the store of an incomplete move; if it has no store, delete the move's files."""
    if not companion_path(to, _MOVING).exists():
        return None

    def refuse(_: Transaction) -> None:
        raise NotFound(str(to))

    try:
        return Store.create(to, refuse)  # also deletes remains of an interrupted creation
    except NotFound:
        if not companion_path(to, _WITNESS).exists():  # otherwise a store was in use here
            for suffix in (*_FOLDERS, _MOVING):
                _remove(companion_path(to, suffix))
        return None


def _copy_to_new_store(source: Store, to: Path | str) -> tuple[Store, Mapping[str, Content]]:
    if not is_server(to) and Path(to).exists():
        raise _already_exists_error(to)

    def begin() -> None:
        for suffix in FILES:
            file = companion_path(to, suffix)
            if file.exists() or file.is_symlink():
                raise BadFile(t("{file} belongs to another store. Move it away first.", file=file))

    def finish(copied: Mapping[str, Content]) -> None:
        witness = companion_path(to, _MOVING)
        witness.touch(mode=0o600)
        if source.companion_path(_WITNESS).exists():
            shutil.copy2(source.companion_path(_WITNESS), witness)
        for suffix in _FOLDERS:
            if source.companion_path(suffix).exists():
                shutil.copytree(source.companion_path(suffix), companion_path(to, suffix))
        _refuse_changed(source, copied)

    try:
        return copy_store(source, to, finish, begin)
    except BaseException:
        with suppress(StudyError):  # the next move deletes them
            _incomplete_store(to)
        raise


def _name_witness(to: Path | str) -> None:
    """Give the witness its final name to complete the copy; its other name is removed later."""
    witness, name = companion_path(to, _MOVING), companion_path(to, _WITNESS)
    if witness.stat().st_size and not name.exists():
        try:
            name.hardlink_to(witness)
        except OSError:  # some network disks do not support hard links
            witness.rename(name)
            witness.touch(mode=0o600)


def copy_store(
    source: Store,
    to: Path | str,
    finish: Callable[[Mapping[str, Content]], None],
    begin: Callable[[], None] = lambda: None,
) -> tuple[Store, Mapping[str, Content]]:
    """Create a store with the rows of another store; return it with the content of its tables.

    Parameters
    ----------
    finish, begin
        Functions that are called within the transaction; if either fails, nothing is created.

    Raises
    ------
    BadFile
        There is already a store at `to`. It was not changed.
    """
    copied: dict[str, Content] = {}

    def fill(change: Transaction) -> None:
        begin()
        with source.look() as look:
            copied.update(copy_rows(look, change))
        finish(copied)

    store = Store.create(to, fill)
    if not copied:
        raise _already_exists_error(to)
    return store, copied


def _already_exists_error(to: Path | str) -> BadFile:
    return BadFile(
        t(
            "{db} already has a store and was not changed. Name a new file or an empty database.",
            db=to,
        )
    )


def _refuse_changed(source: Store, copied: Mapping[str, Content]) -> None:
    with source.look() as look:
        now = contents(look, ("chain_heads",))
    if any(copied[table] != content for table, content in now.items()):
        raise NotNow(
            t(
                "{db} changed while it was copied. Nothing was created. Stop its server first.",
                db=source.address,
            )
        )


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
