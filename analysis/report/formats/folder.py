"""Replace the files of a folder atomically: all of them, or none.

All files are first written to a scratch folder on the same filesystem, which is in the output
folder if it exists, else in the nearest parent that exists. Then the earlier files are moved out
and the new ones are moved in; if a step fails, all steps are undone.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import OutputError, quoted
from analysis.writing import destination


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputPart:
    """A file or folder that the report writes.

    Parameters
    ----------
    name : str
        File or folder name.
    endings : tuple of str
        Endings of the file names in a folder. A file with another ending than the first one belongs
        to the report only if a file with the same name and the first ending exists.
    names : tuple of str
        The file names in a folder, if they are known.
    """

    name: str
    endings: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def is_file(self) -> bool:
        """Whether the part is a file, not a folder."""
        return not self.endings and not self.names

    @property
    def is_known_by_name(self) -> bool:
        """Whether only the name of the part shows that a report has written it."""
        return not self.endings

    def foreign_names(self, names: Iterable[str]) -> list[str]:
        """Return those of the names in the folder that no report would have written.

        Examples
        --------
        >>> figures = OutputPart(name="figures", endings=(".json", ".svg"))
        >>> figures.foreign_names(["a.json", "a.svg", "b.svg"])
        ['b.svg']
        """
        present = set(names)
        return sorted(name for name in present if not self._is_own(name, present))

    def _is_own(self, name: str, present: set[str]) -> bool:
        if self.names:
            return name in self.names
        endings = [ending for ending in self.endings if name.endswith(ending)]
        return bool(endings) and name.removesuffix(endings[0]) + self.endings[0] in present


@contextmanager
def replacement_folder(out: Path, parts: Sequence[OutputPart]) -> Iterator[Path]:
    """Yield an empty folder whose entries replace `parts` in `out` after the block.

    Parameters
    ----------
    out : pathlib.Path
        The output folder; created with its parents if needed.
    parts : sequence of OutputPart
        The entries to replace; those without a new version are removed.

    Yields
    ------
    pathlib.Path
        The folder to write to.

    Raises
    ------
    OutputError
        A file of another program would be replaced, or a file cannot be written; `out` is then
        unchanged.
    """
    with destination(out) as (place, nearest):
        refuse_foreign_files(place, parts)
        scratch = Path(tempfile.mkdtemp(prefix=".analysis-", dir=nearest))
        try:
            fresh = scratch / "fresh"
            fresh.mkdir()
            yield fresh
            _swap(place, fresh, scratch / "aside", parts)
        finally:
            _remove_scratch(scratch)


def refuse_foreign_files(out: Path, parts: Sequence[OutputPart]) -> None:
    """Refuse to replace files that were not written by a report."""
    faults = [fault for part in parts for fault in _obstacles(out / part.name, part)]
    if faults:
        raise OutputError(
            "\n".join(f"{fault} Move it, or give another folder." for fault in faults)
        )


def _obstacles(place: Path, part: OutputPart) -> list[str]:
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
    foreign = sorted([*folders, *part.foreign_names(e.name for e in entries if not e.is_dir())])
    return [f"{place}: contains {quoted(foreign[0])}, which no report wrote."] if foreign else []


def _swap(out: Path, fresh: Path, retired: Path, parts: Sequence[OutputPart]) -> None:
    if not out.exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        fresh.rename(out)
        return
    retired.mkdir()
    with ExitStack() as undo:
        for part in parts:
            if (out / part.name).exists():
                _move(out / part.name, retired / part.name, undo)
        for entry in sorted(fresh.iterdir()):
            _move(entry, out / entry.name, undo)
        undo.pop_all()
    shutil.rmtree(retired, ignore_errors=True)


def _move(source: Path, target: Path, undo: ExitStack) -> None:
    source.rename(target)
    undo.callback(target.rename, source)


def _remove_scratch(scratch: Path) -> None:
    """Remove the scratch folder, except files that could not be moved back."""
    shutil.rmtree(scratch / "fresh", ignore_errors=True)
    for folder in (scratch / "aside", scratch):
        with suppress(OSError):
            folder.rmdir()
