"""The measured servers: the app with a new store, and the naive page with the same bank."""

import os
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import Broken, cpu_ms, free_port
from study.bank.importing import SIMULATED_OPTIONS, import_bank
from study.base.actor import COMMAND_LINE, Acting
from study.lifecycle import studies
from study.lifecycle.deployments import init
from study.people.codes import new_code
from study.people.invitations import Invitation
from study.protocol.protocol import Protocol
from study.store import Store

ROOT = Path(__file__).parent.parent
STUDY = "benchmark"
_PATIENCE_S = 120


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """A store with one open study, and its readers' access codes by reader."""

    store: Store
    codes: Mapping[str, str]


def deploy(
    address: Path | str, bank: Path, *, cases: int, readers: Sequence[str], seed: int
) -> Deployment:
    """Create a store with an open study of the bank's cases in the bank's order."""
    now, generator = datetime.now(UTC), np.random.default_rng(seed)
    acting = Acting(by=COMMAND_LINE, now=now)
    store = init(address, entropy=generator.bytes, now=now)
    import_bank(
        store,
        bank,
        name="films",
        images=bank.parent,
        options=SIMULATED_OPTIONS,
        acting=acting,
    )
    protocol = Protocol.from_json(
        {"cases": cases, "one_question_per": "item", "case_order": "fixed", "stratify_by": []}
    )
    studies.draw(store, bank="films", study=STUDY, protocol=protocol, acting=acting)
    codes = {reader: new_code(generator.bytes) for reader in readers}
    studies.invite(
        store,
        study=STUDY,
        invitations=[Invitation(reader_id=reader) for reader in readers],
        codes=list(codes.values()),
        acting=acting,
    )
    studies.open_study(store, study=STUDY, acting=acting)
    return Deployment(store=store, codes={reader: code.text for reader, code in codes.items()})


def reading_record(option: str, now_ms: float) -> dict[str, Any]:
    """Return a reading of 900.5 ms as the reading page sends it, without its id and case."""
    return {
        "kind": "reading",
        "option": option,
        "status": "answered",
        "confidence": None,
        "comment": None,
        "times": {
            "response_ms": 900.5,
            "elapsed_ms": 900.5,
            "hidden_ms": 0.0,
            "paused_ms": 0.0,
            "first_selection_ms": 700.25,
        },
        "selections": [{"option": option, "at_ms": 700.25}],
        "behaviour": {},
        "presented_epoch_ms": now_ms,
        "committed_epoch_ms": now_ms + 900.5,
        "flags": [],
        "supersedes": None,
    }


@dataclass(frozen=True, kw_only=True)
class Server:
    """A running server."""

    port: int
    process: subprocess.Popen[bytes]

    def cpu_ms(self) -> float:
        """Return the processor time of the server and its children so far."""
        return cpu_ms(self.process.pid)


@contextmanager
def app(store: Store, log: Path) -> Iterator[Server]:
    """Run the app with a store."""
    with _streamlit("app.py", {"READING_ROOM_DB": store.address}, log) as server:
        yield server


@contextmanager
def naive_page(bank: Path, answers: Path, log: Path) -> Iterator[Server]:
    """Run the naive page with a bank."""
    environment = {"BENCHMARK_BANK": str(bank), "BENCHMARK_ANSWERS": str(answers)}
    with _streamlit("benchmarks/naive_page.py", environment, log) as server:
        yield server


@contextmanager
def _streamlit(script: str, environment: Mapping[str, str], log: Path) -> Iterator[Server]:
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)]
    with log.open("ab") as out:
        process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **environment}, stdout=out, stderr=out
        )
    try:
        _wait_until_healthy(process, port, log)
        yield Server(port=port, process=process)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_healthy(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    between_looks = threading.Event()
    for _ in range(_PATIENCE_S * 10):
        if process.poll() is not None:
            break
        try:
            address = f"http://127.0.0.1:{port}/_stcore/health"
            with urllib.request.urlopen(address, timeout=1) as answer:
                if answer.read() == b"ok":
                    return
        except OSError:
            between_looks.wait(0.1)
    raise Broken(f"the server did not start:\n{log.read_text(encoding='utf-8')[-2000:]}")
