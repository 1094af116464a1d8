"""Runs readers and faults, and counts the losses."""

import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from random import Random
from typing import Protocol

from benchmarks.servers import STUDY, deploy
from study.reading.records import canonical_letter
from study.store import Store, events
from study.store.events import EventKind, study_chain
from study.trail.verification import verify
from tests.conftest import write_bank
from tests.e2e.server import Server, free_port
from tests.torture.altered_server import set_clock
from tests.torture.browser import Browser, ConnectionFault, Cut, Ledger, Network
from tests.torture.faults import CLOCK_SET, Faults, Site
from tests.torture.front import proxied
from tests.torture.sqlite import Sqlite

_FAULTY = 0.35
"""The share of messages that meet a fault of the connection."""

_ASLEEP_S = 3.0

_PAGE = (
    "page reloaded",
    "second tab",
    "second computer",
    "computer's clock set",
    "computer asleep",
)


class Engine(Protocol):
    """A database engine: the address of a new store, and its possible faults."""

    @property
    def name(self) -> str:
        """Return its name in results."""

    def place(self) -> AbstractContextManager[str]:
        """Provide the address for a new store."""

    def faults(self, site: Site, random: Random) -> Faults:
        """Return the faults of servers on this engine."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The size of a batch: readers who answer at the same time, their cases, and server faults.

    All `servers` serve the same store. A reader who has not finished `patience_s` seconds after the
    last fault of a server cannot continue. Messages go to the `proxy`, ``nginx`` or ``caddy``, or
    to any of the servers. `defect` is a name in `tests.torture.defects`.
    """

    readers: int = 10
    cases: int = 10
    server_faults: int = 4
    servers: int = 1
    patience_s: float = 90.0
    engine: Engine = field(default_factory=Sqlite)
    proxy: str = ""
    only: str = ""
    """The fault of servers, if it is not chosen at random."""
    defect: str = "none"


@dataclass
class Outcome:
    """The counts of a batch; all except `acknowledged` must be 0.

    Attributes
    ----------
    lost : int
        Acknowledged readings that are not stored, and unread cases of a reader who had finished.
    duplicated : int
        Readings and events beyond one for each case.
    wrong : int
        Acknowledged readings with another option, time or reader than those sent.
    refused : int
        Readings refused although no other reading of the case was stored before.
    stuck : int
        Readers who could not continue.
    signed_out : int
        How often a reader had to sign in again, unless a server's clock was set.
    ended : int
        Servers that ended without being killed.
    hung : int
        How often a program waited for another that was suspended.
    unverified : int
        Findings of `verify`.
    faults : Counter
        The faults by name.
    """

    acknowledged: int = 0
    lost: int = 0
    duplicated: int = 0
    wrong: int = 0
    refused: int = 0
    stuck: int = 0
    signed_out: int = 0
    ended: int = 0
    hung: int = 0
    unverified: int = 0
    faults: Counter[str] = field(default_factory=Counter)

    @property
    def breaches(self) -> dict[str, int]:
        """Return the counts that must be 0."""
        known = ("acknowledged", "faults")
        return {
            each.name: getattr(self, each.name) for each in fields(self) if each.name not in known
        }

    @property
    def is_clean(self) -> bool:
        """Return whether nothing was lost, duplicated or wrong, and all sessions ended."""
        return not any(self.breaches.values())

    def add(self, other: "Outcome") -> None:
        """Add the counts of another batch."""
        for name in ("acknowledged", *self.breaches):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.faults.update(other.faults)


class Reader:
    """One run: a reader who answers all cases despite lost messages and closed windows."""

    def __init__(self, name: str, make: Callable[[Random, Ledger], Browser], seed: str) -> None:
        self.name = name
        self._random = Random(seed)
        self.ledger = Ledger()
        self.faults: Counter[str] = Counter()
        self.is_stuck = False
        self._make = partial(make, self._random, self.ledger)
        self._windows = [self._make()]
        self._answered = 0

    def read(self, network: Network, patience_s: float) -> None:
        """Answer until everything is stored, or the time after the last fault is over."""
        while time.monotonic() < network.repaired_at_s + patience_s:
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
        """Sometimes reload the page, open another window, set the clock, or wait."""
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
        elif kind == "computer asleep":
            threading.Event().wait(self._random.uniform(0.0, _ASLEEP_S))
        else:
            window.clock_ms = self._random.uniform(-3, 3) * 3_600_000


@contextmanager
def deployed(plan: Plan, seed: str) -> Iterator[tuple[Site, Mapping[str, str]]]:
    """Run servers with an open study; yield them with the readers' access codes."""
    names = [f"R{n + 1}" for n in range(plan.readers)]
    with (
        tempfile.TemporaryDirectory(prefix="torture-") as folder,
        plan.engine.place() as address,
    ):
        bank = write_bank(Path(folder, "bank"), n_patients=plan.cases)
        deployment = deploy(
            address,
            bank,
            cases=plan.cases,
            readers=names,
            seed=Random(seed).getrandbits(32),
        )
        servers, clocks = [], []
        for number in range(plan.servers):
            clock = Path(folder, f"clock{number}")
            set_clock(clock, 0.0)
            server = Server(
                store=deployment.store,
                codes={},
                port=free_port(),
                log=Path(folder, f"log{number}"),
                watched=("tests.torture.altered_server", str(clock), plan.defect),
            )
            servers.append(server)
            clocks.append(clock)
        try:
            for server in servers:
                server.start()
            ports = [server.port for server in servers]
            with proxied(plan.proxy, ports) if plan.proxy else nullcontext() as port:
                site = Site(
                    servers=servers,
                    clocks=clocks,
                    network=Network(),
                    ports=[port] if port else ports,
                    defect=plan.defect,
                )
                yield site, deployment.codes
        finally:
            for server in servers:
                server.kill()


def run_batch(plan: Plan, seed: str, note: Callable[[str], None] = lambda line: None) -> Outcome:
    """Run one batch of readers on one store, with seeded faults, and count."""
    outcome, random = Outcome(), Random(f"{seed}/server")
    with deployed(plan, seed) as (site, codes):
        readers = [
            Reader(name, _browsers(site, code), f"{seed}/{name}") for name, code in codes.items()
        ]
        faults = plan.engine.faults(site, random)
        with ThreadPoolExecutor(plan.readers) as pool:
            runs = [pool.submit(reader.read, site.network, plan.patience_s) for reader in readers]
            for n in range(plan.server_faults):
                threading.Event().wait(random.uniform(0.2, 1.0))
                if all(run.done() for run in runs):
                    break
                drawn = random.choice(list(faults.acts) if n else faults.crashes)
                fault = plan.only or drawn
                if not faults.inflict(fault):
                    outcome.ended += 1
                    note(f"a server ended: {fault}")
                outcome.faults[fault] += 1
            for run in runs:
                run.result()
        for server in site.servers:
            server.kill()
        store, outcome.hung = site.servers[0].store, faults.n_hung
        for reader in readers:
            outcome.faults.update(reader.faults)
            outcome.stuck += reader.is_stuck
            if not outcome.faults[CLOCK_SET]:
                outcome.signed_out += reader.ledger.n_signed_out
        _count(store, readers, plan.cases, outcome)
        for finding in verify(store):
            outcome.unverified += 1
            note(f"verify: {finding}")
    return outcome


def _browsers(site: Site, code: str) -> Callable[[Random, Ledger], Browser]:
    """Return a function that makes the browsers of the reader with a code."""

    def make(random: Random, ledger: Ledger) -> Browser:
        return Browser(site.network, site.ports, code, random, ledger)

    return make


def _count(store: Store, readers: Sequence[Reader], n_cases: int, outcome: Outcome) -> None:
    """Compare the stored readings with those that the server reported."""
    with store.look() as look:
        rows = look.rows(
            "SELECT readings.id, answer, response_ms, assignment, shown_order, reader_id "
            "FROM readings JOIN assignments ON assignments.id = assignment "
            "JOIN readers ON readers.id = reader"
        )
        read = events.of_kind(look, study_chain(STUDY), EventKind.CASE_READ)
    stored = {row["id"]: row for row in rows}
    first = {row["assignment"]: row["id"] for row in reversed(rows)}
    n_events = Counter(event["reading"] for event in read)
    outcome.duplicated += len(rows) - len(first) + n_events.total() - len(n_events)
    for reader in readers:
        n_read = sum(row["reader_id"] == reader.name for row in rows)
        outcome.lost += 0 if reader.is_stuck else max(0, n_cases - n_read)
        for record, sent in reader.ledger.acknowledged.items():
            outcome.acknowledged += 1
            row = stored.get(record)
            if row is None:
                outcome.lost += 1
            else:
                outcome.wrong += (row["answer"], row["response_ms"], row["reader_id"]) != (
                    canonical_letter(sent["option"], row["shown_order"]),
                    sent["times"]["response_ms"],
                    reader.name,
                )
        outcome.refused += sum(
            first.get(refused.case) not in refused.others for refused in reader.ledger.refused
        )
