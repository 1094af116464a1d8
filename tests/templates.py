"""Create a folder with a store once per session, and copy it for each test."""

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


def keep_in(folder: Path, databases: "Databases | None") -> None:
    """Create templates in a folder that is kept until the session ends.

    The `databases` stand for the files of the stores, if the tests run on PostgreSQL.
    """
    _FOLDER[:] = [folder]
    _DATABASES[:] = [databases] if databases else []
    _TEMPLATES.clear()


def copy(into: Path, make: Callable[[Path], object], *key: Any) -> Path:
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
    shutil.copytree(template, into, dirs_exist_ok=True, copy_function=shutil.copy)
    store = into / "store.db"
    for databases in _DATABASES:
        databases.copy(template / "store.db", store)
        databases.move_images(template / "store.db", store)
        return store
    if not any(path.is_dir() for path in template.iterdir()):
        return store  # it has no images
    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        connection.execute(
            "UPDATE banks SET images_root = replace(images_root, ?, ?)",
            (str(template.resolve()), str(into.resolve())),
        )
    return store


def copy_store(store: Path, to: Path) -> Path:
    """Copy a store that is not in use, and return the path of the copy; images stay."""
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
