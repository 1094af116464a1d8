"""Find the bank file and the images in a folder, and whether it is a folder of DICOM images.

Also the folder next to the store in which banks that arrive by browser are kept.
"""

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from study.bank.fields import Fields
from study.bank.images import ImageFolder
from study.bank.items import split_list
from study.base.bank_model import Fault
from study.base.errors import BadFile
from study.base.translation import t
from study.films import BadFilm
from study.films.decoding import is_dicom, lacks_preamble
from study.store import Store
from study.tables.source import Record, opened
from study.tables.table import SPREADSHEET_ENDINGS
from study.tables.values import as_text

_RELEASED = "_vqa_data.json"
_BANK_FILES = (".json", ".jsonl", ".ndjson", *SPREADSHEET_ENDINGS)
_PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp", ".json", ".jsonl", ".zip")
_HEAD_BYTES = 4096
_MOST_HEADS = 5_000
_DEEPEST = 4
_MOST_FOLDERS = 300
_SAMPLE = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A file of a bank, and which split of the release it is."""

    path: Path
    split: str = ""


class SeveralBanks(BadFile):
    """Several files could be the bank; `names` holds their paths, for one to be chosen."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(
            t("Several files could be the bank: {names}. Choose one.", names=", ".join(names))
        )
        self.names = names

    def __reduce__(self) -> tuple[type["SeveralBanks"], tuple[tuple[str, ...]]]:
        """Travel between processes by what it was made of."""
        return type(self), (self.names,)


def banks_folder(store: Store) -> Path:
    """Return the folder next to the store in which banks that arrive by browser are kept."""
    return store.path.resolve().parent / "banks"


def free_place(home: Path, name: str) -> Path:
    """Return a path for a bank's folder that does not exist yet."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()[:40] or "bank"
    tries = (home / (plain if n == 1 else f"{plain}-{n}") for n in range(1, 100_000))
    return next(place for place in tries if not place.exists())


def holds_dicom(folder: Path) -> bool:
    """Return whether a folder contains a spreadsheet and DICOM images."""
    heads = map(beginning, islice(possible_dicom(folder), _MOST_HEADS))
    return bool(spreadsheets(folder)) and any(
        is_dicom(head) or lacks_preamble(head) for head in heads
    )


def spreadsheets(folder: Path) -> list[Path]:
    """Return the spreadsheets directly in a folder, without Excel's lock files."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() in SPREADSHEET_ENDINGS
        and path.is_file()
        and path.name[0] not in ".~"
    )


def possible_dicom(folder: Path) -> Iterator[Path]:
    """Yield the files under a folder that may be DICOM, by their names; links are not followed."""
    for place, _, names in os.walk(folder):
        for name in sorted(names):
            path = Path(place) / name
            suffix = path.suffix.lower()
            if suffix not in (*SPREADSHEET_ENDINGS, *_PICTURES) and not path.is_symlink():
                yield path


def beginning(path: Path) -> bytes:
    """Return the first bytes of a file, with its DICOM meta information; none if unreadable."""
    try:
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError:
        return b""


def has_bank(place: Path) -> bool:
    """Return whether a file in the folder could be a bank."""
    return any(_candidates(place))


def find_bank(place: Path, chosen: Sequence[str] = ()) -> tuple[tuple[Part, ...], Path]:
    """Return the files of the bank in a folder, and the folder their image paths start from.

    Parameters
    ----------
    place
        The folder; nothing outside of it is looked at.
    chosen
        Splits of the release, where the folder holds it, else all of them are one bank; or one of
        the names of `SeveralBanks`.

    Raises
    ------
    SeveralBanks
        More than one file reads as a bank.
    BadFile
        There is no file that could be one, or not the split that was asked for.
    """
    if there := splits(place):
        parts = _chosen_parts(there, chosen)
        for part in parts:
            _refuse_outside(place, part.path)
        return parts, _images_folder(place, parts[0].path)
    found_files = {str(one.relative_to(place)): one for one in _candidates(place)}
    if not found_files:
        raise BadFile(
            t(
                "{name} contains no bank file: bank.json, or a JSON, JSONL, CSV or XLSX file.",
                name=place.name,
            )
        )
    named = [name for name, one in found_files.items() if one.stem.lower() == "bank"]
    likely = [name for name in chosen if name in found_files]
    likely = likely or (named if len(named) == 1 else list(found_files))
    banks = [name for name in likely if _images_named(found_files[name])] or likely
    if len(banks) > 1:
        raise SeveralBanks(tuple(sorted(banks)))
    file = found_files[banks[0]]
    _refuse_outside(place, file)
    return (Part(path=file),), _images_folder(place, file)


def splits(place: Path) -> dict[str, Path]:
    """Return the files of the ReXVQA release in a folder, by the split each holds."""
    folders = [one for one in (place / "metadata", place) if one.is_dir()]
    files = (one for folder in folders for one in folder.iterdir() if one.is_file())
    found = {name: one for one in files if (name := _split_of(one))}
    return {name: found[name] for name in sorted(found, key=_usual_order)}


def one_file(path: Path, images: Path | None) -> tuple[tuple[Part, ...], Path]:
    """Return a bank file as the one part of a bank, and the folder its image paths start from."""
    if images is None:
        near = path.parent.parent if path.parent.name else path.parent
        images = _best((path.parent, near), _images_named(path)) if path.is_file() else path.parent
    return (Part(path=path, split=_split_of(path)),), images


def _split_of(path: Path) -> str:
    name = path.name.removesuffix(_RELEASED)
    return name if name != path.name and name else ""


def _chosen_parts(there: Mapping[str, Path], chosen: Sequence[str]) -> tuple[Part, ...]:
    wanted = list(dict.fromkeys(chosen)) or list(there)
    unknown = [name for name in wanted if name not in there]
    if unknown:
        raise BadFile(
            t(
                "There is no split {unknown}. There: {names}.",
                unknown=", ".join(unknown),
                names=", ".join(there),
            )
        )
    return tuple(Part(path=there[name], split=name) for name in wanted)


def _refuse_outside(place: Path, file: Path) -> None:
    if not file.resolve().is_relative_to(place.resolve()):
        raise BadFile(
            t(
                "{file} is a link that leads out of the folder. Put the file itself there.",
                file=file.relative_to(place),
            )
        )


def _usual_order(split: str) -> tuple[int, str]:
    usual = ("train", "valid", "test")
    return usual.index(split) if split in usual else len(usual), split


def _candidates(place: Path) -> Iterator[Path]:
    for folder in _folders(place):
        for one in sorted(folder.iterdir()):
            hidden = one.name.startswith((".", "~"))  # as Excel's own locks are
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
        with opened(file, is_record=lambda one: "question" in Fields(one)) as source:
            return list(islice(_written(islice(source.entries, _SAMPLE)), _SAMPLE))
    except BadFile:
        return []


def _written(entries: Iterable[Record | Fault]) -> Iterator[str]:
    for entry in entries:
        if isinstance(entry, Record) and isinstance(entry.value, dict):
            fields = Fields(entry.value)
            images = split_list(fields.first("images")) if "question" in fields else []
            yield from filter(None, map(as_text, images))


def _images_folder(place: Path, file: Path) -> Path:
    """Return the folder in which most of the paths lead to a file; the bank's own where none."""
    own = file.parent
    near = [own] if own == place else [own, own.parent]
    return _best([*near, *_folders(place)], _images_named(file))


def _best(folders: Iterable[Path], written: Sequence[str]) -> Path:
    """Return the folder in which most paths lead to a file, or at least begin with a folder."""
    return max(folders, key=lambda folder: (_hits(folder, written), _begun(folder, written)))


def _begun(folder: Path, written: Sequence[str]) -> bool:
    """Return whether paths begin with a folder that is there: their films may be missing."""
    plain = (path.replace("\\", "/").removeprefix("../").lstrip("/") for path in written)
    begins = {path.partition("/") for path in plain}
    return any(rest and (folder / first).is_dir() for first, _, rest in begins)


def _hits(folder: Path, written: Sequence[str]) -> int:
    images, hits = ImageFolder(folder), 0
    for path in written:
        try:
            hits += (folder / images.locate(path)).is_file()
        except (BadFilm, OSError, ValueError):
            continue
    return hits
