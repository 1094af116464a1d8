"""Folders with a store that many tests begin with: each is made once and copied from then on."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

_MADE: dict[str, Path] = {}
_KEPT_IN: list[Path] = []


def keep_in(folder: Path) -> None:
    """Keep what is made from now on in a folder that outlives the tests."""
    _KEPT_IN[:] = [folder]
    _MADE.clear()


def cast(into: Path, make: Callable[[Path], object], *key: Any) -> Path:
    """Fill a folder with what `make` puts into an empty one; return the store in it.

    `key` is all that the outcome depends on beside `make` itself.
    """
    name = repr((make.__module__, make.__qualname__, *key))
    if name not in _MADE:
        mould = _KEPT_IN[0] / str(len(_MADE))
        mould.mkdir(parents=True)
        make(mould)
        _MADE[name] = mould  # only now: what could not be made is tried again
    mould = _MADE[name]
    shutil.copytree(mould, into, dirs_exist_ok=True, copy_function=shutil.copy)
    store = into / "store.db"
    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        connection.execute(
            "UPDATE banks SET images_root = replace(images_root, ?, ?)",
            (str(mould.resolve()), str(into.resolve())),
        )
    return store


def as_cast(store: Path) -> tuple[int, int] | None:
    """Return what tells whether a store was written to since; None while somebody may be at it."""
    if store.with_name(f"{store.name}-wal").exists():
        return None
    found = store.stat()
    return found.st_mtime_ns, found.st_size
