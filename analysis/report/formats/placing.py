"""Putting finished files into their folder: all of them, or none.

Everything is written to a scratch folder on the same filesystem first: inside the folder where that
is there already, else in the nearest parent that is. Only then is what lies there moved aside and
the new moved in; when a step fails, all are taken back.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import OutputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One entry of the folder.

    Parameters
    ----------
    name : str
        File or folder name.
    holds : tuple of str
        What the names in it end with when it is a folder. The first ending leads: a name with
        another one is ours only where the leading one stands beside it.
    names : tuple of str
        The names in it, when it is a folder whose names are known.
    """

    name: str
    holds: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def is_file(self) -> bool:
        """Whether it is no folder."""
        return not self.holds and not self.names

    @property
    def alone(self) -> bool:
        """Whether its name, not what is in it, is all that tells whose it is."""
        return not self.holds

    def strange(self, names: Iterable[str]) -> list[str]:
        """Return the names in it that this program would not have written.

        Examples
        --------
        >>> Part(name="figures", holds=(".json", ".svg")).strange(["a.json", "a.svg", "b.svg"])
        ['b.svg']
        """
        there = set(names)
        return sorted(name for name in there if not self._ours(name, there))

    def _ours(self, name: str, there: set[str]) -> bool:
        if self.names:
            return name in self.names
        endings = [ending for ending in self.holds if name.endswith(ending)]
        return bool(endings) and name.removesuffix(endings[0]) + self.holds[0] in there


@contextmanager
def fresh_folder(out: Path, parts: Sequence[Part]) -> Iterator[Path]:
    """Give an empty folder; when it has been filled, its entries take the place of `parts`.

    Parameters
    ----------
    out : pathlib.Path
        Where the entries go; made if need be, with its parents.
    parts : sequence of Part
        What is replaced; those that were not written anew are removed.

    Yields
    ------
    pathlib.Path
        The folder to fill.

    Raises
    ------
    OutputError
        When something stands in the way, or cannot be written; `out` is as it was.
    """
    try:
        place = Path(os.path.realpath(out))  # a link may lead to another filesystem
        refuse_what_is_in_the_way(place, parts)
        nearest = next(p for p in (place, *place.parents) if p.exists())
        scratch = Path(tempfile.mkdtemp(prefix=".analysis-", dir=nearest))
        try:
            fresh = scratch / "fresh"
            fresh.mkdir()
            yield fresh
            _swap(place, fresh, scratch / "aside", parts)
        finally:
            _clear(scratch)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"{out}: cannot be written ({reason}). Give another folder.") from error


def refuse_what_is_in_the_way(out: Path, parts: Sequence[Part]) -> None:
    """Refuse to replace anything that this program would not have written."""
    faults = [fault for part in parts for fault in _in_the_way(out / part.name, part)]
    if faults:
        raise OutputError(
            "\n".join(f"{fault} Move it, or give another folder." for fault in faults)
        )


def _in_the_way(place: Path, part: Part) -> list[str]:
    if not os.path.lexists(place):
        return []
    if place.is_symlink():
        return [f"{place}: is a link, which would be replaced."]
    if part.is_file:
        return [] if place.is_file() else [f"{place}: is not a file."]
    if not place.is_dir():
        return [f"{place}: is not a folder."]
    entries = [entry for entry in place.iterdir() if not entry.name.startswith(".")]
    folders = [entry.name for entry in entries if entry.is_dir()]
    strange = sorted([*folders, *part.strange(e.name for e in entries if not e.is_dir())])
    return [f"{place}: holds {strange[0]!r}, which no report wrote."] if strange else []


def _swap(out: Path, fresh: Path, aside: Path, parts: Sequence[Part]) -> None:
    if not out.exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        fresh.rename(out)
        return
    aside.mkdir()
    with ExitStack() as undo:
        for part in parts:
            if (out / part.name).exists():
                _move(out / part.name, aside / part.name, undo)
        for entry in sorted(fresh.iterdir()):
            _move(entry, out / entry.name, undo)
        undo.pop_all()
    shutil.rmtree(aside, ignore_errors=True)


def _move(source: Path, target: Path, undo: ExitStack) -> None:
    source.rename(target)
    undo.callback(target.rename, source)


def _clear(scratch: Path) -> None:
    """Remove the scratch folder, but never what could not be put back."""
    shutil.rmtree(scratch / "fresh", ignore_errors=True)
    for folder in (scratch / "aside", scratch):
        with suppress(OSError):
            folder.rmdir()
