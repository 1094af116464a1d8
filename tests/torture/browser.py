"""A reader's browser as the server sees it: sign-in, desk, and an outbox that is sent until stored.

Each message can meet a fault of the connection. The outbox follows docs/reading-page.md: a record
stays until the server says that it is stored or refused.
"""

import http.client
import json
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random
from typing import Any

from benchmarks import servers

_TIMEOUT_S = 30.0


class Cut(OSError):
    """The connection ended without an answer."""


class ConnectionFault(StrEnum):
    """What happens to a message on its way."""

    NONE = "no fault"
    DROPPED_BEFORE = "connection dropped before the message arrived"
    DROPPED_AFTER = "connection dropped before the acknowledgement"
    SLOW = "slow connection"
    TWICE = "message sent twice"


@dataclass
class Browser:
    """The browser of one reader, with everything that it keeps.

    Parameters
    ----------
    ports
        The servers on the same store; each message goes to one of them, as behind a proxy.
    acknowledged
        The letter of each reading that the server acknowledged, by the record's id. It is shared
        by all browsers of a reader.
    clock_ms
        How far the computer's clock is ahead of the server's.
    """

    ports: Sequence[int]
    code: str
    random: Random
    acknowledged: dict[str, str]
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
        self.cookie = cookie.partition(";")[0]

    def load(self) -> None:
        """Load the page: request the desk; records that were not sent stay in the browser."""
        status, _, content = self._exchange("GET", "/desk", None, {"Cookie": self.cookie})
        if status != 200:
            raise Cut(f"the desk was refused with status {status}")
        self.desk = json.loads(content)

    @property
    def is_done(self) -> bool:
        """Return whether everything is read and stored."""
        return bool(self.desk) and not self.desk["cases"] and not self.outbox

    def answer(self, name: str) -> None:
        """Show the next case and confirm an option; both records wait in the outbox."""
        case = self.desk["cases"][0]
        now_ms = time.time() * 1000 + self.clock_ms
        option = self.random.choice(case["options"])["option"]
        kinds = (
            {"kind": "presentation", "shown_epoch_ms": now_ms, "circumstances": {}},
            servers.reading_record(option, now_ms),
        )
        for record in kinds:
            label = f"{record['kind']}-{name}-{case['case'][:8]}"
            self.outbox.append({"id": label, "case": case["case"], **record})

    def send(self, fault: ConnectionFault) -> None:
        """Send the outbox; the server's answer removes records from it and renews the desk.

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
        for _ in range(2 if fault is ConnectionFault.TWICE else 1):
            status, _, content = self._exchange(
                "POST", "/desk/records", json.dumps(sent), headers, fault
            )
        if status != 200:
            raise Cut(f"status {status}")
        reply = json.loads(content)
        stored = set(reply["stored"])
        for record in self.outbox:
            if record["kind"] == "reading" and record["id"] in stored:
                self.acknowledged[record["id"]] = record["option"]
        settled = stored | {refused for refused, *_ in map(_pair, reply["refused"])}
        self.outbox = [record for record in self.outbox if record["id"] not in settled]
        self.desk = reply["desk"]

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
            return answer.status, answer.getheader("set-cookie") or "", answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise Cut(str(error)) from error
        finally:
            line.close()


def _pair(refused: Any) -> tuple[str, ...]:
    """Return a refused record's id and reason, from the server's pair or object."""
    return tuple(refused.values()) if isinstance(refused, dict) else tuple(refused)
