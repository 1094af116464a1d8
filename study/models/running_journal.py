"""The journal of a model's run: every answer on the disk, whole, before another is asked for.

A run is a folder beside the store: ``protocol.json``, what the model is asked under;
``answers.jsonl``, a line an answer, as `models add` reads it too; ``failures.jsonl``, a line a
request that brought none. An answer's line is written and flushed as the answer arrives, so that
whatever becomes of the program, what is missing in the file is what has to be asked.
"""

import fcntl
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from study.base.canonical import canonical_json, sha256_of
from study.base.errors import BadFile, NotNow, StudyError

PROTOCOL = "protocol.json"
ANSWERS = "answers.jsonl"
FAILURES = "failures.jsonl"

Ask = tuple[str, int]
"""An item's id, and which run it is asked in, from 1."""


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
