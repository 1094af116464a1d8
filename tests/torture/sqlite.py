"""SQLite as the engine of the fault suite: a small disk for the store, and faults of its files."""

import os
import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.torture.disk import run, small_disk
from tests.torture.faults import KILLED, Faults, Site, pid_of
from tests.torture.power_loss import Flushed, lose_power

LOCKED = "store locked by another program"
DISK_FULL = "disk full"
FILES_FULL = "files may not grow, as on a full disk"
READ_ONLY = "folder of the store read-only"
POWER_LOSS = "power loss with torn and lost writes"

_SIZE = "64m"


@dataclass(frozen=True)
class Sqlite:
    """The engine of a store that is a file."""

    name: str = "sqlite"

    @contextmanager
    def place(self) -> Iterator[str]:
        """Yield the address for a new store, on a separate small disk if that is possible."""
        with small_disk(_SIZE) as folder:
            yield str(folder / "store.db")

    def faults(self, site: Site, random: Random) -> "SqliteFaults":
        """Return the faults of servers on this engine."""
        return SqliteFaults(site, random)


class SqliteFaults(Faults):
    """The faults of servers and of the files of their store."""

    def __init__(self, site: Site, random: Random) -> None:
        super().__init__(site, random)
        self._store = Path(site.servers[0].store.address)
        has_disk = os.path.ismount(self._store.parent)
        full: dict[str, Callable[[], None]] = (
            {DISK_FULL: self._fill_disk} if has_disk else {FILES_FULL: self._limit_files}
        )
        self.acts = {
            **self.acts,
            LOCKED: self._lock,
            **full,
            READ_ONLY: self._forbid_writing,
            POWER_LOSS: self._lose_power,
        }
        self.crashes = (KILLED, POWER_LOSS)

    def _lock(self) -> None:
        with closing(sqlite3.connect(self._store, isolation_level=None)) as other:
            other.execute("PRAGMA busy_timeout = 5000")
            other.execute("BEGIN IMMEDIATE")
            self.wait()
            other.execute("ROLLBACK")

    def _fill_disk(self) -> None:
        self.fill_disk(self._store.parent)

    def _limit_files(self) -> None:
        """Limit the size of the server's files, so that the log soon exceeds it.

        SQLite then reports the same error as for a full disk, and the program's other files cannot
        grow either.
        """
        pid = pid_of(self.server)
        soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        most = self.random.choice((1, 4096, 65_536))
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, hard))
        self.wait()
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))

    def _forbid_writing(self) -> None:
        """Make the folder read-only for files that are opened from now on."""
        folder = self._store.parent
        if run("mount", "--bind", str(folder), str(folder)):  # hides it behind itself
            run("mount", "-o", "remount,bind,ro", str(folder))
            self.wait()
            run("umount", "-l", str(folder))
        else:
            folder.chmod(0o500)
            self.wait()
            folder.chmod(0o700)

    def _lose_power(self) -> None:
        """Kill all servers while they store messages that are not acknowledged."""
        network = self.site.network
        with network.quiet():
            flushed = Flushed.of(self._store)
            network.loses_responses = True
        self.wait()
        with network.quiet():
            for server in self.site.servers:
                server.kill()
            lose_power(self._store, flushed, self.random)
            network.loses_responses = False
            for server in self.site.servers:
                server.start()
