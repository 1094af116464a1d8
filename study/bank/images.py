"""The images folder: resolves the paths in a bank file and reads the images."""

import hashlib
import os
import posixpath
import re
import stat
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path

from study.base.bank_model import Film, Rule
from study.base.errors import BadFile
from study.base.system import system_reason
from study.base.text import id_key
from study.films import MAX_BYTES, BadFilm, inspect
from study.tables.values import quoted_value

ReadOutcome = Film | BadFilm
NOT_FOUND_REMEDY = "check the path and the images folder: paths are relative to that folder"
KnownFile = tuple[str, int | None, int | None]

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://|(?:file|data):", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:")


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=os.cpu_count())


class ImageFolder:
    """An images folder; paths that lead out of it are refused.

    Paths are relative to the folder. Bank files of the ReXVQA family give them relative to a
    `metadata` folder next to the images, so one leading `../` is ignored, as is the leading `/` of
    the leaderboard's records. If the folder has the name that follows (`../deid_png/...` with the
    folder `deid_png`), that name is ignored too. Backslashes count as slashes.

    Parameters
    ----------
    folder : Path
        The images folder.

    Raises
    ------
    BadFile
        `folder` is not a folder.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self._root = folder.resolve(strict=True)
        except (OSError, ValueError, RuntimeError):
            raise BadFile(
                f"images folder {folder} does not exist; enter the correct path"
            ) from None
        self._given_path = folder.absolute()
        self._names = lru_cache(maxsize=1_000)(self._list_names)
        self._contains_namesake = (self._root / self._root.name).exists()
        if not self._root.is_dir():
            raise BadFile(f"{folder} is not a folder; name the folder that contains the images")

    def locate(self, path_text: str) -> str:
        """Return a path from the bank file as a path inside the folder.

        Parameters
        ----------
        path_text : str
            The path as written in the bank file.

        Returns
        -------
        str
            The path with forward slashes and without `..`; the file need not exist.

        Raises
        ------
        BadFilm
            The path leads out of the folder or is not a path.
        """
        path = path_text.strip().replace("\\", "/")
        if "\0" in path or _ADDRESS.match(path):
            raise BadFilm(
                f"image {quoted_value(path_text)} is not a file's path",
                "give a path",
                Rule.NO_IMAGE,
            )
        if path.startswith("/") or _DRIVE.match(path):
            return self._from_absolute(path, path_text)
        return self._within(path, path_text)

    def _within(self, path: str, path_text: str) -> str:
        path_inside = _normalised(path)
        if not path_inside:
            raise _outside_error(path_text)
        first, _, rest = path_inside.partition("/")
        if rest and first == self._root.name and not self._contains_namesake:
            return rest
        return path_inside

    def read(self, path: str) -> Film:
        """Read and decode one film.

        Parameters
        ----------
        path : str
            A path from `locate`.

        Returns
        -------
        Film

        Raises
        ------
        BadFilm
            The file is missing, is outside the folder, or is not a film.
        """
        data = self.bytes_of(path)
        try:
            facts = inspect(data)
        except BadFilm as bad:
            raise BadFilm(f"image {path}: {bad.what}", bad.remedy, bad.rule) from bad
        return Film(
            path=path,
            sha256=hashlib.sha256(data).hexdigest(),
            width=facts.width,
            height=facts.height,
            bits=facts.bits,
            low=facts.low,
            high=facts.high,
            n_bytes=len(data),
        )

    def similar_path(self, path: str) -> str | None:
        """Return the only existing path that is spelt like a missing one, otherwise None."""
        places = [""]
        for part in path.split("/"):
            key = id_key(part)
            places = [
                posixpath.join(place, name)
                for place in places
                for name in self._names(place).get(key, ())
            ]
        return places[0] if len(places) == 1 else None

    def _list_names(self, place: str) -> dict[str, list[str]]:
        """Return the names in a folder by their comparison key."""
        by_key: dict[str, list[str]] = {}
        with suppress(OSError, ValueError):
            for path in (self._root / place).iterdir():
                by_key.setdefault(id_key(path.name), []).append(path.name)
        return by_key

    def missing_message(self, path: str) -> str | None:
        """Return the message for a missing film, or None if the file exists."""
        try:
            (self._root / path).stat()
        except (FileNotFoundError, NotADirectoryError):
            return _not_found_message(path)
        except (OSError, ValueError):  # reported when the file is read
            pass
        return None

    def look_at(self, known: Sequence[KnownFile]) -> list[tuple[str, ReadOutcome | None, int]]:
        """Read films in parallel, one per processor.

        Parameters
        ----------
        known : sequence of (path, size, time)
            A path from `locate`, and the file's size and time when it was last read, or None.

        Returns
        -------
        list of (path, Film or BadFilm or None, time)
            None if the file is unchanged.
        """
        return list(_pool().map(self._read_if_changed, known))

    def _read_if_changed(self, known: KnownFile) -> tuple[str, ReadOutcome | None, int]:
        path, size, mtime_ns = known
        now = (0, 0)
        with suppress(OSError, ValueError):
            facts = (self._root / path).stat()
            now = (facts.st_size, facts.st_mtime_ns)
        if now == (size, mtime_ns):
            return path, None, now[1]
        try:
            return path, self.read(path), now[1]
        except BadFilm as bad:  # a traceback would keep the film's bytes in memory
            return path, BadFilm(bad.what, bad.remedy, bad.rule), now[1]

    def bytes_of(self, path: str) -> bytes:
        """Return the bytes of a file in the folder.

        Raises
        ------
        BadFilm
            The file is missing, too large, unreadable, or outside the folder.
        """
        try:
            real = (self._root / path).resolve(strict=True)
            if not real.is_relative_to(self._root):
                raise _outside_error(path)
            status = real.stat()
            if not stat.S_ISREG(status.st_mode):
                raise BadFilm(f"image {path} is not a file", "name the image file itself")
            if status.st_size > MAX_BYTES:
                raise BadFilm(f"image {path} has {status.st_size:,} bytes, over {MAX_BYTES:,}")
            return real.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            raise BadFilm(_not_found_message(path), NOT_FOUND_REMEDY, Rule.IMAGE_MISSING) from None
        except (OSError, ValueError, RuntimeError) as error:
            reason = f": {system_reason(error)}" if isinstance(error, OSError) else ""
            raise BadFilm(
                f"image {quoted_value(path, 160)} cannot be read{reason}", "check the file"
            ) from None

    def _from_absolute(self, path: str, path_text: str) -> str:
        """Convert an absolute path inside the folder, or one that is meant relative to it."""
        normal = posixpath.normpath(path)
        for root in (self._given_path, self._root):
            prefix = root.as_posix().rstrip("/") + "/"
            if normal.startswith(prefix):
                return normal.removeprefix(prefix)
        if _DRIVE.match(path):
            raise _outside_error(path_text)
        return self._within(path, path_text)


def _normalised(path: str) -> str:
    """Normalise a path without one leading `../`; empty if it leads out of the folder."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    path_inside: list[str] = []
    for part in parts[1:] if parts[:1] == [".."] else parts:
        if part != "..":
            path_inside.append(part)
        elif path_inside:
            path_inside.pop()
        else:
            return ""
    return "/".join(path_inside)


def _not_found_message(path: str) -> str:
    return f"image {quoted_value(path, 160)} not found"


def _outside_error(path_text: str) -> BadFilm:
    return BadFilm(
        f"image path {quoted_value(path_text, 160)} leads out of the images folder",
        "put the image into the folder and give its path there",
        Rule.IMAGE_OUTSIDE,
    )
