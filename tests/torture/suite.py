"""Runs readers and faults, and counts what was lost."""

import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random

from benchmarks.servers import deploy
from study.reading.records import canonical
from study.store import Store
from study.trail.verification import verify
from tests.conftest import write_bank
from tests.e2e.server import Server, free_port
from tests.torture.browser import Browser, ConnectionFault, Cut
from tests.torture.faults import Faults, ServerFault

PATIENCE_S = 60.0
"""How long a reader tries before the session counts as one that cannot continue."""

_FAULTY = 0.35
"""The share of messages that meet a fault of the connection."""

_CRASHES = (ServerFault.KILL, ServerFault.TORN_LOG)
"""Every batch begins with one of these."""

_PAGE = ("page reloaded", "second tab", "second computer", "computer's clock set")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The size of a batch: readers who answer at the same time, their cases, and server faults.

    All `servers` serve the same store.
    """

    readers: int = 10
    cases: int = 10
    server_faults: int = 4
    servers: int = 1


@dataclass
class Outcome:
    """What a batch counted; every number but `acknowledged` must be 0.

    `faults` counts the faults by name.
    """

    acknowledged: int = 0
    lost: int = 0
    duplicated: int = 0
    wrong: int = 0
    stuck: int = 0
    unverified: int = 0
    faults: Counter[str] = field(default_factory=Counter)

    @property
    def is_clean(self) -> bool:
        """Return whether nothing was lost, duplicated or wrong, and all sessions ended."""
        return not any((self.lost, self.duplicated, self.wrong, self.stuck, self.unverified))

    def add(self, other: "Outcome") -> None:
        """Add the counts of another batch."""
        for name in ("acknowledged", "lost", "duplicated", "wrong", "stuck", "unverified"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.faults.update(other.faults)


class Reader:
    """One run: a reader who answers all cases, whatever happens to messages and windows."""

    def __init__(self, ports: Sequence[int], code: str, seed: str) -> None:
        self._random = Random(seed)
        self.acknowledged: dict[str, str] = {}
        self.faults: Counter[str] = Counter()
        self.is_stuck = False
        self._make = partial(Browser, ports, code, self._random, self.acknowledged)
        self._windows = [self._make()]
        self._answered = 0

    def read(self) -> None:
        """Answer until everything is stored, or the patience ends."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            try:
                threading.Event().wait(self._random.uniform(0.0, 0.2))
                if self._step():
                    return
            except Cut:
                threading.Event().wait(self._random.uniform(0.05, 0.3))
        self.is_stuck = True

    def _step(self) -> bool:
        window = self._random.choice(self._windows)
        window.sign_in()
        if not window.desk:
            window.load()
        if window.desk["cases"] and not window.outbox:
            self._answered += 1
            window.answer(f"{self._answered}")
            self._disturb(window)
        fault = ConnectionFault.NONE
        if self._random.random() < _FAULTY:
            fault = self._random.choice(list(ConnectionFault)[1:])
            self.faults[fault] += 1
        window.send(fault)
        return all(each.is_done for each in self._windows)

    def _disturb(self, window: Browser) -> None:
        """Sometimes reload the page, open another window, or set the clock."""
        if self._random.random() > 0.2:
            return
        kind = self._random.choice(_PAGE)
        if kind in _PAGE[1:3] and len(self._windows) > 2:
            return
        self.faults[kind] += 1
        if kind == "page reloaded":
            window.desk = {}
        elif kind == "second tab":  # the same cookie; the outbox is in the browser's database
            other = self._make()
            other.cookie = window.cookie
            self._windows.append(other)
        elif kind == "second computer":
            self._windows.append(self._make())
        else:
            window.clock_ms = self._random.uniform(-3, 3) * 3_600_000


@contextmanager
def deployed(plan: Plan, seed: str) -> Iterator[tuple[list[Server], Mapping[str, str]]]:
    """Run servers with an open study; yield them with the readers' access codes."""
    names = [f"R{n + 1}" for n in range(plan.readers)]
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        bank = write_bank(Path(folder, "bank"), n_patients=plan.cases)
        made = deploy(
            Path(folder, "store.db"),
            bank,
            cases=plan.cases,
            readers=names,
            seed=Random(seed).getrandbits(32),
        )
        servers = [
            Server(store=made.store, codes={}, port=free_port(), log=Path(folder, f"log{number}"))
            for number in range(plan.servers)
        ]
        try:
            for server in servers:
                server.start()
            yield servers, made.codes
        finally:
            for server in servers:
                server.kill()


def run_batch(plan: Plan, seed: str, note: Callable[[str], None] = lambda line: None) -> Outcome:
    """Run one batch of readers on one server, with seeded faults, and count."""
    outcome, random = Outcome(), Random(f"{seed}/server")
    with deployed(plan, seed) as (servers, codes):
        ports = [server.port for server in servers]
        readers = [Reader(ports, code, f"{seed}/{reader}") for reader, code in codes.items()]
        faults = Faults(servers, random)
        with ThreadPoolExecutor(plan.readers) as pool:
            runs = [pool.submit(reader.read) for reader in readers]
            for n in range(plan.server_faults):
                threading.Event().wait(random.uniform(0.2, 1.0))
                if all(run.done() for run in runs):
                    break
                fault = random.choice(list(ServerFault) if n else _CRASHES)
                faults.inflict(fault)
                outcome.faults[fault] += 1
            for run in runs:
                run.result()
        for server in servers:
            server.kill()
        store = servers[0].store
        for reader in readers:
            outcome.faults.update(reader.faults)
            outcome.stuck += reader.is_stuck
        _count(store, readers, outcome)
        for finding in verify(store):
            outcome.unverified += 1
            note(f"verify: {finding}")
    return outcome


def _count(store: Store, readers: list[Reader], outcome: Outcome) -> None:
    """Compare the stored readings with the acknowledged ones."""
    with store.look() as look:
        rows = look.rows(
            "SELECT readings.id, answer, assignment, supersedes, shown_order FROM readings "
            "JOIN assignments ON assignments.id = assignment"
        )
    stored = {row["id"]: row for row in rows}
    first = Counter(row["assignment"] for row in rows if row["supersedes"] is None)
    outcome.duplicated += sum(n > 1 for n in first.values())
    outcome.duplicated += len(rows) - len(stored)
    for reader in readers:
        for record, option in reader.acknowledged.items():
            outcome.acknowledged += 1
            row = stored.get(record)
            if row is None:
                outcome.lost += 1
            elif row["answer"] != canonical(option, row["shown_order"]):
                outcome.wrong += 1
