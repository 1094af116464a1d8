"""Fixtures of the bank tests: a small images folder and valid items."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from study.bank.layout import Part
from study.bank.reading import BankFormat, ImportOptions, OnProgress, read_bank
from study.base.bank_model import Fault, Film, Item
from study.store import banks

ItemDict = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class BankFile:
    """The complete content of a bank file."""

    format: str
    sha256: str
    items: tuple[Item, ...]
    films: dict[str, Film]
    faults: tuple[Fault, ...]
    notes: tuple[str, ...]
    n_found: int


def read_bank_file(
    path: Path,
    *,
    images: Path,
    format: BankFormat | None = None,
    progress: OnProgress | None = None,
) -> BankFile:
    """Read a small bank into memory."""
    work = path.parent / f"{path.name}-work"
    with read_bank(
        [Part(path=path)],
        images=images,
        work=work,
        options=ImportOptions(format=format, progress=progress, n_workers=0),
    ) as reader:
        staged = reader.staged
        n_lacking, missing = staged.missing(1_000)
        assert bool(n_lacking) == bool(reader.n_missing)
        return BankFile(
            format=reader.format,
            sha256=reader.sha256,
            items=tuple(banks.complete_items(staged.tables, 1)),
            films={film.path: film for film in banks.complete_films(staged.tables, 1)},
            faults=(*staged.faults(), *missing),
            notes=reader.notes,
            n_found=staged.n_found,
        )


def write_film(path: Path, level: int = 0) -> None:
    """Write a small 16-bit film."""
    path.parent.mkdir(parents=True, exist_ok=True)
    samples = (np.arange(30 * 20, dtype=np.uint16) * 97 + level).reshape(20, 30)
    Image.fromarray(samples).save(path)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return the folder of a data set: `metadata`, and `deid_png` with three films."""
    (tmp_path / "set" / "metadata").mkdir(parents=True)
    for n, name in enumerate(("P1/A1/pa.png", "P1/A1/lat.png", "P2/A2/pa.png")):
        write_film(tmp_path / "set" / "deid_png" / name, level=n)
    return tmp_path / "set"


@pytest.fixture
def item() -> ItemDict:
    """Return an item with the keys of the data set."""
    return {
        "question": "Is there a pleural effusion?",
        "options": ["A. Yes, on the left", "B. Yes, on the right", "C. No"],
        "correct_answer": "C",
        "correct_answer_explanation": "Both angles are sharp.",
        "task_name": "Presence Assessment",
        "category": "Pleura",
        "subcategory": "Effusion",
        "class": "x",
        "validation_code": 7,
        "study_id": "S1",
        "StudyInstanceUid": "1.2.3",
        "PatientID": "P1",
        "AccessionNumber": "A1",
        "PatientSex": "F",
        "PatientAge": "060Y",
        "StudyDate": "20200101",
        "Manufacturer": "M",
        "Indication": "Cough.",
        "Comparison": "None.",
        "Findings": "Clear lungs.",
        "Impression": "Normal.",
        "ImagePath": ["../deid_png/P1/A1/pa.png", "../deid_png/P1/A1/lat.png"],
        "ImageViewPosition": ["POSTERO_ANTERIOR", "LL"],
        "ImageModality": ["DX", "DX"],
    }


@pytest.fixture
def bank(root: Path) -> Callable[..., BankFile]:
    """Return a function that writes items, or text, to a file and reads it as a bank."""

    def read(content: object, name: str = "bank.json", images: Path | None = None) -> BankFile:
        path = root / "metadata" / name
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")
        return read_bank_file(path, images=images or root)

    return read
