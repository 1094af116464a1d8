"""Asks a model a study's questions, as many at once as allowed, and loses nothing it was told.

What it was told is in the run's journal, a folder beside the store: ``protocol.json``, what the
model is asked under; ``answers.jsonl``, a line an answer, as `models add` reads it too;
``failures.jsonl``, a line a request that brought none. An answer's line is written and flushed as
the answer arrives, before another is asked for, so that whatever becomes of the program, what is
missing in the file is what has to be asked.
"""

import asyncio
import fcntl
import json
import os
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, Protocol

from study.base.canonical import canonical_json, sha256_of, stamp
from study.base.errors import BadFile, NotNow, StudyError
from study.models.running_askers import Asker, Failed, Request

PROTOCOL = "protocol.json"
ANSWERS = "answers.jsonl"
FAILURES = "failures.jsonl"

Ask = tuple[str, int]
"""An item's id, and which run it is asked in, from 1."""

AHEAD = 4
"""Questions whose films are made ready while all connections are taken, at least; half as many as
there are connections where these are more, for answers come in bursts."""

MOST_IN_VAIN = 20
"""Requests in a row that brought nothing, after which the server is taken to be gone."""

_MILLION = 1_000_000
Ended = Literal["asked", "budget", "interrupted", "gone"]


@dataclass(slots=True, kw_only=True)
class Totals:
    """What the answers so far took: tokens, the most of one, and of how many nobody told them."""

    answers: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    most_input: int = 0
    most_output: int = 0
    untold: int = 0

    def add(self, answer: Mapping[str, Any]) -> None:
        """Count one answer's line."""
        told = answer.get("input_tokens"), answer.get("output_tokens")
        taken, given = (one or 0 for one in told)
        self.answers += 1
        self.input_tokens += taken
        self.output_tokens += given
        self.most_input = max(self.most_input, taken)
        self.most_output = max(self.most_output, given)
        self.untold += None in told


@dataclass(slots=True, kw_only=True)
class Journal:
    """An open journal, this process's own until it is closed: what was answered, and its cost."""

    folder: Path
    file: int
    done: set[Ask] = field(default_factory=set)
    totals: Totals = field(default_factory=Totals)

    @property
    def answers(self) -> Path:
        """Return where the answers are."""
        return self.folder / ANSWERS

    def answered(self, answer: Mapping[str, Any]) -> None:
        """Write down an answer: once this returns, it outlasts the program and the machine.

        Raises
        ------
        StudyError
            It cannot be written, and what there was is as it was.
        """
        size = os.fstat(self.file).st_size
        try:
            _write(self.file, canonical_json(answer) + "\n")
            os.fdatasync(self.file)
        except OSError as error:
            os.ftruncate(self.file, size)
            raise StudyError(f"{self.answers} cannot be written: {error.strerror}.") from error
        self._count(answer)

    def failed(self, failure: Mapping[str, Any]) -> None:
        """Write down that a request brought no answer, and why."""
        with (self.folder / FAILURES).open("a", encoding="utf-8") as file:
            file.write(canonical_json(failure) + "\n")

    def _count(self, answer: Mapping[str, Any]) -> None:
        self.done.add((answer["item_id"], answer["run"]))
        self.totals.add(answer)


def folder_of(store: Path, *, study: str, model: str, edition: int) -> Path:
    """Return where the run of a model lies; `edition` counts a study's models of one name."""
    mark = sha256_of([study, model, edition])[:8]
    name = re.sub(r"[^\w.-]+", "-", f"{study}-{model}").strip(".-")[:80]
    return store.with_name(f"{store.name}-runs") / f"{name}-{mark}"


@contextmanager
def opened_journal(
    folder: Path, protocol: Mapping[str, Any], *, wait: Callable[[], None] | None = None
) -> Iterator[Journal]:
    """Open a run's journal, or begin it.

    Parameters
    ----------
    folder : Path
        As `folder_of` names it.
    protocol : mapping
        All that decides what the model is asked, and how; as JSON.
    wait : callable, optional
        Called before another process that has the journal is waited for.

    Raises
    ------
    NotNow
        Another process has it open and is not to be waited for, or the run was begun under another
        protocol.
    BadFile
        A line that is not the last cannot be read.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    file = os.open(folder / ANSWERS, flags, 0o600)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if wait is None:
                raise NotNow(f"Another process is asking this model ({folder}).") from None
            wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        _lock_protocol(folder, protocol)
        journal = Journal(folder=folder, file=file)
        for answer in _read(journal.answers, file):
            journal._count(answer)
        yield journal
    finally:
        os.close(file)


def answers_in(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the answers of a journal in the order they came."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            yield _answer(path, number, line)


def failures_in(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the requests of a run that brought no answer, the last one of a question last."""
    path = folder / FAILURES
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return (json.loads(line) for line in lines)


def _lock_protocol(folder: Path, protocol: Mapping[str, Any]) -> None:
    """Write the protocol down, or hold it against the one the run was begun under."""
    path = folder / PROTOCOL
    if not path.exists():
        new = path.with_suffix(".new")
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            _write(file, json.dumps(protocol, indent=1, ensure_ascii=False) + "\n")
            os.fsync(file)
        finally:
            os.close(file)
        new.replace(path)
        for one in (folder, folder.parent):
            _flush(one)
        return
    begun = json.loads(path.read_text(encoding="utf-8"))
    other = sorted(key for key in begun.keys() | protocol.keys() if _differs(key, begun, protocol))
    if other:
        told = "; ".join(f"{key}: {begun.get(key)!r}, not {protocol.get(key)!r}" for key in other)
        raise NotNow(
            f"This run was begun under another protocol ({told}). Go on under that one, or give "
            "the model another name."
        )


def _differs(key: str, begun: Mapping[str, Any], protocol: Mapping[str, Any]) -> bool:
    return canonical_json(begun.get(key)) != canonical_json(protocol.get(key))


def _read(path: Path, file: int) -> Iterator[dict[str, Any]]:
    """Yield the answers, and cut off a last line that was not written to its end."""
    whole = 0
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.endswith(b"\n"):
                yield _answer(path, number, line)
                whole += len(line)
    if whole < os.fstat(file).st_size:
        os.ftruncate(file, whole)
        os.fsync(file)


def _answer(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
        if isinstance(found["item_id"], str) and isinstance(found["run"], int):
            return dict(found)
    except (ValueError, KeyError, TypeError):
        pass
    raise BadFile(f"{path}, line {number}, is damaged. Take the line out: it is asked again.")


def _write(file: int, text: str) -> None:
    content = text.encode("utf-8", "backslashreplace")  # of lone surrogates
    while content:
        content = content[os.write(file, content) :]


def _flush(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


class Exam(Protocol):
    """The questions of a study, and the films as a reader sees them."""

    @property
    def item_ids(self) -> Sequence[str]:
        """Return the items in the order in which they are asked."""
        ...

    def question(self, item_id: str) -> Request:
        """Return what a model is asked of an item; slow, for the films are made here."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How often and at what price a model is asked.

    Attributes
    ----------
    runs : int
        How often each question is asked.
    connections : int
        How many are asked at once.
    seeds : tuple of int
        Of each run; empty where none is given.
    input_price, output_price : float
        Of a million tokens, in any currency.
    budget : float or None
        What the whole run may cost, with what it cost so far.
    """

    runs: int = 1
    connections: int = 1
    seeds: tuple[int, ...] = ()
    input_price: float = 0
    output_price: float = 0
    budget: float | None = None

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """Return what tokens cost."""
        return (input_tokens * self.input_price + output_tokens * self.output_price) / _MILLION

    def spent(self, totals: Totals) -> float:
        """Return what all answers cost."""
        return self.cost(totals.input_tokens, totals.output_tokens)

    def seed_of(self, run: int) -> int | None:
        """Return the seed of a run, counted from 1."""
        return self.seeds[run - 1] if self.seeds else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """How far a run is."""

    n_asks: int
    n_answered: int
    n_failed: int
    per_second: float
    seconds_left: float | None
    spent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """How a sitting ended: what was answered in it, what failed and why, and what made it end."""

    ended: Ended
    n_answered: int
    reasons: Counter[str]


def all_asks(item_ids: Sequence[str], runs: int) -> Iterator[Ask]:
    """Yield every question of a run: all of the first time, then all of the second, ..."""
    return ((item_id, run) for run in range(1, runs + 1) for item_id in item_ids)


def ask_all(
    exam: Exam,
    asker: Asker,
    journal: Journal,
    limits: Limits,
    *,
    tell: Callable[[RunProgress], None] = lambda _: None,
    alone: int | None = None,
) -> RunOutcome:
    """Ask all that the journal has no answer to; each answer is written down as it arrives.

    On the first SIGINT or SIGTERM nothing more is asked, and answers under way are waited for; on
    the second they are given up.

    Parameters
    ----------
    alone
        A pipe that ends when this is the last process left of those that were started to ask; then
        nothing more is asked either.

    Raises
    ------
    StudyError
        An answer cannot be written down, or a budget is to be kept and the server tells no tokens.
    """
    sitting = _Sitting(exam=exam, asker=asker, journal=journal, limits=limits, tell=tell)
    return asyncio.run(sitting.run(alone))


@dataclass(slots=True, kw_only=True)
class _Sitting:
    """One go at a run, from its start to its end or to an interruption."""

    exam: Exam
    asker: Asker
    journal: Journal
    limits: Limits
    tell: Callable[[RunProgress], None]
    begun: float = field(default_factory=time.monotonic)
    n_answered: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    in_vain: int = 0
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    connections: asyncio.Semaphore = field(init=False)
    rendering: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2))

    def __post_init__(self) -> None:
        self.connections = asyncio.Semaphore(self.limits.connections)

    async def run(self, alone: int | None) -> RunOutcome:
        me = asyncio.current_task()
        assert me is not None
        loop = asyncio.get_running_loop()
        for one in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError, RuntimeError, ValueError):  # not the main thread
                loop.add_signal_handler(one, self._interrupted, me)
        if alone is not None:
            loop.add_reader(alone, self._left_alone, alone)
        try:
            ended = await self._ask_all()
        except asyncio.CancelledError:
            ended = "interrupted"
        finally:
            await self.asker.close()
        return RunOutcome(ended=ended, n_answered=self.n_answered, reasons=self.reasons)

    def _left_alone(self, alone: int) -> None:
        asyncio.get_running_loop().remove_reader(alone)
        self.stopping.set()

    def _interrupted(self, me: "asyncio.Task[Any]") -> None:
        if self.stopping.is_set():
            me.cancel()
        self.stopping.set()

    async def _ask_all(self) -> Ended:
        asks = all_asks(self.exam.item_ids, self.limits.runs)
        missing = (ask for ask in asks if ask not in self.journal.done)
        running: set[asyncio.Task[None]] = set()
        stopping = asyncio.create_task(self.stopping.wait())
        try:
            for ask in missing:
                while running and not self._room(len(running)) and not self._over():
                    running = await _some_done({*running, stopping}) - {stopping}
                if ended := self._over() or self._beyond_budget(len(running)):
                    return ended
                running.add(asyncio.create_task(self._one(ask)))
            return "asked"
        finally:
            stopping.cancel()
            try:
                while running:
                    running = await _some_done(running)
            finally:
                for task in running:
                    task.cancel()
                await asyncio.gather(*running, return_exceptions=True)

    def _over(self) -> Ended | None:
        if self.stopping.is_set():
            return "interrupted"
        return "gone" if self.in_vain >= MOST_IN_VAIN else None

    def _room(self, running: int) -> bool:
        most = self.limits.connections + max(AHEAD, self.limits.connections // 2)
        return running < most and not self._beyond_budget(running)

    def _beyond_budget(self, running: int) -> Ended | None:
        """Whether one more could cost more than there is, each being as dear as the dearest yet.

        Until one was answered, nobody knows what one costs: one at a time.
        """
        if self.limits.budget is None:
            return None
        totals = self.journal.totals
        if not totals.answers:
            return "budget" if running else None
        dearest = self.limits.cost(totals.most_input, totals.most_output)
        likely = self.limits.spent(totals) + (running + 1) * dearest
        return "budget" if likely > self.limits.budget else None

    async def _one(self, ask: Ask) -> None:
        item_id, run = ask
        async with self.rendering:
            question = await asyncio.to_thread(self.exam.question, item_id)
        async with self.connections:
            if self._over():
                return
            try:
                reply = await self.asker.ask(question, self.limits.seed_of(run))
            except Failed as failure:
                self._failed(ask, str(failure))
                return
        self.journal.answered(
            {
                "item_id": item_id,
                "run": run,
                "condition": question.condition,
                "shown_order": question.order,
                "output": reply.words,
                "thinking": reply.thinking,
                "stop": reply.stop,
                "model": reply.model,
                "server": self.asker.server,
                "at_utc": stamp(datetime.now(UTC)),
                "input_tokens": reply.input_tokens,
                "output_tokens": reply.output_tokens,
                "latency_ms": reply.latency_ms,
                "prompt_sha256": prompt_hash(question),
            }
        )
        self.n_answered += 1
        self.in_vain = 0
        self.tell(self._progress())
        if self.limits.budget is not None and self.journal.totals.untold:
            raise StudyError(
                "The server does not tell how many tokens an answer took, so no budget can be kept."
                " Ask without --budget."
            )

    def _failed(self, ask: Ask, reason: str) -> None:
        self.reasons[reason] += 1
        self.in_vain += 1
        now = stamp(datetime.now(UTC))
        self.journal.failed({"item_id": ask[0], "run": ask[1], "failed": reason, "at_utc": now})
        self.tell(self._progress())

    def _progress(self) -> RunProgress:
        took = time.monotonic() - self.begun
        rate = self.n_answered / took if took else 0.0
        n_asks = len(self.exam.item_ids) * self.limits.runs
        n_failed = self.reasons.total()
        left = n_asks - len(self.journal.done) - n_failed
        return RunProgress(
            n_asks=n_asks,
            n_answered=len(self.journal.done),
            n_failed=n_failed,
            per_second=rate,
            seconds_left=max(left, 0) / rate if rate else None,
            spent=self.limits.spent(self.journal.totals),
        )


async def _some_done(tasks: Iterable["asyncio.Task[Any]"]) -> set["asyncio.Task[Any]"]:
    """Wait for one of some tasks, and return the others; raises what a task raised."""
    done, others = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()
    return others


def prompt_hash(question: Request) -> str:
    """Return the hash of all a model is sent of an item: system prompt, words, films' files."""
    films = [sha256(film).hexdigest() for film in question.films]
    return sha256_of({"system": question.system, "text": question.text, "films": films})
