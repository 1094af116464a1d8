"""Damaged files of every format are refused with messages of this program, not of a library."""

import io
import json
import linecache
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from PIL import Image

from study.base.errors import StudyError
from study.base.packed import unpack
from study.base.translation import in_language
from study.films import decoding, dicom
from study.models.files import read_records
from study.protocol.protocol import read_protocol
from study.tables.source import read_source
from tests.conftest import ROOT
from tests.unit.study.films.test_dicom import dicom_bytes
from tests.unit.study.tables.workbooks import write_workbook

_ROWS = [{"item_id": f"q{n}", "answer": "A" * 40} for n in range(200)]
_LEVELS = np.arange(4096, dtype=np.uint16).reshape(64, 64)


def _encoded(kind: str) -> bytes:
    to = io.BytesIO()
    Image.fromarray(_LEVELS.astype(np.uint8)).save(to, kind)
    return to.getvalue()


def _workbook(folder: Path) -> bytes:
    rows = (["item_id", "answer"], *(list(row.values()) for row in _ROWS))
    return write_workbook(folder / "sound.xlsx", *rows).read_bytes()


def _archive(_: Path, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    to = io.BytesIO()
    with zipfile.ZipFile(to, "w", method) as archive:
        archive.writestr("bank.json", json.dumps(_ROWS))
        archive.writestr("header.json", json.dumps({"status": "success"}))
    return to.getvalue()


def _parquet(_: Path) -> bytes:
    to = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(_ROWS), to)
    return to.getvalue()


def _table(_: Path) -> bytes:
    return "\n".join(["item_id,answer", *(",".join(row.values()) for row in _ROWS)]).encode()


def _records(path: Path) -> object:
    return read_records(path, is_record=lambda _: True)


VALID_FILES: dict[str, tuple[Callable[[Path], bytes], Callable[[Path], Any]]] = {
    "archive.zip": (_archive, lambda path: unpack(path, path.with_suffix(".out"))),
    "log.eval": (_archive, _records),
    "bank.xlsx": (_workbook, read_source),
    "predictions.xlsx": (_workbook, _records),
    "predictions.parquet": (_parquet, _records),
    "bank.json": (lambda _: json.dumps(_ROWS, indent=1).encode(), read_source),
    "predictions.json": (lambda _: json.dumps(_ROWS).encode(), _records),
    "bank.jsonl": (lambda _: "\n".join(map(json.dumps, _ROWS)).encode(), read_source),
    "bank.csv": (_table, read_source),
    "predictions.csv": (_table, _records),
    "film.png": (lambda _: _encoded("PNG"), lambda path: decoding.grey_levels(path.read_bytes())),
    "film.jpg": (lambda _: _encoded("JPEG"), lambda path: decoding.grey_levels(path.read_bytes())),
    "film.tif": (lambda _: _encoded("TIFF"), lambda path: decoding.grey_levels(path.read_bytes())),
    "film.dcm": (
        lambda _: dicom_bytes(_LEVELS),
        lambda path: dicom.read(path.read_bytes()),
    ),
    "protocol.toml": (lambda _: b'cases = 5\nname = "x"\n', read_protocol),
}
"""A valid file of each format, and the function that reads it."""


def _damaged_contents(content: bytes) -> Iterator[bytes]:
    """Yield copies of the content with typical damage."""
    n = len(content)
    yield b"Not this format at all.\n"
    yield b"\x00\xff\xfe\x01" * 50
    yield content[: n // 2]
    yield content[:-3]
    yield content[:4] + b"\x00" * (n - 4)
    yield content[: n // 3] + bytes(200) + content[n // 3 + 200 :]
    yield content[: n // 2] + bytes(byte ^ 0x5A for byte in content[n // 2 :])
    yield content.replace(b'"', b'"\\q', 1)
    yield content.replace(b"A", b'"', 1)
    yield content.replace(b"A", b"\xe4", 1)
    yield content.replace(b"A", b"\x00", 1)
    yield content.replace(b'"A', b'1e5,]"', 1)
    yield content.replace(b'"q1"', b"9" * 5000, 1)
    yield content.replace(b"5", b"[" * 2000, 1)
    yield content.decode("latin-1").encode("utf-16")
    yield content + b"\n{"


def _library_messages(error: BaseException) -> Iterator[str]:
    """Yield the messages behind an error, except those that this program raised itself."""
    cause = error.__cause__ or error.__context__
    while cause is not None:
        place = cause.__traceback__
        while place and place.tb_next:
            place = place.tb_next
        file = place.tb_frame.f_code.co_filename if place else ""
        line = linecache.getline(file, place.tb_lineno) if place else ""
        is_ours = file.startswith(str(ROOT / "study")) and "raise " in line
        if not (is_ours or isinstance(cause, StudyError)):
            yield from (str(cause), getattr(cause, "strerror", None) or "")
            yield from (getattr(cause, "msg", ""), type(cause).__name__)
        cause = cause.__cause__ or cause.__context__


def _words(text: str) -> str:
    return " ".join(re.findall(r"[^\W\d_]+", text)).lower()


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("name", VALID_FILES)
def test_no_message_contains_the_error_text_of_a_library(
    tmp_path: Path, name: str, language: str
) -> None:
    """The user of the page may not know English or the library."""
    write, read = VALID_FILES[name]
    sound = write(tmp_path)
    n_refused = 0
    for n, content in enumerate(dict.fromkeys(_damaged_contents(sound))):
        if content == sound:
            continue
        path = tmp_path / f"{n}" / name
        path.parent.mkdir()
        path.write_bytes(content)
        with in_language(language):
            try:
                result = read(path)
            except StudyError as error:
                n_refused += 1
                message = str(error).replace(str(path), "")
                for text in _library_messages(error):
                    if len(_words(text)) > 4:
                        assert _words(text) not in _words(message), (n, message)
            else:
                faults = " ".join(str(fault.what) for fault in getattr(result, "faults", ()))
                assert "Exceeds the limit" not in faults
                assert "escape:" not in faults
    assert n_refused >= 3
