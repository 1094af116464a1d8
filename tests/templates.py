"""Create a folder with a store once per session, and copy it for each test."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

_TEMPLATES: dict[str, Path] = {}
_FOLDER: list[Path] = []


def keep_in(folder: Path) -> None:
    """Create templates in a folder that is kept until the session ends."""
    _FOLDER[:] = [folder]
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
    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        connection.execute(
            "UPDATE banks SET images_root = replace(images_root, ?, ?)",
            (str(template.resolve()), str(into.resolve())),
        )
    return store


def version(store: Path) -> tuple[int, int] | None:
    """Return a value that changes when the store is written to; None while a process may write."""
    if store.with_name(f"{store.name}-wal").exists():
        return None
    status = store.stat()
    return status.st_mtime_ns, status.st_size
