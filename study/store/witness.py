"""Append-only file of chain heads, the witness, used to detect a truncated write-ahead log.

SQLite keeps the latest answers in a separate file (`-wal`) until a checkpoint. If that file is lost
or damaged, the store opens without an error but lacks them. Every commit that seals an event is
therefore also written here and flushed to disk before it is acknowledged. A store that lacks an
event of the witness has lost acknowledged records.

The first line has a fixed length and states the number of lines, their end and the last seal. Each
line contains its number and a seal over itself and the previous seal, so that a file that was
emptied, shortened, reordered or edited is detected from the file alone. The second line, a heading,
is sealed by the line after it. The first line is written after the lines were flushed: after a
power cut it may count too few lines, never too many.
"""

import errno
import fcntl
import hashlib
import os
import re
import stat
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from study.base.errors import Busy
from study.base.translation import t
from study.store.engine import PATIENCE_S

_POLL_S = 0.002

MAX_BYTES = 256_000
"""Size in bytes from which the file is rewritten without superseded lines."""

_FIRST = "# Reading Room witness 2: {lines:012} lines, {size:015} bytes, seal {seal}\n"
_FIRST_LINE = re.compile(
    rb"# Reading Room witness 2: (\d{12}) lines, (\d{15}) bytes, seal ([0-9a-f]{32})\n"
)
_SECOND = "# Heads of the chains of {name}. Leave this file next to the store.\n"
_FORMER_START = b"# Heads of the chains of "
_SEALED_LINE = re.compile(r"(\d+) ([0-9a-f]{32}) (.+)")
_HEAD_LINE = re.compile(r"(\S+) (\d+) ([0-9a-f]{64}) (.+)")
_NO_SEAL = "0" * 32
_UNSEALED_PREFIX = "unsealed "


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A sealed event: its chain, number, hash and time."""

    chain: str
    number: int
    hash: str
    at_utc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """The content of the file.

    Attributes
    ----------
    heads : tuple of Head
        The heads of all readable lines, in file order.
    n_unread : int
        Number of unreadable lines.
    damage : str
        Evidence that the file was altered, as the end of a sentence; empty if there is none.
    is_former : bool
        Whether the file has no seals, like files of earlier versions.
    """

    heads: tuple[Head, ...] = ()
    n_unread: int = 0
    damage: str = ""
    is_former: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    """The end of the sealed part of a file: its lines, bytes and last seal."""

    lines: int
    size: int
    seal: str


def file_of(store: Path) -> Path:
    """Return the path of a store's witness."""
    return store.with_name(f"{store.name}-heads.log")


def read(store: Path) -> Witness | None:
    """Return the content of a store's witness, or None if there is none."""
    path = file_of(store)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return Witness(damage="is not a regular file")
        return _parse(path.read_bytes())[0]
    except FileNotFoundError:
        return Witness(damage="is a broken link") if path.is_symlink() else None


def add(
    store: Path,
    heads: Iterable[Head],
    *,
    n_held: int | None = None,
    all_heads: Callable[[], Iterable[Head]],
    superseded: Callable[[Iterable[Head]], Iterable[Head]],
) -> None:
    """Write heads and flush them to the disk.

    In a damaged file they are added without seals, so that the damage remains visible.

    Parameters
    ----------
    n_held
        The descriptor of the file, if the caller has locked it (`locked`).
    all_heads
        Returns the heads of all chains, for a new file.
    superseded
        Returns the superseded ones among some heads, to be omitted when the file is rewritten.

    Raises
    ------
    OSError
        The heads cannot be written.
    """
    path, new = file_of(store), list(heads)
    if not path.exists() and not path.is_symlink():
        _create_file(store, [*all_heads(), *new])
        return
    with (
        _locked(path)
        if n_held is None or not _is_open_file(path, n_held)
        else nullcontext(n_held) as file
    ):
        size = os.fstat(file).st_size
        end = _end_of(file, size)
        if end is None:
            _write(file, _unsealed_lines(file, size, new), size)
            return
        text, end = _sealed_lines(new, end)
        _write(file, text, end.size - len(text.encode()))
        # The lines were flushed; the first line must not reach the disk before them.
        os.pwrite(file, _first_line(end), 0)
        if end.size > MAX_BYTES:
            _rewrite(store, (), superseded)


@contextmanager
def locked(store: Path, patience_s: float) -> Iterator[int | None]:
    """Lock a store's witness for one process; yield None if that is not possible.

    A process that commits a change and adds its heads within the lock leaves at most one act
    without a witness if it is killed.

    Raises
    ------
    Busy
        Another process, which may be suspended, has the lock for longer than `patience_s`.
    """
    with ExitStack() as stack:
        file = None
        with suppress(OSError):
            file = stack.enter_context(_locked(file_of(store), patience_s))
        yield file


def renew(
    store: Path,
    heads: Iterable[Head],
    *,
    superseded: Callable[[Iterable[Head]], Iterable[Head]],
) -> None:
    """Rewrite the file with its readable heads and these, without the superseded ones."""
    path, new_heads = file_of(store), tuple(heads)
    if not path.is_file():
        path.unlink(missing_ok=True)  # not a file, or a broken link
        _create_file(store, new_heads)
        return
    with _locked(path):
        _rewrite(store, new_heads, superseded)


def forget(store: Path, heads: Iterable[Head]) -> None:
    """Remove heads from the file after their loss or removal was recorded elsewhere."""
    chains = set(heads)
    if file_of(store).is_file():
        with _locked(file_of(store)):
            _rewrite(store, (), lambda _: chains)


def _parse(content: bytes) -> tuple[Witness, _End | None]:
    """Return the content of a file and the end of its sealed part; None if a seal is wrong."""
    first = _FIRST_LINE.match(content)
    if first:
        return _parse_sealed(content, first)
    lines = content.decode("utf-8", "replace").split("\n")[:-1]
    lines = [line for line in lines if line and not line.startswith("#")]
    heads = tuple(head for line in lines if (head := _head_in(line)))
    is_former = (
        content.startswith(_FORMER_START) and bool(heads) and not any(map(_is_marked, lines))
    )
    damage = "" if is_former else "has lost its first line" if heads else "holds nothing"
    n_unread = len(lines) - len(heads)
    return Witness(heads=heads, n_unread=n_unread, damage=damage, is_former=is_former), None


def _parse_sealed(content: bytes, first: re.Match[bytes]) -> tuple[Witness, _End | None]:
    beginning = content.find(b"\n", first.end()) + 1
    end = _end_of_headings(content[:beginning])
    heads: list[Head] = []
    n_unread, damage = 0, ""
    for number, line in enumerate(content[beginning:].decode("utf-8", "replace").split("\n")[:-1]):
        sealed, head = _SEALED_LINE.fullmatch(line), _head_in(line)
        heads += [head] if head else []
        n_unread += head is None
        following = _end_after_line(end, sealed) if sealed and head else None
        if following is None:
            damage = damage or f"does not follow from what was written before at line {number + 3}"
        elif not damage:
            end = following
            if end.lines == int(first[1]) and _first_line(end) != first[0]:
                damage = "has a first line that does not match its lines"
    if not damage and end.lines < int(first[1]):
        damage = f"has {end.lines} of {int(first[1])} lines: it was shortened"
    witness = Witness(heads=tuple(heads), n_unread=n_unread, damage=damage)
    return witness, None if damage else end


def _end_of_headings(heading: bytes) -> _End:
    """Return the end of a file that has only its two heading lines; the second is sealed, too."""
    seal = hashlib.sha256(heading.partition(b"\n")[2]).hexdigest()[:32]
    return _End(lines=0, size=len(heading), seal=seal)


def _end_after_line(before: _End, sealed: re.Match[str]) -> _End | None:
    """Return the end of a file after one more line, or None if the seal of the line is wrong."""
    end = _sealed_line(before, sealed[3])[1]
    return end if (int(sealed[1][:12]), sealed[2]) == (end.lines, end.seal) else None


def _sealed_line(before: _End, words: str) -> tuple[str, _End]:
    seal = hashlib.sha256(f"{before.seal} {before.lines + 1} {words}".encode()).hexdigest()[:32]
    text = f"{before.lines + 1} {seal} {words}\n"
    size = before.size + len(text.encode())
    return text, _End(lines=before.lines + 1, size=size, seal=seal)


def _sealed_lines(heads: Iterable[Head], end: _End) -> tuple[str, _End]:
    texts = []
    for head in heads:
        text, end = _sealed_line(end, _line(head).rstrip("\n"))
        texts.append(text)
    return "".join(texts), end


def _first_line(end: _End) -> bytes:
    return _FIRST.format(lines=end.lines, size=end.size, seal=end.seal).encode()


def _end_of(file: int, size: int) -> _End | None:
    """Return the end of the sealed part of an open file; None if it is damaged or has no seals."""
    first = _FIRST_LINE.match(
        os.pread(file, len(_first_line(_End(lines=0, size=0, seal=_NO_SEAL))), 0)
    )
    if first and int(first[2]) == size:
        return _End(lines=int(first[1]), size=size, seal=first[3].decode())
    _, end = _parse(os.pread(file, size, 0))
    if end is not None:  # the server ended before it wrote the first line, or within a line
        os.ftruncate(file, end.size)
    return end


def _unsealed_lines(file: int, size: int, heads: Iterable[Head]) -> str:
    """Return lines without seals, for a file of an earlier version or, marked, a damaged one."""
    content = os.pread(file, size, 0)
    mark = "" if _parse(content)[0].is_former else _UNSEALED_PREFIX
    torn = "\n" if content and not content.endswith(b"\n") else ""
    return torn + "".join(mark + _line(head) for head in heads)


def _file_content(store: Path, heads: Iterable[Head]) -> bytes:
    second = _SECOND.format(name=store.name).encode()
    text, end = _sealed_lines(
        heads, _end_of_headings(_first_line(_End(lines=0, size=0, seal=_NO_SEAL)) + second)
    )
    return _first_line(end) + second + text.encode()


def _create_file(store: Path, heads: Iterable[Head]) -> None:
    """Create the file with these heads; if another process has created it, add them to it."""
    path, new = file_of(store), list(heads)
    scratch = path.with_name(f".{path.name}-{os.getpid()}-{threading.get_ident()}")
    _write_file(store, scratch, _file_content(store, new))
    try:
        os.link(scratch, path)
    except FileExistsError:
        add(store, new, all_heads=tuple, superseded=lambda _: ())
    finally:
        scratch.unlink()
    _flush_folder(path)


@contextmanager
def _locked(path: Path, patience_s: float = PATIENCE_S) -> Iterator[int]:
    """Lock the file for one process; open it again if it was rewritten meanwhile."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise OSError(errno.EINVAL, "it is not a regular file")
            _lock(file, patience_s)
            if not _is_open_file(path, file):
                continue
            yield file
            return
        finally:
            os.close(file)


def _lock(file: int, patience_s: float) -> None:
    """Lock an open file; other processes hold the lock for milliseconds, unless suspended."""
    pause = threading.Event()
    for _ in range(1 + round(patience_s / _POLL_S)):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pause.wait(_POLL_S)
        else:
            return
    raise Busy(t("The database is busy. Try again in a moment."))


def _is_open_file(path: Path, file: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file))
    except FileNotFoundError:
        return False


def _rewrite(
    store: Path,
    new_heads: Iterable[Head],
    superseded: Callable[[Iterable[Head]], Iterable[Head]],
) -> None:
    path = file_of(store)
    old, _ = _parse(path.read_bytes())
    heads = list(dict.fromkeys((*old.heads, *new_heads)))
    chains = set(superseded(heads))
    new = path.with_name(f"{path.name}.new")
    _write_file(store, new, _file_content(store, [head for head in heads if head not in chains]))
    new.replace(path)
    _flush_folder(path)


def _write_file(store: Path, path: Path, content: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        _copy_ownership(file, like=store)
        _write(file, content.decode(), 0)
    finally:
        os.close(file)


def _copy_ownership(file: int, *, like: Path) -> None:
    """Set the owner and permissions of a new file to those of the store, as SQLite does.

    Otherwise a command run by root would leave a file that the server cannot write.
    """
    with suppress(OSError):
        status = like.stat()
        os.fchmod(file, stat.S_IMODE(status.st_mode))
        if os.geteuid() == 0:
            os.fchown(file, status.st_uid, status.st_gid)


def _write(file: int, text: str, at: int) -> None:
    content = text.encode()
    while content:
        n = os.pwrite(file, content, at)
        content, at = content[n:], at + n
    os.fsync(file)


def _flush_folder(path: Path) -> None:
    folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _line(head: Head) -> str:
    return f"{head.at_utc} {head.number} {head.hash} {head.chain}\n"


def _is_marked(line: str) -> bool:
    return line.startswith(_UNSEALED_PREFIX) or _SEALED_LINE.fullmatch(line) is not None


def _head_in(line: str) -> Head | None:
    """Return the head in a line, with or without a seal, or None."""
    sealed = _SEALED_LINE.fullmatch(line)
    match = _HEAD_LINE.fullmatch(sealed[3] if sealed else line.removeprefix(_UNSEALED_PREFIX))
    if match is None:
        return None
    at_utc, number, digest, chain = match.groups()
    return Head(chain=chain, number=int(number), hash=digest, at_utc=at_utc)
