"""Create a folder with a store once per session, and copy it for each test."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.postgres import Databases

_TEMPLATES: dict[str, Path] = {}
_FOLDER: list[Path] = []
_DATABASES: list["Databases"] = []


def use_folder(folder: Path, databases: "Databases | None") -> None:
    """Create templates in a folder that is kept until the session ends.

    The `databases` replace the files of the stores if the tests run on PostgreSQL.
    """
    _FOLDER[:] = [folder]
    _DATABASES[:] = [databases] if databases else []
    _TEMPLATES.clear()


def copy(target: Path, make: Callable[[Path], object], *key: Any) -> Path:
    """Fill a folder with a copy of what `make` writes into an empty one; return its store.

    `key` contains everything that the result depends on, apart from `make` itself.
    """
    name = repr((make.__module__, make.__qualname__, *key))
    if name not in _TEMPLATES:
        new = _FOLDER[0] / str(len(_TEMPLATES))
        new.mkdir(parents=True)
        make(new)
        _TEMPLATES[name] = new  # only after success: a failed template is created again
    template = _TEMPLATES[name]
    has_images = copy_folder(template, target)
    store = target / "store.db"
    for databases in _DATABASES:
        databases.copy(template / "store.db", store)
        databases.move_images(template / "store.db", store)
        return store
    if not has_images:
        return store
    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        connection.execute(
            "UPDATE banks SET images_root = replace(images_root, ?, ?)",
            (str(template.resolve()), str(target.resolve())),
        )
    return store


def copy_folder(folder: Path | str, into: Path | str) -> bool:
    """Copy a folder with the permissions of its files, and return whether it contains folders.

    The function takes a third of the time of `shutil.copytree`, and a thousand tests use it.
    """
    os.makedirs(into, exist_ok=True)  # noqa: PTH103
    has_folders = False
    with os.scandir(folder) as entries:
        for entry in entries:
            path = f"{into}/{entry.name}"
            if entry.is_dir():
                has_folders = True
                copy_folder(entry.path, path)
                continue
            status = entry.stat()
            source = os.open(entry.path, os.O_RDONLY)
            target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, status.st_mode & 0o777)
            copied = 0
            while copied < status.st_size:
                copied += os.sendfile(target, source, copied, status.st_size - copied)
            os.close(source)
            os.close(target)
    return has_folders


def copy_store(store: Path, to: Path) -> Path:
    """Copy a store that is not in use, and return the path of the copy; images are not copied."""
    for databases in _DATABASES:
        databases.copy(store, to)
        return to
    shutil.copy(store, to)
    return to


def version(store: Path) -> object:
    """Return a value that changes when the store is written to; None while a process may write."""
    for databases in _DATABASES:
        return databases.version()
    if store.with_name(f"{store.name}-wal").exists():
        return None
    status = store.stat()
    return status.st_mtime_ns, status.st_size
