"""Faults of the server and its disk, each undone after a while."""

import os
import resource
import signal
import sqlite3
import struct
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from enum import StrEnum
from pathlib import Path
from random import Random

from tests.e2e.server import Server

LONGEST_S = 2.0

_WAL_HEADER, _FRAME_HEADER = 32, 24


class ServerFault(StrEnum):
    """What happens to the server while readers answer."""

    KILL = "server killed and restarted"
    STOP = "server stopped for a while, as by sleep"
    LOCK = "store locked by another program"
    DISK_FULL = "disk full"
    TORN_LOG = "power loss with a torn write-ahead log"


class Faults:
    """The faults of servers on one store; each fault meets one of them."""

    def __init__(self, servers: Sequence[Server], random: Random) -> None:
        self._servers = servers
        self._server = servers[0]
        self._random = random

    def inflict(self, fault: ServerFault) -> None:
        """Run a fault of one server and undo it."""
        self._server = self._random.choice(self._servers)
        acts: dict[ServerFault, Callable[[], None]] = {
            ServerFault.KILL: self._kill,
            ServerFault.STOP: self._stop,
            ServerFault.LOCK: self._lock,
            ServerFault.DISK_FULL: self._disk_full,
            ServerFault.TORN_LOG: self._tear,
        }
        acts[fault]()

    def _wait(self) -> None:
        threading.Event().wait(self._random.uniform(0.2, LONGEST_S))

    def _pid(self) -> int:
        assert self._server.process is not None
        assert self._server.process.pid is not None
        return self._server.process.pid

    def _kill(self) -> None:
        self._server.kill()
        self._server.start()

    def _stop(self) -> None:
        os.kill(self._pid(), signal.SIGSTOP)
        self._wait()
        os.kill(self._pid(), signal.SIGCONT)

    def _lock(self) -> None:
        with closing(sqlite3.connect(self._server.store.path, isolation_level=None)) as other:
            other.execute("PRAGMA busy_timeout = 5000")
            other.execute("BEGIN IMMEDIATE")
            self._wait()
            other.execute("ROLLBACK")

    def _disk_full(self) -> None:
        """Forbid the server to write to a file beyond a size that the log soon exceeds.

        SQLite then reports the same error as for a full disk, and the program's other files cannot
        grow either.
        """
        pid = self._pid()
        soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (self._random.choice((1, 4096, 65_536)), hard))
        self._wait()
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))

    def _tear(self) -> None:
        """Kill the server, and leave a transaction in its log that was written only in part.

        The tail begins like the next frame of the log and then is random, as after a power loss
        in the middle of a write.
        """
        for server in self._servers:  # a power loss stops all of them
            server.kill()
        wal = Path(f"{self._server.store.path}-wal")
        end = _end_of_log(wal)
        if end:
            content = wal.read_bytes()[:end]
            torn = struct.pack(">II", 1, 1) + content[16:24]
            wal.write_bytes(content + torn + self._random.randbytes(self._random.randint(1, 9000)))
        for server in self._servers:
            server.start()


def _end_of_log(wal: Path) -> int:
    """Return the offset after the last complete transaction of a write-ahead log; 0 if none."""
    try:
        content = wal.read_bytes()
    except OSError:
        return 0
    if len(content) < _WAL_HEADER:
        return 0
    (page_size,) = struct.unpack(">I", content[8:12])
    salts, end, at = content[16:24], 0, _WAL_HEADER
    frame = _FRAME_HEADER + page_size
    while at + frame <= len(content) and content[at + 8 : at + 16] == salts:
        at += frame
        if content[at - frame + 4 : at - frame + 8] != b"\0\0\0\0":
            end = at
    return end
