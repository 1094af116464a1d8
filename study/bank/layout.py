"""Where in an unpacked folder the bank file and its images lie, however they were packed."""

from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from study.bank.fields import Fields, as_text
from study.bank.images import ImageFolder
from study.bank.items import split_list
from study.bank.source import Source, read_source
from study.base.errors import BadFile
from study.base.translation import t
from study.films import BadFilm

_BANK_FILES = (".json", ".jsonl", ".ndjson", ".csv", ".tsv")
_DEEPEST = 4
_MOST_FOLDERS = 300
_SAMPLE = 30


class SeveralBanks(BadFile):
    """Several files could be the bank; `names` holds their paths, for one to be chosen."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(
            t("Several files could be the bank: {names}. Choose one.", names=", ".join(names))
        )
        self.names = names


def has_bank(place: Path) -> bool:
    """Return whether a file in the folder could be a bank."""
    return any(_candidates(place))


def find_bank(place: Path, chosen: str = "") -> tuple[Path, Path]:
    """Return the bank file in a folder, and the folder its image paths start from.

    Parameters
    ----------
    place
        The folder; nothing outside of it is looked at.
    chosen
        One of the names of `SeveralBanks`; empty before anybody was asked.

    Raises
    ------
    SeveralBanks
        More than one file reads as a bank.
    BadFile
        There is no file that could be one.
    """
    found = {str(one.relative_to(place)): one for one in _candidates(place)}
    if not found:
        raise BadFile(t("It contains no bank file: bank.json, or a JSON, JSONL or CSV file."))
    named = [name for name, one in found.items() if one.stem.lower() == "bank"]
    likely = [chosen] if chosen in found else named if len(named) == 1 else list(found)
    samples = {name: _images_named(found[name]) for name in likely}
    banks = [name for name in likely if samples[name]] or likely
    if len(banks) > 1:
        raise SeveralBanks(tuple(sorted(banks)))
    file = found[banks[0]]
    return file, _images_folder(place, file, samples[banks[0]])


def _candidates(place: Path) -> Iterator[Path]:
    for folder in _folders(place):
        for one in sorted(folder.iterdir()):
            hidden = one.name.startswith(".")
            if one.suffix.lower() in _BANK_FILES and one.is_file() and not hidden:
                yield one


def _folders(place: Path) -> Iterator[Path]:
    """Return the folder and those in it, the nearest first; a bank's films may fill thousands."""
    waiting = deque([(place, 0)])
    for _ in range(_MOST_FOLDERS):
        if not waiting:
            return
        folder, depth = waiting.popleft()
        yield folder
        if depth < _DEEPEST:
            below = (one for one in folder.iterdir() if one.is_dir() and not one.is_symlink())
            inside = sorted(one for one in below if not one.name.startswith("."))
            waiting.extend((one, depth + 1) for one in inside[:_MOST_FOLDERS])


def _images_named(file: Path) -> list[str]:
    """Return some of the image paths a file names, as written; none where it reads as no bank."""
    try:
        source = read_source(file, is_record=lambda one: "question" in Fields(one))
    except BadFile:
        return []
    return list(islice(_written(source), _SAMPLE))


def _written(source: Source) -> Iterator[str]:
    for record in source.records:
        if isinstance(record.value, dict):
            fields = Fields(record.value)
            images = split_list(fields.first("images")) if "question" in fields else []
            yield from filter(None, map(as_text, images))


def _images_folder(place: Path, file: Path, written: list[str]) -> Path:
    """Return the folder in which most of the paths lead to a file; the bank's own where none."""
    own = file.parent
    near = [own] if own == place else [own, own.parent]
    return max([*near, *_folders(place)], key=lambda folder: _hits(folder, written))


def _hits(folder: Path, written: list[str]) -> int:
    images, hits = ImageFolder(folder), 0
    for path in written:
        try:
            hits += (folder / images.locate(path)).is_file()
        except (BadFilm, OSError, ValueError):
            continue
    return hits
