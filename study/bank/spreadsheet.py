"""The first sheet of an XLSX workbook as rows of text, and no more of it than a bank may need."""

import warnings
import zipfile
from datetime import datetime
from pathlib import Path

from study.bank.source import Record
from study.base.errors import BadFile

MOST_BYTES = 200_000_000
MOST_ROWS, MOST_COLUMNS = 100_000, 200


def read_rows(path: Path) -> tuple[Record, ...]:
    """Return the rows under the header, each as texts by column.

    A number without decimals is written without them, a day as `2026-05-24`; of a formula, the
    value that was saved with it counts. Empty rows are left out, and rows keep their number.

    Raises
    ------
    BadFile
        It is no workbook, is far larger unpacked than a bank is, or has no sound header.
    """
    from openpyxl import load_workbook  # a tenth of a second, and few banks are spreadsheets

    name = path.name
    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(entry.file_size for entry in packed.infolist())
        if size > MOST_BYTES:
            raise BadFile(f"{name} unpacks to {size:,} bytes; up to {MOST_BYTES:,} are taken")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # styles and the like that nobody asks for
            with path.open("rb") as file:  # openpyxl refuses paths of another ending
                book = load_workbook(file, read_only=True, data_only=True)
                rows = _rows(name, book.worksheets[0].iter_rows(values_only=True))
    except BadFile:
        raise
    except Exception as error:  # nearly anything on a damaged workbook
        raise BadFile(
            f"{name} is not an XLSX workbook ({type(error).__name__}); save it again"
        ) from error
    return rows


def _rows(name: str, found: object) -> tuple[Record, ...]:
    header: list[str] = []
    records: list[Record] = []
    for number, cells in enumerate(found, 1):  # type: ignore[arg-type, var-annotated]
        if number > MOST_ROWS or len(cells) > MOST_COLUMNS:
            raise BadFile(
                f"{name} has more than {MOST_ROWS:,} rows or {MOST_COLUMNS} columns; delete what"
                " does not belong to it"
            )
        texts = [_text(name, number, cell) for cell in cells]
        if not any(texts):
            continue
        if not header:
            header = texts
            twice = sorted({one for one in header if one and header.count(one) > 1})
            if twice:
                raise BadFile(f"{name} has columns given twice: {', '.join(twice)}; keep one")
            continue
        row = {key: text for key, text in zip(header, texts, strict=False) if key}
        records.append(Record(key="", place=f"row {number}", value=row))
    if not records:
        raise BadFile(f"{name} holds no rows under a header; its first sheet is read")
    return tuple(records)


def _text(name: str, number: int, cell: object) -> str:
    from openpyxl.cell.cell import ERROR_CODES  # loaded by now

    if cell is None:
        return ""
    if isinstance(cell, str) and cell in ERROR_CODES:
        raise BadFile(f"{name}, row {number}: a formula gives {cell}; mend it and save again")
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ").removesuffix(" 00:00:00")
    return str(cell).strip()
