"""Asks a model a study's questions concurrently, and writes each answer to a journal.

The journal is a folder next to the store: ``protocol.json`` is the protocol of the run,
``answers.jsonl`` has one line per answer and can also be read by `models add`; ``failures.jsonl``
has one line per failed request. An answer is flushed to disk when it arrives, before the next
question is asked, so that an interrupted run can be resumed.
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
from study.base.text import quoted
from study.models.running_askers import Asker, Request, RequestFailed

PROTOCOL = "protocol.json"
ANSWERS = "answers.jsonl"
FAILURES = "failures.jsonl"

Ask = tuple[str, int]
"""An item's ID, and the number of the run, from 1."""

QUESTIONS_AHEAD = 4
"""The minimum number of questions whose films are prepared while all connections are busy.

If half the number of connections is larger, that many are prepared, because answers arrive in
bursts.
"""

MOST_FAILURES = 20
"""Number of consecutive failures after which the server is considered unavailable."""

_MILLION = 1_000_000
RunEnd = Literal["asked", "budget", "interrupted", "gone"]


@dataclass(slots=True, kw_only=True)
class Totals:
    """Token counts of the answers so far: sums, maxima, and how many answers have no count."""

    answers: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    most_input: int = 0
    most_output: int = 0
    n_without_tokens: int = 0

    def add(self, answer: Mapping[str, Any]) -> None:
        """Add the tokens of an answer."""
        reported = answer.get("input_tokens"), answer.get("output_tokens")
        input_tokens, output_tokens = (tokens or 0 for tokens in reported)
        self.answers += 1
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens
        self.most_input = max(self.most_input, input_tokens)
        self.most_output = max(self.most_output, output_tokens)
        self.n_without_tokens += None in reported


@dataclass(slots=True, kw_only=True)
class Journal:
    """An open journal, locked by this process: the answers so far, and their tokens."""

    folder: Path
    file: int
    done: set[Ask] = field(default_factory=set)
    totals: Totals = field(default_factory=Totals)

    @property
    def answers(self) -> Path:
        """Return the path of the answers."""
        return self.folder / ANSWERS

    def answered(self, answer: Mapping[str, Any]) -> None:
        """Write an answer to disk; it survives a crash of the program or the machine.

        Raises
        ------
        StudyError
            The answer cannot be written; the file is unchanged.
        """
        size = os.fstat(self.file).st_size
        try:
            _write_text(self.file, canonical_json(answer) + "\n")
            os.fdatasync(self.file)
        except OSError as error:
            os.ftruncate(self.file, size)
            raise StudyError(f"{self.answers} cannot be written: {error.strerror}.") from error
        self._add_to_totals(answer)

    def failed(self, failure: Mapping[str, Any]) -> None:
        """Record a failed request and its reason."""
        with (self.folder / FAILURES).open("a", encoding="utf-8") as file:
            file.write(canonical_json(failure) + "\n")

    def _add_to_totals(self, answer: Mapping[str, Any]) -> None:
        self.done.add((answer["item_id"], answer["run"]))
        self.totals.add(answer)


def folder_of(runs: Path, *, study: str, model: str, edition: int) -> Path:
    """Return the folder of a model's run, within `runs`.

    `edition` numbers the models of that name in a study.
    """
    digest = sha256_of([study, model, edition])[:8]
    name = re.sub(r"[^\w.-]+", "-", f"{study}-{model}").strip(".-")[:80]
    return runs / f"{name}-{digest}"


@contextmanager
def opened_journal(
    folder: Path, protocol: Mapping[str, Any], *, wait: Callable[[], None] | None = None
) -> Iterator[Journal]:
    """Open or create a run's journal.

    Parameters
    ----------
    folder : Path
        From `folder_of`.
    protocol : mapping
        All settings that determine what the model is asked, and how, as JSON.
    wait : callable, optional
        Called before waiting for another process that has the journal open.

    Raises
    ------
    NotNow
        Another process has the journal open and `wait` is None, or the run was started under
        another protocol.
    BadFile
        A line other than the last cannot be read.
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
        for answer in _answers_and_repair(journal.answers, file):
            journal._add_to_totals(answer)
        yield journal
    finally:
        os.close(file)


def answers_in(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the answers of a journal in order of arrival."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            yield _parse_answer(path, number, line)


def failures_in(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the failed requests of a run in chronological order."""
    path = folder / FAILURES
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return (json.loads(line) for line in lines)


def _lock_protocol(folder: Path, protocol: Mapping[str, Any]) -> None:
    """Write the protocol, or compare it with the protocol under which the run was started."""
    path = folder / PROTOCOL
    if not path.exists():
        new = path.with_suffix(".new")
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            _write_text(file, json.dumps(protocol, indent=1, ensure_ascii=False) + "\n")
            os.fsync(file)
        finally:
            os.close(file)
        new.replace(path)
        for directory in (folder, folder.parent):
            _flush_folder(directory)
        return
    locked = json.loads(path.read_text(encoding="utf-8"))
    changed = sorted(
        key for key in locked.keys() | protocol.keys() if _differs(key, locked, protocol)
    )
    if changed:
        differences = "; ".join(
            f"{key}: {quoted(locked.get(key))}, not {quoted(protocol.get(key))}" for key in changed
        )
        raise NotNow(
            f"This run was started under a different protocol ({differences}). Continue with that "
            "protocol, or give the model another name."
        )


def _differs(key: str, locked: Mapping[str, Any], protocol: Mapping[str, Any]) -> bool:
    return canonical_json(locked.get(key)) != canonical_json(protocol.get(key))


def _answers_and_repair(path: Path, file: int) -> Iterator[dict[str, Any]]:
    """Yield the answers, and delete an incomplete last line from the file."""
    complete_bytes = 0
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.endswith(b"\n"):
                yield _parse_answer(path, number, line)
                complete_bytes += len(line)
    if complete_bytes < os.fstat(file).st_size:
        os.ftruncate(file, complete_bytes)
        os.fsync(file)


def _parse_answer(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(line)
        if isinstance(answer["item_id"], str) and isinstance(answer["run"], int):
            return dict(answer)
    except (ValueError, KeyError, TypeError):
        pass
    raise BadFile(
        f"{path}, line {number}, is damaged. Delete the line; the question will be asked again."
    )


def _write_text(file: int, text: str) -> None:
    content = text.encode("utf-8", "backslashreplace")  # for lone surrogates
    while content:
        content = content[os.write(file, content) :]


def _flush_folder(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


class Exam(Protocol):
    """The questions of a study, with the films as readers see them."""

    @property
    def item_ids(self) -> Sequence[str]:
        """Return the items in the order of the questions."""
        ...

    def question(self, item_id: str) -> Request:
        """Return the request for an item; slow, because it renders the films."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The number of runs and connections, prices, and the budget.

    Attributes
    ----------
    runs : int
        The number of times each question is asked.
    connections : int
        The number of concurrent questions.
    seeds : tuple of int
        The seed of each run; empty to send no seeds.
    input_price, output_price : float
        Price per million tokens, in any currency.
    budget : float or None
        The maximum cost of the run, including earlier sessions.
    """

    runs: int = 1
    connections: int = 1
    seeds: tuple[int, ...] = ()
    input_price: float = 0
    output_price: float = 0
    budget: float | None = None

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """Return the cost of tokens."""
        return (input_tokens * self.input_price + output_tokens * self.output_price) / _MILLION

    def spent(self, totals: Totals) -> float:
        """Return the cost of all answers so far."""
        return self.cost(totals.input_tokens, totals.output_tokens)

    def seed_of(self, run: int) -> int | None:
        """Return the seed of a run, counted from 1."""
        return self.seeds[run - 1] if self.seeds else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """The progress of a run."""

    n_asks: int
    n_answered: int
    n_failed: int
    per_second: float
    seconds_left: float | None
    spent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """The result of a session: why it ended, the number of answers, and the failures by reason."""

    ended: RunEnd
    n_answered: int
    reasons: Counter[str]


def all_asks(item_ids: Sequence[str], runs: int) -> Iterator[Ask]:
    """Yield all questions, run by run."""
    return ((item_id, run) for run in range(1, runs + 1) for item_id in item_ids)


def ask_all(
    exam: Exam,
    asker: Asker,
    journal: Journal,
    limits: Limits,
    *,
    on_progress: Callable[[RunProgress], None] = lambda _: None,
    parent_pipe: int | None = None,
) -> RunOutcome:
    """Ask all questions that have no answer in the journal; answers are written as they arrive.

    On the first SIGINT or SIGTERM, no further question is asked and running requests are awaited;
    on the second, they are cancelled.

    Parameters
    ----------
    parent_pipe
        A pipe that closes when the parent process ends; no further question is asked then.

    Raises
    ------
    StudyError
        An answer cannot be written, or there is a budget and the server does not report tokens.
    """
    session = _Session(
        exam=exam, asker=asker, journal=journal, limits=limits, on_progress=on_progress
    )
    return asyncio.run(session.run(parent_pipe))


@dataclass(slots=True, kw_only=True)
class _Session:
    """Part of a run, from its start or resumption to its end or interruption."""

    exam: Exam
    asker: Asker
    journal: Journal
    limits: Limits
    on_progress: Callable[[RunProgress], None]
    started_s: float = field(default_factory=time.monotonic)
    n_answered: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    n_failed_in_row: int = 0
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    connections: asyncio.Semaphore = field(init=False)
    rendering: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2))

    def __post_init__(self) -> None:
        self.connections = asyncio.Semaphore(self.limits.connections)

    async def run(self, parent_pipe: int | None) -> RunOutcome:
        task = asyncio.current_task()
        assert task is not None
        loop = asyncio.get_running_loop()
        for signal_number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError, RuntimeError, ValueError):  # not the main thread
                loop.add_signal_handler(signal_number, self._interrupted, task)
        if parent_pipe is not None:
            loop.add_reader(parent_pipe, self._parent_ended, parent_pipe)
        try:
            ended = await self._ask_all()
        except asyncio.CancelledError:
            ended = "interrupted"
        finally:
            await self.asker.close()
        return RunOutcome(ended=ended, n_answered=self.n_answered, reasons=self.reasons)

    def _parent_ended(self, parent_pipe: int) -> None:
        asyncio.get_running_loop().remove_reader(parent_pipe)
        self.stopping.set()

    def _interrupted(self, task: "asyncio.Task[Any]") -> None:
        if self.stopping.is_set():
            task.cancel()
        self.stopping.set()

    async def _ask_all(self) -> RunEnd:
        asks = all_asks(self.exam.item_ids, self.limits.runs)
        missing = (ask for ask in asks if ask not in self.journal.done)
        running: set[asyncio.Task[None]] = set()
        stopping = asyncio.create_task(self.stopping.wait())
        try:
            for ask in missing:
                while running and not self._has_room(len(running)) and not self._limit_reached():
                    running = await _wait_for_one({*running, stopping}) - {stopping}
                if ended := self._limit_reached() or self._beyond_budget(len(running)):
                    return ended
                running.add(asyncio.create_task(self._ask_once(ask)))
            return "asked"
        finally:
            stopping.cancel()
            try:
                while running:
                    running = await _wait_for_one(running)
            finally:
                for task in running:
                    task.cancel()
                await asyncio.gather(*running, return_exceptions=True)

    def _limit_reached(self) -> RunEnd | None:
        if self.stopping.is_set():
            return "interrupted"
        return "gone" if self.n_failed_in_row >= MOST_FAILURES else None

    def _has_room(self, running: int) -> bool:
        max_waiting = self.limits.connections + max(QUESTIONS_AHEAD, self.limits.connections // 2)
        return running < max_waiting and not self._beyond_budget(running)

    def _beyond_budget(self, running: int) -> RunEnd | None:
        """Return `budget` if another question could exceed the budget, otherwise None.

        Each running question is assumed to cost as much as the most expensive answer so far. Until
        the first answer, only one question is asked at a time.
        """
        if self.limits.budget is None:
            return None
        totals = self.journal.totals
        if not totals.answers:
            return "budget" if running else None
        highest_cost = self.limits.cost(totals.most_input, totals.most_output)
        expected = self.limits.spent(totals) + (running + 1) * highest_cost
        return "budget" if expected > self.limits.budget else None

    async def _ask_once(self, ask: Ask) -> None:
        item_id, run = ask
        async with self.rendering:
            question = await asyncio.to_thread(self.exam.question, item_id)
        async with self.connections:
            if self._limit_reached():
                return
            try:
                reply = await self.asker.ask(question, self.limits.seed_of(run))
            except RequestFailed as failure:
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
        self.n_failed_in_row = 0
        self.on_progress(self._progress())
        if self.limits.budget is not None and self.journal.totals.n_without_tokens:
            raise StudyError(
                "The server does not report the number of tokens of an answer, so --budget cannot"
                " be used. Ask without --budget."
            )

    def _failed(self, ask: Ask, reason: str) -> None:
        self.reasons[reason] += 1
        self.n_failed_in_row += 1
        now = stamp(datetime.now(UTC))
        self.journal.failed({"item_id": ask[0], "run": ask[1], "failed": reason, "at_utc": now})
        self.on_progress(self._progress())

    def _progress(self) -> RunProgress:
        elapsed_s = time.monotonic() - self.started_s
        rate = self.n_answered / elapsed_s if elapsed_s else 0.0
        n_asks = len(self.exam.item_ids) * self.limits.runs
        n_failed = self.reasons.total()
        n_left = n_asks - len(self.journal.done) - n_failed
        return RunProgress(
            n_asks=n_asks,
            n_answered=len(self.journal.done),
            n_failed=n_failed,
            per_second=rate,
            seconds_left=max(n_left, 0) / rate if rate else None,
            spent=self.limits.spent(self.journal.totals),
        )


async def _wait_for_one(tasks: Iterable["asyncio.Task[Any]"]) -> set["asyncio.Task[Any]"]:
    """Wait until a task is done, and return the remaining ones; re-raise a task's exception."""
    finished, others = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in finished:
        task.result()
    return others


def prompt_hash(question: Request) -> str:
    """Return the hash of a request: system prompt, text and film files."""
    films = [sha256(film).hexdigest() for film in question.films]
    return sha256_of({"system": question.system, "text": question.text, "films": films})
