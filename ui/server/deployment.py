"""Finds the store this process serves."""

import gc
import os
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import lru_cache
from pathlib import Path

from study.base.errors import NotFound
from study.store import Store
from ui.server.schedule import ask_witness, chores
from ui.server.serving import settle

VARIABLE = "READING_ROOM_DB"
DEFAULT = Path(__file__).parents[2] / "instance" / "reading-room.db"


def store() -> Store:
    """Return the store named by ``READING_ROOM_DB``, or the one in ``instance/``.

    Raises
    ------
    NotFound
        There is no store yet.
    """
    return _opened(os.environ.get(VARIABLE) or DEFAULT)


@lru_cache
def _opened(path: str | Path) -> Store:
    return Store(Path(path))


@asynccontextmanager
async def lifespan(_: object) -> AsyncIterator[None]:
    """Keep the store warm while the server runs (`Store.kept_warm`), within limits; look after it.

    What is imported stays for good: Streamlit collects garbage after every run of a page, and would
    look through all of it each time.
    """
    settle()
    gc.collect()
    gc.freeze()
    with ExitStack() as held:
        with suppress(NotFound):
            held.enter_context(store().kept_warm())
        ask_witness(store)
        held.enter_context(chores(store))
        yield
