"""PostgreSQL as the engine of the fault suite: two servers, one of which is a standby.

A transaction is confirmed when the standby has it too (``synchronous_standby_names``). The app
connects through a proxy, which forwards to the primary server, even after a fail-over.
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from subprocess import PIPE
from unittest.mock import patch

from benchmarks.machine import free_port
from benchmarks.postgres_cluster import NEW_DATABASE, USER, Cluster, wait_until
from benchmarks.proxy import LOCAL, LineKind, proxied
from study.base.errors import StudyError
from study.store import Store
from study.store.postgres import FILES
from tests.e2e.server import Server
from tests.torture.defects import FROZEN, SUSPENDED
from tests.torture.disk import small_disk
from tests.torture.faults import KILLED, Faults, Site
from tests.torture.firewall import Firewall, firewall

DATABASE_KILLED = "database killed and restarted"
PROCESS_KILLED = "a process of the database killed"
STALLED = "database stopped for a while"
TERMINATED = "connections to the database terminated"
SLOW = "slow network to the database"
CUT = "network to the database cut"
DROPPED = "packets to the database dropped"
LOCKED = "tables locked by another program"
READ_ONLY = "database read-only"
FAIL_OVER = "fail-over to the standby"
DISK_FULL = "disk of the database full"

_LONGEST_REQUEST_S = 15.0
"""Three times the time after which a request is refused, for busy machines."""

LOCALHOST = "127.0.0.1"
_SIZE = "600m"
_SETTINGS = {
    "synchronous_standby_names": "standby",
    "shared_buffers": "16MB",
    "min_wal_size": "32MB",
    "max_wal_size": "64MB",
    "wal_keep_size": "64MB",
    "wal_retrieve_retry_interval": "200ms",
}


class Pair:
    """A primary server with its standby on a small disk, and the proxy in front of them.

    The proxy is behind the `wall`, if there is one.
    """

    def __init__(self, folder: Path, wall: Firewall | None) -> None:
        self.folder, self.wall = folder, wall
        self.port = free_port()
        self._n_made = 0
        self._line = ExitStack()
        self.primary = self._new()
        self.primary.create()
        self.primary.start()
        self.standby = self._following()
        self.connect()

    @property
    def address(self) -> str:
        """Return the address of the proxy."""
        return f"postgresql://{USER}@{self.wall.host if self.wall else LOCALHOST}:{self.port}"

    def connect(self, kind: LineKind = LOCAL) -> None:
        """Connect the app to the primary server through a new proxy; earlier connections end."""
        self._line.close()
        if self.wall:
            entrance = self.wall.entrance(self.port)
        else:
            entrance = socket.create_server((LOCALHOST, self.port))
        self._line.enter_context(proxied(self.primary.port, kind, entrance))

    def disconnect(self) -> None:
        """End all connections of the app, and do not accept others."""
        self._line.close()

    def fail_over(self) -> None:
        """Kill the primary server, promote the standby and give it a new standby."""
        lost = self.primary
        lost.kill()
        self.primary = self.standby
        self.primary.promote()
        self.connect()
        self.standby = self._following()

    def repair(self) -> None:
        """Start the servers that ended, and wait until the standby follows."""
        for server in (self.primary, self.standby):
            if not server.processes():
                server.start()
        wait_until(self._is_followed)

    def end(self) -> None:
        """Stop both servers."""
        self.disconnect()
        for server in (self.standby, self.primary):
            server.stop()

    def _is_followed(self) -> bool:
        try:
            rows = self.primary.administer(
                "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
            )
        except Exception:  # it is starting or restarting
            return False
        return bool(rows)

    def _new(self) -> Cluster:
        self._n_made += 1
        return Cluster(self.folder / f"server{self._n_made}", _SETTINGS)

    def _following(self) -> Cluster:
        standby = self._new()
        standby.create_standby_of(self.primary)
        standby.start()
        return standby


@dataclass
class Postgres:
    """The engine of a store in a PostgreSQL database."""

    name: str = "postgres"
    _pairs: list[Pair] = field(default_factory=list)

    @contextmanager
    def place(self) -> Iterator[str]:
        """Yield the address of an empty database."""
        with (
            small_disk(_SIZE) as folder,
            tempfile.TemporaryDirectory() as files,
            firewall() as wall,
        ):
            pair = Pair(folder, wall)
            self._pairs.append(pair)
            try:
                pair.primary.administer(f"CREATE DATABASE store {NEW_DATABASE}")
                with patch.dict(os.environ, {FILES: files}):
                    yield f"{pair.address}/store"
            finally:
                self._pairs.remove(pair)
                pair.end()

    def faults(self, site: Site, random: Random) -> "PostgresFaults":
        """Return the faults of servers on this engine."""
        return PostgresFaults(site, random, self._pairs[-1])


def _waits(server: Server) -> bool:
    """Return whether a server does not answer a request that needs the database."""
    request = urllib.request.Request(f"{server.url}/here")
    request.add_header("Cookie", f"reading_room={'0' * 64}")
    try:
        urllib.request.urlopen(request, timeout=_LONGEST_REQUEST_S).close()
    except TimeoutError:
        return True
    except OSError:  # it was refused, or the server had ended
        return False
    return False


def _can_write(address: str) -> bool:
    """Return whether a change is stored in time."""
    try:
        with Store(address).with_wait_limit(_LONGEST_REQUEST_S).change():
            return True
    except StudyError:
        return False


class PostgresFaults(Faults):
    """The faults of servers, of their database and of the network between them."""

    def __init__(self, site: Site, random: Random, pair: Pair) -> None:
        super().__init__(site, random)
        self._pair = pair
        self.acts = {
            **self.acts,
            DATABASE_KILLED: self._kill_database,
            PROCESS_KILLED: self._kill_process,
            STALLED: self._stall,
            TERMINATED: self._terminate,
            SLOW: self._slow,
            CUT: self._cut,
            LOCKED: self._lock,
            READ_ONLY: self._forbid_writing,
            FAIL_OVER: pair.fail_over,
            FROZEN: self._freeze,
            SUSPENDED: self._suspend,
            DISK_FULL: self._fill_disk,
        }
        if not os.path.ismount(pair.folder):
            del self.acts[DISK_FULL]
        if pair.wall:
            self.acts[DROPPED] = partial(self._drop, pair.wall)
        self.crashes = (KILLED, DATABASE_KILLED, FAIL_OVER)

    def inflict(self, fault: str) -> bool:
        """Run a fault and undo it; afterwards both database servers run."""
        survived = super().inflict(fault)
        self._pair.repair()
        return survived

    def _kill_database(self) -> None:
        self._pair.primary.kill()
        self.wait()
        self._pair.primary.start()

    def _kill_process(self) -> None:
        """Kill one process, after which the server ends all others and recovers."""
        os.kill(self.random.choice(self._pair.primary.processes()[1:]), signal.SIGKILL)

    def _stall(self) -> None:
        self._pair.primary.signal(signal.SIGSTOP)
        self.wait()
        self._pair.primary.signal(signal.SIGCONT)

    def _freeze(self) -> None:
        """Stop the database until every server has refused a request."""
        self._pair.primary.signal(signal.SIGSTOP)
        try:
            self._expect_refusals()
        finally:
            self._pair.primary.signal(signal.SIGCONT)

    def _drop(self, wall: Firewall) -> None:
        """Drop all packets between the app and the database in the same way."""
        wall.drop()
        try:
            self._expect_refusals()
        finally:
            wall.let_pass()

    def _expect_refusals(self) -> None:
        """Send a request to every server, which must not wait for an unresponsive database."""
        with ThreadPoolExecutor(len(self.site.servers)) as pool:
            self.n_hung += sum(pool.map(_waits, self.site.servers))

    def _suspend(self) -> None:
        """Suspend a program within its transaction until another program can write."""
        address = self.site.servers[0].store.address
        command = (sys.executable, "-m", "tests.torture.suspended", address, self.site.defect)
        with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True) as program:
            assert program.stdout
            if program.stdout.readline() == "begun\n":
                program.send_signal(signal.SIGSTOP)
                self.n_hung += not _can_write(address)
                program.send_signal(signal.SIGCONT)
                end, _ = program.communicate()
                self.n_hung += end != "refused\n"

    def _terminate(self) -> None:
        for _ in range(3):
            self._pair.primary.administer(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = 'Reading Room'"
            )
            self.wait()

    def _slow(self) -> None:
        round_trip_s = self.random.uniform(0.02, 0.2)
        self._pair.connect(LineKind(name="slow", round_trip_s=round_trip_s))
        self.wait()
        self._pair.connect()

    def _cut(self) -> None:
        self._pair.disconnect()
        self.wait()
        self._pair.connect()

    def _lock(self) -> None:
        lock = "LOCK TABLE reading_room.write_lock, reading_room.readings"
        with self._pair.primary.connected("store") as other:
            other.run("BEGIN")
            other.run(lock)
            self.wait()
            other.run("ROLLBACK")

    def _forbid_writing(self) -> None:
        primary = self._pair.primary
        primary.administer(
            "ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()"
        )
        self.wait()
        primary.administer(
            "ALTER SYSTEM RESET default_transaction_read_only", "SELECT pg_reload_conf()"
        )

    def _fill_disk(self) -> None:
        """Fill the disk of both database servers, which end if they cannot write their logs."""
        self.fill_disk(self._pair.folder)
