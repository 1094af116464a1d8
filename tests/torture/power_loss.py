"""Changes the files of a SQLite store as a power loss might.

Data flushed to the disk before the last acknowledgement are kept. Sectors that were written after
that may have reached the disk, or have their earlier content, in any order.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from study.store import witness

_WAL_HEADER, _FRAME_HEADER, _SECTOR = 32, 24, 512


@dataclass(frozen=True, kw_only=True)
class Flushed:
    """The content of the disk while no message is pending.

    Attributes
    ----------
    header : bytes
        The header of the write-ahead log; empty if there is no log.
    end : int
        End of its last complete transaction.
    heads : bytes
        The content of the witness.
    """

    header: bytes
    end: int
    heads: bytes

    @classmethod
    def of(cls, store: Path) -> "Flushed":
        """Read the files of a store."""
        log = _read(_log_of(store))
        return cls(header=log[:_WAL_HEADER], end=end_of(log), heads=_read(witness.file_of(store)))


def lose_power(store: Path, flushed: Flushed, random: Random) -> None:
    """Change the files of a store that is not open in any process.

    Either the transactions after `flushed` did not reach the disk completely, or they did and the
    witness lacks part of the last one; it is written after them. A checkpoint may have ended within
    a page, whose content is in the log.
    """
    path = _log_of(store)
    log = _read(path)
    Path(f"{store}-shm").unlink(missing_ok=True)
    if len(log) < _WAL_HEADER or log[:_WAL_HEADER] != flushed.header or end_of(log) < flushed.end:
        return  # a checkpoint restarted the log: the store has everything before it
    _tear_checkpoint(store, log[: flushed.end], random)
    if random.random() < 2 / 3:
        late = log[flushed.end :] or _begun_frame(log, random)
        path.write_bytes(log[: flushed.end] + _partly_written(late, random))
        witness.file_of(store).write_bytes(flushed.heads)
    else:
        _tear_witness(witness.file_of(store), flushed.heads, random)


def end_of(log: bytes) -> int:
    """Return the offset after the last complete transaction of a write-ahead log; 0 if none."""
    return max((end for _, end, is_last in _frames(log) if is_last), default=0)


def _frames(log: bytes) -> Iterator[tuple[int, int, bool]]:
    """Yield page number, end, and whether it ends a transaction, of each frame of a log."""
    if len(log) < _WAL_HEADER:
        return
    (page_size,) = struct.unpack(">I", log[8:12])
    salts, at, frame = log[16:24], _WAL_HEADER, _FRAME_HEADER + page_size
    while at + frame <= len(log) and log[at + 8 : at + 16] == salts:
        page, n_pages = struct.unpack(">II", log[at : at + 8])
        at += frame
        yield page, at, n_pages > 0


def _begun_frame(log: bytes, random: Random) -> bytes:
    """Return the beginning of another transaction, as an incomplete write leaves it."""
    return struct.pack(">II", 1, 1) + log[16:24] + random.randbytes(random.randint(1, 9000))


def _partly_written(late: bytes, random: Random) -> bytes:
    """Return sectors, each of which was written, is still empty, or has other content.

    The first was not written. A witness that has later lines than those flushed would contradict a
    log that has later transactions.
    """
    sectors = [late[at : at + _SECTOR] for at in range(0, len(late), _SECTOR)]
    for n, sector in enumerate(sectors):
        kind = random.choice(("empty", "other") if n == 0 else ("written", "empty", "other"))
        if kind == "empty":
            sectors[n] = bytes(len(sector))
        elif kind == "other":
            sectors[n] = random.randbytes(len(sector))
    mixed = b"".join(sectors)
    return mixed[: random.choice((0, random.randrange(len(mixed) + 1), len(mixed)))]


def _tear_witness(path: Path, flushed: bytes, random: Random) -> None:
    """Truncate the last line of the witness if it was written later; restore the first line."""
    content = _read(path)
    first = flushed.find(b"\n") + 1
    if not first or content[first : len(flushed)] != flushed[first:] or content == flushed:
        return
    last = content.rfind(b"\n", 0, len(content) - 1) + 1
    if last >= len(flushed):
        cut = random.randint(last, len(content))
        path.write_bytes(flushed[:first] + content[first:cut])


def _tear_checkpoint(store: Path, log: bytes, random: Random) -> None:
    """Damage sectors of some pages that the log contains; the first has the file's header."""
    pages = [page for page, _, _ in _frames(log)]
    if not pages:
        return
    (page_size,) = struct.unpack(">I", log[8:12])
    n_bytes = store.stat().st_size
    with store.open("r+b") as file:
        for page in random.sample(pages, min(len(pages), random.randint(0, 3))):
            at = (page - 1) * page_size + random.randrange(1, page_size // _SECTOR) * _SECTOR
            if at + _SECTOR <= n_bytes:
                file.seek(at)
                file.write(random.randbytes(_SECTOR))


def _log_of(store: Path) -> Path:
    return Path(f"{store}-wal")


def _read(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""
