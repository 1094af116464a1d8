"""Moves a deployment to another store, from SQLite to PostgreSQL or back, and verifies the result.

All rows are written in one transaction, which fails as a whole. The original is not changed.
"""

import shutil
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from study.base.errors import BadFile, NotNow
from study.base.translation import t
from study.store import Store, Transaction, beside, is_server
from study.store.moving import Content, contents, copy_rows
from study.trail.verification import verify

FILES = ("heads.log", "backups", "runs", "archives")
"""What is copied of the files next to a store; prepared images and previews are made again."""


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
        The breaches that verification finds in the original and in the new store.
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
        The store is in use, or changed meanwhile. Nothing was created.
    BadFile
        There is a store, or a file of one, at `to`. It was not changed.
    """
    if source.is_in_use():
        raise NotNow(
            t(
                "{db} is in use by a server or another command. Stop it first: answers given "
                "during the move would be missing.",
                db=source.address,
            )
        )
    _refuse_existing(to)
    files: list[Path] = []
    with ExitStack() as undone:

        def finish(copied: Mapping[str, Content]) -> None:
            for suffix in FILES:
                file, new = source.beside(suffix), beside(to, suffix)
                if file.exists():
                    undone.callback(_remove, new)
                    _copy(file, new)
                    files.append(new)
            _refuse_changed(source, copied)

        store, copied = copy_store(source, to, finish)
        undone.pop_all()
    return Moved(
        contents=copied,
        files=tuple(files),
        before=tuple(verify(source, films=False)),
        after=tuple(verify(store, films=False)),
    )


def copy_store(
    source: Store, to: Path | str, finish: Callable[[Mapping[str, Content]], None]
) -> tuple[Store, Mapping[str, Content]]:
    """Create a store with the rows of another one, and return it and the content of its tables.

    Parameters
    ----------
    finish
        Is called within the transaction; if it fails, nothing is created.

    Raises
    ------
    BadFile
        There is a store at `to`. It was not changed.
    """
    copied: dict[str, Content] = {}

    def fill(change: Transaction) -> None:
        with source.look() as look:
            copied.update(copy_rows(look, change))
        finish(copied)

    store = Store.create(to, fill)
    if not copied:
        raise _already_there(to)
    return store, copied


def _refuse_existing(to: Path | str) -> None:
    """Refuse a store that exists, or a file whose name a file of the new store would have."""
    if not is_server(to) and Path(to).exists():
        raise _already_there(to)
    for suffix in FILES:
        file = beside(to, suffix)
        if file.exists() or file.is_symlink():
            raise BadFile(t("{file} belongs to another store. Move it away first.", file=file))


def _already_there(to: Path | str) -> BadFile:
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


def _copy(file: Path, new: Path) -> None:
    if file.is_dir():
        shutil.copytree(file, new)
    else:
        shutil.copy2(file, new)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
