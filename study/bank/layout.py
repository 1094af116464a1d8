"""Finds the bank file and the images in a folder, and detects folders of DICOM images.

It also defines the folder, next to the store, for banks that are uploaded in the browser.
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

_RELEASE_SUFFIX = "_vqa_data.json"
_BANK_FILES = (".json", ".jsonl", ".ndjson", *SPREADSHEET_ENDINGS)
_OTHER_SUFFIXES = (
    ".png",
    ".jpg",
    ".jpeg",
    ".tif",
    ".tiff",
    ".bmp",
    ".webp",
    ".json",
    ".jsonl",
    ".zip",
)
_HEAD_BYTES = 4096
_MAX_FILES_CHECKED = 5_000
_MAX_DEPTH = 4
_MAX_FOLDERS = 300
_N_SAMPLED = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A file of a bank, and its split in the release."""

    path: Path
    split: str = ""


class SeveralBanks(BadFile):
    """Several files could be the bank; `names` contains the paths to choose from."""

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


def unused_path(home: Path, name: str) -> Path:
    """Return a path for a bank's folder that does not exist yet."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()[:40] or "bank"
    candidates = (home / (plain if n == 1 else f"{plain}-{n}") for n in range(1, 100_000))
    return next(place for place in candidates if not place.exists())


def contains_dicom(folder: Path) -> bool:
    """Return whether a folder contains a spreadsheet and DICOM images."""
    first_bytes_of_files = map(first_bytes, islice(possible_dicom(folder), _MAX_FILES_CHECKED))
    return bool(spreadsheets(folder)) and any(
        is_dicom(head) or lacks_preamble(head) for head in first_bytes_of_files
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
            if suffix not in (*SPREADSHEET_ENDINGS, *_OTHER_SUFFIXES) and not path.is_symlink():
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
    """Return the files of the bank in a folder, and the folder to which image paths are relative.

    Parameters
    ----------
    place
        The folder; nothing outside of it is read.
    chosen
        Splits of the release if the folder contains it (by default all), or one of the names in
        `SeveralBanks`.
    name
        The name for messages, by default that of the folder.

    Raises
    ------
    SeveralBanks
        More than one file could be the bank.
    BadFile
        The folder contains no bank file, or lacks the chosen split.
    """
    if release := files_by_split(place):
        parts = _chosen_parts(release, chosen)
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
    banks = [name for name in choices if _sampled_image_paths(found_files[name])] or choices
    if len(banks) > 1:
        raise SeveralBanks(tuple(sorted(banks)))
    file = found_files[banks[0]]
    _refuse_outside(place, file)
    return (Part(path=file),), _images_folder(place, file)


def files_by_split(place: Path) -> dict[str, Path]:
    """Return the files of the ReXVQA release in a folder, by split."""
    folders = [folder for folder in (place / "metadata", place) if folder.is_dir()]
    files = (file for folder in folders for file in folder.iterdir() if file.is_file())
    by_split = {name: file for file in files if (name := _split_of(file))}
    return {name: by_split[name] for name in sorted(by_split, key=_split_rank)}


def single_file_bank(path: Path, images: Path | None) -> tuple[tuple[Part, ...], Path]:
    """Return a bank file as the only part of a bank, and the folder for its image paths."""
    if images is None:
        near_folder = path.parent.parent if path.parent.name else path.parent
        images = (
            _best_folder((path.parent, near_folder), _sampled_image_paths(path))
            if path.is_file()
            else path.parent
        )
    return (Part(path=path, split=_split_of(path)),), images


def _split_of(path: Path) -> str:
    name = path.name.removesuffix(_RELEASE_SUFFIX)
    return name if name != path.name and name else ""


def _chosen_parts(release: Mapping[str, Path], chosen: Sequence[str]) -> tuple[Part, ...]:
    selected = list(dict.fromkeys(chosen)) or list(release)
    unknown = [name for name in selected if name not in release]
    if unknown:
        raise BadFile(
            t(
                "There is no split {unknown}. Available splits: {names}.",
                unknown=", ".join(unknown),
                names=", ".join(release),
            )
        )
    return tuple(Part(path=release[name], split=name) for name in selected)


def _refuse_outside(place: Path, file: Path) -> None:
    if not file.resolve().is_relative_to(place.resolve()):
        raise BadFile(
            t(
                "{file} is a link that leads out of the folder. Put the file itself there.",
                file=file.relative_to(place),
            )
        )


def _split_rank(split: str) -> tuple[int, str]:
    default_order = ("train", "valid", "test")
    return default_order.index(split) if split in default_order else len(default_order), split


def _candidates(place: Path) -> Iterator[Path]:
    for folder in _folders(place):
        for path in sorted(folder.iterdir()):
            hidden = path.name.startswith((".", "~"))  # such as Excel's lock files
            if path.suffix.lower() in _BANK_FILES and path.is_file() and not hidden:
                yield path


def _folders(place: Path) -> Iterator[Path]:
    """Yield the folder and its subfolders, the nearest first, up to a maximum depth and number."""
    waiting = deque([(place, 0)])
    for _ in range(_MAX_FOLDERS):
        if not waiting:
            return
        folder, depth = waiting.popleft()
        yield folder
        if depth < _MAX_DEPTH:
            children = (
                child for child in folder.iterdir() if child.is_dir() and not child.is_symlink()
            )
            visible = sorted(child for child in children if not child.name.startswith("."))
            waiting.extend((child, depth + 1) for child in visible[:_MAX_FOLDERS])


def _sampled_image_paths(file: Path) -> list[str]:
    """Return a sample of the image paths in a file; empty if it is not a bank."""
    try:
        with open_source(file, is_record=lambda record: "question" in Fields(record)) as source:
            return list(islice(_image_paths(islice(source.entries, _N_SAMPLED)), _N_SAMPLED))
    except BadFile:
        return []


def _image_paths(entries: Iterable[Record | Fault]) -> Iterator[str]:
    for entry in entries:
        if isinstance(entry, Record) and isinstance(entry.value, dict):
            fields = Fields(entry.value)
            images = split_list(fields.first("images")) if "question" in fields else []
            yield from filter(None, map(as_text, images))


def _images_folder(place: Path, file: Path) -> Path:
    """Return the folder in which most paths exist, by default the folder of the bank file."""
    own_folder = file.parent
    near_folders = [own_folder] if own_folder == place else [own_folder, own_folder.parent]
    return _best_folder([*near_folders, *_folders(place)], _sampled_image_paths(file))


def _best_folder(folders: Iterable[Path], paths: Sequence[str]) -> Path:
    """Return the folder in which most paths exist, or at least start with an existing folder."""
    return max(
        folders, key=lambda folder: (_n_existing(folder, paths), _starts_in_folder(folder, paths))
    )


def _starts_in_folder(folder: Path, paths: Sequence[str]) -> bool:
    """Return whether any path starts with an existing folder, even if the film is missing."""
    plain = (path.replace("\\", "/").removeprefix("../").lstrip("/") for path in paths)
    begins = {path.partition("/") for path in plain}
    return any(rest and (folder / first).is_dir() for first, _, rest in begins)


def _n_existing(folder: Path, paths: Sequence[str]) -> int:
    images, hits = ImageFolder(folder), 0
    for path in paths:
        try:
            hits += (folder / images.locate(path)).is_file()
        except (BadFilm, OSError, ValueError):
            continue
    return hits
