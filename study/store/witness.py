"""The second witness of the chains' heads: a file beside the store, a line a commit.

SQLite keeps the last answers in a file of its own (`-wal`) until it folds them in. Where that is
lost or damaged the store opens without a word, whole and shorter. So every commit that seals an
event is written down here as well, flushed to the disk, before anybody is told that it is stored.
A store that has not every event of the file is behind what was acknowledged.

A line is ``MOMENT NUMBER HASH CHAIN``. One that was cut off at the end tells nothing; one that
cannot be read is passed over and counted.
"""

import fcntl
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

LONGEST = 256_000
"""From so many bytes on the file is written anew, without what later lines make superfluous."""

_LINE = re.compile(r"(\S+) (\d+) ([0-9a-f]{64}) (.+)")
_BEGUN = "# Heads of the chains of {name}, begun {at_utc}. Leave this file beside the store.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """An event that was sealed: its chain, its number and hash, and when it happened."""

    chain: str
    number: int
    hash: str
    at_utc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """What the file says; `n_unread` lines of it cannot be read."""

    heads: tuple[Head, ...]
    n_unread: int


def file_of(store: Path) -> Path:
    """Return where the witness of a store lies."""
    return store.with_name(f"{store.name}-heads.log")


def read(store: Path) -> Witness | None:
    """Return what a store's witness says, or None where there is none."""
    try:
        text = file_of(store).read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    whole = [line for line in text.split("\n")[:-1] if line and not line.startswith("#")]
    found = [_LINE.fullmatch(line) for line in whole]
    return Witness(
        heads=tuple(_head(match) for match in found if match),
        n_unread=sum(match is None for match in found),
    )


def add(
    store: Path,
    heads: Iterable[Head],
    *,
    every: Callable[[], Iterable[Head]],
    needless: Callable[[Iterable[Head]], Iterable[Head]],
) -> None:
    """Write heads down and flush them to the disk.

    Parameters
    ----------
    every
        Gives the heads of all chains, to begin a file with.
    needless
        Gives those of some heads that need not be kept when the file is written anew.

    Raises
    ------
    OSError
        They cannot be written.
    """
    path = file_of(store)
    with _locked(path) as file:
        size = os.fstat(file).st_size
        new = list(heads)
        if not size:
            _give(file, like=store)
            begun = max((head.at_utc for head in new), default="")
            text = _BEGUN.format(name=store.name, at_utc=begun) + _lines([*every(), *new])
        else:
            torn = os.pread(file, 1, size - 1) != b"\n"
            text = "\n" * torn + _lines(new)
        _write(file, text)
        if not size:
            _flush_folder(path)
        elif size > LONGEST:
            _anew(store, needless)


def forget(store: Path, heads: Iterable[Head]) -> None:
    """Take heads out of the file, once something else keeps what they say."""
    gone = set(heads)
    if file_of(store).exists():
        with _locked(file_of(store)):
            _anew(store, lambda _: gone)


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """Open the file for one process at a time; it may have been written anew meanwhile."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            if not _is(path, file):
                continue
            yield file
            return
        finally:
            os.close(file)


def _is(path: Path, file: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file))
    except FileNotFoundError:
        return False


def _anew(store: Path, needless: Callable[[Iterable[Head]], Iterable[Head]]) -> None:
    path = file_of(store)
    text = path.read_bytes().decode("utf-8", "replace")
    matches = [match for line in text.split("\n")[:-1] if (match := _LINE.fullmatch(line))]
    heads = list(dict.fromkeys(_head(match) for match in matches))
    gone = set(needless(heads))
    first = text.partition("\n")[0] + "\n"
    new = path.with_name(f"{path.name}.new")
    file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        _give(file, like=store)
        kept = _lines(one for one in heads if one not in gone)
        _write(file, first * first.startswith("#") + kept)
    finally:
        os.close(file)
    new.replace(path)
    _flush_folder(path)


def _give(file: int, *, like: Path) -> None:
    """Give a new file the store's owner and rights, as SQLite does its journal.

    A command that root runs would else leave one that the server cannot write.
    """
    with suppress(OSError):
        there = like.stat()
        os.fchmod(file, stat.S_IMODE(there.st_mode))
        if os.geteuid() == 0:
            os.fchown(file, there.st_uid, there.st_gid)


def _write(file: int, text: str) -> None:
    content = text.encode()
    while content:
        content = content[os.write(file, content) :]
    os.fsync(file)


def _flush_folder(path: Path) -> None:
    folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _lines(heads: Iterable[Head]) -> str:
    return "".join(f"{one.at_utc} {one.number} {one.hash} {one.chain}\n" for one in heads)


def _head(match: re.Match[str]) -> Head:
    at_utc, number, digest, chain = match.groups()
    return Head(chain=chain, number=int(number), hash=digest, at_utc=at_utc)
