"""The cost of an answer: the server's processor time for a presentation and a reading, over HTTP.

All images are prepared in advance, so that the server has no other work. The baseline is the same
number of messages that the server rejects, which shows the cost of HTTP. The processor time of the
idle server is subtracted from both. If the address of an empty PostgreSQL database is specified,
the measurement is repeated with a store in it.
"""

import argparse
import http.client
import json
import os
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks import servers
from benchmarks.machine import Broken

DESCRIPTION = "an answer's processor time on the server, compared with rejected messages"
SMALLEST = "--n 2"
BAR_MS = 10.0

_BANK = Path(__file__).parent.parent / "data" / "demo" / "bank.json"
_CASES = 59
_WARM = 8
_IDLE_S = 4.0
_PATIENCE_S = 120.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the benchmark's options."""
    parser.add_argument("--n", type=int, default=_CASES - _WARM, help="answers measured")
    parser.add_argument("--postgres", default="", help="the address of an empty database")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Measure a reader's answers one after another, and as many rejected messages, by engine."""
    n = max(1, min(args.n, _CASES - _WARM))
    with tempfile.TemporaryDirectory() as folder:
        result = {"n": n, "bar_ms": BAR_MS, **_costs(Path(folder, "store.db"), Path(folder), n)}
        if args.postgres:
            with patch.dict(os.environ, {"READING_ROOM_FILES": folder}):
                other = _costs(args.postgres, Path(folder), n)
            result["postgres"] = other | {
                f"{name}_ratio": round(other[name] / result[name], 2)
                for name in ("answer_ms", "answer_wall_ms")
            }
    return result


def _costs(address: Path | str, folder: Path, n: int) -> dict[str, float]:
    """Return the costs of answers and rejected messages for a server with a new store."""
    deployed = servers.deploy(address, _BANK, cases=_WARM + n, readers=["reader"], seed=1)
    with servers.app(deployed.store, folder / "log") as server:
        reader = Reader(server.port, deployed.codes["reader"])
        for _ in range(_WARM):
            reader.answer()
        _wait_until_quiet(server)
        idle_ms = _idle_ms_per_s(server)
        reader.hang_up()
        answer_ms, wall_ms = _measure(server, reader.answer, n, idle_ms)
        refused_ms, _ = _measure(server, reader.be_refused, n, idle_ms)
        reader.hang_up()
    return {
        "answer_ms": round(answer_ms, 2),
        "answer_wall_ms": round(wall_ms, 2),
        "refused_ms": round(refused_ms, 2),
        "ratio": round(answer_ms / refused_ms, 1),
        "idle_ms_per_s": round(idle_ms, 1),
    }


def text(result: dict[str, Any]) -> str:
    """Return the result as text."""
    met = "met" if result["answer_ms"] <= result["bar_ms"] else "not met"
    lines = [
        f"{result['n']} answers, each a presentation and a reading; the server's processor:",
        f"an answer              {result['answer_ms']:6.1f} ms",
        f"two messages refused   {result['refused_ms']:6.1f} ms",
        f"ratio                  {result['ratio']:6.1f}",
        f"bar: {result['bar_ms']:.0f} ms an answer: {met}",
    ]
    if other := result.get("postgres"):
        lines += [
            f"on PostgreSQL          {other['answer_ms']:6.1f} ms, "
            f"{other['answer_ms_ratio']:.2f} times as much",
            f"until acknowledged     {other['answer_wall_ms']:6.1f} ms, and "
            f"{result['answer_wall_ms']:.1f} ms with SQLite",
        ]
    return "\n".join(lines)


class Reader:
    """Sends the messages of a reader's browser."""

    def __init__(self, port: int, code: str) -> None:
        self._line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        self._line.request("POST", "/sign-in", f"access_code={code}", headers)
        answer = self._line.getresponse()
        answer.read()
        cookies = [text.partition(";")[0] for text in answer.headers.get_all("set-cookie", [])]
        self._cookie = next(text for text in cookies if text.startswith("reading_room="))
        self.ask()

    @property
    def has_more(self) -> bool:
        """Whether there is another case to answer."""
        return bool(self._desk["cases"])

    def ask(self) -> None:
        """Request the desk."""
        self._line.request("GET", "/desk", headers={"Cookie": self._cookie})
        self._desk = json.loads(self._line.getresponse().read())

    def hang_up(self) -> None:
        """Close the connection; the next message opens another."""
        self._line.close()

    def answer(self) -> None:
        """Present the next case and answer it."""
        case, now_ms = self._desk["cases"][0]["case"], time.time() * 1000
        self._send(
            {
                "kind": "presentation",
                "id": f"shown-{case}",
                "case": case,
                "shown_epoch_ms": now_ms,
                "circumstances": {"renderer": "webgl2"},
            }
        )
        self._send({"id": f"read-{case}", "case": case, **servers.reading_record("A", now_ms)})

    def be_refused(self) -> None:
        """Send the same number of messages without a sign-in."""
        for _ in range(2):
            self._post({}, cookie="")

    def _send(self, record: dict[str, Any]) -> None:
        reply = self._post(record, cookie=self._cookie)
        if record["id"] not in reply.get("stored", []):
            raise Broken(f"the server did not store a {record['kind']}: {reply}")
        self._desk = reply["desk"]

    def _post(self, record: dict[str, Any], *, cookie: str) -> Any:
        body = {
            "seal": self._desk["seal"],
            "sent_epoch_ms": time.time() * 1000,
            "records": [record],
        }
        headers = {"Content-Type": "application/json", "Cookie": cookie}
        self._line.request("POST", "/desk/records", json.dumps(body), headers)
        answer = self._line.getresponse()
        content = answer.read()
        return json.loads(content) if cookie else {}


def _wait_until_quiet(server: servers.Server) -> None:
    """Wait until the films are prepared and the server is nearly idle."""
    end = time.monotonic() + _PATIENCE_S
    while _idle_ms_per_s(server, 1.0) > 50 and time.monotonic() < end:
        pass


def _idle_ms_per_s(server: servers.Server, seconds: float = _IDLE_S) -> float:
    """Return the idle server's processor time per second in ms."""
    before = server.cpu_ms()
    threading.Event().wait(seconds)
    return (server.cpu_ms() - before) / seconds


def _measure(
    server: servers.Server, do: Callable[[], None], n: int, idle_ms: float
) -> tuple[float, float]:
    """Return the mean processor time and the mean duration of a call in ms."""
    cpu, start = server.cpu_ms(), time.perf_counter()
    for _ in range(n):
        do()
    wall_s = time.perf_counter() - start
    return max(server.cpu_ms() - cpu - idle_ms * wall_s, 10.0) / n, wall_s * 1000 / n
