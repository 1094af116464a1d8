"""Faults of servers, each undone after a while; the faults of a store belong to its engine."""

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.e2e.server import Server
from tests.torture.altered_server import set_clock
from tests.torture.browser import Network
from tests.torture.disk import fill

LONGEST_S = 2.0

KILLED = "server killed and restarted"
STOPPED = "server stopped for a while, as by sleep"
CLOCK_SET = "server's clock set, and set back"

_CLOCK_MS = 3 * 3_600_000


@dataclass(frozen=True, kw_only=True)
class Site:
    """The targets of faults: servers on one store, their clocks, and the readers' network.

    Messages are sent to any of the `ports`, of the servers or of a proxy. All programs have
    the `defect`, a name in `tests.torture.defects`.
    """

    servers: Sequence[Server]
    clocks: Sequence[Path]
    network: Network
    ports: Sequence[int]
    defect: str = "none"


class Faults:
    """The faults of servers on one store; each fault affects one server.

    An engine adds the faults of its store to `acts` and `crashes`.

    Attributes
    ----------
    acts : mapping of str to function
        Makes and undoes each fault.
    crashes : sequence of str
        The faults of which every batch has at least one.
    n_hung : int
        How often a program waited for a fault that it must not wait for.
    """

    def __init__(self, site: Site, random: Random) -> None:
        self.site = site
        self.random = random
        self.server = site.servers[0]
        self.n_hung = 0
        self.acts: Mapping[str, Callable[[], None]] = {
            KILLED: self._kill,
            STOPPED: self._stop,
            CLOCK_SET: self._set_clock,
        }
        self.crashes: Sequence[str] = (KILLED,)

    def inflict(self, fault: str) -> bool:
        """Run a fault of one server and undo it; return whether all servers survived it.

        A server that ended is started again.
        """
        self.server = self.random.choice(self.site.servers)
        self.site.network.repaired_at_s = math.inf
        try:
            self.acts[fault]()
            ended = [
                each for each in self.site.servers if each.process and not each.process.is_alive()
            ]
            for server in ended:
                server.kill()
                server.start()
        finally:
            self.site.network.repaired_at_s = time.monotonic()
        return not ended

    def wait(self) -> None:
        """Wait as long as a fault lasts."""
        threading.Event().wait(self.random.uniform(0.2, LONGEST_S))

    def fill_disk(self, folder: Path) -> None:
        """Fill the disk of a folder except for a few bytes, as long as a fault lasts."""
        ballast = folder / "ballast"
        fill(ballast, self.random.choice((0, 4096, 20_000, 60_000)))
        self.wait()
        ballast.unlink()

    def _kill(self) -> None:
        self.server.kill()
        self.server.start()

    def _stop(self) -> None:
        os.kill(pid_of(self.server), signal.SIGSTOP)
        self.wait()
        os.kill(pid_of(self.server), signal.SIGCONT)

    def _set_clock(self) -> None:
        clock = self.site.clocks[list(self.site.servers).index(self.server)]
        set_clock(clock, self.random.uniform(-_CLOCK_MS, _CLOCK_MS))
        self.wait()
        set_clock(clock, 0.0)


def pid_of(server: Server) -> int:
    """Return the process id of a running server."""
    assert server.process is not None
    assert server.process.pid is not None
    return server.process.pid
