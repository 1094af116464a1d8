"""A simulated browser of a reader: sign-in, desk, and an outbox that is sent until stored.

Each message can meet a fault of the connection. The outbox follows docs/reading-page.md: a record
stays until the server reports that it was stored or refused.
"""

import http.client
import json
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random
from typing import Any

from benchmarks import servers

_TIMEOUT_S = 30.0


class Cut(OSError):
    """The connection ended without an answer."""


class ConnectionFault(StrEnum):
    """The fault that a message meets."""

    NONE = "no fault"
    DROPPED_BEFORE = "connection dropped before the message arrived"
    DROPPED_AFTER = "connection dropped before the acknowledgement"
    SLOW = "slow connection"
    TWICE = "message sent twice"


class Network:
    """Makes all browsers wait, or lose all responses, while a power loss is prepared.

    Attributes
    ----------
    loses_responses : bool
        Whether no browser receives a response.
    repaired_at_s : float
        When the last fault of a server ended; infinity while there is one.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._open = True
        self._exchanges = 0
        self.loses_responses = False
        self.repaired_at_s = time.monotonic()

    @contextmanager
    def exchange(self) -> Iterator[None]:
        """Wait until messages may be sent, and count a pending message."""
        with self._changed:
            self._changed.wait_for(lambda: self._open)
            self._exchanges += 1
        try:
            yield
        finally:
            with self._changed:
                self._exchanges -= 1
                self._changed.notify_all()

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Wait for pending messages, and prevent others within the context."""
        with self._changed:
            self._open = False
            self._changed.wait_for(lambda: not self._exchanges)
        try:
            yield
        finally:
            with self._changed:
                self._open = True
                self._changed.notify_all()


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A refused reading, its reason, and the other readings of the case sent until then."""

    id: str
    case: str
    why: str
    others: frozenset[str]


@dataclass
class Ledger:
    """The records sent by the browsers of one reader, and the server's reports.

    `acknowledged` has the readings that were reported as stored, by id; `n_signed_out` is how often
    the server asked for another sign-in.
    """

    acknowledged: dict[str, dict[str, Any]] = field(default_factory=dict)
    refused: list[Refusal] = field(default_factory=list)
    sent: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    n_signed_out: int = 0

    def note_sent(self, records: Sequence[dict[str, Any]]) -> None:
        """Record that a message may reach the server."""
        for record in records:
            if record["kind"] == "reading":
                self.sent[record["case"]].add(record["id"])

    def note_reply(self, records: Sequence[dict[str, Any]], reply: dict[str, Any]) -> set[str]:
        """Record the outcomes of a message; return the ids that need not be sent again."""
        reasons = {each["id"]: each["why"] for each in reply["refused"]}
        for record in records:
            if record["kind"] != "reading":
                continue
            case, identifier = record["case"], record["id"]
            if identifier in reply["stored"]:
                self.acknowledged[identifier] = record
            elif identifier in reasons:
                others = frozenset(self.sent[case] - {identifier})
                reason = reasons[identifier]
                self.refused.append(Refusal(id=identifier, case=case, why=reason, others=others))
        return {*reply["stored"], *reasons}


@dataclass
class Browser:
    """The browser of one reader, with its stored values.

    Parameters
    ----------
    ports
        The servers on the same store; each message goes to one of them, as behind a proxy.
    ledger
        Shared by all browsers of a reader.
    clock_ms
        Lead of the computer's clock over the server's.
    """

    network: Network
    ports: Sequence[int]
    code: str
    random: Random
    ledger: Ledger
    clock_ms: float = 0.0
    cookie: str = ""
    desk: dict[str, Any] = field(default_factory=dict)
    outbox: list[dict[str, Any]] = field(default_factory=list)

    def sign_in(self) -> None:
        """Sign in with the access code, if the browser has no cookie."""
        if self.cookie:
            return
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        _, cookie, _ = self._exchange("POST", "/sign-in", f"access_code={self.code}", headers)
        if not cookie:
            raise Cut("the sign-in was not accepted")
        self.cookie = cookie.partition(";")[0]

    def load(self) -> None:
        """Load the page: request the desk; records that were not sent stay in the browser."""
        status, _, content = self._exchange("GET", "/desk", None, {"Cookie": self.cookie})
        self._check(status)
        self.desk = json.loads(content)

    @property
    def is_done(self) -> bool:
        """Return whether everything is read and stored."""
        return bool(self.desk) and not self.desk["cases"] and not self.outbox

    def answer(self, name: str) -> None:
        """Show the next case and confirm an option; both records wait in the outbox."""
        case = self.desk["cases"][0]
        now_ms = time.time() * 1000 + self.clock_ms
        reading = servers.reading_record(self.random.choice(case["options"])["option"], now_ms)
        reading["times"] |= dict.fromkeys(
            ("response_ms", "elapsed_ms"), round(self.random.uniform(800, 9000), 2)
        )
        kinds = (
            {"kind": "presentation", "shown_epoch_ms": now_ms, "circumstances": {}},
            reading,
        )
        for record in kinds:
            label = f"{record['kind']}-{name}-{case['case'][:8]}"
            self.outbox.append({"id": label, "case": case["case"], **record})

    def send(self, fault: ConnectionFault) -> None:
        """Send the outbox; the server's response removes records from it and replaces the desk.

        Raises
        ------
        Cut
            There was no answer, or the server was busy.
        """
        if not self.desk or not self.outbox:
            self.load()
        if not self.outbox:
            return
        sent = {
            "seal": self.desk["seal"],
            "sent_epoch_ms": time.time() * 1000 + self.clock_ms,
            "records": self.outbox,
        }
        headers = {"Content-Type": "application/json", "Cookie": self.cookie}
        if fault is not ConnectionFault.DROPPED_BEFORE:
            self.ledger.note_sent(self.outbox)
        for _ in range(2 if fault is ConnectionFault.TWICE else 1):
            status, _, content = self._exchange(
                "POST", "/desk/records", json.dumps(sent), headers, fault
            )
        self._check(status)
        reply = json.loads(content)
        settled = self.ledger.note_reply(self.outbox, reply)
        self.outbox = [record for record in self.outbox if record["id"] not in settled]
        self.desk = reply["desk"]

    def _check(self, status: int) -> None:
        """Sign in again if the page requires it; the outbox is kept."""
        if status == 401:
            self.cookie = ""
            self.ledger.n_signed_out += 1
        if status != 200:
            raise Cut(f"status {status}")

    def _exchange(
        self,
        method: str,
        path: str,
        body: str | None,
        headers: dict[str, str],
        fault: ConnectionFault = ConnectionFault.NONE,
    ) -> tuple[int, str, bytes]:
        """Return status, cookie and content of a response of any of the servers."""
        port = self.random.choice(self.ports)
        with self.network.exchange():
            if self.network.loses_responses and fault is not ConnectionFault.DROPPED_BEFORE:
                fault = ConnectionFault.DROPPED_AFTER
            line = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_S)
            try:
                content = (body or "").encode()
                line.putrequest(method, path)
                for name, value in {**headers, "Content-Length": str(len(content))}.items():
                    line.putheader(name, value)
                line.endheaders()
                end = 0 if fault is ConnectionFault.DROPPED_BEFORE else len(content)
                cut = self.random.randrange(len(content)) if content and not end else end
                pieces = 3 if fault is ConnectionFault.SLOW else 1
                for n in range(pieces):
                    line.send(content[cut * n // pieces : cut * (n + 1) // pieces])
                    threading.Event().wait(0.1 if pieces > 1 else 0)
                if fault in (ConnectionFault.DROPPED_BEFORE, ConnectionFault.DROPPED_AFTER):
                    raise Cut(fault)
                answer = line.getresponse()
                cookies = answer.msg.get_all("set-cookie", [])  # a proxy may set its own, too
                cookie = next((each for each in cookies if "reading_room=" in each), "")
                return answer.status, cookie, answer.read()
            except (OSError, http.client.HTTPException) as error:
                raise Cut(str(error)) from error
            finally:
                line.close()
