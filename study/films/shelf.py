"""Keeps prepared films on disk, so that a restart or a second process need not prepare them again.

The folder may be deleted at any time. If it cannot be used (no space, no permission, a damaged
file), the film is prepared again.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from study.films.decoding import grey_levels, imported_bytes, initial_window
from study.films.packing import VERSION, pack_film

MAX_BYTES = 4 << 30
KEEP_FREE_BYTES = 2 << 30
"""Films leave this much space on the disk, because readings are also written to it."""

_DIGEST_BYTES = 32
_ENDING = ".film"
_PARTIAL_ENDING = ".part"


class Shelf:
    """A folder of prepared films, named after the hashes of the image files.

    If the folder becomes too large, the least recently used films are deleted. Each file begins
    with the SHA-256 of its name and its content, so that damaged or renamed files are detected; the
    prepared film follows.

    Parameters
    ----------
    folder : Path
        Created on first use; only its owner may read it.
    max_bytes, keep_free_bytes : int
        The maximum size of the folder, and the space that is left free on its disk.
    """

    def __init__(
        self, folder: Path, *, max_bytes: int = MAX_BYTES, keep_free_bytes: int = KEEP_FREE_BYTES
    ) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._keep_free_bytes = keep_free_bytes

    def has(self, sha256: str) -> bool:
        """Return whether the folder contains the prepared film of a file with this hash."""
        return self._path(sha256).exists()

    def get(self, sha256: str) -> bytes | None:
        """Return the prepared film of a file with this hash, or None."""
        path = self._path(sha256)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        body = content[_DIGEST_BYTES:]
        if _digest(path, body) != content[:_DIGEST_BYTES]:
            with suppress(OSError):
                path.unlink()
            return None
        with suppress(OSError):
            os.utime(path)
        return body

    def put(self, sha256: str, body: bytes) -> None:
        """Store a prepared film, completely or not at all."""
        path, size = self._path(sha256), len(body) + _DIGEST_BYTES
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            if size > self._max_bytes:
                return
            self._make_room(size)
            if self._fits_on_disk(size):
                self._write(path, _digest(path, body) + body)

    def drop(self, sha256: str) -> None:
        """Delete the prepared film of a file with this hash."""
        with suppress(OSError):
            self._path(sha256).unlink(missing_ok=True)

    def _path(self, sha256: str) -> Path:
        return self._folder / f"{sha256}-{VERSION}{_ENDING}"

    def _write(self, path: Path, content: bytes) -> None:
        with tempfile.NamedTemporaryFile(
            dir=self._folder, suffix=_PARTIAL_ENDING, delete=False
        ) as file:
            try:
                file.write(content)
                file.close()
                Path(file.name).replace(path)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise

    def _fits_on_disk(self, size: int) -> bool:
        return shutil.disk_usage(self._folder).free - size >= self._keep_free_bytes

    def _make_room(self, size: int) -> None:
        """Delete the least recently used files, including partial files left by a crash."""
        files = sorted(self._files(), key=lambda entry: entry[1].st_mtime)
        total = sum(facts.st_size for _, facts in files) + size
        for path, facts in files:
            if total <= self._max_bytes:
                return
            path.unlink(missing_ok=True)
            total -= facts.st_size

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        for path in self._folder.iterdir():
            if path.suffix in (_ENDING, _PARTIAL_ENDING):
                with suppress(FileNotFoundError):  # another process removed it
                    yield path, path.stat()


def prepared_film(path: Path, sha256: str, shelf: Shelf) -> bytes:
    """Return a film in the form in which it is sent, after checking its file.

    Raises
    ------
    StudyError
        The file cannot be read, or has changed since the import.
    """
    data = imported_bytes(path, sha256)
    answer = shelf.get(sha256)
    if answer is None:
        answer = pack_film(grey_levels(data), initial_window(data))
        shelf.put(sha256, answer)
    return answer


def _digest(path: Path, body: bytes) -> bytes:
    return hashlib.sha256(path.name.encode() + body).digest()
