"""Finds the store this process serves."""

import os
from functools import lru_cache
from pathlib import Path

from study.store import Store

VARIABLE = "READING_ROOM_DB"
DEFAULT = Path(__file__).parent.parent / "instance" / "reading-room.db"


def store() -> Store:
    """Return the store named by ``READING_ROOM_DB``, or the one in ``instance/``.

    Raises
    ------
    NotFound
        There is no store yet.
    """
    return _opened(Path(os.environ.get(VARIABLE) or DEFAULT))


@lru_cache
def _opened(path: Path) -> Store:
    return Store(path)
