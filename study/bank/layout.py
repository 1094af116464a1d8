"""Finds the bank file and the images in a folder, and detects folders of DICOM images.

Also returns the folder next to the store for banks that are uploaded in the browser.
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
from study.tables.source import Record, open_source
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
    """A file of a bank, and its split in the release."""

    path: Path
    split: str = ""


class SeveralBanks(BadFile):
    """Several files could be the bank; `names` contains their paths, to choose from."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(
            t("Several files could be the bank: {names}. Choose one.", names=", ".join(names))
        )
        self.names = names

    def __reduce__(self) -> tuple[type["SeveralBanks"], tuple[tuple[str, ...]]]:
        """Support pickling, to return the error from a worker process."""
        return type(self), (self.names,)


def banks_folder(store: Store) -> Path:
    """Return the folder next to the store for banks that are uploaded in the browser."""
    return store.folder / "banks"


def free_place(home: Path, name: str) -> Path:
    """Return a path for a bank's folder that does not exist yet."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()[:40] or "bank"
    tries = (home / (plain if n == 1 else f"{plain}-{n}") for n in range(1, 100_000))
    return next(place for place in tries if not place.exists())


def holds_dicom(folder: Path) -> bool:
    """Return whether a folder contains a spreadsheet and DICOM images."""
    heads = map(first_bytes, islice(possible_dicom(folder), _MOST_HEADS))
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


def first_bytes(path: Path) -> bytes:
    """Return the first bytes of a file, with its DICOM meta information; empty if unreadable."""
    try:
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError:
        return b""


def has_bank(place: Path) -> bool:
    """Return whether a file in the folder could be a bank."""
    return any(_candidates(place))


def find_bank(
    place: Path, chosen: Sequence[str] = (), *, name: str = ""
) -> tuple[tuple[Part, ...], Path]:
    """Return the files of the bank in a folder, and the folder their image paths start from.

    Parameters
    ----------
    place
        The folder; nothing outside of it is read.
    chosen
        Splits of the release, if the folder contains it (all by default); or one of the names in
        `SeveralBanks`.
    name
        The name for messages; by default that of the folder.

    Raises
    ------
    SeveralBanks
        More than one file reads as a bank.
    BadFile
        The folder contains no bank file, or not the chosen split.
    """
    if split_files := splits(place):
        parts = _chosen_parts(split_files, chosen)
        for part in parts:
            _refuse_outside(place, part.path)
        return parts, _images_folder(place, parts[0].path)
    found_files = {str(file.relative_to(place)): file for file in _candidates(place)}
    if not found_files:
        raise BadFile(
            t(
                "{name} contains no bank file: bank.json, or a JSON, JSONL, CSV or XLSX file.",
                name=name or place.name,
            )
        )
    named_bank = [name for name, file in found_files.items() if file.stem.lower() == "bank"]
    choices = [name for name in chosen if name in found_files]
    choices = choices or (named_bank if len(named_bank) == 1 else list(found_files))
    banks = [name for name in choices if _images_named(found_files[name])] or choices
    if len(banks) > 1:
        raise SeveralBanks(tuple(sorted(banks)))
    file = found_files[banks[0]]
    _refuse_outside(place, file)
    return (Part(path=file),), _images_folder(place, file)


def splits(place: Path) -> dict[str, Path]:
    """Return the files of the ReXVQA release in a folder by split."""
    folders = [folder for folder in (place / "metadata", place) if folder.is_dir()]
    files = (file for folder in folders for file in folder.iterdir() if file.is_file())
    by_split = {name: file for file in files if (name := _split_of(file))}
    return {name: by_split[name] for name in sorted(by_split, key=_usual_order)}


def one_file(path: Path, images: Path | None) -> tuple[tuple[Part, ...], Path]:
    """Return a bank file as the only part of a bank, and the folder for its image paths."""
    if images is None:
        near_folder = path.parent.parent if path.parent.name else path.parent
        images = (
            _best((path.parent, near_folder), _images_named(path))
            if path.is_file()
            else path.parent
        )
    return (Part(path=path, split=_split_of(path)),), images


def _split_of(path: Path) -> str:
    name = path.name.removesuffix(_RELEASED)
    return name if name != path.name and name else ""


def _chosen_parts(split_files: Mapping[str, Path], chosen: Sequence[str]) -> tuple[Part, ...]:
    selected = list(dict.fromkeys(chosen)) or list(split_files)
    unknown = [name for name in selected if name not in split_files]
    if unknown:
        raise BadFile(
            t(
                "There is no split {unknown}. Available splits: {names}.",
                unknown=", ".join(unknown),
                names=", ".join(split_files),
            )
        )
    return tuple(Part(path=split_files[name], split=name) for name in selected)


def _refuse_outside(place: Path, file: Path) -> None:
    if not file.resolve().is_relative_to(place.resolve()):
        raise BadFile(
            t(
                "{file} is a link that leads out of the folder. Put the file itself there.",
                file=file.relative_to(place),
            )
        )


def _usual_order(split: str) -> tuple[int, str]:
    default_order = ("train", "valid", "test")
    return default_order.index(split) if split in default_order else len(default_order), split


def _candidates(place: Path) -> Iterator[Path]:
    for folder in _folders(place):
        for path in sorted(folder.iterdir()):
            hidden = path.name.startswith((".", "~"))  # such as Excel's lock files
            if path.suffix.lower() in _BANK_FILES and path.is_file() and not hidden:
                yield path


def _folders(place: Path) -> Iterator[Path]:
    """Yield the folder and its subfolders, nearest first, up to a limit of depth and number."""
    waiting = deque([(place, 0)])
    for _ in range(_MOST_FOLDERS):
        if not waiting:
            return
        folder, depth = waiting.popleft()
        yield folder
        if depth < _DEEPEST:
            children = (
                child for child in folder.iterdir() if child.is_dir() and not child.is_symlink()
            )
            visible = sorted(child for child in children if not child.name.startswith("."))
            waiting.extend((child, depth + 1) for child in visible[:_MOST_FOLDERS])


def _images_named(file: Path) -> list[str]:
    """Return a sample of the image paths in a file; empty if it is not a bank."""
    try:
        with open_source(file, is_record=lambda record: "question" in Fields(record)) as source:
            return list(islice(_image_paths(islice(source.entries, _SAMPLE)), _SAMPLE))
    except BadFile:
        return []


def _image_paths(entries: Iterable[Record | Fault]) -> Iterator[str]:
    for entry in entries:
        if isinstance(entry, Record) and isinstance(entry.value, dict):
            fields = Fields(entry.value)
            images = split_list(fields.first("images")) if "question" in fields else []
            yield from filter(None, map(as_text, images))


def _images_folder(place: Path, file: Path) -> Path:
    """Return the folder in which most of the paths exist; the bank's own folder by default."""
    own_folder = file.parent
    near_folders = [own_folder] if own_folder == place else [own_folder, own_folder.parent]
    return _best([*near_folders, *_folders(place)], _images_named(file))


def _best(folders: Iterable[Path], paths: Sequence[str]) -> Path:
    """Return the folder in which most paths exist, or at least start with an existing folder."""
    return max(folders, key=lambda folder: (_hits(folder, paths), _starts_in(folder, paths)))


def _starts_in(folder: Path, paths: Sequence[str]) -> bool:
    """Return whether paths start with an existing folder, even if the films are missing."""
    plain = (path.replace("\\", "/").removeprefix("../").lstrip("/") for path in paths)
    begins = {path.partition("/") for path in plain}
    return any(rest and (folder / first).is_dir() for first, _, rest in begins)


def _hits(folder: Path, paths: Sequence[str]) -> int:
    images, hits = ImageFolder(folder), 0
    for path in paths:
        try:
            hits += (folder / images.locate(path)).is_file()
        except (BadFilm, OSError, ValueError):
            continue
    return hits
